"""A headless Chromium, asked over its DevTools protocol: what a page loads, says, and answers."""

import json
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

import websocket

PROGRAM = next(
    filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser"))), None
)
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--remote-allow-origins=*", "--remote-debugging-port=0",
)  # fmt: skip
STILL = "document.getAnimations().every((each) => !(each instanceof CSSTransition))"
SET = """!window.MathJax || [...document.querySelectorAll(".math")].every(
    (place) => place.querySelector("mjx-container"))"""
MODES = {(width, theme) for width in (1280, 360) for theme in ("light", "dark")}


class Browser:
    """One Chromium with one page in it; leave it, and it is gone."""

    def __init__(self, patience=120):
        self.patience = patience  # seconds for one answer

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command = [PROGRAM, *FLAGS, f"--user-data-dir={self.folder.name}", "about:blank"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        address = next(filter(None, map(listening, self.process.stderr)))
        self.socket = websocket.create_connection(
            address, timeout=self.patience, suppress_origin=True
        )
        self.number, self.session, self.events = 0, None, []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.process.terminate()
        self.process.wait()
        self.process.stderr.close()
        self.folder.cleanup()

    def ask(self, method, **parameters):
        """Return the browser's answer; what it tells meanwhile is kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            heard = json.loads(self.socket.recv())
            if heard.get("id") == self.number:
                assert "error" not in heard, (method, heard["error"])
                return heard["result"]
            self.events.append(heard)

    def wait_for(self, event):
        while not any(heard.get("method") == event for heard in self.events):
            self.events.append(json.loads(self.socket.recv()))

    def open(self, path, width=1280, theme="light"):
        """Open a file as a visitor with this window and this taste, its mathematics set."""
        wanted = [{"name": "prefers-color-scheme", "value": theme}]
        self.ask("Emulation.setEmulatedMedia", features=wanted)
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=800, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        self.events.clear()
        self.ask("Page.navigate", url=path if "://" in str(path) else Path(path).as_uri())
        self.wait_for("Page.loadEventFired")
        self.until(SET, seconds=self.patience / 4)
        self.until(STILL)

    def run(self, script):
        """Return what an expression of JavaScript is worth in the page."""
        answer = self.ask(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, (script[:200], answer["exceptionDetails"])
        return answer["result"].get("value")

    def until(self, script, seconds=10):
        """Wait until an expression is true, and return it."""
        for _ in range(int(seconds / 0.05)):
            if found := self.run(script):
                return found
            time.sleep(0.05)
        raise AssertionError(f"not within {seconds} s: {script}")

    def press(self, key, text=""):
        """Press a key and let it go, as a hand does."""
        code = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowRight": 39, "ArrowDown": 40}.get(key, 0)
        known = {"key": key, "windowsVirtualKeyCode": code}
        if key == "Enter":
            text = "\r"
        self.ask("Input.dispatchKeyEvent", type="keyDown", text=text, **known)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **known)

    def told(self, method):
        return [heard["params"] for heard in self.events if heard.get("method") == method]

    def complaints(self):
        """What the console shows as an error or a warning."""
        said = [
            entry["entry"]["text"]
            for entry in self.told("Log.entryAdded")
            if entry["entry"]["level"] in ("error", "warning")
        ]
        said += [
            str(call["args"][0].get("value", call["args"][0]))
            for call in self.told("Runtime.consoleAPICalled")
            if call["type"] in ("error", "warning", "assert")
        ]
        thrown = self.told("Runtime.exceptionThrown")
        return said + [str(each["exceptionDetails"].get("exception", each)) for each in thrown]

    def requests(self):
        return [each["request"]["url"] for each in self.told("Network.requestWillBeSent")]

    def strangers(self):
        """The addresses asked for that are not files of the book."""
        ours = ("file:", "data:", "blob:", "about:")
        return [url for url in self.requests() if not url.startswith(ours)]

    def weight(self):
        """Bytes of the files that the page has loaded, each counted once."""
        files = {unquote(urlsplit(url).path) for url in self.requests() if url[:5] == "file:"}
        return sum(Path(file).stat().st_size for file in files if Path(file).is_file())


def listening(line):
    found = re.search(r"DevTools listening on (ws://\S+)", line)
    return found and found[1]
