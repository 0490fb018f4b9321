#!/usr/bin/env python3
"""Follows docs/extending.md to the letter: `make check-extending`.

In a copy of the tree it writes the page's files, adds the page's lines, each to the end of its list, and builds. Then
it runs the page's deck: naive against openmp with every instruction set, three ranks, and the GPU engine on the CPU (if
its emulated program can be built). It compares what they write, byte by byte.

The lists reach most files, so nearly all are compiled anew. The compilers do not optimise, because the deck is short:
this takes a quarter of the time. Results are the same bits without optimisation, too.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import List, Optional, Sequence

import harness

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "extending.md"
# gcc's header of vector instructions causes a warning in the vector kernels if it does not optimise.
FLAGS = ("CFLAGS=-O0", "KERNELS_OPTIMISE=-O0 -Wno-sign-conversion", "EMULATED_OPTIMISE=-O0")
# clang compiles the kernels in half of the time, if it is here. The program has gcc's library of OpenMP, and needs no
# second one: the few loops of the engine's host side run on one thread.
FASTER = ("CUDA_CXX=clang++", "EMULATED_OPTIMISE=-O0 -fno-openmp")
BLOCK = r"`(.+?)`:\n\n```\w+\n(.*?)```"


def copy_tree(folder: Path) -> None:
    """The parts that make needs, with nothing that has been built."""
    parts = ("Makefile", ".ci", "common", "src", "openmp", "gpu", "mpi", "validate", "inputs")
    for part in parts:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy2(source, folder / part)


def extend(folder: Path, page: str) -> List[str]:
    """Writes the files of the page and adds its lines. Returns the files that changed."""
    touched = []
    for name, text in re.findall("File " + BLOCK, page, re.S):
        assert not (folder / name).exists(), f"{name} is there already"
        (folder / name).write_text(text)
        touched.append(name)
    for name, line in re.findall("Line in " + BLOCK, page, re.S):
        assert line.count("\n") == 1, f"more than a line for {name}"
        with open(folder / name, "a", encoding="utf-8") as file:
            file.write(line)
        touched.append(name)
    return touched


def run(words: Sequence[str], folder: Path, environment: dict) -> str:
    """The log of a run in a folder of its own, which must succeed. (mpirun gives ranks a terminal, where a slow run has
    a live line.)"""
    folder.mkdir()
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return (folder / "deck.log").read_text()


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(description="Follow docs/extending.md in a copy of the tree.")
    parser.add_argument("--make", default="make", help="the make to build with")
    options = parser.parse_args(arguments)
    page = PAGE.read_text(encoding="utf-8")
    deck = re.search(r"```lammps\n(.*?)```", page, re.S)[1]
    with tempfile.TemporaryDirectory(prefix="myriad-extending-") as name:
        folder = Path(name)
        tree = folder / "tree"
        tree.mkdir()
        copy_tree(tree)
        touched = extend(tree, page)
        assert len(touched) == 14, touched
        print("\n".join(f"  {path}" for path in touched), flush=True)
        jobs = f"-j{len(os.sched_getaffinity(0))}"
        flags = FLAGS + (FASTER if shutil.which("clang++") else ())
        for target in ("build/myriad", "emulated"):
            subprocess.run([options.make, "--no-print-directory", jobs, *flags, target], cwd=tree, check=True)
        (folder / "in.deck").write_text(deck)
        program, emulated = tree / "build" / "myriad", tree / "build" / "myriad-emulated"
        os.environ["MYRIAD"] = str(program)
        words = ["-in", str(folder / "in.deck"), "-log", "deck.log", "--threads", "2"]
        ways = {"naive": ([str(program), *words, "--engine", "naive"], harness.environment())}
        for isa in harness.instruction_sets():
            ways[f"openmp, {isa}"] = ([str(program), *words], harness.environment(isa))
        if not harness.mpi_missing():
            ways["3 ranks"] = ([*harness.mpirun(3), str(program), *words], harness.rank_environment())
        if emulated.exists():
            ways["gpu, emulated"] = ([str(emulated), *words, "--engine", "gpu"], harness.environment())
        expected = None
        bad = 0
        for place, (way, (command, environment)) in enumerate(ways.items()):
            out = run(command, folder / str(place), environment)
            assert "There are 864 particles" in out, out
            found = (folder / str(place) / "positions.txt").read_bytes()
            assert found.count(b"\n") == 3 * 864 + 2, "three frames, and a line between two of them"
            rows = [line.split() for line in re.search(r"Step PotEng .*?(?=Loop)", out, re.S)[0].splitlines()]
            assert len(rows) == 4 and all(len(row) == 6 for row in rows), rows
            wrote = (found, rows)
            expected = expected or wrote
            bad += wrote != expected
            print(f"{way:<16} {'identical' if wrote == expected else 'DIFFERENT'}", flush=True)
        for command, usage in (("fix", "friction DAMP"), ("fix", "kinetic N ENERGY"), ("fix", "shear F"),
                               ("compute", "ke/axis")):
            said = subprocess.run([program, "help", command], capture_output=True, text=True, check=True).stdout
            assert usage in said, said
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
