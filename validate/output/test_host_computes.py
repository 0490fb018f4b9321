"""Computes that the host makes of particles: the values of lmp, the same bytes on every engine and number of ranks."""

from __future__ import annotations

import pytest

import harness
from cli import BOX, USAGE, refused, run_deck, works
from test_averages import MELT, assert_like_lmp, files, needs_lmp

pytestmark = pytest.mark.smoke

COMPUTES = """\
region left block 0.7 2.7 0.7 4.3 0.7 3.3
variable w atom id*vx
compute a all reduce sum vy vx fx v_w
compute b odd reduce max c_ke
compute c odd reduce/region left min vy y x
compute d odd reduce ave fz c_ke
compute e all reduce avesq vx vy
compute f odd reduce sumsq vx
compute g all rdf 20 cutoff 2.2
compute h all rdf 30 1 1 1 2 2 1 * 2
compute i odd rdf 10
compute j odd temp/com
compute k all temp/region left
compute l all temp/partial 1 0 1
fix a all ave/time 5 1 5 c_a[1] c_a[2] c_a[4] c_b c_c[*] file a.txt format " %.10g"
fix b all ave/time 5 2 10 c_g[*] file b.txt mode vector ave running
fix c all ave/time 5 1 5 c_h[*] file c.txt mode vector
fix d all ave/time 10 1 10 c_i[2] c_i[3] file d.txt mode vector
fix e all ave/time 10 1 10 c_d[*] c_e[*] c_f file e.txt format " %.10g"
fix f all ave/time 5 1 5 c_j[*] c_k[*] c_l[*] c_thermo_temp[*] file f.txt format " %.10g"
fix v all vector 5 c_b
variable near equal c_h[14][2]+max(f_v)+abs(c_a[3])*0
thermo_style custom step temp pe c_a[4] c_b c_c[1] c_d[2] c_f c_j[4] v_near
thermo_modify format float %.10g
thermo 5
run 10
"""
FILES = "abcdef"


@needs_lmp
def test_values_of_lammps(tmp_path):
    assert_like_lmp(MELT + COMPUTES, tmp_path, FILES)


FLAT = """\
units lj
dimension 2
lattice sq2 0.6
region box block 0 12 0 9 -0.5 0.5
create_box 2 box
create_atoms 1 box
mass * 1.0
group odd id 1:300:2
set group odd type 2
variable u atom sin(37.0*id)
variable v atom cos(23.0*id)
velocity all set v_u v_v NULL units box
pair_style lj/cut 2.5
pair_coeff * * 1 1
fix 1 all nve
fix 2 all enforce2d
compute g all rdf 25 1 2 * *
fix a all ave/time 10 1 10 c_g[*] file a.txt mode vector
thermo 10
run 10
"""


@needs_lmp
def test_rdf_in_two_dimensions(tmp_path):
    assert_like_lmp(FLAT, tmp_path, "a")


# No forces, and computes that have the cutoff of pair_style zero.
ZERO = FLAT.replace("pair_style lj/cut 2.5\npair_coeff * * 1 1\n",
                    "pair_style zero 2.3\npair_coeff * *\ncompute c all centro/atom 4\n"
                    "compute s all reduce sum c_c\nfix b all ave/time 5 1 5 c_s file b.txt format \" %.10g\"\n")


@needs_lmp
def test_zero_forces_have_a_cutoff_for_computes(tmp_path):
    assert_like_lmp(ZERO, tmp_path, "ab")


def test_zero_forces_in_a_restart_and_in_messages(tmp_path):
    deck = ZERO.replace("run 10\n", "run 0\n") + "info all\nwrite_restart r\nclear\nread_restart r\n"
    more = ("compute g all rdf 25\nvariable is equal is_active(pair_style,zero)+is_available(pair_style,zero)\n"
            "fix 2 all enforce2d\nthermo_style custom step pe c_g[25][1] v_is\nrun 0\n")
    done = harness.run(deck + more, tmp_path)
    # The middle of the last of 25 bins up to 2.3.
    assert list(map(float, done.table.rows[-1])) == pytest.approx([0, 0, 2.3 * 24.5 / 25, 2], rel=1e-6)
    assert "pair style zero, cutoff 2.3" in (tmp_path / "log.myriad").read_text()
    works(run_deck(tmp_path, BOX + "pair_style zero 1 nocoeff full\nrun 1\n"))
    for line, word in {"pair_style zero": "takes a cutoff", "pair_style zero -1": "-1",
                       "pair_style zero 1 half": "'half'", "pair_style zero 1\npair_coeff 1 1 2": "'2'",
                       "pair_style zero 1\npair_coeff 1 3": "'3'"}.items():
        refused(run_deck(tmp_path, BOX + line + "\n"), USAGE, word)


def test_same_files_on_every_engine(tmp_path):
    one = harness.run(MELT + COMPUTES, tmp_path / "naive", engine="naive")
    other = harness.run(MELT + COMPUTES, tmp_path / "openmp", threads=3)
    assert files(tmp_path / "naive", FILES) == files(tmp_path / "openmp", FILES)
    assert one.table.rows == other.table.rows and len(one.table.rows) == 3


@pytest.mark.mpi
def test_same_files_on_ranks(tmp_path):
    one = harness.run(MELT + COMPUTES, tmp_path / "one")
    for ranks in (2, 4):
        other = harness.run(MELT + COMPUTES, tmp_path / str(ranks), ranks=ranks)
        assert files(tmp_path / "one", FILES) == files(tmp_path / str(ranks), FILES)
        assert one.table.rows == other.table.rows


def test_fixed_faces_and_few_cells(tmp_path):
    """Three particles in a long, fixed box: their distances are 1, 2 and 3, each counted in both directions."""
    deck = ("units lj\nboundary f p p\nregion b block 0 50 0 8 0 8\ncreate_box 1 b\nmass 1 1\n"
            "create_atoms 1 single 1 7.9 1\ncreate_atoms 1 single 2 7.9 1\ncreate_atoms 1 single 2 1.9 1\n"
            "pair_style lj/cut 1.5\npair_coeff * * 1 1\nfix 1 all nve\ncompute g all rdf 8 cutoff 4\n"
            "thermo_style custom step c_g[2][3] c_g[3][3] c_g[4][3] c_g[5][3] c_g[8][3]\n"
            "thermo_modify format float %.12g\nrun 0\n")
    row = harness.run(deck, tmp_path).table.rows[0]
    # Up to 1, 1.5, 2, 2.5 and 4: the distances are 1, 2 and the root of 5.
    assert list(map(float, row[1:])) == pytest.approx([0, 2 / 3, 2 / 3, 2, 2], rel=1e-11)


BAD = {
    "compute 1 all reduce mean x": ["mean", "sumsq or avesq"],
    "compute 1 all reduce sum": ["compute reduce takes"],
    "compute 1 all reduce sum speed": ["'speed' has no value for each particle"],
    "compute 1 all reduce sum v_one": ["v_one"],
    "compute 1 all reduce/region nowhere sum x": ["nowhere"],
    "compute 1 all reduce/region b sum": ["reduce/region takes"],
    "compute 1 all rdf": ["number of bins"],
    "compute 1 all rdf 0": ["bins"],
    "compute 1 all rdf 10 1": ["types come in pairs", "'1'"],
    "compute 1 all rdf 10 1 3": ["3", "2"],
    "compute 1 all rdf 10 cutoff": ["one distance"],
    "compute 1 all rdf 10 cutoff -1": ["cutoff", "-1"],
    "compute 1 all rdf 10 1 1 reach 2": ["reach"],
    "compute 1 some rdf 10": ["some"],
    "compute r all rdf 10": ["compute r exists"],
    "thermo_style custom step c_r[1]": ["c_r[1]", "no such value", "array of 3 columns"],
    "thermo_style custom step c_r[1][4]": ["c_r[1][4]", "array of 3 columns"],
    "thermo_style custom step c_s[2]": ["c_s[2]", "a number"],
    "print $(c_s)": ["c_s", "only known at an output of a run"],
    "dump d all custom 1 f c_s": ["c_s"],
}


@pytest.mark.parametrize("compute, name", [("reduce sum x", "c_s"), ("group/group all", "c_s"), ("msd", "c_s[4]")])
def test_between_runs_a_value_is_of_the_last_step_or_refused(compute, name, tmp_path):
    """An average asked for it at an earlier step of this run, and the rows of the run before showed it."""
    begin = (f"{BOX}velocity all create 1 3\ncompute s all {compute}\nthermo_style custom step {name}\n"
             f"thermo_modify norm no format float %.12g\nrun 4\nprint \"now $({name}:%.12g)\"\n")
    done = works(run_deck(tmp_path, begin))
    assert f"now {harness.read_tables(done.out)[0].rows[-1][1]}\n" in done.out
    begin += f"fix a all ave/time 3 1 3 {name}\nthermo_style custom step\nrun 4\n"
    refused(run_deck(tmp_path, f"{begin}print $({name})\n"), USAGE, "c_s", "after a run whose last output shows it",
            line=begin.count("\n") + 1)


@pytest.mark.parametrize("line", BAD)
def test_bad_input(line, tmp_path):
    begin = BOX + "variable one equal 1\ncompute r all rdf 10\ncompute s all reduce sum x\n"
    refused(run_deck(tmp_path, begin + line + "\n"), USAGE, *BAD[line], line=begin.count("\n") + 1)


def test_a_cutoff_of_many_boxes(tmp_path):
    begin = MELT + "compute r all rdf 10 cutoff 340\nthermo_style custom step c_r[1][1]\n"
    refused(run_deck(tmp_path, begin + "run 0\n"), USAGE, "compute r", "340", "16 times the periodic side x")


def test_uncompute(tmp_path):
    deck = MELT + "compute s all reduce sum x\nthermo_style custom step c_s\nrun 1\nuncompute s\nrun 1\n"
    refused(run_deck(tmp_path, deck), USAGE, "c_s", "no such compute")
    works(run_deck(tmp_path, deck.replace("uncompute s", "thermo_style one\nuncompute s")))
