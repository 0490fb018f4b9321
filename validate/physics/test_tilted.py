"""Tilted boxes: against lmp, the same crystal by another basis, reversal, restarts, data files, and what is refused."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import harness
from cli import USAGE, call, refused, run_deck, works
from test_lammps import lammps_tables

LMP = shutil.which("lmp")
LATTICE = (4 / 0.6) ** (1 / 3)
TILTED = harness.deck("in.tilted")
QUANTITIES = ("Temp", "PotEng", "KinEng", "TotEng", "Press", "Pxy", "Pxz", "Pyz", "Xy", "Xz", "Yz")

# Knobs of in.tilted.
CASES = {
    "3D": {},
    "3D, the other way": {"xy": -1.9, "xz": 1.7, "yz": -0.6},
    "3D, xy only": {"xz": 0, "yz": 0},
    "3D, walls along z": {"xz": 0, "yz": 0, "z": "f"},
    "2D": {"dim": 2, "n": 8, "xz": 0, "yz": 0, "xy": 1.7},
}

AGAIN = """\
units lj
dimension {dim}
boundary p p {z}
read_data start.data
pair_style lj/cut 2.2
pair_coeff * * 1 1
timestep 0.004
fix move all nve
{walls}
neigh_modify every 1 delay 0 check yes
thermo 10
thermo_style custom step temp pe ke etotal press pxy pxz pyz xy xz yz
thermo_modify format float %.15g
dump 1 all custom 50 {who}.dump id x y z vx vy vz fx fy fz
dump_modify 1 format float %.17g sort id
run 50
"""


def edges(frame: harness.Frame) -> np.ndarray:
    """The edges a, b and c of the box, one a row."""
    (low, high), (xy, xz, yz) = frame.bounds[:, :2].T, frame.bounds[:, 2]
    low = low - np.array([min(0, xy, xz, xy + xz), min(0, yz), 0])
    high = high - np.array([max(0, xy, xz, xy + xz), max(0, yz), 0])
    x, y, z = high - low
    return np.array([[x, 0, 0], [xy, y, 0], [xz, yz, z]])


def apart(a: np.ndarray, b: np.ndarray, edge: np.ndarray) -> float:
    """The largest distance of two sets of points, at the nearest images."""
    fraction = np.linalg.solve(edge.T, (a - b).T).T
    return float(np.abs((fraction - np.rint(fraction)) @ edge).max())


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
@pytest.mark.parametrize("name", CASES)
def test_lmp_agrees(name, fast_engine, tmp_path):
    knobs = {"z": "p", "dim": 3, **CASES[name]}
    harness.run(TILTED.read_text() + "write_data start.data nocoeff\n", tmp_path, variables={**knobs, "steps": 1})
    wall = "fix walls all wall/reflect zlo EDGE zhi EDGE" if knobs["z"] == "f" else ""
    deck = tmp_path / "in.again"
    deck.write_text(AGAIN.format(who="ours", walls=wall, **knobs))
    ours = harness.run(deck, tmp_path, engine=fast_engine).table
    deck.write_text(AGAIN.format(who="theirs", walls=wall, **knobs))
    theirs = lammps_tables(deck, tmp_path)[0]
    for step, relative in ((0, 1e-10), (50, 1e-8)):
        a, b = ours.at(step), theirs.at(step)
        scale = abs(b["Press"]) + abs(b["PotEng"])
        for quantity in QUANTITIES:
            assert a[quantity] == pytest.approx(b[quantity], rel=relative, abs=relative * scale), (step, quantity)
    for a, b in zip(harness.read_dump(tmp_path / "ours.dump"), harness.read_dump(tmp_path / "theirs.dump")):
        assert np.allclose(a.bounds, b.bounds, rtol=0, atol=1e-11)
        places = a.vectors("x", "y", "z")
        assert apart(places, b.vectors("x", "y", "z"), edges(b)) < 1e-8
        assert np.allclose(a.vectors("fx", "fy", "fz"), b.vectors("fx", "fy", "fz"), rtol=0, atol=1e-6)
        fractions = np.linalg.solve(edges(a).T, (places - [-2 * LATTICE, -1.5 * LATTICE, -0.1 * LATTICE]).T)
        assert fractions.min() > -1e-9 and fractions.max() < 1 + 1e-9 or knobs["dim"] == 2


FORCES = """\
units lj
boundary p p {z}
read_data start.data
pair_style lj/cut 2.2
pair_coeff * * 1 1
timestep 0.004
group some id 1:40
group second type 2
velocity second set 2.0 1.5 NULL sum yes
region ball sphere 0.2 1.2 2.7 1.3 units box
region rest sphere 0.6 0.9 2.1 0.2 units box side out
fix move all nve
{fixes}
fix point all indent 20 sphere 3.9 3 1 1.4 units box
fix tie second spring tether 5 3 4 5 0.2
fix pair some spring couple second 2 0.1 NULL 0 0
fix lift all setforce NULL 0.1 NULL region ball
fix bowl all wall/region rest harmonic 5 1 1
neigh_modify every 1 delay 0 check yes
thermo 10
thermo_style custom step temp pe etotal press f_point f_point[1] f_tie f_tie[1] f_tie[2] f_pair f_pair[2] f_lift[2] &
             f_bowl f_bowl[1]
thermo_modify format float %.15g
run 60
"""


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
@pytest.mark.parametrize("name", ["3D", "3D, the other way", "3D, walls along z"])
def test_lmp_has_the_same_forces_of_fixes(name, fast_engine, tmp_path):
    """Springs go on through slanted faces, indenters have nearest images, regions lie in the parallelepiped.

    The regions are far from faces, because LAMMPS wraps particles at rebins only.
    """
    knobs = {"z": "p", **CASES[name]}
    harness.run(TILTED.read_text() + "write_data start.data nocoeff\n", tmp_path, variables={**knobs, "steps": 1})
    walls = ("fix walls all wall/lj93 zlo -0.8 3 1 2.5 zhi EDGE 1 1 2.5 units box\n"
             "fix roll all indent 10 cylinder z 0 0 1 units box")
    deck = tmp_path / "in.again"
    deck.write_text(FORCES.format(z=knobs["z"], fixes=walls if knobs["z"] == "f" else ""))
    ours, theirs = harness.run(deck, tmp_path, engine=fast_engine).table, lammps_tables(deck, tmp_path)[0]
    for step, relative in ((0, 1e-9), (10, 1e-8), (60, 1e-6)):
        a, b = ours.at(step), theirs.at(step)
        scale = abs(b["Press"]) + abs(b["PotEng"])
        for quantity in ours.titles[1:]:
            if step > 0 and "bowl" in quantity:  # lmp goes on with the sums of step 0
                continue
            assert a[quantity] == pytest.approx(b[quantity], rel=relative, abs=relative * scale), (step, quantity)


def test_maps_of_density(tmp_path):
    """A map covers the block around the box, and its bins count the places that dumps show."""
    harness.run(start() + "dump m all density 20 m.*.txt 16\ndump s all density 20 s.*.txt 16 axis x weight mass\n"
                "dump d all custom 20 d.dump id type x y z\nrun 20\n", tmp_path)
    frame = last(tmp_path / "d.dump")
    x, y, z = frame.vectors("x", "y", "z").T
    mass = np.where(frame.columns["type"] == 2, 2.5, 1.0)
    low, high = frame.bounds[:, :2].T
    for name, right, up, weight in (("m", 0, 1, np.ones(len(x))), ("s", 1, 2, mass)):
        lines = (tmp_path / f"{name}.20.txt").read_text().splitlines()
        got = np.array([line.split() for line in lines if line[0] != "#"], dtype=float)
        ends = [[low[axis], high[axis]] for axis in (up, right)]
        place = (x, y, z)
        expected, *_ = np.histogram2d(place[up], place[right], bins=got.shape, range=ends, weights=weight)
        area = np.prod([(b - a) / n for (a, b), n in zip(ends, got.shape)])
        assert max(got.shape) == 16 and np.allclose(got * area, expected, rtol=1e-9, atol=1e-9), name


# A box with right angles, and the same lattice by other edges.
SIDES = (7.0, 6.5, 7.5)
BASES = [(0, 0, 0), (7, 0, 0), (0, -7, 0), (14, -7, 6.5), (-7, 21, -13)]


def test_another_basis_is_the_same_crystal(tmp_path):
    random = np.random.default_rng(5)
    sites = np.stack(np.meshgrid(*[np.arange(5)] * 3), axis=-1).reshape(-1, 3) * (np.array(SIDES) / 5)
    places = sites + random.uniform(-0.1, 0.1, sites.shape)
    speeds = random.normal(0, 1, sites.shape)
    runs = []
    for number, tilt in enumerate(BASES):
        text = f"title\n\n{len(places)} atoms\n1 atom types\n"
        text += "".join(f"0 {side} {axis}lo {axis}hi\n" for side, axis in zip(SIDES, "xyz"))
        text += "{} {} {} xy xz yz\n\nMasses\n\n1 1\n\nAtoms\n\n".format(*tilt)
        for section, rows, kind in (("", places, " 1"), ("\nVelocities\n\n", speeds, "")):
            text += section + "".join(f"{k + 1}{kind} {x!r} {y!r} {z!r}\n" for k, (x, y, z) in enumerate(rows.tolist()))
        (tmp_path / "box.data").write_text(text)
        harness.run("box tilt large\nread_data box.data\npair_style lj/cut 2.5\npair_coeff * * 1 1\nfix 1 all nve\n"
                    f"dump 1 all custom 40 {number}.dump id x y z vx vy vz fx fy fz\nrun 40\n", tmp_path)
        runs.append(harness.read_dump(tmp_path / f"{number}.dump"))
    for other in runs[1:]:
        for a, b in zip(runs[0], other):
            for column in ("vx", "vy", "vz", "fx", "fy", "fz"):
                assert np.array_equal(a.columns[column], b.columns[column]), column
            assert apart(a.vectors("x", "y", "z"), b.vectors("x", "y", "z"), np.diag(SIDES)) < 1e-13


def start() -> str:
    """The deck in.tilted without its run and its dump."""
    text = TILTED.read_text().replace("run             ${steps}\n", "")
    return text.replace("dump            check", "#")


def last(path) -> harness.Frame:
    return harness.read_dump(path)[-1]


def same(a: harness.Frame, b: harness.Frame) -> bool:
    return np.array_equal(a.bounds, b.bounds) and all(np.array_equal(v, b.columns[k]) for k, v in a.columns.items())


DUMP = "dump {0} all custom {1} {0}.dump id type x y z vx vy vz\n"


def test_running_back(tmp_path):
    text = (start() + DUMP.format("forth", 200) + "run 200\nundump forth\nvelocity all negate\n"
            + "reset_timestep 0\n" + DUMP.format("back", 200) + "run 200\n")
    table = harness.run(text, tmp_path).tables
    first, end = harness.read_dump(tmp_path / "forth.dump")[0], last(tmp_path / "back.dump")
    assert np.array_equal(first.vectors("x", "y", "z"), end.vectors("x", "y", "z"))
    assert np.array_equal(first.vectors("vx", "vy", "vz"), -end.vectors("vx", "vy", "vz"))
    for name in ("Momx", "Momy", "Momz"):
        assert table[0].at(0)[name] == table[0].at(200)[name] == -table[1].at(200)[name]


def test_restarts_and_data_files(tmp_path):
    whole = start() + DUMP.format("whole", 40) + "run 20\nwrite_restart half.h5\nwrite_data half.data\nrun 20\n"
    harness.run(whole, tmp_path)
    pair = "pair_style lj/cut 2.2\npair_coeff * * 1 1\ntimestep 0.004\nfix move all nve\n"
    harness.run("read_restart half.h5\nfix move all nve\n" + DUMP.format("restart", 40) + "run 20\n", tmp_path)
    harness.run("read_data half.data\nreset_timestep 20\n" + pair + DUMP.format("data", 40) + "run 20\n", tmp_path)
    for name in ("restart", "data"):
        assert same(last(tmp_path / "whole.dump"), last(tmp_path / f"{name}.dump")), name


def test_output(tmp_path):
    text = (start() + "dump text all custom 10 text.dump id x y z xs ys zs\ndump xyz all extxyz 10 box.xyz id\n"
            "variable most atom x\nvariable top equal bound(all,xmax)\nrun 10\nprint \"TOP ${top}\"\n")
    log = harness.run(text, tmp_path).log
    frame = last(tmp_path / "text.dump")
    edge, places = edges(frame), frame.vectors("x", "y", "z")
    corner = places - frame.vectors("xs", "ys", "zs") @ edge
    assert np.allclose(corner, corner[0], rtol=0, atol=1e-12)
    fractions = frame.vectors("xs", "ys", "zs")
    assert fractions.min() >= 0 and fractions.max() < 1 + 1e-15
    lattice = (tmp_path / "box.xyz").read_text().split('Lattice="')[-1].split('"')[0].split()
    assert np.allclose(np.array(list(map(float, lattice))).reshape(3, 3), edge, rtol=0, atol=1e-14)
    assert f"TOP {places[:, 0].max():.15g}"[:14] in log


MEASURED = """
group some id 1:300
region ball sphere 0.2 1.2 2.7 1.9 units box side {side}
compute t all temp/region ball
region block block -0.5 2.9 0.1 3.4 0.3 4.1 units box side {side}
compute b all temp/region block
compute r some reduce/region ball sum x vy
compute s all property/atom xs ys zs
compute f all reduce sum c_s[1] c_s[2] c_s[3]
compute k all chunk/atom type region ball
fix k all ave/chunk 1 1 10 k vx file /dev/null
variable m atom rmask(ball)*y
compute m all reduce sum v_m
variable inside equal count(some,ball)
dump all all custom 10 all.dump id type x y z vx vy vz xs ys zs
dump near all custom 10 near.dump id
dump_modify near region ball
thermo_style custom step c_t c_b c_r[1] c_r[2] c_f[1] c_f[2] c_f[3] f_k[1][1] f_k[2][1] c_m v_inside
thermo_modify norm no format float %.15g
thermo 10
run 30
"""


@pytest.mark.parametrize("side", ["in", "out"])
def test_regions_lie_in_the_parallelepiped_during_a_run(side, tmp_path):
    table = harness.run(start() + MEASURED.format(side=side), tmp_path).table
    near = harness.read_dump(tmp_path / "near.dump")
    for number, frame in enumerate(harness.read_dump(tmp_path / "all.dump")):
        row, places, speeds = table.at(10 * number), frame.vectors("x", "y", "z"), frame.vectors("vx", "vy", "vz")
        inside = (np.linalg.norm(places - [0.2, 1.2, 2.7], axis=1) <= 1.9) == (side == "in")
        assert 10 < inside.sum() < len(inside) - 10
        number, kind = frame.columns["id"], frame.columns["type"]
        some, mass = inside & (number <= 300), np.where(kind == 2, 2.5, 1.0)
        block = ((places >= [-0.5, 0.1, 0.3]) & (places <= [2.9, 3.4, 4.1])).all(axis=1) == (side == "in")
        assert 10 < block.sum() < len(block) - 10
        of_block = (mass[:, None] * speeds**2)[block].sum() / (3 * block.sum() - 3)
        temperature = (mass[:, None] * speeds**2)[inside].sum() / (3 * inside.sum() - 3)
        values = (temperature, of_block, places[some, 0].sum(), speeds[some, 1].sum(),
                  *frame.vectors("xs", "ys", "zs").sum(0), (inside & (kind == 1)).sum(), (inside & (kind == 2)).sum(),
                  places[inside, 1].sum(), some.sum())
        assert [row[title] for title in table.titles[1:]] == pytest.approx(values, rel=1e-9, abs=1e-9)
        assert near[int(row["Step"]) // 10].columns["id"].tolist() == number[inside].tolist()


CHANGED = """\
units lj
atom_style atomic
lattice fcc 0.6
region r block 0 4 0 4 0 4
create_box 1 r
create_atoms 1 box
mass 1 1
pair_style lj/cut 2.2
pair_coeff 1 1 1 1
displace_atoms all move 0.1 0.2 0.3
change_box all triclinic
change_box all xy final 0.7 xz delta -0.4 remap
change_box all yz final 0.5 units box
change_box all xy delta -0.3 x scale 1.1 z final -0.2 4.1 yz final 0.6 remap
displace_atoms all move 3.7 -2.9 1.3
thermo_style custom step pe press pxy pxz pyz vol xy xz yz lx lz
thermo_modify format float %.15g
run 0
change_box all xy final 0 xz final 0 yz final 0 remap ortho
run 0
"""


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
def test_lmp_changes_the_box_alike(tmp_path):
    ours = harness.run(CHANGED, tmp_path).tables
    theirs = lammps_tables(tmp_path / "in.deck", tmp_path)
    assert len(ours) == len(theirs) == 2
    for a, b in zip(ours, theirs):
        for name, value in b.at(0).items():
            assert a.at(0)[name] == pytest.approx(value, rel=1e-9, abs=1e-9), name
    assert ours[0].at(0)["PotEng"] != pytest.approx(ours[1].at(0)["PotEng"], rel=1e-3)


REFUSED = {
    "boundary f p p\nregion r prism 0 8 0 8 0 8 1 0 0\ncreate_box 1 r": "periodic along x and y",
    "boundary p p s\nregion r prism 0 8 0 8 0 8 1 0 0\ncreate_box 1 r": "follow the particles",
    "region r prism 0 8 0 8 0 8 5 0 0\ncreate_box 1 r": "more than half of the box along x",
    "box tilt large\nregion r prism 0 8 0 8 0 8 8001 0 0\ncreate_box 1 r": "more than 1000 sides",
    "dimension 2\nregion r prism 0 8 0 8 -1 1 1 0.5 0\ncreate_box 1 r": "xz must be 0 in two dimensions",
    "box tilt medium": "not small or large",
    "box size 3": "accepted is tilt",
    "BOX\ncreate_atoms 1 grid 8": "create_atoms grid",
    "BOX\ncreate_atoms 1 single 0 7.9 7.9": "outside the tilted box",
    "BOX\nATOMS\nfix 2 all indent 10 cylinder y 4 4 1\nrun 1": "fix indent: distances along x without y",
    "BOX\nATOMS\nfix 2 all indent 10 cylinder z 4 4 1\nrun 1": "fix indent: distances along x without z",
    "BOX\nATOMS\nfix 2 all drag NULL 4 NULL 1 1\nrun 1": "fix drag: distances along y without z",
    "BOX\nATOMS\ncompute 1 all temp/ramp vx 0 1 x 0 8\nrun 1": "can only change along z",
    "BOX\nATOMS\nregion b block 0 4 0 4 0 4\ncompute 1 all temp/region b\nunfix 1\nfix 2 all nvt temp 1 1 1\n"
    "fix_modify 2 temp 1\nrun 1": "the box may be tilted",
    "BOX\nATOMS\ncompute 1 all chunk/atom bin/1d x lower 1\nfix 2 all ave/chunk 1 1 1 1 vx file a\nrun 1":
        "units reduced",
    "BOX\nATOMS\nwrite_data a.data\nregion q block 0 1 0 1 0 1\nclear\nregion r block 0 8 0 8 0 8\ncreate_box 1 r\n"
    "read_data a.data add append": "the same tilt, or none",
}


@pytest.mark.parametrize("text, word", REFUSED.items())
def test_refused(text, word, tmp_path):
    text = text.replace("BOX", "region r prism 0 8 0 8 0 8 1 0.5 0.2\ncreate_box 1 r\nmass 1 1")
    text = text.replace("ATOMS", "lattice sc 0.5\ncreate_atoms 1 box\npair_style lj/cut 2.5\npair_coeff * * 1 1\n"
                                 "fix 1 all nve")
    refused(run_deck(tmp_path, text + "\n"), USAGE, word)


@pytest.mark.mpi
def test_ranks_divide_no_axis_that_is_shifted(tmp_path):
    got = harness.run("processors 2 1 1\n" + start() + "run 1\n", tmp_path, ranks=2, expect=None)
    assert got.status == USAGE and "must be one domain" in got.err


def test_a_region_of_a_box_that_is_tilted_later(tmp_path):
    """The temperature in it is that of a compute that is defined then, also in a check."""
    begin = ("lattice fcc 0.8\nregion r block 0 3 0 3 0 3\ncreate_box 1 r\ncreate_atoms 1 box\nmass 1 1\n"
             "pair_style lj/cut 2\npair_coeff 1 1 1 1\nvelocity all create 1 4711\n"
             "region b block 0.1 1.6 0.1 2.2 0 3\n")
    parts = ["compute 1 all temp/region b\n", "change_box all triclinic\nchange_box all xy final 0.6 remap\n"]
    end = "fix 1 all nve\nthermo_style custom step c_1\nthermo_modify format float %.17g\nrun 5\n"
    rows = [harness.run(begin + "".join(order) + end, tmp_path / str(k)).table.rows
            for k, order in enumerate((parts, parts[::-1]))]
    assert rows[0] == rows[1] and float(rows[0][0][1]) > 0.5
    (tmp_path / "in.deck").write_text(begin + "".join(parts) + end)
    assert "No problem" in works(call(tmp_path, "check", "-in", "in.deck")).out


def test_sites_on_a_lower_face_stay_there(tmp_path):
    """Their fractions are 0 up to rounding, some of them below. Groups see them there before the first run too."""
    deck = ("lattice fcc 1.052 orient x 1 -1 0 orient y 1 1 -2 orient z 1 1 1\nregion box {} 0 4 0 4 0 4 {}\n"
            "create_box 1 box\ncreate_atoms 1 box\nregion low block INF INF INF INF INF 0.1\ngroup low region low\n"
            "mass 1 1\npair_style zero 1\npair_coeff * *\nvariable n equal count(low)\nthermo_style custom step v_n\n"
            "run 0\ngroup low clear\ngroup low region low\nrun 0\n")
    counts = [[table.rows[0][1] for table in harness.run(deck.format(*shape), tmp_path).tables]
              for shape in (("block", ""), ("prism", "0.5 0 0"))]
    assert counts == [["88", "88"], ["88", "88"]]
