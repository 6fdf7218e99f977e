#!/usr/bin/env python3
"""Measures the product: lines, files and functions of src/ without its tests, and the longest of each.

    tools/size.py [--root DIR] [REVISION]...

Of the working tree, or of each revision side by side. Functions are found by their shape, which clang-format gives all
sources: a line that opens a brace behind a parameter list, up to the brace in the same column. Counted are the lines
between the two.
"""
import argparse
import re
import statistics
import subprocess
import sys
from pathlib import Path

TEST = re.compile(r"(_test\.cc|_test_util\.h|_suite\.h|_fixture\.h|/fake_\w+\.(h|cc)|/scripted_\w+\.h|/test_\w+\.(h|cc)"
                  r"|/patient_limits\.h)$|^src/testing/")
NO_FUNCTION = re.compile(r"^\s*(if|else|for|while|switch|do|try|catch|namespace|class|struct|enum|union|return|case)\b"
                         r"|^\s*}|=\s*{$|\bnamespace\b")
OPENS = re.compile(r"\)(\s*(const|override|noexcept|final|&&?|->\s*[\w:<>,\s*&]+))*\s*(:.*)?{$")


def functions_of(text):
    """The lengths of the functions of a file, with the line where each begins."""
    lines = text.split("\n")
    found = []
    for number, line in enumerate(lines):
        if not OPENS.search(line) or NO_FUNCTION.match(line) or re.search(r"\[[^\]]*\]\s*(\([^()]*\))?[^()]*{$", line):
            continue
        indent = line[: len(line) - len(line.lstrip())]
        if indent.startswith("    "):
            if not line.startswith("      :") and not OPENS.search(line.lstrip()):
                continue
            # The end of a parameter list or of initializers that were wrapped: the function began above.
            begin = number
            while begin > 0 and lines[begin].startswith(indent):
                begin -= 1
            indent = lines[begin][: len(lines[begin]) - len(lines[begin].lstrip())]
            if len(indent) > 2 or NO_FUNCTION.match(lines[begin]):
                continue
        for end in range(number + 1, len(lines)):
            if lines[end].startswith(indent + "}"):
                found.append((end - number - 1, number + 1))
                break
    return found


def sources(root, revision):
    """(path, text) of each product source."""
    if revision is None:
        for path in sorted(Path(root, "src").rglob("*")):
            if path.suffix in (".h", ".cc"):
                yield str(path.relative_to(root)), path.read_text()
        return
    listed = subprocess.run(["git", "-C", root, "ls-tree", "-r", "--name-only", revision, "src"], check=True,
                            capture_output=True, text=True).stdout.split()
    for path in listed:
        if path.endswith((".h", ".cc")):
            yield path, subprocess.run(["git", "-C", root, "show", f"{revision}:{path}"], check=True,
                                       capture_output=True, text=True).stdout


def measure(root, revision):
    files = {}
    functions = []
    for path, text in sources(root, revision):
        if TEST.search(path):
            continue
        files[path] = text.count("\n")
        functions += [(length, f"{path}:{line}") for length, line in functions_of(text)]
    if not files:
        sys.exit(f"size.py: no product source in {root} at {revision or 'the working tree'}")
    longest_file = max(files, key=files.get)
    longest_function = max(functions, default=(0, "none"))
    lengths = [length for length, _ in functions] or [0]
    return {
        "lines": sum(files.values()),
        "files": len(files),
        "functions": len(functions),
        "median file": statistics.median(files.values()),
        "median function": statistics.median(lengths),
        "longest file": f"{files[longest_file]} ({longest_file})",
        "longest function": f"{longest_function[0]} ({longest_function[1]})",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=str(Path(__file__).resolve().parent.parent))
    parser.add_argument("revisions", nargs="*", metavar="REVISION")
    options = parser.parse_args()
    columns = [(name or "working tree", measure(options.root, name)) for name in options.revisions or [None]]
    print("| " + " | ".join(["product", *(name for name, _ in columns)]) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for key in columns[0][1]:
        print("| " + " | ".join([key, *(str(column[key]) for _, column in columns)]) + " |")


if __name__ == "__main__":
    main()
