"""What the ladder knows: the rungs measured today, the figures published for them, and the gains of both.

A rung's gain is the time of the rung with which it is compared over its own, at the same number of bodies; for rungs
that run on several threads the one with the most threads counts. A published gain may refer to another rung than
today's, and then today's gain over that rung is computed too.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Sequence, Set, Tuple

REFERENCE = Path(__file__).resolve().parents[1] / "reference" / "ladder"
STUDIES = ("activity", "atomics", "cells", "laboratory", "porting")
MEASURED = ["study", "rung", "n", "threads", "ms", "interactions_per_s", "gflops", "error", "tolerance", "ok"]
JOINED = ["before", "gain", "published_gain", "published_over", "published_gpu", "machine", "title"]


@dataclass
class Rung:
    """A line of a program's --list."""

    study: str
    name: str
    before: str  # the rung that it is compared with; may be empty
    title: str


@dataclass
class Row:
    """A rung at one number of bodies and threads. threads: 0 on a GPU. Rates are nan where they mean nothing."""

    study: str
    rung: str
    n: int
    threads: int
    ms: float
    interactions_per_s: float
    gflops: float
    error: float
    tolerance: float
    ok: bool
    machine: str = ""


@dataclass
class Published:
    """gain: nan where the study gave words alone. n: 0 where it did not say."""

    gain: float
    over: str
    gpu: str
    n: int
    words: str


def read_table(path: Path) -> List[Dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def number(text: Optional[str]) -> float:
    return float(text) if text else math.nan


def row_of(cells: Dict[str, str], machine: str = "") -> Row:
    """A row from a line of a program, or of ladder.csv; ValueError or KeyError if it is none."""
    return Row(cells["study"], cells["rung"], int(cells["n"]), int(cells["threads"]), float(cells["ms"]),
               *(number(cells[key]) for key in ("interactions_per_s", "gflops", "error", "tolerance")),
               {"yes": True, "no": False}[cells["ok"]], machine or cells.get("machine") or "")


def read_ladder(path: Path) -> Tuple[List[Rung], List[Row]]:
    """Rungs and rows of a ladder.csv."""
    rungs: Dict[Tuple[str, str], Rung] = {}
    rows = []
    for cells in read_table(path):
        rows.append(row_of(cells))
        rungs.setdefault((cells["study"], cells["rung"]),
                         Rung(cells["study"], cells["rung"], cells["before"], cells["title"]))
    return list(rungs.values()), rows


def write_ladder(path: Path, ladder: "Ladder") -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(MEASURED + JOINED)
        for row in ladder.rows:
            rung = ladder.rung(row.study, row.rung)
            then = ladder.published(rung, row.n)
            writer.writerow([row.study, row.rung, row.n, row.threads, f"{row.ms:.6g}", plain(row.interactions_per_s),
                             plain(row.gflops), plain(row.error), plain(row.tolerance), "yes" if row.ok else "no",
                             rung.before, plain(ladder.gain(row, rung.before)), joined(plain(p.gain) for p in then),
                             joined(p.over for p in then), joined(p.gpu for p in then), row.machine, rung.title])


def plain(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6g}"


def joined(values: Iterator[str]) -> str:
    """Values in a cell of ladder.csv: once, if all are the same."""
    found = list(values)
    return found[0] if len(set(found)) == 1 else "; ".join(found)


class Ladder:
    """Rungs and rows of today, beside the published figures."""

    def __init__(self, rungs: Sequence[Rung], rows: Sequence[Row], reference: Path = REFERENCE):
        self.rows = list(rows)
        self.times = read_table(reference / "times.csv")
        self.gains = read_table(reference / "gains.csv")
        self.sentences = read_table(reference / "sentences.csv")
        self.rungs = [self.with_before(rung, {other.name for other in rungs if other.study == rung.study})
                      for rung in rungs]

    def with_before(self, rung: Rung, known: Set[str]) -> Rung:
        """The first rung on a GPU is compared with the processor's rung that the publication names, if it is here."""
        over = [row["over"] for row in self.gains if (row["study"], row["rung"]) == (rung.study, rung.name)]
        first = next((name for name in over if name in known), "") if not rung.before else rung.before
        return replace(rung, before=first)

    def machines(self) -> Tuple[List[str], List[str]]:
        """GPUs, and processors; a rung on both counts as one of the GPU."""
        names = dict.fromkeys(row.machine for row in self.rows if row.machine)
        gpus = {row.machine for row in self.rows if row.threads == 0}
        return [name for name in names if name in gpus], [name for name in names if name not in gpus]

    def rung(self, study: str, name: str) -> Rung:
        return next(rung for rung in self.rungs if (rung.study, rung.name) == (study, name))

    def study(self, name: str) -> List[Rung]:
        return [rung for rung in self.rungs if rung.study == name]

    def of(self, study: str, rung: str, n: Optional[int] = None) -> List[Row]:
        """The rows of a rung, by bodies and threads."""
        found = [row for row in self.rows if (row.study, row.rung) == (study, rung) and n in (None, row.n)]
        return sorted(found, key=lambda row: (row.n, row.threads))

    def gain(self, row: Row, over: str) -> float:
        """The time of rung `over` over that of the row, at the same n; nan if it was not measured there."""
        others = self.of(row.study, over, row.n) if over else []
        return others[-1].ms / row.ms if others and row.ms > 0.0 else math.nan

    def shown(self, rung: Rung) -> Optional[Row]:
        """The row of a table: where its gain is known, at a published size, with the most bodies and threads."""
        rows = self.of(rung.study, rung.name)
        sizes = {int(row["n"]) for row in self.times if (row["study"], row["rung"]) == (rung.study, rung.name)}
        return max(rows, default=None, key=lambda row: (not math.isnan(self.gain(row, rung.before)), row.n in sizes,
                                                        row.n, row.threads))

    def gain_anywhere(self, rung: Rung, over: str) -> Tuple[float, int]:
        """A rung's gain over any other at the most bodies at which both were measured, and their number."""
        known = [(row.n, row.threads, self.gain(row, over)) for row in self.of(rung.study, rung.name)]
        n, _, gain = max((each for each in known if not math.isnan(each[2])), default=(0, 0, math.nan))
        return gain, n

    def published(self, rung: Rung, n: int) -> List[Published]:
        """The published gains of a rung: from times at n or at the published size next to it, or as a figure.

        A figure over the rung that today's gain refers to is preferred to those over other rungs.
        """
        figures = [Published(number(row["gain"]), row["over"], row["gpu"], 0, row["words"]) for row in self.gains
                   if (row["study"], row["rung"]) == (rung.study, rung.name)]
        same = [figure for figure in figures if figure.over == rung.before]
        return self.from_times(rung, n) or same or figures

    def from_times(self, rung: Rung, n: int) -> List[Published]:
        own, before = ({int(row["n"]): row for row in self.times
                        if (row["study"], row["rung"]) == (rung.study, name)} for name in (rung.name, rung.before))
        both = sorted(set(own) & set(before), key=lambda size: (abs(math.log(size / n)), size))
        if not both:
            return []
        ms = [float(row[both[0]]["ms"]) for row in (before, own)]
        return [Published(ms[0] / ms[1], rung.before, own[both[0]]["gpu"], both[0], "")]

    def sentence(self, rung: Rung, gpu: str) -> Optional[Dict[str, str]]:
        """The sentence of a rung, if possible the one that was written for this GPU."""
        found = [row for row in self.sentences if (row["study"], row["rung"]) == (rung.study, rung.name)]
        return max(found, key=lambda row: row["gpu"] in gpu, default=None)
