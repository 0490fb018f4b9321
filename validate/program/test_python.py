"""libmyriad.so, from Python and from C: the same bits as the program, errors that leave a simulation usable, arrays of
particles that are read and set, and two simulations in one process.

The library is loaded into this process.  What needs a process of its own, such as ranks and an installed package, runs
in another interpreter.
"""

from __future__ import annotations

import copy
import importlib.util
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

import numpy as np
import pytest

import harness
from cli import run_deck, works
from harness import environment, hdf5_missing, mpirun, patience, program, rank_environment, read_dump, run

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / "python"
QUIET = ("-log", "none", "-screen", "none", "--threads", 2)

GAS = """\
units lj
lattice fcc 0.5
region b block 0 4 0 4 0 4
create_box 2 b
create_atoms 1 box
set group all type/fraction 2 0.25 11
mass 1 1
mass 2 2
velocity all create 2 7
pair_style lj/cut 2.5
pair_coeff * * 1 1
fix 1 all nve
thermo_modify format float %.17g
"""


@pytest.fixture(scope="session")
def library() -> Path:
    path = program().with_name("libmyriad.so")
    if not path.exists():
        pytest.skip(f"there is no {path}")
    return path


@pytest.fixture(scope="session")
def myriad(library):
    """The package of the source tree."""
    os.environ["MYRIAD_LIBRARY"] = str(library)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    sys.path.insert(0, str(PYTHON))
    import myriad as package

    return package


@pytest.fixture
def md(myriad, tmp_path, monkeypatch):
    """A simulation in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    with myriad.Myriad(*QUIET) as one:
        yield one


@pytest.fixture
def gas(md):
    md.commands_string(GAS)
    return md


def script(folder: Path, library: Path, text: str, *words: str, ranks: int = 0) -> str:
    """What a program in Python prints, in an interpreter of its own."""
    (folder / "script.py").write_text(text)
    surroundings = {**(rank_environment() if ranks else environment()), "MYRIAD_LIBRARY": str(library),
                    "PYTHONPATH": str(PYTHON)}
    done = subprocess.run([*(mpirun(ranks) if ranks else ()), sys.executable, "script.py", *words], cwd=folder,
                          env=surroundings, capture_output=True, text=True, timeout=patience(60), check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("engine", ["naive", "openmp"])
def test_a_deck_gives_the_bits_of_the_program(myriad, tmp_path, engine):
    variables = {"steps": 60, "every": 30, "cells": 4}
    result = run(harness.deck("in.melt"), tmp_path, engine=engine, variables=variables)
    frame = read_dump(tmp_path / "check.dump")[-1]
    words = [word for name, value in {**variables, "every": 20, "steps": 20, "out": tmp_path / "other"}.items()
             for word in ("-var", name, value)]
    (tmp_path / "other").mkdir()
    with myriad.Myriad(*QUIET, "--engine", engine, *words) as md:
        md.file(harness.deck("in.melt"))
        md.gather("f")  # A look between runs changes nothing.
        md.run(40)
        assert md.step == 60 and md.get_natoms() == 256
        for name, field in (("x", "x y z"), ("v", "vx vy vz"), ("f", "fx fy fz")):
            assert np.array_equal(md.gather(name), frame.vectors(*field.split())), name
        assert np.array_equal(md.ids(), frame.columns["id"])
        for name, title in (("temp", "Temp"), ("pe", "PotEng"), ("etotal", "TotEng"), ("press", "Press")):
            assert md.get_thermo(name) == result.table.at(60)[title]


@pytest.mark.parametrize("deck", ["in.close", "in.tilted", "in.barostat", "in.droplet", "in.gravity"])
def test_a_look_between_runs_changes_nothing(myriad, tmp_path, deck):
    """Also with momenta of two words, tilted boxes, boxes that change or follow, and bodies without a cutoff."""
    ends = []
    for looks in (False, True):
        with myriad.Myriad(*QUIET, "-var", "steps", 20, "-var", "every", 10, "-var", "out", tmp_path) as md:
            md.file(harness.deck(deck))
            if looks:
                x, v = md.gather("x"), md.gather("v")
                assert np.abs(md.gather("f")).max() > 0 and np.array_equal(md.gather("x"), x)
                assert np.array_equal(md.gather("v"), v)
            md.run(20)
            ends.append((md.gather("x"), md.gather("v"), md.box()))
    (x, v, box), (other_x, other_v, other_box) = ends
    assert np.array_equal(x, other_x) and np.array_equal(v, other_v) and box == other_box


@pytest.mark.mpi
@pytest.mark.parametrize("within", ["", "with md: "])
@pytest.mark.parametrize("failing", [(1,), (0, 1)])
def test_an_exception_on_a_rank_ends_all_of_them(failing, within, library, tmp_path):
    """And is shown. The other rank would wait for ever."""
    text = f"""
from myriad import Myriad
md = Myriad(*{QUIET})
md.commands_string('''{GAS}''')
def work():
    md.run(3)
    if md.rank in {failing}:
        raise ValueError("the rank's own")
    md.run(3)
{within}work()
"""
    (tmp_path / "script.py").write_text(text)
    surroundings = {**rank_environment(), "MYRIAD_LIBRARY": str(library), "PYTHONPATH": str(PYTHON)}
    done = subprocess.run([*mpirun(2), sys.executable, "script.py"], cwd=tmp_path, env=surroundings,
                          capture_output=True, text=True, timeout=patience(60), check=False)
    assert done.returncode != 0 and done.stderr.count("ValueError: the rank's own") >= len(failing)


@pytest.mark.mpi
def test_ranks_must_ask_the_same(library, tmp_path):
    text = f"""
from myriad import Myriad
md = Myriad(*{QUIET})
md.commands_string('''{GAS}''')
md.run(3)
v = md.gather("v")
said = []
for call in (lambda: md.gather("xv"[md.rank]), lambda: md.number(("pe", "ke")[md.rank]),
             lambda: md.scatter("v", v + md.rank), lambda: md.array("c_thermo_press"[:14 - md.rank])):
    try:
        call()
    except RuntimeError as error:
        said.append(str(error))
assert (md.gather("v") == v).all() and md.number("ke") > 0
with open(f"said.{{md.rank}}", "w") as file:
    file.write("\\n".join(said))
"""
    script(tmp_path, library, text, ranks=2)
    said = [(tmp_path / f"said.{rank}").read_text().splitlines() for rank in range(2)]
    assert [len(lines) for lines in said] == [4, 4]
    assert all(line.startswith("the ranks disagree: rank ") for lines in said for line in lines)
    assert "rank 1 calls gather v" in said[1][0] and "rank 0 calls scatter v with its own numbers" in said[0][2]


def test_vectors_in_two_dimensions_have_no_z(myriad):
    with myriad.Myriad(*QUIET) as md:
        md.commands_string("dimension 2\nregion b block 0 9 0 9 -0.5 0.5\ncreate_box 1 b\n"
                           "create_atoms 1 random 9 5 NULL\nmass 1 1\nfix 1 all nve\nfix e all external pf/array 1\n")
        for field in ("x", "v"):
            values = md.gather(field)
            md.scatter(field, values)
            values[4, 2] = 0.5
            with pytest.raises(myriad.UsageError, match=f"{field} of particle 5: .* z must be 0, not 0.5"):
                md.scatter(field, values)
        force = np.zeros((9, 3))
        md.fix_external_forces("e", force)
        force[2, 2] = 1
        with pytest.raises(myriad.UsageError, match="the force of particle 3: in two dimensions z must be 0"):
            md.fix_external_forces("e", force)
        md.command("variable bad atom x/0")
        with pytest.raises(myriad.UsageError, match="division by zero"):
            md.extract_variable("bad")


@pytest.mark.mpi
def test_ranks_give_the_same_bits(library, md, tmp_path):
    text = f"""
from myriad import Myriad
import numpy as np
md = Myriad(*{QUIET})
md.commands_string('''{GAS}''')
md.run(30)
md.scatter("v", -md.gather("v"))
md.run(10)
if md.rank == 0:
    np.savez("ranks.npz", x=md.gather("x"), f=md.gather("f"), ids=md.ids(), ranks=md.ranks)
else:
    md.gather("x"), md.gather("f"), md.ids()
md.close()
with Myriad(*{QUIET}) as second:
    assert second.ranks == 2
    try:
        second.command("nonsense")
    except RuntimeError as error:
        with open(f"error.{{second.rank}}", "w") as file:
            file.write(str(error))
"""
    script(tmp_path, library, text, ranks=2)
    for rank in range(2):
        assert (tmp_path / f"error.{rank}").read_text().startswith("command:1: unknown command 'nonsense'")
    md.commands_string(GAS)
    md.run(30)
    md.scatter("v", -md.gather("v"))
    md.run(10)
    with np.load(tmp_path / "ranks.npz") as other:
        assert other["ranks"] == 2 and np.array_equal(other["ids"], md.ids())
        assert np.array_equal(other["x"], md.gather("x")) and np.array_equal(other["f"], md.gather("f"))


def test_velocities_that_are_set_run_back_to_the_first_state(gas):
    gas.run(0)
    first = gas.gather("x")
    gas.run(100)
    assert not np.array_equal(gas.gather("x"), first)
    gas.scatter("v", -gas.gather("v"))
    gas.run(100)
    assert np.array_equal(gas.gather("x"), first)


def test_fields_are_read_as_they_were_set(gas):
    gas.run(5)
    x, v = gas.gather("x"), gas.gather("v")
    side = gas.box().hi[0]
    gas.scatter("x", x + [side, -2 * side, 0])
    assert np.allclose(gas.gather("x"), x, atol=1e-12)
    gas.scatter("x", x)
    assert np.array_equal(gas.gather("x"), x)
    gas.scatter_atoms("v", 1, 3, 2 * gas.gather_atoms("v", 1, 3))
    assert np.array_equal(gas.gather("v"), 2 * v)
    assert gas.gather_atoms("x", 1, 3)[3:6].tolist() == x[1].tolist()
    types = 1 + gas.ids() % 2
    gas.scatter("type", types)
    assert np.array_equal(gas.gather("type"), types) and gas.gather_atoms("type", 0, 1).dtype == np.int64
    assert np.array_equal(gas.gather("mass"), types.astype(float))
    local = gas.local(copy=False)
    order = np.argsort(local.id)
    assert np.array_equal(local.x[1][order], gas.gather("x")[:, 1]) and not local.v[0].flags.writeable
    assert np.array_equal(local.type[order], types)


@pytest.mark.parametrize("way", [0.75, 3.5])
def test_positions_that_are_set_are_displacements(way, myriad, tmp_path, monkeypatch):
    """Image flags and msd count them as they count displace_atoms, also by more than half of a side; and a fix that
    ties particles to places refuses too much."""
    monkeypatch.chdir(tmp_path)
    found = []
    for how in ("scatter", "displace_atoms"):
        with myriad.Myriad(*QUIET) as md:
            md.commands_string(GAS + "compute m all msd\ncompute i all property/atom ix xu\nrun 5\n")
            side = md.box().hi[0] - md.box().lo[0]
            x = md.gather("x")
            if how == "scatter":
                md.scatter("x", x + [way * side, 0, 0])
            else:
                md.command(f"displace_atoms all move {way * side:.17g} 0 0 units box")
            md.command("run 0")
            found.append((md.array("c_m")[0], md.gather("c_i[1]").sum(), md.gather("c_i[2]")))
            md.commands_string("fix s all spring/self 1\nrun 0\n")
            x = md.gather("x")
            with pytest.raises(myriad.MyriadError, match="spring/self ties it"):
                md.scatter("x", x + [0.45 * side, 0, 0])
            assert (md.gather("x") == x).all()
    assert np.allclose(found[0][0], (way * side) ** 2, rtol=1e-2)
    assert np.allclose(found[0][0], found[1][0], rtol=1e-9) and found[0][1] == found[1][1]
    assert np.allclose(found[0][2], found[1][2], rtol=0, atol=1e-9)


def test_restarts_before_a_scatter_are_of_another_course(myriad, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with myriad.Myriad(*QUIET) as md:
        md.commands_string(GAS + "restart 10 r.*\nrun 25\n")
        md.scatter("v", -md.gather("v"))
        md.run(20)
        x, v = md.gather("x"), md.gather("v")
        md.commands_string("seek 30\nrun 15\n")
        assert (md.gather("x") == x).all() and (md.gather("v") == v).all()
        md.commands_string("seek 15\nrun 30\n")
        assert (md.gather("x") == x).all() and (md.gather("v") == v).all()


def test_restarts_before_other_forces_are_of_another_course(myriad, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with myriad.Myriad(*QUIET) as md:
        md.commands_string(GAS + "fix e all external pf/array 1\nfix_modify e energy yes\nrestart 10 r.*\nrun 15\n")
        md.fix_external_energy("e", 500.0)
        md.run(10)
        energy = md.number("pe")
        md.commands_string("seek 12\nrun 13\n")
        assert md.number("pe") == energy
    with myriad.Myriad(*QUIET) as md:
        md.commands_string(GAS + "fix e all external pf/callback 1 1\nrestart 10 s.*\n")
        md.fix_external("e", lambda step, ids, x, f: None)
        md.run(15)
        md.fix_external("e", lambda step, ids, x, f: f.__setitem__(slice(None), 0.1 * (4.0 - x)))
        md.run(10)
        x = md.gather("x")
        md.commands_string("seek 12\nrun 13\n")
        assert (md.gather("x") == x).all()
        for wrong in ((1.0, 2.0), (1.0, [2.0])):
            md.fix_external("e", lambda step, ids, x, f, wrong=wrong: wrong)
            with pytest.raises(ValueError, match="a virial has 6 numbers"):
                md.run(1)
            md.command("clear")
            md.commands_string(GAS + "fix e all external pf/callback 1 1\n")


def test_ids_with_holes_keep_their_order(gas):
    gas.command("group some id 3:200:2")
    gas.command("delete_atoms group some compress no")
    ids = gas.ids()
    assert ids[:4].tolist() == [1, 2, 4, 6] and len(ids) == gas.get_natoms() == 256 - 99
    assert np.array_equal(gas.gather("id"), ids)
    marks = np.arange(len(ids)) * [[1e-3], [0], [0]]
    gas.scatter("v", marks.T)
    assert np.array_equal(gas.gather("vx"), marks[0])


def test_forces_computes_and_tensors_between_runs(gas):
    gas.commands_string("compute g all rdf 30\ncompute k all ke/atom\ncompute r all reduce sum c_k vx\n"
                        "compute xx all property/atom x y\nvariable at atom x*x\nvariable row vector c_thermo_press")
    # Before any run, of the present state.
    assert gas.get_thermo("temp") == pytest.approx(2, rel=1e-3)
    gas.run(20)
    force = gas.gather("f")
    assert np.array_equal(force[:, 2], gas.gather("fz")) and np.abs(force).max() > 1
    assert np.abs(force.sum(axis=0)).max() < 1e-9
    assert gas.array("c_g").shape == (30, 3) and gas.extract_compute("g", 0, 2)[10, 0] == pytest.approx(10.5 / 12)
    kinetic = gas.extract_compute("k", 1)
    assert np.allclose(kinetic, 0.5 * gas.gather("mass") * (gas.gather("v")**2).sum(axis=1), rtol=1e-14)
    assert gas.extract_compute("r", 0, 1)[0] == pytest.approx(kinetic.sum(), rel=1e-12)
    assert gas.number("c_r[1]/atoms") * 256 == gas.number("c_r[1]")
    tensor = gas.extract_compute("thermo_press", 0, 1)
    assert tensor[:3].mean() == pytest.approx(gas.get_thermo("press"), rel=1e-12)
    assert tensor[0] == gas.get_thermo("pxx")
    assert np.array_equal(gas.extract_variable("at"), gas.gather("x")[:, 0]**2)
    assert np.array_equal(gas.gather("c_xx[2]"), gas.gather("x")[:, 1])
    masked = gas.extract_variable("at", "all")
    assert np.array_equal(masked, gas.extract_variable("at"))


def test_numbers_by_the_names_of_lammps(gas):
    gas.commands_string("variable n equal 3*2\nvariable word index some\nfix av all ave/time 1 5 5 c_thermo_temp")
    gas.run(10)
    assert gas.extract_variable("n") == 6 and gas.extract_variable("word") == "some" and gas.text("word") == "some"
    assert gas.extract_global("ntimestep") == 10 and gas.extract_global("natoms") == 256
    assert gas.extract_global("dt") == 0.005 and gas.extract_global("nothing") is None
    lo, hi, xy, yz, xz, periodic, change = gas.extract_box()
    assert lo == [0, 0, 0] and hi[0] == gas.extract_global("boxxhi") == pytest.approx(8)
    assert (xy, yz, xz, periodic, change) == (0, 0, 0, [1, 1, 1], 0)
    assert gas.extract_fix("av") == gas.number("f_av") > 1
    assert gas.last_thermo()["step"] == 10


def test_refused_words_leave_the_simulation_as_it_was(myriad, gas):
    gas.run(5)
    before = gas.gather("x")
    for call, message in ((lambda: gas.command("nonsense"), "command:1: unknown command 'nonsense'"),
                          (lambda: gas.commands_string("thermo 5\nrun 1.5"), "commands:2: the number of steps"),
                          (lambda: gas.command("print 'a"), "never closed"),
                          (lambda: gas.file("nowhere"), "cannot read the deck nowhere"),
                          (lambda: gas.number("v_none"), "none"), (lambda: gas.array("c_none"), "c_none is no vector"),
                          (lambda: gas.array("temp"), "no name of an array"),
                          (lambda: gas.gather("nothing"), "nothing"),
                          (lambda: gas.scatter("f", before), "cannot be set"),
                          (lambda: gas.scatter("v", before * np.nan), "particle 1: nan is no finite number"),
                          (lambda: gas.scatter("type", np.full(256, 3)), "3 is no type of this system"),
                          (lambda: gas.scatter("mass", np.ones(256)), "mass"),
                          (lambda: gas.commands_string("thermo_style custom step v_none\nrun 5"), "none")):
        with pytest.raises(myriad.MyriadError, match=message):
            call()
        assert gas.step == 5 and np.array_equal(gas.gather("x"), before), message
    with pytest.raises(ValueError, match="must have the shape .256, 3., not .3,."):
        gas.scatter("x", [1, 2, 3])
    for call in (lambda: gas.command("run 1\0 upto"), lambda: gas.number("pe\0"), lambda: myriad.Myriad("-log\0")):
        with pytest.raises(ValueError, match="there is a NUL"):
            call()
    gas.command("thermo_style one")
    gas.run(5)
    with pytest.raises(myriad.UsageError, match="-in is an option of the program"):
        myriad.Myriad("-in", "in.melt")
    with pytest.raises(myriad.UsageError, match="there is no engine 'none'"):
        myriad.Myriad("--engine", "none")


def test_arguments_are_not_bent_until_they_fit(myriad, gas):
    """Nothing is cut, transposed, unmasked or parsed on the way; the simulation is as it was."""
    n, x, v = gas.get_natoms(), gas.gather("x"), gas.gather("v")
    for steps in (2.7, "10", float("nan")):
        with pytest.raises(ValueError):
            gas.run(steps)
    with pytest.raises(ValueError):
        gas.scatter("v", v.T)
    with pytest.raises(ValueError):
        gas.scatter("v", v.ravel())
    with pytest.raises(ValueError):
        gas.scatter("v", np.ma.masked_less(v, 0.0))
    for values in (v + 1j, v.astype(str), v.astype(object), None):
        with pytest.raises(TypeError):
            gas.scatter("v", values)
    with pytest.raises(myriad.UsageError, match="particle 1 would be at x = 1e.300, too far from the box"):
        gas.scatter("x", np.full((n, 3), 1e300))
    with pytest.raises(ValueError):
        gas.scatter_atoms("v", 1, 3, np.zeros(3 * n + 3))
    for name, dtype, count in (("v", 0, 3), ("v", 7, 3), ("v", "a", 3), ("v", 1, 1), ("v", 1, -3)):
        with pytest.raises(ValueError):
            gas.gather_atoms(name, dtype, count)
    for text in (None, 1, b"run 1", ["run 1"]):
        with pytest.raises(TypeError):
            gas.command(text)
    assert gas.step == 0 and np.array_equal(gas.gather("x"), x) and np.array_equal(gas.gather("v"), v)
    gas.run(np.int64(2))
    gas.run(1.0)
    assert gas.step == 3


def test_ids_beyond_doubles(md, tmp_path):
    (tmp_path / "d").write_text("big\n\n2 atoms\n1 atom types\n\n0 5 xlo xhi\n0 5 ylo yhi\n0 5 zlo zhi\n\n"
                                "Masses\n\n1 1\n\nAtoms # atomic\n\n"
                                "9007199254740993 1 1 1 1\n9223372036854775807 1 3 3 3\n")
    md.command(f"read_data {tmp_path / 'd'}")
    for ids in (md.ids(), md.gather("id"), md.gather_atoms("id", 0)):
        assert list(ids) == [2**53 + 1, 2**63 - 1]
    with pytest.raises(ValueError, match="dtype 1"):
        md.gather_atoms("id")


def test_copies_of_local_particles_stay(gas):
    local = gas.local()
    views = gas.local(copy=False)
    assert not views.x[0].flags.writeable and all(map(np.array_equal, local.x, views.x))
    before = [axis.copy() for axis in local.x]
    del views
    gas.command("clear")
    gas.close()
    assert all(map(np.array_equal, local.x, before))


def test_other_threads_wait_while_particles_are_looked_at(myriad, gas):
    """The number of particles does not change between the moment that an array is made and that it is filled."""
    gas.command("region corner block 0.4 0.6 0.4 0.6 0.4 0.6")
    failures = []

    def look() -> None:
        try:
            while gas.step < 20:
                assert np.all(np.diff(gas.ids(), prepend=0) > 0)
        except BaseException as error:  # pylint: disable=broad-except
            failures.append(error)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for k in range(20):
        gas.command("create_atoms 1 single 0.5 0.5 0.5" if k % 2 == 0 else "delete_atoms region corner")
        gas.run(1)
    for thread in threads:
        thread.join()
    assert not failures, failures


def test_a_simulation_is_not_closed_while_it_runs(myriad, gas):
    """By another thread, which waits for the end of the run; by a function within it, which is refused."""
    gas.command("fix e all external pf/callback 1 1")
    gas.fix_external("e", lambda *_: gas.close())
    with pytest.raises(myriad.UsageError, match="may not call the library"):
        gas.run(1)
    assert gas.get_natoms() > 0
    begun = threading.Event()
    gas.fix_external("e", lambda *_: begun.set())
    runner = threading.Thread(target=gas.run, args=(30,))
    runner.start()
    begun.wait()
    gas.close()
    runner.join()
    with pytest.raises(myriad.UsageError, match="closed"):
        gas.gather("x")


def test_a_process_that_fork_makes_has_no_simulation(myriad, gas):
    child = os.fork()
    if child == 0:
        try:
            gas.run(1)
        except myriad.UsageError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    gas.run(1)
    assert gas.step == 1


def test_what_the_present_state_lacks_is_said(myriad, md):
    md.commands_string("region b block 0 4 0 4 0 4\ncreate_box 1 b\nmass 1 1\ncreate_atoms 1 single 1 1 1\n"
                       "pair_style lj/cut 1")
    with pytest.raises(myriad.UsageError, match="for the present state it cannot be computed either: .*pair_coeff"):
        md.gather("f")
    assert md.gather("x").tolist() == [[1, 1, 1]]


def test_a_position_outside_of_a_wall_is_refused(myriad, md):
    md.commands_string("boundary f p p\nregion b block 0 4 0 4 0 4\ncreate_box 1 b\nmass 1 1\n"
                       "create_atoms 1 single 1 1 1\ncreate_atoms 1 single 3 3 3")
    x = md.gather("x")
    for by, place in ((2, "5"), (-4, "-1")):
        with pytest.raises(myriad.UsageError, match=f"particle 2 would be at x = {place}, outside of the box, 0 to 4"):
            md.scatter("x", x + [[0, 9, 0], [by, 0, 0]])
    assert np.array_equal(md.gather("x"), x)


def test_only_clear_follows_a_run_that_failed(myriad, gas):
    x = gas.gather("x")
    x[1] = x[0] + 1e-9
    gas.scatter("x", x)
    with pytest.raises(myriad.PhysicsError, match="1 and 2") as failed:
        gas.run(10)
    assert failed.value.status == 3
    with pytest.raises(myriad.UsageError, match="use the command clear"):
        gas.run(10)
    with pytest.raises(myriad.UsageError, match="use the command clear"):
        gas.gather("x")
    gas.command("clear")
    gas.commands_string(GAS)
    gas.run(10)


def test_simulations_side_by_side(myriad, gas):
    gas.run(10)
    with myriad.lammps(cmdargs=[str(word) for word in QUIET]) as other:
        other.commands_string(GAS)
        gas.run(10)
        other.run(20)
        assert np.array_equal(other.gather("x"), gas.gather("x"))
        workers = [threading.Thread(target=one.run, args=(20,)) for one in (gas, other)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert np.array_equal(other.gather("x"), gas.gather("x")) and gas.step == 40
    for call in (lambda: other.run(1), other.get_natoms, other.ids, lambda: other.step, lambda: other.ranks):
        with pytest.raises(myriad.UsageError, match="is closed"):
            call()
    other.close()


def test_texts_are_decks(myriad, gas):
    gas.commands_string("variable i loop 3\nvariable n equal 0\nlabel again\nvariable n equal $(v_n+v_i)\nnext i\n"
                        "jump SELF again\nvariable t equal &\n  7\nquit 4\nnonsense")
    assert gas.number("v_n") == 6 and gas.number("v_t") == 7
    with pytest.raises(myriad.UsageError, match="there is no label 'nowhere'"):
        gas.command("jump SELF nowhere")
    gas.command("variable n equal 8")
    assert gas.number("v_n") == 8


@pytest.fixture()
def interruptible():
    """Python's own way with SIGINT, which a program that was started in the background ignores."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_ends_a_run_at_a_whole_step(myriad, gas, interruptible):
    for seconds in (0.3, 3.0, 30.0):  # on a busy machine the run may not have begun when the signal comes
        threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(myriad.StoppedError, match="stopped by SIGINT at step"):
            gas.run(10**9)
        if gas.step > 0:
            break
    step, x = gas.step, gas.gather("x")
    assert 0 < step < 10**9 and not list(Path().glob("*.restart"))
    gas.scatter("v", -gas.gather("v"))
    gas.run(step)
    with myriad.Myriad(*QUIET) as other:
        other.commands_string(GAS + f"run {step}")
        assert np.array_equal(other.gather("x"), x)
    # Between commands Python has its own way with it again.
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)


@contextmanager
def interrupts(*seconds: float) -> Iterator[None]:
    """SIGINT after some times, unless the work that follows has ended before."""
    timers = [threading.Timer(wait, os.kill, (os.getpid(), signal.SIGINT)) for wait in seconds]
    for timer in timers:
        timer.start()
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()


def test_an_interrupt_ends_a_loop_of_commands(myriad, gas, interruptible):
    with interrupts(0.3), pytest.raises(myriad.StoppedError, match="stopped by SIGINT between two runs"):
        gas.commands_string("variable i loop 1000000000\nlabel a\nnext i\njump SELF a")
    gas.run(1)


def test_a_second_interrupt_is_that_of_python(myriad, gas, interruptible):
    """The function waits for more than a minute, and the second signal ends this."""
    gas.command("fix ext all external pf/callback 1 1")
    gas.fix_external("ext", lambda *_: time.sleep(100))
    began = time.monotonic()
    with interrupts(0.3, 0.6), pytest.raises(KeyboardInterrupt) as raised:
        gas.run(100)
    assert not isinstance(raised.value, myriad.StoppedError) and time.monotonic() - began < 50.0
    gas.command("clear")


def test_a_script_that_handles_interrupts_itself_does_so(myriad, gas, interruptible):
    heard = []
    gas.command("fix ext all external pf/callback 5 1")
    gas.fix_external("ext", lambda *_: os.kill(os.getpid(), signal.SIGINT))
    for own in (signal.SIG_IGN, lambda *_: heard.append(0)):
        signal.signal(signal.SIGINT, own)
        gas.run(20)
    assert gas.step == 40 and len(heard) == 5
    with myriad.Myriad(*QUIET, interrupt=True) as asked:
        asked.commands_string(GAS)
        with interrupts(0.3), pytest.raises(myriad.StoppedError):
            asked.run(10**9)


def test_a_simulation_that_goes_while_a_function_runs_is_ended_afterwards(myriad, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    others = [myriad.Myriad(*QUIET)]
    others[0].commands_string(GAS + "dump d all custom 1 f.txt id x\nrun 0\n")
    with myriad.Myriad(*QUIET) as md:
        md.commands_string(GAS + "fix e all external pf/callback 1 1\n")
        md.fix_external("e", lambda step, ids, x, f: others.clear())
        md.run(1)
        md.commands_string("unfix e\ndump d all custom 1 f.txt id x\nrun 1\n")


def test_two_simulations_do_not_write_the_same_file(myriad, gas):
    """But one after the other they do."""
    gas.command("dump d all custom 1 same.dump id x")
    with myriad.Myriad(*QUIET) as other:
        other.commands_string(GAS)
        for line in ("dump e all xyz 1 ./same.dump", "write_data same.dump", "print x file same.dump"):
            with pytest.raises(myriad.UsageError, match="which is the file of dump d of another simulation"):
                other.command(line)
        gas.command("undump d")
        other.command("dump e all custom 1 same.dump id")
        other.run(2)
    assert Path("same.dump").read_text().count("ITEM: TIMESTEP") == 3


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_simulation_is_not_copied(how, gas):
    with pytest.raises(TypeError, match="neither copied nor pickled"):
        how(gas)
    gas.run(1)


C_PROGRAM = r"""
#include "src/library/myriad.h"
#include <stdio.h>

int main(int argc, char **argv)
{
  const char *words[] = {"-log", "none", "-screen", "none"};
  double energy = 0, x[3 * 256];
  myriad *m = NULL, *other = NULL;
  (void)argc;
  if (myriad_open(4, words, &m) != MYRIAD_OK) return 1;
  if (myriad_command(m, "nonsense") != MYRIAD_USAGE) return 2;
  puts(myriad_error());
  if (myriad_file(m, argv[1]) || myriad_number(m, "etotal", &energy) || myriad_gather(m, "x", 3, x)) {
    puts(myriad_error());
    return 3;
  }
  printf("%lld %lld %.17g %.17g\n", (long long)myriad_step(m), (long long)myriad_natoms(m), energy, x[7]);
  if (myriad_command(m, NULL) != MYRIAD_USAGE || myriad_number(m, "pe", NULL) != MYRIAD_USAGE) return 5;
  if (myriad_gather(m, NULL, 3, x) != MYRIAD_USAGE || myriad_scatter(m, "v", 3, NULL) != MYRIAD_USAGE) return 6;
  if (myriad_get_box(m, NULL) != MYRIAD_USAGE || myriad_open(0, NULL, NULL) != MYRIAD_USAGE) return 7;
  if (myriad_open(-1, words, &other) != MYRIAD_USAGE || other) return 8;
  if (myriad_gather(m, "x", 2, x) != MYRIAD_USAGE) return 4;
  puts(myriad_error());
  return myriad_close(m);
}
"""


def test_a_program_in_c(library, gas, tmp_path):
    compiler = shutil.which("cc") or shutil.which("gcc") or pytest.skip("there is no C compiler")
    (tmp_path / "main.c").write_text(C_PROGRAM)
    (tmp_path / "in.gas").write_text(GAS + "run 20\n")
    subprocess.run([compiler, "-std=c99", "-Wall", "-Werror", f"-I{ROOT}", "main.c", "-o", "main", str(library),
                    f"-Wl,-rpath,{library.parent}"], cwd=tmp_path, check=True, timeout=60)
    done = subprocess.run([str(tmp_path / "main"), "in.gas"], cwd=tmp_path, env=environment(), capture_output=True,
                          text=True, timeout=patience(60), check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    refused, numbers, columns = done.stdout.splitlines()
    gas.run(20)
    assert refused == "command:1: unknown command 'nonsense'; `myriad help` lists the known ones"
    assert columns == "'x' has 3 columns for each particle, not 2"
    assert [float(word) for word in numbers.split()] == [20, 256, gas.number("etotal"), gas.gather("x")[2, 1]]


def test_the_package_installs_without_a_network(library, tmp_path):
    for need in ("pip", "setuptools"):
        if importlib.util.find_spec(need) is None:
            pytest.skip(f"there is no {need}")
    shutil.copytree(PYTHON, tmp_path / "python", ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    surroundings = {**environment(), "MYRIAD_BUILD": str(library.parent), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-build-isolation", "--no-deps",
                    "--no-compile", "--target", "site", "./python"], cwd=tmp_path, env=surroundings, check=True,
                   timeout=patience(120), capture_output=True)
    surroundings["PYTHONPATH"] = str(tmp_path / "site")
    surroundings.pop("MYRIAD_LIBRARY", None)
    text = ("import myriad, myriad.library as at; print(at.path_of_library(), flush=True); "
            "myriad.Myriad('-log', 'none').close()")
    done = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, env=surroundings, capture_output=True, text=True,
                          timeout=patience(60), check=False)
    assert done.stdout.splitlines() == [str(tmp_path / "site" / "myriad" / "libmyriad.so"), "Myriad 0.1"], done.stderr


@pytest.mark.parametrize("name, words, last", [
    ("rdf.py", ("--pieces", "2", "--steps", "20"), "step     40: g("),
    ("reversal.py", ("--steps", "40"), "2048 of 2048 particles are where they were, to the last bit"),
])
def test_examples(library, tmp_path, name, words, last):
    said = script(tmp_path, library, (PYTHON / "examples" / name).read_text(), *words)
    assert last in said.splitlines()[-1]


COMMAS = """\
import locale, sys
from myriad import Myriad
locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
md = Myriad("-log", "none", "-screen", "none", "--threads", 2)
md.commands_string(open("in.deck").read())
print(md.number("1.5 + 2"), md.number("0.25"), locale.localeconv()["decimal_point"], file=sys.stderr)
md.close()
"""


def test_numbers_have_a_point_in_every_locale(library, tmp_path):
    """A program that draws windows sets a locale with a decimal comma, in which C reads 1.5 as 1."""
    names = tmp_path / "locales"
    names.mkdir()
    if shutil.which("localedef") is None or subprocess.run(
            ["localedef", "-i", "de_DE", "-f", "UTF-8", "./de_DE.UTF-8"], cwd=names, capture_output=True,
            check=False).returncode > 1 or not (names / "de_DE.UTF-8").exists():
        pytest.skip("localedef makes no locale with a decimal comma here")
    # More rows than one thread formats.
    deck = GAS.replace("0 4 0 4 0 4", "0 12 0 12 0 12").replace("fcc 0.5", "fcc 0.55")
    (tmp_path / "in.deck").write_text(deck + "dump d all custom 1 d.txt id x vx\nrun 1\nwrite_data end.data\n")
    words = {**environment(), "LOCPATH": str(names), "MYRIAD_LIBRARY": str(library), "PYTHONPATH": str(PYTHON)}
    done = subprocess.run([sys.executable, "-c", COMMAS], cwd=tmp_path, env=words, capture_output=True, text=True,
                          timeout=patience(60), check=False)
    assert (done.returncode, done.stderr) == (0, "3.5 0.25 ,\n")
    own = {name: (tmp_path / name).read_bytes() for name in ("d.txt", "end.data")}
    run(deck + "dump d all custom 1 d.txt id x vx\nrun 1\nwrite_data end.data\n", tmp_path)
    assert own == {name: (tmp_path / name).read_bytes() for name in own}


# Each changed something before it was refused.
REFUSED = [
    "pair_style morse -1", "pair_style gravity -1", "pair_style eam 3", "pair_style hybrid lj/cut 2.5 morse -1",
    "pair_modify shift yes", "pair_modify tail no shift yes mix none", "neigh_modify exclude type 1 1 exclude type 1 7",
    "neigh_modify exclude none exclude group all nowhere", "compute_modify thermo_temp extra/dof 100 dynamic maybe",
    "read_dump snapshot 0 x y z vx", "dump_modify d format float %gx%d", "create_atoms 1 uniform 5 seed 3 scale 100",
    "displace_atoms all move 0 0 100", "displace_atoms all random 0 0 9 7", "set group all z 99",
    "set group all vx 3 type/subset 1 2000 5", "change_box all z final 0 3", "velocity one create 1 5",
    "thermo_modify norm no flush maybe", "fix e all evaporate 1 5 nowhere 7", "group g dynamic all region nowhere"]


@pytest.mark.parametrize("command", REFUSED)
def test_a_refused_command_changes_nothing(command, myriad, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("snapshot").write_text("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS pp pp pp\n"
                                "0 9\n0 9\n0 9\nITEM: ATOMS id type x y z\n1 1 2 2 2\n")
    ends = []
    for words in ([], [command]):
        with myriad.Myriad(*QUIET) as md:
            md.commands_string(GAS.replace("0 4 0 4 0 4", "0 4 0 4 -1 5\nboundary p p f\nregion i block 0 4 0 4 0 3.9")
                               .replace("create_atoms 1 box", "create_atoms 1 region i") +
                               "neigh_modify exclude type 2 2\npair_modify tail yes\n"
                               "dump d all custom 5 d id x\ndump_modify d format float abcdef%g\ngroup one id 1\n"
                               "region r block 0 2 0 2 0 2\nfix e all evaporate 1 5 r 7\n"
                               "group g dynamic all region r every 1\n")
            for word in words:
                with pytest.raises(myriad.UsageError):
                    md.command(word)
            md.run(5)
            ends.append([md.number(name) for name in ("pe", "temp", "press", "lz", "atoms", "mass(all)", "count(g)")])
        ends[-1].append(Path("d").read_text())
    assert ends[0] == ends[1]


def test_a_file_that_is_wrong_in_the_middle_leaves_only_clear(myriad, gas):
    """The particles before the wrong line are there."""
    lines = "1 atoms\n1 atom types\n0 8 xlo xhi\n0 8 ylo yhi\n0 8 zlo zhi\n\nAtoms # atomic\n\n1 1 4 4 wrong\n"
    Path("file.data").write_text("a file\n\n" + lines)
    with pytest.raises(myriad.UsageError, match="'wrong' is not a number"):
        gas.command("read_data file.data add append")
    with pytest.raises(myriad.UsageError, match="use the command clear"):
        gas.run(1)
    gas.command("clear")
    gas.commands_string(GAS)
    gas.run(1)


def test_a_refused_minimisation_leaves_the_velocities(myriad, gas):
    gas.commands_string("min_style fire\npair_style lj/cut 2.5")
    before = gas.gather("v")
    with pytest.raises(myriad.UsageError, match="pair_coeff"):
        gas.command("minimize 0 0 5 100")
    assert np.array_equal(gas.gather("v"), before) and np.abs(before).max() > 0.1


@pytest.mark.skipif(program().exists() and hdf5_missing(), reason="this build has no HDF5")
def test_a_refused_command_is_not_in_the_history(myriad, tmp_path, monkeypatch):
    """A restart of this simulation is one of the deck without it."""
    monkeypatch.chdir(tmp_path)
    deck = GAS + "restart 5 r.*\nrun 7\n"
    with myriad.Myriad(*QUIET) as md:
        for line in deck.splitlines():
            if line.startswith("pair_coeff"):
                for wrong in ("run 3", "minimize 0 0 5 100", "mass 1 -2", "velocity all create nothing 7"):
                    with pytest.raises(myriad.UsageError):
                        md.command(wrong)
            if not line.startswith("run"):
                md.command(line)
        md.run(7)
    assert "Resumed at step 5" in works(run_deck(tmp_path, deck, "--resume")).out


def test_a_file_that_cannot_be_opened_leaves_the_particles(myriad, gas):
    """It shows when a run begins, before its first step."""
    gas.run(5)
    before = gas.gather("x")
    Path("folder").mkdir()
    gas.command("dump d all custom 5 folder id x")
    with pytest.raises(myriad.MyriadError, match="folder"):
        gas.run(5)
    gas.command("undump d")
    assert np.array_equal(gas.gather("x"), before)
    gas.run(5)


def test_a_fix_whose_file_is_not_complete_is_gone(myriad, gas):
    """It cannot be closed, because the disk is full. Its name is free then."""
    gas.command("fix p all print 1 'hello' file /dev/full screen no")
    for command in ("run 3", "unfix p"):
        with pytest.raises(myriad.MyriadError, match="No space left"):
            gas.command(command)
    with pytest.raises(myriad.UsageError, match="there is no fix 'p'"):
        gas.command("unfix p")
    gas.command("fix p all print 1 'hello' screen no")
    gas.run(3)


def test_two_simulations_of_a_process_may_share_a_log(myriad, tmp_path, monkeypatch):
    """As where a cell of a notebook is executed again: the one before is closed when the new one is there."""
    monkeypatch.chdir(tmp_path)
    words = ("-screen", "none", "--threads", 2)
    md = myriad.Myriad(*words)
    begun = time.monotonic()
    md = myriad.Myriad(*words)
    assert time.monotonic() - begun < 2
    md.commands_string(GAS)
    md.run(1)
    md.close()
    assert "Loop time" in Path("log.myriad").read_text()


def test_a_tilt_that_is_refused_leaves_the_particles(myriad, gas):
    """change_box checks the new box before it moves a particle."""
    gas.command("variable far equal bound(all,xmax)")
    before = gas.number("v_far"), gas.number("lx")
    with pytest.raises(myriad.MyriadError, match="tilt"):
        gas.command("change_box all x scale 2.0 remap triclinic xy final 100 units box")
    assert (gas.number("v_far"), gas.number("lx")) == before
