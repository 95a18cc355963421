"""Measure the page in Chromium: teaching a folder, and how five hundred images scroll.

    i2cansay data sample samples --dataset cifar10 --train 50 --test 0 --new 0
    python benchmarks/page.py samples/train

Needs the extra `browser` and chromedriver. Five classes of forty images are taught from the folder. Then five
hundred images are shown, looked at, and scrolled through at an even pace; in turns with that, the same page is
scrolled while it paints nothing, which is what the machine allows at that moment.
"""

from __future__ import annotations

import shutil
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.common.by import By

from i2cansay.service.http.server import Address, make_server
from i2cansay.service.service import Service

CLASSES, EACH, SHOWN, TURNS = 5, 40, 500, 3
STYLE = "document.getElementById('images').style.visibility = '{}'"
KINDS = {"as it is": STYLE.format("visible"), "nothing painted": STYLE.format("hidden")}
SCROLL = """
const [end] = arguments;
const gaps = [];
const start = performance.now();
let last = start;
function turn(now) {
  gaps.push(now - last);
  last = now;
  window.scrollBy(0, 40);
  if (window.scrollY + innerHeight >= document.documentElement.scrollHeight - 1) window.scrollTo(0, 0);
  if (now - start < 4000) requestAnimationFrame(turn);
  else end(gaps.slice(1));
}
window.scrollTo(0, 0);
requestAnimationFrame(turn);
"""


def main() -> None:
    """Run both measurements and print them."""
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as place:
        service = Service(Path(place) / "data")
        service.create("first")
        service.warm()
        port = free_port()
        server = make_server(service, Address(port=port))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        driver = browser()
        try:
            until(lambda: server.started)
            driver.get(f"http://127.0.0.1:{port}")
            until(lambda: one(driver, "body").get_attribute("data-ready") == "yes")
            teach(driver, five_classes(folder, Path(place) / "five"))
            scroll(driver, sorted(folder.rglob("*.png"))[:SHOWN])
        finally:
            driver.quit()
            server.should_exit = True
            thread.join()


def free_port() -> int:
    """Return a port nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def browser() -> Any:
    """Return a Chromium without a window."""
    options = webdriver.ChromeOptions()
    for flag in ("--headless", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    found = Path("/usr/bin/chromedriver")
    driver = webdriver.Chrome(options, webdriver.ChromeService(str(found) if found.exists() else None))
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False},
    )
    return driver


def five_classes(folder: Path, copy: Path) -> Path:
    """Copy the first images of the first classes of a folder, and return where they are."""
    for place in sorted(path for path in folder.iterdir() if path.is_dir())[:CLASSES]:
        (copy / place.name).mkdir(parents=True)
        for image in sorted(place.iterdir())[:EACH]:
            shutil.copy(image, copy / place.name)
    return copy


def teach(driver: Any, folder: Path) -> None:
    """Choose a folder, confirm the preview, and wait until all is learnt."""
    start = time.perf_counter()
    one(driver, "#choose-folder").send_keys(str(folder))  # one click, and the system's own dialog
    until(lambda: one(driver, "#folder").is_displayed())
    previewed = time.perf_counter()
    one(driver, "#folder-teach").click()  # the second
    until(lambda: f"Learnt {CLASSES * EACH} images" in one(driver, "#notice").text)
    end = time.perf_counter()
    print(
        f"taught {CLASSES} classes of {EACH} images: 2 clicks and the system's choice of a folder; "
        f"{previewed - start:.1f} s to the preview, {end - previewed:.1f} s to the end"
    )


def scroll(driver: Any, images: list[Path]) -> None:
    """Show many images and scroll through them, painted and not."""
    start = time.perf_counter()
    one(driver, "#choose").send_keys("\n".join(map(str, images)))
    until(lambda: len(driver.find_elements(By.CSS_SELECTOR, ".image")) == len(images))
    until(lambda: not driver.find_elements(By.CSS_SELECTOR, ".image.waiting"))
    print(f"{len(images)} images looked at after {time.perf_counter() - start:.1f} s")
    gaps: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for _ in range(TURNS):
        for kind, script in KINDS.items():
            driver.execute_script(script)
            gaps[kind] += driver.execute_async_script(SCROLL)
    for kind, seen in gaps.items():
        rate, slow = 1000 / statistics.mean(seen), sum(gap > 50 for gap in seen) / len(seen)
        print(
            f"{kind}: {rate:.0f} frames a second, median {statistics.median(seen):.1f} ms, "
            f"{100 * slow:.1f}% of frames over 50 ms"
        )


def one(driver: Any, selector: str) -> Any:
    """Return the element of a selector."""
    return driver.find_element(By.CSS_SELECTOR, selector)


def until(condition: Callable[[], Any], seconds: float = 600) -> None:
    """Wait for something to hold."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("did not happen")
        time.sleep(0.02)


if __name__ == "__main__":
    main()
