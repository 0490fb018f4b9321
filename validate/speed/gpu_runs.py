"""Functions that all scripts for a GPU use: systems of every size, timed runs, and files of results.

A measured deck is one of inputs/ with its `run` replaced by a short run, in which CUDA loads the kernels and the
engine finds its intervals, and then the runs that are timed, in the same process so that the particles need making
only once.  A run's time is the program's own "Loop time of".

The repulsive system warms up by 4 % in 1000 steps (its cutoff is sharp), so each of its runs begins with the deck's
velocities again; runs of more than some thousand steps would measure another temperature.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, List, Mapping, Optional, TextIO

import bench
import harness

# The exceptions of a failed run: its status, its log, its time.
FAILURES = (AssertionError, OSError, ValueError, subprocess.TimeoutExpired)

EXACT_THERMO = "thermo_style custom step temp pe ke etotal press momx momy momz\nthermo_modify format float %.17g\n"


@dataclass(frozen=True)
class System:
    """A deck of inputs/ at one size."""

    name: str
    deck: str
    variables: Mapping[str, harness.Value]
    particles: int
    before_run: str = ""  # commands that bring the system back to the deck's temperature

    def text(self, commands: str) -> str:
        """The deck with `commands` in place of its run."""
        return harness.deck_with(harness.INPUTS / self.deck, commands)


def short(n: int) -> str:
    """A count in a short form: 1e7, 5e8, 2.1M."""
    mantissa, exponent = f"{n:.0e}".split("e")
    return f"{mantissa}e{int(exponent)}" if float(f"{n:.0e}") == n else f"{n / 1e6:.3g}M"


def repulsive(n: int) -> System:
    return System(f"repulsive {short(n)}", "in.repulsive-bench", {"n": n}, n, "velocity all uniform -1 1 1\n")


def melt(x: int, y: int, z: int) -> System:
    n = 32000 * x * y * z
    return System(f"in.lj {n / 1e6:.3g}M", "in.lj", {"x": x, "y": y, "z": z}, n)


@dataclass
class Timing(bench.Timed):
    """The timed runs of one process."""

    particles: int
    steps: int
    seconds: List[float]
    result: harness.Result


def timed(system: System, folder: Path, *, steps: int, runs: int, warm: int, commands: str = "", engine: str = "gpu",
          ranks: Optional[int] = None, package: Optional[Mapping[str, harness.Value]] = None,
          timeout: float = 600.0) -> Timing:
    """Runs `warm` steps and then `runs` times `steps`, on all cores and the GPU, or on `ranks` ranks of one thread."""
    text = system.text(commands + f"run {warm}\n" + f"{system.before_run}run {steps}\n" * runs)
    result = harness.run(text, folder, engine=engine, package=package, threads=1 if ranks else cores(), ranks=ranks,
                         variables=system.variables, timeout=timeout)
    loops = result.loops[1:]
    assert len(loops) == runs, f"{system.name}: {len(loops)} runs in the log, not {runs}"
    assert all((loop.steps, loop.particles) == (steps, system.particles) for loop in loops), loops
    return Timing(system.particles, steps, [max(loop.seconds, 1e-9) for loop in loops], result)


def cores() -> int:
    return len(os.sched_getaffinity(0))


def parser(description: Optional[str]) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=(description or "").split("\n\n")[0])
    made.add_argument("--myriad", type=Path, metavar="PROGRAM", help="the program (default: $MYRIAD, or build/myriad)")
    return made


def start(options: argparse.Namespace) -> None:
    """Chooses the program; without a GPU says so and ends with status 1."""
    if options.myriad:
        os.environ["MYRIAD"] = str(options.myriad.resolve())
    if harness.gpu_missing():
        sys.exit(f"{Path(sys.argv[0]).name}: {harness.gpu_missing()}")


def title(commit: str = "") -> str:
    """GPU, host, date and commit, as every published figure needs them."""
    return (f"{harness.gpu_name()}, host {bench.processor()} with {cores()} cores, {datetime.date.today()}, "
            f"commit {commit or bench.commit()}")


def put(path: Path, marker: str, write: Callable[[TextIO], None]) -> None:
    """Writes Markdown between `<!-- marker -->` and `<!-- /marker -->` of a file; without them, as the whole file."""
    begin, end = f"<!-- {marker} -->\n", f"<!-- /{marker} -->"
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    found = re.search(re.escape(begin) + ".*?" + re.escape(end), old, re.S)
    with path.open("w", encoding="utf-8") as file:
        if found:
            file.write(old[:found.start()] + begin)
            write(file)
            file.write(end + old[found.end():])
        else:
            write(file)
