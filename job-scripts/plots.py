"""The plots of a scaling study, from its rows: one SVG and one PNG each.

Measured values are medians with bars from the least to the largest repeat; what would be ideal is dashed grey.
"""

from __future__ import annotations

from pathlib import Path
from typing import Callable, List, Sequence

from document import Plot
from figures import (BLUE, GREEN, ORANGE, PANEL_IN, PINK, RED, SKY, STYLE, YELLOW, Axes, count_axis, ideal, log_axis,
                     plt, save, short, ticks_at)
from study import PHASES, WRONG, Row, cost_fit, number, size_rows

PHASE_COLOURS = dict(zip(PHASES, (SKY, GREEN, YELLOW, BLUE, PINK, RED, "#000000", "#BBBBBB")))
MODE_COLOURS = {"strong": BLUE, "weak": ORANGE, "size": GREEN}


def ranks_of(rows: Sequence[Row]) -> List[int]:
    return [int(row["ranks"]) for row in rows]


def series(rows: Sequence[Row], mode: str) -> List[Row]:
    return sorted((row for row in rows if row["mode"] == mode), key=lambda row: int(row["ranks"]))


def measured(axes: Axes, rows: Sequence[Row], x: Sequence[float], value: Callable[[Row, str], float],
             mode: str) -> None:
    """Medians with bars, joined; `value` takes a row and the key of one of its times."""
    y = [value(row, "wall_s") for row in rows]
    ends = [sorted((value(row, "wall_min_s"), value(row, "wall_max_s"))) for row in rows]
    bars = [[max(v - e[0], 0.0) for v, e in zip(y, ends)], [max(e[1] - v, 0.0) for v, e in zip(y, ends)]]
    axes.errorbar(x, y, yerr=bars, fmt="o-", color=MODE_COLOURS[mode], capsize=4, markersize=5, linewidth=1.6,
                  label="measured (median, range)", zorder=3)
    bad = [(a, b) for a, b, row in zip(x, y, rows) if row["verdict"] == WRONG]
    if bad:
        axes.plot(*zip(*bad), "x", color=RED, markersize=13, markeredgewidth=2.5, label="wrong energy", zorder=4)


def unit_of(rows: Sequence[Row]) -> str:
    if any(int(row["gpus"]) for row in rows):
        return "ranks (one GPU each)"
    threads = rows[0]["threads"]
    return f"ranks ({threads} thread{'s' if threads != '1' else ''} each)"


def title_of(rows: Sequence[Row], mode: str) -> str:
    if mode == "strong":
        return f"strong scaling, N = {short(int(rows[0]['N']))}"
    return f"weak scaling, {short(int(rows[0]['N']) / int(rows[0]['ranks']))} particles a rank"


def draw_time(axes: Axes, rows: Sequence[Row], mode: str) -> None:
    ranks = ranks_of(rows)
    measured(axes, rows, ranks, number, mode)
    first = number(rows[0], "wall_s")
    ideal(axes, ranks, [first * ranks[0] / r if mode == "strong" else first for r in ranks])
    count_axis(axes, ranks, unit_of(rows))
    if mode == "strong":
        axes.set_yscale("log")
        log_axis(axes.yaxis, lambda value: f"{value:g}")
    else:
        axes.set_ylim(bottom=0.0, top=1.25 * max(number(row, "wall_max_s") for row in rows))
    axes.set_ylabel(f"wall time of {rows[0]['steps']} steps (s)")
    axes.legend(loc="best")


def draw_speedup(axes: Axes, rows: Sequence[Row], mode: str) -> None:
    """Rate over that of the fewest ranks, times their number; for weak scaling known as scaled speed-up."""
    ranks = ranks_of(rows)

    def rate(row: Row, key: str) -> float:
        return int(row["N"]) * int(row["steps"]) / number(row, key)

    base = rate(rows[0], "wall_s") / ranks[0]
    measured(axes, rows, ranks, lambda row, key: rate(row, key) / base, mode)
    ideal(axes, ranks, ranks)
    count_axis(axes, ranks, unit_of(rows))
    axes.set_yscale("log", base=2)
    least = min(ranks[0], *(rate(row, "wall_max_s") / base for row in rows))
    below = [ranks[0] / 2**k for k in range(1, 10) if ranks[0] / 2 ** (k - 1) > least]
    ticks_at(axes.yaxis, [*below, *ranks], lambda value: f"{value:g}")
    axes.set_ylim(min(least, *below, ranks[0]) / 1.3, ranks[-1] * 1.3)
    axes.set_ylabel("speed-up" if mode == "strong" else "scaled speed-up")
    axes.legend(loc="best")


def draw_phases(axes: Axes, rows: Sequence[Row], mode: str) -> None:
    """Strong scaling as time times ranks, so that bars are level where it is ideal, and show what grows."""
    places = range(len(rows))
    times = [int(row["ranks"]) if mode == "strong" else 1 for row in rows]
    bottom = [0.0] * len(rows)
    for phase in PHASES:
        heights = [number(row, f"{phase.lower()}_s") for row in rows]
        heights = [h * t if h == h else 0.0 for h, t in zip(heights, times)]
        if not any(heights):
            continue
        axes.bar(places, heights, 0.62, bottom, color=PHASE_COLOURS[phase], label=phase.lower(), edgecolor="white",
                 linewidth=0.4)
        bottom = [b + h for b, h in zip(bottom, heights)]
    axes.set_xticks(list(places), [row["ranks"] for row in rows])
    axes.set_xlim(-0.6, len(rows) - 0.4)
    axes.grid(axis="x", visible=False)
    axes.set_xlabel(unit_of(rows))
    axes.set_ylabel("time, sum over ranks (rank-seconds)" if mode == "strong" else "time, mean of ranks (s)")


def panels(folder: Path, name: str, rows: Sequence[Row], draw: Callable[[Axes, Sequence[Row], str], None],
           legend_beside: bool = False) -> bool:
    """A figure with a panel for each of strong and weak; False if there is neither."""
    modes = [mode for mode in ("strong", "weak") if series(rows, mode)]
    if not modes:
        return False
    size = PANEL_IN[0] * len(modes) + legend_beside, PANEL_IN[1]
    figure, all_axes = plt.subplots(1, len(modes), figsize=size, squeeze=False, gridspec_kw={"wspace": 0.06})
    for axes, mode in zip(all_axes[0], modes):
        points = series(rows, mode)
        draw(axes, points, mode)
        axes.set_title(title_of(points, mode))
    if legend_beside:
        handles, labels = all_axes[0][-1].get_legend_handles_labels()
        all_axes[0][-1].legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1.02, 0.5),
                               title="phase")
    save(figure, folder, name)
    return True


def plot_efficiency(folder: Path, rows: Sequence[Row]) -> bool:
    modes = [mode for mode in ("strong", "weak") if series(rows, mode)]
    if not modes:
        return False
    figure, axes = plt.subplots(figsize=(1.3 * PANEL_IN[0], PANEL_IN[1]))
    both: List[Row] = []
    for mode in modes:
        points = series(rows, mode)
        both += points
        ranks = ranks_of(points)

        def each(row: Row, key: str) -> float:
            return number(row, "N") * number(row, "steps") / number(row, key) / int(row["ranks"])

        base = each(points[0], "wall_s")
        y = [each(row, "wall_s") / base for row in points]
        ends = [(each(row, "wall_max_s") / base, each(row, "wall_min_s") / base) for row in points]
        bars = [[max(v - e[0], 0.0) for v, e in zip(y, ends)], [max(e[1] - v, 0.0) for v, e in zip(y, ends)]]
        axes.errorbar(ranks, y, yerr=bars, fmt="o-" if mode == "strong" else "s-", color=MODE_COLOURS[mode], capsize=4,
                      markersize=5, linewidth=1.6, label=mode, zorder=3)
        bad = [(r, v) for r, v, row in zip(ranks, y, points) if row["verdict"] == WRONG]
        if bad:
            axes.plot(*zip(*bad), "x", color=RED, markersize=13, markeredgewidth=2.5, zorder=4,
                      label="wrong energy" if "wrong energy" not in axes.get_legend_handles_labels()[1] else None)
    ranks = ranks_of(both)
    ideal(axes, [min(ranks), max(ranks)], [1.0, 1.0])
    count_axis(axes, ranks, unit_of(both))
    top = max([1.0] + [v for line in axes.get_lines() for v in line.get_ydata()])
    axes.set_ylim(0.0, 1.12 * top)
    axes.set_ylabel("parallel efficiency")
    axes.set_title("efficiency: rate per rank over that of the fewest ranks")
    axes.legend(loc="lower left", ncol=3)
    save(figure, folder, "efficiency")
    return True


def plot_cost(folder: Path, rows: Sequence[Row]) -> bool:
    points, fit = size_rows(rows), cost_fit(rows)
    if not points:
        return False
    figure, axes = plt.subplots(figsize=(1.3 * PANEL_IN[0], PANEL_IN[1]))
    n = [number(row, "N") for row in points]
    measured(axes, points, n, lambda row, key: number(row, key) / number(row, "steps"), "size")
    if fit:
        axes.plot(n, [10 ** fit.intercept * v ** fit.slope for v in n], "-", color=RED, linewidth=1.2, zorder=2,
                  label=f"fit: slope {fit.slope:.3f}, R² = {fit.r2:.5f}")
        last = number(points[-1], "wall_s") / number(points[-1], "steps")
        ideal(axes, n, [last * v / n[-1] for v in n], "slope 1 through the largest N")
    axes.set_xscale("log")
    axes.set_yscale("log")
    if len(n) <= 8:
        ticks_at(axes.xaxis, n, short)
    else:
        log_axis(axes.xaxis, short)
    log_axis(axes.yaxis, lambda value: f"{1e3 * value:g}")
    axes.set_xlabel("particles N")
    axes.set_ylabel("wall time of a step (ms)")
    ranks = points[0]["ranks"]
    axes.set_title(f"cost against N, on {ranks} rank{'s' if ranks != '1' else ''}")
    axes.legend(loc="best")
    save(figure, folder, "cost")
    return True


def draw_all(folder: Path, rows: Sequence[Row]) -> List[Plot]:
    """Writes every plot that the rows allow; returns what there is."""
    made: List[Plot] = []
    with plt.rc_context(STYLE):
        if panels(folder, "time", rows, draw_time):
            made.append(Plot("time", "Time against ranks"))
        if panels(folder, "speedup", rows, draw_speedup):
            made.append(Plot("speedup", "Speed-up against ranks"))
        if plot_efficiency(folder, rows):
            made.append(Plot("efficiency", "Parallel efficiency"))
        if panels(folder, "phases", rows, draw_phases, legend_beside=True):
            made.append(Plot("phases", "Where the time goes"))
        if plot_cost(folder, rows):
            made.append(Plot("cost", "Cost against N"))
    return made
