"""The scripts for a GPU, as far as they can be tried without one: what they read, how they judge, and how they end."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import pytest

import bench_gpu
import gpu_runs
import harness
import ladder_cells
import profile_gpu
import sanitize_gpu

LOG = """\
Section |    time    | %total
--------------------------------
Bin     | 0.1        |  10.00
Sort    | 0.05       |   5.00
List    | 0          |   0.00
Force   | 0.85       |  85.00
Other   | 9          |   0.00

Rebins: 10, one in 9.5 steps
Memory: 100.5 bytes per particle

GPU kernels | calls | ms | share % | GB/s | % of copy
force and move   | 100 | 85.000 | 85.00 | 2700.0 | 93.1
bin              | 10 | 15.000 | 15.00 | 0.0 | 0.0
GPU copy bandwidth: 2900.0 GB/s

Loop time of 1 on 1 procs for 1 steps with 1 atoms
"""


def result(log: str = LOG) -> harness.Result:
    return harness.Result(0, "", "", log)


def test_table_of_kernels():
    got = result("GPU kernels | calls | ms | share % | GB/s | % of copy\nold | 1 | 1 | 1 | 1 | 1\nend\n" + LOG)
    force, bin_ = got.kernels
    assert (force.name, force.calls, force.milliseconds, force.bandwidth) == ("force and move", 100, 85.0, 2700.0)
    assert bin_.share == 15.0 and got.copy_bandwidth == 2900.0
    assert result("no table\n").kernels == [] and math.isnan(result("").copy_bandwidth)
    assert profile_gpu.engine_rows(got)[0] == ["force and move", "100", "85.00", "850.0", "85.0", "2700", "93"]


NCU = """\
==PROF== Connected to process 1
"ID","Kernel Name","dram__bytes.sum","dram__throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum"
"","","Mbyte","%","usecond"
"0","k_bin","10","20","5"
"1","k_force","1,000.0","90","400.0"
"2","k_force","1,000.0","92","500.0"
==PROF== Disconnected
"""


def test_table_of_ncu():
    rows = profile_gpu.ncu_rows(profile_gpu.read_ncu(NCU))
    assert rows == [["k_force", "2", "450.0", "1000.0", "2222", "91"], ["k_bin", "1", "5.0", "10.0", "2000", "20"]]
    with pytest.raises(AssertionError, match="ERR_NVGPUCTRPERM"):
        profile_gpu.read_ncu("==ERROR== ERR_NVGPUCTRPERM\n")


@pytest.mark.parametrize("tool, text, clean", [
    ("memcheck", "========= ERROR SUMMARY: 0 errors\n", True),
    ("memcheck", "========= Invalid __global__ read\n========= ERROR SUMMARY: 1 error\n", False),
    ("memcheck", "", False),
    ("racecheck", "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n", True),
    ("racecheck", "========= RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)\n", False),
    ("racecheck", "========= ERROR SUMMARY: 0 errors\n", False),
])
def test_findings_of_the_sanitizer(tool, text, clean):
    assert (sanitize_gpu.findings(tool, text) == "") == clean


def verdicts(rate_at, gain=2.0):
    """What the bars say if N particles are advanced at rate_at(N), by their names' beginnings, and by two GPUs at
    `gain` times that rate."""
    configs = bench_gpu.make_configs(3, gpus=2)
    for c in configs:
        n = c.system.particles
        seconds = n * c.steps / rate_at(n) / (gain if c.ranks else 1)
        c.timing = gpu_runs.Timing(n, c.steps, [seconds] * c.runs, result())
    assert len(bench_gpu.make_rows(configs)) == sum(c.purpose == "speed" for c in configs)
    return {bar.name.split(" (")[0]: bar.verdict for bar in bench_gpu.make_bars(configs)}


def test_bars():
    """A constant rate has slope 1, and reaches the bars below it; a rate that grows with N shows in the slope."""
    slope = "slope of log T on log N, distance from 1"
    constant = verdicts(lambda n: 28e9)
    assert constant[slope] == "reached"
    assert constant["repulsive 1e7, double, G particle-steps/s"] == "reached"
    assert constant["repulsive 1e8, double, G particle-steps/s"] == "MISSED"
    assert constant["repulsive 1e3, microseconds a step"] == "reached"
    assert constant["repulsive 1e8, double, bytes per particle"] == "reached"
    assert verdicts(lambda n: 1e9 * n ** 0.1)[slope] == "MISSED"
    two = "in.lj 6.91M, efficiency of two GPUs, %"
    assert (constant[two], verdicts(lambda n: 28e9, gain=1.83)[two]) == ("reached", "MISSED")
    assert not [c for c in bench_gpu.make_configs(3, gpus=1) if c.ranks]
    assert bench_gpu.building_share(gpu_runs.Timing(1, 1, [1.0], result())) == pytest.approx(15.0)
    assert {bar.verdict.split(" (")[0] for bar in bench_gpu.make_bars([])} == {"not judged"}


def test_ladder_is_cumulative():
    ladder = ladder_cells.rungs()
    names = [rung.name for rung in ladder]
    assert len(set(names)) == len(names) and all(rung.against in [None, *names] for rung in ladder)
    for before, rung in zip(ladder[:5], ladder[1:6]):
        assert rung.against == before.name
        assert sum(rung.package[key] != value for key, value in before.package.items()) == 1
    assert [rung.name for rung in ladder if not rung.exact] == ["precision mixed"]


def test_markdown_goes_between_the_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- bench-gpu -->\nold\n<!-- /bench-gpu -->\nafter\n")
    for _ in range(2):
        gpu_runs.put(page, "bench-gpu", lambda file: file.write("new\n"))
        assert page.read_text() == "before\n<!-- bench-gpu -->\nnew\n<!-- /bench-gpu -->\nafter\n"
    gpu_runs.put(tmp_path / "fresh.md", "bench-gpu", lambda file: file.write("new\n"))
    assert (tmp_path / "fresh.md").read_text() == "new\n"


def test_run_replaces_the_run_of_a_deck():
    assert gpu_runs.melt(2, 1, 1).text("run 7\n").endswith("\nrun 7\n")
    assert gpu_runs.repulsive(10).text("thermo 1\nrun 7\n").count("\nrun ") == 1
    with pytest.raises(AssertionError, match="2 lines"):
        harness.deck_with(harness.INPUTS / "in.homework", "run 1\n")


@pytest.mark.parametrize("script", ["check_engines.py --engine gpu", "speed/bench_gpu.py", "speed/profile_gpu.py",
                                    "speed/ladder_cells.py", "speed/large_gpu.py", "speed/sanitize_gpu.py"])
def test_without_a_gpu_it_says_so_and_fails(script, tmp_path):
    program = tmp_path / "myriad"
    program.write_text("#!/bin/sh\necho '  gpu      cells on a GPU'\necho 'no GPU: there is none'\n")
    program.chmod(0o755)
    name, *words = script.split()
    done = subprocess.run([sys.executable, str(harness.HERE / name), *words, "--myriad", str(program)], cwd=tmp_path,
                          env=dict(os.environ), capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "there is no GPU" in done.stdout + done.stderr, done.stdout + done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["myriad"]


def test_a_check_that_is_only_made_if_there_is_a_gpu(tmp_path):
    program = tmp_path / "myriad"
    program.write_text("#!/bin/sh\necho '  gpu      not here: there is no libmyriad-gpu.so'\n")
    program.chmod(0o755)
    done = subprocess.run([sys.executable, str(harness.HERE / "check_engines.py"), "--engine", "gpu", "--if-present",
                           "--myriad", str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "not here" in done.stdout
