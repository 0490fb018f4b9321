#!/usr/bin/env python3
"""The teaching ladder: `make ladder` and `make ladder-cpu`. docs/ladder.md is its tour.

Five studies of how codes came to GPUs, climbed rung by rung on this machine. Rungs for a GPU are of build/ladder-gpu,
those for a processor of build/ladder-cpu, and the study `cells` also runs the program itself (ladder_cells.py). Each
rung is compared with an oracle, timed, and set beside the rung before it and beside what was published for it.

Results go to --out: report.html, report.md, ladder.csv, and every plot as SVG and PNG. With --from no rung runs: the
report is made from the ladder.csv of an earlier run. The exit status is 1 if a rung was wrong or a program failed.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Dict, List, Sequence, TextIO

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bench  # noqa: E402
import ladder_cells  # noqa: E402
import ladder_report  # noqa: E402
from ladder_data import STUDIES, Ladder, Row, Rung, read_ladder, row_of, write_ladder  # noqa: E402

# Long runs on a processor with many cores end long before this.
LIMIT_S = 1800.0


class Climb:
    """What has been measured, and what was left out with the reason."""

    def __init__(self) -> None:
        self.rungs: List[Rung] = []
        self.rows: List[Row] = []
        self.notes: List[str] = []
        self.failures: List[str] = []


def gpu_name() -> str:
    """The first GPU that the driver lists; empty if there is none."""
    tool = shutil.which("nvidia-smi")
    if not tool:
        return ""
    done = subprocess.run([tool, "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True,
                          timeout=60, check=False)
    return done.stdout.splitlines()[0].strip() if done.returncode == 0 and done.stdout.strip() else ""


def read_list(text: str) -> List[Rung]:
    """The rungs of a program's --list; a title may have commas."""
    lines = [line.split(",", 3) for line in text.splitlines()[1:]]
    return [Rung(*line) for line in lines if len(line) == 4]


def surroundings() -> Dict[str, str]:
    """Threads spin only briefly at a barrier, as those of the program do: long spinning makes a busy machine slow."""
    ours = {"GOMP_SPINCOUNT": "1000", "KMP_BLOCKTIME": "1"}
    chosen = {"OMP_WAIT_POLICY", *ours} & set(os.environ)
    return {**({} if chosen else ours), **os.environ}


def follow(stream: TextIO, notes: List[str]) -> None:
    for line in stream:
        notes.append(line.strip())
        print(line.rstrip(), file=sys.stderr, flush=True)


def climb_program(climb: Climb, program: Path, words: Sequence[str], studies: Sequence[str], machine: str) -> None:
    """Runs a program of rungs; keeps its rows as they come, so that a program that dies leaves what it had."""
    try:
        listed = subprocess.run([str(program), "--list"], capture_output=True, text=True, timeout=120, check=True)
        rungs = [rung for rung in read_list(listed.stdout) if rung.study in studies]
        known = sorted({rung.study for rung in rungs}, key=STUDIES.index)
        if not known:
            return
        climb.rungs += rungs
        with subprocess.Popen([str(program), *known, *words], env=surroundings(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as running:
            said: List[str] = []
            reader = threading.Thread(target=follow, args=(running.stderr, said))
            clock = threading.Timer(LIMIT_S, running.kill)
            reader.start()
            clock.start()
            try:
                for cells in csv.DictReader(running.stdout):
                    row = row_of(cells, machine)
                    climb.rows.append(row)
                    show(row)
                status = running.wait()
            finally:
                clock.cancel()
                running.kill()
                reader.join()
        climb.notes += [re.sub(r"^[\w-]+: ", "", line) for line in said if "left out" in line]
        if status not in (0, 1):
            climb.failures.append(f"{program.name} ended with status {status}: {' '.join(said[-1:])}")
    except (OSError, ValueError, KeyError, TypeError, subprocess.SubprocessError) as error:
        climb.failures.append(f"{program.name}: {error!r}")


def show(row: Row) -> None:
    threads = f", {row.threads} thread{'s' if row.threads > 1 else ''}" if row.threads else ""
    print(f"{row.study + '/' + row.rung:28s} N {row.n:<9d}{row.ms:12.4g} ms{threads}{'' if row.ok else '  WRONG'}",
          flush=True)


def climb_all(options: argparse.Namespace) -> Climb:
    climb, name = Climb(), gpu_name()
    words = [*(["-n", options.n] if options.n else []), "--repeat", str(options.repeat)]
    if options.cpu:
        threads = ["--threads", str(options.threads)] if options.threads else []
        climb_program(climb, options.cpu, [*words, *threads], options.study, processor())
    if not options.myriad:
        return climb
    if name and options.gpu and options.gpu.exists():
        climb_program(climb, options.gpu, words, options.study, name)
        if "cells" in options.study:
            ladder_cells.climb_study(climb, options, name, processor())
    else:
        why = "no GPU was found (nvidia-smi)" if not name else f"{options.gpu} is not built (see make info)"
        climb.notes.insert(0, f"The rungs for a GPU were left out: {why}.")
        print(f"ladder: {climb.notes[0]}", file=sys.stderr)
    return climb


def processor() -> str:
    return f"{bench.processor()}, {len(os.sched_getaffinity(0))} cores"


def of_earlier_run(path: Path, studies: Sequence[str]) -> Climb:
    climb = Climb()
    rungs, rows = read_ladder(path)
    climb.rungs = [rung for rung in rungs if rung.study in studies]
    climb.rows = [row for row in rows if row.study in studies]
    return climb


def shorter(notes: Sequence[str]) -> List[str]:
    """One note for all rungs that were left out because they take long."""
    sizes: Dict[str, List[str]] = {}
    others = []
    for note in notes:
        found = re.match(r"(\S+) is left out at n = (\d+): it would take", note)
        if found and found.group(2) not in sizes.setdefault(found.group(1), []):
            sizes[found.group(1)].append(found.group(2))
        elif not found:
            others.append(note)
    slow = "; ".join(f"{rung} at N = {', '.join(n)}" for rung, n in sizes.items())
    return others + ([f"Left out, because an iteration would take more than 2 s: {slow}."] if slow else [])


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--study", nargs="+", choices=STUDIES, default=list(STUDIES), metavar="STUDY",
                        help=f"of {', '.join(STUDIES)} (all)")
    parser.add_argument("--n", metavar="N[,N...]", help="numbers of bodies, instead of each study's own")
    parser.add_argument("--repeat", type=int, default=3, help="timings of which the median counts (3)")
    parser.add_argument("--threads", type=int, help="of a processor (all)")
    parser.add_argument("--cpu", type=Path, metavar="PROGRAM", help="build/ladder-cpu")
    parser.add_argument("--gpu", type=Path, metavar="PROGRAM", help="build/ladder-gpu")
    parser.add_argument("--myriad", type=Path, metavar="PROGRAM", help="the program, for cells; without it: CPU alone")
    parser.add_argument("--full", action="store_true", help="cells: the published sizes, which take half an hour")
    parser.add_argument("--from", dest="earlier", type=Path, metavar="CSV", help="the ladder.csv of an earlier run")
    parser.add_argument("--out", type=Path, default=Path("run/ladder"), help="folder of the results (run/ladder)")
    options = parser.parse_args(arguments)
    options.study = [study for study in STUDIES if study in options.study]
    if options.n:
        options.n = ",".join(options.n.split())
        if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", options.n):
            parser.error("--n takes numbers of bodies with commas between")
    if options.repeat < 3 or (options.threads is not None and options.threads < 1):
        parser.error("--repeat must be at least 3 and --threads at least 1")
    if not options.cpu and not options.myriad and not options.earlier:
        parser.error("nothing to run: --cpu, --myriad with --gpu, or --from")
    return options


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    climb = of_earlier_run(options.earlier, options.study) if options.earlier else climb_all(options)
    for failure in climb.failures:
        print(f"ladder: {failure}", file=sys.stderr)
    if not climb.rows:
        print("ladder: no rung was measured", file=sys.stderr)
        return 1
    options.out.mkdir(parents=True, exist_ok=True)
    ladder = Ladder(climb.rungs, climb.rows)
    write_ladder(options.out / "ladder.csv", ladder)
    good = ladder_report.write(options.out, ladder, climb.failures, shorter(climb.notes), command(arguments))
    print("\n" + "".join(f"{options.out / name}\n" for name in ("report.html", "report.md", "ladder.csv")), end="")
    return 0 if good else 1


def command(arguments: Sequence[str]) -> str:
    return " ".join(["ladder.py", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
