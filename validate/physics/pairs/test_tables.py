"""Pair style table beside LAMMPS: both kinds of splines, all ways to give distances, several types; what is refused."""

from __future__ import annotations

import subprocess

import pytest

import harness
from cli import BOX, USAGE, refused, run_deck
from test_lammps import LMP, lammps_tables
from test_pair_styles import write_system

TABLE = harness.REFERENCE / "made-up.table"
STYLES = ("spline 300", "spline 40", "linear 500", "linear 40")


def lammps(text, folder):
    (folder / "in.lammps").write_text(text)
    subprocess.run([LMP, "-in", "in.lammps", "-log", "none", "-screen", "none"], cwd=folder, check=True, timeout=60)


def deck(dim):
    text = (f"units lj\ndimension {dim}\nread_data system.data\ntimestep 0.002\nfix 1 all nve\nthermo 25\n"
            "thermo_style custom step temp pe ke etotal press\nthermo_modify format float %.15g norm no\n")
    for style in STYLES:
        text += (f"pair_style table {style}\npair_coeff 1 1 {TABLE} ONE 2.5\npair_coeff 2 2 {TABLE} TWO\n"
                 f"pair_coeff 1 2 {TABLE} BOTH 2.2\nrun {50 if style == STYLES[0] else 0}\n")
    return text


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
@pytest.mark.parametrize("dim", [2, 3])
def test_tables_are_those_of_lammps(dim, tmp_path):
    """Linear tables of 40 values have the same distances as the section TWO."""
    write_system(tmp_path, dim)
    (tmp_path / "in.both").write_text(deck(dim))
    ours = harness.run(deck(dim) + "verify 30\n", tmp_path, engine="openmp").tables
    theirs = lammps_tables(tmp_path / "in.both", tmp_path)
    assert len(theirs) == len(STYLES)
    for a, b in zip(ours, theirs):
        for row in b.rows:
            step = int(row[0])
            for name in ("Temp", "PotEng", "Press"):
                assert a.at(step)[name] == pytest.approx(b.at(step)[name], rel=1e-6 if step else 1e-10), (step, name)
    assert len({b.rows[0][2] for b in theirs}) == len(STYLES)


def energy(folder, r, what="pe"):
    run = harness.run("units lj\nregion b block 0 10 0 10 0 10\ncreate_box 1 b\nmass 1 1\n"
                      f"create_atoms 1 single 5 5 5\ncreate_atoms 1 single {5 + r!r} 5 5\npair_style table spline 400\n"
                      f"pair_coeff 1 1 {TABLE} ONE\nthermo_style custom step pe press\n"
                      "thermo_modify format float %.17g norm no\nrun 0\n", folder)
    return run.tables[0].at(0)[{"pe": "PotEng", "press": "Press"}[what]]


def test_force_is_the_gradient_of_the_energy(tmp_path):
    """r F = 3 V p of two particles at rest.  Both splines go through values of 40 points, so that they agree to
    3e-4."""
    for r in (0.7, 1.1, 1.9):
        slope = (energy(tmp_path, r + 1e-4) - energy(tmp_path, r - 1e-4)) / 2e-4
        assert 3000.0 * energy(tmp_path, r, "press") == pytest.approx(-r * slope, rel=3e-4)


def test_a_pair_nearer_than_the_table_is_an_overlap(tmp_path):
    done = run_deck(tmp_path, BOX + f"create_atoms 1 single 1.1 1.1 1.1\npair_style table spline 100\n"
                    f"pair_coeff * * {TABLE} ONE\nfix 1 all nve\nrun 1\n")
    refused(done, 3, "overlap")


def test_restarts_hold_no_tables(tmp_path):
    write_system(tmp_path, 3)
    coeff = f"pair_coeff 1 1 {TABLE} ONE 2.5\npair_coeff 2 2 {TABLE} TWO\npair_coeff 1 2 {TABLE} BOTH 2.2\n"
    rest = "timestep 0.002\nfix 1 all nve\nthermo 10\nthermo_modify format float %.17g\n"
    whole = harness.run("read_data system.data\npair_style table spline 300\n" + coeff + rest +
                        "run 10\nwrite_restart now\nrun 10\n", tmp_path)
    again = harness.run("read_restart now\n" + coeff + rest + "run 10\n", tmp_path)
    assert again.tables[-1].at(20) == whole.tables[-1].at(20)
    refused(run_deck(tmp_path, "read_restart now\n" + coeff.replace("pair_coeff 1 2", "#") + rest + "run 1\n"), USAGE,
            "no table for types 1 and 2")


WRITTEN = "pair_write 1 2 60 {} 0.8 2.7 pairs.table {}\n"


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
@pytest.mark.parametrize("style, coeff", [("lj/cut 2.5", "1.1 0.9"), ("morse 2.5", "1 5 1.1"), ("zbl 1 2.5", "12 14")])
def test_pair_write_writes_the_rows_of_lammps(style, coeff, tmp_path):
    """And pair style table reads them."""
    same = "12 12" if style.startswith("zbl") else coeff
    shift = "" if style.startswith("zbl") else "pair_modify shift yes\n"
    text = (BOX + f"pair_style {style}\npair_coeff * * {same}\npair_coeff 1 2 {coeff}\n{shift}" +
            WRITTEN.format("r", "ONE") + WRITTEN.format("rsq", "TWO"))
    again = text + "pair_style table linear 60\npair_coeff * * pairs.table TWO\n"
    rows = []
    for name, run, deck_text in (("ours", harness.run, again), ("theirs", lammps, text)):
        (tmp_path / name).mkdir()
        run(deck_text, tmp_path / name)
        lines = [line.split() for line in (tmp_path / name / "pairs.table").read_text().splitlines()]
        rows.append([[float(word) for word in line] for line in lines if len(line) == 4 and line[0].isdigit()])
        assert ["N", "60", "R", "0.8", "2.7"] in lines and ["N", "60", "RSQ", "0.8", "2.7"] in lines
    assert len(rows[0]) == len(rows[1]) == 120
    for a, b in zip(*rows):
        assert a == pytest.approx(b, rel=1e-10, abs=1e-12)


SECTION = "A\n{}\n\n{}\n"
ROWS = "1 0.5 3 4\n2 1 2 3\n3 1.5 1 1\n"
FILES = [
    ("", "has no table `A`"),
    (SECTION.format("R 1 2", ROWS), "must have N n"),
    (SECTION.format("N 1", ROWS), "from 2 to 2^24"),
    (SECTION.format("N 3.5", ROWS), "from 2 to 2^24"),
    (SECTION.format("N 3 R 0 2", ROWS), "need 0 < lo < hi"),
    (SECTION.format("N 3 RSQ 1 1e165", ROWS), "hi < 1e150"),
    (SECTION.format("N 3 R 1", ROWS), "lacks a finite number"),
    (SECTION.format("N 3 RSQ 1 nan", ROWS), "lacks a finite number"),
    (SECTION.format("N 3 BITMAP 1 2", ROWS), "BITMAP"),
    (SECTION.format("N 3 FP 1 2", ROWS), "accepted are N, R, RSQ and FPRIME"),
    (SECTION.format("N 4", ROWS), "the file ends before all"),
    (SECTION.format("N 16777216", ROWS), "the file ends before all N values"),
    (SECTION.format("N 3", ROWS.replace("2 1 2", "2 0.5 2")), "grow from value to value"),
    (SECTION.format("N 3", ROWS.replace("0.5", "0")), "must be positive"),
    (SECTION.format("N 3", ROWS.replace("3 4", "nan 4")), "A.table:4: a finite number is expected"),
    (SECTION.format("N 3", ROWS.replace("3 1.5", "4 1.5")), "numbered from 1 to N"),
    (SECTION.format("N 3", ROWS.replace("1 1\n", "1 x\n")), "a finite number is expected"),
]


@pytest.mark.parametrize("text, message", FILES, ids=range(len(FILES)))
def test_malformed_files(text, message, tmp_path):
    (tmp_path / "A.table").write_text(text)
    refused(run_deck(tmp_path, BOX + "pair_style table spline 10\npair_coeff 1 1 A.table A\n"), USAGE, message)


LJ = "pair_style lj/cut 2.5\npair_coeff * * 1 1\n"
COMMANDS = [
    (LJ + "pair_write 1 3 60 r 1 2 f A", "a type of pair_write"),
    (LJ + "pair_write 1 1 1 r 1 2 f A", "N of pair_write"),
    (LJ + "pair_write 1 1 60 bitmap 1 2 f A", "accepted are r and rsq"),
    (LJ + "pair_write 1 1 60 r 2 2 f A", "inner 2 must be smaller than outer 2"),
    ("pair_style none\npair_write 1 1 60 r 1 2 f A", "needs a pair_style"),
    ("pair_style morse 2.5\npair_coeff 1 1 1 5 1\npair_write 1 1 60 r 1 2 f A", "no coefficients for types 1 and 2"),
    ("pair_style table lookup 10", "accepted are linear and spline"),
    ("pair_style table spline 1", "N of pair style table"),
    ("pair_style table spline 10 pppm", "no solver for long ranges"),
    ("pair_style table spline 10\npair_coeff 1 1 none.table A", "cannot read the potential none.table"),
    (f"pair_style table spline 10\npair_coeff 1 1 {TABLE}", "takes I J FILE KEYWORD"),
    (f"pair_style table spline 10\npair_coeff 1 1 {TABLE} ONE 2.7", "the cutoff 2.7 must be within the table"),
    (f"pair_style table spline 10\npair_coeff 1 1 {TABLE} ONE 0.3", "the cutoff 0.3 must be within the table"),
    (f"pair_style table spline 10\npair_coeff 1 1 {TABLE} ONE\npair_modify shift yes", "the energies of its file"),
    (f"pair_style table spline 10\npair_coeff 1 1 {TABLE} ONE\nrun 0", "no table for types 1 and 2"),
]


@pytest.mark.parametrize("words, message", COMMANDS, ids=range(len(COMMANDS)))
def test_refused(words, message, tmp_path):
    refused(run_deck(tmp_path, BOX + words + "\n"), USAGE, message)
