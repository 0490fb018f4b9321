"""`package gpu precision mixed`: close to double precision, within tolerances, and good for a long run.

Pairs are computed in single precision there, from positions that are 32-bit fractions of the box. No bits are promised.
The reference is the OpenMP engine.
"""

from __future__ import annotations

import numpy as np
import pytest

import harness
from cli import PHYSICS
from test_nist import WORDS, jittered, measure

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("style", sorted(style for style in WORDS if not style.startswith("dpd")))
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
    expected = harness.run(harness.deck(deck), tmp_path / "double", variables=knobs)
    got = harness.run(harness.deck(deck), tmp_path / "mixed", engine="gpu-mixed", package={"neighbours": neighbours},
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
    got = harness.run(harness.deck("in.melt"), tmp_path, engine="gpu-mixed",
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


# ---------------------------------------------------------------- gravity without a softening length

GRAVITY = ("units lj\ndimension {dim}\nboundary f f {z}\natom_style {atoms}\nregion b block -9 9 -9 9 -9 9\n"
           "create_box 1 b\ncreate_atoms 1 uniform 150 seed 5 scale 2\n{more}pair_style gravity {eps}\n"
           "timestep 1e-4\nfix move all nve\n"
           "thermo 20\nthermo_style custom step temp ke momx momy momz\nthermo_modify format float %.17g\n"
           "dump check all custom 20 check.dump id x y z vx vy vz\nrun 40\n")
MANY = "create_atoms 1 cold 60 seed 6 scale 3\n"
# Batches of steps; each pair from both its bodies; each pair once.
WAYS = [{}, {"fused": "no"}, {"force": "symmetric"}]


@pytest.mark.parametrize("package", WAYS, ids=str)
@pytest.mark.parametrize("atoms, dim, eps", [("atomic", 3, 0.0), ("atomic", 2, 0.0), ("sphere", 3, 0.0),
                                             ("sphere", 2, 0.0), ("sphere", 3, 1e-13), ("sphere", 3, 0.01)])
def test_gravity_stays_close(atoms, dim, eps, package, tmp_path):
    """Without a softening length the distance of a body from itself is 0: its force on itself must be 0, and not 0/0.
    Changes of velocities in 40 steps, one mass and several, each pair twice and once."""
    deck = GRAVITY.format(dim=dim, z="p" if dim == 2 else "f", atoms=atoms, eps=eps,
                          more=MANY if atoms == "sphere" else "")
    harness.run(deck, tmp_path / "double")
    harness.run(deck, tmp_path / "mixed", engine="gpu-mixed", package=package)
    before, after = (harness.read_dump(tmp_path / name / "check.dump") for name in ("double", "mixed"))
    assert [frame.step for frame in after] == [0, 20, 40]
    start = before[0].vectors("vx", "vy", "vz")
    for a, b in zip(before[1:], after[1:]):
        change = a.vectors("vx", "vy", "vz") - start
        wrong = b.vectors("vx", "vy", "vz") - start - change
        assert np.abs(change).max() > 1e-3
        assert (np.abs(wrong).max(axis=1) < 1e-5 * np.abs(change).max(axis=1) + 1e-7 * np.abs(change).max()).all()
        assert np.abs(b.vectors("x", "y", "z") - a.vectors("x", "y", "z")).max() < 1e-6


@pytest.mark.parametrize("package", WAYS, ids=str)
@pytest.mark.parametrize("atoms", ["atomic", "sphere"])
def test_gravity_of_bodies_at_the_same_place(atoms, package, tmp_path):
    """The error names them, as in double precision."""
    pair = "create_atoms 1 single 0.5 0.25 4 units box\n" * 2
    deck = GRAVITY.format(dim=3, z="f", atoms=atoms, eps=0, more=pair)
    got = harness.run(deck, tmp_path, engine="gpu-mixed", package=package, expect=PHYSICS, timeout=30.0)
    assert "step 0: particles 151 and 152 overlap at distance 0" in got.err


@pytest.mark.parametrize("package", WAYS, ids=str)
def test_gravity_out_of_the_range_of_single_precision(package, tmp_path):
    """Far from the middle of the box, where single precision rounds two bodies to a smaller distance than they have: an
    impulse may be out of range there alone. That is an error, and not a run without end."""
    deck = (GRAVITY.format(dim=3, z="f", atoms="atomic", eps=0, more="").replace("-9 9", "-1000 1000")
            .replace("scale 2", "scale 2 centre 400 0 0\ncreate_atoms 1 single 403 0 0 units box\n"
                     "create_atoms 1 single 403.00004 0 0 units box"))
    harness.run(deck, tmp_path / "double", engine="gpu", package=package)
    got = harness.run(deck, tmp_path / "mixed", engine="gpu-mixed", package=package, expect=PHYSICS,
                      timeout=30.0)
    assert len(got.err.splitlines()) == 1
    assert "step 0: an impulse is out of range in single precision" in got.err and "precision double" in got.err


@pytest.mark.parametrize("package", WAYS, ids=str)
def test_gravity_does_not_depend_on_output(package, tmp_path):
    """An impulse is the same number in a batch of 40 steps, in steps with output after each of them, and at the
    beginning of a run, to the bit."""
    deck = GRAVITY.format(dim=3, z="f", atoms="sphere", eps=0.01, more=MANY).replace("timestep 1e-4", "timestep 1e-2")
    deck = deck.replace("vz\n", "vz\ndump_modify check format float %.17g\n")
    seldom = deck.replace("custom 20", "custom 40").replace("thermo 20", "thermo 40")
    often = deck.replace("thermo 20", "thermo 1")
    frames = []
    for name, text in (("seldom", seldom), ("often", often), ("in parts", often.replace("run 40", "run 7\nrun 33"))):
        harness.run(text, tmp_path / name, engine="gpu-mixed", package=package)
        frames.append(harness.read_dump(tmp_path / name / "check.dump"))
        assert frames[-1][-1].step == 40
    for names in (("x", "y", "z"), ("vx", "vy", "vz")):
        start, end = (frame.vectors(*names) for frame in frames[0])
        assert np.abs(end - start).max() > 0.01
        for other in frames[1:]:
            np.testing.assert_array_equal(other[-1].vectors(*names), end)
