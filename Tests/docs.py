#!/usr/bin/env python3
"""Executes the commands of the documents, and holds what they print against what is written there.

usage: Tests/docs.py FETCHRES [DOCUMENT…]      without documents: README.md and the DocC articles

A document is run from top to bottom in a directory of its own:
- `console`: a line `$ COMMAND` is executed (lines `> …` behind it go on with it), and has to print the
  lines below it, standard error included. `…` in a line stands for anything, on a line of its own for any
  lines. A command has to succeed, unless the next one is `echo $?`. One that ends in `&` goes on in the
  background; it is waited for until it prints something.
- `sh`: executed as it stands; has to succeed.
- `swift`: has to stand in Samples/App like that.
- every other language is shown only. A block without a language is a mistake.
Ports 127.0.0.1:80xx become others, which are free.
"""
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATIENCE = 300  # Seconds for one command.


class Wrong(Exception):
    """A document that says what is not so."""


def blocks(text):
    """The fenced blocks: line number, language, lines."""
    found, fence = [], None
    for number, line in enumerate(text.split("\n"), 1):
        if fence is None:
            opening = re.fullmatch(r"(```+)\s*(\S*).*", line)
            if opening:
                fence = (opening[1], number, opening[2], [])
                if not opening[2]:
                    raise Wrong(f"line {number}: a block needs a language: console, sh, text, …")
            elif re.match(r"(    |\t)\$ ", line):
                raise Wrong(f"line {number}: a command that no test runs: put it into a block")
        elif line == fence[0]:
            found.append(fence[1:])
            fence = None
        else:
            fence[3].append(line)
    if fence is not None:
        raise Wrong(f"line {fence[1]}: the block does not end")
    return found


def commands(lines, number):
    """The commands of a transcript: line number, text, what is printed."""
    found = []
    for offset, line in enumerate(lines, 1):
        if line.startswith("$ "):
            found.append([number + offset, line[2:], []])
        elif not found:
            raise Wrong(f"line {number + offset}: a transcript begins with a command")
        elif line.startswith("> ") and not found[-1][2]:
            found[-1][1] += "\n" + line[2:]
        else:
            found[-1][2].append(line)
    return found


def pattern(lines):
    """What matches the lines as they are written."""
    text = ""
    for line in lines:
        if line == "…":
            text += r"(?:[^\n]*\n)*"
        else:
            text += ".*".join(re.escape(part) for part in line.split("…")) + "\n"
    return text


class Shell:
    """One bash in a directory of its own, with the program on its path."""

    def __init__(self, program, scratch):
        self.scratch = pathlib.Path(scratch)
        for name in ("bin", "home", "work", "printed"):
            (self.scratch / name).mkdir()
        (self.scratch / "bin/fetchres").symlink_to(program)
        environment = {
            name: value for name, value in os.environ.items() if "proxy" not in name.lower()
        }
        environment.update(
            PATH=f"{self.scratch}/bin:{os.environ['PATH']}", HOME=f"{self.scratch}/home",
            XDG_STATE_HOME=f"{self.scratch}/home/state", LC_ALL="C.UTF-8",
            XDG_CONFIG_HOME=f"{self.scratch}/home/config")
        self.status, ends = os.pipe()
        self.end = ends
        self.bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"], stdin=subprocess.PIPE, env=environment,
            cwd=self.scratch / "work", pass_fds=[ends], start_new_session=True)
        self.count, self.last, self.ports, self.buffer = 0, 0, {}, b""

    def port(self, written):
        if written not in self.ports:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.ports[written] = str(free.getsockname()[1])
        return self.ports[written]

    def run(self, text):
        """Its exit status, and the file of what it prints."""
        text = re.sub(r"(?<=127\.0\.0\.1:)80\d\d\b", lambda found: self.port(found[0]), text)
        self.count += 1
        printed = self.scratch / "printed" / str(self.count)
        self.bash.stdin.write(
            f"(exit {self.last})\n{{ {text}\n}} >'{printed}' 2>&1 </dev/null {self.end}>&-\n"
            f"echo $? >&{self.end}\n".encode())
        self.bash.stdin.flush()
        self.last = self.wait()
        return self.last, printed

    def wait(self):
        waited = 0.0
        while b"\n" not in self.buffer:
            if select.select([self.status], [], [], 0.1)[0]:
                self.buffer += os.read(self.status, 64)
                continue
            waited += 0.1
            if self.bash.poll() is not None:
                raise Wrong(f"the shell ended with {self.bash.returncode}")
            if waited > PATIENCE:
                raise Wrong(f"it takes more than {PATIENCE} s")
        line, _, self.buffer = self.buffer.partition(b"\n")
        return int(line)

    def text(self, printed):
        text = printed.read_text(errors="replace")
        for written, free in self.ports.items():
            text = text.replace(f"127.0.0.1:{free}", f"127.0.0.1:{written}")
        return text

    def until_printed(self, printed):
        """Until a command in the background has said something, or is over."""
        while not printed.stat().st_size:
            status, running = self.run("sleep 0.05; jobs -r")
            if status or not self.text(running):
                return

    def close(self):
        self.bash.stdin.close()
        # All that it started is of its session.
        for name in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.bash.pid, name)
            except ProcessLookupError:
                break
            try:
                self.bash.wait(timeout=10)
            except subprocess.TimeoutExpired:
                pass
        os.close(self.status)
        os.close(self.end)


def run_transcript(shell, lines, number):
    steps = commands(lines, number)
    for index, (line, text, expected) in enumerate(steps):
        follower = steps[index + 1][1] if index + 1 < len(steps) else ""
        try:
            status, printed = shell.run(text)
            in_background = text.endswith("&")
            if in_background:
                shell.until_printed(printed)
        except Wrong as wrong:
            raise Wrong(f"line {line}: {text}: {wrong}") from None
        said = shell.text(printed)
        if status and follower != "echo $?":
            raise Wrong(f"line {line}: {text}: exit status {status}\n{said}")
        if said and not said.endswith("\n"):
            said += "\n"
        if in_background and not expected:
            continue
        rest = r"(?:.*\n)*" if in_background else ""
        if not re.fullmatch(pattern(expected) + rest, said):
            raise Wrong(f"line {line}: {text}\n--- printed\n{said}--- written\n" + "\n".join(expected))
    return len(steps)


def run_document(path, program, sample):
    text = path.read_text()
    found = blocks(text)
    count = 0
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    scratch = tempfile.mkdtemp(prefix="fetchres-docs.", dir=base)
    shell = Shell(program, scratch)
    try:
        for number, language, lines in found:
            if language == "console":
                count += run_transcript(shell, lines, number)
            elif language == "sh":
                try:
                    status, printed = shell.run("set -e\n" + "\n".join(lines) + "\nset +e")
                except Wrong as wrong:
                    raise Wrong(f"line {number}: {wrong}") from None
                if status:
                    raise Wrong(f"line {number}: exit status {status}\n{shell.text(printed)}")
                count += 1
            elif language == "swift" and "\n".join(lines) not in sample:
                raise Wrong(f"line {number}: this does not stand in Samples/App")
    finally:
        shell.close()
        shutil.rmtree(scratch, ignore_errors=True)
    return count


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    catalog = ROOT / "Sources/FetchResKit/FetchResKit.docc"
    documents = [pathlib.Path(name) for name in sys.argv[2:]] or [
        ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(catalog.glob("*.md"))]
    sample = "\n".join(path.read_text() for path in sorted(ROOT.glob("Samples/App/**/*.swift")))
    failed = 0
    for path in documents:
        try:
            count = run_document(path, program, sample)
            print(f"{path.name}: {count} commands")
        except Wrong as wrong:
            failed += 1
            print(f"{path.name}, {wrong}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
