"""Half lists of the openmp engine: the bits of naive, with pairs beyond fast rounding, several types, bonds, and full
lists between them."""

from __future__ import annotations

import re

import pytest

import harness

# 865 particles of two types, two of which begin 0.52 apart: their impulse is beyond the range of fast rounding.
DECK = """
variable dumped index 0
units lj
lattice fcc 0.8442
region box block 0 6 0 6 0 6
create_box 2 box
create_atoms 1 box
create_atoms 2 single 5.56 5.04 5.04 units box
mass 1 1
mass 2 2
velocity all create 1.44 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
pair_coeff 2 2 1 0.9
fix 1 all nve
fix 2 all langevin 1 1 0.005 77
thermo 10
thermo_style custom step temp pe etotal pxx pyz press
thermo_modify format float %.17g
if "${dumped} > 0" then "dump 1 all custom ${dumped} forces.dump id x y z fx fy fz"
run 20
unfix 2
run 60
"""


def rows(result):
    return [line for line in result.log.splitlines() if re.match(r"^ *\d+ +-?\d+\.\d+ ", line)]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return rows(harness.run(DECK, tmp_path_factory.mktemp("naive"), engine="naive"))


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_half_lists_have_the_bits_of_naive(threads, isas, expected, tmp_path):
    isa = isas[threads % len(isas)]
    result = harness.run(DECK, tmp_path, threads=threads, isa=isa)
    assert rows(result) == expected and len(expected) == 10
    stored = float(re.search(r"stored neighbours: ([\d.]+)", result.log)[1])
    assert 36 < stored < 70, "a full list would store 78 and more"


def test_many_threads_with_few_particles_each(tmp_path):
    """4000 particles: with 32 threads those of one lie within a row of cells, and divide it into two ranges."""
    deck = DECK.replace("0 6 0 6 0 6", "0 10 0 10 0 10")
    few, many = (rows(harness.run(deck, tmp_path / str(threads), threads=threads)) for threads in (2, 32))
    assert many == few and len(few) == 10


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [2, 3])
def test_half_lists_on_ranks_have_the_bits_of_naive(ranks, isas, expected, tmp_path):
    result = harness.run(DECK, tmp_path, ranks=ranks, threads=ranks - 1, isa=isas[ranks % len(isas)])
    assert rows(result) == expected
    assert float(re.search(r"stored neighbours: ([\d.]+)", result.log)[1]) < 70


def test_forces_are_dumped_from_full_lists_between_half_ones(expected, tmp_path):
    """The last list is that of the dump at the last step, and a full one."""
    result = harness.run(DECK, tmp_path, threads=2, variables={"dumped": 40})
    assert rows(result) == expected
    assert float(re.search(r"stored neighbours: ([\d.]+)", result.log.split("Loop time")[-1])[1]) > 78


def test_dumps_with_forces_are_sorted_in_boxes_that_are_not_periodic(tmp_path):
    """The full list for the forces must not sort the particles, whose order by id is known by then."""
    deck = ("units lj\nboundary f s fm\nlattice fcc 0.8442 origin 0.1 0.1 0.1\nregion box block 0 6 0 6 0 6\n"
            "create_box 1 box\ncreate_atoms 1 box\nmass 1 1\nvelocity all create 1.44 87287\npair_style lj/cut 2.5\n"
            "pair_coeff 1 1 1 1\nfix 1 all nve\nfix 2 all wall/reflect xlo EDGE xhi EDGE zlo EDGE\n"
            "dump 1 all custom 20 forces.dump id x y z fx fy fz\nrun 60\n")
    for engine in ("naive", "openmp"):
        harness.run(deck, tmp_path / engine, engine=engine)
    one, other = ((tmp_path / engine / "forces.dump").read_bytes() for engine in ("naive", "openmp"))
    assert one == other
    for frame in harness.read_dump(tmp_path / "openmp" / "forces.dump"):
        assert frame.columns["id"].tolist() == list(range(1, 865))


# 216 beads in chains, in a box in which a bead has 127 neighbours, among them images of its partners.
BONDED = f"""
units lj
atom_style bond
special_bonds lj/coul 0 0 1
read_data {harness.REFERENCE / "chains-216.data"}
bond_style harmonic
bond_coeff 1 300 1.05
bond_coeff 2 100 1.1
pair_style lj/cut 3
pair_coeff 1 1 1 1
fix 1 all nve
fix 2 all langevin 1 1 0.5 77
timestep 0.004
thermo 20
thermo_style custom step temp epair ebond etotal pxx pyz press
thermo_modify format float %.17g
run 60
"""


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_half_lists_leave_out_what_bonds_exclude(threads, isas, tmp_path):
    result = harness.run(BONDED, tmp_path / "openmp", threads=threads, isa=isas[threads % len(isas)])
    naive = rows(harness.run(BONDED, tmp_path / "naive", engine="naive"))
    assert rows(result) == naive and len(naive) == 4
    assert float(re.search(r"stored neighbours: ([\d.]+)", result.log)[1]) < 115, "a full list stores 127"


# 500 atoms of copper, hot enough for pairs across the cutoff in every step.
COPPER = f"""
units metal
lattice fcc 3.615
region box block 0 5 0 5 0 5
create_box 1 box
create_atoms 1 box
pair_style eam
pair_coeff 1 1 {harness.REFERENCE / "Cu_u3.eam"}
velocity all create 1600 376847
neighbor 1 bin
fix 1 all nve
timestep 0.005
thermo 20
thermo_style custom step temp pe etotal pxx pyz press
thermo_modify format float %.17g
run 60
"""


@pytest.fixture(scope="module")
def copper(tmp_path_factory):
    return rows(harness.run(COPPER, tmp_path_factory.mktemp("copper"), engine="naive"))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_half_lists_of_embedded_atoms(threads, isas, copper, tmp_path):
    result = harness.run(COPPER, tmp_path, threads=threads, isa=isas[threads % len(isas)])
    assert rows(result) == copper and len(copper) == 4
    assert float(re.search(r"stored neighbours: ([\d.]+)", result.log)[1]) < 72, "a full list stores 78"


@pytest.mark.mpi
def test_half_lists_of_embedded_atoms_on_ranks(copper, tmp_path):
    result = harness.run(COPPER, tmp_path, ranks=2, threads=1)
    assert rows(result) == copper
    assert float(re.search(r"stored neighbours: ([\d.]+)", result.log)[1]) < 72
