"""The report of the ladder, from made-up measurements: gains, published columns, plots, sentences, failures."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
import xml.dom.minidom
from pathlib import Path
from typing import Dict, List, Sequence
from unittest import mock

import pytest

import harness

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "job-scripts"))

pytest.importorskip("matplotlib")

import ladder as ladder_script  # noqa: E402
import ladder_data  # noqa: E402
import ladder_plots  # noqa: E402
from ladder_data import Ladder, Row, Rung  # noqa: E402

SCRIPT = harness.HERE / "speed" / "ladder.py"
H200, HOST = "NVIDIA H200", "Some processor, 16 cores"
# study, rung, before, (n, threads, ms) ...
MEASURED = [
    ("activity", "cpu-one-core", "", (1000, 1, 4.0), (16000, 1, 600.0)),
    ("activity", "cpu-openmp", "cpu-one-core", (1000, 16, 0.5), (16000, 16, 50.0)),
    ("activity", "baseline", "", (1000, 0, 2.0), (64000, 0, 40.0)),
    ("activity", "compute", "baseline", (1000, 0, 2.0), (64000, 0, 20.0)),
    ("activity", "shared", "compute", (64000, 0, 5.0)),
    ("atomics", "naive", "", (8192, 0, 0.1), (65536, 0, 6.0)),
    ("atomics", "shared", "naive", (8192, 0, 0.05), (65536, 0, 4.0)),
    ("atomics", "atomic-float", "naive", (8192, 0, 0.4), (65536, 0, 30.0)),
    ("cells", "plain", "", (4000000, 0, 0.9)),
    ("cells", "sorted", "plain", (4000000, 0, 0.5)),
    ("cells", "kernel-force", "", (4000000, 0, 0.3)),
    ("cells", "kernel-move", "", (4000000, 0, 0.1)),
    ("cells", "series-size", "", (1000000, 0, 0.04), (10000000, 0, 0.4), (1000, 0, 0.007)),
    ("cells", "series-weak", "", (256, 0, 0.0075), (4352, 0, 0.008)),
    ("cells", "series-openmp", "", (1000000, 16, 0.8)),
    ("laboratory", "sequential", "", (25000, 1, 2000.0)),
    ("laboratory", "omp1", "sequential", (25000, 1, 2100.0), (25000, 16, 250.0)),
    ("laboratory", "omp2", "omp1", (25000, 1, 2000.0), (25000, 16, 125.0)),
    ("laboratory", "baseline", "", (25000, 0, 1.25), (200000, 0, 80.0)),
    ("laboratory", "tiling-v1", "baseline", (25000, 0, 1.0), (200000, 0, 40.0)),
    ("laboratory", "float4", "tiling-v1", (200000, 0, 41.0)),
    ("porting", "cpu-thread", "", (1000, 1, 8.0)),
    ("porting", "one-thread", "", (1000, 0, 100.0)),
    ("porting", "n-threads", "one-thread", (1000, 0, 0.02), (100000, 0, 20.0)),
    ("porting", "constant-memory", "n-threads", (100000, 0, 20.0)),
]


def rows_of(measured=MEASURED, machine: str = H200) -> List[Row]:
    made = []
    for study, rung, _, *points in measured:
        for n, threads, ms in points:
            rate = float("nan") if study == "cells" else n * n / ms * 1e3
            made.append(Row(study, rung, n, threads, ms, rate, 20e-9 * rate, 1e-6, 2e-5, True,
                            HOST if threads else machine))
    return made


def rungs_of(measured=MEASURED) -> List[Rung]:
    return [Rung(study, rung, before, f"what {rung} is, in words") for study, rung, before, *_ in measured]


@pytest.fixture(name="ladder")
def ladder_of_all() -> Ladder:
    return Ladder(rungs_of(), rows_of())


def report(folder: Path, rows: Sequence[Row], rungs: Sequence[Rung], *words: str, expect: int = 0,
           plots: bool = False) -> str:
    """The report from a ladder.csv of these rows, report.md. Most of its time is for plots, which few tests need."""
    ladder_data.write_ladder(folder / "made.csv", Ladder(rungs, rows))
    with mock.patch.object(ladder_plots, "draw", ladder_plots.draw if plots else lambda *_: []):
        assert ladder_script.main(["--from", str(folder / "made.csv"), "--out", str(folder), *words]) == expect
    return text_of(folder)


@pytest.fixture(name="made", scope="module")
def report_of_all(tmp_path_factory) -> Path:
    """The folder of a report of all rungs."""
    folder = tmp_path_factory.mktemp("report")
    report(folder, rows_of(), rungs_of(), plots=True)
    return folder


def text_of(folder: Path) -> str:
    return (folder / "report.md").read_text(encoding="utf-8")


def cells_of(text: str, study: str, rung: str) -> List[str]:
    """The cells of a rung's line in the table of its study."""
    titles = {"activity": "## Activity: grav", "atomics": "## Atomics against", "cells": "## Cells: forces",
              "laboratory": "## Laboratory: grav", "porting": "## Porting ladder"}
    part = re.split(r"\n(?=## )", text)
    own = next(each for each in part if each.startswith(titles[study]))
    line = next(line for line in own.splitlines() if line.startswith(f"| {rung} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_gain_is_at_the_same_size_with_the_most_threads(ladder):
    def gain(study: str, rung: str) -> float:
        own = ladder.rung(study, rung)
        return ladder.gain(ladder.shown(own), own.before)

    assert gain("activity", "compute") == 2.0 and gain("activity", "cpu-openmp") == 12.0
    assert gain("laboratory", "omp1") == 8.0 and gain("laboratory", "omp2") == 2.0
    assert gain("porting", "one-thread") == pytest.approx(0.08) and gain("porting", "n-threads") == 5000.0
    # The first rung on a GPU is compared with the processor's that the publication names.
    assert gain("laboratory", "baseline") == 100.0 and ladder.rung("activity", "baseline").before == ""
    # The published size is shown although there is a larger one.
    assert ladder.shown(ladder.rung("atomics", "shared")).n == 8192 and gain("atomics", "shared") == 2.0
    assert ladder.gain_anywhere(ladder.rung("laboratory", "omp2"), "sequential") == (16.0, 25000)


def test_published_gains(ladder):
    def then(study: str, rung: str, n: int):
        return [(round(p.gain, 4), p.over, p.gpu, p.n) for p in ladder.published(ladder.rung(study, rung), n)]

    unnamed = "NVIDIA GPU of about 2018 (not named)"
    assert then("activity", "compute", 64000) == [(round(366 / 215.1, 4), "baseline", unnamed, 64000)]
    assert then("activity", "compute", 50000)[0][3] == 64000 and then("activity", "compute", 1)[0][3] == 100
    assert then("atomics", "atomic-float", 8192) == [(round(62 / 90, 4), "naive", "Kepler GK104", 8192)]
    assert then("laboratory", "tiling-v1", 1) == [(1.2, "baseline", "Tesla K80", 0)]
    assert [p[:2] for p in then("porting", "n-threads", 1)] == [(7781.0, "one-thread"), (6495.0, "one-thread"),
                                                               (12150.0, "one-thread")]
    assert ladder.published(Rung("atomics", "atomic-int64", "naive", ""), 8192) == []


def test_report_has_all_rungs_with_their_figures(made, ladder):
    text = text_of(made)
    for rung in ladder.rungs:
        if not rung.name.startswith(("series-", "kernel-")):
            assert len(cells_of(text, rung.study, rung.name)) == 11, rung
    assert cells_of(text, "activity", "compute") == [
        "compute", "what compute is, in words", "64000", "GPU", "20", "204.8", "2", "baseline", "1.702",
        "NVIDIA GPU of about 2018 (not named), N = 64000", ""]
    assert cells_of(text, "laboratory", "omp2")[3:] == [
        "16", "125", "5", "2", "omp1", "29 (the best on the CPU) over sequential (today 16)",
        "64 hardware threads of the K80's host", ""]
    assert cells_of(text, "laboratory", "float4")[8:10] == ["slower", "Tesla K80"]
    assert cells_of(text, "porting", "n-threads")[6:10] == [
        "5e+03", "one-thread", "7781 / 6495 / 1.215e+04",
        "Quadro FX 5800 (CC 1.3) / Tesla C2050 (CC 2.0) / GTX 680 (CC 3.0)"]
    assert "| size | 1000000 | 0.04 | 2.071 | 51.8 |" in text and "| weak | 4352 | 0.008 | 0.1055 | 13.2 |" in text
    assert "| today, N = 4000000 | what kernel-force is, in words | 75 | - |" in text
    assert "| published, P100 | force | 39.2 | 75 |" in text
    assert "| openmp | 1000000 | 0.8 | 17.23 | 21.5 |" in text
    assert "today: slope 1.000, R² = 1.0000, 2 sizes from 1000000 to 10000000." in text
    assert "published: slope 0.983" in text
    assert "Overall: tiling-v1 at N = 200000 does 3200 times the interactions a second of sequential" in text
    assert f"| GPU | {H200} |" in text and f"| processor | {HOST} |" in text
    assert all(len(set(line.count("|") for line in table.splitlines())) == 1
               for table in re.findall(r"(?:^\|.*\n)+", text.replace("\\|", ""), re.M))


def test_plots_are_well_formed_and_in_both_reports(made):
    text = text_of(made)
    named = re.findall(r"\]\(([\w-]+\.svg)\)", text)
    assert {"activity.svg", "atomics.svg", "cells-gains.svg", "cells-size.svg", "cells-weak.svg", "cells-engines.svg",
            "cells-utilisation.svg", "laboratory.svg", "laboratory-threads.svg", "porting.svg"} <= set(named)
    assert sorted(named) == sorted(path.name for path in made.glob("*.svg"))
    for path in made.glob("*.svg"):
        assert xml.dom.minidom.parse(str(path)).documentElement.tagName == "svg", path.name
    page = (made / "report.html").read_text(encoding="utf-8")
    assert page.count("data:image/svg+xml;base64,") == len(named) and page.endswith("</body></html>\n")


def read_csv(path: Path) -> Dict[str, Dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return {f"{row['study']}/{row['rung']}/{row['n']}/{row['threads']}": row for row in csv.DictReader(file)}


def test_csv_has_gains_of_both_and_makes_the_same_report_again(made, tmp_path):
    found = read_csv(made / "ladder.csv")
    row = found["activity/compute/64000/0"]
    assert (row["gain"], row["published_gain"], row["machine"], row["ok"]) == ("2", "1.70153", H200, "yes")
    assert found["porting/one-thread/1000/0"]["published_gain"] == "0.01381; 0.02725; 0.01468"
    assert found["laboratory/omp2/25000/16"]["published_over"] == "sequential"
    rungs, rows = ladder_data.read_ladder(made / "ladder.csv")
    atomics = [row for row in rows if row.study == "atomics"]
    again = report(tmp_path, atomics, [rung for rung in rungs if rung.study == "atomics"])
    table = again[again.index("## Atomics"):again.index("### Why today differs")]
    assert table.count("\n| ") == 4 and table in text_of(made)


def test_sentences_name_their_gpu_and_stand_beside_the_numbers(made):
    text = text_of(made)
    said = [line for line in text.splitlines() if "(Written for GPU" in line]
    assert [line.split(":")[0] for line in said] == [
        "compute", "shared", "shared", "atomic-float", "sorted", "baseline", "tiling-v1", "float4", "one-thread",
        "n-threads", "constant-memory"]
    for line in said:
        assert re.match(r"[\w-]+: gain \S+ over [\w-]+ today, .+ then\. .+\(Written for GPU NVIDIA H200\.\)$", line)


def test_a_sentence_without_its_numbers_is_not_printed(tmp_path):
    """A rung that was not measured, or has no gain, has no sentence: neither has any rung of a processor."""
    keep = [each for each in MEASURED if each[1] in ("shared", "float4", "cpu-thread", "sequential")]
    text = report(tmp_path, rows_of(keep), rungs_of(keep))
    assert "Written for" not in text and "Why today differs" not in text


def test_every_sentence_belongs_to_a_rung_and_names_a_gpu():
    sentences = ladder_data.read_table(ladder_data.REFERENCE / "sentences.csv")
    assert len({(row["study"], row["rung"], row["gpu"]) for row in sentences}) == len(sentences) > 0
    for row in sentences:
        assert row["study"] in ladder_data.STUDIES and row["gpu"] and row["sentence"].endswith("."), row


def test_a_sentence_for_todays_gpu_is_preferred(ladder):
    ladder.sentences.append({"study": "activity", "rung": "shared", "gpu": "Other GPU", "sentence": "Other."})
    rung = ladder.rung("activity", "shared")
    assert ladder.sentence(rung, "NVIDIA Other GPU")["sentence"] == "Other."
    assert ladder.sentence(rung, H200)["gpu"] == H200 and ladder.sentence(rung, "A third")["gpu"] == H200


def test_a_wrong_rung_fails_and_is_marked(tmp_path, ladder):
    ladder.rows[4].ok = False
    text = report(tmp_path, ladder.rows, ladder.rungs, "--study", "activity", expect=1)
    assert text.splitlines()[2].startswith("FAILED: activity/baseline at N = 1000 (error 1e-06, allowed 2e-05)")
    assert cells_of(text, "activity", "baseline")[-1] == "WRONG" and cells_of(text, "activity", "compute")[-1] == ""
    assert '<tr class="wrong">' in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_studies_are_chosen(tmp_path, ladder):
    text = report(tmp_path, ladder.rows, ladder.rungs, "--study", "atomics")
    assert re.findall(r"^## (\w+)", text, re.M) == ["Atomics"]


# ------------------------------------------------------------------------------------------------- running programs

PROGRAM = """\
#!/bin/sh
if [ "$1" = --list ]; then
  echo study,rung,before,title
  echo 'porting,cpu-thread,,one, of the processor'
  exit 0
fi
echo "$0 $*" >>calls
echo study,rung,n,threads,ms,interactions_per_s,gflops,error,tolerance,ok
echo porting,cpu-thread,1000,1,8,1.25e8,2.5,1e-6,2e-5,OK
echo 'ladder-cpu: porting/cpu-thread is left out at n = 100000: it would take about 80 s' >&2
exit STATUS
"""


def run_ladder(folder: Path, *words: str, ok: str = "yes", status: int = 0) -> subprocess.CompletedProcess:
    program = folder / "ladder-cpu"
    program.write_text(PROGRAM.replace("OK", ok).replace("STATUS", str(status)))
    program.chmod(0o755)
    return subprocess.run([sys.executable, str(SCRIPT), "--cpu", str(program), *words], cwd=folder,
                          env={**os.environ, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True,
                          timeout=harness.patience(120), check=False)


def test_the_ladder_of_a_processor(tmp_path):
    done = run_ladder(tmp_path, "--n", "1000,100000", "--threads", "3")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "run" / "ladder" / "report.md").read_text(encoding="utf-8")
    assert "Left out, because an iteration would take more than 2 s: porting/cpu-thread at N = 100000." in text
    assert cells_of(text, "porting", "cpu-thread")[1:6] == ["one, of the processor", "1000", "1", "8", "0.125"]
    assert "-n 1000,100000 --repeat 3 --threads 3" in (tmp_path / "calls").read_text()
    assert "GPU were left out" not in text


def test_without_a_gpu_it_says_so_and_climbs_the_rest(tmp_path):
    if Path("/usr/bin/nvidia-smi").exists():
        pytest.skip("there may be a GPU")
    done = run_ladder(tmp_path, "--gpu", "nothing", "--myriad", "nothing")
    text = (tmp_path / "run" / "ladder" / "report.md").read_text(encoding="utf-8")
    assert done.returncode == 0 and "The rungs for a GPU were left out: no GPU was found" in done.stderr
    assert "The rungs for a GPU were left out: no GPU was found" in text


@pytest.mark.parametrize("ok, status, says", [
    ("no", 1, "FAILED: porting/cpu-thread at N = 1000"), ("yes", 3, "FAILED: ladder-cpu ended with status 3"),
    ("maybe", 0, "no rung was measured")])
def test_a_program_that_fails_fails_the_ladder(tmp_path, ok, status, says):
    done = run_ladder(tmp_path, ok=ok, status=status)
    page = tmp_path / "run" / "ladder" / "report.md"
    assert done.returncode == 1
    assert says in (page.read_text(encoding="utf-8") if page.exists() else done.stderr)


@pytest.mark.parametrize("words", [["--repeat", "2"], ["--n", "ten"], ["--study", "none"], ["--threads", "0"]])
def test_wrong_words_are_refused(tmp_path, words):
    assert run_ladder(tmp_path, *words).returncode == 2 and not (tmp_path / "run").exists()
