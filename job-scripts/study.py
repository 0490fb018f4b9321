"""The parts of a scaling study: its points, the rows of results.csv, and the verdict on them.

A point is a number of ranks and of particles; it belongs to one or several series: `strong` (the same N on all
ranks), `weak` (N on each rank) and `size` (N varies, on the fewest ranks). results.csv has a row for each point of
each series. Points in results.csv are not measured again, and its rows are judged. The jobs of an array end in any
order. Each job leaves a file of rows in points/, and the next reader moves these rows into results.csv.

Energies are compared as text with 17 digits, which is one to one with the bits of a double.
"""

from __future__ import annotations

import collections
import contextlib
import csv
import fcntl
import hashlib
import json
import math
import re
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Sequence, TextIO, Tuple

Row = Dict[str, str]

MODES = ("strong", "weak", "size")
PHASES = ("Bin", "Sort", "List", "Force", "Move", "Comm", "Output", "Other")
COMM = ("halo", "borders", "migrate", "reduce", "balance")  # what Comm consists of, on several ranks
COLUMNS = ["mode", "engine", "ranks", "threads", "gpus", "N", "steps", "wall_s", "wall_min_s", "wall_max_s", "repeats",
           "particle_steps_per_s", "efficiency", *(f"{phase.lower()}_s" for phase in PHASES),
           *(f"comm_{kind}_s" for kind in COMM), "imbalance", "bytes_per_particle", "host", "cpu", "gpu", "commit",
           "final_energy", "verdict"]
EXACT, WRONG = "exact", "WRONG"


class Failure(Exception):
    """The study cannot go on, for the reason given."""


@dataclass
class Point:
    ranks: int
    n: int
    series: List[str]

    def __str__(self) -> str:
        return f"{self.ranks} rank{'s' if self.ranks > 1 else ''}, N = {self.n}"


@dataclass
class Study:
    """What the folder's study.json holds: everything that must be the same for points to be compared."""

    deck: str
    deck_hash: str
    program: str
    program_hash: str
    commit: str
    engine: str
    n: int
    steps: int
    threads: int
    repeat: int
    per_node: int
    words: List[str]
    variables: Dict[str, str]  # of the deck, other than those for N and steps
    tolerance: float = 0.0
    points: List[Point] = field(default_factory=list)

    @staticmethod
    def load(folder: Path) -> Optional["Study"]:
        file = folder / "study.json"
        if not file.exists():
            return None
        try:
            values = json.loads(file.read_text(encoding="utf-8"))
            values["points"] = [Point(**point) for point in values["points"]]
            return Study(**values)
        except (ValueError, TypeError, KeyError) as error:
            raise Failure(f"{file} is not a study of this version ({error}); FRESH=yes begins anew") from error

    def save(self, folder: Path) -> None:
        write_whole(folder / "study.json", json.dumps(asdict(self), indent=1) + "\n")

    def rank_counts(self) -> List[int]:
        return sorted({p.ranks for p in self.points})


@dataclass
class Measurement:
    """One run, from its log."""

    seconds: float
    steps: int
    particles: int
    ranks: int
    threads: int
    phases: Dict[str, float]  # seconds, mean over ranks
    comm: Dict[str, float]  # likewise, of each kind of communication
    imbalance: float
    bytes_per_particle: float
    hardware: str
    energy: str


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


@contextlib.contextmanager
def replacing(path: Path, newline: Optional[str] = None) -> Iterator[TextIO]:
    """A new file to write, which becomes `path` when it is complete: other programs read the old one or the new one.

    It is created exclusively: what has its name already, also a symbolic link, is not opened.
    """
    new = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    with new.open("x", encoding="utf-8", newline=newline) as file:
        try:
            yield file
        except BaseException:
            new.unlink()
            raise
    new.replace(path)


def write_whole(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


ENERGY_LABEL = "scaling-final-energy"


def read_log(text: str) -> Measurement:
    """The last run of a log; Failure names what is missing in it."""

    def last(pattern: str, what: str) -> Tuple[str, ...]:
        found = re.findall(pattern, text, re.M)
        if not found:
            raise Failure(f"the log has no {what}")
        return found[-1] if isinstance(found[-1], tuple) else (found[-1],)

    seconds, steps, particles = last(r"^Loop time of (\S+) on \d+ procs for (\d+) steps with (\d+) atoms", "loop time")
    ranks, threads = last(r"with (\d+) MPI tasks x (\d+) OpenMP threads", "number of ranks")
    table = re.split(r"\nSection +\|", text)[-1].split("\n\n", 1)[0]
    phases, comm = {}, {}
    for part, name, cells in re.findall(r"^(  )?(\w+) +\|(.*)\|[^|]*$", table, re.M):
        numbers = [float(cell) for cell in cells.split("|")]
        (comm if part else phases)[name] = numbers[min(1, len(numbers) - 1)]  # time alone, or min, avg, max, max/avg
    balance = re.findall(r"^Particles of a rank:.* imbalance (\S+)", text, re.M)
    return Measurement(float(seconds), int(steps), int(particles), int(ranks), int(threads), phases, comm,
                       float(balance[-1]) if balance else 1.0, float(last(r"^Memory: (\S+) bytes per", "memory")[0]),
                       last(r"^Engine: \w+, (.*)$", "engine")[0], last(rf"^{ENERGY_LABEL} (\S+)$", "final energy")[0])


# ------------------------------------------------------------------------------------------------ results.csv


def number(row: Row, key: str) -> float:
    return float(row.get(key) or "nan")


def order(row: Row) -> Tuple[int, int, int]:
    return MODES.index(row["mode"]), int(row["ranks"]), int(row["N"])


def read_rows(path: Path) -> List[Row]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    try:
        for row in rows:
            order(row)
            for key in ("wall_s", "particle_steps_per_s"):
                float(row[key])
    except (KeyError, ValueError, TypeError) as error:
        raise Failure(f"{path}: row {rows.index(row) + 1} cannot be read ({error!r})") from error
    return rows


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    extra = sorted({key for row in rows for key in row} - set(COLUMNS))
    with replacing(path, newline="") as file:
        writer = csv.DictWriter(file, [*COLUMNS, *extra], lineterminator="\n", restval="")
        writer.writeheader()
        writer.writerows(rows)


def same_point(row: Row, study: Study, point: Point) -> bool:
    return (row["engine"], int(row["ranks"]), int(row["threads"]), int(row["N"]), int(row["steps"])) == (
        study.engine, point.ranks, study.threads, point.n, study.steps)


def gather(folder: Path, study: Study) -> List[Row]:
    """All rows of a folder, judged: results.csv, and what jobs have left since; also writes them."""
    with locked(folder):
        rows = read_rows(folder / "results.csv")
        parts = sorted((folder / "points").glob("[!.]*.csv"))
        have = {order(row) for row in rows}
        for part in parts:
            rows += [row for row in read_rows(part) if order(row) not in have]
            have = {order(row) for row in rows}
        # A point that is in another series already is not measured again for a new one.
        for point in study.points:
            twins = [row for row in rows if same_point(row, study, point)]
            for mode in point.series:
                if twins and not any(row["mode"] == mode for row in twins):
                    rows.append({**twins[0], "mode": mode})
        rows.sort(key=order)
        judge(rows, study.tolerance)
        if rows:
            write_rows(folder / "results.csv", rows)
        for part in parts:
            part.unlink()
    return rows


def add_rows(folder: Path, study: Study, point: Point, rows: List[Row], alone: bool) -> None:
    """Keeps the rows of a point. `alone`: no other program writes results.csv now."""
    if alone:
        with locked(folder):
            write_rows(folder / "results.csv", sorted([*read_rows(folder / "results.csv"), *rows], key=order))
        return
    (folder / "points").mkdir(exist_ok=True)
    write_rows(folder / "points" / f"{point_name(point)}.csv", rows)


def point_name(point: Point) -> str:
    return f"r{point.ranks}-n{point.n}"


def done(rows: Sequence[Row], study: Study, point: Point) -> bool:
    return any(same_point(row, study, point) for row in rows)


# ---------------------------------------------------------------------------------------------------- verdict


def judge(rows: List[Row], tolerance: float = 0.0) -> None:
    """Fills in efficiency and verdict of each row.

    Efficiency is the rate per rank over that of the fewest ranks of the series. Rows with the same N must have the
    same energy. If energies differ, the one that most rows have is right (of equally many, the one on fewer ranks).
    """
    for mode in ("strong", "weak"):
        series = [row for row in rows if row["mode"] == mode]
        if not series:
            continue
        base = min(series, key=lambda row: int(row["ranks"]))
        each = number(base, "particle_steps_per_s") / int(base["ranks"])
        for row in series:
            row["efficiency"] = f"{number(row, 'particle_steps_per_s') / int(row['ranks']) / each:.4f}"
    by_n: Dict[Tuple[str, str], List[Row]] = collections.defaultdict(list)
    for row in rows:
        by_n[row["N"], row["steps"]].append(row)
    for group in by_n.values():
        # One vote for each point, not for each series that it is in.
        votes = {(row["ranks"], row["final_energy"]) for row in group}
        count = collections.Counter(energy for _, energy in votes)
        fewest = {energy: min(int(ranks) for ranks, e in votes if e == energy) for energy in count}
        right = max(count, key=lambda energy: (count[energy], -fewest[energy]))
        for row in group:
            row["verdict"] = EXACT if agrees(row["final_energy"], right, tolerance) else WRONG


def agrees(energy: str, right: str, tolerance: float) -> bool:
    """Several energies of one row, "a / b", are repeats that differ among themselves."""
    try:
        values = [float(e) for e in energy.split(" / ")]
        reference = float(right.split(" / ")[0])
    except ValueError:
        return False
    if not all(map(math.isfinite, [*values, reference])):
        return False
    if tolerance > 0.0:
        return all(abs(value - reference) <= tolerance * abs(reference) for value in values)
    return len(values) == 1 and energy == right


def wrong_rows(rows: Sequence[Row]) -> List[Row]:
    return [row for row in rows if row["verdict"] != EXACT]


@dataclass
class Fit:
    """log10 y = intercept + slope log10 x."""

    slope: float
    intercept: float
    r2: float


def fit_power(x: Sequence[float], y: Sequence[float]) -> Optional[Fit]:
    """Least squares in logarithms; None for fewer than two different x."""
    a, b = [math.log10(v) for v in x], [math.log10(v) for v in y]
    if len(set(a)) < 2:
        return None
    ma, mb = sum(a) / len(a), sum(b) / len(b)
    saa = sum((u - ma) ** 2 for u in a)
    sab = sum((u - ma) * (v - mb) for u, v in zip(a, b))
    sbb = sum((v - mb) ** 2 for v in b)
    slope = sab / saa
    rest = sum((v - mb - slope * (u - ma)) ** 2 for u, v in zip(a, b))
    return Fit(slope, mb - slope * ma, 1.0 - rest / sbb if sbb > 0.0 else 1.0)


def size_rows(rows: Sequence[Row]) -> List[Row]:
    """The series over N, on the number of ranks that has the most of its points."""
    series = [row for row in rows if row["mode"] == "size"]
    if not series:
        return []
    ranks = collections.Counter(row["ranks"] for row in series).most_common(1)[0][0]
    return sorted((row for row in series if row["ranks"] == ranks), key=lambda row: int(row["N"]))


def cost_fit(rows: Sequence[Row]) -> Optional[Fit]:
    series = size_rows(rows)
    return fit_power([number(row, "N") for row in series],
                     [number(row, "wall_s") / number(row, "steps") for row in series])
