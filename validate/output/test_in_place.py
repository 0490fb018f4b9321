"""Computes that a GPU makes where the particles are: the files of naive, and no download between the ends of a run."""

from __future__ import annotations

import re
from typing import Dict

import pytest

import harness
import test_averages
import test_followed
from cli import USAGE, refused, run_deck

pytestmark = pytest.mark.gpu

MIXTURE = """\
units lj
lattice fcc 0.8442
region box block 0 5 0 4 0 4
create_box 2 box
create_atoms 1 box
set type 1 type/fraction 2 0.3 771
mass 1 1
mass 2 3
velocity all create 1.44 87287
velocity all set 28 -14 0 sum yes units box
pair_style lj/cut 2.5
pair_coeff * * 1 1
region half block 0 2.4 INF INF INF INF
group half region half
fix move all nve
compute a all rdf 40
compute b all rdf 40 1 1 1 2 2 2 cutoff 2.1
compute c half rdf 30 cutoff 2.5
compute d all rdf 30 1 2 cutoff 3.2
"""
PLANE = """\
units lj
dimension 2
boundary p f p
lattice sq 0.7
region box block 0 20 0 14 -0.5 0.5
create_box 1 box
create_atoms 1 box
mass 1 1.7
velocity all create 1.1 4321
pair_style repulsive 1.1
region half block 0 9 INF INF INF INF
group half region half
fix walls all wall/reflect ylo EDGE yhi EDGE
fix move all nve
timestep 0.002
compute a all rdf 40
compute b half rdf 40 cutoff 4.7
compute c half rdf 30
compute d all rdf 3000 1 1 1 1 cutoff 7.1
"""
TILTED = MIXTURE[:MIXTURE.index("region half")].replace("region box block 0 5 0 4 0 4",
                                                        "region box prism 0 5 0 4 0 4 1.3 0.4 -1.1")
BINS = """\
compute ke half ke/atom
compute layers all chunk/atom bin/1d x lower 0.5 units box
compute blocks half chunk/atom bin/2d y center 0.3 x 1 0.7 bound x 1.5 4 discard mixed units box
compute parts all chunk/atom bin/1d y lower 0.07 units reduced
compute fine all chunk/atom bin/2d x lower 0.15 y lower 0.15 units box
fix e all ave/chunk 10 1 10 layers density/number density/mass temp vx vy c_ke mass file e.txt format " %.17g"
fix f half ave/chunk 5 2 20 blocks temp x density/number type norm sample file f.txt format " %.17g"
fix g half ave/chunk 10 1 20 parts vx density/number norm none file g.txt format " %.17g"
fix k all ave/chunk 10 1 20 fine vx vy mass file k.txt format " %.17g"
fix h all ave/histo 10 1 10 0 2 20 c_ke mode vector beyond extra file h.txt
compute borders all chunk/atom bin/2d x lower 1.25 y 0.5 0.5 bound y 1 4.5 units box
compute many all chunk/atom bin/1d x lower 1e-9 bound x 1 1.0000001 units box
compute one all chunk/atom bin/1d x lower 100 discard no units box
fix o all ave/chunk 1 2 2 borders vx density/number ave one file o.txt format " %.17g"
fix p all ave/chunk 10 1 10 many vx file p.txt format " %.17g"
variable s atom sqrt(vx^2+vy^2+vz^2)
variable q atom (x-0.5*lx)*-vy-type/mass
fix r all ave/chunk 10 1 10 one vx v_s file r.txt format " %.17g"
fix m all ave/histo 10 1 20 -3 3 25 v_s v_q mode vector file m.txt
fix n half ave/chunk 10 1 10 layers v_s v_q file n.txt format " %.17g"
fix i half ave/histo 5 2 20 -1 1 33 vx x y vy mode vector file i.txt
fix j all ave/histo 10 1 20 -0.5 0.6 5000 vy type mass mode vector beyond end ave running file j.txt
"""
# In the mixture most particles go through periodic faces.
FOLLOWED = """\
compute p half msd com yes
compute q all msd
compute u half vacf
compute w half com
compute z all gyration
fix l all ave/time 10 1 10 c_p[*] c_q[*] c_u[*] c_w[*] c_z c_z[*] file l.txt format " %.17g"
"""
LOOKS = BINS + FOLLOWED + "".join(f"fix {k} all ave/time 10 1 10 c_{k}[*] file {k}.txt mode vector\n" for k in "abcd")
# Values grow by so much that sums with the quanta of the sample before would leave 64 bits.
WARM = "velocity all scale 1e-9\nrun 0\nvelocity all scale 1.1\n"
DECKS = {"mixture": MIXTURE + LOOKS + "run 40\n", "plane": PLANE + LOOKS + WARM + "run 100\n"}
FILES = [f"{k}.txt" for k in "abcdefghijklmnopr"]


def texts(folder) -> Dict[str, str]:
    return {name: (folder / name).read_text() for name in FILES}


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> Dict[str, Dict[str, str]]:
    found = {}
    for name, deck in DECKS.items():
        folder = tmp_path_factory.mktemp(name)
        harness.run(deck, folder, engine="naive")
        found[name] = texts(folder)
    return found


def downloads(result: harness.Result) -> int:
    """The most of any run."""
    return max(map(int, re.findall(r"^Downloads: (\d+)$", result.log, re.MULTILINE)))


VARIANTS = {
    "auto": ("gpu", {}),
    "lists": ("gpu", {"neighbours": "list"}),
    "cells": ("gpu", {"neighbours": "cells"}),
    "radix sort": ("gpu", {"sort": "radix"}),
    "half lists": ("gpu-symmetric", {"neighbours": "list"}),
}


@pytest.mark.parametrize("deck", DECKS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_equal_naive_without_a_download(deck, variant, expected, tmp_path):
    engine, package = VARIANTS[variant]
    result = harness.run(DECKS[deck], tmp_path, engine=engine, package=package)
    assert texts(tmp_path) == expected[deck]
    assert downloads(result) == 1


@pytest.mark.parametrize("deck, neighbours", [("mixture", "list"), ("mixture", "cells"), ("plane", "cells")])
def test_distances_in_mixed_precision(deck, neighbours, tmp_path):
    """Positions of 32 bits, where a particle that went through a periodic face has the place of its image. The numbers
    of neighbours are those of naive; a few pairs may be in the next bin."""
    looks = "".join(f"fix {k} all ave/time 10 1 10 c_{k}[3] file {k}.txt mode vector\n" for k in "abc")
    found = {}
    for engine, package in (("naive", {}), ("gpu", {"precision": "mixed", "neighbours": neighbours})):
        harness.run({"mixture": MIXTURE, "plane": PLANE}[deck] + looks + "run 20\n", tmp_path / engine, engine=engine,
                    package=package)
        found[engine] = [float(line.split()[-1]) for k in "abc"
                         for line in (tmp_path / engine / f"{k}.txt").read_text().splitlines()[3:]]
    assert max(found["naive"]) > 0.5 and found["gpu"] == pytest.approx(found["naive"], abs=0.02)


def test_followed_over_runs_equal_naive(tmp_path):
    """The records go back to the host at the end of a run; displace/atom looks at its own from downloads."""
    for engine in ("naive", "gpu"):
        harness.run(test_averages.MELT + test_followed.FOLLOWED, tmp_path / engine, engine=engine)
    assert (test_averages.files(tmp_path / "naive", test_followed.FILES)
            == test_averages.files(tmp_path / "gpu", test_followed.FILES))


def test_types_that_change_between_runs_equal_naive(tmp_path):
    """A record has the mass of its particle's present type."""
    deck = MIXTURE[:MIXTURE.index("compute a")] + (
        "compute w half com\ncompute z all gyration\nthermo_style custom step c_w[1] c_z\n"
        "thermo_modify format float %.17g\nrun 10\nset group half type 2\nrun 10\n")
    rows = [harness.run(deck, tmp_path / engine, engine=engine).table.rows for engine in ("naive", "gpu")]
    assert rows[0] == rows[1]


BORDERS = """\
units lj
dimension 2
boundary f f p
lattice sq 16
region box block 0 25 0 1 -0.5 0.5 units box
create_box 1 box
create_atoms 1 box
mass 1 1
pair_style repulsive 0.2
fix move all nve
compute parts all chunk/atom bin/1d x lower 0.01 units reduced
fix b all ave/chunk 1 1 1 parts density/number file b.txt
run 2
"""


def test_places_on_borders_of_bins_equal_naive(tmp_path):
    """Particles stand on the borders of all bins, and are in the bins above. 100 (29/100) is below 29 in double
    precision; a margin puts the particles of column 29 into their bin."""
    for engine in ("naive", "gpu"):
        result = harness.run(BORDERS, tmp_path / engine, engine=engine)
    text = (tmp_path / "naive" / "b.txt").read_text()
    counts = [float(line.split()[2]) for line in text.splitlines() if line.startswith("  ")]
    assert counts == [4.0] * 300  # of three steps
    assert (tmp_path / "gpu" / "b.txt").read_text() == text
    assert downloads(result) == 1


def test_tilted_box_equal_naive(tmp_path):
    """Particles go through the faces of a tilted box, far between rebins; histograms of values that need no place."""
    looks = FOLLOWED + "".join(line + "\n" for line in BINS.splitlines() if "compute ke" in line or "fix h" in line)
    deck = TILTED + "neighbor 0.8 bin\ngroup half id < 100\nfix move all nve\n" + looks + "run 40\n"
    for engine in ("naive", "gpu"):
        result = harness.run(deck, tmp_path / engine, engine=engine)
    for name in ("h.txt", "l.txt"):
        assert (tmp_path / "gpu" / name).read_text() == (tmp_path / "naive" / name).read_text()
    assert downloads(result) == 1


@pytest.mark.parametrize("formula, what", [("1/(type-1)", "division by zero"), ("sqrt(0-type)", "sqrt is not a number"),
                                           ("vx^2^2^2^2*1e300*1e300*1e300", "infinite")])
def test_faulty_formulas_equal_naive(formula, what, tmp_path):
    """A result that is not finite is found by the GPU, and reported by the host."""
    deck = MIXTURE + f"variable s atom {formula}\nfix 1 all ave/histo 1 1 1 0 3 25 v_s mode vector\nrun 0\n"
    for engine in ("naive", "gpu"):
        refused(run_deck(tmp_path, deck, "--engine", engine), USAGE, what)


@pytest.mark.parametrize("formula", ["sin(vx)", "vx^3", "vx%2", "vx>0", "c_ke*2", "id", "vx+vy*(vz+vx*(vy+vz*(vx+1)))"])
def test_other_formulas_are_left_to_the_host(formula, tmp_path):
    deck = (MIXTURE + f"compute ke all ke/atom\nvariable s atom {formula}\n"
            "fix 1 all ave/histo 1 1 1 -3 3 25 v_s mode vector file h.txt\nrun 1\n")
    for engine in ("naive", "gpu"):
        result = harness.run(deck, tmp_path / engine, engine=engine)
    assert (tmp_path / "gpu" / "h.txt").read_text() == (tmp_path / "naive" / "h.txt").read_text()
    assert downloads(result) > 1


def test_new_particle_is_refused_equal_naive(tmp_path):
    deck = test_followed.BEGIN + "create_atoms 1 single 5.5 5.5 5.5\nthermo_style custom step c_m[1]\nrun 0\n"
    refused(run_deck(tmp_path, deck, "--engine", "gpu"), USAGE, "is new since compute msd")


@pytest.mark.mpi
def test_ranks_equal_naive(expected, tmp_path):
    """Distances of a group, those beyond the cutoff of the forces, and followed particles need a download there;
    nothing else does."""
    harness.run(DECKS["mixture"], tmp_path / "all", engine="gpu", ranks=2)
    assert texts(tmp_path / "all") == expected["mixture"]
    deck = re.sub(r"^fix [cd] .*\n", "", DECKS["mixture"].replace(FOLLOWED, ""), flags=re.MULTILINE)
    result = harness.run(deck, tmp_path / "in place", engine="gpu", ranks=2)
    for name in set(FILES) - {"c.txt", "d.txt", "l.txt"}:
        assert (tmp_path / "in place" / name).read_text() == expected["mixture"][name]
    assert downloads(result) == 1


# Pictures: spheres with and without values, in a tilted box, of a group, with diameters by type; discs, of which many
# have one depth, so that ids decide; ids in an order of their own, which an
# engine without computes of particles does not have on the device.
SEEN = """\
compute k half ke/atom
dump 1 all image 10 a.*.png type type size 300 200 view 60 30 axes yes 0.3 0.05
dump_modify 1 adiam 1 1.3 adiam 2 0.7 furniture yes
variable s atom sqrt(vx*vx+vy^2+vz^2)
dump 2 half image 20 b.*.png v_s type size 200 300 adiam 0.4
dump_modify 2 amap min max ca 0 2 min blue max red
dump 3 all image 20 c.*.png c_k element ssao yes 4539 0.6 fsaa yes
dump_modify 3 element Cu Al
dump 4 half image 20 d.*.ppm type type size 60 50 zoom 0.9
dump_modify 4 adiam * 1.7
"""
PICTURES = {
    "mixture": MIXTURE[:MIXTURE.index("compute")] + SEEN + "run 20\n",
    "plane": PLANE[:PLANE.index("compute")] + SEEN.replace("adiam 2 0.7", "").replace("Cu Al", "Cu") + "run 20\n",
    "tilted": TILTED + "fix move all nve\ngroup half id < 100\n" + SEEN + "run 20\n",
    "other ids": """\
units lj
dimension 2
read_data ids.data
mass * 1
pair_style lj/cut 1.1
pair_coeff * * 1 0.5
group half id < 30
fix move all nve
""" + "".join(f"{line}\n" for line in SEEN.splitlines() if "compute" not in line and "3" not in line.split()[:2])
    + "run 20\n",
}


def pictures(folder) -> Dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("[abcd].*.p?[gm]"))}


def put_ids(folder) -> None:
    """Particles on a square lattice, whose ids are in the order of the file in no direction."""
    folder.mkdir()
    ids = [(k * 37) % 64 for k in range(64)]
    rows = "".join(f"{i + 1} {i % 2 + 1} {k % 8 + 0.5} {k // 8 + 0.5} 0\n" for k, i in enumerate(ids))
    (folder / "ids.data").write_text(f"ids\n\n64 atoms\n2 atom types\n\n0 8 xlo xhi\n0 8 ylo yhi\n-0.5 0.5 zlo zhi\n\n"
                                     f"Atoms # atomic\n\n{rows}")


@pytest.mark.parametrize("group", ["half", "all"])
def test_followed_in_any_order_of_ids_equal_naive(group, tmp_path):
    """Records are in the order of ids, and the particles of the host are not. They go to the device in both runs."""
    deck = PICTURES["other ids"][:PICTURES["other ids"].index("dump 1")] + f"""\
velocity all create 2 9911
compute m {group} msd
compute g {group} gyration
fix l all ave/time 10 1 10 c_m[*] c_g c_g[*] file l.txt format " %.17g"
run 20
run 20
"""
    for name in ("naive", "gpu"):
        put_ids(tmp_path / name)
        result = harness.run(deck, tmp_path / name, engine=name)
    assert (tmp_path / "gpu" / "l.txt").read_text() == (tmp_path / "naive" / "l.txt").read_text()
    assert downloads(result) == 1 and float((tmp_path / "gpu" / "l.txt").read_text().split()[-8]) > 0.01


@pytest.mark.parametrize("deck", PICTURES)
def test_pictures_equal_naive_without_a_download(deck, tmp_path):
    for name in ("naive", "cells", "list"):
        put_ids(tmp_path / name)
    harness.run(PICTURES[deck], tmp_path / "naive", engine="naive")
    expected = pictures(tmp_path / "naive")
    assert len(expected) == (7 if deck == "other ids" else 9)
    for neighbours in ("cells", "list"):
        result = harness.run(PICTURES[deck], tmp_path / neighbours, engine="gpu", package={"neighbours": neighbours})
        assert pictures(tmp_path / neighbours) == expected
        assert downloads(result) == 1


@pytest.mark.mpi
def test_pictures_of_ranks_equal_naive(tmp_path):
    harness.run(PICTURES["mixture"], tmp_path / "naive", engine="naive")
    result = harness.run(PICTURES["mixture"], tmp_path / "ranks", engine="gpu", ranks=2)
    assert pictures(tmp_path / "ranks") == pictures(tmp_path / "naive")
    assert downloads(result) == 1
