"""Computes with a row for each chunk, such as the radius of gyration of each molecule: the values of lmp, the same
bytes on every engine and number of ranks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import harness
from cli import BOX, USAGE, refused, run_deck
from test_averages import MELT, files, needs_lmp, run_lmp

pytestmark = pytest.mark.smoke

CHAINS = f"""\
units lj
atom_style bond
special_bonds fene
read_data {harness.REFERENCE}/chains-216.data
bond_style fene
bond_coeff 1 30 1.5 1 1
bond_coeff 2 20 1.6 0.9 1
pair_style lj/cut 1.5
pair_coeff * * 1 1
group odd id 1:216:2
velocity all set 30 -20 10 sum yes
fix 1 all nve
compute c all chunk/atom molecule
"""
PLANE = """\
units lj
dimension 2
atom_modify map array
lattice sq 0.7
region b block 0 10 0 8 -0.5 0.5
create_box 1 b
create_atoms 1 box
mass 1 1.7
variable u atom sin(37*id)
variable w atom cos(23*id)
velocity all set v_u v_w 0
pair_style lj/cut 1.5
pair_coeff 1 1 1 1
group odd id 1:100:2
fix 1 all nve
variable n atom ceil(id/16)
compute c all chunk/atom v_n limit 5 exact
"""
TILTED = MELT + "velocity all set 28 -14 0 sum yes units box\n" \
    "displace_atoms all move 0.011 0.007 0.013 units box\n" \
    "change_box all triclinic xy final 1.5 xz final 0.5 yz final -2 remap units box\ncompute c all chunk/atom type\n"
ROWS = """\
compute x all com/chunk c
compute v odd vcm/chunk c
compute g all gyration/chunk c
compute t all gyration/chunk c tensor
compute i odd inertia/chunk c
compute l all angmom/chunk c
compute w all omega/chunk c
compute q all torque/chunk c
compute pn odd property/chunk c count
fix a all ave/time 10 1 10 c_g c_pn c_pn mode vector file a.txt format " %.14g"
fix b all ave/time 10 1 10 c_x[*] c_v[*] c_t[*] mode vector file b.txt format " %.14g"
fix d all ave/time 10 1 10 c_i[*] c_l[*] c_w[*] c_q[*] mode vector file d.txt format " %.14g"
thermo 10
thermo_style custom step c_g[2] c_x[1][1] c_i[2][3]
run 30
"""
FILES = "abd"
SYSTEMS = {"chains": CHAINS, "plane": PLANE, "tilted": TILTED}


def rows(path: Path) -> np.ndarray:
    """Of all averages of a file; lines of two numbers say a step and the number of rows."""
    lines = [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]
    return np.array([list(map(float, line)) for line in lines if len(line) > 2])


@needs_lmp
@pytest.mark.parametrize("name", SYSTEMS)
def test_values_of_lammps(name, tmp_path):
    run_lmp(SYSTEMS[name] + ROWS, tmp_path / "theirs")
    harness.run(SYSTEMS[name] + ROWS, tmp_path / "ours")
    for file in FILES:
        ours, theirs = (rows(tmp_path / who / f"{file}.txt") for who in ("ours", "theirs"))
        assert ours.shape == theirs.shape and ours.shape[0] >= 8
        assert np.allclose(ours, theirs, rtol=1e-7, atol=1e-7 * np.abs(theirs).max()), file


@pytest.mark.parametrize("engine", ["openmp", pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("name", SYSTEMS)
def test_same_files_on_every_engine(name, engine, tmp_path):
    harness.run(SYSTEMS[name] + ROWS, tmp_path / "naive", engine="naive")
    harness.run(SYSTEMS[name] + ROWS, tmp_path / engine, engine=engine, threads=3)
    assert files(tmp_path / "naive", FILES) == files(tmp_path / engine, FILES)


@pytest.mark.mpi
@pytest.mark.parametrize("name", SYSTEMS)
def test_same_files_on_ranks(name, tmp_path):
    harness.run(SYSTEMS[name] + ROWS, tmp_path / "one")
    harness.run(SYSTEMS[name] + ROWS, tmp_path / "two", ranks=2)
    assert files(tmp_path / "one", FILES) == files(tmp_path / "two", FILES)


@needs_lmp
def test_coordinates_of_bins(tmp_path):
    deck = MELT + ("compute b all chunk/atom bin/2d x lower 2.1 z lower 3.3 units box\n"
                   "compute pn odd property/chunk b count coord1 coord2\ncompute y all property/chunk b coord2\n"
                   "fix a all ave/time 10 1 10 c_pn[*] c_y mode vector file a.txt format \" %.12g\"\nrun 10\n")
    theirs, ours = run_lmp(deck, tmp_path / "theirs"), harness.run(deck, tmp_path / "ours")
    assert theirs and ours.status == 0
    ours, theirs = (rows(tmp_path / who / "a.txt") for who in ("ours", "theirs"))
    assert ours.shape == theirs.shape and np.allclose(ours[:, 2:], theirs[:, 2:], atol=1e-8)
    assert ours[:, 1].sum() == theirs[:, 1].sum()


def test_a_molecule_through_a_face(tmp_path):
    """Two particles across a face: the centre is outside the box, where it was in one piece."""
    (tmp_path / "two.data").write_text(
        "two\n\n2 atoms\n1 bonds\n1 atom types\n1 bond types\n0 10 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\n\nAtoms\n\n"
        "1 1 1 9.8 5 5 0 0 0\n2 1 1 0.6 5 5 1 0 0\n\nBonds\n\n1 1 1 2\n")
    deck = ("units lj\natom_style bond\nread_data two.data\nmass 1 1\nbond_style harmonic\nbond_coeff 1 1 0.8\n"
            "pair_style lj/cut 1\npair_coeff 1 1 0 1\nvelocity all set 1 0 0\nfix 1 all nve\ntimestep 0.01\n"
            "compute c all chunk/atom molecule ids once\ncompute x all com/chunk c\ncompute g all gyration/chunk c\n"
            "thermo 100\nthermo_style custom step c_x[1][1] c_g[1]\nthermo_modify format float %.12g\nrun 100\n")
    table = [list(map(float, row)) for row in harness.run(deck, tmp_path).table.rows]
    assert table == [[0, pytest.approx(10.2), pytest.approx(0.4)], [100, pytest.approx(11.2), pytest.approx(0.4)]]


BEGIN = BOX + "compute c all chunk/atom type\n"
BAD = {
    "compute 1 all com/chunk": ["com/chunk takes the ID"],
    "compute 1 all com/chunk nope": ["com/chunk: 'nope' is no compute of style chunk/atom"],
    "compute 1 all com/chunk c d": ["unexpected 'd'"],
    "compute 1 all gyration/chunk c tensors": ["'tensors'", "accepted is tensor"],
    "compute 1 all gyration/chunk c tensor 2": ["unexpected '2'"],
    "compute 1 all property/chunk c": ["property/chunk takes"],
    "compute 1 all property/chunk c id": ["'id' is none of count"],
    "compute 1 all property/chunk c coord1": ["have 0 coordinates"],
    "compute 1 all chunk/atom molecule": ["no molecules; use atom_style bond"],
    "compute 1 all chunk/atom bin/1d x lower 1 ids once": ["ids", "once"],
    "compute 1 all com/chunk c\nthermo_style custom step c_1[9][1]\nrun 0": ["c_1[9][1]", "9"],
    "compute 1 all com/chunk c\nuncompute c\nthermo_style custom step c_1[1][1]\nrun 0": ["'c' is no compute"],
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input(line, tmp_path):
    refused(run_deck(tmp_path, BEGIN + line + "\n"), USAGE, *BAD[line])
