#!/usr/bin/env python3
"""Compare every engine with the naive one, bit by bit: `make check`.

Each sample deck of validate/decks is run for thousands of steps by the naive
engine, which looks at all pairs on one thread, and then by another engine in
several variants.  The dumps (positions, velocities and forces of every frame)
must be identical to validate/check.py, and the thermo tables must be the same
text at 17 digits.

The full product of variants would take many minutes, so each deck gets a few.

openmp: together they contain every thread count, several skins from zero to as
    wide as the cutoff, cells as small as can be and one cell for everything; the
    instruction sets of this processor are dealt to the variants in turn, shifted
    from deck to deck.
gpu: full and symmetric forces, from cells and from lists, step, counting and radix
    sort, every step that can be left out, intervals between rebins, skins and
    block sizes, and all pairs.  Nothing of it on the GPU may change a bit of what
    naive found on the CPU.
mpi: the openmp engine over 1, 2, 3, 4, 6 and 8 ranks, as far as their domains fit,
    of one or two threads, in grids of one, two and three dimensions, with cuts that
    stay, that follow the particles, and that a command moved before the run; and
    decks of their own: larger ones, particles that cross domains in one step, and
    domains that are empty.

Engines that are compared over the same number of steps share a run of naive.

Prints a row a deck.  Exit status: 0 all identical, 1 a difference, a failed run,
or `--engine gpu` without a GPU, `--engine mpi` without MPI (0 with --if-present).
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import re
import shutil
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import check
import harness


@dataclass(frozen=True)
class Case:
    """A deck with its knobs.  `length` is that of the interaction; skins and cells are multiples of it."""

    name: str
    deck: str
    length: float = 2.5
    variables: Mapping[str, harness.Value] = field(default_factory=dict)
    teaching: bool = False  # one type in two dimensions within walls: the GPU's list-free kernel has its switches
    all_pairs: bool = False  # no cutoff: engines of their own, without cells, lists and domains
    full_lists: bool = False  # the GPU has no symmetric forces for it
    fits: Tuple[int, int, int] = (8, 8, 8)  # ranks along each axis whose domains are as thick as 1.04 lengths
    back: bool = False  # half of the steps are undone again
    listed: bool = False  # the GPU leaves pairs out of lists, so that it needs them

    def text(self) -> str:
        deck = harness.deck(self.deck).read_text()
        return deck + "run -$(floor(v_steps/2))\n" if self.back else deck


@dataclass(frozen=True)
class Variant:
    """The options of a run with the OpenMP engine."""

    threads: int
    skin: Optional[float]  # None: the deck's
    cell: float
    isa: str

    def text(self) -> str:
        skin = "the deck's" if self.skin is None else f"{self.skin:g}"
        return f"{self.threads} threads, skin {skin}, cells of {self.cell:g}, {self.isa}"

    def how(self) -> Dict[str, Any]:
        """Arguments of harness.run."""
        return {"threads": self.threads, "isa": self.isa}

    def knobs(self) -> Dict[str, harness.Value]:
        return {"binsize": self.cell} if self.skin is None else {"binsize": self.cell, "skin": self.skin}


@dataclass(frozen=True)
class GpuVariant:
    """The options of a run with the GPU engine: a name of harness.ENGINES and keywords of `package gpu`."""

    engine: str
    package: Mapping[str, harness.Value]
    cell: float = 0.0

    def text(self) -> str:
        return " ".join([self.engine, *(f"{k} {v:g}" if isinstance(v, float) else f"{k} {v}"
                                        for k, v in self.package.items()), f"cells of {self.cell:g}"])

    def how(self) -> Dict[str, Any]:
        return {"engine": self.engine, "package": self.package}

    def knobs(self) -> Dict[str, harness.Value]:
        return {"binsize": self.cell}


@dataclass(frozen=True)
class RankVariant:
    """The options of a run on several ranks with the OpenMP engine."""

    ranks: int
    grid: Optional[Tuple[int, int, int]]  # None: the program's choice
    threads: int
    skin: float
    balance: int  # steps between looks at the balance; 0: cuts stay; 1: by recursive bisection
    shifted: bool  # cuts are moved before the run, too

    def bisects(self, deck: str) -> bool:
        """Are domains bricks, and no grid?  A tilted box has none."""
        return self.balance == 1 and "prism" not in deck

    def text(self) -> str:
        grid = "free" if self.grid is None else "x".join(map(str, self.grid))
        balance = f"balance every {self.balance}" if self.balance else "no balance"
        return (f"{self.ranks} ranks, grid {grid}, {self.threads} threads, skin {self.skin:g}, {balance}"
                f"{', shifted' if self.shifted else ''}")

    def how(self) -> Dict[str, Any]:
        return {"ranks": self.ranks, "threads": self.threads}

    def knobs(self) -> Dict[str, harness.Value]:
        return {"skin": self.skin}

    def deck(self, text: str) -> str:
        """A deck with the commands that make this variant."""
        before = "balance 1 shift\n" if self.shifted else ""
        if self.balance:
            before += f"fix cuts all balance {self.balance} 1{' rcb' if self.bisects(text) else ''}\n"
        text, runs = re.subn(r"(?m)^(?=run\s+[^-])", before, text, count=1)
        assert runs == 1, "a deck with a run forward"
        grid = ["*"] * 3 if self.grid is None else self.grid
        return "processors {} {} {}\n".format(*grid) + text


AnyVariant = Union[Variant, GpuVariant, RankVariant]

# Keywords of `package gpu` that must not change a bit, with values for each; skins in sigma.
GPU_CHOICES: Mapping[str, Tuple[harness.Value, ...]] = {
    "precision": ("double",),
    "force": ("full", "symmetric"),
    "neighbours": ("auto", "cells", "list"),
    "sort": ("auto", "step", "count", "radix"),
    "sorted": ("no",),
    "padded": ("no",),
    "unrolled": ("no",),
    "staged": ("yes",),
    "fused": ("no",),
    "rebin": ("auto", "displacement", "pairs", 1, 4),
    "block": ("auto", 32, 256),
    "lanes": ("auto", 1, 2, 8),
    "skin": ("auto", 0.05),
    "device": ("auto", 0),
    "memory": ("all", 1024),
    "profile": ("yes",),
    "transport": ("auto", "staged"),
}

COPPER = harness.REFERENCE / "Cu_u3.eam"
# A potential of two elements, for the types in another order.
MADE_UP = {"style": "eam/fs", "potential": f"{harness.REFERENCE / 'made-up.eam.fs'} Xx Cu", "types": 2, "edge": 3.7}

# Three-body potentials: of two elements, and with a cutoff of 10.
TELLURIDE = {"potential": f"{harness.REFERENCE / 'cadmium-telluride.sw'} Te Cd", "types": 2, "lattice": "diamond 6.482"}
SILICA = {"style": "vashishta", "potential": f"{harness.REFERENCE / 'silica.vashishta'} O Si", "types": 2,
          "lattice": "fcc 6.2", "long": 4, "wide": 4}

# The file of pair style table.
WELLS = {"table": str(harness.REFERENCE / "made-up.table")}
# The melt in two dimensions.
MELT_2D = {"dim": 2, "lattice": "sq 0.7", "cells": 12, "zlo": -0.5, "zhi": 0.5}
# The decks of several pair styles in two dimensions.
FLAT = {"dim": 2, "lattice": "sq 0.7", "side": 10, "z": "-0.5 0.5"}


def boxes() -> Iterator[Case]:
    """Boxes where the last bit decides about cells and ghosts: twice the cutoff, and whole multiples of it."""
    for dim, sites in ((2, 5), (3, 5)):
        side = 5.0 * (1.0 + 1e-12)
        yield Case(f"box 2 rc, {dim}D", "in.box", fits=(1, 1, 1),
                   variables={"dim": dim, "lx": side, "ly": side, "lz": side if dim == 3 else 1.0, "n": sites})
    for n, eps in itertools.product((3, 4), (-1e-9, 0.0, 1e-9)):
        side = 2.5 * n + eps
        dim = 3 if n == 3 else 2
        yield Case(f"box {n} rc {eps:+.0e}, {dim}D" if eps else f"box {n} rc, {dim}D", "in.box",
                   fits=(2, 2, 2) if dim == 3 else (3, 2, 1),
                   variables={"dim": dim, "lx": side, "ly": 7.5 - eps, "lz": side if dim == 3 else 1.0,
                              "n": 6 if dim == 3 else 8})


def small_boxes() -> Iterator[Case]:
    """Sides of 0.7, 1.3 and 1.9 cutoffs along one, two and three axes: several images of each particle count. And a
    box of one cell without images."""
    for name, fits, knobs in (
            ("0.7 rc along x, and back", (1, 3, 3), {"ly": 9, "ny": 7, "lz": 9, "nz": 7}),
            ("1.3 rc along y", (3, 1, 3), {"lx": 9, "nx": 7, "lz": 9, "nz": 7}),
            ("1.9 rc along z, two masses alike", (3, 3, 1), {"lx": 9, "nx": 7, "ly": 9, "ny": 7, "mass2": 1}),
            ("0.7 and 1.9 rc along x and z", (1, 3, 1), {"ly": 9, "ny": 8}),
            ("0.7, 1.3 and 1.9 rc", (1, 1, 1), {}),
            ("1.3 rc, walls along z", (1, 1, 3), {"lx": 3.25, "nx": 3, "lz": 9, "nz": 8, "z": "f"}),
            ("walls all around one cell", (1, 1, 1),
             {"xy_faces": "f", "z": "f", "lx": 4, "nx": 4, "ly": 4.5, "ny": 4, "lz": 4.7, "nz": 4}),
            ("tilted", (1, 1, 3), {"lz": 9, "nz": 8, "xy": 0.6, "xz": -0.7, "yz": 1.2}),
            ("tilted, 0.7, 1.3 and 1.9 rc", (1, 1, 1), {"xy": 0.6, "xz": -0.7, "yz": 1.2}),
            ("2D", (3, 1, 1), {"dim": 2, "lx": 9, "nx": 8, "ly": 1.75, "ny": 1, "lz": 1, "nz": 1}),
            ("2D, tilted", (1, 1, 1), {"dim": 2, "lz": 1, "nz": 1, "xy": 0.8})):
        yield Case(f"small box, {name}", "in.small", variables=knobs, fits=fits, back="back" in name)


CHAINS = {"data": str(harness.REFERENCE / "chains-216.data")}

# In place of the integrator in in.moved.
BROWNIAN = "brownian 0.5 4711 gamma_t 8.0 rng gaussian"
# In place of the wiggle there.
MOVE_VARIABLE = "variable NULL v_way NULL v_speed v_speed v_speed"

CASES: Tuple[Case, ...] = (
    Case("repulsive 2D, walls, and back", "in.repulsive", 0.01, teaching=True, fits=(8, 8, 1), back=True),
    Case("overlapping start 2D", "in.overlap", 0.05, fits=(8, 8, 1)),
    Case("leapfrog mirror 2D", "in.overlap", 0.05, {"mirror": "yes"}, fits=(8, 8, 1)),
    Case("leapfrog drift float 2D", "in.overlap", 0.05, {"drift": "float"}, fits=(8, 8, 1)),
    Case("mixture 2D", "in.mixture", fits=(6, 6, 1)),
    Case("mixture 2D, two masses", "in.mixture", variables={"mass2": 0.4}, fits=(6, 6, 1)),
    Case("melt 3D, and back", "in.melt", fits=(2, 2, 2), back=True),
    Case("thermostat of melt 3D", "in.melt", variables={"ensemble": "nvt temp 1.0 1.2 0.3"}, fits=(2, 2, 2)),
    Case("thermostat of melt 3D, hard collisions", "in.melt", fits=(2, 2, 2),
         variables={"ensemble": "nvt temp 8.0 8.0 0.02"}),
    Case("barostat of melt 3D", "in.melt", variables={"ensemble": "npt temp 1.0 1.2 0.3 iso 1.0 4.0 0.5"},
         fits=(2, 2, 1)),
    Case("barostat of melt 3D, by axis", "in.melt", fits=(2, 2, 1),
         variables={"ensemble": "npt temp 1.0 1.2 0.3 aniso 1.0 4.0 0.5"}),
    Case("barostat of melt 2D", "in.melt", fits=(3, 3, 1), variables=MELT_2D | {"ensemble": "nph iso 1.0 4.0 0.5"}),
    Case("barostat of melt 2D, by axis", "in.melt", fits=(3, 3, 1),
         variables=MELT_2D | {"ensemble": "npt temp 1.0 1.2 0.3 x 1.0 4.0 0.5 y 2.0 1.0 0.3"}),
    Case("langevin 3D", "in.langevin", fits=(2, 2, 2)),
    Case("langevin 3D, one mass", "in.langevin", variables={"mass2": 1}, fits=(2, 2, 2)),
    Case("langevin 3D, one mass, walls", "in.langevin", fits=(2, 2, 2),
         variables={"mass2": 1, "z": "f", "walls": 1}),
    Case("groups 3D", "in.groups", fits=(2, 2, 2)),
    Case("groups 3D, wide momenta", "in.groups", variables={"mass2": 1e6}, fits=(2, 2, 2)),
    Case("excluded groups 3D", "in.excluded", fits=(2, 2, 2)),
    Case("excluded groups 3D, one type", "in.excluded", variables={"types": 1, "more": "none", "mass2": 1},
         fits=(2, 2, 2)),
    Case("excluded groups 3D, wide momenta", "in.excluded", variables={"mass2": 1e6}, fits=(2, 2, 2)),
    Case("excluded groups 2D, hybrid", "in.excluded", fits=(4, 4, 1),
         variables={"dim": 2, "lattice": "sq 0.7", "side": 12, "z": "-0.5 0.5", "more": "type 1 2",
                    "pair": "hybrid lj/cut 2.5", "coefficients": "lj/cut 1 1"}),
    Case("averages 3D", "in.averages", fits=(2, 2, 2)),
    Case("scaled velocities 3D", "in.scaled", fits=(2, 2, 2)),
    Case("biased temperatures 3D", "in.biased", fits=(2, 2, 2)),
    Case("biased temperatures, wide momenta", "in.biased", variables={"mass2": 1e6, "flow": 0.1}, fits=(2, 2, 2)),
    Case("deformed box 3D", "in.barostat", fits=(2, 2, 2)),
    Case("deformed box of a group 3D, one mass", "in.barostat", variables={"mass2": 1, "moving": "all"},
         fits=(2, 2, 2)),
    Case("barostat 3D", "in.barostat", variables={"kind": "npt"}, fits=(2, 2, 1)),
    Case("isotropic barostat 3D", "in.barostat", variables={"kind": "iso", "mass2": 1}, fits=(2, 2, 1)),
    Case("relaxing pressure 3D", "in.barostat", variables={"kind": "press"}, fits=(2, 2, 1)),
    Case("Nose-Hoover chain 3D", "in.nvt", fits=(2, 2, 2)),
    Case("Nose-Hoover chain, wide momenta", "in.nvt", variables={"mass2": 1e6, "chain": 1}, fits=(2, 2, 2)),
    Case("script control 3D", "in.script", fits=(2, 2, 2)),
    Case("cooled 2D, walls", "in.cooled", 1.13, teaching=True, fits=(8, 8, 1)),
    Case("heated blocks 3D", "in.heated", fits=(2, 2, 2)),
    Case("heated blocks, wide momenta", "in.heated", variables={"mass2": 1e6}, fits=(2, 2, 2)),
    Case("moved groups 3D", "in.moved", fits=(2, 2, 2)),
    Case("moved groups, no inertia", "in.moved", variables={"how": BROWNIAN}, fits=(2, 2, 2)),
    Case("moved groups, piston", "in.moved", variables={"piston": "yes", "how": "nve", "edge": MOVE_VARIABLE},
         fits=(2, 2, 2)),
    Case("moved groups, wide momenta", "in.moved", variables={"mass2": 1e6, "pace": 0.05}, fits=(2, 2, 2)),
    Case("scaled, wide momenta", "in.scaled", variables={"mass2": 1e6}, fits=(2, 2, 2)),
    Case("slab 3D, two walls", "in.slab", fits=(2, 2, 3)),
    Case("slab 3D, one mass", "in.slab", variables={"mass2": 1}, fits=(2, 2, 3)),
    Case("forces of fixes 3D, and back", "in.forces", 1.3, fits=(4, 4, 4), back=True),
    Case("forces of fixes, means", "in.forces", 1.3, {"last": "aveforce NULL v_pull NULL"}, fits=(4, 4, 4)),
    Case("forces of fixes, wide momenta", "in.forces", 1.3, {"mass2": 1e6, "g": 1e-6}, fits=(4, 4, 4)),
    Case("springs 3D, and back", "in.springs", 1.3, fits=(4, 4, 4), back=True),
    Case("springs, means", "in.springs", 1.3, {"last": "aveforce NULL 0.1 NULL", "drift": 4}, fits=(4, 4, 4)),
    Case("springs, wide momenta", "in.springs", 1.3, {"mass2": 1e6, "drift": 0.01}, fits=(4, 4, 4)),
    Case("springs, barostat", "in.springs", 1.3, fits=(3, 3, 3),
         variables={"ensemble": "npt temp 0.9 0.9 0.5 aniso 10 14 0.6", "tie": "addforce 0 0 0"}),
    Case("forces of fixes 2D", "in.basin", 1.3, teaching=True, fits=(8, 8, 1)),
    Case("forces of fixes 2D, shared kernels", "in.basin", 1.3, fits=(8, 8, 1),
         variables={"pair": "gauss 1.3", "coefficients": "-4 1"}),
    Case("forces of fixes 2D, hybrid", "in.basin", 1.3, fits=(8, 8, 1),
         variables={"pair": "hybrid soft 1.3", "coefficients": "soft 25"}),
    Case("minimized 2D", "in.minimized", fits=(4, 4, 1)),
    Case("minimized 2D, fire", "in.minimized", variables={"style": "fire", "modify": "integrator verlet"},
         fits=(4, 4, 1)),
    Case("minimized 2D, wide momenta", "in.minimized", fits=(4, 4, 1),
         variables={"style": "quickmin", "mass2": 1e9, "g": 1e-9}),
    Case("melt of tables", "in.melt", 2.7, fits=(2, 2, 2),
         variables={"pair": "table spline 500", "coefficients": f"{WELLS['table']} ONE 2.5"}),
    Case("pair styles 3D", "in.pairs", 2.7, WELLS, fits=(2, 2, 2)),
    Case("pair styles 2D", "in.pairs", 2.7, WELLS | FLAT, fits=(4, 4, 1)),
    Case("hybrid 3D, and back", "in.hybrid", 2.7, WELLS, fits=(2, 2, 2), back=True),
    Case("hybrid 3D, wide momenta", "in.hybrid", 2.7, WELLS | {"mass3": 1e6}, fits=(2, 2, 2)),
    Case("hybrid 3D, one type", "in.hybrid", 2.7, WELLS | {"types": 1}, fits=(2, 2, 2)),
    Case("hybrid 2D", "in.hybrid", 2.7, WELLS | FLAT, fits=(4, 4, 1)),
    Case("hybrid 2D, one type", "in.hybrid", 2.7, WELLS | FLAT | {"types": 1}, fits=(4, 4, 1)),
    Case("soft 3D", "in.soft", 1.3, fits=(2, 2, 3)),
    Case("dpd 3D", "in.dpd", fits=(2, 2, 2), full_lists=True),
    Case("dpd 2D", "in.dpd", variables={"dim": 2, "lattice": "sq 3.0", "side": 12, "z": "-0.5 0.5"}, fits=(3, 3, 1),
         full_lists=True),
    Case("dpd 3D, wide momenta", "in.dpd", variables={"mass2": 1e5}, fits=(2, 2, 2), full_lists=True),
    Case("dpd 3D, at T = 0 in a barostat", "in.dpd", fits=(2, 2, 2), full_lists=True,
         variables={"style": "dpd 0 1.0 5", "fix2": "press/berendsen iso 15 12 6"}),
    Case("dpd/tstat 3D with others", "in.dpd", fits=(2, 2, 2), full_lists=True,
         variables={"style": "hybrid/overlay dpd/tstat 1.2 0.8 1.0 55 soft 0.8", "coeff": "dpd/tstat 4.5",
                    "more": "yes", "coeff2": "* * soft 20"}),
    Case("dpd 2D in a hybrid", "in.dpd", fits=(3, 3, 1), full_lists=True,
         variables={"dim": 2, "lattice": "sq 3.0", "side": 12, "z": "-0.5 0.5", "mass2": 1e5,
                    "style": "hybrid soft 0.9 dpd 1.2 1.0 55", "coeff": "dpd 25 4.5", "more": "yes",
                    "coeff2": "1 2 soft 30"}),
    Case("dpd/tstat 3D", "in.dpd", fits=(2, 2, 2), full_lists=True,
         variables={"style": "dpd/tstat 0.5 1.5 1.0 5", "coeff": "4.5", "fix2": "langevin 1 1 5 77"}),
    Case("droplet 3D", "in.droplet", 1.3, fits=(4, 4, 4)),
    Case("droplet 2D, two masses", "in.droplet", 1.3, {"dim": 2, "z": "p", "mass2": 3}, fits=(5, 5, 1)),
    Case("droplet 3D, exclusion", "in.droplet", 1.3, {"exclude": "type 1 2"}, fits=(4, 4, 4)),
    Case("WCA 2D", "in.wca", 1.13, fits=(8, 8, 1)),
    Case("four types 3D", "in.types", 3.0, fits=(2, 2, 2)),
    Case("four types, sixthpower", "in.types", 3.0, {"mix": "sixthpower"}, fits=(2, 2, 2)),
    Case("tilted 3D", "in.tilted", fits=(1, 1, 2)),
    Case("tilted 3D, wide momenta", "in.tilted", variables={"xz": 0, "yz": 0, "mass2": 1e6}, fits=(1, 2, 2)),
    Case("tilted 3D, forces of fixes, and back", "in.slanted", fits=(1, 1, 2), back=True),
    Case("tilted 2D, forces of fixes", "in.slanted", fits=(1, 3, 1),
         variables={"dim": 2, "lattice": "sq 0.7", "side": 10, "z": "-0.5 0.5", "tilt": "2.5 0 0", "roll": "z 1 6"}),
    Case("tilted 3D, forces of fixes, wide momenta", "in.slanted", fits=(1, 1, 2), variables={"mass2": 1e6}),
    Case("sheared 3D, sllod", "in.sheared", fits=(1, 2, 2)),
    Case("sheared 3D, wide momenta", "in.sheared", fits=(1, 2, 2),
         variables={"remap": "x", "moves": "nve", "deform": "2 xy erate 1.7 x delta 0 0.05", "mass2": 1e6,
                    "temp": "temp"}),
    Case("sheared 3D, and back", "in.sheared", fits=(1, 2, 2), back=True,
         variables={"remap": "x", "moves": "nve", "temp": "temp"}),
    Case("sheared 3D by faces, and back", "in.sheared", fits=(1, 2, 2), back=True,
         variables={"moves": "nve", "temp": "temp", "deform": "2 xy erate 1.7", "mass2": 1e6}),
    Case("sheared 2D", "in.sheared", fits=(1, 4, 1),
         variables={"dim": 2, "n": 8, "remap": "none", "moves": "nve", "mass2": 1}),
    Case("very close pairs 3D", "in.close", fits=(4, 4, 4)),
    Case("nearly empty 3D", "in.empty"),
    Case("wide momenta, slab 3D, and back", "in.slab", variables={"mass2": 1e6}, fits=(2, 2, 3), back=True),
    Case("wide momenta, mixture 2D", "in.mixture", variables={"mass2": 1e9}, fits=(6, 6, 1)),
    Case("short timestep, melt 3D", "in.melt", variables={"dt": 1e-6}, fits=(2, 2, 2)),
    Case("short timestep, walls 2D", "in.repulsive", 0.01, {"dt": 2e-8}, fits=(8, 8, 1)),
    Case("embedded atoms, copper", "in.eam", 4.95, {"potential": str(COPPER)}, full_lists=True,
         fits=(2, 2, 2), back=True),
    Case("embedded atoms, large tables", "in.eam", 4.95, {"potential": str(COPPER), "types": 2, "twice": 1},
         full_lists=True, fits=(2, 2, 2)),
    Case("embedded atoms, alloy", "in.eam", 3.9, MADE_UP, full_lists=True, fits=(3, 2, 2)),
    Case("embedded atoms, excluded types", "in.eam", 3.9, MADE_UP | {"exclude": "type 1 2"}, full_lists=True,
         fits=(3, 2, 2)),
    Case("embedded atoms, excluded groups", "in.eam", 4.95, full_lists=True, fits=(2, 2, 2),
         variables={"potential": str(COPPER), "exclude": "group left right"}),
    Case("three bodies, silicon", "in.three_body", 3.8, {"potential": f"{harness.REFERENCE / 'silicon.sw'} Si"},
         full_lists=True, fits=(3, 2, 2), back=True),
    Case("three bodies, two elements", "in.three_body", 4.6, TELLURIDE, full_lists=True, fits=(3, 2, 2)),
    Case("three bodies, excluded types", "in.three_body", 4.6, TELLURIDE | {"exclude": "type 1 2"}, full_lists=True,
         fits=(3, 2, 2)),
    Case("three bodies, excluded groups", "in.three_body", 3.8, full_lists=True, fits=(3, 2, 2),
         variables={"potential": f"{harness.REFERENCE / 'silicon.sw'} Si", "exclude": "group left right"}),
    Case("three bodies, silica", "in.three_body", 10.0, SILICA, full_lists=True, fits=(2, 2, 2)),
    Case("chains 3D, and back", "in.chains", 1.5, CHAINS, listed=True, fits=(3, 2, 2), back=True),
    Case("harmonic chains 3D", "in.chains", listed=True, fits=(2, 2, 2),
         variables={**CHAINS, "style": "harmonic", "first": "300 1.05", "second": "100 1.1",
                    "special": "lj/coul 0 0 0", "pair": "lj/cut 2.5"}),
    Case("chains 3D, dpd", "in.chains", full_lists=True, listed=True, fits=(3, 2, 2),
         variables={**CHAINS, "style": "harmonic", "first": "50 1.0", "second": "80 0.9", "shift": "no",
                    "special": "lj/coul 1 0 1", "pair": "dpd 1 1.2 77", "coefficients": "25 4.5"}),
    Case("chains 3D, one molecule excluded, and back", "in.chains", 1.5, CHAINS | {"exclude": "molecule/intra all"},
         listed=True, fits=(3, 2, 2), back=True),
    Case("chains 3D, other molecules excluded", "in.chains", listed=True, fits=(2, 2, 2),
         variables={**CHAINS, "style": "harmonic", "first": "300 1.05", "second": "100 1.1",
                    "special": "lj/coul 1 1 1", "pair": "lj/cut 2.5", "exclude": "molecule/inter some", "some": 90}),
    Case("molecules 3D, and back", "in.molecules", listed=True, fits=(2, 2, 2), back=True),
    Case("molecules 3D, others of groups", "in.molecules", listed=True, fits=(2, 2, 2),
         variables={"exclude": "molecule/inter left exclude molecule/intra right", "size": 17}),
    Case("molecules 2D", "in.molecules", listed=True, fits=(4, 4, 1),
         variables=FLAT | {"exclude": "molecule/inter left"}),
    Case("molecules 3D, dpd", "in.molecules", listed=True, full_lists=True, fits=(2, 2, 2),
         variables={"pair": "dpd 1 1.5 77", "coefficients": "25 4.5", "size": 9}),
    Case("gravity 3D, and back", "in.gravity", all_pairs=True, back=True),
    Case("gravity 2D", "in.gravity", variables={"dim": 2, "z": "p", "mass2": 1e-6}, all_pairs=True, fits=(8, 8, 1)),
    Case("gravity 3D, minimized", "in.gravity", variables={"eps": 0.4, "iterations": 6}, all_pairs=True),
    Case("gravity 3D, no softening", "in.gravity", variables={"eps": 0, "mass2": 10, "dt": 1e-6},
         all_pairs=True),
    Case("masses 3D", "in.masses", all_pairs=True),
    Case("masses 2D", "in.masses", variables={"dim": 2, "z": "p", "light": 150}, all_pairs=True, fits=(8, 8, 1)),
    Case("masses 3D, no softening", "in.masses", variables={"eps": 0, "dt": 1e-7}, all_pairs=True),
    Case("gravity 3D in a bowl", "in.bowl", all_pairs=True),
    *boxes(),
    *small_boxes(),
)


# Cases for ranks alone.
RANK_CASES: Tuple[Case, ...] = (
    Case("melt 3D, larger", "in.melt", variables={"cells": 6}, fits=(3, 3, 3)),
    Case("fast 3D", "in.fast", 1.5, fits=(8, 6, 6)),
    Case("corner 3D, walls", "in.corner", fits=(8, 8, 8)),
)

RANKS = (1, 2, 3, 4, 6, 8)

# Ranks that share cores wait for one another in every step: fewer steps than for threads fill the same time.
RANK_STEPS = 600
# Frames of a deck whose number of steps is given. A difference stays in all frames that follow it, so that more
# frames would only tell better where it began; a frame takes as long as some steps on an emulated GPU.
FRAMES = 4


def grids(ranks: int, fits: Tuple[int, int, int]) -> List[Tuple[int, int, int]]:
    """The grids of `ranks` ranks whose domains are thick enough."""
    return [grid for grid in itertools.product(*(range(1, most + 1) for most in fits)) if math.prod(grid) == ranks]


def rank_variants(case: Case, turn: int) -> List[RankVariant]:
    """The variants of a case.  `turn` shifts which grid, thread count, skin and kind of balance meets which ranks."""
    rc = case.length
    chosen = []
    for k, ranks in enumerate(RANKS):
        fitting = grids(ranks, case.fits)
        if not fitting:
            continue
        at = k + turn
        # The program's own choice comes up in turn with the others.
        grid = [*fitting, None][at % (len(fitting) + 1)]
        chosen.append(RankVariant(ranks, grid, 1 + at % 2, (0.04, 0.0, 0.01)[at % 3] * rc, (0, 7, 0, 1)[at % 4],
                                  at % 5 == 1))
    return chosen


def variants(case: Case, turn: int, isas: Sequence[str], count: int = 6) -> List[Variant]:
    """The variants of a case.  `turn` shifts which instruction set meets which of them."""
    rc = case.length
    shapes = [(1, None, 0.0), (2, 0.02 * rc, 1.5 * rc), (3, 0.4 * rc, 0.0),
              (4, 0.0, 1000.0 * rc), (4, 0.15 * rc, 2.2 * rc), (2, 1.0 * rc, 0.0)]
    return [Variant(threads, skin, cell, isas[(k + turn) % len(isas)])
            for k, (threads, skin, cell) in enumerate(shapes[:count])]


def gpu_variants(case: Case) -> List[GpuVariant]:
    """The variants of a case: the engine's own choices for full and for symmetric forces first."""
    rc = case.length
    if case.all_pairs:
        return [GpuVariant("gpu", {}), GpuVariant("gpu-symmetric", {}), GpuVariant("gpu", {"fused": "no"}),
                GpuVariant("gpu-naive", {})]
    every = [
        GpuVariant("gpu", {}),
        GpuVariant("gpu-symmetric", {}),
        GpuVariant("gpu", {"neighbours": "cells", "sort": "radix", "rebin": 1, "block": 64}),
        GpuVariant("gpu", {"neighbours": "cells", "sort": "step"}),
        GpuVariant("gpu", {"neighbours": "cells", "sort": "step", "block": 128, "skin": 0.1 * rc}),
        GpuVariant("gpu", {"neighbours": "cells", "fused": "no", "block": 256, "skin": 0.02 * rc}, 1.5 * rc),
        GpuVariant("gpu", {"neighbours": "cells", "fused": "no", "rebin": 1, "skin": 0.4 * rc}),
        GpuVariant("gpu", {"neighbours": "list", "sort": "radix", "lanes": 1, "skin": 0.15 * rc}),
        GpuVariant("gpu", {"neighbours": "list", "fused": "no", "block": 64, "rebin": 3, "skin": 0.05 * rc}, 2.2 * rc),
        GpuVariant("gpu", {"neighbours": "list", "rebin": "pairs", "lanes": 2, "skin": 0.1 * rc}),
        GpuVariant("gpu", {"neighbours": "list", "lanes": 8, "skin": 0.9 * rc}),  # too wide for packed positions
        GpuVariant("gpu-symmetric", {"neighbours": "cells", "rebin": 7, "skin": 1.0 * rc}),
        GpuVariant("gpu-symmetric", {"neighbours": "cells", "sort": "radix", "skin": 0.1 * rc}, 1000.0 * rc),
        GpuVariant("gpu-symmetric", {"neighbours": "list", "rebin": 1, "block": 256, "skin": 1.0 * rc}),
        GpuVariant("gpu-naive", {}),
        *(teaching_variants(rc) if case.teaching else ()),
    ]
    return [variant for variant in every if not lacks(case, variant)]


def lacks(case: Case, variant: GpuVariant) -> bool:
    """Does the GPU refuse the case with these options?"""
    symmetric, cells = variant.engine == "gpu-symmetric", variant.package.get("neighbours") == "cells"
    return (case.full_lists and symmetric) or (case.listed and (cells or variant.engine == "gpu-naive"))


def teaching_variants(rc: float) -> Iterator[GpuVariant]:
    """Every combination of the switches that belong to the list-free kernel, and of sorts and cells with them."""
    shapes = itertools.cycle([({}, 0.0), ({"sort": "radix", "block": 32}, 1.5 * rc), ({"rebin": 1}, 0.0),
                              ({"sort": "radix", "rebin": 3}, 0.0), ({"block": 64, "skin": 0.05 * rc}, 1000.0 * rc)])
    for is_sorted, padded, unrolled, staged in itertools.product(("no", "yes"), repeat=4):
        if staged == "no" or is_sorted == "yes":
            more, cell = next(shapes)
            yield GpuVariant("gpu", {"sorted": is_sorted, "padded": padded, "unrolled": unrolled, "staged": staged,
                                     "fused": "no", **more}, cell)


def knobs(case: Case, steps: Optional[int], every: Optional[int],
          variant: Optional[AnyVariant]) -> Dict[str, harness.Value]:
    values = dict(case.variables)
    if steps is not None:
        values["steps"] = steps
    if every is not None:
        values["every"] = every
    if variant is not None:
        values.update(variant.knobs())
    return values


def differences(reference: Path, folder: Path, expected: harness.Result, got: harness.Result,
                sound: bool = False) -> List[str]:
    """The differences between the dumps and thermo tables of two runs; empty if they are identical.

    sound: the dump of the reference equals itself, so it can be read, and no number in it is a NaN. Then the same bytes
    are the same numbers, and are not read again.
    """
    dumps = [place / "check.dump" for place in (reference, folder)]
    found = []
    if not sound or dumps[0].read_bytes() != dumps[1].read_bytes():
        status, lines = check.check(str(dumps[0]), str(dumps[1]), check.Options())
        found = [] if status == check.SAME else lines
    for a, b in zip(expected.tables, got.tables):
        if a != b:
            row = next((k for k, rows in enumerate(zip(a.rows, b.rows)) if rows[0] != rows[1]), None)
            found.append("thermo differs: " + (f"{len(a.rows)} and {len(b.rows)} rows" if row is None else
                                               f"{' '.join(a.rows[row])} and {' '.join(b.rows[row])}"))
    if len(expected.tables) != len(got.tables):
        found.append("thermo differs in the number of tables")
    return found


@dataclass
class Verdict:
    case: Case
    particles: int
    steps: int
    variants: int
    seconds: float
    failures: List[str]


def check_case(case: Case, chosen: Sequence[AnyVariant], folder: Path, steps: Optional[int] = None,
               every: Optional[int] = None, core: int = 0) -> Verdict:
    """Runs a case with naive and all variants and compares.  core: ranks run on this one (harness.keep_to_core)."""
    began = time.monotonic()
    deck = case.text()
    naive = harness.run(deck, folder / "naive", engine="naive", variables=knobs(case, steps, every, None))
    particles, frames = size_of_dump(folder / "naive" / "check.dump")
    failures = [] if frames > 1 else ["a single frame proves nothing about motion"]
    unsound = differences(folder / "naive", folder / "naive", naive, naive)
    failures += [f"naive, compared with itself: {line}" for line in unsound]
    cores = os.sched_getaffinity(0)
    for k, variant in enumerate(chosen):
        place = folder / f"variant{k}"
        try:
            if isinstance(variant, RankVariant):
                harness.keep_to_core(core)
            asked = variant.deck(deck) if isinstance(variant, RankVariant) else deck
            got = harness.run(asked, place, **variant.how(), variables=knobs(case, steps, every, variant))
            found = differences(folder / "naive", place, naive, got, sound=not unsound)
            failures += [f"{variant.text()}: {line}" for line in found]
        except (AssertionError, check.Unreadable) as error:
            failures.append(f"{variant.text()}: {error}")
        finally:
            os.sched_setaffinity(0, cores)
        shutil.rmtree(place, ignore_errors=True)
    return Verdict(case, particles, int(naive.table.rows[-1][0]), len(chosen),
                   time.monotonic() - began, failures)


def size_of_dump(path: Path) -> Tuple[int, int]:
    """Particles and frames."""
    lines = path.read_text().splitlines()
    return int(lines[3]), lines.count("ITEM: TIMESTEP")


def describe(verdict: Verdict, width: int) -> str:
    word = "DIFFERENT" if verdict.failures else "identical"
    return (f"{verdict.case.name:<{width}} {verdict.particles:>9} {verdict.steps:>6} {verdict.variants:>9}  "
            f"{word:<10} {verdict.seconds:>7.1f}")


@dataclass(frozen=True)
class Engine:
    """What is compared with naive."""

    words: str  # of the headline
    cases: Tuple[Case, ...]
    chosen: Callable[[Case, int], Sequence[AnyVariant]]  # of a case and its turn
    missing: Callable[[], str] = str  # why it cannot be compared here
    steps: Optional[int] = None  # by default; None: the deck's


def engine_of(name: str) -> Engine:
    if name == "gpu":
        return Engine(f"gpu: full and symmetric, cells, lists and all pairs, {harness.gpu_name()}", CASES,
                      lambda case, _: gpu_variants(case), harness.gpu_missing)
    if name == "mpi":
        return Engine("openmp over 1 to 8 ranks: grids of one to three dimensions, 1 and 2 threads, balanced or not",
                      CASES + RANK_CASES, rank_variants, harness.mpi_missing, RANK_STEPS)
    isas = harness.instruction_sets()
    return Engine(f"openmp: 1 to 4 threads, several skins and cell sizes, {', '.join(isas)}", CASES,
                  lambda case, turn: variants(case, turn, isas))


@dataclass
class Task:
    """A case, and the variants that are compared with one run of naive."""

    case: Case
    steps: Optional[int]
    chosen: List[AnyVariant]

    def verdict(self, folder: Path, core: int) -> Verdict:
        """As check_case, but a failed run of naive is a verdict and not an exception."""
        every = max(1, self.steps // FRAMES) if self.steps else None
        try:
            return check_case(self.case, self.chosen, folder, self.steps, every, core)
        except (AssertionError, check.Unreadable) as error:
            return Verdict(self.case, 0, 0, 0, 0.0, [f"naive: {error}"])


def tasks_of(engines: Sequence[Engine], text: str, steps: Optional[int]) -> List[Task]:
    """A task for each case with `text` in its name and each number of steps, in the order of the cases."""
    tasks: Dict[Tuple[str, Optional[int]], Task] = {}
    named = [case for case in CASES + RANK_CASES if text in case.name]
    for turn, case in enumerate(named):
        for engine in engines:
            if case in engine.cases:
                length = steps or engine.steps
                tasks.setdefault((case.name, length), Task(case, length, [])).chosen += engine.chosen(case, turn)
    return list(tasks.values())


def compare(tasks: Sequence[Task]) -> int:
    """Runs all tasks, prints their verdicts, and returns how many decks differ."""
    began = time.monotonic()
    width = max(len(task.case.name) for task in tasks)
    print(f"\n{'deck':<{width}} {'particles':>9} {'steps':>6} {'variants':>9}  {'verdict':<10} {'seconds':>7}",
          flush=True)
    bad, runs = set(), 0
    cores = len(os.sched_getaffinity(0))
    turns, own = itertools.count(), threading.local()

    def verdict_of(numbered: Tuple[int, Task]) -> Verdict:
        return numbered[1].verdict(Path(folder) / str(numbered[0]), own.core)

    with tempfile.TemporaryDirectory(prefix="myriad-check-") as folder, \
            ThreadPoolExecutor(cores, initializer=lambda: setattr(own, "core", next(turns))) as pool:
        for verdict in pool.map(verdict_of, enumerate(tasks)):
            print(describe(verdict, width), flush=True)
            for failure in verdict.failures:
                print(f"    {failure}")
                bad.add(verdict.case.name)
            runs += verdict.variants
    decks = len({task.case.name for task in tasks})
    summary = (f"{len(bad)} of {decks} decks differ" if bad else
               f"all {runs} runs of {decks} decks identical to naive")
    print(f"\n{summary}, {time.monotonic() - began:.0f} s")
    return len(bad)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(description="Compare every engine with the naive one, bit by bit.")
    parser.add_argument("--myriad", metavar="PROGRAM", help="the program (default: $MYRIAD, or build/myriad)")
    parser.add_argument("--engine", choices=("openmp", "gpu", "mpi"), nargs="+", default=["openmp"],
                        help="the engines to compare (openmp); mpi: openmp over ranks")
    parser.add_argument("--if-present", action="store_true", help="without a GPU, or MPI, say so and end well")
    parser.add_argument("--steps", type=int, help=f"steps of every deck (default: the deck's, 2000; mpi: {RANK_STEPS})")
    parser.add_argument("--only", metavar="TEXT", default="", help="only the decks with TEXT in their name")
    parsed = parser.parse_args(arguments)
    if parsed.myriad:
        os.environ["MYRIAD"] = str(Path(parsed.myriad).resolve())
    engines = {name: engine_of(name) for name in parsed.engine}
    if not tasks_of(list(engines.values()), parsed.only, parsed.steps):
        parser.error(f"no deck has {parsed.only!r} in its name")
    present = []
    for name, engine in engines.items():
        missing = engine.missing()
        print(f"naive against {name}: not compared, {missing}" if missing else f"naive against {engine.words}")
        present += [] if missing else [engine]
    if len(present) < len(engines) and not parsed.if_present:
        return 1
    return 1 if present and compare(tasks_of(present, parsed.only, parsed.steps)) else 0


if __name__ == "__main__":
    sys.exit(main())
