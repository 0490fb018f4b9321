"""Restarts: a run that goes on from one ends in the same bits as one that was never stopped.

What is compared are data files and dumps of 17 digits, byte for byte: on every engine, over ranks, after signals, at
limits of time and after kill -9.  Damaged and foreign files are refused; the checksums are computed again here, from
their definition.
"""

from __future__ import annotations

import gzip
import os
import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Dict, List, Optional, Sequence

import numpy as np
import pytest

import harness
from cli import BOX, RUNTIME, USAGE, call, refused, run_deck, works

pytestmark = pytest.mark.skipif(
    harness.program().exists() and harness.hdf5_missing(), reason="this build has no HDF5")

STOPPED = 85

# Two types of different mass, a thermostat with a ramp, a mixture of coefficients.
MIXTURE = """\
units lj
lattice fcc 0.8442
region b block 0 5 0 5 0 5
create_box 2 b
create_atoms 1 box
set type 1 type/fraction 2 0.4 77
mass 1 1
mass 2 1.7
velocity all create 1.44 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
pair_coeff 2 2 0.8 0.9
pair_modify shift yes mix arithmetic
"""
MIXTURE_FIXES = "fix 1 all nve\nfix 2 all langevin 1.0 2.0 1.0 99\n"

# Two dimensions, walls, leapfrog.
FLAT = """\
dimension 2
boundary f f p
region b block 0 0.4 0 0.4 -0.1 0.1
create_box 1 b
create_atoms 1 grid 300 seed 5
mass 1 0.01
velocity all uniform -1 1 7
pair_style repulsive 0.03
timestep 0.0005
"""
FLAT_FIXES = "fix 1 all nve/leapfrog\nfix 2 all wall/reflect xlo EDGE xhi EDGE ylo EDGE yhi EDGE\n"
FLOAT_FIXES = FLAT_FIXES.replace("nve/leapfrog", "nve/leapfrog drift float")

# Velocities scaled after steps: where a restart is written after such a step, and where it is between two.
SCALED_FIXES = "fix 1 all nve\nfix 2 all temp/rescale 7 1.0 2.0 0.02 0.5\nfix 3 all temp/rescale 15 1.1 1.7 0 0.9\n" \
               "fix 4 all temp/berendsen 1.2 1.8 0.7\n"

# A droplet that flies apart: the box follows the particles, which leave the cells with which the run began. It then is
# so large that it would have more room, if the restart did not keep the room of the beginning.
DROPLET = """\
dimension 2
boundary s ms p
region b block 0 8 0 8 -1 1
create_box 1 b
create_atoms 1 random 100 7 NULL
mass 1 1
velocity all create 30 99
pair_style soft 0.5
pair_coeff * * 25
timestep 0.01
"""
DROPLET_FIXES = "fix 1 all nve\n"

# Particles in one quarter of the box: with slabs, two of four ranks have them.
FLAT_CORNER = """\
dimension 2
region b block 0 20 0 20 -1 1
create_box 1 b
region c block 1 8 1 8 -1 1
create_atoms 1 random 100 7 c
mass 1 1
pair_style soft 1.0
pair_coeff * * 25
"""

# A thermostat with a state of its own.
CHAIN_FIXES = "fix 1 all nvt temp 1.0 2.0 0.5 tchain 4 tloop 2\n"

SYSTEMS = {"mixture": (MIXTURE, MIXTURE_FIXES), "flat": (FLAT, FLAT_FIXES), "float": (FLAT, FLOAT_FIXES),
           "scaled": (MIXTURE, SCALED_FIXES), "droplet": (DROPLET, DROPLET_FIXES), "chain": (MIXTURE, CHAIN_FIXES)}


def keep_restart(folder: Path, step: int) -> None:
    """Removes all restarts r.N but that of this step: the job was killed after it."""
    for path in folder.glob("r.*"):
        if path.name != f"r.{step}":
            path.unlink()


def data(folder: Path, name: str = "end.data") -> bytes:
    return (folder / name).read_bytes()


def take_signals(interrupt: signal.Handlers = signal.SIG_DFL) -> None:
    """In a new process: what it finds SIGINT and SIGHUP set to, whatever they are here, as under nohup."""
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def start(folder: Path, *arguments: str, ranks: int = 1, deck: Optional[str] = None,
          environment: Optional[Dict[str, str]] = None,
          interrupt: signal.Handlers = signal.SIG_DFL) -> subprocess.Popen:
    """Starts a deck in the background, on one thread a rank. interrupt: what it finds SIGINT set to, whatever it is
    here."""
    if deck is not None:
        (folder / "in.deck").write_text(deck)
    command = [*(harness.mpirun(ranks) if ranks > 1 else ()), str(harness.program()), "-in", "in.deck", "-log",
               "log.myriad", "-screen", "none", "--threads", "1", *arguments]
    surroundings = harness.rank_environment() if ranks > 1 else harness.environment()
    return subprocess.Popen(command, cwd=folder, env={**surroundings, **(environment or {})}, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            preexec_fn=lambda: take_signals(interrupt))


def finish(process: subprocess.Popen, expect: int = 0, limit: float = harness.patience(60.0)) -> str:
    """Waits; returns what was said on standard error."""
    _, err = process.communicate(timeout=limit)
    assert process.returncode == expect, f"status {process.returncode}, not {expect}: {err}"
    return err


def wait_for(condition, process: subprocess.Popen, limit: float = 30.0) -> None:
    end = time.monotonic() + limit
    while not condition():
        assert process.poll() is None, f"it ended too early: {process.communicate()}"
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.005)


# ---- read_restart ----

@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("first, second", [("openmp", "naive"), ("naive", "openmp"),
                                           pytest.param("gpu", "openmp", marks=pytest.mark.gpu),
                                           pytest.param("openmp", "gpu", marks=pytest.mark.gpu)])
def test_a_run_goes_on_to_the_same_bits_on_another_engine(system, first, second, tmp_path):
    begin, fixes = SYSTEMS[system]
    thermo = "thermo 25\nthermo_modify format float %.17g\n"
    whole = harness.run(f"{begin}{fixes}{thermo}run 100\nwrite_data end.data\n", tmp_path / "whole", engine=second)
    part = tmp_path / "part"
    harness.run(f"{begin}{fixes}restart 30 r\nrun 60 start 0 stop 100\n", part, engine=first)
    assert sorted(p.name for p in part.glob("r.*")) == ["r.1", "r.2"]
    rest = f"read_restart r.2\n{fixes}{thermo}run 100 upto start 0 stop 100\nwrite_data end.data\n"
    after = harness.run(rest, part, engine=second)
    assert ("goes on with its state" in after.log) == (system in ("chain", "mixture", "scaled"))
    assert data(part) == data(tmp_path / "whole")
    assert after.table.at(100) == whole.table.at(100)


def test_a_chain_is_resumed(tmp_path):
    """Within the second run of a deck, and formulas after the first one know the energy that the chain took there."""
    deck = f"{MIXTURE}{CHAIN_FIXES}thermo_style custom step ecouple\nthermo_modify format float %.17g\n" \
        "restart 20 r.*\nrun 30\nvariable taken equal ecouple\nprint \"taken ${taken}\"\nrun 30\nwrite_data end.data\n"
    whole = works(run_deck(tmp_path, deck)).out
    (tmp_path / "r.60").unlink()
    end = data(tmp_path)
    (tmp_path / "end.data").unlink()
    again = works(run_deck(tmp_path, deck, "--resume")).out
    assert "Resumed at step 40" in again and data(tmp_path) == end
    for words in (r"taken -?\d\S+", r"\n +60 \S+"):
        assert re.findall(words, again) == re.findall(words, whole) != []


@pytest.mark.parametrize("fix", ["nvt temp 0.7 1.1 0.02", "npt temp 0.7 1.1 0.02 iso 1 1 0.1"])
def test_a_thermostat_goes_on_with_the_energy_that_it_knew(fix, tmp_path):
    """After a step these fixes know the kinetic energy but for rounding. A resumed run must not measure it anew, nor
    a second run, as long as no command has changed it."""
    begin = f"{MIXTURE}fix 1 all {fix}\nthermo_style custom step ecouple\nthermo_modify format float %.17g\n"
    runs = ["run 20\n", "run 7 start 0 stop 20\nrun 13 start 0 stop 20\n"]
    whole, parts = [harness.run(begin + text + "write_data end.data\n", tmp_path / str(k))
                    for k, text in enumerate(runs)]
    assert parts.table.rows[-1] == whole.table.rows[-1] and data(tmp_path / "1") == data(tmp_path / "0")
    deck = begin + "restart 1 r.*\n" + runs[0] + "write_data end.data\n"
    works(run_deck(tmp_path, deck))
    for kept in reversed(range(1, 20)):
        for step in {kept + 1, 20}:
            (tmp_path / f"r.{step}").unlink()
        again = works(run_deck(tmp_path, deck.replace("restart 1", "restart 20"), "--resume")).out
        assert f"Resumed at step {kept}" in again
        assert harness.read_tables(again)[-1].rows[-1] == whole.table.rows[-1], f"resumed at step {kept}"
        assert data(tmp_path) == data(tmp_path / "0")


def test_a_box_without_particles_stays(tmp_path):
    """No particle says where faces that follow particles are."""
    deck = DROPLET + DROPLET_FIXES + "thermo 0\nrun 10\ndelete_atoms group all\nwrite_dump all atom one.dump\n" \
        "dump d all atom 5 all.dump\nrun 10\n"
    works(run_deck(tmp_path, deck))
    wanted = harness.read_dump(tmp_path / "one.dump")[0].bounds
    frames = harness.read_dump(tmp_path / "all.dump")
    assert [frame.step for frame in frames] == [10, 15, 20]
    for frame in frames:
        assert np.abs(frame.bounds - wanted).max() < 1e-6


def test_a_star_stands_for_the_largest_step(tmp_path):
    """Of numbers, and not of names: 120 comes after 40."""
    made = BOX + "restart 40 part.*.h5\nrun 130\n"
    works(run_deck(tmp_path, made))
    (tmp_path / "part.900.h5.old").write_text("")
    (tmp_path / "part.x.h5").write_text("")
    works(run_deck(tmp_path, 'read_restart part.*.h5\nprint "$(step)" file got\n'))
    assert (tmp_path / "got").read_text().split() == ["120"]
    refused(run_deck(tmp_path, "read_restart none.*.h5\n"), RUNTIME, "there is no file none.*.h5 with a step")


def test_a_ramp_depends_on_where_it_begins(tmp_path):
    """What start and stop of run are for: without them the rest of the ramp is another one."""
    begin, fixes = SYSTEMS["mixture"]
    harness.run(f"{begin}{fixes}run 100\nwrite_data end.data\n", tmp_path / "whole")
    part = tmp_path / "part"
    harness.run(f"{begin}{fixes}restart 60 r\nrun 60 start 0 stop 100\n", part)
    harness.run(f"read_restart r.1\n{fixes}run 100 upto\nwrite_data end.data\n", part)
    assert data(part) != data(tmp_path / "whole")


@pytest.mark.mpi
@pytest.mark.parametrize("system", ["mixture", "flat", "droplet", "chain"])
def test_a_run_goes_on_over_ranks(system, tmp_path):
    """1, then 3, then 2 ranks."""
    begin, fixes = SYSTEMS[system]
    if begin == MIXTURE:
        begin = begin.replace("block 0 5", "block 0 15")
    harness.run(f"{begin}{fixes}run 90\nwrite_data end.data\n", tmp_path / "whole")
    ramp = "start 0 stop 90"
    finish(start(tmp_path, ranks=1, deck=f"{begin}{fixes}restart 30 a*\nrun 30 {ramp}\n"))
    finish(start(tmp_path, ranks=3, deck=f"read_restart a30\n{fixes}restart 30 b*\nrun 30 {ramp}\n"))
    finish(start(tmp_path, ranks=2, deck=f"read_restart b60\n{fixes}run 30 {ramp}\nwrite_data end.data\n"))
    assert data(tmp_path) == data(tmp_path / "whole")


@pytest.mark.smoke
def test_write_restart_changes_nothing(tmp_path):
    begin, fixes = SYSTEMS["mixture"]
    harness.run(f"{begin}{fixes}run 50\nwrite_data end.data\n", tmp_path / "without")
    between = f"{begin}write_restart a.*\n{fixes}run 20 start 0 stop 50\nwrite_restart b.*\nrun 30 start 0 stop 50\n"
    folder = tmp_path / "with"
    harness.run(f"{between}write_data end.data\n", folder)
    assert data(folder) == data(tmp_path / "without")
    harness.run(f"read_restart a.0\n{fixes}run 50\nwrite_data a.data\n", folder)
    harness.run(f"read_restart b.20\n{fixes}run 30 start 0 stop 50\nwrite_data b.data\n", folder)
    assert data(folder, "a.data") == data(folder, "b.data") == data(folder)


# ---- the file itself ----

def test_its_bytes_do_not_depend_on_the_clock(tmp_path):
    begin, fixes = SYSTEMS["mixture"]
    for name in ("early", "late"):
        harness.run(f"{begin}{fixes}run 5\nwrite_restart a.restart\n", tmp_path / name, engine="naive")
        time.sleep(1.1)  # HDF5 counts seconds.
    early, late = ((tmp_path / name / "a.restart").read_bytes() for name in ("early", "late"))
    assert early == late and len(early) > 1000


def mix(z: np.ndarray) -> np.ndarray:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def checksum(index: int, identity: np.ndarray, rows: Sequence[np.ndarray]) -> int:
    """Of a field, the index-th, by the definition in docs/reference/restarts.md."""
    total = np.uint64(0)
    with np.errstate(over="ignore"):
        for d, row in enumerate(rows):
            value = row.astype(np.uint64) if row.dtype == np.uint16 else np.ascontiguousarray(row).view(np.uint64)
            salt = mix(np.array([3 * index + d + 1], dtype=np.uint64))[0]
            total += mix(value + identity.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + salt).sum(dtype=np.uint64)
    return int(total)


def test_the_file_describes_itself(tmp_path):
    h5py = pytest.importorskip("h5py")
    begin, fixes = SYSTEMS["mixture"]
    harness.run(f"{begin}{fixes}restart 30 r\ndump 1 all custom 30 d.txt id type x y z vx vy vz\nrun 30\n", tmp_path)
    frame = harness.read_dump(tmp_path / "d.txt")[-1]
    with h5py.File(tmp_path / "r.1") as f:
        assert f["format"][()] == b"Myriad restart" and f["version"][()] == 13
        assert f["run/step"][()] == 30 and f["model/particles"][()] == 500
        assert f["model/pair_style"][()] == b"lj/cut" and f["model/fix/1/style"][()] == b"nve"
        assert f["model/fix/2/seed"][()] == 99 and list(f["model/mass"]) == [1.0, 1.7]
        assert f["model/pair_coefficients"][1, 1, 0] == 0.8
        identity, kind = f["particles/id"][:], f["particles/type"][:]
        order = np.argsort(identity)
        assert np.array_equal(identity[order], np.arange(1, 501))
        for d, axis in enumerate("xyz"):
            assert np.array_equal(f["particles/x"][d][order], frame.columns[axis])
            velocity = f["particles/v"][d] * f["model/velocity_per_v"][:][kind - 1]
            assert np.array_equal(velocity[order], frame.columns[f"v{axis}"])
        for index, name in enumerate(["id", "type", "x", "v"]):
            field = f[f"particles/{name}"]
            rows = field[:] if field.ndim == 2 else [field[:]]
            assert field.attrs["checksum"].astype(np.uint64) == checksum(index, identity, rows), name
            assert len(field.attrs["meaning"]) > 0


@pytest.mark.mpi
def test_balance_knows_the_owners_of_a_restart(tmp_path):
    """Ranks read equal shares of a restart, whichever domains the particles are in."""
    corner = FLAT_CORNER + "fix 1 all nve\n"
    finish(start(tmp_path, ranks=1, deck=corner + "write_restart r\n"))
    finish(start(tmp_path, ranks=4, deck="read_restart r\nfix 1 all nve\nbalance 1.1 rcb\nrun 0\n"))
    before, after = re.search(r"over the average (\S+), now (\S+)", (tmp_path / "log.myriad").read_text()).groups()
    assert float(before) > 2.0 and float(after) < 1.1


@pytest.mark.mpi
def test_ranks_write_the_same_checksums(tmp_path):
    h5py = pytest.importorskip("h5py")
    begin = MIXTURE.replace("block 0 5", "block 0 15")
    found = []
    for ranks in (1, 2, 3):
        finish(start(tmp_path, ranks=ranks, deck=f"{begin}{MIXTURE_FIXES}restart 20 r{ranks}.*\nrun 20\n"))
        with h5py.File(tmp_path / f"r{ranks}.20") as f:
            found.append((list(f["particles/checksum"]), int(f["checksum"][()])))
    assert found[0] == found[1] == found[2]


def test_h5dump_reads_it(tmp_path):
    if shutil.which("h5dump") is None:
        pytest.skip("no h5dump here")
    harness.run(f"{MIXTURE}write_restart r\n", tmp_path)
    done = subprocess.run(["h5dump", "-d", "/model/pair_style", str(tmp_path / "r")], capture_output=True, text=True,
                          check=True)
    assert '"lj/cut"' in done.stdout


# ---- files that are refused ----

@pytest.fixture(scope="module")
def good(tmp_path_factory) -> bytes:
    folder = tmp_path_factory.mktemp("good")
    works(run_deck(folder, MIXTURE.replace("0 5 0 5 0 5", "0 2 0 2 0 2") + "write_restart r\n"))
    return (folder / "r").read_bytes()


def reading(folder: Path, content: Optional[bytes]):
    if content is not None:
        (folder / "r").write_bytes(content)
    # HDF5 itself loses memory when it gives up on a damaged file.
    return run_deck(folder, "read_restart r\nwrite_data r.data\n", variables={"ASAN_OPTIONS": "detect_leaks=0"})


@pytest.mark.smoke
def test_what_is_no_restart_is_refused(tmp_path, good):
    refused(reading(tmp_path, None), RUNTIME, "cannot read r: No such file", line=1)
    refused(reading(tmp_path, b""), RUNTIME, "no HDF5 file")
    refused(reading(tmp_path, b"units lj\n" * 1000), RUNTIME, "no HDF5 file")
    for size in (100, 4096, len(good) // 2, len(good) - 1):
        refused(reading(tmp_path, good[:size]), RUNTIME, "truncated")
    (tmp_path / "r").unlink()
    (tmp_path / "r").mkdir()
    refused(reading(tmp_path, None), RUNTIME, "cannot read r")


def test_files_of_others_are_refused(tmp_path, good):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "r", "w") as f:
        f["particles/x"] = np.zeros((3, 10))
    refused(reading(tmp_path, None), RUNTIME, "is an HDF5 file, but no restart of Myriad")
    (tmp_path / "r").write_bytes(good)
    with h5py.File(tmp_path / "r", "r+") as f:
        f["version"][()] = 14
    refused(reading(tmp_path, None), RUNTIME, "restart of version 14", "reads versions 9 to 13")


@pytest.mark.parametrize("name, word", [("particles/id", "/particles/id"), ("particles/type", "/particles/type"),
                                        ("particles/x", "/particles/x"), ("particles/v", "/particles/v"),
                                        ("model/mass", "model and settings"), ("run/step", "model and settings"),
                                        ("model/box_hi", "model and settings")])
def test_one_changed_value_is_found(name, word, tmp_path, good):
    h5py = pytest.importorskip("h5py")
    (tmp_path / "r").write_bytes(good)
    with h5py.File(tmp_path / "r", "r+") as f:
        field = f[name]
        if field.shape == ():
            field[()] += 1
        else:
            last = tuple(k - 1 for k in field.shape)
            # Another valid type, the next double, ...
            field[last] = 3 - field[last] if name.endswith("type") else np.nextafter(field[last], 9.0) \
                if field.dtype == float else field[last] + 1
    refused(reading(tmp_path, None), RUNTIME, word, "damaged")


def test_two_particles_that_change_places_are_found(tmp_path, good):
    """The sum of the values alone would not see it."""
    h5py = pytest.importorskip("h5py")
    (tmp_path / "r").write_bytes(good)
    with h5py.File(tmp_path / "r", "r+") as f:
        x = f["particles/x"][0]
        x[[0, 1]] = x[[1, 0]] if x[0] != x[1] else x[[1, 0]] + 0.25
        f["particles/x"][0] = x
    refused(reading(tmp_path, None), RUNTIME, "/particles/x", "damaged")


MASK = 2**64 - 1


def mixed(z: int) -> int:
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def header_names(f) -> List[str]:
    """What the checksum of model and settings goes over, in its order."""
    none = f["model/pair_style"][()] == b"none"
    pair = "" if none else "pair_shift pair_mixing pair_defaults pair_coefficients pair_set "
    fixes = "".join(f"fix/{k + 1}/{name} " for k in range(int(f["model/fixes"][()]))
                    for name in ("style", "group", "numbers", "seed", "energy", "state")
                    if f"model/fix/{k + 1}/{name}" in f)
    groups = "groups " + "".join(f"group/{k} " for k in range(1, int(f["model/groups"][()])))
    model = ("dimension types particles box_lo box_hi periodic mass pair_style " + pair + "timestep " + groups +
             "fixes " + fixes + "grids mass_reference velocity_per_v wide velocity_steps skin")
    names = ["program", *(f"model/{name}" for name in model.split())]
    names += [f"run/{name}" for name in "step begin end under_way has_energy first_energy beginning runs".split()]
    if "runs" in f:
        arrays = "deck first last computes fix_energy bond_energy coupled box edits model halted drawn atoms values"
        names += [f"runs/{name}" for name in arrays.split() if f"runs/{name}" in f]
    else:
        parts = "deck first last computes values fix_energy bond_energy box tilt coupled edits model halted drawn"
        names += [f"run/{k + 1}/{name}" for k in range(int(f["run/runs"][()])) for name in parts.split()
                  if f"run/{k + 1}/{name}" in f]
    optional = "measured measured_values measured_drawn left_out left_out_commands drawn drawn_row draw_shift unshown"
    names += ["run/edits", *(f"run/{name}" for name in optional.split() if f"run/{name}" in f), "output/files"]
    for k in range(int(f["output/files"][()])):
        names += [f"output/{k + 1}/{name}" for name in "id file bytes last_step frames".split()
                  if f"output/{k + 1}/{name}" in f]
    return [*names, "particles/checksum"]


def header_checksum(f) -> int:
    total = 0
    for name in header_names(f):
        value = f[name][()]
        words = list(name.encode() + b"\0")
        if isinstance(value, bytes):
            words += value.split(b"\0")[0] + b"\0"
        else:
            array = np.ascontiguousarray(np.atleast_1d(value))
            words += [int(word) for word in (array if array.dtype == np.uint8 else array.view(np.uint64)).flat]
        for word in words:
            total = mixed(total ^ word)
    return total


def make_older(f, version: int) -> None:
    """Makes a file of this version one of an earlier version; sign() comes after.

    Until version 12 files had no numbers of particles in the history, and until version 11 a group for each run.
    """
    f["version"][()] = version
    if "left_out_commands" in f["run"]:
        left_out = f["run/left_out_commands"][:]
        del f["run/left_out_commands"]
        f["run/left_out_commands"] = left_out[:, :4]
    if version == 12:
        del f["runs/atoms"]
        return
    runs = {name: array[:] for name, array in f["runs"].items()}
    del f["runs"]
    at = 0
    for k, n in enumerate(runs["computes"]):
        group = f.create_group(f"run/{k + 1}")
        for name in "deck first last computes fix_energy bond_energy coupled edits model".split():
            group[name] = runs[name][k]
        group["values"] = runs.get("values", np.zeros((0, 6)))[at:at + n]
        at += n
        if runs["box"][k].any():
            group["box"], group["tilt"] = runs["box"][k][:7], runs["box"][k][7:]
        if runs["halted"][k]:
            group["halted"] = runs["halted"][k]
        if version > 9:
            group["drawn"] = runs["drawn"][k]
    if version == 9:
        del f["run/drawn"], f["run/drawn_row"]


def sign(f) -> None:
    """Makes all checksums right again."""
    identity = f["particles/id"][:]
    for index, name in enumerate(["id", "type", "x", "v"]):
        field = f[f"particles/{name}"]
        total = checksum(index, identity, field[:] if field.ndim == 2 else [field[:]])
        field.attrs.modify("checksum", np.array(total, dtype=np.uint64).astype(field.attrs["checksum"].dtype))
        all_of_them = f["particles/checksum"][:]
        all_of_them[index] = np.array(total, dtype=np.uint64).astype(all_of_them.dtype)
        f["particles/checksum"][:] = all_of_them
    f["checksum"][()] = np.array(header_checksum(f), dtype=np.uint64).astype(f["checksum"].dtype)


@pytest.fixture(scope="module")
def from_a_run(tmp_path_factory) -> bytes:
    """A restart from the middle of a second run, with an output."""
    folder = tmp_path_factory.mktemp("from_a_run")
    works(run_deck(folder, MIXTURE.replace("0 5 0 5 0 5", "0 4 0 4 0 4") + MIXTURE_FIXES +
                   "run 5\nvariable a atom random(0,1,9)+count(all)\nset group all vx v_a\nprint $(random(0,1,9))\n"
                   "dump 1 all atom 5 d\nrestart 10 r.*\nrun 10\n"))
    return (folder / "r.10").read_bytes()


def test_the_checksums_here_are_those_of_the_program(tmp_path, from_a_run):
    h5py = pytest.importorskip("h5py")
    (tmp_path / "r").write_bytes(from_a_run)
    with h5py.File(tmp_path / "r", "r+") as f:
        assert int(f["checksum"][()]) & MASK == header_checksum(f)
        sign(f)
    works(reading(tmp_path, None))


NAN, INF = float("nan"), float("inf")
FORGERIES = {
    "model/skin": [NAN, INF, -0.1], "model/timestep": [NAN, INF, -1.0], "model/mass": [NAN, INF, -1.0],
    "model/box_lo": [NAN, -INF, 1e9, 1e300], "model/box_hi": [NAN, INF, -1e9], "model/periodic": [2, -1],
    "model/types": [0, -1, 1025], "model/dimension": [1, 4], "model/particles": [-1, 2**62],
    "model/pair_shift": [7], "model/pair_defaults": [NAN, INF, -1.0], "model/pair_coefficients": [NAN, INF, -1.0],
    "model/pair_set": [3, 255], "model/groups": [0, -1], "model/fix/2/group": [-1, 1],
    "model/fixes": [-1], "model/fix/2/numbers": [NAN, -1.0, INF], "model/fix/2/energy": [2, -1],
    "model/grids": [NAN, 0.3, INF],
    "model/mass_reference": [NAN, -1.0], "model/velocity_per_v": [0.0, NAN, -1.0, INF],
    "model/wide": [2], "model/velocity_steps": [NAN, 0.3, -0.5, INF],
    "run/step": [-1, -2**63, 4, 16], "run/begin": [-1, 11],
    "run/end": [-1, 9], "run/under_way": [2], "run/has_energy": [2],
    "run/first_energy": [NAN, INF], "runs/first": [-1], "runs/last[1]": [9, -1], "output/1/bytes": [-2],
    "runs/computes": [-1, 33, 2**40], "runs/halted": [-1, 3],
    "run/drawn": [-1, 0, 2**62 + 1], "run/drawn_row": [-1, 2**40], "runs/drawn": [-1, 2**40],
    "run/measured_drawn": [-1, 2**40], "run/left_out": [0, -1, 2, 2**30],
    "run/left_out_commands": [["nrun", -1], ["nrun", 3], ["nmeasured", -1], ["nmeasured", 2**40], ["drawn", -1],
                              ["drawn", 2**40]],
    "output/1/last_step": [-2], "particles/id": [0, -1, "of another"],
    "particles/type": [0, 3], "particles/x": [NAN, INF],
    "particles/v": [NAN, -INF],
}


@pytest.mark.parametrize("name", FORGERIES)
def test_what_cannot_be_is_refused_though_the_checksums_are_right(name, tmp_path, from_a_run):
    h5py = pytest.importorskip("h5py")
    for value in FORGERIES[name]:
        (tmp_path / "r").write_bytes(from_a_run)
        with h5py.File(tmp_path / "r", "r+") as f:
            field, at = f[name.partition("[")[0]], 1 if name.endswith("[1]") else 0
            if isinstance(value, list):
                field[0, ["command", "nrun", "nmeasured", "drawn"].index(value[0])] = value[1]
            else:
                field[(at,) * field.ndim] = field[1] if value == "of another" else value
            sign(f)
        message = refused(reading(tmp_path, None), RUNTIME, "cannot read r", line=1)
        assert "checksum" not in message, (value, message)


def test_ids_far_apart_may_not_occur_twice_either(tmp_path, from_a_run):
    h5py = pytest.importorskip("h5py")
    for twice in (False, True):
        (tmp_path / "r").write_bytes(from_a_run)
        with h5py.File(tmp_path / "r", "r+") as f:
            identity = f["particles/id"][:] * 2**40
            identity[-1] = identity[0] if twice else identity[-1]
            f["particles/id"][:] = identity
            sign(f)
        if twice:
            refused(reading(tmp_path, None), RUNTIME, f"id {identity[0]} occurs twice")
        else:
            works(reading(tmp_path, None))


@pytest.mark.mpi
def test_ranks_find_an_id_that_occurs_twice(tmp_path, from_a_run):
    h5py = pytest.importorskip("h5py")
    (tmp_path / "r").write_bytes(from_a_run)
    with h5py.File(tmp_path / "r", "r+") as f:
        f["particles/id"][-1] = f["particles/id"][0]
        sign(f)
    said = finish(start(tmp_path, ranks=2, deck="read_restart r\n"), expect=RUNTIME)
    assert "occurs twice" in said


@pytest.mark.smoke
def test_no_flipped_bit_gets_through(tmp_path, good):
    """Anywhere in the file: refused, or, in a byte that nothing uses, the same particles."""
    works(reading(tmp_path, good))
    wanted, chance = (tmp_path / "r.data").read_bytes(), random.Random(7)
    for _ in range(60):
        damaged = bytearray(good)
        damaged[chance.randrange(len(good))] ^= 1 << chance.randrange(8)
        (tmp_path / "r.data").unlink(missing_ok=True)
        done = reading(tmp_path, bytes(damaged))
        if done.status == 0:
            assert (tmp_path / "r.data").read_bytes() == wanted
        else:
            refused(done, RUNTIME, "cannot read r")


def test_words_of_the_commands(tmp_path):
    for words, message in [("restart 0 a", "takes no file name"), ("restart 10", "needs a file name"),
                           ("restart 10 a a", "both files"), ("restart 10 a* b", "*"), ("restart 10 a%", "%"),
                           ("restart -1 a", "restarts"), ("write_restart a%", "%"),
                           ("restart 5 a**", "more than one *")]:
        refused(run_deck(tmp_path, f"{MIXTURE}{words}\n"), USAGE, message, line=MIXTURE.count("\n") + 1)
    refused(run_deck(tmp_path, "write_restart a\n"), USAGE, "needs a box", line=1)
    refused(run_deck(tmp_path, f"{MIXTURE}read_restart a\n"), USAGE, "box already")
    refused(run_deck(tmp_path, f"{MIXTURE}{MIXTURE_FIXES}run 10 start 5\n"), USAGE, "must lie between")
    refused(run_deck(tmp_path, f"{MIXTURE}{MIXTURE_FIXES}run 10 stop 5\n"), USAGE, "must lie between")
    refused(run_deck(tmp_path, MIXTURE, "--walltime", "soon"), USAGE, "H:MM:SS", "soon")
    refused(call(tmp_path, "-in", "-", "--resume", "-log", "none"), USAGE, "standard input")


@pytest.mark.smoke
def test_names_and_turns(tmp_path):
    works(run_deck(tmp_path, f"{MIXTURE}{MIXTURE_FIXES}restart 10 a b\nrun 25\nrestart 10 s.*.h5\nrun 20\n"
                             "restart 0\nrun 20\nrestart 50 c\nrun 5\n"))
    found = sorted(p.name for p in tmp_path.glob("*") if p.name[0] in "abcs")
    assert found == ["a", "b", "s.30.h5", "s.40.h5"]
    log = run_deck(tmp_path, "read_restart b\nvariable s equal step\nprint \"at ${s}\"\n").out
    assert "at 20" in log


def test_a_full_disk_keeps_the_restart_before(tmp_path):
    deck = f"{MIXTURE}{MIXTURE_FIXES}restart 20 r\nrun 20\n"
    works(run_deck(tmp_path, deck))
    before = (tmp_path / "r.1").read_bytes()
    refused(run_deck(tmp_path, deck, file_size=20000), RUNTIME, "r.1.", ".tmp", "File too large")
    assert (tmp_path / "r.1").read_bytes() == before
    assert not list(tmp_path.glob("*.tmp"))


# ---- stopping and going on ----

# Some seconds of work on one thread; `begin` and dumps of every kind.
def long_deck(restart: str = "", steps: int = 4000) -> str:
    begin, fixes = SYSTEMS["mixture"]
    return (f"{begin}{fixes}thermo 400\nthermo_modify format float %.17g\nrun 50\nvelocity all scale 1.3\n"
            f"variable t string $(temp:%.17g)\nprint \"then $t\"\n{restart}\n"
            f"dump 1 all custom 250 d.txt id type x y z vx vy vz\ndump 2 all atom 500 d.gz\n"
            f"dump 3 all extxyz 1000 d.*.xyz\ndump_modify 1 first yes\nrun {steps}\n"
            "write_data end.data\n")


OUTPUTS = ["end.data", "d.txt", "d.gz", "d.1000.xyz", "d.4000.xyz"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    finish(start(folder, deck=long_deck()))
    return folder


def same_outputs(folder: Path, whole: Path) -> None:
    for name in OUTPUTS:
        assert (folder / name).read_bytes() == (whole / name).read_bytes(), name


def last_rows(folder: Path) -> Dict[int, List[str]]:
    rows: Dict[int, List[str]] = {}
    for table in harness.read_tables((folder / "log.myriad").read_text()):
        for row in table.rows:
            assert rows.setdefault(int(row[0]), row) == row or int(row[0]) == 50
    return rows


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_run_and_resume_goes_on(number, tmp_path, whole):
    process = start(tmp_path, deck=long_deck())
    wait_for(lambda: (tmp_path / "d.txt").exists(), process)
    time.sleep(0.3)
    process.send_signal(number)
    err = finish(process, expect=STOPPED)
    assert number.name in err and "--resume" in err and err.startswith("myriad: in.deck:"), err
    assert re.search(r"^STOPPED: .*in\.deck\.restart.*--resume", (tmp_path / "log.myriad").read_text(), re.M)
    finish(start(tmp_path, "--resume"))
    same_outputs(tmp_path, whole)
    rows, wanted = last_rows(tmp_path), last_rows(whole)
    assert {step: rows[step] for step in wanted} == wanted


def test_a_terminal_that_is_closed_ends_the_run(tmp_path):
    """Nothing can be written to it any more, which is no error."""
    pty = pytest.importorskip("pty")
    (tmp_path / "in.deck").write_text(long_deck(steps=400000))
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        take_signals()
        os.execve(harness.program(), ["myriad", "-in", "in.deck", "--threads", "1"], harness.environment())
    end = time.monotonic() + 60
    while not (tmp_path / "d.txt").exists() and time.monotonic() < end:
        os.read(terminal, 1 << 16)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == STOPPED
    assert re.search(r"^STOPPED: .*SIGHUP.*in\.deck\.restart", (tmp_path / "log.myriad").read_text(), re.M)


@pytest.mark.parametrize("bar, name", [("compute m all msd\n", "compute m"),
                                       ("rerun old dump x y z vx vy vz\nreset_timestep 0\n", "rerun")])
def test_what_a_resume_cannot_pass_over_is_said_before(bar, name, tmp_path):
    """And not when hours have been spent; a stop does not ask for a next job."""
    begin, fixes = SYSTEMS["mixture"]
    begin += "dump 1 all custom 1 old id x y z vx vy vz\nrun 1\nundump 1\n"
    more = "restart 1000000 r\ndump 1 all custom 100 d.txt id\nrun 1000000\n"
    process = start(tmp_path, deck=begin + bar + fixes + more)
    wait_for(lambda: (tmp_path / "d.txt").exists(), process)
    process.send_signal(signal.SIGUSR1)
    err = finish(process, expect=1)
    assert "read_restart in another deck" in err and f"cannot skip {name}" in err, err
    log = (tmp_path / "log.myriad").read_text()
    note = log.index(f"Note: --resume: it cannot go on with a run after {name}")
    assert note < log.index("\nLoop time", log.index("restart"))


def test_a_stop_at_the_first_step_of_a_run_does_not_go_back_into_the_run_before(tmp_path):
    """The run before wrote a restart of that step. The commands between the runs are done, and are not done again."""
    begin, fixes = SYSTEMS["mixture"]
    lines = "".join(f"print '{'-' * 200}'\n" for _ in range(1000))
    process = start(tmp_path, "-screen", "/dev/stdout", deck=f"{begin}{fixes}restart 10 r.*\nrun 10\n"
                    f"print once append p.txt\n{lines}run 100\n")
    # More than a pipe takes: the program waits before the second run, until its lines are read.
    assert process.stdout is not None
    while "once" not in process.stdout.readline():
        pass
    process.send_signal(signal.SIGUSR1)
    err = finish(process, expect=STOPPED)
    assert "at step 10, 100 steps before" in err, err
    finish(start(tmp_path, "--resume"))
    assert (tmp_path / "p.txt").read_text() == "once\n"


def test_lines_after_the_restart_are_printed_once(tmp_path):
    """A job was killed after it. Lines of other jobs may be between its lines; what it had not printed is printed."""
    deck = (f"{MIXTURE}{MIXTURE_FIXES}restart 10 r.*\nprint first append p.txt\nrun 15\nprint a append p.txt\nrun 10\n"
            "print b append p.txt\nprint 'a' append p.txt\nprint c append q.txt\nprint d file n.txt\n"
            "print e append n.txt\n")
    (tmp_path / "p.txt").write_text("a\n")
    (tmp_path / "q.txt").write_text("c\n")
    works(run_deck(tmp_path, deck))
    (tmp_path / "r.20").unlink()
    texts = {"p.txt": "a\nfirst\na\nb\na\n", "q.txt": "c\nc\n", "n.txt": "d\ne\n"}
    for killed in ({}, {"p.txt": "a\nfirst\na\nother\nb\n"}, {"q.txt": "c\n"}, {"n.txt": "d\n"}):
        for name, text in {**texts, **killed}.items():
            (tmp_path / name).write_text(text)
        (tmp_path / "r.20").unlink(missing_ok=True)
        assert "Resumed at step 10" in works(run_deck(tmp_path, deck, "--resume")).out
        want = {**texts, "p.txt": killed["p.txt"] + "a\n"} if "p.txt" in killed else texts
        assert {name: (tmp_path / name).read_text() for name in texts} == want


def test_lines_between_the_pieces_of_a_run_are_printed_once(tmp_path):
    """The first line came after the restart, whose job found the name of the file in the command `run`."""
    deck = (f"{MIXTURE}{MIXTURE_FIXES}restart 3 r.*\n"
            "run 20 every 9 'print \"$(step)\" append p.txt' \"if '1 > 0' then 'print x append q.txt'\" "
            "\"if '$(temp) < 0' then quit\"\nprint done append r.txt\n")
    works(run_deck(tmp_path, deck))
    for name in ("r.12", "r.15", "r.18"):
        (tmp_path / name).unlink()
    assert "Resumed at step 9" in works(run_deck(tmp_path, deck, "--resume")).out
    assert (tmp_path / "p.txt").read_text().split() == ["9", "18", "20"]
    assert (tmp_path / "q.txt").read_text().split() == ["x"] * 3
    assert (tmp_path / "r.txt").read_text() == "done\n"


def test_lines_that_only_the_run_knows_are_printed_once(tmp_path):
    """Within conditions about the state, and after them, where the preview does not follow the deck."""
    deck = (f"{MIXTURE}{MIXTURE_FIXES}restart 5 r.*\n"
            "run 30 every 8 \"if '$(temp) > 0' then 'print at_$(step) append p.txt'\"\n"
            "if \"$(temp) > 0\" then \"run 10\" 'print here append q.txt' else 'print never append q.txt'\nrun 20\n"
            "print \"a $(step)\" append s.txt\nprint 'b' file t.txt\nrun 10\n")
    (tmp_path / "again").mkdir()
    works(run_deck(tmp_path, deck))
    texts = {name: (tmp_path / name).read_text() for name in ("p.txt", "q.txt", "s.txt", "t.txt")}
    assert [len(text.splitlines()) for text in texts.values()] == [4, 1, 1, 1]
    for step in (5, 15, 35, 55):
        works(run_deck(tmp_path / "again", deck))
        keep_restart(tmp_path / "again", step)
        assert f"Resumed at step {step}" in works(run_deck(tmp_path / "again", deck, "--resume")).out
        assert {name: (tmp_path / "again" / name).read_text() for name in texts} == texts
        for name in texts:
            (tmp_path / "again" / name).unlink()


def test_lines_are_printed_once_after_two_kills(tmp_path):
    """The second restart was written while the job passed lines of the killed one: it is not the end of the file."""
    deck = (f"{MIXTURE}{MIXTURE_FIXES}restart 10 r.*\nrun 60 every 4 'print \"$(step)\" append p.txt'\n")
    works(run_deck(tmp_path, deck))
    text = (tmp_path / "p.txt").read_text()
    for kept in (10, 30):
        keep_restart(tmp_path, kept)
        assert f"Resumed at step {kept}" in works(run_deck(tmp_path, deck, "--resume")).out
        assert (tmp_path / "p.txt").read_text() == text


def test_frames_appended_before_the_next_restart_are_there_once(tmp_path):
    """Runs begin with a restart if a file to append to is new, and only then. A job was killed after that restart."""
    deck = (f"{MIXTURE}{MIXTURE_FIXES}restart 10 r.*\nfix p all print 2 $(step) append p.txt screen no\nrun 15\n"
            "dump d all custom 2 d.txt id x\ndump_modify d append yes\nrun 4\nrun 4\nwrite_data end.data\n")
    for name in ("p.txt", "d.txt"):
        (tmp_path / name).write_text("of another job\n")
    works(run_deck(tmp_path, deck))
    assert sorted(path.name for path in tmp_path.glob("r.*")) == ["r.0", "r.10", "r.15", "r.20"]
    wanted = {name: (tmp_path / name).read_bytes() for name in ("p.txt", "d.txt", "end.data")}
    for step in (15, 10, 0):
        for path in tmp_path.glob("r.*"):
            if int(path.suffix[1:]) > step:
                path.unlink()
        if step < 15:
            (tmp_path / "d.txt").write_text("of another job\n")
        assert f"Resumed at step {step}" in works(run_deck(tmp_path, deck, "--resume")).out
        assert {name: (tmp_path / name).read_bytes() for name in wanted} == wanted, step


def test_frames_of_a_job_whose_first_restart_failed_are_appended_once(tmp_path):
    """That restart comes before the first frames. After it, the first step is shown, with its random numbers."""
    deck = (f"{MIXTURE}{MIXTURE_FIXES}restart 10 r.*\nvariable r equal random(0,1,7)\nthermo_style custom step v_r\n"
            "fix p all print 5 $(step):$(v_r) append p.txt screen no\nfix m all ave/time 1 1 5 v_r file m.txt\n"
            "dump d all custom 5 d.txt id x\ndump z all custom 5 z.gz id x\ndump_modify d append yes\n"
            "dump_modify z append yes\nrun 15\nprint $(v_r) append v.txt\n")
    names = ("d.txt", "p.txt", "z.gz", "v.txt", "m.txt")

    def begin(folder: Path) -> Path:
        folder.mkdir()
        for name in ("d.txt", "p.txt"):
            (folder / name).write_text("of another job\n")
        (folder / "z.gz").write_bytes(gzip.compress(b"of another job\n"))
        return folder

    def contents(folder: Path) -> Dict[str, bytes]:
        return {name: (gzip.open if name == "z.gz" else open)(folder / name, "rb").read() for name in names}

    whole, failing, killed = begin(tmp_path / "whole"), begin(tmp_path / "failing"), tmp_path / "killed"
    works(run_deck(whole, deck))
    wanted = contents(whole)
    assert wanted["d.txt"].count(b"TIMESTEP") == wanted["z.gz"].count(b"TIMESTEP") == 4

    (failing / "r.0").mkdir()
    refused(run_deck(failing, deck), RUNTIME, "r.0")
    assert (failing / "d.txt").read_bytes() == (failing / "p.txt").read_bytes() == b"of another job\n"
    (failing / "r.0").rmdir()
    works(run_deck(failing, deck, "--resume"))
    assert contents(failing) == wanted

    shutil.copytree(whole, killed, ignore=shutil.ignore_patterns("r.10", "v.txt"))
    assert "Resumed at step 0" in works(run_deck(killed, deck, "--resume")).out
    assert contents(killed) == wanted


def test_files_of_one_step_to_which_frames_are_appended(tmp_path):
    """No restart says how long each was. So --resume refuses them at once, and not in the second job."""
    deck = f"{MIXTURE}{MIXTURE_FIXES}restart 10 r.*\ndump d all custom 2 d.* id x\ndump_modify d append yes\nrun 15\n"
    refused(run_deck(tmp_path, deck, "--resume"), USAGE, "dump d", "d.*", "append yes")
    works(run_deck(tmp_path, deck))
    works(run_deck(tmp_path, deck.replace("append yes", "append no"), "--resume"))
    assert (tmp_path / "d.12").read_text().count("TIMESTEP") == 1


def test_a_dump_that_a_resume_adds_is_appended_to_once(tmp_path):
    deck = f"{MIXTURE}{MIXTURE_FIXES}restart 10 r.*\nrun 15\n"
    works(run_deck(tmp_path, deck))
    deck = deck.replace("run", "dump d all custom 1 d.txt id x\ndump_modify d append yes\nrun")
    works(run_deck(tmp_path, deck, "--resume"))
    wanted = (tmp_path / "d.txt").read_bytes()
    works(run_deck(tmp_path, deck, "--resume"))
    assert (tmp_path / "d.txt").read_bytes() == wanted and wanted.count(b"TIMESTEP") == 6


def test_a_signal_that_comes_while_the_program_starts(tmp_path):
    """It waits until the program can stop: here it was sent before the program began."""
    (tmp_path / "in.deck").write_text(long_deck(steps=400000))

    def send() -> None:
        take_signals()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
        os.kill(os.getpid(), signal.SIGUSR1)

    done = subprocess.run([str(harness.program()), "-in", "in.deck", "--threads", "1"], cwd=tmp_path, preexec_fn=send,
                          env=harness.environment(), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == STOPPED and "SIGUSR1" in done.stderr, done.stderr
    assert (tmp_path / "in.deck.restart").exists()


def test_a_signal_that_is_ignored_changes_nothing(tmp_path, whole):
    """As under nohup, or in the background of a script."""
    process = start(tmp_path, deck=long_deck(), interrupt=signal.SIG_IGN)
    wait_for(lambda: (tmp_path / "d.txt").exists(), process)
    process.send_signal(signal.SIGINT)
    finish(process)
    same_outputs(tmp_path, whole)


def stop_when(process: subprocess.Popen, condition, number: int = signal.SIGTERM) -> bool:
    """Sends the signal when the condition holds; false if the run has ended by itself before."""
    while process.poll() is None and not condition():
        time.sleep(0.002)
    if process.poll() is None:
        process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode in (0, STOPPED), err
    return process.returncode == STOPPED


def test_resume_over_and_over(tmp_path, whole):
    """Stopped whenever a new restart is there; the log says where each job goes on."""
    stops, seen = 0, set()

    def is_new() -> bool:
        now = {(p.name, p.stat().st_mtime_ns) for p in tmp_path.glob("r.[12]")} - seen
        seen.update(now)
        return bool(now)

    while stop_when(start(tmp_path, *(["--resume"] if stops else []), deck=long_deck("restart 400 r")), is_new):
        stops += 1
        is_new()
        assert stops < 30
    assert stops > 2
    same_outputs(tmp_path, whole)
    assert (tmp_path / "log.myriad").read_text().count("Resuming from r.") == stops


@pytest.mark.mpi
def test_ranks_stop_together_and_go_on(tmp_path):
    deck = long_deck(steps=3000).replace("block 0 5", "block 0 15")
    finish(start(tmp_path, deck=deck))
    wanted = {name: (tmp_path / name).read_bytes() for name in ("end.data", "d.txt", "d.gz")}
    for path in tmp_path.glob("*"):
        path.unlink()
    dump = tmp_path / "d.txt"
    assert stop_when(start(tmp_path, deck=deck), lambda: dump.exists() and dump.stat().st_size > 0)
    far = dump.stat().st_size
    assert stop_when(start(tmp_path, "--resume", ranks=3), lambda: dump.stat().st_size > far, signal.SIGUSR1)
    log = (tmp_path / "log.myriad").read_text()
    assert "stopped by SIGTERM" in log and "stopped by SIGUSR1" in log and "3 by 1 by 1 MPI processor grid" in log
    finish(start(tmp_path, "--resume", ranks=2))
    for name, content in wanted.items():
        assert (tmp_path / name).read_bytes() == content, name


def test_a_second_signal_ends_at_once(tmp_path):
    """In the middle of a step of the naive engine that takes seconds."""
    deck = MIXTURE.replace("0 5 0 5 0 5", "0 23 0 23 0 23") + MIXTURE_FIXES + "run 1000\n"
    process = start(tmp_path, "--engine", "naive", deck=deck)
    wait_for(lambda: (tmp_path / "log.myriad").exists(), process)
    time.sleep(0.7)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    assert process.poll() is None, "a step takes too short a time for this test"
    process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    process.communicate(timeout=20)
    assert process.returncode == -signal.SIGTERM and time.monotonic() - began < harness.patience(0.5)


@pytest.mark.parametrize("how", ["option", "slurm"])
def test_a_limit_of_time_is_kept(how, tmp_path):
    limit = 3.0
    arguments = ["--walltime", "0:03"] if how == "option" else []
    environment = {} if how == "option" else {"SLURM_JOB_END_TIME": str(int(time.time() + limit) + 1)}
    began = time.monotonic()
    process = start(tmp_path, *arguments, deck=long_deck(steps=10**7), environment=environment)
    err = finish(process, expect=STOPPED)
    assert 1.0 < time.monotonic() - began < limit + harness.patience(1.0)
    assert ("--walltime" if how == "option" else "batch system") in err
    assert (tmp_path / "in.deck.restart").exists()


def test_without_a_restart_resume_begins_at_the_beginning(tmp_path, whole):
    finish(start(tmp_path, "--resume", deck=long_deck()))
    assert "there is no restart yet" in (tmp_path / "log.myriad").read_text()
    same_outputs(tmp_path, whole)


@pytest.fixture
def stopped(tmp_path) -> Path:
    """A folder with r.1 of step 200 and r.2 of step 300 of a run killed there."""
    process = start(tmp_path, deck=long_deck("restart 100 r"))
    wait_for(lambda: (tmp_path / "log.myriad").exists() and
             "step 300:" in (tmp_path / "log.myriad").read_text(), process)
    process.kill()
    process.communicate()
    return tmp_path


def resumed_from(folder: Path) -> str:
    return re.findall(r"Resuming from (\S+), step", (folder / "log.myriad").read_text())[-1]


def newest(folder: Path) -> Path:
    """The restart of the largest step; the log of a killed run does not know the last one."""
    def step(path: Path) -> int:
        out = works(run_deck(folder / "look", f"read_restart {path}\n")).out
        return int(re.search(r"atoms, step (\d+)", out).group(1))

    (folder / "look").mkdir()
    return max(folder.glob("r.[12]"), key=step)


def test_a_damaged_newest_restart_gives_way_to_the_one_before(stopped, whole):
    h5py = pytest.importorskip("h5py")
    last = newest(stopped)
    with h5py.File(last, "r+") as f:
        f["particles/x"][0, 5] = np.nextafter(f["particles/x"][0, 5], 9.0)
    finish(start(stopped, "--resume"))
    log = (stopped / "log.myriad").read_text()
    assert re.search(rf"Note: --resume: .*{last.name}.* damaged", log)
    assert resumed_from(stopped) != last.name
    same_outputs(stopped, whole)


@pytest.mark.smoke
def test_a_half_written_restart_is_no_matter(stopped, whole):
    last = newest(stopped)
    (stopped / (last.name + ".tmp")).write_bytes(last.read_bytes()[:5000])
    finish(start(stopped, "--resume"))
    assert resumed_from(stopped) == last.name
    same_outputs(stopped, whole)


@pytest.mark.parametrize("steps, wanted", [(300, "r.1"), (400, "r.2")])
def test_the_newest_is_taken_whichever_it_is(steps, wanted, tmp_path):
    deck = f"{MIXTURE}{MIXTURE_FIXES}restart 100 r\nrun {steps}\n"
    finish(start(tmp_path, deck=deck))
    finish(start(tmp_path, "--resume"))
    assert resumed_from(tmp_path) == wanted


# Random numbers of formulas wherever they may stand: before the first run, in output during runs, in rows, in commands
# that a resume leaves out, after pieces of a run, and in the way through the deck.
RANDOM_DECK = """\
units lj
lattice fcc 0.8442
region b block 0 3 0 3 0 3
create_box 1 b
create_atoms 1 box
mass 1 1
velocity all create $(random(1.0,2.0,5)) 87287
pair_style lj/cut 1.2
pair_coeff 1 1 1 1
fix 1 all nve
variable r equal random(0,1,7)
variable n equal normal(0,1,8)
variable a atom normal(0,1,9)
variable s atom 0.1*random(-1,1,count(all))
fix p all print 5 "$(step) ${r} $n" file p.txt screen no
fix t all ave/time 2 3 10 v_r v_n file t.txt
compute m all reduce sum v_a
thermo 4
thermo_style custom step temp v_r v_n c_m
thermo_modify format float %.17g
dump 1 all custom 6 d.txt id x vx v_a
dump_modify 1 format float %.17g
restart 7 r.*
run 20
print "between $(random(0,1,3)) $(c_m) $(count(all))"
set group all vx v_s
velocity all scale $(random(1.0,2.0,4))
write_dump all custom w.txt id v_a
print "between $(v_r) $(count(all))"
run 20 every 8 "velocity all scale $(random(1.0,2.0,4))" "print 'between $(v_r)'"
variable i loop 4
label top
if "$(v_r) > 0.5" then "fix q all langevin $(1+v_r) 1 1 $(round(random(1,1000,5)))" else "fix q all viscous $(v_r)"
run $(10+round(random(0,5,6)))
unfix q
next i
jump in.deck top
write_data end.data
"""


def rows_and_prints(log: Path) -> List[str]:
    return [line for line in log.read_text().splitlines() if re.match(r"between [0-9]| *\d+( +\S+){4} *$", line)]


@pytest.mark.parametrize("ranks, every", [(1, 1), pytest.param(3, 4, marks=pytest.mark.mpi)])
def test_random_numbers_of_formulas_go_on(ranks, every, tmp_path):
    """From the restarts of a deck: the files, the rows and the prints are those of the whole run."""
    (tmp_path / "whole").mkdir()
    finish(start(tmp_path / "whole", deck=RANDOM_DECK))
    known = rows_and_prints(tmp_path / "whole" / "log.myriad")
    restarts = sorted((tmp_path / "whole").glob("r.*"), key=lambda path: int(path.suffix[1:]))
    assert len(restarts) > 8 and len(known) > 30
    for number, path in enumerate(restarts[every // 2::every]):
        folder = tmp_path / path.name
        folder.mkdir()
        for name in ("p.txt", "t.txt", "d.txt", "w.txt", path.name):
            shutil.copy(tmp_path / "whole" / name, folder / name)
        engine = "naive" if number % 3 == 1 and ranks == 1 else "openmp"
        finish(start(folder, "--resume", "--engine", engine, deck=RANDOM_DECK, ranks=ranks))
        for name in ("p.txt", "t.txt", "d.txt", "w.txt", "end.data"):
            assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), (path.name, name)
        step = int(path.suffix[1:])
        shown = rows_and_prints(folder / "log.myriad")
        new = [line for line in shown if line not in known]
        # The row of the restart's step, if there was none.
        assert len(new) <= 1 and all(int(line.split()[0]) == step and step % 4 != 0 for line in new), (step, new)
        prints = [line for line in shown if line.startswith("between")]
        assert prints == [line for line in known if line.startswith("between")], path.name


def test_a_restart_of_version_9_goes_on(tmp_path):
    """It does not say how many random numbers were drawn; the log says so."""
    h5py = pytest.importorskip("h5py")
    deck = (MIXTURE.replace("0 5 0 5 0 5", "0 4 0 4 0 4") + MIXTURE_FIXES +
            "run 5\nvariable x equal random(0,1,3)\nprint $x\nset group all vx 0.1\nrestart 10 r.*\nrun 10\n"
            "write_data end.data\n")
    finish(start(tmp_path, deck=deck))
    wanted = data(tmp_path)
    with h5py.File(tmp_path / "r.10", "r+") as f:
        make_older(f, 9)
        sign(f)
    (tmp_path / "end.data").unlink()
    finish(start(tmp_path, "--resume"))
    assert data(tmp_path) == wanted
    assert re.search(r"^Note: --resume: .*earlier version wrote r\.10", (tmp_path / "log.myriad").read_text(), re.M)


def test_many_runs_make_no_large_file(tmp_path):
    """A program may call `run 1` a hundred thousand times: each run leaves 0.4 kB, and no group of HDF5."""
    h5py = pytest.importorskip("h5py")
    deck = (MIXTURE.replace("0 5 0 5 0 5", "0 4 0 4 0 4") + MIXTURE_FIXES +
            "variable k loop 200\nlabel again\nrun 1 post no\nnext k\njump SELF again\n"
            "print \"then $(temp:%.17g) $(pe:%.17g)\"\nrestart 5 r.*\nrun 10\nwrite_data end.data\n")
    finish(start(tmp_path, deck=deck))
    then = re.compile("^then .*", re.M)
    wanted = data(tmp_path), then.findall((tmp_path / "log.myriad").read_text())
    assert (tmp_path / "r.205").stat().st_size < 200_000
    with h5py.File(tmp_path / "r.205") as f:
        assert len(f["run"]) < 20 and f["runs/first"][:].tolist() == list(range(201))
        assert f["runs/last"][:].tolist() == [*range(1, 201), 210]
    (tmp_path / "r.210").unlink()
    (tmp_path / "end.data").unlink()
    finish(start(tmp_path, "--resume"))
    assert (data(tmp_path), then.findall((tmp_path / "log.myriad").read_text())) == (wanted[0], 2 * wanted[1])


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.mpi)])
@pytest.mark.parametrize("change", ["fix e all evaporate 2 5 r 77",
                                    "minimize 0 0 3 100\nSHOWfix e all evaporate 2 5 r 77",
                                    "fix e all deposit 9 1 2 77 region r near 0.75 attempt 999 units box"])
def test_numbers_per_particle_of_runs_before(change, ranks, tmp_path):
    """A resumed deck has the particles of its beginning until it comes to its restart, and then took these for those of
    the runs and edits that it passes over. A print that the second job adds changes nothing."""
    show = ("print \"at $(step) $(atoms) $(count(all)) $(pe:%.15g) $(etotal:%.15g) $(enthalpy:%.15g) $(density:%.15g) "
            "$(temp:%.15g)\"\n")
    deck = (MIXTURE.replace("0 5 0 5 0 5", "0 4 0 4 0 4") + MIXTURE_FIXES +
            f"region r block 0 3 0 3 0 3\n{change.replace('SHOW', show)}\nrun 10\nprint first\n{show}"
            f"if \"$(atoms) != 256\" then \"variable m equal 2\" else \"variable m equal 1\"\n"
            f"group g id 7 9\ndelete_atoms group g compress no\n{show}velocity all scale $(v_m/pe^2)\n{show}"
            f"restart 3 r.*\nrun 6\n{show}write_data end.data\n")
    finish(start(tmp_path, deck=deck, ranks=ranks))
    lines = re.compile("^at .*", re.M)
    said, wanted = lines.findall((tmp_path / "log.myriad").read_text()), data(tmp_path)
    shown = "SHOW" in change
    assert len(said) == 4 + shown and len(set(said)) == 3 + shown and " 256 " not in said[shown]
    (tmp_path / "end.data").unlink()
    finish(start(tmp_path, "--resume", deck=deck.replace("print first", "print \"now $(atoms) $(pe)\""), ranks=ranks))
    assert "Resumed at step" in (tmp_path / "log.myriad").read_text()
    assert lines.findall((tmp_path / "log.myriad").read_text()) == 2 * said
    assert data(tmp_path) == wanted


def test_a_cleared_system_has_its_own_particles(tmp_path):
    """A resumed deck makes it, after one whose runs lost particles."""
    system = (MIXTURE.replace("0 5 0 5 0 5", "0 4 0 4 0 4") + MIXTURE_FIXES)
    deck = (f"{system}region r block 0 3 0 3 0 3\nfix e all evaporate 2 5 r 77\nrun 10\nprint \"at $(atoms)\"\nclear\n"
            f"{system}print \"at $(atoms)\"\nrun 5\nprint \"at $(atoms) $(pe)\"\nrestart 3 r.*\nrun 6\n")
    finish(start(tmp_path, deck=deck))
    lines = re.compile("^at .*", re.M)
    said = lines.findall((tmp_path / "log.myriad").read_text())
    assert said[1] == "at 256" != said[0]
    finish(start(tmp_path, "--resume"))
    assert lines.findall((tmp_path / "log.myriad").read_text()) == 2 * said


def test_values_of_runs_before_are_those_of_the_file_of_an_earlier_version_too(tmp_path):
    """The values of computes at the end of a run, which a formula after it asks for."""
    h5py = pytest.importorskip("h5py")
    deck = (MIXTURE.replace("0 5 0 5 0 5", "0 4 0 4 0 4") + MIXTURE_FIXES +
            "thermo_style custom step temp pe press\nrun 5\nvariable a equal temp+press\nvariable b equal $a\n"
            "run 5\nvariable c equal $a\nrestart 12 r.*\nrun 5\nprint \"then $(v_b:%.17g) $(v_c:%.17g)\"\n")
    finish(start(tmp_path, deck=deck))
    said = re.findall("^then .*", (tmp_path / "log.myriad").read_text(), re.M)
    for version, times in ((13, 2), (12, 3), (11, 4)):
        if version < 13:
            with h5py.File(tmp_path / "r.12", "r+") as f:
                make_older(f, version)
                sign(f)
        finish(start(tmp_path, "--resume"))
        assert re.findall("^then .*", (tmp_path / "log.myriad").read_text(), re.M) == times * said


def test_the_energy_of_a_thermostat_begins_anew_after_a_restart_of_version_10(tmp_path):
    """If the file does not have it. A file of this version must."""
    h5py = pytest.importorskip("h5py")
    deck = (MIXTURE.replace("0 5 0 5 0 5", "0 4 0 4 0 4") + MIXTURE_FIXES +
            "fix scaled all temp/rescale 1 2 2 0.01 0.5\nthermo_style custom step f_scaled ecouple\n"
            "thermo_modify norm no format float %.15g\nthermo 10\nrestart 10 r.*\nrun 20\nwrite_data end.data\n")
    def energies(done):
        return harness.read_tables(done.out)[-1].column("f_scaled")

    (before, taken) = energies(works(run_deck(tmp_path, deck)))[-2:]
    wanted = data(tmp_path)
    (tmp_path / "r.20").unlink()

    def without_energy(version):
        with h5py.File(tmp_path / "r.10", "r+") as f:
            if "runs" in f:
                make_older(f, version)
            f["version"][()] = version
            if "state" in f["model/fix/3"]:
                assert f["model/fix/3/state"][0] == pytest.approx(before, rel=1e-14)
                del f["model/fix/3/state"]
            sign(f)

    without_energy(11)
    refused(run_deck(tmp_path, deck, "--resume"), RUNTIME, "model/fix/3/state")
    without_energy(10)
    (tmp_path / "end.data").unlink()
    assert abs(before) > 1 and abs(taken - before) > 1e-3
    assert energies(works(run_deck(tmp_path, deck, "--resume")))[-1] == pytest.approx(taken - before, rel=1e-9)
    assert data(tmp_path) == wanted


def test_frames_after_a_restart_are_not_there_twice(tmp_path):
    deck = (f"{MIXTURE}{MIXTURE_FIXES}dump 1 all custom 30 a.txt id x y z\ndump 2 all atom 30 a.gz\n"
            "dump 3 all frames 30 a.frames\nrestart 100 r\nrun 1000\n")
    names = ["a.txt", "a.gz", "a.frames"]
    finish(start(tmp_path, deck=deck))
    wanted = [(tmp_path / name).read_bytes() for name in names]
    (tmp_path / "r.2").unlink()
    finish(start(tmp_path, "--resume"))
    assert "Resumed at step 900" in (tmp_path / "log.myriad").read_text()
    assert [(tmp_path / name).read_bytes() for name in names] == wanted


def test_a_box_that_follows_the_particles_is_that_of_the_run_before(tmp_path):
    """A command between two runs looks at the box that the first one left, which a resumed deck does not do again."""
    deck = (f"{DROPLET}{DROPLET_FIXES}run 40\nprint \"then $(lx:%.17g) $(ylo:%.17g)\"\n"
            "region left block EDGE $(xlo+0.4*lx) INF INF INF INF\ngroup left region left\nfix 2 left addforce 9 0 0\n"
            "dump 1 all custom 30 a.txt id x y\nrestart 50 r\nrun 120\nwrite_data end.data\n")
    finish(start(tmp_path, deck=deck))
    wanted = [(tmp_path / name).read_bytes() for name in ("a.txt", "end.data")]
    (tmp_path / "r.2").unlink()
    finish(start(tmp_path, "--resume"))
    assert "Resumed at step 150" in (tmp_path / "log.myriad").read_text()
    assert [(tmp_path / name).read_bytes() for name in ("a.txt", "end.data")] == wanted
    first, second = re.findall(r"^then .*", (tmp_path / "log.myriad").read_text(), re.M)
    assert first == second


def test_if_no_restart_is_good_resume_says_so(stopped):
    for name in ("r.1", "r.2"):
        (stopped / name).write_bytes((stopped / name).read_bytes()[:3000])
    err = finish(start(stopped, "--resume"), expect=RUNTIME)
    assert "no restart of this deck is good" in err and "truncated" in err


@pytest.mark.parametrize("old, new, word", [
    ("fix 1 all nve\n", "fix 1 all nve\ntimestep 0.004\n", "another deck"),
    ("mass 2 1.7", "mass 2 1.8", "another deck"),
    ("run 4000", "run 5000", "another deck"),
    ("run 50\n", "run 51\n", "another deck"),
    ("scale 1.3", "scale 1.4", "a command before this run has changed"),
])
def test_another_deck_is_refused(old, new, word, stopped):
    deck = (stopped / "in.deck").read_text()
    (stopped / "in.deck").write_text(deck.replace(old, new))
    process = start(stopped, "--resume")
    _, err = process.communicate(timeout=60)
    assert process.returncode in (RUNTIME, USAGE) and word in err, err


def test_other_particles_are_refused(tmp_path):
    """The deck is the same, but the data file that it reads has changed."""
    works(run_deck(tmp_path, MIXTURE + "write_data a.data\n"))
    coefficients = MIXTURE[MIXTURE.index("pair_style"):]
    deck = f"units lj\nread_data a.data\n{coefficients}{MIXTURE_FIXES}restart 20 r\nrun 100000\n"
    process = start(tmp_path, deck=deck)
    wait_for(lambda: (tmp_path / "r.2").exists(), process)
    process.kill()
    process.communicate()
    lines = (tmp_path / "a.data").read_text().splitlines(keepends=True)
    at = next(k for k, line in enumerate(lines) if line.startswith("Velocities")) + 2
    words = lines[at].split()
    lines[at] = " ".join([*words[:3], "0.125"]) + "\n"
    (tmp_path / "a.data").write_text("".join(lines))
    assert "particles that it makes are different" in finish(start(tmp_path, "--resume"), expect=USAGE)


def test_more_output_may_be_asked_for(stopped, whole):
    deck = (stopped / "in.deck").read_text()
    more = deck.replace("run 4000", "dump 9 all custom 1000 more.txt id x\nrun 4000")
    more = more.replace("thermo 400", "thermo 200")
    (stopped / "in.deck").write_text(more)
    finish(start(stopped, "--resume"))
    same_outputs(stopped, whole)
    assert [frame.step for frame in harness.read_dump(stopped / "more.txt")] == [1000, 2000, 3000, 4000]


def test_a_dump_that_has_lost_frames_is_noticed(stopped):
    (stopped / "d.txt").write_text("")
    err = finish(start(stopped, "--resume"), expect=RUNTIME)
    assert "d.txt of dump 1 has 0 bytes" in err


def processor_time(process: subprocess.Popen) -> float:
    """The seconds that the first thread of a child has run."""
    return int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[0]) * 1e-9


def test_kill_at_random_moments(tmp_path):
    """Fifty kills at least, and more until runs have made progress: every restart under its name can be read, and the
    last run ends in the right state. Moments are counted in processor time: programs beside this one do not matter."""
    begin = MIXTURE.replace("0 5 0 5 0 5", "0 4 0 4 0 4").replace("2.5", "2.0")
    deck = f"{begin}{MIXTURE_FIXES}restart 1 r\nrun 100000\n"
    check = tmp_path / "check"
    check.mkdir()
    chance, loaded, furthest = random.Random(3), 0, 0
    for k in range(500):
        if k >= 50 and loaded > 50 and furthest > 100:
            break
        process = start(tmp_path, *(["--resume"] if k > 0 else []), deck=deck)
        moment, give_up = 0.01 + 0.1 * chance.random(), time.monotonic() + harness.patience(5.0)
        while processor_time(process) < moment and process.poll() is None and time.monotonic() < give_up:
            time.sleep(0.003)
        process.kill()
        process.communicate()
        for path in tmp_path.glob("r.[12]"):
            done = run_deck(check, f"read_restart {path}\nvariable s equal step\nprint \"at ${{s}}\"\n")
            works(done)
            loaded += 1
            furthest = max(furthest, int(re.search(r"^at (\d+)", done.out, re.M).group(1)))
    assert loaded > 50 and furthest > 100
    steps = furthest + 50
    harness.run(f"{begin}{MIXTURE_FIXES}run {steps} stop 100000\nwrite_data end.data\n", tmp_path / "whole")
    ends = sorted(tmp_path.glob("r.[12]"))
    harness.run(f"read_restart {ends[0]}\n{MIXTURE_FIXES}run {steps} upto start 0 stop 100000\nwrite_data end.data\n",
                tmp_path / "after")
    assert data(tmp_path / "after") == data(tmp_path / "whole")


# ---- special files, and links where the temporary file would be ----

@pytest.mark.smoke
@pytest.mark.parametrize("command", ["write_restart target", "restart 10 target other", "restart 10 other target",
                                     "dump 1 all h5md 10 target position\nrun 10"])
def test_a_special_file_is_refused_and_stays(command, tmp_path):
    os.mkfifo(tmp_path / "target")
    done = run_deck(tmp_path, f"{MIXTURE}{MIXTURE_FIXES}{command}\n")
    refused(done, RUNTIME, "target is a pipe", "regular file")
    assert (tmp_path / "target").is_fifo()


@pytest.mark.smoke
@pytest.mark.parametrize("command, name", [("write_restart f", "f"), ("write_data f", "f"),
                                           ("dump 1 all density 10 f.png 8\nrun 0", "f.png")])
def test_a_link_where_the_temporary_file_was_is_not_followed(command, name, tmp_path):
    (tmp_path / "victim").write_text("precious")
    (tmp_path / f"{name}.tmp").symlink_to("victim")
    works(run_deck(tmp_path, f"{MIXTURE}{MIXTURE_FIXES}{command}\n"))
    assert (tmp_path / "victim").read_text() == "precious"
    assert (tmp_path / name).is_file() and not (tmp_path / name).is_symlink()
    assert [p.name for p in tmp_path.glob("*.tmp")] == [f"{name}.tmp"]


@pytest.mark.parametrize("first", [
    "fix 2 all deform 1 x scale 1.1 remap x\nrun 20\nunfix 2\n",
    "fix 2 all deform 1 xy erate 0.5 remap x\nrun 20\nunfix 2\n",
    "unfix 1\nfix 1 all nph iso 1 1 0.1\nrun 20\nunfix 1\nfix 1 all nve\n",
    "fix 2 all box/relax iso 0\nminimize 0 0 5 50\nunfix 2\n",
])
def test_resume_passes_over_a_run_that_changed_the_box(first, tmp_path):
    """The later run has no fix that changes it, and its restarts have the box of the earlier one."""
    skew = "change_box all triclinic\n" if "xy" in first else ""
    deck = (f"{MIXTURE}{skew}fix 1 all nve\n{first}restart 10 r.*\nrun 20\nchange_box all x scale 1.01 remap\nrun 20\n"
            "write_data end.data\n")
    works(run_deck(tmp_path, deck))
    end, last = data(tmp_path), sorted(tmp_path.glob("r.*"), key=lambda path: int(path.suffix[1:]))
    assert len(last) == 4
    for keep in (3, 1):
        (tmp_path / "end.data").unlink()
        for path in last[keep:]:
            path.unlink()
        assert "Resumed at step" in works(run_deck(tmp_path, deck, "--resume")).out
        assert data(tmp_path) == end


def test_resume_passes_over_a_snapshot(tmp_path):
    dump = "write_dump all custom s.dump id x y z vx vy vz modify format float %.17g\n"
    deck = (f"{MIXTURE}fix 1 all nve\nrun 10\n{dump}"
            "run 10\nread_dump s.dump 10 x y z vx vy vz\nrestart 10 r.*\nrun 20\nwrite_data end.data\n")
    works(run_deck(tmp_path, deck))
    end = data(tmp_path)
    max(tmp_path.glob("r.*"), key=lambda path: int(path.suffix[1:])).unlink()
    assert "Resumed at step" in works(run_deck(tmp_path, deck, "--resume")).out
    assert data(tmp_path) == end


def test_no_restart_is_ahead_of_the_log(tmp_path):
    """A log that cannot be written ends the run at a restart: the rows would be missing after a resume."""
    deck = MIXTURE + MIXTURE_FIXES + "thermo 1\nrestart 20 r.*\nrun 100\n"
    done = run_deck(tmp_path, deck, "-log", "/dev/full")
    refused(done, RUNTIME, "writing the log /dev/full failed", "disk full")
    assert not list(tmp_path.glob("r.*"))


@pytest.mark.parametrize("name", ["loop/r.*", "loop/r.h5"])
def test_a_resume_that_cannot_see_its_restarts(name, tmp_path):
    """A folder that cannot be listed is not one without restarts: the deck does not begin anew."""
    (tmp_path / "loop").symlink_to("loop")
    deck = MIXTURE + MIXTURE_FIXES + f"restart 20 {name}\nrun 20\n"
    refused(run_deck(tmp_path, deck, "--resume"), RUNTIME, f"cannot look for restarts {name}")


def test_clear_forgets_the_fixes_of_a_restart(tmp_path):
    """Their states wait for the fixes of the deck, and those of a system after `clear` are new ones."""
    deck = MIXTURE + "fix 1 all nvt temp 1 1 0.1\nthermo_modify format float %.17g\n"
    works(run_deck(tmp_path, deck + "run 20\nwrite_restart r.20\n"))
    works(run_deck(tmp_path, deck + "run 20\nwrite_data alone.data\n"))
    loop = "variable i loop 200\nlabel again\nread_restart r.20\nclear\nnext i\njump SELF again\n"
    works(run_deck(tmp_path, loop + deck + "run 20\nwrite_data after.data\n"))
    assert (tmp_path / "after.data").read_bytes() == (tmp_path / "alone.data").read_bytes()


@pytest.mark.parametrize("torn, kept", [("hello 20", ""), ("hel", ""), ("hello 20 steps", ""), ("hello 21", "hello 21"),
                                        ("hello 20 steps\n", ""), ("hello 19 steps\n", "hello 19 steps\n")])
def test_a_torn_line_of_print_is_written_again(torn, kept, tmp_path):
    """A job that was killed in the middle of a line has left its beginning. What others wrote stays."""
    deck = MIXTURE + MIXTURE_FIXES + "restart 20 r.*\nrun 20\nprint 'hello $(step) steps' append lines\n"
    (tmp_path / "lines").write_text("old\n")
    works(run_deck(tmp_path, deck))
    assert (tmp_path / "lines").read_text() == "old\nhello 20 steps\n"
    (tmp_path / "lines").write_text("old\n" + torn)
    works(run_deck(tmp_path, deck, "--resume"))
    assert (tmp_path / "lines").read_text() == "old\n" + kept + "hello 20 steps\n"
