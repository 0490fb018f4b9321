"""Energies and virials of NIST's Lennard-Jones configuration 4, and forces that are the gradient of the energy.

Reference: NIST Standard Reference Simulation Website, Lennard-Jones fluid reference calculations; 30 particles in a
cubic box of side 8 centred at the origin.
"""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest

import harness


def measure(system, folder, **knobs):
    """Total energy, sum of r.f and forces [n, 3] of particles at rest."""
    engine = knobs.pop("engine", "openmp")
    if knobs.pop("open", False):
        knobs["boundary"] = "f f p" if knobs.get("dim", 3) == 2 else "f f f"
    harness.write_data(folder / "system.data", system)
    got = harness.run(harness.deck("in.measure"), folder, engine=engine, variables={"data": "system.data", **knobs})
    row = got.table.at(0)
    assert row["KinEng"] == 0
    dim = knobs.get("dim", 3)
    frame = harness.read_dump(folder / "forces.dump")[0]
    return row["PotEng"], dim * row["Volume"] * row["Press"], frame.vectors("fx", "fy", "fz")


def nist_configuration():
    lines = (harness.REFERENCE / "nist-lj-config4.xyz").read_text().splitlines()
    x = np.array([[float(word) for word in line.split()[1:]] for line in lines[2:]])
    assert x.shape == (30, 3)
    return harness.Particles(lo=(-4, -4, -4), hi=(4, 4, 4), x=x)


@pytest.mark.smoke
@pytest.mark.parametrize("rc, energy, virial", [(3, "-16.790", "-46.249"), (4, "-17.060", "-47.869")])
def test_nist_configuration_4(rc, energy, virial, engine, tmp_path):
    """All published digits.  A cutoff of 4 is exactly half the box."""
    u, w, _ = measure(nist_configuration(), tmp_path, engine=engine, pair=f"lj/cut {rc}")
    assert f"{u:.3f}" == energy
    assert f"{w:.3f}" == virial


def pair_styles():
    """The styles this build says it has."""
    done = subprocess.run([str(harness.program()), "info"], capture_output=True, text=True, check=True)
    listed = done.stdout.split("Pair styles:\n")[1].split("\n\n")[0]
    return re.findall(r"^ +(\S+)", listed, re.MULTILINE)


# How to say each style, with a cutoff near 1.5 if it has one, and its coefficients; `open`: no axis is periodic.
WORDS = {
    "born": {"pair": "born 1.6", "coeff": "1 1 4 0.2 0.9 1.5 -0.4"},
    "buck": {"pair": "buck 1.6", "coeff": "1 1 900 0.16 1.5"},
    "dpd": {"pair": "dpd 0 1.5 7", "coeff": "1 1 3 2"},
    "gauss": {"pair": "gauss 1.6", "coeff": "1 1 -9 1.5"},
    "gauss/cut": {"pair": "gauss/cut 1.7", "coeff": "1 1 -3 1.1 0.3", "shift": "yes"},
    "gravity": {"pair": "gravity 0.3 0.7", "coeff": "* *", "open": True},
    "lj/cut": {"pair": "lj/cut 1.7", "coeff": "1 1 0.8 0.9", "shift": "yes"},
    "lj/expand": {"pair": "lj/expand 1.5", "coeff": "1 1 0.8 0.8 0.1", "shift": "yes"},
    "lj/gromacs": {"pair": "lj/gromacs 1.1 1.7", "coeff": "1 1 0.8 0.9"},
    "lj/smooth/linear": {"pair": "lj/smooth/linear 1.7", "coeff": "1 1 0.8 0.9"},
    "lj96/cut": {"pair": "lj96/cut 1.7", "coeff": "1 1 0.8 0.9"},
    "mie/cut": {"pair": "mie/cut 1.7", "coeff": "1 1 0.8 0.9 11.3 4.6", "shift": "yes"},
    "morse": {"pair": "morse 1.7", "coeff": "1 1 2 3.5 1.05", "shift": "yes"},
    "repulsive": {"pair": "repulsive 1.5 0.75", "coeff": "1 1 1.4"},
    "soft": {"pair": "soft 1.5", "coeff": "1 1 3"},
    "yukawa": {"pair": "yukawa 1.5 1.6", "coeff": "1 1 20"},
    "zbl": {"pair": "zbl 1.1 1.7", "coeff": "1 1 12 12"},
}


def test_every_style_is_here():
    """Styles that need files or several lines: test_eam.py, test_three_body.py and others have them.  dpd/tstat has
    no energy: test_dpd.py."""
    assert sorted(pair_styles()) == sorted([*WORDS, "dpd/tstat", "eam", "eam/alloy", "eam/fs", "sw", "vashishta",
                                            "table", "hybrid", "hybrid/overlay"])


def jittered(dim):
    """Particles near the sites of a square or cubic lattice of spacing 1, in a periodic box whose origin is anywhere.
    """
    n = 6 if dim == 2 else 4
    generator = np.random.Generator(np.random.PCG64(dim))
    sites = np.stack(np.meshgrid(*[np.arange(n) + 0.5] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    x = np.zeros((len(sites), 3))
    lo, hi = np.array([-1.25, 2.5, -0.5]), np.array([n - 1.25, n + 2.5, 0.5 if dim == 2 else n - 0.5])
    x[:, :dim] = sites + lo[:dim] + generator.uniform(-0.12, 0.12, sites.shape)
    return harness.Particles(lo=lo, hi=hi, x=x)


def moved(system, i, d, by):
    x = system.x.copy()
    x[i, d] += by
    return harness.Particles(system.lo, system.hi, x)


@pytest.mark.parametrize("engine", ["openmp", "naive"])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("style", sorted(WORDS))
def test_force_is_minus_the_gradient(style, dim, engine, tmp_path):
    """Moving one particle a little, from dumped forces and total energies alone."""
    system, h = jittered(dim), 2e-5
    knobs = {**WORDS[style], "dim": dim, "engine": engine}
    u, _, f = measure(system, tmp_path, **knobs)
    assert u != 0 and np.abs(f[:, :dim]).max() > 0.1
    i = int(np.argmax(np.abs(f[:, 0])))
    for d in range(dim):
        plus, _, _ = measure(moved(system, i, d, h), tmp_path, **knobs)
        minus, _, _ = measure(moved(system, i, d, -h), tmp_path, **knobs)
        assert f[i, d] == pytest.approx(-(plus - minus) / (2 * h), rel=2e-6, abs=2e-7), (i, d)


@pytest.mark.parametrize("style", sorted(WORDS))
def test_virial_is_the_volume_derivative(style, tmp_path):
    """Stretching box and positions by 1 + s: sum of r.f = -dU/ds."""
    system, s = jittered(3), 1e-5
    energies = []
    for factor in (1 + s, 1 - s):
        scaled = harness.Particles(np.asarray(system.lo) * factor, np.asarray(system.hi) * factor, system.x * factor)
        energies.append(measure(scaled, tmp_path, **WORDS[style])[0])
    _, w, _ = measure(system, tmp_path, **WORDS[style])
    assert w == pytest.approx(-(energies[0] - energies[1]) / (2 * s), rel=1e-5)
    assert abs(w) > 1
