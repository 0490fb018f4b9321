"""Accuracy, against a reference of this file's own in extended precision, and against LAMMPS where it is installed.

Small clusters in boxes of any size, every combination of mass ratio, timestep and box side. At step 0 energy, pressure,
temperature and each force component must agree within 1e-10 of their scale, and the change of the temperature in 100
steps within 1e-6 of itself. Forces must agree within 1e-12 of their scale with the positions that are written beside
them. A combination may be refused instead, but only where doubles themselves would not do: where half the last digit of
a coordinate is more than about a millionth of a step's displacement.

The reference is velocity Verlet over all pairs, from the formulas of the manual, in numpy's longdouble (64 bits of
mantissa on x86).
"""

from __future__ import annotations

import itertools
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Tuple

import numpy as np
import pytest

import harness
from test_lammps import lammps

EXTENDED = np.longdouble
pytestmark = pytest.mark.skipif(np.finfo(EXTENDED).nmant < 63, reason="longdouble is no longer than double here")

MASSES = (1.0, 1e3, 1e6, 1e9)
TIMESTEPS = (1e-9, 1e-7, 1e-5, 1e-3, 0.02)
SIDES = (10.0, 1e3, 1e5)
STYLES = ("lj/cut", "repulsive", "soft")
STEPS = 100


@dataclass(frozen=True)
class System:
    dim: int
    style: str
    mass: float  # of the second type, which a third of the particles have
    side: float
    dt: float
    place: float = 0.7  # of the cluster in the box, along each axis
    seed: int = 12  # of its shaking
    low: float = 0.0  # the lower faces

    def sites(self) -> np.ndarray:
        """A cluster around a place off the middle, on a lattice, shaken."""
        random = np.random.default_rng(self.seed)
        n = 3 if self.dim == 3 else 5
        grid = np.stack(np.meshgrid(*[np.arange(n)] * self.dim, indexing="ij"), axis=-1).reshape(-1, self.dim)
        x = 1.12 * grid + random.uniform(-0.06, 0.06, grid.shape)
        x += self.place * self.side - 0.5 * x.max(axis=0)
        return np.pad(x % self.side + self.low, ((0, 0), (0, 3 - self.dim)))

    def types(self) -> np.ndarray:
        return 1 + (np.arange(len(self.sites())) % 3 == 1).astype(int)

    def velocities(self) -> np.ndarray:
        random = np.random.default_rng(34)
        mass = np.where(self.types() == 2, self.mass, 1.0)
        v = random.normal(size=(len(mass), 3)) * np.sqrt(0.5 / mass)[:, None]
        v[:, self.dim:] = 0.0
        return v

    def write(self, path: Path) -> None:
        half = 0.5 if self.dim == 2 else 0.0
        low, high = (-half, half) if self.dim == 2 else (self.low, self.low + self.side)
        faces = f"{self.low!r} {self.low + self.side!r}"
        x, v, types = self.sites(), self.velocities(), self.types()
        lines = ["a cluster", "", f"{len(x)} atoms", "2 atom types", "", f"{faces} xlo xhi", f"{faces} ylo yhi",
                 f"{low!r} {high!r} zlo zhi", "", "Masses", "", "1 1.0",
                 f"2 {self.mass!r}", "", "Atoms # atomic", ""]
        lines += [f"{i + 1} {t} " + " ".join(map(repr, map(float, a))) for i, (t, a) in enumerate(zip(types, x))]
        lines += ["", "Velocities", ""]
        lines += [f"{i + 1} " + " ".join(map(repr, map(float, a))) for i, a in enumerate(v)]
        path.write_text("\n".join(lines) + "\n")

    def deck(self, folder: Path) -> str:
        style = {"lj/cut": "lj/cut 2.5\npair_coeff 1 1 1 1\npair_coeff 1 2 0.8 1.05 2.2\npair_coeff 2 2 0.5 0.95",
                 "repulsive": "repulsive 1.5\npair_coeff * * 1.5 0.01",
                 "soft": "soft 1.5\npair_coeff * * 25"}[self.style]
        fix = "fix flat all enforce2d\n" if self.dim == 2 else ""
        return (f"units lj\ndimension {self.dim}\natom_style atomic\nboundary p p p\n"
                f"read_data {folder / 'cluster.data'}\npair_style {style}\ntimestep {self.dt!r}\nfix move all nve\n"
                f"{fix}neighbor 0.3 bin\nneigh_modify every 1 delay 0 check yes\nthermo 100\n"
                "thermo_style custom step temp pe press\nthermo_modify format float %.17g norm no\n"
                "dump forces all custom 100 forces.dump id x y z fx fy fz\n"
                "dump_modify forces sort id format float %.17g\nrun ${steps}\n")

    def run(self, folder: Path, steps: int, **options: Any) -> harness.Result:
        """Runs the system in a new folder. options: those of harness.run."""
        folder.mkdir()
        self.write(folder / "cluster.data")
        return harness.run(self.deck(folder), folder, variables={"steps": steps}, **options)


class Reference:
    """The same system in extended precision."""

    def __init__(self, system: System) -> None:
        self.system = system
        dim = system.dim
        self.x = system.sites()[:, :dim].astype(EXTENDED)
        self.v = system.velocities()[:, :dim].astype(EXTENDED)
        kind = system.types() - 1
        self.mass = np.where(kind == 1, EXTENDED(system.mass), EXTENDED(1.0))[:, None]
        pair = kind[:, None] + kind[None, :]
        self.epsilon = np.array([1.0, 0.8, 0.5], dtype=EXTENDED)[pair]
        self.sigma = np.array([1.0, 1.05, 0.95], dtype=EXTENDED)[pair]
        self.rc = np.array([2.5, 2.2, 2.5], dtype=EXTENDED)[pair]
        self.measure()

    def at(self, x: np.ndarray) -> "Reference":
        """Measured with the particles at other places."""
        self.x = x.astype(EXTENDED)
        self.measure()
        return self

    def pair_terms(self, r: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Energy, force over distance, and whether the pair is within its cutoff."""
        one = EXTENDED(1.0)
        if self.system.style == "lj/cut":
            # Coefficients are doubles of the deck's numbers; their products may be rounded by 1e-16.
            s6 = (self.sigma / r) ** 2
            s6 = s6 * s6 * s6
            return 4 * self.epsilon * (s6 * s6 - s6), 24 * self.epsilon * (2 * s6 * s6 - s6) / r**2, r < self.rc
        rc = EXTENDED(1.5)
        if self.system.style == "repulsive":
            return np.log(r / rc) + rc / r - one, (rc / r - one) / r**2, r < rc
        return 25 * rc * (one - r / rc) ** 2 / 2, 25 * (one - r / rc) / r, r < rc

    def find_forces(self) -> Tuple[np.ndarray, ...]:
        """Sets the forces. Returns what else is known of pairs: energy, nearness, distance and force."""
        side = EXTENDED(self.system.side)
        delta = self.x[:, None, :] - self.x[None, :, :]
        delta -= side * np.rint(delta / side)
        r = np.sqrt((delta**2).sum(axis=-1))
        np.fill_diagonal(r, EXTENDED(1e9))
        energy, force, near = self.pair_terms(r)
        each = np.where(near, force, EXTENDED(0.0))[:, :, None] * delta
        self.force = each.sum(axis=1)
        return energy, near, delta, each

    def measure(self) -> None:
        side, dim = EXTENDED(self.system.side), self.system.dim
        energy, near, delta, each = self.find_forces()
        self.force_scale = np.abs(each).sum(axis=1).max()
        self.energy = np.where(near, energy, EXTENDED(0.0)).sum() / 2
        self.energy_scale = np.where(near, np.abs(energy), EXTENDED(0.0)).sum() / 2
        freedom = dim * (len(self.x) - 1)
        self.temperature = (self.mass * self.v**2).sum() / freedom
        virial = (each * delta).sum() / 2
        volume = side**dim
        self.pressure = (freedom * self.temperature + virial) / (dim * volume)
        self.pressure_scale = (freedom * self.temperature + np.abs(each * delta).sum() / 2) / (dim * volume)

    def run(self, steps: int) -> None:
        dt = EXTENDED(self.system.dt)
        for _ in range(steps):
            self.v += dt / 2 * self.force / self.mass
            self.x += dt * self.v
            self.find_forces()
            self.v += dt / 2 * self.force / self.mass
        self.measure()


def doubles_would_do(system: System) -> bool:
    """Half the last digit of a coordinate against a millionth of a thermal step."""
    return 0.5 * np.spacing(system.side) < 1e-6 * system.dt


def check(system: System, engine: str, folder: Path) -> bool:
    """Runs one system and compares it; False: it was refused, rightly."""
    got = system.run(folder, STEPS, engine=engine, expect=None)
    if got.status != 0:
        assert got.status == 2 and not doubles_would_do(system), (system, got.err)
        assert "use a timestep of" in got.err and "or a box within" in got.err
        return False
    reference = Reference(system)
    row = {name: EXTENDED(value) for name, value in got.table.at(0).items()}
    assert abs(row["PotEng"] - reference.energy) < 1e-10 * reference.energy_scale, system
    assert abs(row["Press"] - reference.pressure) < 1e-10 * reference.pressure_scale, system
    assert abs(row["Temp"] - reference.temperature) < 1e-10 * reference.temperature, system
    frame = harness.read_dump(folder / "forces.dump")[0]
    ours = frame.vectors("fx", "fy", "fz")[:, :system.dim].astype(EXTENDED)
    written = Reference(system).at(frame.vectors("x", "y", "z")[:, :system.dim])
    assert np.abs(ours - written.force).max() < 1e-12 * written.force_scale, system
    assert np.abs(ours - reference.force).max() < 1e-10 * reference.force_scale, system
    before = reference.temperature
    reference.run(STEPS)
    change = EXTENDED(got.table.at(STEPS)["Temp"]) - row["Temp"]
    expected = reference.temperature - before
    assert abs(change - expected) < 1e-6 * abs(expected), (system, float(change), float(expected))
    return True


GROUPS = list(itertools.product((2, 3), STYLES, MASSES))


@pytest.mark.parametrize("dim, style, mass", GROUPS, ids=lambda value: str(value))
def test_accurate_or_refused(dim, style, mass, fast_engine, tmp_path):
    """Every timestep and box side; engines by turns, as all have the same bits."""
    ran = 0
    for k, (side, dt) in enumerate(itertools.product(SIDES, TIMESTEPS)):
        engine = "naive" if k % 2 else fast_engine
        ran += check(System(dim, style, mass, side, dt), engine, tmp_path / str(k))
    assert ran >= 10


# Side, lower face, and twenty quanta: a force of these clusters changes by about 18 times a change of a distance.
LARGE_BOXES = ((1e5, 0.0, 20 * 2.0**-36), (1e5, -5e4, 20 * 2.0**-36), (6e4, 0.0, 20 * 2.0**-37),
               (3e4, 0.0, 20 * 2.0**-38))


def force_error(system: System, folder: Path) -> float:
    """The largest difference from the force at the deck's own positions, over the scale."""
    system.run(folder, 0)
    ours = harness.read_dump(folder / "forces.dump")[0].vectors("fx", "fy", "fz")[:, :system.dim]
    reference = Reference(system)
    return float(np.abs(ours - reference.force).max() / reference.force_scale)


@pytest.mark.parametrize("dim", (2, 3))
def test_doubles_keep_more_near_the_origin_of_a_large_box(dim, tmp_path):
    """The position grid has one quantum for the whole box, the last digit of a double at its far edge."""
    for k, (side, low, most) in enumerate(LARGE_BOXES):
        error = [force_error(System(dim, "lj/cut", 1.0, side, 5e-3, place, seed, low), tmp_path / f"{k}-{place}-{seed}")
                 for place, seed in itertools.product((0.05, 0.3, 0.5), range(4))]
        assert 1e-12 < max(error) < most, (side, low, max(error))


@pytest.mark.parametrize("dim", (2, 3))
def test_doubles_keep_no_more_at_the_far_edge_of_a_large_box(dim, tmp_path):
    for seed in range(4):
        system = System(dim, "lj/cut", 1.0, 1e5, 5e-3, 0.7, seed)
        assert force_error(system, tmp_path / str(seed)) < 1e-12, system


@pytest.mark.skipif(shutil.which("lmp") is None, reason="lmp is not installed")
@pytest.mark.parametrize("dim, mass", list(itertools.product((2, 3), MASSES)), ids=lambda value: str(value))
def test_temperature_changes_as_in_lammps(dim, mass, tmp_path):
    """lmp's own rounding, its distance from the reference, is allowed for: it is what doubles can do."""
    for side, dt in itertools.product((10.0, 1e3), (1e-6, 1e-4, 5e-3)):
        system = System(dim, "lj/cut", mass, side, dt)
        folder = tmp_path / f"{side:g}-{dt:g}"
        ours = system.run(folder, STEPS).table
        # By its own choice lmp sorts atoms, and looks for neighbours, in bins of half a cutoff: gigabytes of them.
        large_bins = folder / "in.lammps"
        large_bins.write_text(system.deck(folder).replace("check yes", f"check yes binsize {side / 10!r}")
                              .replace("boundary", "atom_modify sort 0 0\nboundary"))
        theirs = lammps(large_bins, folder, steps=STEPS)
        reference = Reference(system)
        before = reference.temperature
        reference.run(STEPS)
        change, other = (float(t.at(STEPS)["Temp"]) - float(t.at(0)["Temp"]) for t in (ours, theirs))
        noise = abs(other - float(reference.temperature - before))
        assert abs(change - other) < 1e-6 * abs(other) + 2.0 * noise, system
        assert float(ours.at(0)["PotEng"]) == pytest.approx(float(theirs.at(0)["PotEng"]), rel=1e-10)
