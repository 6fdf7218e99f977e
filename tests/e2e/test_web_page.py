"""The page at "/": with and without scripts, live, on a phone, for keyboards and screen readers, and with hostile names.

    tests/e2e/test_web_page.py --screenshots    writes the pictures of docs/web-page.md"""
import html
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import unittest
from urllib.parse import quote

from chromium import Chromium
from harness import Agent, end, run_tests, wait_until

CONFIG = "cpu: {preferredMeters: [fake]}\nmonitor: {interval: 1s}\n"
HOSTILE = "<b>\"&'" + secrets.token_hex(4)  # 15 bytes at most; found once
DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs")
ROWS = "document.getElementById('rows').rows"


class Page(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        path = os.path.join(folder, HOSTILE)
        shutil.copy("/bin/sleep", path)
        self.process = subprocess.Popen([path, "600"])
        self.addCleanup(end, self.process)
        self.agent = self.enterContext(Agent(config=CONFIG))
        self.url = f"http://127.0.0.1:{self.agent.port}/"

    def test_it_is_live_without_any_problem_and_hostile_names_are_text(self):
        with Chromium() as browser:
            browser.open(f"{self.url}?search={quote(HOSTILE)}")
            first = browser.wait("document.getElementById('time').textContent", "the time")
            browser.wait("document.getElementById('state').textContent === 'Live.'", "the first event")
            browser.wait(f"document.getElementById('time').textContent > '{first}'", "another tick")
            browser.wait(f"{ROWS}.length === 1", "the process")
            self.assertEqual(browser.run(f"{ROWS}[0].cells[0].textContent"), f"{HOSTILE} ({self.process.pid})")
            self.assertRegex(browser.run("document.getElementById('count').textContent"), r"^\d+, 1 match$")
            self.assertEqual(browser.run("document.getElementById('zones').rows[0].cells[5].textContent"), "simulated")
            self.assertIn("fake meter", browser.run("document.querySelector('p.problem').textContent"))
            self.assertEqual(browser.run("document.querySelectorAll('td b, th b, img, iframe').length"), 0)
            self.assertTrue(browser.run("document.getElementById('active').getAttribute('d').startsWith('M')"))
            self.assertLess(browser.run("performance.getEntriesByName('update')[0].duration"), 1000)
            self.assertEqual(browser.problems, [])

    def test_it_is_whole_without_scripts(self):
        status, headers, body = self.agent.get(f"/?search={quote(HOSTILE)}")
        self.assertEqual(status, 200)
        text = body.decode()
        name = html.escape(HOSTILE).replace("&#x27;", "&#39;")
        self.assertIn(f"<th scope=\"row\">{name} ({self.process.pid})</th>", text)
        self.assertNotIn("<b>", text)
        self.assertIn("default-src 'none'; script-src 'self'", headers["Content-Security-Policy"])
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        for attribute in re.findall(r'(?:src|href|action)="([^"]*)"', text):
            self.assertRegex(attribute, r"^[/?]", "nothing from outside")
        self.assertNotRegex(text, r"\son\w+=|\sstyle=|<script>")
        with Chromium() as browser:
            browser.call("Emulation.setScriptExecutionDisabled", value=True)
            browser.open(self.url)
            self.assertGreater(browser.run(f"{ROWS}.length"), 0)
            self.assertEqual(browser.run("document.getElementById('state').textContent"), "")

    def test_a_search_and_a_bad_query(self):
        self.assertIn("parameter sort", self.agent.get("/?sort=%3Cx%3E")[2].decode())
        for path, kind in (("/static/kepler.js", "text/javascript"), ("/static/kepler.css", "text/css")):
            status, headers, body = self.agent.get(path)
            self.assertEqual((status, headers["Content-Type"].split(";")[0]), (200, kind))
            self.assertGreater(len(body), 1000)
        with Chromium() as browser:
            browser.open(self.url)
            browser.run(f"document.getElementById('search').value = {json.dumps(HOSTILE)}")
            browser.click("document.querySelector('form button')")
            browser.wait("location.search.includes('search=') && document.readyState === 'complete'", "the search")
            browser.wait(f"{ROWS}.length === 1", "one row")

    def test_a_phone_shows_every_figure_and_does_not_scroll_sideways(self):
        outside = """[...document.querySelectorAll('.figures :is(th, td), .scroll td')].filter((cell) => cell.textContent && (cell.offsetWidth === 0 ||
                     cell.scrollWidth > cell.offsetWidth || cell.getBoundingClientRect().right > innerWidth)).map((cell) => cell.textContent)"""
        with Chromium() as browser:
            browser.open(self.url)
            browser.wait("document.getElementById('state').textContent === 'Live.'", "the first event")
            for width in (360, 390, 500):
                browser.show_as(width, 667, phone=True)
                self.assertLessEqual(browser.run("document.documentElement.scrollWidth"), width)
                self.assertEqual(browser.run(outside), [], width)

    def test_names_for_screen_readers_and_keys(self):
        with Chromium() as browser:
            browser.open(self.url)
            node = json.loads(self.agent.get("/api/v1/snapshot?limit=1")[2])["agent"]["node"]
            self.assertEqual(browser.run("document.title"), f"{node} – Kepler")
            nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
            named = {(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if "role" in node}
            for role, name in (("main", ""), ("heading", f"Kepler on {node}"), ("table", "Power now"), ("table", "Top workloads"),
                               ("searchbox", "Search"), ("button", "Search"), ("navigation", "Level")):
                self.assertIn((role, name), named)
            self.assertTrue(any(role in ("image", "img") and name.startswith("Power in the last hour") for role, name in named), named)
            unnamed = [role for role, name in named if role in ("link", "button", "image", "table", "searchbox") and not name]
            self.assertEqual(unnamed, [])
            ids = browser.run("[...document.querySelectorAll('[id]')].map((at) => at.id)")
            self.assertEqual(len(ids), len(set(ids)))
            browser.call("Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab", windowsVirtualKeyCode=9)
            self.assertEqual(browser.run("document.activeElement.tagName"), "A")

    def test_it_is_live_without_workloads(self):
        config = CONFIG + "exporter: {prometheus: {metricsLevel: [node]}}\n"
        with Agent(config=config) as agent, Chromium() as browser:
            browser.open(f"http://127.0.0.1:{agent.port}/")
            browser.wait("document.getElementById('state').textContent === 'Live.'", "the first event")
            self.assertEqual((browser.run("document.getElementById('rows')"), browser.problems), (None, []))

    def test_hidden_tabs_hold_no_connection_and_go_on_when_shown(self):
        live = "document.getElementById('state').textContent === 'Live.'"
        with Chromium() as browser:
            tabs = []
            for _ in range(8):  # a browser has six connections to a server
                tabs.append(browser.new_tab())
                browser.open(self.url)
                browser.wait(live, f"the first event in tab {len(tabs)}")
            browser.show_tab(tabs[0])
            seen = browser.run("document.getElementById('time').textContent")
            browser.wait(f"document.getElementById('time').textContent > '{seen}' && {live}", "a tick in the first tab again")
            self.assertEqual(browser.problems, [])

    def test_a_tick_that_comes_again_after_a_reconnect_counts_once(self):
        tick = {"interval_seconds": 1, "conservation_error_microjoules": 0, "stale": False}
        zone = {"zone": "package", "domain": "cpu", "idle_watts": 0, "watts": 1, "joules": 1, "metered": True}
        with Chromium() as browser:
            browser.call("Page.addScriptToEvaluateOnNewDocument", source="""
                window.fetch = async () => ({json: async () => ({step_seconds: 1, points: [
                    {time: "2026-01-01T00:00:01Z", active_watts: [10], idle_watts: [0]}]})});
                window.EventSource = class extends EventTarget {
                    constructor() { super(); window.stream = this; }
                    close() {}
                };""")
            browser.open(self.url)
            browser.wait("window.stream !== undefined", "the stream")
            for second, watts, mean in ((1, 10, "10.0 W"), (2, 40, "25.0 W"), (2, 40, "25.0 W"), (2, 40, "25.0 W")):
                event = {**tick, "time": f"2026-01-01T00:00:0{second}Z", "zones": [{**zone, "active_watts": watts}]}
                browser.run(f"void window.stream.dispatchEvent(new MessageEvent('tick', {{data: {json.dumps(json.dumps(event))}}}))")
                self.assertEqual(browser.run("document.getElementById('top').textContent"), mean, "the mean of 10 and 40 W")

    def test_it_says_when_the_agent_is_gone(self):
        with Chromium() as browser:
            browser.open(self.url)
            browser.wait("document.getElementById('state').textContent === 'Live.'", "the first event")
            self.agent.stop()
            browser.wait("document.getElementById('state').textContent.startsWith('Not live')", "the message")


def take_screenshots():
    with Agent(config=CONFIG) as agent, Chromium() as browser:
        url = f"http://127.0.0.1:{agent.port}/"
        wait_until(lambda: len(agent.get("/api/v1/history")[2]) > 10_000, "some history", 600, period=1)
        for name, width, height, scheme in (("light", 1000, 1100, "light"), ("dark", 1000, 1100, "dark"), ("phone", 375, 900, "light")):
            browser.show_as(width, height, scheme, phone=name == "phone")
            browser.open(url)
            browser.wait("document.getElementById('state').textContent === 'Live.'", "the first event")
            browser.screenshot(os.path.join(DOCS, f"web-page-{name}.png"))


if __name__ == "__main__":
    if "--screenshots" in sys.argv:
        take_screenshots()
    else:
        run_tests()
