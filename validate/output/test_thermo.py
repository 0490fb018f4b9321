"""The thermo table: rows of several lines, columns of forces and edges, and rows and frames at steps of a variable.

Where lmp is installed, its table of the same deck must have the same rows.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import harness
from cli import BOX, USAGE, refused, run_deck, works

LMP = shutil.which("lmp")

CRYSTAL = """\
units lj
lattice fcc 0.8
region b block 0 4 0 4 0 4
create_box 1 b
create_atoms 1 box
mass 1 1
velocity all ramp vx -1 1 y 0 4
velocity all ramp vy -1 1 z 0 4 sum yes
pair_style lj/cut 2.5
pair_coeff * * 1 1
neigh_modify every 1 delay 0 check no
fix 1 all nve
"""


def lammps_tables(folder: Path, text: str):
    (folder / "in.lammps").write_text(text)
    done = subprocess.run([LMP, "-in", "in.lammps", "-log", "log.lammps", "-screen", "none"], cwd=folder,
                          env=harness.environment(), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return harness.read_tables((folder / "log.lammps").read_text())


STEPS = """\
thermo v_rows
variable rows equal logfreq(1,3,10)
thermo_style custom step pe
run 25
variable rows equal stride(0,200,7)
dump 1 all custom 1000 late id
dump 2 all custom 1000 all id
dump_modify 1 every v_frames
dump_modify 2 every v_frames first yes
variable frames equal stagger(10,3)
run 25
run 12
"""


def frame_steps(path: Path):
    return [frame.step for frame in harness.read_dump(path)]


def test_steps_of_a_variable(fast_engine, tmp_path):
    ours = harness.run(CRYSTAL + STEPS, tmp_path, engine=fast_engine).tables
    assert [[int(row[0]) for row in table.rows] for table in ours] == [
        [0, 1, 2, 3, 10, 20, 25], [25, 28, 35, 42, 49, 50], [50, 56, 62]]
    assert frame_steps(tmp_path / "late") == [30, 33, 40, 43, 50, 53, 60]
    assert frame_steps(tmp_path / "all") == [25, 30, 33, 40, 43, 50, 53, 60]


def test_a_row_of_many_columns(tmp_path):
    names = [f"v_v{k}" for k in range(255)]
    formulas = "".join(f"variable v{k} equal {k}*step\n" for k in range(255))
    deck = CRYSTAL + formulas + f"thermo_style custom step {' '.join(names)}\n"
    table = harness.run(deck + "run 1\n", tmp_path).tables[0]
    assert table.rows[-1] == ["1", *(str(k) for k in range(255))]
    refused(run_deck(tmp_path, deck.replace("custom step", "custom step atoms") + "run 1\n"), USAGE,
            "takes 1 to 256 keywords, not 257")


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
def test_steps_of_a_variable_are_those_of_lammps(tmp_path):
    folders = tmp_path / "ours", tmp_path / "theirs"
    folders[1].mkdir()
    ours = harness.run(CRYSTAL + STEPS, folders[0]).tables
    theirs = lammps_tables(folders[1], CRYSTAL + STEPS)
    assert [[row[0] for row in table.rows] for table in ours] == [[row[0] for row in table.rows] for table in theirs]
    for name in ("late", "all"):
        assert frame_steps(folders[0] / name) == frame_steps(folders[1] / name)


def test_a_variable_must_give_a_later_step(tmp_path):
    for words in ("thermo v_s", "dump 1 all atom 1 f\ndump_modify 1 every v_s"):
        refused(run_deck(tmp_path, BOX + f"variable s equal 2\n{words}\nrun 5\n"), USAGE, "v_s is 2 at step 2",
                "must be a later step")
        refused(run_deck(tmp_path, BOX + f"{words}\nrun 5\n"), USAGE, "'s'")
    refused(run_deck(tmp_path, BOX + "thermo v_\n"), USAGE, "name of 1 to 61 characters")
    refused(run_deck(tmp_path, BOX + "variable s equal step+2\nthermo v_s\nrun 4\nrun -4\n"), USAGE,
            "gives steps forwards")


def test_rows_of_several_lines(tmp_path):
    harness.run(CRYSTAL + "thermo_style multi\nthermo 3\nrun 3\n"
                "thermo_style custom step etotal ke temp pe ebond eangle edihed eimp evdwl ecoul elong press\nrun 0\n"
                "thermo_modify line multi\nrun 0\nthermo_modify line one\nrun 0\n", tmp_path)
    log = (tmp_path / "log.myriad").read_text().splitlines()
    heads = [k for k, line in enumerate(log) if line.startswith("---------------- Step")]
    assert len(heads) == 3
    head, *lines = log[heads[1]:heads[1] + 5]
    assert re.fullmatch(r"-{16} Step        3 ----- CPU = +\d+\.\d{4} \(sec\) -{16}", head)
    fields = [re.findall(r"(\S+) += +(\S+)", line) for line in lines]
    assert [len(line) for line in fields] == [3, 3, 3, 3]
    assert lines == ["".join(f"{title:8} = {float(value):14.4f} " for title, value in line) for line in fields]
    titles, values = zip(*sum(fields, []))
    assert log[heads[2] + 1] == f"Step     = {3:14d} " + "".join(
        f"{title:8} = {float(value):14.4f} " for title, value in fields[0][:2])
    tables = harness.read_tables("\n".join(log))  # the same step in one line
    first, last = tables[0], tables[-1]
    assert first.rows == last.rows and list(titles) == last.titles[1:]
    assert titles[:3] == ("TotEng", "KinEng", "Temp") and titles[-1] == "Press"
    assert [float(value) for value in values] == pytest.approx([float(value) for value in last.rows[0][1:]], abs=6e-5)


def test_columns_of_forces_and_edges(engine, tmp_path):
    """The largest component of a force, the length of the vector of all, edges of a tilted box and their angles."""
    tilt = "change_box all triclinic xy final 1.5 xz final -0.7 yz final 0.4 remap units box\n"
    style = "thermo_style custom step fmax fnorm cella cellb cellc cellalpha cellbeta cellgamma lx ly lz\n"
    spring = "fix 2 all spring/self 3\n"  # forces of fixes count
    got = harness.run(CRYSTAL + tilt + style + "thermo_modify format float %.17g\n" + spring +
                      "dump 1 all custom 4 f id fx fy fz\n"
                      "thermo 4\nrun 8\n", tmp_path, engine=engine)
    frames = harness.read_dump(tmp_path / "f")
    assert len(got.table.rows) == len(frames) == 3
    for row, frame in zip(got.table.rows, frames):
        value = dict(zip(got.table.titles, map(float, row)))
        force = frame.vectors("fx", "fy", "fz")
        assert value["Fmax"] == np.abs(force).max() > 0
        assert value["Fnorm"] == pytest.approx(np.sqrt(np.sum(force ** 2)), rel=1e-13)
        edges = np.array([[value["Lx"], 0, 0], [1.5, value["Ly"], 0], [-0.7, 0.4, value["Lz"]]])
        length = np.linalg.norm(edges, axis=1)
        assert [value["Cella"], value["Cellb"], value["Cellc"]] == pytest.approx(list(length), rel=1e-14)
        for name, a, b in (("CellAlpha", 1, 2), ("CellBeta", 0, 2), ("CellGamma", 0, 1)):
            assert value[name] == pytest.approx(np.degrees(np.arccos(edges[a] @ edges[b] / length[a] / length[b])))


def test_forces_are_known_in_a_run_only(tmp_path):
    refused(run_deck(tmp_path, BOX + "run 0\nprint $(fmax)\n"), USAGE, "fmax is only known while a run shows a step")
    works(run_deck(tmp_path, BOX + "variable f equal fnorm\nfix p all print 1 '${f}' file f\nrun 1\n"))
    assert len((tmp_path / "f").read_text().splitlines()) == 3
