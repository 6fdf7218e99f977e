"""Proves that results.py does not take for passed what was not seen to pass."""
import unittest

import results

OK = """[==========] Running 2 tests from 1 test suite.
[ RUN      ] A.One
[       OK ] A.One (3 ms)
[ RUN      ] A.Two
x_test.cc:7: Skipped
needs more

[  SKIPPED ] A.Two (0 ms)
[==========] 2 tests from 1 test suite ran. (3 ms total)
[  PASSED  ] 1 test.
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] A.Two
"""


def session(root=OK, other=OK, code=0, kernel="@@ kernel 6.1.0 btf=yes uptime=2.5\n", done="@@ done\n"):
    return (f"{kernel}@@ begin a_test root\n{root}\n@@ end a_test root {code}\n"
            f"@@ begin a_test bpf+perfmon\n{other}\n@@ end a_test bpf+perfmon 0\n{done}")


class Results(unittest.TestCase):
    def problems(self, text, programs=("a_test",)):
        found = results.read(text, programs)
        self.assertGreater(found.failed, 0)
        return found.problems + [f"{run.program} {run.rights} {run.problem}" for run in found.runs if run.problem]

    def test_all_well_counts_and_gives_reasons(self):
        found = results.read(session(), ["a_test"])
        self.assertEqual((found.passed, found.failed, found.skipped), (2, 0, 2))
        self.assertEqual((found.kernel, found.uptime), ("6.1.0", 2.5))
        self.assertEqual(found.runs[0].skipped, [("A.Two", "needs more")])

    def test_failed_test_is_counted_once_with_its_output(self):
        text = OK.replace("[       OK ] A.One (3 ms)", "x_test.cc:3: Failure\n[  FAILED  ] A.One, where TypeParam = int (3 ms)")
        found = results.read(session(root=text, code=1), ["a_test"])
        self.assertEqual((found.passed, found.failed), (1, 1))
        self.assertEqual(found.runs[0].failed, [("A.One", ["x_test.cc:3: Failure"])])

    def test_nothing_printed_fails(self):
        self.assertIn("the tests did not begin", self.problems(""))

    def test_program_that_is_missing_fails_with_each_right(self):
        self.assertEqual(self.problems(session(), ["a_test", "b_test"]),
                         ["b_test root did not run", "b_test bpf+perfmon did not run"])

    def test_crash_in_a_test_fails(self):
        cut = OK[:OK.index("[ RUN      ] A.Two")]
        self.assertEqual(self.problems(session(root=cut, code=139)),
                         ["a_test root 2 tests announced, 1 ended (exit code 139)"])

    def test_output_cut_off_fails(self):
        text = session()
        self.assertIn("a_test bpf+perfmon did not end", self.problems(text[:text.rindex("@@ end")]))

    def test_limit_fails(self):
        for code in (124, 137, 143):
            self.assertIn("ran past its limit", self.problems(session(code=code))[0])

    def test_bad_exit_code_without_a_failed_test_fails(self):
        self.assertEqual(self.problems(session(code=1)), ["a_test root exit code 1 though no test failed"])

    def test_program_that_cannot_start_fails(self):
        self.assertIn("ran no tests (exit code 127): sh: not found", self.problems(session(root="sh: not found", code=127))[0])

    def test_only_skipped_fails(self):
        text = OK.replace("[       OK ] A.One", "[  SKIPPED ] A.One")
        self.assertEqual(self.problems(session(other=text)), ["a_test bpf+perfmon not one test passed"])

    def test_kernel_without_btf_fails(self):
        self.assertEqual(self.problems(session(kernel="@@ kernel 6.1.0 btf=no uptime=1\n")),
                         ["the kernel has no BTF (/sys/kernel/btf/vmlinux)"])

    def test_end_without_done_fails(self):
        self.assertEqual(self.problems(session(done="")), ["the output is cut off"])


if __name__ == "__main__":
    unittest.main()
