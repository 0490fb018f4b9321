"""Boxes that fixes change: against LAMMPS, over restarts, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest

import harness
from cli import BOX, PHYSICS, USAGE, refused, run_deck, works
from test_lammps import LMP, both_tables

# LAMMPS wraps positions when it makes lists, in every step here.  Where a particle that stays behind is, at a face that
# moves, depends on that.
MELT = """\
units lj
atom_style atomic
pair_style lj/cut 2.5
read_data melt.data
pair_coeff * * 1 1
neigh_modify every 1 delay 0 check no
thermo_style custom step temp pe etotal press vol lx ly lz xlo zhi
thermo_modify format float %.15g
thermo 10
timestep 0.004
"""


def write_melt(folder, mass2: float = 1.0) -> None:
    harness.run("lattice fcc 0.8442\nregion b block 0 4 0 4 0 4\ncreate_box 2 b\ncreate_atoms 1 box\n"
                f"set type 1 type/fraction 2 0.5 7\nmass 1 1\nmass 2 {mass2}\nvelocity all create 1.44 87287\n"
                "pair_style lj/cut 2.5\npair_coeff * * 1 1\nfix 1 all nve\nrun 40\n"
                "write_data melt.data nocoeff\n", folder)


def test_fluctuations_of_the_volume(tmp_path):
    """The canonical variance of T, and V as lmp has it in 250000 steps of 4000 particles (validate/fluctuations.py).

    Errors: 5 % of a variance, 0.06 % of the mean of V.
    """
    particles = 500
    harness.run(harness.deck("in.lammps-fluctuations"), tmp_path, engine="openmp", threads=1,
                variables={"ensemble": "npt", "cells": 5, "melt": 4000, "steps": 60000})
    temperature, pressure, volume = np.loadtxt(tmp_path / "samples.txt")[:, 1:].T
    assert len(volume) == 12001
    assert temperature.mean() == pytest.approx(1.0, rel=0.01) and pressure.mean() == pytest.approx(5.0, rel=1e-3)
    assert temperature.var() * (3 * particles - 3) / 2 == pytest.approx(1.0, rel=0.15)
    assert volume.mean() / particles == pytest.approx(1.3594, rel=3e-3)
    assert volume.var() / particles == pytest.approx(0.0835, rel=0.15)


@pytest.mark.parametrize("axes", ["iso", "aniso"])
def test_the_virial_of_impulses_is_that_of_forces(axes, tmp_path):
    """Rows have the virial of forces, and fixes that of impulses: the box shows which pressure a fix had."""
    write_melt(tmp_path, mass2=2.0)
    deck = MELT + f"""mass 2 2
fix 1 all nve
fix 2 all press/berendsen {axes} 1 1 0.5
thermo 1
thermo_style custom step pxx pyy pzz press lx ly lz
thermo_modify format float %.17g
run 5
"""
    rows = np.array(harness.run(deck, tmp_path, engine="openmp").tables[0].rows, dtype=float)
    for before, after in zip(rows, rows[1:]):
        for d in range(3):
            # The row has the new box, and the fix had the old one.
            shown = after[4] if axes == "iso" else after[1 + d]
            pressure = shown * after[5:].prod() / before[5:].prod()
            factor = (1.0 - 0.004 / 0.5 * (1.0 - pressure) / 10.0) ** (1.0 / 3.0)
            assert abs(factor - 1.0) > 1e-4
            # The difference of two sides has a third of the digits of the sides.
            assert after[5 + d] / before[5 + d] - 1.0 == pytest.approx(factor - 1.0, rel=1e-10)


@pytest.mark.parametrize("axes", ["iso", "aniso"])
def test_the_virial_of_pairs_too_near_for_vectors(fast_engine, axes, tmp_path):
    """Their impulses, and with a barostat their virials, are added by a careful path."""
    deck = f"""units lj
lattice fcc 0.8442
region b block 0 5 0 5 0 5
create_box 1 b
create_atoms 1 box
mass 1 1
velocity all create 4000 3
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
fix 1 all npt temp 4000 4000 0.05 {axes} 20000 20000 0.5
timestep 0.00002
thermo_style custom step temp press lx ly lz
thermo_modify format float %.17g
thermo 10
run 140
"""
    naive, fast = (harness.run(deck, tmp_path, engine=engine).tables[0].rows for engine in ("naive", fast_engine))
    assert naive == fast and len(naive) == 15


def assert_tables_agree(ours, theirs, relative: float) -> None:
    assert len(ours) == len(theirs) >= 1
    for a, b in zip(ours, theirs):
        assert a.titles == b.titles and len(a.rows) == len(b.rows) >= 3
        for name in a.titles[1:]:
            scale = max(abs(value) for value in b.column(name))
            assert list(a.column(name)) == pytest.approx(list(b.column(name)), abs=relative * scale), name


DEFORMED = MELT + """\
group half type 2
lattice fcc 0.8
fix 1 all nve
fix 2 all deform 1 x scale 1.03 y volume z final -0.03 4.1
run 30
unfix 2
fix 2 all deform 2 x trate -0.1 y volume z volume units box
run 20
unfix 2
fix 2 half deform 1 x wiggle 0.05 0.5 y erate 0.02
run 20
unfix 2
fix 2 all deform 5 z vel 0.2 units box remap none
run 20
unfix 2
fix 2 all deform 4 x delta 0.1 -0.05 units box
run 30 start 80 stop 150
"""


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
def test_lmp_deforms_alike(fast_engine, tmp_path):
    """Every style, several fixes, groups, and particles that do not go with the box."""
    write_melt(tmp_path)
    assert_tables_agree(*both_tables(DEFORMED, tmp_path, fast_engine), 1e-9)


BAROSTATS = MELT + """\
thermo_modify norm no
fix 1 all npt temp 1.2 1.2 0.2 iso 1.0 1.0 0.8
run 20
unfix 1
fix 1 all npt temp 1.2 1.4 0.2 aniso 1.0 2.0 0.8 tchain 2 pchain 4 tloop 2 ploop 2 mtk no drag 0.3
thermo_style custom step temp pe etotal press vol lx ly lz f_1 econserve
thermo_modify format float %.15g norm no
run 30
unfix 1
fix 1 all npt temp 1.2 1.2 0.2 x 1.0 1.0 0.8 y 0.5 0.5 0.6 fixedpoint 0 0 0 nreset 7
run 20
unfix 1
fix 1 all nph aniso 1.0 1.0 0.5 couple xy dilate all flip no scalexz yes
run 20
run 20
unfix 1
fix 1 all nph iso 1.0 1.5 0.5 ptemp 1.0 pchain 0
run 20
unfix 1
fix 1 all nve
fix 2 all press/berendsen iso 1.0 2.0 0.5 modulus 20
thermo_style custom step temp pe etotal press vol lx ly lz
thermo_modify format float %.15g
run 20
unfix 2
fix 2 all press/berendsen aniso 1.0 2.0 0.5 couple xz
fix 3 all temp/berendsen 1.2 1.2 0.5
run 20
unfix 1
unfix 2
unfix 3
fix 1 all npt temp 1.2 1.2 0.2 x 1.0 1.0 0.5 y 1.0 1.0 0.5 z 1.0 1.0 0.5 couple xyz
run 20
unfix 1
fix 1 all nph aniso 1.0 1.0 0.5 nreset 3
thermo_style custom step temp press lx ly lz f_1
thermo_modify format float %.15g norm no
run 20
unfix 1
fix 1 all nph x 1.0 1.0 0.5 y 3.0 3.0 0.5 nreset 7
run 20
run 20
"""


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
def test_lmp_has_the_same_barostats(fast_engine, tmp_path):
    """Chains, ramps, axes that are coupled, have pressures of their own or stay, boxes of reference. The f_1 of this
    LAMMPS is not conserved with iso and a chain of the barostat, so that the first run does not show it."""
    write_melt(tmp_path, 2.0)
    assert_tables_agree(*both_tables(BAROSTATS, tmp_path, fast_engine), 1e-8)


LIQUID = """\
lattice fcc 0.7
region b block 0 {n} 0 {n} 0 {n}
create_box 1 b
create_atoms 1 box
mass 1 1
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_modify shift yes
pair_coeff 1 1 1 1
fix 1 all {fixes}
timestep {dt}
thermo_style custom step temp press density econserve
thermo_modify format float %.15g norm no
thermo {every}
run {steps}
"""


@pytest.mark.parametrize("fixes", ["npt temp 1.5 1.5 0.2 iso 2.0 2.0 1.0", "npt temp 1.5 1.5 0.2 aniso 2.0 2.0 1.0",
                                   "nph iso 2.0 2.0 1.0 ptemp 1.5"])
def test_a_barostat_conserves_its_energy(fixes, tmp_path):
    """In 4 tau from a lattice, which melts: the conserved quantity drifts as dt^2."""
    drift = {}
    for dt in (0.004, 0.002):
        deck = LIQUID.format(n=5, fixes=fixes, dt=dt, every=round(0.2 / dt), steps=round(4 / dt))
        kept = list(harness.run(deck, tmp_path / str(dt)).table.column("Econserve"))
        drift[dt] = max(kept) - min(kept)
    assert drift[0.004] < 1.0 and 2.5 < drift[0.004] / drift[0.002] < 6


@pytest.mark.parametrize("fix", ["nph aniso 1 1 1", "npt temp 1 1 0.5 iso 2 2 1"])
def test_the_energy_of_a_barostat_is_zero_before_its_first_step(fix, tmp_path):
    """A minimisation shows it too, and has it after a run and a new fix."""
    write_melt(tmp_path)
    deck = (f"{MELT}fix b all {fix}\nthermo_style custom step pe ke f_b ecouple econserve\nthermo_modify norm no\n"
            f"minimize 0 0 2 100\nrun 5\nunfix b\nfix b all {fix}\nminimize 0 0 2 100\n")
    tables = harness.run(deck, tmp_path).tables
    assert len(tables) == 3 and abs(tables[1].column("f_b")[-1]) > 1e-9
    for table in (tables[0], tables[2]):
        assert list(table.column("f_b")) == list(table.column("Ecouple")) == [0.0] * len(table.rows)
        assert list(table.column("Econserve")) == pytest.approx(list(table.column("PotEng") + table.column("KinEng")))


def test_averages_of_a_liquid(tmp_path):
    """A liquid of 500 particles comes to its temperature and its pressure, with npt and with the relaxing fixes."""
    for fixes in ("npt temp 1.5 1.5 0.2 iso 2.0 2.0 1.0",
                  "nve\nfix 2 all press/berendsen iso 2.0 2.0 1.0 modulus 20\nfix 3 all temp/csvr 1.5 1.5 0.2 77"):
        deck = LIQUID.format(n=5, fixes=fixes, dt=0.005, every=5, steps=2500)
        table = harness.run(deck, tmp_path / fixes[:3]).table
        mean = {name: sum(list(table.column(name))[150:]) / 351 for name in ("Temp", "Press", "Density")}
        assert mean["Temp"] == pytest.approx(1.5, rel=0.02) and mean["Press"] == pytest.approx(2.0, rel=0.05)
        assert mean["Density"] == pytest.approx(0.70, rel=0.03)


# Fixes of boxes that keep a state.
STATES = {"deform": "fix 1 all nve\nfix 2 all deform 3 x erate 0.03 y wiggle 0.2 0.3 units box\n",
          "npt": "fix 1 all npt temp 1.2 1.4 0.2 aniso 1.0 2.0 0.8 tchain 2\n",
          "press": "fix 1 all nve\nfix 2 all press/berendsen iso 1 1 1\nfix 3 all temp/csvr 1.2 1.2 0.2 5\n"}


@pytest.mark.parametrize("fixes", STATES.values(), ids=STATES)
def test_a_changing_box_is_resumed(fixes, tmp_path):
    """Within the second run of a deck. After step 42 a change of the box belongs to the step that is not done yet."""
    write_melt(tmp_path)
    deck = f"{MELT}{fixes}restart 21 r.*\nrun 30\nvariable v equal vol\nprint \"volume ${{v}}\"\nrun 30\n" \
        "write_data e.data\n"
    whole = works(run_deck(tmp_path, deck)).out
    end = (tmp_path / "e.data").read_bytes()
    (tmp_path / "e.data").unlink()
    again = works(run_deck(tmp_path, deck, "--resume")).out
    assert "Resumed at step 42" in again and (tmp_path / "e.data").read_bytes() == end
    for words in (r"volume -?\d\S+", r"\n +60 \S+"):
        assert re.findall(words, again) == re.findall(words, whole) != []


def test_boxes_that_do_not_change(tmp_path):
    """The message says what is wrong, and where a box that changes too much ends the run."""
    for line, words in {
        "fix 2 all deform 1": ["fix deform needs N"],
        "fix 2 all deform 0 x erate 1": ["N of fix deform"],
        "fix 2 all deform 1 x squeeze 1": ["'squeeze'", "final LO HI", "volume"],
        "fix 2 all deform 1 x variable v_a v_b": ["variable", "not evaluated within steps"],
        "fix 2 all deform 1 x final 1": ["x final needs 2 numbers"],
        "fix 2 all deform 1 x erate 1 x vel 1": ["x comes twice"],
        "fix 2 all deform 1 x volume": ["another axis"],
        "fix 2 all deform 1 x wiggle 1 0": ["period"],
        "fix 2 all deform 1 x scale -1": ["factor"],
        "fix 2 all deform 1 x final 3 2": ["above"],
        "fix 2 all deform 1 xy erate 1\nrun 1": ["tilt"],
        "fix 2 all deform 1 x erate 1 remap v": ["remap v", "remap x or none"],
        "fix 2 all deform 1 x erate 1 remap w": ["'w'", "x, v, none"],
        "fix 2 all deform 1 x erate 1 units cm": ["'cm'", "box, lattice"],
        "fix 2 all deform 1 x erate 1 color 1": ["'color'", "x, y, z, xy"],
        "fix 2 all press/berendsen": ["needs a pressure"],
        "fix 2 all press/berendsen iso 1 1": ["iso needs PSTART PSTOP PDAMP"],
        "fix 2 all press/berendsen iso 1 1 0": ["Pdamp", "positive"],
        "fix 2 all press/berendsen iso 1 1 1 modulus 0": ["modulus", "positive"],
        "fix 2 all press/berendsen iso 1 1 1 dilate some": ["'some'", "all, partial"],
        "fix 2 all press/berendsen iso 1 1 1 temp 1": ["'temp'", "modulus"],
        "fix 2 all press/berendsen x 1 1 1 x 1 1 1": ["the axis x"],
        "fix 2 all press/berendsen x 1 1 1 y 1 2 1 couple xy": ["coupled axes x and y"],
        "fix 2 all press/berendsen iso 1 1 1 couple all": ["'all'", "xyz"],
        "fix 2 all press/berendsen x 1 1 1 y 1 1 1 couple xyz": ["coupled axis z", "pressure"],
        "fix 2 all nph x 1 1 1 couple xz": ["coupled axis z", "pressure"],
        "fix 2 all box/relax y 1 couple xy": ["coupled axis x", "pressure"],
        "fix 2 all temp/csvr 1 1 1": ["takes 4 arguments"],
        "fix 2 all temp/csvr 1 1 1 0": ["seed of fix temp/csvr"],
        "fix 2 all npt temp 1 1 1": ["needs a pressure"],
        "fix 2 all npt iso 1 1 1": ["needs a temperature", "nph"],
        "fix 2 all npt temp 1 1 1 tri 1 1 1": ["'tri'", "iso, aniso"],
        "fix 2 all npt temp 1 1 1 iso 1 1 1 pchain 9": ["pchain of fix npt", "8"],
        "fix 2 all npt temp 1 1 1 iso 1 1 1": ["npt", "another fix moves the particles"],
        "fix 2 all nph temp 1 1 1 iso 1 1 1": ["'temp'", "nph"],
        "fix 2 all nph iso 1 1 1 fixedpoint 1 1": ["fixedpoint needs X Y Z"],
        "fix 2 all nph iso 1 1 1 dilate mobile": ["dilate 'mobile'", "the group is all"],
        "fix 2 all nph iso 1 1 1 flip maybe": ["flip of fix nph", "yes or no", "'maybe'"],
    }.items():
        refused(run_deck(tmp_path, BOX + line + "\n"), USAGE, *words)
    for boundary in ("p s p", "p p fm"):
        for line in ("fix 2 all press/berendsen x 1 1 1\nrun 1", "unfix 1\nfix 2 all nph x 1 1 1\nrun 1",
                     "unfix 1\nfix 2 all npt temp 1 1 1 x 1 1 1\nrun 1",
                     "fix 2 all box/relax x 1\nmin_style cg\nminimize 0 0 5 9"):
            refused(run_deck(tmp_path, BOX.replace("region", f"boundary {boundary}\nregion", 1) + line + "\n"), USAGE,
                    line.split(" all ")[1].split()[0], "volume", "boundary s or m", "use boundary f or p")
    two = "fix 2 all deform 1 x erate 1\nfix 3 all deform 1 x vel 1\nrun 1\n"
    refused(run_deck(tmp_path, BOX + two), USAGE, "two fixes", "along x")
    refused(run_deck(tmp_path, BOX + "unfix 1\nfix 2 all deform 1 x erate 1\nrun 1\n"), USAGE, "velocity Verlet")
    refused(run_deck(tmp_path, BOX + "fix 2 all deform 1 x vel 1e9\nrun 9\n"), PHYSICS, "room")
    refused(run_deck(tmp_path, BOX + "fix 2 all deform 1 x final 1 1.1 units box\nrun 1\n"), PHYSICS,
            "would be 0.1 long along x", "16 times")
    refused(run_deck(tmp_path, BOX + "fix 2 all deform 1 x erate 1\n"
                     "compute c all temp/region b\nrun 1\n"), USAGE, "compute c", "box that a fix changes")


def test_the_place_of_an_axis_that_does_not_change_counts(tmp_path):
    """The room of positions is one for all axes."""
    deck = """\
units lj
region b block 0 8 1000 1008 0 8 units box
create_box 1 b
create_atoms 1 random 100 4711 NULL
mass 1 1
pair_style soft 1.0
pair_coeff * * 10
velocity all create 1 99568
fix 1 all nve
fix 2 all deform 1 x erate 0.1
dump 1 all custom 10 out.dump id x y z vx vy vz
run 10
"""
    works(run_deck(tmp_path, deck))
    fast = (tmp_path / "out.dump").read_bytes()
    works(run_deck(tmp_path, deck, "--engine", "naive"))
    assert fast == (tmp_path / "out.dump").read_bytes()


# One that begins anew each time, one that goes on, and one of the last three.
AVERAGES = MELT + """\
fix 1 all nph iso -5 -5 0.3
compute a all chunk/atom bin/1d x lower 0.85 units box
compute b all chunk/atom bin/1d x lower 0.85 units box
compute c all chunk/atom bin/1d x lower 0.85 units box
fix a all ave/chunk 1 5 10 a vx file a.txt
fix b all ave/chunk 2 5 20 b vx ave running file b.txt
fix c all ave/chunk 1 3 10 c vx ave window 3 file c.txt
run 60
"""


def chunks(folder, name):
    """The averages of a file of fix ave/chunk: of each, its lines as numbers."""
    averages = []
    for line in (folder / name).read_text().splitlines():
        if line[0] not in "# ":
            averages.append([])
        if line[0] != "#":
            averages[-1].append([float(word) for word in line.split()])
    return averages


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
def test_lmp_keeps_the_bins_of_an_average(tmp_path):
    """The box comes to need more bins, which only an average that begins anew gets. LAMMPS leaves out what is above the
    last bin, where the manual puts it into the last one."""
    write_melt(tmp_path)
    both_tables(AVERAGES, tmp_path, "openmp")
    theirs = {name: chunks(tmp_path, name) for name in ("a.txt", "b.txt", "c.txt")}
    deck = AVERAGES.replace("run 60", "restart 34 r.*\nrun 60")
    works(run_deck(tmp_path, deck))
    ours = {name: chunks(tmp_path, name) for name in theirs}
    for name, averages in ours.items():
        assert len(averages) == len(theirs[name])
        for a, b in zip(averages, theirs[name]):
            assert a[0][:2] == b[0][:2]
            for line, other in zip(a[1:-1], b[1:-1]):
                assert line == pytest.approx(other, rel=1e-5, abs=1e-6)
    numbers = {name: {average[0][1] for average in averages} for name, averages in ours.items()}
    assert len(numbers["a.txt"]) > 1 and len(numbers["b.txt"]) == len(numbers["c.txt"]) == 1
    assert ours["b.txt"][-1][0][2] == 3 * 256
    assert "Resumed at step 34" in works(run_deck(tmp_path, deck, "--resume")).out
    assert {name: chunks(tmp_path, name) for name in theirs} == ours
