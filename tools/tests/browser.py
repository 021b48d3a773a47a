#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Uses the pages of 'codetag chart -o FILE.html' in headless Chromium as a user does.

Usage: browser.py CODETAG ALLOCINFO RECORDING SCREENSHOT-DIR

Clicks, searches, zooms and slides with real events. Compares the numbers on the page with
'codetag report --json'. Leaves a screenshot of each view to be looked at. By hand only
(make -C tools test-browser): Chromium takes 290 MB.
"""
import base64
import json
import os
import re
import subprocess
import sys
import tempfile

codetag, allocinfo, recording, shots = sys.argv[1:5]
passed = failed = 0


class Browser:
    """Chromium, told what to do through a pipe in its DevTools protocol."""

    def __init__(self, scratch):
        to_read, self.to = os.pipe()
        self.fro, to_write = os.pipe()

        def pipes():
            # Through others, in case they are 3 or 4 already.
            os.dup2(os.dup(to_read), 3)
            os.dup2(os.dup(to_write), 4)

        spare_read, spare_write = os.dup(to_read), os.dup(to_write)
        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             f"--user-data-dir={scratch}", "--window-size=1200,800", "--host-resolver-rules=MAP * ~NOTFOUND",
             "about:blank"], preexec_fn=pipes, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (to_read, to_write, spare_read, spare_write):
            os.close(end)
        self.rest, self.number, self.events = b"", 0, []
        target = self.ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = None
        self.session = self.ask("Target.attachToTarget",
                                {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(domain + ".enable")

    def receive(self):
        while b"\0" not in self.rest:
            data = os.read(self.fro, 1 << 20)
            assert data, "the browser is gone"
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, params=None):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params or {}}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def open(self, path):
        self.events = []
        self.ask("Page.navigate", {"url": path})
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.receive())

    def js(self, expression):
        answer = self.ask("Runtime.evaluate", {"expression": expression, "returnByValue": True})
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def box(self, selector):
        """The middle of what is drawn there, as it is seen."""
        return self.js(f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            const b = e.getBoundingClientRect();
            return {{x: b.x + b.width / 2, y: b.y + b.height / 2, w: b.width}}; }})()""")

    def mouse(self, kind, x, y, clicks=0):
        self.ask("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "clickCount": clicks,
                                              "button": "left" if clicks else "none"})

    def click(self, selector):
        at = self.box(selector)
        self.mouse("mouseMoved", at["x"], at["y"])
        self.mouse("mousePressed", at["x"], at["y"], 1)
        self.mouse("mouseReleased", at["x"], at["y"], 1)

    def type(self, text):
        self.ask("Input.insertText", {"text": text})

    def key(self, key, code):
        for kind in ("rawKeyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent",
                     {"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code})

    def shot(self, name):
        data = self.ask("Page.captureScreenshot")["data"]
        with open(os.path.join(shots, name + ".png"), "wb") as file:
            file.write(base64.b64decode(data))

    def text(self, selector):
        return self.js(f"document.querySelector({json.dumps(selector)}).textContent")


def check(name, got, want):
    global passed, failed
    if got == want:
        passed += 1
        print("ok", name)
    else:
        failed += 1
        print(f"FAILED {name}: {got!r} is not {want!r}")


def report(*args):
    out = subprocess.run([codetag, "report", "--json", *args], check=True, capture_output=True)
    return json.loads(out.stdout)


def first_number(text):
    """The number with its thin spaces, behind the last colon before it."""
    return int(re.search(r": (-?[\d\u202f]+)", text)[1].replace("\u202f", ""))


def node(path):
    return f'[data-path="{path}"]'


def explore(browser, page):
    total = report(allocinfo)["total"]
    mm = next(row for row in report(allocinfo, "-g", "dir:1")["rows"] if row["name"] == "mm")
    inode = report(allocinfo, "func *inode*")
    browser.open("file://" + page)
    check("no error, nothing from elsewhere", [e["params"] for e in browser.events if
          e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded") or
          e.get("method") == "Network.requestWillBeSent" and
          not e["params"]["request"]["url"].startswith(("file://", "about:"))], [])
    check("total", first_number(browser.text("#crumbs")), total["size"])
    for view in ("treemap", "ring", "flame"):
        browser.click(f'#views button[value="{view}"]')
        browser.shot(view)
        check(f"{view}: drawn", browser.js("document.querySelectorAll('.node').length") > 100, True)
        at = browser.js(f"""(() => {{ const b = document.querySelector('{node("mm")}')
            .getBoundingClientRect(); for (let y = b.top + 2; y < b.bottom; y += 3)
            for (let x = b.left + 2; x < b.right; x += 3)
            if (document.elementFromPoint(x, y)?.dataset.path === "mm") return [x, y]; }})()""")
        browser.mouse("mouseMoved", *at)
        tip = browser.text("#tip").split("\n")
        check(f"{view}: tip names it", tip[0], "mm")
        check(f"{view}: exact size in the tip", first_number(tip[1]), mm["size"])
        check(f"{view}: exact calls in the tip", first_number(tip[2]), mm["calls"])
        browser.mouse("mousePressed", *at, 1)
        browser.mouse("mouseReleased", *at, 1)
        check(f"{view}: a click zooms", first_number(browser.text("#crumbs")), mm["size"])
        check(f"{view}: only what is below", browser.js(
            """[...document.querySelectorAll('.node')].every(e => !e.dataset.path ||
            e.dataset.path === "mm" || e.dataset.path.startsWith("mm/"))"""), True)
        browser.shot(view + "-zoomed")
        browser.click("#crumbs button")
        check(f"{view}: and back", first_number(browser.text("#crumbs")), total["size"])
    browser.click("#find")
    browser.type("/func:.*inode/")
    check("search finds", first_number(browser.text("#found")), inode["total"]["size"])
    check("search marks", browser.js("document.querySelectorAll('.node.dim').length") > 50 and
          browser.js("document.querySelectorAll('.node:not(.dim)').length") > 1, True)
    browser.shot("search")
    browser.key("Escape", 27)
    check("Escape ends the search", browser.js("document.querySelectorAll('.dim').length"), 0)
    browser.js("""(() => { const a = document.querySelector('#attribute'); a.value = 1;
        a.dispatchEvent(new Event('change')); })()""")
    check("calls", first_number(browser.text("#crumbs")), total["calls"])


def slide(browser, page, scratch):
    browser.open("file://" + page)
    count = browser.js("document.querySelector('#slider').max * 1") + 1
    check("one place for each snapshot", count, int(subprocess.run(
        [codetag, "replay", "--list", "-N", recording], check=True, capture_output=True,
        text=True).stdout.count("\n")))
    browser.shot("recording")
    browser.click("#slider")
    for _ in range(count):
        browser.key("ArrowLeft", 37)
    for i in range(count):
        path = os.path.join(scratch, "allocinfo")
        with open(path, "wb") as file:
            subprocess.run([codetag, "replay", recording, "--text", str(i + 1)], check=True, stdout=file)
        check(f"snapshot {i + 1}", first_number(browser.text("#crumbs")), report(path)["total"]["size"])
        browser.key("ArrowRight", 39)
    browser.js("""(() => { const a = document.querySelector('#attribute'); a.value = 2;
        a.dispatchEvent(new Event('change')); })()""")
    browser.shot("growth")
    check("what shrank is said", "not drawn" in browser.text("#notes"), True)


with tempfile.TemporaryDirectory() as work:
    os.makedirs(shots, exist_ok=True)
    for source, name in ((allocinfo, "snapshot"), (recording, "recording")):
        subprocess.run([codetag, "chart", source, "-o", f"{work}/{name}.html"], check=True)
    chromium = Browser(work + "/profile")
    try:
        explore(chromium, work + "/snapshot.html")
        slide(chromium, work + "/recording.html", work)
    finally:
        chromium.process.kill()
        chromium.process.wait()
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
