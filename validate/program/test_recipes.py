"""The recipes of docs/howto.md, in small: each deck runs on every engine, and shows what its head says."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest

import harness
from test_lammps import lammps_tables
from test_output import decode_colours

LMP = shutil.which("lmp")


def run(name: str, folder, engine: str, **variables: harness.Value) -> harness.Result:
    deck, = harness.INPUTS.rglob(f"in.{name}")
    return harness.run(deck, folder, engine=engine, variables={"out": ".", **variables})


def is_picture(path) -> bool:
    """Is it large enough to be read, and in more colours than its paper's and its letters'?"""
    picture = decode_colours(path.read_bytes())
    return max(picture.shape) > 500 and len(np.unique(picture.reshape(-1, 3), axis=0)) > 10


def touch(x: np.ndarray, side: float, cutoff: float) -> bool:
    """Is there a way between any two of the points, in steps shorter than the cutoff, in a periodic box?"""
    delta = x[:, None] - x[None]
    near = np.linalg.norm(delta - side * np.rint(delta / side), axis=2) < cutoff
    reached = np.arange(len(x)) == 0
    for _ in x:
        reached = near[reached].any(axis=0)
    return bool(reached.all())


def test_sedimentation(fast_engine, tmp_path):
    """The disks fall, and the field's energy with them; heavy ones are below."""
    table = run("sedimentation", tmp_path, fast_engine, n=24, steps=6000).table
    height = table.column("f_weight")
    assert height[-1] < 0.8 * height[0] and abs(table.column("Temp")[-1] - 1) < 0.3
    density = np.loadtxt(tmp_path / "sedimentation.txt")
    assert density.shape == (10, 20) and density.sum() * (48 / 20) * (24 / 10) > 100
    assert sorted(path.name for path in tmp_path.glob("*.png"))[-1] == "sedimentation.light.6000.png"
    assert len(list(tmp_path.glob("*.png"))) == 8


def test_obstacle(fast_engine, tmp_path):
    """The fluid is pushed along x, the disc holds some of it up, and the thermostat keeps T."""
    table = run("obstacle", tmp_path, fast_engine, columns=60, rows=18, steps=3000).table
    assert abs(table.column("c_fluid")[-1] - 1) < 0.05 and max(table.column("f_disc")) > 0
    assert np.mean(table.column("f_disc[1]")[3:]) > 0
    assert is_picture(tmp_path / "obstacle.3000.png")


def test_couette(fast_engine, tmp_path):
    """The fluid goes with the plates: a profile with a slope, and plates that are held back on both sides."""
    tables = run("couette", tmp_path, fast_engine, columns=20, rows=8, steps=6000).tables
    assert abs(tables[1].column("c_across")[-1] - 1) < 0.2
    assert tables[1].column("v_slope")[-1] > 0.02 and 0.5 < tables[1].column("v_eta")[-1] < 3
    layers = [line.split() for line in (tmp_path / "couette.txt").read_text().splitlines()[-3:]]
    assert float(layers[0][3]) < float(layers[-1][3]) and is_picture(tmp_path / "couette.6000.png")


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
def test_shear(fast_engine, tmp_path):
    """The viscosity of the recipe is LAMMPS's from the same deck, within the noise of a small box."""
    here = run("shear", tmp_path, fast_engine, n=16, steps=24000).tables[1]
    there = lammps_tables(harness.INPUTS / "recipes" / "in.shear", tmp_path, n=16, steps=24000)[1]
    assert abs(here.column("v_eta")[-1] - 1.55) < 0.4 and abs(there.column("v_eta")[-1] - 1.55) < 0.4
    assert np.mean(here.column("c_stress")[2:]) == pytest.approx(np.mean(there.column("c_stress")[2:]), rel=0.1)


def test_quench(fast_engine, tmp_path):
    """The melt loses the order of the lattice, and gets it back in part as it is cooled."""
    tables = run("quench", tmp_path, fast_engine, columns=14, rows=8, cooling=2000, hold=1000).tables
    order = [table.column("c_order")[-1] for table in tables]
    assert tables[0].column("c_order")[0] > 0.999 and order[0] < 0.5 < order[1] < order[2]
    assert abs(tables[-1].column("Temp")[-1] - 0.1) < 0.06 and is_picture(tmp_path / "quench.4000.png")


def test_indentation(fast_engine, tmp_path):
    """No force at the first place of the indenter, and one when it is in the crystal; a loop of runs."""
    tables = run("indentation", tmp_path, fast_engine, columns=40, rows=10, pushes=6).tables
    assert [int(table.rows[-1][0]) for table in tables] == [500, 1000, 1500, 2000, 2500, 3000, 3000]
    force = [table.column("f_indenter[2]")[-1] for table in tables[:-1]]
    assert force[0] == 0 and min(force[3:]) > 0 and max(force[3:]) > 5
    assert is_picture(tmp_path / "indentation.png")


def test_conductivity(fast_engine, tmp_path):
    """Heat is moved to the middle, which is warmer then, and flows back; the energy stays."""
    tables = run("conductivity", tmp_path, fast_engine, columns=24, rows=20, steps=4000).tables
    energy, heat = tables[-1].column("TotEng"), tables[-1].column("f_swap")
    assert np.ptp(energy) < 0.01 and np.all(np.diff(heat) > 0)
    assert 1 < tables[-1].column("v_kappa")[-1] < 12
    profile = np.loadtxt((tmp_path / "conductivity.profile").read_text().splitlines()[-20:])
    assert np.mean(profile[9:12, 3]) > np.mean(profile[[0, 1, 19], 3]) + 0.1


def test_active(fast_engine, tmp_path):
    """With little noise clusters form, and particles have nearly the speed 1, Temp 1/2; much noise keeps a gas."""
    quiet = run("active", tmp_path, fast_engine, n=16, steps=6000).table
    assert 0.45 < quiet.column("Temp")[-1] < 0.52 and quiet.column("c_mean[1]")[-1] > 0.5
    assert is_picture(tmp_path / "active.6000.png") and is_picture(tmp_path / "active.heading.6000.png")
    loud = run("active", tmp_path, fast_engine, n=16, steps=2000, noise=0.2).table
    assert max(loud.column("c_mean[1]")) < 0.25


def test_ask_afterwards(fast_engine, tmp_path):
    """The state returns, and the particles that were apart are one droplet at its step."""
    log = run("ask-afterwards", tmp_path, fast_engine, n=24, size=40, every=100).log
    states = re.findall(r"state (\w+) of step (\d+)", log)
    assert len(states) == 2 and states[0] == states[1]
    found = int(states[0][1])
    count = int(re.search(r"\n(\d+) particles in group droplet", log).group(1))
    assert count >= 40 and len(list(tmp_path.glob("members.*.txt"))) == (found - 2000) // 100 + 1
    places = {step: harness.read_dump(tmp_path / f"members.{step}.txt")[0].vectors("x", "y") for step in (2000, found)}
    assert len(places[2000]) == len(places[found]) == count
    assert touch(places[found], 60, 1.5) and not touch(places[2000], 60, 1.5)
    assert is_picture(tmp_path / f"ask.{found}.png")


def test_crack(fast_engine, tmp_path):
    """The tip rests below Griffith's strain, which is 0.036 here, and is slower than Rayleigh waves above it."""
    table = run("crack", tmp_path, fast_engine, columns=60, rows=16, pull=0.1, steps=6000).table
    strain, tip, time = (np.array(table.column(name)) for name in ("v_strain", "c_tip", "Step"))
    notch = 10 * np.sqrt(2 / np.sqrt(3) / 0.9165)
    assert max(tip[strain < 0.036]) < notch and max(tip) > 40
    runs = (tip > 18) & (tip < 40)
    speed, _ = np.polyfit(time[runs] * 0.004, tip[runs], 1)
    assert 1 < speed < 4.8
    assert is_picture(tmp_path / "crack.6000.png") and is_picture(tmp_path / "crack.waves.6000.png")


def test_friction(fast_engine, tmp_path):
    """The first law: the work of the grip is the heat that leaves and the energy that stays, and there is friction."""
    table = run("friction", tmp_path, fast_engine, columns=44, steps=2000, u=3).tables[-1]
    work, heat, energy = (np.array(table.column(name)) for name in ("v_work", "v_heat", "TotEng"))
    assert work[-1] > 300 and abs(work[-1] - heat[-1] - (energy[-1] - energy[0])) < 0.02 * work[-1]
    assert table.column("c_across")[-1] > 2 * table.column("c_across")[0]
    assert is_picture(tmp_path / "friction.2000.png") and is_picture(tmp_path / "friction.velocity.2000.png")
