"""create_atoms plummer, uniform and cold: what they make, on any number of threads and ranks, and every wrong word.
Their distributions are tested in validate/gravity/test_gravity.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import harness
from cli import USAGE, call, refused, run_deck, works

UNIT = 2.0**-25  # places and velocities are rounded by this, in units of the cluster, before their means are taken

BOX = "units lj\nboundary f f f\nregion b block -50 50 -50 50 -50 50 units box\ncreate_box 2 b\n"
FLAT = ("units lj\ndimension 2\nboundary f f p\nregion b block -50 50 -50 50 -0.5 0.5 units box\ncreate_box 2 b\n")
DUMP = ("mass 2 1\ndump d all custom 1 d.dump id type mass x y z vx vy vz\ndump_modify d format float %.17g\n"
        "fix move all nve\nrun 0\n")


def made(folder: Path, commands: str, before: str = BOX, **how) -> harness.Frame:
    """The particles of a deck, by id."""
    harness.run(before + commands + DUMP, folder, **how)
    return harness.read_dump(folder / "d.dump")[0]


# Words after `create_atoms 1`, and words of the message.
WRONG = {
    "plummer": ["needs N and seed S"],
    "plummer 10": ["plummer needs N and seed S"],
    "cold 10 seed": ["cold needs N and seed S"],
    "plummer 10 scale 0.1": ["plummer needs seed S"],
    "uniform 10 sed 4": ["sed", "seed, scale and centre"],
    "plummer 0 seed 1": ["number of bodies", "from 1", "not 0"],
    "plummer -3 seed 1": ["number of bodies", "not -3"],
    "plummer 1e3 seed 1": ["number of bodies", "1e3"],
    "plummer 2147483649 seed 1": ["number of bodies", "2147483648"],
    "plummer 10 seed 0": ["seed must be", "not 0"],
    "plummer 10 seed x": ["seed", "x"],
    "plummer 10 seed 1 scale 0": ["scale must be positive"],
    "plummer 10 seed 1 scale -1": ["scale must be positive"],
    "plummer 10 seed 1 scale": ["plummer scale needs 1 value"],
    "plummer 10 seed 1 centre 0 0": ["plummer centre needs 3 values"],
    "plummer 10 seed 1 centre 0 y 0": ["centre", "y"],
    "plummer 10 seed 1 surplus": ["surplus"],
    "cold 100 seed 1 scale 60": ["reaches 5", "box along x is from -50 to 50", "larger box or a smaller scale"],
    "cold 100 seed 1 scale 1 centre 0 49.5 0": ["reaches 0.9", "along y"],
    "uniform 1 seed 1 centre 0 0 50": ["along z"],
    "plummer 1000 seed 1 scale 20": ["the cluster reaches", "from its centre"],
}


@pytest.mark.smoke
@pytest.mark.parametrize("words", WRONG)
def test_wrong_words(words, tmp_path):
    deck = BOX + f"create_atoms 1 {words}\n"
    refused(run_deck(tmp_path, deck), USAGE, *WRONG[words], line=deck.count("\n"))


@pytest.mark.smoke
def test_plummer_needs_space(tmp_path):
    refused(run_deck(tmp_path, FLAT + "create_atoms 1 plummer 10 seed 1\n"), USAGE, "three dimensions", "use uniform",
            line=FLAT.count("\n") + 1)


@pytest.mark.smoke
def test_the_check_of_a_deck_finds_words_and_not_places(tmp_path):
    """`myriad check` makes no particles: it does not know how far a cluster reaches."""
    (tmp_path / "in.deck").write_text(BOX + "create_atoms 1 plummer 10 sed 1\nrun 5\n")
    done = call(tmp_path, "check", "-in", "in.deck")
    assert done.status == USAGE and "sed" in done.out + done.err
    (tmp_path / "in.deck").write_text(BOX + "create_atoms 1 cold 10 seed 1 scale 60\npair_style gravity 0.1\nmass 2 1\n"
                                      "run 5\n")
    assert call(tmp_path, "check", "-in", "in.deck").status == 0
    assert not (tmp_path / "log.myriad").exists()


@pytest.mark.parametrize("kind", ["plummer", "uniform", "cold"])
def test_ids_types_masses(kind, tmp_path):
    """Ids go on after those in use, each type gets the mass of its cluster, and other particles keep theirs."""
    frame = made(tmp_path, f"create_atoms 2 single 1 2 3 units box\ncreate_atoms 1 {kind} 500 seed 3 centre 1 -2 3\n")
    assert frame.columns["id"].tolist() == list(range(1, 502))
    assert frame.columns["type"].tolist() == [2] + 500 * [1]
    np.testing.assert_array_equal(frame.columns["mass"], [1.0] + 500 * [1 / 500])
    np.testing.assert_allclose(frame.vectors("x", "y", "z")[1:].mean(axis=0), [1, -2, 3], rtol=0.0, atol=UNIT)
    v = frame.vectors("vx", "vy", "vz")[1:]
    np.testing.assert_allclose(v.mean(axis=0), 0.0, atol=UNIT)
    assert v.any() != (kind == "cold") and not frame.vectors("vx", "vy", "vz")[0].any()


def test_one_body_is_at_the_centre_and_at_rest(tmp_path):
    frame = made(tmp_path, "create_atoms 1 plummer 1 seed 9 scale 2 centre 4 5 6\n")
    np.testing.assert_allclose(frame.vectors("x", "y", "z")[0], [4, 5, 6], rtol=0.0, atol=2.0 * UNIT)
    np.testing.assert_allclose(frame.vectors("vx", "vy", "vz")[0], 0.0, atol=UNIT)


def test_seeds_scales_and_centres(tmp_path):
    """Another seed makes other bodies. A scale stretches places by itself and velocities by its root, and a centre only
    moves them."""
    first, other, larger, moved = (
        made(tmp_path / str(k), f"create_atoms 1 uniform 200 {words}\n")
        for k, words in enumerate(("seed 1", "seed 2", "seed 1 scale 4", "centre 3 2 1 seed 1")))
    x, v = ("x", "y", "z"), ("vx", "vy", "vz")
    assert (first.vectors(*x) != other.vectors(*x)).all() and (first.vectors(*v) != other.vectors(*v)).all()
    np.testing.assert_allclose(larger.vectors(*x), 4.0 * first.vectors(*x), rtol=0.0, atol=2e-13)
    np.testing.assert_allclose(larger.vectors(*v), first.vectors(*v) / 2.0, rtol=0.0, atol=2e-10)
    np.testing.assert_allclose(moved.vectors(*x), first.vectors(*x) + [3, 2, 1], rtol=0.0, atol=2e-13)
    np.testing.assert_array_equal(moved.vectors(*v), first.vectors(*v))


def test_cold_has_the_places_of_uniform(tmp_path):
    warm, cold = (made(tmp_path / kind, f"create_atoms 1 {kind} 300 seed 8\n") for kind in ("uniform", "cold"))
    np.testing.assert_array_equal(warm.vectors("x", "y", "z"), cold.vectors("x", "y", "z"))


def test_a_disc_is_flat(tmp_path):
    frame = made(tmp_path, "create_atoms 1 uniform 300 seed 8 scale 3\n", before=FLAT)
    assert not frame.columns["z"].any() and not frame.columns["vz"].any()
    assert 2.9 < np.hypot(frame.columns["x"], frame.columns["y"]).max() < 3.2


TWO = "create_atoms 1 plummer 9001 seed 4 scale 0.5 centre 10 0 -10\ncreate_atoms 2 uniform 100 seed 4 scale 3\n"


def test_threads_make_the_same_bodies(tmp_path):
    one = made(tmp_path / "1", TWO, threads=1)
    for threads in (2, 4):
        several = made(tmp_path / str(threads), TWO, threads=threads)
        for name, column in one.columns.items():
            np.testing.assert_array_equal(column, several.columns[name], err_msg=name)


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [2, 3, 7])
def test_ranks_make_the_same_bodies(ranks, tmp_path):
    one, several = made(tmp_path / "1", TWO), made(tmp_path / "ranks", TWO, ranks=ranks, threads=1)
    for name, column in one.columns.items():
        np.testing.assert_array_equal(column, several.columns[name], err_msg=name)


@pytest.mark.smoke
def test_a_cluster_can_be_planned(tmp_path):
    (tmp_path / "in.deck").write_text(BOX + "create_atoms 1 plummer 1000 seed 1\nmass 2 1\npair_style gravity 0.1\n"
                                      "run 5\n")
    done = works(call(tmp_path, "plan", "-in", "in.deck"))
    assert "for 1000 particles in 3 dimensions" in done.out and "all pairs" in done.out
    several = works(call(tmp_path, "plan", "-in", "in.deck", "--ranks", "7", "--particles", "7000000"))
    assert "Ranks: 7, 1000000 particles each, wherever they are" in several.out
    assert "blocks of 38.1 MiB travel around the ring" in several.out and "Halo" not in several.out
