"""The results as a Markdown table and as JSON, with what they were measured on."""

import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
from dataclasses import asdict
from pathlib import Path

from figures import Figure, Row
from harness import Harness

TOOLS = [
    ["fetchres", "--version"], ["nginx", "-v"], ["curl", "--version"], ["openssl", "version"],
    ["aria2c", "--version"], ["wget2", "--version"], ["axel", "--version"], ["ip", "-V"], ["swift", "--version"],
    ["python3", "--version"],
]


def circumstances(harness: Harness, program: str, checkout: Path, rounds: int) -> dict[str, str]:
    """Everything a reader needs to judge the figures."""
    facts = {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": processor(), "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / (1 << 30):.1f} GiB",
        "kernel": f"{platform.system()} {platform.release()}",
        "load before": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "commit": commit(checkout), "pairs": f"{rounds}, after one that does not count",
    }
    for words in TOOLS:
        command = [program, *words[1:]] if words[0] == "fetchres" else words
        facts[words[0]] = version(harness, command)
    return facts


def processor() -> str:
    with open("/proc/cpuinfo") as lines:
        return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def commit(checkout: Path) -> str:
    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(checkout), *words], capture_output=True, text=True).stdout.strip()

    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + (
        ", with changes" if git("status", "--porcelain") else "")


def version(harness: Harness, command: list[str]) -> str:
    if not shutil.which(command[0]):
        return "not installed"
    done = subprocess.run(command, capture_output=True, text=True, env=harness.env)
    return next(iter((done.stdout.strip() or done.stderr.strip()).splitlines()), "unknown").removeprefix("nginx version: ")


def number(value: float, unit: str) -> str:
    if unit == "×":
        return f"{value:.2f} ×"
    return f"{value:.{1 if abs(value) >= 10 else 2}f} {unit}"


def table(facts: dict[str, str], rows: list[Row]) -> str:
    lines = ["# Benchmarks of fetchres", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    lines += [
        "", "A ratio is the median of the ratios of the pairs, with its quartiles; below 1 the first was faster.",
        "", "| row | what | measured | quartiles | wanted |", "| --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        name = f"`{row.name}`"
        if row.skipped:
            lines.append(f"| {name} | {row.title} | cannot run here: {cell(row.skipped)} | | |")
        elif not row.figures:
            lines.append(f"| {name} | {row.title} | FAILED: {cell('; '.join(row.failures))} | | |")
        for figure in row.figures:
            lines.append(f"| {name} | {cell(figure.label)} | {measured(figure, row)} | {spread(figure)} | {wanted(figure)} |")
    lines += ["", "## Runs (medians)", "", "| row | program | wall s | CPU s | peak MiB | runs |"]
    lines.append("| --- | --- | ---: | ---: | ---: | ---: |")
    for row in rows:
        for name, runs in row.runs.items():
            done = [run for run in runs if run]
            if done:
                wall, cpu = (statistics.median(getattr(run, what) for run in done) for what in ("wall", "cpu"))
                peak = statistics.median(run.peak for run in done) / 1024
                shown = f"{peak:.0f}" if all(run.peak_is_seen for run in done) else f"≤ {peak:.0f}"
                lines.append(f"| `{row.name}` | {cell(name)} | {wall:.3f} | {cpu:.3f} | {shown} | {len(done)} |")
    lines += ["", "## Notes", ""]
    for row in rows:
        lines.append(f"- `{row.name}`: " + "; ".join([row.title, *row.notes]))
        lines += [f"  - FAILED: {failure}" for failure in row.failures]
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def measured(figure: Figure, row: Row) -> str:
    if figure.median is not None:
        return number(figure.median, figure.unit)
    failed = any(figure.reason in failure for failure in row.failures)
    return ("FAILED: " if failed else "none: ") + cell(figure.reason)


def spread(figure: Figure) -> str:
    if figure.quartiles is None:
        return ""
    low, high = figure.quartiles
    return f"{number(low, figure.unit).split()[0]} to {number(high, figure.unit).split()[0]}"


def wanted(figure: Figure) -> str:
    if figure.wanted is None:
        return ""
    return f"{'≥' if figure.at_least else '≤'} {number(figure.wanted, figure.unit)}"


def document(facts: dict[str, str], rows: list[Row]) -> str:
    """The same and every single run, for programs."""
    def told(row: Row) -> dict:
        figures = [
            asdict(figure) | {"median": figure.median, "quartiles": figure.quartiles} for figure in row.figures]
        return asdict(row) | {"figures": figures}

    return json.dumps({"circumstances": facts, "rows": [told(row) for row in rows]}, indent=1, ensure_ascii=False) + "\n"
