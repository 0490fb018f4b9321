"""The report of the ladder: for each study a table of its rungs, its plots, and why today differs from then."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Dict, List, Mapping, Sequence, Tuple

import document
import ladder_plots
from document import Document, Heading, Paragraph, Part, Table
from ladder_data import REFERENCE, STUDIES, Ladder, Published, Row, Rung, read_table
from machine import commit
from study import fit_power

TITLE = "The ladder: five studies, rung by rung"

STUDY_TEXT: Mapping[str, Tuple[str, str]] = {
    "activity": ("Activity: gravity in two dimensions with a map",
                 "Bodies in the unit square attract each other, and a map of 256 x 256 cells counts them. The ladder "
                 "takes the arithmetic, the map and the memory in turn."),
    "atomics": ("Atomics against recomputation",
                "Each pair once, with the opposite force added atomically, or every pair twice without any atomic "
                "operation. Half the arithmetic lost then."),
    "cells": ("Cells: forces at short range",
              "Soft disks in two dimensions, in cells of the cutoff's size. The time of a step is proportional to the "
              "number of particles, and memory counts more than arithmetic."),
    "laboratory": ("Laboratory: gravity in three dimensions",
                   "From two loops on one core over OpenMP to a GPU, where tiles, unrolling and the inverse root are "
                   "tried one after the other."),
    "porting": ("Porting ladder: clusters of stars",
                "How far a plain loop is from what a GPU can do: from one GPU thread, slower than a processor's, to "
                "the last flag of the compiler."),
}


def figure(value: float, form: str = ".3g") -> str:
    return "-" if math.isnan(value) else format(value, form)


def gain_then(found: Sequence[Published]) -> str:
    """Published gains of a rung, GPU after GPU; in words where there was no figure."""
    if not found:
        return "-"
    said = [p.words if math.isnan(p.gain) else figure(p.gain, ".4g") + (f" ({p.words})" if p.words else "")
            for p in found]
    return said[0] if len(set(said)) == 1 else " / ".join(said)


def over_then(ladder: Ladder, rung: Rung, row: Row, found: Sequence[Published]) -> str:
    """What a published gain refers to where that is not today's rung before, and today's gain over it."""
    said = []
    figures = [p for p in found if not math.isnan(p.gain)]
    for name in dict.fromkeys(p.over for p in figures if p.over not in ("", rung.before)):
        gain, n = ladder.gain_anywhere(rung, name)
        today = "" if math.isnan(gain) else f" (today {gain:.3g}{'' if n == row.n else f' at N = {n}'})"
        said.append(f"over {name}{today}")
    return ", ".join(said)


def gpus_then(found: Sequence[Published]) -> str:
    names = " / ".join(dict.fromkeys(p.gpu for p in found))
    sizes = sorted({p.n for p in found if p.n})
    return (names or "-") + (f", N = {', '.join(map(str, sizes))}" if sizes else "")


def is_series(rung: Rung) -> bool:
    return rung.name.startswith(("series-", "kernel-"))


def rung_row(ladder: Ladder, rung: Rung) -> List[str]:
    row = ladder.shown(rung)
    if row is None:
        return [rung.name, rung.title, "-", "-", "not measured", "-", "-", rung.before or "-", "-", "-", ""]
    found = ladder.published(rung, row.n)
    then = " ".join(filter(None, [gain_then(found), over_then(ladder, rung, row, found)]))
    wrong = any(not each.ok for each in ladder.of(rung.study, rung.name))
    return [rung.name, rung.title, str(row.n), threads_of(ladder, row), figure(row.ms, ".4g"),
            figure(row.interactions_per_s * 1e-9, ".4g"), figure(ladder.gain(row, rung.before)), rung.before or "-",
            then, gpus_then(found), document.WRONG if wrong else ""]


def threads_of(ladder: Ladder, row: Row) -> str:
    if row.threads == 0:
        return "GPU"
    return f"GPU and {row.threads}" if row.machine in ladder.machines()[0] else str(row.threads)


HEADER = ["rung", "what it is", "N", "threads", "today, ms", "10⁹ interactions/s", "gain", "over", "published gain",
          "measured then on", ""]


def rung_table(ladder: Ladder, study: str) -> Table:
    body = [rung_row(ladder, rung) for rung in ladder.study(study) if not is_series(rung)]
    return Table("Rungs", HEADER, body, left=2, level=3)


def sentences(ladder: Ladder, study: str) -> List[Part]:
    """Why today's gain differs, for the rungs whose gain was measured in this run."""
    said: List[Part] = []
    for rung in ladder.study(study):
        row = ladder.shown(rung)
        if row is None or math.isnan(ladder.gain(row, rung.before)):
            continue
        found = ladder.sentence(rung, row.machine)
        if found:
            said.append(Paragraph(f"{rung.name}: gain {ladder.gain(row, rung.before):.3g} over {rung.before} today, "
                                  f"{gain_then(ladder.published(rung, row.n))} then. {found['sentence']} "
                                  f"(Written for GPU {found['gpu']}.)"))
    return [Heading("Why today differs", 3), *said] if said else []


# ---------------------------------------------------------------------------- tables of single studies


def series_table(ladder: Ladder) -> List[Part]:
    """The series of `cells`, today beside then: times of a step at equal N."""
    then, today = ladder_plots.cells_then(), ladder_plots.cells_today(ladder)
    body = []
    for name, points in today.items():
        old = dict(then.get(name, []))
        body += [[name, str(int(n)), figure(ms, ".4g"), figure(old.get(n, math.nan), ".4g"),
                  figure(old[n] / ms if n in old else math.nan)] for n, ms in points]
    if not body:
        return []
    header = ["series", "N", "today, ms a step", "published, ms a step", "published over today"]
    parts: List[Part] = [Table("Series", header, body, left=1, level=3)]
    for name, series in (("published", then["size"]), ("today", today.get("size", []))):
        points, fit = ladder_plots.fit_of(series)
        if fit:
            parts.append(Paragraph(f"Fit of log T on log N, {name}: slope {fit.slope:.3f}, R² = {fit.r2:.4f}, "
                                   f"{len(points)} sizes from {int(points[0][0])} to {int(points[-1][0])}."))
    return parts


def kernel_table(ladder: Ladder) -> List[Part]:
    """Each kernel's share of a step, then and today."""
    body = [[f"published, {row['gpu']}", row["kernel"], row["share_percent"], row["bandwidth_percent"]]
            for row in read_table(REFERENCE / "kernels.csv")]
    rows = [(rung, row) for rung in ladder.study("cells") if rung.name.startswith("kernel-")
            for row in ladder.of("cells", rung.name)]
    whole = sum(row.ms for _, row in rows)
    body += [[f"today, N = {row.n}", rung.title, figure(100.0 * row.ms / whole), "-"] for rung, row in rows]
    return [Table("Kernels", ["when", "kernel", "% of the time", "% of the bandwidth"], body, left=2, level=3)]


def final_table(ladder: Ladder) -> List[Part]:
    """The largest rates of then, and the best of today."""
    body = [[row["gpu"], row["n"], row["precision"], row["ms"] or "-", row["gflops"], row["percent_of_peak"] or "-"]
            for row in read_table(REFERENCE / "final.csv")]
    best: Dict[Tuple[str, str], Row] = {}
    for row in ladder.rows:
        if row.study == "porting" and row.ok and not math.isnan(row.gflops):
            key = row.machine, "double" if row.rung == "double" else "single"
            if key not in best or row.gflops > best[key].gflops:
                best[key] = row
    body += [[f"today: {machine} ({row.rung})", str(row.n), precision, figure(row.ms, ".4g"),
              figure(row.gflops, ".5g"), "-"] for (machine, precision), row in best.items()]
    header = ["machine", "N", "precision", "ms", "GFLOP/s", "% of peak"]
    return [Table("The best rates", header, body, left=1, level=3)]


def overall(ladder: Ladder) -> List[Part]:
    """Laboratory: the best GPU rung over the sequential processor, by rates, because N differs."""
    rows = [row for row in ladder.rows if row.study == "laboratory" and row.ok]
    one = [row for row in rows if row.rung == "sequential"]
    gpu = [row for row in rows if row.threads == 0]  # not those with the processor's help
    then = next(row for row in ladder.gains if (row["study"], row["rung"]) == ("laboratory", "overall"))
    if not one or not gpu:
        return []
    fast = max(gpu, key=lambda row: row.interactions_per_s)
    gain = fast.interactions_per_s / one[-1].interactions_per_s
    return [Paragraph(f"Overall: {fast.rung} at N = {fast.n} does {gain:.4g} times the interactions a second of "
                      f"sequential (N = {one[-1].n}); published {then['gain']} ({then['words']}, {then['gpu']}).")]


def cell_tables(ladder: Ladder) -> List[Part]:
    return [*kernel_table(ladder), *series_table(ladder)]


EXTRA = {"cells": cell_tables, "porting": final_table, "laboratory": overall}


def study_parts(folder: Path, ladder: Ladder, study: str) -> List[Part]:
    title, text = STUDY_TEXT[study]
    extra = EXTRA[study](ladder) if study in EXTRA else []
    return [Heading(title), Paragraph(text), rung_table(ladder, study), *extra,
            *ladder_plots.draw(folder, ladder, study), *sentences(ladder, study)]


# ------------------------------------------------------------------------------------------------------------


def verdict(ladder: Ladder, failures: Sequence[str], notes: Sequence[str]) -> List[str]:
    wrong = [row for row in ladder.rows if not row.ok]
    names = [f"{row.study}/{row.rung} at N = {row.n} (error {row.error:.2g}, allowed {row.tolerance:.2g})"
             for row in wrong]
    said = [f"FAILED: {'; '.join([*names, *failures])}."] if wrong or failures else [
        f"All {len(ladder.rows)} measurements are of rungs that agree with their oracle."]
    return [*said, *notes]


def facts(ladder: Ladder, command: str) -> List[Tuple[str, str]]:
    gpus, processors = map(", ".join, ladder.machines())
    said = [("GPU", gpus), ("processor", processors), ("commit", commit()),
            ("times", "medians of at least three iterations; on a GPU between events of the device, without transfers "
                      "unless the rung is about transfers"),
            ("gain", "the time of the rung compared with over that of the rung, at the same N"),
            ("rates", "N² interactions an iteration; 20 flop an interaction, 30 in double precision"),
            ("made on", datetime.date.today().isoformat()), ("made by", command)]
    return [(name, value) for name, value in said if value]


def write(folder: Path, ladder: Ladder, failures: Sequence[str], notes: Sequence[str], command: str) -> bool:
    """Writes the plots, report.md and report.html; says whether all rungs are right."""
    parts: List[Part] = []
    for study in STUDIES:
        if ladder.study(study):
            parts += study_parts(folder, ladder, study)
    good = not failures and all(row.ok for row in ladder.rows)
    document.write(folder, Document(TITLE, verdict(ladder, failures, notes), good, facts(ladder, command), parts,
                                    "ladder.csv"))
    return good
