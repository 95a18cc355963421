"""The page as a person uses it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from PIL import Image, ImageDraw, ImageFilter
from selenium.common.exceptions import NoAlertPresentException, StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

Found = TypeVar("Found")


class Page:
    """Finds things by what people, or screen readers, see."""

    def __init__(self, driver: Any, url: str) -> None:
        self.driver = driver
        self.url = url

    def open(self) -> None:
        """Load the page and wait until it is ready."""
        self.driver.get(self.url)
        self.ready()

    def ready(self) -> None:
        """Wait until the page has loaded its model."""
        self.until(lambda: self.one("body").get_attribute("data-ready") == "yes", 60)

    def until(self, condition: Callable[[], Found], seconds: float = 60) -> Found:
        """Wait for something to hold."""
        end = time.monotonic() + seconds
        while True:
            try:
                if found := condition():
                    return found
            except (StaleElementReferenceException, IndexError):
                pass
            assert time.monotonic() < end, f"did not happen; the page says: {self.text}"
            time.sleep(0.05)

    @property
    def text(self) -> str:
        """All the words on the page."""
        return str(self.one("body").text)

    def one(self, selector: str) -> WebElement:
        """Return the element of a selector."""
        element: WebElement = self.driver.find_element(By.CSS_SELECTOR, selector)
        return element

    def all(self, selector: str) -> list[WebElement]:
        """Return all elements of a selector."""
        elements: list[WebElement] = self.driver.find_elements(By.CSS_SELECTOR, selector)
        return elements

    def button(self, name: str) -> WebElement:
        """Return the button that is called so, scrolled to where nothing floats above it."""
        for element in self.all("button"):
            if element.is_displayed() and name in (element.accessible_name, element.text):
                self.driver.execute_script("arguments[0].scrollIntoView({ block: 'center' })", element)
                return element
        raise AssertionError(f"there is no button {name!r}; the page says: {self.text}")

    def show(self, files: list[Path]) -> None:
        """Choose images and wait for what it says about them."""
        before = len(self.all(".image"))
        self.choose("#choose", *files)
        self.until(lambda: len(self.all(".image")) == before + len(files))
        self.until(lambda: not self.all(".image.waiting"), 60)

    def choose(self, selector: str, *paths: Path) -> None:
        """Choose files, or a folder, in an input."""
        self.one(selector).send_keys("\n".join(map(str, paths)))

    def choose_folder(self, folder: Path) -> None:
        """Choose a folder and wait for its preview."""
        self.choose("#choose-folder", folder)
        self.until(lambda: self.one("#folder").is_displayed())

    def drop(self, *paths: Path) -> None:
        """Drop files or folders onto the page, as from the desktop."""
        place = self.one("#drop").rect
        x, y = place["x"] + place["width"] / 2, place["y"] + 12
        data = {"items": [], "files": list(map(str, paths)), "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.driver.execute_cdp_cmd(
                "Input.dispatchDragEvent", {"type": kind, "x": x, "y": y, "data": data}
            )

    def menu(self, name: str) -> None:
        """Do something from the menu of the models."""
        self.one("#menu summary").click()
        self.button(name).click()

    def press(self, *keys: str) -> None:
        """Press keys wherever the focus is."""
        ActionChains(self.driver).send_keys(*keys).perform()

    def focused(self) -> str:
        """Return the id, or the name, of what has the focus."""
        active = self.driver.switch_to.active_element
        return str(active.get_attribute("id") or active.accessible_name)

    def says(self, place: str, words: str, seconds: float = 60) -> str:
        """Wait until the notice ("#notice") or the error ("#trouble") says something; return all of it."""
        return self.until(lambda: text if words in (text := self.one(place).text) else "", seconds)

    def alert(self) -> str:
        """Accept the browser's own question, where it asks one, and return its text."""
        try:
            asked = self.driver.switch_to.alert
        except NoAlertPresentException:
            return ""
        text = str(asked.text)
        asked.accept()
        return text

    def downloads_to(self, folder: Path) -> None:
        """Save what is downloaded in a folder."""
        options = {"behavior": "allow", "downloadPath": str(folder)}
        self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", options)

    def module(self, address: str, expression: str) -> Any:
        """Return what an expression gives with a module of the page at hand, as `module`."""
        script = (
            f"const [end] = arguments; import('{address}').then(module => end({expression}), "
            "error => end(String(error)))"
        )
        return self.driver.execute_async_script(script)

    def teach(self, files: list[Path], label: str) -> str:
        """Show images, name them, teach; return the notice."""
        self.show(files)
        before = self.one("#notice").text
        self.one("#label").send_keys(label)
        self.one("#teach-button").click()
        return self.until(lambda: now if (now := self.one("#notice").text) not in ("", before) else "")

    def attribute(self, selector: str, name: str) -> str:
        """Return an attribute of an element."""
        return self.one(selector).get_attribute(name) or ""

    def classes(self) -> list[str]:
        """Return the names of the known classes."""
        return [element.text for element in self.all("#classes .name")]

    def complaints(self) -> list[str]:
        """Return what the browser's own log holds against the page."""
        return [line["message"] for line in self.driver.get_log("browser") if line["level"] == "SEVERE"]

    def photograph(self, path: Path, *, whole: bool = False) -> None:
        """Save an image of what is seen, in few colours, so that it is small."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if whole:
            height = self.driver.execute_script("return document.documentElement.scrollHeight")
            width = self.driver.execute_script("return document.documentElement.clientWidth")
            metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        time.sleep(0.6)  # bars grow
        self.driver.save_screenshot(str(path))
        with Image.open(path) as seen:
            seen.convert("RGB").quantize(128).save(path, optimize=True)


def class_folder(folder: Path, kinds: dict[str, int], seed: int = 0) -> Path:
    """Draw a folder with a subfolder of images for each kind, under its name or "kind:name"."""
    for named, count in kinds.items():
        kind, _, name = named.partition(":")
        defects(folder / (name or kind), kind, count, seed)
    return folder


def defects(folder: Path, kind: str, count: int, seed: int = 0) -> list[Path]:
    """Draw photographs of brushed metal with a defect: "scratch", "dent", "rust", or "clean"."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng([seed, *kind.encode()])
    paths = []
    for number in range(count):
        lines = rng.normal(scale=9, size=(256, 1)) + rng.normal(scale=4, size=(256, 256))
        grey = np.clip(150 + np.linspace(-18, 18, 256)[None, :] + lines, 0, 255).astype(np.uint8)
        image = Image.fromarray(grey).convert("RGB")
        draw = ImageDraw.Draw(image)
        if kind == "scratch":
            for _ in range(3):
                x, y = rng.integers(20, 230, size=2).tolist()
                dx, dy = rng.integers(-150, 150), rng.integers(-150, 150)
                draw.line([x, y, x + int(dx), y + int(dy)], fill=(238, 238, 242), width=3)
        elif kind == "dent":
            x, y = rng.integers(70, 186, size=2).tolist()
            for radius in range(52, 6, -2):
                shade = 70 + radius * 2
                draw.ellipse(
                    [x - radius, y - radius + 6, x + radius, y + radius], fill=(shade, shade, shade + 4)
                )
        elif kind == "rust":
            for _ in range(40):
                x, y, r = rng.integers(10, 240), rng.integers(10, 240), rng.integers(4, 22)
                colour = (int(rng.integers(120, 175)), int(rng.integers(55, 85)), 25)
                draw.ellipse([int(x - r), int(y - r), int(x + r), int(y + r)], fill=colour)
        path = folder / f"{kind}-{seed}-{number}.jpg"
        image.filter(ImageFilter.GaussianBlur(0.7)).save(path, quality=88)
        paths.append(path)
    return paths
