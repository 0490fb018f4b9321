"""A trajectory that runs back to its first state, to the last bit.

    PYTHONPATH=python python3 python/examples/reversal.py [--steps 1000]

Runs a Lennard-Jones melt, reverses all velocities as a numpy array, and runs as far again.  Prints how far particles
went, how many returned to the very bits of their first position, and Boltzmann's H, the mean of ln f of the
velocities, on the way: it rises back to that of the beginning.  A few seconds.
"""

from __future__ import annotations

import argparse

import numpy as np

from myriad import Myriad

DECK = """
units lj
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1
velocity all create 3.0 87287 dist uniform
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
fix 1 all nve
thermo 1000
run 0
"""


def boltzmann_h(v: np.ndarray) -> float:
    """H of the components of velocities [n, 3], from a histogram, up to a constant."""
    f, edges = np.histogram(v, bins=40, range=(-6, 6), density=True)
    f = f[f > 0]
    return float((f * np.log(f)).sum() * (edges[1] - edges[0]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1000, help="steps of each way")
    steps = parser.parse_args().steps
    with Myriad("-log", "none", "-screen", "none") as md:
        md.commands_string(DECK)
        first = md.gather("x")
        for way in ("there", "back"):
            for _ in range(4):
                print(f"{way:6s} step {md.step:6d}: H = {boltzmann_h(md.gather('v')):.4f}", flush=True)
                md.run(steps // 4)
            if way == "there":
                side = np.array(md.box().hi) - np.array(md.box().lo)
                moved = md.gather("x") - first
                moved -= side * np.round(moved / side)
                print(f"moved by {np.sqrt((moved**2).sum(axis=1).mean()):.3f} sigma")
                md.scatter("v", -md.gather("v"))
        last = md.gather("x")
        print(f"back   step {md.step:6d}: H = {boltzmann_h(md.gather('v')):.4f}")
        print(f"{(last == first).all(axis=1).sum()} of {len(first)} particles are where they were, to the last bit")


if __name__ == "__main__":
    main()
