#!/usr/bin/env python3
"""What the agent contains of its libraries is named, with its license, in what is shipped.

    tools/licenses.py BUILD_DIR COPYRIGHT_FILE...

The headers are those that the compiler says it read for BUILD_DIR's kepler (ninja -t deps). Each must be named by a "Files:"
pattern of each COPYRIGHT_FILE (machine-readable, as in Debian), and each license that is named there must have its text.
"""
import fnmatch
import re
import subprocess
import sys

PROGRAM = "src/apps/kepler/kepler"


def paragraphs(text: str) -> list[dict[str, str]]:
    """Field names to values, continuation lines included."""
    found = []
    for block in re.split(r"\n\s*\n", text.strip()):
        fields = re.findall(r"^([A-Za-z-]+):[ \t]*(.*(?:\n[ \t].*)*)", block, re.MULTILINE)
        found.append({name: value.strip() for name, value in fields})
    return found


def unnamed_headers(headers: set[str], text: str) -> list[str]:
    """Those that no "Files:" pattern names; the pattern "*" is for this project's own."""
    patterns = [pattern for paragraph in paragraphs(text) for pattern in paragraph.get("Files", "").split() if pattern != "*"]
    named = re.compile("|".join(map(fnmatch.translate, patterns)) or r"(?!)")
    return sorted(header for header in headers if not named.match(header))


def licenses_without_text(text: str) -> list[str]:
    """Names used by "Files:" paragraphs that no paragraph of their own explains in words."""
    explained, used = set(), set()
    for paragraph in paragraphs(text):
        name, _, words = paragraph.get("License", "").partition("\n")
        if words:
            explained.add(name.strip())
        if "Files" in paragraph:
            used.update(part.strip() for part in re.split(r"\bor\b|\band\b", name))
    return sorted(used - explained)


def headers_of(build: str) -> set[str]:
    """System headers that the objects of the program were compiled with."""
    def ninja(*arguments: str) -> str:
        return subprocess.run(["ninja", "-C", build, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout

    inputs = ninja("-t", "inputs", PROGRAM).split("\n")
    objects = [name.strip() for name in inputs if name.strip().endswith(".o")]
    lines = ninja("-t", "deps", *[name for name in objects if "/CMakeFiles/" in name]).split("\n")
    return {line.strip() for line in lines if line.startswith("    /usr/")}


def main(build: str, *files: str) -> int:
    headers = headers_of(build)
    if not headers:
        print(f"licenses: ninja knows no header of {PROGRAM} in {build}; build it first", file=sys.stderr)
        return 1
    bad = 0
    for file in files:
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
        problems = [f"no paragraph names {header}" for header in unnamed_headers(headers, text)]
        problems += [f"no text of the license '{name}'" for name in licenses_without_text(text)]
        for problem in problems[:20]:
            print(f"{file}: {problem}", file=sys.stderr)
        bad += len(problems)
    print(f"licenses: {len(headers)} headers are in the program, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
