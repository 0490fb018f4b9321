"""Energy conservation of the shifted Lennard-Jones melt: its error falls as dt^2, and it does not drift.

The unshifted potential jumps at the cutoff and shows neither.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import harness


def energies(folder, cells, dt, steps, every, skip):
    """Total energy per particle at every `every` steps, without the time `skip` in which the lattice melts."""
    deck = re.sub(r"^dump .*\n", "", harness.deck("in.melt").read_text(), flags=re.M)
    got = harness.run(deck, folder, threads=1,
                      variables={"cells": cells, "dt": dt, "steps": steps, "every": every, "shift": "yes"})
    assert len(got.table.rows) == steps // every + 1
    return got.table.column("TotEng")[got.table.column("Step") * dt > skip]


def test_error_falls_as_the_square_of_the_step(cores, tmp_path):
    """The standard deviation of E/N of 4000 particles over 8 tau of the liquid; over 20 tau it is 7.2e-5, 1.9e-5 and
    5.7e-6."""
    steps = {0.008: 1250, 0.004: 2500, 0.002: 5000}

    def spread(dt):
        return np.std(energies(tmp_path / str(dt), 10, dt, steps[dt], 10, 2.0))

    with ThreadPoolExecutor(cores) as pool:
        coarse, middle, fine = pool.map(spread, steps)
    assert 3.0 < coarse / middle < 5.5, (coarse, middle, fine)
    assert 3.0 < middle / fine < 5.5, (coarse, middle, fine)
    assert 5e-5 < coarse < 1e-4


def test_energy_does_not_drift(tmp_path):
    """2 10^5 steps of 256 particles: what a straight line through E rises by, relative to E.

    The jump of the force at the cutoff makes the energy walk at random, by an amount that falls as dt^2 and is no
    property of an integrator: at dt 0.005 it is 1e-4 after 1000 tau, in LAMMPS just as here. At this dt it is 1e-6. An
    error that grows with the number of steps would be seen.
    """
    e = energies(tmp_path, 4, 0.0005, 200000, 20, 2.0)
    t = np.linspace(-0.5, 0.5, len(e))
    assert abs(np.polyfit(t, e, 1)[0] / e.mean()) < 1e-5
    halves = np.array_split(e, 2)
    assert abs((halves[1].mean() - halves[0].mean()) / e.mean()) < 5e-6
    assert -4.3 < e.mean() < -4.0
