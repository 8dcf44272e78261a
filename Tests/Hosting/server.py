"""Starting a server as a child of this process, and ending it."""

import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from scene import Scene


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(url: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        opener.open(url, timeout=5).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


class Server:
    """A running server; use as a context. `command` gets the port that it is to listen on, which
    another process may have taken meanwhile: then it is started again with another one."""

    def __init__(self, scene: Scene, name: str, command, path: str = "/"):
        self.scene, self.name, self.command, self.path = scene, name, command, path
        self.log = scene.place / f"{name}.log"

    def __enter__(self) -> "Server":
        for _ in range(3):
            port = free_port()
            self.base = f"http://127.0.0.1:{port}"
            with open(self.log, "wb") as log:
                self.process = subprocess.Popen(
                    self.command(port), env=self.scene.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    cwd=self.scene.place)
            end = time.monotonic() + 60
            while self.process.poll() is None and time.monotonic() < end:
                if answers(self.base + self.path):
                    return self
                time.sleep(0.05)
            self.__exit__()
        raise SystemExit(f"hosting: {self.name} does not start: {self.log.read_text(errors='replace')[-3000:]}")

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Serve:
    """`fetchres serve`: a good mirror, or a bad origin."""

    def __init__(self, scene: Scene, site: Path, *options: str):
        self.scene, self.site, self.options = scene, site, options

    def __enter__(self) -> "Serve":
        self.process = subprocess.Popen(
            [self.scene.program, "serve", str(self.site), "--listen", "127.0.0.1:0", *self.options],
            env=self.scene.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True)
        url = self.process.stdout.readline().strip()
        if not url:
            raise SystemExit("hosting: fetchres serve does not start")
        self.base = url.removesuffix("/manifest")
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
