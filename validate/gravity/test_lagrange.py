"""compute lagrange/radii: against sorted distances, a theory, and the same bits on engines and ranks."""

from __future__ import annotations

import math
import numpy as np
import pytest

import harness
from cli import USAGE

# No number of bodies has exactly one of these parts of the mass, where rounding would decide.
FRACTIONS = (0.101, 0.253, 0.507, 0.751, 0.903, 1.0)
WORDS = " ".join(map(str, FRACTIONS))


def deck_of(dim: int, atoms: str, more: str = "") -> str:
    """Clusters of 300 and 60 bodies; of masses 1/300 and 1/60 with atom_style sphere, else of one mass."""
    half = 0.5 if dim == 2 else 9
    columns = "".join(f" c_L[{k}]" for k in range(1, 7)) + " c_half"
    return (f"units lj\ndimension {dim}\nboundary f f {'p' if dim == 2 else 'f'}\natom_style {atoms}\n"
            f"region b block -9 9 -9 9 {-half} {half} units box\ncreate_box 2 b\n"
            "create_atoms 1 uniform 300 seed 3 scale 2 centre 1 2 0\ncreate_atoms 2 cold 60 seed 4\n"
            + ("mass 1 1\nmass 2 1\n" if atoms == "atomic" else "")
            + f"pair_style gravity 0.05 0.001\ntimestep 0.02\nfix 1 all nve\ngroup cold type 2\n{more}"
            f"compute L all lagrange/radii {WORDS}\ncompute half cold lagrange/radii 0.5\nthermo 10\n"
            f"thermo_style custom step{columns}\nthermo_modify format float %.17g\n"
            "dump d all custom 10 d.dump id type mass x y z\ndump_modify d format float %.17g\n")


def radius(x: np.ndarray, mass: np.ndarray, fraction: float) -> float:
    """By sorting: the first distance from the centre of mass within which there is this part of the mass."""
    r = np.sqrt(((x - (mass[:, None] * x).sum(axis=0) / mass.sum())**2).sum(axis=1))
    order = np.argsort(r)
    within = np.cumsum(mass[order])
    return float(r[order][np.argmax(within >= fraction * within[-1] * (1.0 - 1e-12))])


@pytest.mark.parametrize("atoms", ["atomic", "sphere"])
@pytest.mark.parametrize("dim", [2, 3])
def test_radii(dim, atoms, engine, tmp_path):
    """After 0, 10 and 20 steps; of all bodies, and of a group."""
    got = harness.run(deck_of(dim, atoms) + "run 20\n", tmp_path, engine=engine)
    frames = harness.read_dump(tmp_path / "d.dump")
    assert [frame.step for frame in frames] == [0, 10, 20]
    for frame in frames:
        x, mass, row = frame.vectors("x", "y", "z"), frame.columns["mass"], got.table.at(frame.step)
        cold = frame.columns["type"] == 2
        for k, fraction in enumerate(FRACTIONS, 1):
            assert row[f"c_L[{k}]"] == pytest.approx(radius(x, mass, fraction), rel=1e-14)
        assert row["c_half"] == pytest.approx(radius(x[cold], mass[cold], 0.5), rel=1e-14)
    assert got.table.at(0)["c_L[3]"] != got.table.at(20)["c_L[3]"]


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [2, 5])
def test_ranks(ranks, tmp_path):
    one = harness.run(deck_of(3, "sphere") + "run 20\n", tmp_path / "one", engine="naive")
    many = harness.run(deck_of(3, "sphere") + "run 20\n", tmp_path / "many", ranks=ranks, threads=1)
    assert one.table.rows == many.table.rows


@pytest.mark.gpu
def test_gpu(tmp_path):
    one = harness.run(deck_of(3, "sphere") + "run 20\n", tmp_path / "one", engine="naive")
    assert harness.run(deck_of(3, "sphere") + "run 20\n", tmp_path / "gpu", engine="gpu").table.rows == one.table.rows


def test_an_empty_group_and_a_pair_style_with_cutoff(tmp_path):
    got = harness.run(deck_of(3, "atomic", "group none id 9999\ncompute nothing none lagrange/radii 0.5\n"
                              "pair_style soft 0.5\npair_coeff * * 1\n")
                      .replace(" c_half\n", " c_half c_nothing\n") + "run 0\n", tmp_path)
    row = got.table.at(0)
    assert row["c_nothing"] == 0.0 and 0.5 < row["c_half"] < 1.0


def test_plummer(tmp_path):
    """Plummer's sphere: F of the mass is within (F^(-2/3) - 1)^(-1/2); 4 standard deviations of a quantile."""
    n = 20000
    text = ("units lj\nboundary f f f\nregion b block -60 60 -60 60 -60 60\ncreate_box 1 b\n"
            f"create_atoms 1 plummer {n} seed 7\nfix 1 all nve\ncompute L all lagrange/radii 0.1 0.5 0.9\n"
            "thermo_style custom step c_L[1] c_L[2] c_L[3]\nrun 0\n")
    row = harness.run(text, tmp_path).table.at(0)
    for k, share in enumerate((0.1, 0.5, 0.9), 1):
        exact = 1.0 / math.sqrt((0.999 * share)**(-2.0 / 3.0) - 1.0)
        density = 3.0 * exact**2 * (1.0 + exact**2)**-2.5 / 0.999
        assert abs(row[f"c_L[{k}]"] - exact) < 4.0 * math.sqrt(share * (1.0 - share) / n) / density


REFUSED = {
    "no fraction": ("compute X all lagrange/radii\n", ["1 to 6 fractions", "not 0"]),
    "seven": ("compute X all lagrange/radii .1 .2 .3 .4 .5 .6 .7\n", ["1 to 6 fractions", "not 7"]),
    "zero": ("compute X all lagrange/radii 0\n", ["fraction", "positive"]),
    "above one": ("compute X all lagrange/radii 0.5 1.5\n", ["1.5", "above 1"]),
    "a word": ("compute X all lagrange/radii half\n", ["half"]),
    "no such value": ("thermo_style custom step c_L[7]\n", ["c_L[7]", "6 values"]),
    "one of one": ("thermo_style custom step c_half[2]\n", ["c_half[2]", "1 value"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, tmp_path):
    line, words = REFUSED[name]
    message = harness.run(deck_of(3, "atomic") + line, tmp_path, expect=USAGE).err
    assert len(message.splitlines()) == 1 and all(word in message for word in words), message


def test_periodic_axes_are_refused(tmp_path):
    text = deck_of(3, "atomic").replace("boundary f f f", "boundary f p f").replace("gravity 0.05 0.001", "soft 0.5 1")
    message = harness.run(text.replace("soft 0.5 1", "none") + "run 0\n", tmp_path, expect=USAGE).err
    assert all(word in message for word in ("compute L", "periodic", "boundary f along y")), message
