"""Values that neighbours give to particles, where a GPU makes them: the files of naive, and no download between the
ends of a run where sums, histograms and pictures use them."""

from __future__ import annotations

import re
from typing import Dict, Tuple

import pytest

import harness
from test_in_place import MIXTURE, PLANE, TILTED, downloads, pictures, put_ids

pytestmark = pytest.mark.gpu

VALUES = """\
compute h all hexorder/atom
compute n half hexorder/atom nnn 12 degree 4 cutoff 2.3
compute m half hexorder/atom nnn NULL degree 3 cutoff 1.27
compute o all coord/atom cutoff 1.4
compute c half cluster/atom 1.02
compute d all cluster/atom 1.31
compute e half centro/atom 6
compute f all cna/atom 1.43
"""
COLUMNS = ("c_h[1]", "c_h[2]", "c_n[1]", "c_n[2]", "c_m[1]", "c_m[2]", "c_o", "c_c", "c_d", "c_e", "c_f")
SUMS = VALUES + f"""\
variable s atom sqrt(c_h[1]^2+c_h[2]^2)
variable q atom c_n[1]*vx-c_n[2]
variable n atom c_d==id
variable l atom (c_o<=3)-(c_o<2)+(4>=c_o)
variable m atom (c_o>11)*(c_o!=12)*id/1000
compute all all reduce sum v_n v_l v_m {" ".join(COLUMNS)} v_s v_q vx mass
compute half half reduce ave {" ".join(COLUMNS)}
compute sq half reduce sumsq c_o v_s vx type x
compute msq all reduce avesq c_o c_n[2]
compute least half reduce min {" ".join(COLUMNS)} v_q
compute most all reduce max {" ".join(COLUMNS)} v_q
fix a all ave/time 10 1 10 c_all[*] c_half[*] c_sq[*] c_msq[*] c_least[*] c_most[*] file a.txt format " %.17g"
fix b all ave/histo 10 1 10 -1 1 30 {" ".join(COLUMNS[:6])} v_s v_q mode vector file b.txt beyond extra
fix c half ave/histo 10 1 10 0 400 50 c_o c_c c_d mode vector file c.txt
fix e all ave/histo 10 1 10 0 12 40 c_e c_f v_l v_m mode vector file e.txt
compute layers all chunk/atom bin/1d x lower 0.5 units box
fix d half ave/chunk 10 1 10 layers c_h[1] c_m[2] c_o v_s c_d file d.txt format " %.17g"
dump i all image 20 i.*.png v_s type size 150 100
dump j half image 20 j.*.png c_d type size 90 60 adiam 0.6
"""
FILES = "abcde"
# Values by type and group, of two types in a plane; and of one type there.
TYPES = MIXTURE[MIXTURE.index("set type"):MIXTURE.index("velocity")]
BEGIN = {
    "mixture": MIXTURE[:MIXTURE.index("compute")],
    "plane": PLANE[:PLANE.index("compute")],
    "types": PLANE[:PLANE.index("compute")].replace("create_box 1", "create_box 2").replace("mass 1 1.7\n", TYPES),
}
BY_TYPE = """\
compute t all coord/atom cutoff 1.6 group half 1 2 * 2*2
compute u all reduce sum c_t[*]
fix t all ave/time 10 1 10 c_u[*] file t.txt
"""
DECKS = {name: begin + SUMS + (BY_TYPE if name != "plane" else "") + "run 60\n" for name, begin in BEGIN.items()}


def pictures_of(folder) -> Dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("[ij].*.png"))}


def texts(folder) -> Dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.glob("?.txt"))}


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> Dict[str, Tuple[Dict[str, str], Dict[str, bytes]]]:
    found = {}
    for name, deck in DECKS.items():
        folder = tmp_path_factory.mktemp(name)
        harness.run(deck, folder, engine="naive")
        found[name] = texts(folder), pictures_of(folder)
        assert set(f"{k}.txt" for k in FILES) <= set(found[name][0]) and len(found[name][1]) == 8
    return found


@pytest.mark.parametrize("deck", DECKS)
@pytest.mark.parametrize("neighbours", ["list", "cells"])
def test_equal_naive_without_a_download(deck, neighbours, expected, tmp_path):
    result = harness.run(DECKS[deck], tmp_path, engine="gpu", package={"neighbours": neighbours})
    assert texts(tmp_path) == expected[deck][0]
    assert pictures_of(tmp_path) == expected[deck][1]
    assert downloads(result) == 1


# Bond orders: with the usual neighbours, all of them, other degrees, W and components, of a group.
ORDERS = """\
compute a all orientorder/atom
compute b half orientorder/atom degrees 3 3 4 6 nnn NULL cutoff 1.35 wl yes wl/hat yes components 4
compute c all orientorder/atom degrees 4 30 1 0 30 nnn 7 wl yes components 30
compute d half orientorder/atom nnn 16 degrees 1 13 wl/hat yes
compute e all orientorder/atom nnn 4 degrees 2 6 12 cutoff 1.2
"""
ORDER_SUMS = ORDERS + """\
compute s all reduce sum c_a[*] c_b[*] c_d[*] c_e[*] c_c[1] c_c[4] c_c[5] c_c[8] c_c[9] c_c[12] c_c[70] c_c[130]
compute m half reduce max c_a[*] c_b[*] c_d[*] c_e[*] c_c[1] c_c[4] c_c[5] c_c[8] c_c[9] c_c[12] c_c[70] c_c[130]
fix a all ave/time 10 1 10 c_s[*] c_m[*] file a.txt format " %.17g"
variable q atom c_b[1]^2+c_b[10]*vx
fix b all ave/histo 10 1 10 -1 1 30 c_a[1] c_a[2] c_b[7] c_e[2] v_q mode vector file b.txt
run 20
"""


@pytest.mark.parametrize("neighbours", ["list", "cells"])
def test_bond_orders_equal_naive_without_a_download(neighbours, tmp_path):
    deck = BEGIN["mixture"] + ORDER_SUMS
    harness.run(deck, tmp_path / "naive", engine="naive")
    result = harness.run(deck, tmp_path / "gpu", engine="gpu", package={"neighbours": neighbours})
    found = texts(tmp_path / "gpu")
    assert found == texts(tmp_path / "naive") and downloads(result) == 1
    sums = [float(word) for word in found["a.txt"].splitlines()[-1].split()[1:]]
    assert sum(value != 0.0 for value in sums) > 0.9 * len(sums)


WIDE = BEGIN["mixture"].replace("block 0 5 0 4 0 4", "block 0 8 0 8 0 4") + SUMS + "run 60\n"


@pytest.mark.mpi
@pytest.mark.parametrize("deck, ranks, neighbours",
                         [("mixture", 2, "list"), ("mixture", 2, "cells"), ("wide", 4, "list")])
def test_ranks_equal_naive_without_a_download(deck, ranks, neighbours, expected, tmp_path):
    """Neighbours behind a face are ghosts, with types, groups and ids; cutoffs are at most that of the forces."""
    if deck == "wide":
        harness.run(WIDE, tmp_path / "naive", engine="naive")
    naive = tmp_path / "naive"
    of_naive = (texts(naive), pictures_of(naive)) if deck == "wide" else expected[deck]
    result = harness.run(WIDE if deck == "wide" else DECKS[deck], tmp_path / "gpu", engine="gpu", ranks=ranks,
                         package={"neighbours": neighbours})
    assert (texts(tmp_path / "gpu"), pictures_of(tmp_path / "gpu")) == of_naive
    assert downloads(result) == 1


@pytest.mark.mpi
def test_bond_orders_of_ranks_equal_naive_without_a_download(tmp_path):
    deck = BEGIN["mixture"] + ORDER_SUMS
    harness.run(deck, tmp_path / "naive", engine="naive")
    result = harness.run(deck, tmp_path / "gpu", engine="gpu", ranks=2)
    assert texts(tmp_path / "gpu") == texts(tmp_path / "naive") and downloads(result) == 1


# In a tilted box bins along axes and sums of places are for the host.
WITHOUT_PLACES = SUMS.replace(" vx type x\n", " vx type\n").splitlines(keepends=True)
TILT = (TILTED + "group half id < 100\nfix move all nve\n"
        + "".join(line for line in WITHOUT_PLACES if "layers" not in line) + "run 40\n")


@pytest.mark.parametrize("neighbours", ["list", "cells"])
def test_tilted_box_equals_naive_without_a_download(neighbours, tmp_path):
    harness.run(TILT, tmp_path / "naive", engine="naive")
    result = harness.run(TILT, tmp_path / "gpu", engine="gpu", package={"neighbours": neighbours})
    assert texts(tmp_path / "gpu") == texts(tmp_path / "naive")
    assert pictures_of(tmp_path / "gpu") == pictures_of(tmp_path / "naive") != {}
    assert downloads(result) == 1


@pytest.mark.mpi
def test_tilted_box_of_ranks_equals_naive_without_a_download(tmp_path):
    deck = TILT.replace("0 5 0 4 0 4 1.3", "0 8 0 4 0 4 1.3")
    harness.run(deck, tmp_path / "naive", engine="naive")
    result = harness.run(deck, tmp_path / "gpu", engine="gpu", ranks=2)
    assert texts(tmp_path / "gpu") == texts(tmp_path / "naive") and downloads(result) == 1


# Slabs of a tall box, whose steps sort: ghosts lie in buffer rows. Faces move, so that particles change their rank
# between a look and the next one.
TALL = """\
units lj
dimension 2
boundary f f p
lattice sq 1600
region box block 0 0.5 0 10 -0.5 0.5 units box
create_box 1 box
create_atoms 1 box
mass 1 0.01
velocity all uniform -1 1 1
pair_style repulsive 0.01
neighbor 0.01 bin
timestep 0.0005
fix move all nve/leapfrog
fix walls all wall/reflect xlo EDGE xhi EDGE ylo EDGE yhi EDGE
compute h all hexorder/atom cutoff 0.035
compute c all cluster/atom 0.027
variable s atom sqrt(c_h[1]^2+c_h[2]^2)
variable n atom c_c==id
compute a all reduce sum v_s v_n c_c
fix a all ave/time 10 1 10 c_a[*] file a.txt format " %.17g"
fix b all ave/histo 10 1 10 0 1 30 v_s mode vector file b.txt
"""


@pytest.mark.mpi
@pytest.mark.parametrize("ranks, more", [(2, ""), (3, "fix even all balance 20 1.0")])
def test_ranks_whose_steps_sort_equal_openmp_without_a_download(ranks, more, tmp_path):
    deck = TALL + more + "\nrun 40\n"
    harness.run(deck, tmp_path / "openmp")
    result = harness.run(deck, tmp_path / "gpu", engine="gpu", ranks=ranks, package={"sort": "step"})
    assert f", sorted by steps, 1 x {ranks} x 1 domains" in result.log
    assert texts(tmp_path / "gpu") == texts(tmp_path / "openmp")
    assert more or downloads(result) == 1


@pytest.mark.mpi
@pytest.mark.parametrize("far", ["", "compute v all coord/atom cutoff 4.5\ncompute w all reduce sum c_v\n"
                                     "fix v all ave/time 10 1 10 c_w file v.txt\n"])
def test_bricks_equal_naive(far, tmp_path):
    """Domains that are no grid, in a box with and without periodic faces. Beyond the halo values are the host's, also
    where only some ranks have a neighbour along an axis."""
    walls = "ylo EDGE yhi EDGE" + (" xlo EDGE xhi EDGE zlo EDGE zhi EDGE" if far else "")
    faces = "f f f" if far else "p f p"
    begin = BEGIN["mixture"].replace("units lj", f"units lj\nboundary {faces}").replace("0 5 0 4 0 4", "0 8 0 8 0 4")
    begin = begin.replace("velocity all set 28 -14 0 sum yes units box\n", "")
    deck = (begin + VALUES.replace("cutoff 2.3", "cutoff 2.1") + f"{far}compute s all reduce sum {' '.join(COLUMNS)}\n"
            'fix a all ave/time 10 1 10 c_s[*] file a.txt format " %.17g"\n'
            f"fix walls all wall/reflect {walls}\nfix even all balance 20 1.0 rcb\nrun 40\n")
    harness.run(deck, tmp_path / "naive", engine="naive")
    result = harness.run(deck, tmp_path / "gpu", engine="gpu", ranks=3)
    assert "3 bricks" in result.log and texts(tmp_path / "gpu") == texts(tmp_path / "naive")
    assert (downloads(result) > 1) == bool(far)


@pytest.mark.mpi
def test_cutoffs_beyond_the_halo_are_left_to_the_host(tmp_path):
    deck = (BEGIN["plane"] + "compute v all coord/atom cutoff 4.5\ncompute w all cluster/atom 4.5\n"
            "compute r all reduce sum c_v c_w\nfix a all ave/time 5 1 5 c_r[*] file a.txt format \" %.17g\"\nrun 10\n")
    harness.run(deck, tmp_path / "naive", engine="naive")
    result = harness.run(deck, tmp_path / "gpu", engine="gpu", ranks=2)
    assert texts(tmp_path / "gpu") == texts(tmp_path / "naive") and downloads(result) > 1


DUMP = f"""\
variable w atom c_h[1]*id+c_o
dump a all custom 10 a.dump id {" ".join(COLUMNS)} v_w
dump_modify a sort id format float %.17g thresh c_o > 2
fix k all ave/atom 2 5 10 c_h[1] c_o c_d
dump b half custom 10 b.dump id f_k[1] f_k[2] f_k[3]
dump_modify b sort id format float %.17g
"""


@pytest.mark.parametrize("deck", BEGIN)
@pytest.mark.parametrize("ranks", [None, pytest.param(2, marks=pytest.mark.mpi)])
def test_dumps_equal_naive(deck, ranks, tmp_path):
    """Values that go to the host with the particles; ranks find them there."""
    for name, words in (("naive", {}), ("gpu", {"ranks": ranks})):
        harness.run(BEGIN[deck] + VALUES + DUMP + "run 20\n", tmp_path / name, engine=name, **words)
    for file in ("a.dump", "b.dump"):
        assert (tmp_path / "gpu" / file).read_bytes() == (tmp_path / "naive" / file).read_bytes()


ASKED_LATE = """\
units lj
dimension 2
region box prism 0 13.8 0 13.5 -0.5 0.5 3.2 0 0
create_box 2 box
create_atoms 1 random 60 1 NULL
create_atoms 2 random 40 11 NULL
mass 1 0.5
mass 2 2
velocity all create 3 5
pair_style yukawa 1 2.5
pair_coeff * * 1.858
group some id 1:50:2
compute e all centro/atom 4
fix move all nve
dump a all custom 3 a.dump id x y c_e
dump b some custom 1 b.dump id fx
dump_modify a sort id
dump_modify b sort id
run 6
velocity all scale 3
timestep 0.01
run 14
"""


@pytest.mark.mpi
def test_values_first_asked_for_between_two_downloads_equal_naive(tmp_path):
    """A dump takes the particles of a state, then their values, then forces: no particle changes its rank between."""
    for name, words in (("naive", {}), ("gpu", {"ranks": 2})):
        harness.run(ASKED_LATE, tmp_path / name, engine=name, **words)
    for file in ("a.dump", "b.dump"):
        assert (tmp_path / "gpu" / file).read_bytes() == (tmp_path / "naive" / file).read_bytes()


TIES = """\
units lj
dimension 2
read_data ids.data
mass * 1
pair_style lj/cut 1.1
pair_coeff * * 1 0.5
fix move all nve
compute h all hexorder/atom nnn 3 degree 1 cutoff 1.3
compute n all hexorder/atom nnn 7 degree 3 cutoff 2.1
compute c all cluster/atom 1.0000001
compute r all reduce sum c_h[*] c_n[*] c_c
fix a all ave/time 1 1 1 c_r[*] file a.txt format " %.17g"
dump i all image 1 a.*.png c_h[1] type size 60 60
run 0
"""


@pytest.mark.parametrize("neighbours", ["list", "cells"])
def test_smaller_ids_come_first_equal_naive(neighbours, tmp_path):
    """On a lattice which neighbours are the nearest is for ids to say. These are in no order of places."""
    for name in ("naive", "gpu"):
        put_ids(tmp_path / name)
    harness.run(TIES, tmp_path / "naive", engine="naive")
    result = harness.run(TIES, tmp_path / "gpu", engine="gpu", package={"neighbours": neighbours})
    assert texts(tmp_path / "gpu") == texts(tmp_path / "naive")
    assert pictures(tmp_path / "gpu") == pictures(tmp_path / "naive") != {}
    assert downloads(result) == 1
    sums = [float(word) for word in (tmp_path / "gpu" / "a.txt").read_text().splitlines()[-1].split()]
    assert sums[5] == 64.0 and any(abs(value) > 1.0 for value in sums[1:5])


# Density, a distance between two shells, the crystal's number, and how many particles are within it around one.
CRYSTALS = {"fcc": ("fcc 1.1", 1.37, 1, 12), "bcc": ("bcc 1.1", 1.48, 3, 14)}


@pytest.mark.parametrize("crystal", CRYSTALS)
def test_crystals_with_a_vacancy_equal_naive(crystal, tmp_path):
    lattice, cutoff, code, near = CRYSTALS[crystal]
    deck = (f"units lj\nlattice {lattice}\nregion b block 0 5 0 5 0 5\ncreate_box 1 b\ncreate_atoms 1 box\nmass 1 1\n"
            f"pair_style lj/cut 1.9\npair_coeff 1 1 1 1\ngroup one id 77\ndelete_atoms group one\nfix 1 all nve\n"
            f"compute k all cna/atom {cutoff}\ncompute s all centro/atom {crystal}\ncompute r all reduce max c_s\n"
            f"fix a all ave/histo 1 1 1 0.5 5.5 5 c_k mode vector file a.txt\n"
            f"thermo_style custom step c_r\nthermo_modify format float %.17g\nrun 0\n")
    found = []
    for engine in ("naive", "gpu"):
        result = harness.run(deck, tmp_path / engine, engine=engine)
        found.append((texts(tmp_path / engine), result.table.rows))
    assert found[0] == found[1] and float(found[1][1][0][1]) > 0.5
    assert downloads(result) == 1
    counts = [int(row.split()[2]) for row in found[1][0]["a.txt"].splitlines()[-5:]]
    assert counts[4] == near and counts[code - 1] > 200 and sum(counts) == counts[code - 1] + near


@pytest.mark.parametrize("ranks", [None, *(pytest.param(ranks, marks=pytest.mark.mpi) for ranks in (2, 4))])
def test_clusters_that_cross_faces_equal_naive(ranks, tmp_path):
    """A spiral through all faces of a periodic box is one cluster, and a ring of the box another one."""
    side, turns = 24, 3
    spiral = [(0.9 * k % side, 4 + 0.9 * k * turns / side % 12) for k in range(240)]
    rows = "".join(f"{7 * k + 3} 1 {x:.17g} {y:.17g} 0\n" for k, (x, y) in enumerate(spiral))
    ring = "".join(f"{7 * k + 4} 1 {k + 0.25} 0.5 0\n" for k in range(side))
    (tmp_path / "d.data").write_text(f"c\n\n{240 + side} atoms\n1 atom types\n\n0 {side} xlo xhi\n0 {side} ylo yhi\n"
                                     f"-0.5 0.5 zlo zhi\n\nMasses\n\n1 1\n\nAtoms # atomic\n\n{rows}{ring}")
    deck = (f"units lj\ndimension 2\nread_data {tmp_path}/d.data\npair_style lj/cut 1.1\npair_coeff 1 1 0 0.005\n"
            "compute c all cluster/atom 1.01\nfix 1 all nve\n"
            "compute m all reduce max c_c\nvariable n atom c_c==id\ncompute n all reduce sum v_n c_c\n"
            "thermo_style custom step c_m c_n[*]\nthermo_modify norm no\nrun 0\n")
    found = {}
    for engine in ("naive", "gpu"):
        result = harness.run(deck, tmp_path / engine, engine=engine, ranks=ranks if engine == "gpu" else None)
        assert engine == "naive" or downloads(result) == 1
        sums = result.table.rows
        harness.run(deck + "dump d all custom 1 d.txt id c_c\nrun 0\n", tmp_path / engine, engine=engine,
                    ranks=ranks if engine == "gpu" else None)
        frame = harness.read_dump(tmp_path / engine / "d.txt")[0]
        found[engine] = dict(zip(frame.columns["id"], frame.columns["c_c"])), sums
    assert found["gpu"] == found["naive"] and found["gpu"][1][0][2] == f"{len(set(found['gpu'][0].values()))}"
    assert {found["gpu"][0][7 * k + 4] for k in range(side)} == {4.0}


# Without periodic faces, as the switch `sorted no` wants it.
WALLS = BEGIN["plane"].replace("boundary p f p", "boundary f f p").replace("ylo EDGE yhi EDGE",
                                                                            "xlo EDGE xhi EDGE ylo EDGE yhi EDGE")
LEFT = {
    "a cutoff beyond half a side": ("compute v all coord/atom cutoff 3.4", {}),
    "many nearest": ("compute v all hexorder/atom nnn 17 cutoff 2.5", {}),
    "many pairs": ("compute v all centro/atom 18", {}),
    "many nearest of an order": ("compute v all orientorder/atom nnn 17", {}),
    "too many of all in an order": ("compute v all orientorder/atom nnn NULL cutoff 2.5", {}),
    "too many of all": ("compute v all hexorder/atom nnn NULL cutoff 2.5", {}),
    "not sorted": ("compute v all cluster/atom 1.1", {"sorted": "no"}),
    "a dynamic group": ("group some dynamic all var fast every 5\ncompute v some coord/atom cutoff 1.4", {}),
    "columns": ("compute v all coord/atom cutoff 1.4 " + "1 2 * " * 3, {}),
}


@pytest.mark.parametrize("case", LEFT)
def test_others_are_left_to_the_host(case, tmp_path):
    line, package = LEFT[case]
    begin = WALLS if package else BEGIN["mixture"]
    name = "c_v" if re.search(r"cluster|centro|1\.4$|3\.4$", line) else "c_v[1]"
    deck = (begin + f"variable fast atom vx>0.5\n{line}\ncompute r all reduce sum {name}\n"
            f"fix a all ave/histo 5 1 5 -1 15 9 {name} mode vector file a.txt\n"
            f"fix b all ave/time 5 1 5 c_r file b.txt format \" %.17g\"\nrun 10\n")
    harness.run(deck, tmp_path / "naive", engine="naive")
    result = harness.run(deck, tmp_path / "gpu", engine="gpu", package=package)
    assert texts(tmp_path / "gpu") == texts(tmp_path / "naive")
    assert downloads(result) > 1


def test_formulas_of_two_computes_are_left_to_the_host(tmp_path):
    deck = (BEGIN["mixture"] + VALUES + "variable v atom c_o-c_h[1]\n"
            "fix a all ave/histo 5 1 5 -1 15 9 v_v mode vector file a.txt\nrun 10\n")
    for engine in ("naive", "gpu"):
        result = harness.run(deck, tmp_path / engine, engine=engine)
    assert texts(tmp_path / "gpu") == texts(tmp_path / "naive")
    assert downloads(result) > 1


def test_tilted_and_changing_boxes_equal_naive(tmp_path):
    for k, begin in enumerate((TILTED + "fix move all nve\n", BEGIN["mixture"].replace(
            "fix move all nve", "fix move all npt temp 1 1 0.5 iso 1 1 2"))):
        deck = (begin + "compute v all hexorder/atom\ncompute w all cluster/atom 1.05\n"
                "compute r all reduce sum c_v[*] c_w\nthermo_style custom step c_r[*]\nthermo 5\nrun 10\n")
        rows = [harness.run(deck, tmp_path / f"{k}{engine}", engine=engine).table.rows for engine in ("naive", "gpu")]
        assert rows[0] == rows[1]


@pytest.mark.parametrize("deck, neighbours", [("mixture", "list"), ("mixture", "cells"), ("plane", "cells")])
@pytest.mark.parametrize("ranks", [None, pytest.param(2, marks=pytest.mark.mpi)])
def test_mixed_precision_is_near_without_a_download(deck, neighbours, ranks, tmp_path):
    """Positions of 32 bits, where ghosts have the places of their sources. Whole numbers are those of naive."""
    begin = BEGIN[deck].replace("block 0 5 0 4 0 4", "block 0 8 0 8 0 8").replace("repulsive 1.1", "repulsive 1.9")
    space = "compute q half orientorder/atom degrees 2 4 6\ncompute k all cna/atom 1.5\n"
    deck = (begin + "compute h all hexorder/atom cutoff 1.7\ncompute o all coord/atom cutoff 1.6 group half\n"
            "compute c all cluster/atom 1.08\nvariable n atom c_c==id\ncompute e half centro/atom 6\n"
            + (space if deck == "mixture" else "") + "compute r all reduce sum c_o v_n c_h[*] c_e "
            + ("c_k c_q[*]" if deck == "mixture" else "") + "\nthermo_style custom step c_r[*]\nthermo 10\nrun 10\n")
    rows = {}
    for engine, words in (("openmp", {}), ("gpu", {"ranks": ranks, "package": {"precision": "mixed",
                                                                              "neighbours": neighbours}})):
        result = harness.run(deck, tmp_path / engine, engine=engine, **words)
        rows[engine] = [float(word) for word in result.table.rows[-1][1:]]
    assert downloads(result) == 1 and rows["gpu"][:2] == rows["openmp"][:2]
    assert rows["gpu"] == pytest.approx(rows["openmp"], rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("binsize", [0, 50])
def test_faces_that_follow_all_particles_of_one_cell(binsize, tmp_path):
    """Without periodic axes nothing but the box bounds how far particles of one cell have moved."""
    deck = ("units lj\nboundary m s s\nregion b block 0 3.6 0 4.8 0 6 units box\ncreate_box 1 b\n"
            "lattice sc 0.58 origin 0.5 0.5 0.5\ncreate_atoms 1 box\nmass 1 1\npair_style lj/cut 1.9\n"
            f"pair_coeff * * 1 1\nneigh_modify binsize {binsize}\nfix 1 all nve\ncompute c all coord/atom cutoff 1.4\n"
            "compute k all cluster/atom 1.4\ncompute g all rdf 4 cutoff 2.0\ncompute s all reduce sum c_c\n"
            "compute m all reduce max c_k\nthermo_style custom step pe c_s c_m\n"
            "fix r all ave/time 1 1 1 c_g[*] mode vector file rdf.txt\nrun 2\n")
    found = []
    for engine in ("naive", "gpu"):
        out = harness.run(deck, tmp_path, engine=engine).out
        found.append(([table.rows for table in harness.read_tables(out)], (tmp_path / "rdf.txt").read_text()))
    assert found[0] == found[1]
    assert "0.355227" in found[0][1]


@pytest.mark.parametrize("every", [1, 2, 3])
def test_looks_in_a_deforming_box_whose_faces_follow_change_nothing(every, tmp_path):
    """A look rebins, and while it lasts the faces are where they are shown: not where the engine's cells are."""
    deck = ("units lj\nboundary p p s\nregion b block 0 3 0 5 0 3 units box\ncreate_box 1 b\n"
            "create_atoms 1 random 12 88 NULL\nmass 1 1\npair_style soft 1.12\npair_coeff * * 3\n"
            "velocity all create 1 4480\nneighbor 0.1 bin\nfix I all nve\nfix D all deform 1 x erate .3 remap x\n"
            "compute c all coord/atom cutoff 0.5\ncompute s all reduce sum c_c\n"
            "thermo_style custom step pe ke press zlo zhi c_s\nthermo_modify norm no format float %.17g\n"
            f"thermo {every}\ntimestep 0.002\nrun 9\n")
    rows = [[table.rows for table in harness.read_tables(
        harness.run(deck, tmp_path / engine, engine=engine, **keywords).log)]
        for engine, keywords in (("naive", {}), ("gpu", {"package": {"neighbours": "list"}}))]
    assert rows[0] == rows[1] and rows[0][0][-1][1].startswith("1.678939")


PLANE_IN_WALLS = ("units lj\ndimension 2\nboundary f f p\nregion b block 0 10 0 10 -0.5 0.5 units box\ncreate_box 1 b\n"
                  "create_atoms 1 random 65 208 NULL\nmass * 1\npair_style lj/cut 2.5\npair_coeff * * 1 0.3\n"
                  "delete_atoms overlap 0.3 all all\nvelocity all create 1 216\nfix I all nve\n")


def test_switches_for_teaching_refuse_momenta_of_two_words(tmp_path):
    """Their kernel does not know the particles of these, and would take those of the order of cells."""
    deck = PLANE_IN_WALLS + "timestep 1e-6\nrun 2\n"
    run = harness.run(deck, tmp_path, engine="gpu", package={"sorted": "no"}, expect=2)
    assert "cannot be used with momenta of two words" in run.err


def test_staging_without_particles(tmp_path):
    walls = "fix w all wall/reflect xlo EDGE xhi EDGE ylo EDGE yhi EDGE\n"
    harness.run(PLANE_IN_WALLS + walls + "run 1\ndelete_atoms group all\nrun 2\n", tmp_path, engine="gpu",
                package={"staged": "yes"})
