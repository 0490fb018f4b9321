"""Variables of style atom, and x[ID]: the values of lmp, the same bits on every engine and number of ranks."""

from __future__ import annotations

import shutil
import subprocess

import pytest

import harness
from cli import BOX, USAGE, refused, run_deck, works

LMP = shutil.which("lmp")
needs_lmp = pytest.mark.skipif(LMP is None, reason="lmp is not installed")

pytestmark = pytest.mark.smoke

DECK = """\
units lj
atom_modify map array
lattice fcc 0.8442
region box block 0 6 0 5 0 4
region left block 0 2 0 4 0 4
create_box 2 box
create_atoms 1 box
mass 1 1.0
mass 2 2.0
variable odd atom "id%2 == 1 && x < 3"
group odd variable odd
set group odd type 2
variable f equal 3
variable i equal 7
variable v atom "sqrt(abs(x-2))*v_f - (y>z)*type/mass + gmask(odd)+10*rmask(left)+100*grmask(odd,left)"
velocity all set v_v 1.0 NULL units box
variable y atom y+0.01*sin(id)
set group all y v_y vz v_odd
variable d atom -0.05*(type==2)
displace_atoms odd move v_d 0.01 0 units box
print "= $(count(odd)) $(vx[7]:%.12g) $(y[3]:%.12g) $(vz[v_f]) $(type[v_i]) $(mass[5]) $(ke(all):%.12g)"
"""


def printed(text: str):
    return [float(word) for line in text.splitlines() if line.startswith("=") for word in line[1:].split()]


@needs_lmp
def test_values_of_lammps(tmp_path):
    (tmp_path / "in.lmp").write_text(DECK)
    done = subprocess.run([LMP, "-in", "in.lmp", "-log", "none"], cwd=tmp_path, timeout=60,
                          env=harness.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-1500:]
    theirs = printed(done.stdout)
    assert len(theirs) == 7 and theirs[0] == 80
    assert printed(works(run_deck(tmp_path, DECK)).out) == pytest.approx(theirs, rel=1e-11)


# Random numbers, forces and computes of particles, in a run and after it.
DRAWN = DECK + """\
pair_style lj/cut 2.5
pair_coeff * * 1 1
fix 1 all nve
compute ke all ke/atom
variable r atom normal(0,0.1,5)+random(-0.1,0.1,7)
velocity all set v_r v_r v_r units box
variable fx equal fx[7]
variable c equal vx[3]
thermo_style custom step pe v_fx v_c
thermo_modify format float %.17g
thermo 5
run 10
variable hot atom "c_ke > 0.5*x"
group hot variable hot
print "= $(count(hot)) $(x[4]:%.17g)"
run 5
"""


def end(folder, **keywords):
    run = harness.run(DRAWN, folder, **keywords)
    return run.table, printed(run.log)


def test_drawn_by_id_on_every_engine(tmp_path):
    table, words = end(tmp_path / "naive", engine="naive")
    assert table.titles == ["Step", "PotEng", "v_fx", "v_c"] and len(words) == 9
    other, others = end(tmp_path / "openmp", engine="openmp", threads=2)
    assert [list(row) for row in table.rows] == [list(row) for row in other.rows] and words == others


@pytest.mark.mpi
def test_drawn_by_id_on_ranks(tmp_path):
    table, words = end(tmp_path / "one")
    for ranks in (2, 4):
        other, others = end(tmp_path / str(ranks), ranks=ranks)
        assert [list(row) for row in table.rows] == [list(row) for row in other.rows] and words == others


BAD = {
    "print $(x[4000])": ["x[4000]", "no particle 4000"],
    "print $(x[1.5])": ["x", "one whole number"],
    "print $(q[1])": ["q", "x y z vx"],
    "print $(fx[1])": ["fx", "only known at an output of a run"],
    "print $(v_a)": ["variable a", "value for each particle"],
    "print ${a}": ["variable a", "no text"],
    "set group all x v_b": ["b", "division by zero"],
    "set group all x v_c": ["c", "unknown name 'speed'"],
    "set group all z v_d": ["d", "gmask() takes a group, not 2"],
    "set group all type v_a": ["v_a"],
    "velocity all set v_b 0 0": ["division by zero"],
    "displace_atoms all move v_b 0 0": ["division by zero"],
    "group g variable nope": ["nope", "style atom"],
    "group g variable f": ["'f'", "style atom"],
    "variable a equal 1": ["a", "atom"],
    "variable a atom": ["atom takes one argument"],
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input(line, tmp_path):
    begin = BOX + ("create_atoms 1 single 1 2 3\ncreate_atoms 1 single 3 2 3\nvariable f equal 1\n"
                   "variable a atom x\nvariable b atom 1/(x-x)\nvariable c atom speed\nvariable d atom gmask(all,b)\n")
    refused(run_deck(tmp_path, begin + line + "\n"), USAGE, *BAD[line], line=begin.count("\n") + 1)
