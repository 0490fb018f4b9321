#!/usr/bin/env python3
"""Where the GPU engine's time goes, kernel by kernel, as Markdown: `make profile-gpu`.

Two systems, the two-dimensional repulsion with 10^7 particles and LAMMPS's melt with 4 10^6, are run with `package gpu
profile yes`, which times every kernel; its table is printed with the time of a call. Bandwidth is that of the bytes
a kernel has to move, as the engine counts them, and is compared with that of a copy measured on the same device.

With --ncu NVIDIA's Nsight Compute, where it is installed, measures what the kernels really move: bytes, and the
throughput of the device's memory in per cent of its peak, as medians over the calls of each kernel. The clocks are
left alone (--clock-control none). Reading the counters may need a permission (NVIDIA's page on ERR_NVGPUCTRPERM
says how to get it).
"""

from __future__ import annotations

import csv
import shutil
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bench  # noqa: E402
import gpu_runs  # noqa: E402
import harness  # noqa: E402
from gpu_runs import System, melt, repulsive  # noqa: E402

SYSTEMS: Sequence[Tuple[System, int]] = ((repulsive(10**7), 500), (melt(5, 5, 5), 200))
METRICS = ("gpu__time_duration.sum", "dram__bytes.sum", "dram__throughput.avg.pct_of_peak_sustained_elapsed")
SECONDS = {"nsecond": 1e-9, "ns": 1e-9, "usecond": 1e-6, "us": 1e-6, "msecond": 1e-3, "ms": 1e-3,
           "second": 1.0, "s": 1.0}
BYTES = {"byte": 1.0, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12}
NCU_LAUNCHES = 120

KERNEL_HEADER = ["kernel", "calls", "ms", "µs/call", "share %", "GB/s", "% of copy"]
NCU_HEADER = ["kernel", "calls seen", "µs/call", "MB/call", "GB/s", "% of peak"]


def cell(value, form: str) -> str:
    return "-" if value is None else format(value, form)


def engine_rows(result: harness.Result) -> List[List[str]]:
    assert result.kernels, "the log has no table of kernels"
    return [[k.name, str(k.calls), f"{k.milliseconds:.2f}", f"{1e3 * k.milliseconds / k.calls:.1f}", f"{k.share:.1f}",
             cell(k.bandwidth, ".0f"), cell(k.of_copy, ".0f")] for k in result.kernels]


def profile(system: System, steps: int) -> None:
    with tempfile.TemporaryDirectory(prefix="myriad-profile-") as folder:
        timing = gpu_runs.timed(system, Path(folder), steps=steps, runs=1, warm=max(2, steps // 5),
                                package={"profile": "yes"})
    title = (f"{system.name}, {steps} steps, {timing.rate / 1e9:.2f} G particle-steps/s while every kernel is timed; "
             f"a copy: {timing.result.copy_bandwidth:.0f} GB/s")
    bench.write_markdown(sys.stdout, title, engine_rows(timing.result), header=KERNEL_HEADER)
    print(flush=True)


def read_ncu(text: str) -> Dict[str, List[Dict[str, float]]]:
    """The calls of each kernel in ncu's CSV: a row of titles, a row of units, and a row a call."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    table = list(csv.reader(lines))
    assert len(table) > 2, f"ncu measured nothing:\n{text[-2000:]}"
    titles, units = table[0], table[1]
    calls: Dict[str, List[Dict[str, float]]] = defaultdict(list)
    for row in table[2:]:
        values = {}
        for metric in METRICS:
            at = titles.index(metric)
            values[metric] = (float(row[at].replace(",", "")) * SECONDS.get(units[at], 1.0) * BYTES.get(units[at], 1.0))
        calls[row[titles.index("Kernel Name")]].append(values)
    return calls


def ncu_rows(calls: Dict[str, List[Dict[str, float]]]) -> List[List[str]]:
    """The rows, sorted by time, the largest first."""
    rows = []
    total = lambda name: sum(call[METRICS[0]] for call in calls[name])
    for name in sorted(calls, key=total, reverse=True):
        seconds, size, peak = (statistics.median(call[metric] for call in calls[name]) for metric in METRICS)
        rows.append([name, str(len(calls[name])), f"{seconds * 1e6:.1f}", f"{size / 1e6:.1f}",
                     f"{size / seconds / 1e9:.0f}", f"{peak:.0f}"])
    return rows


def profile_with_ncu(ncu: str, system: System) -> None:
    """Measures NCU_LAUNCHES calls of kernels, with several rebins. Skips the first calls, in which the engine
    prepares."""
    wrapper = [ncu, "--target-processes", "all", "--clock-control", "none", "--kernel-name-base", "function",
               "--metrics", ",".join(METRICS), "--csv", "--page", "raw", "--launch-skip", "40",
               "--launch-count", str(NCU_LAUNCHES)]
    with tempfile.TemporaryDirectory(prefix="myriad-profile-") as folder:
        result = harness.run(system.text(f"run {NCU_LAUNCHES}\n"), Path(folder), engine="gpu", threads=gpu_runs.cores(),
                             variables=system.variables, wrapper=wrapper, timeout=300)
    bench.write_markdown(sys.stdout, f"{system.name}, by ncu", ncu_rows(read_ncu(result.out)), header=NCU_HEADER)
    print(flush=True)


def main(arguments: Sequence[str]) -> int:
    parser = gpu_runs.parser(__doc__)
    parser.add_argument("--ncu", action="store_true", help="measure with NVIDIA Nsight Compute too")
    parser.add_argument("--only", metavar="TEXT", default="", help="only the systems with TEXT in their name")
    options = parser.parse_args(arguments)
    gpu_runs.start(options)
    ncu = (shutil.which("ncu") or shutil.which("/usr/local/cuda/bin/ncu")) if options.ncu else None
    print(f"{gpu_runs.title()}\n", flush=True)
    failures = ["ncu is not installed (NVIDIA Nsight Compute)"] if options.ncu and not ncu else []
    for system, steps in SYSTEMS:
        if options.only not in system.name:
            continue
        try:
            profile(system, steps)
            if ncu:
                profile_with_ncu(ncu, system)
        except gpu_runs.FAILURES as error:
            failures.append(f"{system.name}: {error}")
    for failure in failures:
        print(f"profile-gpu: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
