#!/usr/bin/env python3
"""Run a scaling study of one deck, here or through the batch system, and write its report.

Series
    strong  the same N particles on every number of ranks
    weak    N particles on each rank
    size    N, N/2, N/4, N/8, N/16 on the fewest ranks: the cost against N
All points run the same number of steps. Each is one warm-up run, then --repeat timed ones; the median of the
program's own "Loop time" counts, and least and largest are kept.

What comes out
    OUT/results.csv, the plots as SVG and PNG, report.html (self-contained) and report.md; logs/ holds the log of each
    point's median run. Points that results.csv has are not measured again, so a study that was stopped goes on when it
    is called again, and RANKS can be extended later. Study and folder must agree in everything else.

Exactness
    A line that prints the final energy with 17 digits is added to the deck. Myriad promises the same bits on any
    number of ranks, so a point whose energy differs from that of the others with the same N is marked WRONG, and the
    study fails. --tolerance is for what does not promise bits (package gpu precision mixed).

N is set by the deck's variable n, or by x y z as in LAMMPS's benchmark decks, whose unit is a box of 20 cells along
each axis; the number of particles nearest to N is taken then. Steps are set by the deck's variable steps, or replace
the number in its only `run`.

Exit status: 0 complete, 1 a point failed, is wrong or is not there, 2 wrong options.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

import study as st
from machine import commit, processor
from study import Failure, Point, Row, Study

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

PROBE_STEPS = 20
LEAST_STEPS = 50
CELLS = 20  # along each axis at x = y = z = 1
LEAST_WAIT_S, MOST_WAIT_S = 1.0, 30.0
BATCH_JOB = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID")


def say(text: str) -> None:
    print(text, flush=True)


# ------------------------------------------------------------------------------------------------------ deck


class Deck:
    """A deck made ready for a study: N and steps are variables, and its last line prints the energy."""

    def __init__(self, path: Path) -> None:
        try:
            self.text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise Failure(f"cannot read the deck: {error}") from error
        self.path = path
        self.sized_by = "n" if self.has("n") else "xyz" if all(map(self.has, "xyz")) else ""

    def has(self, name: str) -> bool:
        return re.search(rf"^\s*variable\s+{name}\s+index\s", self.text, re.M) is not None

    def ready(self) -> str:
        text = self.text if self.text.endswith("\n") else self.text + "\n"
        if not self.has("steps"):
            text, runs = re.subn(r"^(\s*run\s+)(\d+)", r"\1${steps}", text, flags=re.M)
            if runs != 1:
                raise Failure(f"{self.path}: a deck needs a variable `steps`, or one `run` with a number, not {runs}")
            text = "variable steps index 100\n" + text
        return text + f'print "{st.ENERGY_LABEL} $(etotal:%.17g)"\n'

    def variables(self, n: int, unit: int) -> Dict[str, str]:
        """The variables that make n particles; `unit`: as many as there are at x = y = z = 1."""
        if self.sized_by == "n":
            return {"n": str(n)}
        if self.sized_by == "xyz":
            return {axis: f"{cells / CELLS:g}" for axis, cells in zip("xyz", near_cube(n, unit / CELLS**3))}
        return {}

    def actual(self, n: int, unit: int) -> int:
        """The number of particles that the deck makes of n."""
        if self.sized_by == "xyz":
            return round(math.prod(near_cube(n, unit / CELLS**3)) * unit / CELLS**3)
        return n if self.sized_by else unit


def near_cube(n: int, each: float) -> Tuple[int, int, int]:
    """Cells along x, y, z, nearly equally many, whose particles (each per cell) come nearest to n."""
    middle = round((n / each) ** (1 / 3))
    near = range(max(1, middle - 6), middle + 7)
    return min(((a, b, c) for a in near for b in near if b <= a for c in near if c <= b),
               key=lambda s: (abs(math.prod(s) * each / n - 1.0) + 1e-4 * (s[0] / s[2] - 1.0), s))


def count_particles(program: Path, deck: Deck, variables: Dict[str, str]) -> int:
    """How many particles the deck has as it stands, or at x = y = z = 1 if these make its size."""
    words = words_of({**variables, **(dict.fromkeys("xyz", "1") if deck.sized_by == "xyz" else {})})
    done = subprocess.run([str(program), "plan", "-in", str(deck.path), *words], capture_output=True, text=True,
                          check=False)
    found = re.search(r"for (\d+) particles", done.stdout)
    if done.returncode != 0 or not found:
        raise Failure(f"myriad plan -in {deck.path}: {done.stderr.strip() or 'says no number of particles'}")
    return int(found.group(1))


# ------------------------------------------------------------------------------------------------------ runs


class Runner:
    """Runs points of a study in its folder."""

    def __init__(self, folder: Path, study: Study) -> None:
        self.folder, self.study, self.program = folder, study, Path(study.program)
        self.deck = Deck(Path(study.deck))
        self.unit = 0
        if self.deck.sized_by != "n":
            self.unit = count_particles(self.program, self.deck, study.variables)

    def run(self, ranks: int, n: int, steps: int, name: str) -> st.Measurement:
        study = self.study
        scratch = self.folder / "scratch" / name
        scratch.mkdir(parents=True, exist_ok=True)
        deck, log = scratch / "deck", scratch / "log"
        deck.write_text(self.deck.ready(), encoding="utf-8")
        log.unlink(missing_ok=True)
        variables = {**study.variables, **self.deck.variables(n, self.unit), "steps": str(steps)}
        if self.deck.has("out"):
            variables.setdefault("out", str(scratch))
        per_node = min(ranks, study.per_node)
        command = [str(HERE / "launch"), str(ranks), str(per_node), str(per_node if study.engine == "gpu" else 0),
                   str(self.program), "-in", str(deck), "--engine", study.engine, "--threads", str(study.threads),
                   "-log", str(log), "-screen", "none", "-echo", "none", *words_of(variables), *study.words]
        environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
        if study.engine != "gpu" and not any(job in environment for job in BATCH_JOB):
            # Other programs may use the same cores, and a bound rank cannot move to a free core.
            environment.setdefault("MYRIAD_BIND", "no")
        if os.geteuid() == 0:  # containers
            environment["OMPI_ALLOW_RUN_AS_ROOT"] = environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if done.returncode != 0:
            raise Failure(f"{shlex.join(command)}\nended with status {done.returncode}:\n"
                          f"{done.stdout[-2000:].rstrip()}")
        found = st.read_log(log.read_text(errors="replace") if log.exists() else "")
        if found.ranks != ranks:
            raise Failure(f"{ranks} ranks were wanted and {found.ranks} ran: this program has no MPI (see make info)")
        if study.engine == "openmp" and found.threads != study.threads:
            raise Failure(f"{study.threads} threads of a rank were wanted and {found.threads} ran: choose them with "
                          "THREADS=, at most as many as the program takes here")
        if found.particles != n:
            raise Failure(f"the deck makes {found.particles} particles when asked for {n}; "
                          f"{'its variable n means' if self.deck.sized_by == 'n' else 'its variables x y z mean'} "
                          "something else")
        return found

    def measure(self, point: Point) -> List[Row]:
        """A point's rows, one for each series it is in; its log is kept."""
        study, name = self.study, st.point_name(point)
        energies, runs = [], []
        logs = self.folder / "logs"
        logs.mkdir(exist_ok=True)
        for turn in range(study.repeat + 1):
            found = self.run(point.ranks, point.n, study.steps, name)
            energies.append(found.energy)
            if turn > 0:
                runs.append((found.seconds, turn, found))
                shutil.copy(self.folder / "scratch" / name / "log", logs / f".{name}.{turn}")
        runs.sort()
        middle, kept = runs[(len(runs) - 1) // 2][2], runs[(len(runs) - 1) // 2][1]
        (logs / f".{name}.{kept}").replace(logs / f"{name}.log")
        for turn in range(1, study.repeat + 1):
            (logs / f".{name}.{turn}").unlink(missing_ok=True)
        shutil.rmtree(self.folder / "scratch" / name, ignore_errors=True)
        seconds = statistics.median(s for s, _, _ in runs)
        gpu = study.engine == "gpu"
        row = {
            "engine": study.engine, "ranks": point.ranks, "threads": study.threads, "gpus": point.ranks if gpu else 0,
            "N": point.n, "steps": study.steps, "wall_s": f"{seconds:.6g}", "wall_min_s": f"{runs[0][0]:.6g}",
            "wall_max_s": f"{runs[-1][0]:.6g}", "repeats": study.repeat,
            "particle_steps_per_s": f"{point.n * study.steps / seconds:.6g}",
            **{f"{phase.lower()}_s": f"{value:.6g}" for phase, value in middle.phases.items()},
            **{f"comm_{kind}_s": f"{value:.6g}" for kind, value in middle.comm.items()},
            "imbalance": f"{middle.imbalance:g}", "bytes_per_particle": f"{middle.bytes_per_particle:g}",
            "host": hosts(), "cpu": processor(), "gpu": middle.hardware.split(",")[0] if gpu else "",
            "commit": study.commit, "final_energy": " / ".join(dict.fromkeys(energies)),
        }
        return [{"mode": mode, **{key: str(value) for key, value in row.items()}} for mode in point.series]


def hosts() -> str:
    return os.environ.get("SLURM_JOB_NODELIST") or os.uname().nodename


def words_of(variables: Dict[str, str]) -> List[str]:
    return [word for name, value in variables.items() for word in ("-var", name, value)]


def describe(row: Row) -> str:
    spread = st.number(row, "wall_max_s") / st.number(row, "wall_min_s")
    return (f"{row['wall_s']} s, {st.number(row, 'particle_steps_per_s') / 1e6:.1f} M particle-steps/s, "
            f"spread {spread:.2f}, energy {row['final_energy']}")


# --------------------------------------------------------------------------------------------------- planning


def read_site() -> Dict[str, str]:
    """The variables of site.env."""
    done = subprocess.run(["bash", "-c", 'source "${MYRIAD_SITE:-$0}" && env -0', str(HERE / "site.env")],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"site.env: {done.stderr.strip()}")
    return dict(line.split("=", 1) for line in done.stdout.split("\0") if line.startswith("MYRIAD_") and "=" in line)


def default_ranks(engine: str, cores: int) -> List[int]:
    """Powers of two up to all cores, or GPUs, of this machine."""
    most = cores
    if engine == "gpu":
        smi = shutil.which("nvidia-smi")
        listed = subprocess.run([smi, "-L"], capture_output=True, text=True, check=False).stdout if smi else ""
        most = max(1, listed.count("GPU "))
    return [2**k for k in range(most.bit_length())]


def choose_points(options: argparse.Namespace, ranks: Sequence[int], n: int, deck: Deck, unit: int) -> List[Point]:
    """All points; one that several series want is there once."""
    wanted: List[Tuple[str, int, int]] = []
    if options.mode in ("strong", "both"):
        wanted += [("strong", p, n) for p in ranks]
    if options.mode in ("weak", "both"):
        if not deck.sized_by:
            raise Failure(f"{deck.path} has neither n nor x y z as variables, so there is no weak scaling of it")
        wanted += [("weak", p, n * p) for p in ranks]
    sizes = options.sizes if options.sizes is not None else [n // 2**k for k in range(5) if n // 2**k >= 1000]
    if deck.sized_by:
        wanted += [("size", min(ranks), size) for size in sizes]
    points: Dict[Tuple[int, int], Point] = {}
    for mode, p, size in wanted:
        key = p, deck.actual(size, unit)
        series = points.setdefault(key, Point(*key, [])).series
        if mode not in series:
            series.append(mode)
    return list(points.values())


def plan(options: argparse.Namespace, folder: Path, program: Path, site: Dict[str, str]) -> Study:
    """The study of the options, or that of the folder with more points. Saved, except for the number of steps."""
    old = Study.load(folder)
    cores = len(os.sched_getaffinity(0))
    if options.submit:
        cores = int(site.get("MYRIAD_CORES_PER_NODE") or cores)
        if not options.ranks:
            raise Failure('which numbers of ranks? For example RANKS="1 2 4"')
    ranks = options.ranks or (old.rank_counts() if old else default_ranks(options.engine, cores))
    per_node = options.per_node or (old.per_node if old and options.submit else max(ranks))
    if options.submit and not options.per_node and not old:
        per_node = min(per_node, int(site["MYRIAD_GPUS_PER_NODE"]) if options.engine == "gpu" else cores)
    if any(p > per_node and p % per_node for p in ranks):
        raise Failure(f"ranks cannot be shared out evenly over nodes with {per_node} each (PER_NODE=)")
    deck = Deck(options.deck)
    for name in ("steps", *deck.sized_by):
        if name in options.var:
            raise Failure(f"the study chooses the variable {name}, by {'STEPS' if name == 'steps' else 'N'}=")
    words = options.words
    n = options.n or (old.n if old else 0)
    if not n:
        n = 1_000_000 if deck.sized_by else count_particles(program, deck, options.var)
    new = Study(str(options.deck.resolve()), st.digest(deck.text.encode()), str(program),
                st.digest(program.read_bytes()), commit(), options.engine, n,
                options.steps or (old.steps if old else 0),
                options.threads or (old.threads if old else max(1, cores // per_node)),
                options.repeat or (old.repeat if old else 3), per_node, words, options.var, options.tolerance)
    if old:
        for name, what in (("deck_hash", "the deck"), ("program_hash", "the program"), ("engine", "ENGINE"),
                           ("n", "N"), ("steps", "STEPS"), ("threads", "THREADS"), ("words", "the words for myriad"),
                           ("variables", "the deck's variables")):
            if getattr(old, name) != getattr(new, name):
                raise Failure(f"{folder} holds a study in which {what} was another ({getattr(old, name)}, now "
                              f"{getattr(new, name)}): choose another OUT=, or FRESH=yes to begin anew")
        new.commit = old.commit
    unit = 0 if deck.sized_by == "n" else count_particles(program, deck, options.var)
    if options.n and not deck.sized_by and options.n != unit:
        raise Failure(f"{deck.path} has neither n nor x y z as variables, and {unit} particles: N cannot be chosen")
    new.points = choose_points(options, sorted(ranks), n, deck, unit)
    if options.submit and not new.steps:
        found = re.search(r"^\s*variable\s+steps\s+index\s+(\d+)", deck.ready(), re.M)
        new.steps = int(found.group(1)) if found else 100
    return new


def tune(runner: Runner, fill: float) -> int:
    """Steps that take `fill` seconds on the fewest ranks, and long enough on the most."""
    ranks = runner.study.rank_counts()
    point = next(p for p in runner.study.points if p.ranks == ranks[0])
    probe = runner.run(point.ranks, point.n, PROBE_STEPS, "probe")
    shutil.rmtree(runner.folder / "scratch" / "probe", ignore_errors=True)
    wanted = max(fill, 0.5 * ranks[-1] / ranks[0]) * PROBE_STEPS / max(probe.seconds, 1e-6)
    return int(float(f"{min(max(wanted, LEAST_STEPS), 1e6):.2g}"))


def measure_here(runner: Runner) -> List[str]:
    """Measures the points that are missing. Returns the messages of errors."""
    study, folder, problems = runner.study, runner.folder, []
    rows = st.gather(folder, study)
    missing = [p for p in study.points if not st.done(rows, study, p)]
    if len(missing) < len(study.points):
        say(f"{len(study.points) - len(missing)} of {len(study.points)} points are there already")
    for k, point in enumerate(missing):
        what = f"[{k + 1}/{len(missing)}] {', '.join(point.series)}: {point}"
        try:
            measured = runner.measure(point)
        except Failure as error:
            problems.append(f"{point}: {error}")
            say(f"{what}: FAILED\n{error}")
            continue
        st.add_rows(folder, study, point, measured, alone=True)
        say(f"{what}: {describe(measured[0])}")
    shutil.rmtree(folder / "scratch", ignore_errors=True)
    return problems


# ---------------------------------------------------------------------------------------------- batch system


def queued(folder: Path) -> List[str]:
    """Jobs of this study that the batch system still has."""
    file = folder / "jobs.json"
    if not file.exists():
        return []
    jobs = json.loads(file.read_text(encoding="utf-8"))
    if shutil.which("squeue") is None:
        return []
    done = subprocess.run(["squeue", "--noheader", "--format=%F %A"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"squeue: {done.stderr.strip()}")
    here = {word for line in done.stdout.splitlines() for word in line.split()}
    return [job for job in jobs if job in here]


def call_submit(words: Sequence[str]) -> str:
    done = subprocess.run([str(HERE / "submit"), *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"submit {shlex.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip().split(";")[0]


def index_ranges(indices: Sequence[int]) -> str:
    """2 3 4 7 as 2-4,7."""
    ranges: List[List[int]] = []
    for k in sorted(indices):
        if ranges and ranges[-1][1] == k - 1:
            ranges[-1][1] = k
        else:
            ranges.append([k, k])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in ranges)


def submit(options: argparse.Namespace, folder: Path, study: Study) -> bool:
    """Sends what is missing as arrays, one for each number of nodes, and a job for the report; False: nothing is."""
    rows = st.gather(folder, study)
    shapes: Dict[int, List[int]] = {}
    for k, point in enumerate(study.points):
        if not st.done(rows, study, point):
            shapes.setdefault(math.ceil(point.ranks / study.per_node), []).append(k)
    if not shapes:
        return False
    name = re.sub(r"[^A-Za-z0-9._-]", "-", f"scaling-{folder.name}")
    common = ["--study", str(folder), "--system", options.submit, "--name", name, "--walltime", options.walltime]
    arrays = []
    for nodes, indices in sorted(shapes.items()):
        per_node = max(min(study.points[k].ranks, study.per_node) for k in indices)
        shape = ["--nodes", str(nodes), "--gpus" if study.engine == "gpu" else "--ranks", str(nodes * per_node)]
        arrays.append(call_submit([*common, *shape, "--array", index_ranges(indices)]))
        say(f"array {arrays[-1]}: {len(indices)} points on {nodes} node{'s' if nodes > 1 else ''}")
    report = call_submit([*common, "--after", ":".join(arrays)])
    say(f"job {report}: the report, when they have ended")
    st.write_whole(folder / "jobs.json", json.dumps([*arrays, report]) + "\n")
    return True


def wait_for_jobs(folder: Path) -> None:
    wait, said = LEAST_WAIT_S, ""
    while jobs := " ".join(queued(folder)):
        if jobs != said:
            say(f"waiting for {jobs}")
            said = jobs
        time.sleep(wait)
        wait = min(1.2 * wait, MOST_WAIT_S)


# ------------------------------------------------------------------------------------------------------- end


def finish(folder: Path, study: Study, problems: Sequence[str], command: str) -> int:
    """Judges and writes the report; the exit status."""
    rows = st.gather(folder, study)
    missing = [p for p in study.points if not st.done(rows, study, p)]
    wrong = st.wrong_rows(rows)
    for row in wrong:
        point = Point(int(row["ranks"]), int(row["N"]), [])
        say(f"WRONG: {row['mode']}, {point}: final energy {row['final_energy']}")
    for point in missing:
        say(f"MISSING: {', '.join(point.series)}: {point}")
    if rows:
        try:
            import report
        except ImportError as error:
            raise Failure(f"{folder}/results.csv is there, and the plots need matplotlib ({error}): "
                          "`.ci/setup plots` installs it") from error
        report.write(folder, study, rows, missing, problems, command)
        say(f"report: {folder / 'report.html'}")
    if wrong:
        say(f"FAILED: {len(wrong)} rows do not have the energy of the others with the same N")
    elif missing:
        say(f"INCOMPLETE: {len(missing)} of {len(study.points)} points are missing; the same command goes on")
        if list(folder.glob("point-*.out")):
            say(f"what their jobs said: {folder}/point-*.out")
    return 1 if wrong or missing else 0


def whole_numbers(text: str) -> List[int]:
    numbers = [whole_number(word) for word in text.replace(",", " ").split()]
    return sorted(set(numbers))


def whole_number(text: str) -> int:
    value = float(text)
    if not 1 <= value < math.inf or value != int(value):
        raise argparse.ArgumentTypeError(f"{text} is not a positive whole number")
    return int(value)


def not_negative(text: str) -> float:
    value = float(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a number of zero or more")
    return value


def variable(text: str) -> Tuple[str, str]:
    name, given, value = text.partition("=")
    if not given:
        raise argparse.ArgumentTypeError(f"{text} is not NAME=VALUE")
    return name, value


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    arguments = list(arguments)
    words: List[str] = []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, words = arguments[:at], arguments[at + 1:]
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0],
                                     formatter_class=argparse.RawTextHelpFormatter)
    add = parser.add_argument
    add("--deck", type=Path, default=ROOT / "inputs" / "in.repulsive-bench")
    add("--engine", default="openmp")
    add("--mode", choices=("strong", "weak", "both"), default="both")
    add("--n", type=whole_number, help="particles; of one rank in the weak series (1000000)")
    add("--ranks", type=whole_numbers, help='as in "1 2 4" (powers of two up to the cores, or GPUs)')
    add("--sizes", type=whole_numbers, help="particles in the series over N (N, N/2 ... N/16)")
    add("--threads", type=whole_number, help="of a rank (cores over the most ranks)")
    add("--steps", type=whole_number, help="of every run (here: to fill the time; submitted: the deck's)")
    add("--repeat", type=whole_number, help="timed runs of a point (3)")
    add("--fill", type=not_negative, default=2.0, metavar="SECONDS", help="of a run on the fewest ranks (2)")
    add("--per-node", type=whole_number, help="ranks of a node (all; submitted: as site.env says)")
    add("--var", type=variable, action="append", default=[], metavar="NAME=VALUE", help="another variable of the deck")
    add("--tolerance", type=not_negative, default=0.0, help="relative difference of energies that is no error (0)")
    add("--submit", choices=("slurm",), help="through the batch system")
    add("--walltime", default="0:30:00", help="of a submitted point (0:30:00)")
    add("--wait", action="store_true", help="until submitted jobs have ended")
    add("--out", type=Path, help="folder (run/scaling/DECK-ENGINE-N)")
    add("--fresh", action="store_true", help="forget what the folder holds")
    add("--myriad", type=Path, help="the program (what site.env says)")
    add("--measure", type=int, metavar="K", help="measure point K of the study in OUT, and nothing else")
    add("--report", action="store_true", help="judge the study in OUT and write its report, and nothing else")
    options = parser.parse_args(arguments)
    options.words, options.var = words, dict(options.var)
    if (options.measure is not None or options.report) and options.out is None:
        parser.error("--measure and --report need --out")
    return options


def study_of(folder: Path) -> Study:
    study = Study.load(folder)
    if study is None:
        raise Failure(f"there is no study in {folder}")
    return study


def run(options: argparse.Namespace, command: str) -> int:
    if options.report:
        folder = options.out.resolve()
        return finish(folder, study_of(folder), [], command)
    if options.measure is not None:
        folder = options.out.resolve()
        study = study_of(folder)
        if not 0 <= options.measure < len(study.points):
            raise Failure(f"the study in {folder} has the points 0 to {len(study.points) - 1}, not {options.measure}")
        point = study.points[options.measure]
        rows = Runner(folder, study).measure(point)
        st.add_rows(folder, study, point, rows, alone=False)
        say(f"{point}: {describe(rows[0])}")
        return 0
    site = read_site()
    program = (options.myriad or ROOT / site["MYRIAD_PROGRAM"]).resolve()
    if not program.exists():
        raise Failure(f"there is no program {program}: make builds it")
    name = f"{options.deck.name.replace('in.', '', 1)}-{options.engine}" + (f"-{options.n}" if options.n else "")
    folder = (options.out or Path("run") / "scaling" / name).resolve()
    if options.fresh and folder.exists():
        if any(folder.iterdir()) and not (folder / "study.json").exists():
            raise Failure(f"{folder} holds no study, so it is not emptied")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    study = plan(options, folder, program, site)
    jobs = queued(folder)
    if jobs:
        if not options.wait:
            say(f"jobs {' '.join(jobs)} are still in the queue; the same command later makes the report")
            return 1
        wait_for_jobs(folder)
    if options.submit:
        study.save(folder)
        if submit(options, folder, study):
            if not options.wait:
                say(f"results will be in {folder}")
                return 0
            wait_for_jobs(folder)
        return finish(folder, study, [], command)
    runner = Runner(folder, study)
    if not study.steps:
        study.steps = tune(runner, options.fill)
    study.save(folder)
    say(f"{len(study.points)} points of {study.steps} steps, {study.repeat} runs each, in {folder}")
    return finish(folder, study, measure_here(runner), command)


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    try:
        return run(options, shlex.join(["job-scripts/scaling.py", *arguments]))
    except Failure as error:
        print(f"scaling: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nscaling: stopped; the same command goes on", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
