"""How all plots look: style, colours, labels of ticks, and the files that a plot becomes.

Colours are those of Okabe and Ito, which colour-blind readers can tell apart.
"""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Sequence

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator  # noqa: E402

BLUE, ORANGE, GREEN, PINK, SKY, YELLOW, RED, GREY = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#F0E442",
                                                     "#D55E00", "#999999")
PANEL_IN = (4.6, 3.5)
STYLE = {"font.size": 10, "axes.grid": True, "grid.color": "#e4e4e4", "axes.axisbelow": True, "axes.titlesize": 10.5,
         "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "legend.fontsize": 9,
         "figure.constrained_layout.use": True, "svg.hashsalt": "myriad"}


def short(value: float) -> str:
    """A number as a short label of a tick: 50000 is 50k."""
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:.3g}{letter}"
    return f"{value:.3g}"


def ticks_at(axis, values: Sequence[float], label: Callable[[float], str]) -> None:
    """A tick at each of these values and nowhere else."""
    axis.set_major_locator(FixedLocator(sorted(set(values))))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: label(value)))


def count_axis(axes: Axes, counts: Sequence[int], label: str) -> None:
    """The x axis of ranks or threads: logarithmic, with a tick at each measured number."""
    axes.set_xscale("log", base=2)
    ticks_at(axes.xaxis, counts, lambda value: f"{value:g}")
    axes.set_xlim(min(counts) / 1.25, max(counts) * 1.25)
    axes.set_xlabel(label)


def log_axis(axis, formatter: Callable[[float], str]) -> None:
    """Ticks at 1, 2 and 5 of each decade (more in a narrow range), as plain numbers."""
    low, high = axis.get_view_interval()
    subs = (1, 2, 5) if high / low > 6 else (1, 1.2, 1.4, 1.6, 2, 2.5, 3, 4, 5, 6, 7, 8)
    axis.set_major_locator(LogLocator(subs=subs if high / low < 2000 else (1,), numticks=30))
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: formatter(value)))


def ideal(axes: Axes, x: Sequence[float], y: Sequence[float], label: str = "ideal") -> None:
    axes.plot(x, y, "--", color=GREY, linewidth=1.2, label=label, zorder=2)


def save(figure, folder: Path, name: str, kinds: Sequence[str] = ("svg", "png")) -> None:
    """NAME.svg, with the same bytes for the same data, and NAME.png."""
    for kind in kinds:
        figure.savefig(folder / f"{name}.{kind}", dpi=150, metadata={"Date": None} if kind == "svg" else None)
    plt.close(figure)
