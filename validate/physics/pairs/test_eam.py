"""Pair styles with a density: eam, eam/alloy and eam/fs, against LAMMPS and against themselves."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import harness
from cli import PHYSICS, USAGE, refused, run_deck
from test_lammps import LMP, both_tables

COPPER = harness.REFERENCE / "Cu_u3.eam"
ELEMENTS = ("Cu", "Xx")


def write_setfl(path, each, core=None):
    """A setfl file of two made-up elements; each: with a density for each pair, as Finnis and Sinclair have it. core:
    r times the energy of a pair at distances that are impossible."""
    nrho, nr, drho, dr, rc = 160, 200, 0.02, 0.02, 3.9
    r, rho = np.arange(nr) * dr, np.arange(nrho) * drho
    near = np.clip(1.0 - r / rc, 0.0, None) ** 3

    def rows(values):
        return "\n".join(" ".join(f"{v:.15e}" for v in values[k:k + 5]) for k in range(0, len(values), 5)) + "\n"

    text = "made up\nfor a test\n-\n2 " + " ".join(ELEMENTS) + f"\n{nrho} {drho} {nr} {dr} {rc}\n"
    for e in range(2):
        text += f"29 {(63.55, 40.1)[e]} 3.6 fcc\n" + rows(-(1.1 + 0.3 * e) * np.sqrt(rho + 0.05) + 0.1 * rho * rho)
        for a in range(2 if each else 1):
            text += rows((0.9 + 0.4 * e + 0.17 * a) * near * np.exp(-0.3 * r))
    for scale, at in ((0.9, 2.2), (1.1, 2.3), (1.3, 2.5)):
        pair = r * scale * near * 8.0 * (at / (r + 0.5)) ** 2
        text += rows(pair if core is None else np.where(r < 0.5, core, pair))
    path.write_text(text)


def crystal(folder, types, edge=3.7):
    """mix.data: a hot crystal of displaced atoms with masses that a potential replaces."""
    fraction = "set type 1 type/fraction 2 0.4 77\n" if types == 2 else ""
    harness.run(f"units metal\nlattice fcc {edge}\nregion b block 0 4 0 4 0 4\ncreate_box {types} b\n"
                f"create_atoms 1 box\n{fraction}mass * 60\nvelocity all create 900 87287\n"
                "displace_atoms all random 0.08 0.08 0.08 7\nwrite_data mix.data nocoeff\n", folder)


def deck(style, folder):
    """Writes files, and returns a deck up to the model's end."""
    crystal(folder, 1 if style == "eam" else 2)
    if style == "eam":
        shutil.copy(COPPER, folder / "potential")
    else:
        write_setfl(folder / "potential", style == "eam/fs")
    coefficients = "* * potential" + ("" if style == "eam" else " Xx Cu")
    return (f"units metal\natom_style atomic\nneighbor 0.6 bin\nread_data mix.data\npair_style {style}\n"
            f"pair_coeff {coefficients}\nfix 1 all nve\ntimestep 0.002\n")


STYLES = ("eam", "eam/alloy", "eam/fs")


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
@pytest.mark.parametrize("style, exclude", [*((style, "") for style in STYLES), ("eam/fs", "type 1 2"),
                                            ("eam/alloy", "group a b"), ("eam", "group a b")])
def test_lammps_moves_alike(style, exclude, tmp_path):
    """Excluded pairs have neither a density nor a force."""
    pairs = f"group a id 1:40\ngroup b id 30:70\nneigh_modify exclude {exclude}\n" if exclude else ""
    text = deck(style, tmp_path) + (f"{pairs}neigh_modify every 1 delay 0 check yes\n"
                                    "thermo_style custom step temp pe ke etotal press pxx pyy pxy density\n"
                                    "thermo 10\nthermo_modify format float %.15g\nrun 50\n")
    (ours,), (theirs,) = both_tables(text, tmp_path, "openmp")
    for step in (0, 10, 50):
        a, b = ours.at(step), theirs.at(step)
        for name in ours.titles[1:]:
            near = 1e-9 if step == 0 else 1e-6
            assert a[name] == pytest.approx(b[name], rel=near, abs=near * abs(b["Press"]) if name[0] == "P" else 0), (
                step, name)


@pytest.mark.mpi
@pytest.mark.parametrize("style", STYLES)
def test_every_engine_has_the_same_bits(style, tmp_path):
    text = deck(style, tmp_path) + ("thermo 10\nthermo_style custom step temp pe press pxy\n"
                                    "thermo_modify format float %.17g\n"
                                    "dump 1 all custom 10 dump id type x y z vx vy vz fx fy fz\nrun 20\n")
    naive = None
    ways = [("naive", {}), *(("openmp", {"isa": isa, "threads": 1 + k})
                             for k, isa in enumerate(harness.instruction_sets())),
            ("openmp", {"ranks": 4, "threads": 1})]
    for k, (engine, more) in enumerate(ways):
        folder = tmp_path / str(k)
        folder.mkdir()
        for name in ("mix.data", "potential"):
            shutil.copy(tmp_path / name, folder / name)
        got = harness.run(text, folder, engine=engine, **more)
        found = (folder / "dump").read_bytes(), got.table.rows
        naive = naive or found
        assert found == naive, (engine, more)


def write_funcfl(path, steps, scale=1.0):
    """The potential of copper by another number of values, and with other densities."""
    lines = COPPER.read_text().split("\n", 3)
    nrho, drho, nr, dr, rc = (float(word) for word in lines[2].split())
    values = np.array(lines[3].split(), dtype=float)
    f, z, density = np.split(values, [int(nrho), int(nrho + nr)])
    at = np.arange(steps) * (nr - 1) * dr / (steps - 1)
    tables = [f, *(np.interp(at, np.arange(int(nr)) * dr, table) for table in (z, scale * density))]
    numbers = "\n".join(f"{value:.15e}" for table in tables for value in table)
    path.write_text(f"{lines[0]}\n{lines[1]}\n{int(nrho)} {drho} {steps} {at[1]} {rc}\n{numbers}\n")


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
def test_files_that_pair_coeff_replaces(tmp_path):
    """A file that no type uses any more says nothing of the grid; a pair_coeff sets the masses of its own types."""
    crystal(tmp_path, 2)
    shutil.copy(COPPER, tmp_path / "fine")
    write_funcfl(tmp_path / "coarse", 40)
    write_funcfl(tmp_path / "other", 400, 1.3)
    show = "thermo_style custom step temp pe press\nthermo_modify format float %.15g\nrun 0\n"
    deck = ("units metal\natom_style atomic\nread_data mix.data\npair_style eam\npair_coeff * * coarse\n"
            f"pair_coeff 1 1 fine\nmass 1 100\npair_coeff 2 2 other\nfix 1 all nve\n{show}pair_coeff 1 1 coarse\n"
            f"pair_coeff 1 1 fine\nmass 1 90\npair_coeff 2 2 fine\n{show}")
    ours, theirs = both_tables(deck, tmp_path, "openmp")
    assert len(ours) == len(theirs) == 2
    for a, b in zip(ours, theirs):
        for name in a.titles[1:]:
            assert a.column(name)[0] == pytest.approx(b.column(name)[0], rel=1e-9), name


def test_a_potential_is_replaced_any_number_of_times(tmp_path):
    crystal(tmp_path, 1)
    shutil.copy(COPPER, tmp_path / "fine")
    deck = "units metal\natom_style atomic\nread_data mix.data\npair_style eam\n{}fix 1 all nve\nrun 0\n"
    once, often = (harness.run(deck.format("pair_coeff 1 1 fine\n" * n), tmp_path).table.rows for n in (1, 40))
    assert once == often


def test_forces_are_gradients(tmp_path):
    """Of a pair of displaced atoms in a crystal of two elements."""
    text = deck("eam/fs", tmp_path) + "thermo_style custom step pe\nthermo_modify format float %.17g\n"
    step, energy = 1e-4, {}
    harness.run(text + "dump 1 all custom 1 dump id fx fy fz\nrun 0\n", tmp_path)
    forces = harness.read_dump(tmp_path / "dump")[0].vectors("fx", "fy", "fz")
    for atom in (5, 40):
        for sign in (-1, 1):
            moved = f"group one id {atom}\ndisplace_atoms one move {sign * step} 0 0 units box\nrun 0\n"
            got = harness.run(text + moved, tmp_path)
            energy[sign] = got.table.at(0)["PotEng"]
        assert -(energy[1] - energy[-1]) / (2 * step) == pytest.approx(forces[atom - 1][0], rel=1e-5, abs=1e-5)
    assert np.abs(forces.sum(axis=0)).max() == 0.0


@pytest.mark.parametrize("engine", ["naive", "openmp", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_numbers_at_impossible_distances_cost_no_digits(engine, tmp_path):
    """Files of Mendelev's have 10^12 there. Nearer than that, particles overlap."""
    text = deck("eam/fs", tmp_path) + ("thermo_style custom step pe press pxy\nthermo_modify format float %.17g\n"
                                       "dump 1 all custom 1 dump id fx fy fz\nrun 0\n")
    tables, forces = [], []
    for core in (None, 1e12):
        write_setfl(tmp_path / "potential", True, core)
        tables.append(harness.run(text, tmp_path, engine=engine).table.at(0))
        forces.append(harness.read_dump(tmp_path / "dump")[0].vectors("fx", "fy", "fz"))
    for name in ("PotEng", "Press", "Pxy"):
        assert tables[1][name] == pytest.approx(tables[0][name], rel=1e-14), name
    assert np.abs(forces[1] - forces[0]).max() < 1e-13 * np.abs(forces[0]).max()
    near = "set atom 1 x 1 y 1 z 1\nset atom 2 x 1.45 y 1 z 1\n"
    refused(run_deck(tmp_path, text.replace("fix 1", near + "fix 1"), *harness.engine_words(engine)), PHYSICS,
            "particles 1 and 2 overlap at distance 0.45")


@pytest.mark.parametrize("style", ("eam", "eam/fs"))
def test_a_run_goes_back_and_on(style, tmp_path):
    """Backwards to the first bits; and the second half from a restart, which holds no potential."""
    text = deck(style, tmp_path)
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


def test_copper_is_copper(tmp_path):
    """Cohesive energy, lattice constant and bulk modulus of the potential's authors: -3.54 eV, 3.615 A, 1.38 Mbar."""
    rows = {}
    for edge in (3.605, 3.615, 3.625):
        text = (f"units metal\nlattice fcc {edge}\nregion b block 0 4 0 4 0 4\ncreate_box 1 b\ncreate_atoms 1 box\n"
                f"pair_style eam\npair_coeff * * {COPPER}\nthermo_style custom step pe press atoms\nrun 0\n")
        rows[edge] = harness.run(text, tmp_path).table.at(0)
    assert rows[3.615]["PotEng"] / 256 == pytest.approx(-3.54, abs=0.001)
    assert abs(rows[3.615]["Press"]) < 100
    bulk = -(rows[3.625]["Press"] - rows[3.605]["Press"]) / (3.625 ** 3 - 3.605 ** 3) * 3.615 ** 3
    assert bulk == pytest.approx(1.38e6, rel=0.02)


def elastic_deck(crystal, strain, tilt):
    """4 x 4 x 4 cells, whose edge x is `strain` longer, and whose upper faces are moved by `tilt` of their height."""
    lattice, atoms, potential = crystal
    types = 2 if atoms else 1
    return (f"units metal\nlattice {lattice}\nregion b prism 0 4 0 4 0 4 0 0 0\ncreate_box {types} b\n"
            f"create_atoms 1 box {atoms}\npair_style {potential}\nchange_box all x scale {1 + strain} remap\n"
            f"change_box all xy final {4 * tilt} remap units lattice\nthermo_style custom step pxx pyy pxy\n"
            "thermo_modify format float %.15g\nrun 0\n")


def elastic_constants(rows):
    """C11, C12 and C44 in GPa, of the pressures at strains of plus and minus 0.001."""
    longer, shorter, forth, back = rows
    return [(shorter[a] - longer[a]) / 0.002 * 1e-4 for a in ("Pxx", "Pyy")] + \
        [(back["Pxy"] - forth["Pxy"]) / 0.002 * 1e-4]


STRAINS = ((0.001, 0), (-0.001, 0), (0, 0.001), (0, -0.001))
LAMMPS_POTENTIALS = Path("/usr/share/lammps/potentials")
NICKEL_ALUMINIUM = LAMMPS_POTENTIALS / "NiAlH_jea.eam.alloy"


def test_copper_is_as_stiff_as_its_authors_say(tmp_path):
    """Foiles, Baskes and Daw, Phys. Rev. B 33, 7983 (1986): 1.67, 1.24 and 0.76 Mbar."""
    crystal = ("fcc 3.615", "", f"eam\npair_coeff * * {COPPER}")
    rows = [harness.run(elastic_deck(crystal, *strain), tmp_path).table.at(0) for strain in STRAINS]
    assert elastic_constants(rows) == pytest.approx([167, 124, 76], abs=0.5)


@pytest.mark.skipif(not LMP or not NICKEL_ALUMINIUM.exists(), reason="lmp or its potentials are not installed")
def test_an_alloy_is_as_stiff_as_lammps_says(tmp_path):
    """Ni3Al, with the potential of Angelo, Moody and Baskes, Modelling Simul. Mater. Sci. Eng. 3, 289 (1995)."""
    crystal = ("fcc 3.567", "basis 1 2 basis 2 1 basis 3 1 basis 4 1",
               f"eam/alloy\npair_coeff * * {NICKEL_ALUMINIUM} Ni Al")
    pairs = [both_tables(elastic_deck(crystal, *strain), tmp_path, "openmp") for strain in STRAINS]
    ours, theirs = ([tables[k][0].at(0) for tables in pairs] for k in (0, 1))
    constants = elastic_constants(ours)
    assert constants == pytest.approx(elastic_constants(theirs), rel=1e-6)
    assert constants == pytest.approx([256.3, 135.5, 124.5], abs=0.2)


@pytest.mark.parametrize("apart", (0.0, 0.004))
def test_particles_that_meet_within_a_run(apart, tmp_path):
    """In a step without output, so that the pass of a step finds it, which takes a vector of particles at once."""
    text = ("units metal\nregion b block 0 60 0 20 0 20\ncreate_box 1 b\ncreate_atoms 1 single 10 9 9\n"
            f"create_atoms 1 single {16 + apart} 9 9\nmass 1 63.55\npair_style eam\npair_coeff * * {COPPER}\n"
            "neighbor 6.5 bin\ngroup a id 1\ngroup b id 2\nvelocity a set 15000 0 0\nvelocity b set -15000 0 0\n"
            "timestep 0.0001\nfix 1 all nve\nthermo 100\nrun 10\n")
    ways = [("naive", None), *(("openmp", isa) for isa in harness.instruction_sets())]
    messages = {refused(run_deck(tmp_path, text, "--engine", engine, variables=harness.environment(isa)), PHYSICS,
                        "particles 1 and 2", "overlap") for engine, isa in ways}
    assert len(messages) == 1, messages


def test_bad_files_and_words(tmp_path):
    start = deck("eam/alloy", tmp_path).split("pair_style")[0]
    copper = COPPER.read_text()
    short = copper[:20000]
    lines = copper.splitlines()
    files = {"short": short, "word": copper.replace("-3.1561636903424350e-01", "nonsense"),
             "grid": "\n".join([*lines[:2], "500 0.1 500 -1 5", *lines[3:]]),
             "mass": "\n".join([lines[0], "29 -1 3.6", *lines[2:]]), "setfl": "a\nb\nc\n99 Cu\n",
             "less": "\n".join([*lines[:4], lines[4].rsplit(maxsplit=1)[0], *lines[5:]]),
             "more": "\n".join([*lines[:4], lines[4] + " 1", *lines[5:]]), "twice": copper + lines[4] + "\n"}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    cases = [
        ("eam\npair_coeff * * short", "short:", "the file ends before all tables are there"),
        ("eam\npair_coeff * * word", "word:4: a finite number"),
        ("eam\npair_coeff * * grid", "grid:3: drho, dr and rc must be positive"),
        ("eam\npair_coeff * * mass", "mass:2: an atomic number and a positive mass"),
        ("eam\npair_coeff * * less", "a number before it is missing, or there is one too many"),
        ("eam\npair_coeff * * more", "a number before it is missing, or there is one too many"),
        ("eam\npair_coeff * * twice", "more numbers than the tables have"),
        ("eam\npair_coeff * * nowhere", "cannot read the potential nowhere"),
        ("eam\npair_coeff 1 2 short", "give I I"),
        ("eam\npair_coeff 1 1 0.5 1", "takes I J FILE"),
        (f"eam\npair_coeff 1 1 {COPPER}\nfix 1 all nve\nrun 1", "type 2 has no potential"),
        ("eam\nfix 1 all nve\nrun 1", "has no potential"),
        ("eam/alloy\npair_coeff * * setfl Cu Cu", "setfl:4: the number of elements"),
        ("eam/alloy\npair_coeff * * potential Cu", "an element for each of 2 types"),
        ("eam/alloy\npair_coeff * * potential Cu Zz", "the element 'Zz' is not in potential"),
        ("eam/fs\npair_coeff * * potential Cu Xx", "potential:"),
        ("eam 1.0", "takes no numbers"),
    ]
    for text, *words in cases:
        refused(run_deck(tmp_path, start + "pair_style " + text + "\n"), USAGE, *words)
    refused(run_deck(tmp_path, start.replace("metal", "real") + "pair_style eam\npair_coeff * * word\n"), USAGE,
            "need units metal")


@pytest.mark.gpu
def test_gpu_needs_double_precision_and_full_lists(tmp_path):
    text = deck("eam", tmp_path) + "run 1\n"
    for words in ("precision mixed", "force symmetric"):
        refused(run_deck(tmp_path, text, "--engine", "gpu", "-pk", "gpu", *words.split()), USAGE,
                "pair style eam needs precision double and force full")


def test_files_of_two_elements(tmp_path):
    """Two pair_coeff of style eam, against the same in LAMMPS: one grid for both, and the second mass."""
    crystal(tmp_path, 2)
    second = COPPER.read_text().replace("63.550", "50.000")
    lines = second.splitlines()
    lines[2] = lines[2].replace("1.0000000000000009e-02", "0.9800000000000000e-02")
    (tmp_path / "second").write_text("\n".join(lines) + "\n")
    text = ("units metal\natom_style atomic\nneighbor 0.6 bin\nread_data mix.data\npair_style eam\n"
            f"pair_coeff 1 1 {COPPER}\npair_coeff 2 2 second\nfix 1 all nve\ntimestep 0.002\n"
            "thermo_modify format float %.15g\nrun 20\n")
    ours = harness.run(text, tmp_path).table
    if LMP is None:
        pytest.skip("lmp is not installed")
    theirs = both_tables(text, tmp_path, "naive")[1][0]
    for step in (0, 20):
        for name in ("PotEng", "Press") if "PotEng" in ours.titles else ("E_pair", "TotEng", "Press"):
            assert ours.at(step)[name] == pytest.approx(theirs.at(step)[name], rel=1e-8), (step, name)
