"""`myriad check`: all that a deck asks for and does not get; and what `myriad plan` says of such a deck."""

from __future__ import annotations

from pathlib import Path
from typing import List

import pytest

from cli import USAGE, Done, call, refused, run_deck, works

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.smoke

START = "lattice fcc 0.8442\nregion b block 0 4 0 4 0 4\ncreate_box 2 b\ncreate_atoms 1 box\nmass * 1\n"
MELT = (START + "velocity all create 1.44 87287\npair_style lj/cut 2.5\npair_coeff * * 1 1 2.5\nfix 1 all nve\n")


def check(folder: Path, deck: str, *arguments: str, command: str = "check") -> Done:
    (folder / "in.deck").write_text(deck)
    done = call(folder, command, "-in", "in.deck", *arguments)
    assert {path.name for path in folder.iterdir()} == {"in.deck"}
    return done


def faulty(done: Done) -> List[int]:
    """The lines with a problem, as often as there is one; the last line counts them."""
    assert done.status == USAGE and done.err == "", done
    *lines, count = done.out.splitlines()
    numbers = [int(line.split(":")[1]) for line in lines if line.startswith("in.deck:")]
    assert count.startswith(f"{len(numbers)} problem{'s' if len(numbers) > 1 else ''} in ")
    return numbers


def unjudged(done: Done) -> str:
    line = [line for line in done.out.splitlines() if line.startswith("Not checked")]
    return line[0].split(": ")[1] if line else ""


@pytest.mark.parametrize("deck", sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("inputs/**/in.*")))
def test_sample_decks_have_no_problem(deck):
    done = works(call(ROOT, "check", "-in", str(ROOT / deck)))
    assert done.out.splitlines()[-1].startswith("No problem in ")


@pytest.mark.parametrize("command", ["check", "plan"])
def test_the_status_of_quit_is_that_of_a_run(command, tmp_path):
    works(check(tmp_path, MELT + "run 1\nquit 7\n", command=command))


def test_nothing_is_made(tmp_path):
    """More particles than a small machine holds, a run, and every kind of output file."""
    deck = ("region b block 0 1e5 0 1e5 0 1e5\ncreate_box 1 b\ncreate_atoms 1 random 2000000000 1 NULL\nmass 1 1\n"
            "velocity all create 1 1\npair_style lj/cut 2.5\npair_coeff 1 1 1 1\nfix 1 all nve\nlog f.log\n"
            "dump 1 all atom 1 f.dump\nprint x file f.print\nwrite_data f.data\nrun 1000000000\n"
            "print $(temp/atoms)\nrun 2000000000 upto\n")
    works(check(tmp_path, deck))


def test_every_problem_is_listed(tmp_path):
    deck = MELT + ("compute erotate all erotate\nfix 2 all rigid single\ndump 1 all image 5 f.jpg type type\n"
                   "thermo_style custom step c_erotate foo temp bar\njump SELF nowhere\n"
                   "temper first.dump\nrun 10\nbonnd_style none\n")
    done = check(tmp_path, deck)
    assert faulty(done) == [10, 11, 12, 13, 13, 14, 15, 17]
    for words in ("unknown compute style 'erotate'", "'rigid'", "'f.jpg'", "'foo'", "'bar'",
                  "there is no label 'nowhere' in in.deck", "'temper' is", "unknown command 'bonnd_style'"):
        assert words in done.out
    assert unjudged(done) == "line 13"


def test_what_follows_from_a_fault_is_none(tmp_path):
    """Lines that use a region, a group, a style or a loop variable that are lacking are judged by the rest."""
    deck = ("boundary sq f p\nvariable i world 3\nregion s ellipsoid z 0 0 1 2 0 5\ncreate_box 2 s\nmass * 1\n"
            "create_atoms 1 random 10 1 NULL\ngroup hot type 1\nvelocity hot creat 1 1\n"
            "velocity hot zero angle\n"
            "pair_style tersoff\npair_coeff * * Cu.tersoff\npair_modify shift yes\nfix 1 hot nve\n"
            "fix 2 all nve\nunfix 1\n"
            "fix w all wall/reflect xlo -3\nset type 1 charge $i\nrun $i\ntimestep -$i\nnext i\n")
    done = check(tmp_path, deck)
    assert faulty(done) == [1, 2, 3, 8, 9, 10, 17]
    assert unjudged(done) == "lines 4, 11, 12, 14, 19"


def test_a_repaired_definition_is_judged_again(tmp_path):
    deck = MELT + ("variable a world 2\nvariable a equal 1/0\nvariable a equal 2\ntimestep -$a\n"
                   "pair_style tersoff\npair_style lj/cut 2.5\npair_coeff 1 1 one 1\n")
    assert faulty(check(tmp_path, deck)) == [10, 11, 13, 14, 16]


def test_problems_of_the_whole_model(tmp_path):
    """What only the run can see: nothing, where lines that make the model are faulty."""
    done = check(tmp_path, MELT.replace("2.5\nfix", "500\nfix") + "run 1\nrun 1\n")
    assert faulty(done) == [10] and "times the periodic box" in done.out
    assert faulty(check(tmp_path, START.replace("mass *", "mass 1") + "angle_style none\nrun 1\n")) == [6, 7]
    assert faulty(check(tmp_path, START.replace("mass * 1", "mass * 0") + "run 1\n")) == [5]


def test_a_file_that_is_left_out(tmp_path):
    """An included file may define anything."""
    done = check(tmp_path, "include start.lmp\nvelocity all create ${T} 1\nfix 1 all nvt temp ${T} ${T} 1\nrun 10\n")
    assert faulty(done) == [1]
    assert unjudged(done) == "lines 2, 3, 4"


def test_a_file_that_the_deck_writes(tmp_path):
    """Nothing is written by a check, so lines that would read such a file are not judged."""
    deck = (MELT + "dump 1 all custom 5 d.*.txt id x\nrestart 5 a.*.restart\nrun 10\nundump 1\nwrite_data x.data\n"
            "rerun d.0.txt d.5.txt dump x\nclear\nread_data x.data\nprint 'variable t equal 2' file t.lmp\n"
            "include t.lmp\nfix 1 all langevin $t $t 1 1\nclear\nread_restart a.10.restart\nrun 1\n")
    done = check(tmp_path, deck)
    assert done.status == 0 and done.out.endswith("No problem in 22 commands\n")
    assert "read files that the deck itself writes: lines 15, 17, 19, 22\n" in done.out
    done = check(tmp_path, MELT + "run 10\nread_data x.data\nrerun d.txt dump x\nread_dump e.txt 5 x\n"
                 "dump 1 all atom 5 d.txt\nclear\nread_restart a.restart\nwrite_restart a.restart\n")
    assert faulty(done) == [11, 12, 13, 16] and "itself writes" not in done.out


def test_a_file_that_is_no_deck(tmp_path):
    done = check(tmp_path, "nonsense\nprint \"\"\"open\n")
    assert faulty(done) == [1, 2] and "triple quotes" in done.out
    refused(call(tmp_path, "check", "-in", "nowhere"), 1, "nowhere")
    refused(call(tmp_path, "check", "-in", "in.deck", "-log", "f"), USAGE, "check writes no log")
    refused(call(tmp_path, "check"), USAGE, "myriad check -in FILE")


def test_no_end_of_one_line(tmp_path):
    """A deck of one thousand faults costs no more than reading it."""
    assert len(faulty(check(tmp_path, "compute 1 all erotate\n" * 1000))) == 1000


def test_plan_lists_all(tmp_path):
    done = check(tmp_path, MELT + "compute 1 all erotate\nfix 2 all rigid\nrun 10\n", command="plan")
    assert done.status == USAGE and "2 problems" in done.err
    assert "in.deck:10: unknown compute style" in done.out and "in.deck:11: unknown fix style" in done.out
    assert "Plan of engine" not in done.out
    done = check(tmp_path, MELT + "compute 1 all erotate\nrun 10\n", command="plan")
    refused(done, USAGE, "in.deck:10: unknown compute style")


@pytest.mark.parametrize("line, words", [
    ("labelmap atom 1 C", ["'labelmap' is a command of LAMMPS", "types are numbers"]),
    ("jump SELF loop", ["there is no label 'loop' in in.deck"]),
    ("shell mkdir f", ["'shell' is a command of LAMMPS", "a deck runs no programs here"]),
    ("python f source here", ["'python' is a command of LAMMPS", "a deck runs no programs here"]),
    ("kspace_style pppm 1e-4", ["'kspace_style' is a command of LAMMPS that Myriad does not have"]),
    ("region s ellipsoid 0 0 0 1 2 3", ["region style 'ellipsoid'", "accepted are block, sphere, cylinder"]),
    ("region s block 0 1", ["region block needs 6 words", "not 2", "usage: region ID block"]),
    ("atom_style hybrid sphere dipole", ["atom_style 'hybrid'", "accepted are atomic"]),
    ("create_box 1 b bond/types 1", ["'bond/types'", "usage: create_box"]),
    ("read_data f add later", ["'later'", "append, merge or an offset"]),
])
def test_messages(line, words, tmp_path):
    (tmp_path / "in.deck").write_text(line + "\n")
    done = call(tmp_path, "-in", "in.deck", "-log", "none")
    refused(done, USAGE, "in.deck:1: ", *words)
    assert "did you mean" not in done.err


def test_help_of_a_command_of_lammps(tmp_path):
    done = call(tmp_path, "help", "temper")
    refused(done, USAGE, "'temper' is a command of LAMMPS that Myriad does not have")


FORWARD = """\
region b block 0 4 0 4 0 4
variable mean equal c_cold*2+v_after
variable of_fix equal f_means
variable each atom c_energies>1
variable some equal count(late)+xcm(all,x)
create_box 1 b
create_atoms 1 random 20 5 NULL
pair_style soft 1
pair_coeff * * 1
variable moved equal xcm(all,x)+ke(all)
mass * 1
group late id 1:10
variable after equal 3
compute cold all temp
compute energies all pe/atom
fix means all ave/time 1 1 1 c_cold
fix 1 all nve
thermo_style custom step v_mean v_of_fix v_some v_moved
run 1
"""


def test_formulas_of_what_later_lines_make(tmp_path):
    """They are judged where the run evaluates them. What is not made by then is a problem of the formula's line."""
    assert "No problem in 19 commands" in check(tmp_path, FORWARD).out
    works(run_deck(tmp_path, FORWARD))
    done = check(tmp_path, FORWARD.replace("compute energies all pe/atom\n", "").replace("group late id 1:10\n", ""))
    assert "in.deck:4: c_energies: there is no such compute" in done.out
    assert "in.deck:17: unknown group 'late'" in done.out and "problem" in done.out.splitlines()[-1]


def test_faults_that_only_a_run_would_meet(tmp_path):
    """Columns that are variables are evaluated, a centre of mass needs image flags, and velocities need a mass."""
    done = check(tmp_path, MELT.replace("mass", "#mass"))
    assert faulty(done) == [START.count("\n") + 1] and "velocity needs the mass of type 1" in done.out
    done = check(tmp_path, MELT.replace("mass * 1", "mass * one"))  # the fault of the line before
    assert faulty(done) == [START.count("\n")]
    columns = MELT + "thermo_style custom step v_{}\n{}run 1\nvariable c equal xcm(all,x)\nprint $(v_c)\n"
    line = columns.count("\n") - 1
    done = check(tmp_path, columns.format("nope", ""))
    assert faulty(done) == [line - 1, line] and "undefined variable 'nope'" in done.out
    assert "xcm() needs image flags" in done.out
    done = check(tmp_path, columns.format("late", "variable late equal step\n"))
    assert faulty(done) == [line + 1]


def test_a_formula_may_lack_a_value_before_the_run(tmp_path):
    """The stand-in of count(all) is 1."""
    done = check(tmp_path, MELT + "variable f equal 1/(count(all)-1)\nprint $(v_f)\nprint $(1/0)\n")
    line = MELT.count("\n") + 3
    assert faulty(done) == [line] and "division by zero" in done.out
    assert f"a run decides whether their formulas have values: line {line - 1}\n" in done.out
    done = check(tmp_path, MELT + "variable f equal 1/(count(all)-1)\nthermo_style custom step v_f\nrun 1\n")
    assert done.status == 0 and f"formulas have values: line {line}\n" in done.out


@pytest.mark.parametrize("line", ["fix f all addforce v_a 0 0", "fix f all indent 1 sphere 0 0 0 v_a",
                                  "thermo_style custom step v_a", "fix f all drag 0 0 0 v_a 1"])
def test_a_value_of_each_particle_where_one_is_asked_for(line, tmp_path):
    done = check(tmp_path, MELT + f"variable a atom x\n{line}\nrun 1\nrun 1\n")
    assert len(faulty(done)) == 1 and "variable a has a value for each particle" in done.out


def test_a_column_of_a_fix_that_is_gone(tmp_path):
    done = check(tmp_path, MELT + "fix b all box/relax iso 0\nthermo_style custom step f_b\nminimize 0 0 5 5\nunfix b\n"
                 "run 0\n")
    assert faulty(done) == [MELT.count("\n") + 5] and "f_b: there is no such fix" in done.out
