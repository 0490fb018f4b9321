"""Bonds: against LAMMPS, the length of the bonds of Kremer and Grest, files that keep them, and what is refused."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

import harness
from cli import PHYSICS, USAGE, refused, run_deck, works

LMP = shutil.which("lmp")
CHAINS = harness.REFERENCE / "chains-216.data"
FENE = ("special_bonds fene", "bond_style fene\nbond_coeff 1 30 1.5 1 1\nbond_coeff 2 20 1.6 0.9 1\n",
        "lj/cut 1.1224620483")
HARMONIC = ("special_bonds lj/coul 0 0 0", "bond_style harmonic\nbond_coeff 1 300 1.05\nbond_coeff 2 100 1.1\n",
            "lj/cut 2.5")
MIXED = ("special_bonds lj/coul 0 1 0", *HARMONIC[1:])
THERMO = "thermo_style custom step temp epair ebond emol pe etotal press pxx pyy pzz pxy pxz pyz\n" \
         "thermo_modify format float %.17g\n"


def system(bonds=FENE, data=CHAINS, more="fix 1 all nve\n"):
    special, style, pair = bonds
    return (f"units lj\natom_style bond\n{special}\nread_data {data}\n{style}pair_style {pair}\n"
            f"pair_modify shift yes\npair_coeff 1 1 1 1\nneighbor 0.4 bin\ntimestep 0.004\n{more}{THERMO}")


@pytest.mark.skipif(not LMP, reason="lmp is not installed")
@pytest.mark.parametrize("bonds", [FENE, HARMONIC, MIXED], ids=["fene", "harmonic", "0 1 0"])
def test_lmp_has_the_same_chains(bonds, fast_engine, tmp_path):
    """From the data file, and from the one that write_data makes of it."""
    ours = harness.run(system(bonds) + "thermo 25\nwrite_data written nocoeff\nrun 50\n", tmp_path,
                       engine=fast_engine).table
    (tmp_path / "in.lmp").write_text(system(bonds, "written") + "thermo 25\nrun 50\n")
    subprocess.run([LMP, "-in", "in.lmp", "-log", "lmp.log", "-screen", "none"], cwd=tmp_path, check=True)
    theirs = harness.read_tables((tmp_path / "lmp.log").read_text())[0]
    assert ours.titles == theirs.titles and len(ours.rows) == len(theirs.rows) == 3
    for name in ours.titles:
        a, b = np.array(list(ours.column(name))), np.array(list(theirs.column(name)))
        scale = max(1.0, abs(b).max())
        assert abs(a[0] - b[0]) < 1e-10 * scale and abs(a - b).max() < 1e-6 * scale, name


EXCLUDED = ("molecule/intra all", "molecule/inter all", "molecule/intra some exclude molecule/inter more")
FREE = ("special_bonds lj/coul 1 1 1", *HARMONIC[1:])


@pytest.mark.skipif(not LMP, reason="lmp is not installed")
@pytest.mark.parametrize("bonds", [FREE, MIXED], ids=["free", "0 1 0"])
@pytest.mark.parametrize("exclude", EXCLUDED)
def test_lmp_excludes_the_same_molecules(exclude, bonds, fast_engine, tmp_path):
    """Pairs within molecules, between them, and of groups; bonds stay.  Two of them get number 0, which is none."""
    data = CHAINS.read_text().split("\nAtoms # bond\n\n")
    atoms, rest = data[1].split("\n\n", 1)
    rows = [line.split() for line in atoms.splitlines()]
    atoms = "\n".join(" ".join([row[0], "0" if row[1] in ("3", "5") else row[1], *row[2:]]) for row in rows)
    (tmp_path / "start").write_text(f"{data[0]}\nAtoms # bond\n\n{atoms}\n\n{rest}")
    groups = "group some id 1:100\ngroup more id 60:216:2\n" if "some" in exclude else ""
    often = "neigh_modify every 1 delay 0 check yes"
    text = system(bonds, "start") + f"{groups}{often} exclude {exclude}\nthermo 25\nrun 50\n"
    ours = harness.run(text, tmp_path, engine=fast_engine).table
    (tmp_path / "in.lmp").write_text(text)
    subprocess.run([LMP, "-in", "in.lmp", "-log", "lmp.log", "-screen", "none"], cwd=tmp_path, check=True)
    theirs = harness.read_tables((tmp_path / "lmp.log").read_text())[0]
    for name in ours.titles:
        a, b = np.array(list(ours.column(name))), np.array(list(theirs.column(name)))
        scale = max(1.0, abs(b).max())
        assert abs(a[0] - b[0]) < 1e-10 * scale and abs(a - b).max() < 1e-6 * scale, name
    all_pairs = harness.run(text.replace(f" exclude {exclude}", ""), tmp_path, engine=fast_engine).table
    assert abs(all_pairs.at(0)["E_pair"] - ours.at(0)["E_pair"]) > 0.1


def test_excluded_molecules_go_on_after_a_restart(tmp_path):
    """If they are excluded again, as in LAMMPS.  `molecule` is `molecule/intra`."""
    exclude = "neigh_modify exclude molecule some exclude molecule/inter some\n"
    one = harness.run(system(FREE) + "group some id 1:100\n" + exclude +
                      "thermo 20\nrun 20\nwrite_restart middle\nrun 20\n", tmp_path).tables[1]
    again = f"read_restart middle\nneighbor 0.4 bin\nfix 1 all nve\n{THERMO}thermo 20\n"
    assert harness.run(again + exclude + "run 20\n", tmp_path).table.rows == one.rows
    none = harness.run(again + exclude + "neigh_modify exclude none\nrun 20\n", tmp_path).table
    assert none.rows[0] != one.rows[0]


def test_excluded_molecules_that_are_refused(tmp_path):
    exclude = "neigh_modify exclude molecule"
    for line, words in ((f"group some dynamic all\n{exclude} some\n", ["the group some is dynamic"]),
                        ("neigh_modify exclude molecule/inter few\n", ["unknown group 'few'"]),
                        ("neigh_modify exclude molecule/outer all\n", ["'molecule/outer'", "molecule/inter GROUP"]),
                        (f"group some id 1\n{exclude} some\ngroup some delete\n", ["exclude none first"]),
                        ("neigh_modify" + 9 * " exclude molecule all" + "\n", ["at most 8 exclusions"])):
        refused(run_deck(tmp_path, system(FREE) + line), USAGE, *words)


def bond_lengths(folder):
    """Of the last frame of a dump with the columns id x y z."""
    rows = (folder / "x.dump").read_text().split("ITEM: ATOMS id x y z\n")[-1].splitlines()
    place = {int(row.split()[0]): np.array(row.split()[1:], float) for row in rows}
    bonds = [line.split() for line in CHAINS.read_text().split("\nBonds\n")[1].split("\n") if line]
    delta = np.array([place[int(i)] - place[int(j)] for _, _, i, j in bonds])
    delta -= 6.336 * np.rint(delta / 6.336)
    return np.sqrt((delta**2).sum(axis=1))


def test_the_bonds_of_kremer_and_grest_have_their_length(fast_engine, tmp_path):
    deck = system((FENE[0], "bond_style fene\nbond_coeff * 30 1.5 1 1\n", FENE[2]),
                  more="fix 1 all nve\nfix 2 all langevin 1 1 1 4711\n")
    harness.run(deck + "timestep 0.006\ndump 1 all custom 100 x.dump id x y z\nrun 2000\n",
                tmp_path, engine=fast_engine)
    lengths = bond_lengths(tmp_path)
    assert len(lengths) == 198
    assert np.mean(lengths) == pytest.approx(0.97, abs=0.01) and 0.8 < lengths.min() and lengths.max() < 1.3


def test_files_keep_bonds(fast_engine, tmp_path):
    """A restart in the middle, and a data file before: the same bits as one run."""
    dump, end = "dump 1 all custom 40 one id x y z vx fx fy fz\n", "write_data end\n"
    harness.run(system() + dump + "run 40\n" + end, tmp_path / "a", engine=fast_engine)
    harness.run(system() + "write_data begin\nrun 20\nwrite_restart middle\n", tmp_path / "b", engine=fast_engine)
    again = (f"read_restart {tmp_path / 'b' / 'middle'}\nneighbor 0.4 bin\nfix 1 all nve\n{THERMO}")
    harness.run(again + dump + "run 20\n" + end, tmp_path / "c", engine=fast_engine)
    harness.run(system(data=tmp_path / "b" / "begin") + dump + "run 40\n" + end, tmp_path / "d",
                engine=fast_engine)
    frames = [(tmp_path / folder / "one").read_text().split("ITEM: TIMESTEP\n40\n")[1] for folder in "acd"]
    assert frames[0] == frames[1] == frames[2]
    ends = [(tmp_path / folder / "end").read_text() for folder in "acd"]
    assert ends[0] == ends[1] == ends[2] and "198 bonds\n2 bond types\n" in ends[0]
    assert ends[0].split("\nBonds\n\n")[1].splitlines()[:2] == ["1 2 1 2", "1 1 2 3"]
    assert ends[0].split("Atoms # bond\n\n")[1].splitlines()[12].startswith("13 2 1 ")


@pytest.mark.parametrize("ranks", [None, pytest.param(3, marks=pytest.mark.mpi)])
def test_molecules_are_a_column(ranks, tmp_path):
    """The molecule of each particle as the data file says, in dumps, computes and variables."""
    text = system() + ("compute m all property/atom mol\nvariable m atom 2*mol\nfix 2 all balance 7 1.0\n"
                       "dump 1 all custom 20 x.dump id mol c_m v_m\nrun 20\n")
    harness.run(text, tmp_path, ranks=ranks)
    rows = np.loadtxt((tmp_path / "x.dump").read_text().split("id mol c_m v_m\n")[-1].splitlines())
    lines = CHAINS.read_text().split("\nAtoms # bond\n\n")[1].split("\n\n")[0].splitlines()
    expected = {int(line.split()[0]): float(line.split()[1]) for line in lines}
    assert len(rows) == len(expected) == 216
    assert all(row[1] == row[2] == row[3] / 2 == expected[int(row[0])] for row in rows)
    refused(run_deck(tmp_path, system() + "fix 2 all property/atom mol\n"), USAGE, "have a mol already")


@pytest.mark.mpi
def test_replicated_chains_go_through_faces(fast_engine, tmp_path):
    """Of a state in which chains cross faces: the energies and the pressure stay, on any number of ranks."""
    harness.run(system() + "run 300\nwrite_data late\n", tmp_path, engine=fast_engine)
    rows = []
    for ranks, more in ((None, ""), (None, "replicate 2 1 3\n"), (3, "replicate 2 1 3\nwrite_data copies\n")):
        text = system(data="late").replace("bond_style", more + "bond_style", 1)
        got = harness.run(text + "run 4\n", tmp_path, ranks=ranks, engine=fast_engine if not ranks else "openmp")
        rows.append(np.array([list(map(float, row)) for row in got.table.rows]))
    assert rows[1] == pytest.approx(rows[2], rel=1e-12)
    # The degrees of freedom of the temperature are 3 fewer than those of all particles.
    assert rows[1][:, 2:] == pytest.approx(rows[0][:, 2:], rel=1e-9, abs=1e-9)
    ends = (tmp_path / "copies").read_text()
    assert "1296 atoms" in ends and "1188 bonds" in ends
    molecules = {int(line.split()[1]) for line in ends.split("Atoms # bond\n\n")[1].split("\n\n")[0].splitlines()}
    assert molecules == set(range(1, 109))


@pytest.mark.skipif(not LMP, reason="lmp is not installed")
def test_molecules_that_go_through_faces_are_replicated_whole(tmp_path):
    """By their image flags: the energies without pairs within molecules, and radii of gyration, are those of lmp."""
    places = [(4.3, 0), (5.35, 0), (0.4, 1), (1.45, 1)]
    rows = "".join(f"{4 * m + k + 1} {m + 1} 1 {x} {2 * m + 1} 3 {flag} 0 0\n"
                   for m in range(2) for k, (x, flag) in enumerate(places))
    bonds = "".join(f"{3 * m + k + 1} 1 {4 * m + k + 1} {4 * m + k + 2}\n" for m in range(2) for k in range(3))
    deck = ("units lj\natom_style bond\nbond_style harmonic\nspecial_bonds lj 1 1 1\nread_data cross.data\n"
            "replicate 2 1 1\nneigh_modify exclude molecule/intra all\npair_style lj/cut 2.5\npair_coeff 1 1 1 1\n"
            "bond_coeff 1 70 1.1\nfix 1 all nve\ncompute mc all chunk/atom molecule\ncompute rg all gyration/chunk mc\n"
            "fix 2 all ave/time 1 1 1 c_rg mode vector\nthermo_style custom step pe evdwl ebond press "
            "f_2[1] f_2[2] f_2[3] f_2[4]\nthermo_modify norm no\nrun 0\n")
    (tmp_path / "cross.data").write_text(
        "x\n\n8 atoms\n6 bonds\n1 atom types\n1 bond types\n0 6 xlo xhi\n0 6 ylo yhi\n0 6 zlo zhi\n\nMasses\n\n1 1\n\n"
        f"Atoms # bond\n\n{rows}\nBonds\n\n{bonds}")
    (tmp_path / "in.lmp").write_text(deck)
    subprocess.run([LMP, "-in", "in.lmp", "-log", "lmp.log", "-screen", "none"], cwd=tmp_path, check=True)
    theirs = harness.read_tables((tmp_path / "lmp.log").read_text())[0].rows[0]
    ours = harness.run(deck, tmp_path).table.rows[0]
    assert list(map(float, ours)) == pytest.approx(list(map(float, theirs)), rel=1e-6)


@pytest.mark.skipif(not LMP, reason="lmp is not installed")
@pytest.mark.parametrize("add", ["append", "100 7", "merge shift 0 0 0"])
def test_molecules_that_are_added_have_the_numbers_of_lmp(add, tmp_path):
    """A number 0, of no molecule, grows too."""
    rows = "".join(f"{{}} {mol} 1 {x} 1 {{z}} 0 0 0\n" for mol, x in ((1, 1), (1, 2.1), (5, 4), (0, 5.1)))
    for name, first, z in (("a", 1, 1), ("b", 11 if "merge" in add else 1, 3)):
        (tmp_path / f"{name}.data").write_text(
            "x\n\n4 atoms\n1 bonds\n1 atom types\n1 bond types\n0 6 xlo xhi\n0 6 ylo yhi\n0 6 zlo zhi\n\n"
            f"Masses\n\n1 1\n\nAtoms # bond\n\n{rows.format(*range(first, first + 4), z=z)}\n"
            f"Bonds\n\n1 1 {first} {first + 1}\n")
    deck = (f"units lj\natom_style bond\nbond_style harmonic\npair_style lj/cut 1.5\nread_data a.data\n"
            f"read_data b.data add {add}\npair_coeff 1 1 1 1\nbond_coeff 1 70 1.1\nfix 1 all nve\n"
            "dump d all custom 1 NAME id mol z\ndump_modify d sort id\nrun 0\n")
    (tmp_path / "in.lmp").write_text(deck.replace("NAME", "theirs"))
    subprocess.run([LMP, "-in", "in.lmp", "-log", "lmp.log", "-screen", "none"], cwd=tmp_path, check=True)
    harness.run(deck.replace("NAME", "ours"), tmp_path)
    ours, theirs = (harness.read_dump(tmp_path / name)[0].vectors("id", "mol", "z").tolist()
                    for name in ("ours", "theirs"))
    assert ours == theirs and len(ours) == 8


TWO = """two beads

{n} atoms
{bonds} bonds
1 atom types
1 bond types
0 9 xlo xhi
0 9 ylo yhi
0 9 zlo zhi

Masses

1 1

Atoms # bond

1 1 1 1 1 1
2 1 1 {x} 1 1

Velocities

1 0 0 0
2 {v} 0 0
"""


def two(folder, lines=("1 1 1 2",), x=2.0, v=0.0, coefficients="1 30 1.5 1 1", bonds=None):
    text = TWO.format(n=2, bonds=len(lines) if bonds is None else bonds, x=x, v=v)
    (folder / "two.data").write_text(text + "\nBonds\n\n" + "".join(line + "\n" for line in lines))
    return ("atom_style bond\nspecial_bonds fene\nread_data two.data\nbond_style fene\n"
            f"bond_coeff {coefficients}\npair_style lj/cut 1.12\npair_coeff 1 1 1 1\ntimestep 0.01\nfix 1 all nve\n"
            "run 100\n")


@pytest.mark.parametrize("keywords, words", [
    ({"lines": ["1 1 1 2", "2 1 2 1"]}, ["two.data:28", "particles 1 and 2", "twice"]),
    ({"lines": ["1 1 1 3"]}, ["two.data:27", "particle 3", "not in section Atoms"]),
    ({"lines": ["1 1 2 2"]}, ["two.data:27", "particle 2 has a bond to itself"]),
    ({"lines": ["1 2 1 2"]}, ["two.data:27", "bond type 2 is not within 1 and 1"]),
    ({"lines": ["1 1 1 0"]}, ["two.data:27", "particle id 0 is not positive"]),
    ({"lines": ["1 1 1"]}, ["two.data:27", "number type id id"]),
    ({"lines": ["1 1 1 2"], "bonds": 2}, ["section Bonds ends after 1 of 2 lines"]),
    ({"lines": ["1 1 1 2"], "bonds": 0}, ["has no line `N bonds`"]),
    ({"coefficients": "1 30 nan 1 1"}, ["bond_coeff", "nan"]),
    ({"coefficients": "1 30 0 1 1"}, ["R0 must be positive"]),
    ({"coefficients": "1 30 1.5"}, ["takes 4 numbers"]),
    ({"coefficients": "2 30 1.5 1 1"}, ["there is no type '2'", "made 1 type"]),
])
def test_bad_bonds(keywords, words, tmp_path):
    refused(run_deck(tmp_path, two(tmp_path, **keywords)), USAGE, *words)


@pytest.mark.parametrize("line, words", [
    ("special_bonds lj/coul 0 0 0.5", ["0.5", "not available"]),
    ("special_bonds lj 0 0", ["needs three factors"]),
    ("special_bonds amber", ["amber", "fene, charmm, dreiding"]),
    ("bond_style morse", ["morse", "fene, harmonic, none"]),
    ("bond_style none\nrun 1", ["no bond_style"]),
    ("bond_style harmonic\nrun 1", ["bond type 1 has no parameters"]),
    ("bond_style harmonic\nbond_coeff 1 10 4.6\nrun 1", ["longest bond 9.2", "half of the periodic box"]),
    ("delete_atoms group all bond yes", ["bond yes"]),
    ("group one id 1\ndelete_atoms group one\nrun 1", ["particle 2 has a bond to particle 1", "does not exist"]),
])
def test_what_bonds_refuse(line, words, tmp_path):
    before = two(tmp_path).replace("run 100\n", "")
    refused(run_deck(tmp_path, before + line + "\n"), USAGE, *words)


@pytest.mark.parametrize("ranks", [None, pytest.param(3, marks=pytest.mark.mpi)])
@pytest.mark.parametrize("engine", ["naive", "openmp"])
def test_of_many_broken_bonds_the_least_id_is_named(engine, ranks, tmp_path):
    """Particles lie in the opposite order of their ids, and every second one is deleted."""
    pairs = range(1, 60, 2)
    (tmp_path / "pairs.data").write_text(
        "pairs\n\n60 atoms\n30 bonds\n1 atom types\n1 bond types\n0 62 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n\n"
        "Masses\n\n1 1\n\nAtoms # bond\n\n" + "".join(f"{k} 1 1 {61 - k} {1 + k % 7} 4\n" for k in range(1, 61)) +
        "\nBonds\n\n" + "".join(f"{k} 1 {k} {k + 1}\n" for k in pairs))
    deck = ("atom_style bond\nread_data pairs.data\npair_style soft 1\npair_coeff 1 1 1\nbond_style harmonic\n"
            "bond_coeff 1 1 1\ngroup even id 10:60:2\ndelete_atoms group even\nfix 1 all nve\nrun 1\n")
    done = harness.run(deck, tmp_path, engine=engine, ranks=ranks, threads=1, expect=USAGE)
    assert "particle 9 has a bond to particle 10, which does not exist" in done.err


def test_room_that_a_data_file_reserves(tmp_path):
    deck = two(tmp_path)
    text = (tmp_path / "two.data").read_text()
    plain = works(run_deck(tmp_path, deck + "write_data a.data\n"))
    room = "1 extra bond per atom\n2 extra angle per atom\n7 extra special per atom\n"
    (tmp_path / "two.data").write_text(text.replace("1 bonds\n", "1 bonds\n" + room))
    works(run_deck(tmp_path, deck + "write_data b.data\n"))
    assert plain and (tmp_path / "a.data").read_text().split("Atoms")[1] == (
        tmp_path / "b.data").read_text().split("Atoms")[1]


def test_bonds_need_their_style(tmp_path):
    refused(run_deck(tmp_path, "bond_style fene\n"), USAGE, "atom_style bond", line=1)
    two(tmp_path)
    refused(run_deck(tmp_path, "read_data two.data\n"), USAGE, "two.data:4", "atom_style bond")


@pytest.mark.parametrize("engine", ["naive", "openmp"])
@pytest.mark.parametrize("keywords, step", [({"x": 2.6}, 0), ({"v": 20.0}, 2)])
def test_a_bond_beyond_r0_names_its_beads_and_the_step(engine, keywords, step, tmp_path):
    done = run_deck(tmp_path, two(tmp_path, **keywords), "--engine", engine)
    refused(done, PHYSICS, f"step {step}:", "bond of particles 1 and 2", "fene, at most 1.5")


@pytest.mark.mpi
@pytest.mark.parametrize("engine", ["openmp", pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("keywords, step", [({"x": 2.6}, 0), ({"v": 20.0}, 2)])
def test_ranks_name_a_bond_beyond_r0(engine, keywords, step, tmp_path):
    done = harness.run(two(tmp_path, **keywords), tmp_path, engine=engine, ranks=2, threads=1, expect=PHYSICS)
    assert f"step {step}: the bond of particles 1 and 2" in done.err


@pytest.mark.gpu
@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [2, 4])
def test_bonds_go_with_particles_between_gpus(ranks, tmp_path):
    """Bonds, molecules and forces after moves of particles and cuts, and a run that goes on from a restart."""
    deck = system().replace("fix 1", "comm_modify cutoff 1.9\nfix even all balance 9 1.0\nfix 1", 1)
    output = ("compute r all rdf 20\nfix r all ave/time 10 2 20 c_r[*] file rdf mode vector\n"
              "dump f all custom 20 f.dump id mol x y z vx vy vz fx fy fz\n"
              "dump_modify f sort id format float %.17g\n")
    harness.run(deck + output + "run 60\nwrite_data end\n", tmp_path / "openmp")
    gpu = {"engine": "gpu", "ranks": ranks, "threads": 1, "package": {"rebin": 5, "transport": "staged"}}
    harness.run(deck + output + "run 60\nwrite_data end\n", tmp_path / "gpu", **gpu)
    for name in ("f.dump", "rdf", "end"):
        assert (tmp_path / "gpu" / name).read_text() == (tmp_path / "openmp" / name).read_text(), name
    harness.run(deck + "run 30\nwrite_restart middle\n", tmp_path / "first", **gpu)
    again = f"read_restart {tmp_path / 'first' / 'middle'}\nneighbor 0.4 bin\nfix 1 all nve\n"
    harness.run(again + "run 30\nwrite_data end\n", tmp_path / "second", **gpu)
    assert (tmp_path / "second" / "end").read_text() == (tmp_path / "openmp" / "end").read_text()


@pytest.mark.gpu
@pytest.mark.mpi
def test_molecules_without_bonds_between_gpus(tmp_path):
    text = CHAINS.read_text().split("\nBonds\n")[0].replace("198 bonds", "0 bonds")
    text = text.replace("2 bond types", "0 bond types")
    (tmp_path / "free.data").write_text(text)
    deck = (f"atom_style bond\nread_data {tmp_path / 'free.data'}\npair_style soft 1.2\npair_coeff 1 1 25\n"
            "fix 1 all nve\nvelocity all create 3 1\ntimestep 0.005\ndump m all custom 40 m.dump id mol\n"
            "dump_modify m sort id\nrun 80\n")
    harness.run(deck, tmp_path / "openmp")
    harness.run(deck, tmp_path / "gpu", engine="gpu", ranks=2, threads=1, package={"rebin": 8, "transport": "staged"})
    assert (tmp_path / "gpu" / "m.dump").read_text() == (tmp_path / "openmp" / "m.dump").read_text()


@pytest.mark.gpu
@pytest.mark.parametrize("package, words", [
    ("precision mixed", ["bonds need precision double"]),
    ("neighbours cells", ["only neighbour lists can leave out", "special_bonds lj 1 1 1"]),
])
def test_what_bonds_refuse_on_a_gpu(package, words, tmp_path):
    refused(run_deck(tmp_path, two(tmp_path), "--engine", "gpu", "-pk", "gpu", *package.split()), USAGE, *words)


@pytest.mark.gpu
@pytest.mark.parametrize("special, package", [
    ("special_bonds lj 1 1 1", {"neighbours": "cells"}), ("special_bonds lj 0 0 0", {"force": "symmetric"}),
    ("special_bonds lj 0 1 0", {"rebin": 2}),
])
def test_the_gpu_has_the_bits_of_bonds(special, package, tmp_path):
    """Forces, energies and the pressure tensor, with and without pairs of bonded particles, and g(r) of all pairs."""
    deck = system((special, "bond_style harmonic\nbond_coeff * 300 1.05\n", "lj/cut 1.5")) + \
        "compute r all rdf 30\nfix r all ave/time 10 2 20 c_r[*] file rdf mode vector\nthermo 10\n" \
        "dump f all custom 20 f.dump id x y z vx vy vz fx fy fz\ndump_modify f sort id format float %.17g\nrun 40\n"
    got = {}
    for engine, how in (("openmp", None), ("gpu", package)):
        tables = harness.run(deck, tmp_path / engine, engine=engine, package=how).tables
        got[engine] = ([table.rows for table in tables], (tmp_path / engine / "f.dump").read_text(),
                       (tmp_path / engine / "rdf").read_text())
    assert got["gpu"] == got["openmp"]


@pytest.mark.gpu
def test_the_gpu_names_the_bond_of_an_error(tmp_path):
    text = two(tmp_path, x=2.4, v=-3.0)
    said = [refused(run_deck(tmp_path, text, "--engine", engine), PHYSICS, "particles 1 and 2", "too long")
            for engine in ("openmp", "gpu")]
    assert said[0] == said[1]
