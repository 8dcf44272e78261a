"""Rows about bytes that are fetched twice, or need not be fetched at all."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from figures import Row
from harness import CommandFailed, Contestant, ToolMissing, end, remove
from materials import FILE, KIB, MIB, VERSION, Room, Site, bytes_on_disk, glance, same_bytes
from servers import Nginx

SIZE = 200_000_000
TIME_LIMIT, BYTE_LIMIT = 120.0, 3 * SIZE
"""Where a second run is stopped that does not end by itself."""
RIGHT = "ended with the right bytes"


@dataclass
class Resumed:
    """What a second run did: MB fetched again, seconds to its first request and to its first for data."""

    again: float
    first: float
    first_data: float
    missing: float
    verdict: str


def resume(room: Room, row: Row) -> None:
    site = room.site(SIZE)
    with Nginx(room.harness, room.fresh("nginx"), site.root, "limit_rate 5m;") as server:
        url = f"{server.base}/{site.data}"
        pull = room.pull(site, server.base)
        aria2 = room.fetch("aria2c", site, [*room.aria2_words(8), "-c", "-o", "{name}", url])
        axel = room.fetch("axel", site, ["axel", "-q", "-n", "8", "-o", "{file}", url])
        wget2 = room.fetch("wget2", site, [
            "wget2", "--no-config", "-q", "-c", "--chunk-size=8M", "--max-threads=8", "-O", "{file}", url])
        pulled = pull.targets[0]
        plans = [
            (pull, lambda: next(iter(pulled.glob(".fetchres/partial/*/blocks")), None), pulled / VERSION / FILE)]
        for one in (aria2, axel, wget2):
            file = one.targets[0] / FILE
            plans.append((one, lambda file=file: file, file))
        for number, (one, growing, file) in enumerate(plans):
            rounds = min(room.rounds, 3) if number == 0 else 1
            try:
                results = [kill_and_resume(room, server, site, one, growing, file, number > 0) for _ in range(rounds)]
            except (CommandFailed, ToolMissing) as error:
                results = []
                if isinstance(error, CommandFailed):
                    row.failures.append(f"{one.name}: {error}")
                row.absent[one.name] = str(error)
            report(row, one.name, results, ours=number == 0)
    row.notes.append("200 MB at 5 MB/s a connection, SIGKILL once half of it is on disk")


def report(row: Row, name: str, results: list[Resumed], ours: bool) -> None:
    ended = results[0].verdict if results else RIGHT
    remark = "" if ended == RIGHT else f" (it {ended})"
    again = row.add(
        f"{name}: fetched beyond what was missing{remark}", [result.again / 1e6 for result in results], "MB",
        16 * MIB / 1e6 if ours else None)
    first = row.add(
        f"{name}: first request after", [result.first for result in results], "s", 0.5 if ours else None)
    if not results:
        again.reason = first.reason = row.why_not(name)
        return
    if ours:
        row.add(f"{name}: first request for data after", [result.first_data for result in results], "s")
    for verdict in {result.verdict for result in results}:
        row.notes.append(f"{name}: the second run {verdict}; {results[0].missing / 1e6:.0f} MB were missing")


def kill_and_resume(
    room: Room, server: Nginx, site: Site, one: Contestant, growing, file: Path, bounded: bool
) -> Resumed:
    for target in one.targets:
        remove(target)
    if one.prepare:
        one.prepare()
    command = one.commands[0]
    killed = room.harness.spawn(command)
    try:
        patience = time.monotonic() + TIME_LIMIT
        while not (path := growing()) or glance(path) < SIZE // 2:
            if killed.poll() is not None:
                raise CommandFailed(f"ended with {killed.returncode} before half was on disk")
            if time.monotonic() > patience:
                raise CommandFailed("did not get half on disk in time")
            time.sleep(0.05)
    finally:
        end(killed)
    missing = SIZE - bytes_on_disk(path)
    server.settled(FILE)
    begin = time.time()
    verdict = second_run(room, server, command, begin)
    asked = server.settled(FILE, begin)
    if verdict == "ended" or not bounded:
        if verdict != "ended":
            raise CommandFailed(f"the second run {verdict}")
        try:
            same_bytes(one.name, file, site.source)
            verdict = RIGHT
        except CommandFailed as error:
            if not bounded:
                raise
            verdict = f"ended, but {error}"
    for target in one.targets:
        remove(target)
    if asked.first is None or asked.first_for_file is None:
        raise CommandFailed("the second run asked for nothing")
    return Resumed(
        asked.body - missing, asked.first - begin, asked.first_for_file - begin, missing, verdict)


def second_run(room: Room, server: Nginx, command: list[str], begin: float) -> str:
    """Runs the command again; "ended", or in which way it did not within the limits of this row."""
    process = room.harness.spawn(command)
    try:
        while process.poll() is None:
            time.sleep(0.5)
            if time.time() - begin > TIME_LIMIT:
                return f"was stopped after {TIME_LIMIT:.0f} s"
            # Lines of the log alone: a request that still runs counts when it ends.
            sent = server.tally(FILE, begin).body
            if sent > BYTE_LIMIT:
                return f"was stopped after {sent / 1e6:.0f} MB"
        return "ended" if process.returncode == 0 else f"ended with {process.returncode}"
    finally:
        end(process)


def second_version(room: Room, row: Row) -> None:
    size, block = 100 * MIB, 64 * KIB
    folder, root, key = room.fresh("source"), room.fresh("site"), room.fresh("key")
    folder.mkdir()
    source = folder / FILE
    room.fill(source, size)
    public = room.keygen(key)
    room.harness.output(room.publish(root, source, key, block, "v1", link=False))
    with Nginx(room.harness, room.fresh("nginx"), root) as server:
        pull = room.pull(Site(root, source, public, key), server.base)
        target = pull.targets[0]
        try:
            room.harness.measure(pull.commands[0])
            same_bytes("the first version", target / "v1" / FILE, source)
            with open(source, "r+b") as file:
                file.seek(40 * MIB)
                file.write(os.urandom(size // 10))
            room.harness.output(room.publish(root, source, key, block, "v2", link=False))
            server.settled(FILE)
            begin = time.time()
            room.harness.measure(pull.commands[0])
            same_bytes("the second version", target / "v2" / FILE, source)
            fetched = server.settled(FILE, begin).body
        finally:
            for path in (folder, root, *pull.targets):
                remove(path)
    row.add("bytes of the data file fetched", [100 * fetched / size], "%", 12)
    row.notes.append("100 MiB in blocks of 64 KiB, 10 MiB of it in one piece replaced; one run")
