"""The CS267 homework's official data: the trajectory is accepted, with room to spare."""

from __future__ import annotations

import check
import harness

OFFICIAL = str(harness.REFERENCE / "repulsive-1000.frames")


def homework(folder, **how):
    harness.run(harness.INPUTS / "in.homework", folder, **how,
                variables={"data": str(harness.REFERENCE / "repulsive-1000.data"), "out": "ours.frames"})
    return str(folder / "ours.frames")


def test_official_trajectory_is_accepted(engine, tmp_path):
    """The homework asks for 3e-7 over the first 50 frames."""
    ours = homework(tmp_path, engine=engine)
    assert check.main([ours, OFFICIAL, "--mean-distance", "first50=1e-7,all=0.025"]) == check.SAME
    # The trajectories do part in the end: the comparison compares something.
    assert check.main([ours, OFFICIAL, "--mean-distance", "all=0.001"]) == check.DIFFERENT


def test_official_frames_do_not_depend_on_threads(tmp_path):
    assert check.main([homework(tmp_path / "1", threads=1), homework(tmp_path / "4", threads=4)]) == check.SAME


def test_a_wrong_force_is_not_accepted(tmp_path):
    """A cutoff that is 0.01 % too long is enough to fail."""
    text = (harness.INPUTS / "in.homework").read_text()
    assert "repulsive 0.01\n" in text
    harness.run(text.replace("repulsive 0.01\n", "repulsive 0.010001\n"), tmp_path,
                variables={"data": str(harness.REFERENCE / "repulsive-1000.data"), "out": "ours.frames"})
    ours = str(tmp_path / "ours.frames")
    assert check.main([ours, OFFICIAL, "--mean-distance", "first50=3e-7,all=0.025"]) == check.DIFFERENT
