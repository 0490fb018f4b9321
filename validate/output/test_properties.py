"""Values that fixes keep for each particle (property/atom, ave/atom, store/state), and runs that halt: the values of
lmp, the same on every engine and number of ranks, in restarts and after edits."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from cli import BOX, RUNTIME, USAGE, refused, run_deck, works
from test_averages import MELT, assert_like_lmp, files, needs_lmp

pytestmark = pytest.mark.smoke

KEPT = """\
fix q all property/atom d_w i_k ghost yes
variable w atom 0.5*id+vx
set group all d_w v_w
set group odd i_k 7
compute q odd property/atom d_w i_k mass vy
compute one all property/atom type
fix s odd store/state 0 x vx
fix sc all store/state 0 c_ke fy
fix sn all store/state 10 vx
fix ss all store/state 0 xs ys zs
fix a all ave/atom 2 3 10 vx c_ke c_q[2]
compute sum all reduce sum c_q[1] c_q[2] c_q[3] c_q[4] c_one f_s[1] f_s[2] f_sc[1] f_sc[2] f_sn f_a[1] f_a[2] f_a[3]
compute more all reduce sum f_ss[1] f_ss[2] f_ss[3]
compute top all reduce max c_q[1] f_s[1] f_sc[2] f_sn f_a[1] f_a[2]
fix f all ave/time 10 1 10 c_sum[*] c_top[*] c_more[*] file a.txt format " %.10g"
thermo 100
run 15
unfix sn
fix sn odd store/state 4 vy
run 15
"""


@needs_lmp
def test_values_of_lammps(tmp_path):
    assert_like_lmp(MELT + KEPT, tmp_path, "a")


@pytest.mark.parametrize("knobs", [{}, {"dim": 2, "n": 8, "xz": 0, "yz": 0, "xy": 1.7}], ids=["3D", "2D"])
def test_scaled_places_of_tilted_boxes(knobs, tmp_path):
    """Those that are kept are those of the dump at that step, and stay."""
    text = harness.deck("in.tilted").read_text().replace("\ndump ", "\nfix s all store/state 10 xs ys zs\n"
                                                         "dump d all custom 5 d.txt id xs ys zs f_s[1] f_s[2] f_s[3]\n"
                                                         "dump_modify d format float %.17g sort id\ndump ")
    harness.run(text, tmp_path, variables={**knobs, "steps": 15})
    frames = [np.array([line.split() for line in part.splitlines()[8:]], float)
              for part in (tmp_path / "d.txt").read_text().split("ITEM: TIMESTEP\n")[1:]]
    assert len(frames) == 4
    for k, kept in enumerate((0, 0, 2, 2)):
        np.testing.assert_array_equal(frames[k][:, 4:], frames[kept][:, 1:4])
    assert np.abs(frames[2][:, 1:3] - frames[0][:, 1:3]).max() > 0.01


DUMPED = KEPT.replace("thermo 100", "dump d odd custom 15 d.txt id d_w i_k c_q[1] f_s[2] f_a[1]\nthermo 100")


def test_same_files_on_every_engine(tmp_path):
    harness.run(MELT + DUMPED, tmp_path / "naive", engine="naive")
    harness.run(MELT + DUMPED, tmp_path / "openmp", threads=3)
    assert files(tmp_path / "naive", "ad") == files(tmp_path / "openmp", "ad")
    rows = [line.split() for line in (tmp_path / "naive" / "d.txt").read_text().splitlines()[9:12]]
    for row in rows:  # at step 0: id, id/2 + vx, 7, the same as d_w, vx, no average yet
        assert float(row[1]) == float(row[3]) == pytest.approx(0.5 * int(row[0]) + float(row[4]))
        assert row[2] == "7" and row[5] == "0"


@pytest.mark.mpi
def test_same_files_on_ranks(tmp_path):
    """The weights that move the cuts are kept too; they follow from times, and are no part of the files."""
    weights = ("fix z all property/atom d_z\n"
               "fix b all balance 5 1.0 shift weight time 0.9 weight neigh 0.9 weight store z\n")
    harness.run(MELT + DUMPED, tmp_path / "one")
    harness.run(MELT + weights + DUMPED, tmp_path / "four", ranks=4, threads=1)
    assert files(tmp_path / "one", "ad") == files(tmp_path / "four", "ad")


@pytest.mark.mpi
def test_stored_weights_move_the_cuts(tmp_path):
    """Weights of a group are stored, are those of a variable then, and of the fix: 2/3 of the weight are in a half."""
    deck = ("units lj\nlattice sc 1.0\nregion b block 0 24 0 6 0 6\ncreate_box 1 b\ncreate_atoms 1 box\nmass 1 1\n"
            "region u block 11.9 INF INF INF INF INF\ngroup heavy region u\npair_style lj/cut 2.5\npair_coeff * * 1 1\n"
            "fix 1 all nve\nfix p all property/atom d_w\ncompute w all property/atom d_w\nvariable w atom c_w\n"
            "balance 1 shift x 5 1.0 weight group 1 heavy 3 weight store w\nbalance 1 x uniform\n"
            "fix b all balance 5 1.01 shift x 5 1.0 weight var w weight store w\n"
            "thermo 5\nthermo_style custom step f_b f_b[1] f_b[2] f_b[3]\nrun 10\n")
    got = harness.run(deck, tmp_path, ranks=2, threads=1)
    rows = [list(map(float, row)) for row in got.table.rows]
    assert rows == [[0, 1, 864, 1, 1.5], [5, 1, 864, 0, 1], [10, 1, 864, 0, 1]]
    assert got.particles_of_ranks[1] == 576


DATA = """\
two particles

2 atoms
1 atom types
0 6 xlo xhi
0 6 ylo yhi
0 6 zlo zhi

Masses

1 1

Atoms

9 1 1 1 1
4 1 3 3 3

Labels

4 2 2.5
9 -1 0.25
"""
READ = "units lj\nfix q all property/atom mol d_w\nread_data d fix q NULL Labels\n"
SHOW = ("pair_style lj/cut 2.5\npair_coeff 1 1 1 1\nfix 1 all nve\ncompute c all reduce sum mol d_w v_at\n"
        "compute x all property/atom xs procp1\ncompute s all reduce sum c_x[1] c_x[2]\n"
        "thermo_style custom step c_c[1] c_c[2] c_c[3] c_s[1] c_s[2]\nthermo_modify norm no\n")


def test_a_section_of_a_data_file(tmp_path):
    (tmp_path / "d").write_text(DATA)
    out = works(run_deck(tmp_path, READ + "variable at atom mol*10+d_w\n" + SHOW + "run 0\n")).out
    row = out.split("Step")[1].splitlines()[1].split()
    assert list(map(float, row)) == pytest.approx([0, 1, 2.75, 12.75, 4 / 6, 2], rel=1e-6)


def test_ids_that_change_keep_their_values(tmp_path):
    (tmp_path / "d").write_text(DATA.replace("2 atoms", "3 atoms").replace("4 1 3 3 3", "4 1 3 3 3\n2 1 5 5 5")
                                .replace("9 -1 0.25", "9 -1 0.25\n2 5 100"))
    deck = READ + "variable at atom id*d_w\ngroup gone id 4\ndelete_atoms group gone\n" + SHOW + "run 0\n"
    row = works(run_deck(tmp_path, deck)).out.split("Step")[1].splitlines()[1].split()
    assert list(map(float, row[:4])) == [0, 4, 100.25, 100 * 1 + 0.25 * 2]


def test_values_in_restarts(tmp_path):
    """Stopped between samples of an average; and read by a deck that gives the same fixes."""
    deck = MELT + KEPT.replace("run 15\n", "run 15\n", 1) + "restart 14 r.*\nrun 30\nwrite_restart last\n"
    done = works(run_deck(tmp_path, deck))
    if harness.hdf5_missing():
        pytest.skip("no restarts in this build")
    whole = (tmp_path / "a.txt").read_text()
    (tmp_path / "r.56").unlink()
    assert "Resumed at step 42" in works(run_deck(tmp_path, deck, "--resume")).out
    assert (tmp_path / "a.txt").read_text() == whole
    again = ("read_restart last\nfix q all property/atom d_w i_k\nfix s odd store/state 0 x vx\n"
             "fix a all ave/atom 2 3 10 vx vx vx\nfix 1 all nve\n"
             "compute sum all reduce sum d_w i_k f_s[1] f_s[2] f_a[1] f_a[2] f_a[3]\nthermo_modify format float %.10g\n"
             "thermo_style custom step c_sum[1] c_sum[2] c_sum[3] c_sum[4] c_sum[5] c_sum[6] c_sum[7]\n"
             "thermo_modify norm no\nrun 0\n")
    row = works(run_deck(tmp_path, again)).out.split("Step")[1].splitlines()[1].split()
    last = whole.splitlines()[-1].split()
    # The last averages ended at step 60, as did the run. c_q is of `odd` alone, and d_w of all.
    assert list(map(float, row[2:5])) == pytest.approx([float(last[k]) for k in (2, 6, 7)], rel=1e-6)
    assert list(map(float, row[5:])) == pytest.approx([float(last[k]) for k in (11, 12, 13)], rel=1e-6)
    refused(run_deck(tmp_path, "read_restart last\nfix q all property/atom d_w\n"), USAGE, "2 values", "not 1")


HALT = BOX + "velocity all set 1 0 0\nthermo 2\nthermo_style custom step\nvariable s equal step\n"


@pytest.mark.parametrize("end, steps", [("", [[0, 2, 4, 6]]), (" error soft message no", [[0, 2, 4, 6]]),
                                        (" error continue", [[0, 2, 4, 6], [6, 8, 9]])])
def test_halt(end, steps, tmp_path):
    got = harness.run(HALT + f"fix h all halt 3 v_s >= 5{end}\nrun 20\nrun 3\nprint \"went on\"\n", tmp_path)
    assert [[int(row[0]) for row in table.rows] for table in got.tables][:1] == steps[:1]
    assert len(got.tables) == len(steps) and "went on" in got.log
    assert ("the run ends at step 6" in got.log) == ("no" not in end)


def test_a_halted_run_is_passed_by_a_resume(tmp_path):
    deck = HALT + ("fix h all halt 3 v_s == 6 error continue\nrun 20\nrestart 10 r.*\nrun 20\n")
    done = works(run_deck(tmp_path, deck))
    if harness.hdf5_missing():
        pytest.skip("no restarts in this build")
    out = works(run_deck(tmp_path, deck, "--resume")).out
    assert "Steps 0 to 6 were run before" in out and "Resumed at step 20" in out


def test_a_halt_does_not_look_at_the_first_step_of_a_run(tmp_path):
    """As in LAMMPS: it acts after steps."""
    got = harness.run(HALT + "fix h all halt 3 v_s >= 0 error continue\nrun 0\nrun 20\nrun 2\nrun 20\n", tmp_path)
    assert [[int(row[0]) for row in table.rows] for table in got.tables] == [[0], [0, 2, 3], [3, 4, 5], [5, 6]]


@pytest.mark.parametrize("every", ["", " every 4 'print PIECE'"])
def test_a_restart_of_the_step_of_a_halt_knows_it(every, tmp_path):
    """Its run does not go on, and no further piece of it is run."""
    if harness.hdf5_missing():
        pytest.skip("no restarts in this build")
    deck = HALT + ("fix h all halt 3 v_s == 6 error continue\ndump 1 all custom 1 d id x\nrestart 6 r.*\n"
                   f"run 20{every}\nfix 2 all print 1 '$(step)' file p\nrun 10\n")
    out = works(run_deck(tmp_path, deck)).out
    wanted = [(tmp_path / name).read_bytes() for name in ("d", "p")]
    assert wanted[1].split()[-1] == b"16" and out.count("\nPIECE") == (2 if every else 0)
    (tmp_path / "r.12").unlink()
    out = works(run_deck(tmp_path, deck, "--resume")).out
    assert "Resumed at step 6" in out and out.count("\nPIECE") == (2 if every else 0)
    assert [(tmp_path / name).read_bytes() for name in ("d", "p")] == wanted
    assert "Resumed at step 12" in works(run_deck(tmp_path, deck, "--resume")).out
    assert [(tmp_path / name).read_bytes() for name in ("d", "p")] == wanted


def test_halt_with_an_error(tmp_path):
    refused(run_deck(tmp_path, HALT + "fix h all halt 3 v_s >= 5 error hard\nrun 20\n"), RUNTIME, "halted at step 6")
    works(run_deck(tmp_path, HALT + "fix h all halt 3 diskfree < 0.001\nfix t all halt 3 tlimit > 1e9\nrun 5\n"))


BEGIN = BOX + "fix p all property/atom d_w i_k mol\n"
BAD = {
    "fix 2 all property/atom q": ["property/atom", "'q'", "i_NAME"],
    "fix 2 all property/atom d_w": ["a property d_w already"],
    "fix 2 all property/atom d_x ghost": ["ghost"],
    "fix 2 all property/atom": ["names"],
    "set group all d_v 1": ["no property 'd_v'"],
    "set group all i_k 1.5": ["i_k takes whole numbers"],
    "compute 2 all property/atom colour": ["colour", "accepted are"],
    "compute 2 all property/atom d_v": ["no property 'd_v'"],
    "balance 1 shift x 5 1 weight store v": ["no property 'd_v'"],
    "fix 2 all ave/atom 1 1 1 d_v": ["d_v", "no value of particles"],
    "fix 2 all ave/atom 1 1 1": ["Nevery"],
    "fix 2 all store/state 0 xw": ["xw", "no value of particles"],
    "fix 2 all store/state 0 x com yes": ["com", "not available"],
    "fix 2 all store/state -1 x": ["N of fix store/state"],
    "fix 2 all halt 1 bondmax > 1": ["bondmax", "tlimit"],
    "fix 2 all halt 1 v_no > 1": ["v_no"],
    "fix 2 all halt 1 tlimit => 1": ["=>", "accepted"],
    "fix 2 all halt 1 tlimit > 1 error loud": ["loud", "hard"],
    "fix 2 all halt 0 tlimit > 1": ["N of fix halt"],
    "dump 1 all custom 1 d id d_v": ["no property 'd_v'"],
    "dump 1 all custom 1 d id f_p": ["f_p", "no such value"],
    "replicate 2 1 1": ["replicate", "values"],
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input(line, tmp_path):
    refused(run_deck(tmp_path, BEGIN + line + "\n"), USAGE, *BAD[line])


@pytest.mark.parametrize("wrong, says", [(("4 2 2.5", "4 2.5 2"), "'2.5' is not a whole number"),
                                         (("4 2 2.5", "9 2 2.5"), "given twice"),
                                         (("4 2 2.5", "5 2 2.5"), "not in section Atoms"),
                                         (("Labels", "Label"), "section 'Label'")])
def test_bad_sections(wrong, says, tmp_path):
    (tmp_path / "d").write_text(DATA.replace(*wrong))
    refused(run_deck(tmp_path, READ), USAGE, says)
