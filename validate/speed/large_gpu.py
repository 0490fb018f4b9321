#!/usr/bin/env python3
"""The GPU engine against the OpenMP engine where counts outgrow their types: the same bits at 2^21, 2^24 and 10^8.

Numbers just above 2^21 and 2^24 are where indices packed with other things, single-precision counts and short keys
give out; at 10^8 so do 32-bit byte offsets and products. Naive would take weeks, but the OpenMP engine has been
compared with it. Each system runs a few dozen steps with both; then the thermo table (energies, pressure, temperature,
momenta at 17 digits) must be the same text, and the files the same bytes: up to 2^24 a dump of all
positions and velocities, which fixes the state; above that a picture of 4 million pixels, whose counts the GPU
makes without a download. Files are compared as they are, unread.

Memory: 10^8 particles take about 15 GB on the host, and what `myriad plan` says on the GPU; --largest leaves out what
does not fit.
Exit status: 0 all the same, 1 a difference, a failed run, or no GPU.
"""

from __future__ import annotations

import filecmp
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import List, Mapping, Sequence, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import gpu_runs  # noqa: E402
import harness  # noqa: E402
from gpu_runs import EXACT_THERMO, System, melt, repulsive  # noqa: E402

# One frame, of the end, is enough of a dump; pictures show the beginning too.
DUMP = "run {steps}\ndump check all custom {steps} check.dump id x y vx vy\nrun 0\n"
DUMP_3D = "run {steps}\ndump check all custom {steps} check.dump id x y z vx vy vz fx fy fz\nrun 0\n"
PICTURE = "dump check all density {steps} check.*.png 2000\nrun {steps}\n"

Ways = Sequence[Tuple[str, Mapping[str, harness.Value]]]
BOTH: Ways = (("gpu", {}), ("gpu-symmetric", {}))


@dataclass(frozen=True)
class Case:
    system: System
    steps: int
    commands: str  # the run, and the file it is judged by
    ways: Ways


CASES: Sequence[Case] = (
    Case(repulsive(2**21 + 1), 60, DUMP, (*BOTH, ("gpu", {"neighbours": "list"}),
                                          ("gpu", {"neighbours": "cells", "sort": "radix", "sorted": "no"}))),
    Case(melt(2, 3, 11), 40, DUMP_3D, (*BOTH, ("gpu", {"neighbours": "cells"}))),
    Case(repulsive(2**24 + 1), 30, DUMP, BOTH),
    Case(repulsive(10**8), 10, PICTURE, BOTH),
)


def run(case: Case, engine: str, package: Mapping[str, harness.Value], folder: Path) -> harness.Result:
    commands = EXACT_THERMO + f"thermo {max(1, case.steps // 2)}\n" + case.commands.format(steps=case.steps)
    return harness.run(case.system.text(commands), folder, engine=engine, package=package,
                       threads=gpu_runs.cores(), variables=case.system.variables, timeout=600)


def differences(folder: Path, expected: harness.Result, place: Path, got: harness.Result) -> List[str]:
    found = []
    ours, theirs = ([row for table in result.tables for row in table.rows] for result in (expected, got))
    for a, b in zip(ours, theirs):
        if a != b:
            found.append(f"thermo differs: {' '.join(a)} and {' '.join(b)}")
    if len(ours) != len(theirs):
        found.append("thermo differs in the number of rows")
    names = sorted(path.name for path in folder.glob("check.*"))
    assert names, "no file to compare"
    for name in names:
        if not (place / name).exists() or not filecmp.cmp(folder / name, place / name, shallow=False):
            found.append(f"{name} differs")
    return found


def compare(case: Case, folder: Path) -> int:
    """Runs one case; returns how many ways differ or failed."""
    began = time.monotonic()
    expected = run(case, "openmp", {}, folder / "openmp")
    assert float(expected.table.rows[-1][0]) == case.steps
    print(f"{case.system.name:18s} {case.system.particles:>11d}  openmp{'':36s} {time.monotonic() - began:6.1f} s",
          flush=True)
    bad = 0
    for engine, package in case.ways:
        began, place = time.monotonic(), folder / "gpu"
        try:
            wrong = differences(folder / "openmp", expected, place, run(case, engine, package, place))
        except gpu_runs.FAILURES as error:
            wrong = [str(error)]
        words = " ".join([engine, *(f"{k} {v}" for k, v in package.items())])
        print(f"{case.system.name:18s} {case.system.particles:>11d}  {words:42s} {time.monotonic() - began:6.1f} s  "
              f"{'DIFFERENT' if wrong else 'identical'}", flush=True)
        for line in wrong:
            print(f"    {line}")
        bad += bool(wrong)
        shutil.rmtree(place, ignore_errors=True)
    return bad


def main(arguments: Sequence[str]) -> int:
    parser = gpu_runs.parser(__doc__)
    parser.add_argument("--largest", type=int, metavar="N", default=10**8,
                        help="only systems of at most N particles (1e8)")
    parser.add_argument("--scratch", type=Path, metavar="DIR", help="where dumps of 2 GB find room (the system's /tmp)")
    options = parser.parse_args(arguments)
    gpu_runs.start(options)
    cases = [case for case in CASES if case.system.particles <= options.largest]
    if not cases:
        parser.error(f"every system has more than {options.largest} particles")
    bad = 0
    for case in cases:
        with tempfile.TemporaryDirectory(prefix="myriad-large-", dir=options.scratch) as folder:
            try:
                bad += compare(case, Path(folder))
            except gpu_runs.FAILURES as error:
                print(f"{case.system.name}: {error}")
                bad += 1
    left = len(CASES) - len(cases)
    print(f"\n{f'{bad} runs differ or failed' if bad else 'all runs identical to openmp'}"
          + (f"; {left} systems of more than {options.largest} particles left out" if left else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
