"""Springs between centres of mass (fix spring), and of particles to their places (fix spring/self)."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

import harness
from cli import BOX, PHYSICS, USAGE, refused, run_deck

LMP = shutil.which("lmp")

# Free particles of two types and masses, some of which fly through periodic faces. Their centre of mass is a body on a
# spring.
FREE = """\
units lj
boundary p p p
region b block 0 6 0 6 0 6 units box
create_box 2 b
create_atoms 1 random 30 871 NULL
create_atoms 2 random 20 872 NULL
mass 1 1
mass 2 2.5
velocity all create 2 77
group a id 1:50:2
group b id 2:50:3
velocity a set 9 0 1 sum yes
timestep 0.01
"""
SPRINGS = """\
fix 1 all nve
fix 2 a spring tether 30 1 NULL 2 0.5
fix 3 b spring couple a 20 0.5 -0.5 NULL 0.3
fix 4 b spring/self 60 xy
fix_modify 2 energy yes
fix_modify 3 energy yes
fix_modify 4 energy yes
thermo_style custom step pe ke etotal f_2 f_2[1] f_2[2] f_2[3] f_2[4] f_3 f_3[1] f_3[2] f_3[3] f_3[4]
thermo_modify format float %.17g norm no
"""
SELF = SPRINGS.replace("f_3[4]\n", "f_3[4] f_4\n")


NEAR = """\
units si
region b block 0 3e-9 0 3e-9 0 3e-9
create_box 1 b
create_atoms 1 single 1.0e-9 1.0e-9 1.0e-9
create_atoms 1 single 1.05e-9 1.0e-9 1.0e-9
mass 1 6.63e-26
group a id 1
group b id 2
neighbor 1e-10 bin
pair_style lj/cut 1e-10
pair_coeff * * 0 1e-11
fix 1 all nve
fix s a spring tether 0.1 1.05e-9 1.0e-9 1.0e-9 0
fix c a spring couple b 0.1 0 0 0 2e-10
fix t b spring tether 0.1 1.05e-9 1.0e-9 1.0e-9 0
timestep 1e-15
thermo_style custom step f_s f_s[1] f_s[4] f_c f_c[1] f_c[4] f_t f_t[1] f_t[4]
thermo_modify norm no format float %.17g
run 0
"""


def test_springs_are_short_in_metres_too(fast_engine, tmp_path):
    """No length is too short for a spring; a group at its place feels none."""
    row = np.array(harness.run(NEAR, tmp_path, engine=fast_engine).table.rows[0], dtype=float)[1:]
    r, stretch = 5e-11, 5e-11 - 2e-10
    assert row[:6] == pytest.approx([0.05 * r * r, 0.1 * r, 0.1 * r, 0.05 * stretch**2, 0.1 * stretch, 0.1 * stretch],
                                    rel=1e-9)
    # Places are rounded to quanta of 1e-23 m.
    assert np.all(np.abs(row[6:]) < 1e-22)


def test_springs_like_lammps_through_faces(tmp_path):
    """Groups of several types go through the faces of the box, often, and their centres of mass go on."""
    if LMP is None:
        pytest.skip("lmp is not installed")
    harness.run(FREE + "write_data free.data nocoeff\n", tmp_path)
    # lmp wants a pair style for its lists. Without a force it changes nothing.
    deck = ("units lj\natom_style atomic\nread_data free.data\npair_style lj/cut 1\npair_coeff * * 0 1\n"
            "group a id 1:50:2\ngroup b id 2:50:3\ntimestep 0.01\n" + SPRINGS.replace("fix 4", "#fix 4")
            .replace("fix_modify 4", "#") + "thermo 20\nrun 400\n")
    (tmp_path / "in.lmp").write_text(deck)
    done = subprocess.run([LMP, "-in", "in.lmp", "-log", "log.lammps", "-screen", "none"], cwd=tmp_path,
                          env=harness.environment(), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    theirs = harness.read_tables((tmp_path / "log.lammps").read_text())[0]
    ours = harness.run(deck, tmp_path).table
    assert ours.titles == theirs.titles and len(ours.rows) == len(theirs.rows) == 21
    for name in theirs.titles:
        a, b = np.array(ours.column(name)), np.array(theirs.column(name))
        assert np.abs(a - b).max() < 1e-7 * max(1.0, np.abs(b).max()), name
    # The centre of mass of the tethered group went farther than a box.
    assert np.ptp(np.array(ours.column("f_2[1]"))) > 30 * 6


def test_a_free_group_on_a_spring_is_an_oscillator(engine, tmp_path):
    """As velocity Verlet has it: one body with the mass of the group, however its particles fly."""
    deck = FREE + "fix 1 all nve\nfix 2 a spring tether 30 1 NULL NULL 0\n" \
        "compute p a momentum\nthermo_style custom step f_2 f_2[1] c_p[1]\n" \
        "thermo_modify format float %.17g norm no\nthermo 1\nrun 150\n"
    table = harness.run(deck, tmp_path, engine=engine).table
    mass, k, dt = 2.5 * 10 + 15, 30.0, 0.01
    f, p, energy = (np.array(table.column(name)) for name in ("f_2[1]", "c_p[1]", "f_2"))
    x, v = -f[0] / k, p[0] / mass
    for row in range(151):
        assert f[row] == pytest.approx(-k * x, abs=1e-7) and energy[row] == pytest.approx(0.5 * k * x * x, abs=1e-6)
        half = v - 0.5 * dt * k * x / mass
        x += dt * half
        v = half - 0.5 * dt * k * x / mass
    assert np.ptp(f) > 6 * k


def test_energy_is_conserved(fast_engine, tmp_path):
    def spread(dt, steps):
        deck = FREE.replace("timestep 0.01", f"timestep {dt}") + SELF + f"thermo {steps // 20}\nrun {steps}\n"
        table = harness.run(deck, tmp_path, engine=fast_engine).table
        assert np.ptp(table.column("f_4")) > 0.1 and np.ptp(table.column("f_3")) > 1
        return np.ptp(table.column("TotEng"))
    coarse, fine = spread(0.004, 500), spread(0.001, 2000)
    assert coarse < 0.5 and fine < coarse / 8


@pytest.mark.parametrize("how", [{"engine": "naive"}, {"threads": 3},
                                 pytest.param({"ranks": 4}, marks=pytest.mark.mpi)])
def test_there_and_back(how, tmp_path):
    """By run -N: the counts of faces go back too."""
    text = harness.deck("in.springs").read_text() + "run -${steps}\n"
    if "ranks" in how:
        how = dict(how, threads=1)
    harness.run(text, tmp_path, variables={"steps": 300, "every": 300, "drift": 4}, **how)
    first, turn, last = harness.read_dump(tmp_path / "check.dump")
    names = ("id", "x", "y", "z", "vx", "vy", "vz", "fx", "fy", "fz")
    assert np.abs(turn.vectors("x", "y", "z") - first.vectors("x", "y", "z")).max() > 1
    np.testing.assert_array_equal(last.vectors(*names), first.vectors(*names))


def test_a_run_goes_on_from_a_restart(engine, tmp_path):
    """Also on the engine from which the restart is not: the counts of faces and the places are in it."""
    if harness.hdf5_missing():
        pytest.skip("no restarts in this build")
    whole = harness.run(FREE + SELF + "thermo 50\nrun 100\nrun 100\n", tmp_path / "whole", engine=engine).tables[-1]
    harness.run(FREE + SELF + "thermo 50\nrun 100\nwrite_restart r\n", tmp_path / "parts")
    went_on = harness.run("read_restart r\n" + SELF + "thermo 50\nrun 100\n", tmp_path / "parts", engine=engine)
    assert went_on.log.count("goes on with its state in the restart") == 3
    assert went_on.table.rows == whole.rows and whole.at(200)["f_4"] > 0.05


@pytest.mark.parametrize("change", ["fix 1 all npt temp 2 2 0.5 aniso 1 4 0.8",
                                    "fix 1 all nve\nfix 2 all deform 1 x erate 0.05 y erate -0.05 remap x"])
def test_springs_like_lammps_in_a_box_that_changes(change, engine, tmp_path):
    """The box takes particles along, and the sides by which the centres of mass went on grow with it."""
    if LMP is None:
        pytest.skip("lmp is not installed")
    data = FREE.replace("velocity a set 9 0 1", "velocity a set 3 0 1") + "write_data free.data nocoeff\n"
    harness.run(data, tmp_path)
    deck = ("units lj\natom_style atomic\nread_data free.data\npair_style lj/cut 1\npair_coeff * * 0 1\n"
            "group a id 1:50:2\ngroup b id 2:50:3\ntimestep 0.004\nneigh_modify every 1 delay 0 check yes\n"
            f"{change}\nfix 4 a spring tether 30 1 NULL 2 0.5\nfix 3 b spring couple a 20 0.5 -0.5 NULL 0.3\n"
            "thermo_style custom step temp lx ly f_4 f_4[1] f_4[2] f_4[3] f_3 f_3[1] f_3[2]\nthermo 100\n"
            "thermo_modify format float %.15g\nrun 1000\n")
    (tmp_path / "in.lmp").write_text(deck)
    subprocess.run([LMP, "-in", "in.lmp", "-log", "log.lammps", "-screen", "none"], cwd=tmp_path, check=True,
                   env=harness.environment(), timeout=60)
    theirs = harness.read_tables((tmp_path / "log.lammps").read_text())[0]
    ours = harness.run(deck, tmp_path, engine=engine).table
    assert len(ours.rows) == 11
    for step in range(0, 1001, 100):
        a, b = ours.at(step), theirs.at(step)
        for name in ours.titles[1:]:
            assert a[name] == pytest.approx(b[name], rel=1e-6, abs=1e-6), (step, name)


def test_a_group_anew_has_new_places(engine, tmp_path):
    """A fix that is given again ties its particles to where they are then."""
    deck = FREE + SELF + "thermo 50\nrun 50\nfix 4 b spring/self 60\nrun 0\nunfix 3\nunfix 4\n" \
        "thermo_style custom step pe\nrun 1\n"
    tables = harness.run(deck, tmp_path, engine=engine).tables
    assert tables[0].at(50)["f_4"] > 0.01 and tables[1].at(50)["f_4"] == 0


@pytest.mark.parametrize("axes, way, refuses", [("xyz", 2.0, False), ("xyz", 3.0, True), ("xyz", 6.0, True),
                                                ("yz", 6.0, False)])
def test_displaced_particles_and_their_places(axes, way, refuses, tmp_path):
    """Beyond 7/16 of the side, 6, another image of the place would be nearer."""
    deck = (BOX + f"fix s all spring/self 3 {axes}\nfix_modify s energy yes\nthermo_style custom step f_s\n"
            "thermo_modify norm no\nrun 0\n"
            f"displace_atoms all move {way} 0.5 0 units box\nrun 0\n")
    if refuses:
        refused(run_deck(tmp_path, deck), USAGE, "0.4375 of the periodic side x", "spring/self", "unfix", line=15)
        return
    energy = float(harness.run(deck, tmp_path).tables[-1].rows[0][1])
    assert energy == pytest.approx(1.5 * 2 * (0.25 + (way**2 if "x" in axes else 0)), rel=1e-9)


def test_a_particle_far_from_its_place_is_an_error(engine, tmp_path):
    deck = FREE + "fix 1 all nve\nfix 2 a spring/self 0.01\nrun 100\n"
    message = refused(run_deck(tmp_path, deck, *harness.engine_words(engine)), PHYSICS,
                      "fix spring/self ties it to a place that is 7/16 of a periodic side away or more")
    assert "step 0:" not in message


BAD = {
    "pull": ("spring pull 1 0 0 0 0", "'pull' is neither tether nor couple"),
    "few": ("spring tether 1 0 0 0", "takes 6 arguments"),
    "no group": ("spring couple c 1 0 0 0 0", "c"),
    "negative": ("spring tether -1 0 0 0 0", "K and R0 must be 0 or positive"),
    "R0": ("spring tether 1 0 0 0 -0.5", "K and R0 must be 0 or positive"),
    "variable": ("spring tether 1 v_x 0 0 0", "would change during a run"),
    "K of self": ("spring/self 0", "K must be positive"),
    "axes": ("spring/self 1 yx", "'yx' is none of xyz"),
    "many": ("spring/self 1 x 2", "unexpected '2'"),
    "twice": ("spring/self 1\nfix 3 all spring/self 1", "ties 25 of these particles to places already"),
    "moved": ("spring tether 1 0 0 0 0\nfix 3 a move linear 1 0 0\nfix 1 b nve\nrun 1", "places particles"),
    "sheared": ("spring tether 1 0 0 0 0\nchange_box all triclinic\nfix 3 all deform 1 xy erate 0.1\nfix 1 all nve\n"
                "run 1", "a fix that shears the box"),
    "changed, self": ("spring/self 1\nfix 3 all deform 1 x erate 0.1\nfix 1 all nve\nrun 1",
                      "a box that a fix changes"),
    "leapfrog": ("spring tether 1 0 0 0 0\nfix 1 all nve/leapfrog\nrun 1", "velocity Verlet"),
    "minimised": ("spring tether 1 0 0 0 0\nminimize 1e-4 1e-4 10 10", "which a minimisation has not"),
    "copied": ("spring/self 1\nreplicate 2 1 1", "give it after replicate"),
    "deleted": ("spring couple b 1 0 0 0 0\ngroup b delete", "cannot be deleted"),
    "dynamic": ("spring couple b 1 0 0 0 0\nfix 1 all nve\ngroup b dynamic all every 1\nrun 1", "use a static group"),
    "dynamic, self": ("nve\ngroup d dynamic all every 1\nfix 3 d spring/self 1", "use a static group"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_makes_no_sense_is_refused(name, tmp_path):
    words, message = BAD[name]
    refused(run_deck(tmp_path, FREE + f"fix 2 a {words}\n"), USAGE, message)


@pytest.mark.parametrize("change", ["delete_atoms group o compress no", "set group o type 2"])
def test_a_centre_that_jumped_needs_the_same_particles(change, tmp_path):
    """The jumps through faces are counted for the group as a whole. Of a part of it nothing knows them."""
    deck = ("units lj\nregion b block 0 10 0 10 0 10\ncreate_box 2 b\ncreate_atoms 1 single 8.2 5 5\n"
            "create_atoms 1 single 8.7 5 4\ncreate_atoms 1 single 9.2 4 5\ncreate_atoms 1 single 9.7 5 6\n"
            "create_atoms 2 single 2 2 2\nmass * 1\npair_style lj/cut 1.1\npair_coeff * * 0 1\ngroup g id 1:4\n"
            "group o id 1\nvelocity g set {} 0 0 units box\nfix 1 all nve\nfix s g spring tether 0.01 8 5 5 0\n"
            "run 300\n" + change + "\nrun 10\n")
    refused(run_deck(tmp_path, deck.format(1)), PHYSICS, "fix spring no longer knows", "define the fix again")
    assert run_deck(tmp_path, deck.format(0)).status == 0
    assert run_deck(tmp_path, deck.format(1).replace(change, f"{change}\nunfix s\nfix s g spring tether 0.01 8 5 5 0")
                    ).status == 0
