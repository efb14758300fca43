"""A headless Chromium, driven over its DevTools protocol: pages, mouse, keys, colours, pictures, complaints."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
    "--disable-sync", "--disable-component-update", "--disable-extensions", "--disable-default-apps", "--mute-audio",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-port=0", "--remote-allow-origins=*",
)  # fmt: skip


class Browser:
    """One tab. `complaints` holds console errors and exceptions, `asked` every address that the page wanted."""

    def __init__(self, folder: Path) -> None:
        import websocket

        assert CHROMIUM is not None
        profile = folder / "profile"
        self._process = subprocess.Popen(
            [CHROMIUM, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._wire: Any = websocket.create_connection(_address(profile / "DevToolsActivePort"), timeout=60)
        self._count = 0
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self._loaded = False
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder / "downloads"))

    def close(self) -> None:
        self._wire.close()
        self._process.terminate()
        self._process.wait(timeout=20)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask Chromium for something, and wait for its answer."""
        self._count += 1
        self._wire.send(json.dumps({"id": self._count, "method": method, "params": params}))
        while True:
            message = json.loads(self._wire.recv())
            if message.get("id") == self._count:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                answer: dict[str, Any] = message["result"]
                return answer
            self._heard(message)

    def open(self, page: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Show a file, and wait until its script has drawn."""
        self.look(width, height, dark=dark)
        self.complaints.clear()
        self.asked.clear()
        self.call("Page.navigate", url=page.as_uri())
        end = time.monotonic() + 30
        while self.js("document.documentElement?.dataset.drawn") != "yes":
            if time.monotonic() > end or self.complaints:
                raise RuntimeError(f"The page did not draw: {self.complaints}")
            time.sleep(0.02)

    def look(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Size of the window and colours of the system."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def js(self, expression: str) -> Any:
        """The value of an expression in the page."""
        asked = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        answer = self.call("Runtime.evaluate", **asked)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def text(self, selector: str) -> str:
        return str(self.js(f"document.querySelector({json.dumps(selector)}).textContent"))

    def choose(self, selector: str, value: str) -> None:
        """Set a control and tell the page, as a user would."""
        self.js(f"""(() => {{ const node = document.querySelector({json.dumps(selector)});
            node.value = {json.dumps(value)};
            node.dispatchEvent(new Event('input', {{bubbles: true}}));
            node.dispatchEvent(new Event('change', {{bubbles: true}})); }})()""")

    def mouse(self, kind: str, x: float, y: float) -> None:
        more = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x: float, y: float) -> None:
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.mouse(kind, x, y)

    def press(self, key: str, code: int = 0) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def picture(self, path: Path, *, whole: bool = True) -> Path:
        """A PNG of the page, kept to look at."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(shot["data"]))
        return path

    def _heard(self, message: dict[str, Any]) -> None:
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(str(params["exceptionDetails"].get("exception", {}).get("description", params)))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.asked.append(params["request"]["url"])


def _address(port_file: Path) -> str:
    """Chromium writes the port it took into its profile; the first page there is ours."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if port_file.is_file() and (lines := port_file.read_text().split()):
            with urllib.request.urlopen(f"http://127.0.0.1:{lines[0]}/json") as answer:
                pages = [page for page in json.load(answer) if page["type"] == "page"]
            if pages:
                return str(pages[0]["webSocketDebuggerUrl"])
        time.sleep(0.05)
    raise RuntimeError("Chromium did not start within 30 s.")
