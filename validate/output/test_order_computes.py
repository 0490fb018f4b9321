"""Computes of local order and dumps of values of particles: as lmp, the same bytes on every engine and number of
ranks, and the known numbers of perfect crystals."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from cli import BOX, USAGE, refused, run_deck
from test_averages import MELT, needs_lmp, run_lmp

pytestmark = pytest.mark.smoke

DUMPS = """\
compute a odd orientorder/atom
compute b all orientorder/atom degrees 3 3 4 6 nnn NULL cutoff 1.5 wl yes wl/hat yes components 4
compute d all orientorder/atom degrees 2 1 2 nnn 7 wl yes components 1 chunksize 100
compute g odd centro/atom fcc
compute h all cna/atom 1.38
compute i odd coord/atom cutoff 1.5 1 2
compute l all coord/atom cutoff 1.5
compute m all pe/atom
compute n all ke/atom
compute oc odd cluster/atom 1.35
compute pc all cluster/atom 1.02
variable w atom c_a[2]*id+c_m
region half block INF INF 0.1 2.6 INF INF
dump a all custom 20 a.txt id vx fx c_a[*] c_b[*] c_d[2*4] c_d[*1] c_d[5*] c_g c_h c_i[2] c_i[1] c_l c_m c_n v_w &
c_oc c_pc
dump_modify a sort id format float %.12g
dump b odd custom 20 b.txt id c_l v_w
dump_modify b sort id format float %.12g thresh c_l > 11 thresh vx <= 0.3 thresh id != 3 thresh type == 2
dump c all custom 20 c.txt id vx
dump_modify c sort id region half format float %.12g thresh id >= 5 thresh c_n < 2 thresh c_i[2] |^ 0
thermo 20
compute r all reduce sum c_a[*]
thermo_style custom step c_r[2*3] c_r[*] temp
"""
NAMES = "abc"


@needs_lmp
def test_dumps_of_lammps(tmp_path):
    # lmp takes a range in compute reduce as several values too.
    deck = MELT + DUMPS + "run 20\n"
    theirs = run_lmp(deck, tmp_path / "theirs")[0]
    ours = harness.run(deck, tmp_path / "ours").table
    assert ours.titles == theirs.titles == ["Step", *(f"c_r[{k}]" for k in (2, 3, 1, 2, 3, 4, 5)), "Temp"]
    for a, b in zip(ours.rows, theirs.rows):
        assert list(map(float, a)) == pytest.approx(list(map(float, b)), rel=2e-7)
    for name in NAMES:
        ours_of, theirs_of = (harness.read_dump(tmp_path / who / f"{name}.txt") for who in ("ours", "theirs"))
        for one, other in zip(ours_of, theirs_of):
            assert list(one.columns) == list(other.columns) and one.step == other.step
            assert 90 < len(one.columns["id"]) == len(other.columns["id"])
            for column, values in one.columns.items():
                # Of a perfect lattice the nearest 7 are any of 12.
                if one.step > 0 or not column.startswith("c_d"):
                    assert values == pytest.approx(other.columns[column], rel=1e-7, abs=1e-7), (one.step, column)


@pytest.mark.mpi
def test_same_dumps_on_every_engine(tmp_path):
    deck = MELT + DUMPS + "run 20\n"
    one = harness.run(deck, tmp_path / "naive", engine="naive")
    for ranks in (None, 3):
        other = harness.run(deck, tmp_path / str(ranks), ranks=ranks)
        assert one.table.rows == other.table.rows
        for name in NAMES:
            files = [(tmp_path / who / f"{name}.txt").read_bytes() for who in ("naive", str(ranks))]
            assert files[0] == files[1], name


def clusters(x: np.ndarray, side: np.ndarray, periodic: tuple, cutoff: float) -> np.ndarray:
    """The least index of each particle's cluster, by giving the smaller one to both of a pair until all agree."""
    delta = x[:, None] - x[None]
    delta -= np.where(periodic, side * np.rint(delta / side), 0.0)
    near = (delta ** 2).sum(axis=2) < cutoff ** 2
    label = np.arange(len(x))
    while True:
        smaller = np.where(near, label[None], len(x)).min(axis=1)
        if (smaller == label).all():
            return label
        label = smaller


@pytest.mark.mpi
@pytest.mark.parametrize("faces", ["p p p", "f p p"])
def test_clusters_through_faces_and_ranks(faces, tmp_path):
    """Long clusters near percolation, which cross domains and periodic faces, and one that is a ring of the box; ids
    that are no index; the values between runs."""
    random = np.random.default_rng(5)
    side = np.array([24.0, 16.0])
    x = random.uniform(0, side, (500, 2))
    x = np.vstack([x[np.abs(x[:, 1] - 8) > 1.2], [[k + 0.5, 8.0] for k in range(24)]])
    ids = random.permutation(3 * len(x))[:len(x)] + 1
    order = np.argsort(ids)
    x, ids = x[order], ids[order]
    rows = "".join(f"{i} 1 {a:.17g} {b:.17g} 0\n" for i, (a, b) in zip(ids, x))
    (tmp_path / "data").write_text(f"x\n\n{len(x)} atoms\n1 atom types\n\n0 24 xlo xhi\n0 16 ylo yhi\n"
                       f"-0.5 0.5 zlo zhi\n\nMasses\n\n1 1\n\nAtoms # atomic\n\n{rows}")
    deck = (f"units lj\ndimension 2\nboundary {faces}\nread_data {tmp_path}/data\npair_style lj/cut 0.01\n"
            "pair_coeff 1 1 0 0.005\ncompute c all cluster/atom 1.01\ndump d all custom 1 d.txt id c_c\n"
            "fix 1 all nve\nrun 0\nundump d\nvariable first atom c_c==id\n"
            "group first variable first\nvariable n equal count(first)\nprint '${n} clusters'\n")
    expected = ids[clusters(x, side, (faces[0] == "p", True), 1.01)]
    assert 20 < len(set(expected)) < 200
    for ranks in (None, 4):
        done = harness.run(deck, tmp_path / str(ranks), ranks=ranks, threads=3)
        assert list(harness.read_dump(tmp_path / str(ranks) / "d.txt")[0].columns["c_c"]) == list(expected)
        assert f"\n{len(set(expected))} clusters" in done.log


def crystal(lattice: str, more: str) -> str:
    return (f"units lj\nlattice {lattice}\nregion b block 0 4 0 4 0 4\ncreate_box 1 b\ncreate_atoms 1 box\nmass 1 1\n"
            "pair_style lj/cut 1.9\npair_coeff 1 1 1 1\n" + more)


# Q4, Q6, hat W4, hat W6: Mickel et al., J. Chem. Phys. 138, 044501 (2013), and Steinhardt et al. (1983).
CRYSTALS = {
    "fcc 1": (12, 1, 1.3, 0.19094, 0.57452, -0.159317, -0.013161),
    "bcc 1": (14, 3, 1.5, 0.03637, 0.51069, 0.159317, 0.013161),
    "sc 1": (6, 5, 1.2, 0.76376, 0.35355, 0.159317, 0.013161),
    "hcp 1": (12, 2, 1.3, 0.09722, 0.48476, 0.134097, -0.012442),
}


@pytest.mark.parametrize("lattice", CRYSTALS)
def test_perfect_crystals(lattice, tmp_path):
    n, kind, reach, *orders = CRYSTALS[lattice]
    deck = crystal(lattice, f"compute q all orientorder/atom degrees 2 4 6 nnn {n} wl/hat yes\n"
                            f"compute c all cna/atom {reach}\ndump d all custom 1 d.txt id c_q[*] c_c\nrun 0\n")
    harness.run(deck, tmp_path)
    columns = harness.read_dump(tmp_path / "d.txt")[0].columns
    assert np.all(columns["c_c"] == kind)
    for k, order in enumerate(orders, 1):
        assert columns[f"c_q[{k}]"] == pytest.approx(order, abs=1e-5)


def test_hexagons_and_a_vacancy(tmp_path):
    """In a plane of hexagons q6 is e^(6 i 0) = 1, and q3 is 0. Without one particle its neighbours have 5 of 6."""
    deck = ("units lj\ndimension 2\nlattice hex 1\nregion b block 0 6 0 4 -0.5 0.5\ncreate_box 1 b\n"
            "create_atoms 1 box\nmass 1 1\npair_style lj/cut 1.5\npair_coeff 1 1 1 1\ngroup gone id 20\n"
            "delete_atoms group gone\ncompute q all hexorder/atom nnn NULL cutoff 1.2\n"
            "compute p all hexorder/atom degree 3\ncompute n all coord/atom cutoff 1.2\n"
            "dump d all custom 1 d.txt id c_q[*] c_p[*] c_n\nrun 0\n")
    harness.run(deck, tmp_path)
    columns = harness.read_dump(tmp_path / "d.txt")[0].columns
    assert columns["c_q[1]"] == pytest.approx(1.0, abs=1e-9) and columns["c_q[2]"] == pytest.approx(0.0, abs=1e-9)
    assert columns["c_p[1]"] == pytest.approx(0.0, abs=1e-9)
    assert sorted(columns["c_n"])[:7] == [5.0] * 6 + [6.0]


@pytest.mark.mpi
def test_images_in_a_small_box(tmp_path):
    """Neighbours beyond half of the box: shells of fcc, 12 6 24 12 24 8 48 6, also images of the particle itself."""
    deck = crystal("fcc 1", "compute n all coord/atom cutoff 3.3\ncompute g all rdf 1 cutoff 3.3\n"
                            "compute s all reduce min c_n\ncompute l all reduce max c_n\n"
                            "thermo_style custom step c_s c_l c_g[1][3]\nrun 0\n").replace("0 4", "0 2").replace(
                                "lj/cut 1.9", "lj/cut 1.2")
    for ranks in (None, 2):
        assert list(map(float, harness.run(deck, tmp_path, ranks=ranks).table.rows[0])) == [0, 140, 140, 140]


BAD = {
    "compute q all cluster/atom": ["cluster/atom takes", "0 words"],
    "compute q all cluster/atom 1 2": ["cluster/atom takes", "2 words"],
    "compute q all cluster/atom 0": ["cutoff of compute cluster/atom", "0"],
    "compute q all orientorder/atom degrees 2 4": ["degrees 2", "fewer"],
    "compute q all orientorder/atom degrees 1 31": ["31", "from 0 to 30"],
    "compute q all orientorder/atom components 5": ["components 5", "none of its degrees"],
    "compute q all orientorder/atom nnn 0": ["nnn", "0"],
    "compute q all orientorder/atom cutoff": ["cutoff is missing"],
    "compute q all orientorder/atom speed 3": ["unknown keyword 'speed'"],
    "compute q all hexorder/atom degree": ["degree"],
    "compute q all centro/atom fcc axes yes": ["axes yes"],
    "compute q all centro/atom 7": ["even", "7"],
    "compute q all cna/atom": ["cutoff"],
    "compute q all cna/atom -1": ["cna/atom", "-1"],
    "dump e all custom 1 f id c_o[6*7]": ["c_o[6*7]", "5 values"],
    "dump e all custom 1 f id c_o": ["c_o", "no such value"],
    "dump e all custom 1 f id v_one": ["v_one", "style atom"],
    "dump e all custom 1 f id f_1": ["f_1", "no such value"],
    "dump_modify d thresh x < ": ["thresh takes none"],
    "dump_modify d thresh x = 1": ["'=' is no operator", "|^"],
    "dump_modify d thresh x < LAST": ["LAST"],
    "dump_modify d thresh speed < 1": ["unknown column 'speed'"],
    "dump_modify d region nowhere": ["nowhere"],
    "thermo_style custom step c_m[7*8]": ["c_m[7*8]", "1 and 2"],
    "thermo_style custom step c_o[*]": ["c_o[*]"],
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input(line, tmp_path):
    begin = BOX + ("variable one equal 1\ncompute o all orientorder/atom\ndump d all custom 1 d.txt id\n"
                   "compute m all reduce sum x y\n")
    refused(run_deck(tmp_path, begin + line + "\n"), USAGE, *BAD[line], line=begin.count("\n") + 1)
