"""Masses of particles (atom_style sphere): motion, sums and files against references of their own.

The reference of forces sums all pairs by the formulas of the manual in numpy's longdouble (64 bits of mantissa on x86).
That every engine gives the same bits is tested in test_gravity_exact.py and by check_engines.py.
"""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, List, Tuple

import numpy as np
import pytest

import check_engines
import harness
from cli import USAGE
from test_gravity import EXTENDED, OUTPUT, bodies, constant, extended_only
from test_momentum import exact_sum


def write_spheres(path: Path, x: np.ndarray, v: np.ndarray, diameter: Any, density: Any, side: float,
                  dim: int = 3) -> Path:
    """A data file of atom_style sphere, with ids 1 to n and one type, in a box around the origin."""
    half = 0.5 * side
    lines = ["made by a test", "", f"{len(x)} atoms", "1 atom types", "", f"{-half!r} {half!r} xlo xhi",
             f"{-half!r} {half!r} ylo yhi", "-0.5 0.5 zlo zhi" if dim == 2 else f"{-half!r} {half!r} zlo zhi", "",
             "Atoms # sphere", ""]
    lines += [f"{i} 1 {float(d)!r} {float(rho)!r} " + " ".join(repr(float(c)) for c in place)
              for i, (d, rho, place) in enumerate(zip(diameter, density, x), 1)]
    lines += ["", "Velocities", ""]
    lines += [f"{i} " + " ".join(repr(float(c)) for c in speed) + " 0 0 0" for i, speed in enumerate(v, 1)]
    path.write_text("\n".join(lines) + "\n")
    return path


def deck_of(folder: Path, x: np.ndarray, v: np.ndarray, mass: np.ndarray, *, style: str = "0.05", dt: float = 1e-3,
            every: int = 10, side: float = 8.0, dim: int = 3) -> str:
    """A deck of points with these masses, up to the line `run`."""
    folder.mkdir(parents=True, exist_ok=True)
    data = write_spheres(folder / "spheres.data", x, v, np.zeros(len(x)), mass, side, dim)
    return (f"units lj\ndimension {dim}\nboundary f f {'p' if dim == 2 else 'f'}\natom_style sphere\nread_data {data}\n"
            f"pair_style gravity {style}\ntimestep {dt!r}\nfix move all nve\n"
            + OUTPUT.format(every=every).replace("id x", "id mass x"))


def system(dim: int, spread: float, n: int = 45, seed: int = 1) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places, velocities and masses: masses are spread evenly in their logarithm, over a factor of `spread`."""
    random = np.random.default_rng([dim, n, seed])
    x, v = np.zeros((n, 3)), np.zeros((n, 3))
    x[:, :dim] = random.uniform(-3.0, 3.0, (n, dim))
    v[:, :dim] = random.uniform(-0.1, 0.1, (n, dim))
    return x, v, spread ** random.uniform(-1.0, 0.0, n)


def pairs_of(x: np.ndarray, mass: np.ndarray, dim: int, eps: float, g: float) -> Tuple[np.ndarray, Any, Any]:
    """Forces of pairs, [n, n, dim], energies and virials, [n, n]."""
    m = mass.astype(EXTENDED)
    delta = x[:, None, :dim].astype(EXTENDED) - x[None, :, :dim].astype(EXTENDED)
    soft = np.sqrt((delta**2).sum(axis=-1) + EXTENDED(eps)**2)
    np.fill_diagonal(soft, np.inf)
    energy = -EXTENDED(g) * m[:, None] * m[None, :] / soft
    force = (energy / soft**2)[:, :, None] * delta
    return force, energy, (force * delta).sum(axis=-1)


def near(got: Any, terms: np.ndarray, axis: Any) -> bool:
    """Is a sum within 1e-10 of the sum of the sizes of its terms?"""
    return bool((np.abs(got - terms.sum(axis=axis)) <= 1e-10 * np.abs(terms).sum(axis=axis)).all())


@extended_only
@pytest.mark.parametrize("spread", [10.0, 1e6])
@pytest.mark.parametrize("dim", [2, 3])
def test_forces_energy_virial_and_temperature(dim, spread, engine, isas, tmp_path):
    """Each within 1e-10 of the sizes of its terms; after a step momenta are those of the forces before and after."""
    x, v, mass = system(dim, spread)
    dt = 1e-4
    got = harness.run(deck_of(tmp_path, x, v, mass, style="0.05 1.5", dt=dt, every=1, dim=dim) + "run 1\n", tmp_path,
                      engine=engine, isa=isas[-1])
    frames, kicks = harness.read_dump(tmp_path / "d.dump"), 0.0
    for frame in frames:
        np.testing.assert_array_equal(frame.columns["mass"], mass)
        force, energy, virial = pairs_of(frame.vectors("x", "y", "z"), mass, dim, 0.05, 1.5)
        assert near(frame.vectors(*("fx", "fy", "fz")[:dim]).astype(EXTENDED), force, 1)
        row = got.table.at(frame.step)
        assert near(EXTENDED(row["PotEng"]), energy / 2, None)
        freedom = dim * (len(x) - 1)
        twice = mass[:, None].astype(EXTENDED) * frame.vectors("vx", "vy", "vz").astype(EXTENDED)**2
        assert near(EXTENDED(row["Temp"]) * freedom, twice, None) and near(EXTENDED(row["KinEng"]), twice / 2, None)
        volume = EXTENDED(8)**dim
        assert near(EXTENDED(row["Press"]) * dim * volume - freedom * EXTENDED(row["Temp"]), virial / 2, None)
        kicks = kicks + force
    changed = frames[1].vectors("vx", "vy", "vz")[:, :dim].astype(EXTENDED) - v[:, :dim].astype(EXTENDED)
    exact = EXTENDED(dt) / 2 * kicks.sum(axis=1)
    # Of the usual force on a lightest body, divided by sqrt(n) for each of n roundings.
    whole = 1.5 * mass.min() * mass.sum() / 3.0**2
    assert (np.abs(changed * mass[:, None] - exact) < 2e-10 * dt * whole + 1e-13 * np.abs(exact) + 1e-16 * mass[:, None]
            ).all()


@pytest.mark.parametrize("dim, ratio, dt, wide", [(2, 0.3, 0.3, False), (3, 7.0, 0.3, False), (3, 1.0, 0.3, False),
                                                  (3, 1e5, 1e-6, True)])
def test_the_same_bits_as_masses_of_types(dim, ratio, dt, wide, engine, tmp_path):
    """Masses 1 and `ratio`, as masses of two types and as masses of bodies of one type."""
    x, v, _ = system(dim, 1.0)
    kind = [2 if i % 3 == 1 else 1 for i in range(len(x))]
    mass = np.array([1.0, ratio])[np.array(kind) - 1]
    deck = deck_of(tmp_path / "own", x, v, mass, style="0.2 0.01", dt=dt, dim=dim) + "run 30\n"
    typed = bodies(x, v, (1.0, ratio), 8.0, dim)
    typed.type = kind
    (tmp_path / "type").mkdir()
    data = harness.write_data(tmp_path / "type" / "bodies.data", typed)
    by_type = re.sub(r"read_data \S+", f"read_data {data}", deck.replace("atom_style sphere\n", ""))
    tables = []
    for name, text in (("own", deck), ("type", by_type)):
        tables.append(harness.run(text, tmp_path / name, engine=engine))
        shutil.copy(tmp_path / name / "d.dump", tmp_path / name / "check.dump")
    assert check_engines.differences(tmp_path / "own", tmp_path / "type", *tables) == []
    assert all(("momenta of two words" in table.log) == wide for table in tables)


def test_masses_stay_with_their_particles_when_others_are_deleted(tmp_path):
    x, v, mass = system(3, 1e3)
    text = deck_of(tmp_path, x, v, mass) + "group some id 2 5:9 30\ndelete_atoms group some compress no\nrun 0\n"
    harness.run(text, tmp_path)
    [frame] = harness.read_dump(tmp_path / "d.dump")
    kept = [i for i in range(len(x)) if i + 1 not in (2, 5, 6, 7, 8, 9, 30)]
    assert [int(i) for i in frame.columns["id"]] == [i + 1 for i in kept]
    np.testing.assert_array_equal(frame.columns["mass"], mass[kept])


def test_kepler_orbit(tmp_path):
    """Two bodies of masses 0.75 and 0.25, eccentricity 0.5, ten orbits: an ellipse with period 2 pi around a centre of
    mass at rest. The error of places falls as dt^2, and that of the energy does not grow."""
    eccentricity, mass = 0.5, np.array([0.75, 0.25])
    r, speed = 1.0 + eccentricity, math.sqrt((1.0 - eccentricity) / (1.0 + eccentricity))
    x = np.array([[-mass[1] * r, 0, 0], [mass[0] * r, 0, 0]])
    v = np.array([[0, -mass[1] * speed, 0], [0, mass[0] * speed, 0]])
    missed = []
    for per_orbit in (1000, 2000):
        folder = tmp_path / str(per_orbit)
        got = harness.run(deck_of(folder, x, v, mass, style="0", dt=2.0 * math.pi / per_orbit, every=per_orbit // 4)
                          + f"run {10 * per_orbit}\n", folder, threads=1)
        frames = harness.read_dump(folder / "d.dump")
        missed.append(np.abs(frames[-1].vectors("x", "y", "z") - x).max())
        half = frames[2].vectors("x", "y", "z")  # the pericentre
        assert half[1, 0] - half[0, 0] == pytest.approx(-(1.0 - eccentricity), rel=1e-4)
        energy = got.table.column("TotEng") + 0.5 * mass[0] * mass[1]
        assert np.abs(energy).max() < 1e-4 and abs(energy[-1]) < 1e-6
        assert constant(got.table, "Momx", "Momy", "Momz")
    assert missed[0] < 5e-2 and 3.5 < missed[0] / missed[1] < 4.5


@pytest.mark.parametrize("eps, dt", [("0.05", 1e-3), ("0", 1e-7)], ids=["soft", "wide momenta"])
def test_momentum_is_exact_and_runs_go_back(eps, dt, fast_engine, tmp_path):
    x, v, mass = system(3, 1e4)
    deck = deck_of(tmp_path, x, v, mass, style=eps, dt=dt, every=50)
    got = harness.run(deck + "run 200\nvelocity all negate\nrun 200\n", tmp_path, engine=fast_engine)
    frames = {frame.step: frame for frame in harness.read_dump(tmp_path / "d.dump")}
    for frame in frames.values():
        for name in ("fx", "fy", "fz"):
            assert abs(exact_sum(frame.columns[name])) < 1e-15 * np.abs(frame.columns[name]).sum()
    assert constant(got.tables[0], "Momx", "Momy", "Momz") and constant(got.tables[1], "Momx", "Momy", "Momz")
    assert (got.tables[0].column("Momx") == -got.tables[1].column("Momx")[0]).all()
    momentum = exact_sum(mass * v[:, 0])
    assert got.tables[0].column("Momx")[0] == pytest.approx(float(momentum), rel=1e-9)
    np.testing.assert_array_equal(frames[400].vectors("x", "y", "z"), frames[0].vectors("x", "y", "z"))
    np.testing.assert_array_equal(frames[400].vectors("vx", "vy", "vz"), -frames[0].vectors("vx", "vy", "vz"))
    assert np.abs(frames[200].vectors("x", "y", "z") - x).max() > 10.0 * dt


def test_random_velocities(tmp_path):
    """velocity create: the temperature, no momentum, and light bodies are the faster ones; zero and scale too."""
    x, v, mass = system(3, 1e4, n=400)
    got = harness.run(deck_of(tmp_path, x, v, mass) + "velocity all create 0.7 99\nrun 0\nvelocity all set 1 0 0\n"
                      "velocity all zero linear\nvelocity all create 0.7 98 mom no\nvelocity all scale 0.2\nrun 0\n",
                      tmp_path, threads=1)
    assert got.tables[0].at(0)["Temp"] == pytest.approx(0.7, rel=1e-12)
    assert got.tables[1].at(0)["Temp"] == pytest.approx(0.2, rel=1e-12)
    scale = math.sqrt(0.7 * mass.sum())
    assert all(abs(got.tables[0].at(0)[name]) < 1e-12 * scale for name in ("Momx", "Momy", "Momz"))
    frame = harness.read_dump(tmp_path / "d.dump")[0]
    energy = 0.5 * mass[:, None] * frame.vectors("vx", "vy", "vz")**2
    light = mass < np.median(mass)
    assert energy[light].mean() == pytest.approx(0.35, rel=0.25)
    assert energy[~light].mean() == pytest.approx(0.35, rel=0.25)


def test_maps_and_columns(fast_engine, tmp_path):
    """A map weighted by mass, one weighted by ke/atom, the dump's columns, and the density of thermo."""
    x, v, mass = system(2, 1e3)
    deck = (deck_of(tmp_path, x, v, mass, dim=2) + "compute each all ke/atom\nthermo_style custom step density ke\n"
            "thermo_modify format float %.17g\n"
            "dump m all density 10 m.txt 8 weight mass\ndump k all density 10 k.txt 8 weight c_each\n"
            "dump e all custom 10 e.dump id mass c_each\ndump_modify e format float %.17g\n"
            "dump z all extxyz 10 z.xyz mass\ndump_modify z element H\nrun 0\n")
    got = harness.run(deck, tmp_path, engine=fast_engine)
    assert got.table.at(0)["Density"] == pytest.approx(mass.sum() / 64.0, rel=1e-14)
    bins = np.clip(((x[:, :2] + 4.0)).astype(int), 0, 7)
    energy = 0.5 * mass * (v**2).sum(axis=1)
    for name, weight in (("m", mass), ("k", energy)):
        expected = np.zeros((8, 8))
        np.add.at(expected, (bins[:, 1], bins[:, 0]), weight)
        map_ = np.loadtxt(tmp_path / f"{name}.txt")
        assert np.allclose(map_, expected, rtol=1e-7, atol=0.0)
    frame = harness.read_dump(tmp_path / "e.dump")[0]
    np.testing.assert_array_equal(frame.columns["mass"], mass)
    np.testing.assert_allclose(frame.columns["c_each"], energy, rtol=1e-12)
    rows = (tmp_path / "z.xyz").read_text().splitlines()[2:]
    np.testing.assert_array_equal([float(row.split()[4]) for row in rows], mass)


# ---------------------------------------------------------------- files

SIZES = [(0.0, 2.5), (1.0, 1.0), (0.4, 3.0), (1e-3, 7e5), (2.0, 0.3)]


def masses_of(path: Path) -> List[float]:
    """The densities of a data file whose diameters are all 0: the masses."""
    rows = [row.split() for row in path.read_text().split("Atoms # sphere\n\n")[1].split("\n\n")[0].splitlines()]
    assert all(row[2] == "0" for row in rows)
    return [float(row[3]) for row in rows]


def small(folder: Path) -> Tuple[str, np.ndarray]:
    """A deck that reads spheres of SIZES, up to pair_style; and their masses."""
    x, v, _ = system(3, 1.0, n=len(SIZES))
    folder.mkdir(parents=True, exist_ok=True)
    write_spheres(folder / "s.data", x, v, *zip(*SIZES), 8.0)
    exact = [rho * math.pi / 6.0 * d**3 if d > 0.0 else rho for d, rho in SIZES]
    return "units lj\nboundary f f f\natom_style sphere\nread_data s.data\n", np.array(exact)


def test_data_files(tmp_path):
    """Masses from diameter and density; a file that is written and read again continues to the same bits."""
    begin, exact = small(tmp_path)
    rest = "pair_style gravity 0.05\ntimestep 0.01\nfix move all nve\n"
    harness.run(f"{begin}{rest}run 20\nwrite_data half.data\nrun 20\nwrite_data whole.data\n", tmp_path)
    harness.run(f"{begin.replace('s.data', 'half.data')}{rest}run 20\nwrite_data again.data\n", tmp_path)
    np.testing.assert_allclose(masses_of(tmp_path / "half.data"), exact, rtol=1e-15)
    whole, again = ((tmp_path / f"{name}.data").read_text().split("\n", 1)[1] for name in ("whole", "again"))
    assert whole == again
    assert "Masses" not in whole


@pytest.mark.skipif(shutil.which("lmp") is None, reason="LAMMPS is not installed")
def test_lammps_reads_the_same_masses(tmp_path):
    """LAMMPS's masses of our file, and of a file with diameters, to the last digit; and it reads what we write."""
    begin, _ = small(tmp_path)
    harness.run(f"{begin}pair_style gravity 0.05\nfix move all nve\nrun 0\nwrite_data ours.data\n", tmp_path)
    for name in ("s.data", "ours.data"):
        deck = (f"units lj\nboundary f f f\natom_style sphere\nread_data {name}\ncomputemass\n"
                "pair_style zero 1.0\npair_coeff * *\ndump d all custom 1 l.dump id mass vx\n"
                "dump_modify d format float %.17g sort id\nrun 0\n").replace("computemass\n", "")
        (tmp_path / "in.lammps").write_text(deck)
        subprocess.run(["lmp", "-in", "in.lammps", "-log", "none", "-screen", "none"], cwd=tmp_path, check=True,
                       timeout=60.0)
        frame = harness.read_dump(tmp_path / "l.dump")[0]
        assert frame.columns["mass"].tolist() == masses_of(tmp_path / "ours.data")


def test_created_masses(tmp_path):
    """pi/6 of a particle that is created, 1/N in a cluster; the type says nothing."""
    harness.run("units lj\nboundary f f f\natom_style sphere\nregion b block -9 9 -9 9 -9 9\ncreate_box 2 b\n"
                "create_atoms 1 plummer 50 seed 3 scale 0.1\ncreate_atoms 2 uniform 8 seed 4\n"
                "create_atoms 1 single 1 2 3\ncreate_atoms 1 random 3 5 NULL\nwrite_data made.data\n", tmp_path)
    assert masses_of(tmp_path / "made.data") == [1 / 50] * 50 + [1 / 8] * 8 + [0.52359877559829887] * 4


def test_a_mass_has_its_price_in_memory(tmp_path):
    """8 bytes a particle and no more, and none without masses of particles."""
    def bytes_of(text: str) -> float:
        (tmp_path / "in.plan").write_text(text)
        done = subprocess.run([str(harness.program()), "plan", "-in", "in.plan"], cwd=tmp_path, text=True,
                              capture_output=True, check=True, timeout=60.0)
        return float(re.search(r"^particles\s+\| +([\d.]+)", done.stdout, re.M)[1])

    deck = ("units lj\nboundary f f f\natom_style sphere\nregion b block -9 9 -9 9 -9 9\ncreate_box 1 b\n"
            "create_atoms 1 uniform 100 seed 3\npair_style gravity 0.1\nfix move all nve\nrun 1\n")
    assert bytes_of(deck) == bytes_of(deck.replace("sphere", "atomic")) + 8.0


# ---------------------------------------------------------------- errors

BOX = "units lj\nboundary f f f\natom_style sphere\nregion b block -9 9 -9 9 -9 9\ncreate_box 1 b\n"
REFUSED = {
    "mass by type": (BOX + "mass 1 2\n", ["mass", "atom_style sphere"]),
    "cutoff": (BOX + "create_atoms 1 single 0 0 0\npair_style lj/cut 2.5\npair_coeff * * 1 1\nfix 1 all nve\nrun 1\n",
               ["atom_style sphere", "lj/cut", "gravity", "atomic"]),
    "no pair style": (BOX + "create_atoms 1 single 0 0 0\nfix 1 all nve\nrun 1\n", ["atom_style sphere", "none"]),
    "after the box": (BOX + "atom_style atomic\n", ["before create_box"]),
    "surplus": ("atom_style sphere 0\n", ["usage: atom_style atomic|sphere"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, tmp_path):
    deck, words = REFUSED[name]
    message = harness.run(deck, tmp_path, expect=USAGE).err
    assert len(message.splitlines()) == 1 and all(word in message for word in words), message


FILE = """bad

2 atoms
1 atom types

-4 4 xlo xhi
-4 4 ylo yhi
-4 4 zlo zhi

Atoms # sphere

1 1 0 2 1 1 1
2 1 1 2 2 2 2

Velocities

1 0 0 0 0 0 0
2 0 0 0 0 0 0
"""
BAD_FILES = {
    "no density": ("1 1 0 2 1 1 1", "1 1 1 1 1", 12, ["diameter density"]),
    "negative diameter": ("1 1 0 2", "1 1 -1 2", 12, ["diameter", "negative"]),
    "no mass": ("1 1 0 2", "1 1 0 0", 12, ["density 0", "positive"]),
    "negative mass": ("2 1 1 2", "2 1 1 -2", 13, ["density -2", "positive"]),
    "too small a mass": ("2 1 1 2", "2 1 1e-200 2", 13, ["1e-200", "positive"]),
    "too large a mass": ("2 1 1 2", "2 1 1e200 2", 13, ["1e200", "positive"]),
    "density is no number": ("2 1 1 2", "2 1 1 nan", 13, ["density", "finite"]),
    "density is a word": ("2 1 1 2", "2 1 1 heavy", 13, ["density", "heavy"]),
    "another style": ("# sphere", "# atomic", 10, ["atomic", "sphere"]),
    "masses of types": ("Atoms # sphere", "Masses\n\n1 1\n\nAtoms # sphere", 10, ["Masses", "sphere"]),
    "velocities of points": ("1 0 0 0 0 0 0", "1 0 0 0", 17, ["wx wy wz"]),
    "angular velocity": ("1 0 0 0 0 0 0", "1 0 0 0 0 x 0", 17, ["angular velocity", "x"]),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files(name, tmp_path):
    old, new, line, words = BAD_FILES[name]
    (tmp_path / "bad.data").write_text(FILE.replace(old, new, 1))
    message = harness.run("boundary f f f\natom_style sphere\nread_data bad.data\n", tmp_path, expect=USAGE).err
    assert f"bad.data:{line}:" in message and all(word in message for word in words), message


def test_a_good_file_and_what_is_ignored(tmp_path):
    (tmp_path / "good.data").write_text(FILE.replace("1 0 0 0 0 0 0", "1 0 0 0 0 3 0"))
    got = harness.run("boundary f f f\natom_style sphere\nread_data good.data\ninfo\n", tmp_path)
    assert "angular velocities" in got.log and "mass of its own" in got.log
    wrong = harness.run("boundary f f f\nread_data good.data\n", tmp_path, expect=USAGE).err
    assert "good.data:10:" in wrong and "'sphere'" in wrong and "atom_style atomic" in wrong


def test_set_mass(engine, tmp_path):
    """Masses that a deck sets are those of a data file with them: the same bits."""
    x, v, mass = system(3, 10.0, n=20)
    light = np.where(np.arange(20) < 7, 0.25, 3.0)
    expected = harness.run(deck_of(tmp_path / "file", x, v, light) + "run 20\n", tmp_path / "file", engine=engine)
    deck = deck_of(tmp_path / "set", x, v, mass)
    set_mass = "set group all mass 3\nset atom 1*7 mass 0.25\n"
    got = harness.run(deck + set_mass + "run 20\n", tmp_path / "set", engine=engine)
    assert got.table.rows == expected.table.rows
    assert (tmp_path / "set" / "d.dump").read_bytes() == (tmp_path / "file" / "d.dump").read_bytes()


@pytest.mark.parametrize("line, words", [("set atom 1 mass 0", ["set mass", "'0'", "positive"]),
                                         ("set atom 1 mass -inf", ["mass", "-inf"]),
                                         ("set type 1 mass v_none", ["none"])])
def test_bad_set_mass(line, words, tmp_path):
    deck = deck_of(tmp_path, *system(3, 10.0, n=5))
    message = harness.run(deck + line + "\nrun 0\n", tmp_path, expect=USAGE).err
    assert all(word in message for word in words), message


def test_set_mass_needs_masses_of_particles(tmp_path):
    deck = "region b block 0 2 0 2 0 2\ncreate_box 1 b\ncreate_atoms 1 single 1 1 1\nset type 1 mass 2\n"
    message = harness.run(deck, tmp_path, expect=USAGE).err
    assert "set mass" in message and "atom_style sphere" in message and "mass TYPE VALUE" in message
