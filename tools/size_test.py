#!/usr/bin/env python3
"""Tests of tools/size.py."""
import tempfile
import unittest
from pathlib import Path

import size

SOURCE = """#include <x>

namespace a {

struct S {
  int Short() const { return 1; }
  int Two() const {
    int x = 1;
    return x;
  }
};

int Wrapped(int a,
            int b) {
  if (a > b) {
    return a;
  }
  const auto f = [&](int c) {
    return c;
  };
  return f(b);
}

S::S(int a)
    : a_(a) {
  a_ += 1;
}

}  // namespace a
"""


class Size(unittest.TestCase):
    def test_functions(self):
        self.assertEqual([length for length, _ in size.functions_of(SOURCE)], [2, 7, 1])

    def test_tests_do_not_count(self):
        with tempfile.TemporaryDirectory() as root:
            for name, lines in (("a.cc", 3), ("b.h", 5), ("a_test.cc", 100), ("fake_clock.h", 100), ("a.py", 9)):
                path = Path(root, "src/room", name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("x\n" * lines)
            measured = size.measure(root, None)
            self.assertEqual((measured["lines"], measured["files"], measured["median file"]), (8, 2, 4))
            self.assertEqual(measured["longest file"], "5 (src/room/b.h)")

    def test_nothing_to_measure(self):
        with tempfile.TemporaryDirectory() as root:
            Path(root, "src").mkdir()
            with self.assertRaises(SystemExit):
                size.measure(root, None)


if __name__ == "__main__":
    unittest.main()
