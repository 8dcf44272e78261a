"""nginx, configured for one row, and the test authority that its TLS certificate comes from."""

import os
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from harness import CommandFailed, Harness

CONFIGURATION = """
{user}
worker_processes 2;
daemon off;
pid {place}/pid;
error_log {place}/errors;
events {{ worker_connections 512; }}
http {{
  log_format requests '$msec $request_time $body_bytes_sent $request_uri';
  access_log {log};
  sendfile on;
  keepalive_requests 100000;
  default_type application/octet-stream;
  types {{ }}
  client_body_temp_path {place}/body;
  proxy_temp_path {place}/proxy;
  fastcgi_temp_path {place}/fastcgi;
  uwsgi_temp_path {place}/uwsgi;
  scgi_temp_path {place}/scgi;
  server {{
    listen {address}:{port}{listen};
    root {root};
    {directives}
  }}
}}
"""


@dataclass
class Tally:
    """What the access log says of the requests since a moment: the bytes of bodies for one file, and
    when, in seconds since 1970, the first request began, and the first for that file."""

    body: int = 0
    first: float | None = None
    first_for_file: float | None = None


class Authority:
    """A certificate authority for one run, and a certificate of it for 127.0.0.1."""

    def __init__(self, harness: Harness, place: Path):
        place.mkdir()
        self.certificate, self.server, self.key = place / "ca.pem", place / "server.pem", place / "server.key"
        ca_key, names, request = place / "ca.key", place / "names", place / "server.csr"
        new = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        harness.output(
            [*new, "-x509", "-days", "2", "-subj", "/CN=benchmark authority", "-keyout", str(ca_key),
             "-out", str(self.certificate)])
        harness.output([*new, "-subj", "/CN=127.0.0.1", "-keyout", str(self.key), "-out", str(request)])
        names.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        harness.output(
            ["openssl", "x509", "-req", "-in", str(request), "-CA", str(self.certificate), "-CAkey", str(ca_key),
             "-CAcreateserial", "-days", "2", "-extfile", str(names), "-out", str(self.server)])


class Nginx:
    """A running nginx; use as a context. `inside` and `reach` are command prefixes that put the server
    and a client into network namespaces."""

    def __init__(
        self, harness: Harness, place: Path, root: Path, directives: str = "", tls: Authority | None = None,
        http2: bool = False, address: str = "127.0.0.1", inside: list[str] = [], reach: list[str] = [],
    ):
        self.harness, self.place, self.inside, self.reach = harness, place, inside, reach
        port = 8080 if inside else free_port()
        place.mkdir(parents=True)
        self.log = place / "requests"
        self.base = f"{'https' if tls else 'http'}://{address}:{port}"
        listen = (" ssl" if tls else "") + (" http2" if http2 else "")
        if tls:
            directives += (
                f" ssl_protocols TLSv1.3; ssl_certificate {tls.server}; ssl_certificate_key {tls.key};")
        self.configuration = place / "nginx.conf"
        self.configuration.write_text(CONFIGURATION.format(
            user="user root;" if os.geteuid() == 0 else "", place=place, log=f"{self.log} requests",
            address=address, port=port, listen=listen, root=root, directives=directives))

    def __enter__(self) -> "Nginx":
        command = [*self.inside, "nginx", "-c", str(self.configuration), "-p", str(self.place)]
        self.process = self.harness.spawn(command, stderr=subprocess.DEVNULL)
        ready = [*self.reach, "curl", "-s", "-k", "-o", "/dev/null", self.base + "/"]
        for _ in range(100):
            if self.process.poll() is not None:
                break
            if subprocess.run(ready, env=self.harness.env, stdout=subprocess.DEVNULL).returncode == 0:
                return self
            time.sleep(0.05)
        self.__exit__()
        errors = self.place / "errors"
        words = errors.read_text().strip().splitlines() if errors.exists() else []
        raise CommandFailed(f"nginx does not answer: {words[-1] if words else 'no words'}")

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def settled(self, file: str, since: float = 0) -> Tally:
        """The tally once the log has come to rest: nginx writes a line when an answer ends, and
        notices a client that is gone only at its next write."""
        size, calm = -1, 0
        while calm < 5:
            time.sleep(0.1)
            now = self.log.stat().st_size
            size, calm = now, calm + 1 if now == size else 0
        return self.tally(file, since)

    def tally(self, file: str, since: float = 0) -> Tally:
        """What the log holds by now. Read line by line: a client that asks in circles fills it."""
        found = Tally()
        with open(self.log) as lines:
            for line in lines:
                ended, took, body, path = line.split(maxsplit=3)
                begin = float(ended) - float(took)
                # The two times are cut to milliseconds each.
                if begin < since - 0.002:
                    continue
                found.first = min(begin, found.first or begin)
                if path.rstrip().endswith(file):
                    found.body += int(body)
                    found.first_for_file = min(begin, found.first_for_file or begin)
        return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
