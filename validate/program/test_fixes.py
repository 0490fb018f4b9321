"""Fixes that come and go between runs, and fixes that act on particles: the same from every engine, and after a
resume."""

from __future__ import annotations

import pytest

import harness
from cli import run_deck, works

# Sides that are no multiples of a grid: the box is rounded to the grid of the first run.
UNEVEN = """boundary f f f
region box block 0.1 10.1 0.3 10.3 -3.7 6.3 units box
create_box 1 box
create_atoms 1 random 20 5 NULL
mass 1 1
pair_style soft 2.5
pair_coeff 1 1 25
fix m all nve
"""
ALL_EDGES = "fix w all wall/reflect xlo EDGE xhi EDGE ylo EDGE yhi EDGE zlo EDGE zhi EDGE\n"


@pytest.mark.parametrize("place", ["EDGE", "10.3 units box"])
def test_a_wall_on_the_edge_stays_there_on_another_grid(place, tmp_path):
    deck = UNEVEN + "fix t all langevin 1 1 1 7\n" \
                    "fix w all wall/reflect xlo EDGE xhi EDGE ylo EDGE zlo EDGE zhi EDGE\n" \
        f"fix v all wall/reflect yhi {place}\nrun 1\nunfix t\npair_style soft 1\npair_coeff 1 1 25\nrun 1\n"
    works(run_deck(tmp_path, deck))


def test_a_run_goes_on_with_walls_set_after_an_earlier_run(tmp_path):
    deck = UNEVEN + "fix w0 all wall/reflect xlo EDGE xhi EDGE\nrestart 50 r1.*\nrun 20\n" \
        "fix w all wall/reflect ylo EDGE yhi EDGE zlo EDGE zhi EDGE\nrun 200\n"
    done = works(run_deck(tmp_path, deck))
    if "HDF5" in done.err:
        pytest.skip("no restarts in this build")
    assert "Resumed at step" in works(run_deck(tmp_path, deck, "--resume")).out


def test_a_thermostat_rounds_fast_particles_too(tmp_path):
    """A coarse timestep and weak forces: velocities are beyond 2^51 of their quanta."""
    (tmp_path / "in.fast").write_text("""dimension 2
region box block 0 8 0 8 -0.5 0.5 units box
create_box 1 box
create_atoms 1 random 40 5 NULL
mass 1 1
velocity all create 1 4
pair_style soft 1
pair_coeff 1 1 0.3
timestep 0.5
fix m all nve
fix t all langevin 1 1 1 5
thermo 20
thermo_style custom step temp ke etotal momx momy
thermo_modify format float %.17g
run 200
""")
    tables = [harness.run(tmp_path / "in.fast", tmp_path, engine=engine).table.rows for engine in ("naive", "openmp")]
    assert len(tables[0]) == 11 and tables[0] == tables[1]
