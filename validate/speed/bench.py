#!/usr/bin/env python3
"""Measure the speed of Myriad on this machine, beside LAMMPS where it is installed, as one table.

What is measured
    in.lj       the Lennard-Jones melt of LAMMPS's bench folder, 256 000 atoms, 100 steps, on one thread and
                on four; beside it `lmp -sf opt` on one core and on four MPI ranks, with the same deck. On one
                thread also 32 000 atoms; and both sizes with the AVX2 kernels, where the best ones are others.
    repulsive   the two-dimensional soft repulsion (in.repulsive-bench) with 10^5 and 10^7 particles, on one thread,
                on four and on all; with 10^3 and 10^4 on one thread alone.

Method
    Every configuration runs once to warm up. For a repulsive deck that also tells how many steps fill the
    time wanted on the most threads; fewer threads do the same steps, so that efficiencies compare equal work.
    Then all configurations run in turn, --repeat times, so that a machine that slows down or speeds up does so
    for all of them. The median counts. The spread (largest over smallest time) is shown, and a large spread
    gets a note, because it means that other programs were running. No further turn begins after --limit. The
    time is the program's own "Loop time of", without set-up. Units: particle-steps per second, in millions;
    nanoseconds of wall time per particle and step; bytes per particle, as each program reports its memory.

Bars
    Below the table each bar is judged: reached, missed, or not judged with the reason (no LAMMPS, fewer than
    four cores). The exit status is 0 unless a run failed; with --strict a missed bar also fails.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import datetime
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Dict, List, Optional, Sequence, TextIO

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "job-scripts"))

from machine import commit, processor  # noqa: E402

LJ_STEPS = 100
MANY = 4  # the bars are stated for four cores
QUIET = 1.15  # a larger spread than this does not come from the program
LEAST_STEPS = 30  # several rebins of the lists, so that their share is that of a long run
RUN_LIMIT_S = 600

LOOP = re.compile(r"^Loop time of (\S+) on (\d+) procs for (\d+) steps with (\d+) atoms", re.M)
OUR_MEMORY = re.compile(r"^Memory: (\S+) bytes per particle", re.M)
LAMMPS_MEMORY = re.compile(r"^Per MPI rank memory allocation \(min/avg/max\) = \S+ \| (\S+) \| \S+ Mbytes", re.M)


class RunFailed(Exception):
    """A program did not finish, or its log has no loop time."""


class Timed:
    """The results of several timed runs of the same steps."""

    particles: int
    steps: int
    seconds: List[float]

    @property
    def rate(self) -> float:
        """Particle-steps per second, from the median time."""
        return self.particles * self.steps / statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        return max(self.seconds) / min(self.seconds)


@dataclass
class Config(Timed):
    """One row: a deck, a program and a number of threads or ranks."""

    deck: str
    engine: str
    threads: int
    command: Callable[[Path, int], List[str]]  # log file, steps -> command line
    steps: int
    tune: bool  # choose `steps`, one number per deck, to fill the time wanted
    particles: int = 0
    warm_rate: float = 0.0  # steps per second of the warm-up
    bytes_per_particle: Optional[float] = None
    seconds: List[float] = field(default_factory=list)
    isa: str = ""  # for MYRIAD_ISA; empty: the best one


@dataclass
class Bar:
    """A figure to reach; `value` is None if it could not be measured here, for `reason`."""

    name: str
    value: Optional[float]
    limit: float
    at_least: bool = True
    reason: str = ""

    @property
    def verdict(self) -> str:
        if self.value is None:
            return f"not judged ({self.reason})"
        reached = self.value >= self.limit if self.at_least else self.value <= self.limit
        return "reached" if reached else "MISSED"

    def __str__(self) -> str:
        value = "-" if self.value is None else f"{self.value:.2f}"
        relation = "at least" if self.at_least else "at most"
        return f"{self.name:58s} {value:>8s}   {relation} {self.limit:g}: {self.verdict}"


def run_once(config: Config, folder: Path) -> float:
    """Runs one configuration; returns its loop time in seconds and fills in particles and memory."""
    log = folder / "log"
    log.unlink(missing_ok=True)
    command = config.command(log, config.steps)
    environment = {k: v for k, v in os.environ.items() if k not in ("OMP_NUM_THREADS", "MYRIAD_ISA")}
    if config.isa:
        environment["MYRIAD_ISA"] = config.isa
    if config.engine == "lammps":
        environment["OMP_NUM_THREADS"] = "1"
        environment["OMPI_ALLOW_RUN_AS_ROOT"] = environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    try:
        done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=RUN_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunFailed(f"{' '.join(command)}: {error}") from error
    text = log.read_text(errors="replace") if log.exists() else ""
    loops = LOOP.findall(text)
    if done.returncode != 0 or not loops:
        raise RunFailed(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-2000:]}")
    seconds, ranks, _, particles = loops[-1]
    config.particles = int(particles)
    if config.engine == "lammps":
        memory = LAMMPS_MEMORY.findall(text)
        if memory:
            config.bytes_per_particle = float(memory[-1]) * 2**20 * int(ranks) / config.particles
    else:
        memory = OUR_MEMORY.findall(text)
        if memory:
            config.bytes_per_particle = float(memory[-1])
    return float(seconds)


def measure(configs: Sequence[Config], repeat: int, fill_s: float, limit_s: float,
            say: Callable[[str], None]) -> None:
    """Warms up each configuration, then runs all of them in turn, `repeat` times or until `limit_s`."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="myriad-bench-") as name:
        folder = Path(name)
        for config in configs:
            say(f"warm-up: {label(config)}")
            config.warm_rate = config.steps / max(run_once(config, folder), 1e-6)
        for config in configs:
            if config.tune:
                fastest = max(c.warm_rate for c in configs if c.deck == config.deck)
                config.steps = min(max(round(fill_s * fastest), LEAST_STEPS), 200_000)
        for turn in range(repeat):
            if turn > 0 and time.monotonic() - began > limit_s:
                say(f"stopped after {turn} of {repeat} turns, at {limit_s:.0f} s")
                break
            for config in configs:
                say(f"{turn + 1} of {repeat}: {label(config)}")
                config.seconds.append(run_once(config, folder))


def label(config: Config) -> str:
    return f"{config.deck}, {program(config)}, {config.threads} thread{'s' if config.threads > 1 else ''}"


def program(config: Config) -> str:
    """How a row names its engine."""
    return f"{config.engine} {config.isa}".strip()


def thread_counts(cores: int) -> List[int]:
    """One thread, the four of the bars, and all cores."""
    return sorted({1, min(MANY, cores), cores})


def our_config(myriad: Path, deck: str, path: Path, variables: Dict[str, str], threads: int, steps: int,
               tune: bool) -> Config:
    def command(log: Path, count: int) -> List[str]:
        words = [str(myriad), "-in", str(path), "--engine", "openmp", "--threads", str(threads), "-log", str(log)]
        for name, value in variables.items():
            words += ["-var", name, str(count) if value == "STEPS" else value]
        return words

    return Config(deck, "openmp", threads, command, steps, tune)


def lammps_config(lmp: str, mpirun: Optional[str], deck: str, path: Path, variables: Dict[str, str],
                  ranks: int) -> Config:
    def command(log: Path, _: int) -> List[str]:
        words = [] if ranks == 1 else [str(mpirun), "--oversubscribe", "-np", str(ranks)]
        words += [lmp, "-sf", "opt", "-in", str(path), "-log", str(log), "-screen", "none"]
        for name, value in variables.items():
            words += ["-var", name, value]
        return words

    return Config(deck, "lammps", ranks, command, LJ_STEPS, False)


def make_configs(myriad: Path, inputs: Path, cores: int, lmp: Optional[str], mpirun: Optional[str]) -> List[Config]:
    """All rows. Each row of LAMMPS follows that of Myriad, so that both run in the same state of the machine."""
    avx2_too = best_isa(myriad) == "avx512"
    configs: List[Config] = []
    for deck, size, counts in (("in.lj", "2", thread_counts(cores)), ("in.lj 32000", "1", [1])):
        lj = {"x": size, "y": size, "z": size}
        for threads in counts:
            configs.append(our_config(myriad, deck, inputs / "in.lj", lj, threads, LJ_STEPS, False))
            if avx2_too and threads == 1:
                configs.append(dataclasses.replace(configs[-1], isa="avx2", seconds=[]))
            if lmp and threads <= MANY and (threads == 1 or mpirun):
                configs.append(lammps_config(lmp, mpirun, deck, inputs / "in.lj", lj, threads))
    for n, steps in ((1_000, 20_000), (10_000, 5_000), (100_000, 500), (10_000_000, 10)):
        variables = {"n": str(n), "steps": "STEPS"}
        for threads in thread_counts(cores) if n > 10_000 else [1]:
            configs.append(our_config(myriad, f"repulsive {n:.0e}".replace("+0", ""),
                                      inputs / "in.repulsive-bench", variables, threads, steps, True))
    return configs


def best_isa(myriad: Path) -> str:
    """The instruction set that the program takes on this machine, or nothing if it does not say."""
    said = subprocess.run([str(myriad), "info"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False).stdout
    found = re.search(r"\b(avx512|avx2|generic)\b", said)
    return found[1] if found else ""


def find(configs: Sequence[Config], deck: str, engine: str, threads: int) -> Optional[Config]:
    """The row with the best instruction set."""
    for config in configs:
        if (config.deck, config.engine, config.threads, config.isa) == (deck, engine, threads, ""):
            return config
    return None


def relative(configs: Sequence[Config], config: Config) -> Optional[float]:
    """Speed over LAMMPS's on the same deck and number of cores."""
    peer = find(configs, config.deck, "lammps", config.threads)
    return config.rate / peer.rate if peer else None


def make_bars(configs: Sequence[Config]) -> List[Bar]:
    no_cores = f"fewer than {MANY} cores"
    bars: List[Bar] = []
    for threads in (1, MANY):
        ours = find(configs, "in.lj", "openmp", threads)
        value = relative(configs, ours) if ours else None
        reason = no_cores if not ours else "no lmp, or no mpirun" if threads > 1 else "no lmp"
        cores = "1 core" if threads == 1 else f"{threads} cores"
        bars.append(Bar(f"in.lj on {cores}, times LAMMPS (beyond the bar: 2.5)", value, 1.8, reason=reason))
    decks = sorted({c.deck for c in configs if c.deck.startswith("repulsive") and c.tune and c.particles > 10_000})
    for deck in decks:
        four = find(configs, deck, "openmp", MANY)
        bars.append(Bar(f"{deck} on {MANY} cores, M particle-steps/s", four.rate / 1e6 if four else None, 150,
                        reason=no_cores))
    if len(decks) == 2:
        # On as many threads as there are, up to those of the bars.
        threads = max((c.threads for c in configs if c.deck == decks[0] and c.threads <= MANY), default=1)
        small, large = (find(configs, deck, "openmp", threads) for deck in decks)
        value = small.rate / large.rate if small and large else None
        bars.append(Bar(f"flatness: cost at 1e7 over cost at 1e5, {threads} threads", value, 1.5, at_least=False,
                        reason="no such runs"))
    for deck in ["in.lj", *decks]:
        one, four = find(configs, deck, "openmp", 1), find(configs, deck, "openmp", MANY)
        value = four.rate / (MANY * one.rate) if one and four else None
        bars.append(Bar(f"{deck}: {MANY}-thread efficiency t1/(4 t4)", value, 0.85, reason=no_cores))
    return bars


HEADER = ["deck", "engine", "N", "threads", "steps", "M particle-steps/s", "ns/particle-step", "bytes/particle",
          "times LAMMPS", "spread"]


def make_rows(configs: Sequence[Config]) -> List[List[str]]:
    rows = []
    for c in configs:
        ratio = relative(configs, c)
        rows.append([c.deck, program(c), str(c.particles), str(c.threads), str(c.steps), f"{c.rate / 1e6:.2f}",
                     f"{1e9 / c.rate:.2f}", "-" if c.bytes_per_particle is None else f"{c.bytes_per_particle:.1f}",
                     "-" if ratio is None else f"{ratio:.2f}", f"{c.spread:.3f}"])
    return rows


def write_text(file: TextIO, rows: Sequence[Sequence[str]], header: Sequence[str] = tuple(HEADER)) -> None:
    widths = [max(len(row[k]) for row in [header, *rows]) for k in range(len(header))]
    for row in [header, *rows]:
        cells = [cell.ljust(w) if k < 2 else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, widths))]
        file.write("  ".join(cells).rstrip() + "\n")


def write_markdown(file: TextIO, title: str, rows: Sequence[Sequence[str]], bars: Sequence[Bar] = (),
                   header: Sequence[str] = tuple(HEADER)) -> None:
    file.write(f"{title}\n\n| " + " | ".join(header) + " |\n|" + "---|" * 2 + "---:|" * (len(header) - 2) + "\n")
    for row in rows:
        file.write("| " + " | ".join(row) + " |\n")
    if not bars:
        return
    file.write("\n| bar | measured | required | verdict |\n|---|---:|---:|---|\n")
    for bar in bars:
        value = "-" if bar.value is None else f"{bar.value:.2f}"
        sign = "≥" if bar.at_least else "≤"
        file.write(f"| {bar.name} | {value} | {sign} {bar.limit:g} | {bar.verdict} |\n")


def write_csv(file: TextIO, rows: Sequence[Sequence[str]], header: Sequence[str] = tuple(HEADER)) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(["" if cell == "-" else cell for cell in row] for row in rows)


def machine(cores: int) -> str:
    """Processor, cores, date and commit, as every published figure needs them."""
    return f"{processor()}, {cores} cores, {datetime.date.today()}, commit {commit()}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--myriad", type=Path, default=ROOT / "build" / "myriad", help="the program (build/myriad)")
    parser.add_argument("--inputs", type=Path, default=ROOT / "inputs", help="folder of in.lj and in.repulsive-bench")
    parser.add_argument("--repeat", type=int, default=3, help="measured runs of each, after a warm-up (3)")
    parser.add_argument("--fill", type=float, default=2.0, help="seconds of a repulsive run on the most threads (2)")
    parser.add_argument("--limit", type=float, default=180.0, help="seconds after which no turn begins (180)")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the table as CSV")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write tables and bars as Markdown")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a bar is missed")
    options = parser.parse_args(arguments)
    if options.repeat < 1 or not options.fill > 0:
        parser.error("--repeat must be at least 1 and --fill positive")

    cores = len(os.sched_getaffinity(0))
    lmp, mpirun = shutil.which("lmp"), shutil.which("mpirun")
    if not lmp:
        print("lmp not found: nothing to compare with (package lammps)", file=sys.stderr)
    elif not mpirun:
        print(f"mpirun not found: no LAMMPS on {MANY} cores (package openmpi-bin)", file=sys.stderr)
    configs = make_configs(options.myriad.resolve(), options.inputs.resolve(), cores, lmp, mpirun)
    live = sys.stderr.isatty()

    def say(text: str) -> None:
        print(f"\r\x1b[K{text}" if live else text, end="" if live else "\n", file=sys.stderr, flush=True)

    try:
        measure(configs, options.repeat, options.fill, options.limit, say)
    except RunFailed as error:
        print(f"\nbench: {error}", file=sys.stderr)
        return 1
    if live:
        say("")

    title, rows, bars = machine(cores), make_rows(configs), make_bars(configs)
    print(title)
    write_text(sys.stdout, rows)
    print()
    for bar in bars:
        print(bar)
    noisy = [label(c) for c in configs if c.spread > QUIET]
    if noisy:
        print(f"\nThe machine was not quiet (spread above {QUIET}), so do not publish: {'; '.join(noisy)}")
    if options.csv:
        with options.csv.open("w", encoding="utf-8") as file:
            write_csv(file, rows)
    if options.markdown:
        with options.markdown.open("w", encoding="utf-8") as file:
            write_markdown(file, title, rows, bars)
    missed = any(bar.verdict == "MISSED" for bar in bars)
    return 1 if missed and options.strict else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
