#!/usr/bin/env python3
"""Draws random sentences that a person reads, to be judged without context: understood at the first reading or not.

    tools/sentences.py [SEED] [N]   (default: 1, 40; N is the number over all pools)

Pools: help (settings and HELP of metrics), docs (pages), comment (C++ comments), message (other C++ strings: logs and errors).
"""
import random
import re
import sys
from pathlib import Path

import check_words

LITERALS = re.compile(r'"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*')
HELP = re.compile(r"/table\.cc$|_settings\.cc$|_families\.cc$|settings/flags\.cc$")
MIN_WORDS = 5


def sentences(text):
    return [part for part in re.split(r"(?<=[.!?])\s+", " ".join(text.split())) if len(part.split()) >= MIN_WORDS]


def of_page(text):
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    return [s for part in text.split("\n\n") if not part.lstrip().startswith(("|", "#")) for s in sentences(part)]


def of_source(text):
    """Returns (sentences of comments, joined string literals)."""
    blocks = re.findall(r"(?:^[ \t]*//[^\n]*\n)+", text, flags=re.M)
    comments = [s for block in blocks for s in sentences(re.sub(r"^[ \t]*/+", "", block, flags=re.M))]
    code = re.sub(r"^[ \t]*//[^\n]*", "", text, flags=re.M)
    texts = ("".join(part[1:-1] for part in re.findall(r'"(?:\\.|[^"\\\n])*"', run)) for run in LITERALS.findall(code))
    return comments, [text for text in texts if len(text.split()) >= MIN_WORDS]


def pools(root):
    found = {"help": [], "docs": [], "comment": [], "message": []}
    for name, path in check_words.tracked(root):
        text = path.read_text(errors="replace")
        if name.endswith(".md"):
            found["docs"] += [(name, sentence) for sentence in of_page(text)]
        elif name.startswith("src/") and name.endswith((".cc", ".h")) and "_test" not in name:
            comments, texts = of_source(text)
            found["comment"] += [(name, sentence) for sentence in comments]
            found["help" if HELP.search(name) else "message"] += [(name, text) for text in texts]
    return found


def main():
    seed, count = (int(argument) for argument in (sys.argv[1:] + ["1", "40"][len(sys.argv) - 1:]))
    draw = random.Random(seed)
    for pool, rows in pools(str(Path(__file__).resolve().parent.parent)).items():
        for name, sentence in draw.sample(rows, min(len(rows), count // 4)):
            print(f"{pool:8} {name}: {sentence}")


if __name__ == "__main__":
    main()
