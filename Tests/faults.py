#!/usr/bin/env python3
"""Writes Tests/FAULTS.md: every row of the catalogue of faults, and the tests that cover it.

A test says what it covers by a comment above its @Test or @Suite, such as: // covers: F05, F10

usage: Tests/faults.py            writes the table
       Tests/faults.py --check    fails on a row without a test, an unknown row, or an old table
"""

import pathlib
import re
import sys

ROWS = {
    "F01": "200 with the whole file for a range",
    "F02": "206 with another window, without Content-Range, multipart, or of another total",
    "F03": "unit spelled `Bytes`, total `*`: fine",
    "F04": "fewer bytes than announced",
    "F05": "right length, wrong bytes",
    "F06": "an error, or 204, with or without a body of a block's length",
    "F07": "a login page instead of a small file",
    "F08": "an encoded body although none was asked for",
    "F09": "the ends of the file: sizes around the block size, none of it past the end",
    "F10": "the object or its validators change between two requests",
    "F11": "answers without bounds: headers, lengths, bodies",
    "F12": "chunks without an end, and chunks beside a length",
    "F13": "silence, a trickle, a connection without a hello",
    "F14": "a reset or an end in the middle of a block, or between two requests",
    "F15": "HTTP/2: GOAWAY, REFUSED_STREAM, ENHANCE_YOUR_CALM",
    "F16": "429 and 503, with every kind of Retry-After",
    "F17": "the clock is set, the machine sleeps",
    "F18": "one address or one mirror is dead, a name does not resolve",
    "F19": "proxies and certificates that do not do",
    "F20": "redirects to other hosts and schemes, and in circles",
    "F21": "killed at any moment",
    "F22": "power cut: what was not synced is gone, or zeros, or out of order",
    "F23": "a byte of a temporary block flipped between runs",
    "F24": "a journal that is empty, cut, zeroed, of another version, or lies",
    "F25": "a disk that is full, read-only or broken",
    "F26": "no preallocation",
    "F27": "two pulls into one directory, locks that say nothing",
    "F28": "symbolic links and directories where files should be",
    "F29": "signals at any moment",
    "F30": "manifests that are not exactly of the form",
    "F31": "signatures that are unknown, broken, too many, or badly written",
    "F32": "old, foreign, unlogged and reused manifests",
    "F33": "a checkpoint that is behind the kept head",
    "F34": "a fork of the log",
    "F35": "garbage beside a good checkpoint: no alarm",
    "F36": "the publisher's site restored, published twice, killed",
    "F37": "proofs with anything changed",
    "F38": "every tile of a tree of 70,000 leaves replaced in turn",
}

TESTS = pathlib.Path(__file__).resolve().parent
TABLE = TESTS / "FAULTS.md"
COMMENT = re.compile(r"^\s*// covers: (.*)$")
NAME = re.compile(r'@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)*)"')
FUNCTION = re.compile(r"\b(?:func|struct) (\w+|`[^`]+`)")


def give_up(message):
    sys.exit(f"Tests/faults.py: {message}")


def tests():
    """Row, file and name of every test that says what it covers."""
    for file in sorted(TESTS.rglob("*")):
        if file.suffix not in (".swift", ".sh", ".py") or file.name == "faults.py":
            continue
        lines = file.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            comment = COMMENT.match(line.replace("# covers:", "// covers:", 1))
            if not comment:
                continue
            place = file.relative_to(TESTS)
            below = "\n".join(lines[number + 1 : number + 25])
            function = FUNCTION.search(below)
            if file.suffix == ".swift" and not function:
                give_up(f"{place}, line {number + 1}: there is no test below")
            name = NAME.search(below[: function.start()] if function else "")
            words = name.group(1) if name else function.group(1).strip("`") if function else ""
            for row in comment.group(1).split(","):
                row = row.strip()
                if row not in ROWS:
                    give_up(f"{place}, line {number + 1}: there is no row '{row}'")
                yield row, place.as_posix(), words


def table():
    found = {row: set() for row in ROWS}
    for row, place, name in tests():
        found[row].add((place, name))
    gaps = [row for row, places in found.items() if not places]
    lines = [
        "# What covers which fault",
        "",
        "Written by `Tests/faults.py` from the comments `// covers:` above the tests; never edit it by",
        "hand. `fetchres serve --list-faults` lists what an origin can produce.",
        "",
        "| row | fault | tests |",
        "| --- | --- | --- |",
    ]
    for row, title in ROWS.items():
        cells = [f"{name} ({place})" if name else place for place, name in sorted(found[row])]
        text = "<br>".join(cell.replace("|", "\\|") for cell in cells)
        lines.append(f"| {row} | {title} | {text} |")
    return "\n".join(lines) + "\n", gaps


def main():
    text, gaps = table()
    if sys.argv[1:] == ["--check"]:
        if gaps:
            give_up(f"no test covers {', '.join(gaps)}")
        if not TABLE.exists() or TABLE.read_text(encoding="utf-8") != text:
            give_up("Tests/FAULTS.md is old: run Tests/faults.py")
        print(f"Tests/faults.py: {len(ROWS)} rows, each with a test")
    elif not sys.argv[1:]:
        TABLE.write_text(text, encoding="utf-8")
        print(f"Tests/faults.py: wrote {TABLE.name}; without a test: {', '.join(gaps) or 'none'}")
    else:
        give_up(__doc__)


if __name__ == "__main__":
    main()
