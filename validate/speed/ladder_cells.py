#!/usr/bin/env python3
"""What each part of the cell pipeline is worth on a GPU: `make ladder-cells`.

One system, the two-dimensional repulsion, climbs from a plain pipeline to the engine's own in rungs that are
cumulative: each keeps everything of the rung before. Side branches then change one thing of the top rung, or of the
rung named.
Every rung is the same steps of the same system: a short run, then --repeat runs, of which the median counts. All but
the one in mixed precision must end with the same thermo row at 17 digits: no rung may change a bit.

Columns: nanoseconds of a particle-step; gain, the time of the rung it is compared with over its own; bytes of GPU
memory per particle. Results go to ladder-cells.csv and ladder-cells.md in --out.

`make ladder` takes the same rungs for its study `cells`, and adds series over particles (climb_study): sizes, 256
particles a multiprocessor, optimal against naive, and the engines together. Its times are milliseconds of a step.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, List, Mapping, Optional, Sequence

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bench  # noqa: E402
import gpu_runs  # noqa: E402
import harness  # noqa: E402
import ladder_data  # noqa: E402
from gpu_runs import Timing  # noqa: E402

PLAIN: Mapping[str, harness.Value] = {"neighbours": "cells", "sorted": "no", "padded": "no", "unrolled": "no",
                                      "staged": "no", "fused": "no", "sort": "count", "rebin": 1}


@dataclass
class Rung:
    name: str
    package: Mapping[str, harness.Value]
    against: Optional[str]  # the rung whose time its gain refers to
    exact: bool = True
    timing: Optional[Timing] = None
    failure: str = ""


def rungs() -> List[Rung]:
    """The ladder and its side branches."""
    made = [Rung("plain", PLAIN, None)]
    for name, keyword, value in (("sorted", "sorted", "yes"), ("padded", "padded", "yes"),
                                 ("unrolled", "unrolled", "yes"), ("rebin auto", "rebin", "auto"),
                                 ("fused", "fused", "yes"), ("steps sort", "sort", "step")):
        made.append(Rung(name, {**made[-1].package, keyword: value}, made[-1].name))
    unfused, fused, top = made[-3:]
    made.append(Rung("staged, not fused", {**unfused.package, "staged": "yes"}, unfused.name))
    made.append(Rung("sort radix", {**fused.package, "sort": "radix"}, fused.name))
    for name, more in [("force symmetric", {"force": "symmetric"}),
                       *((f"block {n}", {"block": n}) for n in (64, 128, 256))]:
        made.append(Rung(name, {**top.package, **more}, top.name))
    made.append(Rung("precision mixed", {**top.package, "precision": "mixed"}, top.name, exact=False))
    return made


def climb_rung(rung: Rung, options) -> None:
    with tempfile.TemporaryDirectory(prefix="myriad-ladder-") as folder:
        try:
            rung.timing = gpu_runs.timed(gpu_runs.repulsive(options.n), Path(folder), steps=options.steps,
                                         runs=options.repeat, warm=max(2, options.steps // 5), package=rung.package,
                                         commands=gpu_runs.EXACT_THERMO)
        except gpu_runs.FAILURES as error:
            rung.failure = str(error)


HEADER = ["rung", "against", "ns/particle-step", "gain", "bytes/particle", "spread"]


def row_of(rung: Rung, ladder: Sequence[Rung]) -> List[str]:
    if not rung.timing:
        return [rung.name, rung.against or "-", "failed", "-", "-", "-"]
    before = next((r.timing for r in ladder if r.name == rung.against), None)
    return [rung.name, rung.against or "-", f"{1e9 / rung.timing.rate:.4f}",
            f"{rung.timing.rate / before.rate:.3f}" if before else "-", f"{rung.timing.result.bytes_per_particle:.1f}",
            f"{rung.timing.spread:.3f}"]


def differences(ladder: Sequence[Rung]) -> List[str]:
    """The rungs in double precision whose last thermo row differs from that of the first rung."""
    ends = [(rung, rung.timing.result.table.rows[-1]) for rung in ladder if rung.exact and rung.timing]
    return [f"{rung.name} ends with {' '.join(end)}, {ends[0][0].name} with {' '.join(ends[0][1])}"
            for rung, end in ends if end != ends[0][1]]


# ------------------------------------------------------------------------------------------------ for `make ladder`

MILLION = 1_000_000
# Numbers of particles of each series: those of the publication, and the few of them that take seconds.
SIZES = [n * MILLION for n in (1, 2, 4, 8, 10, 16, 20, 32, 40, 64, 80, 100, 120, 140, 150)]
AGAINST_NAIVE = [10_000 * 2 ** k for k in range(7)]
ENGINES = [n * 1000 for n in (50, 100, 200, 400, 800, 1000, 2000, 4000, 8000, 10_000, 20_000, 40_000)]
SMALL = {"size": [1000, 10_000, 100_000, *SIZES[:6]], "naive": AGAINST_NAIVE[:4], "engines": [50_000, 200_000, MILLION]}
FULL = {"size": [1000, 10_000, 100_000, *SIZES], "naive": AGAINST_NAIVE, "engines": ENGINES}
PER_PROCESSOR = 256


@dataclass
class Series:
    """A way to run the system at several sizes."""

    name: str
    title: str
    sizes: Sequence[int]
    steps: Callable[[int], int]
    engine: str = "gpu"
    ranks: Optional[int] = None
    package: Optional[Mapping[str, harness.Value]] = None


def within(low: int, value: float, high: int) -> int:
    return int(min(max(value, low), high))


def weak_sizes(processors: int) -> List[int]:
    """256 particles on each of 1, 2, 4 ... and all multiprocessors, and on the published numbers of them."""
    then = (1, 2, 4, 8, 17, 25, 33, 41, 49, 56)
    return [PER_PROCESSOR * k for k in sorted({*(k for k in then if k <= processors), processors // 2, processors})]


def all_series(full: bool, processors: int) -> List[Series]:
    sizes, cores = FULL if full else SMALL, gpu_runs.cores()

    def of_gpu(n: int) -> int:
        return within(100, 2e9 / n, 5000)

    def of_all_pairs(n: int) -> int:
        return within(2, 1e11 / n ** 2, 1000)

    def together(n: int) -> int:
        return within(30, 5e7 / n, 1000)

    made = [Series("size", "the engine as it is", sizes["size"], of_gpu),
            Series("weak", "256 particles a multiprocessor", weak_sizes(processors), of_gpu,
                   package={"block": PER_PROCESSOR}),
            Series("optimal", "the engine as it is", sizes["naive"], of_gpu),
            Series("naive", "all pairs on the GPU", sizes["naive"], of_all_pairs, engine="gpu-naive"),
            Series("openmp", f"{cores} threads", sizes["engines"], together, engine="openmp"),
            Series("gpu", "one GPU", sizes["engines"], together)]
    if not harness.mpi_missing():
        made.insert(-1, Series("mpi", f"{cores} ranks", sizes["engines"], together, engine="openmp", ranks=cores))
    return made


def last_row(timing: Timing) -> List[str]:
    return timing.result.table.rows[-1]


def word(name: str) -> str:
    """A name of `rungs` as the name of a rung: steps-sort."""
    return re.sub(r"\W+", "-", name)


def title_of(rung: Rung, ladder: Sequence[Rung]) -> str:
    """What a rung changes: the options of `package gpu` in which it differs from the rung that it is compared with."""
    if rung.against is None:
        return "all of these options off; a rebin every step"
    before = next(other.package for other in ladder if other.name == rung.against)
    return " ".join(f"{key} {value}" for key, value in rung.package.items() if before.get(key) != value)


def row_of_timing(name: str, timing: Timing, machine: str, threads: int, ok: bool) -> ladder_data.Row:
    nan = float("nan")
    ms = 1e3 * statistics.median(timing.seconds) / timing.steps
    return ladder_data.Row("cells", name, timing.particles, threads, ms, nan, nan, nan, nan, ok, machine)


def climb_rungs(climb, n: int, repeat: int, machine: str) -> None:
    """The rungs of `make ladder-cells`; a rung with another thermo row than the first is wrong."""
    options = argparse.Namespace(n=n, steps=within(20, 4e8 / n, 1000), repeat=repeat)
    ladder = rungs()
    for rung in ladder:
        climb_rung(rung, options)
        climb.rungs.append(ladder_data.Rung("cells", word(rung.name), word(rung.against or ""), title_of(rung, ladder)))
        if not rung.timing:
            climb.failures.append(f"cells/{rung.name}: {rung.failure.splitlines()[0]}")
            continue
        first = ladder[0].timing or rung.timing
        right = not rung.exact or last_row(rung.timing) == last_row(first)
        climb.rows.append(row_of_timing(word(rung.name), rung.timing, machine, 0, right))
        print(f"cells/{rung.name:22s} N {n:<9d}{climb.rows[-1].ms:12.4g} ms{'' if right else '  WRONG'}", flush=True)


def climb_series(climb, series: Series, repeat: int, gpu: str, host: str, ends: Dict[int, List[str]]) -> None:
    """One series. The engines that run the same steps of the same system must end with the same thermo row, `ends`."""
    on_gpu = series.engine != "openmp"
    climb.rungs.append(ladder_data.Rung("cells", f"series-{series.name}", "", series.title))
    for n in series.sizes:
        steps = series.steps(n)
        with tempfile.TemporaryDirectory(prefix="myriad-ladder-") as folder:
            try:
                timing = gpu_runs.timed(gpu_runs.repulsive(n), Path(folder), steps=steps, runs=repeat,
                                        warm=max(2, steps // 5), engine=series.engine, ranks=series.ranks,
                                        package=series.package, commands=gpu_runs.EXACT_THERMO)
            except gpu_runs.FAILURES as error:
                climb.failures.append(f"cells/{series.name} at N = {n}: {str(error).splitlines()[0]}")
                continue
        together = series.name in ("openmp", "mpi", "gpu")
        right = not together or ends.setdefault(n, last_row(timing)) == last_row(timing)
        climb.rows.append(row_of_timing(f"series-{series.name}", timing, gpu if on_gpu else host,
                                        0 if on_gpu else gpu_runs.cores(), right))
        print(f"cells/{series.name:22s} N {n:<9d}{climb.rows[-1].ms:12.4g} ms{'' if right else '  WRONG'}", flush=True)


def climb_kernels(climb, n: int, machine: str) -> None:
    """The time of a step in each kernel, for a pipeline like the published one: sorted by key, one kernel a task."""
    package = {**PLAIN, "sorted": "yes", "padded": "yes", "unrolled": "yes", "sort": "radix", "profile": "yes"}
    steps = within(20, 4e8 / n, 1000)
    with tempfile.TemporaryDirectory(prefix="myriad-ladder-") as folder:
        try:
            timing = gpu_runs.timed(gpu_runs.repulsive(n), Path(folder), steps=steps, runs=1, warm=max(2, steps // 5),
                                    package=package)
        except gpu_runs.FAILURES as error:
            climb.failures.append(f"cells/kernels: {str(error).splitlines()[0]}")
            return
    for kernel in timing.result.kernels:
        row = row_of_timing(f"kernel-{word(kernel.name)}", timing, machine, 0, True)
        row.ms = kernel.milliseconds / steps
        climb.rungs.append(ladder_data.Rung("cells", row.rung, "", kernel.name))
        climb.rows.append(row)


def climb_study(climb, options: argparse.Namespace, gpu: str, host: str) -> None:
    """The study `cells` of `make ladder`, with the program itself; adds to the rungs and rows of `climb`."""
    os.environ["MYRIAD"] = str(options.myriad.resolve())
    if harness.gpu_missing():
        climb.notes.append(f"The program's rungs and series of cells were left out: {harness.gpu_missing()}.")
        return
    found = re.search(r"^GPU 0:.* (\d+) multiprocessors", harness.information(), re.M)
    n = max(map(int, options.n.split(","))) if options.n else MILLION
    climb_rungs(climb, n, options.repeat, gpu)
    climb_kernels(climb, n, gpu)
    ends: Dict[int, List[str]] = {}
    for series in all_series(options.full, int(found.group(1)) if found else 1):
        climb_series(climb, series, options.repeat, gpu, host, ends)


def main(arguments: Sequence[str]) -> int:
    parser = gpu_runs.parser(__doc__)
    parser.add_argument("--n", type=int, default=4_000_000, help="particles (4000000)")
    parser.add_argument("--steps", type=int, default=300, help="of each timed run (300)")
    parser.add_argument("--repeat", type=int, default=3, help="timed runs of a rung (3)")
    parser.add_argument("--out", type=Path, default=Path("run"), help="folder of the results (run)")
    options = parser.parse_args(arguments)
    if min(options.n, options.steps, options.repeat) < 1:
        parser.error("--n, --steps and --repeat must be at least 1")
    gpu_runs.start(options)
    options.out.mkdir(parents=True, exist_ok=True)
    title = f"{gpu_runs.title()}; repulsive, {options.n} particles, {options.repeat} x {options.steps} steps"
    print(f"{title}\n")
    ladder, rows = rungs(), []
    for rung in ladder:
        climb_rung(rung, options)
        rows.append(row_of(rung, ladder))
        print(f"{rung.name:20s} {rows[-1][2]:>10s} ns  gain {rows[-1][3]}", flush=True)

    print()
    bench.write_text(sys.stdout, rows, HEADER)
    with (options.out / "ladder-cells.csv").open("w", encoding="utf-8") as file:
        bench.write_csv(file, rows, HEADER)
    with (options.out / "ladder-cells.md").open("w", encoding="utf-8") as file:
        bench.write_markdown(file, title, rows, header=HEADER)
    print(f"\n{options.out / 'ladder-cells.csv'}, {options.out / 'ladder-cells.md'}")
    wrong = differences(ladder)
    failed = [f"{rung.name} failed: {rung.failure}" for rung in ladder if not rung.timing]
    if not wrong and not failed:
        print("all rungs in double precision end with the same thermo row, to the last digit")
    for line in wrong + failed:
        print(f"ladder-cells: {line}", file=sys.stderr)
    return 1 if wrong or failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
