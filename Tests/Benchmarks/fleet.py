#!/usr/bin/env python3
"""Measures what a fleet of clients behind one cache costs the origin.

usage: fleet.py FETCHRES [--clients N] [--at-once N] [--size MIB] [--block KIB]

The origin and the cache are nginx with the configurations of Hosting.md, on loopback. The cache is empty
at first, and the clients begin at the same time, as many at once as is said; each is new: own directory,
own records. Nothing is asserted but that each got the right bytes.
"""
import argparse
import filecmp
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Hosting"))
import caches
from programs import Programs
from requests_log import Requests
from scene import FILE, KIB, MIB, MUTABLE, Scene

CONNECTIONS = 30000


class Fleet:
    def __init__(self, scene: Scene, base: str, clients: int, at_once: int):
        self.scene, self.base, self.left, self.lock = scene, base, list(range(clients)), threading.Lock()
        self.exits, self.seconds, self.wrong = Counter(), [], 0
        self.peak = 0
        threads = [threading.Thread(target=self.work) for _ in range(at_once)]
        begin = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.wall = time.monotonic() - begin

    def work(self) -> None:
        while True:
            with self.lock:
                if not self.left:
                    return
                number = self.left.pop()
            self.pull(self.scene.place / f"client-{number}")

    def pull(self, place: Path) -> None:
        begin = time.monotonic()
        with open(f"{place}.errors", "w+") as said:
            child = subprocess.Popen(
                [self.scene.program, "pull", f"{self.base}/manifest", "--key", self.scene.key, "-d", str(place),
                 "--state-dir", f"{place}.state", "--no-proxy", "--quiet"],
                env=self.scene.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, text=True)
            printed = child.stdout.read().strip()
            child.stdout.close()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            words = said.read()
        is_right = bool(printed) and filecmp.cmp(printed, self.scene.source, shallow=False)
        with self.lock:
            self.exits[child.returncode] += 1
            self.seconds.append(time.monotonic() - begin)
            self.peak = max(self.peak, usage.ru_maxrss)
            self.wrong += child.returncode == 0 and not is_right
            if child.returncode:
                print(f"fleet: a client ended with {child.returncode}: {words.strip()[-500:]}", file=sys.stderr)
        shutil.rmtree(place, ignore_errors=True)
        shutil.rmtree(f"{place}.state", ignore_errors=True)


def tally(asked: list[tuple[int, str]]) -> dict[str, tuple[int, int]]:
    """Requests and bytes, by what was asked for."""
    kinds = {f"/{path}": "manifests and checkpoint" for path in MUTABLE} | {f"/{FILE}": "the file"}
    counts, sums = Counter(), Counter()
    for size, path in asked:
        kind = kinds.get(path, "tiles and log")
        counts[kind] += 1
        sums[kind] += size
    return {kind: (counts[kind], sums[kind]) for kind in ("manifests and checkpoint", "tiles and log", "the file")}


def main() -> None:
    words = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    words.add_argument("program")
    words.add_argument("--clients", type=int, default=1000)
    words.add_argument("--at-once", type=int, default=100)
    words.add_argument("--size", type=int, default=32)
    words.add_argument("--block", type=int, default=256)
    given = words.parse_args()
    programs = Programs()
    scene = Scene(os.path.abspath(given.program), programs.environment, given.size * MIB, given.block * KIB)
    try:
        origin = caches.Origin(scene, programs, CONNECTIONS)
        with origin.server, caches.nginx_cache(scene, programs, origin.host, CONNECTIONS) as cache:
            fronts = Requests(scene.place / "nginx-cache" / "requests")
            before, front = origin.mark(), fronts.mark()
            fleet = Fleet(scene, cache.base, given.clients, given.at_once)
            behind, ahead = tally(origin.asked(before)), tally(fronts.asked(front))
        report(given, fleet, behind, ahead)
    finally:
        scene.remove()
    sys.exit(1 if fleet.wrong or set(fleet.exits) != {0} else 0)


def report(given, fleet: Fleet, behind: dict, ahead: dict) -> None:
    seconds = sorted(fleet.seconds)
    print(f"{given.clients} clients, {given.at_once} at once, {given.size} MiB in blocks of {given.block} KiB: "
          f"{fleet.wall:.0f} s; exits {dict(fleet.exits)}, wrong bytes {fleet.wrong}")
    print(f"a client: median {seconds[len(seconds) // 2]:.1f} s, slowest {seconds[-1]:.1f} s, "
          f"peak {fleet.peak / KIB:.0f} MiB")
    print("| asked for | of the cache | of the origin |\n| --- | --- | --- |")
    for kind in behind:
        cells = [f"{count:,} requests, {size / MIB:,.1f} MiB" for count, size in (ahead[kind], behind[kind])]
        print(f"| {kind} | {cells[0]} | {cells[1]} |")
    totals = [sum(size for _, size in each.values()) for each in (ahead, behind)]
    print(f"the origin gave {totals[1] / totals[0]:.2%} of the bytes")


main()
