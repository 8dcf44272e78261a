"""Rows whose limit is the link: its rate, or its distance."""

from contextlib import ExitStack

from figures import CannotRun, Row
from harness import Race
from links import FRAME, PAYLOAD, RATE, SERVER_ADDRESS, DelayingProxy, Link
from materials import KIB, MIB, VERSION, Room
from servers import Nginx

ROUND_TRIP = 0.080


def tbf(room: Room, row: Row) -> None:
    size = 256 * MIB
    site = room.site(size)
    shaper = ["tbf", "rate", f"{RATE}bit", "burst", "256kb", "latency", "50ms"]
    with Link(room.harness, shaper) as link:
        with Nginx(
            room.harness, room.fresh("nginx"), site.root, address=SERVER_ADDRESS, inside=link.inside,
            reach=link.reach,
        ) as server:
            contestants = [room.pull(site, server.base), room.curl(site, server.base)]
            for one in contestants:
                one.commands[0] = link.reach + one.commands[0]
            race = Race(room.harness, contestants, room.rounds)
    row.take(race)
    carried = size / (RATE / 8 * PAYLOAD / FRAME)
    for name, wanted in (("fetchres", 97), ("curl", None)):
        shares = [100 * carried / run.wall for run in race.runs[name] if run]
        row.add(f"{name}: share of what the link carries", shares, "%", wanted, at_least=True)
    row.ratio("fetchres", "curl")
    row.peak()
    row.notes.append(
        f"the link carries {PAYLOAD} bytes of the file in {FRAME} at {RATE / 1e6:.0f} Mbit/s; the time counts "
        "from the start of the process to its end")


def delay(room: Room, row: Row) -> None:
    site = room.site(64 * KIB)
    with ExitStack() as stack:
        place = room.fresh("nginx")
        try:
            half = ["netem", "delay", f"{ROUND_TRIP / 2 * 1000:.0f}ms"]
            link = stack.enter_context(Link(room.harness, half, both=True))
            server = stack.enter_context(Nginx(
                room.harness, place, site.root, address=SERVER_ADDRESS, inside=link.inside, reach=link.reach))
            base, reach = server.base, link.reach
            row.notes.append("delayed by tc netem")
        except CannotRun:
            server = stack.enter_context(Nginx(room.harness, place, site.root))
            base, reach = stack.enter_context(DelayingProxy(server.base, ROUND_TRIP)).base, []
            row.notes.append(
                "no tc netem here: delayed by a proxy, which counts the handshake of every connection but "
                "not the slow start of TCP")
        pull, curl = room.pull(site, base), room.curl(site, base)
        pull.appears = pull.targets[0] / VERSION / "complete"
        for one in (pull, curl):
            one.commands[0] = reach + one.commands[0]
        race = Race(room.harness, [pull, curl], room.rounds)
    row.take(race)
    # From the start of the process; the first handshake takes one round trip.
    marker = [run.appeared / ROUND_TRIP - 1 for run in race.runs["fetchres"] if run and run.appeared]
    row.add("fetchres: marker after the first connect", marker, "round trips", 5)
    row.add("curl: end after the first connect", [
        run.wall / ROUND_TRIP - 1 for run in race.runs["curl"] if run], "round trips")
