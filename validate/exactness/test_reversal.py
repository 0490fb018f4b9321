"""Running back: with velocities turned round, a trajectory returns to its first state, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

import harness

NVE = "velocity all negate\nrun ${steps}\n"
MIRROR = "velocity all negate\nunfix move\nfix back all nve/leapfrog mirror yes\nrun ${steps}\n"
LEAPFROG = "velocity all negate\nunfix move\nfix back all nve/leapfrog\nrun ${steps}\n"

CASES = {
    "nve periodic 3D": ("in.melt", NVE, {}),
    "nve periodic 2D, two masses": ("in.mixture", NVE, {"mass2": 0.4}),
    "nve walls 3D, two masses": ("in.slab", NVE, {}),
    "nve walls 2D": ("in.wca", NVE, {}),
    "nve soft 3D": ("in.soft", NVE, {}),
    "nve walls 3D, wide momenta": ("in.slab", NVE, {"mass2": 1e7}),
    "nve periodic 3D, wide momenta": ("in.melt", NVE, {"dt": 2e-5}),
    "nve droplet 3D, faces that follow": ("in.droplet", NVE, {"dt": 0.002}),
    "leapfrog, then its mirror, walls": ("in.repulsive", MIRROR, {}),
    "mirror, then leapfrog, walls, two masses": ("in.overlap", LEAPFROG, {"mirror": "yes", "dt": 0.0002}),
}


def there_and_back(name, steps, folder, **how):
    deck, back, knobs = CASES[name]
    text = harness.deck(deck).read_text() + back
    harness.run(text, folder, variables={"steps": steps, "every": steps, **knobs}, **how)
    frames = harness.read_dump(folder / "check.dump")
    assert [frame.step for frame in frames] == [0, steps, 2 * steps]
    return frames


def assert_reversed(frames):
    first, turn, last = (frame.vectors("id", "type", "x", "y", "z") for frame in frames)
    assert np.abs(turn - first).max() > 0.01, "the particles have hardly moved"
    np.testing.assert_array_equal(last, first)
    v_first, v_last = frames[0].vectors("vx", "vy", "vz"), frames[2].vectors("vx", "vy", "vz")
    assert np.abs(v_first).max() > 0.1
    np.testing.assert_array_equal(v_last, -v_first)


@pytest.mark.parametrize("name", CASES)
def test_twenty_thousand_steps_and_back(name, fast_engine, tmp_path):
    threads = 2 if name == "nve periodic 3D" else 1
    assert_reversed(there_and_back(name, 20000, tmp_path, engine=fast_engine, threads=threads))


@pytest.mark.parametrize("name", CASES)
def test_naive_and_back(name, tmp_path):
    assert_reversed(there_and_back(name, 300, tmp_path, engine="naive"))


@pytest.mark.smoke
def test_short_way_and_back(tmp_path):
    assert_reversed(there_and_back("mirror, then leapfrog, walls, two masses", 100, tmp_path))


def test_leapfrog_is_not_its_own_reverse(tmp_path):
    """Kick-drift run backwards is drift-kick: the test above would notice the wrong one."""
    text = harness.deck("in.repulsive").read_text() + NVE
    harness.run(text, tmp_path, variables={"steps": 300, "every": 300})
    first, _, last = (frame.vectors("x", "y") for frame in harness.read_dump(tmp_path / "check.dump"))
    assert (last != first).any()


@pytest.mark.smoke
def test_particles_that_start_on_a_wall(fast_engine, tmp_path):
    """Exactly on it and moving outwards: the first step reflects them, and the last one back must too."""
    text = ("units lj\ndimension 2\nboundary f f p\nregion b block 0 1 0 1 -0.5 0.5 units box\ncreate_box 1 b\n"
            "mass 1 1\n"
            "create_atoms 1 single 0 0.5 0 units box\ncreate_atoms 1 single 1 0.25 0 units box\n"
            "create_atoms 1 single 0.5 1 0 units box\nvelocity all set -0.3 0.1 0 units box\nfix move all nve\n"
            "fix walls all wall/reflect xlo EDGE xhi EDGE ylo EDGE yhi EDGE\n"
            "dump check all custom ${steps} check.dump id x y vx vy\n"
            "run ${steps}\nvelocity all negate\nrun ${steps}\n")
    harness.run(text, tmp_path, engine=fast_engine, variables={"steps": 1000})
    first, _, last = harness.read_dump(tmp_path / "check.dump")
    np.testing.assert_array_equal(last.vectors("x", "y"), first.vectors("x", "y"))
    np.testing.assert_array_equal(last.vectors("vx", "vy"), -first.vectors("vx", "vy"))
