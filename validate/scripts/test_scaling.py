"""job-scripts/: studies from their runs to the report, the templates, binding, and what jobs do at their limit.

Runs are short; nothing here judges a speed.  make test-slurm passes the same scripts through a real batch system.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict, List, Mapping, Optional, Sequence

import pytest

from harness import INPUTS, SESSION_FOLDER, environment, information, program, session_folder

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "job-scripts"
sys.path.insert(0, str(SCRIPTS))

import scaling  # noqa: E402
import study as st  # noqa: E402

needs_plots = pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed")
needs_ranks = pytest.mark.skipif(shutil.which("mpirun") is None or "Ranks: not" in information()
                                 or "Ranks:" not in information(), reason="the program, or this machine, has no MPI")
needs_shellcheck = pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")


def variables(**more: str) -> Dict[str, str]:
    clean = {k: v for k, v in environment().items() if not k.startswith(("MYRIAD_", "SLURM_", "OMPI_", "PBS_", "LSB_"))}
    return {**clean, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            SESSION_FOLDER: session_folder(), **more}


def call(command: Sequence[object], cwd: Path, expect: int = 0, limit: float = 120.0,
         env: Optional[Mapping[str, str]] = None) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=env or variables(), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=limit, check=False)
    assert done.returncode == expect, f"{command}: status {done.returncode}, not {expect}\n{done.stdout}"
    return done.stdout


# ---------------------------------------------------------------------------------------------------- judging


def row(mode: str, ranks: int, n: int, energy: str, seconds: float = 1.0) -> st.Row:
    return {"mode": mode, "engine": "openmp", "ranks": str(ranks), "threads": "1", "gpus": "0", "N": str(n),
            "steps": "10", "wall_s": str(seconds), "wall_min_s": str(seconds), "wall_max_s": str(seconds),
            "repeats": "3", "particle_steps_per_s": str(n * 10 / seconds), "final_energy": energy}


ENERGY = "-4.6248960744723009"
NEXT = f"{math.nextafter(float(ENERGY), 0.0):.17g}"


def verdicts(rows: List[st.Row], tolerance: float = 0.0) -> List[str]:
    st.judge(rows, tolerance)
    return [r["verdict"] for r in rows]


def test_one_bit_is_wrong():
    assert NEXT != ENERGY and abs(float(NEXT) - float(ENERGY)) < 1e-15
    rows = [row("strong", p, 100, ENERGY) for p in (1, 2, 4)]
    assert verdicts(rows) == ["exact"] * 3
    rows[1]["final_energy"] = NEXT
    assert verdicts(rows) == ["exact", "WRONG", "exact"]
    assert verdicts(rows, 1e-12) == ["exact"] * 3


def test_of_two_the_fewer_ranks_are_right_and_a_majority_against_them():
    assert verdicts([row("strong", 1, 100, ENERGY), row("strong", 2, 100, NEXT)]) == ["exact", "WRONG"]
    rows = [row("strong", 1, 100, NEXT), row("size", 1, 100, NEXT), row("weak", 2, 100, ENERGY),
            row("strong", 4, 100, ENERGY)]
    assert verdicts(rows) == ["WRONG", "WRONG", "exact", "exact"]


def test_other_sizes_are_other_series():
    assert verdicts([row("weak", 1, 100, ENERGY), row("weak", 2, 200, NEXT)]) == ["exact"] * 2


@pytest.mark.parametrize("energy", ["nan", "inf", "", f"{ENERGY} / {NEXT}", "-4.6e"])
def test_an_energy_that_is_none(energy):
    assert verdicts([row("weak", 1, 100, energy)]) == ["WRONG"]


def test_efficiency_is_that_of_the_series():
    rows = [row("strong", 2, 100, ENERGY, 4.0), row("strong", 4, 100, ENERGY, 2.5), row("weak", 1, 50, ENERGY, 1.0),
            row("weak", 2, 100, ENERGY, 1.25), row("size", 1, 100, ENERGY)]
    st.judge(rows)
    assert [r.get("efficiency") for r in rows] == ["1.0000", "0.8000", "1.0000", "0.8000", None]


def test_fit():
    x = [1e4, 2e4, 1e5]
    fit = st.fit_power(x, [3.0 * v**1.1 for v in x])
    assert fit.slope == pytest.approx(1.1) and 10**fit.intercept == pytest.approx(3.0) and fit.r2 == pytest.approx(1.0)
    assert st.fit_power(x, [3.0, 9.0, 4.0]).r2 < 0.9
    assert st.fit_power([5.0, 5.0], [1.0, 2.0]) is None


# --------------------------------------------------------------------------------------------------- planning


@pytest.mark.parametrize("n", [1000, 32000, 200_000, 16_000_000, 1_000_000_007])
def test_cells_nearest_to_a_number(n):
    a, b, c = scaling.near_cube(n, 4.0)
    assert abs(4 * a * b * c / n - 1.0) < (0.03 if n < 10_000 else 0.005) and a <= c + 12
    deck = scaling.Deck(INPUTS / "in.lj")
    assert deck.actual(n, 32000) == 4 * a * b * c
    assert [float(v) * 20 for v in deck.variables(n, 32000).values()] == [a, b, c]


def test_decks_are_made_ready(tmp_path):
    assert "run\t\t${steps}\n" in scaling.Deck(INPUTS / "in.lj").ready()
    assert scaling.Deck(INPUTS / "in.repulsive-bench").ready().startswith("# ")
    deck = tmp_path / "deck"
    deck.write_text("run 10\nrun 20\n")
    with pytest.raises(st.Failure, match="one `run`"):
        scaling.Deck(deck).ready()


def test_index_ranges():
    assert scaling.index_ranges([4, 2, 3, 7]) == "2-4,7" and scaling.index_ranges([0]) == "0"


def test_logs_of_one_rank_and_of_several():
    log = """Loop time of 2.5 on 4 procs for 10 steps with 100 atoms

99.4% CPU use with {ranks} MPI tasks x 2 OpenMP threads

{table}
Engine: openmp, avx512 instructions
Memory: 75.5 bytes per particle

scaling-final-energy -4.5
"""
    one = st.read_log(log.format(ranks=1, table="Section |    time    | %total\n---\nBin     | 0.25       |   1.09\n"))
    assert (one.seconds, one.steps, one.particles, one.ranks, one.phases) == (2.5, 10, 100, 1, {"Bin": 0.25})
    assert one.comm == {}
    assert (one.imbalance, one.bytes_per_particle, one.energy) == (1.0, 75.5, "-4.5")
    table = ("Section   |  min time  |  avg time  |  max time  | max/avg | %total\n---\n"
             "Force     | 1 | 2 | 3 | 1.5 |   4\n"
             "Comm      | 5 | 6 | 9 | 1.5 |   4\n  halo    | 1 | 2.5 | 3 | 1.2 |   4\n"
             "  reduce  | 1 | 3.5 | 6 | 1.7 |   4\n\n"
             "Particles of a rank: 50 ave 55 max 45 min, imbalance 1.1\n")
    many = st.read_log(log.format(ranks=2, table=table))
    assert many.ranks == 2 and many.phases == {"Force": 2.0, "Comm": 6.0} and many.imbalance == 1.1
    assert many.comm == {"halo": 2.5, "reduce": 3.5}
    with pytest.raises(st.Failure, match="final energy"):
        st.read_log(log.format(ranks=1, table="").replace("scaling-", ""))


# -------------------------------------------------------------------------------------------------- the study

STUDY = ["--n", "2000", "--steps", "30", "--repeat", "1", "--threads", "1", "--sizes", "1000 2000"]


# The study as the script makes it, with a report without plots, which would be most of its time.
WITHOUT_PLOTS = f"""
import sys
sys.path.insert(0, {str(SCRIPTS)!r})
import plots, scaling
plots.draw_all = lambda *_: []
sys.exit(scaling.main(sys.argv[1:]))
"""


def scale(folder: Path, *words: object, expect: int = 0, plots: bool = False) -> str:
    script = [SCRIPTS / "scaling.py"] if plots else ["-c", WITHOUT_PLOTS]
    return call([sys.executable, *script, "--myriad", program(), "--out", folder / "study", *STUDY, *words], folder,
                expect)


def results(folder: Path) -> List[st.Row]:
    with (folder / "study" / "results.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@needs_plots
@needs_ranks
def test_a_study_its_report_and_its_memory(tmp_path):
    said = scale(tmp_path, "--ranks", "1 2", plots=True)
    rows = results(tmp_path)
    assert list(rows[0])[:len(st.COLUMNS)] == st.COLUMNS
    assert [(r["mode"], r["ranks"], r["N"]) for r in rows] == [
        ("strong", "1", "2000"), ("strong", "2", "2000"), ("weak", "1", "2000"), ("weak", "2", "4000"),
        ("size", "1", "1000"), ("size", "1", "2000")]
    assert {r["verdict"] for r in rows} == {"exact"}
    assert len({r["final_energy"] for r in rows if r["N"] == "2000"}) == 1
    for r in rows:
        assert st.number(r, "wall_s") > 0.0 and st.number(r, "force_s") > 0.0
        assert st.number(r, "bytes_per_particle") > 42
        assert r["host"] and r["cpu"] and r["commit"] and st.number(r, "imbalance") >= 1.0
        kinds = [st.number(r, f"comm_{kind}_s") for kind in st.COMM]
        if r["ranks"] == "1":
            assert all(math.isnan(seconds) for seconds in kinds)
        else:
            assert sum(kinds) == pytest.approx(st.number(r, "comm_s"), rel=1e-3) and kinds[0] > 0.0
        rate = int(r["N"]) * 30 / st.number(r, "wall_s")
        assert math.isclose(st.number(r, "particle_steps_per_s"), rate, rel_tol=1e-4)
    study = tmp_path / "study"
    for name in ("time", "speedup", "efficiency", "phases", "cost"):
        assert (study / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "</svg>" in (study / f"{name}.svg").read_text()
        assert "![" in (study / "report.md").read_text() and f"({name}.svg)" in (study / "report.md").read_text()
    page = (study / "report.html").read_text()
    assert re.findall(r'src="([^"]{11})', page) == ["data:image/"] * 5
    assert "http" not in re.sub(r'src="[^"]*"', "", page)
    assert "| comm | comm halo |" in (study / "report.md").read_text()
    assert rows[0]["final_energy"] in page and "slope" not in page and "power" in page
    assert (study / "logs" / "r2-n2000.log").exists() and "[4/4]" in said

    # The same again: nothing is run, and nothing changes. More ranks: only those are run.
    assert "4 of 4 points are there already" in scale(tmp_path, "--ranks", "1 2")
    assert results(tmp_path) == rows
    said = scale(tmp_path, "--ranks", "1 2 3")
    assert "[2/2] weak: 3 ranks, N = 6000" in said and "[1/2] strong: 3 ranks, N = 2000" in said
    assert [r for r in results(tmp_path) if r["ranks"] != "3"] == rows

    # One bit of one energy.
    rows = results(tmp_path)
    wrong = next(r for r in rows if r["mode"] == "strong" and r["ranks"] == "2")
    wrong["final_energy"] = f"{math.nextafter(float(wrong['final_energy']), math.inf):.17g}"
    st.write_rows(study / "results.csv", rows)
    said = scale(tmp_path, "--ranks", "1 2 3", expect=1)
    assert "WRONG: strong, 2 ranks, N = 2000" in said
    assert [r["ranks"] for r in results(tmp_path) if r["verdict"] == "WRONG"] == ["2"]
    assert "FAILED: 1 of " in (study / "report.md").read_text() and 'class="bad"' in (study / "report.html").read_text()


@pytest.mark.parametrize("words", [("--n", "1e400"), ("--sizes", "1e400"), ("--repeat", "inf"), ("--fill", "nan"),
                                   ("--fill", "-1"), ("--tolerance", "nan")], ids=" ".join)
def test_numbers_that_are_none_are_refused(words, tmp_path):
    said = call([sys.executable, SCRIPTS / "scaling.py", "--out", tmp_path, *words], tmp_path, expect=2)
    assert f"argument {words[0]}: {words[1]} is not a" in said


@needs_plots
def test_what_does_not_belong_together_is_refused(tmp_path):
    scale(tmp_path, "--ranks", "1")
    said = scale(tmp_path, "--ranks", "1", "--n", "3000", expect=1)
    assert "N was another (2000, now 3000)" in said and "FRESH=yes" in said
    scale(tmp_path, "--ranks", "1", "--n", "3000", "--fresh")
    assert {r["N"] for r in results(tmp_path)} == {"3000", "1000", "2000"}
    (tmp_path / "study" / "study.json").unlink()
    assert "not emptied" in scale(tmp_path, "--ranks", "1", "--fresh", expect=1)


@needs_plots
def test_a_study_that_was_killed_goes_on(tmp_path):
    command = [sys.executable, "-c", WITHOUT_PLOTS, "--myriad", str(program()), "--out", str(tmp_path / "study"),
               "--ranks", "1", *STUDY, "--sizes", "1000 1500 2000 2500", "--repeat", "3"]
    first = subprocess.Popen(command, env=variables(), stdout=subprocess.DEVNULL, start_new_session=True)
    until = time.monotonic() + 60.0
    while not (tmp_path / "study" / "results.csv").exists() and time.monotonic() < until:
        time.sleep(0.01)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    before = results(tmp_path)
    assert 0 < len(before) < 6
    said = call(command, tmp_path)
    assert f"[1/{4 - len({r['N'] for r in before})}]" in said
    after = results(tmp_path)
    assert len(after) == 6
    kept = [r["wall_s"] for r in after if r["N"] in {b["N"] for b in before}]
    assert set(kept) == {r["wall_s"] for r in before}


@needs_plots
def test_a_point_that_fails_is_missing_and_named(tmp_path):
    deck = tmp_path / "deck"
    text = (INPUTS / "in.repulsive-bench").read_text()
    deck.write_text(text.replace("0.0005\n\nfix", "$(0.0005*(2*floor(1500/v_n)-1))\n\nfix"))
    said = scale(tmp_path, "--deck", deck, "--ranks", "1", "--sizes", "1000", "--mode", "strong", expect=1)
    assert "FAILED" in said and "timestep" in said and "MISSING: strong: 1 rank, N = 2000" in said
    assert [r["N"] for r in results(tmp_path)] == ["1000"]
    assert "INCOMPLETE" in (tmp_path / "study" / "report.md").read_text()


@needs_plots
def test_a_deck_whose_size_is_not_that_of_one(tmp_path):
    """N counts from x = y = z = 1, and not from what the deck says."""
    deck = tmp_path / "deck"
    deck.write_text((INPUTS / "in.lj").read_text().replace("x index 1", "x index 2"))
    assert deck.read_text() != (INPUTS / "in.lj").read_text()
    scale(tmp_path, "--deck", deck, "--ranks", "1", "--mode", "strong", "--n", "4000", "--sizes", "2048")
    assert [r["N"] for r in results(tmp_path)] == ["4000", "2048"]


@pytest.mark.parametrize("words, reason", [
    (["--", "--threads", "3"], "1 threads of a rank were wanted and 3 ran"),
    (["--var", "n=5"], "the study chooses the variable n, by N="),
    (["--var", "steps=7"], "the study chooses the variable steps, by STEPS=")], ids=" ".join)
def test_what_the_study_chooses_is_not_chosen_otherwise(words, reason, tmp_path):
    assert reason in scale(tmp_path, "--ranks", "1", "--mode", "strong", "--sizes", "2000", *words, expect=1)


def test_array_elements_leave_rows_that_the_next_reader_finds(tmp_path):
    points = [st.Point(1, 2000, ["strong", "weak"]), st.Point(1, 1000, ["size"])]
    deck = INPUTS / "in.repulsive-bench"
    study = st.Study(str(deck), "", str(program()), "", "abc", "openmp", 2000, 30, 1, 1, 1, [], {}, 0.0, points)
    study.save(tmp_path)
    for k in (1, 0):
        call([sys.executable, SCRIPTS / "scaling.py", "--measure", k, "--out", tmp_path], tmp_path)
    assert not (tmp_path / "results.csv").exists() and len(list((tmp_path / "points").iterdir())) == 2
    rows = st.gather(tmp_path, st.Study.load(tmp_path))
    assert [r["mode"] for r in rows] == ["strong", "weak", "size"] and not list((tmp_path / "points").iterdir())
    assert st.gather(tmp_path, study) == rows
    assert json.loads((tmp_path / "study.json").read_text())["points"][1]["n"] == 1000


# -------------------------------------------------------------------------------------------------- templates

SHAPES = {"gpu": ["--gpus", "1"], "node": ["--gpus", "4"], "nodes": ["--gpus", "8", "--nodes", "2"],
          "cpu": ["--ranks", "6", "--nodes", "2"]}


def fill(*words: object, expect: int = 0, **more: str) -> str:
    site = {"MYRIAD_CORES_PER_NODE": "24", "MYRIAD_GPUS_PER_NODE": "4", "MYRIAD_PYTHON": "python3", **more}
    return call([SCRIPTS / "submit", "--print", *words], ROOT, expect, env=variables(**site))


def filled(system: str, shape: str) -> str:
    return fill("inputs/in.lj", "--system", system, *SHAPES[shape], "--walltime", "2:00:00", "--", "-var", "x", "2 3",
                MYRIAD_ACCOUNT="ab12", MYRIAD_GPU_QUEUE="fat", MYRIAD_GPU_OPTIONS="--mem=0|--constraint=a&b")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("system", ["slurm", "pbs", "lsf"])
def test_every_template_is_filled(system, shape, tmp_path):
    script = filled(system, shape)
    assert not re.search(r"@[A-Z_]+@", script)
    path = tmp_path / "job.sh"
    path.write_text(script)
    call(["bash", "-n", path], tmp_path)
    gpus = 0 if shape == "cpu" else {"gpu": 1}.get(shape, 4)
    ranks = {"gpu": 1, "node": 4, "nodes": 8, "cpu": 6}[shape]
    per_node = min(ranks, 4) if gpus else 3
    assert f"JOB_RANKS={ranks} JOB_RANKS_PER_NODE={per_node} JOB_GPUS_PER_NODE={gpus}\n" in script
    assert f"-in inputs/in.lj -log lj.log --engine {'gpu' if gpus else 'openmp'} -var x 2\\ 3\n" in script
    cores = 6 if gpus else 8
    expected = {
        "slurm": ["--time=2:00:00", "--signal=B:USR1@120", "--requeue", f"--cpus-per-task={cores}"],
        "pbs": ["-l walltime=2:00:00", f"ncpus={cores * per_node}:mpiprocs={per_node}:ompthreads={cores}"],
        "lsf": ["-W 120", '-Q "85"', f"affinity[core({cores})]", f"-n {ranks}"],
    }[system]
    if gpus:
        expected += {"slurm": ["--gpus=1" if shape == "gpu" else "--gpus-per-node=4"], "pbs": [f":ngpus={gpus}"],
                     "lsf": [f'-gpu "num={gpus}:']}[system]
        expected += ["--mem=0", "--constraint=a&b", {"slurm": "--partition=fat"}.get(system, "-q fat")]
    expected.append({"slurm": "--account=ab12", "pbs": "-A ab12", "lsf": "-P ab12"}[system])
    head = [line for line in script.splitlines()
            if line.startswith({"slurm": "#SBATCH ", "pbs": "#PBS ", "lsf": "#BSUB "}[system])]
    for word in expected:
        assert any(word in line for line in head), word
    if not gpus:
        assert not any("gpu" in line for line in head)


@needs_shellcheck
def test_filled_templates_pass_shellcheck(tmp_path):
    for system in ("slurm", "pbs", "lsf"):
        for shape in SHAPES:
            (tmp_path / f"{system}-{shape}.sh").write_text(filled(system, shape))
    call(["shellcheck", "-x", *sorted(tmp_path.iterdir())], ROOT)


@needs_shellcheck
def test_scripts_pass_shellcheck():
    files = [path for path in SCRIPTS.rglob("*")
             if path.suffix in (".sh", ".env") or path.name in ("bind", "launch", "submit")]
    assert len(files) == 12 + 2 + 5
    call(["shellcheck", *files], ROOT)


def test_what_a_site_does_not_say_is_left_to_the_batch_system():
    script = fill("inputs/in.lj", "--system", "slurm")
    assert "partition" not in script and "account" not in script and "OPTION" not in script


def test_a_short_job_is_warned_late():
    assert "USR1@10\n" in fill("inputs/in.lj", "--system", "slurm", "--walltime", "0:01:00")


@pytest.mark.parametrize("words, reason", [
    (["inputs/in.none"], "cannot read"), ([], "which deck"),
    (["inputs/in.lj", "--gpus", "3", "--nodes", "2"], "evenly"),
    (["inputs/in.lj", "--gpus", "16", "--nodes", "2"], "MYRIAD_GPUS_PER_NODE"),
    (["inputs/in.lj", "--walltime", "2h"], "H:M:S"), (["inputs/in.lj", "--gpus", "x"], "whole number"),
    (["inputs/in.lj", "--nodes", "0"], "positive"), (["inputs/in.lj", "--frobnicate"], "no option"),
    (["inputs/in.lj", "--system", "cron"], "slurm, pbs or lsf"),
    (["inputs/in.lj", "--gpus", "2", "--ranks", "4"], "one rank a GPU"),
    (["inputs/in.lj", "--name", "a b"], "name"), (["inputs/in.lj", "inputs/in.mixture"], "one deck"),
    (["inputs/in.lj", "--name", "a\n#SBATCH --uid=0"], "name"), (["inputs/in.lj", "--walltime", "1:00:00\nx"], "H:M:S"),
    (["--study", "/tmp", "--array", "0\ntouch X"], "--array"),
    (["--study", "/tmp", "--after", "1\ntouch X"], "--after"),
])
def test_shapes_that_cannot_be(words, reason):
    assert reason in fill(*words, *([] if "--system" in words else ["--system", "slurm"]), expect=2)


@pytest.mark.parametrize("site", [
    {"MYRIAD_CPU_QUEUE": "a\ntouch X"}, {"MYRIAD_ACCOUNT": "a b"}, {"MYRIAD_CPU_OPTIONS": "--mem=0\ntouch X"},
    {"MYRIAD_WARNING": "x[$(touch X)]"}, {"MYRIAD_CORES_PER_NODE": "x[$(touch X)]"}, {"MYRIAD_GPUS_PER_NODE": "x"}])
def test_what_a_header_cannot_take_is_refused(site, tmp_path):
    for system in ("slurm", "pbs", "lsf"):
        assert next(iter(site)) in fill(INPUTS / "in.lj", "--system", system, expect=2, **site)
    assert not list(ROOT.glob("X"))


def test_options_within_values_are_none():
    script = fill(INPUTS / "in.lj", "--system", "slurm", "--gpus", "1", "--", "-var", "note", "a --engine b -log c")
    assert "--engine gpu" in script and "-log lj.log" in script
    script = fill(INPUTS / "in.lj", "--system", "slurm", "--", "--engine", "naive", "-l", "my.log")
    assert "openmp" not in script and "lj.log" not in script


# Folders whose names are commands, options, quotes, and words of a template.
ODD_NAMES = ["a b co$(touch X)x `touch X`", "q'\"\"'q new\nline; touch X", "@NAME@ @SCRIPT@ $HOME \\x * %j", "-n",
             "a;touch X&touch X|touch X>X"]

ARGUMENTS = """#!/usr/bin/env python3
import json, os, sys
with open(os.environ["SAID"], "w") as file:
    json.dump(sys.argv[1:], file)
sys.exit(int(os.environ.get("END", 0)))
"""


def odd_checkout(folder: Path, name: str) -> Path:
    """A folder of that name with the scripts, a stand-in for the program, and a deck of that name."""
    checkout = folder / name
    for part in ("job-scripts", ".ci"):
        shutil.copytree(ROOT / part, checkout / part, ignore=shutil.ignore_patterns("__pycache__"))
    (checkout / "build").mkdir()
    for tool, text in (("build/myriad", ARGUMENTS), ("build/qsub", '#!/bin/sh\nprintf "%s" "$1" >"$SAID.qsub"\n')):
        (checkout / tool).write_text(text)
        (checkout / tool).chmod(0o755)
    (checkout / f"in.{name}").write_text("run 0\n")
    return checkout


def no_trace(folder: Path) -> bool:
    return not [path for path in folder.rglob("*") if path.name in ("X", "X&touch")]


@pytest.mark.parametrize("name", ODD_NAMES, ids=range(len(ODD_NAMES)))
@pytest.mark.parametrize("system", ["slurm", "pbs", "lsf"])
def test_names_are_not_executed(system, name, tmp_path):
    """A checkout, a deck and a value, all with that name: the program gets the words, and nothing else happens."""
    checkout = odd_checkout(tmp_path, name)
    said = tmp_path / "said"
    env = variables(MYRIAD_LAUNCHER="no-launcher", MYRIAD_PYTHON="python3", MYRIAD_CORES_PER_NODE="1", SAID=str(said),
                    END="85" if system == "pbs" else "0", PBS_O_WORKDIR=str(checkout),
                    PATH=f"{checkout / 'build'}:{os.environ['PATH']}")
    script = call([checkout / "job-scripts" / "submit", f"./in.{name}", "--system", system, "--name", "odd",
                   "--print", "--", "-var", "t", name, "-var", "u", "@NAME@"], checkout, env=env)
    (tmp_path / "job").write_text(script)
    call(["bash", "--posix", "-n", tmp_path / "job"], tmp_path)
    call(["bash", tmp_path / "job"], checkout, int(env["END"]), env=env)
    assert json.loads(said.read_text()) == ["-in", f"./in.{name}", "-log", "odd.log", "--engine", "openmp", "-var", "t",
                                            name, "-var", "u", "@NAME@"]
    if system == "pbs":
        assert (tmp_path / "said.qsub").read_text() == f"{checkout}/odd.job.sh"
    assert no_trace(tmp_path)


@pytest.mark.parametrize("name", ODD_NAMES, ids=range(len(ODD_NAMES)))
def test_names_of_studies_are_not_executed(name, tmp_path):
    """An element of an array and the report run where they were submitted; sbatch runs in the study's folder."""
    checkout = odd_checkout(tmp_path, name)
    study = checkout / f"study {name}"
    study.mkdir()
    said = tmp_path / "said"
    python, sbatch = checkout / "build" / "python", checkout / "build" / "sbatch"
    python.write_text(ARGUMENTS.replace("sys.argv[1:]", "[os.getcwd(), *sys.argv[1:]]"))
    sbatch.write_text('#!/bin/sh\npwd >"$SAID.cwd"; cat >"$SAID.job"\n')
    for tool in (python, sbatch):
        tool.chmod(0o755)
    env = variables(MYRIAD_PYTHON=str(python), MYRIAD_CORES_PER_NODE="1", SAID=str(said), SLURM_ARRAY_TASK_ID="3",
                    PATH=f"{checkout / 'build'}:{os.environ['PATH']}")
    for words, tail in ((["--array", "0-3"], ["--measure", "3"]), (["--after", "12:13"], ["--report"])):
        call([checkout / "job-scripts" / "submit", "--study", study, "--system", "slurm", *words], checkout, env=env)
        assert (tmp_path / "said.cwd").read_text() == f"{study}\n"
        script = (tmp_path / "said.job").read_text()
        header = [line for line in script.splitlines() if line.startswith("#SBATCH")]
        assert str(study) not in "\n".join(header) and any("--output=" in line for line in header)
        call(["bash", tmp_path / "said.job"], study, env=env)
        assert json.loads(said.read_text()) == [str(checkout), f"{checkout}/job-scripts/scaling.py", *tail, "--out",
                                                str(study)]
    assert no_trace(tmp_path)


# ---------------------------------------------------------------------------------------------------- binding


def machine(folder: Path, gpu_nodes: Sequence[int]) -> Dict[str, str]:
    """A machine of two sockets with four cores of two threads each, as /sys and nvidia-smi show it.

    Linux numbers the threads so here: 0-3 and 8-11 the cores of socket 0, 4-7 and 12-15 of socket 1.
    """
    cpus = folder / "devices" / "system" / "cpu"
    for cpu in range(16):
        place = cpus / f"cpu{cpu}" / "topology"
        place.mkdir(parents=True)
        (place / "thread_siblings_list").write_text(f"{cpu % 8},{cpu % 8 + 8}\n")
    (cpus / "online").write_text("0-15\n")
    (folder / "devices" / "system" / "node").mkdir()
    (folder / "devices" / "system" / "node" / "online").write_text("0-1\n")
    near = {0: "0-3,8-11", 1: "4-7,12-15"}
    for node, cores in near.items():
        place = folder / "devices" / "system" / "node" / f"node{node}"
        place.mkdir(parents=True)
        (place / "cpulist").write_text(cores + "\n")
    lines = []
    for k, node in enumerate(gpu_nodes):
        place = folder / "bus" / "pci" / "devices" / f"0000:{k + 1}a:00.0"
        place.mkdir(parents=True)
        (place / "local_cpulist").write_text(near[node] + "\n")
        lines.append(f"{k}, GPU-{k}{k}, 00000000:{k + 1}A:00.0")
    tools = folder / "tools"
    tools.mkdir()
    (tools / "nvidia-smi").write_text("#!/bin/sh\ncat <<EOF\n" + "\n".join(lines) + "\nEOF\n")
    (tools / "nvidia-smi").chmod(0o755)
    return {"MYRIAD_SYS": str(folder), "PATH": f"{tools}:{os.environ['PATH']}", "MYRIAD_BIND": "say"}


def bound(folder: Path, env: Mapping[str, str], gpus: int, ranks: int, **more: str) -> List[str]:
    said = []
    for rank in range(ranks):
        place = {"OMPI_COMM_WORLD_LOCAL_RANK": str(rank), "OMPI_COMM_WORLD_LOCAL_SIZE": str(ranks)}
        out = call([SCRIPTS / "bind", gpus, "true"], folder, env=variables(**env, **place, **more))
        said.append(re.search(r"cores (\S+), (no GPU|GPU \d)", out).group(0))
    return said


def test_ranks_are_bound_to_the_cores_of_their_gpu(tmp_path):
    env = machine(tmp_path, [1, 0, 1, 0])
    assert bound(tmp_path, env, 4, 4) == ["cores 4,5, GPU 0", "cores 0,1, GPU 1", "cores 6,7, GPU 2",
                                          "cores 2,3, GPU 3"]
    assert bound(tmp_path, env, 4, 1) == ["cores 4,5,6,7, GPU 0"]
    # GPUs that the batch system hides do not count.
    assert bound(tmp_path, env, 2, 2, CUDA_VISIBLE_DEVICES="1,2") == ["cores 0,1,2,3, GPU 0", "cores 4,5,6,7, GPU 1"]
    assert bound(tmp_path, env, 1, 1, CUDA_VISIBLE_DEVICES="GPU-33") == ["cores 0,1,2,3, GPU 0"]


def test_ranks_without_gpus_share_the_cores_out(tmp_path):
    env = machine(tmp_path, [])
    assert bound(tmp_path, env, 0, 2) == ["cores 0,1,2,3, no GPU", "cores 4,5,6,7, no GPU"]
    assert bound(tmp_path, env, 0, 3) == ["cores 0,1, no GPU", "cores 2,3,4, no GPU", "cores 5,6,7, no GPU"]
    assert bound(tmp_path, env, 0, 16)[-1] == "cores 7, no GPU"


def test_binding_is_real():
    allowed = sorted(os.sched_getaffinity(0))
    place = {"OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_LOCAL_SIZE": str(len(allowed))}
    out = call([SCRIPTS / "bind", 0, "sh", "-c", "taskset -cp $$; echo threads $OMP_NUM_THREADS"], ROOT,
               env=variables(**place))
    assert re.search(rf"list: {allowed[0]}\n", out) and "threads 1\n" in out


def test_how_ranks_are_started(tmp_path):
    """Each launcher's words: how many, how many a node, and no binding but ours."""
    def launched(name: str, version: str, **more: str) -> str:
        tool = tmp_path / name
        tool.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo "{version}"; else printf "%s\\n" "$*"; fi\n')
        tool.chmod(0o755)
        env = variables(MYRIAD_LAUNCHER=str(tool), MYRIAD_LAUNCH_OPTIONS="--extra", **more)
        return call([SCRIPTS / "launch", 8, 4, 2, "prog", "a b"], tmp_path, env=env)

    tail = f"--extra {SCRIPTS}/bind 2 prog a b\n"
    ompi = launched("mpirun", "mpirun (Open MPI) 4.1.4", MYRIAD_PIN="yes")
    assert ompi.startswith("-n 8 --map-by ppr:4:node --bind-to none --oversubscribe ") and ompi.endswith(tail)
    assert " -x MYRIAD_PIN " in ompi and " -x PATH " in ompi and "MYRIAD_BIND" not in ompi
    assert launched("mpiexec", "HYDRA build details") == f"-n 8 -ppn 4 {tail}"
    assert launched("srun", "", SLURM_CPUS_PER_TASK="6") == (
        f"--ntasks=8 --ntasks-per-node=4 --cpu-bind=none --cpus-per-task=6 {tail}")
    said = call([SCRIPTS / "launch", 2, 2, 0, "true"], tmp_path, 1, env=variables(MYRIAD_LAUNCHER="no-launcher"))
    assert "2 ranks need no-launcher" in said


# ------------------------------------------------------------------------------------------------------- jobs

PROGRAM = """#!/usr/bin/env python3
# Ends with status 85 when it is signalled, and with 0 if it resumes.
import signal, sys, time

def stop(*_):
    print("signalled", flush=True)
    sys.exit(85)

print("words", *sys.argv[1:], flush=True)
if "--resume" in sys.argv:
    sys.exit(0)
signal.signal(signal.SIGUSR1, stop)
print("ready", flush=True)
time.sleep(20)
sys.exit(3)
"""


def job(folder: Path, system: str, walltime: str, expect: int, signalled: bool, stand_in: str = PROGRAM) -> str:
    """Runs a filled template as a batch system would, with commands of it that only say that they were called."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    for name, text in (("scontrol", "echo scontrol $*; kill -TERM $PPID"), ("qsub", "echo qsub $*"), ("mpirun", ""),
                       ("myriad", stand_in)):
        (tools / name).write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    env = variables(MYRIAD_PROGRAM=str(tools / "myriad"), MYRIAD_LAUNCHER="no-launcher", MYRIAD_PYTHON="python3",
                    PATH=f"{tools}:{os.environ['PATH']}", SLURM_JOB_ID="7", PBS_O_WORKDIR=str(folder),
                    MYRIAD_WARNING="100")
    script = folder / "job.sh"
    script.write_text(call([SCRIPTS / "submit", INPUTS / "in.lj", "--system", system, "--walltime", walltime,
                            "--print"],
                           folder, env=env))
    out = folder / "out"
    with out.open("w") as file:
        running = subprocess.Popen(["bash", str(script)], cwd=folder, env=env, stdout=file, stderr=subprocess.STDOUT)
        if signalled:
            until = time.monotonic() + 20.0
            while "ready" not in out.read_text() and time.monotonic() < until:
                time.sleep(0.02)
            running.send_signal(signal.SIGUSR1)
        assert running.wait(30) == expect, out.read_text()
    return out.read_text()


def test_slurm_signals_and_requeues(tmp_path):
    said = job(tmp_path, "slurm", "1:00:00", -signal.SIGTERM, signalled=True)
    assert "signalled" in said and "scontrol requeue 7" in said and "--resume" not in said
    assert (tmp_path / "lj.requeued").exists()
    said = job(tmp_path, "slurm", "1:00:00", 0, signalled=False)
    assert "--resume" in said and "scontrol" not in said and not (tmp_path / "lj.requeued").exists()


@pytest.mark.parametrize("system", ["pbs", "lsf"])
def test_where_the_job_itself_watches_the_clock(system, tmp_path):
    said = job(tmp_path, system, "0:00:03", 85, signalled=False)
    assert "the limit is near" in said and "signalled" in said
    assert (f"qsub {tmp_path}/lj.job.sh" in said) == (system == "pbs")
    assert "--resume" in job(tmp_path, system, "0:00:03", 0, signalled=False)


def test_a_run_that_fails_is_not_requeued(tmp_path):
    (tmp_path / "lj.requeued").touch()
    said = job(tmp_path, "slurm", "1:00:00", 3, signalled=False, stand_in=PROGRAM.replace("exit(0)", "exit(3)"))
    assert "requeue" not in said and not (tmp_path / "lj.requeued").exists()
