"""Periodic sides below two cutoffs: against lmp, reversal, momentum, computes of neighbours, and what is refused."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest

import harness
from cli import PHYSICS, USAGE, refused, run_deck
from test_lammps import both_tables, lammps_tables
from test_tilted import apart, edges

LMP = shutil.which("lmp")
SMALL = harness.deck("in.small")
RC = 2.5
QUANTITIES = ("Temp", "PotEng", "KinEng", "TotEng", "Press", "Pxx", "Pyy", "Pzz", "Pxy", "Pxz", "Pyz")

# Sides in cutoffs, and sites along them; tilt factors.
SHORT = {0.7: 1, 1.3: 3, 1.9: 4}
LONG = {"lx": 9, "nx": 7, "ly": 9, "ny": 7, "lz": 9, "nz": 7}


def short(axes: str, *sides: float) -> dict:
    """Knobs of in.small for sides along some axes; the others are long."""
    knobs = dict(LONG)
    for axis, side in zip(axes, sides):
        knobs |= {f"l{axis}": side * RC, f"n{axis}": SHORT[side]}
    return knobs


CASES = {
    "one axis, 0.7": short("x", 0.7),
    "one axis, 1.3": short("y", 1.3),
    "one axis, 1.9": short("z", 1.9),
    "two axes": short("xz", 0.7, 1.3),
    "two axes, alike": short("xy", 1.3, 1.3),
    "three axes": short("xyz", 0.7, 1.3, 1.9),
    "three axes, alike": short("xyz", 1.3, 1.3, 1.3),
    "2D": {"dim": 2, "lx": 0.7 * RC, "nx": 1, "ly": 9, "ny": 8, "lz": 1, "nz": 1},
    "2D, two axes": {"dim": 2, "lx": 1.9 * RC, "nx": 4, "ly": 1.3 * RC, "ny": 3, "lz": 1, "nz": 1},
    "tilted": short("xyz", 1.3, 1.3, 1.9) | {"xy": 0.6, "xz": -0.7, "yz": 1.2},
    "tilted, 2D": {"dim": 2, "lx": 1.3 * RC, "nx": 3, "ly": 1.3 * RC, "ny": 3, "lz": 1, "nz": 1, "xy": 0.8},
}

AGAIN = """\
units lj
dimension {dim}
read_data start.data
pair_style lj/cut 2.5
pair_coeff * * 1 1
timestep 0.004
fix move all nve
neigh_modify every 1 delay 0 check yes
thermo 10
thermo_style custom step temp pe ke etotal press pxx pyy pzz pxy pxz pyz
thermo_modify format float %.15g
dump 1 all custom 50 {who}.dump id x y z vx vy vz fx fy fz
dump_modify 1 format float %.17g sort id
{more}
run {steps}
"""


def write_start(knobs: dict, folder) -> None:
    """A data file of the fluid that the crystal of in.small becomes."""
    harness.run(SMALL.read_text() + "write_data start.data nocoeff\n", folder, variables={**knobs, "steps": 400})


def both(knobs: dict, engine: str, folder, more: str = "", steps: int = 50):
    """The tables of Myriad and of lmp from the same data file."""
    write_start(knobs, folder)
    deck, tables = folder / "in.again", []
    for who in ("ours", "theirs"):
        deck.write_text(AGAIN.format(dim=knobs.get("dim", 3), who=who, more=more.format(who=who), steps=steps))
        tables.append(harness.run(deck, folder, engine=engine).table if who == "ours" else
                      lammps_tables(deck, folder)[0])
    return tables


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
@pytest.mark.parametrize("name", CASES)
def test_lmp_agrees(name, fast_engine, tmp_path):
    ours, theirs = both(CASES[name], fast_engine, tmp_path)
    for step, relative in ((0, 1e-10), (50, 1e-6)):
        a, b = ours.at(step), theirs.at(step)
        scale = abs(b["Press"]) + abs(b["PotEng"]) + abs(b["Temp"])
        for quantity in QUANTITIES:
            assert a[quantity] == pytest.approx(b[quantity], rel=relative, abs=relative * scale), (step, quantity)
    for a, b in zip(harness.read_dump(tmp_path / "ours.dump"), harness.read_dump(tmp_path / "theirs.dump")):
        box = edges(b) if "tilted" in name else np.diag(b.bounds[:, 1] - b.bounds[:, 0])
        assert apart(a.vectors("x", "y", "z"), b.vectors("x", "y", "z"), box) < 1e-7
        assert np.allclose(a.vectors("fx", "fy", "fz"), b.vectors("fx", "fy", "fz"), rtol=0, atol=1e-6)


LOCAL = """\
compute g all rdf 40
compute near all coord/atom cutoff 1.6
compute order all {order}
compute energy all pe/atom
compute stress all stress/atom NULL
compute total all reduce sum c_near c_energy c_stress[1] c_stress[4] c_order[1] c_order[2]
fix g all ave/time 1 1 10 c_g[*] mode vector file {who}.rdf format " %.12g"
thermo_style custom step c_total[*]
thermo_modify format float %.15g
"""


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
@pytest.mark.parametrize("name", ["one axis, 0.7", "three axes", "three axes, alike", "2D, two axes", "tilted"])
def test_lmp_has_the_same_neighbours(name, fast_engine, tmp_path):
    """Neighbours within a distance, orders of bonds, and energies and stresses of particles count all images."""
    order = "coord/atom cutoff 2.2 1 2" if "2D" in name else "orientorder/atom degrees 2 4 6 nnn NULL cutoff 2.2"
    ours, theirs = both(CASES[name], fast_engine, tmp_path, LOCAL.replace("{order}", order), 10)
    for step in (0, 10):
        a, b = ours.at(step), theirs.at(step)
        for k in range(1, 7):
            assert a[f"c_total[{k}]"] == pytest.approx(b[f"c_total[{k}]"], rel=1e-8, abs=1e-8), (step, k)
    tables = [np.loadtxt((tmp_path / f"{who}.rdf").read_text().splitlines()[4:44]) for who in ("ours", "theirs")]
    assert np.allclose(*tables, rtol=1e-8, atol=1e-8)


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
def test_lmp_has_the_same_densities(fast_engine, tmp_path):
    """A particle's own images add to the density at its place."""
    if fast_engine == "gpu-symmetric":
        pytest.skip("eam has no symmetric forces")
    write = f"""units metal
lattice fcc 3.615
region box block 0 1 0 2 0 3
create_box 1 box
create_atoms 1 box
mass 1 60
velocity all create 1200 99
displace_atoms all random 0.1 0.1 0.1 7
pair_style eam
pair_coeff * * {harness.REFERENCE / 'Cu_u3.eam'}
write_data start.data nocoeff
"""
    again = f"""units metal
read_data start.data
pair_style eam
pair_coeff * * {harness.REFERENCE / 'Cu_u3.eam'}
timestep 0.002
fix move all nve
neigh_modify every 1 delay 0 check yes
thermo 10
thermo_style custom step temp pe etotal press pxx pxy
thermo_modify format float %.15g
run 50
"""
    harness.run(write, tmp_path)
    deck = tmp_path / "in.again"
    deck.write_text(again)
    ours, theirs = harness.run(deck, tmp_path, engine=fast_engine).table, lammps_tables(deck, tmp_path)[0]
    for step in (0, 50):
        a, b = ours.at(step), theirs.at(step)
        for quantity in ours.titles[1:]:
            assert a[quantity] == pytest.approx(b[quantity], rel=1e-6, abs=1e-6 * abs(b["Press"])), (step, quantity)


SHRINKS = """\
unfix move
fix move all nvt temp 1.2 1.2 0.2
fix squeeze all deform 1 x scale 0.55 y scale 0.6 remap x
"""


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
def test_a_box_that_becomes_small(fast_engine, tmp_path):
    """Sides go from more than two cutoffs to less during a run, which begins with the nearest images."""
    knobs = {"lx": 6.2, "ly": 6.1, "lz": 6.0, "nx": 4, "ny": 4, "nz": 4}
    ours, theirs = both(knobs, fast_engine, tmp_path, SHRINKS, 200)
    for step, relative in ((0, 1e-10), (50, 1e-8), (200, 1e-4)):
        a, b = ours.at(step), theirs.at(step)
        for quantity in ("Temp", "PotEng", "Press", "Pxx", "Pxy"):
            assert a[quantity] == pytest.approx(b[quantity], rel=relative, abs=relative * abs(b["Press"])), step


CRYSTAL = """\
units lj
region b block 0 3.25 0 4.75 0 1.75
create_box 1 b
lattice custom 1 a1 1.08333333333333 0 0 a2 0 1.1875 0 a3 0 0 1.75 basis 0.5 0.5 0.5
create_atoms 1 box
mass 1 1
displace_atoms all random 0.12 0.12 0.3 77 units box
write_data start.data
"""

RELAXED = """\
units lj
read_data start.data
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
neigh_modify every 1 delay 0 check yes
thermo 10
thermo_style custom step pe press pxx pyy pzz lx
thermo_modify format float %.12g
minimize 0 1e-10 2000 9000
velocity all set 0.3 0.1 -0.2
fix m all npt temp 0.5 0.5 0.5 x 0 0 1
timestep 0.004
run 50
"""


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
def test_lmp_has_the_same_minimum_and_barostat(tmp_path):
    harness.run(CRYSTAL, tmp_path)
    ours, theirs = both_tables(RELAXED, tmp_path, "openmp")
    least = [tables[0].column("PotEng")[-1] for tables in (ours, theirs)]
    assert least[0] == pytest.approx(least[1], rel=1e-8) and least[0] < ours[0].column("PotEng")[0] - 1
    for title in ours[1].titles[1:]:
        a, b = ours[1].column(title), theirs[1].column(title)
        assert len(a) == len(b) == 6 and np.allclose(a, b, rtol=1e-6, atol=1e-6), title
    assert ours[1].column("Lx")[-1] < 3.2


def test_every_engine_follows_a_box_that_becomes_small(tmp_path):
    text = SMALL.read_text().replace("\ndump ", "\n" + SHRINKS.replace("nvt temp 1.2 1.2 0.2", "nve") + "dump ")
    dumps = []
    for who, engine, threads in (("naive", "naive", 1), ("one", "openmp", 1), ("three", "openmp", 3)):
        knobs = {"lx": 6.2, "ly": 6.1, "lz": 6.0, "nx": 4, "ny": 4, "nz": 4, "steps": 200}
        harness.run(text, tmp_path / who, engine=engine, threads=threads, variables=knobs)
        dumps.append((tmp_path / who / "check.dump").read_bytes())
    assert dumps[0] == dumps[1] == dumps[2]


@pytest.mark.gpu
@pytest.mark.parametrize("name", CASES)
def test_the_gpu_computes_small_boxes(name, tmp_path):
    """With lists; with cells, openmp does it, and the log says so."""
    for package, note in (({}, False), ({"force": "symmetric"}, False), ({"neighbours": "cells"}, True)):
        log = harness.run(SMALL, tmp_path, engine="gpu", package=package, variables={**CASES[name], "steps": 5}).log
        assert ("computes this run in place of gpu" in log) == note
        assert ("neighbour lists" in log) != note


@pytest.mark.gpu
def test_the_gpu_follows_a_box_that_becomes_small(tmp_path):
    text = SMALL.read_text().replace("\ndump ", "\n" + SHRINKS.replace("nvt temp 1.2 1.2 0.2", "nve") + "dump ")
    knobs = {"lx": 6.2, "ly": 6.1, "lz": 6.0, "nx": 4, "ny": 4, "nz": 4, "steps": 200}
    for engine in ("openmp", "gpu"):
        harness.run(text, tmp_path / engine, engine=engine, variables=knobs)
    assert (tmp_path / "gpu" / "check.dump").read_bytes() == (tmp_path / "openmp" / "check.dump").read_bytes()


@pytest.mark.parametrize("engine", ["naive", "openmp"])
@pytest.mark.parametrize("name", ["three axes", "2D", "tilted"])
def test_there_and_back_with_the_same_momentum(name, engine, tmp_path):
    steps = 300 if engine == "naive" else 20000
    text = SMALL.read_text() + "velocity all negate\nrun ${steps}\n"
    harness.run(text, tmp_path, engine=engine, variables={**CASES[name], "steps": steps, "every": steps})
    first, turn, last = harness.read_dump(tmp_path / "check.dump")
    assert np.abs(turn.vectors("x", "y", "z") - first.vectors("x", "y", "z")).max() > 0.01
    np.testing.assert_array_equal(last.vectors("id", "x", "y", "z"), first.vectors("id", "x", "y", "z"))
    np.testing.assert_array_equal(last.vectors("vx", "vy", "vz"), -first.vectors("vx", "vy", "vz"))
    mass = np.where(first.vectors("type") == 1, 1.0, 2.5).reshape(-1, 1)
    momenta = [(mass * frame.vectors("vx", "vy", "vz")).sum(axis=0) for frame in (first, turn)]
    assert np.abs(momenta[1] - momenta[0]).max() < 1e-11


TILTED = [(2.0 * cutoff, cutoff, "prism {b} -0.9 0 0") for cutoff in (1.3, 1.6, 1.8, 2.6)]
POWER = [(side, 1.8, "block {b}") for side in (8.000000000000002, 16.000000000000004, 32.00000000000001)]


@pytest.mark.parametrize("side, cutoff, region", TILTED + POWER)
def test_a_side_that_is_rounded_keeps_its_grid(side, cutoff, region, tmp_path):
    """At two cutoffs in a tilted box, and at a power of two, the rounded side would choose another grid."""
    deck = f"""dimension 2
region b {region.format(b=f"0 {side} 0 {side} -0.5 0.5")} units box
create_box 1 b
create_atoms 1 random 9 7 NULL
mass 1 1
pair_style soft {cutoff}
pair_coeff * * 5
velocity all create 1 7
fix 1 all nve
thermo_style custom step pe ke lx
thermo_modify format float %.17g
run 5
run 5
run -5
run -5
"""
    got = harness.run(deck, tmp_path)
    rows = [row for table in got.tables for row in table.rows]
    assert [row[0] for row in rows] == ["0", "5", "5", "10", "10", "5", "5", "0"]
    assert rows[1] == rows[2] == rows[5] == rows[6] and rows[3] == rows[4] and rows[0] == rows[7]
    assert len(set(re.findall(r"Exact grids: position (\S+),", got.log))) == 1


REFUSED = {
    "a thin box": ("region b block 0 0.15 0 9 0 9\ncreate_box 1 b\ncreate_atoms 1 single 0.1 1 1\nmass 1 1\n"
                   "pair_style lj/cut 2.5\npair_coeff 1 1 1 1\nrun 1",
                   ["cutoff 2.5 is larger than 16 times the periodic box along x (0.15)", "larger box"]),
    "noise": ("region b block 0 9 0 4 0 9\ncreate_box 1 b\ncreate_atoms 1 single 0.1 1 1\nmass 1 1\n"
              "pair_style dpd 1 2.5 77\npair_coeff 1 1 25 4.5\nfix 1 all nve\nrun 1",
              ["pair style dpd", "half of the periodic box along y (4)", "same random number"]),
    "a tilted box that changes": ("region b prism 0 9 0 9 0 4 1 0 0\ncreate_box 1 b\ncreate_atoms 1 single 2 1 1\n"
                                  "mass 1 1\npair_style lj/cut 2.5\npair_coeff 1 1 1 1\nfix 1 all nve\n"
                                  "fix 2 all deform 1 x scale 1.2 remap x\nrun 1",
                                  ["half of the periodic box along z (4)", "tilted box", "cannot change"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name, engine, tmp_path):
    deck, words = REFUSED[name]
    refused(run_deck(tmp_path, deck, *harness.engine_words(engine)), USAGE, *words)


@pytest.mark.parametrize("style, coefficients, end, words", [
    ("dpd 1 2.5 77", "25 4.5", 4, ["less than two cutoffs of 2.5"]),
    ("lj/cut 2.5", "0 1", 0.1, ["cutoff 2.5", "more than 16 times as long"])], ids=["noise", "thin"])
def test_a_box_that_becomes_too_small(style, coefficients, end, words, engine, tmp_path):
    deck = f"""region b block 0 5.2 0 9 0 9
create_box 1 b
create_atoms 1 single 0.1 1 1
mass 1 1
pair_style {style}
pair_coeff 1 1 {coefficients}
fix 1 all nve
fix 2 all deform 1 x final 0 {end} units box
run 100
"""
    if engine == "gpu-symmetric" and "dpd" in style:
        pytest.skip("dpd has no symmetric forces")
    if engine.startswith("gpu") and "dpd" not in style:
        words = ["cutoff 2.5", "more than 5 times as long; engine openmp can go on from here"]
    refused(run_deck(tmp_path, deck, *harness.engine_words(engine)), PHYSICS, "the box would be", "along x", *words)
