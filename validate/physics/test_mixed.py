"""`package gpu precision mixed`: close to double precision, within tolerances, and good for a long run.

Pairs are computed in single precision there, from positions that are 32-bit fractions of the box. No bits are promised.
The reference is the OpenMP engine.
"""

from __future__ import annotations

import numpy as np
import pytest

import harness
from test_nist import WORDS, jittered, measure

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("style", sorted(WORDS))
def test_forces_and_energies(style, dim, tmp_path):
    knobs = {**WORDS[style], "dim": dim}
    u, w, f = measure(jittered(dim), tmp_path, **knobs)
    mixed_u, mixed_w, mixed_f = measure(jittered(dim), tmp_path, engine="gpu-mixed", **knobs)
    assert np.abs(mixed_f - f).max() < 2e-5 * np.abs(f).max()
    assert mixed_u == pytest.approx(u, rel=1e-5)
    assert mixed_w == pytest.approx(w, rel=1e-5)


DECKS = {
    "in.melt": {"cells": 8},
    "in.mixture": {"mass2": 0.4},
    "in.repulsive": {"n": 4000},
    "in.slab": {},
    "in.soft": {},
    "in.langevin": {},
    "in.scaled": {},
}


@pytest.mark.parametrize("neighbours", ["cells", "list"])
@pytest.mark.parametrize("deck", DECKS)
def test_short_trajectories_stay_close(deck, neighbours, tmp_path):
    """40 steps, before chaos makes much of the difference; walls, masses and the thermostat included."""
    knobs = {**DECKS[deck], "steps": 40, "every": 20}
    expected = harness.run(harness.DECKS / deck, tmp_path / "double", variables=knobs)
    got = harness.run(harness.DECKS / deck, tmp_path / "mixed", engine="gpu-mixed", package={"neighbours": neighbours},
                      variables=knobs)
    before, after = (harness.read_dump(tmp_path / name / "check.dump") for name in ("double", "mixed"))
    assert [frame.step for frame in after] == [0, 20, 40]
    for a, b in zip(before, after):
        sides = a.bounds[:, 1] - a.bounds[:, 0]
        apart = b.vectors("x", "y", "z") - a.vectors("x", "y", "z")
        apart -= np.round(apart / sides) * sides
        v, w = a.vectors("vx", "vy", "vz"), b.vectors("vx", "vy", "vz")
        assert np.abs(apart).max() < 1e-5 * sides.max()
        assert np.abs(w - v).max() < 1e-3 * np.abs(v).max()
    for name in ("PotEng", "KinEng", "Press"):
        scale = np.abs(expected.table.column(name)).max()
        assert np.abs(got.table.column(name) - expected.table.column(name)).max() < 1e-4 * scale, name


def test_energy_is_conserved(tmp_path):
    """4000 particles over 20 tau. In double precision the energy's standard deviation is 2e-5."""
    got = harness.run(harness.DECKS / "in.melt", tmp_path, engine="gpu-mixed",
                      variables={"cells": 10, "dt": 0.004, "steps": 5000, "every": 10, "shift": "yes"})
    e = got.table.column("TotEng")[got.table.column("Step") * 0.004 > 2.0]
    assert len(e) > 400
    assert np.std(e) < 5e-5
    t = np.linspace(-0.5, 0.5, len(e))
    assert abs(np.polyfit(t, e, 1)[0] / e.mean()) < 1e-4


def test_published_melt(tmp_path):
    """The first row of LAMMPS's bench/in.lj, to the digits that single precision has."""
    row = harness.run(harness.INPUTS / "in.lj", tmp_path, engine="gpu-mixed").table.at(0)
    assert row["E_pair"] == pytest.approx(-6.7733681, rel=1e-5)
    assert row["Press"] == pytest.approx(-5.0197073, rel=1e-5)
