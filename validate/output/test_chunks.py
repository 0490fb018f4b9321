"""Chunks: the files of fix ave/chunk are those of lmp, and the same bytes on every engine and number of ranks."""

from __future__ import annotations

import pytest

import harness
from cli import BOX, USAGE, refused, run_deck, works
from test_averages import MELT, assert_like_lmp, files, needs_lmp, run_lmp

pytestmark = pytest.mark.smoke

CHUNKS = """\
region left block 0.7 2.7 0.7 4.3 0.7 3.3
compute a all chunk/atom bin/1d x lower 0.7
compute b all chunk/atom bin/2d x center 0.2 z upper 0.26 units reduced
compute c all chunk/atom bin/1d y 2.3 1.1 units box bound y 1.0 6.0
compute d all chunk/atom bin/1d y 2.3 1.1 units box bound y 1.0 6.0 discard yes
compute e all chunk/atom bin/sphere 3 3.1 3.2 0.5 3.0 4 units box pbc yes
compute f all chunk/atom bin/cylinder y lower 1.5 3 3.2 0.5 3.0 3 units box discard yes
compute g all chunk/atom type region left
compute h odd chunk/atom bin/3d x lower 0.5 y lower 0.5 z lower 0.4 units reduced
variable c atom (id<200)+2*(id<100)
compute i all chunk/atom v_c limit 2 max nchunk once discard no
compute tp all temp/partial 1 0 1
compute tc all temp/com
compute pe all pe/atom
compute st all stress/atom NULL pair
variable w atom c_pe+x
fix a odd ave/chunk 2 3 10 a vx temp density/number density/mass file a.txt
fix b all ave/chunk 2 3 10 b vx temp density/number norm sample file b.txt ave running
fix c all ave/chunk 2 3 10 c vx temp density/number norm none file c.txt bias tp
fix d all ave/chunk 2 3 10 d vx temp density/number file d.txt cdof 1 adof 2 title1 "# some"
fix e all ave/chunk 2 3 10 e vx temp density/number file e.txt bias tc
fix f all ave/chunk 2 3 10 f c_pe c_st[1] v_w file f.txt format " %.8g"
fix g all ave/chunk 2 3 10 g vx fx density/mass file g.txt ave window 2
fix h all ave/chunk 1 2 5 h vy temp density/number file h.txt ave running overwrite
fix i all ave/chunk 1 2 5 i c_pe density/number file i.txt
thermo 10
thermo_style custom step temp f_a[2][1] f_a[2][3]
run 20
"""
FILES = "abcdefghi"


@pytest.mark.parametrize("origin", ["lower", "center", "upper"])
@pytest.mark.parametrize("cells", [3, 4, 7, 10, 16, 19])
def test_no_bin_of_a_rounding_error(cells, origin, tmp_path):
    """Sides of the box are rounded, and bins are fractions of a cell: the bins of a side are as many as they fit in."""
    text = (f"lattice fcc 0.8442\nregion b block 0 {cells} 0 2 0 2\ncreate_box 1 b\ncreate_atoms 1 box\nmass 1 1\n"
            f"pair_style lj/cut 2.5\npair_coeff 1 1 1 1\ncompute a all chunk/atom bin/1d x {origin} 0.5\n"
            "fix a all ave/chunk 1 1 1 a density/number file a.txt\nrun 0\n")
    works(run_deck(tmp_path, text))
    assert (tmp_path / "a.txt").read_text().splitlines()[3].split()[:2] == ["0", str(2 * cells)]


@pytest.mark.parametrize("number", [0.7, 0.8442])
@pytest.mark.parametrize("bins", ["bin/1d x lower 1", "bin/1d z center 0.5", "bin/2d x lower 2 y 0.0 1",
                                  "bin/1d y lower 0.2 units reduced", "bin/1d x 1 1 bound x 1 4 discard yes"])
def test_layers_of_a_lattice_on_borders(bins, number, engine, tmp_path):
    """They belong to the bin above, also if the rounding of a run has put them below the border."""
    deck = (f"lattice sc {number}\nregion box block 0 6 0 5 0 4\ncreate_box 1 box\ncreate_atoms 1 box\nmass 1 1\n"
            f"pair_style soft 0.1\npair_coeff * * 1\nfix 1 all nve\ncompute c all chunk/atom {bins}\n"
            "fix a all ave/chunk 1 1 1 c density/number file a.txt\nrun 0\n")
    harness.run(deck, tmp_path, engine=engine)
    at = 3 if "2d" in bins else 2
    counts = [float(line.split()[at]) for line in (tmp_path / "a.txt").read_text().splitlines()[4:]]
    expected = {"bin/1d x lower 1": [20] * 6, "bin/1d z center 0.5": [30, 0] * 4, "bin/2d x lower 2 y 0.0 1": [8] * 15,
                "bin/1d y lower 0.2 units reduced": [24] * 5, "bin/1d x 1 1 bound x 1 4 discard yes": [20] * 3}[bins]
    assert counts == expected


@needs_lmp
def test_values_of_lammps(tmp_path):
    assert_like_lmp(MELT + CHUNKS, tmp_path, FILES)


def test_same_files_on_every_engine(tmp_path):
    harness.run(MELT + CHUNKS, tmp_path / "naive", engine="naive")
    harness.run(MELT + CHUNKS, tmp_path / "openmp", threads=3)
    assert files(tmp_path / "naive", FILES) == files(tmp_path / "openmp", FILES)


@pytest.mark.mpi
def test_same_files_on_ranks(tmp_path):
    harness.run(MELT + CHUNKS, tmp_path / "one")
    harness.run(MELT + CHUNKS, tmp_path / "four", ranks=4)
    assert files(tmp_path / "one", FILES) == files(tmp_path / "four", FILES)


def test_resume_within_an_average(tmp_path):
    """The run is cut between two samples of an average; fix a has averages before that, and fix b a running one."""
    lines = [line.replace(" 2 3 10 ", " 10 4 50 ") for line in CHUNKS.splitlines()
             if not line.startswith(("fix", "run")) or line[:5] in ("fix a", "fix b")]
    deck = MELT + "\n".join(lines) + "\nrestart 75 r.*\nrun 150\n"
    for name in ("whole", "parts"):
        (tmp_path / name).mkdir()
        works(run_deck(tmp_path / name, deck))
    (tmp_path / "parts" / "r.150").unlink()
    assert "Resumed at step 75" in works(run_deck(tmp_path / "parts", deck, "--resume")).out
    assert files(tmp_path / "whole", "ab") == files(tmp_path / "parts", "ab")


@pytest.mark.parametrize("norm", ["all", "sample", "none"])
def test_a_density_has_the_volume_of_its_samples(norm, tmp_path):
    """In a box that grows by a quarter in ten steps. It sees the box before a change, and thermo rows the one after."""
    works(run_deck(tmp_path, BOX + "fix 2 all deform 1 x scale 1.25\ncompute c all chunk/atom type\n"
                   f"fix 3 all ave/chunk 5 2 10 c density/number norm {norm} format ' %.15g' file c.txt\n"
                   "thermo 1\nthermo_style custom step vol\nthermo_modify format float %.15g\nrun 10\n",
                   "-log", "log"))
    volume = dict(harness.read_tables((tmp_path / "log").read_text())[0].rows)
    density = (1.0 / float(volume["4"]) + 1.0 / float(volume["9"])) / 2.0
    rows = [line.split() for line in (tmp_path / "c.txt").read_text().splitlines() if line.startswith("  ")]
    assert [float(row[2]) for row in rows] == pytest.approx([density, density], rel=1e-12)


def test_a_large_value_does_not_hide_small_ones(tmp_path):
    """Quanta follow from the largest value of all chunks, and still resolve a value that is 10^13 times smaller."""
    deck = MELT + ("variable n atom 1+(id>240)\nvariable w atom (id>240)*3e12+0.37\ncompute n all chunk/atom v_n\n"
                   "fix w all ave/chunk 1 1 1 n v_w\nthermo_style custom step f_w[1][1] f_w[1][2] f_w[2][2]\n"
                   "thermo_modify format float %.17g\nrun 0\n")
    row = list(map(float, harness.run(deck, tmp_path).table.rows[0][1:]))
    assert row == pytest.approx([240, 0.37, 3e12], rel=1e-10)


CHANGING = """\
variable n atom "1+(step>7)*(id==7)*4+(step>12)*(id==8)*6"
compute c all chunk/atom v_n discard {discard}
fix a all ave/chunk 2 5 10 c vx density/number file a.txt {ave}
run 40
"""


@needs_lmp
@pytest.mark.parametrize("discard", ["yes", "no"])
@pytest.mark.parametrize("ave", ["", "ave running", "ave window 2"])
def test_an_average_keeps_the_number_of_its_chunks(discard, ave, tmp_path):
    """Also in a deck that is resumed in the middle of an average."""
    deck = MELT + "velocity all set 1 0 0\n" + CHANGING.format(discard=discard, ave=ave)
    run_lmp(deck, tmp_path / "theirs")
    harness.run(deck, tmp_path / "ours")
    ours, theirs = ((tmp_path / who / "a.txt").read_text().split() for who in ("ours", "theirs"))
    assert len(ours) == len(theirs)
    numbers = [[float(word) for word in words if word[0] in "-.0123456789"] for words in (ours, theirs)]
    assert numbers[0] == pytest.approx(numbers[1], rel=2e-5, abs=1e-5)
    again = tmp_path / "again"
    harness.run(deck.replace("run 40", "restart 3 r.*\nrun 40"), again)
    whole = (again / "a.txt").read_bytes()
    for restart in again.glob("r.*"):
        if restart.name != "r.15":
            restart.unlink()
    harness.run(again / "in.deck", again, arguments=["--resume"])
    assert (again / "a.txt").read_bytes() == whole


BAD = {
    "compute 1 all chunk/atom": ["chunk/atom takes a style"],
    "compute 1 all chunk/atom molecules": ["molecules", "bin/1d"],
    "compute 1 all chunk/atom bin/1d w lower 1": ["'w' is no axis"],
    "compute 1 all chunk/atom bin/1d x lower": ["missing"],
    "compute 1 all chunk/atom bin/1d x middle 1": ["middle", "center"],
    "compute 1 all chunk/atom bin/1d x lower 0": ["width", "0"],
    "compute 1 all chunk/atom bin/1d x lower 1e-12": ["1e-12", "too small"],
    "compute 1 all chunk/atom bin/2d x lower 1 x lower 1": ["different"],
    "compute 1 all chunk/atom bin/sphere 1 1 1 2 1 3": ["radii"],
    "compute 1 all chunk/atom bin/sphere 1 1 1 0 1 3 units reduced": ["reduced"],
    "compute 1 all chunk/atom bin/1d x lower 1 ids nfreq": ["ids", "nfreq"],
    "compute 1 all chunk/atom type compress yes": ["compress"],
    "compute 1 all chunk/atom type bound x 0 1": ["no bins along x"],
    "compute 1 all chunk/atom type units metres": ["metres", "lattice"],
    "compute 1 all chunk/atom type limit 3": ["max or exact"],
    "compute 1 all chunk/atom type region nowhere": ["nowhere"],
    "compute 1 all chunk/atom type colour red": ["colour", "discard"],
    "fix 9 all ave/chunk 1 1 1 c": ["ave/chunk takes"],
    "fix 9 all ave/chunk 1 1 1 thermo_temp vx": ["thermo_temp", "no compute of style chunk/atom"],
    "fix 9 all ave/chunk 1 1 1 c speed": ["'speed' has no value"],
    "fix 9 all ave/chunk 1 1 1 c norm all": ["at least one value"],
    "fix 9 all ave/chunk 1 1 1 c vx norm most": ["most", "sample"],
    "fix 9 all ave/chunk 1 1 1 c vx bias nothing": ["nothing"],
    "fix 9 all ave/chunk 1 2 1 c vx": ["Nevery"],
    "fix 9 all ave/chunk 1 1 1 c vx file": ["file", "missing"],
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input(line, tmp_path):
    begin = BOX + "compute c all chunk/atom type\n"
    refused(run_deck(tmp_path, begin + line + "\n"), USAGE, *BAD[line], line=begin.count("\n") + 1)
