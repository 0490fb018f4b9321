#!/usr/bin/env python3
"""The plots of docs/pair-styles.md: energy and force of two particles by their distance.  `make figures`

The page has an example for each style: the block of a deck below the style's heading.  The program itself computes what
is plotted.  For most styles the command pair_write writes a table.  A style whose energy is no function of the distance
alone, such as eam, gets runs of no steps with two lone particles, which may part with a speed.  Each family of styles
is one figure with a panel for each style.  The bytes of a figure are the same for the same data and the same
matplotlib.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Mapping, Sequence, Tuple

import numpy as np

import harness

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "pair-styles.md"
PICTURES = ROOT / "docs" / "pictures" / "pairs"
sys.path.insert(0, str(ROOT / "job-scripts"))


@dataclass(frozen=True)
class Panel:
    """What a panel shows: distances, and the least and largest value on its axis."""

    inner: float
    outer: float
    low: float
    high: float
    lone: bool = False  # two lone particles in place of pair_write
    speed: float = 0.0  # with which the two part
    types: Tuple[int, int] = (1, 1)


FAMILIES: Mapping[str, Mapping[str, Panel]] = {
    "lennard-jones": {
        "lj/cut": Panel(0.8, 3.0, -2.8, 3.0),
        "lj/smooth/linear": Panel(0.8, 3.0, -2.8, 3.0),
        "lj/gromacs": Panel(0.8, 3.0, -2.8, 3.0),
        "lj/expand": Panel(0.8, 3.5, -2.8, 3.0),
        "lj96/cut": Panel(0.8, 3.0, -2.8, 3.0),
        "mie/cut": Panel(0.8, 3.0, -2.8, 3.0),
    },
    "exponentials": {
        "morse": Panel(0.7, 3.0, -3.2, 3.2),
        "buck": Panel(0.7, 3.0, -3.2, 3.2),
        "born": Panel(0.7, 3.0, -1.8, 3.2),
        "yukawa": Panel(0.3, 3.0, 0.0, 4.0),
        "gauss": Panel(0.01, 3.0, -1.4, 1.4),
        "gauss/cut": Panel(0.01, 3.0, -3.6, 3.6),
    },
    "repulsions": {
        "soft": Panel(0.01, 1.2, 0.0, 26.0),
        "dpd": Panel(0.01, 1.2, 0.0, 26.0),
        "dpd/tstat": Panel(0.01, 1.2, -5.0, 1.0, lone=True, speed=1.0),
        "repulsive": Panel(0.05, 1.2, 0.0, 12.0),
        "zbl": Panel(0.6, 4.4, 0.0, 120.0),
    },
    "gravity-and-tables": {
        "gravity": Panel(0.01, 4.0, -2.2, 0.2, lone=True),
        "table": Panel(0.31, 3.0, -0.8, 3.2),
    },
    "embedded-atoms": {
        "eam": Panel(1.6, 5.4, -4.0, 4.0, lone=True),
        "eam/alloy": Panel(1.6, 4.4, -1.4, 2.0, lone=True, types=(1, 2)),
        "eam/fs": Panel(1.6, 4.4, -1.4, 2.0, lone=True, types=(1, 2)),
    },
    "three-bodies": {
        "sw": Panel(1.6, 4.2, -4.0, 4.0, lone=True),
        "vashishta": Panel(1.2, 5.0, -12.0, 12.0, lone=True, types=(1, 2)),
    },
}
POINTS = 160

# Two particles in a box without periodic axes; {begin} are units, {end} the pair style.
LONE = """\
{begin}
boundary f f f
region b block 0 40 0 40 0 40
create_box 2 b
mass * 1
create_atoms {types[0]} single 10 20 20
create_atoms {types[1]} single 30 20 20
{end}
group moved id 2
velocity moved set {speed} 0 0
compute force moved reduce sum fx
thermo_style custom step pe c_force
thermo_modify norm no
variable r loop 0 {last}
label next
variable x equal 10+{inner}+v_r*{step!r}
set atom 2 x ${{x}}
run 0
variable d equal v_x-10
variable u equal pe
variable f equal c_force
print "$(v_d:%.15g) $(v_u:%.15g) $(v_f:%.15g)" append rows screen no
next r
jump SELF next
"""

WRITTEN = """\
{begin}
region b block 0 40 0 40 0 40
create_box 1 b
mass * 1
{end}
pair_write 1 1 {points} r {inner} {outer} rows PAIR
"""


def examples(page: Path = PAGE) -> Dict[str, List[str]]:
    """The lines of the example of each style of the page, by its name."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"^### (\S+)\n(.*?)(?=^##|\Z)", text, re.M | re.S)
    blocks = {name: re.search(r"```lammps\n(.*?)```", body, re.S) for name, body in found}
    return {name: block.group(1).splitlines() for name, block in blocks.items() if block}


def table_of(name: str, panel: Panel, example: Sequence[str], folder: Path) -> np.ndarray:
    """Distance, energy and force in rows [n, 3], which the program makes in `folder`."""
    for file in ("Cu_u3.eam", "made-up.eam.alloy", "made-up.eam.fs", "made-up.table", "silicon.sw",
                 "silica.vashishta"):
        shutil.copy(harness.REFERENCE / file, folder)
    (folder / "rows").unlink(missing_ok=True)
    begin = "".join(line for line in example if line.startswith("units"))
    end = "\n".join(line for line in example if not line.startswith("units"))
    words = {"begin": begin, "end": end, "inner": panel.inner, "outer": panel.outer, "points": POINTS,
             "last": POINTS - 1, "step": (panel.outer - panel.inner) / (POINTS - 1), "types": panel.types,
             "speed": panel.speed}
    harness.run((LONE if panel.lone else WRITTEN).format(**words), folder)
    lines = (folder / "rows").read_text().splitlines()
    rows = [line.split()[-3:] for line in lines if re.match(r"[\d.]+ \S+ \S+", line)]
    assert len(rows) == POINTS, f"{name}: {len(rows)} rows"
    return np.array(rows, dtype=float)


def tables(names: Sequence[str], page: Path = PAGE) -> Dict[str, np.ndarray]:
    """The tables of these styles, from the examples of the page."""
    known = examples(page)
    panels = {name: panel for family in FAMILIES.values() for name, panel in family.items()}
    with tempfile.TemporaryDirectory() as folder:
        return {name: table_of(name, panels[name], known[name], Path(folder)) for name in names}


def unit_of(example: Sequence[str]) -> Tuple[str, str]:
    """The words for distances, and for energies and forces."""
    metal = any(line.split() == ["units", "metal"] for line in example)
    return ("r (Å)", "eV, eV/Å") if metal else ("r", "")


def draw(folder: Path, family: str, data: Mapping[str, np.ndarray], known: Mapping[str, Sequence[str]],
         kinds: Sequence[str] = ("svg",)) -> None:
    """Writes FAMILY.svg with a panel for each style of the family."""
    from figures import BLUE, GREY, ORANGE, PANEL_IN, STYLE, plt, save

    columns = 3 if len(data) > 2 else 2
    lines = (len(data) + columns - 1) // columns
    with plt.rc_context(STYLE):
        size = 0.75 * PANEL_IN[0] * columns, 0.75 * PANEL_IN[1] * lines
        figure, axes = plt.subplots(lines, columns, figsize=size, squeeze=False)
        for at, (name, rows) in zip(axes.flat, data.items()):
            panel = FAMILIES[family][name]
            across, up = unit_of(known[name])
            at.axhline(0.0, color=GREY, linewidth=0.8)
            at.plot(rows[:, 0], rows[:, 1], "-", color=BLUE, linewidth=1.6, label="U(r)")
            at.plot(rows[:, 0], rows[:, 2], "--", color=ORANGE, linewidth=1.6, label="F(r)")
            at.set(title=name, xlabel=across, ylabel=up, ylim=(panel.low, panel.high), xlim=(0.0, panel.outer))
        for at in list(axes.flat)[len(data):]:
            at.set_visible(False)
        axes.flat[0].legend(loc="best")
        save(figure, folder, family, kinds)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--out", type=Path, default=PICTURES, help="the folder of the figures (docs/pictures/pairs)")
    words.add_argument("--png", action="store_true", help="also a PNG of each figure")
    options = words.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for family, panels in FAMILIES.items():
        draw(options.out, family, tables(list(panels)), examples(), ("svg", "png") if options.png else ("svg",))
        print(options.out / f"{family}.svg")


if __name__ == "__main__":
    main()
