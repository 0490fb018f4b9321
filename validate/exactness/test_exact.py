"""The same bits from every engine, thread count, instruction set, GPU kernel, skin and cell size, however a run is cut.

`make check` does this at full length for every deck; here each deck is short.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys

import numpy as np
import pytest

import check
import check_engines
import harness

IDENTICAL = check.Options()


def same(a, b) -> None:
    status, lines = check.check(str(a), str(b), IDENTICAL)
    assert status == check.SAME, "\n".join(lines)


@pytest.mark.parametrize("turn, case", list(enumerate(check_engines.CASES)), ids=[c.name for c in check_engines.CASES])
def test_openmp_equals_naive(turn, case, isas, tmp_path):
    """Short: `make check` runs every deck for longer, with all variants."""
    chosen = [check_engines.variants(case, turn, isas)[k] for k in (turn % 2, 2 + turn % 2)]
    verdict = check_engines.check_case(case, chosen, tmp_path, steps=120, every=40)
    assert not verdict.failures, "\n".join(verdict.failures)
    assert verdict.steps == (60 if case.back else 120) and verdict.variants == 2 and verdict.particles >= 3


@pytest.mark.gpu
@pytest.mark.parametrize("turn, case", list(enumerate(check_engines.CASES)), ids=[c.name for c in check_engines.CASES])
def test_gpu_equals_naive(turn, case, tmp_path):
    """Each deck with the engine's own choices for one kind of force, and one of the other variants in turn."""
    variants = check_engines.gpu_variants(case)
    chosen = [variants[turn % 2], variants[2 + turn % (len(variants) - 2)]]
    verdict = check_engines.check_case(case, chosen, tmp_path, steps=300, every=100)
    assert not verdict.failures, "\n".join(verdict.failures)
    assert verdict.steps == (150 if case.back else 300) and verdict.variants == 2


@pytest.mark.gpu
@pytest.mark.parametrize("name", sorted(check_engines.GPU_CHOICES))
def test_every_gpu_choice_is_taken(name, tmp_path):
    """Each keyword alone, with each of its values."""
    knobs = {"steps": 60, "every": 20}
    teaching = name in ("sorted", "padded", "unrolled", "staged")
    for deck in ("in.repulsive",) if teaching else ("in.overlap", "in.melt"):
        harness.run(harness.deck(deck), tmp_path / deck, engine="naive", variables=knobs)
        for value in check_engines.GPU_CHOICES[name]:
            folder = tmp_path / f"{deck}-{value}"
            harness.run(harness.deck(deck), folder, engine="gpu", package={name: value}, variables=knobs)
            same(tmp_path / deck / "check.dump", folder / "check.dump")


def kernel_calls(result, name: str) -> int:
    """How often the log's table of GPU kernels counts one."""
    row = re.search(rf"^{name} +\| (\d+) \|", result.log, re.MULTILINE)
    return int(row[1]) if row else 0


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["double", "mixed"])
def test_steps_sort(precision, tmp_path):
    """Steps do the work of most rebins, what they leave is in order, and no particle is lost at a wall."""
    knobs = {"n": 2000, "steps": 400, "every": 100}
    runs = {sort: harness.run(harness.deck("in.repulsive"), tmp_path / sort, engine="gpu", variables=knobs,
                              package={"sort": sort, "precision": precision, "profile": "yes"})
            for sort in ("step", "count")}
    step, count = runs["step"], runs["count"]
    assert kernel_calls(count, "advance, sort") == 0 and kernel_calls(count, "reorder") >= 20
    assert kernel_calls(step, "advance, sort") >= 15
    assert kernel_calls(step, "advance, count") == kernel_calls(step, "advance, sort")
    assert kernel_calls(step, "reorder") <= kernel_calls(count, "reorder") / 2
    assert ", sorted by steps" in step.log and ", sorted by steps" not in count.log
    if precision == "double":
        same(tmp_path / "count" / "check.dump", tmp_path / "step" / "check.dump")
    else:
        # In single precision sums depend on the order of particles, and later collisions make much of that; but they
        # keep the energy, unless one side of a pair does not see the other. Other orders (sort radix, rebin 1) make
        # 1.6e-8.
        for title in ("Temp", "TotEng"):
            assert step.table.at(100)[title] == pytest.approx(count.table.at(100)[title], rel=1e-7)
        assert step.table.at(400)["TotEng"] == pytest.approx(count.table.at(400)["TotEng"], rel=0.01)


@pytest.mark.gpu
def test_steps_sort_many_particles(tmp_path):
    """Tiles of particles, forwards and backwards. If the GPU has few multiprocessors, as the emulated GPU, there are
    more tiles than blocks that stay may take (on other GPUs large_gpu.py tests this case)."""
    knobs = {"n": 150000, "steps": 30, "every": 30}
    harness.run(harness.deck("in.repulsive"), tmp_path / "openmp", variables=knobs)
    got = harness.run(harness.deck("in.repulsive"), tmp_path / "gpu", engine="gpu", variables=knobs,
                      package={"sort": "step", "profile": "yes"})
    assert kernel_calls(got, "advance, sort") >= 1
    same(tmp_path / "openmp" / "check.dump", tmp_path / "gpu" / "check.dump")


@pytest.mark.gpu
def test_steps_sort_as_seldom_as_rebins_from_the_start(tmp_path):
    """The second run begins with a long piece, of which only its own first steps tell how often to sort."""
    text = harness.deck_with(harness.INPUTS / "in.repulsive-bench", "run 1500\nvelocity all uniform -1 1 1\nrun 1500\n")
    rebins = {}
    for sort in ("step", "count"):
        got = harness.run(text, tmp_path / sort, engine="gpu", package={"sort": sort}, variables={"n": 1000})
        rebins[sort] = [int(n) for n in re.findall(r"^Rebins: (\d+),", got.log, re.MULTILINE)]
        assert len(rebins[sort]) == 2
    assert rebins["step"][1] <= 1.25 * rebins["count"][1]


@pytest.mark.gpu
def test_lists_outlive_the_slack_of_a_few(tmp_path):
    """If pairs decide about lists these last longer in a fluid."""
    runs = {rebin: harness.run(harness.deck("in.melt"), tmp_path / rebin, engine="gpu",
                               variables={"cells": 6, "steps": 200, "every": 100},
                               package={"neighbours": "list", "rebin": rebin, "profile": "yes"})
            for rebin in ("displacement", "pairs")}
    assert kernel_calls(runs["displacement"], "list check") == 0 and kernel_calls(runs["pairs"], "list check") >= 200
    assert kernel_calls(runs["pairs"], "list") <= 0.95 * kernel_calls(runs["displacement"], "list")
    same(tmp_path / "displacement" / "check.dump", tmp_path / "pairs" / "check.dump")


@pytest.mark.gpu
@pytest.mark.parametrize("across", [False, True], ids=["", "across"])
@pytest.mark.parametrize("at", [0.0, 0.5], ids=["at a face", "inside"])
@pytest.mark.parametrize("skin", ["auto", 0.9])
def test_lists_end_before_they_lack_a_pair(skin, at, across, tmp_path):
    deck = harness.meetings(tmp_path, at, across)
    harness.run(deck, tmp_path / "naive", engine="naive")
    harness.run(deck, tmp_path / "gpu", engine="gpu", package={"neighbours": "list", "rebin": "pairs", "skin": skin})
    same(tmp_path / "naive" / "check.dump", tmp_path / "gpu" / "check.dump")


@pytest.mark.gpu
@pytest.mark.parametrize("rebin", ["displacement", "pairs", 40])
@pytest.mark.parametrize("ensemble", ["nvt temp 6.75 6.75 0.5", "nvt temp 1.5 1.5 0.1",
                                      "npt temp 6.75 6.75 0.5 iso 0.1 0.1 50"], ids=["fast", "slow", "npt"])
def test_lists_of_moves_with_a_common_path_end_before_they_lack_a_pair(ensemble, rebin, tmp_path):
    """The particles cross pages of packed positions. Fast ones go farther than their common path."""
    deck = harness.meetings(tmp_path, 0.5, True).replace("move all nve", f"move all {ensemble}")
    harness.run(deck, tmp_path / "naive", engine="naive")
    got = harness.run(deck, tmp_path / "gpu", engine="gpu",
                      package={"neighbours": "list", "rebin": rebin, "profile": "yes"})
    assert "packed positions" in got.log
    assert kernel_calls(got, "packed move") > 70
    same(tmp_path / "naive" / "check.dump", tmp_path / "gpu" / "check.dump")


@pytest.mark.gpu
def test_thermostat_with_blocks_of_several_tiles(tmp_path):
    """The forces and the move take all particles. On a GPU with few multiprocessors, as the emulated one, the first
    blocks take several tiles, and the last ones one. Impulses are packed between the two, and doubles for the dump."""
    knobs = {"cells": 17, "steps": 20, "every": 10, "ensemble": "nvt temp 1.4 1.4 0.1"}
    harness.run(harness.deck("in.melt"), tmp_path / "openmp", variables=knobs)
    got = harness.run(harness.deck("in.melt"), tmp_path / "gpu", engine="gpu", variables=knobs,
                      package={"neighbours": "list", "profile": "yes"})
    assert kernel_calls(got, "packed move") > 4
    assert kernel_calls(got, "unpack") >= 2 or "emulated" not in got.log  # the cache of the emulated GPU holds nothing
    same(tmp_path / "openmp" / "check.dump", tmp_path / "gpu" / "check.dump")


@pytest.mark.gpu
def test_lists_end_by_the_longest_path_of_few_fast_particles(tmp_path):
    """Most particles rest, so that only the bound of the paths of 32 particles tells of the others."""
    deck = harness.meetings(tmp_path, 0.5, False, speed=6.0, resting=True)
    deck = deck.replace("move all nve", "move all nvt temp 1.2 1.2 5")
    harness.run(deck, tmp_path / "naive", engine="naive")
    got = harness.run(deck, tmp_path / "gpu", engine="gpu",
                      package={"neighbours": "list", "rebin": "displacement", "profile": "yes"})
    assert kernel_calls(got, "packed move") > 100
    same(tmp_path / "naive" / "check.dump", tmp_path / "gpu" / "check.dump")


@pytest.mark.smoke
@pytest.mark.parametrize("name", ["in.overlap", "in.types", "in.langevin"])
def test_every_instruction_set(name, isas, tmp_path):
    knobs = {"steps": 60, "every": 20}
    harness.run(harness.deck(name), tmp_path / "naive", engine="naive", variables=knobs)
    for isa in isas:
        got = harness.run(harness.deck(name), tmp_path / isa, isa=isa, variables=knobs)
        assert f"{isa} instructions" in got.log
        same(tmp_path / "naive" / "check.dump", tmp_path / isa / "check.dump")


def rewritten(deck: str, old: str, new: str) -> str:
    """A sample deck with one line replaced."""
    text = harness.deck(deck).read_text()
    assert text.count(old) == 1, old
    return text.replace(old, new)


@pytest.mark.parametrize("boundary", ["f f p", "p p p"])
def test_several_lists_from_one_sort(boundary, isas, tmp_path):
    """Where cells hold few particles, most lists are built without sorting, if several candidates are tested at a
    time."""
    text = rewritten("in.repulsive", "boundary        f f p", f"boundary {boundary}")
    if boundary == "p p p":
        text = text.replace("fix             walls", "# fix             walls")
    knobs = {"steps": 300, "every": 100}
    harness.run(text, tmp_path / "naive", engine="naive", variables=knobs)
    for isa in isas:
        got = harness.run(text, tmp_path / isa, isa=isa, variables=knobs)
        same(tmp_path / "naive" / "check.dump", tmp_path / isa / "check.dump")
        lists, sorts = got.report(r"(?m)^Rebins: (\d+)"), got.report(r"(?m)^Sorted: (\d+) times")
        assert lists >= 40
        assert sorts == lists if isa == "generic" else sorts < 0.6 * lists


@pytest.mark.parametrize("deck, size", [("in.repulsive", {"n": 3000}), ("in.melt", {"cells": 8})])
def test_threads_that_help_others(deck, size, tmp_path):
    """Where threads share one processor, those that run do the work of those that do not, and keep no memory of it.
    One thread, which helps no other, gives what naive gives: for the steps of the first frames, which is costly."""
    knobs = {**size, "steps": 100, "every": 50}
    short = {**knobs, "steps": 20, "every": 10}
    harness.run(harness.deck(deck), tmp_path / "naive", engine="naive", variables=short)
    harness.run(harness.deck(deck), tmp_path / "short", threads=1, variables=short)
    same(tmp_path / "naive" / "check.dump", tmp_path / "short" / "check.dump")
    processor, memory = str(min(os.sched_getaffinity(0))), {}
    for threads in (1, 2, 4):
        got = harness.run(harness.deck(deck), tmp_path / str(threads), threads=threads, variables=knobs,
                          wrapper=("taskset", "-c", processor))
        same(tmp_path / "1" / "check.dump", tmp_path / str(threads) / "check.dump")
        memory[threads] = got.report(r"Memory: (\S+) bytes per particle")
    assert max(memory.values()) < 1.3 * memory[1], memory


# Types with different masses go through p/m at every cut; walls and leapfrog carry half steps across it.
CUT = [("in.types", {}), ("in.slab", {}), ("in.overlap", {}), ("in.overlap", {"drift": "float"}), ("in.mixture", {}),
       ("in.langevin", {"hot": 0.5}), ("in.scaled", {"cold": 1, "hot": 1}), ("in.nvt", {}),
       ("in.soft", {}),
       ("in.slab", {"mass2": 1e6}), ("in.melt", {"dt": 1e-5})]
CUT_NAMES = [" ".join([deck, *map(str, knobs.values())]) for deck, knobs in CUT]


@pytest.mark.parametrize("deck, knobs", CUT, ids=CUT_NAMES)
def test_output_does_not_change_the_run(deck, knobs, engine, tmp_path):
    """Thermo every 7 and dumps every 13 steps, against a run that only shows its end."""
    quiet = harness.run(harness.deck(deck), tmp_path / "quiet", engine=engine,
                        variables={**knobs, "steps": 260, "every": 260})
    text = rewritten(deck, "run             ${steps}", "dump busy all custom 13 busy.dump id x\nthermo 7\nrun ${steps}")
    busy = harness.run(text, tmp_path / "busy", engine=engine, variables={**knobs, "steps": 260, "every": 260})
    same(tmp_path / "quiet" / "check.dump", tmp_path / "busy" / "check.dump")
    assert len(harness.read_dump(tmp_path / "busy" / "busy.dump")) == 21
    assert len(quiet.table.rows) == 2 and len(busy.table.rows) == 39
    assert busy.table.rows[-1] == quiet.table.rows[-1]


@pytest.mark.parametrize("deck, knobs", CUT, ids=CUT_NAMES)
def test_two_runs_equal_one(deck, knobs, engine, tmp_path):
    whole = harness.run(harness.deck(deck), tmp_path / "whole", engine=engine,
                        variables={**knobs, "steps": 100, "every": 20})
    text = rewritten(deck, "run             ${steps}", "run 40\nrun 60")
    cut = harness.run(text, tmp_path / "cut", engine=engine, variables={**knobs, "every": 20})
    same(tmp_path / "whole" / "check.dump", tmp_path / "cut" / "check.dump")
    assert len(cut.tables) == 2
    assert cut.tables[0].rows + cut.tables[1].rows[1:] == whole.table.rows
    assert cut.tables[1].rows[0] == whole.table.rows[2]


# A data file has no chain of thermostats.
@pytest.mark.parametrize("deck, knobs", [cut for cut in CUT if cut[0] != "in.nvt"],
                         ids=[name for name in CUT_NAMES if name != "in.nvt"])
def test_data_file_continues_with_the_same_bits(deck, knobs, tmp_path):
    """run 100, against run 40; write_data; and another program that reads it and runs 60."""
    harness.run(harness.deck(deck), tmp_path, variables={**knobs, "steps": 100, "every": 20})
    text = rewritten(deck, "run             ${steps}", "run 40\nwrite_data half.data")
    harness.run(text, tmp_path / "first", variables={**knobs, "every": 20})

    lines, reading = [], False
    making = ("region", "create_box", "create_atoms", "set", "mass", "velocity", "lattice")
    for line in text.replace("run 40\nwrite_data half.data", "reset_timestep 40\nrun 60").splitlines():
        if not line.startswith(making):
            lines.append(line)
        elif not reading:
            lines.append("read_data ${data}")
            reading = True
    harness.run("\n".join(lines) + "\n", tmp_path / "second",
                variables={**knobs, "every": 20, "data": str(tmp_path / "first" / "half.data")})

    whole = (tmp_path / "check.dump").read_text()
    at_40 = whole.index("ITEM: TIMESTEP\n40\n")
    (tmp_path / "tail.dump").write_text(whole[at_40:])
    same(tmp_path / "tail.dump", tmp_path / "second" / "check.dump")


def time_of_children() -> float:
    """Seconds that the programs run so far have computed."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize("threads", [1, 2])
def test_cost_does_not_follow_the_empty_cells(threads, tmp_path):
    """Three particles in a box of a million cells cost what they cost in a box of a thousand."""
    seconds, memory = {}, {}
    for side in (25.0, 250.0, 250000.0):
        began = time_of_children()
        got = harness.run(harness.deck("in.empty"), tmp_path / str(side), threads=threads,
                          variables={"side": side, "steps": 5000, "every": 5000})
        seconds[side] = time_of_children() - began
        memory[side] = 3 * got.report(r"Memory: (\S+) bytes per particle")
    assert memory[250.0] < 1.1 * memory[25.0] < 200e3, memory
    assert memory[250000.0] < 1.1 * memory[25.0], memory
    # A sweep over 10^6 cells takes a millisecond, and there are hundreds of rebins.
    assert seconds[250.0] < 3.0 * seconds[25.0] + 0.5, seconds
    assert seconds[250000.0] < 3.0 * seconds[25.0] + 0.5, seconds


@pytest.mark.parametrize("engine", ["naive", "openmp", *(pytest.param(name, marks=pytest.mark.gpu)
                                                         for name in ("gpu", "gpu-symmetric", "gpu-naive"))])
@pytest.mark.parametrize("dim", [2, 3])
def test_an_empty_box(engine, dim, tmp_path):
    deck = (f"dimension {dim}\nregion b block 0 7 0 7 -0.5 {0.5 if dim == 2 else 6.5}\ncreate_box 1 b\nmass 1 1\n"
            "pair_style lj/cut 2.5\npair_coeff 1 1 1 1\nfix 1 all nve\nthermo_style custom step pe press\nrun 3\n")
    got = harness.run(deck, tmp_path, engine=engine)
    assert [list(map(float, row)) for row in got.table.rows] == [[0, 0, 0], [3, 0, 0]]
    assert got.report(r"stored neighbours: (\S+) per particle") == 0.0


@pytest.mark.gpu
def test_gpu_memory_does_not_follow_the_empty_cells(tmp_path):
    """Three particles in a box of 10^15 cells need about what they need in a box of a thousand."""
    memory = {}
    for side in (25.0, 250000.0):
        got = harness.run(harness.deck("in.empty"), tmp_path / str(side), engine="gpu",
                          variables={"side": side, "steps": 100, "every": 100})
        memory[side] = 3 * got.report(r"Memory: (\S+) bytes per particle")
    assert memory[250000.0] < 1.1 * memory[25.0] + 1e6, memory


# The grids of a box that follows particles are those of a fixed box that reaches to its room, 2048 sigma here.
FAR = """\
dimension {dim}
boundary {boundary}
read_data far.data
pair_style soft 1.3
pair_coeff 1 1 25
timestep 0.01
fix 1 all nve
thermo 90
dump 1 all custom 30 far.dump id x y z vx vy vz fx fy fz
dump_modify 1 sort id
run 40
run 110
"""


@pytest.mark.parametrize("dim, boundary", [(2, "s ms p"), (3, "sm s s")])
def test_a_box_that_follows_changes_no_path(dim, boundary, engine, tmp_path):
    """The particles leave the cells of the beginning, so that pieces of the run are done again."""
    flat = "dimension 2\nboundary f f p\n" if dim == 2 else "boundary f f f\n"
    harness.run(f"{flat}region b block 0 8 0 8 -4 4\ncreate_box 1 b\ncreate_atoms 1 random 200 7 NULL\nmass 1 1\n"
                "velocity all create 20 99\nwrite_data far.data\n", tmp_path / "follows")
    text = (tmp_path / "follows" / "far.data").read_text()
    fixed, axes = re.subn(r"(?m)^\S+ \S+ ([xyz])lo", r"-2048 2048 \1lo", text)
    (tmp_path / "fixed").mkdir()
    (tmp_path / "fixed" / "far.data").write_text(fixed)
    assert axes == 3
    harness.run(FAR.format(dim=dim, boundary=boundary), tmp_path / "follows", engine=engine)
    harness.run(FAR.format(dim=dim, boundary="f f p" if dim == 2 else "f f f"), tmp_path / "fixed", engine="openmp")
    ours, theirs = (harness.read_dump(tmp_path / box / "far.dump") for box in ("follows", "fixed"))
    assert [frame.step for frame in ours] == [frame.step for frame in theirs] == [0, 30, 60, 90, 120, 150]
    names = ["id", "x", "y", "vx", "vy", "fx", "fy"] + (["z", "vz", "fz"] if dim == 3 else [])
    for a, b in zip(ours, theirs):
        assert (a.vectors(*names) == b.vectors(*names)).all(), a.step
    assert abs(ours[-1].vectors("x", "y")).max() > 20


def test_no_engine_shows_a_negative_zero(engine, tmp_path):
    """-0 in a file, and velocities below half a quantum, with and without forces."""
    x, v = np.array([[-0.0, 0, 0], [-1e-30, 2, -0.0]]), np.array([[-0.0, 1, -1e-30], [-0.0, 0, 0]])
    system = harness.Particles((-4, -4, -4), (4, 4, 4), x, v, type=[1, 2], mass=[1, 2])
    data = harness.write_data(tmp_path / "a.data", system)
    assert "-0" in data.read_text()
    for pair in ("none", "lj/cut 1.5\npair_coeff * * 1 1"):
        harness.run(f"read_data {data}\npair_style {pair}\nfix 1 all nve\nrun 2\nwrite_data b.data\n", tmp_path,
                    engine=engine)
        assert not re.search(r"(?<!\S)-0(?!\S)", (tmp_path / "b.data").read_text())


@pytest.mark.gpu
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("package", [{}, {"neighbours": "list"}, {"fused": "no"}], ids=str)
def test_gpu_without_particles(dim, package, tmp_path):
    """The last particle goes, and runs go on."""
    z = "-0.5 0.5" if dim == 2 else "0 6"
    harness.run(f"dimension {dim}\nregion b block 0 6 0 6 {z}\ncreate_box 1 b\ncreate_atoms 1 single 1 1 0\n"
                "mass 1 1\npair_style lj/cut 1.5\npair_coeff 1 1 1 1\nfix 1 all nve\nfix e all evaporate 2 1 b 81\n"
                "thermo_style custom step atoms\nthermo 1\nrun 4\nrun 3\n", tmp_path, engine="gpu", package=package)


# A stand-in for the program. One engine, openmp or gpu, writes one wrong digit, into the dump or into the thermo table;
# the GPU's part is played by the OpenMP engine, so that this needs no GPU.
BROKEN = """#!/bin/sh
case "$*" in
  info) {program} info; echo "GPU 0: a stand-in"; exit ;;
  *"--engine gpu"*|*" --gpu-naive"*) engine=gpu ;;
  *"--engine naive"*) engine=naive ;;
  *) engine=openmp ;;
esac
cut=
for word; do
  shift
  case $word in
    -pk) cut=yes; continue ;;
    --gpu-naive) continue ;;
    -*) cut= ;;
    gpu) word=openmp ;;
  esac
  [ -n "$cut" ] || set -- "$@" "$word"
done
{program} "$@" || exit
[ $engine = {broken} ] || exit 0
case {what} in
  dump) sed -i '$ s/[0-8] *$/9/; $ s/^\\([0-9]*\\) \\(.*\\)[0-8]\\( [^ ]*\\)$/\\1 \\29\\3/' check.dump ;;
  thermo) sed -i '/^ *200 /s/[0-9] *$/x/; /^ *200 /s/x$/99/' log.myriad ;;
esac
exit 0
"""


@pytest.mark.parametrize("engine", ["openmp", "gpu", pytest.param("mpi", marks=pytest.mark.mpi)])
@pytest.mark.parametrize("what, word",
                         [("nothing", "identical to naive"), ("dump", "DIFFERENT"), ("thermo", "thermo differs")])
def test_make_check_notices_a_wrong_digit(what, word, engine, tmp_path):
    program = tmp_path / "myriad"
    program.write_text(BROKEN.format(program=harness.program(), what=what,
                                     broken="openmp" if engine == "mpi" else engine))
    program.chmod(0o755)
    done = subprocess.run([sys.executable, str(harness.HERE / "check_engines.py"), "--myriad", str(program),
                           "--engine", engine, "--only", "nearly empty", "--steps", "200"],
                          capture_output=True, text=True, check=False)
    assert word in done.stdout, done.stdout + done.stderr
    assert done.returncode == (0 if what == "nothing" else 1)
