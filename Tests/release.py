#!/usr/bin/env python3
"""Checks what Samples/release.sh makes, from a program that is built already.

usage: release.py FETCHRES

Makes the release twice, under different surroundings, and compares; looks at every file of the package;
and gives the list of sources reasons to refuse itself.
"""
import gzip, hashlib, os, shutil, subprocess, sys, tarfile, tempfile, time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent / "Hosting"))
from document import filled

CHECKOUT = Path(__file__).resolve().parent.parent
EXPECTED = {
    "usr/bin/fetchres": 0o755,
    "usr/lib/systemd/system/fetchres@.service": 0o644,
    "usr/lib/systemd/system/fetchres@.timer": 0o644,
    "usr/share/bash-completion/completions/fetchres": 0o644,
    "usr/share/doc/fetchres/changelog.Debian.gz": 0o644,
    "usr/share/doc/fetchres/changelog.gz": 0o644,
    "usr/share/doc/fetchres/copyright": 0o644,
    "usr/share/doc/fetchres/examples/config": 0o644,
    "usr/share/doc/fetchres/examples/events.schema.json": 0o644,
    "usr/share/doc/fetchres/sources.sha256.gz": 0o644,
    "usr/share/fish/vendor_completions.d/fetchres.fish": 0o644,
    "usr/share/man/man1/fetchres.1.gz": 0o644,
    "usr/share/zsh/vendor-completions/_fetchres": 0o644,
}
failures = 0


def check(holds, what):
    global failures
    failures += not holds
    print(f"{'ok  ' if holds else 'FAIL'} {what}", flush=True)


def output(*command, cwd=CHECKOUT):
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True).stdout


def release(program, place, checkout=CHECKOUT, path="", more=("--uncommitted",), **surroundings):
    """Makes a release in `place`; `path` goes in front of PATH."""
    environment = {"PATH": path + os.environ["PATH"], "HOME": str(place), **surroundings}
    if "TMPDIR" in os.environ:
        environment["TMPDIR"] = os.environ["TMPDIR"]
    return subprocess.run(
        ["bash", "Samples/release.sh", "--binary", program, "--out", str(place), *more], cwd=checkout,
        env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def only(place, pattern):
    found = list(place.glob(pattern))
    if len(found) != 1:
        sys.exit(f"FAIL there is not one {pattern} but {found}")
    return found[0]


def check_package(package, root):
    """Looks at the archive itself, then at what it unpacks to."""
    now = int(output("git", "log", "-1", "--format=%ct"))
    stream = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE)
    with tarfile.open(fileobj=stream.stdout, mode="r|") as archive:
        members = {one.name.removeprefix("./"): one for one in archive if not one.isdir()}
    stream.stdout.close()
    check(stream.wait() == 0, "the archive is whole")
    check({name: one.mode for name, one in members.items()} == EXPECTED, "each file is in its place, with its mode")
    check(all(one.uid == one.gid == 0 for one in members.values()), "all of it belongs to root")
    check({one.mtime for one in members.values()} == {now}, "all of it is of the time of the commit")
    check(list(members) == sorted(members), "it is sorted")
    depends = output("dpkg-deb", "--field", package, "Depends").decode()
    check(all(f"{one} (>= " in depends for one in ("libc6", "libcurl4", "libssl3")), f"it depends on {depends.strip()}")

    output("dpkg-deb", "-x", package, root)
    output("dpkg-deb", "-e", package, root / "DEBIAN")
    sums = subprocess.run(["md5sum", "--check", "--strict", "--quiet", "DEBIAN/md5sums"], cwd=root)
    listed = {line.split(maxsplit=1)[1] for line in (root / "DEBIAN/md5sums").read_text().splitlines()}
    check(sums.returncode == 0 and listed == set(EXPECTED), "the sums of the package hold for all its files")


def check_files(root):
    program = root / "usr/bin/fetchres"
    check(b"fetchres " in output(program, "--version"), "the packaged program runs")
    content = program.read_bytes()
    check(os.fsencode(CHECKOUT) not in content, "the program names no directory of this machine")
    dynamic = output("readelf", "--dynamic", program)
    check(b"RUNPATH" not in dynamic and b"RPATH" not in dynamic, "the program looks for libraries in the usual places alone")
    for shell, path in (
        ("bash", "bash-completion/completions/fetchres"), ("zsh", "zsh/vendor-completions/_fetchres"),
        ("fish", "fish/vendor_completions.d/fetchres.fish"),
    ):
        installed = (root / "usr/share" / path).read_bytes()
        check(installed == output(program, "completion", shell) and installed, f"the completion for {shell} is the program's")
    manual = gzip.decompress((root / "usr/share/man/man1/fetchres.1.gz").read_bytes())
    check(manual == output(program, "help", "--man"), "the manual page is the program's")
    unit = (root / "usr/lib/systemd/system/fetchres@.service").read_text()
    check("ExecStart=/usr/bin/fetchres pull" in unit and "/usr/local" not in unit, "the unit starts the packaged program")


def check_sources(place, root):
    """Against a reading of the files that shares nothing with the script's."""
    names = output("git", "ls-files", "-z").split(b"\0")[:-1]
    wanted = b"".join(
        hashlib.sha256(open(os.path.join(os.fsencode(CHECKOUT), name), "rb").read()).hexdigest().encode()
        + b"  " + name + b"\n" for name in sorted(names))
    listed = only(place, "*.sources.sha256").read_bytes()
    check(listed == wanted, f"the list of sources has the hash of each of {len(names)} files")
    packaged = gzip.decompress((root / "usr/share/doc/fetchres/sources.sha256.gz").read_bytes())
    check(packaged == listed, "and lies in the package")


def check_page(program, place, work):
    """What the page on verifying a build says to do, in a checkout where nothing is committed since."""
    other = work / "checkout"
    output("git", "clone", "--quiet", "--shared", CHECKOUT, other)

    def does(tag, places, cwd=other, **surroundings):
        words = filled(tag, places, "VerifyingABuild.md")
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", words], cwd=cwd, env={**os.environ, **surroundings},
            stdin=subprocess.DEVNULL, capture_output=True, text=True)

    # The package of that very commit: the first one, unless it has files that no commit holds.
    again, committed = work / "again", place
    if "+uncommitted" in only(place, "*.deb").name:
        committed = work / "committed"
        check(release(program, committed, other, more=()).returncode == 0, "a release of the commit alone")
    places = {"Samples/release.sh": f"Samples/release.sh --binary {program}", "/tmp/again": str(again)}
    done = does("verify-build", places | {" fetchres_*.deb": f" {committed}/fetchres_*.deb"})
    check(done.returncode == 0, f"the page: building again and comparing {done.stderr[-300:] if done.returncode else ''}")
    output("dpkg-deb", "-x", only(committed, "*.deb"), work / "of-the-commit")
    places = {"/usr/share": f"{work}/of-the-commit/usr/share"}
    check(does("verify-sources", places).returncode == 0, "the page: the list of sources holds in a checkout")
    with open(other / "README.md", "a") as file:
        file.write("x")
    check(does("verify-sources", places).returncode != 0, "and not after a byte more in a file")
    output("git", "checkout", "--quiet", "README.md", cwd=other)

    server = subprocess.Popen(
        [program, "serve", place / "site", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True)
    try:
        url = server.stdout.readline().strip()
        tools = work / "bin"
        tools.mkdir()
        (tools / "fetchres").symlink_to(program)
        done = does(
            "verify-release", {"https://maps.example.com/fetchres/manifest": url}, place, HOME=str(work / "home"),
            XDG_STATE_HOME=str(work / "state"), PATH=f"{tools}:{os.environ['PATH']}")
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    pulled = place / done.stdout.strip()
    check(done.returncode == 0 and pulled.read_bytes() == only(place, "*.deb").read_bytes(),
          f"the page: pulling the release {done.stderr[-300:] if done.returncode else ''}")
    return other


def check_refusals(program, other, work):
    """In a checkout of its own: of a change that no commit holds, and of a list that does not hold."""
    with open(other / "README.md", "a") as file:
        file.write("x")
    place = work / "changed"
    done = release(program, place, other, more=())
    check(done.returncode != 0 and "differ from the commit" in done.stderr, "a change that no commit holds is refused")
    check(not list(place.glob("*")), "and leaves nothing")
    output("git", "checkout", "--quiet", "README.md", cwd=other)

    # A sha256sum that gets the first digit of its first file wrong.
    shim = work / "shim"
    shim.mkdir()
    real = shutil.which("sha256sum")
    (shim / "sha256sum").write_text(
        f"""#!/bin/sh
case $1 in --check) exec {real} "$@" ;; esac
{real} "$@" | sed '1s/^[0-7]/9/; 1t; 1s/^./1/'
""")
    (shim / "sha256sum").chmod(0o755)
    place = work / "wrong"
    done = release(program, place, other, f"{shim}:", more=())
    check(done.returncode != 0 and "does not hold for the commit" in done.stderr, "a list with a wrong hash is refused")
    check(not list(place.glob("*")), "and leaves nothing")


def main():
    program = os.path.abspath(sys.argv[1])
    work = Path(tempfile.mkdtemp(prefix="fetchres-release."))
    begin = time.monotonic()
    try:
        one, two = work / "one", work / "somewhere" / "else" / "two"
        first = release(program, one)
        if first.returncode != 0:
            sys.exit(f"FAIL the release ended with {first.returncode}: {first.stderr}")
        os.umask(0o077)
        second = release(program, two, TZ="Asia/Kathmandu", LC_ALL="C.UTF-8", GZIP="-1", XZ_OPT="-0")
        check(second.returncode == 0, "a release is made twice")
        package = only(one, "*.deb")
        check(str(package) in first.stdout.splitlines(), "what it prints names the package")
        same = [only(place, "*.deb").read_bytes() for place in (one, two)]
        check(same[0] == same[1], f"both packages are the same {len(same[0])} bytes")
        root = work / "root"
        check_package(package, root)
        check_files(root)
        check_sources(one, root)
        check(subprocess.run([program, "log", "verify", one / "site"], capture_output=True).returncode == 0,
              "the site of the release verifies")
        information = only(one, "*.buildinfo").read_text()
        check(hashlib.sha256(same[0]).hexdigest() in information and "libcurl4-openssl-dev" in information,
              "the build information names the package and what it was built with")
        other = check_page(program, one, work)
        check_refusals(program, other, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"release: {failures} failed, {time.monotonic() - begin:.0f} s", flush=True)
    sys.exit(1 if failures else 0)


main()
