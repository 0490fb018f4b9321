"""Numbers that are far larger than those of usual decks: ids, molecules, image flags, boxes, and copies over ranks."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from cli import USAGE, refused, run_deck, works

HEAD = "x\n\n{n} atoms\n1 atom types\n\n0 10 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\n\nMasses\n\n1 1\n\nAtoms\n\n"
PAIR = "pair_style lj/cut 1.5\npair_coeff * * 1 1\n"


def data(folder, lines) -> str:
    """A data file in the folder, and the command that reads it."""
    (folder / "in.data").write_text(HEAD.format(n=len(lines)) + "".join(line + "\n" for line in lines))
    return "read_data in.data\n"


def molecules(folder, numbers) -> str:
    lines = [f"{k + 1} {number} 1 {1 + 2 * k} 5 5" for k, number in enumerate(numbers)]
    return "atom_style bond\n" + data(folder, lines) + PAIR


# ---------------------------------------------------------------- chunks

COUNT = ("compute n all property/chunk k count\nvariable s equal sum(c_n)\n"
         "fix a all ave/time 1 1 1 v_s file a.txt\nrun 0\n")


@pytest.mark.parametrize("chunks, number", [("molecule", 2**32 - 1), ("v_big", 2**30 + 1)])
def test_chunks_have_numbers_up_to_2_30(chunks, number, tmp_path):
    """A particle with a higher number would be in no chunk."""
    start = molecules(tmp_path, [4, 2**30 + 1, 2**32 - 1, 7]) + "variable big atom (id==2)*1073741825\n"
    refused(run_deck(tmp_path, start + f"compute k all chunk/atom {chunks}\n" + COUNT), USAGE,
            "at most 2^30 chunks", str(number), "limit")
    works(run_deck(tmp_path, start + f"compute k all chunk/atom {chunks} limit 5 max\n" + COUNT))
    counted = float((tmp_path / "a.txt").read_text().split()[-1])
    assert counted == (1 if chunks == "molecule" else 0)


# ---------------------------------------------------------------- ids


@pytest.mark.parametrize("line", [
    "compute c all cluster/atom 1.2\nrun 0", "compute c all property/atom id\nrun 0", "variable v atom id\nrun 0"])
def test_ids_that_doubles_do_not_tell_apart_are_no_values(line, tmp_path):
    rows = [f"{2**53 - 1} 1 1 1 1", f"{2**62 + 1} 1 5 5 5", f"{2**62 + 3} 1 8 2 8"]
    use = "compute m all reduce max {}\nthermo_style custom step c_m\n".format("v_v" if "variable" in line else "c_c")
    deck = line.replace("run 0", use + "run 0\n")
    refused(run_deck(tmp_path, data(tmp_path, rows) + PAIR + deck), USAGE, "2^53", str(2**62 + 3))
    done = works(run_deck(tmp_path, data(tmp_path, rows[:1]) + PAIR + deck + 'print "$(c_m:%.0f)"\n'))
    assert f"\n{2**53 - 1}\n" in done.out


# ---------------------------------------------------------------- image flags


@pytest.mark.parametrize("flag", [2**30, -2**30])
def test_image_flags_go_up_to_2_30(flag, tmp_path):
    """Runs count on from them."""
    rest = (PAIR + "fix 1 all nve\nvelocity all set 0 0 0\nrun 1\n"
            "write_dump all custom f.txt xu ix modify format float %.17g\n")
    works(run_deck(tmp_path, data(tmp_path, [f"1 1 1 1 1 {flag} 0 0"]) + "dump d all custom 9 g.txt ix\n" + rest))
    assert (tmp_path / "f.txt").read_text().split()[-2:] == [str(1 + 10 * flag), str(flag)]
    beyond = flag + (1 if flag > 0 else -1)
    refused(run_deck(tmp_path, data(tmp_path, [f"1 1 1 1 1 {beyond} 0 0"]) + rest), USAGE, "image flag", "2^30")
    refused(run_deck(tmp_path, data(tmp_path, ["1 1 1 1 1"]) + f"set group all image {beyond} 0 0\n" + rest), USAGE,
            "image flag", str(beyond))


# ---------------------------------------------------------------- boxes


def test_a_ball_in_an_enormous_box_takes_no_longer_than_in_a_small_one(tmp_path):
    """Its sites are looked for where it is, and its cells are those of the space that particles take."""
    deck = ("boundary f f f\nlattice fcc 0.8442\nregion box block -{h} {h} -{h} {h} -{h} {h} units box\n"
            "create_box 1 box\nregion ball sphere 0 0 0 25 units box\ncreate_atoms 1 region ball\nmass 1 1\n"
            "pair_style lj/cut 2.5\npair_coeff 1 1 1 1\ncompute c all coord/atom cutoff 1.3\n"
            "compute s all reduce sum c_c\nthermo_style custom step atoms pe c_s\nrun 0\n")
    rows = []
    for h in ("30", "1e4", "1e7"):
        table = harness.read_tables(works(run_deck(tmp_path, deck.format(h=h), limit=60)).out)[0]
        rows.append([float(value) for value in table.rows[0]])
    assert rows[0][1] > 5e4 and rows[0][3] > 11
    assert np.allclose(rows, rows[0], rtol=1e-4, atol=0)


@pytest.mark.parametrize("engine", ["naive", "openmp", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_a_cutoff_far_beyond_a_free_cluster(engine, tmp_path):
    """It leaves no pair out, takes no memory for neighbours that cannot be there, and decides no digit."""
    deck = ("boundary f f f\nregion b block 0 8 0 8 0 8 units box\ncreate_box 1 b\n"
            "region c block 0 4 0 4 0 4 units box\nlattice sc 0.58 origin 0.5 0.5 0.5\n"
            "create_atoms 1 region c\nmass 1 1\npair_style lj/cut {c}\n"
            "pair_coeff * * 1 1\nfix 1 all nve\ncompute n all coord/atom cutoff {c}\ncompute s all reduce sum c_n\n"
            "thermo_style custom step pe ke press c_s\nthermo_modify format float %.17g\nrun 4\n")
    rows = []
    if engine == "gpu":
        beyond = harness.run(deck.format(c="1e12"), tmp_path, engine=engine, expect=2)
        assert "10^9 times the longest side" in beyond.err
    for c in ("100", "4e9", "4e9" if engine == "gpu" else "1e12"):
        table = harness.run(deck.format(c=c), tmp_path, engine=engine).table
        rows.append([float(value) for value in table.rows[-1]])
    assert rows[0][4] == 26 and abs(rows[0][1] + 2.3430328) < 1e-7
    assert np.allclose(rows, rows[0], rtol=1e-12, atol=0)


# ---------------------------------------------------------------- copies over ranks


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("counts", ["4 5 3", "2 3 1", "1 1 25"])
def test_copies_of_a_cell_are_the_same_on_several_ranks(ranks, counts, tmp_path):
    """Each rank makes some copies of all particles, or all copies of some."""
    deck = ("lattice diamond 0.4\nregion b block 0 1 0 1 0 1\ncreate_box 2 b\ncreate_atoms 1 box\nmass * 1\n"
            "set atom 3 type 2\ngroup odd id 1 3 5 7\nvelocity all create 1 87\n"
            f"replicate {counts}\nvariable odd equal count(odd)\nprint 'odd ${{odd}}'\n"
            "write_dump all custom f.txt id type x y z vx vy vz modify sort id format float %.17g\n")
    one = harness.run(deck, tmp_path / "one")
    many = harness.run(deck, tmp_path / "many", ranks=ranks, threads=1)
    assert (tmp_path / "one" / "f.txt").read_bytes() == (tmp_path / "many" / "f.txt").read_bytes()
    copies = np.prod([int(n) for n in counts.split()])
    assert f"\nodd {4 * copies}\n" in one.log and f"\nodd {4 * copies}\n" in many.log


# ---------------------------------------------------------------- sites over ranks

SITES = {
    "ball": ("", "region r sphere 6 6 6 4\ncreate_atoms 1 region r"),
    "two crowds": ("", "region a block 0 2 0 2 0 2\nregion b block 9 11 9 11 9 11 side in\nregion r union 2 a b\n"
                   "create_atoms 1 region r basis 2 2"),
    "tilted": ("", "create_atoms 1 box"),
    "turned": ("orient x 1 1 0 orient y -1 1 0", "create_atoms 1 box"),
    "random": ("", "region r sphere 6 6 6 4\ncreate_atoms 2 random 3001 77 r"),
    "cluster": ("", "create_atoms 1 plummer 2001 seed 7 scale 0.2"),
}


@pytest.mark.mpi
@pytest.mark.parametrize("name", SITES)
def test_sites_are_the_same_on_several_ranks(name, tmp_path):
    """Each rank makes an equal share of the sites, wherever they are."""
    lattice, create = SITES[name]
    shape = "prism 0 12 0 12 0 12 3 -2 1" if name == "tilted" else "block 0 12 0 12 0 12"
    deck = (f"lattice fcc 0.8442 {lattice}\nregion box {shape}\ncreate_box 2 box\nmass * 1\n"
            f"{create}\nwrite_dump all custom f.txt id type x y z modify sort id format float %.17g\n")
    harness.run(deck, tmp_path / "one")
    one = (tmp_path / "one" / "f.txt").read_bytes()
    ids = np.array([int(line.split()[0]) for line in one.decode().splitlines()[9:]])
    assert len(ids) > 60 and (ids == np.arange(len(ids)) + 1).all()
    for ranks in (2, 5):
        harness.run(deck, tmp_path / str(ranks), ranks=ranks, threads=1)
        assert (tmp_path / str(ranks) / "f.txt").read_bytes() == one
