"""What the rows work on: files of random bytes, sites published from them, and the contestants that
fetch them."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from figures import CannotRun
from harness import CommandFailed, Contestant, Harness, remove

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
ORIGIN, FILE, VERSION = "example.org/benchmark", "data.bin", "v1"


@dataclass
class Site:
    root: Path
    source: Path
    public_key: str
    secret_key: Path

    data = f"releases/{VERSION}/{FILE}"
    """Where the resource is below the root."""


class Room:
    """Scratch space in memory, the program, and what rows share; sources and sites are made once."""

    def __init__(self, harness: Harness, place: Path, program: str, disk: Path, rounds: int, quick: bool):
        self.harness, self.place, self.program, self.disk = harness, place, program, disk
        self.rounds, self.quick = rounds, quick
        self.count = 0

    def fresh(self, name: str) -> Path:
        """A path that nothing has used."""
        self.count += 1
        return self.place / f"{name}-{self.count}"

    def need(self, size: int) -> None:
        """Refuses a row whose files do not fit: what lies in memory takes memory."""
        state = os.statvfs(self.place)
        with open("/proc/meminfo") as lines:
            memory = next(int(line.split()[1]) * KIB for line in lines if line.startswith("MemAvailable"))
        room = min(state.f_bavail * state.f_frsize, memory)
        if room < size + GIB:
            raise CannotRun(f"needs {(size + GIB) / GIB:.1f} GiB of memory, {room / GIB:.1f} are free")

    def source(self, size: int) -> Path:
        folder = self.place / f"source-{size}"
        path = folder / FILE
        if not path.exists():
            self.need(2 * size)
            folder.mkdir()
            self.fill(path, size)
        return path

    @staticmethod
    def fill(path: Path, size: int) -> None:
        """Piece by piece, so that this process stays small: see `Run.floor`."""
        with open(path, "wb") as file:
            for begin in range(0, size, MIB):
                file.write(os.urandom(min(MIB, size - begin)))

    def keygen(self, path: Path) -> str:
        for old in path.parent.glob(path.name + "*"):
            remove(old)
        return self.harness.output([self.program, "keygen", ORIGIN, "--out", str(path)]).splitlines()[-1]

    def publish(self, site: Path, source: Path, key: Path, block: int, version=VERSION, link=True) -> list[str]:
        return [
            self.program, "publish", str(source), "--site", str(site), "--version", version, "--key", str(key),
            "--block-size", str(block), *(["--link"] if link else [])]

    def site(self, size: int, block: int = MIB) -> Site:
        root, key = self.place / f"site-{size}-{block}", self.place / f"key-{size}-{block}"
        source, public = self.source(size), self.place / f"public-{size}-{block}"
        if not root.exists():
            public.write_text(self.keygen(key))
            self.harness.output(self.publish(root, source, key, block))
        return Site(root, source, public.read_text(), key)

    def discard(self, size: int) -> None:
        """Gives the memory of a source and its sites back."""
        for path in [*self.place.glob(f"s*-{size}"), *self.place.glob(f"site-{size}-*")]:
            remove(path)

    # Contestants

    def pull(
        self, site: Site, base: str, more: list[str] = [], name: str = "fetchres", inside: Path | None = None
    ) -> Contestant:
        home = inside or self.place
        target, state = home / f"pulled-{self.count}", self.fresh("state")
        command = [
            self.program, "pull", f"{base}/manifest", "--key", site.public_key, "-d", str(target), "--quiet",
            "--state-dir", str(state), *more]
        finished = target / VERSION / FILE
        return Contestant(
            name, [command], [target, state], check=lambda: same_bytes(name, finished, site.source))

    def fetch(self, name: str, site: Site, command: list[str], inside: Path | None = None) -> Contestant:
        """A contestant that downloads to one file: `{file}`, `{folder}` and `{name}` in the command
        stand for it."""
        folder = (inside or self.place) / f"fetched-{self.count}"
        self.count += 1
        words = [part.format(file=folder / FILE, folder=folder, name=FILE) for part in command]
        return Contestant(
            name, [words], [folder], prepare=folder.mkdir,
            check=lambda: same_bytes(name, folder / FILE, site.source))

    def curl(self, site: Site, base: str, more: list[str] = [], name="curl", inside: Path | None = None) -> Contestant:
        return self.fetch(name, site, ["curl", "-s", "-f", *more, "-o", "{file}", f"{base}/{site.data}"], inside)

    def curl_then(self, site: Site, base: str, then: list[str], more=[], inside: Path | None = None) -> Contestant:
        """curl, followed by another command on the file."""
        one = self.curl(site, base, more, f"curl, then {' '.join(then)}", inside)
        return self.followed(one, [*then, one.commands[0][one.commands[0].index("-o") + 1]])

    @staticmethod
    def followed(one: Contestant, command: list[str]) -> Contestant:
        one.commands.append(command)
        return one

    def aria2(self, site: Site, base: str, more: list[str] = []) -> Contestant:
        return self.fetch(
            "aria2c -x16", site, [*self.aria2_words(), *more, "-o", "{name}", f"{base}/{site.data}"])

    def aria2_pieces(self, site: Site, base: str, more: list[str] = []) -> Contestant:
        """aria2 with a Metalink that holds the SHA-256 of each piece of 1 MiB."""
        metalink = self.fresh("metalink")
        metalink.write_text(metalink_of(site.source, f"{base}/{site.data}"))
        return self.fetch(
            "aria2c -x16 with pieces", site, [*self.aria2_words(), *more, f"--metalink-file={metalink}"])

    @staticmethod
    def aria2_words(connections: int = 16) -> list[str]:
        return [
            "aria2c", "-q", "--no-conf", "-d", "{folder}", f"-x{connections}", f"-s{connections}", "-k1M",
            "--file-allocation=none"]


def metalink_of(path: Path, url: str, piece: int = MIB) -> str:
    hashes = []
    with open(path, "rb") as file:
        while block := file.read(piece):
            hashes.append(f"<hash>{hashlib.sha256(block).hexdigest()}</hash>")
    return (
        '<?xml version="1.0" encoding="UTF-8"?><metalink xmlns="urn:ietf:params:xml:ns:metalink">'
        f'<file name="{FILE}"><size>{path.stat().st_size}</size>'
        f'<pieces length="{piece}" type="sha-256">{"".join(hashes)}</pieces><url>{url}</url></file></metalink>')


def same_bytes(name: str, path: Path, source: Path) -> None:
    """Fails unless both files hold the same bytes."""
    if not path.is_file():
        raise CommandFailed(f"{name} left no file at {path.name}")
    with open(path, "rb") as one, open(source, "rb") as other:
        while True:
            a, b = one.read(MIB), other.read(MIB)
            if a != b:
                raise CommandFailed(f"{name} left other bytes than were served")
            if not a:
                return


def bytes_on_disk(path: Path, step: int = 4096) -> int:
    """How many bytes of a sparse file of random data were written, in pieces of `step`: one that is
    all zeros was not. Blocks on disk would not do: some programs reserve them first."""
    total = 0
    with open(path, "rb") as file:
        while block := file.read(MIB):
            total += sum(
                len(piece) for piece in (block[i : i + step] for i in range(0, len(block), step))
                if piece.count(0) != len(piece))
    return total


def glance(path: Path, step: int = 64 * KIB) -> int:
    """About how many bytes were written, from a few at each `step`: cheap enough to ask often."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return 0
    try:
        size = os.fstat(descriptor).st_size
        return sum(step for at in range(0, size, step) if any(os.pread(descriptor, 16, at)))
    finally:
        os.close(descriptor)
