"""A headless Chromium, spoken to over a pipe in its own protocol: no driver and no further library is needed."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 60.0
"""Seconds after which a browser that does not answer counts as broken."""


def executable():
    """The path of a browser; None if there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One browser with one page."""

    def __init__(self, *flags):
        self.folder = tempfile.mkdtemp(prefix="dalembert-browser-")
        there, self._write = os.pipe()
        self._read, back = os.pipe()
        command = [
            executable(), "--headless=new", "--no-sandbox", "--disable-gpu-sandbox", "--use-angle=swiftshader",
            "--enable-unsafe-swiftshader", "--remote-debugging-pipe", "--no-first-run", "--disable-extensions",
            "--disable-background-networking", "--mute-audio", f"--user-data-dir={self.folder}", *flags, "about:blank",
        ]  # fmt: skip
        # The browser reads from 3 and writes to 4.
        keep = os.open(os.devnull, os.O_RDONLY)
        high = [os.dup2(fd, n) for fd, n in ((there, 203), (back, 204))]
        self.process = subprocess.Popen(
            ["bash", "-c", 'exec 3<&203 4>&204 203<&- 204>&-; exec "$@"', "browser", *command],
            pass_fds=high, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for fd in (there, back, keep, *high):
            os.close(fd)
        self._count, self._buffer, self.events = 0, b"", []
        target = self._send("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = self._send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method, **parameters):
        """A command to the page; its result."""
        return self._send(method, parameters, self.session)

    def _send(self, method, parameters, session=None):
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters} | (
            {"sessionId": session} if session else {}
        )
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next(PATIENCE)
            if answer.get("id") == self._count:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)

    def _next(self, patience):
        end = time.monotonic() + patience
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            data = os.read(self._read, 1 << 20) if ready else b""
            assert data, "the browser does not answer"
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def open(self, path, width=1440, height=900, dark=False):
        """Open a file in a window of that size."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.events.clear()
        self.send("Page.navigate", url=path.resolve().as_uri())
        self.until("document.readyState === 'complete'")

    def run(self, code):
        """The value of an expression in the page; promises are waited for."""
        answer = self.send("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, condition, patience=PATIENCE):
        """Wait until a condition holds in the page."""
        end = time.monotonic() + patience
        while not self.run(f"Boolean({condition})"):
            assert time.monotonic() < end, f"{condition} does not come true"
            time.sleep(0.05)

    def picture(self):
        """A screenshot as PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])

    def requests(self):
        """The addresses that the page has asked for since it was opened."""
        self.run("1")
        sent = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [url for url in sent if not url.startswith("data:")]

    def complaints(self):
        """Errors and warnings in the console."""
        self.run("1")
        found = [
            e["params"]["exceptionDetails"]["text"] for e in self.events if e.get("method") == "Runtime.exceptionThrown"
        ]
        for e in self.events:
            if e.get("method") == "Runtime.consoleAPICalled" and e["params"]["type"] in ("error", "warning"):
                found.append(str(e["params"]["args"]))
            if e.get("method") == "Log.entryAdded" and e["params"]["entry"]["level"] == "error":
                found.append(e["params"]["entry"]["text"])
        return found

    def close(self):
        """End the browser."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._read)
        os.close(self._write)
        shutil.rmtree(self.folder, ignore_errors=True)
