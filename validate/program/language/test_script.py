"""Script control: include, jump, label, next, if, quit, clear, run every, and the styles of variables.

What decks print here is what LAMMPS (29 Sep 2021) prints for them.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import List

import pytest

import harness
from cli import RUNTIME, USAGE, call, refused, run_deck, works
from test_restart import STOPPED, finish, start, wait_for

pytestmark = pytest.mark.smoke


def said(folder: Path, deck: str, *arguments: str) -> List[str]:
    """What the deck prints, without the first line of the program and the last one of the time."""
    return works(run_deck(folder, deck, *arguments)).out.splitlines()[1:-1]


# ---------------------------------------------------------------- loops

NESTED = """\
variable i index 1 2 3
variable name index a b c d
label top
variable j loop 8 11 pad
label inner
print "$i $j ${name}"
next j
jump SELF inner
if "$i == 2" then "print two" elif "$i == 3 && ${name} == c" "print three" else "print other" 'jump SELF skip'
print "not skipped"
label skip
next i
next name
jump in.deck top
print done
"""


def test_loops_and_branches(tmp_path):
    inner = [[f"{i} {j} {name}" for j in ("08", "09", "10", "11")] for i, name in zip("123", "abc")]
    assert said(tmp_path, NESTED) == [*inner[0], "other", *inner[1], "two", "not skipped",
                                      *inner[2], "three", "not skipped", "done"]


def test_a_variable_at_its_end_is_gone(tmp_path):
    deck = ("variable i loop 2\nlabel a\nprint $i\nnext i\njump SELF a\nvariable i delete\n"
            "variable i index x y\nlabel b\nvariable i index z\nprint $i\nnext i\njump SELF b\n")
    assert said(tmp_path, deck) == ["1", "2", "x", "y"]
    deck = ("variable i loop 2\nnext i\nnext i\njump nowhere\nprint passed\njump SELF end\nprint no\nlabel end\n"
            "print $i\n")
    refused(run_deck(tmp_path, deck), USAGE, "undefined variable 'i'", line=9)


def test_values_of_the_command_line(tmp_path):
    deck = "variable T index 9\nlabel a\nprint $T\nnext T\njump SELF a\n"
    assert said(tmp_path, deck, "-var", "T", "4", "5", "6") == ["4", "5", "6"]
    assert said(tmp_path, deck) == ["9"]


def test_a_file_of_values(tmp_path):
    (tmp_path / "words").write_text("# words\nalpha beta\n\n  gamma # x\n")
    deck = "variable f file words\nlabel f\nprint ${f}\nnext f\njump SELF f\nprint end\n"
    assert said(tmp_path, deck) == ["alpha", "gamma", "end"]
    (tmp_path / "words").write_text("# none\n")
    refused(run_deck(tmp_path, deck), USAGE, "no value in the file words", line=1)


def test_while_and_break(tmp_path):
    deck = ("variable n equal v_m+1\nvariable m internal 0\nlabel a\nvariable m internal $n\nprint $m\n"
            "if '$m >= 3' then 'jump SELF b'\njump SELF a\nlabel b\nprint end\n")
    assert said(tmp_path, deck) == ["1", "2", "3", "end"]


CONDITIONS = {"1": 1, "0": 0, "0.0": 0, "-2": 1, "!1": 0, "!0": 1, "1 == 1.0": 1, "2 < 10": 1, "1e1 > 9": 1,
              "1 <= 0": 0, "2 != 2": 0, "a == a": 1, "a == b": 0, "ab_2 != ab_3": 1, "ab == abc": 0,
              "1 && 0": 0, "1 || 0": 1,
              "1 |^ 1": 0, "1 |^ 0": 1,
              "1 || 0 && 0": 1, "(1 || 0) && 0": 0, "!(1 > 2) && abc == abc": 1, "1 > 0 == 1": 1, "2 > 1 > 0": 1,
              "-1<-0.5": 1, "${w} == nve": 1, "${w}x == nve": 0, "$(1+1) == 2": 1}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions(condition, tmp_path):
    deck = f"variable w string nve\nif '{condition}' then 'print 1' else 'print 0'\n"
    assert said(tmp_path, deck) == [str(CONDITIONS[condition])]


def test_quit(tmp_path):
    for status in (0, 7, 255):
        done = ends(tmp_path, f"print a\nif 1 then 'quit {status}' 'print b'\nprint c\n")
        assert done == (status, "a")


def ends(folder: Path, deck: str):
    """The status, which call() would not take, and the second line."""
    (folder / "in.deck").write_text(deck)
    done = subprocess.run([str(harness.program()), "-in", "in.deck", "-log", "none"], cwd=folder, text=True,
                          stdout=subprocess.PIPE, timeout=60, env=harness.environment(), check=False)
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    return done.returncode, lines[1]


# ---------------------------------------------------------------- files

def test_include_and_jump_to_files(tmp_path):
    (tmp_path / "in.a").write_text("variable T index 2\nprint \"a $T\"\ninclude in.b\nprint \"a again\"\n")
    (tmp_path / "in.b").write_text("print b\njump in.c here\nprint no\n")
    (tmp_path / "in.c").write_text("print no\nlabel here\nprint c\n")
    deck = "variable T index 1\nif 1 then 'include in.a' 'print behind'\nprint end\njump in.c here\nprint no\n"
    assert said(tmp_path, deck) == ["a 1", "b", "c", "a again", "behind", "end", "c"]


def test_a_deck_may_include_what_it_wrote(tmp_path):
    deck = ("print 'print one' file in.new\nprint 'print two' append in.new\ninclude in.new\ninclude in.new\n")
    assert said(tmp_path, deck) == ["print one", "print two", "one", "two", "one", "two"]


def test_errors_name_every_file_and_line(tmp_path):
    (tmp_path / "in.a").write_text("print a\n\ninclude in.b\n")
    (tmp_path / "in.b").write_text("print b\nprint b\nprint b\ntimestep fast\n")
    message = refused(run_deck(tmp_path, "print main\ninclude in.a\n"), USAGE, "'fast'", line=2)
    assert message.startswith("in.deck:2: in.a:3: in.b:4: ")
    refused(run_deck(tmp_path, "jump in.b\n"), USAGE, "in.b:4: ", "'fast'")
    refused(run_deck(tmp_path, "print a\nif 1 then 'timestep slow'\n"), USAGE, "'slow'", line=2)
    refused(run_deck(tmp_path, "jump in.b here\n"), USAGE, "in.b:", "no label 'here' in in.b")


def test_files_within_files_have_an_end(tmp_path):
    (tmp_path / "in.a").write_text("include in.a\n")
    message = refused(run_deck(tmp_path, "include in.a\n"), USAGE, "files within files", "more than 16")
    assert message.count("in.a:1: ") == 15


def test_standard_input_jumps_only_as_a_file(tmp_path):
    done = call(tmp_path, "-in", "-", "-log", "none", input=b"jump SELF\n")
    refused(done, USAGE, "standard input", "pipe")


# ---------------------------------------------------------------- runs

MELT = """\
lattice fcc 0.8442
region b block 0 3 0 3 0 3
create_box 1 b
create_atoms 1 box
mass 1 1
velocity all create 1.44 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
fix 1 all nve
thermo_modify format float %.17g
"""


def rows(folder: Path, deck: str, *arguments: str, **keywords) -> List[List[str]]:
    """The first and last row of each run."""
    out = works(run_deck(folder, deck, *arguments, **keywords)).out
    return [row for table in harness.read_tables(out) for row in table.rows]


def test_run_every(tmp_path):
    every = MELT + "run 10 every 4 \"print 'at $(step)'\" \"if '$(step) == 8' then 'print eight'\"\n"
    lines = works(run_deck(tmp_path, every)).out.splitlines()
    assert [line for line in lines if line in ("at 4", "at 8", "eight", "at 10")] == ["at 4", "at 8", "eight", "at 10"]
    alone = rows(tmp_path, MELT + "run 4\nrun 4\nrun 2\n")
    assert rows(tmp_path, every) == alone
    assert rows(tmp_path, MELT + "run 10 every 4 NULL\n") == alone
    assert rows(tmp_path, MELT + "run 8 upto every 100 NULL\n") == rows(tmp_path, MELT + "run 8\n")


def test_a_ramp_goes_over_all_pieces(tmp_path):
    ramp = MELT.replace("fix 1", "fix 2 all temp/rescale 1 1.0 2.0 0.0 1.0\nfix 1")
    pieces = rows(tmp_path, ramp + "run 20 every 5 NULL\n")
    assert pieces[-1] == rows(tmp_path, ramp + "run 20\n")[-1]
    assert float(pieces[-1][1]) == pytest.approx(2.0, rel=1e-12)
    assert float(pieces[1][1]) == pytest.approx(1.25, rel=1e-12)


def test_post_no_leaves_the_table_out(tmp_path):
    out = works(run_deck(tmp_path, MELT + "run 2 post no\nrun 2 pre no post yes\n")).out
    assert out.count("Loop time of") == 2 and out.count("timing breakdown") == 1


WIDE = MELT.replace("0 3 0 3 0 3", "0 9 0 3 0 3")
LOOP = WIDE + """\
variable i loop 3
label top
run 5
variable p equal press
if "$p > $i" then "velocity all scale 1.0" else "timestep 0.00$i"
if "$i == 2" then "dump 1 all custom 2 d.txt id x vx fx"
next i
jump SELF top
run 4 every 2 "variable t equal temp" "velocity all scale $(v_t*1.1)"
write_data end.data
"""


@pytest.mark.parametrize("words", [("--engine", "naive"), ("--threads", "2"),
                                   pytest.param(("ranks", 3), marks=pytest.mark.mpi),
                                   pytest.param(("--engine", "gpu"), marks=pytest.mark.gpu)])
def test_loops_have_the_same_bits_everywhere(words, tmp_path):
    names = ("end.data", "d.txt")
    works(run_deck(tmp_path, LOOP))
    wanted = {name: (tmp_path / name).read_bytes() for name in names}
    for name in names:
        (tmp_path / name).unlink()
    if words[0] == "ranks":
        finish(start(tmp_path, ranks=words[1], deck=LOOP))
    else:
        works(run_deck(tmp_path, LOOP, *words))
    assert {name: (tmp_path / name).read_bytes() for name in names} == wanted
    assert harness.read_dump(tmp_path / "d.txt")[-1].step == 18


def test_clear_begins_anew(tmp_path):
    once = MELT + "run 10\nwrite_data end.data\n"
    works(run_deck(tmp_path, once))
    wanted = (tmp_path / "end.data").read_bytes()
    before = ("dimension 2\nregion r block 0 9 0 9 -1 1 units box\ncreate_box 2 r\ncreate_atoms 2 random 20 1 NULL\n"
              "mass * 3\ngroup g type 2\ncompute c g ke\npair_style soft 1.0\npair_coeff * * 1\nfix 1 g nve\n"
              "timestep 0.01\nthermo 1\nthermo_style custom step c_c\ndump 1 all atom 1 d.txt\nlattice sq 1\n"
              "restart 2 r\nrun 3\nvariable kept index 1\nclear\n")
    done = works(run_deck(tmp_path, before + once + "print ${kept}\ndump 1 all atom 1 d.txt\n"))
    assert (tmp_path / "end.data").read_bytes() == wanted
    tables = harness.read_tables(done.out)
    assert [len(table.rows) for table in tables] == [4, 2] and tables[1].titles[1] == "Temp"
    refused(run_deck(tmp_path, MELT + "clear\nrun 1\n"), USAGE, "needs a box", line=12)
    refused(run_deck(tmp_path, MELT + "clear\n" + MELT.split("\n", 1)[1]), USAGE, "no lattice sites", line=14)
    refused(run_deck(tmp_path, MELT + "run 4 every 2 clear\n"), USAGE, "needs a box", line=11)


@pytest.mark.mpi
def test_clear_over_ranks(tmp_path):
    deck = ("processors 3 1 1\n" + WIDE + "fix b all balance 1 1.0\nrun 3\nclear\n" + WIDE +
            "fix b all balance 1 1.0\nrun 10\nwrite_data end.data\n")
    works(run_deck(tmp_path, WIDE + "run 10\nwrite_data end.data\n"))
    wanted = (tmp_path / "end.data").read_bytes()
    (tmp_path / "end.data").unlink()
    finish(start(tmp_path, ranks=3, deck=deck))
    assert (tmp_path / "end.data").read_bytes() == wanted


# ---------------------------------------------------------------- stopping and going on

DECK = MELT.replace("0 3 0 3 0 3", "0 5 0 5 0 5") + """\
variable i loop 4
label top
print "pass $i $(step)" append passes
if "$i > 1" then "if '$(temp) < 1000' then 'velocity all scale 1.2'"
dump $i all custom 200 d.$i.txt id x y z vx vy vz
run 600 every 300 "print 'piece $(pe:%.17g)' append passes"
undump $i
next i
jump SELF top
write_data end.data
"""

OUTPUTS = ["end.data", "passes", "d.1.txt", "d.2.txt", "d.3.txt", "d.4.txt"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    finish(start(folder, deck=DECK))
    return folder


@pytest.mark.parametrize("place", ["d.1.txt", "d.2.txt", "d.4.txt"])
def test_a_loop_goes_on_where_it_was_stopped(place, tmp_path, whole):
    process = start(tmp_path, deck=DECK)
    wait_for(lambda: (tmp_path / place).exists() and (tmp_path / place).stat().st_size > 0, process)
    process.send_signal(signal.SIGTERM)
    err = finish(process, expect=STOPPED)
    assert "SIGTERM" in err and "--resume" in err
    assert not (tmp_path / "end.data").exists()
    finish(start(tmp_path, "--resume"))
    for name in OUTPUTS:
        assert (tmp_path / name).read_bytes() == (whole / name).read_bytes(), name


SHORT = MELT + """\
variable i loop 3000
label top
print $i append passes
run 2 post no
next i
jump SELF top
write_data end.data
"""


@pytest.mark.slow
def test_a_loop_of_short_runs_stops_too(tmp_path):
    """No run is as long as the piece after which a run looks at signals."""
    passes = tmp_path / "passes"

    def seen() -> int:
        return passes.read_bytes().count(b"\n") if passes.exists() else 0

    process = start(tmp_path, deck=SHORT)
    wait_for(lambda: seen() > 100, process)
    process.send_signal(signal.SIGTERM)
    err = finish(process, expect=STOPPED)
    assert 100 < seen() < 3000 and "2 steps before the end of this run" in err
    finish(start(tmp_path, "--resume"))
    assert passes.read_text().split() == [str(k) for k in range(1, 3001)]
    resumed = (tmp_path / "end.data").read_bytes()
    works(run_deck(tmp_path, MELT + "run 6000\nwrite_data end.data\n"))
    assert resumed == (tmp_path / "end.data").read_bytes()


# A deck whose way depends on its runs, and which ends so.
WHILE = MELT.replace("0 3 0 3 0 3", "0 5 0 5 0 5") + """\
dump 1 all custom 100 d.txt id x y z vx vy vz
run 10
BEFORE
label top
run 500
if "$(step) < 2000" then "jump SELF top"
"""


@pytest.mark.parametrize("before, part", [("", 0.5), ("if '$(temp) < 0' then 'velocity all scale 2.0'", 0.1)])
def test_a_way_that_depends_on_runs_goes_on(before, part, tmp_path):
    """Stopped in a run that no reading of the deck finds, and after a branch that is not taken."""
    deck = WHILE.replace("BEFORE", before)
    finish(start(tmp_path, deck=deck))
    dump = tmp_path / "d.txt"
    wanted = dump.read_bytes()
    dump.unlink()
    process = start(tmp_path, deck=deck)
    wait_for(lambda: dump.exists() and dump.stat().st_size > len(wanted) * part, process)
    process.send_signal(signal.SIGTERM)
    finish(process, expect=STOPPED)
    assert dump.stat().st_size < len(wanted)
    finish(start(tmp_path, "--resume"))
    assert dump.read_bytes() == wanted


# A way that is known before the deck runs, so that its runs are known too.
PLAIN = DECK.replace("if '$(temp) < 1000' then 'velocity all scale 1.2'", "velocity all scale 1.2").replace(
    " every 300 \"print 'piece $(pe:%.17g)' append passes\"", "")


@pytest.mark.parametrize("deck, status, reason", [(DECK, USAGE, "a command before this run has changed"),
                                                  (PLAIN, RUNTIME, "was written by another deck")])
def test_another_body_of_a_loop_is_refused(deck, status, reason, tmp_path):
    process = start(tmp_path, deck=deck)
    wait_for(lambda: (tmp_path / "d.2.txt").exists(), process)
    process.send_signal(signal.SIGTERM)
    finish(process, expect=STOPPED)
    err = finish(start(tmp_path, "--resume", deck=deck.replace("scale 1.2", "scale 1.3")), expect=status)
    assert reason in err
    finish(start(tmp_path, "--resume", deck=deck))
    assert (tmp_path / "passes").read_text().count("pass") == 4


def test_a_loop_without_a_run_stops_at_a_signal(tmp_path):
    process = start(tmp_path, deck="label top\nprint x append count\njump SELF top\n")
    wait_for(lambda: (tmp_path / "count").exists(), process, limit=60.0)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    err = finish(process, expect=RUNTIME, limit=harness.patience(10.0))
    assert "stopped by SIGTERM between two runs" in err and "in.deck:3" in err


# ---------------------------------------------------------------- check and plan

def check(folder: Path, deck: str):
    (folder / "in.deck").write_text(deck)
    return call(folder, "check", "-in", "in.deck")


def test_check_ends_on_loops(tmp_path):
    works(check(tmp_path, NESTED))
    works(check(tmp_path, LOOP))
    works(check(tmp_path, "label a\nprint a\njump SELF a\nprint b\n"))
    works(check(tmp_path, "jump SELF\n"))
    works(check(tmp_path, "variable i loop 1000000000\nlabel a\nvariable j loop 1000000000\nlabel b\nnext j\n"
                "jump SELF b\nnext i\njump SELF a\nprint a\n"))
    types = MELT.replace("create_box 1", "create_box 3").replace("mass 1 1", "variable t loop 3\nlabel t\nmass $t $t\n"
                                                                 "pair_coef $t $t 1 1\nnext t\njump SELF t")
    types = types.replace("pair_coeff 1 1", "pair_coeff * *")
    done = check(tmp_path, types + "run 1\nif '$(mass(all)) > 0' then 'prnt'\n")
    assert [line.split(" ")[0] for line in done.out.splitlines()[1:]] == ["in.deck:8:", "in.deck:17:", "2"]
    (tmp_path / "in.a").write_text("jump in.deck\n")
    works(check(tmp_path, "jump in.a\n"))


def test_check_looks_at_every_branch(tmp_path):
    (tmp_path / "in.a").write_text("print a\nfix 2 all rigid\n")
    deck = (MELT + "if 1 then 'timestep fast' else 'fix 2 all wibble'\n"
            "if 0 then 'fix 3 all wobble'\n"
            "include in.a\n"
            "jump SELF over\nfix 4 all $x\nfix 5 all weeble\nlabel over\n"
            "run 3 every 1 'prnt'\nif 1 then quit\nprnt\n")
    done = check(tmp_path, deck)
    assert done.status == USAGE
    problems = done.out.splitlines()[1:]
    for line, words in zip(problems, [("in.deck:11: ", "wibble"), ("in.deck:11: ", "'fast'"),
                                      ("in.deck:12: ", "wobble"), ("in.a:2: ", "rigid"),
                                      ("in.deck:16: ", "weeble"), ("in.deck:18: ", "prnt"), ("in.deck:20: ", "prnt")]):
        assert line.startswith(words[0]) and words[1] in line, line
    assert problems[-1].startswith("7 problems in")


def test_plan_follows_the_deck(tmp_path):
    (tmp_path / "in.a").write_text(MELT)
    (tmp_path / "in.deck").write_text("include in.a\nvariable i loop 4\nlabel a\ncreate_atoms 1 single 1 1 1\n"
                                      "next i\njump SELF a\nif 1 then 'run 5'\nrun 6\n")
    out = works(call(tmp_path, "plan", "-in", "in.deck")).out
    assert "112 particles" in out


def test_outputs_in_a_loop_are_looked_at_before_the_first_run(tmp_path):
    deck = MELT + ("variable i loop 2\nlabel a\nrun 1\nif '$i == 2' then 'write_data nowhere/end.data'\n"
                   "next i\njump SELF a\n")
    refused(run_deck(tmp_path, deck), RUNTIME, "nowhere/end.data", line=14)
    # A condition that needs a run is not known before, and an endless loop of the deck has an end then.
    deck = MELT + "label a\nrun 1\nif '$(step) < 3' then 'jump SELF a'\nwrite_data nowhere/end.data\n"
    done = run_deck(tmp_path, deck)
    refused(done, RUNTIME, "nowhere/end.data", line=14)
    assert done.out.count("Loop time") == 3


def test_styles_with_a_suffix_are_those_without(tmp_path):
    """The third word of pair_coeff is a style only if there is such a style; a file may have that name."""
    deck = ("atom_style atomic/kk\nlattice fcc 0.8442\nregion b block/kk 0 4 0 4 0 4\ncreate_box 1 b\n"
            "create_atoms 1 box\nmass 1 1\nvelocity all create 1.44 87287\n"
            "pair_style hybrid/overlay/kk lj/cut/gpu 2.5 yukawa/omp 1 2\npair_coeff 1 1 lj/cut/gpu 1 1\n"
            "pair_coeff 1 1 yukawa/opt 1\ncompute t all temp/kk\nfix 1 all nve/intel\nrun 10\n")
    with_suffixes = harness.run(deck, tmp_path / "with")
    assert with_suffixes.log.count("Note: suffix: has no effect here") == 1
    without = harness.run(re.sub("/(kk|gpu|omp|opt|intel)", "", deck), tmp_path / "without")
    assert with_suffixes.table.rows == without.table.rows and "Note: suffix" not in without.log
    (tmp_path / "made").mkdir()
    shutil.copy(harness.REFERENCE / "Cu_u3.eam", tmp_path / "made" / "gpu")
    metal = ("units metal\nlattice fcc 3.615\nregion b block 0 4 0 4 0 4\ncreate_box 1 b\ncreate_atoms 1 box\n"
             "pair_style eam/opt\npair_coeff 1 1 made/gpu\nrun 0\n")
    works(run_deck(tmp_path, metal))
    refused(run_deck(tmp_path, metal.replace("eam/opt", "nope/opt")), USAGE, "'nope'")
