"""A headless Chromium, driven by the DevTools protocol over a pipe (file descriptors 3 and 4: JSON texts that end with 0)."""
import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import time

from harness import PATIENCE, end, require, scratch_directory

PROGRAM = "/usr/bin/chromium"
# What Chromium answers for a script whose document was replaced before it ended.
NAVIGATED = ("Inspected target navigated or closed", "Execution context was destroyed", "Cannot find context with specified id")
SWITCHES = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
            "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--remote-debugging-pipe"]


class Navigated(AssertionError):
    """The page went to another document while a script ran in it."""


class Chromium(contextlib.AbstractContextManager):
    """The page of one tab at a time. `problems`: what the consoles and the network said that is no information."""

    def __init__(self):
        require(os.access(PROGRAM, os.X_OK), f"there is no {PROGRAM}")
        self.directory = scratch_directory()
        self.problems = []
        self.count = 0
        self.buffer = b""

    def __enter__(self):
        its_input, self.output = os.pipe()
        self.input, its_output = os.pipe()
        command = ["/bin/sh", "-c", 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"', "sh", str(its_input), str(its_output),
                   PROGRAM, *SWITCHES, f"--user-data-dir={self.directory}", "about:blank"]
        self.process = subprocess.Popen(command, pass_fds=(its_input, its_output), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(its_input)
        os.close(its_output)
        try:
            targets = self.call("Target.getTargets", session=None)["targetInfos"]
            self.attach(next(target["targetId"] for target in targets if target["type"] == "page"))
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        os.close(self.output)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        end(self.process)
        os.close(self.input)
        shutil.rmtree(self.directory, ignore_errors=True)

    def attach(self, page):
        self.session = self.call("Target.attachToTarget", session=None, targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def new_tab(self):
        """A tab in front of the others, whose page is the one from now on. Returns the tab."""
        page = self.call("Target.createTarget", session=None, url="about:blank")["targetId"]
        self.attach(page)
        return page, self.session

    def show_tab(self, tab):
        page, self.session = tab
        self.call("Target.activateTarget", session=None, targetId=page)

    def message(self, seconds):
        """The next message, or None."""
        deadline = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.input], [], [], max(deadline - time.monotonic(), 0))
            if not ready:
                return None
            more = os.read(self.input, 1 << 20)
            if not more:
                raise AssertionError("Chromium has ended")
            self.buffer += more
        text, _, self.buffer = self.buffer.partition(b"\0")
        message = json.loads(text)
        self.note(message)
        return message

    def note(self, message):
        method, what = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown" or method == "Network.loadingFailed" and not what.get("canceled"):
            self.problems.append(json.dumps(what)[:500])
        elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            self.problems.append(json.dumps(what["args"])[:500])
        elif method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.problems.append(json.dumps(what["entry"])[:500])

    def call(self, method, session="", seconds=60, **parameters):
        self.count += 1
        request = {"id": self.count, "method": method, "params": parameters}
        if session is not None:
            request["sessionId"] = self.session
        os.write(self.output, json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + seconds * PATIENCE
        while True:
            answer = self.message(deadline - time.monotonic())
            if answer is None:
                raise AssertionError(f"{method}: no answer")
            if answer.get("id") == self.count:
                if "error" in answer:
                    kind = Navigated if answer["error"].get("message", "").startswith(NAVIGATED) else AssertionError
                    raise kind(f"{method}: {answer['error']}")
                return answer["result"]

    def run(self, script):
        """The value of an expression in the page."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise AssertionError(f"{script}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def click(self, element):
        """Clicks after this call has returned, for a click may replace the document. `element`: an expression."""
        self.run(f"void setTimeout(() => {element}.click())")

    def wait(self, script, what, seconds=30):
        """The first true value of an expression, in this document or in the one that replaces it."""
        deadline = time.monotonic() + seconds * PATIENCE
        while True:
            with contextlib.suppress(Navigated):
                if value := self.run(script):
                    return value
            if time.monotonic() > deadline:
                raise AssertionError(f"waited {seconds} s for {what}; {self.problems}")
            self.message(0.05)

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait(f"location.href.startsWith({json.dumps(url)}) && document.readyState === 'complete'", url)

    def show_as(self, width, height, scheme="light", phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
