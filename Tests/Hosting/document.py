"""What stands in blocks of the documents: what is published is what is run."""

import re
from pathlib import Path

CATALOG = Path(__file__).resolve().parents[2] / "Sources/FetchResKit/FetchResKit.docc"


def block(tag: str, page: Path) -> str:
    """The one fenced block with this tag."""
    found = re.findall(rf"^```{tag}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    if len(found) != 1:
        raise SystemExit(f"{page.name} has {len(found)} blocks with the tag {tag} instead of one")
    return found[0]


def filled(tag: str, places: dict[str, str], page: str = "Hosting.md") -> str:
    """That block, with addresses and directories of the document replaced by those of a test. What is not
    there to be replaced is a mistake."""
    text = block(tag, CATALOG / page)
    for old, new in places.items():
        if old not in text:
            raise SystemExit(f"the block {tag} of {page} does not hold: {old}")
        text = text.replace(old, new)
    return text
