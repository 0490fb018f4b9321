"""Gravity, the same bits: every engine, instruction set, number of threads and of ranks, with everything that decks may
do beside it, and runs that go on from restarts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Dict, List

import pytest

import check_engines
import harness
from cli import PHYSICS
from test_mpi import QUIET, job, one_rank, refused

needs_hdf5 = pytest.mark.skipif(
    harness.program().exists() and harness.hdf5_missing(), reason="this build has no HDF5")

OUTPUT = ("thermo 10\nthermo_style custom step temp pe ke etotal press momx momy momz\n"
          "thermo_modify format float %.17g\n"
          "dump check all custom 10 check.dump id type x y z vx vy vz fx fy fz\n")

# Two types of bodies, of which the second is light, in a sphere without walls.
BEGIN = """\
units lj
boundary f f f
region box block -9 9 -9 9 -9 9 units box
create_box 2 box
create_atoms 1 uniform 150 seed 5 scale 1.5
set type 1 type/fraction 2 0.3 3
mass 2 0.001
pair_style gravity 0.05
timestep 0.01
"""
MOVE = "fix move all nve\n"
WALLS = "fix walls all wall/reflect xlo -1.5 xhi 1.4 ylo -1.5 yhi 1.5 zlo -1.6 zhi 1.5 units box\n"
INNER = BEGIN.replace("scale 1.5", "scale 1.3")
FLAT = (BEGIN.replace("boundary f f f", "dimension 2\nboundary f f p").replace("-9 9 units", "-0.5 0.5 units"))


def massed(begin: str) -> str:
    """The same with masses of bodies: 1/150, 1/29, and pi/6 of one body."""
    return (begin.replace("units lj\n", "units lj\natom_style sphere\n")
            .replace("mass 2 0.001\n", "create_atoms 2 cold 29 seed 6 scale 1.2\ncreate_atoms 1 single 0.1 0.2 -0.3\n"))


DECKS: Dict[str, str] = {
    "two dimensions": FLAT + MOVE + OUTPUT + "run 40\n",
    "one type": BEGIN.replace("set type", "#").replace("mass 2 0.001", "mass 2 1") + MOVE + OUTPUT + "run 40\n",
    "no softening, wide momenta": BEGIN.replace("gravity 0.05", "gravity 0").replace("0.01", "1e-6") + MOVE + OUTPUT
    + "run 40\n",
    "masses far apart": BEGIN.replace("mass 2 0.001", "mass 2 1e3") + MOVE + OUTPUT + "timestep 1e-4\nrun 40\n",
    "bodies that do not move": BEGIN + "group light type 2\ngroup heavy type 1\nfix move light nve\n"
    "compute hot light temp\n" + OUTPUT.replace("momz\n", "momz c_hot\n") + "run 40\n",
    "langevin": BEGIN + MOVE + "fix bath all langevin 0.001 0.002 1.0 99\n" + OUTPUT + "run 40\n",
    "langevin of a group, walls": INNER + MOVE + WALLS + "group light type 2\n"
    "fix bath light langevin 0.01 0.01 1.0 99\n" + OUTPUT + "run 40\n",
    "leapfrog": BEGIN + "fix move all nve/leapfrog\n" + OUTPUT + "run 40\n",
    "leapfrog, and its mirror": BEGIN + "fix move all nve/leapfrog\n" + OUTPUT
    + "run 30\nvelocity all negate\nunfix move\nfix move all nve/leapfrog mirror yes\nrun 30\n",
    "leapfrog with plain doubles": INNER + "fix move all nve/leapfrog drift float\n" + WALLS + OUTPUT + "run 40\n",
    "no integrator": BEGIN + OUTPUT + "run 10\n",
    "timestep 0": BEGIN + MOVE + OUTPUT + "timestep 0\nrun 10\n",
    "long batches, walls": INNER + MOVE + WALLS + OUTPUT.replace("10", "290") + "run 300\nrun 280\n",
    "several runs": BEGIN + MOVE + OUTPUT + "run 7\nrun 0\ntimestep 0.02\nrun 13\n"
    "pair_style gravity 0.1 2\nrun 20 start 0\n",
    "from lj/cut to gravity and back": BEGIN.replace("pair_style gravity 0.05", "pair_style lj/cut 0.6\n"
                                                     "pair_coeff * * 1e-4 0.1") + MOVE + OUTPUT
    + "run 20\npair_style gravity 0.05\nrun 20\npair_style lj/cut 0.6\npair_coeff * * 1e-4 0.1\nrun 20\n",
    "cuts and grids of ranks": "processors * * 1\n" + BEGIN + MOVE + OUTPUT
    + "run 10\nfix cuts all balance 5 1\nrun 20\nunfix cuts\nrun 10\n",
    "balance between runs": BEGIN + MOVE + OUTPUT + "run 10\nbalance 1.0 shift xyz 10 1.01\nrun 20\n",
    "five bodies": BEGIN.replace("uniform 150", "uniform 5") + MOVE + OUTPUT + "run 40\n",
    "one body": BEGIN.replace("uniform 150", "uniform 1") + MOVE + OUTPUT + "run 40\n",
    "masses of bodies": massed(BEGIN) + MOVE + OUTPUT + "run 40\n",
    "masses of bodies, two dimensions": massed(FLAT) + MOVE + OUTPUT + "run 40\n",
    "masses of bodies, wide momenta": massed(BEGIN).replace("gravity 0.05", "gravity 0").replace("0.01", "1e-7") + MOVE
    + OUTPUT + "run 40\n",
    "masses of bodies, langevin of a group": massed(BEGIN) + "group some type 2\n" + MOVE
    + "fix bath some langevin 0.01 0.01 1.0 99\nfix cool all temp/berendsen 0.01 0.005 1\n" + OUTPUT + "run 40\n",
    "masses of bodies that are equal": massed(BEGIN).split("create_atoms 2")[0] + "pair_style gravity 0.05\n"
    "timestep 0.01\n" + MOVE + OUTPUT + "run 40\n",
    "masses of bodies, random velocities": massed(BEGIN) + "velocity all create 0.01 7\n" + MOVE + OUTPUT
    + "run 20\nvelocity all negate\ncreate_atoms 2 cold 3 seed 8\nrun 20\n",
}


def compare(name: str, folder: Path, *ways: Dict[str, Any]) -> None:
    """Runs a deck with naive and in these ways, and compares all dumps and thermo rows."""
    naive = harness.run(DECKS[name], folder / "naive", engine="naive")
    assert naive.tables and naive.tables[-1].rows
    found: List[str] = []
    for k, way in enumerate(ways):
        got = harness.run(DECKS[name], folder / str(k), **way)
        found += [f"{way}: {line}" for line in check_engines.differences(folder / "naive", folder / str(k), naive, got)]
    assert not found, "\n".join(found)


@pytest.mark.smoke
@pytest.mark.parametrize("name", DECKS)
def test_openmp_equals_naive(name, isas, tmp_path):
    compare(name, tmp_path, *({"threads": 1 + k, "isa": isa} for k, isa in enumerate(isas)))


@pytest.mark.gpu
@pytest.mark.parametrize("name", DECKS)
def test_gpu_equals_naive(name, tmp_path):
    compare(name, tmp_path, {"engine": "gpu"}, {"engine": "gpu", "package": {"fused": "no"}},
            {"engine": "gpu-symmetric"})


@pytest.mark.gpu
@pytest.mark.parametrize("bodies", [128, 1500, 3200, 4096, 9000, 33000])
def test_groups_of_every_size(bodies, tmp_path):
    """A GPU gives a thread one, two or four bodies, more where there are more, in batches up to 4096. 128 bodies fill
    their block."""
    deck = BEGIN.replace("uniform 150", f"uniform {bodies}").replace("0.01\n", "1e-4\n") + MOVE + OUTPUT + "run 2\n"
    dumps = []
    for engine in ("openmp", "gpu", "gpu-symmetric"):
        harness.run(deck.replace("custom 10", "custom 1"), tmp_path / engine, engine=engine, threads=os.cpu_count())
        dumps.append((tmp_path / engine / "check.dump").read_bytes())
    assert dumps[0] == dumps[1] == dumps[2]


@pytest.mark.mpi
@pytest.mark.parametrize("turn, name", list(enumerate(DECKS)), ids=list(DECKS))
def test_ranks_equal_naive(turn, name, tmp_path):
    """Two numbers of ranks for each deck, one of them more than five: a rank has no body of five, or of one."""
    compare(name, tmp_path, {"ranks": 2 + turn % 3, "threads": 2}, {"ranks": 6 + turn % 2, "threads": 1})


@pytest.mark.gpu
@pytest.mark.mpi
@pytest.mark.parametrize("name", ["masses far apart", "two dimensions", "no softening, wide momenta", "five bodies",
                                  "langevin of a group, walls", "from lj/cut to gravity and back",
                                  "masses of bodies", "masses of bodies, wide momenta"])
def test_gpu_ranks_equal_naive(name, tmp_path):
    """The ring, and the half of it in which each pair is evaluated once: with an even number of ranks opposite ones
    share their pairs."""
    compare(name, tmp_path, *({"engine": engine, "ranks": ranks, "threads": 1, "package": {"transport": "staged"}}
                              for engine in ("gpu", "gpu-symmetric") for ranks in (2, 3, 4)))


@pytest.mark.parametrize("name", ["masses far apart", "two dimensions"])
def test_every_instruction_set_and_number_of_threads(name, isas, tmp_path):
    compare(name, tmp_path, *({"threads": threads, "isa": isa} for isa in isas for threads in (1, 2, 3, 4)))


@pytest.mark.mpi
def test_every_number_of_ranks(tmp_path):
    compare("no softening, wide momenta", tmp_path, *({"ranks": ranks, "threads": 1} for ranks in range(1, 8)))


@pytest.mark.mpi
def test_shares_of_ranks_are_equal(tmp_path):
    """150 bodies: 21 or 22 for each of 7 ranks, although most are in the middle of the box."""
    got = harness.run(DECKS["several runs"], tmp_path, ranks=7, threads=1)
    assert got.particles_of_ranks == (pytest.approx(150 / 7, rel=1e-3), 22, 21, pytest.approx(22 * 7 / 150, rel=1e-3))


# ---------------------------------------------------------------- restarts

RESTARTED = {
    "plain": (BEGIN, MOVE),
    "wide momenta": (BEGIN.replace("gravity 0.05", "gravity 0").replace("0.01", "1e-6"), MOVE),
    "leapfrog, walls": (INNER, WALLS + "fix move all nve/leapfrog\n"),
    # The grids of the whole run are those of the small system that it begins with.
    "a system that grows": (BEGIN.replace("mass 2 0.001", "mass 2 0.006").replace("0.01", "0.05")
                            + "velocity all create 0.008 7\n", MOVE),
    "langevin of a group": (BEGIN + "group light type 2\n", MOVE + "fix bath light langevin 0.01 0.02 1.0 99\n"),
    "masses of bodies": (massed(BEGIN) + "group some type 2\n", MOVE + "fix bath some langevin 0.01 0.02 1.0 99\n"),
    # The heavy body's momentum has more than 2^62 quanta, which is beyond one integer.
    "masses of bodies, wide momenta": (massed(BEGIN).replace("gravity 0.05", "gravity 0").replace("0.01", "1e-7")
                                       + "velocity all create 0.5 7\n", MOVE),
}
RAMP = "start 0 stop 60\n"


def parts(system: str, folder: Path, *ways: Dict[str, Any]) -> None:
    """A run of 60 steps, and the same in three parts, each in its own way: data files and thermo rows are the same."""
    begin, fixes = RESTARTED[system]
    thermo = "thermo 60\nthermo_style custom step temp pe ke press momx\nthermo_modify format float %.17g\n"
    whole = harness.run(f"{begin}{fixes}{thermo}run 60\nwrite_data end.data\n", folder / "whole", engine="naive")
    decks = (f"{begin}{fixes}restart 20 a.*\nrun 20 {RAMP}", f"read_restart a.20\n{fixes}restart 20 b.*\nrun 20 {RAMP}",
             f"read_restart b.40\n{fixes}{thermo}run 20 {RAMP}write_data end.data\n")
    for deck, way in zip(decks, ways):
        last = harness.run(deck, folder / "part", **way)
    assert (folder / "part" / "end.data").read_bytes() == (folder / "whole" / "end.data").read_bytes()
    assert last.table.rows[-1] == whole.table.rows[-1]


@needs_hdf5
@pytest.mark.parametrize("system", RESTARTED)
def test_restarts(system, tmp_path):
    parts(system, tmp_path, {}, {"engine": "naive"}, {"threads": 3})


@needs_hdf5
@pytest.mark.mpi
@pytest.mark.parametrize("system", RESTARTED)
def test_restarts_with_other_ranks(system, tmp_path):
    parts(system, tmp_path, {"ranks": 3, "threads": 1}, {"threads": 1}, {"ranks": 5, "threads": 1})


@needs_hdf5
@pytest.mark.gpu
@pytest.mark.parametrize("system", RESTARTED)
def test_restarts_with_a_gpu(system, tmp_path):
    parts(system, tmp_path, {"engine": "gpu"}, {"engine": "naive"}, {"engine": "gpu"})


HOT = "velocity all create 0.05 7\n"
# Where the grids of a later run depend on where bodies were, which a resumed run does not do again.
RESUMED = {
    "two runs": BEGIN + MOVE + "restart 15 r.*\nrun 20\ntimestep 0.005\nrun 30\n",
    "soft before": BEGIN.replace("pair_style gravity 0.05", "pair_style soft 0.6\npair_coeff * * 0.01") + HOT + MOVE
    + "restart 15 r.*\nrun 20\npair_style gravity 0.05\nrun 30\n",
    "soft between": BEGIN + HOT + MOVE + "restart 15 r.*\nrun 10\npair_style soft 0.6\npair_coeff * * 0.01\n"
    "run 10\npair_style gravity 0.05\nrun 30\n",
    "masses of bodies": massed(BEGIN) + HOT + MOVE + "restart 15 r.*\nrun 20\ntimestep 0.005\n"
    "create_atoms 1 single 7 7 7 units box\nrun 30\n",
    "more bodies later": BEGIN + HOT + MOVE + "restart 15 r.*\nrun 20\ncreate_atoms 1 single 7 7 7 units box\nrun 30\n",
}


@needs_hdf5
@pytest.mark.mpi
@pytest.mark.parametrize("name", RESUMED)
def test_a_deck_goes_on_with_another_number_of_ranks(name, tmp_path):
    """--resume: the restart of step 45, and the deck's later commands."""
    deck = RESUMED[name] + "write_data end.data\n"
    harness.run(deck, tmp_path, ranks=3, threads=1)
    end = tmp_path / "end.data"
    expected = end.read_bytes()
    for ranks in (4, None):
        end.unlink()
        got = harness.run(deck, tmp_path, ranks=ranks, threads=1, arguments=("--resume",))
        assert "Resumed at step 45" in got.log
        assert end.read_bytes() == expected


# ---------------------------------------------------------------- errors

ERRORS = {
    "same place": ("create_atoms 1 single 1 1 1 units box\n" + BEGIN.split("create_box 2 box\n")[1]
                   + "create_atoms 2 single 1 1 1 units box\npair_style gravity 0\n", ("particles 1 and 152 overlap",
                                                                                       "distance 0")),
    "too close": ("create_atoms 2 single 0 0 1e-9 units box\n" + BEGIN.split("create_box 2 box\n")[1]
                  + "create_atoms 1 single 0 0 0 units box\npair_style gravity 0\n", ("particles 1 and 152 overlap",
                                                                                      "distance 1e-09")),
    "out of the box": (BEGIN.split("create_box 2 box\n")[1]
                       + "create_atoms 1 single 8.95 0 0 units box\nvelocity all set 9 NULL NULL units box\n",
                       ("step 0: particle 151", "lost", "x = ")),
    "too fast": (BEGIN.split("create_box 2 box\n")[1] + "set atom 7 type 2\nvelocity all set 1e12 0 0 units box\n",
                 ("particle 1 has speed 1e+12",)),
}
COMMON = BEGIN.split("create_atoms")[0]


@pytest.mark.parametrize("output", [False, True], ids=["step", "output"])
@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_the_same(name, output, fast_engine, tmp_path):
    """With output the first sums of all pairs are those of energies, else those of a step."""
    middle, words = ERRORS[name]
    style = "thermo_style custom step " + ("pe press" if output else "temp") + "\n"
    text = COMMON + middle + MOVE + style + "run 5\n"
    if output and "overlap" in words[0]:
        text = text.replace("run 5", "run 0")
    messages = {engine: harness.run(text, tmp_path / engine, engine=engine, expect=PHYSICS).err.split(": step", 1)[1]
                for engine in ("naive", fast_engine)}
    assert messages["naive"] == messages[fast_engine]
    for word in words:
        assert word in ": step" + messages["naive"]


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [3, 7])
@pytest.mark.parametrize("name", ERRORS)
def test_errors_of_ranks_are_those_of_one(name, ranks, tmp_path):
    middle, words = ERRORS[name]
    (tmp_path / "in.deck").write_text(COMMON + middle + MOVE + "thermo_style custom step temp\nrun 5\n")
    status, message = one_rank(tmp_path, "-in", "in.deck", *QUIET)
    assert status == PHYSICS
    assert refused(job(tmp_path, (ranks, ("-in", "in.deck", *QUIET))), PHYSICS, *words) == message


@pytest.mark.gpu
@pytest.mark.mpi
@pytest.mark.parametrize("steps", [0, 5])
@pytest.mark.parametrize("name", ["same place", "too close"])
def test_errors_of_gpu_ranks(name, steps, tmp_path):
    middle, words = ERRORS[name]
    (tmp_path / "in.deck").write_text(COMMON + middle + MOVE + f"run {steps}\n")
    words_of = (*QUIET, "--engine", "gpu", "-pk", "gpu", "transport", "staged")
    refused(job(tmp_path, (3, ("-in", "in.deck", *words_of))), PHYSICS, *words)
