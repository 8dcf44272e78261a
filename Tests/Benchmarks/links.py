"""Links that are slower than loopback: two network namespaces with a shaped wire between them, or a
delaying proxy where the kernel cannot delay."""

import os
import select
import subprocess
import sys
from pathlib import Path

from figures import CannotRun
from harness import CommandFailed, Harness, ToolMissing, end

RATE = 400_000_000
"""Bits a second of the shaped link."""

FRAME, PAYLOAD = 1514, 1448
"""Bytes of a full Ethernet frame as the shaper counts it, and of the file in it (IPv4, TCP timestamps)."""

SERVER_ADDRESS, CLIENT_ADDRESS = "198.18.0.1", "198.18.0.2"
"""From the block that is set aside for benchmarks."""


class Link:
    """Two namespaces with one wire; gone at the end of the context. `qdisc` shapes what leaves the
    server, and with `both` also what leaves the client."""

    made = 0

    def __init__(self, harness: Harness, qdisc: list[str], both: bool = False):
        Link.made += 1
        self.harness, self.qdisc, self.both = harness, qdisc, both
        name = f"fetchres-{os.getpid()}-{Link.made}"
        self.server, self.client = f"{name}-server", f"{name}-client"
        self.inside = ["ip", "netns", "exec", self.server]
        self.reach = ["ip", "netns", "exec", self.client]

    def __enter__(self) -> "Link":
        try:
            self.make()
        except (CommandFailed, ToolMissing) as error:
            self.__exit__()
            raise CannotRun(f"no such link here: {error}")
        except BaseException:
            self.__exit__()
            raise
        return self

    def make(self) -> None:
        do = self.harness.output
        for name in (self.server, self.client):
            do(["ip", "netns", "add", name])
        do(["ip", "-n", self.server, "link", "add", "wire", "type", "veth", "peer", "name", "wire",
            "netns", self.client])
        for name, address in ((self.server, SERVER_ADDRESS), (self.client, CLIENT_ADDRESS)):
            do(["ip", "-n", name, "address", "add", f"{address}/30", "dev", "wire"])
            do(["ip", "-n", name, "link", "set", "lo", "up"])
            do(["ip", "-n", name, "link", "set", "wire", "up"])
        for name in (self.server, self.client)[: 2 if self.both else 1]:
            do(["tc", "-n", name, "qdisc", "add", "dev", "wire", "root", *self.qdisc])

    def __exit__(self, *_) -> None:
        for name in (self.server, self.client):
            if Path("/run/netns", name).exists():
                subprocess.run(["ip", "netns", "delete", name], stderr=subprocess.DEVNULL)


class DelayingProxy:
    """delay_proxy.py in a process of its own, in front of a port on loopback."""

    def __init__(self, base: str, round_trip: float):
        self.scheme, _, self.target = base.partition("://")
        self.round_trip = round_trip

    def __enter__(self) -> "DelayingProxy":
        program = Path(__file__).with_name("delay_proxy.py")
        self.process = subprocess.Popen(
            [sys.executable, "-B", str(program), self.target, str(self.round_trip)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True)
        ready, _, _ = select.select([self.process.stdout], [], [], 10)
        port = self.process.stdout.readline().strip() if ready else ""
        if not port:
            self.__exit__()
            raise CommandFailed("the delaying proxy does not start")
        self.base = f"{self.scheme}://127.0.0.1:{port}"
        return self

    def __exit__(self, *_) -> None:
        end(self.process)
        self.process.stdout.close()
