"""The radial distribution function of a Lennard-Jones liquid while its crystal melts.

    PYTHONPATH=python python3 python/examples/rdf.py [--pieces 25] [--steps 40] [--plot rdf.png]

Runs pieces of the run, and prints the first peak of g(r) after each.  With --plot (needs matplotlib) every piece adds
a curve to a picture, which is written anew, so that a viewer shows the run as it goes on.  Expected: the peak of the
crystal at 1.19 sigma is that of a liquid, at 1.09, after 40 steps, and grows from 2.9 to 3.1 within 1000 steps.  A few
seconds.
"""

from __future__ import annotations

import argparse
from typing import Optional

import numpy as np

from myriad import Myriad

DECK = """
units lj
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1
velocity all create 1.44 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
fix 1 all nve
compute g all rdf 100
thermo 1000
"""


def curves(pieces: int, steps: int):
    """Yields step, distances and g(r) after each piece of the run."""
    with Myriad("-log", "none", "-screen", "none") as md:
        md.commands_string(DECK)
        for _ in range(pieces):
            md.run(steps)
            r, g, _ = md.extract_compute("g", kind=2).T
            yield md.step, r, g


def draw(path: str, colour: float, label: Optional[str], r: np.ndarray, g: np.ndarray) -> None:
    """Adds a curve to the picture, and writes it anew."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.plot(r, g, color=plt.get_cmap("viridis")(colour), label=label)
    plt.xlabel("r / sigma")
    plt.ylabel("g(r)")
    plt.legend()
    plt.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pieces", type=int, default=25, help="pieces of the run")
    parser.add_argument("--steps", type=int, default=40, help="steps of a piece")
    parser.add_argument("--plot", help="a file for the picture")
    options = parser.parse_args()
    for k, (step, r, g) in enumerate(curves(options.pieces, options.steps)):
        peak = int(np.argmax(g))
        print(f"step {step:6d}: g({r[peak]:.3f}) = {g[peak]:.3f}", flush=True)
        if options.plot:
            draw(options.plot, k / options.pieces, f"step {step}" if k % 5 == 0 else None, r, g)


if __name__ == "__main__":
    main()
