#!/usr/bin/env python3
"""Measure the speed of the GPU engine, from a thousand particles to as many as fit: `make bench-gpu`.

What is measured
    repulsive   the two-dimensional soft repulsion (in.repulsive-bench), 10^3 to 5 10^8 particles.
    in.lj       the Lennard-Jones melt of LAMMPS's bench folder, 4000 to 2 10^8 atoms.
    Both in double precision, which gives the bits of every other engine, and in `precision mixed`. With two GPUs also
    on two ranks: numbers of particles with which messages take much of a step.

Method
    One process a row: a short run, then --repeat runs of the same length (more for a few particles, one for the
    most), each going on from where the last ended, for `repulsive` with the deck's velocities again; the median
    counts, and the spread is the largest over the smallest time. The time is the program's own "Loop time of",
    without set-up and copies. One more row finds the memory of a melt whose neighbours come from cells. The share of
    building neighbours is that of the phases bin, sort and list in the last run's time breakdown, output left out;
    what steps that sort take beyond others is in sort.
    Rows are printed as they are finished, dearest last; those for which no time is left are named. Units:
    particle-steps per second in 10^9, microseconds a step, bytes of GPU memory per particle.

Bars
    Below the table each bar is judged. The slope is that of log T on log N, T the time of a step, over the
    two-dimensional rows from 10^6 on in double precision; 1 means that a particle costs the same in any number.
    The bars are those of an H100 with 80 GB. The exit status is 0 unless a run failed or was left out; with
    --strict a missed bar also fails.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Mapping, Optional, Sequence

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bench  # noqa: E402
import gpu_runs  # noqa: E402
import harness  # noqa: E402
from gpu_runs import System, Timing, melt, repulsive  # noqa: E402

QUIET = 1.05  # a larger spread than this does not come from the program
BUILDING = ("Bin", "Sort", "List")
NOT_ENGINE = ("Output", "Other")


@dataclass
class Config:
    """One row: a system, how it is run, and how long."""

    system: System
    precision: str
    steps: int
    runs: int
    warm: int
    package: Mapping[str, harness.Value] = field(default_factory=dict)
    purpose: str = "speed"  # or another purpose of the row
    ranks: Optional[int] = None  # with a GPU each; None: one GPU, without mpirun
    timing: Optional[Timing] = None
    failure: str = ""

    @property
    def label(self) -> str:
        return (f"{self.system.name}, {self.precision}" + (f", {self.ranks} GPUs" if self.ranks else "")
                + ("" if self.purpose == "speed" else f", {self.purpose}"))


def few(cells: float) -> System:
    """The melt of in.lj with `cells` lattice cells along each axis."""
    n = round(4 * cells**3)
    return System(f"in.lj {n}", "in.lj", {axis: cells / 20 for axis in "xyz"}, n)


SHARED = melt(6, 6, 6)  # what two GPUs divide


def make_configs(repeat: int, gpus: int) -> List[Config]:
    """All rows, cheapest set-up first."""
    def double(system: System, steps: int, runs: int = repeat, warm: int = 0) -> Config:
        return Config(system, "double", steps, runs, warm or max(2, steps // 5))

    def mixed(system: System, steps: int) -> Config:
        return Config(system, "mixed", steps, repeat, max(2, steps // 5), {"precision": "mixed"})

    def on_two(system: System, steps: int) -> Config:
        return Config(system, "double", steps, repeat, max(2, steps // 5), ranks=2)

    several = [on_two(repulsive(10**6), 3000), on_two(repulsive(2 * 10**6), 3000), double(SHARED, 300),
               on_two(SHARED, 300)]
    middle = melt(5, 5, 5)
    return [
        double(repulsive(1000), 5000, 3 * repeat),
        *(row for cells, steps in ((10, 8000), (20, 4000), (40, 2000))
          for row in (double(few(cells), steps), mixed(few(cells), steps))),
        double(repulsive(10**6), 3000, 2 * repeat),
        double(repulsive(10**7), 1000),
        double(melt(4, 4, 2), 500),
        *(several if gpus > 1 else []),
        double(middle, 200),
        mixed(middle, 300),
        Config(middle, "double", 20, 1, 4, {"neighbours": "cells"}, "memory"),
        double(repulsive(10**8), 300),
        mixed(repulsive(10**8), 400),
        double(melt(5, 10, 10), 100),
        mixed(melt(5, 10, 10), 100),
        double(repulsive(5 * 10**8), 100, 1, 2),
        double(melt(25, 25, 10), 30, 1, 2),
    ]


def measure(configs: Sequence[Config], limit_s: float) -> None:
    """Runs every row, printing each as it ends."""
    began = time.monotonic()
    for config in configs:
        spent = time.monotonic() - began
        if spent > limit_s:
            config.failure = f"left out, {spent:.0f} s were spent"
        else:
            with tempfile.TemporaryDirectory(prefix="myriad-bench-") as folder:
                try:
                    config.timing = gpu_runs.timed(config.system, Path(folder), steps=config.steps, runs=config.runs,
                                                   warm=config.warm, package=config.package, ranks=config.ranks,
                                                   timeout=180)
                except gpu_runs.FAILURES as error:
                    config.failure = str(error)
        if config.timing:
            said = f"{config.timing.rate / 1e9:8.2f} G particle-steps/s"
        else:
            said = f"FAILED: {config.failure}"
        print(f"{time.monotonic() - began:6.1f} s  {config.label:30s} {said}", flush=True)


HEADER = ["deck", "precision", "GPUs", "particles", "steps", "G particle-steps/s", "µs/step", "bytes/particle",
          "steps/rebin", "spread"]


def make_rows(configs: Sequence[Config]) -> List[List[str]]:
    rows = []
    for c in configs:
        if c.purpose != "speed":
            continue
        if not c.timing:
            rows.append([c.system.name, c.precision, str(c.ranks or 1), str(c.system.particles), str(c.steps),
                         *["-"] * 4, "failed"])
            continue
        t = c.timing
        rows.append([c.system.name, c.precision, str(c.ranks or 1), str(t.particles), f"{len(t.seconds)} x {t.steps}",
                     f"{t.rate / 1e9:.2f}", f"{1e6 * t.particles / t.rate:.1f}", f"{t.result.bytes_per_particle:.1f}",
                     f"{t.result.report(r'Rebins: .*one in (.*) steps'):.1f}", f"{t.spread:.3f}"])
    return rows


def find(configs: Sequence[Config], system: System, precision: str = "double", purpose: str = "speed",
         ranks: Optional[int] = None) -> Optional[Timing]:
    for c in configs:
        if (c.system, c.precision, c.purpose, c.ranks) == (system, precision, purpose, ranks):
            return c.timing
    return None


def building_share(timing: Timing) -> Optional[float]:
    """Per cent of the engine's time that goes into neighbours; None if it did not time its phases."""
    phases: Dict[str, float] = {k: v for k, v in timing.result.phases.items() if k not in NOT_ENGINE}
    total = sum(phases.values())
    return 100 * sum(phases.get(name, 0.0) for name in BUILDING) / total if total > 0 else None


def make_bars(configs: Sequence[Config]) -> List[bench.Bar]:
    missing = "no such run"
    bars: List[bench.Bar] = []

    def speed(system: System, precision: str, limit: float) -> None:
        timing = find(configs, system, precision)
        bars.append(bench.Bar(f"{system.name}, {precision}, G particle-steps/s", timing.rate / 1e9 if timing else None,
                              limit, reason=missing))

    def memory(timing: Optional[Timing], name: str, limit: float) -> None:
        bars.append(bench.Bar(f"{name}, bytes per particle", timing.result.bytes_per_particle if timing else None,
                              limit, at_least=False, reason=missing))

    for n, limit in ((10**6, 18), (10**7, 26), (10**8, 30)):
        speed(repulsive(n), "double", limit)
    speed(repulsive(10**8), "mixed", 42)
    for system in (melt(5, 5, 5), melt(5, 10, 10)):
        speed(system, "double", 2.2)
        speed(system, "mixed", 3.5)
    small = find(configs, repulsive(1000))
    bars.append(bench.Bar("repulsive 1e3, microseconds a step", 1e6 * 1000 / small.rate if small else None, 12,
                          at_least=False, reason=missing))
    timings = [find(configs, repulsive(n)) for n in (10**6, 10**7, 10**8, 5 * 10**8)]
    slope = None
    if all(timings):
        slope = float(np.polyfit(np.log10([t.particles for t in timings]),
                                 np.log10([t.particles / t.rate for t in timings]), 1)[0])
    said = "" if slope is None else f" (it is {slope:.3f})"
    bars.append(bench.Bar(f"slope of log T on log N, distance from 1{said}", None if slope is None else abs(slope - 1),
                          0.03, at_least=False, reason="not all of 1e6, 1e7, 1e8, 5e8 were run"))
    memory(find(configs, repulsive(10**8)), "repulsive 1e8, double", 112)
    memory(find(configs, melt(5, 5, 5), purpose="memory"), "in.lj 4M, neighbours from cells", 144)
    one, two = find(configs, SHARED), find(configs, SHARED, ranks=2)
    if any(c.ranks for c in configs):
        bars.append(bench.Bar(f"{SHARED.name}, efficiency of two GPUs, %",
                              50 * two.rate / one.rate if one and two else None, 92, reason=missing))
    for system in (repulsive(10**7), melt(5, 5, 5)):
        timing = find(configs, system)
        bars.append(bench.Bar(f"{system.name}, share of building neighbours, %",
                              building_share(timing) if timing else None,
                              15, at_least=False, reason="the log has no times of phases" if timing else missing))
    return bars


def main(arguments: Sequence[str]) -> int:
    parser = gpu_runs.parser(__doc__)
    parser.add_argument("--only", metavar="TEXT", default="", help="only the rows with TEXT in their name")
    parser.add_argument("--largest", type=int, metavar="N", help="only systems of at most N particles")
    parser.add_argument("--repeat", type=int, default=3, help="timed runs of a row (3)")
    parser.add_argument("--limit", type=float, default=240.0, help="seconds after which no row begins (240)")
    parser.add_argument("--commit", default="", help="what to call this version, where git does not know")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the table as CSV")
    parser.add_argument("--markdown", type=Path, metavar="FILE",
                        help="write tables and bars as Markdown: between the marks <!-- bench-gpu --> if FILE has them")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a bar is missed")
    options = parser.parse_args(arguments)
    if options.repeat < 1:
        parser.error("--repeat must be at least 1")
    gpu_runs.start(options)
    configs = [c for c in make_configs(options.repeat, harness.gpus()) if options.only in c.label
               and (options.largest is None or c.system.particles <= options.largest)]
    if not configs:
        parser.error("no row is left")

    title = gpu_runs.title(options.commit)
    print(f"{title}\n")
    measure(configs, options.limit)
    rows, bars = make_rows(configs), make_bars(configs)
    print()
    bench.write_text(sys.stdout, rows, HEADER)
    print()
    for bar in bars:
        print(bar)
    noisy = [c.label for c in configs if c.timing and c.timing.spread > QUIET]
    if noisy:
        print(f"\nThe times of these differ by more than {QUIET}, so look before publishing: {'; '.join(noisy)}")
    if options.csv:
        with options.csv.open("w", encoding="utf-8") as file:
            bench.write_csv(file, rows, HEADER)
    if options.markdown:
        gpu_runs.put(options.markdown, "bench-gpu", lambda file: bench.write_markdown(file, title, rows, bars, HEADER))
    failed = [c.label for c in configs if not c.timing]
    if failed:
        print(f"\nbench-gpu: {len(failed)} of {len(configs)} rows failed: {'; '.join(failed)}", file=sys.stderr)
    missed = any(bar.verdict == "MISSED" for bar in bars)
    return 1 if failed or (missed and options.strict) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
