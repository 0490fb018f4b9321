"""Energy and stress of each particle, where forces need more than distances, or particles have bonds: the values of
lmp, sums that are those of all particles, the same bytes on every engine and number of ranks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import harness
from cli import PHYSICS, USAGE, refused, run_deck
from test_averages import needs_lmp, run_lmp

pytestmark = pytest.mark.smoke

SILICA = "lattice diamond 5\nregion b block {}\ncreate_box 2 b\ncreate_atoms 1 box" + \
    "".join(f" basis {k} 2" for k in (5, 6, 7, 8)) + "\nmass 1 28\nmass 2 16\n"
SILICON = "lattice diamond 5.431\nregion b block {}\ncreate_box 1 b\ncreate_atoms 1 box\nmass 1 28\n"
ALLOY = ("lattice fcc 3.8\nregion b block {}\ncreate_box 2 b\ncreate_atoms 1 box basis 2 2\nmass * 60\n")
CHAINS = (f"units lj\natom_style bond\nspecial_bonds {{}}\nread_data {harness.REFERENCE}/chains-216.data\n"
          "bond_style {}\nbond_coeff 1 {}\nbond_coeff 2 {}\npair_style lj/cut 1.5\npair_coeff * * 1 1\n")
MOVED = ("variable dx atom x+0.1*sin(37.0*id)\nvariable dy atom y+0.1*cos(53.0*id)\n"
         "set group all x v_dx y v_dy\n")
LARGE, SMALL = "0 5 0 3 0 3", "0 1 0 2 0 1"


def of(cells: str, deck: str, style: str, *elements: str) -> str:
    """In metal units. elements: the file, and those of types."""
    file, *names = elements
    return ("units metal\n" + deck.format(cells) + f"pair_style {style}\n"
            f"pair_coeff * * {harness.REFERENCE}/{file} {' '.join(names)}\n" + MOVED)


SYSTEMS = {
    "eam": of(LARGE, ALLOY, "eam", "Cu_u3.eam"),
    "eam in a small box": of(SMALL, ALLOY, "eam", "Cu_u3.eam"),
    "eam/alloy": of(LARGE, ALLOY, "eam/alloy", "made-up.eam.alloy", "Cu", "Xx"),
    "eam/fs": of(LARGE, ALLOY, "eam/fs", "made-up.eam.fs", "Xx", "Cu"),
    "sw": of(LARGE, SILICON, "sw", "silicon.sw", "Si"),
    "sw in a small box": of(SMALL, SILICON, "sw", "silicon.sw", "Si"),
    "sw in two dimensions": "dimension 2\n" + of("0 6 0 6 -0.5 0.5", SILICON.replace("diamond 5.431", "sq 2.4"), "sw",
                                                  "silicon.sw", "Si"),
    "sw of two elements": of(LARGE, SILICA.replace("diamond 5", "diamond 6.4"), "sw", "cadmium-telluride.sw", "Cd",
                             "Te"),
    "vashishta": of(LARGE, SILICA, "vashishta", "silica.vashishta", "Si", "O"),
    "fene": CHAINS.format("fene", "fene", "30 1.5 1 1", "20 1.6 0.9 1"),
    "harmonic": CHAINS.format("lj 0 0 1", "harmonic", "30 1.0", "20 0.9"),
    "molecules": CHAINS.format("lj 0 1 1", "harmonic", "30 1.0", "20 0.9") +
    "group some id 1:100\nneigh_modify every 1 delay 0 exclude molecule/intra all exclude molecule/inter some\n",
}
MEASURE = """\
group odd id 1:10000:2
velocity all set 0.3 -0.2 0
fix 1 all nve
compute e all pe/atom
compute eb all pe/atom bond
compute eo odd pe/atom pair
compute s all stress/atom NULL
compute sb odd stress/atom NULL bond angle
compute es all reduce sum c_e
compute ss all reduce sum c_s[1] c_s[2] c_s[3]
dump d all custom 10 a.dump id c_e c_eb c_eo c_s[1] c_s[2] c_s[3] c_s[4] c_s[5] c_s[6] c_sb[1] c_sb[4]
dump_modify d sort id format float %.17g
thermo 10
thermo_style custom step pe press vol c_es c_ss[*]
thermo_modify norm no format float %.17g
run 20
"""


def numbers(folder: Path) -> np.ndarray:
    """[frame, particle, column] of the dump."""
    frames = harness.read_dump(folder / "a.dump")
    return np.array([list(frame.columns.values()) for frame in frames]).transpose(0, 2, 1)


@needs_lmp
@pytest.mark.parametrize("name", SYSTEMS)
def test_values_of_lammps(name, tmp_path):
    run_lmp(SYSTEMS[name] + MEASURE, tmp_path / "theirs")
    harness.run(SYSTEMS[name] + MEASURE, tmp_path / "ours")
    ours, theirs = numbers(tmp_path / "ours"), numbers(tmp_path / "theirs")
    assert ours.shape == theirs.shape and ours.shape[0] == 3
    size = np.abs(theirs[0]).max(axis=0)
    for column in range(ours.shape[2]):
        largest = max(size[4:10]) if column > 3 else size[column]
        assert ours[..., column] == pytest.approx(theirs[..., column], rel=1e-8, abs=1e-8 * largest), column
    assert name not in ("fene", "harmonic", "molecules") or min(size) > 0  # bonds have energies and stresses


@pytest.mark.parametrize("name", SYSTEMS)
def test_sums_are_those_of_all_particles(name, tmp_path):
    dim = 2 if "two dimensions" in name else 3
    for row in harness.run(SYSTEMS[name] + MEASURE, tmp_path).table.rows:
        energy, pressure, volume, sum_of_energies, *stress = map(float, row[1:])
        assert sum_of_energies == pytest.approx(energy, rel=1e-13)
        assert -sum(stress[:dim]) / (dim * volume) == pytest.approx(pressure, rel=1e-9)


@pytest.mark.parametrize("engine", ["openmp", pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("name", SYSTEMS)
def test_same_files_on_every_engine(name, engine, tmp_path):
    folders = [tmp_path / who for who in ("naive", engine)]
    rows = [harness.run(SYSTEMS[name] + MEASURE, folder, engine=folder.name, threads=3).table.rows
            for folder in folders]
    assert rows[0] == rows[1]
    assert (folders[0] / "a.dump").read_bytes() == (folders[1] / "a.dump").read_bytes()


@pytest.mark.mpi
@pytest.mark.parametrize("name", [name for name in SYSTEMS if "small" not in name])
def test_same_files_on_ranks(name, tmp_path):
    rows = [harness.run(SYSTEMS[name] + MEASURE, tmp_path / str(ranks), ranks=ranks).table.rows
            for ranks in (1, 2)]
    assert rows[0] == rows[1]
    assert (tmp_path / "1" / "a.dump").read_bytes() == (tmp_path / "2" / "a.dump").read_bytes()


def test_a_bond_that_is_too_long(tmp_path):
    deck = SYSTEMS["fene"].replace("30 1.5 1 1", "30 0.9 1 1") + "compute 1 all pe/atom bond\n"
    refused(run_deck(tmp_path, deck + "dump 1 all custom 1 d c_1\nrun 0\n"), PHYSICS, "bond")


def test_friction_has_no_stress(tmp_path):
    deck = SYSTEMS["fene"].split("pair_style")[0] + "pair_style dpd 1 1 7\npair_coeff * * 25 4\n"
    refused(run_deck(tmp_path, deck + "compute 1 all stress/atom NULL\ndump 1 all custom 1 d c_1[1]\nrun 0\n"), USAGE,
            "the friction and noise of pair style dpd")


PARTS = """\
change_box all boundary p p f
fix 1 all nve
fix 2 all wall/harmonic zlo EDGE 1 1 1
fix_modify 2 energy yes
pair_modify tail yes
compute p all pe pair
compute b all pe bond angle
compute f all pe fix
compute pf all pe pair fix
thermo 10
thermo_style custom step pe epair ebond c_p c_b c_f c_pf
run 10
thermo_modify norm no
run 0
"""


@needs_lmp
def test_parts_of_the_potential_energy_are_those_of_lammps(tmp_path):
    deck = SYSTEMS["fene"] + PARTS
    theirs, ours = run_lmp(deck, tmp_path / "theirs"), harness.run(deck, tmp_path / "ours").tables
    for table, their_table in zip(ours, theirs):
        assert table.titles == their_table.titles
        for row, their_row in zip(table.rows, their_table.rows):
            assert list(map(float, row)) == pytest.approx(list(map(float, their_row)), rel=1e-7)
            assert row[2] == row[4] and row[3] == row[5] and float(row[6]) > 0


GROUPS = """\
group a id 1:100
group b id 60:216
fix 1 all nve
compute ab a group/group b
compute ba b group/group a pair yes kspace no
compute aa a group/group a boundary no molecule off
compute x all group/group all
thermo 10
thermo_style custom step epair c_ab c_ab[1] c_ab[2] c_ab[3] c_ba c_ba[1] c_aa c_aa[1] c_x
thermo_modify norm {norm} format float %.17g
run 20
"""


@needs_lmp
@pytest.mark.parametrize("norm", ["yes", "no"])
@pytest.mark.parametrize("name", ["fene", "molecules"])
def test_groups_have_the_energy_of_lammps(name, norm, tmp_path):
    deck = SYSTEMS[name] + GROUPS.format(norm=norm)
    theirs, ours = run_lmp(deck, tmp_path / "theirs")[0], harness.run(deck, tmp_path / "ours").table
    assert ours.titles == theirs.titles
    for row, their_row in zip(ours.rows, theirs.rows):
        assert list(map(float, row)) == pytest.approx(list(map(float, their_row)), rel=1e-8, abs=1e-8)
        assert float(row[1]) == pytest.approx(float(row[-1]), rel=1e-13)


@pytest.mark.mpi
def test_groups_are_the_same_everywhere(tmp_path):
    deck = SYSTEMS["molecules"] + GROUPS.format(norm="no")
    runs = {"naive": dict(engine="naive"), "one": {}, "two": dict(ranks=2)}
    naive, *others = (harness.run(deck, tmp_path / name, **more).table.rows for name, more in runs.items())
    assert all(rows == naive for rows in others) and len(naive) == 3


BAD = {
    "compute 1 all pe bonds": ["compute pe: unknown keyword 'bonds'", "pair, bond, angle"],
    "compute 1 all group/group": ["group/group takes"],
    "compute 1 all group/group absent": ["unknown group 'absent'"],
    "compute 1 all group/group all kspace yes": ["'kspace yes'", "kspace no"],
    "pair_style dpd 1 1 7\npair_coeff * * 25 4\ncompute 1 all group/group all\nthermo_style custom step c_1\nrun 0":
        ["pair style dpd", "no functions of a distance"],
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input(line, tmp_path):
    refused(run_deck(tmp_path, SYSTEMS["fene"] + line + "\n"), USAGE, *BAD[line])
