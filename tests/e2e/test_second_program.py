"""A second program on the same rooms (tests/second_program): settings, daemon and http serve more than the agent."""
import http.client
import os
import signal
import subprocess
import tempfile
import unittest

from harness import end, free_port, run_tests, wait_until

PROGRAM = os.environ["SECOND_PROGRAM_BIN"]

GUESTS = """\
tone: loud
guests:
  - {name: Ada, gifts: {books: 2, tea: 1}}
  - name: Grace
"""


def ask(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=30)


class Settings(unittest.TestCase):
    def setUp(self):
        self.file = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "greeter.yaml")

    def check(self, text, *arguments):
        with open(self.file, "w", encoding="utf-8") as out:
            out.write(text)
        ended = ask(f"--config.file={self.file}", *arguments)
        return ended.returncode, (ended.stdout + ended.stderr).replace(self.file, "FILE")

    def test_help_lists_its_own_flags_and_no_others(self):
        ended = ask("--help")
        self.assertEqual(ended.returncode, 0)
        self.assertTrue(ended.stdout.startswith("usage: greeter [<flags>]\n\nGreets who is expected.\n"), ended.stdout)
        for flag in ("--log.level=info", "--web.listen=ITEM ...", "--tone=calm", "--config.file=FILE"):
            self.assertIn(flag, ended.stdout)
        self.assertNotIn("monitor", ended.stdout)

    def test_version_is_that_of_the_build(self):
        self.assertRegex(ask("--version").stdout, r"^greeter, version \S+ \(branch: ")

    def test_print_is_what_is_in_force_and_reads_back(self):
        code, printed = self.check(GUESTS, "--config.print", "--tone=calm", "--web.listen=:1")
        self.assertEqual((code, printed), (0, """\
log:
  level: info
web:
  listen: [":1"]
tone: calm
guests: [{name: Ada, gifts: {books: 2, tea: 1}}, {name: Grace, gifts: {}}]
"""))
        self.assertEqual(self.check(printed, "--config.print"), (0, printed))

    def test_mistakes_are_named_with_their_places(self):
        code, said = self.check("""\
tone: lowd
guests:
  - gifts: {books: 100}
  - {name: Bob, gift: {}}
web: {listen: [":1", "127.0.0.1:1"]}
""", "--config.check")
        self.assertEqual((code, said), (1, """\
FILE:3: guests[0].gifts: 100 is more than 99
FILE:3: guests[0].name: is required
FILE:1: tone: "lowd" is not one of calm, loud; did you mean loud?
FILE:5: web.listen: "127.0.0.1:1" cannot be listened on together with ":1" (FILE:5: web.listen); remove one of them
FILE:4: guests[1].gift: unknown key; did you mean guests[1].gifts?
"""))

    def test_bad_flag_is_refused(self):
        ended = ask("--tonne=calm")
        self.assertEqual((ended.returncode, ended.stderr),
                         (1, "greeter: error: unknown long flag '--tonne'; did you mean --tone? Try --help\n"))


class Running(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.file, log = os.path.join(folder, "greeter.yaml"), os.path.join(folder, "log")
        self.write(GUESTS)
        self.port = free_port()
        with open(log, "w", encoding="utf-8") as out:
            self.program = subprocess.Popen(
                [PROGRAM, f"--config.file={self.file}", f"--web.listen=127.0.0.1:{self.port}"], stdout=out, stderr=out)
        self.addCleanup(end, self.program)
        self.log = open(log, encoding="utf-8")
        self.addCleanup(self.log.close)
        self.said = ""
        self.wait_for("msg=started")

    def write(self, text):
        with open(self.file, "w", encoding="utf-8") as out:
            out.write(text)

    def wait_for(self, text):
        def came():
            self.said += self.log.read()
            return text in self.said
        wait_until(came, f"{text} in the log")

    def greetings(self):
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        self.addCleanup(client.close)
        client.request("GET", "/greetings")
        return client.getresponse().read().decode()

    def test_serves_reloads_and_stops(self):
        self.assertEqual(self.greetings(), "hello Ada!\n  thanks for 2 books\n  thanks for 1 tea\nhello Grace!\n")
        self.write("guests: [{name: Edsger}]\n")
        self.program.send_signal(signal.SIGHUP)
        self.wait_for("msg=reloaded")
        self.assertEqual(self.greetings(), "hello Edsger\n")
        self.write("guests: none\n")
        self.program.send_signal(signal.SIGHUP)
        self.wait_for("failed to load the new configuration")
        self.assertIn("guests: must be a list of mappings", self.said)
        self.assertEqual(self.greetings(), "hello Edsger\n")
        self.program.send_signal(signal.SIGTERM)
        self.assertEqual(self.program.wait(30), 0)

    def test_taken_address_stops_the_start(self):
        second = ask(f"--config.file={self.file}", f"--web.listen=127.0.0.1:{self.port}")
        self.assertEqual(second.returncode, 1)
        self.assertIn('msg="greeter cannot start"', second.stdout)


if __name__ == "__main__":
    run_tests()
