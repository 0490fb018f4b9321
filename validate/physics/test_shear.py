"""Boxes that are sheared within runs: fix deform of tilt factors, compute temp/deform and fix nvt/sllod."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import harness
from cli import USAGE, refused, run_deck
from test_lammps import lammps_tables

LMP = shutil.which("lmp")

START = """\
dimension {dim}
lattice {lattice}
region r prism 0 {n} 0 {n} {z} {tilt}
create_box 1 r
create_atoms 1 box
mass 1 1
velocity all create 1.0 87287
displace_atoms all random 0.02 0.02 {dz} 3 units box
write_data start.data
"""

AGAIN = """\
units lj
dimension {dim}
atom_style atomic
read_data start.data
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
neigh_modify every 1 delay 0 check yes
fix 1 all {moves}
fix 2 all deform {deform}
compute 3 all {temp}
thermo 10
thermo_style custom step temp c_3 pe press pxy pxz pyz xy xz yz lx ly
thermo_modify format float %.15g norm no temp 3
run 50
"""

THREE = {"dim": 3, "lattice": "fcc 0.8442", "n": 4, "z": "0 4", "tilt": "0 0 0", "dz": "0.02"}
TWO = {"dim": 2, "lattice": "sq2 0.8442", "n": 8, "z": "-0.1 0.1", "tilt": "2.5 0 0", "dz": "0"}
SKEW = {**THREE, "tilt": "0.5 0.3 1.9"}
SLLOD = {"moves": "nvt/sllod temp 1.0 1.5 0.5", "temp": "temp/deform"}
CASES = {
    "xy, every step": (THREE, {"deform": "1 xy erate 0.5 remap x"}),
    "xy, every third step": (THREE, {"deform": "3 xy final 0.8 remap x units box"}),
    "xz and yz": (THREE, {"deform": "1 xz vel 0.4 yz delta -0.2 remap x units box"}),
    "xy, exponential": (TWO, {"deform": "1 xy trate 0.8 remap x"}),
    "with a side": (THREE, {"deform": "2 xy wiggle 0.3 0.13 x scale 1.05 z delta 0 -0.1 remap x"}),
    "flips of yz": (SKEW, {"deform": "1 yz erate 1.1 remap x"}),
    "yz beyond half a side": (SKEW, {"deform": "1 yz erate 1.1 remap x flip no"}),
    "flips of yz, with a side": (SKEW, {"deform": "1 yz erate 1.1 x erate 0.3 remap x"}),
    "sllod 3D": (THREE, {"deform": "1 xy erate 0.7 remap v", **SLLOD}),
    "sllod 3D, xz": (THREE, {"deform": "1 xz erate -0.7 remap v", **SLLOD}),
    "sllod 2D": (TWO, {"deform": "1 xy erate 0.4 remap v", **SLLOD}),
}


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
@pytest.mark.parametrize("name", CASES)
def test_lmp_agrees(name, fast_engine, tmp_path):
    system, run = CASES[name]
    harness.run(START.format(**system), tmp_path)
    deck = tmp_path / "in.again"
    deck.write_text(AGAIN.format(**{"moves": "nve", "temp": "temp", **system, **run}))
    ours = harness.run(deck, tmp_path, engine=fast_engine).table
    theirs = lammps_tables(deck, tmp_path)[0]
    assert ours.at(50)["Xy"] != 0 or ours.at(50)["Xz"] != 0
    for step in (0, 10, 50):
        for quantity, value in theirs.at(step).items():
            assert ours.at(step)[quantity] == pytest.approx(value, rel=1e-7, abs=1e-7), (step, quantity)


def test_momentum_and_flips(tmp_path):
    """Momentum keeps its bits while a box is sheared through several flips, and without flips nothing else changes."""
    harness.run(START.format(**THREE), tmp_path)
    frames = []
    for flip in ("yes", "no"):
        deck = ("units lj\nread_data start.data\npair_style lj/cut 2.5\npair_coeff 1 1 1 1\nfix 1 all nve\n"
                f"fix 2 all deform 1 xy vel 40 remap x flip {flip} units box\nthermo 60\n"
                "thermo_style custom step momx momy momz xy\nthermo_modify format float %.17g\n"
                f"dump 1 all custom 60 {flip}.dump id vx vy vz\nrun 60\n")
        table = harness.run(deck, tmp_path).table
        for name in ("Momx", "Momy", "Momz"):
            assert table.at(0)[name] == table.at(60)[name]
        frames.append(harness.read_dump(tmp_path / f"{flip}.dump")[-1])
        assert abs(table.at(60)["Xy"]) < 4 if flip == "yes" else table.at(60)["Xy"] == pytest.approx(12)
    for column in ("vx", "vy", "vz"):
        assert np.array_equal(frames[0].columns[column], frames[1].columns[column])


@pytest.mark.parametrize("engine", ["openmp", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_flips_have_the_same_bits_everywhere_and_go_back(engine, tmp_path):
    """Also where sides change, and engines have chosen other edges. A pure shear goes back."""
    harness.run(START.format(**SKEW), tmp_path)
    ends = {}
    for name, deform in (("sides", "yz erate 1.1 x erate 0.3 y erate -0.2"), ("shear", "yz erate 1.1 xz erate 0.4")):
        for kind in ("naive", engine):
            deck = ("units lj\nread_data start.data\npair_style lj/cut 2.5\npair_coeff 1 1 1 1\nfix 1 all nve\n"
                    f"fix 2 all deform 1 {deform} remap x\ndump 1 all custom 60 {kind}.dump id x y z vx vy vz\n"
                    "thermo_style custom step yz\nrun 60\n" + ("run -60\n" if name == "shear" else ""))
            run = harness.run(deck, tmp_path, engine=kind)
            assert run.tables[0].at(60)["Yz"] < 0 < run.tables[0].at(0)["Yz"]
            frames = harness.read_dump(tmp_path / f"{kind}.dump")
            ends[kind] = (tmp_path / f"{kind}.dump").read_bytes()
            for column, values in frames[0].columns.items() if name == "shear" else ():
                assert np.array_equal(values, frames[-1].columns[column]), column
        assert ends["naive"] == ends[engine]


FOLLOWED = """\
region b prism 0 6 0 7 0 5 0.5 0 0 units box
create_box 1 b
create_atoms 1 random 100 77 NULL
mass 1 1
velocity all create 30 77
pair_style soft 1.2
pair_coeff * * 5
timestep 0.02
fix 1 all nve
fix 2 all deform 1 {shear} remap x
compute m all msd
compute c all com
compute d all displace/atom
compute d2 all reduce ave c_d[4]
compute x all property/atom xu yu zu
compute ax all reduce ave c_x[1]
compute ay all reduce ave c_x[2]
thermo {every}
thermo_style custom step xy yz c_m[4] c_c[1] c_ax c_c[2] c_ay c_d2
thermo_modify format float %.17g
run 40
run -40
"""


@pytest.mark.parametrize("every", [1, 20])
@pytest.mark.parametrize("shear", ["xy erate 1.2", "yz erate -1.5", "xz erate 1.2", "xy erate 1.2 yz erate 1.1"])
def test_ways_go_on_through_flips(shear, every, fast_engine, tmp_path):
    """The centre of mass is the mean of unwrapped places, and the mean square displacement that of displacements, also
    where the box flipped; after the way back nothing is displaced."""
    there, back = harness.run(FOLLOWED.format(shear=shear, every=every), tmp_path, engine=fast_engine).tables
    tilts = np.array([there.column("Xy"), there.column("Yz")])
    if every == 1 and "xz" not in shear:
        assert np.any(np.abs(np.diff(tilts)) > 2.0)
    for table in (there, back):
        for one, other in (("c_c[1]", "c_ax"), ("c_c[2]", "c_ay")):
            np.testing.assert_allclose(table.column(one), table.column(other), rtol=1e-12)
    assert there.column("c_m[4]")[-1] > 5.0 and back.column("c_m[4]")[-1] < 1e-20
    assert back.column("c_d2")[-1] < 1e-12 and there.column("c_d2")[-1] ** 2 < there.column("c_m[4]")[-1]


def test_restarts(tmp_path):
    harness.run(START.format(**THREE), tmp_path)
    fixes = ("fix 1 all nvt/sllod temp 1.0 1.0 0.5\nfix 2 all deform 1 xy erate 0.7 remap v\n"
             "dump 1 all custom 100 {}.dump id x y z vx vy vz\n")
    harness.run("read_data start.data\npair_style lj/cut 2.5\npair_coeff 1 1 1 1\n" + fixes.format("whole")
                + "run 20\nwrite_restart half.h5\nrun 20\ndump 2 all custom 40 whole2.dump id x y z vx vy vz\nrun 0\n",
                tmp_path)
    harness.run("read_restart half.h5\n" + fixes.format("part") + "run 20\n"
                "dump 2 all custom 40 part2.dump id x y z vx vy vz\nrun 0\n", tmp_path)
    a, b = (harness.read_dump(tmp_path / f"{name}2.dump")[-1] for name in ("whole", "part"))
    assert np.array_equal(a.bounds, b.bounds)
    for column, values in a.columns.items():
        assert np.array_equal(values, b.columns[column]), column


REFUSED = {
    "fix 2 all deform 1 xz trate 2\nrun 1": "the tilt factor is 0, and would stay 0",
    "fix 2 all deform 1 xy scale 2": "accepted are final V, delta V, vel V, erate R, trate R, wiggle A TP",
    "fix 2 all deform 1 xy final 0.4 remap v": "the rate must be constant",
    "fix 2 all deform 1 x scale 2 remap v": "only tilt factors may change",
    "fix 2 all deform 1 xy erate 1 yz erate 1 remap v\nrun 1": "xy and yz may not both change",
    "change_box all yz final 0.5\nfix 2 all deform 1 xy erate 1 remap v\nrun 1": "xy may not change in a box whose yz",
    "change_box all xy final 0.5\nfix 2 all deform 1 x erate 1 remap none\nrun 1": "the faces where x changes",
    "change_box all xz final 0.5\ngroup h id 1:9\nfix 2 h deform 1 x erate 1\nrun 1": "where x changes",
    "change_box all yz final 0.5\nfix 2 all deform 1 y erate 1 remap none\nrun 1": "where y changes",
    "change_box all yz final 0.5\nfix 2 all deform 1 xy erate 1 remap none\nrun 1": "where xy changes",
    "change_box all xy final 0.5\nfix 2 all recenter 1 INIT INIT\nrun 1": "in a tilted box the centre",
    "fix 2 all deform 1 xy erate 1 y scale 2": "may not change too",
    "fix 2 all deform 1 xy erate 1 xy vel 1": "xy comes twice",
    "fix 2 all deform 1 xy erate 1 remap w": "accepted are x, v, none",
    "change_box all ortho\nfix 2 all deform 1 xy erate 1\nrun 1": "use change_box all triclinic",
    "compute 1 all temp/deform\nrun 1": "needs a fix deform that shears the box by one",
    "unfix 1\nfix 1 all nvt/sllod temp 1 1 1\nrun 1": "needs a fix deform with remap v",
    # Their nearest images would be those of the tilt at the beginning.
    "fix 2 all deform 1 xy erate 1\nfix 3 all drag 1 1 1 5 0.2\nrun 1": "fix drag has a place in the box",
    "fix 2 all deform 1 xy erate 1\nfix 3 all indent 1 sphere 1 1 1 1\nrun 1": "fix indent has a place in the box",
    "fix 2 all deform 1 xy erate 1\nregion s sphere 1 1 1 1\nfix 3 all addforce 1 0 0 region s\nrun 1":
        "fix addforce has a place in the box",
    "fix 2 all deform 1 xy erate 1\nregion s sphere 2 2 2 9\nfix 3 all wall/region s harmonic 1 1 1\nrun 1":
        "fix wall/region has a place in the box",
    "fix 2 all deform 1 xy erate 1 remap v\nunfix 1\nfix 1 all nvt/sllod temp 1 1 1\ncompute 1 all temp\n"
    "fix_modify 1 temp 1\nrun 1": "must be a compute temp/deform",
}


@pytest.mark.parametrize("text, word", REFUSED.items())
def test_refused(text, word, tmp_path):
    refused(run_deck(tmp_path, START.format(**THREE) + "pair_style lj/cut 2.5\npair_coeff 1 1 1 1\nfix 1 all nve\n"
                     + text + "\n"), USAGE, word)
