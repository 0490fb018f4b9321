"""The ladder on a GPU: every rung on the CPU, thread by thread, against its oracle; and the command line.

`make check-emulated` builds the program of which LADDER is the path. It is the ladder's source, translated.
"""

from __future__ import annotations

import csv
import io
import math
import os
import subprocess
from pathlib import Path
from typing import Dict, List

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("LADDER", str(ROOT / "build" / "ladder-emulated"))
HEADER = "study,rung,n,threads,ms,interactions_per_s,gflops,error,tolerance,ok"

pytestmark = pytest.mark.skipif(not os.access(PROGRAM, os.X_OK), reason=f"{PROGRAM} is not built")


def ladder(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=60, check=False)


def rows(text: str) -> List[Dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def listed() -> List[Dict[str, str]]:
    done = ladder("--list")
    assert done.returncode == 0 and done.stdout.startswith("study,rung,before,title\n")
    return rows(done.stdout)


# Less than a tile, a tile and one body more, no multiple of a warp, and one of all blocks.
@pytest.mark.parametrize("n", [2, 33, 129, 300, 513, 1024])
def test_every_rung_agrees_with_the_oracle(n):
    done = ladder("-n", str(n), "--repeat", "3")
    assert done.stdout.startswith(HEADER + "\n")
    got = rows(done.stdout)
    assert [(row["study"], row["rung"]) for row in got] == [(row["study"], row["rung"]) for row in listed()]
    for row in got:
        assert row["n"] == str(n) and row["ok"] == "yes", row
        assert float(row["error"]) <= float(row["tolerance"]) <= 1e-4, row
        assert float(row["ms"]) > 0.0, row
        rate = math.nan if row["study"] == "cells" else n * n / (float(row["ms"]) * 1e-3)
        assert float(row["interactions_per_s"]) == pytest.approx(rate, rel=1e-4, nan_ok=True)
    assert done.returncode == 0, done.stderr


def test_the_rung_before_stands_before():
    seen = set()
    for row in listed():
        assert row["before"] == "" or (row["study"], row["before"]) in seen, row
        assert (row["study"], row["rung"]) not in seen, row
        assert row["title"]
        seen.add((row["study"], row["rung"]))
    assert {study for study, _ in seen} == {"activity", "atomics", "cells", "laboratory", "porting"}


def test_every_file_of_a_study_is_a_rung_that_its_head_lists():
    for study in {row["study"] for row in listed()}:
        folder = ROOT / "gpu" / "ladder" / study
        head = (folder / f"{study}.cuh").read_text()
        for path in folder.glob("*.cu"):
            assert f" {path.name} " in head, path
            assert len(path.read_text().splitlines()) <= 75, path


def test_the_cpu_sums_its_share():
    """Enough stars for the CPU to have more of them than the GPU's last block would reach."""
    done = ladder("porting/hybrid", "-n", "1500", "--repeat", "3")
    assert [row["ok"] for row in rows(done.stdout)] == ["yes"]
    assert int(rows(done.stdout)[0]["threads"]) > 0


def test_one_rung_and_several_sizes():
    done = ladder("activity/soa", "atomics/naive", "-n", "40,50", "--repeat", "3")
    assert done.returncode == 0
    assert [(row["rung"], row["n"]) for row in rows(done.stdout)] == [("soa", "40"), ("soa", "50"), ("naive", "40"),
                                                                      ("naive", "50")]


@pytest.mark.parametrize("words", [["nonsense"], ["activity/nonsense"], ["activity/"], ["activitysoa"], ["-n", "0"],
                                   ["-n", "1"], ["-n", "-5"], ["-n", "10,"], ["-n", "10x"], ["-n"], ["-n", "9" * 30],
                                   ["--repeat", "2"], ["--repeat"], ["--nonsense"]])
def test_wrong_words_are_refused(words):
    done = ladder(*words)
    assert done.returncode == 2
    assert done.stdout == "" and done.stderr.startswith("ladder-gpu: ")


def test_help():
    done = ladder("--help")
    assert done.returncode == 0 and done.stdout.startswith("usage: ladder-gpu ")
