"""Dissipative particle dynamics: without randomness beside LAMMPS's log; its temperature, pressure and noise; momentum;
runs that are cut, restarts, bonds; and what is refused."""

from __future__ import annotations

import math
import shutil
import subprocess

import numpy as np
import pytest

import harness
from cli import BOX, USAGE, refused, run_deck
from test_lammps import LMP, lammps_tables

DATA = harness.REFERENCE / "dpd-108.data"
LOG = harness.REFERENCE / "dpd-108.lammps.log"

# Three parts, each from the same data: with friction at T = 0, with the repulsion alone, and the friction alone.
PARTS = ("dpd 0.0 1.0 34387\npair_coeff 1 1 25 4.5\npair_coeff 2 2 20 3.0 0.9\npair_coeff 1 2 15 6.0\n",
         "dpd 1.0 1.0 34387\npair_coeff 1 1 25 0\npair_coeff 2 2 20 0 0.9\npair_coeff 1 2 15 0\n",
         "dpd/tstat 0.0 0.0 1.0 34387\npair_coeff 1 1 4.5\npair_coeff 2 2 3.0 0.9\npair_coeff 1 2 6.0\n")
ROWS = ("thermo_style custom step temp pe ke etotal press pxx pyy pzz pxy pxz pyz\n"
        "thermo_modify format float %.15g norm no\n")
BESIDE = "clear\n".join(f"units lj\ncomm_modify vel yes\nneighbor 0.3 bin\nneigh_modify every 1 delay 0 check yes\n"
                        f"read_data dpd-108.data\npair_style {part}timestep 0.01\nfix 1 all nve\nthermo 10\n"
                        f"{ROWS}run 50\n"
                        for part in PARTS)


def same_rows(ours, theirs):
    assert len(ours) == len(theirs) == len(PARTS)
    for part, (a, b) in enumerate(zip(ours, theirs)):
        assert [row[0] for row in a.rows] == [row[0] for row in b.rows] == ["0", "10", "20", "30", "40", "50"]
        for title in a.titles[1:]:
            scale = max(abs(b.column(title)).max(), 1e-3)
            assert list(a.column(title)) == pytest.approx(list(b.column(title)), abs=1e-9 * scale), (part, title)
    assert theirs[0].at(50)["Temp"] < 0.8 < theirs[1].at(50)["Temp"]


@pytest.mark.parametrize("engine", ["naive", "openmp"])
def test_a_log_of_lammps(engine, tmp_path):
    """Written by lmp of 22 July 2025 from BESIDE."""
    shutil.copy(DATA, tmp_path)
    same_rows(harness.run(BESIDE, tmp_path, engine=engine).tables, harness.read_tables(LOG.read_text()))


@pytest.mark.skipif(LMP is None or " dpd " not in subprocess.run([LMP, "-h"], capture_output=True, text=True,
                                                                  check=False).stdout,
                    reason="there is no lmp with its package DPD-BASIC")
def test_lammps_moves_alike(tmp_path):
    shutil.copy(DATA, tmp_path)
    (tmp_path / "in.both").write_text(BESIDE)
    same_rows(harness.run(BESIDE, tmp_path).tables, lammps_tables(tmp_path / "in.both", tmp_path))


# A fluid at the density of water, of `side`^3 particles.
FLUID = """\
units lj
lattice sc 3.0
region b block 0 {side} 0 {side} 0 {side}
create_box 1 b
create_atoms 1 box
mass 1 1
velocity all create 1.0 4321
pair_style dpd {t} 1.0 {seed}
pair_coeff 1 1 25 4.5
timestep {dt}
fix 1 all nve
thermo_style custom step temp press pe momx momy momz
thermo_modify format float %.17g norm yes
"""


def fluid(side=6, t=1.0, seed=777, dt=0.02):
    return FLUID.format(side=side, t=t, seed=seed, dt=dt)


def rows(run):
    return [row for table in run.tables for row in table.rows]


def test_the_seed_matters_only_above_zero(tmp_path):
    cold, warm = ([rows(harness.run(fluid(t=t, seed=seed) + "thermo 10\nrun 30\n", tmp_path)) for seed in (1, 2)]
                  for t in (0.0, 0.5))
    assert cold[0] == cold[1]
    assert warm[0][0][1] == warm[1][0][1]  # the temperature at the beginning
    assert warm[0][0][2] != warm[1][0][2] and warm[0][3] != warm[1][3]


def test_momentum_is_constant(tmp_path):
    found = rows(harness.run(fluid() + "thermo 50\nrun 400\n", tmp_path))
    assert len(found) == 9
    assert {tuple(row[4:7]) for row in found} == {tuple(found[0][4:7])}
    assert all(abs(float(p)) < 1e-11 for p in found[0][4:7])


def test_a_run_that_is_cut_has_the_same_bits(tmp_path):
    whole = rows(harness.run(fluid() + "thermo 10\nrun 40\n", tmp_path))
    cut = rows(harness.run(fluid() + "thermo 10\nrun 10\nrun 20\nrun 10\n", tmp_path))
    pieces = rows(harness.run(fluid() + "thermo 10\nrun 40 every 7 NULL\n", tmp_path))
    assert cut == [whole[0], whole[1], whole[1], whole[2], whole[3], whole[3], whole[4]]
    assert pieces[-1] == whole[-1]


def test_new_velocities_are_those_of_the_next_run(tmp_path):
    """Nothing is left of the velocities of the run before, as in a deck that begins there."""
    first = harness.run(fluid() + "run 10\nvelocity all create 1.0 99\nwrite_data now.data nocoeff\nthermo 5\nrun 10\n",
                        tmp_path)
    start = fluid().split("pair_style")
    again = harness.run("units lj\nread_data now.data\npair_style" + start[1] + "reset_timestep 10\nthermo 5\nrun 10\n",
                        tmp_path)
    assert again.table.rows == first.table.rows


@pytest.mark.parametrize("every", [10, 7])
def test_restarts_have_the_same_bits(every, tmp_path):
    whole = rows(harness.run(fluid() + f"thermo 10\nrestart {every} now.*\nrun 40\n", tmp_path))
    at = 2 * every
    more = "fix 1 all nve\nthermo 10\n" + fluid().split("fix 1 all nve\n")[1]
    again = rows(harness.run(f"read_restart now.{at}\n{more}run {40 - at}\n", tmp_path))
    assert [row for row in again if row[0] in ("30", "40")] == whole[3:]


def test_resumed_runs_have_the_same_bits(tmp_path):
    text = fluid() + "dump 1 all custom 10 dump id x vx fx\nrestart 15 now.*\nrun 40\n"
    harness.run(text, tmp_path)
    frames = (tmp_path / "dump").read_bytes()
    (tmp_path / "now.30").unlink()
    (tmp_path / "in.again").write_text(text)
    harness.run(tmp_path / "in.again", tmp_path, arguments=["--resume"])
    assert (tmp_path / "dump").read_bytes() == frames


@pytest.mark.gpu
@pytest.mark.parametrize("ranks", [None, pytest.param(2, marks=pytest.mark.mpi)])
def test_gpus_go_on_with_the_same_bits(ranks, tmp_path):
    """Runs that are cut, by output too, forces and pressure between them, and a restart in the middle."""
    output = ("dump 1 all custom 9 dump id x y z vx vy vz fx fy fz\ndump_modify 1 sort id format float %.17g\n"
              "thermo_style custom step temp pe press pxx pxy\nthermo_modify format float %.17g\nthermo 6\n")
    deck = fluid() + output + "run 12\nfix 2 all langevin 1 1 5 77\nrun 24\nunfix 2\nvelocity all scale 1.0\nrun 18\n"
    gpu = {"engine": "gpu", "ranks": ranks, "threads": 1, "package": {"rebin": 5, "transport": "staged"}}
    expected = harness.run(deck, tmp_path / "openmp")
    got = harness.run(deck, tmp_path / "gpu", **gpu)
    assert [table.rows for table in got.tables] == [table.rows for table in expected.tables]
    assert (tmp_path / "gpu" / "dump").read_text() == (tmp_path / "openmp" / "dump").read_text()
    harness.run(fluid() + "run 10\nwrite_restart middle\n", tmp_path / "first", **gpu)
    more = "fix 1 all nve\n" + fluid().split("fix 1 all nve\n")[1] + "run 10\nwrite_data end\n"
    harness.run(f"read_restart {tmp_path / 'first' / 'middle'}\n{more}", tmp_path / "second", **gpu)
    harness.run(fluid() + "run 20\nwrite_data end\n", tmp_path / "whole")
    assert (tmp_path / "second" / "end").read_text() == (tmp_path / "whole" / "end").read_text()


@pytest.mark.gpu
@pytest.mark.parametrize("package", ["precision mixed", "force symmetric"])
def test_what_dpd_refuses_on_a_gpu(package, tmp_path):
    done = run_deck(tmp_path, fluid() + "run 1\n", "--engine", "gpu", "-pk", "gpu", *package.split())
    refused(done, USAGE, "pair style dpd needs precision double and force full")


FRAMES = "dump 1 all custom 5 dump id x y z vx vy vz fx fy fz\ndump_modify 1 sort id format float %.17g\nrun 20\n"


def overlay(style, *coefficients):
    """The fluid with other pair styles."""
    head, tail = fluid().split("pair_style")
    lines = "".join(f"pair_coeff * * {line}\n" for line in coefficients)
    return f"{head}pair_style {style}\n{lines}fix 1" + tail.split("fix 1", 1)[1] + FRAMES


@pytest.mark.parametrize("engine", ["naive", "openmp", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_dpd_as_a_sub_style(engine, tmp_path):
    """Alone it has the bits of the style; and soft with dpd/tstat is dpd, but for rounding."""
    harness.run(overlay("dpd 1.0 1.0 777", "25 4.5"), tmp_path / "dpd", engine=engine)
    harness.run(overlay("hybrid/overlay dpd 1.0 1.0 777", "dpd 25 4.5"), tmp_path / "one", engine=engine)
    harness.run(overlay("hybrid/overlay soft 1.0 dpd/tstat 1.0 1.0 1.0 777", "soft 25", "dpd/tstat 4.5"),
                tmp_path / "two", engine=engine)
    frames = {name: harness.read_dump(tmp_path / name / "dump") for name in ("dpd", "one", "two")}
    assert len(frames["dpd"]) == 5
    for dpd, one, two in zip(*frames.values()):
        for axes in (("x", "y", "z"), ("vx", "vy", "vz"), ("fx", "fy", "fz")):
            assert (dpd.vectors(*axes) == one.vectors(*axes)).all() or axes[0] == "fx"
            assert np.abs(dpd.vectors(*axes) - two.vectors(*axes)).max() < 1e-6
            assert np.abs(dpd.vectors(*axes) - one.vectors(*axes)).max() < 1e-9


def test_a_thermostat_beside_an_attraction(tmp_path):
    """Lennard-Jones particles with dpd/tstat come to its temperature, and the restart goes on with the same bits."""
    deck = ("units lj\nlattice fcc 0.8\nregion b block 0 5 0 5 0 5\ncreate_box 1 b\ncreate_atoms 1 box\nmass 1 1\n"
            "velocity all create 0.5 1\npair_style hybrid/overlay lj/cut 2.0 dpd/tstat 1.5 1.5 1.5 99\n"
            "pair_coeff * * lj/cut 1 1\npair_coeff * * dpd/tstat 10\n")
    run = "fix 1 all nve\ntimestep 0.005\nneighbor 0.3 bin\nthermo 20\nthermo_style custom step temp press\n"
    whole = harness.run(deck + run + "run 1000\nwrite_restart now\nrun 20\n", tmp_path)
    temperature = whole.tables[0].column("Temp")[20:]
    assert temperature.mean() == pytest.approx(1.5, abs=0.06)
    again = harness.run(f"read_restart now\n{run}run 20\n", tmp_path)
    assert again.table.rows == whole.tables[1].rows


# Mean temperature and pressure of lmp (22 July 2025) with 2744 particles over 5000 steps, and their standard errors.
OF_LAMMPS = {0.01: (1.0084, 0.0019, 23.708, 0.009), 0.04: (1.0284, 0.0012, 23.850, 0.007)}


@pytest.mark.parametrize("dt", sorted(OF_LAMMPS))
def test_temperature_and_pressure_are_those_of_lammps(dt, tmp_path):
    run = harness.run(fluid(side=8, dt=dt) + "thermo 10\nrun 500\nrun 3000\n", tmp_path, threads=2)
    of, error, pressure, pressure_error = OF_LAMMPS[dt]
    for title, mean, sigma in (("Temp", of, error), ("Press", pressure, pressure_error)):
        values = run.table.column(title)[1:]
        blocks = values.reshape(20, -1).mean(axis=1)
        mine = blocks.std(ddof=1) / math.sqrt(len(blocks))
        assert abs(values.mean() - mean) < 4.0 * math.hypot(mine, sigma), (title, values.mean(), mine)
        assert mine < 0.01 * mean


def test_noise_of_one_pair(tmp_path):
    """Two particles that stay where they are: F = sqrt(2 gamma T/dt) w z, z with mean 0, variance 1 and fourth moment
    2.7, and other numbers for another pair, step or seed."""
    z, found = {}, []
    for seed in (5, 6):
        text = ("units lj\nregion b block 0 8 0 8 0 8\ncreate_box 1 b\nmass 1 1\n"
                "create_atoms 1 single 1 1 1\ncreate_atoms 1 single 1.6 1 1\n"
                "create_atoms 1 single 5 5 5\ncreate_atoms 1 single 5.6 5 5\n"
                f"pair_style dpd 2.0 1.5 {seed}\npair_coeff 1 1 0 3.0\ntimestep 0.05\n"
                "dump 1 all custom 1 dump id fx fy\nrun 4000\n")
        harness.run(text, tmp_path)
        found.append((tmp_path / "dump").read_bytes())
        force = np.array([frame.columns["fx"] for frame in harness.read_dump(tmp_path / "dump")])
        assert force.shape == (4001, 4)
        assert np.array_equal(force[:, 0], -force[:, 1]) and np.array_equal(force[:, 2], -force[:, 3])
        z[seed] = force[:, 0::2] / (math.sqrt(2.0 * 3.0 * 2.0 / 0.05) * (1.0 - 0.6 / 1.5))
    harness.run(text, tmp_path, engine="naive")
    assert (tmp_path / "dump").read_bytes() == found[1] != found[0]
    every = np.concatenate([z[5].ravel(), z[6].ravel()])
    n = len(every)
    assert abs(every.mean()) < 4.0 / math.sqrt(n)
    assert np.mean(every ** 2) == pytest.approx(1.0, abs=4.0 * math.sqrt(1.7 / n))
    assert np.mean(every ** 4) == pytest.approx(2.7, abs=0.15)
    assert np.abs(every).max() <= 2.0 * math.sqrt(3.0)
    for a, b in ((z[5][:, 0], z[5][:, 1]), (z[5][:, 0], z[6][:, 0]), (z[5][1:, 0], z[5][:-1, 0])):
        assert abs(np.corrcoef(a, b)[0, 1]) < 4.0 / math.sqrt(len(a))


def test_a_ramp_of_the_thermostat(tmp_path):
    """T goes from 1 to 3 in the run; friction is strong, so that the temperature follows."""
    text = fluid().split("pair_style")[0] + ("pair_style dpd/tstat 1.0 3.0 1.0 777\npair_coeff 1 1 15\ntimestep 0.01\n"
                                             "fix 1 all nve\nthermo 50\nthermo_style custom step temp\nrun 2000\n")
    temperature = harness.run(text, tmp_path).table.column("Temp")
    target = np.linspace(1.0, 3.0, len(temperature))
    assert np.abs(temperature - target)[1:].mean() < 0.15
    assert temperature[-10:].mean() == pytest.approx(2.75, abs=0.3)


REFUSED = [
    ("pair_style dpd 1 1", "pair style dpd takes 3 numbers, T RC SEED, not 2"),
    ("pair_style dpd/tstat 1 1 7", "takes 4 numbers, Tstart Tstop RC SEED, not 3"),
    ("pair_style dpd -1 1 7", "T of pair style dpd must be zero or positive, not -1"),
    ("pair_style dpd 1 0 7", "rc of pair style dpd must be positive, not 0"),
    ("pair_style dpd 1 1 0", "the seed of a pair_style"),
    ("pair_style dpd 1 1 x", "the seed of a pair_style"),
    ("pair_style dpd/tstat 1 -1 1 7", "Tstop of pair style dpd/tstat must be zero or positive"),
    ("pair_style dpd 1 1 7\npair_coeff 1 1 25", "takes 2 to 3 coefficients, not 1"),
    ("pair_style dpd 1 1 7\npair_coeff 1 1 25 -1", "gamma of pair style dpd must be zero or positive"),
    ("pair_style dpd/tstat 1 1 1 7\npair_coeff 1 1 5 1 1", "takes 1 to 2 coefficients, not 3"),
    ("pair_style dpd 1 1 7\npair_coeff 1 1 25 4\npair_coeff 2 2 25 4\nrun 0",
     "pair style dpd has no coefficients for types 1 and 2"),
    ("pair_style dpd 1 1 7\npair_modify shift yes", "is zero at its cutoff already"),
    ("pair_style dpd 1 1 7\npair_coeff * * 25 4\ntimestep 0\nrun 0", "needs a timestep above 0"),
    ("pair_style dpd 1 1 7\npair_coeff * * 25 4\nunfix 1\nfix 1 all nve/leapfrog\nrun 1", "needs a fix of velocity"),
    ("pair_style dpd 1 1 7\npair_coeff * * 25 4\nrun 2\nrun -1", "pair style dpd cannot be undone, because its"),
    ("pair_style dpd 1 1 7\npair_coeff * * 25 4\nverify 2", "pair style dpd cannot be undone"),
    ("pair_style dpd 1 1 7\npair_coeff * * 25 4\nminimize 0 0 5 5", "use pair_style soft"),
    ("pair_style dpd 1 1 7\npair_coeff * * 25 4\ncompute s all stress/atom NULL\ndump 1 all custom 1 d c_s[1]\nrun 0",
     "compute stress/atom: the friction and noise of pair style dpd"),
]


@pytest.mark.parametrize("words, message", REFUSED, ids=range(len(REFUSED)))
def test_refused(words, message, tmp_path):
    refused(run_deck(tmp_path, BOX + words + "\n"), USAGE, message)


def test_energies_of_particles_are_those_of_the_repulsion(tmp_path):
    run = harness.run(fluid() + "compute e all pe/atom\ncompute sum all reduce sum c_e\n"
                      "thermo_style custom step pe c_sum\nthermo_modify norm no\nrun 5\n", tmp_path)
    for row in run.table.rows:
        assert float(row[1]) == pytest.approx(float(row[2]), rel=1e-12)
