"""The judge of the lab: nothing passes unless it was seen to pass. And the host's end of the serial port."""
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from desk import Desk
from guests import GUESTS, Guest
from lab import judge

GUEST = Guest("one", "", "", "", "", checks=2)
GOOD = ["LAB: up 3", "CHECK first-thing ok 5 uJ", "CHECK second-thing ok 7 uJ", "LAB: done 9"]


class JudgeTest(unittest.TestCase):
    def failures(self, lines, console="", problem=""):
        return judge(GUEST, lines, console, problem)[1]

    def test_good_run(self):
        self.assertEqual(judge(GUEST, GOOD, "", ""), (GOOD[1:3], []))

    def test_failed_check_is_shown_whatever_it_says(self):
        bad = "CHECK first-thing fail it was not ok at all"
        self.assertEqual(self.failures([bad, *GOOD[2:]]), [bad])

    def test_missing_check(self):
        self.assertEqual(self.failures([GOOD[1], GOOD[3]]), ["1 checks ran, not 2"])

    def test_guest_that_did_not_end(self):
        self.assertEqual(self.failures(GOOD[:3]), ["the checks did not end"])
        self.assertEqual(self.failures(GOOD, problem="no end after 9 s"), ["QEMU: no end after 9 s"])

    def test_complaint_of_the_kernel_is_shown_once(self):
        for complaint in ("[ 3.5] WARNING: CPU: 0 PID: 1", "Oops", "[ 1.0] ACPI BIOS Error (bug): failure"):
            self.assertEqual(self.failures(GOOD, f"[ 0.1] hello\n{complaint}\n{complaint}\n"),
                             [f"the kernel complained: {complaint}"])

    def test_warning_from_before_the_checks_is_not_theirs(self):
        self.assertEqual(self.failures(GOOD, "[    2.9] WARNING: CPU: 1 PID: 1 at mm/slab_common.c\n"), [])

    def test_each_guest_has_a_scenario(self):
        for name, guest in GUESTS.items():
            self.assertEqual(name, guest.name)
            self.assertTrue((Path(__file__).parent / "guest" / f"{name}.py").exists(), name)


class DeskTest(unittest.TestCase):
    def serve(self, obey, said, code=0, limit=20):
        """What a guest that says this is answered, how it ended, and the desk."""
        with tempfile.TemporaryDirectory() as folder:
            desk = Desk(Path(folder) / "desk", obey)
            answers, over = [], threading.Event()

            def guest():
                with socket.socket(socket.AF_UNIX) as port, port.makefile("r") as heard:
                    port.connect(str(Path(folder) / "desk"))
                    port.sendall(said)
                    answers.extend(heard.readline() for _ in range(said.count(b"ASK ")))
                    if limit < 1:
                        over.wait(20)  # it says nothing more, and does not end
            thread = threading.Thread(target=guest)
            thread.start()
            with subprocess.Popen([sys.executable, "-c", f"raise SystemExit({code})"], stdout=subprocess.PIPE,
                                  text=True) as process:
                ended = desk.serve(process, limit)
            over.set()
            thread.join()
            return answers, ended, desk

    def test_requests_are_obeyed_and_answered(self):
        seen = []
        answers, ended, desk = self.serve({"set": lambda *words: seen.append(words)}, b"hello\r\nASK set a 5\nASK set b\n")
        self.assertEqual((answers, ended, seen), (["ok\n", "ok\n"], "", [("a", "5"), ("b",)]))
        self.assertEqual(desk.lines[0], "hello")

    def test_request_that_fails_is_answered_with_its_reason(self):
        answers, _, _ = self.serve({"set": lambda: 1 / 0}, b"ASK set\nASK other\n")
        self.assertEqual(answers, ["ZeroDivisionError: division by zero\n", "KeyError: 'other'\n"])

    def test_how_it_ended(self):
        self.assertEqual(self.serve({}, b"bye\n", code=3)[1], "QEMU ended with 3: ")
        self.assertEqual(self.serve({}, b"still here\n", limit=0.2)[1], "no end after 0.2 s")


if __name__ == "__main__":
    unittest.main()
