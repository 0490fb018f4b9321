"""docs/pair-styles.md: it has every style, and what its plots show is the formulas that it gives."""

from __future__ import annotations

import math

import numpy as np
import pytest

import harness
import pair_figures
from test_nist import pair_styles

PAGE = pair_figures.PAGE.read_text(encoding="utf-8")
SUMS = {"hybrid", "hybrid/overlay"}  # no curves of their own; test_hybrid.py runs their examples
PANELS = {name: (family, panel) for family, panels in pair_figures.FAMILIES.items() for name, panel in panels.items()}


def test_every_style_is_on_the_page():
    styles = pair_styles()
    assert len(styles) >= 20
    assert sorted({*PANELS, *SUMS}) == sorted(styles) == sorted(pair_figures.examples())
    for name in styles:
        assert f"\n### {name}\n\n`pair_style {name}" in PAGE, name
        assert f"\n| `{name}`" in PAGE, name
    for family in pair_figures.FAMILIES:
        picture = pair_figures.PICTURES / f"{family}.svg"
        assert f"](pictures/pairs/{picture.name})" in PAGE and picture.read_text().count("<path") > 20, family


def lj(r, m=12, n=6, factor=4.0):
    return factor * (r ** -m - r ** -n), factor * (m * r ** -m - n * r ** -n) / r


def switched(r, u, f, r1, rc):
    """u and f(r) with the polynomial that takes U, U' and U'' to zero at rc."""
    w, h = rc - r1, 1e-4
    slope, curve = -f(rc), -(f(rc + h) - f(rc - h)) / (2 * h)
    a, b = (-3 * slope + w * curve) / w ** 2, (2 * slope - w * curve) / w ** 3
    t, c = max(r - r1, 0.0), -u(rc) + w * slope / 2 - w ** 2 * curve / 12
    return u(r) + a * t ** 3 / 3 + b * t ** 4 / 4 + c, f(r) - a * t ** 2 - b * t ** 3


def shifted(r, rc=2.5):
    (u, f), (at, force) = lj(r), lj(rc)
    return u - at + (r - rc) * force, f - force


def morse(r):
    e = math.exp(-5.0 * (r - 1.1))
    return e * e - 2 * e, 10.0 * (e * e - e)


def buck(r):
    e = 379000.0 * math.exp(-r / 0.0863)
    return e - 3.67 / r ** 6, e / 0.0863 - 6 * 3.67 / r ** 7


def born(r):
    e = 2.0 * math.exp((1.0 - r) / 0.1)
    return e - 2.5 / r ** 6 + 0.3 / r ** 8, e / 0.1 - 15.0 / r ** 7 + 2.4 / r ** 9


def yukawa(r):
    u = 5.0 * math.exp(-2.0 * r) / r
    return u, u * (2.0 + 1.0 / r)


def gauss(r):
    u = -math.exp(-1.5 * r * r)
    return u, 3.0 * r * u


def gauss_cut(r):
    u = -1.0 / (0.3 * math.sqrt(2.0 * math.pi)) * math.exp(-(r - 1.5) ** 2 / 0.18)
    return u, u * (r - 1.5) / 0.09


def repulsive(r):
    if r >= 0.25:
        return math.log(r) + 1.0 / r - 1.0, (1.0 / r - 1.0) / r
    return math.log(0.25) + 3.0 + 1.5 * (1.0 - 16.0 * r * r), 48.0 * r


def nuclei(r):
    a, q = 0.4685 / (2.0 * 14.0 ** 0.23), 196.0 * 14.399645
    terms = ((0.18175, 3.1998), (0.50986, 0.94229), (0.28022, 0.4029), (0.02817, 0.20162))
    u = sum(c * math.exp(-d * r / a) for c, d in terms) * q / r
    return u, u / r + sum(c * d / a * math.exp(-d * r / a) for c, d in terms) * q / r


# Energy and force at r by the formulas of the page, with the numbers of its examples, and the cutoff.
FORMULAS = {
    "lj/cut": (lj, 2.5),
    "lj/smooth/linear": (shifted, 2.5),
    "lj/gromacs": (lambda r: switched(r, lambda s: lj(s)[0], lambda s: lj(s)[1], 1.5, 2.5), 2.5),
    "lj/expand": (lambda r: lj(r - 0.5), 3.0),
    "lj96/cut": (lambda r: lj(r, 9), 2.5),
    "mie/cut": (lambda r: lj(r, 24, 6, 24 / 18 * 4.0 ** (1 / 3)), 2.5),
    "morse": (morse, 2.5),
    "buck": (buck, 2.5),
    "born": (born, 2.5),
    "yukawa": (yukawa, 2.5),
    "gauss": (gauss, 2.5),
    "gauss/cut": (gauss_cut, 2.5),
    "soft": (lambda r: (12.5 * (1.0 - r) ** 2, 25.0 * (1.0 - r)), 1.0),
    "dpd": (lambda r: (12.5 * (1.0 - r) ** 2, 25.0 * (1.0 - r)), 1.0),
    "dpd/tstat": (lambda r: (0.0, -4.5 * (1.0 - r) ** 2), 1.0),
    "repulsive": (repulsive, 1.0),
    "zbl": (lambda r: switched(r, lambda s: nuclei(s)[0], lambda s: nuclei(s)[1], 3.0, 4.0), 4.0),
    "gravity": (lambda r: (-(r * r + 0.25) ** -0.5, -r * (r * r + 0.25) ** -1.5), math.inf),
}


@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_plots_show_the_formulas(name):
    rows = pair_figures.tables([name])[name]
    formula, rc = FORMULAS[name]
    panel = PANELS[name][1]
    assert rows[0, 0] == pytest.approx(panel.inner) and rows[-1, 0] == pytest.approx(panel.outer)
    inside = rows[rows[:, 0] < rc]
    assert len(inside) > 100 and not np.any(rows[rows[:, 0] >= rc][:, 1:])
    expected = np.array([formula(r) for r in inside[:, 0]])
    near = 1e-6 if name in ("lj/gromacs", "zbl") else 1e-9  # a second derivative by differences
    for c in range(2):
        scale = np.abs(expected[:, c]).max()
        assert inside[:, 1 + c] == pytest.approx(expected[:, c], rel=near, abs=1e-12 * scale + near * near), c


def numbers(lines):
    return np.array([float(word) for line in lines for word in line.split()])


def interpolated(r, step, values):
    return np.interp(r, step * np.arange(len(values)), values)


def copper(r):
    """U of two lone atoms by straight lines between the values of the funcfl file."""
    lines = (harness.REFERENCE / "Cu_u3.eam").read_text().splitlines()
    _, drho, _, dr, _ = (float(word) for word in lines[2].split())
    embedding, charge, density = numbers(lines[3:]).reshape(3, 500)
    pair = 27.2 * 0.529 * interpolated(r, dr, charge) ** 2 / r
    return 2.0 * interpolated(interpolated(r, dr, density), drho, embedding) + pair


def made_up(r, densities):
    """U of a lone pair Cu Xx by straight lines between the values of a setfl file of 1 or 2 densities an element."""
    kind = "fs" if densities == 2 else "alloy"
    lines = (harness.REFERENCE / f"made-up.eam.{kind}").read_text().splitlines()
    nrho, drho, nr, dr = (float(word) for word in lines[4].split()[:4])
    nrho, nr, elements, at = int(nrho), int(nr), [], 5
    for e in range(2):
        block = numbers(lines[at + 1:at + 1 + (nrho + densities * nr) // 6])
        at += 1 + (nrho + densities * nr) // 6
        elements.append((block[:nrho], block[nrho:].reshape(densities, nr)))
    pairs = numbers(lines[at:]).reshape(3, nr)
    total = interpolated(r, dr, pairs[1]) / r
    for e in range(2):
        density = elements[1 - e][1][e if densities == 2 else 0]  # of the other atom
        total += interpolated(interpolated(r, dr, density), drho, elements[e][0])
    return total


def tabulated(r):
    text = (harness.REFERENCE / "made-up.table").read_text().split("\nONE\n")[1]
    rows = np.array([[float(word) for word in line.split()] for line in text.splitlines()[2:42]])
    return np.where(r < 2.6, np.interp(r, rows[:, 1], rows[:, 2]), 0.0)


def silicon(r):
    s = 2.0951 / r
    with np.errstate(over="ignore"):
        decay = np.exp(1.0 / np.minimum(r / 2.0951 - 1.8, -1e-9))
    return 7.049556277 * 2.1683 * (0.6022245584 * s ** 4 - 1.0) * decay


def silica(r):
    def bare(r):
        return 163.859 / r ** 9 - 1.28 * 14.399645 / r * np.exp(-r / 999) - 44.2357 / r ** 4 * np.exp(-r / 4.43)

    slope = (bare(10.0 + 1e-5) - bare(10.0 - 1e-5)) / 2e-5
    return bare(r) - bare(10.0) - (r - 10.0) * slope


FILES = {"sw": silicon, "vashishta": silica, "eam": copper, "eam/alloy": lambda r: made_up(r, 1),
         "eam/fs": lambda r: made_up(r, 2), "table": tabulated}


@pytest.mark.parametrize("name", sorted(FILES))
def test_plots_show_what_the_files_hold(name):
    """Energies near straight lines between the values of a file, and forces near the differences of energies."""
    rows = pair_figures.tables([name])[name]
    r, energy, force = rows.T
    shown = energy < PANELS[name][1].high
    assert shown.sum() > 100
    assert energy[shown] == pytest.approx(FILES[name](r)[shown], rel=0.015, abs=0.03)
    smooth = shown[1:-1] & (np.abs(r[1:-1] - 2.6) > 0.05 if name == "table" else True)
    slope = (energy[2:] - energy[:-2]) / (r[2:] - r[:-2])
    # Differences of a wall as steep as 1/r^9 are less near.
    near = 0.2 if name == "vashishta" else 0.02
    assert force[1:-1][smooth] == pytest.approx(-slope[smooth], rel=0.02, abs=near)
    assert np.ptp(energy[shown]) > 1.0


def test_figures_have_the_same_bytes_again(tmp_path):
    pytest.importorskip("matplotlib")
    family = "gravity-and-tables"
    made = []
    for again in ("a", "b"):
        (tmp_path / again).mkdir()
        data = pair_figures.tables(list(pair_figures.FAMILIES[family]))
        pair_figures.draw(tmp_path / again, family, data, pair_figures.examples())
        made.append((tmp_path / again / f"{family}.svg").read_bytes())
        assert [file.name for file in (tmp_path / again).iterdir()] == [f"{family}.svg"]
    assert made[0] == made[1] and len(made[0]) > 10000
