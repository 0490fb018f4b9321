"""Pairs that molecules exclude, on GPUs, with and without bonds: the bits of openmp, what is refused; and `set mol`."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

import harness
from cli import USAGE, refused, run_deck
from test_bonds import CHAINS, FREE, MIXED, system

LMP = shutil.which("lmp")

# Rods of three particles next to one another, as a knob says; some particles have no molecule.
RODS = """\
units lj
atom_style bond
lattice fcc {density}
region box block 0 4 0 4 0 4
create_box 1 box
create_atoms 1 box
mass 1 1
variable rod atom "ceil(id/3)"
set atom 10* mol v_rod
velocity all create 2.0 99
group left id 1:120
pair_style {pair}
pair_coeff * * 1 1
timestep 0.004
fix move all nve
neighbor 0.4 bin
"""

OUTPUT = """\
compute r all rdf 30
compute far all rdf 30 cutoff {far}
compute near all coord/atom cutoff 1.6
compute sum all reduce sum c_near
fix r all ave/time 10 2 20 c_r[*] c_far[3] file rdf mode vector
thermo 10
thermo_style custom step temp pe press pxx pyy pzz pxy pxz pyz c_sum
thermo_modify format float %.17g
dump f all custom 20 f.dump id mol x y z vx vy vz fx fy fz
dump_modify f sort id format float %.17g
run 40
"""

FREE_RODS = RODS.format(density=0.7, pair="lj/cut 2.5")
EXCLUDE = ("molecule/intra all", "molecule/inter left exclude molecule/intra all")


def bits(deck, folder, **how):
    tables = harness.run(deck, folder, **how).tables
    return [table.rows for table in tables], (folder / "f.dump").read_text(), (folder / "rdf").read_text()


@pytest.mark.gpu
@pytest.mark.parametrize("exclude", EXCLUDE)
@pytest.mark.parametrize("bonds", [None, FREE, MIXED], ids=["no bonds", "free", "0 1 0"])
@pytest.mark.parametrize("package", [{}, {"force": "symmetric"}, {"rebin": 2, "lanes": 1}])
def test_the_gpu_leaves_the_same_pairs_out(exclude, bonds, package, tmp_path):
    """Forces, energies and pressures have no excluded pairs; g(r) and coordination numbers have them, as in openmp."""
    deck = FREE_RODS if bonds is None else system(bonds) + "group left id 1:120\n"
    output = OUTPUT.format(far=2.9 if bonds is None else 2.8)
    with_all = bits(deck + output, tmp_path / "all")
    deck += f"neigh_modify exclude {exclude}\n"
    expected = bits(deck + output, tmp_path / "openmp")
    assert bits(deck + output, tmp_path / "gpu", engine="gpu", package=package) == expected
    assert expected[0] != with_all[0]


@pytest.mark.gpu
@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("bonds", [None, MIXED], ids=["no bonds", "0 1 0"])
def test_molecules_go_with_particles_between_gpus(ranks, bonds, tmp_path):
    deck = FREE_RODS if bonds is None else system(bonds) + "comm_modify cutoff 1.9\ngroup left id 1:120\n"
    deck += f"neigh_modify exclude {EXCLUDE[1]}\nfix even all balance 9 1.0\n"
    output = OUTPUT.format(far=2.6)
    gpu = {"engine": "gpu", "ranks": ranks, "threads": 1, "package": {"rebin": 5, "transport": "staged"}}
    assert bits(deck + output, tmp_path / "gpu", **gpu) == bits(deck + output, tmp_path / "openmp")


@pytest.mark.gpu
def test_mixed_precision_leaves_them_out(tmp_path):
    deck = FREE_RODS + f"neigh_modify exclude {EXCLUDE[1]}\nthermo_style custom step pe press\nrun 0\n"
    one, other = (harness.run(deck, tmp_path / word, engine="gpu", package={"precision": word}).table.at(0)
                  for word in ("double", "mixed"))
    assert other["PotEng"] == pytest.approx(one["PotEng"], rel=1e-6)
    assert other["Press"] == pytest.approx(one["Press"], rel=1e-5)


@pytest.mark.gpu
def test_exclusions_want_lists_and_the_log_says_so(tmp_path):
    """Also where cells are faster without them, and only as long as pairs are excluded."""
    thin = RODS.format(density=0.05, pair="lj/cut 1.2")
    words = "lists without pairs that molecules exclude"
    for line, there in (("", False), ("neigh_modify exclude molecule all\n", True)):
        log = harness.run(thin + line + "run 0\n", tmp_path, engine="gpu").log
        assert (words in log) == there and ("cells without lists" in log) != there
    exclude = "neigh_modify exclude molecule all\n"
    refused(run_deck(tmp_path, thin + exclude + "run 0\n", "--engine", "gpu", "-pk", "gpu", "neighbours", "cells"),
            USAGE, "neigh_modify exclude molecule", "use neighbours list or auto")
    refused(run_deck(tmp_path, thin + exclude + "run 0\n", "--engine", "naive", "--gpu-naive"), USAGE,
            "knows no molecules", "leave --gpu-naive out")


@pytest.mark.skipif(not LMP, reason="lmp is not installed")
def test_lmp_sets_the_same_molecules(tmp_path):
    """Of a number, and of a variable of each particle."""
    text = FREE_RODS + "set group left mol 7\ncompute m all property/atom mol\n" \
        "dump 1 all custom 1 {who}.dump id c_m\ndump_modify 1 sort id\nrun 0\n"
    harness.run(text.format(who="ours"), tmp_path)
    (tmp_path / "in.lmp").write_text(text.format(who="theirs"))
    subprocess.run([LMP, "-in", "in.lmp", "-log", "none", "-screen", "none"], cwd=tmp_path, check=True)
    ours, theirs = (np.loadtxt((tmp_path / f"{who}.dump").read_text().splitlines()[9:]) for who in ("ours", "theirs"))
    assert (ours == theirs).all() and len(ours) == 256
    assert ours[119][1] == 7 and ours[120][1] == 41 and ours[255][1] == 86


@pytest.mark.parametrize("value", ["-1", "0.5", "4294967296", "v_half"])
def test_numbers_of_molecules_are_whole(value, tmp_path):
    refused(run_deck(tmp_path, FREE_RODS + f"variable half atom id/2\nset group left mol {value}\n"), USAGE,
            "set mol", "within 0 and 4294967295")


def test_molecules_stay_those_of_the_data_file(tmp_path):
    """set mol changes the selected particles alone, and write_data writes them."""
    harness.run(system() + "set atom 2 mol 4294967295\nwrite_data end\n", tmp_path)
    before, after = (text.read_text().split("\nAtoms # bond\n\n")[1].split("\n\n")[0].splitlines()
                     for text in (CHAINS, tmp_path / "end"))
    assert {line.split()[0]: line.split()[1] for line in after} == \
        {line.split()[0]: line.split()[1] for line in before} | {"2": "4294967295"}
