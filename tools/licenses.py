#!/usr/bin/env python3
"""Checks that each shipped program's copyright file names every library whose code is in the program.

    tools/licenses.py BUILD_DIR PREFIX...

PREFIX is an installed tree: `cmake --install`'s, or usr/ of an unpacked package. Each program below PREFIX was linked in
BUILD_DIR, where ninja knows the headers and static libraries that it was made of (ninja -t deps). dpkg knows the source
package of each of these files. PREFIX/share/doc/PROGRAM/copyright (machine-readable, as in Debian) must

  * name each file by a "Files:" pattern: of several paragraphs the last one counts, as Debian says;
  * have no paragraph that names files of two source packages: a wide pattern would hide a forgotten library;
  * have the text of each license that it names.
"""
import fnmatch
import os
import re
import subprocess
import sys
from collections import defaultdict


def paragraphs(text: str) -> list[dict[str, str]]:
    """Field names to values, continuation lines included."""
    found = []
    for block in re.split(r"\n\s*\n", text.strip()):
        fields = re.findall(r"^([A-Za-z-]+):[ \t]*(.*(?:\n[ \t].*)*)", block, re.MULTILINE)
        found.append({name: value.strip() for name, value in fields})
    return found


def paragraph_of(files: set[str], text: str) -> dict[str, str]:
    """File to the "Files:" field of the paragraph that names it. The pattern "*" is for this project's own files."""
    patterns = []
    for paragraph in paragraphs(text):
        mine = [pattern for pattern in paragraph.get("Files", "").split() if pattern != "*"]
        if mine:
            patterns.append((re.compile("|".join(map(fnmatch.translate, mine))), " ".join(mine)))
    found = {}
    for file in files:
        for pattern, field in reversed(patterns):
            if pattern.match(file):
                found[file] = field
                break
    return found


def unnamed(sources: dict[str, str], text: str) -> list[str]:
    """Problems of files (to the source package of each) that no paragraph names, or only one of another package."""
    named = paragraph_of(set(sources), text)
    missing, members = defaultdict(list), defaultdict(lambda: defaultdict(list))
    for file in sorted(sources):
        if file in named:
            members[named[file]][sources[file]].append(file)
        else:
            missing[sources[file]].append(file)
    problems = [f"no paragraph names {files[0]} (package {package}, {len(files)} files)" for package, files in missing.items()]
    for field, packages in members.items():
        if len(packages) > 1:
            examples = ", ".join(f"{files[0]} of {package}" for package, files in packages.items())
            problems.append(f"one paragraph (Files: {field}) names files of several packages: {examples}")
    return sorted(problems)


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


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def depfile_headers(build: str, objects: list[str]) -> set[str]:
    """Headers in the dependency files of custom commands (the BPF object), which ninja does not record."""
    found = set()
    for name in objects:
        depfile = os.path.join(build, os.path.splitext(name)[0] + ".d")
        if os.path.exists(depfile):
            with open(depfile, encoding="utf-8") as file:
                found.update(word for word in file.read().split() if word.startswith("/usr/"))
    return found


def parts_of(build: str, program: str) -> set[str]:
    """Files of the system that are compiled or linked into the program (by its file name); none before it is built."""
    linked = [line.partition(":")[0] for line in output_of("ninja", "-C", build, "-t", "targets", "all").split("\n")
              if "EXECUTABLE_LINKER" in line and os.path.basename(line.partition(":")[0]) == program]
    if not linked:
        return set()
    inputs = [line.strip() for line in output_of("ninja", "-C", build, "-t", "inputs", linked[0]).split("\n")]
    # Of headers that are compiled beforehand, only what was made of them knows the list.
    objects = [name for name in inputs if name.endswith((".o", ".gch", ".pch"))]
    deps = output_of("ninja", "-C", build, "-t", "deps", *objects).split("\n")
    if any("CMakeFiles/" in line and line.endswith(": deps not found") for line in deps):
        return set()
    headers = {line.strip() for line in deps if line.startswith("    /usr/")}
    return headers | depfile_headers(build, objects) | {name for name in inputs if name.startswith("/usr/") and name.endswith(".a")}


def source_packages(files: set[str]) -> dict[str, str]:
    """File to the name of its Debian source package; "none" for a file that no package owns."""
    if not files:
        return {}
    found = subprocess.run(["dpkg-query", "-S", *sorted(files)], check=False, stdout=subprocess.PIPE, text=True,
                           stderr=subprocess.DEVNULL).stdout
    owners = {}
    for line in found.splitlines():
        packages, _, file = line.partition(": ")
        owners[file] = packages.split(", ")[0]
    names = sorted(set(owners.values()))
    shown = output_of("dpkg-query", "-W", "-f", "${binary:Package} ${source:Package}\n", *names) if names else ""
    sources = {name.partition(":")[0]: source for name, source in map(str.split, shown.splitlines())}
    return {file: sources[owners[file].partition(":")[0]] if file in owners else "none" for file in files}


def programs_in(prefix: str) -> list[str]:
    """File names of the ELF files below prefix."""
    found = []
    for folder, _, names in os.walk(prefix):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    if file.read(4) == b"\x7fELF":
                        found.append(name)
    return sorted(found)


def problems_of(build: str, prefix: str, program: str) -> tuple[int, list[str]]:
    """How many files are in the program, and what its copyright file lacks."""
    copyright_file = os.path.join(prefix, "share/doc", program, "copyright")
    if not os.path.exists(copyright_file):
        return 0, [f"{prefix}: {program} has no share/doc/{program}/copyright"]
    files = parts_of(build, program)
    if not files:
        return 0, [f"{program} is not built in {build}, or another build system than ninja built it"]
    with open(copyright_file, encoding="utf-8") as stream:
        text = stream.read()
    problems = unnamed(source_packages(files), text)
    problems += [f"no text of the license '{name}'" for name in licenses_without_text(text)]
    return len(files), [f"{copyright_file}: {problem}" for problem in problems]


def main(build: str, *prefixes: str) -> int:
    bad = 0
    for prefix in prefixes:
        programs = programs_in(prefix)
        if not programs:
            print(f"licenses: {prefix} has no program", file=sys.stderr)
            bad += 1
        for program in programs:
            count, problems = problems_of(build, prefix, program)
            print("\n".join(problems[:20]), end="\n" if problems else "", file=sys.stderr)
            print(f"licenses: {prefix}: {count} headers and libraries are in {program}, {len(problems)} problems")
            bad += len(problems)
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
