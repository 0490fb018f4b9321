#!/usr/bin/env python3
"""The GPU engine and the ladder under NVIDIA's compute-sanitizer: no error of memory, no race in shared memory.

Two small decks, the two-dimensional repulsion and the melt, with full and symmetric forces, from cells and from
lists, and all pairs; and decks whose fixes, output or pair styles have kernels of their own, each once. Each under
memcheck and racecheck; every count of errors must be 0, and a tool that says nothing has not passed. Particles are
few, but more than fill one block. Needs compute-sanitizer, which comes with CUDA: without it the script says so and
ends well, unless --need is given.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import List, Mapping, Sequence, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import gpu_runs  # noqa: E402
import harness  # noqa: E402

DECKS: Sequence[Tuple[str, Mapping[str, harness.Value]]] = (
    ("in.repulsive", {"n": 3000, "steps": 30, "every": 15}),
    ("in.melt", {"cells": 7, "steps": 30, "every": 15}),
)
WAYS: Sequence[Tuple[str, Mapping[str, harness.Value]]] = (
    ("gpu", {}),
    ("gpu", {"sort": "step"}),
    ("gpu-symmetric", {}),
    ("gpu", {"neighbours": "cells"}),
    ("gpu", {"neighbours": "cells", "fused": "no", "rebin": 1}),
    ("gpu", {"neighbours": "list", "rebin": "pairs", "skin": 0.1}),
    ("gpu", {"neighbours": "list", "sort": "radix"}),
    ("gpu-symmetric", {"neighbours": "list", "rebin": 1}),
    ("gpu-naive", {}),
)
TABLE = {"table": str(harness.REFERENCE / "made-up.table")}
COPPER = {"potential": str(harness.REFERENCE / "Cu_u3.eam")}
TELLURIDE = {"potential": f"{harness.REFERENCE / 'cadmium-telluride.sw'} Te Cd", "types": 2,
             "lattice": "diamond 6.482"}
ALLOY = {"style": "eam/fs", "potential": f"{harness.REFERENCE / 'made-up.eam.fs'} Xx Cu", "types": 2, "edge": 3.7}
# Fixes on forces and after steps, groups, the pressure's tensor, boxes that tilt or change, pair styles without a
# cutoff and those with kernels of their own.
SPECIAL: Sequence[Tuple[str, Mapping[str, harness.Value]]] = (
    ("in.forces", {"last": "aveforce NULL 0.1 NULL"}),
    ("in.basin", {}),
    ("in.scaled", {}),
    ("in.nvt", {}),
    ("in.heated", {}),
    ("in.groups", {}),
    ("in.slab", {}),
    ("in.gravity", {}),
    ("in.gravity", {"dim": 2, "z": "p"}),
    ("in.masses", {}),
    ("in.bowl", {}),
    ("in.springs", {}),
    ("in.slanted", {}),
    ("in.sheared", {}),
    ("in.barostat", {"kind": "npt"}),
    ("in.droplet", {}),
    ("in.excluded", {}),
    ("in.averages", {}),
    ("in.chains", {"data": str(harness.REFERENCE / "chains-216.data")}),
    ("in.dpd", {}),
    ("in.eam", COPPER),
    ("in.eam", ALLOY),
    ("in.three_body", TELLURIDE),
    ("in.hybrid", TABLE),
)
RUNS = ([(deck, knobs, way) for deck, knobs in DECKS for way in WAYS]
        + [(deck, {"steps": 20, "every": 10, **knobs}, WAYS[0]) for deck, knobs in SPECIAL])
SUMMARIES = {
    "memcheck": r"ERROR SUMMARY: (\d+) errors?",
    "racecheck": r"RACECHECK SUMMARY: (\d+) hazards?",
}
# With a number of bodies that fills no tile.
LADDER = ["-n", "700", "--repeat", "3"]
LADDER_SUMMARIES = {**SUMMARIES, "initcheck": SUMMARIES["memcheck"], "synccheck": SUMMARIES["memcheck"]}


def findings(tool: str, text: str) -> str:
    """The errors that a tool reports; empty if its summary is there and counts no error."""
    counts = re.findall(LADDER_SUMMARIES[tool], text)
    if counts and all(int(count) == 0 for count in counts):
        return ""
    lines = [line for line in text.splitlines() if line.startswith("=========")]
    return "\n".join(lines[:30]) or f"{tool} printed no summary:\n{text[-1000:]}"


def examine(sanitizer: str, tool: str, deck: str, knobs: Mapping[str, harness.Value], way,
            folder: Path) -> Tuple[str, str]:
    """The name of a run, and its errors."""
    engine, package = way
    name = " ".join([f"{tool:10s}", f"{deck:13s}", engine, *(f"{k} {v}" for k, v in package.items())])
    try:
        done = harness.run(harness.deck(deck), folder, engine=engine, package=package, variables=knobs, timeout=300,
                           wrapper=[sanitizer, "--tool", tool, "--target-processes", "all"])
        return name, findings(tool, done.out + done.err)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        return name, str(error)


def examine_ladder(sanitizer: str, tool: str, program: Path) -> Tuple[str, str]:
    """The same for all rungs of the ladder together. A rung that is wrong is an error too."""
    name = f"{tool:10s} {program.name}"
    try:
        done = subprocess.run([sanitizer, "--tool", tool, str(program), *LADDER], capture_output=True, text=True,
                              timeout=300, check=False)
        text = done.stdout + done.stderr
        return name, findings(tool, text) or (text[-1000:] if done.returncode else "")
    except subprocess.TimeoutExpired as error:
        return name, str(error)


def main(arguments: Sequence[str]) -> int:
    parser = gpu_runs.parser(__doc__)
    parser.add_argument("--need", action="store_true", help="fail if compute-sanitizer is not installed")
    options = parser.parse_args(arguments)
    gpu_runs.start(options)
    sanitizer = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
    if not sanitizer:
        print("compute-sanitizer is not installed (it comes with CUDA): nothing examined")
        return 1 if options.need else 0
    began, bad = time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="myriad-sanitize-") as folder, \
            ThreadPoolExecutor(gpu_runs.cores()) as pool:
        tasks: List = []
        for tool in SUMMARIES:
            for deck, knobs, way in RUNS:
                place = Path(folder) / str(len(tasks))
                tasks.append(pool.submit(examine, sanitizer, tool, deck, knobs, way, place))
        ladder = harness.program().parent / "ladder-gpu"
        if ladder.exists():
            tasks += [pool.submit(examine_ladder, sanitizer, tool, ladder) for tool in LADDER_SUMMARIES]
        for task in tasks:
            name, wrong = task.result()
            print(f"{'FAILED' if wrong else 'clean':7s} {name}", flush=True)
            if wrong:
                print(wrong)
                bad += 1
    print(f"\n{f'{bad} of' if bad else 'all'} {len(tasks)} runs {'failed' if bad else 'clean'}, "
          f"{time.monotonic() - began:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
