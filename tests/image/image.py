"""The archives that tools/image.sh made, and how docs/image.md says to run them."""
import os
import pathlib
import re
import shlex

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = os.environ.get("KEPLER_IMAGES", "")
ARCHIVES = {target: os.path.join(FOLDER, name) for target, name in (("runtime", "kepler.tar"), ("nonroot", "kepler-nonroot.tar"))}


def run_line():
    """(options, agent's flags) of the `docker run` line of docs/image.md, for a test that runs in the foreground."""
    text = (ROOT / "docs/image.md").read_text(encoding="utf-8")
    words = shlex.split(re.search(r"^docker run ((?:.*\\\n)*.*)\n", text, re.M)[1].replace("\\\n", ""))
    at = next(place for place, word in enumerate(words) if word.startswith("kepler:"))
    options = words[:at]
    options.remove("-d")
    del options[options.index("-p"):options.index("-p") + 2]  # the network is the host's here
    return options, words[at + 1:]
