"""Rows that pull over loopback, limited by nothing but the processor."""

from figures import Row
from harness import Race
from materials import GIB, KIB, MIB, Room
from servers import Authority, Nginx


def plain(room: Room, row: Row) -> None:
    site = room.site(GIB)
    with Nginx(room.harness, room.fresh("nginx"), site.root) as server:
        base = server.base
        url = f"{base}/{site.data}"
        hashed = room.curl_then(site, base, ["openssl", "dgst", "-sha256"])
        race = Race(room.harness, [
            room.pull(site, base), room.curl(site, base), hashed, room.aria2(site, base),
            room.aria2_pieces(site, base),
            room.fetch("wget2", site, ["wget2", "--no-config", "-q", "-O", "{file}", url]),
            room.fetch("axel -n8", site, ["axel", "-q", "-n", "8", "-o", "{file}", url]),
        ], room.rounds)
    row.take(race)
    row.ratio("fetchres", "curl", wanted=0.95)
    row.ratio("fetchres", hashed.name, "cpu", wanted=0.95)
    row.peak()
    for other in (hashed.name, "aria2c -x16"):
        row.ratio("fetchres", other)
    row.ratio("fetchres", "aria2c -x16 with pieces", wanted=0.40)
    for other in ("wget2", "axel -n8"):
        row.ratio("fetchres", other)


def tls(room: Room, row: Row) -> None:
    site = room.site(GIB)
    authority = Authority(room.harness, room.fresh("authority"))
    trust = str(authority.certificate)
    with Nginx(room.harness, room.fresh("nginx"), site.root, tls=authority) as server:
        aria2 = [f"--ca-certificate={trust}"]
        race = Race(room.harness, [
            room.pull(site, server.base, ["--cacert", trust]),
            room.curl(site, server.base, ["--http1.1", "--cacert", trust]),
            room.aria2(site, server.base, aria2), room.aria2_pieces(site, server.base, aria2),
        ], room.rounds)
    row.take(race)
    row.ratio("fetchres", "curl", wanted=1.10)
    row.peak()
    row.ratio("fetchres", "aria2c -x16")
    row.ratio("fetchres", "aria2c -x16 with pieces", wanted=0.65)


def http2(room: Room, row: Row) -> None:
    site = room.site(GIB)
    authority = Authority(room.harness, room.fresh("authority"))
    trust = str(authority.certificate)
    with Nginx(room.harness, room.fresh("nginx"), site.root, tls=authority, http2=True) as server:
        race = Race(room.harness, [
            room.pull(site, server.base, ["--cacert", trust]),
            room.curl(site, server.base, ["--http2", "--cacert", trust], "curl --http2"),
        ], room.rounds)
    row.take(race)
    row.notes.append("the server offers HTTP/2; which protocol it takes for the data is the client's choice")
    row.ratio("fetchres", "curl --http2")
    row.peak()


def limited(room: Room, row: Row) -> None:
    site = room.site(256 * MIB if room.quick else GIB)
    with Nginx(room.harness, room.fresh("nginx"), site.root, "limit_rate 20m;") as server:
        reference = room.curl(site, server.base)
        reference.at_most = 1
        race = Race(
            room.harness, [room.pull(site, server.base), room.aria2(site, server.base), reference], room.rounds)
    row.take(race)
    row.ratio("fetchres", "aria2c -x16", wanted=1.0)
    row.peak()
    row.ratio("fetchres", "curl")
    row.notes.append("curl, which has one connection, runs once and for reference")


def small_blocks(room: Room, row: Row) -> None:
    small, large = room.site(GIB, 4 * KIB), room.site(GIB)
    with Nginx(room.harness, room.fresh("nginx"), small.root) as one:
        with Nginx(room.harness, room.fresh("nginx"), large.root) as other:
            race = Race(room.harness, [
                room.pull(small, one.base, name="4 KiB blocks"), room.pull(large, other.base, name="1 MiB blocks"),
            ], room.rounds)
    row.take(race)
    row.ratio("4 KiB blocks", "1 MiB blocks", wanted=1.6)
    row.peak("4 KiB blocks")
