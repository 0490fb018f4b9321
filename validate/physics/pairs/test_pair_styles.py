"""Pair styles beside LAMMPS: energies, pressures and 50 steps of two types, mixed or given, shifted or not; the steps
are undone to the last bit.  test_nist.py has the gradients of all styles, and check_engines.py the bits of all engines.
"""

from __future__ import annotations

import numpy as np
import pytest

import harness
from cli import BOX, USAGE, refused, run_deck, works
from test_lammps import LMP, lammps_tables

# Words of pair_style, and coefficients of the types 1 1, 2 2 and 1 2.
STYLES = {
    "born": ("2.5", "5 0.15 1 2 0.5", "4 0.16 0.9 1 -0.3 2.2", "4 .15 .95 1.5 0"),
    "buck": ("2.5", "4000 0.2 3", "3000 0.2 2 2.2", "3500 0.21 2.5"),
    "gauss": ("2.5", "-5 1.5", "3 2 2.2", "-4 1.2"),
    "gauss/cut": ("2.5", "5 0.3 0.4", "-3 1 0.3 2.2", "-4 1.2 0.35"),
    "lj/expand": ("2.4", "1 0.8 0.1", "0.8 0.9 -0.05 2.2", "0.9 0.8 0.2"),
    "lj/gromacs": ("1.9 2.5", "1 1", "0.8 0.9 1.5 2.2", "0.9 0.95"),
    "lj96/cut": ("2.5", "1 1", "0.8 0.9 2.2", "0.9 0.95"),
    "mie/cut": ("2.5", "1 1 14.5 6.3", "0.8 0.9 10 5 2.2", "0.9 0.95 12 6"),
    "morse": ("2.5", "1 6 1.1", "0.8 5 1 2.2", "0.9 5.5 1.05"),
    "yukawa": ("1.5 2.5", "30", "20 2.2", "25"),
    "zbl": ("1.5 2.5", "10 10", "14 14", "10 12"),
}
UNMIXED = ("born", "buck", "morse")
MIX_ALIKE = ("zbl",)
UNSHIFTED = ("lj/gromacs", "zbl")
MIXINGS = ("geometric", "arithmetic", "sixthpower")


def write_system(folder, dim):
    lattice, side = ("fcc 0.7", "0 4 0 4 0 4") if dim == 3 else ("sq 0.7", "0 9 0 9 -0.5 0.5")
    harness.run(f"dimension {dim}\nlattice {lattice}\nregion b block {side}\ncreate_box 2 b\ncreate_atoms 1 box\n"
                "set type 1 type/fraction 2 0.4 77\nmass 1 1\nmass 2 2.5\nvelocity all create 1 87287\n"
                f"displace_atoms all random 0.05 0.05 {0.05 if dim == 3 else 0} 7\n"
                "pair_style lj/cut 2.5\npair_coeff * * 1 1\nwrite_data system.data nocoeff\n", folder)


def deck(style, dim):
    words, one, two, both = STYLES[style]
    text = (f"units lj\ndimension {dim}\nread_data system.data\ntimestep 0.002\nfix 1 all nve\nthermo 10\n"
            f"thermo_style custom step temp pe ke etotal press\nthermo_modify format float %.15g norm no\n"
            f"pair_style {style} {words}\npair_coeff 1 1 {one}\npair_coeff 2 2 {two}\n")
    if style not in UNMIXED:
        mixings = MIXINGS[:1] if style in MIX_ALIKE else MIXINGS
        text += "".join(f"pair_modify mix {mixing}\nrun 0\n" for mixing in mixings)
    text += f"pair_coeff 1 2 {both}\nrun 50\n"
    return text + ("" if style in UNSHIFTED else "pair_modify shift yes\nrun 0\n")


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("style", sorted(STYLES))
def test_styles_are_those_of_lammps(style, dim, tmp_path):
    write_system(tmp_path, dim)
    text = deck(style, dim)
    (tmp_path / "in.both").write_text(text)
    ours = harness.run(text + "verify 30\n", tmp_path, engine="openmp").tables
    theirs = lammps_tables(tmp_path / "in.both", tmp_path)
    assert len(theirs) == text.count("run ") and len(ours) >= len(theirs)
    energies = set()
    for a, b in zip(ours, theirs):
        for row in b.rows:
            step = int(row[0])
            for name in ("Temp", "PotEng", "Press"):
                late = step > 0
                assert a.at(step)[name] == pytest.approx(b.at(step)[name], rel=1e-6 if late else 1e-10), (step, name)
        energies.add(b.rows[0][2])
    assert len(energies) == len(theirs)


def test_mixing_rules_that_do_not_exist(tmp_path):
    for style in UNMIXED:
        words, one, other, _ = STYLES[style]
        text = f"pair_style {style} {words}\npair_coeff 1 1 {one}\npair_coeff 2 2 {other}\nrun 0\n"
        refused(run_deck(tmp_path, BOX + text), USAGE, f"pair style {style} has no coefficients for types 1 and 2")


REFUSED = [
    ("pair_style morse", "pair style morse takes 1 number ("),
    ("pair_style morse 2.5\npair_coeff 1 1 1 -2 1", "alpha of pair style morse must be positive"),
    ("pair_style morse 2.5\npair_coeff 1 1 1 2", "takes 3 to 4 coefficients, not 2"),
    ("pair_style yukawa 2.5", "takes 2 numbers ("),
    ("pair_style yukawa 1 2.5\npair_coeff 1 1 3 1 2.5", "takes 1 to 2 coefficients, not 3"),
    ("pair_style born 2.5\npair_coeff 1 1 1 0 1 1 1", "rho of pair style born must be positive"),
    ("pair_style mie/cut 2.5\npair_coeff * * 1 1 6 12\nrun 0", "gammaR must be larger than gammaA"),
    ("pair_style lj/gromacs 2.5 2.5\npair_coeff * * 1 1\nrun 0", "inner must be smaller than rc"),
    ("pair_style lj/gromacs 1 2.5\npair_modify shift yes", "is zero at its cutoff already"),
    ("pair_style gauss 2.5\npair_coeff 1 1 1 0", "B of pair style gauss must be positive"),
    ("pair_style zbl 2.5", "pair style zbl takes 2 numbers (the first is inner), not 1"),
    ("pair_style zbl 2.5 2\npair_coeff * * 3 3\nrun 0", "inner must be smaller than rc"),
    ("pair_style zbl 2 2.5\npair_coeff 1 1 3 4", "Z_i and Z_j of type 1 with itself must be equal"),
    ("pair_style zbl 2 2.5\npair_coeff 1 1 3", "takes 2 coefficients, not 1"),
    ("pair_style zbl 2 2.5\npair_modify shift yes", "is zero at its cutoff already"),
    ("pair_style gauss/cut 2.5\npair_coeff 1 1 1 0 0", "sigmah of pair style gauss/cut must be positive"),
    ("pair_style mie/cut 2.5\npair_coeff * * 1 1e-10 50 6\nrun 0", "sigma^gammaR is out of range"),
]


BEYOND = [
    ("lj/cut 2.5", "1 1 1e308 1"), ("morse 2.5", "1 1 1 1e5 1"), ("born 2.5", "1 1 1 1e-5 1 1 1"),
    ("gauss/cut 2.5", "1 1 1 1 1e-200"), ("soft 2", "1 1 1e308"), ("dpd 1e308 1 3", "1 1 1 1"),
    ("dpd 1 1 3", "1 1 1 1e308"), ("hybrid/overlay lj/cut 2.5 gauss 2", "1 1 gauss 1e308 1\npair_coeff 1 1 lj/cut 1 1"),
]


@pytest.mark.parametrize("style, coefficients", BEYOND, ids=[f"{style} {words[:9]}" for style, words in BEYOND])
def test_values_that_no_sum_can_hold_are_refused(style, coefficients, tmp_path):
    box = BOX.replace("create_box 2", "create_box 1").replace("create_atoms 2", "create_atoms 1")
    refused(run_deck(tmp_path, f"{box}pair_style {style}\npair_coeff {coefficients}\nrun 0\n"), USAGE,
            f"pair style {style.split()[0]}", "1e+289")


@pytest.mark.parametrize("rho", [0.01, 1e-3, 1e-4])
def test_forces_of_a_stiff_pair_have_their_digits(rho, tmp_path):
    """Nearer than 1 this pair is a hard wall; at 1.1 it attracts."""
    text = BOX.replace("create_atoms 2 single 3 3 3", "create_atoms 2 single 2.1 1 1")
    harness.run(text + f"pair_style born 2.5\npair_coeff * * 1 {rho} 1 1 0.5\ntimestep 0.001\n"
                "dump d all custom 1 d.dump id fx fy fz\ncompute p all pressure NULL virial\n"
                "thermo_style custom step c_p\nrun 0\n", tmp_path)
    r = 1.1
    force = np.exp((1 - r) / rho) / rho - 6 / r**7 + 8 * 0.5 / r**9
    frame = harness.read_dump(tmp_path / "d.dump")[0]
    assert frame.columns["fx"] == pytest.approx([-force, force], rel=1e-8)


@pytest.mark.parametrize("words, message", REFUSED, ids=range(len(REFUSED)))
def test_refused(words, message, tmp_path):
    refused(run_deck(tmp_path, BOX + words + "\n"), USAGE, message)


@pytest.mark.parametrize("words", ["soft 1.5", "hybrid lj/cut 2.5 soft 1.5", "hybrid/overlay soft 1.5 lj/cut 2.5"])
def test_a_deck_of_lammps_is_told_of_another_soft(words, tmp_path):
    """The one style whose name means something else here, wherever it is named, and once."""
    note = "Note: pair_style soft: the force is A (1 - r/rc), and not that of LAMMPS's soft"
    out = works(run_deck(tmp_path, BOX + f"pair_style {words}\npair_style {words}\n")).out
    assert out.count(note) == 1
    assert note not in works(run_deck(tmp_path, BOX)).out
