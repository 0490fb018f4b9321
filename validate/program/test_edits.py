"""Regions, groups and edits of particles: as lmp makes them, by id; the same bits on 1, 2 and 3 ranks."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pytest

import harness
from cli import BOX, USAGE, refused, run_deck, works

LMP = shutil.which("lmp")
needs_lmp = pytest.mark.skipif(LMP is None, reason="lmp is not installed")

CUBE = "lattice fcc 0.8442\nregion box block 0 6 0 5 0 4\ncreate_box 3 box\n"
MELT = CUBE + "create_atoms 1 box\n"
FLAT = "dimension 2\nlattice hex 0.9\nregion box block 0 8 0 5 -0.5 0.5\ncreate_box 3 box\ncreate_atoms 1 box\n"
END = ("dump 1 all custom 1 all.dump id type x y z vx vy vz\n"
       "dump_modify 1 sort id format float %.17g\nthermo_style custom step atoms lx ly lz xlo xhi ylo yhi zlo zhi\n"
       "thermo_modify norm no format float %.15g\nrun 0\n")


def end(deck: str) -> str:
    """The end of a deck; two dimensions have no z."""
    text = "units lj\n" + deck.replace("create_box 3 box\n", "create_box 3 box\nmass * 1\n") + END
    return text.replace("x y z vx vy vz", "x y vx vy") if "dimension 2" in deck else text


def frame_of(deck: str, folder, **keywords):
    run = harness.run(end(deck), folder, **keywords)
    return harness.read_dump(folder / "all.dump")[-1], run.table


def frame_of_lmp(deck: str, folder):
    folder.mkdir()
    # lmp takes ranks into account where ours does not, and says nothing about particles without forces.
    text = end(deck).replace("region box", "atom_modify map array\nregion box", 1)
    (folder / "in.lmp").write_text(text)
    done = subprocess.run([LMP, "-in", "in.lmp", "-log", "log", "-screen", "none"], cwd=folder, timeout=60,
                          env=harness.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, (folder / "log").read_text()[-1500:]
    return harness.read_dump(folder / "all.dump")[-1], harness.read_tables((folder / "log").read_text())[-1]


def assert_like_lmp(deck: str, folder) -> None:
    """The same ids, types, positions and velocities, and the same box, to the rounding of doubles."""
    ours, table = frame_of(deck, folder / "ours")
    theirs, their_table = frame_of_lmp(deck, folder / "theirs")
    assert ours.columns["id"].tolist() == theirs.columns["id"].tolist()
    assert ours.columns["type"].tolist() == theirs.columns["type"].tolist()
    for name in ours.columns:
        np.testing.assert_allclose(ours.columns[name], theirs.columns[name], rtol=0, atol=2e-12, err_msg=name)
    for name in table.titles:
        assert table.at(0)[name] == pytest.approx(their_table.at(0)[name], rel=1e-12, abs=1e-12), name


def assert_same_on_ranks(deck: str, folder) -> None:
    alone, _ = frame_of(deck, folder / "alone")
    for ranks in (2, 3):
        frame, _ = frame_of(deck, folder / str(ranks), ranks=ranks)
        assert list(frame.columns) == list(alone.columns)
        for name, values in alone.columns.items():
            assert frame.columns[name].tobytes() == values.tobytes(), (ranks, name)


REGIONS = {
    "block": "region r block 1 3.3 INF 2 0.5 EDGE",
    "block out": "region r block 1 3.3 INF 2 0.6 INF side out",
    "sphere": "region r sphere 3 2 2 1.8",
    "sphere out": "region r sphere 3 2 2 1.8 side out units box",
    "cylinder": "region r cylinder y 3 2 1.3 0.7 EDGE",
    "cone": "region r cone z 3 2.2 0.4 2.3 0.2 3.9",
    "cone upside down": "region r cone x 2.1 2.2 2.3 0 0.2 5.7 side out",
    "plane": "region r plane 3.1 2 2 1 -2 0.5",
    "prism": "region r prism 0.7 3 0.6 3 0.4 3 0.8 -0.5 0.6",
    "union": "region a sphere 2 2 2 1.1\nregion b block 3 5 1 2 0 4\nregion r union 2 a b",
    "intersect": "region a sphere 2 2 2 1.9\nregion b plane 2.1 0 0 1 0 0 side out\nregion r intersect 2 a b side out",
    "nested": "region a sphere 2 2 2 1.9\nregion b sphere 3 2 2 1.6 side out\nregion c intersect 2 a b\n"
              "region d cylinder z 5 1 0.9 INF INF\nregion r union 2 c d",
    "variable sphere": "variable a equal 1+step\nvariable b equal 2.3\nregion r sphere v_b 2 v_b v_a",
    "variable cylinder": "variable a equal 1.7\nregion a cylinder y 3 v_a v_a 0.7 EDGE units box side out\n"
                         "region b cylinder x 2 v_a 1.6 INF INF\nregion r intersect 2 a b",
    "again": "region r sphere 1 1 1 1\nregion r delete\nregion r sphere 3.1 2 2 1.4",
}


@needs_lmp
@pytest.mark.parametrize("name", REGIONS)
def test_regions_are_those_of_lmp(name, tmp_path):
    """Sites are made in the region, particles of a box are found in it."""
    assert_like_lmp(CUBE + REGIONS[name] + "\ncreate_atoms 2 region r\n", tmp_path)
    (tmp_path / "set").mkdir()
    assert_like_lmp(MELT + REGIONS[name] + "\nset region r type 3\ngroup g region r\nvelocity g set 1 2 3\n",
                    tmp_path / "set")


# Regions with sites of a simple cubic lattice on their surfaces, and what is in them.
ON_SITES = {
    "block": ("block 1 3 INF 2 1 5", lambda x, y, z: 1 <= x <= 3 and y <= 2 and 1 <= z),
    "block out": ("block 1 3 0 2 1 5 side out", lambda x, y, z: not (1 <= x <= 3 and y <= 2 and 1 <= z)),
    "sphere": ("sphere 3 2 2 2", lambda x, y, z: (x - 3)**2 + (y - 2)**2 + (z - 2)**2 <= 4),
    "cylinder": ("cylinder z 2 3 2 1 4", lambda x, y, z: (x - 2)**2 + (y - 3)**2 <= 4 and 1 <= z <= 4),
    "cylinder out": ("cylinder x 2 3 2 1 4 side out",
                     lambda x, y, z: not ((y - 2)**2 + (z - 3)**2 <= 4 and 1 <= x <= 4)),
    "cone": ("cone z 3 3 2 1 1 3", lambda x, y, z: 1 <= z <= 3 and 4 * ((x - 3)**2 + (y - 3)**2) <= (5 - z)**2),
    "plane": ("plane 0 3 0 0 1 0", lambda x, y, z: y >= 3),
    "slope": ("plane 0 3 0 1 1 0", lambda x, y, z: x + y >= 3),
    "prism": ("prism 1 4 1 3 1 3 1 0 0", lambda x, y, z: 1 <= y <= 3 and 1 <= z <= 3 and 0 <= 2 * x - y - 1 <= 6),
    "intersect": ("intersect 2 a b", lambda x, y, z: all(2 <= u <= 3 for u in (x, y, z))),
}


@pytest.mark.parametrize("number", ["0.7", "1.3"])
@pytest.mark.parametrize("name", ON_SITES)
def test_sites_on_the_surface_stay_there_when_runs_round_positions(name, number, engine, tmp_path):
    """Particles at rest, which are found in a region before a run, in it, and after it. Before it the last digits of
    a distance decide on a curved or tilted surface, as in LAMMPS."""
    words, inside = ON_SITES[name]
    sites = [(x, y, z) for x in range(6) for y in range(5) for z in range(5)]
    count = sum(inside(*site) for site in sites)
    forced = name not in ("cone", "prism", "intersect")
    deck = (f"lattice sc {number}\nregion box block 0 6 0 5 0 5\ncreate_box 1 box\ncreate_atoms 1 box\nmass 1 1\n"
            "pair_style soft 0.1\npair_coeff * * 1\nfix 1 all nve\n"
            "region a block 1 3 1 3 1 3\nregion b block 2 4 2 4 2 4\n"
            f"region r {words}\ngroup before region r\nvariable one atom 1\n"
            "compute n all reduce/region r sum v_one\nvariable n equal count(before)\nvariable r equal count(all,r)\n" +
            ("fix f all setforce 1 0 0 region r\n" if forced else "") +
            "compute f all reduce sum fx\nthermo_style custom step v_n v_r c_n c_f\nthermo_modify norm no\nrun 0\n"
            "group after region r\nvariable m equal count(after)\nthermo_style custom step v_n v_m\nrun 0\n")
    first, second = harness.run(deck, tmp_path, engine=engine).tables
    assert 5 < count < 150
    assert list(map(float, first.rows[0][2:])) == [count, count, count if forced else 0]
    assert float(second.rows[0][2]) == count
    assert float(first.rows[0][1]) == count or name not in ("block", "block out", "intersect")


def test_a_temperature_of_a_block_on_sites(engine, tmp_path):
    """A particle on a face counts: 1 of 3 layers along each axis has no place in the temperature."""
    deck = ("lattice sc 0.7\nregion box block 0 3 0 3 0 3\ncreate_box 1 box\ncreate_atoms 1 box\nmass 1 1\n"
            "velocity all set 1 2 3 units box\npair_style soft 0.1\npair_coeff * * 1\nfix 1 all nve\n"
            "region r block 1 2 1 2 1 2\ncompute t all temp/region r\nthermo_style custom step c_t\nrun 0\n")
    t = harness.run(deck, tmp_path, engine=engine).table.column("c_t")[0]
    assert t == pytest.approx(8 * 14 / (3 * 8 - 3), rel=1e-7)


@pytest.mark.mpi
@pytest.mark.parametrize("name", ["cone", "nested", "plane", "sphere out"])
def test_sites_and_random_positions_of_regions_on_ranks(name, tmp_path):
    assert_same_on_ranks(CUBE + REGIONS[name] + "\ncreate_atoms 2 region r\ncreate_atoms 1 random 200 4 r\n"
                         "group g region r\nset group g type 3\n", tmp_path)


def test_random_positions_are_in_the_region(tmp_path):
    frame, _ = frame_of(CUBE + "region r sphere 3 2 2 1.5 units box\ncreate_atoms 1 random 500 7 r\n", tmp_path)
    x = np.stack([frame.columns[name] for name in "xyz"], axis=1) - [3, 2, 2]
    radius = np.sqrt((x**2).sum(axis=1))
    assert len(radius) == 500 and radius.max() <= 1.5
    # The share of a ball within half its radius is an eighth.
    assert 0.08 < np.mean(radius < 0.75) < 0.17


LATTICES = {
    "fcc 110": "lattice fcc 0.8 orient x 1 1 0 orient y -1 1 0 orient z 0 0 1 origin 0.1 0.2 0.3",
    "bcc 111": "lattice bcc 0.9 orient x 1 1 1 orient y 1 -1 0 orient z 1 1 -2 origin 0.05 0.02 0.01",
    "hcp": "lattice hcp 1.1 origin 0.01 0.02 0.03",
    "diamond": "lattice diamond 0.7 origin 0.01 0.02 0.03 spacing 1.1 1 0.9",
    "skewed": "lattice custom 1.2 a1 1 0 0 a2 0.5 0.9 0 a3 0.1 0.2 0.8 basis 0 0 0 basis 0.5 0.4 0.6 "
              "origin 0.1 0.1 0.1",
    "turned": "lattice custom 1.2 a1 1 0.1 0 a2 0 1.1 0 a3 0 0 1.3 basis 0 0 0 orient x 0 1 0 orient y 0 0 1 "
              "orient z 1 0 0 origin 0.1 0.1 0.1",
}


@needs_lmp
@pytest.mark.parametrize("name", LATTICES)
def test_lattices_are_those_of_lmp(name, tmp_path):
    deck = (LATTICES[name] + "\nregion box block 0.1 6.3 -0.2 5.1 0 4.2\ncreate_box 3 box\n"
            "create_atoms 1 box basis 1 2\n")
    assert_like_lmp(deck, tmp_path)


@needs_lmp
def test_sites_with_types_in_two_dimensions(tmp_path):
    assert_like_lmp("dimension 2\nlattice custom 0.9 a1 1 0 0 a2 0.5 0.8 0 basis 0 0 0 basis 0.5 0.5 0 "
                    "orient x 1 2 0 orient y -2 1 0 origin 0.1 0.2 0\nregion box block 0 8 0 5 -0.5 0.5\n"
                    "create_box 3 box\nregion r sphere 4 2 0 2.2\ncreate_atoms 1 region r basis 2 3\n", tmp_path)


@pytest.mark.mpi
def test_lattices_on_ranks(tmp_path):
    assert_same_on_ranks(LATTICES["fcc 110"] + "\nregion box block 0.1 6.3 -0.2 5.1 0 4.2\ncreate_box 3 box\n"
                         "create_atoms 1 box basis 1 2\n", tmp_path)


GROUPS = {
    "union": "group g union heavy left",
    "subtract": "group g subtract all heavy left",
    "subtract itself": "group g subtract heavy heavy",
    "intersect": "group g intersect heavy left",
    "ids": "group g id 1:50:3 60 70:80",
    "types": "group g type 1:2 3",
    "less": "group g id < 40",
    "at most": "group g id <= 40",
    "more": "group g id > 40",
    "at least": "group g type >= 2",
    "equal": "group g type == 3",
    "not": "group g id != 7",
    "between": "group g id <> 100 200",
    "empty": "group g empty",
    "cleared": "group g id 1:100\ngroup g clear\ngroup g id 30",
    "deleted": "group x id 1:100\ngroup x delete\ngroup g id 5:9\ngroup y type 3\ngroup x union g y",
}


@needs_lmp
@pytest.mark.parametrize("name", GROUPS)
def test_groups_are_those_of_lmp(name, tmp_path):
    """Members of g get velocities."""
    assert_like_lmp(MELT + "set atom 1*200 type 2\nset atom 100*300 type 3\nregion half block 0 2.9 INF INF INF INF\n"
                    "group left region half\ngroup heavy type 2\n" + GROUPS[name] + "\nvelocity g set 1 2 3\n",
                    tmp_path)


THINGS = ("set atom 1*200 type 2\nset atom 100*300 type 3\nregion half block 0 2.9 INF INF INF INF\n"
          "group left region half\ngroup heavy type 2\nvelocity all ramp vx -1 2 y 0.5 4\n"
          "velocity heavy ramp vz 0 1 x 1 4 units box\nmass 2 3\n")
PAIRS = "pair_style lj/cut 2.5\npair_coeff * * 0.01 0.3\n"
EDITS = {
    "set many": "set type 2 type 3 vx 5 vy 1.5",
    "set positions": "set atom 5 x 1.25 y 0.5\nset group heavy z 3",
    "set velocities": "set region half vx 0.5 vz -0.25\nset atom 10*20 vy 7",
    "velocity set": "velocity left set 1 NULL 2 sum yes\nvelocity heavy set NULL 3 NULL units box",
    "velocity ramp": "velocity left ramp vy 1 3 z 0.5 2.5 sum yes\nvelocity heavy ramp vx 1 -3 x 0.5 2.5 units box",
    "velocity zero": "velocity left zero linear\nvelocity heavy zero angular\nvelocity left zero angular",
    "velocity scale": "velocity all scale 2\nvelocity heavy scale 1.5",
    "velocity scale by a compute": "compute t heavy temp\nvelocity all scale 2 temp t",
    "delete group": "delete_atoms group heavy compress no",
    "delete region": "region r sphere 3 2 2 1.7 side out\ndelete_atoms region r compress no",
    "delete all": "delete_atoms group all",
    "delete twice": "delete_atoms group left compress no\ndelete_atoms group heavy compress no",
    "delete overlap": PAIRS + "displace_atoms heavy move 0.3 0.3 0.1\ndelete_atoms overlap 0.9 all all compress no",
    "delete overlap of groups": PAIRS + "displace_atoms heavy move 0.3 0.3 0.1\n"
                                "delete_atoms overlap 0.9 heavy left compress no",
    "delete overlap of others": PAIRS + "group rest subtract all heavy\ndisplace_atoms heavy move 0.3 0.3 0.1\n"
                                "delete_atoms overlap 1.1 rest heavy compress no",
    "delete overlap through a face": PAIRS + "displace_atoms heavy ramp z 0 3.3 x 0 6\n"
                                     "delete_atoms overlap 0.8 all all compress no",
    "move": "displace_atoms left move 0.1 -2 30.5\ndisplace_atoms all move 1 1 1 units box",
    "ramp": "displace_atoms left ramp x 0.1 1.5 y 0.5 2.5\ndisplace_atoms heavy ramp z 0 5 z 1 2 units box",
    "rotate": "displace_atoms left rotate 1 2 2 1 1 -0.5 37.5 units box",
    "box final": "change_box all x final -1 7 y delta -0.5 0.25 units lattice",
    "box scale": "change_box all x scale 1.1 z scale 0.9 remap",
    "box volume": "change_box all x scale 1.25 y volume remap\n"
                  "change_box all z delta 0 1 x volume y volume remap units box",
    "box of a group": "change_box left x scale 1.25 remap",
    "box set": "change_box all x scale 1.1 set y scale 1.2 remap z scale 1.1 set z scale 1.1 remap",
    "box remapped twice": "change_box all x scale 1.1 remap y scale 1.2 x delta 0.5 0 remap z scale 1.1 set",
    "box tilted and back": "change_box all triclinic xy final 1.1 yz final 0.4 remap xy final 0 yz final 0 remap ortho",
    "set image": "set group left image 0 NULL 0 vx 3",
    "box boundary": "change_box all boundary p f p y delta -1 1 ortho",
    "smaller box": "change_box all x delta 0 -1.5",
    "replicate": "replicate 2 1 3",
    "replicate with flags": "set group left image 1 -3 2\nreplicate 2 1 3",
    "replicate a part": "delete_atoms group left compress no\nreplicate 1 2 2\nset group heavy type 1",
}


@needs_lmp
@pytest.mark.parametrize("name", EDITS)
def test_edits_are_those_of_lmp(name, tmp_path):
    assert_like_lmp(MELT + THINGS + EDITS[name] + "\n", tmp_path)


@pytest.fixture(scope="module")
def data_files(tmp_path_factory):
    """A box with three types, and a smaller one with two and with velocities."""
    folder = tmp_path_factory.mktemp("data")
    for name, cells, seed in (("a", 4, 5), ("b", 3, 6)):
        harness.run(f"lattice fcc 0.8442\nregion box block 0 {cells} 0 4 0 3\ncreate_box 2 box\ncreate_atoms 1 box\n"
                    f"mass * 1\nmass 2 {cells}\nset group all type/subset 2 20 {seed}\nvelocity all create 1 {seed}\n"
                    f"write_data {name}.data nocoeff\n", folder)
    return folder


ADDED = {
    "append": "read_data {a}\nread_data {b} add append shift 7 0.5 -1",
    "merge": "read_data {a}\ndelete_atoms group all\nread_data {b} add merge",
    "number": "read_data {a}\nread_data {b} add 1000 shift 1 1 1\nmass * 2",
    "types": "read_data {a} extra/atom/types 2 nocoeff\nread_data {b} add append offset 2 0 0 0 0 shift 7 0 0",
    "group": "read_data {a} group old\nread_data {b} add append shift 7 0 0 group new\n"
             "velocity new set 1 2 3\nvelocity old set 4 5 6",
}


def adding(name: str, folder) -> str:
    return ADDED[name].format(a=folder / "a.data", b=folder / "b.data") + "\n"


@needs_lmp
@pytest.mark.parametrize("name", ADDED)
def test_data_files_are_added_as_by_lmp(name, data_files, tmp_path):
    assert_like_lmp(adding(name, data_files), tmp_path)


@pytest.mark.mpi
def test_data_files_are_added_on_ranks(data_files, tmp_path):
    assert_same_on_ranks(adding("group", data_files), tmp_path)


@pytest.mark.parametrize("words, message", [
    ("add merge", "is that of a particle that is there; use add append"),
    ("add append offset 1 0 0 0 0", "with the offset 1, are more than the 2 of the box"),
    ("add append offset 1 0 0", "offset needs five numbers"),
    ("add later", "append, merge or an offset of ids"),
    ("add append shift 1 nan 1", "'nan'"),
    ("add append group all", "all particles are in `all`"),
    ("", "there is a simulation box already"),
    ("shift 1 0 0", "give add too"),
    ("add append fix 1 NULL x", "there is no fix property/atom '1'"),
    ("add 9223372036854775807", "are beyond 2^63 - 1"),
])
def test_mistakes_of_adding(words, message, data_files, tmp_path):
    deck = f"read_data {data_files / 'a.data'}\nread_data {data_files / 'b.data'} {words}\n"
    refused(run_deck(tmp_path, deck), USAGE, message)


def test_compress_gives_ids_in_their_order(tmp_path):
    """lmp numbers particles in the order of its memory, ours are in the order of the ids before."""
    for compress in ("no", "yes"):
        frame_of(MELT + THINGS + f"delete_atoms group left compress no\ncreate_atoms 1 random 50 3 NULL\n"
                 f"delete_atoms group heavy compress {compress}\n", tmp_path / compress)
    kept, numbered = (harness.read_dump(tmp_path / name / "all.dump")[-1] for name in ("no", "yes"))
    assert numbered.columns["id"].tolist() == list(range(1, len(kept.columns["id"]) + 1))
    assert kept.columns["id"][-1] == 530 and len(kept.columns["id"]) < 400
    for name in ("type", "x", "y", "z", "vx"):
        assert kept.columns[name].tolist() == numbered.columns[name].tolist()


def test_numbers_from_variables(tmp_path):
    """LAMMPS takes a number of velocity set in lattice units, and a variable as it is."""
    text = MELT + "variable a equal 2*PI\nset atom 10*20 vy v_a\nvelocity all set v_a NULL 0.5\n"
    frame, _ = frame_of(text, tmp_path)
    assert sorted(set(frame.columns["vy"])) == pytest.approx([0.0, 2 * np.pi], rel=1e-12)
    assert frame.columns["vx"] == pytest.approx(2 * np.pi, rel=1e-12)
    assert frame.columns["vz"] == pytest.approx(0.5 * (4 / 0.8442) ** (1 / 3), rel=1e-12)


RANDOM = {
    "create": "velocity heavy create 1.5 77 rot yes dist gaussian\nvelocity left create 1 78 sum yes mom no",
    "subset": "set group all type/subset 3 100 9\nset region half type/ratio 1 0.3 10",
    "porosity": "delete_atoms porosity half 0.4 11\nvelocity all zero angular",
    "random": "displace_atoms left random 0.4 2 0.1 12",
    "overlap": "create_atoms 1 random 400 13 NULL\ndelete_atoms overlap 0.7 all all",
    "compressed": "delete_atoms group left compress no\ncreate_atoms 1 random 50 3 NULL\ndelete_atoms group heavy",
    "all": "create_atoms 1 random 400 13 half\ndelete_atoms overlap 0.7 all all compress no\nreplicate 2 1 1\n"
           "delete_atoms group heavy\nchange_box all x scale 1.1 y volume remap\nvelocity all create 1 3 rot yes",
}


def test_subsets_and_ratios_are_exact(tmp_path):
    """Other seeds choose others, and a larger subset of a seed holds the smaller one."""
    chosen = []
    for k, words in enumerate(("subset 3 100 9", "subset 3 100 10", "subset 3 101 9", "ratio 3 0.3 9", "subset 3 0 9",
                               "subset 3 480 9")):
        frame, _ = frame_of(MELT + f"set group all type/{words}\n", tmp_path / str(k))
        chosen.append(set(frame.columns["id"][frame.columns["type"] == 3]))
    assert [len(one) for one in chosen] == [100, 100, 101, 144, 0, 480]
    assert chosen[0] < chosen[2] < chosen[3] and len(chosen[0] & chosen[1]) < 50


def test_compress_of_ids_far_apart(data_files, tmp_path):
    a, b = (data_files / name for name in ("a.data", "b.data"))
    frame, _ = frame_of(f"read_data {a}\nread_data {b} add 1000000 shift 7 0 0\n"
                        f"read_data {b} add 5000000000000 shift 13 0 0\n"
                        "group g type 2\ndelete_atoms group g\n", tmp_path)
    assert frame.columns["id"].tolist() == list(range(1, len(frame.columns["id"]) + 1))
    assert len(frame.columns["id"]) == 192 + 144 + 144 - 60
    assert (np.diff(np.searchsorted([6.6, 12.9], frame.columns["x"])) >= 0).all()


# Boxes that change and then follow the particles, and what lmp makes of them.
FOLLOWING = """\
boundary f f f
region b block 0 6 0 6 0 6 units box
create_box 1 b
create_atoms 1 single 1 1 1 units box
create_atoms 1 single 3 3 3 units box
mass * 1
pair_style lj/cut 2.5
pair_coeff * * 1 1
change_box all boundary s m fs
print "box $(xlo:%.9g) $(xhi:%.9g) $(ylo:%.9g) $(yhi:%.9g) $(zlo:%.9g) $(zhi:%.9g)"
displace_atoms all move 0 5 0.5 units box
run 0
print "box $(xlo:%.9g) $(xhi:%.9g) $(ylo:%.9g) $(yhi:%.9g) $(zlo:%.9g) $(zhi:%.9g)"
change_box all x scale 2
run 0
print "box $(xlo:%.9g) $(xhi:%.9g) $(ylo:%.9g) $(yhi:%.9g) $(zlo:%.9g) $(zhi:%.9g)"
"""


def test_faces_that_follow_after_edits(tmp_path):
    said = run_deck(tmp_path, FOLLOWING).out.splitlines()
    assert [line for line in said if line.startswith("box ")] == [
        "box 0.9994 3.0006 0 6 0 3.0006", "box 0.9994 3.0006 0 8.0006 0 3.5006",
        "box 0.99959976 3.00040024 0 8.00080006 0 3.50035006"]


def test_particles_are_in_the_box_after_a_run(tmp_path):
    """A region finds none beyond periodic faces, where engines let particles go until they rebin."""
    result = harness.run("units lj\n" + MELT + "mass * 1\nvelocity all create 3 5\npair_style lj/cut 2.5\n"
                         "pair_coeff * * 1 1\nneighbor 1.0 bin\nfix 1 all nve\nrun 6\n"
                         "region r block EDGE EDGE EDGE EDGE EDGE EDGE side out\ngroup g region r\n", tmp_path)
    assert "0 particles in group g" in result.log


@pytest.mark.mpi
@pytest.mark.parametrize("name", [*RANDOM, "delete overlap", "rotate", "velocity zero", "box volume",
                                  "replicate a part"])
def test_edits_on_ranks(name, tmp_path):
    assert_same_on_ranks(MELT + THINGS + {**EDITS, **RANDOM}[name] + "\n", tmp_path)


@needs_lmp
@pytest.mark.parametrize("line", ["displace_atoms all rotate 4 2 0 0 0 -1 30", "replicate 3 2 1",
                                  "change_box all x scale 1.2 y volume remap", "velocity all zero angular",
                                  "set region r y 1.5 vy 2", "delete_atoms region r compress no"])
def test_edits_in_two_dimensions(line, tmp_path):
    assert_like_lmp(FLAT + "region r sphere 3 2 0 1.6\nvelocity all ramp vx -1 2 y 0.5 4\n" + line + "\n", tmp_path)


BETWEEN = MELT + """mass * 1
mass 3 2
set group all type/subset 3 150 5
velocity all create 1.2 77
pair_style lj/cut 2.5
pair_coeff * * 1 1
region half block 0 2.9 INF INF INF INF
region hole sphere 3 2 2 1.3
region rest block 3 4.5 INF INF INF INF
group left region half
group heavy type 3
fix 1 all nve
thermo 10
restart 10 r.*
run 20
group hot region hole
group old id 1:100
delete_atoms region hole
displace_atoms heavy random 0.01 0.01 0.01 8
set region half type 2 vx 0.5
change_box all x scale 1.02 z delta 0 0.1 remap
velocity left create 0.9 4 rot yes sum yes
group gone type 1
group gone delete
run 20
delete_atoms group left compress no
group hot clear
group hot region rest
fix 2 heavy langevin 1 1 1 99
replicate 1 2 1
group some type 3
compute t some temp
thermo_style custom step temp pe etotal press c_t atoms ly
thermo_modify format float %.17g
run 20
dump d hot custom 1 hot.dump id type x y z vx vy vz
dump_modify d sort id format float %.17g
write_data end.data
run 0
"""


@pytest.mark.parametrize("step, ranks", [(10, 0), (20, 0), (40, 0), (50, 0), *(
    pytest.param(step, ranks, marks=pytest.mark.mpi) for step, ranks in ((30, 2), (50, 3)))])
def test_edits_between_runs_are_resumed(step, ranks, tmp_path):
    """From a restart in each of three runs, and at their ends."""
    whole, again = tmp_path / "whole", tmp_path / "again"
    for folder in (whole, again):
        folder.mkdir()
        (folder / "in.deck").write_text("units lj\n" + BETWEEN)
    harness.run(whole / "in.deck", whole)
    (again / f"r.{step}").write_bytes((whole / f"r.{step}").read_bytes())
    result = harness.run(again / "in.deck", again, arguments=["--resume"], ranks=ranks)
    assert f"Resumed at step {step}" in result.log
    for edit in ("displace_atoms", "set", "velocity"):
        assert result.log.count(f"Done before: {edit}\n") == (step > 20), edit
    assert result.log.count("Done before: delete_atoms\n") == (step > 20) + (step > 40)
    assert (again / "end.data").read_bytes() == (whole / "end.data").read_bytes()
    assert (again / "hot.dump").read_bytes() == (whole / "hot.dump").read_bytes()
    frame = harness.read_dump(whole / "hot.dump")[-1]
    assert 0 < len(frame.columns["id"]) < 200


@pytest.mark.mpi
def test_edits_between_runs_on_ranks_and_engines(tmp_path):
    for name, words in {"alone": {}, "naive": {"engine": "naive"}, "ranks": {"ranks": 3}}.items():
        harness.run("units lj\n" + BETWEEN, tmp_path / name, **words)
    for name in ("naive", "ranks"):
        for file in ("end.data", "hot.dump"):
            assert (tmp_path / name / file).read_bytes() == (tmp_path / "alone" / file).read_bytes(), (name, file)


REFUSED = {
    "region c ellipsoid 0 0 0 1 1 1": "accepted are block, sphere, cylinder, cone, plane, prism, union, intersect",
    "region c cone z 0 0 0 0 0 1": "nor both 0",
    "region c cone z 0 0 1 2 0 INF": "two different numbers",
    "region c cone w 0 0 1 2 0 1": "'w' is not x, y or z",
    "region c plane 0 0 0 0 0 0": "has no direction",
    "region c prism 0 1 0 1 0 INF 0 0 0": "finite and increasing",
    "region c union 2 b d": "no region 'd'",
    "region c union 1 b": "from 2 to",
    "region c intersect 3 b b": "needs 4 words after its style, not 3",
    "region c union": "usage: region ID union N ID1 ID2",
    "region c sphere 1 1 1 1 side up": "'up' is not in or out",
    "region c sphere 1 1 1 1 move v_x 2 NULL": "'2' is not v_NAME",
    "region c sphere 1 1 1 1 rotate v_x 0 0 0 0 0": "region rotate takes",
    "region c sphere 1 1 1 1 rotate v_x 0 0 0 0 0 0": "the axis must not be 0 0 0",
    "region c sphere 1 1 1 1 move NULL NULL v_none\ngroup g region c": "region c: ",
    "variable s equal 1\nregion c sphere 1 1 1 1 move v_s v_s v_s\nfix f all addforce 1 0 0 region c":
        "region that stays",
    "variable s equal -1\nregion c sphere 1 1 1 v_s\ngroup g region c": "region c: the radius v_s must not be negative",
    "region c cylinder z v_ 1 1 0 1": "'v_' is not v_NAME",
    "region c cylinder z 1 1 v_none 0 1\ngroup g region c": "region c: ",
    "region c sphere 1 1 1 1 open 1": "no open faces",
    "region c delete": "no region 'c'; known are b",
    "region b delete now": "unexpected word 'now'",
    "region c union 2 b b\nregion b delete": "a part of region c",
    "create_atoms 1 box basis 1 2": "no lattice sites",
    "lattice sc 1\ncreate_atoms 1 box basis 2 2": "from 1 to 1",
    "lattice sc 1\ncreate_atoms 1 box basis 1": "basis needs a site and a type",
    "lattice sc 1\ncreate_atoms 1 box ratio 0.5 7": "accepted are units lattice|box and basis SITE TYPE",
    "lattice sc 1 orient x 1 1 0": "not at right angles",
    "lattice sc 1 orient x -1 0 0": "not right-handed",
    "lattice sc 1 orient y 0 0 0": "0 0 0 is no direction",
    "lattice custom 1 a1 1 0 0 a2 2 0 0 basis 0 0 0": "lie in a plane",
    "delete_atoms some 1": "accepted are group, region, overlap, porosity",
    "delete_atoms group g": "unknown group 'g'; there are: all",
    "delete_atoms group all compact no": "accepted are compress yes|no",
    "delete_atoms group all mol yes": "name all particles of a molecule",
    "delete_atoms porosity b 1.5 3": "'1.5' is not within 0 and 1",
    "delete_atoms overlap 3.5 all all": "more than half of the box",
    "displace_atoms all shift 1 1 1": "accepted are move, ramp, random, rotate",
    "displace_atoms all move 1 1 1 unit box": "accepted is units lattice|box",
    "displace_atoms all ramp x 0 1 y 1 0": "do not increase",
    "displace_atoms all ramp w 0 1 y 0 1": "'w' is not an axis; accepted are x, y and z",
    "displace_atoms all rotate 0 0 0 0 0 0 5": "has no direction",
    "change_box all boundary f p p\ndisplace_atoms all move 4 0 0": "particle 2 is at x = 7, outside",
    "change_box all xy final 1": "write `triclinic` before",
    "change_box all triclinic xy by 1": "is not final or delta",
    "change_box all triclinic xy final 1 ortho": "must be 0 before",
    "change_box all triclinic xy final 4": "more than half of the box along x",
    "dump 1 all custom 1 a id\nchange_box all triclinic": "undump, unfix and uncompute them before",
    "change_box all x shrink 1": "accepted are final, delta, scale, volume",
    "change_box all x volume": "it follows final, delta or scale",
    "change_box all x scale 2 y volume y volume": "named twice",
    "change_box all x scale 2 x volume": "named twice",
    "change_box all x scale 0": "not positive",
    "change_box all x delta 5 -5": "must be finite and increasing",
    "change_box all fit": "accepted are x, y, z, xy, xz, yz, boundary, remap, set, triclinic, ortho, units",
    "change_box all boundary sp p p": "both faces must be periodic",
    "change_box all boundary f p p x final 2 4": "particle 1 is at x = 1, outside of the box, 2 to 4",
    "change_box all boundary f f f\nfix w all wall/reflect xlo EDGE\nchange_box all x scale 2": "unfix it before",
    "change_box all boundary f f f\nfix w all wall/reflect xlo EDGE\nreplicate 2 1 1": "unfix it before",
    "replicate 1 1 2147483649": "from 1 to 2147483648",
    "replicate 2000000 2000000 2000000": "ids end at 2^63 - 1",
    "replicate 100000 100000 1": "too many for a rank",
    "replicate 2 2 2 box": "accepted is bbox",
    "replicate 2 2 2\nset atom 17 type 2 charge 1": "accepted are type, type/fraction, type/ratio, type/subset, mass",
    "set type 1 image 0 -1.5 NULL": "image flag of set",
    "change_box all boundary p f p\nset type 1 image 0 -1 NULL": "the axis y is not periodic",
    "set type 1 type/subset 2 2 5": "2 of 1 particles cannot be chosen",
    "set region c vx 1": "no region 'c'",
    "set group all vx v_speed": "speed",
    "change_box all boundary f p p\nset atom 1 x 7": "particle 1 is at x = 7",
    "velocity g create 1 1": "unknown group 'g'",
    "velocity all create 1 1 temp none": "there is no compute 'none'",
    "velocity all create 1 1 bias yes": "only bias no",
    "velocity all ramp x 0 1 x 0 1": "'x' is not vx, vy or vz",
    "group g molecule 1": "no molecules; use atom_style bond",
    "group g include molecule": "name them by group molecule",
    "group g variable v": "style atom",
    "group g id < 4 5": "takes one number after it, not 2",
    "group g id <> 5 4": "second number of a comparison",
    "group g empty all": "unexpected word 'all'",
    "group g delete": "unknown group 'g'",
    "group all delete": "`all` cannot be changed",
    "group g id 1\nfix 7 g langevin 1 1 1 1\ngroup g delete": "that of a fix",
    "group g id 1\ncompute 7 g ke\ngroup g delete": "that of a compute",
    "group g id 1\ndump 7 g atom 1 f\ngroup g delete": "that of a dump",
}


@pytest.mark.parametrize("lines", REFUSED)
def test_mistakes(lines, tmp_path):
    from cli import BOX
    refused(run_deck(tmp_path, BOX + lines + "\n"), USAGE, REFUSED[lines])


def test_a_tilt_is_taken_back_by_steps(tmp_path):
    """A run rounds the tilt to the grid of positions, so that the steps do not lead to 0 to the last digit."""
    deck = BOX + ("change_box all triclinic\nchange_box all xy final 1.1 remap\nrun 0\n"
                  "change_box all xy final 0.7 remap\nrun 0\nchange_box all xy delta -0.7 remap\n"
                  "print 'tilt $(xy)'\nchange_box all ortho\nrun 0\n")
    done = works(run_deck(tmp_path, deck.replace("0 6 0 6 0 6", "0 6.3 0 6 0 6")))
    assert 0.0 < abs(float(re.search(r"^tilt (.*)$", done.out, re.M)[1])) < 1e-11


@pytest.mark.parametrize("change", ["displace_atoms all move 0.3 0 0 units box", "write_data d\nclear\nread_data d"])
def test_faces_that_follow_do_so_at_once(change, tmp_path):
    """As in LAMMPS: the next command sees the box around the moved particles, or those of a file."""
    deck = ("units lj\nboundary s p p\nregion b block 0 6 0 4 0 4\ncreate_box 1 b\ncreate_atoms 1 single 2 1 1\n"
            f"create_atoms 1 single 4 1 1\nmass 1 1\n{change}\nprint \"faces $(xlo:%.6f) $(xhi:%.6f)\"\n"
            "replicate 2 1 1\nwrite_dump all custom x id x modify sort id\n")
    deck = deck.replace("clear\n", "clear\nboundary s p p\n")
    by = 0.3 if change.startswith("displace") else 0.0
    done = works(run_deck(tmp_path, deck))
    lo, hi = (float(face) for face in re.search(r"faces (\S+) (\S+)", done.out).groups())
    assert lo == pytest.approx(2 + by, abs=2e-3) and hi == pytest.approx(4 + by, abs=2e-3)
    found = harness.read_dump(tmp_path / "x")[0].columns["x"]
    assert list(found) == pytest.approx([2 + by, 4 + by, 2 + by + hi - lo, 4 + by + hi - lo], abs=1e-6)


def test_a_move_that_is_no_number(tmp_path):
    """Also where the faces follow, so that no place is beyond them: the particles must be there to be given back."""
    deck = ("units lj\nboundary s p p\nregion b block 0 6 0 4 0 4\ncreate_box 1 b\ncreate_atoms 1 single 2 1 1\n"
            "mass 1 1\nlattice fcc 0.01\ndisplace_atoms all move 1e308 0 0\n")
    refused(run_deck(tmp_path, deck), USAGE, "displace_atoms", "particle 1 is at x = inf", line=8)
