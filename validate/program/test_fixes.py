"""Fixes that come and go between runs, and fixes that act on particles within and after steps: the same from every
engine and number of ranks, and after a resume."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from cli import BOX, PHYSICS, USAGE, call, refused, run_deck, works

# Sides that are no multiples of a grid: the box is rounded to the grid of the first run.
UNEVEN = """boundary f f f
region box block 0.1 10.1 0.3 10.3 -3.7 6.3 units box
create_box 1 box
create_atoms 1 random 20 5 NULL
mass 1 1
pair_style soft 2.5
pair_coeff 1 1 25
fix m all nve
"""
ALL_EDGES = "fix w all wall/reflect xlo EDGE xhi EDGE ylo EDGE yhi EDGE zlo EDGE zhi EDGE\n"


@pytest.mark.parametrize("place", ["EDGE", "10.3 units box"])
def test_a_wall_on_the_edge_stays_there_on_another_grid(place, tmp_path):
    deck = UNEVEN + "fix t all langevin 1 1 1 7\n" \
                    "fix w all wall/reflect xlo EDGE xhi EDGE ylo EDGE zlo EDGE zhi EDGE\n" \
        f"fix v all wall/reflect yhi {place}\nrun 1\nunfix t\npair_style soft 1\npair_coeff 1 1 25\nrun 1\n"
    works(run_deck(tmp_path, deck))


def test_a_run_goes_on_with_walls_set_after_an_earlier_run(tmp_path):
    deck = UNEVEN + "fix w0 all wall/reflect xlo EDGE xhi EDGE\nrestart 50 r1.*\nrun 20\n" \
        "fix w all wall/reflect ylo EDGE yhi EDGE zlo EDGE zhi EDGE\nrun 200\n"
    done = works(run_deck(tmp_path, deck))
    if harness.hdf5_missing():
        pytest.skip("no restarts in this build")
    assert "Resumed at step" in works(run_deck(tmp_path, deck, "--resume")).out


def test_a_thermostat_rounds_fast_particles_too(tmp_path):
    """A coarse timestep and weak forces: velocities are beyond 2^51 of their quanta."""
    (tmp_path / "in.fast").write_text("""dimension 2
region box block 0 8 0 8 -0.5 0.5 units box
create_box 1 box
create_atoms 1 random 40 5 NULL
mass 1 1
velocity all create 1 4
pair_style soft 1
pair_coeff 1 1 0.3
timestep 0.5
fix m all nve
fix t all langevin 1 1 1 5
thermo 20
thermo_style custom step temp ke etotal momx momy
thermo_modify format float %.17g
run 200
""")
    tables = [harness.run(tmp_path / "in.fast", tmp_path, engine=engine).table.rows for engine in ("naive", "openmp")]
    assert len(tables[0]) == 11 and tables[0] == tables[1]


# Particles that meet no others: only a fix changes their temperature.
FREE = """region box block 0 10 0 10 0 10 units box
create_box 2 box
create_atoms 1 random 40 5 NULL
set type 1 type/fraction 2 0.4 8
mass 1 1
mass 2 3
velocity all create 2.0 4
timestep 0.01
group heavy type 2
group light type 1
fix m all nve
compute h heavy temp
compute l light temp
thermo 1
thermo_style custom step temp c_h c_l
thermo_modify format float %.17g
"""


def temperatures(tmp_path, deck, engine="openmp", name="Temp"):
    """Of every step of the last run."""
    return harness.run(FREE + deck, tmp_path, engine=engine).tables[-1].column(name)


@pytest.mark.parametrize("first", [10, 12])
def test_rescale_acts_after_multiples_of_its_steps(first, engine, tmp_path):
    """Of the absolute numbers of steps, and not for the state with which a run begins."""
    t = temperatures(tmp_path, f"reset_timestep {first}\nfix r all temp/rescale 4 1.0 1.0 0 0.5\nrun 8\n", engine)
    at = 12 - first or 4
    assert len(t) == 9 and t[:at] == pytest.approx([2.0] * at, rel=1e-13)
    assert t[at:at + 4] == pytest.approx([1.5] * 4, rel=1e-12)
    assert t[at + 4:] == pytest.approx([1.25] * (5 - at), rel=1e-12)


def test_rescale_leaves_what_is_inside_the_window(tmp_path):
    t = temperatures(tmp_path, "fix r all temp/rescale 2 1.0 1.0 0.6 0.5\nrun 6\n")
    assert t[-1] == t[4] and t[4:] == pytest.approx([1.5] * 3, rel=1e-12)


@pytest.mark.parametrize("between", ["", "run 0\n", "fix x all temp/rescale 1 9 9 0 1\nunfix x\n"])
def test_a_ramp_is_that_of_the_run(between, tmp_path):
    """From 2 down to 1 in each run of ten steps, whatever comes between them; `run 0` does nothing."""
    t = temperatures(tmp_path, f"fix r all temp/rescale 5 2.0 1.0 0 1\nrun 10\n{between}run 10\n")
    assert t[:5] == pytest.approx([1.0] * 5, rel=1e-12)
    assert t[5:10] == pytest.approx([1.5] * 5, rel=1e-12) and t[10] == pytest.approx(1.0, rel=1e-12)


def test_berendsen_goes_to_its_target(engine, tmp_path):
    t = temperatures(tmp_path, "fix b all temp/berendsen 1.0 3.0 0.05\nrun 20\n", engine)
    expected = [2.0]
    for step in range(1, 21):
        expected.append(expected[-1] + 0.01 / 0.05 * (1.0 + 2.0 * step / 20 - expected[-1]))
    assert t == pytest.approx(expected, rel=1e-12)


def test_viscous_friction_slows_each_mass(engine, tmp_path):
    """By (1 - a)/(1 + a), a = gamma dt/(2 m), a step; `scale` is a factor of gamma."""
    deck = "fix v all viscous 2.0 scale 2 1.5\nrun 5\n"
    table = harness.run(FREE + deck, tmp_path, engine=engine).table
    heavy, light = (0.5 * 2.0 * scale * 0.01 / mass for scale, mass in ((1.5, 3), (1, 1)))
    for name, a in (("c_h", heavy), ("c_l", light)):
        t = table.column(name)
        assert t[5] == pytest.approx(t[0] * ((1 - a) / (1 + a)) ** 10, rel=1e-10)


def test_self_propulsion_adds_to_the_speed(engine, tmp_path):
    """F/m t along the velocity. With friction the speed becomes F/gamma (1 + b^2), b = gamma dt/(4 m)."""
    deck = "velocity all set 0.6 0 -0.8\nfix p light propel/self velocity 3.0\nrun 10\n"
    t = harness.run(FREE + deck, tmp_path, engine=engine).table.column("c_l")
    assert t[10] / t[0] == pytest.approx((1 + 3.0 * 0.1) ** 2, rel=1e-10)
    deck = deck.replace("run 10", "fix v light viscous 2.0\nrun 2000")
    ends = harness.run(FREE + deck, tmp_path, engine=engine).table.column("c_l")
    assert ends[-1] / t[0] == pytest.approx((1.5 * (1 + 0.005**2)) ** 2, rel=1e-9)


@pytest.mark.parametrize("order", ["nv", "vn", "no", "on"])
def test_one_fix_between_the_halves_of_another(order, engine, tmp_path):
    """Of free particles, whose velocities lose the factor k in half of a step and get noise of the temperature T1,
    twice, and between that lose the factor c and get noise of T2: their variance is V = k^2 (c^2 W + T2 (1 - c^2))
    + T1 (1 - k^2) with W = k^2 V + T1 (1 - k^2)."""
    fix = {"n": "fix n all langevin 2 2 0.1 9\n", "v": "fix v all viscous 10\n",
           "o": "fix o all langevin 5 5 0.1 8\n"}
    t1, t2 = {"nv": (0, 2), "vn": (0, 2), "no": (2, 5), "on": (5, 2)}[order]
    deck = ("region b block 0 50 0 50 0 50 units box\ncreate_box 1 b\ncreate_atoms 1 random 4000 5 NULL\nmass 1 1\n"
            "velocity all create 1 4\nfix m all nve\ntimestep 0.02\nthermo 5\n" +
            fix[order[0]] + fix[order[1]] + "run 400\n")
    t = harness.run(deck, tmp_path, engine=engine).table.column("Temp")[10:]
    c, k = ((1 - a) / (1 + a) for a in (0.1, 0.05))
    noise = k**2 * (c**2 * t1 * (1 - k**2) + t2 * (1 - c**2)) + t1 * (1 - k**2)
    assert np.mean(t) == pytest.approx(noise / (1 - c**2 * k**4), rel=0.006)


NOISES = {
    "langevin": "fix m all nve\nfix t all langevin 2 2 0.1 9\n",
    "langevin of one mass": "mass 2 1\nfix m all nve\nfix t all langevin 2 2 0.1 9\n",
    "brownian": "fix t all brownian 1 9 gamma_t 50\n",
    "csvr": "fix m all nve\nfix t all temp/csvr 2 2 0.1 9\n",
    "dpd": "fix m all nve\npair_style dpd 2 2 9\npair_coeff * * 25 4.5\n",
    "evaporate": "fix m all nve\nfix e all evaporate 5 2 b 9\n",
}


@pytest.mark.parametrize("noise", NOISES)
def test_noise_goes_on_after_reset_timestep(noise, engine, tmp_path):
    """The same state as without it, and not the noise of the first steps again; also from a restart."""
    if (engine, noise) == ("gpu-symmetric", "dpd"):
        pytest.skip("friction has full lists on a GPU")
    deck = ("region b block 0 6 0 6 0 6\ncreate_box 2 b\n"
            "create_atoms 1 random 150 5 NULL\ncreate_atoms 2 random 100 6 NULL\nmass 1 1\nmass 2 3\n"
            "velocity all create 1 4\npair_style soft 1\npair_coeff * * 5\ntimestep 0.01\n" +
            NOISES[noise] + "{}write_dump all custom d id x y z vx vy vz modify sort id format float %.17g\n")
    steps = {"once": "run 60\n", "cut": "run 20\nreset_timestep 500\nrun 20\nreset_timestep 0\nrun 20\n"}
    if not harness.hdf5_missing():
        again = NOISES[noise].replace("mass 2 1\n", "").replace("pair_style dpd 2 2 9\npair_coeff * * 25 4.5\n", "")
        steps["restart"] = ("run 20\nreset_timestep 10\nrun 20\nwrite_restart r\nclear\nread_restart r\n"
                            "reset_timestep 0\nregion b block 0 6 0 6 0 6\n" + again + "run 20\n")
    ends = {}
    for name, how in steps.items():
        harness.run(deck.format(how), tmp_path / name, engine=engine)
        ends[name] = (tmp_path / name / "d").read_text().split("ITEM: NUMBER")[1]
    assert set(ends.values()) == {ends["once"]}, noise


@pytest.mark.parametrize("back", ["read_dump s 10 x y z vx vy vz", "rerun s dump x y z vx vy vz"])
def test_noise_does_not_begin_again_after_a_snapshot(back, tmp_path):
    """Two runs from one state are two samples. A snapshot that is the first state has the noise of its step."""
    deck = ("region b block 0 6 0 6 0 6\ncreate_box 1 b\ncreate_atoms 1 random 50 5 NULL\nmass 1 1\n"
            "velocity all create 1 4\npair_style soft 1\npair_coeff * * 5\ntimestep 0.01\nfix 1 all nve\n"
            f"fix 2 all langevin 1 1 0.5 12\n")
    look = "write_dump all custom {} id x y z vx vy vz modify sort id format float %.17g\n"
    one, two = tmp_path / "one", tmp_path / "two"
    harness.run(f"{deck}run 10\n{look.format('s')}run 20\n{look.format('a')}{back}\nrun 20\n{look.format('b')}", one)
    two.mkdir()
    (two / "s").write_text((one / "s").read_text())
    harness.run(f"{deck}{back}\nrun 20\n{look.format('c')}", two)
    a, b, c = ((folder / name).read_text() for folder, name in ((one, "a"), (one, "b"), (two, "c")))
    assert a == c and a.splitlines()[:4] == b.splitlines()[:4] and a != b


@pytest.mark.parametrize("motion", ["linear 1 0.5 0", "wiggle 0.3 0 0.1 0.2", "rotate 3 3 3 0 0 1 1"])
def test_fix_move_goes_on_after_reset_timestep(motion, tmp_path):
    deck = ("region b block 0 6 0 6 0 6\ncreate_box 1 b\ncreate_atoms 1 random 50 5 NULL\nmass 1 1\n"
            f"timestep 0.01\nrun 3\nfix m all move {motion} units box\n{{}}"
            "write_dump all custom d id x y z vx vy vz modify sort id format float %.17g\n")
    again = f"fix m all move {motion} units box\n"
    ways = ["run 35\n", "run 13\nreset_timestep 0\nrun 22\n", "run 13\nreset_timestep 1000000\nrun 22\n"]
    if not harness.hdf5_missing():
        ways.append(f"run 13\nwrite_restart r\nclear\nread_restart r\nreset_timestep 5\ntimestep 0.01\n{again}run 22\n")
    ends = []
    for k, way in enumerate(ways):
        harness.run(deck.format(way), tmp_path / str(k))
        ends.append((tmp_path / str(k) / "d").read_text().split("ITEM: NUMBER")[1])
    assert len(set(ends)) == 1


@pytest.mark.parametrize("motion", ["linear 1 0.5 0", "wiggle 0.3 0 0.1 0.2"])
def test_fix_move_goes_on_after_timestep(motion, tmp_path):
    """The place is that of the time that has passed, in steps of any length."""
    deck = ("region b block 0 6 0 6 0 6\ncreate_box 1 b\ncreate_atoms 1 random 50 5 NULL\nmass 1 1\n"
            f"timestep 0.01\nrun 3\nfix m all move {motion} units box\n{{}}"
            "write_dump all custom d id x y z vx vy vz modify sort id format float %.17g\n")
    frames = []
    for k, way in enumerate(("run 35\n", "run 13\ntimestep 0.005\nrun 20\ntimestep 0.02\nrun 6\n")):
        harness.run(deck.format(way), tmp_path / str(k))
        frames.append(harness.read_dump(tmp_path / str(k) / "d")[0].vectors("x", "y", "z"))
    assert np.abs((frames[0] - frames[1] + 3) % 6 - 3).max() < 1e-9


def test_a_print_after_reset_timestep(tmp_path):
    """A step that has the number of an earlier one is another step."""
    harness.run(FREE + "fix p all print 50 \"$(step)\" file p\nrun 50\nreset_timestep 25\nrun 25\n", tmp_path)
    assert (tmp_path / "p").read_text().split()[-3:] == ["0", "50", "50"]


@pytest.mark.parametrize("more", ["", "fix_modify t temp h\n"])
def test_the_bath_tallies_what_it_takes(more, engine, tmp_path):
    """Energy of free particles and that of the bath add up to a constant; a hot bath gives energy."""
    deck = f"fix t all langevin 6 6 0.5 7 scale 2 0.7 tally yes\n{more}" \
        "thermo_style custom step ke f_t ecouple econserve\nthermo_modify norm no format float %.17g\nrun 200\n"
    table = harness.run(FREE + deck, tmp_path, engine=engine).table
    energy, given = table.column("KinEng"), table.column("f_t")
    assert given[0] == 0 and given[-1] < -20 and list(table.column("Ecouple")) == list(given)
    assert [e + g for e, g in zip(energy, given)] == pytest.approx([energy[0]] * 201, rel=1e-9)


def test_without_tally_there_is_no_energy_of_the_bath(tmp_path):
    deck = FREE + "fix t all langevin 6 6 0.5 7 {}\nthermo_style custom step f_t\nrun 1\n"
    refused(run_deck(tmp_path, deck.format("")), USAGE, "fix langevin has no energy")
    refused(run_deck(tmp_path, deck.format("zero yes")), USAGE, "fix langevin zero yes is not available")
    refused(run_deck(tmp_path, deck.format("scale 2 0.001 tally yes")), USAGE, "damp times the factor of type 2")


def test_groups_keep_temperatures_of_their_own(engine, tmp_path):
    deck = "fix r heavy temp/rescale 3 1.0 1.0 0 1\nfix b light temp/berendsen 5.0 5.0 0.01\nrun 3\n"
    assert temperatures(tmp_path, deck, engine, "c_h")[-1] == pytest.approx(1.0, rel=1e-12)
    assert temperatures(tmp_path, deck, engine, "c_l")[1:] == pytest.approx([5.0] * 3, rel=1e-12)


@pytest.mark.parametrize("first, last", [(1.0, 4.0), (4.0, 1.0)])
def test_fixes_of_a_step_act_in_the_order_of_the_deck(first, last, engine, tmp_path):
    """The second finds what the first has left: half way from there to its own target."""
    deck = f"fix a all temp/rescale 2 {first} {first} 0 1\nfix b all temp/rescale 2 {last} {last} 0 0.5\nrun 2\n"
    assert temperatures(tmp_path, deck, engine)[-1] == pytest.approx(0.5 * (first + last), rel=1e-12)


def test_a_single_particle_has_no_temperature_to_scale(tmp_path):
    deck = FREE + "group one id 7\nfix r one temp/rescale 1 9 9 0 1\nfix b one temp/berendsen 9 9 1\nrun 3\n"
    table = harness.run(deck, tmp_path).table
    assert len({row[1] for row in table.rows}) == 1


@pytest.mark.parametrize("style", ["temp/rescale 2 1 1 0 1", "temp/berendsen 1 1 1"])
def test_velocities_of_zero_cannot_be_scaled(style, engine, tmp_path):
    step = 2 if "rescale" in style else 1
    refused(run_deck(tmp_path, BOX + f"fix t all {style}\nrun 9\n", *harness.engine_words(engine)), PHYSICS,
            f"step {step}: the temperature of fix {style.split()[0]} is 0", line=11)


@pytest.mark.parametrize("style", ["temp/rescale 1 1 1 0 1", "temp/berendsen 1 1 1"])
def test_models_that_cannot_be_scaled(style, tmp_path):
    name = style.split()[0]
    for lines, message in (("timestep 0\n", "needs a timestep above 0"), ("unfix 1\n", "needs a fix of velocity"),
                           ("unfix 1\nfix 1 all nve/leapfrog\n", "needs a fix of velocity")):
        refused(run_deck(tmp_path, f"{BOX}{lines}fix t all {style}\nrun 1\n"), USAGE, f"fix {name} {message}")
    refused(run_deck(tmp_path, f"{BOX}group none id 99\nfix t none {style}\nrun 1\n"), USAGE,
            f"fix {name}: the group none has no particles")
    assert call(tmp_path, "check", "-in", "in.deck").status == 0
    refused(run_deck(tmp_path, BOX + "fix t all temp/berendsen 1 1 0.001\nrun 1\n"), USAGE, "Tdamp, 0.001, must be")


def test_velocities_beyond_all_range(tmp_path):
    """The sums after the step stay finite, and the next step names a particle."""
    deck = FREE + "fix r all temp/rescale 1 {0} {0} 0 1\nrun 5\n"
    ends = set()
    for engine in ("naive", "openmp"):
        done = run_deck(tmp_path, deck.format(1e308), "--engine", engine)
        last = [line for line in done.out.splitlines() if line.split()[:1] == ["1"]][-1]
        assert all(1e3 < float(t) < 1e9 for t in last.split()[1:]), last
        ends.add((last, refused(done, PHYSICS, "step 1: particle 1 ")))
    assert len(ends) == 1


def test_scaling_to_zero_leaves_no_second_word(engine, tmp_path):
    """Momenta of two words: neither is left, so that the momentum of a group is 0 to the last bit."""
    text = harness.deck("in.scaled").read_text().replace("run  ", "fix z all temp/rescale 5 0 0 0 1\nrun  ")
    got = harness.run(text, tmp_path, engine=engine, variables={"mass2": 1e6, "steps": 5, "every": 5})
    assert "momenta of two words" in got.log
    before, after = got.table.at(0), got.table.at(5)
    for axis in range(1, 4):
        assert before[f"c_p[{axis}]"] != 0.0 and after[f"c_p[{axis}]"] == 0.0


@pytest.mark.parametrize("every", [7, 10])
def test_a_resumed_run_scales_as_before(every, tmp_path):
    """From step 20: between two rescalings, and at one, which is not done again."""
    deck = FREE + f"fix r all temp/rescale {every} 2.0 1.0 0 0.5\nfix b heavy temp/berendsen 1 3 0.2\n" \
        "restart 20 r.*\nrun 35\nwrite_data end.data\n"
    done = works(run_deck(tmp_path, deck))
    if harness.hdf5_missing():
        pytest.skip("no restarts in this build")
    end = (tmp_path / "end.data").read_bytes()
    (tmp_path / "end.data").unlink()
    assert "Resumed at step 20" in works(run_deck(tmp_path, deck, "--resume")).out
    assert (tmp_path / "end.data").read_bytes() == end


# Bodies that all feel one another, which have engines of their own.
SCALED_BODIES = "group odd id 1:1000:2\nfix r odd temp/rescale 3 2 1 0 0.5\nfix b all temp/berendsen 1 2 1e-5\nrun  "


@pytest.mark.parametrize("engine", ["openmp", pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("more", [{}, {"dim": 2, "z": "p", "mass2": 1e-6}, {"eps": 0, "mass2": 10}])
def test_engines_of_all_pairs_scale_alike(more, engine, tmp_path):
    text = harness.deck("in.gravity").read_text().replace("run  ", SCALED_BODIES)
    knobs = {"steps": 20, "every": 5, "dt": 1e-6, **more}
    naive, got = (harness.run(text, tmp_path / name, engine=name, variables=knobs) for name in ("naive", engine))
    assert naive.table.rows == got.table.rows and len(got.table.rows) == 5
    a, b = ((tmp_path / name / "check.dump").read_text() for name in ("naive", engine))
    assert a == b


@pytest.mark.mpi
def test_bodies_of_ranks_scale_alike(tmp_path):
    text = harness.deck("in.gravity").read_text().replace("run  ", SCALED_BODIES)
    knobs = {"steps": 20, "every": 5, "dt": 1e-6}
    one = harness.run(text, tmp_path / "one", variables=knobs)
    several = harness.run(text, tmp_path / "several", ranks=3, threads=1, variables=knobs)
    assert one.table.rows == several.table.rows
    a, b = ((tmp_path / name / "check.dump").read_text() for name in ("one", "several"))
    assert a == b


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_ranks_scale_velocities_alike(ranks, tmp_path):
    knobs = {"n": 1500, "steps": 60, "every": 20, "apart": 4}
    text = harness.deck("in.cooled").read_text().replace("run  ", "fix b all temp/berendsen 2 1 0.5\nrun  ")
    one = harness.run(text, tmp_path / "one", variables=knobs)
    several = harness.run(text, tmp_path / "several", ranks=ranks, threads=1, variables=knobs)
    assert one.table.rows == several.table.rows and len(one.table.rows) == 4
    a, b = ((tmp_path / name / "check.dump").read_text() for name in ("one", "several"))
    assert a == b


# Reservoirs whose shifts, and groups whose motion, are the state of a fix.
RESUMED = """region hot block INF INF INF INF 0 3 units box
region edge block 8 10 INF INF INF INF units box
group edge region edge
group rest subtract all edge
pair_style soft 1
pair_coeff * * 30
unfix m
fix m rest nve
{variables}fix e edge move {way}
fix h rest ehex 4 3.0 region hot
fix c rest recenter INIT 5.2 NULL units box shift all
restart 20 r.*
run 35
write_data end.data
"""


VARIABLES = "variable d equal 0.3*sin(3*step*dt)\nvariable v equal 0.1*step*dt\n"


@pytest.mark.parametrize("way", ["wiggle 0.4 0 0 1.7 units box", "variable v_d NULL NULL NULL v_v v_v"])
def test_a_resumed_run_shifts_and_moves_as_before(way, tmp_path):
    """Step 20 has a shift that the next step makes; the motion began at step 3, or has a displacement of the step."""
    deck = FREE + "run 3\n" + RESUMED.format(way=way, variables=VARIABLES)
    done = works(run_deck(tmp_path, deck))
    if harness.hdf5_missing():
        pytest.skip("no restarts in this build")
    end = (tmp_path / "end.data").read_bytes()
    (tmp_path / "end.data").unlink()
    again = "read_restart r.20\nmass * 1\nmass 2 3\ntimestep 0.01\nregion hot block INF INF INF INF 0 3 units box\n" \
        f"pair_style soft 1\npair_coeff * * 30\nfix m rest nve\n{VARIABLES}fix e edge move {way}\n" \
        "fix h rest ehex 4 3.0 region hot\nfix c rest recenter INIT 5.2 NULL units box shift all\n" \
        "run 18\nwrite_data end.data\n"
    assert "fix move goes on with its state" in works(run_deck(tmp_path, again)).out
    assert (tmp_path / "end.data").read_bytes() == end
    (tmp_path / "end.data").unlink()
    assert "Resumed at step 20" in works(run_deck(tmp_path, deck, "--resume")).out
    assert (tmp_path / "end.data").read_bytes() == end


# Two particles that attract each other, and one in the noise alone.
PAIRED = """region box block 0 10 0 10 0 10 units box
create_box 1 box
create_atoms 1 single 4 5 5 units box
create_atoms 1 single 5.5 5 5 units box
mass 1 3
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
timestep 0.001
"""


def test_particles_without_inertia_follow_the_force(engine, tmp_path):
    """The velocity is F/gamma, whatever the mass, and the distance the sum of the steps by it."""
    got = harness.run(PAIRED + """fix m all brownian 2.0 9 gamma_t 4.0 rng none
variable gap equal x[2]-x[1]
variable speed equal vx[1]
thermo 1
thermo_style custom step v_gap v_speed
thermo_modify format float %.17g
run 20
""", tmp_path, engine=engine).table
    gap, speed = got.column("v_gap"), got.column("v_speed")
    r = 1.5
    for step in range(1, 21):
        velocity = (24.0 / r ** 7 - 48.0 / r ** 13) / 4.0
        r -= 2.0 * 0.001 * velocity
        assert speed[step] == pytest.approx(velocity, rel=1e-9) and gap[step] == pytest.approx(r, rel=1e-10)


@pytest.mark.parametrize("rng, fourth", [("uniform", 1.8), ("gaussian", 3.0)])
def test_noise_without_inertia_diffuses(rng, fourth, engine, tmp_path):
    """The displacements of a step have the variance 2 T dt/gamma and the fourth moment of their distribution."""
    harness.run(f"""region box block 0 10 0 10 0 10 units box
create_box 1 box
create_atoms 1 random 3000 5 NULL
mass 1 0.5
timestep 0.002
fix m all brownian 1.7 88 gamma_t 3.0 rng {rng}
dump d all custom 1 moved.* vx vy vz
dump_modify d format float %.17g
run 1
""", tmp_path, engine=engine)
    moved = np.loadtxt(tmp_path / "moved.1", skiprows=9) / np.sqrt(2.0 * 1.7 / (3.0 * 0.002))
    assert abs(moved.mean()) < 0.05 and moved.var() == pytest.approx(1.0, rel=0.06)
    assert (moved ** 4).mean() == pytest.approx(fourth, rel=0.15)


RECENTER_MISTAKES = {
    "group g id 1\nfix 2 all recenter 1 2 3 shift g": "only all is accepted, not 'g'",
    "unfix 1\nfix 1 all nve/leapfrog\nfix 2 all recenter 1 2 3\nrun 0": "needs a fix of velocity Verlet",
    "fix 3 all deform 1 x erate 0.1\nfix 2 all recenter 1 2 3\nrun 0": "a fix that changes the box",
    "fix 2 all recenter 1 2 3\nrun 2\nrun -2": "nothing keeps by how much",
}


@pytest.mark.parametrize("lines", RECENTER_MISTAKES)
def test_mistakes_of_recenter(lines, tmp_path):
    refused(run_deck(tmp_path, BOX + lines + "\n"), USAGE, RECENTER_MISTAKES[lines])


def test_ehex_does_not_shift_what_fix_move_moves(fast_engine, tmp_path):
    """All engines agree, and the moved particles are where the fix puts them."""
    deck = ("lattice fcc 0.8442\nregion b block 0 4 0 4 0 4\ncreate_box 1 b\ncreate_atoms 1 box\nmass 1 1\n"
            "velocity all create 1.0 5\npair_style lj/cut 2.5\npair_coeff 1 1 1 1\nregion r block 0 1 INF INF INF INF\n"
            "group moved region r\ngroup rest subtract all moved\nfix 1 rest nve\n"
            "fix 2 moved move linear 0.1 0 0 units box\nfix 3 all ehex 2 500.0\ntimestep 0.005\n"
            "dump 1 all custom 6 d id x y z\ndump_modify 1 first yes\ndump 2 moved custom 6 m id x y z\n"
            "dump_modify 2 first yes\nrun 6\n")
    for engine in ("naive", fast_engine):
        harness.run(deck, tmp_path / engine, engine=engine)
    assert (tmp_path / "naive" / "d").read_bytes() == (tmp_path / fast_engine / "d").read_bytes()
    first, last = harness.read_dump(tmp_path / "naive" / "m")
    assert len(first.columns["x"]) == 96
    assert last.columns["x"] - first.columns["x"] == pytest.approx(0.003, abs=1e-12)
    assert list(last.columns["y"]) == list(first.columns["y"])
