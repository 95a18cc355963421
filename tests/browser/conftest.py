"""A real Chromium and a service beside it. Runs by `make test-browser`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

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

    def start_browser(profile: Path, flags: Sequence[str] = ()) -> Any:
        """Start a browser with a profile of its own."""
        options = webdriver.ChromeOptions()
        for flag in (*FLAGS, *flags, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        found = Path("/usr/bin/chromedriver")
        driver = webdriver.Chrome(options, webdriver.ChromeService(str(found) if found.exists() else None))
        driver.set_script_timeout(120)  # axe-core on a busy machine
        return driver

    def set_look(driver: Any, size: str, dark: bool) -> None:
        """Give the window a size and a colour scheme."""
        width, height = SIZES[size]
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": size == "phone"})
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})

    @pytest.fixture(scope="session")
    def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
        """A browser for all tests. Each has a service at an address of its own, and storage goes by address."""
        driver = start_browser(tmp_path_factory.mktemp("browser"))
        yield driver
        driver.quit()

    @pytest.fixture
    def open_page(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Page]]:
        """Open the page in a window of a given size and colour scheme."""
        windows: list[str] = []
        own: list[Any] = []
        first = browser.current_window_handle

        def opening(
            url: str,
            *,
            size: str = "desktop",
            dark: bool = False,
            wait: bool = True,
            flags: Sequence[str] = (),
        ) -> Page:
            if flags:
                driver = start_browser(tmp_path / f"browser-{len(own)}", flags)
                own.append(driver)
            else:
                driver = browser
                driver.switch_to.new_window("tab")
                windows.append(driver.current_window_handle)
                driver.get_log("browser")  # what other tests have left
            set_look(driver, size, dark)
            page = Page(driver, url)
            if wait:
                page.open()
            return page

        yield opening
        for window in windows:
            browser.switch_to.window(window)
            browser.close()
        browser.switch_to.window(first)
        for driver in own:
            driver.quit()
