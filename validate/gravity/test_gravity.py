"""Gravity: orbits and clusters with known properties, and forces against a reference in extended precision.

The reference sums all pairs by the formulas of the manual in numpy's longdouble (64 bits of mantissa on x86).
"""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from typing import Any, Sequence, Tuple

import numpy as np
import pytest

import harness
from test_momentum import exact_sum

EXTENDED = np.longdouble
extended_only = pytest.mark.skipif(np.finfo(EXTENDED).nmant < 63, reason="longdouble is no longer than double here")

OUTPUT = ("thermo {every}\nthermo_style custom step temp pe ke etotal press momx momy momz\n"
          "thermo_modify format float %.17g norm no\n"
          "dump d all custom {every} d.dump id x y z vx vy vz fx fy fz\ndump_modify d format float %.17g\n")


def deck_of(folder: Path, system: harness.Particles, dim: int, style: str, dt: float, every: int) -> str:
    """A deck of these bodies, up to the line `run`."""
    folder.mkdir(parents=True, exist_ok=True)
    data = harness.write_data(folder / "bodies.data", system)
    boundary = "f f p" if dim == 2 else "f f f"
    return (f"units lj\ndimension {dim}\nboundary {boundary}\nread_data {data}\npair_style gravity {style}\n"
            f"timestep {dt!r}\nfix move all nve\n" + OUTPUT.format(every=every))


def bodies(x: Any, v: Any, mass: Sequence[float], side: float, dim: int = 3) -> harness.Particles:
    """Bodies of a type each, in a box around the origin."""
    half = (0.5 * side, 0.5 * side, 0.5 * side if dim == 3 else 0.5)
    return harness.Particles([-h for h in half], half, np.array(x), np.array(v), range(1, len(mass) + 1), mass)


def constant(table: harness.Table, *titles: str) -> bool:
    """Do these columns have one text in all rows?"""
    return all(len({row[table.titles.index(title)] for row in table.rows}) == 1 for title in titles)


# ---------------------------------------------------------------- orbits

def test_kepler_orbit(tmp_path):
    """Eccentricity 0.9, 1000 orbits, two masses, no softening.

    Leapfrog is symplectic: it keeps another energy exactly, H + dt^2 (v.H''.v/12 - a^2/24) + O(dt^4) with H'' the
    second derivatives of the potential. So the error of the energy is this term at the present place less that at the
    start, and does not grow. The term is largest at the pericentre. 1000 steps an orbit are 0.27 radians a step there,
    where O(dt^4) is a tenth of the term.

    Leapfrog also keeps the angular momentum, because kicks are radial and drifts along the velocity. Each impulse is
    rounded to the grid of velocities, by q/sqrt(12) on average and at a distance of at most 1.9. These errors add up as
    a random walk. Those of positions are smaller.
    """
    eccentricity, mass, per_orbit, orbits = 0.9, np.array([0.75, 0.25]), 1000, 1000
    r, v = 1.0 + eccentricity, math.sqrt((1.0 - eccentricity) / (1.0 + eccentricity))
    dt = 2.0 * math.pi / per_orbit
    pair = bodies([[-mass[1] * r, 0, 0], [mass[0] * r, 0, 0]], [[0, -mass[1] * v, 0], [0, mass[0] * v, 0]], mass, 8.0)
    got = harness.run(deck_of(tmp_path, pair, 3, "0", dt, 997) + f"run {per_orbit * orbits}\n", tmp_path, threads=1)
    reduced = mass[0] * mass[1]

    anomaly = np.linspace(0.0, np.pi, 1001)
    distance = (1.0 - eccentricity**2) / (1.0 + eccentricity * np.cos(anomaly))
    radial = eccentricity * np.sin(anomaly) / math.sqrt(1.0 - eccentricity**2)
    speed2 = 2.0 / distance - 1.0
    term = dt**2 * reduced * ((speed2 - 3.0 * radial**2) / distance**3 / 12.0 - 1.0 / distance**4 / 24.0)
    largest = np.abs(term).max()
    error = got.table.column("TotEng") + 0.5 * reduced
    assert 0.5 * largest < np.abs(error).max() < 1.1 * largest
    # Nearly all of a period is far from the pericentre, so that averages of many rows show a drift.
    first, last = error[:300].mean(), error[-300:].mean()
    assert abs(last - first) < 0.02 * largest

    frames = harness.read_dump(tmp_path / "d.dump")
    angular = []
    for frame in frames:
        x, u = (frame.vectors(*names).astype(EXTENDED) for names in (("x", "y"), ("vx", "vy")))
        angular.append(float((mass * (x[:, 0] * u[:, 1] - x[:, 1] * u[:, 0])).sum()))
    quantum = 2.0 ** int(re.search(r"velocity 2\^(-?\d+)", got.log)[1]) * mass.max()
    walk = quantum * r * math.sqrt(2.0 * per_orbit * orbits / 12.0)
    assert np.abs(np.array(angular) - reduced * math.sqrt(1.0 - eccentricity**2)).max() < 3.0 * walk
    assert walk < 1e-10
    assert constant(got.table, "Momx", "Momy", "Momz")
    assert len(frames) == 1004


def test_figure_of_eight_returns(tmp_path):
    """Three equal masses on one curve (Chenciner and Montgomery, Ann. Math. 152 (2000) 881). After a period each body
    is where it was, and after a third of it where another one was. The error falls as dt^2."""
    period = 6.32591398
    x = np.array([[0.97000436, -0.24308753, 0.0], [-0.97000436, 0.24308753, 0.0], [0.0, 0.0, 0.0]])
    v = np.array([-0.93240737, -0.86473146, 0.0])
    missed = []
    for steps in (1500, 3000):
        folder = tmp_path / str(steps)
        three = harness.Particles((-2, -2, -0.5), (2, 2, 0.5), x, np.array([-0.5 * v, -0.5 * v, v]))
        harness.run(deck_of(folder, three, 2, "0", period / steps, steps // 3) + f"run {steps}\n", folder, threads=1)
        start, third, _, end = (frame.vectors("x", "y") for frame in harness.read_dump(folder / "d.dump"))
        missed.append(np.abs(end - start).max())
        there = [np.abs(third - np.roll(start, shift, axis=0)).max() for shift in (1, 2)]
        assert min(there) < 2e-3 and max(there) > 0.1
    assert missed[0] < 2e-3 and 3.5 < missed[0] / missed[1] < 4.5


# ---------------------------------------------------------------- forces, energy and virial of random systems

class Random:
    """Bodies at random places of a cube in a box, at rest; a third of them have another mass."""

    def __init__(self, dim: int, ratio: float, side: float, n: int = 40, share: float = 0.9) -> None:
        random = np.random.default_rng([dim, int(side), n])
        self.dim, self.side = dim, side
        self.x = np.zeros((n, 3))
        self.x[:, :dim] = share * side * random.uniform(-0.5, 0.5, (n, dim))
        self.type = [2 if i % 3 == 1 else 1 for i in range(n)]
        self.mass = (1.0, ratio)

    def particles(self) -> harness.Particles:
        whole = bodies(self.x, np.zeros_like(self.x), self.mass, self.side, self.dim)
        whole.type = self.type
        return whole

    def terms(self, x: np.ndarray, eps: float, g: float) -> Tuple[np.ndarray, Any, Any]:
        """Forces of each pair, [n, n, dim], energies and virials of pairs, [n, n], at these places."""
        m = np.array([self.mass[t - 1] for t in self.type], dtype=EXTENDED)
        delta = x[:, None, :self.dim].astype(EXTENDED) - x[None, :, :self.dim].astype(EXTENDED)
        soft = np.sqrt((delta**2).sum(axis=-1) + EXTENDED(eps)**2)
        np.fill_diagonal(soft, np.inf)
        energy = -EXTENDED(g) * m[:, None] * m[None, :] / soft
        force = (energy / soft**2)[:, :, None] * delta
        return force, energy, (force * delta).sum(axis=-1)


SYSTEMS = list(itertools.product((0.0, 0.01), (4.0, 100.0, 1e4)))  # softening length in sides of the box, side


def near(got: np.ndarray, terms: np.ndarray, axis: Any, bound: float) -> bool:
    """Is a sum within `bound` of the sum of the sizes of its terms?"""
    return bool((np.abs(got - terms.sum(axis=axis)) <= bound * np.abs(terms).sum(axis=axis)).all())


@extended_only
@pytest.mark.parametrize("dim, ratio", list(itertools.product((2, 3), (1.0, 1e3, 1e6))), ids=str)
def test_forces_energy_and_virial(dim, ratio, isas, tmp_path):
    """Each force, energy and virial within 1e-10 of the sizes of its terms; softening lengths of 0 and of a hundredth
    of the box. After a step from rest the momenta are those of the forces before and after the drift. Each of the n
    terms of a force is rounded by at most 1e-10/sqrt(n) of the force of all bodies on a light one at the distance of
    the system's extent, and, as a double, by a few 1e-16 of itself."""
    for turn, (eps, side) in enumerate(SYSTEMS):
        system, g = Random(dim, ratio, side), 1.5
        total = sum(system.mass[t - 1] for t in system.type)
        dt = 1e-3 * math.sqrt(side**3 / (g * total))
        folder = tmp_path / str(turn)
        deck = deck_of(folder, system.particles(), dim, f"{eps * side!r} {g}", dt, 1) + "run 1\n"
        got = harness.run(deck, folder, engine="naive" if turn % 3 == 0 else "openmp", isa=isas[turn % len(isas)])
        frames = harness.read_dump(folder / "d.dump")
        names = ("fx", "fy", "fz")[:dim]
        kicks = 0.0
        for frame in frames:
            force, energy, virial = system.terms(frame.vectors("x", "y", "z"), eps * side, g)
            assert near(frame.vectors(*names).astype(EXTENDED), force, 1, 1e-10), (side, eps)
            kicks = kicks + force
            row = got.table.at(frame.step)
            assert near(EXTENDED(row["PotEng"]), energy / 2, None, 1e-10), (side, eps)
            pressure = EXTENDED(row["Press"]) * dim * EXTENDED(side)**dim
            freedom = dim * (len(system.x) - 1)
            assert near(pressure - freedom * EXTENDED(row["Temp"]), virial / 2, None, 1e-10), (side, eps)
        m = np.array([system.mass[t - 1] for t in system.type])[:, None]
        momentum = frames[1].vectors("vx", "vy", "vz")[:, :dim].astype(EXTENDED) * m
        extent = 0.99 * math.sqrt(((system.x - system.x.mean(axis=0))**2).sum(axis=1).mean())
        whole = g * total * extent / (extent**2 + (eps * side)**2)**1.5
        bound = 2.0 * math.sqrt(len(m)) * 1e-10 * whole + 1e-15 * np.abs(kicks).sum(axis=1)
        assert (np.abs(momentum - EXTENDED(dt) / 2 * kicks.sum(axis=1)) < 0.5 * dt * bound).all(), (side, eps)
        np.testing.assert_allclose(frames[0].vectors("x", "y", "z"), system.x, rtol=0.0, atol=1e-15 * side)


@extended_only
@pytest.mark.parametrize("gap", [1e-3, 1e-4])
def test_close_pairs_in_output(gap, engine, isas, tmp_path):
    """Without softening one pair is so close that its terms are beyond the fast rounding of the others, and still in
    range: momenta are wide. Energy, virial and forces, where the two are in one vector of bodies and where not."""
    for partner in (1, 40):
        system = Random(3, 1.0, 4.0, n=41)
        system.x[partner] = system.x[0] + [gap, 0.0, 0.0]
        folder = tmp_path / str(partner)
        deck = deck_of(folder, system.particles(), 3, "0", 1e-8, 1) + "run 0\n"
        got = harness.run(deck, folder, engine=engine, isa=isas[-1])
        assert "momenta of two words" in got.log
        frame = harness.read_dump(folder / "d.dump")[0]
        force, energy, virial = system.terms(frame.vectors("x", "y", "z"), 0.0, 1.0)
        assert np.abs(force[0, partner]).max() > 0.3 / gap**2
        assert near(frame.vectors("fx", "fy", "fz").astype(EXTENDED), force, 1, 1e-10)
        row = got.table.at(0)
        assert near(EXTENDED(row["PotEng"]), energy / 2, None, 1e-10)
        assert near(EXTENDED(row["Press"]) * 3 * EXTENDED(4)**3, virial / 2, None, 1e-10)


def softened(n: int, extent: float, folder: Path, mass: Sequence[float] = (1.0, 1.0)) -> Tuple[Random, str]:
    """A system whose extent is a small part of the softening length, which is 1, and its deck."""
    system = Random(3, 1.0, 4.0, n=n, share=extent / 4.0)
    system.mass = tuple(mass)
    return system, deck_of(folder, system.particles(), 3, "1", 1e-4, 1) + "run 0\n"


def test_many_bodies_within_the_softening_length(fast_engine, tmp_path):
    """Each pair has the largest energy that there is, and a body has more pairs than the coarse sum of one with a
    cutoff has room for. The energy is -(1 - r^2/2) and the force -r of a pair, up to terms of r^2 = 1e-6 of them."""
    system, deck = softened(9000, 1e-3, tmp_path)
    got = harness.run(deck, tmp_path, engine=fast_engine)
    assert got.table.at(0)["PotEng"] == pytest.approx(-9000 * 8999 / 2, rel=1e-6)
    force = harness.read_dump(tmp_path / "d.dump")[0].vectors("fx", "fy", "fz")
    expected = 9000 * (system.x.mean(axis=0) - system.x)
    assert np.abs(force - expected).max() < 3e-6 * np.abs(expected).max()


@extended_only
@pytest.mark.parametrize("extent", [0.01, 1.0, 3.0])
def test_heavy_bodies_within_the_softening_length(extent, engine, tmp_path):
    """Momenta are wide, and the pairs of heavy bodies leave the fast rounding at every distance."""
    system, deck = softened(30, extent, tmp_path, (1.0, 1e6))
    got = harness.run(deck, tmp_path, engine=engine)
    assert "momenta of two words" in got.log
    frame = harness.read_dump(tmp_path / "d.dump")[0]
    force, energy, virial = system.terms(frame.vectors("x", "y", "z"), 1.0, 1.0)
    assert near(frame.vectors("fx", "fy", "fz").astype(EXTENDED), force, 1, 1e-10)
    row = got.table.at(0)
    assert near(EXTENDED(row["PotEng"]), energy / 2, None, 1e-10)
    assert near(EXTENDED(row["Press"]) * 3 * EXTENDED(4)**3, virial / 2, None, 1e-10)


@pytest.mark.parametrize("eps", [0.0, 0.05])
def test_total_force_is_exactly_zero(eps, engine, tmp_path):
    system = Random(3, 7.0, 4.0)
    harness.run(deck_of(tmp_path, system.particles(), 3, f"{eps}", 1e-3, 10) + "run 10\n", tmp_path, engine=engine)
    for frame in harness.read_dump(tmp_path / "d.dump"):
        assert [exact_sum(frame.columns[name]) for name in ("fx", "fy", "fz")] == [0, 0, 0]


# ---------------------------------------------------------------- clusters

def cluster(folder: Path, words: str, side: float, *, dim: int = 3, more: str = "run 0\n") -> harness.Result:
    """Runs a deck with `create_atoms 1 WORDS`."""
    z = "-0.5 0.5" if dim == 2 else f"{-0.5 * side} {0.5 * side}"
    return harness.run(f"units lj\ndimension {dim}\nboundary f f {'p' if dim == 2 else 'f'}\n"
                       f"region b block {-0.5 * side} {0.5 * side} {-0.5 * side} {0.5 * side} {z} units box\n"
                       f"create_box 1 b\ncreate_atoms 1 {words}\nfix move all nve\n" + more, folder)


def uniform_in_unit(u: np.ndarray) -> bool:
    """Kolmogorov and Smirnov: are these numbers uniform in (0, 1)? One sample in a thousand is not."""
    n = len(u)
    u = np.sort(u)
    distance = max(np.abs(u - np.arange(n) / n).max(), np.abs(u - np.arange(1, n + 1) / n).max())
    return bool(distance < 1.95 / math.sqrt(n))


def sample(folder: Path, words: str, side: float, dim: int = 3) -> Tuple[np.ndarray, np.ndarray]:
    """Positions and velocities of a cluster, [n, dim]."""
    cluster(folder, words, side, dim=dim,
            more="dump d all custom 1 d.dump id x y z vx vy vz\ndump_modify d format float %.17g\nrun 0\n")
    frame = harness.read_dump(folder / "d.dump")[0]
    return frame.vectors("x", "y", "z")[:, :dim], frame.vectors("vx", "vy", "vz")[:, :dim]


def test_plummer_places_and_velocities(tmp_path):
    """The mass within r is r^3 (1 + r^2)^(-3/2), and v over the speed of escape has the density q^2 (1 - q^2)^(7/2).
    Both are isotropic. The radii of 10, 50 and 90 % of the mass: 4 standard deviations of a quantile of n bodies."""
    n, scale, centre = 20000, 0.5, np.array([1.0, -2.0, 3.0])
    x, v = sample(tmp_path, f"plummer {n} seed 7 scale {scale} centre 1 -2 3", 60.0)
    np.testing.assert_allclose(x.mean(axis=0), centre, atol=1e-9)
    np.testing.assert_allclose(v.mean(axis=0), 0.0, atol=1e-9)
    x, v = (x - centre) / scale, v * math.sqrt(scale)
    r = np.sqrt((x**2).sum(axis=1))
    inside = (r**2 / (1.0 + r**2))**1.5 / 0.999
    assert uniform_in_unit(inside)
    for share in (0.1, 0.5, 0.9):
        exact = 1.0 / math.sqrt((0.999 * share)**(-2.0 / 3.0) - 1.0)
        density = 3.0 * exact**2 * (1.0 + exact**2)**-2.5 / 0.999
        assert abs(np.quantile(r, share) - exact) < 4.0 * math.sqrt(share * (1.0 - share) / n) / density
    assert 30.0 < r.max() < 39.0

    speed = np.sqrt((v**2).sum(axis=1))
    q = speed / (math.sqrt(2.0) * (1.0 + r**2)**-0.25)
    grid = np.linspace(0.0, 1.0, 4001)
    density = grid**2 * (1.0 - grid**2)**3.5
    below = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
    assert uniform_in_unit(np.interp(q, grid, below / below[-1]))
    for one, length in ((x, r), (v, speed)):
        for d in range(3):
            assert uniform_in_unit(0.5 + 0.5 * one[:, d] / length)
    assert uniform_in_unit(0.5 + 0.5 * (x * v).sum(axis=1) / (r * speed))


@pytest.mark.parametrize("dim", (2, 3))
def test_uniform_places_and_velocities(dim, tmp_path):
    n, scale = 20000, 2.0
    x, v = sample(tmp_path, f"uniform {n} seed 3 scale {scale}", 10.0, dim)
    speed = 1.0 if dim == 3 else math.sqrt(16.0 / (3.0 * math.pi))
    for one, radius in ((x, scale), (v, speed / math.sqrt(scale))):
        np.testing.assert_allclose(one.mean(axis=0), 0.0, atol=1e-9)
        r = np.sqrt((one**2).sum(axis=1)) / radius
        # The means that were subtracted are about 1/sqrt(n).
        assert 0.99 < r.max() < 1.02
        assert uniform_in_unit(np.minimum(r, 1.0)**dim)
        assert uniform_in_unit(np.arctan2(one[:, 1], one[:, 0]) / (2.0 * math.pi) + 0.5)


VIRIAL = "variable virial equal -2*ke/pe\nthermo_style custom step ke pe v_virial\nthermo_modify format float %.17g\n"


@pytest.mark.parametrize("words, dim", [("uniform 3000 seed 5 scale 2", 3), ("uniform 3000 seed 5 scale 2", 2),
                                        ("plummer 3000 seed 5", 3)])
def test_virial_equilibrium_at_the_start(words, dim, tmp_path):
    """Twice the kinetic energy is minus the potential one: 3 standard deviations of the kinetic energies of n bodies,
    which are 0.44, 0.58 and 0.98 of their mean. Of a disc and a sphere the energy of each is known too."""
    n = 3000
    row = cluster(tmp_path, words, 100.0, dim=dim, more=f"pair_style gravity 0\n{VIRIAL}run 0\n").table.at(0)
    spread = 0.98 if "plummer" in words else 0.44 if dim == 3 else 0.58
    assert abs(row["v_virial"] - 1.0) < 3.0 * spread / math.sqrt(n)
    exact = 3.0 * math.pi / 32.0 if "plummer" in words else 0.3 if dim == 3 else 4.0 / (3.0 * math.pi)
    assert row["PotEng"] * n == pytest.approx(-exact * (1.0 - 1.0 / n), rel=0.03)


def test_plummer_stays_in_equilibrium(tmp_path):
    """The average of the virial ratio over 8 crossing times; and the radius of half of the mass at the end."""
    n = 400
    got = cluster(tmp_path, f"plummer {n} seed 2", 400.0, more="pair_style gravity 0.02\ntimestep 0.02\nthermo 20\n"
                  f"{VIRIAL}dump d all custom 2000 d.dump id x y z vx vy vz\nrun 2000\n")
    ratio = got.table.column("v_virial")
    assert len(ratio) == 101 and np.abs(ratio - 1.0).max() < 0.2
    assert ratio.mean() == pytest.approx(1.0, abs=0.01)
    first, last = (np.quantile(np.sqrt((f.vectors("x", "y", "z")**2).sum(axis=1)), 0.5)
                   for f in harness.read_dump(tmp_path / "d.dump"))
    assert first == pytest.approx(1.305, rel=0.15) and last == pytest.approx(1.305, rel=0.2)


@pytest.mark.parametrize("walls", (False, True), ids=("open", "walls"))
def test_cold_collapse_and_back(walls, fast_engine, tmp_path):
    """Through the bounce at t = 1.6, and back to the bodies at rest, bit by bit. With walls until t = 3, when bodies
    that flew out of the sphere have met them."""
    side, steps = (2.1, 1500) if walls else (40.0, 800)
    fix = "fix w all wall/reflect xlo EDGE xhi EDGE ylo EDGE yhi EDGE zlo EDGE zhi EDGE\n" if walls else ""
    text = (f"units lj\nboundary f f f\nregion b block {-0.5 * side} {0.5 * side} {-0.5 * side} {0.5 * side} "
            f"{-0.5 * side} {0.5 * side} units box\ncreate_box 1 b\ncreate_atoms 1 cold 200 seed 4\n"
            f"pair_style gravity 0.05\ntimestep 0.002\nfix move all nve\n{fix}" + OUTPUT.format(every=steps // 2)
            + f"run {steps}\nvelocity all negate\nrun {steps}\n")
    got = harness.run(text, tmp_path, engine=fast_engine)
    frames = {frame.step: frame for frame in harness.read_dump(tmp_path / "d.dump")}
    first, turn, last = (frames[k] for k in (0, steps, 2 * steps))
    np.testing.assert_array_equal(last.vectors("x", "y", "z"), first.vectors("x", "y", "z"))
    assert not last.vectors("vx", "vy", "vz").any() and not first.vectors("vx", "vy", "vz").any()
    assert np.abs(turn.vectors("x", "y", "z") - first.vectors("x", "y", "z")).max() > 0.5
    there = got.tables[0]
    assert there.at(0)["KinEng"] == 0.0
    assert abs(there.at(steps)["TotEng"] / there.at(0)["TotEng"] - 1.0) < 0.01
    assert constant(there, "Momx", "Momy", "Momz") is not walls
    # It has bounced: the radius of half of the mass is larger than at the bounce, t = 1.1, where it is about 0.3.
    half = np.median(np.sqrt((turn.vectors("x", "y", "z")**2).sum(axis=1)))
    assert 0.3 < half < 1.0


def test_collapse_is_deepest_when_theory_says(tmp_path):
    """A cold uniform sphere of mass and radius 1 falls together at t = pi/sqrt(8) = 1.11; its grains delay that."""
    got = cluster(tmp_path, "cold 500 seed 4", 40.0,
                  more=f"pair_style gravity 0.05\ntimestep 0.004\nthermo 5\n{VIRIAL}run 400\n")
    ratio = got.table.column("v_virial")
    deepest = 0.004 * got.table.column("Step")[ratio.argmax()]
    assert 1.05 < deepest < 1.3 and 1.4 < ratio.max() < 2.0
    assert 0.9 < ratio[-1] < 1.5


@pytest.mark.gpu
@pytest.mark.parametrize("fix", ["spring tether 1 0 0 0 0", "spring/self 1"])
def test_the_gpu_refuses_springs(fix, tmp_path):
    deck = ("units lj\nboundary f f f\nregion b block -9 9 -9 9 -9 9\ncreate_box 1 b\ncreate_atoms 1 single 1 1 1\n"
            "create_atoms 1 single 2 2 1\nmass 1 1\npair_style gravity 0.1\npair_coeff * *\ntimestep 0.001\n"
            f"fix 1 all nve\nfix 2 all {fix}\nrun 2\n")
    harness.run(deck, tmp_path)
    message = harness.run(deck, tmp_path, engine="gpu", expect=2).err
    assert "spring" in message and "use --engine openmp" in message
