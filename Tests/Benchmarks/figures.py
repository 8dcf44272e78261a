"""What a row reports: figures with quartiles, reasons for what is not there, and the runs behind them."""

import statistics
from dataclasses import dataclass, field

from harness import Race, Run


class CannotRun(Exception):
    """A row that this machine cannot run, with the reason for the table."""


@dataclass
class Figure:
    """One line of the table. `values` are per pair; what is shown is their median."""

    label: str
    values: list[float] = field(default_factory=list)
    unit: str = "×"
    wanted: float | None = None
    at_least: bool = False
    reason: str = ""
    """Why there are no values."""

    @property
    def median(self) -> float | None:
        return statistics.median(self.values) if self.values else None

    @property
    def quartiles(self) -> tuple[float, float] | None:
        if len(self.values) < 2:
            return None
        low, _, high = statistics.quantiles(self.values, n=4, method="inclusive")
        return low, high


@dataclass
class Row:
    name: str
    title: str
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    runs: dict[str, list[Run | None]] = field(default_factory=dict)
    skipped: str = ""
    failures: list[str] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)
    """Contestants that did not run, and why."""

    def take(self, race: Race) -> None:
        """Keeps the runs of a race, and what went wrong in it."""
        self.runs.update(race.runs)
        self.failures += [f"{name}: {words}" for name, words in race.failures.items()]
        self.absent |= race.failures | race.missing

    def why_not(self, *names: str) -> str:
        return next((self.absent[name] for name in names if name in self.absent), "did not run")

    def ratio(
        self, one: str, other: str, what: str = "wall", wanted: float | None = None, label: str = ""
    ) -> Figure:
        """The ratio of two contestants, round by round."""
        pairs = [
            getattr(a, what) / getattr(b, what)
            for a, b in zip(self.runs.get(one, []), self.runs.get(other, []))
            if a and b
        ]
        unit = {"wall": "time", "cpu": "CPU"}[what]
        figure = Figure(label or f"{unit}, {one} / {other}", pairs, wanted=wanted)
        if not pairs:
            figure.reason = self.why_not(one, other)
        self.figures.append(figure)
        return figure

    def peak(self, one: str = "fetchres", wanted: float | None = 88) -> Figure:
        """The largest resident set of all runs."""
        done = [run for run in self.runs.get(one, []) if run]
        seen = [run.peak / 1024 for run in done if run.peak_is_seen]
        figure = Figure(f"peak memory of {one}, largest", seen and [max(seen)], "MiB", wanted)
        if done and not seen:
            figure.reason = f"below {done[0].floor / 1024:.0f} MiB, which is what this script itself takes"
        elif not seen:
            figure.reason = self.why_not(one)
        self.figures.append(figure)
        return figure

    def add(self, label: str, values, unit: str, wanted: float | None = None, at_least: bool = False) -> Figure:
        figure = Figure(label, list(values), unit, wanted, at_least)
        if not figure.values:
            figure.reason = self.why_not("fetchres")
        self.figures.append(figure)
        return figure
