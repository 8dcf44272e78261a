"""Rows about the disk, about hashing, and about starting."""

import os
import shutil
import time
from pathlib import Path

from figures import CannotRun, Row
from harness import CommandFailed, Contestant, Harness, Race, remove
from materials import FILE, GIB, MIB, VERSION, Room
from servers import Nginx


def file_system(path: Path) -> str:
    """The type of the file system that holds `path`."""
    best = ("", "unknown")
    with open("/proc/self/mounts") as lines:
        for line in lines:
            _, mount, kind = line.split()[:3]
            if path.is_relative_to(mount) and len(mount) >= len(best[0]):
                best = (mount, kind)
    return best[1]


def ext4(room: Room, row: Row) -> None:
    kind = file_system(room.disk.resolve())
    if kind in ("tmpfs", "ramfs"):
        raise CannotRun(f"{room.disk} is {kind}; --disk names a directory on a real disk")
    state = os.statvfs(room.disk)
    if state.f_bavail * state.f_frsize < 3 * GIB:
        raise CannotRun("needs 3 GiB on disk")
    row.notes.append(f"the file system is {kind}")
    site = room.site(GIB)
    with Nginx(room.harness, room.fresh("nginx"), site.root) as server:
        synced = room.curl_then(site, server.base, ["sync"], inside=room.disk)
        race = Race(room.harness, [room.pull(site, server.base, inside=room.disk), synced], room.rounds)
    row.take(race)
    row.ratio("fetchres", synced.name, wanted=1.15)
    row.peak()


def rehash(room: Room, row: Row) -> None:
    size = GIB if room.quick else 4 * GIB
    room.need(3 * size)
    try:
        measure_rehash(room, row, size)
    finally:
        if size != GIB:
            room.discard(size)


def measure_rehash(room: Room, row: Row, size: int) -> None:
    site = room.site(size)
    halves = [room.fresh("half"), room.fresh("half")]
    kept = room.fresh("kept")
    with Nginx(room.harness, room.fresh("nginx"), site.root) as server:
        pull = room.pull(site, server.base)
        target = pull.targets[0]
        partial = interrupted_at_last_block(room.harness, site.source, pull.commands[0], target)
        blocks, finished = partial / "blocks", target / VERSION / FILE
        stored = room.fresh("blocks")
        blocks.rename(stored)
        target.rename(kept)

        def restore() -> None:
            """The directory as the interrupted run left it; the blocks are moved, not copied."""
            if finished.exists():
                finished.rename(stored)
            remove(target)
            shutil.copytree(kept, target)
            stored.rename(blocks)
            os.truncate(blocks, size - MIB)
            os.truncate(blocks, size)

        try:
            # The blocks have to outlive a run, so the target is put back instead of removed.
            pull.targets, pull.prepare = pull.targets[1:], restore
            copy_halves(site.source, halves)
            hashing = Contestant(
                "two openssl dgst", [["openssl", "dgst", "-sha256", str(half)] for half in halves], together=True)
            begin = time.time()
            race = Race(room.harness, [pull, hashing], room.rounds)
            fetched = server.settled(FILE, begin).body
        finally:
            for path in (*halves, kept, stored, target):
                remove(path)
    row.take(race)
    row.ratio("fetchres", "two openssl dgst", wanted=1.05)
    row.peak()
    row.notes.append(
        f"{size // GIB} GiB, all but the last block of 1 MiB on disk; a run fetched "
        f"{fetched / MIB / (room.rounds + 1):.1f} MiB")


def interrupted_at_last_block(harness: Harness, source: Path, command: list[str], target: Path) -> Path:
    """Pulls all but the last block and returns the directory of the unfinished work: the site lies
    about that block while the pull runs, so it has a journal as after any other interruption."""
    with open(source, "r+b", buffering=0) as file:
        file.seek(-1, os.SEEK_END)
        honest = file.read(1)
        try:
            os.pwrite(file.fileno(), bytes([honest[0] ^ 1]), source.stat().st_size - 1)
            harness.measure(command, accepts=(3, 4))
        finally:
            os.pwrite(file.fileno(), honest, source.stat().st_size - 1)
    found = list((target / ".fetchres" / "partial").glob("*/blocks"))
    if len(found) != 1:
        raise CommandFailed("the interrupted pull left no unfinished work")
    return found[0].parent


def copy_halves(source: Path, halves: list[Path]) -> None:
    half = source.stat().st_size // len(halves)
    with open(source, "rb") as file:
        for path in halves:
            with open(path, "wb") as copy:
                for _ in range(0, half, MIB):
                    copy.write(file.read(MIB))


def publish(room: Room, row: Row) -> None:
    source, contestants = room.source(GIB), []
    for name, link in (("publish --link", True), ("publish with a copy", False)):
        site, key = room.fresh("published"), room.fresh("signing")
        # A key signs one history, so every new site gets a new one.
        contestants.append(Contestant(
            name, [room.publish(site, source, key, MIB, link=link)], [site],
            prepare=lambda key=key: room.keygen(key), check=lambda site=site: checked(room, site)))
    hashing = Contestant("openssl dgst", [["openssl", "dgst", "-sha256", str(source)]])
    race = Race(room.harness, [contestants[0], hashing, contestants[1]], room.rounds)
    row.take(race)
    row.ratio("publish --link", "openssl dgst", wanted=0.65)
    row.ratio("publish with a copy", "openssl dgst", wanted=1.1)
    row.peak("publish with a copy", None)


def checked(room: Room, site: Path) -> None:
    """Fails unless the site that was just published proves its first and last block."""
    for index in (0, GIB // MIB - 1):
        room.harness.output([room.program, "proof", "make", str(site), VERSION, str(index)])


def start(room: Room, row: Row) -> None:
    race = Race(room.harness, [
        Contestant("fetchres", [[room.program, "--version"]]), Contestant("curl", [["curl", "--version"]]),
    ], max(40, room.rounds))
    row.take(race)
    row.ratio("fetchres", "curl", wanted=1.5)
    row.add("fetchres --version", [run.wall * 1000 for run in race.runs["fetchres"] if run], "ms")
