"""What the host holds while ranks with a GPU each begin, run and end: the particles, and hardly anything besides.

A run is killed where the host has less memory than it touches, however much the GPUs have. Each rank runs under a
program that looks at its private memory every millisecond. The emulator's device memory is shared memory, which does
not count. The difference between two numbers of particles leaves out what a rank takes without particles. With a real
GPU the test is left out, because the driver's private memory grows with what is on the device.
"""

from __future__ import annotations

import re
import sys

import pytest

import harness

pytestmark = [pytest.mark.gpu, pytest.mark.mpi,
              pytest.mark.skipif(harness.gpu_name() != "emulated", reason="not the emulated GPU")]

RANKS = 4

# Runs the words after it, and writes the most private memory that they had, in bytes, to the file peak.RANK.
WATCH = r"""
import os, re, subprocess, sys, time
child, most = subprocess.Popen(sys.argv[1:]), 0
while child.poll() is None:
    try:
        with open(f"/proc/{child.pid}/status") as status:
            most = max(most, *map(int, re.findall(r"RssAnon:\s*(\d+) kB", status.read())), 0)
    except OSError:
        pass
    time.sleep(0.001)
with open("peak." + os.environ["OMPI_COMM_WORLD_RANK"], "w") as file:
    file.write(str(1024 * most))
sys.exit(child.returncode)
"""

DECK = """\
variable        n index 1000
variable        faces index "f f"
variable        size equal sqrt(0.0005*${n})
dimension       2
boundary        ${faces} p
region          box block 0 ${size} 0 ${size} -0.5 0.5 units box
create_box      1 box
create_atoms    1 grid ${n} seed 3
mass            1 0.01
velocity        all uniform -1 1 11
"""
RUN = """\
pair_style      repulsive 0.01
timestep        0.0005
fix             move all nve/leapfrog
run             0
"""
WALLS = "fix             walls all wall/reflect xlo EDGE xhi EDGE ylo EDGE yhi EDGE\n"
# Half of a periodic box lies between two owners of each particle.
MOVED = "displace_atoms  all move 0 $(0.5*v_size) 0 units box\n"


def peak(text, folder, n, faces):
    """The sum over the ranks of the most private memory that each had, bytes."""
    done = harness.run(text, folder, engine="gpu", threads=1, ranks=RANKS, variables={"n": n},
                       arguments=["-var", "faces", faces], wrapper=[sys.executable, "-c", WATCH])
    assert n == 1000 or f"1 x {RANKS} x 1 domains" in done.log
    return sum(int(path.read_text()) for path in folder.glob("peak.*"))


@pytest.mark.parametrize("faces, more, few, many, most",
                         [("f f", WALLS, 1000, 4_000_000, 43.5), ("p p", MOVED, 600_000, 1_600_000, 50.5)],
                         ids=["made in place", "all change their rank"])
def test_the_host_holds_the_particles_once(faces, more, few, many, most, tmp_path):
    text = DECK + more + RUN
    rise = peak(text, tmp_path / "many", many, faces) - peak(text, tmp_path / "few", few, faces)
    assert 38.0 < rise / (many - few) < most


def test_the_plan_says_so(tmp_path):
    """The plan of the first of these runs."""
    (tmp_path / "in.deck").write_text(DECK + WALLS + RUN)
    command = [str(harness.program()), "plan", "-in", "in.deck", "--engine", "gpu", "--ranks", str(RANKS)]
    done = harness.subprocess.run([*command, "--particles", "5000000000"], cwd=tmp_path, text=True,
                                  env={**harness.environment(), "MYRIAD_MEMORY": "503"}, capture_output=True,
                                  timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    found = re.search(r"^Memory of the host: 42\.00 bytes per particle, 195\.6 GiB for all ranks; "
                      r"\S+ GiB are available \(MYRIAD_MEMORY\), for (\d+) particles$", done.stdout, re.M)
    assert found and int(found[1]) == pytest.approx(503 * 2**30 / 42, rel=0.01)


def test_more_particles_than_the_host_holds(tmp_path, monkeypatch):
    """Each of four ranks may use an eighth of a GiB, less what the program itself takes."""
    monkeypatch.setenv("MYRIAD_MEMORY", "0.5")
    done = harness.run(DECK + WALLS + RUN, tmp_path, engine="gpu", threads=1, ranks=RANKS, expect=1,
                       variables={"n": 20_000_000})
    assert "particles of a rank need" in done.err and "(MYRIAD_MEMORY)" in done.err
    fits = int(re.search(r"room for (\d+)", done.err)[1])
    assert 1_500_000 < fits <= 2**27 / 42


def test_balance_takes_the_grid_that_it_always_had(tmp_path):
    """Two cuts, where four slabs have none along x: the slabs in which particles were made are given up."""
    text = DECK + "balance         1.0 x 0.4 y 0.6\n" + WALLS + RUN
    done = harness.run(text, tmp_path, engine="gpu", threads=1, ranks=RANKS, variables={"n": 4_000_000})
    assert "2 x 2 x 1 domains" in done.log
