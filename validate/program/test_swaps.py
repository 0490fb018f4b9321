"""Fixes that swap momenta (thermal/conductivity, viscosity): the values of lmp and of a few lines of Python, conserved
sums, restarts, ranks and bad input.  All engines have the same bits: validate/decks/thermostats/in.heated."""

from __future__ import annotations

import pytest

import harness
from cli import BOX, USAGE, refused, run_deck, works
from test_averages import assert_like_lmp, needs_lmp

FLUID = """\
units lj
lattice fcc 0.6
region box block 0 5 0 4 0 6
create_box 2 box
create_atoms 1 box
variable odd atom id%2
group odd id 1:480:2
set group odd type 2
mass 1 1
mass 2 {mass}
variable u atom 1.3*sin(37.0*id)
variable v atom 1.2*cos(23.0*id)
variable w atom 1.1*sin(11.0*id)
velocity all set v_u v_v v_w units box
velocity all zero linear
pair_style lj/cut 2.5
pair_coeff * * 1 1
fix 1 all nve
timestep 0.004
"""
HEAT = "fix 3 all thermal/conductivity 5 z 6 swap 2\nfix 4 odd thermal/conductivity 10 x 4\n"


@needs_lmp
@pytest.mark.parametrize("mass", [1, 1.7])
def test_heat_of_lammps(mass, tmp_path):
    deck = FLUID.format(mass=mass).replace("variable odd atom id%2\n", "") + HEAT
    deck += "thermo 10\nthermo_style custom step temp pe etotal f_3 f_4\nthermo_modify format float %.10g\nrun 50\n"
    assert_like_lmp(deck, tmp_path, "")


def test_sums_stay(tmp_path):
    """The total momentum stays to the last bit, and the energy to that of a run without swaps."""
    end = ("thermo 25\nthermo_style custom step momx momy momz etotal\nthermo_modify format float %.17g\nrun 50\n")
    shear = "fix 5 all viscosity 3 x z 6 swap 4\n"
    plain = harness.run(FLUID.format(mass=1.7) + end, tmp_path / "plain").table
    swapped = harness.run(FLUID.format(mass=1.7) + HEAT + shear + end, tmp_path / "swapped").table
    assert [row[1:4] for row in plain.rows] == [row[1:4] for row in swapped.rows]
    assert plain.rows[-1][4] != swapped.rows[-1][4]
    assert float(plain.rows[-1][4]) == pytest.approx(float(swapped.rows[-1][4]), abs=2e-3)


@pytest.mark.parametrize("fix", ["thermal/conductivity 33 y 8", "viscosity 10 x y 4",
                                 "momentum 7 linear 1 1 1 angular", "recenter 1 2 3"])
def test_slabs_are_those_of_the_box_that_is_shown(fix, tmp_path):
    """Where faces follow the particles, the engine has them farther out. That is another box in each piece of a run."""
    deck = (FLUID.format(mass=1.7).replace("lattice", "boundary s s s\nlattice") + f"fix 3 all {fix}\nthermo 50\n"
            "thermo_style custom step temp pe xlo yhi lz press f_3\nthermo_modify format float %.17g\n")
    if "/" not in fix and "viscosity" not in fix:
        deck = deck.replace(" f_3", "")
    whole = harness.run(deck + "run 400\n", tmp_path / "whole").table
    parts = harness.read_tables(harness.run(deck + "run 400 every 50 NULL\n", tmp_path / "parts").log)
    assert [row for row in whole.rows] == [part.rows[0] for part in parts] + [parts[-1].rows[-1]]
    if "f_3" in deck:
        assert float(whole.rows[-1][-1]) > 1.0 and whole.rows[2][-1] != "0"


FREE = """\
units lj
region b block 0 10 0 10 0 10
create_box 1 b
mass 1 2
create_atoms 1 single 1 0.5 5
create_atoms 1 single 2 0.6 5
create_atoms 1 single 3 0.7 5
create_atoms 1 single 4 0.8 5
create_atoms 1 single 5 5.5 5
create_atoms 1 single 6 5.6 5
create_atoms 1 single 7 5.7 5
set atom 1 vx 2 vz 0.5
set atom 2 vx -9
set atom 3 vx 3
set atom 4 vx 3
set atom 5 vx -1 vz 7
set atom 6 vx 4
set atom 7 vx -5
pair_style none
fix 1 all nve
timestep 1e-6
"""


@pytest.mark.parametrize("words, swapped, moved", [
    ("1 x y 10", {3: -5, 7: 3}, 16),                       # of two equals the smaller id; backwards the fastest
    ("1 x y 10 swap 3", {3: -5, 7: 3, 4: -1, 5: 3}, 24),   # there are two that move backwards
    ("1 x y 10 vtarget 1.4", {1: -1, 5: 2}, 6)])
def test_which_particles_swap(words, swapped, moved, tmp_path):
    deck = FREE + f"fix 2 all viscosity {words}\nthermo_style custom step f_2\ndump d all custom 1 d id vx vz\nrun 1\n"
    out = works(run_deck(tmp_path, deck)).out
    rows = [list(map(float, line.split())) for line in (tmp_path / "d").read_text().splitlines()[-7:]]
    before = {1: 2, 2: -9, 3: 3, 4: 3, 5: -1, 6: 4, 7: -5}
    assert {int(row[0]): row[1] for row in rows} == {**before, **swapped}
    assert [row[2] for row in rows] == [0.5, 0, 0, 0, 7, 0, 0]
    assert float(out.split("Step")[1].splitlines()[2].split()[1]) == moved


def test_swaps_in_restarts(tmp_path):
    deck = (FLUID.format(mass=1.7) + HEAT + "fix 5 all viscosity 3 x z 6 swap 4\nthermo 10\nrestart 20 r.*\n"
            "thermo_style custom step temp f_3 f_4 f_5\nthermo_modify format float %.17g\nrun 50\n")
    done = works(run_deck(tmp_path, deck))
    if harness.hdf5_missing():
        pytest.skip("no restarts in this build")
    again = works(run_deck(tmp_path, deck, "--resume"))
    last = [[line.split() for line in text.splitlines() if line.strip().startswith("50 ")][-1]
            for text in (done.out, again.out)]
    assert "Resumed at step 40" in again.out and last[0] == last[1] and float(last[0][4]) != 0


@pytest.mark.mpi
def test_ranks_swap_alike(tmp_path):
    deck = (FLUID.format(mass=1.7) + HEAT + "fix 5 all viscosity 3 x z 6 swap 32\nthermo 5\n"
            "thermo_style custom step temp f_3 f_4 f_5\nthermo_modify format float %.17g\nrun 30\n")
    one = harness.run(deck, tmp_path / "one").table
    assert one.rows == harness.run(deck, tmp_path / "four", ranks=4, threads=1).table.rows


BAD = {
    "fix 2 all thermal/conductivity 1 z": ["takes N, an axis, a number of slabs"],
    "fix 2 all thermal/conductivity 1 w 4": ["'w' is no axis"],
    "fix 2 all thermal/conductivity 1 z 5": ["must be even", "5"],
    "fix 2 all thermal/conductivity 0 z 4": ["N of a swap"],
    "fix 2 all thermal/conductivity 1 z 4 swap 33": ["number of swaps"],
    "fix 2 all thermal/conductivity 1 z 4 vtarget 1": ["vtarget", "swap N"],
    "fix 2 all viscosity 1 x 4": ["two axes"],
    "fix 2 all viscosity 1 x z 4 vtarget -1": ["vtarget"],
    "fix 2 all viscosity 1 x z 4 swap": ["two axes", "a value each"],
    "fix 2 all viscosity 1 x z 4\nthermo_style custom step f_2[1]\nrun 0": ["f_2[1]"],
}


@pytest.mark.parametrize("lines", BAD)
def test_bad_input(lines, tmp_path):
    refused(run_deck(tmp_path, BOX + lines + "\n"), USAGE, *BAD[lines])


def test_momenta_of_two_words_are_refused(tmp_path):
    refused(run_deck(tmp_path, FLUID.format(mass=1e9) + HEAT + "run 5\n"), USAGE, "two words")
