"""Fixes that act on forces: against LAMMPS, their energies, the way back, and their errors."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

import harness
from cli import BOX, PHYSICS, USAGE, call, refused, run_deck, works

LMP = shutil.which("lmp")

# Two types and two masses between axes without images; the fixes must keep the particles in the box.
MAKE = """\
units lj
boundary f p f
lattice fcc 0.7
region b block 0 5 0 5 0 5
create_box 2 b
region c block 0.5 4.4 0 4.9 0.5 4.4
create_atoms 1 region c
set type 1 type/fraction 2 0.3 77
mass 1 1
mass 2 2.5
velocity all create 1.0 87287
pair_style lj/cut 2.5
pair_coeff * * 1 1
write_data mix.data nocoeff
"""

DECK = """\
units lj
atom_style atomic
boundary f p f
lattice fcc 0.7
pair_style lj/cut 2.5
read_data mix.data
pair_coeff * * 1 1
neigh_modify every 1 delay 0 check yes
group heavy type 2
group light type 1
fix 1 all nve
timestep 0.003
{fixes}
thermo_style custom step temp pe ke etotal epair press enthalpy {values}
thermo_modify format float %.15g
thermo 10
dump d all custom 50 out.dump id x y z fx fy fz
dump_modify d sort id format float %.15g
run 50
"""

# Particles that do not reach a periodic face: there LAMMPS measures from places that are not wrapped.
MIDDLE = "region m block INF INF 1.2 3.8 INF INF\ngroup mid region m\n"
# The fixes, and the values of fixes that become columns.
LIKE_LAMMPS = {
    "setforce": ("fix 2 heavy setforce 0.5 NULL -0.3", "f_2[1] f_2[2] f_2[3]"),
    "addforce": ("fix 2 heavy addforce 0.5 0 -0.3\nfix_modify 2 energy yes", "f_2 f_2[1] f_2[2] f_2[3]"),
    "gravity": ("fix 2 all gravity 0.7 vector 1 0 -2\nfix_modify 2 energy yes", "f_2"),
    "chute": ("fix 2 all gravity 0.7 chute 20\nfix_modify 2 energy yes", "f_2"),
    "spherical": ("fix 2 all gravity 0.7 spherical 0 130", "f_2"),
    "line": ("fix 2 heavy lineforce 1 2 -1", ""),
    "plane": ("fix 2 light planeforce 1 2 -1", ""),
    "lj93": ("fix 2 all wall/lj93 xlo EDGE 1.2 1.1 2.5 xhi EDGE 1 1 2 zlo -0.1 1 1 2.5 zhi 8.8 1 1 2 units box\n"
             "fix_modify 2 energy yes", "f_2 f_2[1] f_2[2] f_2[3] f_2[4]"),
    "lj126": ("fix 2 all wall/lj126 xlo EDGE 1.2 1.1 2.5 zhi 5.1 1 1 2.5\nfix_modify 2 energy yes",
              "f_2 f_2[1] f_2[2]"),
    "lj1043": ("fix 2 light wall/lj1043 zhi EDGE 1.2 0.9 2.5 zlo EDGE 1 1 3\nfix_modify 2 energy yes",
               "f_2 f_2[1] f_2[2]"),
    "harmonic": ("fix 2 all wall/harmonic zhi EDGE 10.2 0.9 2.5 zlo EDGE 20 0 1.5\nfix_modify 2 energy yes",
                 "f_2 f_2[1] f_2[2]"),
    "sphere": ("fix 2 all indent 10 sphere 2 0.3 2 1.3\nfix_modify 2 energy yes", "f_2 f_2[1] f_2[2] f_2[3]"),
    "sphere in": ("fix 2 all indent 1 sphere 4.2 4.2 4.2 4 side in units box\nfix_modify 2 energy yes",
                  "f_2 f_2[1] f_2[2] f_2[3]"),
    "cylinder x": ("fix 2 heavy indent 10 cylinder x 2 2.3 1.3 side in", "f_2 f_2[1] f_2[2] f_2[3]"),
    "cylinder y": ("fix 2 heavy indent 10 cylinder y 2 2.3 1.3\nfix_modify 2 energy yes",
                   "f_2 f_2[1] f_2[2] f_2[3]"),
    "cylinder z": ("fix 2 heavy indent 10 cylinder z 2 2.3 1.3", "f_2 f_2[1] f_2[2] f_2[3]"),
    "half space": ("fix 2 all indent 10 plane x 1 lo\nfix_modify 2 energy yes\nfix 3 all indent 10 plane z 4.2 hi",
                   "f_2 f_2[1] f_3 f_3[3]"),
    "region": ("region r sphere 2.5 2.5 2.5 1.52\nregion s block INF INF INF INF INF 2.05 side out\n"
               "fix 2 heavy addforce 0.5 0 -0.3 region r\nfix 3 light setforce NULL 0.4 0.2 region s",
               "f_2[1] f_2[2] f_2[3] f_3[2]"),
    "wall region block": ("region r block -0.3 4.8 INF INF -0.3 4.9\nfix 2 all wall/region r lj93 1.2 1.1 2.5",
                          "f_2 f_2[1] f_2[2] f_2[3]"),
    "wall region sphere": (MIDDLE + "region r sphere 2.5 2.5 2.5 5\nfix 2 mid wall/region r lj126 1 0.9 3\n"
                           "region s sphere 2.25 2.1 2.3 0.02 side out\nfix 3 mid wall/region s harmonic 2 1 1.9",
                           "f_2 f_2[1] f_2[2] f_2[3] f_3 f_3[1] f_3[2] f_3[3]"),
    "wall region cylinder": (MIDDLE + "region r cylinder z 2.5 2.5 3.5 -0.4 5.4\n"
                             "fix 2 mid wall/region r lj1043 0.5 1 2.5\n"
                             "region s cylinder x 2.2 2.3 0.05 -9 1.2 side out\n"
                             "fix 3 mid wall/region s harmonic 2 1 1.5\n"
                             "region t block 2.4 2.42 2 2.02 2 2.02 side out\n"
                             "fix 4 mid wall/region t harmonic 3 1 1.3",
                             "f_2 f_2[1] f_2[2] f_2[3] f_3 f_3[1] f_3[2] f_3[3] f_4 f_4[1]"),
    "wall region plane": (MIDDLE + "region r plane 0 0 -0.9 0 0.2 1\nregion s plane 5.6 0 0 1 0 0 side out\n"
                          "fix 2 mid wall/region r lj93 1.2 1.1 2.5\nfix 3 all wall/region s harmonic 9 1 2",
                          "f_2 f_2[1] f_2[2] f_2[3] f_3 f_3[1]"),
    "mean": ("fix 2 heavy aveforce 0.5 NULL -0.3", "f_2[1] f_2[2] f_2[3]"),
    "means": ("fix 2 all gravity 0.3 vector 0 1 -1\nfix 3 heavy aveforce NULL 0 0\nfix 4 all addforce 0.1 0 0.1\n"
              "fix 5 light aveforce 0 0 0\nfix 6 heavy aveforce 0 NULL 0", "f_3[1] f_3[2] f_4[2] f_5[1] f_6[3]"),
    "variables": ("variable a equal 0.5*sin(20*time)\nvariable x equal 3.6+0.8*elapsed*dt\n"
                  "variable r equal ramp(1.8,2.8)\nfix 2 heavy addforce v_a 0 -0.3\n"
                  "fix 3 all indent 10 sphere v_x 0.3 v_x v_r\n"
                  "fix 4 light setforce NULL v_a NULL\nfix 5 light aveforce v_a NULL v_a\n"
                  "fix_modify 3 energy yes", "f_2[1] f_3 f_3[1] f_3[2] f_3[3] f_4[2] f_5[1] v_x"),
    "moving walls": ("variable x equal 5-0.3*time\nvariable e equal 1+step*0.02\n"
                     "fix 2 all wall/lj93 xhi v_x v_e 1 2 zlo -0.1 v_e v_e 2.5\n"
                     "variable z equal 7.5-time\nfix 3 all indent 10 plane z v_z hi\nfix_modify 2 energy yes",
                     "f_2 f_2[1] f_2[2] f_3"),
    "tether": ("fix 2 heavy spring tether 40 3 NULL 4 1.2\nfix_modify 2 energy yes", "f_2 f_2[1] f_2[2] f_2[3] f_2[4]"),
    "couple": ("fix 2 heavy spring couple light 60 0.5 0.2 0.1 0.4\nfix_modify 2 energy yes",
               "f_2 f_2[1] f_2[2] f_2[3] f_2[4]"),
    "tied": ("fix 2 heavy spring/self 7\nfix 3 light spring/self 3 xz\nfix_modify 2 energy yes", "f_2 f_3"),
    "order": ("fix 2 heavy setforce 0 NULL NULL\nfix 3 all gravity 0.3 vector 1 0 0\nfix 4 heavy lineforce 0 1 1\n"
              "fix 5 light addforce 0.1 0.2 0.3\nfix 6 light setforce NULL NULL 0", "f_2[1] f_5[2] f_6[3]"),
}

FLAT = ("dimension 2\n" + DECK.replace("boundary f p f", "boundary f f p")
        .replace("lattice fcc", "lattice sq").replace("x y z fx fy fz", "x y fx fy"))
MAKE_FLAT = ("dimension 2\n" + MAKE.replace("boundary f p f", "boundary f f p").replace("lattice fcc", "lattice sq")
             .replace("0 5 0 5 0 5", "0 9 0 9 -0.5 0.5").replace("0.5 4.4 0 4.9 0.5 4.4", "0.5 8.4 0.5 8.4 -1 1"))
LIKE_LAMMPS_2D = {
    "spherical 2D": ("fix 2 all gravity 0.7 spherical 40 130\nfix_modify 2 energy yes\nfix 3 all enforce2d", "f_2"),
    "chute 2D": ("fix 2 all gravity 0.7 chute 20\nfix 3 all enforce2d", "f_2"),
    "vector 2D": ("fix 2 all gravity 0.7 vector 1 -3 4\nfix 3 all enforce2d", "f_2"),
    "rod 2D": ("fix 2 all indent 10 cylinder z 4 4.3 2\nfix 3 all enforce2d", "f_2 f_2[1] f_2[2]"),
}


def lammps(deck, folder):
    (folder / "in.lmp").write_text(deck)
    done = subprocess.run([LMP, "-in", "in.lmp", "-log", "log.lammps", "-screen", "none"], cwd=folder,
                          env=harness.environment(), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return harness.read_tables((folder / "log.lammps").read_text())[0]


def assert_tables_agree(ours, theirs, frozen=False):
    """frozen: the values of fixes in the other table are those of the first row in all rows, as lmp prints them for
    wall/region."""
    assert ours.titles == theirs.titles and len(ours.rows) == len(theirs.rows) == 6
    for name in theirs.titles:
        a, b = ours.column(name), theirs.column(name)
        scale = max(1e-3, max(abs(x) for x in b))
        if frozen and name.startswith("f_"):
            assert len(set(b)) == 1 and max(abs(a[-1] - a[0]), abs(a[2] - a[0])) < 0.5
            a, b = a[:1], b[:1]
        assert list(a) == pytest.approx(list(b), abs=1e-8 * scale), name


def assert_dumps_agree(ours, theirs, names):
    for a, b in zip(ours, theirs):
        for name in names:
            difference = np.abs(a.columns[name] - b.columns[name])
            if name == "y":  # The nearest image: lmp leaves particles outside the box until lists are made.
                length = a.bounds[1, 1] - a.bounds[1, 0]
                difference = np.minimum(difference, np.abs(difference - length))
            assert difference.max() < 1e-7, (a.step, name)


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
@pytest.mark.parametrize("name", [*LIKE_LAMMPS, *LIKE_LAMMPS_2D])
def test_lmp_acts_on_forces_alike(name, tmp_path):
    flat = name in LIKE_LAMMPS_2D
    fixes, values = (LIKE_LAMMPS_2D if flat else LIKE_LAMMPS)[name]
    harness.run(MAKE_FLAT if flat else MAKE, tmp_path)
    deck = (FLAT if flat else DECK).format(fixes=fixes, values=values)
    theirs = lammps(deck, tmp_path)
    frames = harness.read_dump(tmp_path / "out.dump")
    got = harness.run(deck, tmp_path)
    assert_tables_agree(got.table, theirs, name.startswith("wall region"))
    assert_dumps_agree(harness.read_dump(tmp_path / "out.dump"), frames, ("x", "fx", "fy") if flat else
                       ("x", "y", "z", "fx", "fy", "fz"))


# Particles in a box with soft walls on all sides, and an indenter in the middle.
BOWL = """\
boundary f f f
region b block 0 9 0 9 0 9 units box
create_box 1 b
region c block 1 8 1 8 1 8 units box
lattice sc 0.5
create_atoms 1 region c
mass 1 1
velocity all create 1.0 4
pair_style lj/cut 1.5
pair_modify shift yes
pair_coeff 1 1 1 1
timestep {dt}
fix 1 all nve
fix walls all wall/lj93 xlo EDGE 1 1 2.5 xhi EDGE 1 1 2.5 ylo EDGE 1 1 2.5 yhi EDGE 1 1 2.5 zlo EDGE 1 1 2.5 &
    zhi EDGE 1 1 2.5
fix ball all indent 20 sphere 4.5 4.5 4.5 2 units box
fix down all gravity 0.2 vector 0 1 -1
{modify}
thermo 20
thermo_style custom step pe etotal epair f_walls f_ball f_down
thermo_modify format float %.17g norm no
"""
COUNTED = "fix_modify walls energy yes\nfix_modify ball energy yes\nfix_modify down energy yes\n"


def spread_of_energy(folder, dt, steps, engine, modify=COUNTED):
    deck = BOWL.format(dt=dt, modify=modify) + f"run {steps}\n"
    return np.ptp(harness.run(deck, folder, engine=engine).table.column("TotEng"))


def test_energy_with_that_of_fixes_is_conserved(fast_engine, tmp_path):
    """Its error falls with the square of the timestep; without the energy of the fixes there is no conservation."""
    coarse = spread_of_energy(tmp_path, 0.004, 500, fast_engine)
    fine = spread_of_energy(tmp_path, 0.001, 2000, fast_engine)
    assert coarse < 0.3 and fine < coarse / 5
    assert spread_of_energy(tmp_path, 0.001, 2000, fast_engine, "") > 100 * fine


def test_the_energy_of_fixes_is_added(engine, tmp_path):
    table = harness.run(BOWL.format(dt=0.002, modify=COUNTED) + "run 20\n", tmp_path, engine=engine).table
    for row in table.rows:
        of = dict(zip(table.titles, map(float, row)))
        assert min(map(abs, of.values())) > 0 or of["Step"] == 0
        assert of["PotEng"] == pytest.approx(of["E_pair"] + of["f_walls"] + of["f_ball"] + of["f_down"], rel=1e-13)


@pytest.mark.parametrize("mass2, last_fix", [(2.5, "setforce NULL 0.05 NULL"), (1e6, "setforce NULL 0.05 NULL"),
                                             (2.5, "aveforce NULL 0.1 NULL")])
def test_there_and_back(mass2, last_fix, engine, tmp_path):
    """All fixes at once, also with wide momenta: forces depend on positions alone."""
    text = harness.deck("in.forces").read_text() + "velocity all negate\nrun ${steps}\n"
    steps = 300 if engine == "naive" else 3000
    harness.run(text, tmp_path, engine=engine,
                variables={"steps": steps, "every": steps, "mass2": mass2, "g": 0.3 / mass2, "last": last_fix})
    first, turn, last = harness.read_dump(tmp_path / "check.dump")
    names = ("id", "x", "y", "z")
    assert np.abs(turn.vectors(*names) - first.vectors(*names)).max() > 0.1
    np.testing.assert_array_equal(last.vectors(*names), first.vectors(*names))
    np.testing.assert_array_equal(last.vectors("vx", "vy", "vz"), -first.vectors("vx", "vy", "vz"))


@pytest.mark.parametrize("deck", ["in.forces", "in.basin", "in.bowl", "in.heated"])
def test_a_resumed_run_has_the_same_bits(deck, tmp_path):
    text = harness.deck(deck).read_text().replace("run  ", "restart 20 r.*\nrun  ") + "write_data end.data\n"
    (tmp_path / "in.long").write_text(text)
    words = ("-in", "in.long", "-log", "none", "-var", "steps", "50", "-var", "every", "10")
    done = works(call(tmp_path, *words))
    if harness.hdf5_missing():
        pytest.skip("no restarts in this build")
    end = (tmp_path / "end.data").read_bytes()
    (tmp_path / "end.data").unlink()
    resumed = works(call(tmp_path, *words, "--resume")).out
    assert "Resumed at step 40" in resumed and (tmp_path / "end.data").read_bytes() == end
    rows = [line for line in done.out.splitlines() if line.split()[:1] == ["50"]]
    assert len(rows) == 1 and rows[0] in resumed.splitlines()


# Two free particles, of masses 1 and 3.
FREE = """\
boundary f f f
region b block 0 10 0 10 0 10 units box
create_box 2 b
create_atoms 1 single 2 5 8
create_atoms 2 single 7 5 {z}
mass 1 1
mass 2 3
timestep 0.01
fix 1 all nve
{fixes}
thermo_style custom step {values}
thermo_modify format float %.17g norm no
thermo 10
dump d all custom 100 out.dump id x y z vx vy vz fx fy fz
"""


def test_free_fall(engine, tmp_path):
    """Without a pair style: z = z0 - g t^2/2, and the energy is m g z."""
    deck = FREE.format(z=6, fixes="fix g all gravity 0.5 vector 0 0 -1", values="pe etotal f_g") + "run 100\n"
    got = harness.run(deck, tmp_path, engine=engine).table
    last = harness.read_dump(tmp_path / "out.dump")[-1]
    assert list(last.columns["z"]) == pytest.approx([8 - 0.25, 6 - 0.25], abs=1e-8)
    assert list(last.columns["vz"]) == pytest.approx([-0.5, -0.5], abs=1e-8)
    assert list(last.columns["fz"]) == pytest.approx([-0.5, -1.5], rel=1e-13)
    assert got.at(0)["f_g"] == pytest.approx(0.5 * 8 + 1.5 * 6, rel=1e-13)
    assert got.at(100)["f_g"] == pytest.approx(0.5 * 7.75 + 1.5 * 5.75, abs=1e-7) and got.at(100)["PotEng"] == 0


def test_forces_in_dumps_are_those_after_the_fixes(engine, tmp_path):
    fixes = "group two type 2\ngroup one type 1\nfix a all addforce 1 2 3\nfix s two setforce 0 NULL -7\n" \
        "fix z one freeze"
    deck = FREE.format(z=6, fixes=fixes, values="f_a[1] f_a[2] f_s[1] f_s[2] f_z[3]") + "run 0\n"
    got = harness.run(deck, tmp_path, engine=engine).table
    frame = harness.read_dump(tmp_path / "out.dump")[-1]
    assert frame.vectors("fx", "fy", "fz").tolist() == [[0, 0, 0], [0, 2, -7]]
    assert [float(x) for x in got.rows[0][1:]] == [0, 0, 1, 2, 3]


def test_particles_without_a_force_fly_straight(engine, tmp_path):
    """The last fix acts on what all others have left."""
    text = harness.deck("in.basin").read_text().replace(
        "neighbor   ", "group free id 1:150:5\nfix free free setforce 0 0 0\nneighbor   ")
    harness.run(text, tmp_path, engine=engine, variables={"steps": 100, "every": 100})
    first, last = harness.read_dump(tmp_path / "check.dump")
    free = first.columns["id"] % 5 == 1
    changed = np.abs(last.vectors("vx", "vy") - first.vectors("vx", "vy")).max(axis=1)
    assert free.sum() == 30 and changed[free].max() == 0.0 and changed[~free].min() > 0.0


def test_a_mean_force_moves_a_group_like_one_body(engine, tmp_path):
    """Equal velocities stay equal, and so do the distances between the particles of the group."""
    text = harness.deck("in.basin").read_text().replace("velocity ", "velocity all set 0.3 0.1 0\n#")
    text = text.replace("neighbor   ", "group stiff id 1:150:5\nfix mean stiff aveforce 0 0 0\nneighbor   ")
    harness.run(text, tmp_path, engine=engine, variables={"steps": 100, "every": 100})
    first, last = harness.read_dump(tmp_path / "check.dump")
    stiff = first.columns["id"] % 5 == 1
    v, moved = last.vectors("vx", "vy"), last.vectors("x", "y") - first.vectors("x", "y")
    assert stiff.sum() == 30 and np.ptp(v[stiff], axis=0).max() == 0.0 and np.ptp(v[~stiff], axis=0).min() > 0.1
    assert np.ptp(moved[stiff], axis=0).max() < 1e-12 and abs(v[stiff][0] - [0.3, 0.1]).min() > 1e-3


OUT_OF_RANGE = {
    "a wall": ("fix w all wall/lj93 zhi 5.5 1 1 2.5 units box", "wall/lj93"),
    "a strong wall": ("fix w two wall/lj126 zlo 5.99999 1 1 2.5 units box", "wall/lj126"),
    "the middle of an indenter": ("fix w all indent 1 sphere 7 5 6 1 units box", "indent"),
    "a great force": ("fix w two addforce 1e30 0 0", "addforce"),
}


@pytest.mark.parametrize("where", OUT_OF_RANGE)
def test_a_force_out_of_range_is_an_error(where, engine, tmp_path):
    fix, style = OUT_OF_RANGE[where]
    who = 1 if where == "a wall" else 2
    deck = FREE.format(z=6, fixes=f"group two type 2\n{fix}", values="pe") + "undump d\nrun 5\n"
    refused(run_deck(tmp_path, deck, *harness.engine_words(engine)), PHYSICS,
            f"step 0: particle {who}: the force of fix {style} leaves the exact range",
            "at a wall or an indenter this means that the particle is on the surface or behind it")


@pytest.mark.parametrize("dt, advice", [(1e-2, "use a timestep smaller than 0.01"), (1e-6, "use a weaker force")])
def test_a_shorter_timestep_is_advised_where_it_helps(dt, advice, tmp_path):
    """With wide momenta the range is a multiple of the forces between particles."""
    deck = BOX + f"timestep {dt}\nfix 2 all addforce 0 0 {{force}}\nrun 1\n"
    refused(run_deck(tmp_path, deck.format(force=1e8)), PHYSICS, "fix addforce leaves the exact range", advice)
    shorter = run_deck(tmp_path, deck.format(force=1e8).replace(f"timestep {dt}", "timestep 1e-8"))
    refused(shorter, PHYSICS, "use a weaker force")


@pytest.mark.parametrize("dt", [1e-3, 1e-4, 1e-5, 1e-6, 1e-7])
def test_a_force_far_stronger_than_those_of_pairs(dt, engine, tmp_path):
    """Two masses fall for a step; at 1e-5 and below momenta have two words."""
    deck = (BOX + f"mass 2 4\ntimestep {dt}\nfix 2 all addforce 0 0 {1e2 / dt if dt > 1e-5 else 1e7}\n"
            "variable a equal vz[1]\nvariable b equal vz[2]\nthermo_style custom step v_a v_b\n"
            "thermo_modify format float %.17g\nrun 1\n")
    done = harness.run(deck, tmp_path, engine=engine)
    fall = dt * (1e2 / dt if dt > 1e-5 else 1e7)
    assert list(map(float, done.table.rows[-1][1:])) == pytest.approx([fall, fall / 4], rel=1e-9, abs=0)


def test_a_particle_that_passes_a_wall_is_an_error(engine, tmp_path):
    """In the middle of a run, with the same words from every engine."""
    text = harness.deck("in.basin").read_text().replace("xlo EDGE 200 1 1 xhi v_xhi 200 1 1",
                                                           "xlo 1.5 2 1 0.3 xhi 18.5 2 1 0.3")
    (tmp_path / "in.weak").write_text(text)
    words = ("-in", "in.weak", "-log", "none", "-var", "steps", "400", "-var", "every", "400")
    known = refused(call(tmp_path, *words, "--engine", "naive"), PHYSICS, "the force of fix wall/harmonic leaves")
    assert "step 0:" not in known
    assert refused(call(tmp_path, *words, *harness.engine_words(engine)), PHYSICS) == known


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [2, 4])
def test_ranks_report_the_same_error(ranks, tmp_path):
    text = harness.deck("in.basin").read_text().replace("xlo EDGE 200 1 1 xhi v_xhi 200 1 1",
                                                           "xlo 1.5 2 1 0.3 xhi 18.5 2 1 0.3")
    knobs = {"steps": 400, "every": 400}
    one = harness.run(text, tmp_path / "one", variables=knobs, expect=PHYSICS)
    several = harness.run(text, tmp_path / "several", variables=knobs, expect=PHYSICS, ranks=ranks, threads=1)
    message = [line for line in one.err.splitlines() if "error: " in line][0].split("step ")[1]
    assert "the force of fix wall/harmonic" in message and message in several.err


REFUSED = {
    "temp": "'temp' is not known before the step is done", "xcm(all,x)": "'xcm' is not known before the step is done",
    "x[1]": "'x' is not known before the step is done", "random(0,1,7)": "v_a draws random numbers",
    "v_b": "fix addforce: ", "cpu": "'cpu' is not known", "c_thermo_temp": "'c_thermo_temp' is not known",
}


@pytest.mark.parametrize("formula", REFUSED)
def test_a_variable_of_a_force_reads_the_step_alone(formula, tmp_path):
    deck = FREE.format(z=6, fixes=f"variable a equal {formula}\nfix f all addforce v_a 0 0", values="pe") + "run 5\n"
    refused(run_deck(tmp_path, deck), USAGE, "fix addforce: ", REFUSED[formula])


# A force that reads the box, which changes in each step.
READS_THE_BOX = {
    "deform": "fix 1 all nve\nfix 2 all deform 1 x erate -0.4\n",
    "shear": "fix 1 all nve\nfix 2 all deform 1 xy erate 0.3 remap v\n",
    "npt": "fix 1 all npt temp 1 1 0.5 iso 1 1 1\n",
}


def reads_the_box(way: str, every: int) -> str:
    region = "prism 0 8 0 8 0 8 0.5 0 0" if way == "shear" else "block 0 8 0 8 0 8"
    return (f"region b {region}\ncreate_box 1 b\ncreate_atoms 1 random 60 4 NULL\nmass 1 1\n"
            f"pair_style soft 1\npair_coeff 1 1 20\nvelocity all create 1 5\n{READS_THE_BOX[way]}"
            "variable f equal (lx+xy-ly/2)/10\nfix 3 all addforce v_f 0 0\n"
            f"dump d all custom {every} out.dump id x vx fx\n"
            "thermo_style custom step pe lx xy v_f f_3[1]\nthermo_modify format float %.17g\nthermo 12\n")


@pytest.mark.parametrize("way", READS_THE_BOX)
def test_a_force_that_reads_a_box_that_changes(way, engine, tmp_path):
    """It takes the box of the positions, whatever is shown between; so each engine has the same bits."""
    expected = harness.run(reads_the_box(way, 12) + "run 24\n", tmp_path / "naive", engine="naive").table.rows
    for every in (24, 5, 1):
        got = harness.run(reads_the_box(way, every) + "run 24\n", tmp_path / str(every), engine=engine).table.rows
        assert got == expected, every


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
def test_lmp_reads_the_same_box(tmp_path):
    """The force at a step has the box before fix deform changes it."""
    deck = (reads_the_box("deform", 5).replace("random 60 4 NULL", "single 4.1 4 4 units box")
            .replace("velocity all create 1 5", "velocity all set 0.3 0 0") + "run 15\n")
    harness.run(deck, tmp_path / "ours")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "in.deck").write_text(deck)
    subprocess.run([LMP, "-in", "in.deck", "-log", "none"], cwd=tmp_path / "theirs", check=True,
                   stdout=subprocess.DEVNULL)
    ours, theirs = (harness.read_dump(tmp_path / name / "out.dump") for name in ("ours", "theirs"))
    for one, other in zip(ours, theirs):
        assert one.columns["fx"][0] == pytest.approx(other.columns["fx"][0], rel=1e-5), one.step
        assert one.columns["vx"][0] == pytest.approx(other.columns["vx"][0], rel=1e-5), one.step


def test_the_way_back_reads_the_box_that_sheared(engine, tmp_path):
    harness.run(reads_the_box("shear", 20) + "run 20\nrun -20\n", tmp_path, engine=engine)
    first, _, last = harness.read_dump(tmp_path / "out.dump")
    np.testing.assert_array_equal(last.vectors("id", "x", "vx"), first.vectors("id", "x", "vx"))


def test_a_radius_that_shrinks_to_nothing_is_an_error(tmp_path):
    deck = FREE.format(z=6, fixes="variable r equal 3-step\nfix f all indent 1 sphere 0 0 0 v_r", values="pe")
    refused(run_deck(tmp_path, deck + "run 5\n"), USAGE, "fix indent: v_r is 0, and must be positive")


def test_drag_pulls_with_one_size_from_afar(engine, tmp_path):
    """To the nearest image of the point, and not at all when it is near; NULL does not count."""
    deck = FREE.format(z=6, fixes="fix p all drag 4 1 NULL 0.7 4.5", values="f_p[1] f_p[2] f_p[3]")
    deck = deck.replace("boundary f f f", "boundary p p f") + "run 0\n"
    got = harness.run(deck, tmp_path, engine=engine).table.at(0)
    force = harness.read_dump(tmp_path / "out.dump")[-1].vectors("fx", "fy", "fz")
    assert force[0].tolist() == [0, 0, 0] and force[1] == pytest.approx([-0.7 * 0.6, -0.7 * 0.8, 0], rel=1e-13)
    assert [got[f"f_p[{k}]"] for k in (1, 2, 3)] == pytest.approx([-0.42, -0.56, 0], rel=1e-13)


def test_outside_of_a_region_there_is_no_wall(engine, tmp_path):
    fixes = "region r sphere 2 5 8 2 units box\nfix w all wall/region r harmonic 1 1 1"
    deck = FREE.format(z=6, fixes=fixes, values="pe") + "undump d\nrun 5\n"
    refused(run_deck(tmp_path, deck, *harness.engine_words(engine)), PHYSICS,
            "step 0: particle 2: the force of fix wall/region leaves the exact range")


@pytest.mark.parametrize("words, message", [
    ("wall/region none lj93 1 1 1", "region"), ("wall/region c lj93 1 1 1", "takes a block, a sphere"),
    ("wall/region b morse 1 1 1", "the potential 'morse' is not available"), ("wall/region b lj93 1 1 0", "the cutoff"),
    ("wall/region b lj93 1 1", "takes 5 arguments"), ("addforce 1 1 1 region c", "takes a block, a sphere"),
    ("setforce 1 1 1 every 2", "unexpected 'every'"), ("drag 1 2 3 4", "takes 5 arguments"),
    ("viscous -1", "gamma must be zero or positive"), ("viscous 1 scale 3 1", "there are 2 types"),
    ("viscous 1 scale 1", "takes a type and a factor"), ("viscous 1 size 1 1", "unknown keyword 'size'"),
    ("freeze 1", "unexpected '1'"),
    ("propel/self dipole 1", "the mode 'dipole' is not available"), ("propel/self velocity", "takes 2 arguments"),
])
def test_words_that_make_no_sense(words, message, tmp_path):
    deck = FREE.format(z=6, fixes=f"region c cone z 5 5 1 2 0 5 units box\nfix w all {words}", values="pe")
    refused(run_deck(tmp_path, deck), USAGE, message)
