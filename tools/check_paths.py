#!/usr/bin/env python3
"""Checks that every repository path in backticks in CONTRIBUTING.md and docs/ARCHITECTURE.md exists.

    tools/check_paths.py [ROOT]

A path starts with a top folder of the repository or a folder of src/, or is the name of a file. Such a name belongs to any folder
with a path in the same paragraph or row, or to the room in the first column of the row. NAME and * stand for any name,
{h,cc} for each of its items.
Prints FILE:LINE: `path`: does not exist. Exits with 1 if there is any, with 2 if a page is missing.
"""
import re
import subprocess
import sys
from pathlib import Path

PAGES = ("CONTRIBUTING.md", "docs/ARCHITECTURE.md")
QUOTED = re.compile(r"`([^`\n]+)`")
FENCED = re.compile(r"^```.*?^```", re.M | re.S)
FILE_NAME = re.compile(r"[\w*-][\w.*-]*(\.\{[\w,]+\}|\.(h|cc|c|py|sh|md|txt|json|yaml|8|1))$")


def expand(path):
    """a.{h,cc} is a.h and a.cc."""
    braces = re.search(r"\{([\w,]+)\}", path)
    if not braces:
        return [path]
    return [path[:braces.start()] + item + path[braces.end():] for item in braces.group(1).split(",")]


class Tree:
    def __init__(self, root):
        names = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
        self.paths = set(filter(None, names.split("\0")))
        for name in list(self.paths):
            self.paths.update(str(parent) for parent in Path(name).parents if str(parent) != ".")
        self.tops = {path.split("/")[0] for path in self.paths if "/" in path}

    def has(self, path):
        path = path.rstrip("/")
        if "NAME" not in path and "*" not in path:
            return path in self.paths
        pattern = re.compile(re.escape(path).replace("NAME", r"[\w-]+").replace(r"\*", r"[\w.-]*"))
        return any(pattern.fullmatch(known) for known in self.paths)

    def rooted(self, text):
        """The path from the root that the text names; nothing where it names none."""
        first = text.split("/")[0]
        if "/" not in text or re.search(r"[\s:()<>]", text) or first == "":
            return None
        if first in self.tops:
            return text
        return "src/" + text if "src/" + first in self.paths else None


def check_block(tree, block):
    """Yields the quoted texts of a paragraph or row that name no path of the tree."""
    quoted = QUOTED.findall(block)
    folders = {""}
    for text in quoted:
        path = tree.rooted(text) or ("src/" + text if "src/" + text in tree.paths else None)
        for folder in [path, str(Path(path).parent)] if path else []:
            folders.add(folder.rstrip("/") + "/")
    for text in quoted:
        text = text.split(" ")[0]
        if rooted := tree.rooted(text):
            if not all(map(tree.has, expand(rooted))):
                yield text
        elif FILE_NAME.match(text):
            if not any(all(tree.has(folder + path) for path in expand(text)) for folder in folders):
                yield text


def missing(tree, page):
    """Yields (line, path)."""
    page = FENCED.sub(lambda fenced: re.sub(r"[^\n]", "", fenced.group()), page)
    for match in re.finditer(r"(?:^(?!\|).+\n?)+|^\|.*\n?", page, re.M):
        for path in check_block(tree, match.group()):
            yield page.count("\n", 0, page.index(f"`{path}", match.start())) + 1, path


def main(arguments):
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    tree, bad = Tree(root), 0
    for name in PAGES:
        if not (root / name).is_file():
            print(f"cannot read {name}: no such file in {root}")
            return 2
        for line, path in missing(tree, (root / name).read_text()):
            print(f"{name}:{line}: `{path}`: does not exist")
            bad += 1
    print(f"check_paths: {bad} missing")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
