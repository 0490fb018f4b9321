"""The plots of the ladder, each as the publication had it: today's figures beside those of then."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from document import Plot
from figures import (BLUE, GREEN, GREY, ORANGE, PANEL_IN, PINK, RED, SKY, STYLE, Axes, count_axis, ideal, log_axis,
                     plt, save, short, ticks_at)
from ladder_data import REFERENCE, Ladder, number, read_table
from study import Fit, fit_power

COLOURS = (BLUE, ORANGE, GREEN, RED, PINK, SKY, "#000000", "#B8A800", GREY, "#6A3D9A")
MARKS = "osD^v<>PX*"
FIT_FROM = 1_000_000  # particles: below, the launches of kernels take a large part of a step
TIME_OVER_N = "bodies N", "an iteration (ms)"
Points = Sequence[Tuple[float, float]]  # (x, y)


def wide(columns: float) -> Tuple[float, float]:
    return columns * PANEL_IN[0], PANEL_IN[1]


def line(axes: Axes, points: Points, k: int, label: str, style: str = "-") -> None:
    """A series in its own colour and mark; `style` "--" for what was published."""
    if points:
        axes.plot(*zip(*sorted(points)), style, color=COLOURS[k % len(COLOURS)], marker=MARKS[k // len(COLOURS) % 10],
                  markersize=4, linewidth=1.4 if style == "-" else 1.0, label=label,
                  markerfacecolor=COLOURS[k % len(COLOURS)] if style == "-" else "white")


def log_log(axes: Axes, x: str, y: str, unit: Callable[[float], str] = lambda value: f"{value:g}") -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    log_axis(axes.xaxis, short)
    log_axis(axes.yaxis, unit)
    low, high = axes.get_ylim()
    if high / low > 50:
        ticks_at(axes.yaxis, [10.0 ** k for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)],
                 unit)
        axes.set_ylim(low, high)
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def beside(axes: Axes, *others: Axes) -> None:
    """A legend on the right of the axes, also with the series that only the others have."""
    found: Dict[str, object] = {}
    for each in (axes, *others):
        found.update((label, handle) for handle, label in zip(*each.get_legend_handles_labels()) if label not in found)
    axes.legend(found.values(), found.keys(), loc="center left", bbox_to_anchor=(1.02, 0.5))


def most_threads(ladder: Ladder, study: str, rung: str) -> Points:
    return [*{row.n: (row.n, row.ms) for row in ladder.of(study, rung)}.values()]


def times_then(ladder: Ladder, study: str, rung: str) -> Points:
    return [(int(row["n"]), float(row["ms"])) for row in ladder.times if (row["study"], row["rung"]) == (study, rung)]


def rung_lines(axes: Axes, names: Sequence[str], points: Callable[[str], Points], style: str = "-") -> None:
    for k, name in enumerate(names):
        line(axes, points(name), k, name, style)


def plot_activity(folder: Path, ladder: Ladder) -> List[Plot]:
    names = [rung.name for rung in ladder.study("activity")]
    figure, (left, right) = plt.subplots(1, 2, figsize=wide(2.5), sharey=True)
    rung_lines(left, names, lambda name: most_threads(ladder, "activity", name))
    rung_lines(right, names, lambda name: times_then(ladder, "activity", name), "--")
    for axes in (left, right):
        log_log(axes, *TIME_OVER_N)
    right.set_ylabel("")
    left.set_title("today")
    right.set_title("published")
    beside(right, left)
    save(figure, folder, "activity")
    return [Plot("activity", "Activity: time of an iteration against N", 3)]


def bars(axes: Axes, names: Sequence[str], groups: Mapping[str, Sequence[float]], digits: str = ".3g") -> None:
    """A group of bars for each name, a bar for each label; a nan has no bar. The number stands at the bar's end."""
    width = 0.8 / len(groups)
    for k, (label, values) in enumerate(groups.items()):
        places = [p + (k - 0.5 * (len(groups) - 1)) * width for p in range(len(names))]
        heights = [0.0 if math.isnan(value) else value for value in values]
        axes.bar(places, heights, width, color=COLOURS[k % len(COLOURS)], label=label, edgecolor="white",
                 linewidth=0.4)
        for place, value in zip(places, values):
            if not math.isnan(value):
                axes.annotate(format(value, digits), (place, value), (0, 2), textcoords="offset points", ha="center",
                              fontsize=6.5, rotation=90 if len(groups) * len(names) > 24 else 0)
    axes.set_xticks(range(len(names)), names, rotation=30 if len(names) > 4 else 0,
                    ha="right" if len(names) > 4 else "center")
    axes.grid(axis="x", visible=False)
    axes.margins(y=0.1)


def level(axes: Axes, count: int, label: str) -> None:
    """The height 1 across `count` groups of bars, and the legend above them."""
    ideal(axes, (-0.5, count - 0.5), (1.0, 1.0), label)
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncol=5)


def plot_atomics(folder: Path, ladder: Ladder) -> List[Plot]:
    names = [rung.name for rung in ladder.study("atomics")]
    sizes = [row.n for row in ladder.of("atomics", "naive")]
    n = 8192 if 8192 in sizes else max(sizes, default=0)
    today, then = ({name: dict(points(ladder, "atomics", name)) for name in names}
                   for points in (most_threads, times_then))
    figure, (left, right) = plt.subplots(1, 2, figsize=wide(2.6))
    gpu = next(row["gpu"] for row in ladder.times if row["study"] == "atomics")
    groups = {f"published, {gpu}, N = 8192": [relative(then, name, 8192) for name in names],
              f"today, N = {n}": [relative(today, name, n) for name in names]}
    bars(left, names, groups)
    level(left, len(names), "naive")
    left.set_ylabel("time over that of naive")
    rung_lines(right, names, lambda name: list(today[name].items()))
    log_log(right, *TIME_OVER_N)
    beside(right)
    save(figure, folder, "atomics")
    return [Plot("atomics", "Atomics: each pair once with atomic additions, or every pair twice", 3)]


def relative(times: Mapping[str, Mapping[int, float]], name: str, n: int) -> float:
    return times[name].get(n, math.nan) / times.get("naive", {}).get(n, math.nan)


def plot_gains(folder: Path, ladder: Ladder, study: str, caption: str) -> List[Plot]:
    """Bars of the gain of each rung on a GPU, STUDY-gains.svg; a published gain over another rung has no bar."""
    shown = [(rung, ladder.shown(rung)) for rung in ladder.study(study) if rung.before]
    shown = [(rung, row) for rung, row in shown if row and row.threads == 0]
    if not shown:
        return []
    then = [[p.gain for p in ladder.published(rung, row.n) if p.over == rung.before] for rung, row in shown]
    groups = {"published": [gains[0] if gains else math.nan for gains in then],
              "today": [ladder.gain(row, rung.before) for rung, row in shown]}
    figure, axes = plt.subplots(figsize=wide(2.4))
    bars(axes, [rung.name for rung, _ in shown], groups, ".2f")
    level(axes, len(shown), "no gain")
    axes.set_ylabel("gain over the rung compared with")
    save(figure, folder, f"{study}-gains")
    return [Plot(f"{study}-gains", caption, 3)]


def plot_laboratory(folder: Path, ladder: Ladder) -> List[Plot]:
    rungs = ladder.study("laboratory")
    figure, axes = plt.subplots(figsize=(wide(1.8)[0], max(PANEL_IN[1], 0.21 * len(rungs))))
    rung_lines(axes, [rung.name for rung in rungs], lambda name: most_threads(ladder, "laboratory", name))
    log_log(axes, *TIME_OVER_N)
    beside(axes)
    save(figure, folder, "laboratory")
    made = [Plot("laboratory", "Laboratory: time of a step against N", 3),
            *plot_gains(folder, ladder, "laboratory", "Laboratory: what each rung on the GPU brings")]
    sweeps = {rung.name: thread_sweep(ladder, rung.name) for rung in rungs}
    if any(len(points) > 1 for points in sweeps.values()):
        figure, axes = plt.subplots(figsize=wide(1.3))
        for k, (name, points) in enumerate(sweeps.items()):
            if len(points) > 1:
                line(axes, points, k, name)
        counts = sorted({int(x) for points in sweeps.values() for x, _ in points})
        ideal(axes, counts, counts)
        count_axis(axes, counts, "threads")
        axes.set_yscale("log", base=2)
        log_axis(axes.yaxis, lambda value: f"{value:g}")
        axes.set_ylabel(f"speed-up over sequential, N = {sweep_size(ladder)}")
        axes.legend(loc="upper left")
        save(figure, folder, "laboratory-threads")
        made.append(Plot("laboratory-threads", "Laboratory: speed-up on a processor against threads", 3))
    return made


def sweep_size(ladder: Ladder) -> int:
    """The most bodies at which sequential was measured."""
    return max((row.n for row in ladder.of("laboratory", "sequential")), default=0)


def thread_sweep(ladder: Ladder, rung: str) -> Points:
    rows = [row for row in ladder.of("laboratory", rung, sweep_size(ladder)) if row.threads > 0]
    return [(row.threads, ladder.gain(row, "sequential")) for row in rows] if rung != "sequential" else []


def plot_porting(folder: Path, ladder: Ladder) -> List[Plot]:
    """Bars from the rung after n-threads on: the gains of the two before are of another size, and in the table."""
    rungs = [rung for rung in ladder.study("porting") if rung.name not in ("cpu-thread", "one-thread", "n-threads")]
    then: Dict[str, Dict[str, float]] = {}
    for row in ladder.gains:
        if row["study"] == "porting":
            then.setdefault(row["gpu"], {})[row["rung"]] = number(row["gain"])
    groups = {gpu: [gains.get(rung.name, math.nan) for rung in rungs] for gpu, gains in then.items()}
    shown = [ladder.shown(rung) for rung in rungs]
    machines = sorted({row.machine for row in shown if row and row.threads == 0})
    groups[f"today: {', '.join(machines) or 'not measured'}"] = [
        ladder.gain(row, rung.before) if row else math.nan for rung, row in zip(rungs, shown)]
    if not rungs:
        return []
    figure, axes = plt.subplots(figsize=wide(2.4))
    bars(axes, [rung.name for rung in rungs], groups, ".2f")
    level(axes, len(rungs), "no gain")
    axes.set_ylabel("gain over the rung before")
    save(figure, folder, "porting")
    return [Plot("porting", "Porting: gains on the GPUs of then and of today", 3)]


# ------------------------------------------------------------------------------------------------------- cells


def cells_then(reference: Path = REFERENCE) -> Dict[str, Points]:
    """Published series: (n, seconds of 1000 steps), which is also (n, milliseconds of a step)."""
    series: Dict[str, List[Tuple[float, float]]] = {}
    for row in read_table(reference / "cells.csv"):
        series.setdefault(row["series"], []).append((int(row["n"]), float(row["seconds"])))
    return series


def cells_today(ladder: Ladder) -> Dict[str, Points]:
    return {rung.name[len("series-"):]: most_threads(ladder, "cells", rung.name) for rung in ladder.study("cells")
            if rung.name.startswith("series-")}


def fit_of(points: Points) -> Tuple[Points, Optional[Fit]]:
    """The sizes from FIT_FROM on, as in the publication, and the fit to them."""
    large = sorted(point for point in points if point[0] >= FIT_FROM)
    return large, fit_power(*zip(*large)) if len(large) > 1 else None


def with_fit(axes: Axes, points: Points, k: int, label: str, style: str = "-") -> None:
    large, fit = fit_of(points)
    line(axes, points, k, label + (f": slope {fit.slope:.3f}, R² = {fit.r2:.4f}" if fit else ""), style)
    if fit:
        ends = large[0][0], large[-1][0]
        axes.plot(ends, [10 ** fit.intercept * x ** fit.slope for x in ends], color=GREY, linewidth=0.8)


def plot_cells(folder: Path, ladder: Ladder) -> List[Plot]:
    made = plot_gains(folder, ladder, "cells", "Cells: what each rung brings")
    then, today = cells_then(), cells_today(ladder)

    def figure_of(name: str, caption: str, series: Sequence[str], x: str,
                  draw: Callable[[Axes, Points, int, str, str], None] = line, log: bool = True) -> None:
        if not any(today.get(each) for each in series):
            return
        figure, axes = plt.subplots(figsize=wide(1.7))
        for k, each in enumerate(series):
            draw(axes, then.get(each, []), k, f"{each}, published", "--")
            draw(axes, today.get(each, []), k, f"{each}, today", "-")
        log_log(axes, x, "a step (ms)")
        if not log:
            axes.set_ylim(axes.get_ylim()[0] / 2, axes.get_ylim()[1] * 2)
        beside(axes)
        save(figure, folder, name)
        made.append(Plot(name, caption, 3))

    figure_of("cells-size", "Cells: time of a step against N, with a fit", ["size"], "particles N", with_fit)
    figure_of("cells-weak", "Cells: 256 particles a multiprocessor", ["weak"], "particles N = 256 x multiprocessors",
              log=False)
    figure_of("cells-naive", "Cells: optimal against naive", ["optimal", "naive"], "particles N")
    figure_of("cells-engines", "Cells: the engines together", ["openmp", "mpi", "gpu"], "particles N")
    made += plot_utilisation(folder, today.get("size", []))
    return made


def plot_utilisation(folder: Path, size: Points) -> List[Plot]:
    """How much of its best rate the GPU reaches at each size."""
    if len(size) < 2:
        return []
    best = max(n / ms for n, ms in size)
    figure, axes = plt.subplots(figsize=wide(1.3))
    line(axes, [(n, 100.0 * n / ms / best) for n, ms in size], 0, "today")
    axes.set_xscale("log")
    log_axis(axes.xaxis, short)
    axes.set_ylim(0.0, 105.0)
    axes.set_xlabel("particles N")
    axes.set_ylabel("rate over the best rate (%)")
    save(figure, folder, "cells-utilisation")
    return [Plot("cells-utilisation", "Cells: utilisation against N", 3)]


PLOTS: Mapping[str, Callable[[Path, Ladder], List[Plot]]] = {
    "activity": plot_activity, "atomics": plot_atomics, "cells": plot_cells, "laboratory": plot_laboratory,
    "porting": plot_porting}


def draw(folder: Path, ladder: Ladder, study: str) -> List[Plot]:
    """Writes the plots of a study that was measured; returns what there is."""
    if not any(row.study == study for row in ladder.rows):
        return []
    with plt.rc_context(STYLE):
        return PLOTS[study](folder, ladder)
