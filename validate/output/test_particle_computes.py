"""Computes with values for each particle: the values of lmp, the same bytes on every engine and number of ranks."""

from __future__ import annotations

import pytest

import harness
from cli import BOX, USAGE, refused, run_deck
from test_averages import MELT, assert_like_lmp, files, needs_lmp

pytestmark = pytest.mark.smoke

COMPUTES = """\
compute c1 all coord/atom cutoff 1.2
compute c2 odd coord/atom cutoff 1.3 1 2 *
compute c3 odd coord/atom cutoff 1.3 group odd
variable c atom c_c1+2*c_c2[2]
compute ca all reduce sum c_c1 c_c2[1] c_c2[2] c_c2[3] v_c
compute cb odd reduce max c_c3 c_c1
fix a all ave/time 5 1 5 c_ca[*] c_cb[*] file a.txt format " %.10g"
fix b all ave/histo 5 1 5 -0.5 15.5 16 c_c1 c_c3 file b.txt mode vector
compute p1 all pe/atom
compute p2 odd pe/atom pair
compute s1 all stress/atom NULL
compute s2 odd stress/atom NULL pair
compute t all temp/partial 1 0 1
compute tc odd temp/com
compute s3 odd stress/atom t ke
compute s4 odd stress/atom tc ke virial
compute s5 all stress/atom NULL virial
compute pa all reduce sum c_p1 c_p2
compute pb all reduce max c_p1 c_p2 c_s1[1] c_s2[4]
compute sa all reduce sumsq c_s1[1] c_s1[2] c_s1[3] c_s1[4] c_s1[5] c_s1[6] c_s4[1] c_s3[2] c_s4[6]
compute sb all reduce sum c_s2[3] c_s2[6] c_s3[1] c_s3[4] c_s4[2] c_s4[5]
compute f1 all heat/flux ke p1 s5
compute f2 odd heat/flux ke p1 s5
fix c all ave/time 5 1 5 c_pa[*] c_pb[*] file c.txt format " %.10g"
fix g all ave/time 5 1 5 c_sa[*] c_sb[*] c_f1[*] c_f2[*] file g.txt format " %.10g"
thermo 5
run 10
"""
FILES = "abcg"


@needs_lmp
def test_values_of_lammps(tmp_path):
    assert_like_lmp(MELT + COMPUTES, tmp_path, FILES)


def test_same_files_on_every_engine(tmp_path):
    harness.run(MELT + COMPUTES, tmp_path / "naive", engine="naive")
    harness.run(MELT + COMPUTES, tmp_path / "openmp", threads=3)
    assert files(tmp_path / "naive", FILES) == files(tmp_path / "openmp", FILES)


@pytest.mark.mpi
def test_same_files_on_ranks(tmp_path):
    harness.run(MELT + COMPUTES, tmp_path / "one")
    harness.run(MELT + COMPUTES, tmp_path / "four", ranks=4)
    assert files(tmp_path / "one", FILES) == files(tmp_path / "four", FILES)


BAD = {
    "compute 1 all coord/atom": ["coord/atom takes"],
    "compute 1 all coord/atom cutoff 0": ["cutoff", "0"],
    "compute 1 all coord/atom cutoff 1 group nobody": ["nobody"],
    "compute 1 all coord/atom cutoff 1 9": ["9"],
    "compute 1 all pe/atom bonds": ["'bonds'", "pair, bond, angle"],
    "compute 1 all stress/atom": ["stress/atom takes"],
    "compute 1 all stress/atom nowhere": ["nowhere"],
    "compute 1 all stress/atom NULL bonds": ["'bonds'", "ke, virial, pair, bond"],
    "compute 1 all heat/flux c c c": ["'c' is no compute of style ke/atom"],
    "compute 1 all heat/flux c c": ["heat/flux takes"],
    "thermo_style custom step c_c": ["c_c", "no such value"],
    "compute 1 all reduce sum c_c[1]": ["c_c[1]", "no value for each particle"],
    "compute 1 all reduce sum c_d[3]": ["c_d[3]", "no value for each particle"],
    "variable v atom c_c\nvelocity all set v_v 0 0": ["c_c", "only known at an output of a run"],
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input(line, tmp_path):
    begin = BOX + "compute c all coord/atom cutoff 1\ncompute d all coord/atom cutoff 1 1 *\n"
    lines = (begin + line).count("\n") + 1
    refused(run_deck(tmp_path, begin + line + "\n"), USAGE, *BAD[line], line=lines)
