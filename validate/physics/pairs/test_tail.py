"""Tail corrections, pair_modify tail yes: the energies and pressures of lmp for every style that has them, in runs that
change the box too; the same rows on every engine and number of ranks, and after a restart."""

from __future__ import annotations

import math

import pytest

import harness
from cli import BOX, USAGE, refused, run_deck, works
from test_averages import needs_lmp, run_lmp

pytestmark = pytest.mark.smoke

FLUID = """\
units {units}
lattice fcc {lattice}
region box block 0 5 0 5 0 5
create_box 2 box
create_atoms 1 box
group odd id 1:500:3
set group odd type 2
variable u atom {speed}*sin(37.0*id)
variable v atom {speed}*cos(23.0*id)
mass 1 1.0
mass 2 2.0
velocity all set v_u v_v NULL units box
{pair}
compute p all pressure NULL pair
thermo_style custom step temp epair evdwl pe etail press pxx pyy pxy vol enthalpy c_p
thermo_modify format float %.13g
thermo 10
neigh_modify delay 0 every 1
"""
MIXTURE = """\
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
pair_coeff 2 2 0.8 1.1 3
pair_modify tail yes mix arithmetic
"""
LJ = {"units": "lj", "lattice": 0.7, "speed": 1}
METAL = {"units": "metal", "lattice": 5.4, "speed": 1}
NPT = "fix 1 all npt temp 1 1 0.5 {} 1 1 1\nrun 40\n"
ISO, ANISO = NPT.format("iso"), NPT.format("aniso")
ON = "pair_modify tail yes\n"
# Each with the words of the corrections, those of a run after it, and how far lmp's numbers may be from ours.
CASES = {
    "lj/cut, mixed, one pressure": (LJ, MIXTURE, ISO, 1e-9),
    "pressures by axis, then a box of other sides": (
        LJ, MIXTURE, ANISO + "change_box all x scale 1.1 remap\nunfix 1\nfix 1 all nve\nrun 10\n", 1e-9),
    "press/berendsen": (LJ, MIXTURE, "fix 1 all nve\nfix 2 all press/berendsen iso 1 1 1\nrun 40\n", 1e-9),
    "a box that relaxes": (
        LJ, MIXTURE, "fix 1 all box/relax iso 0.2 vmax 0.01\nmin_style cg\nminimize 0 1e-9 40 100\n", 1e-6),
    "lj96/cut": (LJ, "pair_style lj96/cut 2.5\npair_coeff * * 1 1\n" + ON, ISO, 1e-9),
    "mie/cut": (LJ, "pair_style mie/cut 2.5\npair_coeff * * 1 1 14.5 6.2\npair_coeff 2 2 0.7 1.1 12 7 2.2\n"
                "pair_coeff 1 2 0.9 1 11 5\n" + ON, ISO, 1e-9),
    "buck": (LJ, "pair_style buck 2.5\npair_coeff * * 1000 0.2 2\npair_coeff 1 2 900 0.22 1.5 2\n" + ON, ISO, 1e-9),
    "born": (LJ, "pair_style born 2.5\npair_coeff * * 1 0.2 1 1 0.5\n" + ON, ISO, 1e-9),
    "hybrid": (LJ, "pair_style hybrid lj/cut 2.5 lj96/cut 2.2 yukawa 2 1.5\npair_coeff 1 1 lj/cut 1 1\n"
               "pair_coeff 2 2 lj96/cut 0.9 1\npair_coeff 1 2 yukawa 3\n" + ON, ISO, 1e-9),
    "one of hybrid/overlay": (LJ, "pair_style hybrid/overlay lj/cut 2.5 lj96/cut 2.2\npair_coeff * * lj/cut 1 1\n"
                              "pair_coeff * * lj96/cut 0.1 1\npair_modify pair lj/cut tail yes\n", ISO, 1e-9),
    "units metal": (METAL, "pair_style lj/cut 8\npair_coeff * * 0.0103 3.4\n" + ON,
                    "timestep 0.001\nfix 1 all npt temp 80 80 0.1 iso 0 0 1\nrun 40\n", 1e-8),
}


@needs_lmp
@pytest.mark.parametrize("name", CASES)
def test_rows_of_lammps(name, tmp_path):
    words, pair, rest, near = CASES[name]
    deck = FLUID.format(pair=pair, **words) + rest
    theirs = run_lmp(deck, tmp_path / "theirs")
    ours = harness.run(deck, tmp_path / "ours").tables
    assert len(ours) == len(theirs)
    for table, their_table in zip(ours, theirs):
        assert table.titles == their_table.titles and len(table.rows) == len(their_table.rows)
        for row, their_row in zip(table.rows, their_table.rows):
            assert list(map(float, row)) == pytest.approx(list(map(float, their_row)), rel=near, abs=10 * near)
        assert abs(float(table.rows[0][table.titles.index("E_tail")])) > 1e-4


def test_the_formula(tmp_path):
    """Particles of two types that are too far from one another to interact have the corrections alone."""
    deck = ("units lj\nregion b block 0 20 0 20 0 20\ncreate_box 2 b\nmass * 1\ncreate_atoms 1 single 5 5 5\n"
            "create_atoms 1 single 15 5 5\ncreate_atoms 2 single 5 15 15\npair_style lj/cut 2.5\n"
            "pair_coeff 1 1 1 1\npair_coeff 2 2 1 1 3\npair_coeff 1 2 2 1\npair_modify tail yes\n"
            "thermo_style custom step pe etail press pxx pxy\nthermo_modify norm no format float %.15g\nrun 0\n")
    energy = pressure = 0.0
    for pairs, epsilon, rc in ((4, 1, 2.5), (1, 1, 3), (2 * 2, 2, 2.5)):
        energy += pairs * 8 / 9 * math.pi * epsilon * (rc ** -9 - 3 * rc ** -3) / 8000
        pressure += pairs * 16 / 9 * math.pi * epsilon * (2 * rc ** -9 - 3 * rc ** -3) / 8000 ** 2
    row = list(map(float, harness.run(deck, tmp_path).table.rows[0][1:]))
    assert row == pytest.approx([energy, energy, pressure, pressure, 0], rel=1e-13)


RUN = FLUID.format(pair=MIXTURE, **LJ).replace("%.13g", "%.17g") + ANISO


@pytest.mark.parametrize("engine", ["openmp", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_same_rows_on_every_engine(engine, tmp_path):
    naive = harness.run(RUN, tmp_path / "naive", engine="naive").table.rows
    assert harness.run(RUN, tmp_path / engine, engine=engine, threads=3).table.rows == naive


@pytest.mark.mpi
def test_same_rows_on_ranks(tmp_path):
    assert harness.run(RUN, tmp_path / "one").table.rows == harness.run(RUN, tmp_path / "four", ranks=4).table.rows


def test_restarts_hold_the_choice(tmp_path):
    whole = harness.run(RUN.replace("run 40", "restart 20 r.*\nrun 40"), tmp_path).table.rows
    rest = RUN[RUN.index("compute p"):]
    part = harness.run("read_restart r.20\n" + rest.replace("run 40", "run 40 upto"), tmp_path).table.rows
    assert part == whole[2:]
    (tmp_path / "r.40").unlink()
    done = works(run_deck(tmp_path, RUN.replace("run 40", "restart 20 r.*\nrun 40"), "--resume"))
    assert harness.read_tables(done.out)[-1].rows == whole[2:]


def test_particles_that_a_run_removes_count_no_more(tmp_path):
    deck = FLUID.format(pair=MIXTURE, **LJ) + "fix 1 all nve\nregion half block 0 5 0 5 0 2\n" \
        "fix 2 all evaporate 10 50 half 7\nthermo_modify norm no\nrun 20\n"
    rows = harness.run(deck, tmp_path).table.rows
    first, last = (float(rows[k][5]) for k in (0, -1))
    assert last / first == pytest.approx((400 / 500) ** 2, rel=0.05)


@pytest.mark.parametrize("words, message", [
    ("pair_modify tail yes shift yes", "shift yes and tail yes do not go together"),
    ("pair_modify shift yes\npair_modify tail yes", "shift yes and tail yes do not go together"),
    ("pair_style morse 2\npair_coeff * * 1 1 1\npair_modify tail yes", "style morse has no tail correction; lj/cut"),
    ("pair_style hybrid soft 1 zbl 1 2\npair_modify tail yes", "pair style soft has no tail correction"),
    ("pair_modify tail perhaps", "pair_modify tail"),
])
def test_bad_input(words, message, tmp_path):
    refused(run_deck(tmp_path, BOX + words + "\n"), USAGE, message)


def test_two_dimensions_have_none(tmp_path):
    deck = "dimension 2\nunits lj\nregion b block 0 9 0 9 -0.5 0.5\ncreate_box 1 b\nmass 1 1\n" \
        "create_atoms 1 single 1 1 0\npair_style lj/cut 2.5\npair_coeff * * 1 1\npair_modify tail yes\nrun 0\n"
    refused(run_deck(tmp_path, deck), USAGE, "three dimensions")


def test_walls_get_a_note(tmp_path):
    deck = BOX.replace("units lj\n", "units lj\nboundary p p f\n") + "pair_modify tail yes\nrun 0\nrun 0\n"
    out = works(run_deck(tmp_path, deck)).out
    assert out.count("the corrections take the whole box as filled evenly") == 1
