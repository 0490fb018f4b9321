#!/usr/bin/env python3
"""What each part of the cell pipeline is worth on a GPU: `make ladder-cells`.

One system, the two-dimensional repulsion, climbs from a plain pipeline to the engine's own in rungs that are
cumulative: each keeps everything of the rung before. Side branches then change one thing of the top rung, or of the
rung named.
Every rung is the same steps of the same system: a short run, then --repeat runs, of which the median counts. All but
the one in mixed precision must end with the same thermo row at 17 digits: no rung may change a bit.

Columns: nanoseconds of a particle-step; gain, the time of the rung it is compared with over its own; bytes of GPU
memory per particle. Results go to ladder-cells.csv and ladder-cells.md in --out.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import List, Mapping, Optional, Sequence

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bench  # noqa: E402
import gpu_runs  # noqa: E402
import harness  # noqa: E402
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


def climb(rung: Rung, options) -> None:
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
        climb(rung, options)
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
