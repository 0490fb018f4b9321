"""Trajectories in H5MD: the layout that the specification (version 1.1) asks for, the numbers of the text dumps beside
them, the same file from any number of ranks, and reading by MDAnalysis where it is installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import harness
from cli import RUNTIME, USAGE, refused, run_deck, works
from test_restart import FLAT, FLAT_FIXES, MIXTURE, MIXTURE_FIXES, finish, start

h5py = pytest.importorskip("h5py")
pytestmark = pytest.mark.skipif(
    harness.program().exists() and harness.hdf5_missing(), reason="this build has no HDF5")

DUMPS = """\
dump 1 all h5md 20 t.h5 position velocity force species
dump 2 all custom 20 t.txt id type x y z vx vy vz fx fy fz
dump_modify 1 first yes
dump_modify 2 first yes
"""


def vectors(frame: harness.Frame, prefix: str) -> np.ndarray:
    return frame.vectors(*(prefix + axis for axis in "xyz"))


def check(folder: Path, dimension: int) -> None:
    frames = harness.read_dump(folder / "t.txt")
    with h5py.File(folder / "t.h5") as f:
        assert list(f["h5md"].attrs["version"]) == [1, 1]
        assert f["h5md/author"].attrs["name"] and f["h5md/creator"].attrs["name"] == b"Myriad"
        # A plane is one of three dimensions, so that other programs read it.
        assert f["parameters"].attrs["dimension"] == dimension
        everything = f["particles/all"]
        box = everything["box"]
        assert box.attrs["dimension"] == 3 and list(box.attrs["boundary"]) == \
            ([b"periodic"] * 3 if dimension == 3 else [b"none", b"none", b"periodic"])
        assert list(everything["id"]) == list(frames[0].columns["id"])
        for name in ("box/edges", "box/offset", "position", "velocity", "force", "species"):
            element = everything[name]
            assert list(element["step"]) == [frame.step for frame in frames]
            assert element["time"][1] == element["step"][1] * (0.005 if dimension == 3 else 0.0005)
            assert element["value"].shape[0] == len(frames) and element["value"].maxshape[0] is None
        for k, frame in enumerate(frames):
            low, high = frame.bounds.T
            assert np.array_equal(box["edges/value"][k], high - low) and np.array_equal(box["offset/value"][k], low)
            assert np.array_equal(everything["species/value"][k], frame.columns["type"])
            for name, prefix in (("position", ""), ("velocity", "v"), ("force", "f")):
                assert np.array_equal(everything[name]["value"][k], vectors(frame, prefix)), (name, k)


@pytest.mark.parametrize("dimension", [2, 3])
def test_frames_hold_what_text_dumps_hold(dimension, engine, tmp_path):
    begin, fixes = (MIXTURE, MIXTURE_FIXES) if dimension == 3 else (FLAT, FLAT_FIXES)
    harness.run(f"{begin}{fixes}{DUMPS}run 60\nrun 20\n", tmp_path, engine=engine)
    check(tmp_path, dimension)


@pytest.mark.smoke
@pytest.mark.parametrize("change", ["npt", "faces"])
def test_the_box_of_each_frame(change, tmp_path):
    """Its sides and its lower corner change in a run."""
    deck = MIXTURE + "fix 1 all npt temp 1 1 0.1 iso 8 8 0.5\n"
    if change == "faces":
        deck = MIXTURE.replace("create_box", "boundary s p m\ncreate_box", 1) + "fix 1 all nve\n"
    harness.run(f"{deck}{DUMPS}run 60\n", tmp_path)
    frames = harness.read_dump(tmp_path / "t.txt")
    with h5py.File(tmp_path / "t.h5") as f:
        box = f["particles/all/box"]
        for k, frame in enumerate(frames):
            low, high = frame.bounds.T
            assert np.array_equal(box["offset/value"][k], low)
            assert box["edges/value"][k] == pytest.approx(high - low, rel=1e-15)
        assert len({tuple(corner) for corner in box["offset/value"]}) == len(frames) == 4


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_write_the_same_frames(ranks, tmp_path):
    begin = MIXTURE.replace("block 0 5", "block 0 15")
    finish(start(tmp_path, ranks=ranks, deck=f"{begin}{MIXTURE_FIXES}{DUMPS}run 60\n"))
    check(tmp_path, 3)


@pytest.mark.mpi
def test_ranks_add_to_a_file_of_one_rank(tmp_path):
    """And one rank to that of several."""
    begin = MIXTURE.replace("block 0 5", "block 0 15") + "fix 1 all nve\n"
    for name, ranks in (("whole", [1]), ("parts", [1, 3, 1])):
        (tmp_path / name).mkdir()
        for part, count in enumerate(ranks):
            deck = f"{begin}dump 1 all h5md 10 a.h5 position\ndump_modify 1 append yes\nreset_timestep {part * 100}\n"
            finish(start(tmp_path / name, ranks=count, deck=f"{deck}run 20\n"))
    with h5py.File(tmp_path / "whole" / "a.h5") as whole, h5py.File(tmp_path / "parts" / "a.h5") as parts:
        positions = "particles/all/position/value"
        assert list(parts["particles/all/position/step"]) == [0, 10, 20, 100, 110, 120, 200, 210, 220]
        assert np.array_equal(parts[positions], np.tile(whole[positions], (3, 1, 1)))


@pytest.mark.mpi
def test_ranks_refuse_a_file_whose_chunks_come_late(tmp_path):
    """With HDF5's own settings of one rank, ranks would wait for one another for ever."""
    begin = MIXTURE.replace("block 0 5", "block 0 15") + MIXTURE_FIXES
    deck = f"{begin}dump 1 all h5md 10 a.h5 position\ndump_modify 1 append yes\nrun 20\n"
    finish(start(tmp_path, deck=deck))
    with h5py.File(tmp_path / "a.h5") as f, h5py.File(tmp_path / "late.h5", "w") as late:
        def copy(name: str, item) -> None:
            if isinstance(item, h5py.Dataset):
                late.create_dataset(name, data=item[()], maxshape=item.maxshape, chunks=item.chunks)
        f.visititems(copy)
    (tmp_path / "late.h5").rename(tmp_path / "a.h5")
    err = finish(start(tmp_path, ranks=3, deck=deck.replace("run 20", "reset_timestep 100\nrun 20")), expect=1)
    assert "cannot add to a.h5 over several ranks" in err, err


@pytest.mark.smoke
def test_files_by_step_append_and_defaults(tmp_path):
    def steps(name: str) -> list:
        with h5py.File(tmp_path / name) as f:
            assert sorted(f["particles/all"]) == ["box", "id", "position", "species", "velocity"]
            return list(f["particles/all/position/step"])

    deck = f"{MIXTURE}{MIXTURE_FIXES}dump 1 all h5md 10 a.*.h5\ndump 2 all h5md 10 b.h5\n"
    works(run_deck(tmp_path, deck + "run 20\n"))
    assert steps("a.10.h5") == [10] and steps("a.20.h5") == [20] and steps("b.h5") == [0, 10, 20]
    works(run_deck(tmp_path, deck + "dump_modify 2 append yes\nreset_timestep 25\nrun 10\n"))
    assert steps("b.h5") == [0, 10, 20, 30]
    works(run_deck(tmp_path, deck + "run 5\n"))
    assert steps("b.h5") == [0]


@pytest.mark.smoke
def test_what_is_refused(tmp_path):
    line = MIXTURE.count("\n") + 1
    for words, message in [("a.h5 image", "unknown element 'image'"), ("a.h5.gz", "gzip"),
                           ("a.h5 position position", "twice"),
                           ("a.h5 position 5", "unknown element '5'")]:
        refused(run_deck(tmp_path, f"{MIXTURE}dump 1 all h5md 10 {words}\n"), USAGE, message, line=line)
    refused(run_deck(tmp_path, f"{MIXTURE}dump 1 all h5md 10 no/a.h5\nrun 1\n"), RUNTIME, "no/a.h5")
    (tmp_path / "text.h5").write_text("no HDF5\n")
    append = "dump_modify 1 append yes\nrun 0\n"
    refused(run_deck(tmp_path, f"{MIXTURE}dump 1 all h5md 1 text.h5\n{append}"), RUNTIME, "no HDF5 file")
    works(run_deck(tmp_path, f"{MIXTURE}dump 1 all h5md 1 a.h5\nrun 0\n"))
    other = MIXTURE.replace("0 5 0 5 0 5", "0 6 0 6 0 6")
    refused(run_deck(tmp_path, f"{other}dump 1 all h5md 1 a.h5\n{append}"), RUNTIME, "of 500 particles, not 864")
    refused(run_deck(tmp_path, f"{MIXTURE}dump 1 all h5md 1 a.h5 position\n{append}"), RUNTIME,
            "it has the element velocity, which this dump has not")


@pytest.mark.smoke
def test_a_full_disk_within_a_trajectory(tmp_path):
    refused(run_deck(tmp_path, f"{MIXTURE}dump 1 all h5md 1 b.h5\nrun 0\n", file_size=6000), RUNTIME, "dump 1",
            "File too large")


def test_a_resumed_run_adds_each_frame_once(tmp_path):
    deck = f"{MIXTURE}{MIXTURE_FIXES}dump 1 all h5md 30 t.h5\nrestart 100 r\nrun 1000\n"
    finish(start(tmp_path, deck=deck))
    with h5py.File(tmp_path / "t.h5") as f:
        wanted = f["particles/all/position/value"][:]
    # The newest restart is gone: what comes after the one before is made again.
    (tmp_path / "r.2").unlink()
    finish(start(tmp_path, "--resume"))
    assert "step 900" in (tmp_path / "log.myriad").read_text()
    with h5py.File(tmp_path / "t.h5") as f:
        assert list(f["particles/all/position/step"]) == list(range(0, 1001, 30))
        assert np.array_equal(f["particles/all/position/value"][:], wanted)
    # One that cannot be read is put aside.
    (tmp_path / "r.2").unlink()
    (tmp_path / "t.h5").write_bytes((tmp_path / "t.h5").read_bytes()[:5000])
    finish(start(tmp_path, "--resume"))
    assert "t.h5.broken" in (tmp_path / "log.myriad").read_text() and (tmp_path / "t.h5.broken").exists()
    with h5py.File(tmp_path / "t.h5") as f:
        assert list(f["particles/all/position/step"]) == [930, 960, 990]


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.mpi)])
def test_a_resumed_run_keeps_the_frames_of_higher_steps(ranks, tmp_path):
    """Those of another job, and those of this one before a reset_timestep: only the number of frames tells."""
    begin = f"{MIXTURE}{MIXTURE_FIXES}dump 1 all h5md 10 t.h5 position\ndump_modify 1 append yes\n"
    finish(start(tmp_path, deck=f"{begin}run 60\n", ranks=ranks))
    deck = f"{begin}restart 20 r.*\nrun 50\nreset_timestep 0\nrun 40\n"
    finish(start(tmp_path, deck=deck, ranks=ranks))
    steps = [*range(0, 61, 10), *range(0, 51, 10), *range(0, 41, 10)]
    with h5py.File(tmp_path / "t.h5") as f:
        assert list(f["particles/all/position/step"]) == steps
        wanted = f["particles/all/position/value"][:]
    for lost in ("r.40", "r.20"):
        (tmp_path / lost).unlink()
        finish(start(tmp_path, "--resume", ranks=ranks))
        with h5py.File(tmp_path / "t.h5") as f:
            assert list(f["particles/all/position/step"]) == steps
            assert np.array_equal(f["particles/all/position/value"][:], wanted)


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.mpi)])
@pytest.mark.parametrize("style, message", [("h5md", "other ids"), ("h5md", "particles, not"), ("frames", "particles")])
def test_all_frames_of_a_file_have_the_same_particles(style, message, ranks, tmp_path):
    """A particle is removed, and with `other ids` another one is added: as many as before."""
    deck = f"{MIXTURE}{MIXTURE_FIXES}dump 1 all {style} 10 t\ndump_modify 1 append yes\nrun 10\n"
    finish(start(tmp_path, deck=deck, ranks=ranks))
    before = (tmp_path / "t").read_bytes()
    change = "group one id 7\ndelete_atoms group one compress no\n"
    if message == "other ids":
        change += "create_atoms 1 single 0.9 0.9 0.9 units box\n"
    text = deck.replace("dump 1", f"{change}reset_timestep 20\ndump 1")
    err = finish(start(tmp_path, deck=text, ranks=ranks), expect=RUNTIME)
    assert "dump 1: cannot add to t: " in err and message in err, err
    assert style == "h5md" or (tmp_path / "t").read_bytes() == before


def test_units_are_texts_of_variable_length(tmp_path):
    """h5py reads them as str, which MDAnalysis needs."""
    harness.run("units metal\nlattice fcc 4\nregion b block 0 4 0 4 0 4\ncreate_box 1 b\ncreate_atoms 1 box\n"
                "mass 1 27\npair_style lj/cut 5\npair_coeff 1 1 0.1 2.6\nfix 1 all nve\ndump 1 all h5md 1 t.h5\n"
                "run 1\n",
                tmp_path)
    with h5py.File(tmp_path / "t.h5") as f:
        assert f["particles/all/position/value"].attrs["unit"] == "Angstrom"
        assert f["particles/all/velocity/value"].attrs["unit"] == "Angstrom ps-1"
        assert f["particles/all/position/time"].attrs["unit"] == "ps"


@pytest.mark.parametrize("dimension", [2, 3])
def test_mdanalysis_reads_it(dimension, tmp_path):
    mda = pytest.importorskip("MDAnalysis")
    begin, fixes = (MIXTURE, MIXTURE_FIXES) if dimension == 3 else (FLAT, FLAT_FIXES)
    harness.run(f"{begin}{fixes}{DUMPS}run 60\n", tmp_path)
    frames = harness.read_dump(tmp_path / "t.txt")
    universe = mda.Universe.empty(len(frames[0].columns["id"]), trajectory=True, velocities=True, forces=True)
    universe.load_new(str(tmp_path / "t.h5"), format="H5MD", convert_units=False)
    assert len(universe.trajectory) == len(frames)
    for step, frame in zip(universe.trajectory, frames):
        assert np.array_equal(step.positions, vectors(frame, "").astype(np.float32))
        assert np.array_equal(step.velocities, vectors(frame, "v").astype(np.float32))
        assert np.array_equal(step.dimensions[:3], (frame.bounds[:, 1] - frame.bounds[:, 0]).astype(np.float32))
        assert list(step.dimensions[3:]) == [90.0] * 3
