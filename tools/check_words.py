#!/usr/bin/env python3
"""Checks that what a person reads is plain English: no phrase or identifier of PHRASES and IDENTIFIERS.

    tools/check_words.py [ROOT]

Checks comments and strings of C++ files, and the whole text of pages, scripts, chart and manual pages that git tracks in ROOT.
Prints FILE:LINE: `phrase`: use ... for each finding. Exits with 1 if there is any.
"""
import re
import subprocess
import sys
from pathlib import Path

# What matches, and what to write instead. A space matches any white space, line ends and comment marks included.
PHRASES = {
    r"so many": '"number of", "maximum number of", or "many"',
    r"of late": '"recent"',
    r"(?:in |by )?of which|of whose|of whom": "two sentences",
    r"whom": "the noun: the process, the client, the server",
    r"whose \w+ may have": "the noun: the file with the CA that signed ...",
    r"(?:it|which|that) says so|says so": '"is logged", "is reported", "the message says"',
    r"but for": '"except"',
    r"than it should(?: be)?": "the expected value",
    r"beside": '"next to" for a place, "in addition to" otherwise',
    r"ask(?:s|ed|ing)? again": '"retry", "fetch again"',
    r"questions?": '"request", "fetch", "check"',
    r"nobody's|is nobody s": '"unattributed", "has no owner"',
    r"stops? the start|stop at the start": '"is a startup error", "exits at startup"',
    r"(?:a|that is|which is|(?<!there\s)is) none(?: stops)?(?=[.,;])": '"is invalid", "is not a ..."',
    r"what (?:it|they) (?:is|are|was|were|has|have|had)": "the noun: the state, the value, the energy",
    r"what of (?:energy|it)": '"which part of"',
    r"about how": '"approximately", "uncertainty of"',
    r"(?:stands?|stood|standing) still": '"is not advancing", "is unchanged"',
    r"(?:takes?|taken|took) in": '"load", "accept"',
    r"as ever": '"as before"',
    r"is told|are told|told once|told of": '"is logged", "is reported"',
    r"hears|is heard": '"receives"',
    r"believes?|believed": '"trust", "verify"',
    r"advice": '"hint"',
    r"is due|are due": '"is expected", "is required"',
    r"(?:is|are|was|were|who was) let in": '"is authenticated", "is accepted"',
    r"looked at": '"checked", "read"',
    r"the wish for": '"the requirement of"',
    r"who pays|a payer": '"the owner"',
    r"and the like": "the list in full",
}

# In C++ code.
IDENTIFIERS = {
    r"kMost[A-Z]\w*": "kMax...",
    r"kLeast[A-Z]\w*": "kMin...",
    r"\w*(?<![a-z])[Bb]eside(?![a-z])\w*": "the relation: With, Next, Other",
    r"\w*Told(?![a-z])\w*": "Logged, Reported or Notified",
    r"\w*Late(?![a-z])\w*": "the state: Pending, Delayed or Overdue",
    r"\w*Held(?![a-z])\w*": "the state: Pending, Cached or Deferred",
}

SUFFIXES = {".md", ".cc", ".h", ".c", ".py", ".sh", ".yaml", ".yml", ".txt", ".tpl", ".8", ".1", ".service", ".cmake", ""}
LEFT_OUT = re.compile(r"(^|/)(testdata|corpus|schemas)/|^LICENSE$|^deploy/debian/|^tools/check_words")

# Comments, raw strings, strings, characters. The digits of 1'000 are no characters.
CXX_PROSE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\[^'\n]+|[^'\\\n])'""", re.S)


def compiled(table):
    """Returns one pattern for all rows of the table, and the replacement of each row."""
    rows = (words.replace(" ", r"\s+") for words in table)
    return re.compile(r"\b(?:" + "|".join(f"({row})" for row in rows) + r")\b"), list(table.values())


PHRASE_RULES = compiled(PHRASES)
IDENTIFIER_RULES = compiled(IDENTIFIERS)


def blank(text, filler):
    return re.sub(r"\S", filler, text)


def split_cxx(text):
    """Returns (prose, code) of a C++ file, each as long as the text; the other part is blanked out."""
    prose, code, end = [], [], 0
    for match in CXX_PROSE.finditer(text):
        between, found = text[end:match.start()], match.group()
        prose += [blank(between, "\0"), found]
        code += [between, blank(found, " ")]
        end = match.end()
    return "".join(prose) + blank(text[end:], "\0"), "".join(code) + text[end:]


def findings(path, text):
    """Yields (line, phrase, replacement)."""
    prose, code = split_cxx(text) if path.endswith((".cc", ".h", ".c")) else (text, "")
    prose = re.sub(r"[/#*\"\\]|\bNone\b", " ", prose).lower()  # None: Python's
    for part, (pattern, uses) in ((prose, PHRASE_RULES), (code, IDENTIFIER_RULES)):
        for match in pattern.finditer(part):
            yield text.count("\n", 0, match.start()) + 1, " ".join(match.group().split()), uses[match.lastindex - 1]


def tracked(root):
    names = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        path = Path(root, name)
        if path.suffix in SUFFIXES and not LEFT_OUT.search(name) and path.is_file():
            yield name, path


def main():
    root, count = sys.argv[1] if len(sys.argv) > 1 else str(Path(__file__).resolve().parent.parent), 0
    for name, path in tracked(root):
        for line, phrase, use in sorted(findings(name, path.read_text(errors="replace"))):
            print(f"{name}:{line}: `{phrase}`: use {use}")
            count += 1
    print(f"{count} findings")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
