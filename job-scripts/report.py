"""The report of a scaling study: its verdict, setting, plots and tables."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import List, Sequence, Tuple

import document
import plots
from document import Table
from study import COMM, PHASES, Point, Row, Study, cost_fit, number, size_rows, wrong_rows


def figure(row: Row, key: str, form: str, scale: float = 1.0) -> str:
    value = number(row, key)
    return "-" if value != value else format(value * scale, form)


def spread(row: Row) -> str:
    return f"{number(row, 'wall_max_s') / number(row, 'wall_min_s'):.3f}"


def main_table(title: str, rows: Sequence[Row]) -> Table:
    gpus = any(int(row["gpus"]) for row in rows)
    header = ["ranks", "GPUs" if gpus else "threads in all", "N", "time, s", "spread", "M particle-steps/s", "speed-up",
              "efficiency", "imbalance", "bytes/particle", "final energy", ""]
    each = number(rows[0], "particle_steps_per_s") / int(rows[0]["ranks"])
    body = []
    for row in rows:
        body.append([row["ranks"], row["gpus"] if gpus else str(int(row["ranks"]) * int(row["threads"])), row["N"],
                     figure(row, "wall_s", ".4g"), spread(row), figure(row, "particle_steps_per_s", ".1f", 1e-6),
                     figure(row, "particle_steps_per_s", ".2f", 1.0 / each), figure(row, "efficiency", ".3f"),
                     figure(row, "imbalance", ".3f"), figure(row, "bytes_per_particle", ".1f"), row["final_energy"],
                     row["verdict"]])
    return Table(title, header, body)


def size_table(rows: Sequence[Row]) -> Table:
    header = ["N", "time, s", "spread", "ms/step", "ns/particle-step", "M particle-steps/s", "bytes/particle",
              "final energy", ""]
    body = []
    for row in rows:
        step = number(row, "wall_s") / number(row, "steps")
        body.append([row["N"], figure(row, "wall_s", ".4g"), spread(row), f"{1e3 * step:.4g}",
                     f"{1e9 * step / number(row, 'N'):.2f}", figure(row, "particle_steps_per_s", ".1f", 1e-6),
                     figure(row, "bytes_per_particle", ".1f"), row["final_energy"], row["verdict"]])
    ranks = rows[0]["ranks"]
    return Table(f"Cost against N, on {ranks} rank{'s' if ranks != '1' else ''}", header, body)


def phase_table(title: str, rows: Sequence[Row]) -> Table:
    columns = []
    for phase in PHASES:
        columns.append((phase.lower(), f"{phase.lower()}_s"))
        if phase == "Comm":
            columns += [(f"comm {kind}", f"comm_{kind}_s") for kind in COMM]
    columns = [(name, key) for name, key in columns if any(number(row, key) > 0.0 for row in rows)]
    body = [[row["ranks"], row["N"], *(figure(row, key, ".4g") for _, key in columns)] for row in rows]
    return Table(title, ["ranks", "N", *(name for name, _ in columns)], body)


def make_tables(rows: Sequence[Row]) -> List[Table]:
    tables = []
    for mode, title in (("strong", "Strong scaling"), ("weak", "Weak scaling")):
        points = plots.series(rows, mode)
        if points:
            tables.append(main_table(title, points))
    if size_rows(rows):
        tables.append(size_table(size_rows(rows)))
    for mode in ("strong", "weak"):
        points = plots.series(rows, mode)
        if points:
            tables.append(phase_table(f"Seconds in each phase, {mode} scaling (mean of ranks)", points))
    return tables


def verdict(study: Study, rows: Sequence[Row], missing: Sequence[Point], problems: Sequence[str]) -> List[str]:
    """What the study shows; the first line says whether it passed."""
    wrong = wrong_rows(rows)
    said = []
    if wrong:
        said.append(f"FAILED: {len(wrong)} of {len(rows)} rows have another final energy "
                    "than the others with the same N.")
    if missing:
        said.append(f"INCOMPLETE: {len(missing)} of {len(study.points)} points are missing: "
                    + "; ".join(map(str, missing)) + ".")
    if not said:
        kind = "to the last bit" if study.tolerance == 0.0 else f"within {study.tolerance:g}"
        said.append(f"Complete. All runs with the same N end with the same energy, {kind}: on every number of ranks, "
                    "and in every repeat.")
    said += [problem.splitlines()[0] for problem in problems]
    fit = cost_fit(rows)
    if fit:
        said.append(f"The time of a step grows as N to the power {fit.slope:.3f} (R² = {fit.r2:.5f}).")
    return said


def setting(study: Study, rows: Sequence[Row], command: str) -> List[Tuple[str, str]]:
    def all_of(key: str) -> str:
        return ", ".join(sorted({row[key] for row in rows if row[key]}))

    facts = [("deck", Path(study.deck).name + "".join(f", {k} = {v}" for k, v in study.variables.items())),
             ("engine", " ".join([study.engine, *study.words])),
             ("hosts", all_of("host")), ("processor", all_of("cpu")), ("GPU", all_of("gpu")),
             ("commit", study.commit),
             ("each point", f"{study.steps} steps, one warm-up and {study.repeat} timed runs; the median counts, "
                            "spread is the largest over the least time"),
             ("threads of a rank", str(study.threads)), ("ranks of a node", f"at most {study.per_node}"),
             ("made on", datetime.date.today().isoformat()), ("made by", command)]
    return [(name, value) for name, value in facts if value]


def write(folder: Path, study: Study, rows: Sequence[Row], missing: Sequence[Point], problems: Sequence[str],
          command: str) -> None:
    """Writes plots, report.md and report.html into the study's folder."""
    made = plots.draw_all(folder, rows)
    document.write(folder, document.Document(
        "Scaling of Myriad", verdict(study, rows, missing, problems), not wrong_rows(rows) and not missing,
        setting(study, rows, command), [*made, *make_tables(rows)], "results.csv"))
