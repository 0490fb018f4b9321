"""Particles that come, go and change groups while the system runs, and regions that move: as lmp does it where that
is no matter of chance, the same after a resume, and the mistakes."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

import harness
from cli import BOX, USAGE, refused, run_deck, works

LMP = shutil.which("lmp")

START = """units lj
atom_style atomic
boundary p p f
lattice fcc 0.8
region box block 0 4 0 4 0 5
create_box 2 box
region slab block 0 4 0 4 0.1 1.4
create_atoms 1 region slab
mass * 1
pair_style lj/cut 2.5
pair_coeff * * 1 1
velocity all create 0.6 87287
write_data slab.data nocoeff
"""

READ = """units lj
atom_style atomic
boundary p p f
pair_style lj/cut 2.5
read_data slab.data
pair_coeff * * 1 1
neigh_modify every 1 delay 0
timestep 0.004
"""

# One place alone, so that chance decides nothing; two particles, in steps 1 and 26, the second one higher.
DEPOSITED = READ + """group falling type 2
fix top falling wall/reflect zhi EDGE
region spot block 2 2 3 3 2.7 2.7 units box
fix come falling deposit 2 2 25 4711 region spot vx 0.3 0.3 vz -5 -5 rate 24 units box
group old id 1:1000
fix 1 falling nve
fix 2 old nve
compute k falling ke
thermo_style custom step atoms pe ke press c_k
thermo_modify format float %.15g norm no
thermo 5
run 50
"""


def both_tables(text, folder, engine):
    """The table of a deck, by Myriad and by lmp, from the same data file."""
    works(run_deck(folder, START))
    (folder / "in.both").write_text(text)
    ours = harness.run(folder / "in.both", folder, engine=engine).table
    done = subprocess.run([LMP, "-in", "in.both", "-log", "log.lammps", "-screen", "none"], cwd=folder,
                          env=harness.environment(), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return ours, harness.read_tables((folder / "log.lammps").read_text())[0]


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
def test_lmp_deposits_alike(engine, tmp_path):
    """Particles that meet no others in the step of their insertion."""
    ours, theirs = both_tables(DEPOSITED, tmp_path, engine)
    assert list(ours.column("Atoms")) == list(theirs.column("Atoms"))
    for name in ("PotEng", "KinEng", "Press", "c_k"):
        assert ours.column(name) == pytest.approx(theirs.column(name), rel=1e-6), name


GROUPED = READ + """variable at equal 0.02*step
variable angle equal 0.05*step
region sweep block INF INF INF INF 0 1 units box move NULL NULL v_at
region wing block 1.5 5 2.6 4.1 INF INF units box rotate v_angle 3.4 3.4 0 0 0 1 move v_at NULL NULL
region both intersect 2 sweep wing
group sweep dynamic all region sweep every 5
group wing dynamic all region wing every 5
group both dynamic all region both every 10
fix 1 all nve
compute s sweep ke
compute w wing ke
variable s equal count(sweep)
variable w equal count(wing)
variable b equal count(both)
variable r equal count(all,wing)
thermo_style custom step pe v_s v_w v_b v_r c_s c_w
thermo_modify format float %.15g norm no
thermo 5
run 50
"""


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
def test_lmp_finds_the_same_particles_in_regions_that_move(engine, tmp_path):
    ours, theirs = both_tables(GROUPED, tmp_path, engine)
    for name in ("v_s", "v_w", "v_b", "v_r"):
        assert list(ours.column(name)) == list(theirs.column(name)), name
        assert len(set(ours.column(name))) > 3
    for name in ("PotEng", "c_s", "c_w"):
        assert ours.column(name) == pytest.approx(theirs.column(name), rel=1e-6), name


def test_evaporation_takes_some_of_a_region_and_group(engine, tmp_path):
    works(run_deck(tmp_path, START))
    deck = READ + """group odd id 1:1000:2
region low block INF INF INF INF 0 1 units box
variable odd equal count(odd,low)
fix 1 all nve
fix e odd evaporate 10 3 low 77
dump d all custom 10 left.* id z
thermo_style custom step atoms v_odd f_e
thermo 10
run 200
"""
    table = harness.run(deck, tmp_path, engine=engine).table
    left = [set(np.loadtxt(tmp_path / f"left.{step}", skiprows=9)[:, 0]) for step in range(0, 201, 10)]
    gone = table.column("f_e")
    assert list(table.column("Atoms")) == [len(ids) for ids in left]
    assert list(gone[:5]) == [0, 3, 6, 9, 12] and gone[-1] > 10
    for before, after, n in zip(left, left[1:], np.diff(gone)):
        assert after < before or n == 0
        assert len(before - after) == n <= 3 and all(k % 2 == 1 for k in before - after)
    assert table.column("v_odd")[-1] == 0


# Everything that comes, goes and changes, with random places.
CHANGING = START + """timestep 0.004
region top block 0 6 0 6 5 7 units box
region low block INF INF INF INF 0 1 units box
group new type 2
group warm dynamic all region top every 7
fix 1 all nve
fix 2 warm langevin 1 1 0.1 99
fix w all wall/reflect zlo EDGE zhi EDGE
fix come new deposit 9 2 7 31 region top near 1.0 local 1 2 0.8 rate 0.3 attempt 20 vx -1 1 vy -1 1 vz -3 -1 &
    target 3 3 0 id next units box
fix go all evaporate 11 2 low 5
compute n new ke
thermo 10
thermo_style custom step atoms pe ke press c_n f_go
thermo_modify format float %.17g norm no
dump d all custom 10 all.dump id type x y z vx vy vz
dump_modify d format float %.17g
restart 20 r.*
run 60
"""


def test_a_resumed_run_goes_on_with_the_same_particles(tmp_path):
    """Restarts at a step after which particles changed, and between such steps."""
    done = works(run_deck(tmp_path, CHANGING.replace("restart 20", "restart 22")))
    if harness.hdf5_missing():
        pytest.skip("no restarts in this build")
    whole = (tmp_path / "all.dump").read_bytes()
    for every in (22, 25):
        deck = CHANGING.replace("restart 20", f"restart {every}")
        works(run_deck(tmp_path, deck))
        assert (tmp_path / "all.dump").read_bytes() == whole
        (tmp_path / "r.50").unlink(missing_ok=True)
        (tmp_path / "r.44").unlink(missing_ok=True)
        assert f"Resumed at step {every}" in works(run_deck(tmp_path, deck, "--resume")).out
        assert (tmp_path / "all.dump").read_bytes() == whole
        for path in tmp_path.glob("r.*"):
            path.unlink()


@pytest.mark.mpi
def test_ranks_change_the_same_particles(tmp_path):
    wrote = []
    for ranks in (None, 3):
        folder = tmp_path / str(ranks)
        rows = harness.run(CHANGING, folder, ranks=ranks).table.rows
        wrote.append([rows, (folder / "all.dump").read_bytes()])
    assert wrote[0] == wrote[1] and float(wrote[0][0][-1][1]) > 0


def test_a_static_group_keeps_its_particles(tmp_path):
    deck = START + """variable s equal 0.5*step
region up block INF INF INF INF 0 0.5 units box move NULL NULL v_s
group g dynamic all region up
variable n equal count(g)
thermo_style custom step v_n
thermo 1
run 2
group g static
run 2
group g delete
"""
    tables = harness.run(deck, tmp_path).tables
    first, second = (table.column("v_n") for table in tables)
    assert len(set(first)) > 1 and set(second) == {first[-1]}


MISTAKES = {
    "fix d all deposit 5 1 10": "fix deposit takes N, a type, M and a seed",
    "fix d all deposit 5 3 10 1 region b": "the type of fix deposit",
    "fix d all deposit 5 1 10 1": "needs the keyword region",
    "fix d all deposit 5 1 10 1 region none": "there is no region 'none'",
    "fix d all deposit 5 1 10 1 region b mol water": "accepted are region, id, global",
    "fix d all deposit 5 1 10 1 region b near": "near takes 1 value",
    "fix d all deposit 5 1 10 1 region b vz 2 1": "vz: 2 is above 1",
    "fix d all deposit 5 1 10 1 region b id least": "neither max nor next",
    "region i block 0 1 0 1 0 INF units box\nfix d all deposit 5 1 10 1 region i": "no bounds along z",
    "region i block 0 1 0 1 0 9 units box\nfix d all deposit 5 1 10 1 region i": "beyond the box",
    "fix e all evaporate 5 1 b": "takes N, M, a region and a seed",
    "fix e all evaporate 5 1 b 1 molecule yes": "single particles",
    "fix e all evaporate 5 1 b 1 9": "unexpected '9'",
    "fix e all evaporate 5 1 b 1\nrun 5\nrun -5": "changes the particles between steps",
    "group g dynamic all wide 5": "accepted are region ID, var NAME",
    "group g dynamic all every": "its value is missing",
    "group g dynamic none": "unknown group 'none'",
    "variable v equal 1\ngroup g dynamic all var v": "no variable of style atom",
    "group g dynamic all property d_none": "no property",
    "group g dynamic all\ngroup h dynamic g": "must be another group",
    "group g dynamic all\ngroup g type 1": "make it static first",
    "group g id 1\ngroup h id 1 2\nunfix 1\nfix 1 g nve\nfix 2 h nve\nrun 1": "1 particle is in the groups of two",
    "group g id 1\nunfix 1\nfix 1 g nve\nfix 2 g nve": "of this group already",
    "group g id 1\nunfix 1\nfix 1 g nve\nfix 2 all nve": "another fix moves the particles already",
    "group g id 1\ngroup h id 2\nunfix 1\nfix 1 g nve\nfix 2 h nve/leapfrog": "another fix moves the particles already",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_mistakes(line, tmp_path):
    refused(run_deck(tmp_path, BOX + line + "\n"), USAGE, MISTAKES[line])


def test_deposit_into_the_whole_box_after_a_run(tmp_path):
    """The run has rounded the box."""
    deck = ("lattice fcc 0.8\nregion b block 0 3 0 3 0 3\ncreate_box 1 b\ncreate_atoms 1 single 0.1 0.1 0.1\nmass 1 1\n"
            "pair_style lj/cut 1\npair_coeff 1 1 1 1\nfix 1 all nve\nrun 1\n"
            "fix d all deposit 3 1 1 5 region b near 0.7 attempt 1000\nrun 5\nprint \"there are $(atoms)\"\n")
    assert "there are 4" in works(run_deck(tmp_path, deck)).out


def test_deposit_goes_on_after_reset_timestep(tmp_path):
    """Its first and later insertions stay where they were, counted from the present step."""
    region = "region r block 1 5 1 5 1 5 units box\nfix d all deposit 30 1 5 777 region r near 0.9 units box\n"
    rows = []
    for reset in ("", "reset_timestep 0\n", "reset_timestep 5000\n"):
        deck = BOX + "run 100\n" + region + reset + "thermo_style custom step atoms\nthermo 20\nrun 100\nrun 40\n"
        rows.append([[int(row[1]) for row in t.rows] for t in harness.run(deck, tmp_path).tables[1:]])
    assert rows[0] == rows[1] == rows[2]
    assert rows[0][0][-1] > 15


@pytest.mark.parametrize("ranks", [pytest.param(2, marks=pytest.mark.mpi), None])
def test_another_particle_of_the_same_id_is_new(ranks, tmp_path):
    """What computes and fixes keep of a particle goes with it."""
    deck = BOX + ("fix p all property/atom d_w\nset group all d_w 7\ncompute w all reduce sum d_w\n"
                  "thermo_style custom step c_w\nthermo_modify norm no\nrun 5\ngroup last id 2\n"
                  "delete_atoms group last compress no\ncreate_atoms 1 single 5 5 5\nrun 5\n")
    result = harness.run(deck, tmp_path, ranks=ranks, threads=1)
    assert [float(t.rows[0][1]) for t in result.tables] == [14, 7]
    result = harness.run(deck.replace("compute w", "compute m all msd\ncompute w"), tmp_path, ranks=ranks, threads=1,
                         expect=USAGE)
    assert "particle 2 is new since compute msd was defined" in result.err
