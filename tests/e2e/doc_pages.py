"""Examples in the pages of docs/, for tests that run them."""
import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def code_blocks(page, language):
    """The texts of the code blocks of a page in a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
