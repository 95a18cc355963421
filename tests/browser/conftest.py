"""A real Chromium and a service beside it. Runs by `make test-browser`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))  # tests say `from tests.service... import ...`

if not os.environ.get("I2CANSAY_BROWSER"):
    collect_ignore_glob = ["*.py"]  # they import selenium, which only this target installs
else:
    from selenium import webdriver

    from tests.browser.page import Page
    from tests.service.running import Running, Starter

    FLAGS = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        "--use-fake-device-for-media-stream",  # a camera that shows a moving disc
        "--use-fake-ui-for-media-stream",
    ]
    SIZES = {"desktop": (1280, 900), "phone": (390, 844)}

    def with_a_model(folder: Path, encoder: str) -> Iterator[Running]:
        starter = Starter(folder / "data", encoder=encoder)
        running = starter()
        running.client.create("line-3")
        running.client.close()  # on a slow machine it would be idle for too long; the next request opens another
        yield running
        starter.stop_all()

    @pytest.fixture
    def service(tmp_path: Path) -> Iterator[Running]:
        """A service with one model that sees pixels only: it answers at once, and often wrongly."""
        yield from with_a_model(tmp_path, "pixels")

    @pytest.fixture
    def seeing(tmp_path: Path) -> Iterator[Running]:
        """A service with one model of the usual choice, for tests of what it says."""
        yield from with_a_model(tmp_path, "")

    @pytest.fixture
    def open_page(tmp_path: Path) -> Iterator[Callable[..., Page]]:
        """Open the page in a browser of a given size and colour scheme."""
        drivers: list[webdriver.Chrome] = []

        def opening(
            url: str,
            *,
            size: str = "desktop",
            dark: bool = False,
            wait: bool = True,
            flags: Sequence[str] = (),
        ) -> Page:
            options = webdriver.ChromeOptions()
            for flag in (*FLAGS, *flags, f"--user-data-dir={tmp_path / f'browser-{len(drivers)}'}"):
                options.add_argument(flag)
            options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
            service = webdriver.ChromeService(
                "/usr/bin/chromedriver" if Path("/usr/bin/chromedriver").exists() else None
            )
            driver = webdriver.Chrome(options=options, service=service)
            drivers.append(driver)
            width, height = SIZES[size]
            metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
            driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": size == "phone"})
            scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
            page = Page(driver, url)
            if wait:
                page.open()
            return page

        yield opening
        for driver in drivers:
            driver.quit()
