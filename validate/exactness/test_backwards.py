"""Runs that go back: `run -N` undoes N steps to the last bit, and `verify` finds the bit that does not return."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Dict, List

import pytest

import harness
from cli import RUNTIME, USAGE, call, refused, run_deck, works

# Decks whose last line is `run ${steps}`: the bits of all their engines are compared elsewhere.
DECKS = {
    "nve walls 3D, two masses": ("in.slab", {}),
    "nve droplet 3D, faces that follow": ("in.droplet", {"dt": 0.002}),
    "leapfrog, walls": ("in.repulsive", {}),
    "mirror, two masses": ("in.overlap", {"mirror": "yes", "dt": 0.0002}),
    "wide momenta": ("in.slab", {"mass2": 1e7}),
    "forces of fixes, of the step too": ("in.forces", {"last": "addforce 0 0 v_pull"}),
}

MELT = """units lj
lattice fcc 0.8
region box block 0 4 0 4 0 4
create_box 1 box
create_atoms 1 box
mass 1 1
velocity all create 1.4 5
pair_style lj/cut 2.5
pair_coeff * * 1 1
"""


def frames(path: Path) -> List[List[str]]:
    """The step and the text of each frame."""
    return [text.split("\n", 1) for text in path.read_text().split("ITEM: TIMESTEP\n")[1:]]


def assert_mirrored(path: Path, steps: List[int]) -> None:
    """The frames have these steps, and those of one step are the same text."""
    found = frames(path)
    assert [int(step) for step, _ in found] == steps
    first: Dict[str, str] = {}
    for step, text in found:
        assert first.setdefault(step, text) == text, f"step {step} is another state on the way back"
    assert len(set(first.values())) == len(first), "the particles do not move"


@pytest.mark.parametrize("name", DECKS)
def test_each_frame_returns(name, isas, tmp_path):
    """Positions, velocities and forces, and the rows of the log; on every instruction set, and more than one way."""
    deck, knobs = DECKS[name]
    isa = isas[list(DECKS).index(name) % len(isas)]
    text = harness.deck(deck).read_text() + "run -$(v_steps-50)\nrun 50\nrun -100\n"
    got = harness.run(text, tmp_path, isa=isa, variables={"steps": 300, "every": 50, **knobs})
    assert_mirrored(tmp_path / "check.dump", [0, 50, 100, 150, 200, 250, 300, 250, 200, 150, 100, 50, 100, 50, 0])
    there, back = got.tables[0].rows, got.tables[1].rows
    assert [row[0] for row in back] == ["300", "250", "200", "150", "100", "50"]
    assert back == there[:0:-1]


@pytest.mark.mpi
def test_ranks_return(tmp_path):
    """Migration and cuts that follow the particles do not matter: the frames are those of one process."""
    text = harness.deck("in.slab").read_text().replace("run ", "fix cuts all balance 7 1\nrun ") + "run -${steps}\n"
    for ranks in (None, 3):
        harness.run(text, tmp_path / str(ranks), ranks=ranks, threads=1, variables={"steps": 60, "every": 20})
    assert_mirrored(tmp_path / "3" / "check.dump", [0, 20, 40, 60, 40, 20, 0])
    assert (tmp_path / "3" / "check.dump").read_bytes() == (tmp_path / "None" / "check.dump").read_bytes()


def test_periodic_images_return(tmp_path):
    """Displacements through periodic faces fall to what they were."""
    got = harness.run(MELT + "fix move all nve\ncompute moved all msd\nthermo 100\n"
                      "thermo_style custom step time c_moved[4]\nthermo_modify format float %.17g\n"
                      "velocity all set 3 0 0 sum yes\nrun 400\nrun -400\n", tmp_path)
    there, back = got.tables[0].rows, got.tables[1].rows
    assert float(there[-1][2]) > 30.0
    assert back == there[::-1]


# ---------------------------------------------------------------- sheared boxes

SHEARS = {
    "particles go with the box": {"remap": "x"},
    "velocities change at faces": {"remap": "v"},
    "nothing follows": {"remap": "none"},
    "xz and yz, every second step": {"remap": "x", "deform": "2 xz erate 0.9 yz vel 0.4"},
    "every third step, wide momenta": {"remap": "v", "deform": "3 xy erate -1.7", "mass2": 1e6},
    "exponential": {"remap": "x", "deform": "1 xy trate 0.9"},
    "two dimensions": {"remap": "v", "dim": 2, "n": 6},
}
HOW = [{"engine": "naive"}, {"threads": 3}, pytest.param({"ranks": 2, "threads": 1}, marks=pytest.mark.mpi),
       pytest.param({"engine": "gpu"}, marks=pytest.mark.gpu)]


def sheared(tail: str, folder: Path, knobs: Dict[str, harness.Value], how: Dict, **more) -> harness.Result:
    text = harness.deck("in.sheared").read_text() + tail
    return harness.run(text, folder, variables={"moves": "nve", "temp": "temp", "every": 20, **knobs}, **how, **more)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", SHEARS)
def test_a_sheared_box_returns(name, how, tmp_path):
    """A strain of one and back, with flips of the box: positions, velocities, forces and rows are the same bits."""
    got = sheared("run -60\nrun -100\n", tmp_path, {"steps": 160, **SHEARS[name]}, how)
    assert_mirrored(tmp_path / "check.dump", [*range(0, 180, 20), *range(140, -20, -20)])
    rows = [table.rows for table in got.tables]
    assert rows[1] == rows[0][:-5:-1] and rows[2] == rows[0][5::-1]
    if name.startswith("particles"):
        tilts = [float(row[-1]) for row in rows[0]]
        assert max(abs(b - a) for a, b in zip(tilts, tilts[1:])) > 3  # a flip


@pytest.mark.parametrize("how", HOW[:2])
def test_each_run_in_a_sheared_box_goes_back_by_itself(how, tmp_path):
    """Where a run begins the forces are those in the box of that time."""
    knobs = {"steps": 100, "remap": "x"}
    sheared("run 60\nrun 40\nrun -40\nrun -60\nrun -100\n", tmp_path, knobs, how)
    found = frames(tmp_path / "check.dump")
    first = {step: text for step, text in found[:6]}
    assert [int(step) for step, _ in found[-6:]] == [100, 80, 60, 40, 20, 0] and found[-1][1] == first["0"]
    assert all(text == first[step] for step, text in found[-5:])
    sheared("run 60\nrun -160\n", tmp_path, knobs, {**how, "expect": USAGE})


def test_what_a_run_back_does_not_know_of_a_sheared_box(tmp_path):
    text = harness.deck("in.sheared").read_text().replace("${remap}", "x").replace("${moves}", "nve")
    text = text.replace("temp/deform", "temp").replace("variable        every index 200", "variable every index 50")
    refused(run_deck(tmp_path, text + "run 60\nrun -160\n", "-var", "steps", "100"), USAGE,
            "with fix deform one run at a time goes back; the last one began at step 100: give run -60 first")
    late = text.replace("fix             shear", "run 50\nfix shear")
    refused(run_deck(tmp_path, late + "run -60\n", "-var", "steps", "20"), USAGE,
            "fix deform began at step 50, and does not know the box before")
    ramp = text.replace("1 xy erate 1.7", "1 xy final 3")
    refused(run_deck(tmp_path, ramp + "run -20\n", "-var", "steps", "20"), USAGE,
            "unless tilt factors alone change, by erate, trate or vel")


def test_verify_in_a_sheared_box(tmp_path):
    text = harness.deck("in.sheared").read_text() + "verify 50\n"
    got = harness.run(text, tmp_path, variables={"moves": "nve", "temp": "temp", "steps": 70, "every": 70})
    assert "50 steps forward and back return to the state" in got.log


def test_verify_after_runs_in_a_sheared_box(tmp_path):
    """The shear of a verification begins with it, and the next run goes on as if there had been none."""
    deck = """\
region b prism 0 5 0 5 0 5 0.5 0 0 units box
create_box 1 b
create_atoms 1 random 100 77 NULL
mass 1 1
pair_style soft 1.5
pair_coeff * * 5
velocity all create 1 77
fix 1 all nve
fix 2 all deform 1 xy erate 0.5 remap x units box
run 10
run -10
verify 5
run 7
verify 5
dump 1 all custom 20 out.dump id x y z vx vy vz
run 20
"""
    for text in (deck, deck.replace("run -10\n", "run -3\n")):
        harness.run(text, tmp_path, engine="openmp")
        verified = (tmp_path / "out.dump").read_bytes()
        harness.run(text.replace("verify 5\n", ""), tmp_path, engine="openmp")
        assert (tmp_path / "out.dump").read_bytes() == verified


def test_a_restart_of_a_sheared_box_goes_back(tmp_path):
    """The box of earlier steps is in the restart."""
    if harness.hdf5_missing():
        pytest.skip("no restarts in this build")
    text = harness.deck("in.sheared").read_text()
    knobs = {"moves": "nve", "temp": "temp", "remap": "x", "steps": 90, "every": 30}
    harness.run(text + "write_restart r\n", tmp_path, variables=knobs)
    there = frames(tmp_path / "check.dump")
    setup, fixes = text.split("timestep ")[0], "timestep " + text.split("timestep ")[1]
    pairs = setup.split("velocity ")[1].split("\n", 1)[1]
    knobs_only = setup.split("units ")[0]
    back = fixes.replace("run             ${steps}", "run -90")
    harness.run(knobs_only + "read_restart r\n" + pairs + back, tmp_path, variables={**knobs, "out": "."})
    assert frames(tmp_path / "check.dump") == there[::-1]


# ---------------------------------------------------------------- fixes

REVERSIBLE = {
    "enforce2d": "",  # in two dimensions: below
    "nve": "fix move all nve",
    "nve/leapfrog": "fix move all nve/leapfrog",
    "wall/reflect": "fix f all wall/reflect zlo EDGE zhi EDGE",
    "addforce": "variable pull equal 0.01*step\nfix f all addforce 0.1 v_pull 0",
    "aveforce": "fix f all aveforce 0.1 NULL 0",
    "box/relax": "fix f all box/relax x 0.1",
    "drag": "fix f all drag 3 3 3 0.5 1",
    "external": "fix f all external pf/array 2",  # with forces: test_external.py
    "freeze": "group few id 1:9\nfix f few freeze",
    "gravity": "fix f all gravity 0.4 vector 0 1 -1",
    "indent": "fix f all indent 10 sphere 3 3 3 1",
    "lineforce": "group few id 1:9\nfix f few lineforce 1 1 0",
    "planeforce": "group few id 1:9\nfix f few planeforce 1 1 0",
    "setforce": "group few id 1:9\nfix f few setforce NULL 0.3 NULL",
    "spring": "group few id 1:99\nfix f few spring tether 20 1 NULL 3 0.4",
    "spring/self": "fix f all spring/self 5 xy",
    "wall/harmonic": "fix f all wall/harmonic zlo EDGE 10 1 1 zhi EDGE 10 1 1",
    "wall/lj1043": "fix f all wall/lj1043 zlo EDGE 1 1 2.5",
    "wall/lj126": "fix f all wall/lj126 zlo EDGE 1 1 2.5",
    "wall/lj93": "fix f all wall/lj93 zlo EDGE 1 1 2.5 zhi EDGE 1 1 2.5",
    "wall/region": "region cage block INF INF INF INF -0.2 5\nfix f all wall/region cage harmonic 10 1 1",
}

FORGETS = {
    "brownian": "1 9 gamma_t 1",
    "move": "linear 1 0 0",
    "nve/limit": "0.1",
    "wall/piston": "zlo vel 0.1",
    "deform": "1 x erate 0.1",
    "ehex": "1 0.1 hex",
    "heat": "1 0.1",
    "langevin": "1 1 1 9",
    "momentum": "1 linear 1 1 1",
    "nph": "iso 1 1 1",
    "npt": "temp 1 1 1 iso 1 1 1",
    "nvt": "temp 1 1 1",
    "nvt/sllod": "temp 1 1 1",
    "press/berendsen": "iso 1 1 1",
    "propel/self": "velocity 0.1",
    "temp/berendsen": "1 1 1",
    "temp/csvr": "1 1 1 9",
    "temp/rescale": "1 1 1 0.1 1",
    "thermal/conductivity": "10 z 4",
    "viscosity": "10 x z 4",
    "viscous": "0.1",
}


def styles_of_help() -> Dict[str, bool]:
    """The styles of the model's fixes, and whether help calls them reversible."""
    found: Dict[str, bool] = {}
    name = ""
    for line in works(call(Path.cwd(), "help", "fix")).out.splitlines():
        if re.match(r"  \S", line):
            name = line.split()[0]
            found[name] = False
        elif re.match(r"    .*\breversible$", line):
            found[name] = True
    return found


def test_help_and_these_tests_know_the_same_fixes():
    found = styles_of_help()
    assert {name for name, reversible in found.items() if reversible} == set(REVERSIBLE)
    assert set(FORGETS) <= set(found)


@pytest.mark.parametrize("style", [style for style in REVERSIBLE if style != "enforce2d"])
def test_a_reversible_fix_goes_back(style, tmp_path):
    """Within walls, so that every fix may act along every axis."""
    move = "" if style.startswith("nve") else "fix move all nve\n"
    text = ("units lj\nboundary p p f\nlattice fcc 0.7\nregion box block 0 3 0 3 0 3\ncreate_box 1 box\n"
            "region in block 0.1 2.9 0.1 2.9 0.4 2.6\ncreate_atoms 1 region in\nmass 1 1\n"
            "velocity all create 0.5 5\npair_style soft 1.3\npair_coeff * * 25\n"
            f"timestep 0.004\n{REVERSIBLE[style]}\n{move}"
            "dump d all custom 20 d id x y z vx vy vz fx fy fz\nrun 40\nrun -40\n")
    works(run_deck(tmp_path, text))
    assert_mirrored(tmp_path / "d", [0, 20, 40, 20, 0])


def test_a_flat_system_goes_back(tmp_path):
    flat = MELT.replace("fcc", "sq").replace("0 4 0 4 0 4", "0 8 0 8 -0.5 0.5")
    works(run_deck(tmp_path, "dimension 2\n" + flat +
                   "fix move all nve\nfix flat all enforce2d\ndump d all custom 20 d id x y vx vy\nrun 40\nrun -40\n"))
    assert_mirrored(tmp_path / "d", [0, 20, 40, 20, 0])


@pytest.mark.parametrize("style", FORGETS)
def test_a_fix_that_forgets_is_refused(style, tmp_path):
    walls = "boundary p p f\n" if style == "wall/piston" else ""
    text = walls + MELT + f"reset_timestep 10\nfix it all {style} {FORGETS[style]}\nrun -5\n"
    refused(run_deck(tmp_path, text), USAGE, "fix it", f"({style})", "cannot be undone, because", "unfix",
            line=text.count("\n"))


LAST = MELT + "fix move all nve\nrun 10\n"
REFUSED = {
    "run -11": ["run -11", "10", "below 0"],
    "run -5 upto": ["no step below 0"],
    "run -5 start 0": ["no start and stop"],
    "fix a all ave/time 1 1 1 c_thermo_temp\nrun -5": ["fix a (ave/time)", "step numbers that rise"],
    "dump h all h5md 5 h.h5 position\nrun -5": ["dump h", "h5md", "*"],
    "verify 0": ["from 1 to", "not 0"],
    "verify 5 turn": ["'turn'", "flip RANK"],
    "verify 5 flip 1": ["rank of verify flip", "from 0 to 0"],
    "fix b all langevin 1 1 1 9\nverify 5": ["fix b (langevin)", "friction"],
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_cannot_be_undone_is_refused(line, tmp_path):
    text = LAST + line + "\n"
    refused(run_deck(tmp_path, text), USAGE, *REFUSED[line])


# ---------------------------------------------------------------- restarts

def test_a_run_back_is_resumed(tmp_path):
    """From a restart of the way back, the rest of it writes the same bytes."""
    text = MELT + ("fix move all nve\nthermo 10\ndump d all custom 10 d id x y z vx vy vz\nrestart 20 r.*\n"
                   "run 100\nrun -100\n")
    works(run_deck(tmp_path, text))
    whole = (tmp_path / "d").read_bytes()
    assert_mirrored(tmp_path / "d", [*range(0, 101, 10), *range(90, -1, -10)])
    for step in (0, 20, 40):
        (tmp_path / f"r.{step}").unlink()
    done = works(run_deck(tmp_path, text, "--resume"))
    assert "step 60 of run 2" in done.out
    assert (tmp_path / "d").read_bytes() == whole


# ---------------------------------------------------------------- verify

VERIFY = MELT + "fix move all nve\nvariable n index 30\nverify $n\n"
RETURN = r"Verified in .*: 30 steps forward and back return to the state ([0-9a-f]{16}) of step 0"


def test_verify_has_one_hash_and_no_effect(isas, tmp_path):
    hashes = set()
    for engine in ("naive", "openmp"):
        text = VERIFY + "dump d all custom 10 d id x y z vx vy vz\nrun 20\n"
        got = harness.run(text, tmp_path / engine, engine=engine, isa=isas[-1])
        hashes.add(re.search(RETURN, got.log)[1])
        plain = harness.run(text.replace("verify $n\n", ""), tmp_path / "plain", engine="openmp")
        assert (tmp_path / engine / "d").read_bytes() == (tmp_path / "plain" / "d").read_bytes()
        assert got.table.rows[-1] == plain.table.rows[-1]
    assert len(hashes) == 1


@pytest.mark.mpi
@pytest.mark.parametrize("rank", (0, 1))
def test_verify_names_the_rank_of_a_wrong_bit(rank, tmp_path):
    got = harness.run(VERIFY + f"verify 4 flip {rank}\n", tmp_path, ranks=2, threads=1, expect=RUNTIME)
    assert re.search(RETURN, got.log)
    assert re.search(rf"1 of 256 particles are not as they were, 1 of them on rank {rank}, such as particle \d+:",
                     got.err)


# ---------------------------------------------------------------- seek


def test_seek_goes_both_ways(tmp_path):
    """To a step before, one after, and the present one: the frames are those of the run."""
    got = harness.run(MELT + "fix move all nve\ndump d all custom 10 d.txt id x y z vx vy vz\nrun 40\nseek 10\n"
                      "seek 10\nseek 30\nseek 0\nprint 'at $(step)'\n", tmp_path)
    assert_mirrored(tmp_path / "d.txt", [0, 10, 20, 30, 40, 30, 20, 10, 20, 30, 20, 10, 0])
    assert "\nat 0\n" in got.log


def test_seeks_are_resumed(tmp_path):
    """They are runs of the deck, also to a step that is known in the run only: from a restart of the second seek, and
    from one of the run after it."""
    text = MELT + ("fix move all nve\ndump d all custom 10 d id x y z vx vy vz\nrestart 20 r.*\n"
                   "run 30\nseek 30\nvariable there equal $(2*step+50)\nseek ${there}\nrun 20\n")
    works(run_deck(tmp_path, text))
    whole = (tmp_path / "d").read_bytes()
    for step, where in ((120, "step 120 of run 4"), (60, "step 60 of run 3")):
        for path in tmp_path.glob("r.*"):
            if int(path.name[2:]) > step:
                path.unlink()
        assert where in works(run_deck(tmp_path, text, "--resume")).out
        assert (tmp_path / "d").read_bytes() == whole


def test_seek_refuses(tmp_path):
    """Before any step: what has no sense, and the fix that forgets; forwards that fix is no hindrance."""
    thermostat = MELT + "fix move all nve\nfix warm all langevin 1 1 1 9\nrun 2\n"
    for deck, words in ((MELT + "seek -1\n", ["step of seek", "-1"]), (MELT + "seek ten\n", ["step of seek", "ten"]),
                        ("seek 3\n", ["seek", "box"]),
                        (thermostat + "seek 5\nseek 4\n", ["seek", "fix warm (langevin)", "cannot be undone"])):
        refused(run_deck(tmp_path, deck), USAGE, *words, line=deck.count("\n"))


# ---------------------------------------------------------------- seek from restarts

TRACE = MELT + "fix move all nve\nrestart 50 r.*\n"
FRAMES = "id x y z vx vy vz"


def way(log: str) -> List[str]:
    """What the log says of each seek: the file, or `the present step N`; how many steps; the direction."""
    return [" ".join(found) for found in
            re.findall(r"^Seek: step \d+ from (the present step \d+|\S+)(?:, step \d+)?, (\d+) steps (\w+)", log, re.M)]


def frame_of_run(folder: Path, setup: str, step: int, group: str = "all") -> str:
    """The frame of a step, from a run that goes there straight."""
    folder.mkdir(exist_ok=True)
    works(run_deck(folder, setup + f"dump d {group} custom {step} d {FRAMES}\nrun {step}\n"))
    return dict(frames(folder / "d"))[str(step)]


def test_seek_begins_at_the_nearest_state(tmp_path):
    """A restart before, a restart after, the present step; a group that came later keeps its particles."""
    text = TRACE + (f"run 300\ngroup few id 1 9 77\nseek 115\nwrite_dump few custom a {FRAMES}\nseek 147\n"
                    f"write_dump all custom b {FRAMES}\nseek 150\nprint 'at $(step) $(count(few))'\n")
    got = harness.run(text, tmp_path)
    assert way(got.log) == ["r.100 15 forward", "r.150 3 back", "the present step 147 3 forward"]
    assert "\nat 150 3\n" in got.log
    few = MELT + "fix move all nve\ngroup few id 1 9 77\n"
    assert dict(frames(tmp_path / "a"))["115"] == frame_of_run(tmp_path / "straight", few, 115, "few")
    assert dict(frames(tmp_path / "b"))["147"] == frame_of_run(tmp_path / "straight", few, 147)


THERMOSTATS = {
    "langevin": "fix move all nve\nfix f all langevin 1 2 0.5 9\n",
    "npt": "fix f all npt temp 1 2 0.5 iso 1 2 1\n",
}


@pytest.mark.parametrize("style", THERMOSTATS)
def test_steps_that_cannot_be_undone_come_from_a_restart(style, tmp_path):
    """Also the ramp of the run, the state of the fix and the box are those of that run; beyond it there is no way."""
    text = MELT + THERMOSTATS[style]
    run = f"restart 40 r.*\ndump d all custom 30 d {FRAMES}\nrun 100\n"
    got = harness.run(text + run + "seek 60\nseek 90\n", tmp_path)
    assert way(got.log) == ["r.40 20 forward", "r.80 10 forward"]
    assert_mirrored(tmp_path / "d", [0, 30, 60, 90, 60, 90])
    refused(run_deck(tmp_path, text + run + "seek 30\n"), USAGE, "seek", "fix f", "cannot be undone")


def test_another_deck_goes_on_from_restarts_of_the_same_course(tmp_path):
    """With the same set-up, from files that it names, also one of write_restart, and several of a pattern."""
    works(run_deck(tmp_path, MELT + "fix move all nve\nrestart 90 r.*\nrun 110\nwrite_restart w\nrun 100\n"))
    whole = frame_of_run(tmp_path / "straight", MELT + "fix move all nve\n", 105)
    for names, file in (("w", "w 5 back"), ("r.*", "r.90 15 forward"), ("r.180 w", "w 5 back")):
        got = harness.run(MELT + f"fix move all nve\nseek 105 from {names}\nwrite_dump all custom a {FRAMES}\n",
                          tmp_path)
        assert way(got.log) == [file]
        assert dict(frames(tmp_path / "a"))["105"] == whole


FOREIGN = {
    "other particles": (MELT.replace("create 1.4 5", "create 1.4 6"), "other particles"),
    "another interaction": (MELT.replace("* * 1 1", "* * 1.1 1"), "interaction"),
    "another timestep": (MELT + "timestep 0.004\n", "timestep"),
    "particles changed": (MELT + "fix move all nve\nrun 0\nvelocity all scale 1\nunfix move\n",
                          "has changed particles"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_restart_is_refused(name, tmp_path):
    """Named, it is an error; found by the name of `restart` it is left out, and the log says why."""
    works(run_deck(tmp_path, TRACE + "run 100\n"))
    setup, reason = FOREIGN[name]
    setup += "fix move all nve\n"
    refused(run_deck(tmp_path, setup + "seek 99 from r.100\n"), USAGE, "r.100", "another course", reason)
    got = harness.run(setup + "restart 1000 r.*\nseek 99\n", tmp_path)
    assert way(got.log) == ["the present step 0 99 forward"]
    assert "Note: seek: restart r.100 is of another course" in got.log and reason in got.log


AVERAGES = """\
compute g all rdf 20
compute bin all chunk/atom bin/1d x lower 0.25 units reduced
fix a all ave/time 2 5 20 c_thermo_temp v_twice ave running file a
fix b all ave/chunk 5 4 20 bin vx density/number ave running file b
fix c all ave/histo 5 2 20 0 4 8 c_thermo_temp ave running file c
fix d all ave/correlate 5 4 40 c_thermo_temp c_thermo_press ave running file d
fix e all vector 10 c_thermo_pe
fix f all ave/time 5 2 10 c_g[*] mode vector ave window 3 file f
"""
SUMS = ("print '$(step) $(f_a[1]:%.17g) $(f_a[2]:%.17g) $(f_b[2][2]:%.17g) $(f_c[3][2]:%.17g) $(f_d[3][3]:%.17g) "
        "$(f_e[7]:%.17g) $(f_f[7][2]:%.17g)'\n")


@pytest.mark.parametrize("there", [130, 155, 60])
def test_seek_takes_the_sums_of_averages_from_a_restart(there, tmp_path):
    """The way back too, which no step undoes with averages; then the same numbers follow as in a straight run, with the
    same rows in the files."""
    setup = MELT + "variable twice equal 2*c_thermo_temp\n" + AVERAGES
    move = "fix move all nve\n"
    straight = harness.run(setup + move + f"run {there}\n{SUMS}run {200 - there}\n{SUMS}", tmp_path / "straight")
    move += "restart 40 r.*\nrun 200\n"
    got = harness.run(setup + move + f"seek {there}\n{SUMS}run {200 - there}\n{SUMS}", tmp_path)
    from_step = there // 40 * 40
    assert way(got.log) == [f"r.{from_step} {there - from_step} forward"]
    numbers = [re.findall(rf"^{step} \S+ .*", run.log, re.M) for step in (there, 200) for run in (straight, got)]
    assert numbers[0] and numbers[0] == numbers[1] and numbers[2] == numbers[3]
    for name in "abcdf":
        whole, twice = ((folder / name).read_text().splitlines() for folder in (tmp_path / "straight", tmp_path))
        title = [line for line in whole if line.startswith("#")]
        more = len(twice) - len(whole)
        assert len(whole) > len(title) and more > 0
        assert twice == whole + whole[-more:]


def test_a_seek_before_the_first_sample_of_chunks_forgets_the_samples(tmp_path):
    """The number of these chunks is known at the first sample only: the restart before it has none."""
    setup = (MELT + "variable layer atom round(x)+1\ncompute c all chunk/atom v_layer limit 5 max\n"
             "fix move all nve\nfix a all ave/chunk 1 2 10 c vx file a.txt ave running format ' %.17g'\n"
             "restart 3 r.*\n")
    harness.run(setup + "run 30\n", tmp_path / "once")
    once = (tmp_path / "once" / "a.txt").read_text()
    harness.run(setup + "run 30\nseek 4\nrun 26\n", tmp_path / "again")
    head, rows = once.split("\n10 ", 1)
    assert (tmp_path / "again" / "a.txt").read_text() == once + "10 " + rows


def test_a_seek_with_averages_is_resumed(tmp_path):
    text = MELT + ("fix a all ave/time 2 5 20 c_thermo_temp ave running file a\nfix move all nve\nrestart 40 r.*\n"
                   "run 120\nseek 70\nrun 90\n")
    works(run_deck(tmp_path, text))
    whole = (tmp_path / "a").read_bytes()
    assert len(whole.splitlines()) == 2 + 6 + 5 + 1
    (tmp_path / "r.160").unlink()
    (tmp_path / "r.120").unlink()
    assert "step 80 of run 3" in works(run_deck(tmp_path, text, "--resume")).out
    assert (tmp_path / "a").read_bytes() == whole


SUMS_LACK = {
    "fix a all ave/time 1 1 1 c_thermo_temp\nrun 1\n":
        "Note: seek: restart r.50: it does not hold the sums of fix a (ave/time)",
    "fix a all ave/time 1 1 1 c_thermo_temp\nrun 60\nunfix a\nfix a all ave/time 2 1 2 c_thermo_temp\nrun 1\n":
        "Note: seek: restart r.100: it does not hold the sums of fix a (ave/time)",
    "fix a all ave/atom 1 1 1 vx\nrun 1\n":
        "Note: restarts are not looked at: seek from a restart: fix a (ave/atom) needs step numbers that rise",
    "compute m all msd\nthermo_style custom step c_m[4]\nrun 1\n":
        "Note: restarts are not looked at: seek from a restart: a compute such as msd follows the particles",
}


@pytest.mark.parametrize("lines", SUMS_LACK)
def test_the_log_says_why_seek_leaves_restarts_out(lines, tmp_path):
    done = run_deck(tmp_path, TRACE + "run 60\n" + lines + f"seek {105 if 'run 60' in lines else 55}\n")
    assert SUMS_LACK[lines] in done.out
    if "msd" in lines:  # The particles are followed back.
        assert works(done)
    else:
        refused(done, USAGE, "seek", "fix a (ave/", "needs step numbers that rise")


def test_sums_of_another_deck_are_not_taken(tmp_path):
    sums = "fix a all ave/time 2 1 2 c_thermo_temp\n"
    works(run_deck(tmp_path, TRACE + sums + "run 60\n"))
    (tmp_path / "r.50").rename(tmp_path / "old")
    other = TRACE + sums.replace("2 1 2", "1 1 1") + "run 10\nseek 55 from old\n"
    refused(run_deck(tmp_path, other), USAGE, "restart old: it was written by another deck")
    refused(run_deck(tmp_path, LAST + "write_restart w\n" + sums + "seek 15 from w\n"), USAGE,
            "restart w: it does not hold the sums of fix a (ave/time)")


SEEK_REFUSED = {
    "seek 5 to r.1": ["'to'", "from FILE"],
    "seek 5 from": ["needs the name"],
    "seek 5 from r.*": ["no restart 'r.*'"],
    "write_restart w\ncompute m all msd\nseek 5 from w": ["msd", "follows"],
}


@pytest.mark.parametrize("line", SEEK_REFUSED)
def test_seek_from_says_what_is_wrong(line, tmp_path):
    done = run_deck(tmp_path, LAST + line + "\n")
    refused(done, RUNTIME if "*" in line else USAGE, "seek", *SEEK_REFUSED[line])


def test_a_damaged_restart_is_left_out(tmp_path):
    """A number of a particle is another one: the next restart is taken."""
    h5py = pytest.importorskip("h5py")
    works(run_deck(tmp_path, TRACE + "run 100\n"))
    with h5py.File(tmp_path / "r.100", "r+") as file:
        file["particles/x"][0, 5] += 1e-3
    got = harness.run(TRACE + "seek 95\n", tmp_path)
    assert "Note: seek: cannot read r.100: it is damaged" in got.log
    assert way(got.log) == ["r.50 45 forward"]


@pytest.mark.mpi
def test_a_seek_from_a_restart_is_resumed_by_ranks(tmp_path):
    """From a restart of the seek, and from one of the run after it; with the bytes of one process."""
    text = TRACE + f"dump d all custom 10 d {FRAMES}\nrun 120\ngroup few id 7\nseek 70\nrun 140\n"
    harness.run(text, tmp_path / "one")
    assert "Seek: step 70 from r.50" in harness.run(text, tmp_path, ranks=2, threads=1).log
    whole = (tmp_path / "d").read_bytes()
    assert whole == (tmp_path / "one" / "d").read_bytes()
    (tmp_path / "r.200").unlink()
    done = harness.run(text, tmp_path, ranks=2, threads=1, arguments=("--resume",))
    assert "step 150 of run 3" in done.log
    assert (tmp_path / "d").read_bytes() == whole


# ---------------------------------------------------------------- myriad frame

HISTORY = (MELT + "fix move all nve\nfix warm all langevin 1 2 0.5 9\nrun 100\nunfix warm\nrestart 100 r.*\n"
           "fix a all print 50 'row' file rows.txt\ndump d all custom 45 d id type x y z vx vy vz\nrun 300\n"
           "write_data end.data\nprint 'end' file end.txt\n")


def still(folder: Path, step: int, *words: str) -> List[str]:
    """What `myriad frame` says of the way; the deck is in.deck."""
    done = works(call(folder, "frame", "-in", "in.deck", "--threads", "1", "--step", str(step), "-o", *words))
    return re.findall(r"^Frame of step \d+: from (.*), step \d+, (\d+) steps (\w+)$", done.out, re.M)


def test_a_frame_is_that_of_the_run_and_the_only_output(tmp_path):
    """Without restarts, from one before and one after; of a second run, whose fixes are others; a data file too."""
    (tmp_path / "in.deck").write_text(HISTORY)
    begin = "the beginning of the run"
    assert still(tmp_path, 135, "a.lammpstrj") == [(begin, "35", "forward")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.lammpstrj", "in.deck"]
    works(run_deck(tmp_path, HISTORY))
    rows = (tmp_path / "rows.txt").read_bytes()
    assert still(tmp_path, 225, "b.lammpstrj") == [("r.200", "25", "forward")]
    assert still(tmp_path, 270, "c.lammpstrj") == [("r.300", "30", "back")]
    assert still(tmp_path, 400, "d.data") == [("r.400", "0", "forward")]
    assert still(tmp_path, 45, "e.lammpstrj") == [(begin, "45", "forward")]
    assert (tmp_path / "d.data").read_bytes() == (tmp_path / "end.data").read_bytes()
    assert (tmp_path / "rows.txt").read_bytes() == rows
    whole = dict(frames(tmp_path / "d"))
    for name, step in (("a", 135), ("b", 225), ("c", 270)):
        assert frames(tmp_path / f"{name}.lammpstrj") == [[str(step), whole[str(step)]]]


def test_a_frame_of_the_run_after_one_that_was_halted(tmp_path):
    """The first run would have had the step too."""
    halted = ("fix move all nve\nvariable s equal step\nfix h all halt 5 v_s >= 5 error continue\nrun 20\nunfix h\n"
              "dump d all custom 1 d id type x y z vx vy vz\nrun 20\n")
    works(run_deck(tmp_path, MELT + halted))
    for name in ("a.lammpstrj", "a.data"):
        works(call(tmp_path, "frame", "-in", "in.deck", "--step", "7", "-o", name))
    assert frames(tmp_path / "a.lammpstrj") == [["7", dict(frames(tmp_path / "d"))["7"]]]
    assert (tmp_path / "a.data").read_text().splitlines()[0].endswith("timestep = 7")
    refused(call(tmp_path, "frame", "-in", "in.deck", "--step", "30", "-o", "b.lammpstrj"), USAGE,
            "no run of this deck has step 30")


@pytest.mark.parametrize("file", ["frame.xyz", "frame.dump.gz", "frame.data", "frame.png"])
def test_a_frame_that_no_run_reaches_leaves_no_file(file, tmp_path):
    halt = "variable s equal step\nfix h all halt 10 v_s > 15 error soft\nrun 50\n"
    (tmp_path / "in.halt").write_text(MELT + "fix move all nve\n" + halt)
    done = call(tmp_path, "frame", "-in", "in.halt", "--step", "30", "-o", file)
    refused(done, USAGE, "no run of this deck has step 30; it ends at step 20")
    assert not (tmp_path / file).exists()


@pytest.mark.parametrize("restart", ["", "restart 70 r.*\n"])
def test_a_frame_draws_the_random_numbers_of_the_outputs(restart, tmp_path):
    """Dumps of the deck are left out. Their variables draw, and a command after them counts on that."""
    deck = (MELT + "fix 1 all nve\nvariable g atom normal(0,1,82166)\ndump d all custom 10 d id type x y z vx vy vz\n"
            "dump_modify d sort id format float %.17g\ndump 2 all custom 20 two id v_g\ndump_modify 2 sort id\n"
            f"{restart}run 100\nvelocity all set v_g NULL NULL\nwrite_dump all custom three id v_g\nundump 2\nrun 50\n"
            "velocity all set v_g NULL NULL\nrun 50\n")
    works(run_deck(tmp_path, deck))
    whole = dict(frames(tmp_path / "d"))
    kept = {name: (tmp_path / name).read_bytes() for name in ("d", "two", "three")}
    for step in (60, 120, 200):
        still(tmp_path, step, f"f{step}", "custom", "id", "type", "x", "y", "z", "vx", "vy", "vz")
        assert [line.split() for line in dict(frames(tmp_path / f"f{step}"))[str(step)].splitlines()] == \
            [line.split() for line in whole[str(step)].splitlines()]
    assert kept == {name: (tmp_path / name).read_bytes() for name in kept}


def test_a_frame_does_not_guess_random_numbers(tmp_path):
    """A picture whose colours draw is left out, and how many numbers it drew is not known."""
    deck = (MELT + "fix 1 all nve\nvariable g atom normal(0,1,82166)\ndump 2 all image 20 a.*.png v_g type size 64 64\n"
            "run 20\nvelocity all set v_g NULL NULL\nrun 50\n")
    works(run_deck(tmp_path, deck))
    refused(call(tmp_path, "frame", "-in", "in.deck", "--step", "60", "-o", "f"), USAGE, "normal", "not known")


def test_a_frame_has_the_style_that_is_asked_for(tmp_path):
    text = MELT + "fix move all nve\nrun 30\n"
    (tmp_path / "in.deck").write_text(text)
    still(tmp_path, 20, "forces", "custom", "id", "fx", "modify", "format", "float", "%.3f")
    still(tmp_path, 20, "a.xyz")
    still(tmp_path, 20, "a.png")
    works(run_deck(tmp_path, text.replace("run", "dump d all custom 20 d id fx\ndump_modify d format float %.3f\n"
                                  "dump x all extxyz 20 *.xyz\ndump p all image 20 *.png type type\nrun")))
    assert dict(frames(tmp_path / "forces"))["20"] == dict(frames(tmp_path / "d"))["20"]
    for end in ("xyz", "png"):
        assert (tmp_path / f"a.{end}").read_bytes() == (tmp_path / f"20.{end}").read_bytes()


STILL_REFUSED = {
    "-o a": ["--step S", "-o FILE"],
    "--step 3": ["--step S", "-o FILE"],
    "--step -3 -o a": ["--step", "-3"],
    "--step 41 -o a": ["no run", "41", "ends at step 40"],
    "--step 3 -o a --resume": ["--resume"],
    "--step 3 -o a rows": ["rows"],
    "--step 3 -o in.deck": ["in.deck"],
    "--step 3 -o a.jpg": ["a.jpg", ".png or .ppm"],
    "--step 3 -o a.mp4": ["a.mp4", ".png or .ppm"],
}


@pytest.mark.parametrize("words", STILL_REFUSED)
def test_a_frame_says_what_is_wrong(words, tmp_path):
    (tmp_path / "in.deck").write_text(MELT + "fix move all nve\nrun 40\n")
    refused(call(tmp_path, "frame", "-in", "in.deck", *words.split()), USAGE, *STILL_REFUSED[words])


@pytest.mark.parametrize("option", ("--step", "-o"))
def test_options_of_a_frame_belong_to_it(option, tmp_path):
    refused(run_deck(tmp_path, MELT, option, "3"), USAGE, option, "myriad frame")
