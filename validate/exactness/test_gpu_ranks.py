"""The GPU engine on several ranks: the same bits as naive, however the box is divided and whichever way messages go.

The ranks of these tests share the GPUs there are, so that one GPU is enough; messages are then staged through the
host.  With a GPU for every rank, two of the tests also run by peer access and over NCCL.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any, Mapping

import numpy as np
import pytest

import check
import check_engines
import harness
from test_mpi import assert_communication_adds_up, drops

pytestmark = [pytest.mark.gpu, pytest.mark.mpi]

STAGED = {"transport": "staged"}


def on_ranks(ranks: int, deck, folder: Path, *, package: Mapping[str, harness.Value] = STAGED,
             **more: Any) -> harness.Result:
    return harness.run(deck, folder, engine="gpu", threads=1, package=package, ranks=ranks, **more)


# Bonds in.chains that may be stretched farther than pairs reach, or much less.
HARMONIC = {"style": "harmonic", "first": "80 1.0", "second": "100 0.9", "pair": "soft 1.0", "coefficients": 25,
            "shift": "no"}

# Every integrator, pair style, kind of boundary and source of neighbours; decks with types, thermostat and walls.
CASES = [
    ("in.repulsive", {"n": 3000}, 2, {}),
    ("in.repulsive", {"n": 3000}, 4, {"rebin": 1}),
    ("in.repulsive", {"n": 3000}, 3, {"neighbours": "list"}),
    ("in.repulsive", {"n": 3000}, 2, {"neighbours": "list", "rebin": "pairs"}),
    ("in.repulsive", {"n": 3000}, 3, {"fused": "no"}),
    ("in.overlap", {}, 4, {}),
    ("in.springs", {}, 2, {}),
    ("in.overlap", {"mirror": "yes"}, 3, {"force": "symmetric"}),
    ("in.overlap", {"drift": "float"}, 2, {}),
    ("in.mixture", {}, 2, {}),
    ("in.mixture", {"mass2": 0.4}, 4, {"neighbours": "cells", "sort": "radix"}),
    ("in.mixture", {}, 3, {"neighbours": "list", "rebin": 3}),
    ("in.mixture", {"binsize": 1000}, 3, {}),
    ("in.melt", {}, 2, {}),
    ("in.melt", {"cells": 6}, 4, {}),
    ("in.melt", {"cells": 6}, 4, {"neighbours": "list", "rebin": "pairs"}),
    ("in.melt", {"cells": 6}, 3, {"neighbours": "cells"}),
    ("in.melt", {"cells": 6}, 4, {"neighbours": "cells"}),
    ("in.melt", {"cells": 7}, 4, {"fused": "no", "sort": "radix", "rebin": 1}),
    ("in.melt", {"cells": 6}, 3, {"force": "symmetric", "neighbours": "list"}),
    ("in.langevin", {}, 2, {}),
    ("in.scaled", {}, 2, {}),
    ("in.scaled", {"mass2": 1e6}, 2, {}),
    ("in.cooled", {"n": 1500}, 3, {}),
    ("in.slab", {}, 2, {}),
    ("in.slab", {"mass2": 1}, 2, {"neighbours": "cells"}),
    ("in.soft", {}, 2, {}),
    ("in.wca", {}, 3, {}),
    ("in.types", {}, 2, {}),
    ("in.excluded", {"side": 8}, 3, {}),
    ("in.close", {}, 4, {}),
    ("in.empty", {}, 4, {}),
    ("in.slab", {"mass2": 1e6}, 2, {}),
    ("in.mixture", {"mass2": 1e9}, 4, {"neighbours": "cells"}),
    ("in.eam", {"potential": str(harness.REFERENCE / "Cu_u3.eam"), "long": 7}, 2, {}),
    ("in.eam", check_engines.MADE_UP, 4, {"neighbours": "cells", "rebin": 3}),
    ("in.three_body", {**check_engines.TELLURIDE, "long": 4}, 2, {}),
    ("in.three_body", {**check_engines.TELLURIDE, "long": 3, "wide": 3}, 4, {"neighbours": "cells", "rebin": 3}),
    ("in.melt", {"cells": 6, "dt": 1e-5}, 3, {"neighbours": "list", "rebin": 5}),
    ("in.dpd", {}, 2, {}),
    ("in.dpd", {"mass2": 1e5, "fix2": "langevin 1 1 5 77"}, 4, {"neighbours": "cells", "rebin": 2}),
    ("in.chains", {**check_engines.CHAINS, **HARMONIC, "pair": "dpd 1 1.2 77", "coefficients": "25 4.5"}, 2, {}),
    ("in.chains", check_engines.CHAINS, 2, {}),
    ("in.chains", check_engines.CHAINS, 4, {"rebin": 3, "skin": 1.0}),
    ("in.chains", {**check_engines.CHAINS, **HARMONIC, "special": "lj/coul 0 0 0"}, 2, {"force": "symmetric"}),
    ("in.chains", {**check_engines.CHAINS, **HARMONIC, "special": "lj/coul 1 1 1"}, 2, {"neighbours": "cells"}),
    ("in.molecules", {"side": 8, "exclude": "molecule/inter left exclude molecule/intra right"}, 3, {"rebin": 4}),
    ("in.molecules", {**check_engines.FLAT, "side": 24}, 4, {}),
]
NAMES = [" ".join([deck, *(f"{k}={v}".replace(f"{harness.REFERENCE}/", "") for k, v in knobs.items()),
                   f"{ranks} ranks", *map(str, package.values())])
         for deck, knobs, ranks, package in CASES]


@pytest.mark.parametrize("deck, knobs, ranks, package", CASES, ids=NAMES)
def test_ranks_equal_naive(deck, knobs, ranks, package, tmp_path):
    knobs = {**knobs, "steps": 240, "every": 80}
    naive = harness.run(harness.deck(deck), tmp_path / "naive", engine="naive", variables=knobs)
    got = on_ranks(ranks, harness.deck(deck), tmp_path / "ranks", package={**STAGED, **package}, variables=knobs)
    assert not check_engines.differences(tmp_path / "naive", tmp_path / "ranks", naive, got)
    assert "staged through pinned host memory" in got.log


def in_bricks(deck: str) -> str:
    """The deck with domains by recursive bisection from its first run on, even if the grid is balanced."""
    text, runs = re.subn(r"(?m)^run ", "balance 0.5 rcb\nrun ", deck, count=1)
    assert runs == 1, deck
    return text


BRICKS = [
    ("in.repulsive", {"n": 3000}, 3, {"neighbours": "list", "rebin": "pairs"}),
    ("in.overlap", {}, 6, {}),
    ("in.overlap", {"mirror": "yes"}, 3, {"force": "symmetric"}),
    ("in.mixture", {"mass2": 0.4}, 4, {"neighbours": "cells", "sort": "radix"}),
    ("in.melt", {"cells": 6}, 4, {}),
    ("in.melt", {"cells": 6}, 5, {"neighbours": "cells"}),
    ("in.langevin", {}, 6, {}),
    ("in.slab", {"mass2": 1e6}, 2, {}),
    ("in.close", {}, 4, {}),
    ("in.empty", {}, 4, {}),
    ("in.barostat", {}, 3, {}),
    ("in.eam", check_engines.MADE_UP, 4, {"neighbours": "cells", "rebin": 3}),
    ("in.three_body", {**check_engines.TELLURIDE, "long": 3, "wide": 3}, 4, {}),
    ("in.dpd", {"mass2": 1e5, "fix2": "langevin 1 1 5 77"}, 4, {"neighbours": "cells", "rebin": 2}),
    ("in.chains", {**check_engines.CHAINS, **HARMONIC, "special": "lj/coul 0 0 0"}, 4, {"force": "symmetric"}),
    ("in.molecules", {"side": 8}, 4, {"rebin": 3}),
]


@pytest.mark.parametrize("deck, knobs, ranks, package", BRICKS, ids=[
    " ".join([deck, *map(str, knobs.keys()), f"{ranks} ranks", *map(str, package.values())])
    for deck, knobs, ranks, package in BRICKS])
def test_bricks_equal_naive(deck, knobs, ranks, package, tmp_path):
    knobs = {**knobs, "steps": 120, "every": 40}
    naive = harness.run(harness.deck(deck), tmp_path / "naive", engine="naive", variables=knobs)
    got = on_ranks(ranks, in_bricks(harness.deck(deck).read_text()), tmp_path / "ranks",
                   package={**STAGED, **package}, variables=knobs)
    assert not check_engines.differences(tmp_path / "naive", tmp_path / "ranks", naive, got)
    assert f", {ranks} bricks, " in got.log


CRYSTAL = """\
units lj
boundary f p s
lattice fcc 0.8442
region b block 0 6 0 6 0 6
create_box 1 b
create_atoms 1 box
mass 1 1
velocity all create 1.44 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
neighbor 0.3 bin
fix move all nve
fix walls all wall/reflect xlo EDGE xhi EDGE
thermo 20
thermo_modify format float %.17g
dump check all custom 40 check.dump id x y z vx vy vz
run 80
"""


def test_bricks_equal_naive_where_they_are_as_thin_as_a_cell(tmp_path):
    """Ghosts come from ranks that do not touch the brick. Along two axes particles are outside the cells."""
    naive = harness.run(CRYSTAL, tmp_path / "naive", engine="naive")
    got = on_ranks(16, in_bricks(CRYSTAL), tmp_path / "ranks")
    assert not check_engines.differences(tmp_path / "naive", tmp_path / "ranks", naive, got)
    flat = in_bricks(CRYSTAL.replace("0 6 0 6 0 6", "0 6 0 6 0 2"))
    refused = on_ranks(12, flat, tmp_path / "cells", package={**STAGED, "neighbours": "cells"}, expect=2)
    assert "the bricks of 12 ranks need 4 cells of the width of the cutoff, and the box has 3" in refused.err


DROPS = drops("0 160 0 100", "36 36 0 16", "110 56 0 12")


def test_bricks_balance_what_a_grid_cannot(tmp_path):
    """Two drops that fly through periodic faces. A run begins with a grid, goes on with bricks, and ends with a grid.
    Planes lie between cells, which are as wide as a quarter of a drop's radius."""
    fix, end = "fix even all balance 10 1.05 {}\nrun 100\n", "minimize 0 0 5 20\nrun 50\n"
    one = harness.run(DROPS + "run 100\n" + end, tmp_path / "one", threads=1)
    bricks = on_ranks(4, DROPS + fix.format("rcb") + end, tmp_path / "bricks")
    back = on_ranks(3, DROPS + fix.format("rcb") + "unfix even\nbalance 0.5 shift\n" + end, tmp_path / "back")
    grid = on_ranks(4, "processors 2 2 1\n" + DROPS + fix.format("shift"), tmp_path / "grid")
    assert bricks.particles_of_ranks[3] < 1.15 < 1.3 < grid.particles_of_ranks[3]
    assert ", 4 bricks, " in bricks.log
    assert ", 3 bricks, " in back.log and re.search(", [13] x [13] x 1 domains, ", back.log)
    for name, got in ("bricks", bricks), ("back", back):
        assert got.tables == one.tables
        assert (tmp_path / name / "check.dump").read_bytes() == (tmp_path / "one" / "check.dump").read_bytes()


@pytest.mark.parametrize("domains", ["grid", "bricks"])
@pytest.mark.parametrize("across", [False, True], ids=["", "across"])
@pytest.mark.parametrize("at", [0.0, 0.5], ids=["at a face", "at a cut"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_lists_end_before_they_lack_a_ghost(ranks, at, across, domains, tmp_path):
    deck = harness.meetings(tmp_path, at, across)
    naive = harness.run(deck, tmp_path / "naive", engine="naive")
    if domains == "grid":
        text = "processors * * 2\n" + deck
    else: # the first plane is across y, the second one across y or z
        text, ranks = in_bricks(deck), 2 * ranks
    got = on_ranks(ranks, text, tmp_path / "ranks", package={**STAGED, "neighbours": "list", "rebin": "pairs"})
    assert not check_engines.differences(tmp_path / "naive", tmp_path / "ranks", naive, got)


COLLAPSE = """\
units lj
lattice fcc 0.02
region box block 0 5 0 5 0 10
create_box 1 box
create_atoms 1 box
region hole sphere 14 14 14 8 units box
delete_atoms region hole
lattice fcc 0.2
region inner sphere 14 14 14 7 units box
create_atoms 1 region inner
mass 1 1
group inner region inner
variable vx atom -3*(x-14)
variable vy atom -3*(y-14)
variable vz atom -3*(z-14)
velocity all create 0.5 4321
velocity inner set v_vx v_vy v_vz
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
neighbor 0.3 bin
timestep 0.001
fix move all nve
thermo 50
thermo_modify format float %.17g
dump check all custom 50 check.dump id x y z vx vy vz
run 200
"""


SLABS_WITHOUT_GHOSTS_BESIDE = """units lj
boundary f f p
lattice fcc 0.8442
region box block 0 4 0 4 0 60
create_box 1 box
create_atoms 1 box
mass 1 1
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
neighbor 0.3 bin
fix 1 all nve
fix w all wall/reflect xlo EDGE xhi EDGE ylo EDGE yhi EDGE
run ${steps}
write_dump all custom ${dump} id x y z vx vy vz modify format float %.17g
"""


def test_warps_search_as_deep_as_their_boxes_reach(tmp_path, monkeypatch):
    """Only the faces between slabs have ghosts, so that the cells in the middle of a slab have no beginnings of ghosts.
    Warps look there, as their particles lie in several rows. On the CPU the page before each array has no access."""
    monkeypatch.setenv("EMULATOR_GUARD", "before")
    knobs = {"steps": 12}
    reference, own = tmp_path / "naive.dump", tmp_path / "gpu.dump"
    harness.run(SLABS_WITHOUT_GHOSTS_BESIDE, tmp_path, engine="naive", variables={**knobs, "dump": reference.name})
    result = on_ranks(2, "processors 1 1 2\n" + SLABS_WITHOUT_GHOSTS_BESIDE, tmp_path,
                      package={**STAGED, "neighbours": "cells"}, variables={**knobs, "dump": own.name})
    assert "cells without lists, 1 x 1 x 2 domains" in result.log
    assert own.read_bytes() == reference.read_bytes()


def test_lists_that_have_no_room_on_one_rank(tmp_path):
    """A ball that collapses on the first rank: from 20 to 60 rows of neighbours in the longest list. The other rank
    waits until the first one has made room."""
    naive = harness.run(COLLAPSE, tmp_path / "naive", engine="naive")
    got = on_ranks(2, COLLAPSE, tmp_path / "ranks", package={**STAGED, "neighbours": "list"})
    assert not check_engines.differences(tmp_path / "naive", tmp_path / "ranks", naive, got)
    assert ", 1 x 1 x 2 domains, " in got.log


LEAPS = """\
units lj
lattice sc 0.015625
region box block 0 4 0 4 0 12
create_box 1 box
create_atoms 1 box
create_atoms 1 single 1 1 8.3
group fast id 193
mass 1 1
velocity all create 0.5 4321
velocity fast set 0 0 -2340 units box
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
neighbor 0.3 bin
timestep 0.005
fix move all nve
thermo 1
thermo_modify format float %.17g
dump check all custom 1 check.dump id x y z vx vy vz
run 3
"""


def test_a_particle_leaves_from_far_behind_the_cut(tmp_path):
    """It goes 11.7 in a step, from 9.2 above the cut to 2.5 below, next to a particle that has no ghost above. Its rank
    first looks for migrants within 3 of the cuts."""
    naive = harness.run(LEAPS, tmp_path / "naive", engine="naive")
    got = on_ranks(2, LEAPS, tmp_path / "ranks", package={**STAGED, "neighbours": "list"})
    assert not check_engines.differences(tmp_path / "naive", tmp_path / "ranks", naive, got)
    assert ", 1 x 1 x 2 domains, " in got.log


def same(a: Path, b: Path) -> None:
    status, lines = check.check(str(a), str(b), check.Options())
    assert status == check.SAME, "\n".join(lines)


def rewritten(deck: str, old: str, new: str) -> str:
    text = harness.deck(deck).read_text()
    assert text.count(old) == 1, old
    return text.replace(old, new)


@pytest.mark.parametrize("ranks, by", [(2, ""), (4, " weight neigh 0.9"), (4, " rcb")])
def test_moving_cuts_change_nothing(ranks, by, tmp_path):
    """A gas that starts in one corner, with cuts that follow it."""
    knobs = {"steps": 300, "every": 100}
    text = rewritten("in.overlap", "create_atoms    2 random 100 13 inside", "create_atoms    2 random 100 13 corner")
    text = text.replace("create_atoms    1 random 200 12 inside",
                        "region corner block -0.45 -0.1 -0.48 -0.1 -0.5 0.5 units box\n"
                        "create_atoms    1 random 200 12 inside")
    naive = harness.run(text, tmp_path / "naive", engine="naive", variables=knobs)
    text = text.replace("run             ${steps}", f"fix even all balance 20 1.05{by}\nrun ${{steps}}")
    got = on_ranks(ranks, text, tmp_path / "ranks", variables=knobs)
    assert not check_engines.differences(tmp_path / "naive", tmp_path / "ranks", naive, got)
    assert (f", {ranks} bricks, " in got.log) == (by == " rcb")


def test_a_rank_that_was_empty_gets_a_momentum_of_two_words(tmp_path):
    """The only particle changes its rank whenever the cuts move. Its new rank makes larger arrays during the run."""
    deck = ("boundary f f f\nregion b block 0 8 0 5 0 4 units box\ncreate_box 2 b\ncreate_atoms 2 random 1 5 NULL\n"
            "mass 1 1\nmass 2 1e6\nvelocity all uniform -0.9 0.9 9\npair_style soft 0.5\npair_coeff * * 1\n"
            "timestep 0.01\nfix move all nve\n"
            "fix walls all wall/reflect xlo EDGE xhi EDGE ylo EDGE yhi EDGE zlo EDGE zhi EDGE\n"
            "thermo 20\nthermo_modify format float %.17g\n"
            "dump check all custom 20 check.dump id type x y z vx vy vz\n")
    naive = harness.run(deck + "run 60\n", tmp_path / "naive", engine="naive")
    got = on_ranks(2, deck + "fix even all balance 1 1.0 rcb\nrun 60\n", tmp_path / "ranks",
                   package={**STAGED, "rebin": 1})
    assert not check_engines.differences(tmp_path / "naive", tmp_path / "ranks", naive, got)


def test_domains_have_equally_many_cells(tmp_path):
    """58 rows of particles in 51 rows of cells, if one rank had them all."""
    got = on_ranks(2, harness.deck("in.repulsive"), tmp_path,
                   variables={"n": 58 * 58, "skin": 0.01, "steps": 2, "every": 2})
    assert "1 x 2 x 1 domains" in got.log
    assert re.search(r"Particles of a rank: 1682 ave 1682 max 1682 min", got.log), got.log


GAS = ("mass 1 0.01\npair_style repulsive 0.01\ntimestep 0.0005\nneighbor 0.006 bin\nfix move all nve/leapfrog\n"
       "fix walls all wall/reflect xlo EDGE xhi EDGE ylo EDGE yhi EDGE\n")


def tall(folder: Path, motion: str, more: str = "") -> str:
    """A box so tall that slabs of it have rows of cells to spare beyond their cuts; the middle is at 5."""
    rng = np.random.default_rng(6)
    columns = 64 if motion == "two fronts" else 16
    y, x = np.divmod(np.arange(columns * 320), columns)
    sites = np.stack([x + 0.5, y + 0.5, np.zeros(len(x))], -1) * (1 / 32, 1 / 32, 0)
    sites[:, :2] += rng.uniform(-0.01, 0.01, (len(x), 2))
    v = rng.uniform(-1, 1, sites.shape) * (1, 1, 0)
    if motion == "upwards":
        v[:, 1] += 2
    elif motion == "to the middle":
        v[:, 1] -= 2 * np.sign(sites[:, 1] - 5)
    elif motion == "two fronts":
        sites[:, 1] += np.where(sites[:, 1] > 5, 1, -1) * 0.06 * (1 - np.abs(sites[:, 1] - 5) / 5)
        v = 0.3 * v - 1.5 * np.sign(sites - 5) * (0, 1, 0)
    elif motion == "from a crowd":
        sites[:, 1] = 5 + 0.5 * (sites[:, 1] - 5)
    elif motion == "from one half":
        sites[:, 1] *= 0.45
    data = harness.write_data(folder / "tall.data", harness.Particles((0, 0, -0.5), (columns / 32, 10, 0.5), sites, v))
    return (f"units lj\ndimension 2\nboundary f f p\nread_data {data}\n{GAS}thermo 50\n"
            f"dump check all custom 140 check.dump id type x y vx vy fx fy\n{more}\nrun 130\nrun 170\n")


@pytest.mark.parametrize("ranks, motion, more",
                         [(2, "mixing", ""), (2, "upwards", ""), (2, "two fronts", ""), (2, "from one half", ""),
                          (3, "mixing", ""), (4, "to the middle", ""),
                          (3, "from a crowd", "fix even all balance 20 1.05"),
                          (3, "from one half", "fix even all balance 20 1.05"),
                          (3, "from one half", "fix even all balance 150 1.05 rcb")])
def test_steps_sort_on_ranks(ranks, motion, more, tmp_path):
    """Deferred migration: particles go far beyond the cuts before they change the rank, into the buffer rows and beyond
    them."""
    deck = tall(tmp_path, motion, more)
    harness.run(deck, tmp_path / "openmp")
    got = on_ranks(ranks, deck, tmp_path / "ranks", package={**STAGED, "sort": "step", "profile": "yes"})
    same(tmp_path / "openmp" / "check.dump", tmp_path / "ranks" / "check.dump")
    assert f", sorted by steps, 1 x {ranks} x 1 domains" in got.log
    calls = {kernel.name: kernel.calls for kernel in got.kernels}
    assert calls["advance, sort"] == calls["advance, count"] >= (5 if more else 10)
    # How often particles do not fit into the rows to spare depends on the start: 6 to 11 times "to the middle".
    assert calls["reorder"] <= (20 if more else 12)


@pytest.mark.parametrize("sort, thermo", [("count", 20), ("step", 12)])
def test_the_balance_is_not_looked_at_before_it_is_due(sort, thermo, tmp_path):
    """Rebins between two parts of a run, at rows of thermo, once counted the steps of the last part twice."""
    deck = tall(tmp_path, "from one half", f"thermo {thermo}\nfix even all balance 131 1.05 rcb")
    got = on_ranks(3, deck.replace("run 170\n", ""), tmp_path / "ranks", package={**STAGED, "sort": sort})
    assert ", 1 x 3 x 1 domains" in got.log


def test_the_plan_knows_what_slabs_send(tmp_path):
    """Two H200s with 10^8 particles each exchanged 195 841 particles through the only face. Four with 1.25 10^9 each
    took 97.6 bytes a particle."""
    deck = harness.INPUTS / "in.repulsive-bench"

    def plan(ranks: int, *more: str, each: int = 10**8) -> str:
        words = [str(harness.program()), "plan", "-in", str(deck), "--engine", "gpu", "--ranks", str(ranks),
                 "--particles", str(ranks * each), "-var", "n", "1000", *more]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    out = plan(2)
    sent = float(re.search(r"of which ([\d.e+]+) come from other ranks", out)[1])
    assert sent == pytest.approx(2 * 195841, rel=0.01)
    most = plan(4, each=1250000000)
    assert float(re.search(r"^all +\| +([\d.]+)", most, re.M)[1]) == pytest.approx(97.6, rel=0.005)
    assert "\nRanks: 1 x 4 x 1, " in plan(4) and "\nRanks: 32 x 32 x 1, " in plan(1024)
    assert "\nRanks: 2 x 2 x 1, " in plan(4, "-pk", "gpu", "sort", "count")


def test_the_plan_knows_the_ranks_that_a_domain_touches(tmp_path):
    """Images of own particles, across faces of the box where one domain has the whole axis, are in no message."""
    deck = ("units lj\nregion b block 0 50 0 50 0 50 units box\ncreate_box 1 b\nmass 1 1\nlattice sc 1.0\n"
            "create_atoms 1 random 100 1 NULL\npair_style lj/cut 2.5\npair_coeff * * 1 1\nneighbor 0.5 bin\nrun 1\n")
    (tmp_path / "in.deck").write_text(deck)
    for ranks, grid, messages in (8, "1 x 2 x 4", 5), (27, "3 x 3 x 3", 26):
        words = [str(harness.program()), "plan", "-in", "in.deck", "--engine", "gpu", "--ranks", str(ranks),
                 "--particles", str(ranks * 125000)]
        out = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        sides = re.search(rf"^Ranks: {grid}, domains of ([\d.]+) x ([\d.]+) x ([\d.]+),", out, re.M).groups()
        halo, sent = re.search(r"^Halo: ([\d.]+) wide, .* of which ([\d.e+]+) come from", out, re.M).groups()
        grown = [1 + 2 * float(halo) / float(side) for side in sides]
        own = grown[0] if grid[0] == "1" else 1.0
        assert float(sent) == pytest.approx(125000 * (grown[0] * grown[1] * grown[2] - own), rel=1e-3), out
        assert f"\nMessages: {messages} a rank and step" in out


def test_slabs_where_steps_sort(tmp_path):
    """Two domains of this box have less surface if x is cut; a second run finds them as the first left them."""
    deck = ("units lj\ndimension 2\nboundary f f p\nregion box block 0 17 0 16.6 -0.5 0.5 units box\ncreate_box 1 box\n"
            "create_atoms 1 grid 400000 seed 3\nvelocity all uniform -1 1 11\n" + GAS +
            "thermo 8\nthermo_style custom step ke etotal press momx momy\nthermo_modify format float %.17g\n"
            "run 8\nrun 8\n")
    alone = harness.run(deck, tmp_path / "openmp")
    got = on_ranks(2, deck, tmp_path / "ranks", package={**STAGED, "sort": "step"})
    assert got.log.count(", sorted by steps, 1 x 2 x 1 domains") == 2
    assert len(alone.tables) == len(got.tables) == 2
    for one, other in zip(alone.tables, got.tables):
        assert one.rows == other.rows


def test_steps_sort_on_ranks_in_mixed_precision(tmp_path):
    """Sums depend on the order of particles, but keep the energy, unless one side of a pair does not see the other."""
    deck = tall(tmp_path, "mixing")
    runs = {sort: on_ranks(2, deck, tmp_path / sort, package={**STAGED, "sort": sort, "precision": "mixed"})
            for sort in ("step", "count")}
    assert ", sorted by steps" in runs["step"].log and ", sorted by steps" not in runs["count"].log
    for step, within in ((50, 1e-7), (300, 0.01)):
        at = [next(t for t in run.tables if step in t.column("Step")).at(step)["TotEng"] for run in runs.values()]
        assert at[0] == pytest.approx(at[1], rel=within)


@pytest.mark.parametrize("package", [{}, {"fused": "no"}], ids=["fused", "not fused"])
def test_the_time_in_communication_by_kind(package, tmp_path):
    got = on_ranks(3, harness.deck("in.repulsive"), tmp_path, package={**STAGED, **package},
                   variables={"n": 3000, "steps": 60, "every": 60})
    assert_communication_adds_up(got)
    assert got.rank_comm["balance"].most == 0.0 and got.rank_phases["Force"].least > 0.0


def test_runs_and_output_may_cut_it(tmp_path):
    knobs = {"steps": 120, "every": 30}
    harness.run(harness.deck("in.slab"), tmp_path / "naive", engine="naive", variables=knobs)
    text = rewritten("in.slab", "run             ${steps}",
                     "dump busy all custom 7 busy.dump id x\nthermo 11\nrun 50\nwrite_data half.data\nrun 70")
    on_ranks(2, text, tmp_path / "ranks", variables=knobs)
    same(tmp_path / "naive" / "check.dump", tmp_path / "ranks" / "check.dump")


def test_forces_come_with_their_particles(tmp_path):
    """Forces in a dump may need a rebin, which moves particles to other ranks. Without thermo rows nothing asks for a
    rebin before."""
    knobs = {"n": 3000, "steps": 120, "every": 3}
    text = rewritten("in.repulsive", "thermo          ${every}", "thermo 0")
    harness.run(text, tmp_path / "openmp", variables=knobs)
    on_ranks(2, text, tmp_path / "ranks", variables=knobs)
    same(tmp_path / "openmp" / "check.dump", tmp_path / "ranks" / "check.dump")


def test_ids_beyond_32_bits(tmp_path):
    """Particles with ids around 2^33 that cross the cuts."""
    first = 2**33 - 5
    rng = np.random.default_rng(4)
    sites = np.stack(np.meshgrid(*[np.arange(12)] * 2), -1).reshape(-1, 2) * 1.2 + 0.3
    x = np.hstack([sites, np.zeros((len(sites), 1))])
    v = np.hstack([rng.normal(size=sites.shape), np.zeros((len(sites), 1))])
    n = len(x)
    data = harness.write_data(tmp_path / "a.data", harness.Particles((0, 0, -0.5), (14.4, 14.4, 0.5), x, v))
    head, atoms, velocities = re.split(r"(?m)^(?=Atoms|Velocities)", data.read_text())
    beyond = lambda text: re.sub(r"(?m)^(\d+) ", lambda m: f"{int(m.group(1)) + first} ", text)
    data.write_text(head + beyond(atoms) + beyond(velocities))
    deck = (f"units lj\ndimension 2\nread_data {data}\npair_style lj/cut 2.5\npair_coeff 1 1 1 1\ntimestep 0.004\n"
            "fix move all nve\nneighbor 0.3 bin\ndump check all custom 100 check.dump id x y vx vy\nrun 300\n")
    harness.run(deck, tmp_path / "naive", engine="naive")
    on_ranks(3, deck, tmp_path / "ranks")
    same(tmp_path / "naive" / "check.dump", tmp_path / "ranks" / "check.dump")
    assert harness.read_dump(tmp_path / "ranks" / "check.dump")[-1].columns["id"].max() == first + n


@pytest.mark.parametrize("dim, ranks", [(2, 2), (2, 4), (3, 2)])
def test_minimisers_find_their_particles(dim, ranks, tmp_path):
    """Faces follow the particles, and cuts lie between cells, so that an engine may move particles as it begins."""
    box, boundary, lattice = (("0 14 0 10 -0.5 0.5", "f ms p", "sq 0.9") if dim == 2 else
                              ("0 9 0 5 0 5", "p s ms", "sc 0.9"))
    deck = (f"units lj\ndimension {dim}\nboundary {boundary}\nlattice {lattice} origin 0.3 0.3 {0.3 * (dim - 2)}\n"
            f"region b block {box}\ncreate_box 1 b\ncreate_atoms 1 box\nmass 1 1\npair_style morse 2.5\n"
            "pair_coeff 1 1 1 3 1.1\nfix 1 all nve\nthermo 1\nthermo_style custom step pe press vol\n"
            "thermo_modify format float %.17g\nminimize 0 0 8 30\n")
    expected = harness.run(deck, tmp_path / "naive", engine="naive").table.rows
    assert on_ranks(ranks, deck, tmp_path / "gpu").table.rows == expected and len(expected) > 3


@pytest.mark.parametrize("style", ["cg", "fire"])
def test_minimisers_begin_with_the_particles_of_the_engine(style, tmp_path):
    """Cuts lie between cells, so that an engine moves particles as the minimisation begins."""
    deck = ("region b block 0 4.2 0 4.4 0 4.2\ncreate_box 1 b\ncreate_atoms 1 random 60 31 NULL\nmass 1 1\n"
            "pair_style gauss 1.1225\npair_coeff 1 1 1.7 1.6\nneighbor 0.1 bin\ntimestep 0.001\nfix 1 all nve\n"
            f"thermo 1\nthermo_style custom step pe press\nthermo_modify format float %.17g\nmin_style {style}\n"
            "minimize 0 0 5 30\n")
    expected = harness.run(deck, tmp_path / "naive", engine="naive").table.rows
    assert on_ranks(2, deck, tmp_path / "gpu").table.rows == expected and len(expected) > 3


def test_anchors_of_a_restart_without_their_fix(tmp_path):
    if harness.hdf5_missing():
        pytest.skip("this build has no HDF5")
    box = ("dimension 2\nlattice sq 0.7\nregion b block 0 8 0 8 -0.5 0.5\ncreate_box 1 b\ncreate_atoms 1 box\n"
           "mass 1 1\nvelocity all create 1 3\npair_style lj/cut 1.5\npair_coeff 1 1 1 1\n")
    harness.run(box + "fix 2 all spring/self 3\nwrite_restart r\n", tmp_path)
    deck = ("read_restart ../r\nfix 1 all nve\nthermo 5\nthermo_style custom step pe ke\n"
            "thermo_modify format float %.17g\nrun 20\n")
    expected = harness.run(deck, tmp_path / "naive", engine="naive").table.rows
    package = {**STAGED, "neighbours": "cells"}
    assert on_ranks(2, deck, tmp_path / "gpu", package=package).table.rows == expected


def test_a_rank_without_particles_has_no_lists(tmp_path):
    deck = ("units lj\nboundary p p f\nregion b block 0 6 0 8.4 0 7.2\ncreate_box 1 b\n"
            "create_atoms 1 single 3 1 3.8\nmass 1 1\npair_style lj/cut 2.5\npair_coeff 1 1 1 1\nneighbor 0.1 bin\n"
            "fix 1 all nve/leapfrog\nfix 2 all addforce 0.1 0 0\nthermo 10\nthermo_modify format float %.17g\nrun 20\n")
    expected = harness.run(deck, tmp_path / "naive", engine="naive").table.rows
    package = {**STAGED, "neighbours": "list"}
    assert on_ranks(4, deck, tmp_path / "gpu", package=package).table.rows == expected


@pytest.mark.parametrize("domains", ["grid", "bricks"])
@pytest.mark.parametrize("deck, knobs, ranks", [("in.melt", {"cells": 6}, 4), ("in.repulsive", {"n": 3000}, 3),
                                                ("in.mixture", {}, 2), ("in.slab", {"mass2": 1}, 2)])
def test_mixed_precision_stays_close(deck, knobs, ranks, domains, tmp_path):
    """Sums of single precision depend on their order, and their order depends on the ranks. Particles of two runs stay
    together for a while."""
    knobs = {**knobs, "steps": 60, "every": 30}
    harness.run(harness.deck(deck), tmp_path / "naive", engine="naive", variables=knobs)
    text = harness.deck(deck).read_text()
    on_ranks(ranks, in_bricks(text) if domains == "bricks" else text, tmp_path / "ranks",
             package={**STAGED, "precision": "mixed"}, variables=knobs)
    a = harness.read_dump(tmp_path / "naive" / "check.dump")
    b = harness.read_dump(tmp_path / "ranks" / "check.dump")
    assert len(a) == len(b) == 3
    for one, other in zip(a, b):
        assert (one.columns["id"] == other.columns["id"]).all() and (one.columns["type"] == other.columns["type"]).all()
        apart = one.vectors("x", "y", "z") - other.vectors("x", "y", "z")
        side = one.bounds[:, 1] - one.bounds[:, 0]
        apart -= side * np.round(apart / side)
        assert np.abs(apart).max() < 2e-4 * side.max()


OVERLAP = ("create_atoms    1 box", "create_atoms    1 box\ncreate_atoms 1 single 3.0001 3 3 units box\n"
           "create_atoms 1 single 3.0002 3 3 units box")


@pytest.mark.parametrize("what", ["overlap", "overlap later", "lost", "lost from a brick"])
def test_one_error_for_all(what, tmp_path):
    """The message is that of one rank, about the same particles at the same step."""
    if what == "overlap":
        text, knobs = rewritten("in.melt", *OVERLAP), {"cells": 6, "steps": 50}
    elif what == "overlap later":
        text, knobs = harness.deck("in.melt").read_text(), {"cells": 6, "steps": 200, "dt": 0.06}
    else:
        walls = "fix             walls all wall/reflect xlo EDGE xhi EDGE ylo EDGE yhi EDGE"
        text = rewritten("in.repulsive", walls, "")
        knobs = {"n": 3000, "steps": 100}
    alone = harness.run(text, tmp_path / "naive", engine="naive", variables=knobs, expect=3)
    got = on_ranks(3, in_bricks(text) if "brick" in what else text, tmp_path / "ranks", variables=knobs, expect=3)
    message = re.search(r"step \d+: .*", alone.err).group(0)
    assert what.split()[0] in message
    assert message in got.err
    assert got.err.count("myriad: error") == 1


def test_too_many_ranks_are_refused(tmp_path):
    got = on_ranks(3, harness.deck("in.melt"), tmp_path, variables={"cells": 4, "steps": 10}, expect=2)
    assert "halo" in got.err and "2 and 4 ranks fit" in got.err


def test_shared_gpu_falls_back_and_says_so(tmp_path):
    knobs = {"n": 3000, "steps": 20, "every": 10}
    got = on_ranks(harness.gpus() + 1, harness.deck("in.repulsive"), tmp_path / "auto", package={}, variables=knobs)
    assert "ranks share a GPU" in got.log
    assert "staged" in got.log or "GPU-aware" in got.log
    assert "not peer access: ranks share a GPU" in got.log
    if "without NCCL" not in got.log:
        assert "not NCCL: ranks share a GPU" in got.log


def test_forced_transports_work_or_say_why(tmp_path):
    knobs = {"n": 3000, "steps": 20, "every": 10}
    for name in ("peer", "nccl"):
        got = on_ranks(harness.gpus() + 1, harness.deck("in.repulsive"), tmp_path / name, package={"transport": name},
                       variables=knobs, expect=2)
        assert f"transport {name} does not work here" in got.err
    harness.run(harness.deck("in.repulsive"), tmp_path / "naive", engine="naive", variables=knobs)
    try:
        on_ranks(2, harness.deck("in.repulsive"), tmp_path / "aware", package={"transport": "aware"}, variables=knobs)
        same(tmp_path / "naive" / "check.dump", tmp_path / "aware" / "check.dump")
    except AssertionError as failure:
        assert "transport aware does not work here" in str(failure)


# Transports with which the host does not wait, and what the log calls them.
DIRECT = [("peer", "messages peer access"), ("nccl", "messages NCCL")]


@pytest.mark.parametrize("transport, said", DIRECT)
@pytest.mark.parametrize("deck, knobs, package", [("in.melt", {"cells": 6}, {}), ("in.repulsive", {"n": 3000}, {}),
                                                  ("in.slab", {}, {"fused": "no"}), ("in.melt", {}, {"rebin": 1})])
def test_direct_transports_equal_naive(deck, knobs, package, transport, said, tmp_path):
    if harness.gpus() < 2:
        pytest.skip("there is only one GPU")
    knobs = {**knobs, "steps": 240, "every": 80}
    naive = harness.run(harness.deck(deck), tmp_path / "naive", engine="naive", variables=knobs)
    got = on_ranks(2, harness.deck(deck), tmp_path / "ranks", package={"transport": transport, **package},
                   variables=knobs)
    assert not check_engines.differences(tmp_path / "naive", tmp_path / "ranks", naive, got)
    assert said in got.log


@pytest.mark.parametrize("transport, said", DIRECT)
def test_direct_transports_and_steps_that_sort(transport, said, tmp_path):
    if harness.gpus() < 2:
        pytest.skip("there is only one GPU")
    deck = tall(tmp_path, "two fronts")
    harness.run(deck, tmp_path / "openmp")
    got = on_ranks(2, deck, tmp_path / "ranks", package={"transport": transport, "sort": "step"})
    same(tmp_path / "openmp" / "check.dump", tmp_path / "ranks" / "check.dump")
    assert ", sorted by steps" in got.log and said in got.log


def test_teaching_switches_are_for_one_rank(tmp_path):
    got = on_ranks(2, harness.deck("in.repulsive"), tmp_path, package={"padded": "no"}, variables={"steps": 10},
                   expect=2)
    assert "one rank" in got.err
