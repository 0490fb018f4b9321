"""Three-body pair styles: sw and vashishta, against LAMMPS, against a sum over triples and against themselves."""

from __future__ import annotations

import itertools
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import harness
from cli import USAGE, refused, run_deck
from test_lammps import LMP, both_tables

SILICON = harness.REFERENCE / "silicon.sw"
TELLURIDE = harness.REFERENCE / "cadmium-telluride.sw"
SILICA = harness.REFERENCE / "silica.vashishta"
NAMES = ("Xx", "Yy")
# By centre and leg: epsilon sigma a lambda gamma costheta0 A B p q tol. Of unlike legs the strength follows.
MADE_UP = {
    ("Xx", "Xx"): (1.3, 2.1, 1.75, 17.0, 1.1, -0.4, 7.0, 0.61, 4, 0, 0),
    ("Xx", "Yy"): (0.9, 2.3, 1.70, 11.0, 1.3, -0.4, 6.1, 0.55, 5, 1, 0.001),
    ("Yy", "Xx"): (0.9, 2.3, 1.70, 23.0, 1.3, 0.1, 6.1, 0.55, 5, 1, 0.001),
    ("Yy", "Yy"): (1.1, 2.0, 1.85, 5.0, 0.9, 0.1, 7.3, 0.70, 6, 2, 0),
}


def made_up_entries():
    """The values of each entry by centre, leg and leg. The strengths of unlike legs are products."""
    entries = {}
    for c, j, k in itertools.product(NAMES, repeat=3):
        own = list(MADE_UP[c, j])
        other = MADE_UP[c, k]
        if j != k:
            own[3] = np.sqrt(own[3] * own[0] * other[3] * other[0]) / own[0]
        entries[c, j, k] = own
    return entries


def write_made_up(path):
    path.write_text("# made up for a test\n" + "".join(
        " ".join(names) + " " + " ".join(f"{v:.17g}" for v in values) + "\n"
        for names, values in made_up_entries().items()))


def crystal(folder, lattice, types, displaced=0.08):
    """mix.data: a hot crystal of displaced atoms."""
    fraction = "set type 1 type/fraction 2 0.4 77\n" if types == 2 else ""
    harness.run(f"units metal\nlattice {lattice}\nregion b block 0 3 0 3 0 3\ncreate_box {types} b\n"
                f"create_atoms 1 box\n{fraction}mass * 40\nvelocity all create 900 87287\n"
                f"displace_atoms all random {displaced} {displaced} {displaced} 7 units box\n"
                "write_data mix.data nocoeff\n", folder)


# What a case has: the crystal, its types, the style, and the elements.
CASES = {
    "silicon": ("diamond 5.431", 1, "sw", "Si"),
    "telluride": ("diamond 6.482", 2, "sw", "Cd Te"),
    "made-up": ("diamond 5.3", 2, "sw", "Yy Xx"),
    "silica": ("fcc 6.2", 2, "vashishta", "O Si"),
}
FILES = {"silicon": SILICON, "telluride": TELLURIDE, "silica": SILICA}


def deck(case, folder):
    """Writes files, and returns a deck up to the model's end."""
    lattice, types, style, elements = CASES[case]
    crystal(folder, lattice, types)
    if case in FILES:
        shutil.copy(FILES[case], folder / "potential")
    else:
        write_made_up(folder / "potential")
    return (f"units metal\natom_style atomic\nneighbor 0.6 bin\nread_data mix.data\npair_style {style}\n"
            f"pair_coeff * * potential {elements}\nfix 1 all nve\ntimestep 0.001\n")


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
@pytest.mark.parametrize("case, exclude", [*((case, "") for case in CASES), ("made-up", "type 1 2"),
                                           ("silica", "group a b"), ("silicon", "group a b")])
def test_lammps_moves_alike(case, exclude, tmp_path):
    """Energies to 1e-10 and pressures to 1e-9 at the start, where positions are rounded to a grid. Excluded pairs have
    no force, and are no legs of a centre."""
    pairs = f"group a id 1:40\ngroup b id 30:70\nneigh_modify exclude {exclude}\n" if exclude else ""
    text = deck(case, tmp_path) + (f"{pairs}neigh_modify every 1 delay 0 check yes\n"
                                   "thermo_style custom step temp pe ke etotal press pxx pyy pzz pxy pxz pyz\n"
                                   "thermo 10\nthermo_modify format float %.15g\nrun 50\n")
    (ours,), (theirs,) = both_tables(text, tmp_path, "openmp")
    for step in (0, 10, 50):
        a, b = ours.at(step), theirs.at(step)
        for name in ours.titles[1:]:
            near = (1e-9 if name[0] == "P" and name != "PotEng" else 1e-10) if step == 0 else 1e-6
            scale = abs(b["Press"]) + 1000.0 if name[0] == "P" and name != "PotEng" else abs(b[name])
            assert a[name] == pytest.approx(b[name], rel=near, abs=near * scale), (step, name)
    assert abs(ours.at(50)["PotEng"] - ours.at(0)["PotEng"]) > 0.1


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
@pytest.mark.parametrize("case", CASES)
def test_lammps_has_the_forces(case, tmp_path):
    """1e-10 of the largest one, at positions of our grid, which its data file has."""
    text = deck(case, tmp_path)
    harness.run(text + "run 0\nwrite_data grid.data nocoeff\n", tmp_path)
    text = text.replace("mix.data", "grid.data") + ("dump 1 all custom 1 forces id fx fy fz\n"
                                                     "dump_modify 1 sort id format float %.17g\nrun 0\n")
    found = []
    for who in ("ours", "theirs"):
        if who == "ours":
            harness.run(text, tmp_path)
        else:
            both_tables(text, tmp_path, "naive")
        found.append(harness.read_dump(tmp_path / "forces")[0].vectors("fx", "fy", "fz"))
    ours, theirs = found
    assert np.abs(ours).max() > 1.0
    assert np.abs(ours - theirs).max() < 1e-10 * np.abs(ours).max()


def triple_sum(x, side, types):
    """The energy of sw with the made-up values, by loops over pairs and triples."""
    entries, n = made_up_entries(), len(x)
    delta = x[None, :] - x[:, None]  # [i, j] from i to j
    delta -= side * np.round(delta / side)
    r = np.sqrt((delta ** 2).sum(axis=2)) + np.eye(n) * 1e9
    name = [NAMES[t] for t in types]
    total = 0.0

    def within(i, j):
        eps, sigma, a, _, gamma, _, _, _, _, _, tol = entries[name[i], name[j], name[j]]
        reach = a * sigma + (min(gamma, 1.0) * sigma / np.log(min(tol, 0.01)) if tol > 0 else 0.0)
        return r[i, j] < reach

    for i in range(n):
        near = [j for j in range(n) if j != i and within(i, j)]
        for j in near:
            if j > i:
                eps, sigma, a, _, _, _, big_a, big_b, p, q, _ = entries[name[i], name[j], name[j]]
                s = sigma / r[i, j]
                total += big_a * eps * (big_b * s ** p - s ** q) * np.exp(sigma / (r[i, j] - a * sigma))
        for j, k in itertools.combinations(near, 2):
            eps, _, _, lam, _, cosine, *_ = entries[name[i], name[j], name[k]]
            angle = delta[i, j] @ delta[i, k] / (r[i, j] * r[i, k])
            tails = 1.0
            for leg in (j, k):
                _, sigma, a, _, gamma, *_ = entries[name[i], name[leg], name[leg]]
                tails *= np.exp(gamma * sigma / (r[i, leg] - a * sigma))
            total += lam * eps * (angle - cosine) ** 2 * tails
    return total


def test_ten_sums_are_a_sum_over_triples(tmp_path):
    """Of a random crystal of two elements, whose centres have different angles."""
    text = deck("made-up", tmp_path) + ("thermo_style custom step pe\nthermo_modify format float %.17g\n"
                                        "dump 1 all custom 1 dump id type x y z\nrun 0\n")
    energy = harness.run(text, tmp_path).table.at(0)["PotEng"]
    frame = harness.read_dump(tmp_path / "dump")[0]
    # Type 1 is Yy, and type 2 is Xx.
    expected = triple_sum(frame.vectors("x", "y", "z"), 3 * 5.3, 2 - frame.columns["type"].astype(int))
    assert energy == pytest.approx(expected, rel=1e-12)


@pytest.mark.mpi
@pytest.mark.parametrize("case", CASES)
def test_every_engine_has_the_same_bits(case, tmp_path):
    text = deck(case, tmp_path) + ("replicate 2 1 1\nthermo 10\nthermo_style custom step temp pe press pxy\n"
                                   "thermo_modify format float %.17g\n"
                                   "dump 1 all custom 10 dump id type x y z vx vy vz fx fy fz\nrun 20\n")
    naive = None
    ways = [("naive", {}), *(("openmp", {"isa": isa, "threads": 1 + k})
                             for k, isa in enumerate(harness.instruction_sets())),
            ("openmp", {"ranks": 3, "threads": 1})]
    for k, (engine, more) in enumerate(ways):
        folder = tmp_path / str(k)
        folder.mkdir()
        for name in ("mix.data", "potential"):
            shutil.copy(tmp_path / name, folder / name)
        got = harness.run(text, folder, engine=engine, **more)
        found = (folder / "dump").read_bytes(), got.table.rows
        naive = naive or found
        assert found == naive, (engine, more)


@pytest.mark.parametrize("case", CASES)
def test_forces_are_gradients(case, tmp_path):
    """Of atoms in a crystal. The forces on all add up to nothing, to the last bit."""
    text = deck(case, tmp_path) + "thermo_style custom step pe\nthermo_modify format float %.17g\n"
    step = 1e-4
    harness.run(text + "dump 1 all custom 1 dump id fx fy fz\nrun 0\n", tmp_path)
    forces = harness.read_dump(tmp_path / "dump")[0].vectors("fx", "fy", "fz")
    for atom, axis in ((5, 0), (40, 1), (71, 2)):
        energy = {}
        for sign in (-1, 1):
            by = ["0"] * 3
            by[axis] = str(sign * step)
            moved = f"group one id {atom}\ndisplace_atoms one move {' '.join(by)} units box\nrun 0\n"
            energy[sign] = harness.run(text + moved, tmp_path).table.at(0)["PotEng"]
        assert -(energy[1] - energy[-1]) / (2 * step) == pytest.approx(forces[atom - 1][axis], rel=1e-5, abs=1e-5)
    assert np.abs(forces.sum(axis=0)).max() == 0.0


@pytest.mark.parametrize("case", ("silicon", "silica"))
def test_a_run_goes_back_and_on(case, tmp_path):
    """Backwards to the first bits; and the second half from a restart, which holds no potential."""
    text = deck(case, tmp_path)
    harness.run(text + "dump 1 all custom 100 dump id x y z vx vy vz\nrun 50\nwrite_restart half\nrun 50\n"
                "velocity all negate\nrun 100\n", tmp_path)
    frames = harness.read_dump(tmp_path / "dump")
    assert [frame.step for frame in frames] == [0, 100, 200]
    assert np.array_equal(frames[0].vectors("x", "y", "z"), frames[2].vectors("x", "y", "z"))
    assert np.array_equal(frames[0].vectors("vx", "vy", "vz"), -frames[2].vectors("vx", "vy", "vz"))
    refused(run_deck(tmp_path, "read_restart half\nfix 1 all nve\nrun 1\n"), USAGE, "restarts hold none")
    coefficients = next(line for line in text.splitlines() if line.startswith("pair_coeff"))
    harness.run(f"read_restart half\n{coefficients}\nfix 1 all nve\nrun 50\n"
                "dump 1 all custom 1 again id x y z vx vy vz\nrun 0\n", tmp_path)
    again, there = harness.read_dump(tmp_path / "again")[0], frames[1]
    assert all(np.array_equal(again.columns[c], there.columns[c]) for c in again.columns)


def test_energy_is_kept(tmp_path):
    """To 1e-4 of the kinetic energy in 1000 steps; and a barostat has its pressure from these forces."""
    text = deck("silicon", tmp_path) + "thermo 100\nthermo_style custom step ke etotal\n"
    rows = harness.run(text + "thermo_modify format float %.17g\nrun 1000\n", tmp_path).table
    first = rows.at(0)["TotEng"]
    assert max(abs(rows.at(k)["TotEng"] - first) for k in range(0, 1001, 100)) < 1e-3 * rows.at(0)["KinEng"]
    text = text.replace("fix 1 all nve", "fix 1 all npt temp 300 300 0.1 iso 0 0 0.5")
    rows = harness.run(text + "thermo_style custom step press temp\nrun 3000\n", tmp_path).table
    assert abs(np.mean([rows.at(k)["Press"] for k in range(1500, 3001, 100)])) < 5000


SOLID = "units metal\nlattice diamond {edge}\nregion b prism 0 2 0 2 0 2 0 0 0\ncreate_box 1 b\n" \
        "create_atoms 1 box\nmass 1 28\n"
SILICON_WORDS = f"pair_style sw\npair_coeff * * {SILICON} Si\n"


def test_silicon_is_silicon(tmp_path):
    """Lattice constant and cohesive energy of the model: 5.431 Angstrom and 4.3363 eV."""
    rows = {}
    for edge in (5.421, 5.431, 5.441):
        text = SOLID.format(edge=edge) + SILICON_WORDS + "thermo_style custom step pe press\nrun 0\n"
        rows[edge] = harness.run(text, tmp_path).table.at(0)
    assert rows[5.431]["PotEng"] / 64 == pytest.approx(-4.3363, abs=5e-4)
    assert abs(rows[5.431]["Press"]) < 50
    assert rows[5.421]["Press"] > 4000 and rows[5.441]["Press"] < -4000


def test_elastic_constants_of_silicon(tmp_path):
    """C11, C12 and C44 of Cowley, Phys. Rev. Lett. 60 (1988) 2379, in GPa: 151.4, 76.4 and 56.4. Atoms of the strained
    crystal go to their places by minimize, which C44 needs."""
    def pressures(change):
        text = SOLID.format(edge=5.4309497) + SILICON_WORDS + (
            f"{change}\ndisplace_atoms all random 1e-5 1e-5 1e-5 87287 units box\nmin_style cg\n"
            "thermo_style custom step pxx pyy pxy\nthermo_modify format float %.15g\n"
            "minimize 0 1e-9 200 1000\n")
        table = harness.run(text, tmp_path).table
        return table.at(int(table.rows[-1][0]))

    strain, side = 1e-4, 2 * 5.4309497
    longer = pressures(f"change_box all x scale {1 + strain} remap")
    shorter = pressures(f"change_box all x scale {1 - strain} remap")
    forth = pressures(f"change_box all xy final {side * strain} remap units box")
    back = pressures(f"change_box all xy final {-side * strain} remap units box")
    c11, c12 = ((shorter[a] - longer[a]) / (2 * strain) * 1e-4 for a in ("Pxx", "Pyy"))
    c44 = (back["Pxy"] - forth["Pxy"]) / (2 * strain) * 1e-4
    assert c11 == pytest.approx(151.4, abs=0.2)
    assert c12 == pytest.approx(76.4, abs=0.2)
    assert c44 == pytest.approx(56.4, abs=0.2)


ELASTIC = Path("/usr/share/lammps/examples/ELASTIC")


@pytest.mark.skipif(not ELASTIC.is_dir(), reason="LAMMPS's examples are not installed")
def test_lammps_deck_of_elastic_constants(tmp_path):
    """in.elastic unchanged: fix box/relax in a triclinic box, restarts, strains, minimize and its formulas."""
    shutil.copytree(ELASTIC, tmp_path / "deck")
    log = harness.run(tmp_path / "deck" / "in.elastic", tmp_path / "deck").log
    found = dict(re.findall(r"^Elastic Constant (C\d\dall) = (\S+) GPa", log, re.M))
    for names, value in (("C11 C22 C33", 151.4), ("C12 C13 C23", 76.4), ("C44 C55 C66", 56.4)):
        for name in names.split():
            assert float(found[f"{name}all"]) == pytest.approx(value, abs=0.1), name
    assert abs(float(found["C14all"])) < 0.01


def test_bad_files_and_words(tmp_path):
    start = deck("made-up", tmp_path).split("pair_style")[0]
    entries = {names: list(values) for names, values in made_up_entries().items()}

    def write(name, *changes):
        """A file with changes: names of an entry, the index of a value, and what is there instead."""
        other = {names: list(values) for names, values in entries.items()}
        for names, index, value in changes:
            other[tuple(names.split())][index] = value
        (tmp_path / name).write_text("".join(
            " ".join(names) + " " + " ".join(str(v) for v in values) + "\n" for names, values in other.items()))

    good = (tmp_path / "potential").read_text()
    lines = good.splitlines()
    silica = SILICA.read_text()
    files = {"short": good[:-30], "twice": good + lines[1] + "\n", "less": "\n".join(lines[:-1]) + "\n",
             "word": good.replace("17 ", "nonsense ", 1), "more": lines[1] + " 5\n" + "\n".join(lines[2:]) + "\n",
             "units": "# UNITS: real\n" + good, "empty": "# nothing\n",
             "C": silica.replace("20.146 1 2.60 0", "20.146 1 2.60 0.5"),
             "charges": silica.replace("163.859  9 -0.8  1.6", "163.859  9 -0.8  1.7"),
             "lambda": silica.replace("-0.8 -0.8 999", "-0.8 -0.8 0"),
             "eta": silica.replace("743.848  7", "743.848  7.5")}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    write("product", ("Xx Xx Yy", 3, 1.0))
    write("angle", ("Xx Yy Yy", 5, -0.3), ("Xx Xx Yy", 5, -0.3))
    write("negative", ("Xx Yy Yy", 1, -2.3))
    write("cosine", ("Xx Yy Yy", 5, 1.5))
    write("p", ("Xx Xx Xx", 8, 16))
    write("q", ("Xx Xx Xx", 9, 0.5))
    write("pair", ("Xx Yy Yy", 7, 0.5))
    write("infinite", ("Xx Xx Xx", 0, 1e400))
    write("huge", ("Xx Xx Xx", 6, 1e308), ("Xx Xx Xx", 7, 1e308))
    cases = [
        ("sw\npair_coeff * * short Xx Yy", "short:",
         "of the entry Yy Yy Yy must be a finite number, not the end of the file"),
        ("sw\npair_coeff * * word Xx Yy", "word:2:", "must be a finite number, not nonsense"),
        ("sw\npair_coeff * * twice Xx Yy", "twice:10:", "the entry Xx Xx Xx is there twice"),
        ("sw\npair_coeff * * less Xx Yy", "less: there is no entry for Yy Yy Yy"),
        ("sw\npair_coeff * * empty Xx Yy", "empty: there is no entry for Xx Xx Xx"),
        ("sw\npair_coeff * * more Xx Yy", "more:1:", "the name of an element is expected here, not 5"),
        ("sw\npair_coeff * * units Xx Yy", "units is in units real, and the deck in units metal"),
        ("sw\npair_coeff * * nowhere Xx Yy", "cannot read the potential nowhere"),
        ("sw\npair_coeff * * potential Xx Zz", "there is no entry for Xx Xx Zz"),
        ("sw\npair_coeff * * potential Xx", "an element or NULL for each of 2 types"),
        ("sw\npair_coeff 1 2 potential Xx Yy", "takes * * FILE"),
        ("sw\npair_coeff * * potential NULL NULL", "at least one type"),
        ("sw\npair_coeff * * potential Xx ABCDEFGHIJKLMNOPQ", "at most 15 letters"),
        ("sw\npair_coeff * * potential Xx NULL\nfix 1 all nve\nrun 1", "type 2 has no potential"),
        ("sw\nfix 1 all nve\nrun 1", "has no potential"),
        ("sw 1.0", "takes no numbers"),
        ("sw\npair_coeff * * product Xx Yy", "product: the entry Xx Xx Yy has the three-body strength 1.3",
         "Xx Xx Xx and Xx Yy Yy"),
        ("sw\npair_coeff * * angle Xx Yy", "the entry Xx Xx Yy has costheta0 -0.3", "one angle"),
        ("sw\npair_coeff * * negative Xx Yy", "the entry Xx Yy Yy has sigma -2.3, which must not be negative"),
        ("sw\npair_coeff * * cosine Xx Yy", "the entry Xx Yy Yy has costheta0 1.5"),
        ("sw\npair_coeff * * p Xx Yy", "the entry Xx Xx Xx has p 16, and only whole numbers from 0 to 15"),
        ("sw\npair_coeff * * q Xx Yy", "the entry Xx Xx Xx has q 0.5"),
        ("sw\npair_coeff * * pair Xx Yy", "the entries Xx Yy Yy and Yy Xx Xx differ in B"),
        ("sw\npair_coeff * * infinite Xx Yy", "epsilon of the entry Xx Xx Xx must be a finite number, not inf"),
        ("sw\npair_coeff * * huge Xx Yy", "coefficients that are not finite"),
        ("vashishta\npair_coeff * * C O Si", "C: the entry O Si Si has C 0.5, and only C 0 is available"),
        ("vashishta\npair_coeff * * charges O Si", "differ in Zi Zj"),
        ("vashishta\npair_coeff * * lambda O Si", "the entry O O O needs lambda1 and lambda4 above 0"),
        ("vashishta\npair_coeff * * eta O Si", "the entry O O O has eta 7.5"),
        ("sw\npair_coeff * * potential Xx Yy\npair_write 1 1 10 r 1 2 rows PAIR", "no function of its distance alone"),
        ("hybrid/overlay sw\n", "cannot have the sub-style sw: its forces need all neighbours"),
    ]
    for text, *words in cases:
        refused(run_deck(tmp_path, start + "pair_style " + text + "\n"), USAGE, *words)


@pytest.mark.gpu
def test_gpu_needs_double_precision_and_full_lists(tmp_path):
    text = deck("silicon", tmp_path) + "run 1\n"
    for words in ("precision mixed", "force symmetric"):
        refused(run_deck(tmp_path, text, "--engine", "gpu", "-pk", "gpu", *words.split()), USAGE,
                "pair style sw needs precision double and force full")


def test_atoms_that_touch_are_an_overlap(tmp_path):
    text = SOLID.format(edge=5.431) + SILICON_WORDS + (
        "create_atoms 1 single 0.0005 0 0 units box\nfix 1 all nve\nrun 1\n")
    refused(run_deck(tmp_path, text), 3, "overlap")
