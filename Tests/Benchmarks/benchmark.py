"""The command line of the benchmarks; run.sh calls it."""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import traceback
from pathlib import Path

import rows_disk
import rows_link
import rows_resume
import rows_transfer
from chart import chart
from figures import CannotRun, Row
from harness import CommandFailed, Harness, ToolMissing
from materials import Room
from report import circumstances, document, table

ROWS = {
    "plain": ("1 GiB over plain HTTP, blocks of 1 MiB", rows_transfer.plain),
    "tls": ("1 GiB over TLS 1.3, HTTP/2 off", rows_transfer.tls),
    "http2": ("1 GiB over TLS 1.3, HTTP/2 on", rows_transfer.http2),
    "limited": ("20 MiB/s a connection", rows_transfer.limited),
    "tbf": ("256 MiB over a link of 400 Mbit/s", rows_link.tbf),
    "delay": ("64 KiB at 80 ms a round trip", rows_link.delay),
    "small-blocks": ("1 GiB in blocks of 4 KiB and of 1 MiB", rows_transfer.small_blocks),
    "resume": ("killed half-way, then run again", rows_resume.resume),
    "ext4": ("1 GiB to a real disk", rows_disk.ext4),
    "rehash": ("a resume that has all but one block", rows_disk.rehash),
    "publish": ("1 GiB published", rows_disk.publish),
    "start": ("starting and saying the version", rows_disk.start),
    "second-version": ("a second version of which 90 % is unchanged", rows_resume.second_version),
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.sh", description="Measures fetchres against other downloaders.")
    parser.add_argument("--rounds", type=int, help="alternating pairs a row; default 15, with --quick 3")
    parser.add_argument("--rows", help="only these rows, with commas between")
    parser.add_argument("--out", type=Path, help="where the results go; default .build/benchmarks/results")
    parser.add_argument("--disk", type=Path, help="a directory on a real disk; default .build/benchmarks")
    parser.add_argument("--quick", action="store_true", help="3 pairs, and less data where it takes long")
    parser.add_argument("--list", action="store_true", help="name the rows and end")
    parser.add_argument("--program", help=argparse.SUPPRESS)
    parser.add_argument("--checkout", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.rounds = given.rounds if given.rounds is not None else (3 if given.quick else 15)
    if given.rounds < 1:
        parser.error("--rounds takes a number from 1")
    given.rows = given.rows.split(",") if given.rows else list(ROWS)
    if unknown := [name for name in given.rows if name not in ROWS]:
        parser.error(f"no such row: {', '.join(unknown)}; there are {', '.join(ROWS)}")
    return given


def say(words: str) -> None:
    print(f"benchmarks: {words}", file=sys.stderr, flush=True)


def run_row(room: Room, name: str) -> Row:
    title, measure = ROWS[name]
    row = Row(name, title)
    say(f"{name}: {title}")
    try:
        measure(room, row)
    except (CannotRun, ToolMissing) as reason:
        row.skipped = str(reason)
    except Exception as error:  # One row that breaks must not take the others' results along.
        if not isinstance(error, CommandFailed):
            traceback.print_exc()
        row.failures.append(f"{type(error).__name__}: {error}")
    for words in [row.skipped and f"cannot run here: {row.skipped}", *row.failures]:
        if words:
            say(f"{name}: {words}")
    return row


def main() -> int:
    given = arguments()
    if given.list:
        print("\n".join(f"{name:15} {title}" for name, (title, _) in ROWS.items()))
        return 0
    # Ended by a signal, it still takes servers, namespaces and data away.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    own = given.checkout / ".build" / "benchmarks"
    out, base = given.out or own / "results", given.disk or own
    out.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix="fetchres-benchmarks-", dir="/dev/shm"))
    disk = Path(tempfile.mkdtemp(prefix="disk-", dir=base))
    try:
        harness = Harness(place)
        facts = circumstances(harness, given.program, given.checkout, given.rounds)
        room = Room(harness, place, given.program, disk.resolve(), given.rounds, given.quick)
        rows = [run_row(room, name) for name in given.rows]
    finally:
        shutil.rmtree(place, ignore_errors=True)
        shutil.rmtree(disk, ignore_errors=True)
    text = table(facts, rows)
    (out / "results.md").write_text(text)
    (out / "results.json").write_text(document(facts, rows))
    (out / "results.svg").write_text(chart(facts, rows))
    print(text, end="")
    say(f"results are in {os.path.relpath(out)}")
    return 1 if any(row.failures for row in rows) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
