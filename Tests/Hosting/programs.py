"""The servers. What Debian packages is downloaded and unpacked below `.build`, not installed: an
installed server would start, now or with the machine. What is unpacked there already is used again."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HOME = Path(__file__).resolve().parents[2] / ".build/hosting"
DEBIAN = ["caddy", "apache2-bin", "lighttpd", "varnish", "nginx-light", "rsync"]
# The double of an object store, and the client that the recipe uses.
PYTHON = ["moto[s3]", "flask", "flask-cors", "awscli"]
# Of the running system, whatever a simulated installation would bring up to date.
KEPT = re.compile(r"libc6|libc-bin|libcrypt1|libgcc-s1|libstdc\+\+6|gcc-.*|cpp-.*|perl.*|python3.*")


def give_up(words: str) -> None:
    raise SystemExit(f"hosting: {words}")


def run(command: list[str], place: Path | None = None) -> subprocess.CompletedProcess:
    return subprocess.run(command, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def as_root(command: list[str]) -> list[str]:
    return command if os.geteuid() == 0 else ["sudo", *command]


class Programs:
    """Paths of the servers, and the environment in which they find what they need."""

    def __init__(self):
        self.root, self.python = HOME / "debian", HOME / "python"
        if not self.is_there(self.root, DEBIAN):
            self.unpack()
        if not self.is_there(self.python, PYTHON):
            self.install_python()
        self.search = [str(self.root / one) for one in ("usr/sbin", "usr/bin")]
        libraries = sorted({str(path.parent) for path in self.root.glob("usr/lib/**/*.so.*")})
        self.environment = {
            "PATH": os.pathsep.join([*self.search, os.environ["PATH"], "/usr/sbin", "/sbin"]),
            "LD_LIBRARY_PATH": os.pathsep.join(libraries), "LC_ALL": "C",
        }

    def path(self, name: str) -> str:
        found = shutil.which(name, path=self.environment["PATH"])
        return found or give_up(f"there is no {name} here, and none was unpacked below {self.root}")

    @staticmethod
    def stamp(names: list[str]) -> str:
        return hashlib.sha256(" ".join([sys.version, *names]).encode()).hexdigest()

    def is_there(self, place: Path, names: list[str]) -> bool:
        """Whether all of it was put there: the stamp is written last."""
        stamp = place / ".complete"
        return stamp.is_file() and stamp.read_text() == self.stamp(names)

    def begin(self, place: Path) -> None:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)

    def unpack(self) -> None:
        print("hosting: downloading the servers", flush=True)
        self.begin(self.root)
        archives = HOME / "archives"
        self.begin(archives)
        if not self.download(archives):
            # Lists of packages are missing or old.
            update = run(as_root(["apt-get", "-qq", "update"]))
            self.download(archives) or give_up(
                f"apt-get cannot download {' '.join(DEBIAN)}: {self.words} {update.stderr[-500:]}")
        for archive in sorted(archives.glob("*.deb")):
            run(["dpkg-deb", "-x", str(archive), str(self.root)]).returncode == 0 or give_up(
                f"cannot unpack {archive.name}")
        shutil.rmtree(archives)
        (self.root / ".complete").write_text(self.stamp(DEBIAN))

    def download(self, place: Path) -> bool:
        """What an installation would bring onto this machine, less what it would only bring up to date."""
        plan = run(["apt-get", "install", "--simulate", "--no-install-recommends", *DEBIAN])
        new = [name for name in re.findall(r"^Inst (\S+) \(", plan.stdout, re.MULTILINE) if not KEPT.fullmatch(name)]
        self.words = plan.stderr[-500:]
        if plan.returncode != 0:
            return False
        if not new:
            return True
        done = run(["apt-get", "-qq", "download", *new], place)
        self.words = done.stderr[-500:]
        return done.returncode == 0

    def install_python(self) -> None:
        print("hosting: installing the double of an object store", flush=True)
        self.begin(self.python)
        done = run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                    "--no-warn-script-location", "--target", str(self.python), *PYTHON])
        if done.returncode != 0:
            give_up(f"pip cannot install {' '.join(PYTHON)}, and without them the object store is not tried: "
                    f"{done.stderr.strip()[-1000:]}")
        (self.python / ".complete").write_text(self.stamp(PYTHON))
