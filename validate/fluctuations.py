#!/usr/bin/env python3
"""Means and variances of T, P and V of a fluid under fix nvt and fix npt, by lmp and by Myriad.

Both run validate/decks/lammps/in.lammps-fluctuations.  An error is that of the mean of 25 blocks of samples of
each run.  With two runs of 250000 steps of 4000 particles a program takes some six minutes of one core for each
ensemble, and ratios of variances have errors of 2 %.

Prints the rows of the table in docs/reference/physics.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import List, Tuple

import numpy as np

import harness

COLUMNS = {"nvt": ("T", "P"), "npt": ("T", "P", "V")}
BLOCKS = 25


def moments(runs: List[np.ndarray]) -> Tuple[float, float, float, float]:
    """Mean and variance of the samples of all runs, each with its error."""
    samples = np.concatenate(runs)
    blocks = np.concatenate([run[:len(run) // BLOCKS * BLOCKS].reshape(BLOCKS, -1) for run in runs])
    squares = ((blocks - samples.mean()) ** 2).mean(1)
    error = len(blocks) ** -0.5
    return samples.mean(), blocks.mean(1).std(ddof=1) * error, samples.var(), squares.std(ddof=1) * error


def samples_of(program: str, ensemble: str, seed: int, steps: int, folder: Path) -> np.ndarray:
    out = folder / f"{Path(program).name}.{ensemble}.{seed}.txt"
    knobs = {"ensemble": ensemble, "seed": seed, "steps": steps, "out": out}
    words = [word for name, value in knobs.items() for word in ("-var", name, str(value))]
    done = subprocess.run([program, "-in", str(harness.deck("in.lammps-fluctuations")), "-log", "none",
                           "-screen", "none", *words], cwd=folder, env=dict(os.environ, OMP_NUM_THREADS="1"),
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{program}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return np.loadtxt(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--myriad", default="build/myriad")
    parser.add_argument("--steps", type=int, default=250000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[4711, 815], help="of velocities: a run each")
    given = parser.parse_args()
    lmp = shutil.which("lmp")
    if lmp is None:
        sys.exit("lmp is not installed")
    programs = [lmp, str(Path(given.myriad).resolve())]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        for ensemble, columns in COLUMNS.items():
            runs = [(program, ensemble, seed, given.steps, Path(folder))
                    for program in programs for seed in given.seeds]
            done = list(pool.map(samples_of, *zip(*runs)))
            theirs, ours = done[:len(given.seeds)], done[len(given.seeds):]
            for column, name in enumerate(columns, 1):
                a, b = (moments([run[:, column] for run in runs]) for runs in (theirs, ours))
                for what, at in (("mean", 0), ("variance", 2)):
                    error = np.hypot(a[at + 1] / a[at], b[at + 1] / b[at])
                    print(f"| `{ensemble}` | {what} of {name} | {a[at]:.5g} | {b[at]:.5g} "
                          f"| {b[at] / a[at]:.4f} ± {error:.4f} |")


if __name__ == "__main__":
    main()
