"""Runs myriad for the tests, and reads the files that it writes: logs and dumps.

The program is $MYRIAD, by default build/myriad of this tree.  Nothing here judges
a result except `run`, which expects an exit status.  Numbers keep every digit:
thermo rows stay text until asked for as floats, and dumps are read with Python's
correctly rounded conversion, so that 17 digits give back the double they came from.

`engine` is a word of --engine, or one of ENGINES: the ways of the GPU engine that the
tests tell apart.  Where no GPU can be used, `gpu_missing` says why; `mpi_missing` does
so for ranks, which `run` starts by the words of `mpirun`.
"""

from __future__ import annotations

import atexit
import functools
import itertools
import math
import os
import re
import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

HERE = Path(__file__).resolve().parent
REFERENCE = HERE / "reference"
INPUTS = HERE.parent / "inputs"

Value = Union[str, int, float]

# Names for the GPU engine's ways: words of the command line, and keywords of `package gpu`.
ENGINES: Mapping[str, Tuple[Tuple[str, ...], Mapping[str, Value]]] = {
    "gpu": (("--engine", "gpu"), {"force": "full"}),
    "gpu-symmetric": (("--engine", "gpu"), {"force": "symmetric"}),
    "gpu-naive": (("--engine", "naive", "--gpu-naive"), {}),
    "gpu-mixed": (("--engine", "gpu"), {"precision": "mixed"}),
}


def deck(name: str) -> Path:
    """The deck NAME in one of the rooms of validate/decks."""
    found = list((HERE / "decks").glob(f"*/{name}"))
    assert len(found) == 1, f"{len(found)} decks are named {name}"
    return found[0]


def program() -> Path:
    return Path(os.environ.get("MYRIAD", HERE.parent / "build" / "myriad")).resolve()


def environment(isa: Optional[str] = None) -> Dict[str, str]:
    """The environment of a run: threads that wait must not keep others from a busy core."""
    variables = {k: v for k, v in os.environ.items() if k not in ("OMP_NUM_THREADS", "MYRIAD_ISA")}
    variables["OMP_WAIT_POLICY"] = "passive"
    if isa is not None:
        variables["MYRIAD_ISA"] = isa
    return variables


# Tests start more ranks than there are cores, and any user may start them, also root. So ranks that wait give way.
# Kernels in containers often forbid the copy between processes. Ranks of one machine only need shared memory, and the
# search for networks costs a third of a second for each run. These variables are for Open MPI; other libraries ignore
# them.
RANK_ENVIRONMENT: Mapping[str, str] = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    # Ranks that share a core take turns. A reduction in a line needs fewer turns than one of pairs that double.
    "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
    "OMPI_MCA_coll_tuned_allreduce_algorithm": "1",
    # After an error mpirun would signal ranks that are gone, and wait a second, twice.
    "OMPI_MCA_odls_base_sigkill_timeout": "0",
}

# Further variables for Open MPI 4, whose mpirun and ranks load a hundred parts, half of the time of a short run. These
# runs use few of them. Parts that are left out (^) may be unknown to a version. Open MPI 5 has no osc pt2pt.
LEAN_ENVIRONMENT: Mapping[str, str] = {
    "OMPI_MCA_coll": "basic,libnbc,self,tuned",
    "OMPI_MCA_osc": "pt2pt",
    "OMPI_MCA_shmem": "^posix,sysv",
    "OMPI_MCA_op": "^avx",
    "OMPI_MCA_mpool": "^hugepage",
    "OMPI_MCA_rcache": "^grdma",
    "OMPI_MCA_reachable": "^netlink",
    "OMPI_MCA_schizo": "^flux,jsm,orte,slurm",
    "OMPI_MCA_plm": "^rsh,slurm",
    "OMPI_MCA_ras": "^gridengine,simulator,slurm",
    "OMPI_MCA_rmaps": "^mindist,ppr,rank_file,resilient,seq",
    "OMPI_MCA_rtc": "^hwloc",
    "OMPI_MCA_routed": "^binomial,radix",
    "OMPI_MCA_state": "^novm,orted,tool",
    "OMPI_MCA_errmgr": "^default_orted,default_tool",
    "OMPI_MCA_filem": "^raw",
    "PMIX_MCA_gds": "hash",
    "PMIX_MCA_pcompress": "^zlib",
    "PMIX_MCA_pcompress_base_silence_warning": "1",
    "HWLOC_PLUGINS_PATH": "/nonexistent",
    # No rank is bound, so mpirun need not know this machine: looking at it takes a quarter of a short run's time.
    "HWLOC_COMPONENTS": "no_os,stop",
}

# For all programs that tests start. Many are lmp, which is one rank of MPI. Such a rank starts a daemon, searches for
# networks and looks at the machine; without these its shortest run takes a fifth of its processor time.
LONE_RANK_ENVIRONMENT: Mapping[str, str] = {
    "OMPI_MCA_ess_singleton_isolated": "1",
    **{name: RANK_ENVIRONMENT[name] for name in ("OMPI_MCA_pml", "OMPI_MCA_btl")},
    "HWLOC_COMPONENTS": LEAN_ENVIRONMENT["HWLOC_COMPONENTS"],
}


def mpirun_name() -> str:
    return os.environ.get("MPIRUN") or "mpirun"


@functools.lru_cache(maxsize=None)
def open_mpi() -> Optional[int]:
    """The version of Open MPI whose mpirun starts ranks; None: another library's. 0: of unknown version."""
    said = subprocess.run([mpirun_name(), "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    version = re.search(r"Open MPI\) (\d+)", said)
    return int(version[1]) if version else 0 if re.search(r"Open MPI|OpenRTE", said) else None


def mpirun_words() -> Tuple[str, ...]:
    """The command that starts ranks, before their number."""
    return (mpirun_name(), *(() if open_mpi() is None else ("--oversubscribe",)))


def mpirun(ranks: int, *words: str) -> List[str]:
    """The words that start `ranks` ranks of the program that follows them, with further options of mpirun."""
    return [*mpirun_words(), *words, "-n", str(ranks)]


own = threading.local()
SESSION_FOLDER = "OMPI_MCA_orte_tmpdir_base"


def session_folder() -> str:
    """A folder for the files that mpirun keeps while it runs, one for each thread of a test program.

    Runs of one user usually share such a folder, /tmp/ompi.HOST.USER. The last run removes it, and another run that
    starts at this moment fails: Open MPI 4 looks for the folder and makes it in two steps.
    """
    if not hasattr(own, "folder"):
        own.folder = tempfile.mkdtemp(prefix="mpi.")
        atexit.register(shutil.rmtree, own.folder, ignore_errors=True)
    return own.folder


def rank_environment(isa: Optional[str] = None) -> Dict[str, str]:
    """The environment of a run on several ranks. The caller's own variables of MPI stay, but for the folder."""
    lean = LEAN_ENVIRONMENT if open_mpi() == 4 else {}
    return {**RANK_ENVIRONMENT, **lean, **environment(isa), SESSION_FOLDER: session_folder()}


def patience(seconds: float) -> float:
    """A limit of time that no run should reach. It is longer if tests run side by side, because they share cores."""
    return seconds * int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))


def exact(value: Value) -> str:
    """A value as a word of a deck; floats with 17 digits."""
    return f"{value:.17g}" if isinstance(value, float) else str(value)


@functools.lru_cache(maxsize=None)
def information() -> str:
    """What `myriad info` prints."""
    done = subprocess.run([str(program()), "info"], env=environment(), capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def gpu_missing() -> str:
    """Why the GPU engine cannot run here; empty if it can."""
    if not program().exists():
        return f"there is no program {program()}"
    if re.search(r"^GPU 0:", information(), re.M):
        return ""
    if re.search(r"^  gpu +(?! |not here: )", information(), re.M):
        return "there is no GPU that the engine gpu can use here (see myriad info)"
    return "the engine gpu is not here (see myriad info)"


def mpi_missing() -> str:
    """Why several ranks cannot be started here; empty if they can."""
    if not program().exists():
        return f"there is no program {program()}"
    if re.search(r"^Ranks: .*mpirun", information(), re.M):
        return "" if shutil.which(mpirun_name()) else "mpirun is not found"
    return "MPI is not in this build (see make info)"


def hdf5_missing() -> bool:
    """Has the program no files of HDF5, so that restarts and H5MD are not here?"""
    return "they need HDF5" in information()


def gpu_available() -> bool:
    return not gpu_missing()


def gpus() -> int:
    """The number of GPUs that the program sees."""
    return len(re.findall(r"^GPU \d+:", information(), re.M))


def gpu_name() -> str:
    """The first GPU, as `myriad info` calls it."""
    found = re.search(r"^GPU 0: *([^,;(\n]*[^,;(\s])", information(), re.M)
    return found.group(1) if found else "unknown GPU"


def engine_words(engine: str, package: Optional[Mapping[str, Value]] = None) -> List[str]:
    """The command line of an engine: a word of --engine, or a name of ENGINES.

    package: keywords of `package gpu`, which replace those of the name.
    """
    words, keywords = ENGINES.get(engine, (("--engine", engine), {}))
    merged = {**keywords, **(package or {})}
    pairs = [exact(word) for pair in merged.items() for word in pair]
    return [*words, "-pk", "gpu", *pairs] if pairs else list(words)


@dataclass
class Table:
    """One run's thermo table."""

    titles: List[str]
    rows: List[List[str]] = field(default_factory=list)

    def column(self, title: str) -> np.ndarray:
        c = self.titles.index(title)
        return np.array([float(row[c]) for row in self.rows])

    def at(self, step: int) -> Dict[str, float]:
        """The row of a step, by title."""
        for row in self.rows:
            if int(row[0]) == step:
                return dict(zip(self.titles, map(float, row)))
        raise KeyError(f"no thermo row of step {step}")


def read_tables(text: str) -> List[Table]:
    """The thermo tables of a log, Myriad's or LAMMPS's.  Every table starts with the column Step."""
    tables: List[Table] = []
    inside = False
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["Step"]:
            tables.append(Table(words))
            inside = True
        elif line.startswith("Loop time"):
            inside = False
        elif inside and words and re.fullmatch(r"\d+", words[0]) and len(words) == len(tables[-1].titles):
            tables[-1].rows.append(words)
    return tables


@dataclass
class Frame:
    """One frame of a `dump custom`, sorted by id."""

    step: int
    bounds: np.ndarray  # [3, 2]
    columns: Dict[str, np.ndarray]

    def vectors(self, *names: str) -> np.ndarray:
        """Columns side by side, [n, len(names)]."""
        return np.stack([self.columns[name] for name in names], axis=1)


def read_dump(path: Path) -> List[Frame]:
    frames = []
    lines = iter(path.read_text().splitlines())
    for line in lines:
        assert line == "ITEM: TIMESTEP", line
        step = int(next(lines))
        assert next(lines) == "ITEM: NUMBER OF ATOMS"
        count = int(next(lines))
        assert next(lines).startswith("ITEM: BOX BOUNDS")
        bounds = np.array([[float(word) for word in next(lines).split()] for _ in range(3)])
        names = next(lines).split()[2:]
        rows = np.array([[float(word) for word in next(lines).split()] for _ in range(count)])
        rows = rows.reshape(count, len(names))
        rows = rows[np.argsort(rows[:, names.index("id")], kind="stable")]
        frames.append(Frame(step, bounds, {name: rows[:, c] for c, name in enumerate(names)}))
    return frames


@dataclass
class Loop:
    """The time of one run."""

    seconds: float
    steps: int
    particles: int


@dataclass
class Kernel:
    """A row of the table of kernels: all its calls in a run."""

    name: str
    calls: int
    milliseconds: float
    share: float  # of the time of all kernels, per cent
    bandwidth: Optional[float]  # GB/s; None: not known
    of_copy: Optional[float]  # per cent of the bandwidth of a copy


class RankTimes(NamedTuple):
    """A phase on several ranks, in seconds."""

    least: float
    mean: float
    most: float
    imbalance: float  # most / mean
    share: float  # per cent of the run, of the mean


@dataclass
class Result:
    """The results of a run: exit status, output and files."""

    status: int
    out: str
    err: str
    log: str

    @property
    def tables(self) -> List[Table]:
        return read_tables(self.log)

    @property
    def table(self) -> Table:
        """The thermo table of the only, or the last, run."""
        return self.tables[-1]

    def report(self, pattern: str) -> float:
        """A number of the closing report; `pattern` has one group."""
        found = re.findall(pattern, self.log)
        assert found, f"the log has no {pattern}"
        return float(found[-1])

    @property
    def loops(self) -> List[Loop]:
        """The time of every run of the deck, without set-up."""
        found = re.findall(r"^Loop time of (\S+) on \d+ procs for (\d+) steps with (\d+) atoms", self.log, re.M)
        return [Loop(float(seconds), int(steps), int(particles)) for seconds, steps, particles in found]

    @property
    def bytes_per_particle(self) -> float:
        return self.report(r"(?m)^Memory: (\S+) bytes per particle")

    @property
    def phases(self) -> Dict[str, float]:
        """Seconds of each phase of the last run."""
        last = re.split(r"\nSection +\|", self.log)[-1]
        return {name: float(seconds) for name, seconds in re.findall(r"^(\w+) +\| (\S+) +\| +\S+$", last, re.M)}

    @property
    def rank_phases(self) -> Dict[str, RankTimes]:
        """The times of each phase of the last run, over ranks. rank_comm has the parts of Comm."""
        return self._rank_times("")

    @property
    def rank_comm(self) -> Dict[str, RankTimes]:
        """Likewise of each kind of communication."""
        return self._rank_times("  ")

    def _rank_times(self, indent: str) -> Dict[str, RankTimes]:
        last = re.split(r"\nSection +\|", self.log)[-1]
        rows = re.findall(rf"^{indent}(\w+) +\|" + r" *(\S+) +\|" * 4 + r" *(\S+)$", last, re.M)
        return {name: RankTimes(*map(float, cells)) for name, *cells in rows}

    @property
    def particles_of_ranks(self) -> Tuple[float, float, float, float]:
        """The mean, most and fewest particles of a rank at the end, and the imbalance."""
        found = re.findall(r"^Particles of a rank: (\S+) ave (\S+) max (\S+) min, imbalance (\S+)$", self.log, re.M)
        assert found, "the log has no particles of ranks"
        return tuple(map(float, found[-1]))

    @property
    def kernels(self) -> List[Kernel]:
        """The last run's table of kernels, as `package gpu profile yes` makes it; empty without one."""
        return read_kernels(self.log)[0]

    @property
    def copy_bandwidth(self) -> float:
        """GB/s of a copy on the device, which the line below that table names."""
        return read_kernels(self.log)[1]


def read_kernels(log: str) -> Tuple[List[Kernel], float]:
    """The last table of kernels in a log, and the bandwidth of a copy in the line that ends it."""
    rows: List[Kernel] = []
    number = lambda cell: float(cell) if re.fullmatch(r"[\d.]+(e[-+]?\d+)?", cell) else None
    for table in re.split(r"^GPU kernels\b.*\n", log, flags=re.M)[1:][-1:]:
        for row in table.splitlines():
            cells = [cell.strip() for cell in row.split("|")]
            if len(cells) == 6 and cells[1].isdigit():
                rows.append(Kernel(cells[0], int(cells[1]), float(cells[2]), float(cells[3]), *map(number, cells[4:])))
            elif not re.fullmatch(r"[-+| ]+", row):
                found = re.search(r"([\d.]+(?:e[-+]?\d+)?)(?= *GB/s)", row) or re.search(r"\|\s*([\d.]+)\s*\|", row)
                return rows, float(found.group(1)) if found and "copy" in row.lower() else math.nan
    return rows, math.nan


def deck_with(deck: Path, commands: str) -> str:
    """A deck's text with `commands` in place of its only line that begins with `run`."""
    text, runs = re.subn(r"^run\s.*\n", lambda _: commands, deck.read_text(), flags=re.M)
    assert runs == 1, f"{deck} has {runs} lines that begin with run"
    return text


def keep_to_core(k: int) -> None:
    """The calling thread, and what it starts from now on, runs on one core, the k-th that it may use, counted
    cyclically. For tests side by side: a rank that waits then gives way to the rank for which it waits. Without this,
    ranks mostly give way to ranks of other tests that wait, and runs take half as long again."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[k % len(cores)]})


def run(deck: Union[Path, str], folder: Path, *, engine: str = "openmp", threads: int = 2,
        ranks: Optional[int] = None, isa: Optional[str] = None, package: Optional[Mapping[str, Value]] = None,
        variables: Optional[Mapping[str, Value]] = None, expect: Optional[int] = 0,
        timeout: float = 300.0, arguments: Sequence[str] = (), wrapper: Sequence[str] = ()) -> Result:
    """Runs a deck (a path, or its text) in `folder`, which is also where relative names lead.

    ranks: the number of ranks that mpirun starts; None: the program starts without mpirun.
    package: keywords of `package gpu`.  wrapper: a program that runs myriad, and its options.
    Fails unless the exit status is `expect`; None: any. The message of the failure has the program's output.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(deck, str):
        text, deck = deck, folder / "in.deck"
        deck.write_text(text)
    log = folder / "log.myriad"
    command = [*(mpirun(ranks) if ranks else ()), *wrapper, str(program()), "-in", str(deck), "-log", str(log),
               "-screen", "none", *engine_words(engine, package)]
    if engine != "naive":
        command += ["--threads", str(threads)]
    for name, value in (variables or {}).items():
        command += ["-var", name, exact(value)]
    surroundings = rank_environment(isa) if ranks else environment(isa)
    done = subprocess.run([*command, *arguments], cwd=folder, env=surroundings, text=True,
                          capture_output=True, timeout=timeout, check=False)
    result = Result(done.returncode, done.stdout, done.stderr,
                    log.read_text() if log.exists() else "")
    assert expect is None or done.returncode == expect, (
        f"{' '.join(command)}\nended with status {done.returncode}, not {expect}:\n{done.stderr}")
    return result


def instruction_sets() -> Tuple[str, ...]:
    """The values of MYRIAD_ISA that this build and processor take, found by trying."""
    deck = "region b block 0 1 0 1 0 1\ncreate_box 1 b\nmass 1 1\nrun 0\n"
    found = []
    for isa in ("generic", "avx2", "avx512"):
        done = subprocess.run([str(program()), "-in", "-", "-log", "none", "-screen", "none"], input=deck,
                              env=environment(isa), text=True, capture_output=True, timeout=60, check=False)
        if done.returncode == 0:
            found.append(isa)
        else:
            assert "instruction set" in done.stderr, done.stderr
    assert "generic" in found
    return tuple(found)


@dataclass
class Particles:
    """A system that a test makes itself, for read_data."""

    lo: Sequence[float]
    hi: Sequence[float]
    x: np.ndarray  # [n, 3]
    v: Optional[np.ndarray] = None
    type: Optional[Sequence[int]] = None
    mass: Sequence[float] = (1.0,)


def write_data(path: Path, system: Particles) -> Path:
    """A data file with ids 1 to n."""
    n = len(system.x)
    types = system.type if system.type is not None else [1] * n
    lines = ["made by a test", "", f"{n} atoms", f"{len(system.mass)} atom types", ""]
    for axis, lo, hi in zip("xyz", system.lo, system.hi):
        lines.append(f"{exact(float(lo))} {exact(float(hi))} {axis}lo {axis}hi")
    lines += ["", "Masses", ""] + [f"{t} {exact(float(m))}" for t, m in enumerate(system.mass, 1)]
    lines += ["", "Atoms # atomic", ""]
    lines += [f"{i} {t} " + " ".join(exact(float(c)) for c in x) for i, (t, x) in enumerate(zip(types, system.x), 1)]
    if system.v is not None:
        lines += ["", "Velocities", ""]
        lines += [f"{i} " + " ".join(exact(float(c)) for c in v) for i, v in enumerate(system.v, 1)]
    path.write_text("\n".join(lines) + "\n")
    return path


def meetings(folder: Path, at: float, across: bool, speed: float = 4.5, resting: bool = False) -> str:
    """A deck of pairs that meet head on one after the other, at z = `at` box lengths. across: they also meet at the
    periodic face along x. resting: beside them are four times as many particles that hardly move and meet nothing.
    Its data go into `folder`.

    At the usual speed partners move by a thirteenth of the skin in each step. At the start their distances are larger
    than the reach of lists, and differ by about half a skin. So at every rebin some pair is just beyond the lists and
    soon within the cutoff.
    """
    cutoff, skin, side = 2.5, 0.3, 64.0
    x, v = [], []
    for k in range(24):
        half = 0.5 * (cutoff + skin * (1.45 + 0.53 * k))
        for sign in (-1.0, 1.0):
            z = (at * side + sign * half) % side
            x.append((((0.0 if across else 5.5) + 0.15 * sign) % 11.0, 5.5 * (k + 0.5), z))
            v.append((0.0, 0.0, -speed * sign))
        for side_by_side, level in itertools.product(range(2), range(4)) if resting else ():
            x.append((11.0 + 11.0 * side_by_side, 5.5 * (k + 0.5), (level + 0.5) * side / 4))
            v.append((0.0, 0.0, 0.01 * (-1) ** level))
    width = 33.0 if resting else 11.0
    folder.mkdir(parents=True, exist_ok=True)
    data = write_data(folder / "meetings.data",
                      Particles((0.0, 0.0, 0.0), (width, 132.0, side), np.array(x), np.array(v)))
    return (f"units lj\nread_data {data}\npair_style lj/cut {cutoff}\npair_coeff 1 1 1 1\nneighbor {skin} bin\n"
            f"timestep 0.005\nfix move all nve\nthermo 20\n"
            "thermo_style custom step temp pe ke etotal press momx momy momz\nthermo_modify format float %.17g\n"
            "dump check all custom 20 check.dump id type x y z vx vy vz fx fy fz\nrun 160\n")
