"""A site of two releases, somebody who pulls from it, and what has to be seen on the way."""

import filecmp
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

KIB, MIB = 1 << 10, 1 << 20
BLOCK, BLOCKS = 64 * KIB, 300
SIZE = BLOCK * BLOCKS - 17
OLD, NEW = "2026.11", "2026.12"
FILE = f"releases/{NEW}/world.map"
"""The resource, below the root of the site. With its 300 blocks it has a full tile and a partial one."""
LOG_TILE, BUNDLE = "tile/0/000.p/2", "tile/entries/000.p/2"
MUTABLE = ["manifest", "checkpoint", f"releases/{NEW}/manifest", f"releases/{OLD}/manifest"]
IMMUTABLE = [
    FILE, f"releases/{NEW}/tile/0/000", f"releases/{NEW}/tile/0/001.p/44", f"releases/{NEW}/tile/1/000.p/1",
    LOG_TILE, BUNDLE,
]


class Answer:
    """One answer, as curl saw it."""

    def __init__(self, head: str, body: bytes):
        lines = head.strip().split("\r\n\r\n")[-1].splitlines()
        self.status = int(lines[0].split()[1])
        self.fields = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self.fields.setdefault(name.lower(), value.strip())
        self.body = body

    @property
    def kept_for(self) -> int | None:
        """Seconds for which a cache may keep it; None if it does not say."""
        found = re.search(r"max-age=(\d+)", self.fields.get("cache-control", ""))
        return int(found[1]) if found else None

    @property
    def is_immutable(self) -> bool:
        return "immutable" in self.fields.get("cache-control", "")


class Scene:
    """Scratch space, the program, the site, and the tally of checks."""

    def __init__(self, program: str, environment: dict[str, str], size: int = SIZE, block: int = BLOCK):
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.place = Path(tempfile.mkdtemp(prefix="fetchres-hosting.", dir=base))
        # Servers that give up being root have to get in.
        self.place.chmod(0o755)
        self.program, self.failures, self.passed, self.count = program, 0, 0, 0
        self.tools = self.place / "bin"
        self.tools.mkdir()
        (self.tools / "fetchres").symlink_to(os.path.abspath(program))
        self.environment = environment | {
            "HOME": str(self.place), "XDG_STATE_HOME": str(self.place / "state"),
            "XDG_CONFIG_HOME": str(self.place / "config"),
            "PATH": f"{self.tools}{os.pathsep}{environment['PATH']}",
        }
        self.source = self.place / "world.map"
        self.source.write_bytes(os.urandom(size))
        self.block = block
        self.site = self.place / "site"
        self.key_file = self.place / "world.key"
        self.key = self.run("keygen", "maps.example.com/world", "--out", self.key_file).stdout.strip()
        self.publish(self.site, OLD)
        self.before = self.copy("site-before")
        self.publish(self.site, NEW)

    def publish(self, site: Path, version: str) -> None:
        self.run("publish", self.source, "--site", site, "--version", version, "--key", self.key_file,
                 "--block-size", self.block)

    def copy(self, name: str) -> Path:
        """A copy of the site as it is now."""
        return Path(shutil.copytree(self.site, self.place / name, symlinks=True))

    def run(self, *words, accepts=(0,), seconds: float = 120) -> subprocess.CompletedProcess:
        done = subprocess.run(
            [self.program, *map(str, words)], env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=seconds)
        if done.returncode not in accepts:
            raise SystemExit(f"hosting: fetchres {words[0]} ended with {done.returncode}: {done.stderr}")
        return done

    def check(self, holds: bool, what: str, words: str = "") -> None:
        self.failures, self.passed = self.failures + (not holds), self.passed + bool(holds)
        print(f"{'ok  ' if holds else 'FAIL'} {what}", flush=True)
        if not holds and words:
            print("     " + words.strip().replace("\n", "\n     "), flush=True)

    def get(self, url: str, *options: str) -> Answer:
        with tempfile.TemporaryDirectory(dir=self.place) as place:
            head, body = Path(place, "head"), Path(place, "body")
            subprocess.run(
                ["curl", "--silent", "--show-error", "--noproxy", "*", "--max-time", "60", "--path-as-is",
                 "--dump-header", head, "--output", body, *options, url],
                check=True, stdin=subprocess.DEVNULL)
            return Answer(head.read_text(), body.read_bytes() if body.exists() else b"")

    def pull(self, base: str, *options: str, place: Path | None = None, keeps: bool = False) -> "Pull":
        """One pull by somebody who has never been here, or who has pulled to `place`."""
        self.count += 1
        return Pull(self, place or self.place / f"pulled-{self.count}", base, options, keeps)

    def flip(self, path: Path, at: int) -> None:
        """Turns one bit over; a second time puts it right again."""
        path.chmod(0o644)
        with open(path, "r+b") as file:
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 1]))

    def remove(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)


class Pull:
    """What one pull came to."""

    def __init__(self, scene: Scene, place: Path, base: str, options: tuple[str, ...], keeps: bool):
        self.place = place
        begin = time.monotonic()
        done = scene.run(
            "pull", f"{base}/manifest", "--key", scene.key, "-d", place, "--state-dir", f"{place}.state", "--no-proxy",
            *options, accepts=range(256))
        self.seconds = time.monotonic() - begin
        self.exit, self.words = done.returncode, f"exit {done.returncode} after {self.seconds:.1f} s\n{done.stderr}"
        printed = done.stdout.strip()
        self.version = Path(printed).parent.name if printed else None
        self.is_right = self.exit == 0 and filecmp.cmp(printed, scene.source, shallow=False)
        self.shows_nothing = not printed and not any(place.glob("*/world.map"))
        if not keeps:
            shutil.rmtree(place, ignore_errors=True)
            shutil.rmtree(f"{place}.state", ignore_errors=True)
