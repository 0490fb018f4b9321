"""Momentum: the total force is exactly zero, and the total momentum does not change by one bit.

Sums are made with rational numbers, so nothing is lost by adding.
"""

from __future__ import annotations

from fractions import Fraction
from typing import List

import pytest

import harness


def exact_sum(values) -> Fraction:
    return sum(map(Fraction, values.tolist()), Fraction(0))


def run(deck, engine, folder, **knobs):
    got = harness.run(harness.deck(deck), folder, engine=engine, variables={"steps": 500, "every": 25, **knobs})
    return got, harness.read_dump(folder / "check.dump")


PERIODIC = [("in.melt", {}), ("in.mixture", {}), ("in.mixture", {"mass2": 0.4}), ("in.soft", {}), ("in.types", {}),
            ("in.box", {}), ("in.mixture", {"mass2": 1e9})]


@pytest.mark.smoke
@pytest.mark.parametrize("deck, knobs", PERIODIC, ids=lambda value: str(value))
def test_total_force_is_exactly_zero(deck, knobs, engine, tmp_path):
    _, frames = run(deck, engine, tmp_path, **{**knobs, "steps": 100, "every": 50})
    assert len(frames) == 3
    for frame in frames:
        for name in ("fx", "fy", "fz"):
            assert exact_sum(frame.columns[name]) == 0, (frame.step, name)
    assert abs(frames[-1].columns["fx"]).max() > 0.5


@pytest.mark.parametrize("deck", ["in.melt", "in.mixture", "in.box"])
def test_sum_of_velocities_never_changes(deck, engine, tmp_path):
    """Equal masses: the velocities themselves."""
    _, frames = run(deck, engine, tmp_path)
    assert len(frames) == 21
    sums: List[List[Fraction]] = [[exact_sum(frame.columns[name]) for name in ("vx", "vy", "vz")] for frame in frames]
    assert all(now == sums[0] for now in sums)
    assert (frames[0].columns["vx"] != frames[-1].columns["vx"]).all()


@pytest.mark.parametrize("deck, knobs", PERIODIC, ids=lambda value: str(value))
def test_momentum_in_thermo_never_changes(deck, knobs, fast_engine, tmp_path):
    """Any masses: the thermo column, as text of 17 digits."""
    got, _ = run(deck, fast_engine, tmp_path, **knobs)
    titles = got.table.titles
    for name in ("Momx", "Momy", "Momz"):
        c = titles.index(name)
        assert len({row[c] for row in got.table.rows}) == 1, name
    assert len({row[titles.index("KinEng")] for row in got.table.rows}) > 10


def test_walls_keep_the_momentum_along_them(fast_engine, tmp_path):
    got, _ = run("in.slab", fast_engine, tmp_path)
    assert len(set(got.table.column("Momx"))) == 1
    assert len(set(got.table.column("Momy"))) == 1
    assert len(set(got.table.column("Momz"))) > 3
    # Momentum of thermo is that of the dump's velocities and masses.
    frame = harness.read_dump(tmp_path / "check.dump")[-1]
    masses = {1.0: 1.0, 2.0: 3.0}
    total = sum(masses[t] * v for t, v in zip(frame.columns["type"], frame.columns["vz"]))
    assert got.table.column("Momz")[-1] == pytest.approx(total, rel=1e-10)
