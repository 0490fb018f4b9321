"""Output fixes: the files of lmp, the same bytes on every engine and number of ranks, and after a resume."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Dict, List

import pytest

import harness
from cli import BOX, USAGE, call, refused, run_deck, works

LMP = shutil.which("lmp")
needs_lmp = pytest.mark.skipif(LMP is None, reason="lmp is not installed")

pytestmark = pytest.mark.smoke

# Displacements of a lattice by formulas of ids, and velocities too: lmp and Myriad start from the same state.
MELT = """\
units lj
atom_modify map array
lattice fcc 0.8442
region box block 0 6 0 5 0 4
create_box 2 box
create_atoms 1 box
mass 1 1.0
mass 2 2.0
group odd id 1:480:2
set group odd type 2
variable u atom sin(37.0*id)
variable v atom cos(23.0*id)
velocity all set v_u v_v NULL units box
velocity all zero linear
pair_style lj/cut 2.5
pair_coeff * * 1 1
timestep 0.004
fix 1 all nve
variable p equal press
variable t equal temp
compute p all pressure thermo_temp
compute ke all ke/atom
variable ke atom 0.5*mass*(vx^2+vy^2)+z*0
"""

FIXES = """\
fix a all ave/time 2 3 10 c_thermo_temp v_p c_p[1] file a.txt
fix b all ave/time 1 5 10 c_thermo_pe ave running file b.txt off 1 start 5
fix c all ave/time 5 1 5 c_thermo_temp v_p ave window 2 file c.txt title1 "# one" title2 "# two" format " %.8g"
fix d all ave/time 1 2 10 c_p c_p mode vector file d.txt
fix e all vector 5 c_thermo_temp
fix f all vector 5 c_thermo_temp v_p
fix g all print 10 "step $(step) $(temp:%.8g)" file g.txt screen no
fix h all ave/time 5 2 10 f_c[*] f_c[2] ave running file h.txt overwrite
fix i all ave/correlate 1 4 5 v_t v_p type auto/upper file i.txt ave running
fix j all ave/correlate 2 3 10 v_t v_p type full file j.txt prefactor 2
fix k all ave/correlate 5 2 5 c_thermo_temp v_p type lower file k.txt title3 "# three" ave running overwrite
fix l all ave/histo 2 3 10 0.4 0.5 4 c_thermo_temp v_t file l.txt mode scalar
fix m odd ave/histo 2 3 10 -1.0001 1.0003 5 vx vy file m.txt mode vector ave running
fix n all ave/histo 1 2 5 0 0.50003 5 c_ke v_ke file n.txt mode vector beyond end ave window 2
fix o all ave/histo 1 2 5 -1.0001 1.0003 5 vx fx file o.txt mode vector beyond extra kind peratom
variable trap equal trap(f_e)
variable slope equal slope(f_e)
variable h equal f_o[3]+f_o[4]+f_o[2][3]+f_i[2][3]
variable s equal sum(f_f[2])+max(f_f[1])+min(f_e)+ave(f_e)
thermo_style custom step temp press f_c[1] f_c[2] v_trap v_slope v_s v_h
thermo_modify format float %.10g
thermo 5
"""
FILES = "abcdghijklmno"


def files(folder: Path, names: str = FILES) -> Dict[str, str]:
    return {name: (folder / f"{name}.txt").read_text() for name in names}


def assert_lines_agree(ours: str, theirs: str, relative: float) -> None:
    """The same lines; numbers within `relative`, words alike."""
    assert len(ours.splitlines()) == len(theirs.splitlines())
    for a, b in zip(ours.splitlines(), theirs.splitlines()):
        if b.startswith("#"):
            assert a == b
            continue
        assert len(a.split()) == len(b.split()), (a, b)
        for x, y in zip(a.split(), b.split()):
            assert x == y or float(x) == pytest.approx(float(y), rel=relative, abs=relative), (a, b)


def run_lmp(deck: str, folder: Path) -> List[harness.Table]:
    folder.mkdir()
    (folder / "in.lmp").write_text(deck)
    done = subprocess.run([LMP, "-in", "in.lmp", "-log", "log"], cwd=folder, timeout=60,
                          env=harness.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-1500:]
    return harness.read_tables((folder / "log").read_text())


def assert_like_lmp(deck: str, folder: Path, names: str) -> None:
    theirs = run_lmp(deck, folder / "theirs")
    ours = harness.run(deck, folder / "ours")
    for table, their_table in zip(ours.tables, theirs):
        assert table.titles == their_table.titles and len(table.rows) == len(their_table.rows)
        for row, their_row in zip(table.rows, their_table.rows):
            assert list(map(float, row)) == pytest.approx(list(map(float, their_row)), rel=2e-8, abs=1e-8)
    theirs_of, ours_of = files(folder / "theirs", names), files(folder / "ours", names)
    for name in names:
        assert_lines_agree(ours_of[name], theirs_of[name], 2e-7 if name in "cg" else 2e-5)


@needs_lmp
def test_files_of_lammps(tmp_path):
    """Two runs: averages go over the step between them."""
    assert_like_lmp(MELT + FIXES + "run 15\nrun 10\n", tmp_path, FILES)


RANGES = """\
compute s all stress/atom NULL
compute w all property/atom vx vy
fix x all setforce NULL 0.1 NULL
fix a all ave/atom 1 2 2 {s} {w}
compute r all reduce sum {a} {s3} {w}
compute c all chunk/atom bin/1d x lower 1.1
fix b all ave/chunk 1 2 2 c {s} file b.txt
fix c all ave/histo 1 2 2 -1 1 10 {s} mode vector file c.txt
fix d all ave/time 1 2 2 {x} {p4} file d.txt
fix e all ave/correlate 1 2 2 {x} {p23} type full file e.txt
fix f all store/state 2 {s} x
fix g all vector 2 {x}
dump 1 all custom 2 h.txt id {a} {s3} {f}
run 2
fix h all ave/time 2 1 2 {r} {x} {g} file i.txt
thermo_style custom step {r} {x} {p}
run 4
"""
WRITTEN = {"s": ("c_s[*]", "c_s", 1, 6), "s3": ("c_s[*3]", "c_s", 1, 3), "w": ("c_w[*]", "c_w", 1, 2),
           "a": ("f_a[*]", "f_a", 1, 8), "x": ("f_x[*]", "f_x", 1, 3),
           "p": ("c_thermo_press[*]", "c_thermo_press", 1, 6),
           "p4": ("c_thermo_press[4*]", "c_thermo_press", 4, 6), "p23": ("c_thermo_press[2*3]", "c_thermo_press", 2, 3),
           "f": ("f_f[*]", "f_f", 1, 7), "r": ("c_r[*]", "c_r", 1, 13), "g": ("", "f_g", 1, 0)}


def test_ranges_stand_for_all_their_values(tmp_path):
    """Of computes and fixes, for all particles together and for each: as if every value had been written."""
    short = {name: word for name, (word, *_) in WRITTEN.items()}
    long = {name: " ".join(f"{word}[{k}]" for k in range(first, last + 1))
            for name, (_, word, first, last) in WRITTEN.items()}
    ours = harness.run(MELT + RANGES.format(**short), tmp_path / "short").tables
    theirs = harness.run(MELT + RANGES.format(**long), tmp_path / "long").tables
    assert files(tmp_path / "short", "bcdehi") == files(tmp_path / "long", "bcdehi")
    assert [table.rows for table in ours] == [table.rows for table in theirs] and len(ours[1].titles) == 23


@needs_lmp
def test_ranges_of_lammps(tmp_path):
    deck = "\n".join(line for line in RANGES.splitlines() if not line.startswith(("fix f ", "fix g ", "dump")))
    short = {name: word for name, (word, *_) in WRITTEN.items()}
    assert_like_lmp(MELT + deck.format(**short) + "\n", tmp_path, "bcdei")


def test_a_range_beyond_the_values(tmp_path):
    for line in ("fix a all ave/atom 1 1 1 c_s[7*8]", "compute r all reduce sum c_s[0*2]",
                 "dump 1 all custom 1 f id c_s[*7]"):
        refused(run_deck(tmp_path, BOX + f"compute s all stress/atom NULL\n{line}\nrun 1\n"), USAGE,
                "is not within the 6 values of a particle", line=11)


def test_same_files_on_every_engine(tmp_path):
    deck = MELT + FIXES + "run 20\n"
    one = harness.run(deck, tmp_path / "naive", engine="naive")
    for threads in (1, 3):
        other = harness.run(deck, tmp_path / str(threads), threads=threads)
        assert files(tmp_path / "naive") == files(tmp_path / str(threads))
        assert one.table.rows == other.table.rows


@pytest.mark.mpi
def test_same_files_on_ranks(tmp_path):
    deck = MELT + FIXES + "run 20\n"
    harness.run(deck, tmp_path / "one")
    for ranks in (2, 4):
        harness.run(deck, tmp_path / str(ranks), ranks=ranks)
        assert files(tmp_path / "one") == files(tmp_path / str(ranks))


# A first run is complete; the second one is stopped within an average. Values of fixes are read between the runs.
STOPPED = MELT + FIXES + """\
thermo 100
run 15
variable between equal ${trap}+f_c[1]
restart 100 r.*
fix x all ave/time 1 300 400 c_thermo_temp v_between file x.txt
run 500
print "at the end $(v_trap:%.17g) ${between}"
"""


def test_resume_within_an_average(tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    first = works(run_deck(whole, STOPPED))
    shutil.copytree(whole, parts)
    for path in parts.glob("r.*"):
        if path.name != "r.200":
            path.unlink()
    resumed = works(run_deck(parts, STOPPED, "--resume"))
    assert "Resumed at step 200" in resumed.out
    assert files(whole, FILES + "x") == files(parts, FILES + "x")
    last = [line for line in first.out.splitlines() if line.startswith("at the end")]
    assert len(last) == 1 and last[0] in resumed.out


@pytest.mark.parametrize("end", [230, 500])
def test_a_file_that_was_written_anew_and_became_shorter_is_gone_on_with(end, tmp_path):
    """After step 250; the job died later than its last restart."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    deck = MELT + "fix 1 all nve\nvariable anew equal (step<250)*123456+step\nrestart 200 r.*\n" \
        f"fix o all ave/time 10 1 50 v_anew file o.txt overwrite format ' %g'\nrun {end}\n"
    works(run_deck(whole, deck))
    shutil.copytree(whole, parts)
    if end == 500:
        (parts / "r.400").unlink()
    assert "Resumed at step 200" in works(run_deck(parts, deck, "--resume")).out
    assert (parts / "o.txt").read_bytes() == (whole / "o.txt").read_bytes()


BAD = {
    "fix 2 all ave/time 1 1 1": ["ave/time takes", "at least one value"],
    "fix 2 all ave/time 2 1 5 v_a": ["Nfreq 5", "multiple of Nevery 2"],
    "fix 2 all ave/time 2 3 4 v_a": ["Nfreq 4", "Nrepeat 3"],
    "fix 2 all ave/time 1 1 1 v_q": ["v_q", "no variable"],
    "fix 2 all ave/time 1 1 1 v_each": ["v_each", "one value"],
    "fix 2 all ave/time 1 1 1 c_q": ["c_q", "no such compute"],
    "fix 2 all ave/time 1 1 1 f_q": ["f_q", "no such fix"],
    "fix 2 all ave/time 1 1 1 c_thermo_press[7]": ["c_thermo_press[7]"],
    "fix 2 all ave/time 1 1 1 c_thermo_press[*7]": ["within 1 and 6"],
    "fix 2 all ave/time 1 1 1 v_a mode matrix": ["matrix", "scalar or vector"],
    "fix 2 all ave/time 1 1 1 f_v mode vector": ["f_v", "may change, so that it cannot be averaged"],
    "fix 2 all ave/time 1 1 1 v_a mode vector": ["v_a", "no vector"],
    "fix 2 all ave/time 1 1 1 v_a ave mean": ["mean", "one, running or window M"],
    "fix 2 all ave/time 1 1 1 v_a ave window 0": ["M of ave window"],
    "fix 2 all ave/time 1 1 1 v_a off 2": ["off", "2"],
    "fix 2 all ave/time 1 1 1 v_a overwrite": ["overwrite needs a file"],
    "fix 2 all ave/time 1 1 1 v_a format %d": ["%d"],
    "fix 2 all ave/time 1 1 1 v_a title4 x": ["title4", "title3"],
    "fix 2 all ave/time 1 1 1 v_a file": ["file", "missing"],
    "fix 2 all ave/time 1 1 1 v_a file same.txt": ["same.txt"],
    "fix 2 all ave/correlate 1 5 10": ["ave/correlate takes", "at least one value"],
    "fix 2 all ave/correlate 2 5 11 v_a": ["Nfreq 11", "multiple of Nevery 2"],
    "fix 2 all ave/correlate 2 9 10 v_a": ["Nfreq 10", "(Nrepeat - 1) Nevery"],
    "fix 2 all ave/correlate 2 5 10 v_a type cross": ["cross", "auto/upper"],
    "fix 2 all ave/correlate 2 5 10 v_a type upper": ["type upper needs two values"],
    "fix 2 all ave/correlate 2 5 10 v_a ave window 3": ["'window'", "one or running"],
    "fix 2 all ave/correlate 2 5 10 v_a prefactor x": ["prefactor", "x"],
    "fix 2 all ave/correlate 2 5 10 v_a mode scalar": ["mode", "prefactor P"],
    "fix 2 all ave/histo 1 1 1 0 1 5": ["NBIN and at least one value"],
    "fix 2 all ave/histo 1 1 1 1 1 5 v_a": ["from 1 to 1 does not increase"],
    "fix 2 all ave/histo 1 1 1 0 1 0 v_a": ["bins"],
    "fix 2 all ave/histo 2 2 2 0 1 5 v_a": ["Nfreq 2", "Nrepeat 2"],
    "fix 2 all ave/histo 1 1 1 0 1 5 vx": ["vx"],
    "fix 2 all ave/histo 1 1 1 0 1 5 vx v_a mode vector": ["'v_a' has no value for each particle"],
    "fix 2 all ave/histo 1 1 1 0 1 5 vx mode vector kind local": ["'local'", "global or peratom"],
    "fix 2 all ave/histo 1 1 1 0 1 5 v_a beyond all": ["'all'", "ignore, end or extra"],
    "fix 2 all ave/histo 1 1 1 0 1 5 v_a weight x": ["weight", "beyond ignore|end|extra"],
    "fix 2 all vector 0 v_a": ["N of fix vector"],
    "fix 2 all vector 5": ["at least one value"],
    "fix 2 all print 5": ["N and a text"],
    "fix 2 all print 5 x flush yes": ["flush", "screen yes|no"],
    "fix 2 all print 5 x screen perhaps": ["perhaps"],
    "fix_modify v energy yes": ["fix v has no energy"],
    "thermo_style custom step f_v[1][2]": ["f_v[1][2]", "no such value", "a vector"],
    "thermo_style custom step f_t[3]": ["f_t[3]", "above 2"],
    "print $(trap(v_a))": ["v_a", "no vector"],
    "print $(trap(f_v,f_v))": ["one vector, not 2"],
    "print $(f_v[9])": ["f_v[9]", "above 0"],
    "fix v all print 5 text": ["fix v exists", "vector"],
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input(line, tmp_path):
    begin = BOX + ("variable a equal step\nvariable each atom x\nfix v all vector 5 v_a\n"
                   "fix t all ave/time 5 1 5 v_a v_a file same.txt\n")
    refused(run_deck(tmp_path, begin + line + "\n"), USAGE, *BAD[line], line=begin.count("\n") + 1)


# Averages that begin after a run, and whose steps then get other numbers.
LATE = """\
variable t equal temp
run 13
fix a all ave/time 2 2 10 v_t file a.txt format " %.10g"
fix b all ave/correlate 2 3 10 v_t file b.txt
fix c all ave/histo 2 2 10 -5 5 4 vx mode vector file c.txt
compute bins all chunk/atom bin/1d x lower 1
fix d all ave/chunk 2 2 10 bins vx file d.txt
fix e all vector 5 v_t
fix f all ave/atom 2 2 10 vx
reset_timestep 100
variable late equal f_a+f_e[3]
compute f all reduce sum f_f
thermo 10
thermo_style custom step temp c_f
run 20
print "$(v_late:%.8g)" file late.txt
"""


def test_a_fix_given_again_keeps_its_place(tmp_path):
    """As in LAMMPS: the print after it in the list sees the average of the same step."""
    deck = (BOX + "variable s equal step\nfix a all ave/time 1 1 2 v_s\n"
            "fix b all print 2 \"$(step) $(f_a)\" file p screen no\nrun 2\n"
            "fix a all ave/time 1 1 2 v_s\nrun 4\n")
    works(run_deck(tmp_path, deck))
    rows = [line.split() for line in (tmp_path / "p").read_text().splitlines()[1:]]
    assert rows == [["0", "0"], ["2", "2"], ["4", "4"], ["6", "6"]]


def test_all_values_of_a_growing_vector_are_per_particle(tmp_path):
    """ke grows with the number of particles, and so do all values of the vector of a fix that takes it."""
    deck = BOX + ("velocity all create 1 3\ncompute k all ke\nfix v all vector 1 c_k\nrun 9\n"
                  "thermo_style custom step c_k f_v[1] f_v[4] f_v[9]\nrun 0\n")
    (row,) = harness.read_tables(works(run_deck(tmp_path, deck)).out)[1].rows
    assert float(row[1]) > 0.1 and row[1] == row[2] == row[3] == row[4]


def test_averages_begin_at_another_step(tmp_path):
    """As if the step had got its number before them."""
    reset = "reset_timestep 100\n"
    one = harness.run(MELT + LATE, tmp_path / "one")
    other = harness.run(MELT + LATE.replace(reset, "").replace("run 13\n", "run 13\n" + reset), tmp_path / "other")
    assert one.table.rows == other.table.rows and len(one.table.rows) == 3
    for name in ("a", "b", "c", "d", "late"):
        assert (tmp_path / "one" / f"{name}.txt").read_text() == (tmp_path / "other" / f"{name}.txt").read_text()


def test_averages_that_have_begun_keep_their_steps(tmp_path):
    begin = BOX + "variable a equal step\nfix v all vector 5 v_a\n"
    works(run_deck(tmp_path, begin + "reset_timestep 5\nrun 1\n"))
    for run in ("run 0\n", "run 3\n"):
        refused(run_deck(tmp_path, begin + run + "reset_timestep 5\n"), USAGE, "reset_timestep", "fix v", "unfix it")
    (tmp_path / "in.c").write_text(begin + "run 3\nreset_timestep 5\n")
    assert "fix v (vector)" in call(tmp_path, "check", "-in", "in.c").out


def test_no_step_of_a_fix_that_was_taken_away(tmp_path):
    deck = MELT + FIXES + "run 10\nunfix a\nunfix h\nrun 10\nfix a all ave/time 1 1 1 v_t file other.txt\nrun 1\n"
    works(run_deck(tmp_path, deck))
    assert [line.split()[0] for line in (tmp_path / "a.txt").read_text().splitlines()[2:]] == ["10"]
    assert [line.split()[0] for line in (tmp_path / "other.txt").read_text().splitlines()[2:]] == ["20", "21"]


def steps_of(path: Path) -> List[str]:
    return [line.split()[0] for line in path.read_text().splitlines() if not line.startswith("#")]


@needs_lmp
def test_a_minimisation_between_runs_is_not_averaged(tmp_path):
    """Samples that were due within it are missed, and averages begin anew after it, at lmp's steps."""
    deck = MELT + ("fix a all ave/time 1 8 10 c_thermo_temp file a.txt\n"
                   "fix c all ave/histo 1 8 10 0 1 2 v_t file c.txt\n"
                   "thermo_style custom step temp press pe\nrun 5\nminimize 0 0 13 100\nrun 12\n")
    run_lmp(deck, tmp_path / "theirs")
    harness.run(deck, tmp_path / "ours")
    assert steps_of(tmp_path / "theirs" / "a.txt") == ["30"]
    for name in "ac":
        assert steps_of(tmp_path / "ours" / f"{name}.txt") == steps_of(tmp_path / "theirs" / f"{name}.txt")


def test_a_vector_may_read_itself(tmp_path):
    """Its memory moves as it grows between others, and what is freed is overwritten here."""
    deck = BOX + ("variable next equal max(f_v)+1\nvariable w equal vcm(all,x)\nfix z all vector 1 v_w v_w v_w\n"
                  "fix v all vector 1 v_next\nfix y all vector 1 v_w\nrun 400\nprint 'the last is $(f_v[401])'\n")
    assert "\nthe last is 401\n" in run_deck(tmp_path, deck, variables={"MALLOC_PERTURB_": "165"}).out


def test_an_average_that_starts_late_is_found_at_once(tmp_path):
    deck = BOX + "fix a all ave/time 1 1 1 c_thermo_temp start 9007199254740992\nreset_timestep 10\nrun 2\n"
    works(run_deck(tmp_path, deck))
