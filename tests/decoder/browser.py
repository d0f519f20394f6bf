# SPDX-License-Identifier: BSD-3-Clause
"""Chromium without a window, spoken to over the pipe of its DevTools protocol."""
import base64
import json
import os
import shutil
import subprocess
import time


class Browser:
    def __init__(self, profile):
        command_read, command_write = os.pipe()
        answer_read, answer_write = os.pipe()
        # The protocol is read from descriptor 3 and written to 4. (Small shells know descriptors up to 9 only.)
        shell = f'exec "$0" "$@" 3<&{command_read} 4>&{answer_write}'
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
                     "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(["bash", "-c", shell, shutil.which("chromium"), *arguments], pass_fds=(command_read, answer_write),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(command_read), os.close(answer_write)
        self.commands, self.answers = os.fdopen(command_write, "wb", 0), os.fdopen(answer_read, "rb", 0)
        self.number, self.pending, self.complaints, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.commands.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def receive(self):
        while b"\0" not in self.pending:
            part = self.answers.read(1 << 20)
            assert part, "the browser has ended"
            self.pending += part
        text, self.pending = self.pending.split(b"\0", 1)
        message = json.loads(text)
        if message.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(message["params"]["exceptionDetails"])
        if message.get("method") == "Log.entryAdded" and message["params"]["entry"]["level"] == "error":
            self.complaints.append(message["params"]["entry"]["text"])
        return message

    def run(self, code):
        """The value of a piece of JavaScript."""
        result = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, code, seconds=120):
        """Until it is true."""
        end = time.monotonic() + seconds
        while not self.run(code):
            assert time.monotonic() < end, (code, self.run("document.body.innerText"), self.complaints)
            time.sleep(0.05)

    def open(self, address, state="done"):
        self.complaints.clear()
        self.call("Page.navigate", url=address)
        self.wait(f"location.href === {json.dumps(address)} && document.documentElement?.dataset.state === {json.dumps(state)}")

    def window(self, width, height, dark=False, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def press(self, key, shift=False):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, modifiers=8 if shift else 0)

    def click(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def choose_file(self, selector, path):
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def screenshot(self, path):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        self.session = None
        try:
            self.call("Browser.close")
        except (AssertionError, OSError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
