"""What every host has to do, whatever it is."""

from pathlib import Path

from scene import BLOCK, FILE, IMMUTABLE, MUTABLE, NEW, SIZE, Scene

MONTH = 30 * 24 * 3600


def judge_headers(scene: Scene, name: str, base: str, says_immutable: bool = True) -> None:
    for path in MUTABLE:
        answer = scene.get(f"{base}/{path}")
        scene.check(
            answer.status == 200 and answer.body == (scene.site / path).read_bytes() and not answer.is_immutable
            and answer.kept_for is not None and answer.kept_for <= 60,
            f"{name}: {path} is kept for seconds", str(answer.fields))
    for path in IMMUTABLE:
        answer = scene.get(f"{base}/{path}", "--header", "Accept-Encoding: gzip, br, zstd, deflate")
        scene.check(
            answer.status == 200 and answer.body == (scene.site / path).read_bytes()
            and (answer.kept_for or 0) >= MONTH and answer.is_immutable == says_immutable
            and answer.fields.get("content-encoding", "identity") == "identity",
            f"{name}: {path} is kept for good, and not coded anew", str(answer.fields))
    answer = scene.get(f"{base}/releases/{NEW}/tile/0/002")
    scene.check(
        answer.status in (403, 404) and not answer.is_immutable and (answer.kept_for or 0) <= 60,
        f"{name}: what is not there yet is not kept as missing", f"{answer.status} {answer.fields}")


def judge_ranges(scene: Scene, name: str, base: str) -> None:
    content = scene.source.read_bytes()
    for first, last, what in (
        (0, 0, "the first byte"), (BLOCK, 2 * BLOCK - 1, "a block"), (5 * BLOCK, 99 * BLOCK - 1, "many blocks"),
        (SIZE - 40000, SIZE - 1, "the end"),
    ):
        answer = scene.get(f"{base}/{FILE}", "--range", f"{first}-{last}")
        scene.check(
            answer.status == 206 and answer.fields.get("content-range") == f"bytes {first}-{last}/{SIZE}"
            and answer.body == content[first : last + 1] and (answer.kept_for or 0) >= MONTH,
            f"{name}: a range with {what} is answered with 206 and that window", f"{answer.status} {answer.fields}")
    answer = scene.get(f"{base}/{FILE}", "--range", f"{SIZE}-")
    scene.check(answer.status == 416, f"{name}: a range behind the end is refused with 416", f"{answer.status} {answer.fields}")


def judge_private(scene: Scene, name: str, base: str) -> None:
    """For hosts that serve the very directory that `publish` writes."""
    private = next(path for path in (scene.site / ".publish").iterdir() if path.is_file())
    for path in (f"/.publish/{private.name}", f"/releases/../.publish/{private.name}", f"/%2epublish/{private.name}"):
        answer = scene.get(f"{base}{path}")
        scene.check(
            answer.status >= 400 and answer.body != private.read_bytes() and not answer.is_immutable,
            f"{name}: {path} is not served", f"{answer.status} {answer.fields}")


def judge_pulls(scene: Scene, name: str, base: str, served: Path, mirror: str) -> None:
    """From a whole site, then from one with a wrong bit; `served` is the file that the host reads."""
    pull = scene.pull(base)
    scene.check(pull.is_right and pull.version == NEW, f"{name}: a pull brings the newest version", pull.words)
    scene.flip(served, 7 * BLOCK + 5)
    try:
        judge_wrong_bit(scene, name, base, mirror)
    finally:
        scene.flip(served, 7 * BLOCK + 5)


def judge_looking(scene: Scene, name: str, base: str, requests) -> None:
    """Whoever has the newest version asks for two small files; `requests` reads the host's log."""
    pull = scene.pull(base, keeps=True)
    before = requests.mark()
    again = scene.pull(base, place=pull.place)
    asked = sorted(path for _, path in requests.asked(before))
    scene.check(
        again.is_right and asked == ["/checkpoint", "/manifest"],
        f"{name}: whoever has the newest version asks for two small files", f"{asked} {again.words}")


def judge_wrong_bit(scene: Scene, name: str, base: str, mirror: str) -> None:
    pull = scene.pull(base, "--give-up-after", "3s")
    scene.check(
        pull.exit == 4 and "block 7" in pull.words and pull.shows_nothing,
        f"{name}: a wrong bit and no other source: exit 4, and nothing is shown", pull.words)
    pull = scene.pull(base, "--mirror", f"{mirror}/")
    scene.check(pull.is_right, f"{name}: a wrong bit and a good mirror: the pull brings the right bytes", pull.words)
