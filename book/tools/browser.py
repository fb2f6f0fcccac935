"""A headless Chromium with one page in it: what the page loads, says, and answers."""

import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

from playwright.sync_api import sync_playwright

import toc

PROGRAM = next(
    filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser"))), None
)
AXE = toc.ROOT / ".cache" / "axe-core-4.14.0.js"
FLAGS = ("--disable-gpu", "--disable-quic", "--disable-sync")  # beside Playwright's own
STILL = "document.getAnimations().every((each) => !(each instanceof CSSTransition))"
SET = """!window.MathJax || [...document.querySelectorAll(".math")].every(
    (place) => place.querySelector("mjx-container"))"""
MODES = {(width, theme) for width in (1280, 360) for theme in ("light", "dark")}


def axe_script():
    """Return the script that finds what trips weak eyes or a screen reader; None without npm."""
    if not AXE.exists():
        if not (npm := shutil.which("npm")):
            return None
        with tempfile.TemporaryDirectory() as folder:
            name = AXE.stem.replace("core-", "core@")
            subprocess.run([npm, "pack", "--silent", name], cwd=folder, check=True)
            with tarfile.open(next(Path(folder).glob("*.tgz"))) as packed:
                text = packed.extractfile("package/axe.min.js").read()
        AXE.parent.mkdir(exist_ok=True)
        AXE.write_bytes(text)
    return AXE.read_text(encoding="utf-8")


class Browser:
    """One Chromium, the machine's own, with one page in it; leave it, and it is gone."""

    def __init__(self, patience=120):
        self.patience = patience  # seconds for one answer

    def __enter__(self):
        self.playwright = sync_playwright().start()
        chromium = self.playwright.chromium
        self.browser = chromium.launch(executable_path=PROGRAM, args=FLAGS)
        self.page = self.browser.new_page()
        self.page.set_default_timeout(1000 * self.patience)
        self.said, self.asked = [], []
        self.page.on("console", self.hear)
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        return self

    def __exit__(self, *_):
        self.browser.close()
        self.playwright.stop()

    def hear(self, message):
        if message.type in ("error", "warning", "assert"):
            self.said.append(message.text)

    def open(self, path, width=1280, theme="light"):
        """Open a file as a visitor with this window and this taste, its mathematics set."""
        self.page.emulate_media(color_scheme=theme)
        self.page.set_viewport_size({"width": width, "height": 800})
        self.said.clear()
        self.asked.clear()
        self.page.goto(path if "://" in str(path) else Path(path).as_uri())
        self.until(SET, seconds=self.patience / 4)
        self.until(STILL)

    def run(self, script):
        """Return what an expression of JavaScript is worth in the page."""
        return self.page.evaluate(script)

    def until(self, script, seconds=10):
        """Wait until an expression is true, and return it."""
        return self.page.wait_for_function(script, timeout=1000 * seconds).json_value()

    def press(self, key):
        """Press a key and let it go, as a hand does."""
        self.page.keyboard.press(key)

    def complaints(self):
        """What the console shows as an error or a warning."""
        return list(self.said)

    def strangers(self):
        """The addresses asked for that are not files of the book."""
        ours = ("file:", "data:", "blob:", "about:")
        return [url for url in self.asked if not url.startswith(ours)]

    def weight(self):
        """Bytes of the files that a page has loaded, but for the style sheets, which all share."""
        paths = {Path(unquote(urlsplit(url).path)) for url in self.asked if url[:5] == "file:"}
        own = [path for path in paths if path.is_file() and path.suffix != ".css"]
        return sum(path.stat().st_size for path in own)
