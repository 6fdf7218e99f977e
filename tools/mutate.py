#!/usr/bin/env python3
"""Makes random one-operator mutants of a room's product code, and runs the unit tests of that room and of the rooms below it.

    tools/mutate.py ROOM[,ROOM...] N [--seed S] [--filter GTEST_FILTER] [--at FILE[:LINE]]

Works in a copy below build/mutate; the working tree is only read. Prints a line per mutant (killed, SURVIVED, not
compiled), then the survivors. The same seed and sources give the same mutants. Exit 1 if fewer than 95 % were killed.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutate"
COPY, BUILD = WORK / "tree", WORK / "out"
NEEDED = 0.95
COMPILE_SECONDS = 600

# Operator and replacement. A binary operator has blanks around it, as written by clang-format; `T&&` and `<int>` have none.
BINARY = {
    "==": ["!="], "!=": ["=="], "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
    "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"], "&": ["|"], "|": ["&"],
    "+=": ["-="], "-=": ["+="], "|=": ["&="], "&=": ["|="], "<<": [">>"], ">>": ["<<"],
}
RULES = [
    (re.compile(r"(?<=\s)(==|!=|<=|>=|&&|\|\||\+=|-=|\|=|&=|<<|>>|[-+*/%&|<>])(?=\s)"), lambda op: BINARY[op]),
    (re.compile(r"(?<![\w\])])!(?=[\w(*])"), lambda op: [""]),
    (re.compile(r"\+\+|--"), lambda op: ["--" if op == "++" else "++"]),
    (re.compile(r"(?<=\bstd::)(?:min|max)\b"), lambda op: ["max" if op == "min" else "min"]),
]
TEST_ONLY = re.compile(r"(_test(_util)?|_suite|_fixture)\.(cc|h)$|^(fake|scripted|live|test)_")
# Blanked before operators are looked for: comments, texts, characters, #lines, messages of static_assert.
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#[^\n]*|'
                     r'\bstatic_assert\([^;]*;', re.S | re.M)


@dataclass(frozen=True)
class Mutant:
    room: str
    file: str  # relative to the tree
    at: int
    old: str
    new: str
    line: int

    def place(self):
        return f"{self.file.removeprefix('src/')}:{self.line}"


@dataclass
class Test:
    """A test program of a room, or of one below it: activity's code is tested in activity/procfs too."""
    target: str
    program: str = ""
    seconds: float = 0


def product_files(room):
    folder = ROOT / "src" / room
    if not folder.is_dir():
        sys.exit(f"mutate: there is no room src/{room}")
    return sorted(f for f in folder.iterdir() if f.suffix in (".cc", ".h") and not TEST_ONLY.search(f.name))


def mutants_of(room):
    for file in product_files(room):
        text = file.read_text()
        code = NO_CODE.sub(lambda m: re.sub(r"\S", " ", m[0]), text)
        for pattern, becomes in RULES:
            for match in pattern.finditer(code):
                line = code.count("\n", 0, match.start()) + 1
                for new in becomes(match[0]):
                    yield Mutant(room, str(file.relative_to(ROOT)), match.start(), match[0], new, line)


def chosen(args):
    if args.at:
        name, _, line = args.at.partition(":")
        return [m for room in args.rooms for m in mutants_of(room)
                if m.file.endswith("/" + name) and line in ("", str(m.line))][:args.count]
    # Draw a site first and its replacement second, so that an operator with two replacements is not twice as likely.
    sites = {}
    for room in args.rooms:
        for mutant in mutants_of(room):
            sites.setdefault((mutant.file, mutant.at), []).append(mutant)
    dice = random.Random(args.seed)
    drawn = dice.sample(list(sites), min(args.count, len(sites)))
    return [dice.choice(sites[site]) for site in sorted(drawn)]


def copy_tree():
    """Files that changed only, so that the next run has little to compile."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split("\0")
    wanted = {name for name in listed if name and (ROOT / name).is_file()}
    for old in [f for f in COPY.rglob("*") if f.is_file() and str(f.relative_to(COPY)) not in wanted]:
        old.unlink()
    for name in wanted:
        source, target = ROOT / name, COPY / name
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def configure():
    """No optimisation and no debug information: what takes time is compiling. Assertions are on."""
    command = ["cmake", "-S", COPY, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
               "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -D_GLIBCXX_ASSERTIONS", "-DKEPLER_TESTS=ON"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout[-3000:] + done.stderr[-3000:])


def compile_test(test, seconds=None):
    return subprocess.run(["ninja", "-C", BUILD, "-j2", test.target], capture_output=True, text=True, check=False,
                          timeout=seconds)


def passes(test, filter_, seconds):
    """Whether all pass; a hang and a crash are failures."""
    command = [test.program, "--gtest_fail_fast", "--gtest_brief=1"] + ([f"--gtest_filter={filter_}"] if filter_ else [])
    environment = {**os.environ, "RC_PARAMS": "seed=1 max_success=100", "GTEST_DEATH_TEST_STYLE": "fast"}
    process = subprocess.Popen(command, cwd=BUILD, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
            process.wait()


def prepare(name, filter_):
    """The room's own tests come first: most mutants die there."""
    folder = ROOT / "src" / name
    files = sorted(folder.rglob("CMakeLists.txt"), key=lambda file: len(file.parts))
    tests = [Test(target) for file in files for target in re.findall(r"\bkepler_test\(\s*(\w+)", file.read_text())]
    if not tests:
        sys.exit(f"mutate: src/{name} has no unit tests")
    for test in tests:
        done = compile_test(test)
        if done.returncode:
            sys.exit(f"mutate: {test.target} does not build\n{done.stdout[-3000:]}")
        test.program = next(str(f) for f in BUILD.rglob(test.target) if f.is_file())
        began = time.monotonic()
        if not passes(test, filter_, 600):
            sys.exit(f"mutate: {test.target} fails without any change, choose tests with --filter")
        test.seconds = time.monotonic() - began
    return tests


def verdict_of(mutant, tests, filter_):
    file = COPY / mutant.file
    before = file.read_bytes()
    text = before.decode()
    assert text[mutant.at:mutant.at + len(mutant.old)] == mutant.old
    file.write_text(text[:mutant.at] + mutant.new + text[mutant.at + len(mutant.old):])
    try:
        for test in tests:
            if compile_test(test, COMPILE_SECONDS).returncode:
                return "not compiled"
            if not passes(test, filter_, 10 + 10 * test.seconds):
                return "killed"
        return "SURVIVED"
    finally:
        file.write_bytes(before)


def show(mutant, verdict, text):
    line = text.splitlines()[mutant.line - 1].strip()
    print(f"{verdict:<12}  {mutant.place():<40}  {mutant.old} -> {mutant.new or 'nothing':<8}  {line}", flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", type=lambda text: text.split(","), help="folders below src/, separated by commas")
    parser.add_argument("count", type=int, help="how many mutants")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--filter", default="", help="of the tests, as --gtest_filter")
    parser.add_argument("--at", help="all mutants of a file or a line, instead of random ones")
    return parser.parse_args()


def main():
    args = arguments()
    mutants = chosen(args)
    if not mutants:
        sys.exit("mutate: nothing to change there")
    COPY.mkdir(parents=True, exist_ok=True)
    copy_tree()
    configure()
    rooms = {}
    verdicts = {}
    for mutant in mutants:
        if mutant.room not in rooms:
            rooms[mutant.room] = prepare(mutant.room, args.filter)
        verdicts[mutant] = verdict_of(mutant, rooms[mutant.room], args.filter)
        show(mutant, verdicts[mutant], (COPY / mutant.file).read_text())
    count = {word: list(verdicts.values()).count(word) for word in ("killed", "SURVIVED", "not compiled")}
    compiled = count["killed"] + count["SURVIVED"]
    print(f"\n{len(mutants)} mutants of {', '.join(args.rooms)} (seed {args.seed}): {count['killed']} of {compiled} that "
          f"compiled were killed, {count['not compiled']} did not compile")
    for mutant in [m for m in mutants if verdicts[m] == "SURVIVED"]:
        show(mutant, "SURVIVED", (COPY / mutant.file).read_text())
    return 0 if count["killed"] >= NEEDED * compiled else 1


if __name__ == "__main__":
    sys.exit(main())
