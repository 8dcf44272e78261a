"""Running one command and measuring it, and racing several in alternating order."""

import os
import resource
import shutil
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable


class CommandFailed(Exception):
    """A command that ended otherwise than it should: an error, never a fast time."""


class ToolMissing(Exception):
    """A program that is not on this machine."""


@dataclass
class Run:
    """What one run took: seconds, CPU seconds of it and its children, KiB of peak memory."""

    wall: float
    cpu: float
    peak: int
    code: int
    appeared: float | None = None
    floor: int = field(default_factory=lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    """KiB that cannot be told apart: Linux counts the peak of this process as that of a child, which
    begins as a copy of it. A peak up to here says only that it was no higher."""

    def then(self, later: "Run") -> "Run":
        peak = max(self.peak, later.peak)
        return Run(self.wall + later.wall, self.cpu + later.cpu, peak, later.code, floor=later.floor)

    @property
    def peak_is_seen(self) -> bool:
        return self.peak > self.floor


def environment(home: Path) -> dict[str, str]:
    """An environment in which no proxy, locale or configuration file of the user has a say."""
    kept = {"PATH": os.environ["PATH"]}
    return kept | {
        "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "XDG_STATE_HOME": str(home / "state"),
        "LC_ALL": "C", "NO_COLOR": "1",
    }


class Harness:
    """Runs commands with one environment; `scratch` takes what they say on standard error."""

    def __init__(self, scratch: Path, time_limit: float = 1800):
        self.env = environment(scratch)
        self.scratch = scratch
        self.time_limit = time_limit

    def spawn(self, command: list[str], stderr=subprocess.DEVNULL) -> subprocess.Popen:
        if shutil.which(command[0], path=self.env["PATH"]) is None:
            raise ToolMissing(f"{command[0]} is not installed")
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr, env=self.env,
            cwd=self.scratch)

    def measure(self, command: list[str], appears: Path | None = None, accepts=(0,)) -> Run:
        """Runs a command to its end. With `appears`, notes when that file came into being."""
        with tempfile.TemporaryFile(dir=self.scratch) as said:
            begin = time.perf_counter()
            process = self.spawn(command, stderr=said)
            overdue = threading.Timer(self.time_limit, process.kill)
            overdue.start()
            try:
                appeared = self.watch(process, appears, begin) if appears else None
                _, status, usage = os.wait4(process.pid, 0)
                wall = time.perf_counter() - begin
                process.returncode = os.waitstatus_to_exitcode(status)
            except BaseException:
                end(process)
                raise
            finally:
                overdue.cancel()
            run = Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, process.returncode, appeared)
            if run.code not in accepts:
                said.seek(0)
                words = said.read().decode(errors="replace").strip().splitlines()
                raise CommandFailed(
                    f"{Path(command[0]).name} ended with {run.code}: {words[-1][:200] if words else 'no words'}")
            return run

    def watch(self, process: subprocess.Popen, path: Path, begin: float) -> float | None:
        """Seconds until `path` exists; None if the process ends without it."""
        while True:
            ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if path.exists():
                return time.perf_counter() - begin
            if ended is not None:
                return None
            time.sleep(0.0005)

    def side_by_side(self, commands: list[list[str]]) -> Run:
        """Runs commands at the same time; the wall time is that of the last to end."""
        begin = time.perf_counter()
        processes = []
        cpu, peak = 0.0, 0
        try:
            for command in commands:
                processes.append(self.spawn(command))
            for process in processes:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                cpu, peak = cpu + usage.ru_utime + usage.ru_stime, max(peak, usage.ru_maxrss)
        except BaseException:
            for process in processes:
                end(process)
            raise
        for command, process in zip(commands, processes):
            if process.returncode != 0:
                raise CommandFailed(f"{command[0]} ended with {process.returncode}")
        return Run(time.perf_counter() - begin, cpu, peak, 0)

    def output(self, command: list[str]) -> str:
        """What a command prints; for setting things up."""
        if shutil.which(command[0], path=self.env["PATH"]) is None:
            raise ToolMissing(f"{command[0]} is not installed")
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=self.env, cwd=self.scratch)
        if done.returncode != 0:
            words = (done.stderr or done.stdout).strip().splitlines()
            raise CommandFailed(f"{' '.join(command[:3])} ended with {done.returncode}: {words[-1] if words else ''}")
        return done.stdout.strip()


def end(process: subprocess.Popen) -> None:
    """Kills a process of ours that still runs."""
    if process.returncode is None:
        process.kill()
        process.wait()


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@dataclass
class Contestant:
    """One way to do the work of a row: commands run one after the other and counted together."""

    name: str
    commands: list[list[str]]
    targets: list[Path] = field(default_factory=list)
    """What is removed before each run and after it."""
    prepare: Callable[[], None] | None = None
    """What else has to be put in order before each run, off the clock."""
    check: Callable[[], None] | None = None
    """Looks at what the first run left; raises CommandFailed if it is wrong."""
    together: bool = False
    appears: Path | None = None
    at_most: int | None = None
    """Rounds for a contestant that is slow and only there for reference; it gets no warm-up."""

    def run(self, harness: Harness) -> Run:
        for target in self.targets:
            remove(target)
        if self.prepare:
            self.prepare()
        if self.together:
            return harness.side_by_side(self.commands)
        total = harness.measure(self.commands[0], appears=self.appears)
        for command in self.commands[1:]:
            total = total.then(harness.measure(command))
        return total


class Race:
    """The runs of some contestants, aligned by round; what failed is out and named in `failures`."""

    def __init__(self, harness: Harness, contestants: list[Contestant], rounds: int, warm_up: bool = True):
        self.runs: dict[str, list[Run | None]] = {one.name: [] for one in contestants}
        self.failures: dict[str, str] = {}
        self.missing: dict[str, str] = {}
        self.checked: set[str] = set()
        for number in range(-1 if warm_up else 0, rounds):
            # A B, then B A: what one leaves behind (heat, caches) falls on each in turn.
            for one in contestants if number % 2 == 0 else reversed(contestants):
                self.turn(harness, one, number)

    def turn(self, harness: Harness, one: Contestant, number: int) -> None:
        out = one.name in self.failures or one.name in self.missing
        rests = one.at_most is not None and not 0 <= number < one.at_most
        run = None
        if not out and not rests:
            try:
                run = one.run(harness)
                if one.check and one.name not in self.checked:
                    one.check()
                    self.checked.add(one.name)
            except CommandFailed as error:
                self.failures[one.name] = str(error)
                run = None
            except ToolMissing as error:
                self.missing[one.name] = str(error)
            finally:
                for target in one.targets:
                    remove(target)
        if number >= 0:
            self.runs[one.name].append(run)
