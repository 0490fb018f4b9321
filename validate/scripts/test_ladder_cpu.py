"""build/ladder-cpu: every rung for a processor agrees with the oracle, on any number of threads; its command line."""

from __future__ import annotations

import csv
import os
import subprocess
from typing import Dict, List

import pytest

from harness import environment, program

LADDER = program().parent / "ladder-cpu"

pytestmark = pytest.mark.skipif(not LADDER.exists(), reason=f"{LADDER} is not built")

HEADER = ["study", "rung", "n", "threads", "ms", "interactions_per_s", "gflops", "error", "tolerance", "ok"]
SWEEP = {"omp1", "omp2", "omp3"}


def call(*words: str, expect: int = 0) -> subprocess.CompletedProcess:
    done = subprocess.run([str(LADDER), *words], env=environment(), capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode == expect, done.stdout + done.stderr
    return done


def rows(*words: str) -> List[Dict[str, str]]:
    reader = csv.DictReader(call(*words, "--repeat", "3").stdout.splitlines())
    found = list(reader)
    assert reader.fieldnames == HEADER
    return found


def listed() -> List[List[str]]:
    return [line.split(",") for line in call("--list").stdout.splitlines()]


def test_list_names_each_rung_and_the_one_before():
    first, *rungs = listed()
    assert first == ["study", "rung", "before", "title"] and all(len(rung) == 4 for rung in rungs)
    assert [rung[:3] for rung in rungs] == [
        ["activity", "cpu-one-core", ""], ["activity", "cpu-openmp", "cpu-one-core"],
        ["laboratory", "sequential", ""], ["laboratory", "omp1", "sequential"], ["laboratory", "omp2", "omp1"],
        ["laboratory", "omp3", "omp2"], ["porting", "cpu-thread", ""]]


@pytest.mark.smoke
def test_every_rung_is_right_on_any_number_of_threads():
    found = rows("-n", "2,3,300", "--threads", "3")
    assert all(row["ok"] == "yes" and float(row["error"]) <= float(row["tolerance"]) == 2e-5 for row in found), found
    for study, name, _, _ in listed()[1:]:
        own = [row for row in found if (row["study"], row["rung"]) == (study, name)]
        counts = {"1", "2", "3"} if name in SWEEP else {"3"} if name == "cpu-openmp" else {"1"}
        assert {(row["n"], row["threads"]) for row in own} == {(n, t) for n in ("2", "3", "300") for t in counts}, name


def test_rates_follow_from_the_time():
    for row in rows("laboratory/omp2", "-n", "700", "--threads", "1"):
        rate = 700 * 700 / (float(row["ms"]) * 1e-3)
        assert float(row["interactions_per_s"]) == pytest.approx(rate, rel=1e-4)
        assert float(row["gflops"]) == pytest.approx(20 * rate * 1e-9, rel=1e-4)


def test_studies_and_rungs_are_chosen():
    assert {row["study"] for row in rows("porting", "activity", "-n", "50")} == {"porting", "activity"}
    assert [row["rung"] for row in rows("laboratory/sequential", "-n", "50")] == ["sequential"]


def test_sums_do_not_depend_on_the_threads_where_a_body_has_one():
    """A body of omp2 and omp3 is summed by one thread: the error is the same to every digit that is printed."""
    errors = {row["error"] for row in rows("laboratory/omp2", "laboratory/omp3", "-n", "400", "--threads", "4")}
    assert len(errors) == 1


@pytest.mark.parametrize("words", [["--threads"], ["--threads", "0"], ["--threads", "2x"], ["--threads", "-1"],
                                   ["--threads", "99999999999"], ["-n"], ["-n", "1"], ["-n", "10,"], ["-n", "ten"],
                                   ["--repeat", "2"], ["--repeat"], ["cells"], ["activity/omp1"], ["--wrong"]])
def test_wrong_words_are_refused(words):
    done = call(*words, expect=2)
    assert done.stdout == "" and done.stderr.startswith("ladder-cpu: ") and done.stderr.count("\n") == 1


def test_help():
    text = call("--help").stdout
    assert text.startswith("usage: ladder-cpu") and "--threads T" in text and "-n N[,N...]" in text


def test_a_full_disk_is_no_success():
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([str(LADDER), "porting", "-n", "50"], env=environment(), stdout=full,
                              stderr=subprocess.PIPE, timeout=120, check=False)
    assert done.returncode == 1
