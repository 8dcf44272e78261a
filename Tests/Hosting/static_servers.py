"""The recipes for servers of files."""

import os
import pwd
from pathlib import Path

from document import filled
from judging import judge_headers, judge_looking, judge_private, judge_pulls, judge_ranges
from programs import Programs
from requests_log import Requests
from scene import FILE, Scene
from server import Server


def unprivileged() -> str | None:
    """Who the server is after its start as root; nobody else can be root's."""
    return pwd.getpwnam("nobody").pw_name if os.geteuid() == 0 else None


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def nginx_main(scene: Scene, name: str, http: str, connections: int = 512) -> str:
    """The rest of a configuration of nginx around what a recipe says."""
    place = scene.place / name
    place.mkdir(exist_ok=True)
    user = f"user {unprivileged()} nogroup;" if unprivileged() else ""
    paths = "".join(f"{one}_temp_path {place}/{one};" for one in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return f"""{user} daemon off; worker_processes 1; worker_rlimit_nofile {2 * connections}; pid {place}/pid; error_log {place}/errors;
events {{ worker_connections {connections}; }}
http {{ {paths} log_format plain '$request_method $status $body_bytes_sent $request_uri';
access_log {place}/requests plain;
{http}
}}"""


def nginx(scene: Scene, programs: Programs, connections: int = 512) -> Server:
    def command(port: int) -> list[str]:
        recipe = filled("nginx", {"listen 80;": f"listen 127.0.0.1:{port};", "/srv/site": str(scene.site)})
        conf = written(scene.place / "nginx.conf", nginx_main(scene, "nginx", recipe, connections))
        return [programs.path("nginx"), "-c", str(conf), "-p", str(scene.place), "-e", str(scene.place / "nginx.errors")]

    return Server(scene, "nginx", command)


def caddy(scene: Scene, programs: Programs) -> Server:
    def command(port: int) -> list[str]:
        recipe = filled("caddy", {"maps.example.com {": f"http://127.0.0.1:{port} {{", "/srv/site": str(scene.site)})
        conf = written(scene.place / "Caddyfile", "{\n\tadmin off\n}\n" + recipe)
        return [programs.path("caddy"), "run", "--config", str(conf), "--adapter", "caddyfile"]

    return Server(scene, "caddy", command)


def apache(scene: Scene, programs: Programs) -> Server:
    modules = Path(programs.path("apache2")).resolve().parents[1] / "lib/apache2/modules"

    def command(port: int) -> list[str]:
        recipe = filled("apache", {"<VirtualHost *:80>": f"<VirtualHost 127.0.0.1:{port}>", "/srv/site": str(scene.site)})
        loaded = "\n".join(
            f"LoadModule {one}_module {modules}/mod_{one}.so" for one in ("mpm_event", "authz_core", "env", "headers"))
        user = f"User {unprivileged()}\nGroup nogroup" if unprivileged() else ""
        conf = written(
            scene.place / "apache.conf",
            f"ServerRoot {scene.place}\nServerName 127.0.0.1\nListen 127.0.0.1:{port}\nPidFile {scene.place}/apache.pid\n"
            f"DefaultRuntimeDir {scene.place}\nErrorLog {scene.place}/apache.errors\nMutex file:{scene.place}\n"
            f"{loaded}\n{user}\n{recipe}")
        return [programs.path("apache2"), "-f", str(conf), "-D", "FOREGROUND"]

    return Server(scene, "apache", command)


def lighttpd(scene: Scene, programs: Programs) -> Server:
    modules = Path(programs.path("lighttpd")).resolve().parents[1] / "lib/lighttpd"

    def command(port: int) -> list[str]:
        recipe = filled("lighttpd", {"server.port = 80": f"server.port = {port}", "/srv/site": str(scene.site)})
        user = f'server.username = "{unprivileged()}"\nserver.groupname = "nogroup"\n' if unprivileged() else ""
        conf = written(scene.place / "lighttpd.conf", f'server.bind = "127.0.0.1"\n{user}{recipe}')
        return [programs.path("lighttpd"), "-D", "-f", str(conf), "-m", str(modules)]

    return Server(scene, "lighttpd", command)


SERVERS = {"nginx": nginx, "caddy": caddy, "apache": apache, "lighttpd": lighttpd}


def judge(scene: Scene, programs: Programs, name: str, mirror: str) -> None:
    with SERVERS[name](scene, programs) as server:
        judge_headers(scene, name, server.base, says_immutable=name != "lighttpd")
        judge_ranges(scene, name, server.base)
        judge_private(scene, name, server.base)
        judge_pulls(scene, name, server.base, scene.site / FILE, mirror)
        if name == "nginx":
            judge_looking(scene, name, server.base, Requests(scene.place / "nginx" / "requests"))
