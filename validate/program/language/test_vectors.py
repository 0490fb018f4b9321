"""Variables of style vector and atomfile: the numbers of lmp, the same rows on every engine and number of ranks."""

from __future__ import annotations

import pytest

import harness
from cli import BOX, RUNTIME, USAGE, call, refused, run_deck
from test_averages import MELT, needs_lmp, run_lmp

pytestmark = pytest.mark.smoke

SETS = "3\n1 2.5\n480 -1\n7 3e2\n2\n4 1\n5 2\n"
DECK = """\
compute g all rdf 10
compute w all reduce sum vx vy vz
variable a vector c_w*2+1
variable b vector v_a^2-c_p/vol
variable c vector c_g[3]
variable d equal v_a[2]+v_b[1]*sum(v_c)
variable e vector -c_w-c_w[1]
variable i equal 2
fix v all vector 5 c_thermo_pe
variable f vector sqrt(abs(f_v))-f_v^2/1000
variable g equal max(v_f)-ave(v_f)+v_a[v_i]
variable m atomfile m.txt
variable h atom v_m*vx+1
compute m all reduce sum v_m v_h
thermo_style custom step press v_d v_b[3] v_e[1] v_g c_m[1] c_m[2]
thermo_modify format float %.10g
thermo 5
run 10
variable z equal v_f[3]
print "sums $(v_f[2]:%.9g) ${z} $(trap(v_f):%.9g)"
next m
run 5
"""


def printed(log: str) -> list:
    return [float(word) for line in log.splitlines() if line.startswith("sums") for word in line.split()[1:]]


@needs_lmp
def test_numbers_of_lammps(tmp_path):
    for who in ("theirs", "ours"):
        (tmp_path / "m.txt").write_text(SETS)
    deck = (MELT + DECK).replace("m.txt", "../m.txt")
    theirs = run_lmp(deck, tmp_path / "theirs")
    ours = harness.run(deck, tmp_path / "ours")
    for table, other in zip(ours.tables, theirs):
        assert table.titles == other.titles and len(table.rows) == len(other.rows)
        for row, their_row in zip(table.rows, other.rows):
            assert list(map(float, row)) == pytest.approx(list(map(float, their_row)), rel=1e-6, abs=1e-8)
    assert printed(ours.log) == pytest.approx(printed((tmp_path / "theirs" / "log").read_text()), rel=1e-6)


@pytest.mark.mpi
def test_same_rows_everywhere(tmp_path):
    (tmp_path / "m.txt").write_text(SETS)
    deck = (MELT + DECK).replace("m.txt", "../m.txt")
    one = harness.run(deck, tmp_path / "naive", engine="naive")
    for ranks in (None, 3):
        other = harness.run(deck, tmp_path / str(ranks), ranks=ranks)
        assert [t.rows for t in other.tables] == [t.rows for t in one.tables] and printed(other.log) == printed(one.log)


def test_resumed_between_runs(tmp_path):
    """What was read of a vector between runs is recalled, although the fix has other values in the resumed job."""
    deck = BOX + ("fix v all vector 5 c_thermo_temp\nvelocity all create 1 7\nvariable f vector f_v*2\nrun 10\n"
                  "variable two equal ${two}\nrestart 5 r.*\nrun 10\nprint \"two ${two}\"\n").replace(
                      "variable two equal ${two}", "variable one equal v_f[2]+sum(v_f)\nvariable two equal ${one}")
    whole = harness.run(deck, tmp_path)
    resumed = harness.run(deck, tmp_path, arguments=["--resume"])
    lines = [[line for line in result.log.splitlines() if line.startswith("two ")] for result in (whole, resumed)]
    assert len(lines[0]) == 1 and float(lines[0][0].split()[1]) > 0 and lines[1][-1] == lines[0][0]


def test_lists(tmp_path):
    deck = BOX + ("variable a vector '[1,2.5, -3]'\nvariable b vector v_a*2\n")
    deck += "print \"$(v_a[2]) $(v_b[3]) $(sum(v_a)) $(max(v_b))\"\n"
    assert "\n2.5 -6 0.5 5\n" in run_deck(tmp_path, deck).out


BAD = {
    "variable a vector": ["takes one argument"],
    "print $(v_v)": ["v_v[I]"],
    "print ${v}": ["is a vector, and has no text"],
    "print $(v_v[3])": ["v_v[3]", "2 values"],
    "print $(v_v[0])": ["whole number"],
    "print $(v_one[1])": ["v_one is of style equal"],
    "variable a vector [1,x]\nprint $(v_a[1])": ["no list of numbers"],
    "variable a vector [1]2\nprint $(v_a[1])": ["after ]"],
    "variable a vector f_w\nprint $(v_a[1])": ["no values yet"],
    "variable a vector c_thermo_press*2\nrun 0\nprint $(v_a[1])": ["there is no vector in"],
    "variable a vector v_v+v_long\nprint $(v_a[1])": ["3 values", "2"],
    "variable a vector v_w\nprint $(v_a[1])": ["value for each particle"],
    "variable a vector v_v*random(0,1,7)\nprint $(v_a[1])": ["random is not available"],
    "variable a vector v_v/0\nprint $(v_a[1])": ["division by zero"],
    "variable a vector v_b\nvariable b vector v_a\nprint $(v_a[1])": ["circular"],
    "fix a all ave/time 1 1 1 v_v mode vector": ["v_v"],
    "next v": ["style vector"],
    "variable a atomfile x.txt": ["cannot read x.txt"],
    "variable a atomfile f.txt": ["f.txt:2", "id and a value"],
    "variable a atomfile g.txt": ["g.txt:3", "twice"],
    "variable a atomfile h.txt": ["h.txt:1", "number of its lines"],
    "variable a atomfile e.txt": ["no set of values"],
    "variable a atomfile s.txt": ["ends within a set"],
    "variable m atomfile good.txt\nprint $(v_m)": ["value for each particle"],
    "variable a world 1 2": ["no partitions"],
    "variable a timer": ["cpu"],
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input(line, tmp_path):
    for name, text in {"f": "1\nx 2\n", "g": "2\n1 1\n1 2\n", "h": "hello\n", "e": "# nothing\n", "s": "2\n1 1\n",
                       "good": "1\n1 1\n"}.items():
        (tmp_path / f"{name}.txt").write_text(text)
    begin = BOX + ("variable one equal 1\nvariable w atom x\nvariable v vector [1,2]\nvariable long vector [1,2,3]\n"
                   "fix w all vector 5 c_thermo_temp\n")
    done = run_deck(tmp_path, begin + line + "\n")
    refused(done, RUNTIME if "x.txt" in line else USAGE, *BAD[line], line=begin.count("\n") + line.count("\n") + 1)


def test_checked(tmp_path):
    (tmp_path / "m.txt").write_text(SETS)
    (tmp_path / "in.deck").write_text(MELT + DECK)
    assert call(tmp_path, "check", "-in", "in.deck").status == 0
