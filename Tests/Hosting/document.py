"""The configurations of Hosting.md: what is published is what is run."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "Sources/FetchResKit/FetchResKit.docc/Hosting.md"


def block(tag: str) -> str:
    """The one fenced block with this tag."""
    found = re.findall(rf"^```{tag}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    if len(found) != 1:
        raise SystemExit(f"hosting: {PAGE.name} has {len(found)} blocks with the tag {tag} instead of one")
    return found[0]


def filled(tag: str, places: dict[str, str]) -> str:
    """That block, with addresses and directories of the document replaced by those of a test. What is not
    there to be replaced is a mistake."""
    text = block(tag)
    for old, new in places.items():
        if old not in text:
            raise SystemExit(f"hosting: the block {tag} of {PAGE.name} does not hold: {old}")
        text = text.replace(old, new)
    return text
