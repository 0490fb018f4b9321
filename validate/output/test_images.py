"""Image flags, and the places that they unwrap: the values of lmp, the same bytes on every engine and number of ranks,
and what becomes of them when particles come and go, when a run goes back, and in restarts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Dict, List

import numpy as np
import pytest

import harness
from cli import BOX, PHYSICS, USAGE, call, refused, run_deck, works
from test_averages import MELT, needs_lmp, run_lmp

pytestmark = pytest.mark.smoke

COLUMNS = "id x y z xu yu zu xsu ysu zsu ix iy iz"

# The melt moves as a whole: within the run each particle goes through two faces along x and one along y.
MOVES = f"""\
velocity all set 28 -14 0 sum yes units box
dump 1 all custom 30 a.dump {COLUMNS}
dump_modify 1 sort id format float %.12g
compute u odd property/atom xu iy
compute s odd reduce sum c_u[*]
thermo 60
thermo_style custom step temp c_s[1] c_s[2]
run 120
write_dump all custom b.dump {COLUMNS} modify sort id format float %.12g
run 30
undump 1
dump 2 odd custom 10 c.dump {COLUMNS}
dump_modify 2 sort id format float %.12g
run 30
"""
FILES = ("a.dump", "b.dump", "c.dump")


def read(folder: Path) -> Dict[str, str]:
    return {name: (folder / name).read_text() for name in FILES}


def assert_unwrapped(path: Path) -> List[harness.Frame]:
    """Unwrapped places are the places and whole sides, and move on from frame to frame without jumps."""
    frames = harness.read_dump(path)
    for frame in frames:
        x, xu, flag = (frame.vectors(*names.split()) for names in ("x y z", "xu yu zu", "ix iy iz"))
        side = frame.bounds[:, 1] - frame.bounds[:, 0]
        assert np.allclose(xu, x + flag * side, atol=1e-9)
        assert np.allclose(frame.vectors("xsu", "ysu", "zsu"), (xu - frame.bounds[:, 0]) / side, atol=1e-9)
    return frames


@needs_lmp
def test_values_of_lammps(tmp_path):
    theirs = run_lmp(MELT + MOVES, tmp_path / "theirs")
    ours = harness.run(MELT + MOVES, tmp_path / "ours")
    for name in FILES:
        our_frames = assert_unwrapped(tmp_path / "ours" / name)
        their_frames = harness.read_dump(tmp_path / "theirs" / name)
        assert [frame.step for frame in our_frames] == [frame.step for frame in their_frames]
        for our, their in zip(our_frames, their_frames):
            # lmp moves a particle into the box when it makes a list, and not at once: x and ix may be those of before
            for names in ("xu", "yu", "zu", "xsu", "ysu", "zsu"):
                assert our.columns[names] == pytest.approx(their.columns[names], rel=1e-8, abs=1e-7), (name, names)
    assert harness.read_dump(tmp_path / "ours" / "a.dump")[-1].columns["ix"].min() >= 1
    for our, their in zip(ours.tables, theirs):
        assert [float(row[2]) for row in our.rows] == pytest.approx([float(row[2]) for row in their.rows], rel=1e-8)


@pytest.mark.parametrize("engine", ["openmp", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_same_files_on_every_engine(engine, tmp_path):
    harness.run(MELT + MOVES, tmp_path / "naive", engine="naive")
    harness.run(MELT + MOVES, tmp_path / engine, engine=engine, threads=3)
    assert read(tmp_path / "naive") == read(tmp_path / engine)


@pytest.mark.mpi
def test_same_files_on_ranks(tmp_path):
    harness.run(MELT + MOVES, tmp_path / "one")
    harness.run(MELT + MOVES, tmp_path / "four", ranks=4)
    assert read(tmp_path / "one") == read(tmp_path / "four")


FREE = """\
units lj
region b block 0 6 0 6 0 6
create_box 1 b
mass 1 1
create_atoms 1 single 1 5 3
pair_style none
fix 1 all nve
timestep 0.01
velocity all set 3 -2 0 units box
"""


def last(path: Path, *names: str) -> List[float]:
    return harness.read_dump(path)[-1].vectors(*names).ravel().tolist()


def test_a_free_particle_and_the_way_back(tmp_path):
    """After 400 steps it has gone 12 and -8, through the faces of a box of 6."""
    harness.run(FREE + "dump 1 all custom 400 d id xu yu zu ix iy iz\nrun 400\nrun -400\n", tmp_path)
    there, back = [frame.vectors("xu", "yu", "zu", "ix", "iy", "iz").ravel()
                   for frame in harness.read_dump(tmp_path / "d")[1:]]
    assert there == pytest.approx([13, -3, 3, 2, -1, 0], rel=1e-12)
    assert back == pytest.approx([1, 5, 3, 0, 0, 0], abs=0, rel=1e-15)


def test_flags_begin_when_they_are_asked_for_and_go_on_after_that(tmp_path):
    deck = FREE + "run 200\ndump 1 all custom 200 d id xu yu\nrun 200\nundump 1\nrun 200\n"
    write = "write_dump all custom {} id xu yu\n"
    harness.run(deck + write.format("e") + "clear\n" + FREE + write.format("f"), tmp_path)
    assert last(tmp_path / "d", "xu", "yu") == pytest.approx([7, -3])  # from 1 and 1, where 7 and 1 in the box were
    assert last(tmp_path / "e", "xu", "yu") == pytest.approx([13, -7])
    assert last(tmp_path / "f", "xu", "yu") == [1, 5]


def test_particles_come_and_go(tmp_path):
    """A new particle has flags of 0, also one with the id of another that has gone."""
    write = "write_dump all custom {} id xu ix\n"
    deck = FREE + write.format("a") + "run 400\ncreate_atoms 1 single 5.5 1 1\n" + write.format("b") + \
        "delete_atoms group all\ncreate_atoms 1 single 2 1 1\n" + write.format("c")
    harness.run(deck, tmp_path)
    a, b, c = (harness.read_dump(tmp_path / name)[0].vectors("xu", "ix").tolist() for name in "abc")
    assert a == [[1, 0]] and b == [[pytest.approx(13), 2], [5.5, 0]] and c == [[2, 0]]


@pytest.mark.parametrize("ranks", [None, pytest.param(3, marks=pytest.mark.mpi)])
def test_flags_follow_particles_to_new_ids(ranks, tmp_path):
    text = MELT + f"velocity all set 28 -14 0 sum yes units box\ndump 1 all custom 30 d {COLUMNS}\n" \
        "run 90\nregion gone block 0 1.5 INF INF INF INF\ndelete_atoms region gone compress {}\nrun 60\n"
    more = {"ranks": ranks} if ranks else {}
    kept, new = ({}, {})
    for compress, places in (("no", kept), ("yes", new)):
        harness.run(text.format(compress), tmp_path / compress, **more)
        frame = assert_unwrapped(tmp_path / compress / "d")[-1]
        places[0] = sorted(map(tuple, frame.vectors("xu", "yu", "zu", "ix", "iy", "iz").tolist()))
    assert kept == new and len(kept[0]) < 480


def test_fixes_that_deposit_and_evaporate(tmp_path):
    text = MELT + f"""\
velocity all set 28 -14 0 sum yes units box
dump 1 all custom 10 d {COLUMNS}
region low block 0 6 0 5 0 2
region high block 0 6 0 5 2.5 3.5
delete_atoms region high
fix go all evaporate 10 2 low 5
fix come all deposit 20 1 5 7 region high near 1 vx 28 28
run 120
"""
    harness.run(text, tmp_path)
    frames = assert_unwrapped(tmp_path / "d")
    assert len(set(frames[0].columns["id"]) - set(frames[-1].columns["id"])) > 10
    assert max(frames[-1].columns["id"]) > len(frames[0].columns["id"])
    assert frames[-1].columns["ix"][0] >= 1


def test_restarts_hold_the_flags(tmp_path):
    deck = MELT + MOVES.replace("run 120\n", "restart 50 r.*\nrun 120\n")
    whole, part = tmp_path / "whole", tmp_path / "part"
    harness.run(deck, whole)
    harness.run(deck, part)
    for path in part.glob("r.1*"):
        path.unlink()
    assert "Resumed at step 50" in works(call(part, "-in", "in.deck", "--resume")).out
    assert read(part) == read(whole)
    harness.run("read_restart r.100\nfix 1 all nve\ncompute asks all property/atom ix\nrun 80\n"
                f"write_dump all custom e.dump {COLUMNS} modify format float %.12g\n", whole)
    harness.run("read_restart r.100\nfix 1 all nve\nrun 1\nwrite_dump all custom f.dump id ix\n", whole)
    assert not harness.read_dump(whole / "f.dump")[0].columns["ix"].any()
    end = harness.read_dump(whole / "e.dump")[-1]
    assert end.step == 180
    odd = harness.read_dump(whole / "c.dump")[-1]
    assert np.array_equal(end.vectors("xu", "ix", "iy")[::2], odd.vectors("xu", "ix", "iy"))


def test_a_jump_takes_the_flags_of_its_restart(tmp_path):
    """Within the run the particle goes through a face; at the second seek there are restarts of before the dump."""
    deck = FREE + "restart 100 r.*\nrun 100\n{first}\nrun 300\nseek 250\nwrite_dump all custom d id xu yu ix\n"
    harness.run(deck.format(first="dump 1 all custom 100 w id xu"), tmp_path)
    assert last(tmp_path / "d", "xu", "yu", "ix") == pytest.approx([8.5, 0, 1])


def test_rerun_begins_with_flags_of_0_and_replicate_goes_on_with_them(tmp_path):
    write = "dump 1 all custom 100 d id x y z xu\nrun 400\nundump 1\n"
    harness.run(FREE + write + "dump 2 all custom 100 e id xu ix\nrerun d dump x y z\nundump 2\n"
                "replicate 2 1 1\nwrite_dump all custom f id xu ix\n", tmp_path)
    assert [frame.vectors("xu", "ix").tolist() for frame in harness.read_dump(tmp_path / "e")] == [
        [[pytest.approx(x), 0]] for x in (1, 4, 1, 4, 1)]
    assert harness.read_dump(tmp_path / "f")[0].vectors("xu", "ix").tolist() == [
        [pytest.approx(1), 0], [pytest.approx(7), 0]]
    harness.run(FREE + write + "replicate 2 1 1\nwrite_dump all custom g id xu ix\n", tmp_path)
    assert harness.read_dump(tmp_path / "g")[0].vectors("xu", "ix").tolist() == [
        [pytest.approx(13), 1], [pytest.approx(19), 1]]


# Particles that fly freely, or rest.
FLIGHT = """\
units lj
lattice fcc 0.3
region b block 0 4 0 4 0 4
create_box 2 b
create_atoms 1 box
mass * 1.0
variable u atom {speed}*sin(37.0*id)
variable w atom {speed}*cos(23.0*id)
velocity all set v_u v_u v_w units box
pair_style lj/cut 2.5
pair_coeff * * 1 1
neigh_modify delay 0 every 1 check no exclude type 1 1
group few id 1:16
timestep {dt}
fix 1 {group} {motion}
dump 1 all custom 50 a.dump id xu yu zu ix iy iz
dump_modify 1 sort id format float %.12g
{rest}
"""
FLIGHTS = {
    "a box that is made larger": dict(rest="run 50\nchange_box all x final 0 27 remap units box\nrun 50"),
    "a box that moves": dict(rest="run 50\nchange_box all y final -30 -20 remap units box\nrun 50"),
    "a small box": dict(rest="run 50\nchange_box all x scale 0.3 y volume z volume remap\nrun 50"),
    "a box around the particles": dict(rest="run 50\nchange_box all x final -3 27 units box\nrun 50"),
    "an axis with faces": dict(rest="run 50\nchange_box all boundary f p p\nrun 50", speed=1),
    "a box that runs away": dict(rest="fix 2 all deform 1 x final 40 50 units box remap x\nrun 100", speed=0.001),
    "slow compression": dict(rest="fix 2 all deform 1 x final 0 4.7 units box remap x\nrun 400", speed=0.001),
    "tension": dict(rest="fix 2 all deform 1 x trate 2 remap x\nrun 400", speed=0.001),
    "fix move": dict(rest="fix 2 few move linear 9.4 0 0 units box\nrun 300", group="rest", speed=0.1, dt=0.01),
    "fix move to and fro": dict(rest="fix 2 few move wiggle 30 0 -20 0.5 units box\nrun 300", group="rest", dt=0.001),
    "a force from rest": dict(rest="fix 2 all addforce 19 0 0\nrun 200", speed=0, dt=0.01),
    "a minimisation": dict(rest="fix 2 all addforce 1 0 0\nmin_style quickmin\nmin_modify dmax 0.1\n"
                           "minimize 0 0 200 1000", speed=0, dt=0.1),
    "displacements": dict(rest="run 50\ndisplace_atoms all move 20 0 -31 units box\nrun 50"),
}


@needs_lmp
@pytest.mark.parametrize("name", FLIGHTS)
def test_nothing_is_missed(name, tmp_path):
    """What moves particles or the box fast, from rest, or at once."""
    words = dict(dict(speed=3, dt=0.002, group="all", motion="nve"), **FLIGHTS[name])
    text = FLIGHT.replace("fix 1 ", "group rest subtract all few\nfix 1 ").format(**words)
    run_lmp(text, tmp_path / "theirs")
    harness.run(text, tmp_path / "ours")
    ours, theirs = (harness.read_dump(tmp_path / who / "a.dump") for who in ("ours", "theirs"))
    assert [frame.step for frame in ours] == [frame.step for frame in theirs]
    for our, their in zip(ours, theirs):
        # A frame of ours has the box before the change of its step.
        near = 0.5 if "deform" in words["rest"] else 1e-6
        assert np.allclose(our.vectors("xu", "yu", "zu"), their.vectors("xu", "yu", "zu"), atol=near), our.step
        # lmp takes particles that rest on a face for one side or the other.
        if "wiggle" not in words["rest"]:
            assert np.array_equal(our.vectors("ix", "iy", "iz"), their.vectors("ix", "iy", "iz")), our.step


def test_new_particles_are_seen_at_once(tmp_path):
    """A fast one crosses a face before any frame."""
    deck = FLIGHT.format(speed=1, dt=0.002, group="all", motion="nve",
                         rest="neigh_modify exclude type 1 2\nneigh_modify exclude type 2 2\n"
                         "region q block 9.3 9.4 1 1.2 1 1.2 units box\n"
                         "fix 2 all deposit 3 2 30 3 region q vx 20 20 units box\nrun 400")
    harness.run(deck, tmp_path / "rare")
    harness.run(deck.replace("custom 50", "custom 1"), tmp_path / "often")
    rare, often = (harness.read_dump(tmp_path / name / "a.dump")[-1] for name in ("rare", "often"))
    assert rare.columns.keys() == often.columns.keys() and len(rare.columns["id"]) == 259
    assert np.array_equal(rare.vectors("id", "xu", "ix"), often.vectors("id", "xu", "ix"))
    assert rare.columns["ix"][-3:].min() >= 1


def test_notes_on_flags_that_are_given(tmp_path):
    given(tmp_path)
    begin = GIVEN.replace("../", "")
    out = works(run_deck(tmp_path, begin + "run 1\nrun 1\n")).out
    assert out.count("Note: image flags: this run forgets those that were read or set") == 1
    assert "forgets" not in works(run_deck(tmp_path, begin + "compute 1 all property/atom ix\nrun 1\n")).out
    assert "forgets" not in works(run_deck(tmp_path, begin + "set group all image 0 0 0\nrun 1\n")).out
    late = "Note: compute gyration: places begin in the box"
    assert late in works(run_deck(tmp_path, begin + "run 1\ncompute 1 all gyration\nrun 1\n")).out
    assert late not in works(run_deck(tmp_path, begin + "compute 1 all gyration\nrun 1\n")).out


def test_a_frame_as_a_data_file_has_flags(tmp_path):
    deck = FREE + "set group all image 3 0 0\ndump 1 all custom 400 d id xu\nrestart 100 r.*\nrun 400\n"
    works(run_deck(tmp_path, deck))
    works(call(tmp_path, "frame", "-in", "in.deck", "--step", "250", "-o", "f.data"))
    assert (tmp_path / "f.data").read_text().split("Atoms")[1].split("\n")[2].split()[-3:] == ["4", "0", "0"]


def test_a_place_that_is_set_is_the_nearest_image(tmp_path):
    deck = FREE + "dump 1 all custom 400 d id xu\nrun 100\nset atom 1 x 0.2\nwrite_dump all custom e id xu ix\n"
    harness.run(deck, tmp_path)
    assert last(tmp_path / "e", "xu", "ix") == pytest.approx([6.2, 1])


def test_formulas_have_no_image_flags(tmp_path):
    refused(run_deck(tmp_path, BOX + "variable q atom xu\ndump 1 all custom 1 f id v_q\nrun 1\n"), USAGE, "xu")
    refused(run_deck(tmp_path, BOX + "compute 1 all reduce sum ix\n"), USAGE, "ix")


def test_flags_of_a_box_that_changes(tmp_path):
    """xu is x and as many of the present sides as the particle has gone through."""
    harness.run(MELT + "velocity all set 28 -14 0 sum yes units box\nfix 2 all deform 1 x scale 1.3\n"
                f"dump 1 all custom 20 d {COLUMNS}\nrun 120\n", tmp_path)
    frames = assert_unwrapped(tmp_path / "d")
    assert frames[-1].bounds[0, 1] - frames[-1].bounds[0, 0] > 1.29 * (frames[0].bounds[0, 1] - frames[0].bounds[0, 0])
    assert frames[-1].columns["ix"].min() >= 1


GIVEN = """\
units lj
read_data ../given.data
mass 1 1
pair_style none
fix 1 all nve
"""
WRITE = "write_dump all custom {} id x xu ix iy iz modify format float %.9g\n"


def given(folder: Path) -> None:
    """Particle 2 is a box above, which counts. The axis z has walls."""
    (folder / "given.data").write_text(
        "by hand\n\n2 atoms\n1 atom types\n0 10 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\n\nAtoms\n\n"
        "2 1 1 12 3 0 1 0\n1 1 4 5 6 -3 0 0\n\nVelocities\n\n1 0 2 0\n2 -4 0 0\n")


@needs_lmp
def test_ways_in_a_box_that_changes_begin_with_flags(tmp_path):
    deck = "boundary p p f\n" + GIVEN.replace("fix 1 all nve", "fix 1 all nph x 1 1 0.5").replace(
        "style none", "style lj/cut 2\npair_coeff 1 1 1 1") + (
        "compute m all msd\ncompute d all displace/atom\ncompute s all reduce sum c_d[*]\nthermo 10\n"
        "thermo_style custom step lx c_m[1] c_m[4] c_s[1] c_s[4]\nthermo_modify format float %.12g\nrun 30\n")
    given(tmp_path)
    ours, theirs = harness.run(deck, tmp_path / "ours").table, run_lmp(deck, tmp_path / "theirs")[0]
    assert ours.titles == theirs.titles and ours.rows[-1][0] == "30"
    for row, their_row in zip(ours.rows, theirs.rows):
        assert list(map(float, row)) == pytest.approx(list(map(float, their_row)), rel=1e-8, abs=1e-8)


@needs_lmp
def test_scaled_places_in_two_dimensions(tmp_path):
    deck = ("dimension 2\nregion b block 0 4 0 4 -0.5 0.5\ncreate_box 1 b\ncreate_atoms 1 single 1 1 0\nmass 1 1\n"
            "pair_style lj/cut 1\npair_coeff 1 1 0 1\nfix 1 all nve\ndump 1 all custom 1 a xs zs xsu zsu\nrun 0\n")
    harness.run(deck, tmp_path / "ours")
    run_lmp(deck, tmp_path / "theirs")
    rows = [(tmp_path / who / "a").read_text().split("\n")[-2] for who in ("ours", "theirs")]
    assert rows[0].split() == rows[1].split() == ["0.25", "0.5", "0.25", "0.5"]


@needs_lmp
def test_data_files_have_flags(tmp_path):
    """They count where the deck asks before the next run; write_data writes them."""
    deck = "boundary p p f\n" + GIVEN + "timestep 0.01\n" + WRITE.format("a") + "run 100\n" + WRITE.format("b") + \
        "write_data c.data\nset atom 1 image 5 NULL NULL\n" + WRITE.format("d") + "run 100\n" + WRITE.format("e")
    given(tmp_path)
    harness.run(deck, tmp_path / "ours")
    run_lmp(deck.replace("set atom", "run 0\nset atom"), tmp_path / "theirs")
    for name in "abde":
        ours, theirs = (harness.read_dump(tmp_path / who / name)[0] for who in ("ours", "theirs"))
        names = ("id", "xu", "ix", "iy", "iz") if name != "b" else ("id", "xu")
        assert np.allclose(ours.vectors(*names), theirs.vectors(*names), atol=1e-7), name
    assert harness.read_dump(tmp_path / "ours" / "a")[0].vectors("xu", "ix", "iy", "iz").tolist() == [
        [-26, -3, 0, 0], [1, 0, 2, 0]]
    again = tmp_path / "again"
    (tmp_path / "given.data").write_bytes((tmp_path / "ours" / "c.data").read_bytes())
    harness.run("boundary p p f\n" + GIVEN + WRITE.format("a") + "write_data c.data\n", again)
    assert (again / "a").read_text().split("ATOMS")[-1] == (tmp_path / "ours" / "b").read_text().split("ATOMS")[-1]
    assert (again / "c.data").read_text().split("Atoms")[1] == (tmp_path / "given.data").read_text().split("Atoms")[1]


@pytest.mark.parametrize("ranks", [None, pytest.param(3, marks=pytest.mark.mpi)])
def test_flags_of_data_files_are_forgotten_by_a_run_without_them(ranks, tmp_path):
    given(tmp_path)
    deck = GIVEN.replace("../", "") + "timestep 0.01\nrun 1\n" + WRITE.format("a") + \
        "set group all image 2 NULL -1\n" + WRITE.format("b")
    harness.run(deck, tmp_path, **({"ranks": ranks} if ranks else {}))
    flags = [harness.read_dump(tmp_path / name)[0].vectors("ix", "iy", "iz").tolist() for name in "ab"]
    assert flags == [[[0, 0, 0]] * 2, [[2, 0, -1]] * 2]


# The box flips between step 300 and 325, and the particles have gone through all faces by then.
SHEARED = MELT.replace("box block 0 6 0 5 0 4", "box prism 0 6 0 5 0 4 0.5 0.3 -0.4") + f"""\
velocity all set 28 -14 9 sum yes units box
dump 1 all custom 25 a.dump {COLUMNS}
dump_modify 1 sort id format float %.12g
run 150
fix 2 all deform 1 xy erate 0.75 remap x
{{restart}}
run 250
"""


@needs_lmp
def test_tilted_boxes_that_flip(tmp_path):
    """Positions of a box that changes are not compared: a frame of lmp has the box after the change."""
    deck = SHEARED.replace("mass 1", "neigh_modify delay 0 every 1 check no\nmass 1").format(restart="")
    run_lmp(deck, tmp_path / "theirs")
    harness.run(deck, tmp_path / "ours")
    ours, theirs = (harness.read_dump(tmp_path / name / "a.dump") for name in ("ours", "theirs"))
    assert [frame.step for frame in ours] == [frame.step for frame in theirs] and len(ours) == 17
    for our, their in zip(ours, theirs):
        for name in ("ix", "iy", "iz", "xsu", "ysu", "zsu", *(("x", "xu", "yu", "zu") if our.step <= 150 else ())):
            assert np.allclose(our.columns[name], their.columns[name], atol=1e-6), (our.step, name)
    assert ours[12].columns["ix"].min() > 2 > ours[13].columns["ix"].min()


WRITE_ALL = f"write_dump all custom b.dump {COLUMNS} modify sort id format float %.17g\n"


@pytest.mark.parametrize("ranks", [None, pytest.param(2, marks=pytest.mark.mpi)])
def test_restarts_of_tilted_boxes(ranks, tmp_path):
    """The box flips at step 317, between two looks at slow particles. A run or a restart may end right before or after
    it."""
    more = {"ranks": ranks} if ranks else {}
    slow = SHEARED.replace("velocity all set 28 -14 9 sum yes units box", "set group all image 1 2 -1")
    deck = slow.replace("custom 25", "custom 1000").format(restart="restart 10 r.*") + WRITE_ALL + "write_data b.data\n"
    harness.run(deck, tmp_path, **more)
    whole = (tmp_path / "b.dump").read_bytes()
    restarts = {step: (tmp_path / f"r.{step}").read_bytes() for step in (310, 320, 330)}
    for step, restart in restarts.items():
        for path in (*tmp_path.glob("r.*"), tmp_path / "b.dump"):
            path.unlink()
        (tmp_path / f"r.{step}").write_bytes(restart)
        harness.run(tmp_path / "in.deck", tmp_path, arguments=["--resume"], **more)
        assert (tmp_path / "b.dump").read_bytes() == whole, step
    first = harness.read_dump(tmp_path / "b.dump")[0]
    assert first.columns["ix"].min() == 3
    harness.run(deck.replace("run 250", "run 170\nrun 80").replace("restart 10", "restart 1000"), tmp_path, **more)
    two_runs = harness.read_dump(tmp_path / "b.dump")[0]
    # The box of the second run begins half a step later, as that of lmp; a wrong flag would be a whole number off.
    assert np.allclose(first.vectors("xsu", "ysu", "zsu"), two_runs.vectors("xsu", "ysu", "zsu"), atol=1e-2)
    harness.run("units lj\natom_modify map array\nread_data b.data\n" + WRITE_ALL, tmp_path)
    again = harness.read_dump(tmp_path / "b.dump")[0]
    assert np.array_equal(two_runs.vectors("ix", "iy", "iz", "xu"), again.vectors("ix", "iy", "iz", "xu"))


TILTED = "change_box all triclinic\n"
BAD = {
    "dump 1 all custom 1 f id xu\n" + TILTED: (USAGE, "undump"),
    "dump 1 all custom 1 f id iu": (USAGE, "unknown column 'iu'"),
    # A push within a look's interval, after a long rest.
    "variable k equal 20*(step>130)*(step<142)\npair_style none\nfix a all addforce v_k 0 0\ntimestep 0.01\n"
    "dump 1 all custom 400 f id xu\nrun 400": (
        PHYSICS, "particle 1 moved by a quarter of the periodic side x since its image flags were counted"),
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input(line, tmp_path):
    status, words = BAD[line]
    refused(run_deck(tmp_path, BOX + line + "\n"), status, words)


def test_a_box_is_tilted_after_the_last_dump(tmp_path):
    deck = FREE + "dump 1 all custom 400 f id xu\nrun 400\nundump 1\n" + TILTED + \
        "write_dump all custom g id xu yu ix\n"
    harness.run(deck, tmp_path)
    assert last(tmp_path / "g", "xu", "yu", "ix") == pytest.approx([13, -3, 2])


# The melt moves as a whole, and is shifted through faces after the variables are defined.
CENTRES = MELT + """\
velocity all set 28 -14 0 sum yes units box
region half block 0 2 INF INF INF INF
variable v1 equal xcm(odd,x)
variable v2 equal xcm(all,y,half)
variable v3 equal gyration(odd)
variable v4 equal angmom(odd,z)
variable v5 equal inertia(odd,xy)
variable v6 equal omega(odd,y)
variable v7 equal torque(all,x)
displace_atoms odd move 0.1 0.03 -0.05 units box
thermo 30
thermo_style custom step v_v1 v_v2 v_v3 v_v4 v_v5 v_v6 v_v7
thermo_modify format float %.13g
run 120
run 30
print "later: $(gyration(all)) $(xcm(all,x))"
"""
TILTED_CENTRES = CENTRES.replace("displace_atoms", """\
displace_atoms all move 0.011 0.007 0.013 units box
change_box all triclinic xy final 1.5 xz final 0.5 yz final -2 remap units box
displace_atoms""")


def later(out: str) -> List[float]:
    return [float(word) for word in out[out.rindex("later:"):].split()[1:3]]


@needs_lmp
@pytest.mark.parametrize("deck", [CENTRES, TILTED_CENTRES], ids=["right angles", "tilted"])
def test_functions_of_groups_take_unwrapped_places(deck, tmp_path):
    theirs = run_lmp(deck, tmp_path / "theirs")
    ours = harness.run(deck, tmp_path / "ours")
    for our, their in zip(ours.tables, theirs):
        for mine, other in zip(our.rows, their.rows):
            assert list(map(float, mine)) == pytest.approx(list(map(float, other)), rel=1e-7, abs=1e-6)
    assert float(ours.tables[0].rows[-1][1]) > 15  # the side of the box is 10.1


@pytest.mark.mpi
@pytest.mark.parametrize("deck", [CENTRES, TILTED_CENTRES], ids=["right angles", "tilted"])
def test_functions_of_groups_are_the_same_everywhere(deck, tmp_path):
    naive, one, two = (harness.run(deck, tmp_path / name, **more) for name, more in
                         (("naive", {"engine": "naive"}), ("one", {}), ("two", {"ranks": 2})))
    assert later(naive.log) == later(one.log) == later(two.log)
    for other in (one, two):
        assert [table.rows for table in naive.tables] == [table.rows for table in other.tables]


def test_functions_of_groups_in_a_deck_that_is_resumed(tmp_path):
    whole = harness.run(CENTRES, tmp_path / "whole")
    deck = CENTRES.replace("thermo 30\n", "thermo 30\nrestart 40 r.*\n")
    harness.run(deck, tmp_path / "part")
    (tmp_path / "part" / "r.120").unlink()
    resumed = harness.run(deck, tmp_path / "part", arguments=["--resume"])
    assert resumed.tables[-1].rows == whole.tables[-1].rows and later(resumed.log) == later(whole.log)


LATE = {
    "run 1": "",
    "run 0": None,
    "displace_atoms all move 5 0 0 units box": "",
    "displace_atoms all move 0.01 0 0 units box": None,
    "variable x equal xcm(all,x)\nrun 1": None,
    "compute 1 all property/atom ix\nrun 1": None,
    "minimize 0 0 1 1": "",
    "set group all image 1 0 0\nrun 0": "",
    "set group all image 1 0 0": None,
    "run 1\nclear\n" + BOX: None,
    "run 1\nvariable x equal xcm(all,x)\nrun 1\nprint $(v_x)": "",
}


@pytest.mark.parametrize("lines", LATE)
def test_functions_of_groups_that_come_too_late(lines, tmp_path):
    done = run_deck(tmp_path, BOX + lines + "\nprint $(gyration(all))\n")
    if LATE[lines] is None:
        works(done)
    else:
        refused(done, USAGE, "() needs image flags", "did not count", "define a variable")


def test_a_dump_that_comes_too_late_says_so(tmp_path):
    late = "Note: image flags: they are counted from now on; LAMMPS has counted them"
    assert late in works(run_deck(tmp_path, BOX + "run 1\ndump 1 all custom 1 d id xu\nrun 1\n")).out
    assert late not in works(run_deck(tmp_path, BOX + "dump 1 all custom 1 d id xu\nrun 1\n")).out


def test_centres_begin_with_the_flags_that_there_are(tmp_path):
    """A particle at 1 and one at 4 in a box of 6, with image flags 2 and -1."""
    deck = (FREE + "create_atoms 1 single 4 2 3\nset atom 1 image 2 0 0\nset atom 2 image -1 0 0\n"
            "compute c all com\ncompute g all gyration\n"
            "compute m all msd\nthermo_style custom step c_c[1] c_g c_m[1]\nthermo_modify format float %.12g\n"
            "run 0\n")
    row = list(map(float, harness.run(deck, tmp_path).table.rows[-1]))
    assert row[1:] == pytest.approx([5.5, (7.5 ** 2 + 1.5 ** 2) ** 0.5, 0.0])


def test_a_variable_before_the_box_asks_for_flags_too(tmp_path):
    """Those of a displacement after it: the centre of mass is beyond the box."""
    deck = ("units lj\nvariable y equal xcm(all,y)\nregion b block 0 6 0 6 0 6\ncreate_box 1 b\n"
            "create_atoms 1 single 1 2 1\ncreate_atoms 1 single 3 4 3\nmass 1 1\npair_style zero 1\npair_coeff * *\n"
            "displace_atoms all move 0 4.5 0 units box\nprint \"at $(v_y:%.6f)\"\nrun 0\nprint \"at $(v_y:%.6f)\"\n")
    assert re.findall("at [0-9.]+$", works(run_deck(tmp_path, deck)).out, re.M) == ["at 7.500000"] * 2
