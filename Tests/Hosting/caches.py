"""The recipes for caches: what a second client costs the origin, and what a damaged piece does."""

import shutil

from document import filled
from judging import judge_ranges
from programs import Programs
from requests_log import Requests
from scene import BLOCK, FILE, IMMUTABLE, MIB, MUTABLE, NEW, SIZE, Scene
from server import Server
from static_servers import nginx, nginx_main, written


class Origin(Requests):
    """The recipe for nginx, behind a cache: its log says what the cache asks for."""

    def __init__(self, scene: Scene, programs: Programs, connections: int = 512):
        super().__init__(scene.place / "nginx" / "requests")
        self.server = nginx(scene, programs, connections)

    @property
    def host(self) -> str:
        return self.server.base.removeprefix("http://")


def nginx_cache(scene: Scene, programs: Programs, host: str, connections: int = 512) -> Server:
    store = scene.place / "nginx-cache-store"
    shutil.rmtree(store, ignore_errors=True)

    def command(port: int) -> list[str]:
        recipe = filled("nginx-cache", {
            "listen 80;": f"listen 127.0.0.1:{port};", "/var/cache/fetchres": str(store),
            "origin.example.com:80": host})
        conf = written(scene.place / "nginx-cache.conf", nginx_main(scene, "nginx-cache", recipe, connections))
        return [programs.path("nginx"), "-c", str(conf), "-p", str(scene.place), "-e",
                str(scene.place / "nginx-cache.errors")]

    return Server(scene, "nginx-cache", command, path="/missing")


def varnish(scene: Scene, programs: Programs, host: str) -> Server:
    address, origin_port = host.split(":")

    def command(port: int) -> list[str]:
        recipe = filled("varnish", {
            '"origin.example.com"': f'"{address}"', '.port = "80"': f'.port = "{origin_port}"'})
        conf = written(scene.place / "cache.vcl", recipe)
        work = scene.place / "varnish"
        shutil.rmtree(work, ignore_errors=True)
        # No jail: this is no service, and the directory is this test's own.
        return [programs.path("varnishd"), "-F", "-j", "none", "-n", str(work), "-f", str(conf), "-a",
                f"127.0.0.1:{port}", "-T", "none", "-s", f"file,{work}.store,128m", "-p", "http_gzip_support=off"]

    return Server(scene, "varnish", command, path="/missing")


CACHES = {"nginx-cache": nginx_cache, "varnish": varnish}


def judge(scene: Scene, programs: Programs, name: str, mirror: str) -> None:
    cache, origin = CACHES[name], Origin(scene, programs)
    with origin.server:
        with cache(scene, programs, origin.host) as server:
            judge_sharing(scene, name, server.base, origin)
        with cache(scene, programs, origin.host) as server:
            # The wrong bit is there while the cache fills, and put right afterwards.
            scene.flip(scene.site / FILE, 7 * BLOCK + 5)
            try:
                scene.get(f"{server.base}/{FILE}", "--range", f"{7 * BLOCK}-{8 * BLOCK - 1}")
            finally:
                scene.flip(scene.site / FILE, 7 * BLOCK + 5)
            judge_damage(scene, name, server.base, origin, mirror)


def judge_sharing(scene: Scene, name: str, base: str, origin: Origin) -> None:
    first = origin.mark()
    pull = scene.pull(base)
    scene.check(pull.is_right and pull.version == NEW, f"{name}: a pull through the cache brings the newest version", pull.words)
    data = sum(count for count, path in origin.asked(first) if path == f"/{FILE}")
    # Pieces of a mebibyte may be asked for as a whole; nothing twice.
    scene.check(
        SIZE <= data <= SIZE + MIB, f"{name}: the origin gave each byte of the file once", f"{data} of {SIZE}")
    second = origin.mark()
    for connections in ("1", "5", "16"):
        pull = scene.pull(base, "--connections", connections)
        scene.check(pull.is_right, f"{name}: {connections} connections, through the cache", pull.words)
    kept = {f"/{path}" for path in IMMUTABLE}
    again = [path for _, path in origin.asked(second) if path in kept]
    scene.check(not again, f"{name}: three more clients took nothing immutable from the origin", str(again))
    judge_ranges(scene, name, base)
    for path in MUTABLE:
        answer = scene.get(f"{base}/{path}")
        scene.check(
            answer.status == 200 and (answer.kept_for or 0) <= 60 and not answer.is_immutable,
            f"{name}: {path} is kept for seconds", str(answer.fields))
    # Out of step with each other, these names are asked for past the cache.
    third = origin.mark()
    scene.get(f"{base}/checkpoint", "--header", "Cache-Control: no-cache")
    scene.check(
        [path for _, path in origin.asked(third)] == ["/checkpoint"], f"{name}: a checkpoint is asked for anew on demand",
        str(origin.asked(third)))
    fourth = origin.mark()
    scene.get(f"{base}/{FILE}", "--header", "Cache-Control: no-cache", "--range", "0-99")
    scene.check(not origin.asked(fourth), f"{name}: what never changes is not", str(origin.asked(fourth)))


def judge_damage(scene: Scene, name: str, base: str, origin: Origin, mirror: str) -> None:
    """The origin is whole again; the cache still has the piece with the wrong bit."""
    pull = scene.pull(base, "--give-up-after", "3s")
    scene.check(
        pull.exit == 4 and "block 7" in pull.words and pull.shows_nothing,
        f"{name}: a damaged piece in the cache and no way around it: exit 4, and nothing is shown", pull.words)
    for other, way in ((origin.server.base, "the origin itself"), (mirror, "a good mirror")):
        pull = scene.pull(base, "--mirror", f"{other}/")
        scene.check(pull.is_right, f"{name}: a damaged piece in the cache, and {way} beside it: the right bytes", pull.words)
