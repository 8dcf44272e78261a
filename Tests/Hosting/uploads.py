"""The recipes that copy a site: to an object store, and with rsync."""

import subprocess
import sys
from pathlib import Path

from document import filled
from judging import judge_headers, judge_ranges, judge_wrong_bit
from programs import Programs
from scene import BLOCK, FILE, NEW, OLD, Scene
from server import Serve, Server

BUCKET = "maps"


class Store(Server):
    """A double of an object store."""

    def __init__(self, scene: Scene, programs: Programs):
        self.programs = programs
        # For these two alone: what Python finds first is not to reach other programs.
        self.environment = scene.environment | {
            "PYTHONPATH": str(programs.python), "AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true", "NO_PROXY": "127.0.0.1",
        }
        super().__init__(scene, "moto", self.words)

    def words(self, port: int) -> list[str]:
        return ["env", f"PYTHONPATH={self.programs.python}", sys.executable, "-c",
                "from moto.server import main; main()", "-H", "127.0.0.1", "-p", str(port)]

    def run(self, command: list[str]) -> None:
        done = subprocess.run(
            command, env=self.environment | {"AWS_ENDPOINT_URL": self.base}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise SystemExit(f"hosting: {command[0]} ended with {done.returncode}: {done.stdout} {done.stderr}")

    def aws(self, *words: str) -> None:
        self.run([str(self.scene.tools / "aws"), *words])


def made_runnable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def judge_object_store(scene: Scene, programs: Programs, name: str, mirror: str) -> None:
    made_runnable(
        scene.tools / "aws",
        f'#!/bin/sh\nexec {sys.executable} -c "import sys; from awscli.clidriver import main; sys.exit(main())" "$@"\n')
    with Store(scene, programs) as store:
        store.aws("s3", "mb", f"s3://{BUCKET}")
        store.aws("s3api", "put-bucket-acl", "--bucket", BUCKET, "--acl", "public-read")
        base = f"{store.base}/{BUCKET}"

        def script(name: str, site: Path, cut: str = "") -> str:
            text = filled("upload", {"/srv/site": str(site), "https://maps.example.com": base})
            return str(made_runnable(scene.place / name, text.replace(cut, "exit\n") if cut else text))

        # As a publisher would: the first release, then the next one.
        store.run([script("upload-old", scene.before)])
        pull = scene.pull(base)
        scene.check(pull.is_right and pull.version == OLD, f"{name}: the first release is there", pull.words)
        store.run([script("upload-half", scene.site, cut="upload_mutable checkpoint\n")])
        pull = scene.pull(base)
        scene.check(
            pull.is_right and pull.version == OLD, f"{name}: in the middle of an upload the old release is whole",
            pull.words)
        store.run([script("upload-new", scene.site)])
        judge_store(scene, name, store, mirror)


def judge_store(scene: Scene, name: str, store: Store, mirror: str) -> None:
    base = f"{store.base}/{BUCKET}"
    judge_headers(scene, name, base)
    judge_ranges(scene, name, base)
    pull = scene.pull(base)
    scene.check(pull.is_right and pull.version == NEW, f"{name}: a pull brings the newest version", pull.words)
    answer = scene.get(f"{base}/.publish/last")
    scene.check(answer.status in (403, 404), f"{name}: what is private was not uploaded", str(answer.status))
    # A store that has a wrong bit: the object is replaced by one.
    wrong = scene.place / "wrong.map"
    wrong.write_bytes(scene.source.read_bytes())
    scene.flip(wrong, 7 * BLOCK + 5)
    store.aws("s3", "cp", "--only-show-errors", str(wrong), f"s3://{BUCKET}/{FILE}")
    judge_wrong_bit(scene, name, base, mirror)


def judge_rsync(scene: Scene, programs: Programs, name: str, mirror: str) -> None:
    copy = scene.place / "copied"
    copy.mkdir()
    for version, site in ((OLD, scene.before), (NEW, scene.site)):
        script = filled("rsync", {"mirror.example.com:/srv/site/": f"{copy}/", "/srv/site": str(site)})
        done = subprocess.run(
            ["bash", "-c", "set -euo pipefail\n" + script], env=scene.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True)
        with Serve(scene, copy) as server:
            pull = scene.pull(server.base)
        scene.check(
            done.returncode == 0 and pull.is_right and pull.version == version,
            f"{name}: {version} is copied, and a pull from the copy brings it", done.stderr + pull.words)
    scene.check(not (copy / ".publish").exists(), f"{name}: what is private is not copied")
    scene.flip(copy / FILE, 7 * BLOCK + 5)
    with Serve(scene, copy) as server:
        judge_wrong_bit(scene, name, server.base, mirror)
