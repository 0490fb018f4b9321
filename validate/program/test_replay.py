"""read_dump, rerun and write_dump: what lmp makes of the same dump, and the bits of the run that wrote it."""

from __future__ import annotations

import gzip

import pytest

import harness
from cli import BOX, RUNTIME, USAGE, call, refused, run_deck, works
from test_averages import MELT, needs_lmp, run_lmp

pytestmark = pytest.mark.smoke

LOOKS = """\
compute g all rdf 10
compute s all reduce sum vx c_ke
fix a all ave/time 10 2 20 c_thermo_pe c_s[*] file a.txt format " %.10g"
fix b all ave/time 10 2 20 c_g[*] file b.txt mode vector
thermo_style custom step temp pe press c_s[1] f_a[1]
thermo_modify format float %.17g norm no
thermo 20
"""
DUMP = "dump d all custom 10 d.dump id type x y z vx vy vz\n"
EXACT = 'dump_modify d sort id format float "%.17g"\n'


def written(folder, name: str = "d.dump", deck: str = MELT + DUMP + EXACT + "run 60\n") -> str:
    """A dump of 0, 10 ... 60 steps, whose file every folder of this test reads as ../../d/NAME."""
    harness.run(deck, folder / "d")
    return f"../d/{name}"


SHIFTED = "displace_atoms all move 0.1 0.2 0.3 units box\nvelocity all scale 1.7\n"


@needs_lmp
def test_rerun_of_lammps(tmp_path):
    dump = written(tmp_path)
    deck = MELT + LOOKS + (f"rerun {dump} dump x y z vx vy vz\nunfix a\nunfix b\nthermo_style custom step temp pe\n"
                           f"rerun {dump} first 10 last 50 dump x y z\nrerun {dump} every 20 dump vx\n"
                           f"thermo 0\nrerun {dump} skip 4 start 0 stop 100 dump x y z vx vy vz box yes\nrun 0\n")
    theirs = run_lmp(deck, tmp_path / "theirs")
    ours = harness.run(deck, tmp_path / "ours")
    assert [table.column("Step").tolist() for table in ours.tables] == [
        [0, 20, 40, 60], [10, 20, 40, 50], [0, 20, 40, 60], [0, 40], [40]]
    for table, their_table in zip(ours.tables, theirs):
        assert table.titles == their_table.titles and len(table.rows) == len(their_table.rows)
        for row, other in zip(table.rows, their_table.rows):
            assert list(map(float, row)) == pytest.approx(list(map(float, other)), rel=1e-9, abs=1e-9)
    for name in "ab":
        numbers = [[float(word) for line in (tmp_path / who / f"{name}.txt").read_text().splitlines()
                    if not line.startswith("#") for word in line.split()] for who in ("ours", "theirs")]
        assert len(numbers[0]) > 10 and numbers[0] == pytest.approx(numbers[1], rel=1e-5, abs=1e-5)
    assert ours.loops[0].steps == 7


def test_numbers_of_fixes_that_variables_give(tmp_path):
    """Those of each snapshot are of its step."""
    force = ("variable grows equal 0.01*step\nfix 5 all addforce v_grows 0 0\n"
             "dump f all custom 10 f.dump id fx\n" + EXACT.replace(" d ", " f "))
    deck = MELT + DUMP + EXACT + force + "run 30\n"
    harness.run(deck, tmp_path / "d")
    harness.run(MELT + force + "rerun ../d/d.dump dump x y z vx vy vz\n", tmp_path / "again")
    for frame in harness.read_dump(tmp_path / "again" / "f.dump"):
        assert frame.columns["fx"].mean() == pytest.approx(0.01 * frame.step)
    assert (tmp_path / "again" / "f.dump").read_bytes() == (tmp_path / "d" / "f.dump").read_bytes()


@pytest.mark.mpi
def test_the_bits_of_the_run(tmp_path):
    first = harness.run(MELT + DUMP + LOOKS + "run 60\n", tmp_path / "d", engine="naive")
    with gzip.open(tmp_path / "d" / "d.dump.gz", "wb") as packed:
        packed.write((tmp_path / "d" / "d.dump").read_bytes())
    for name, how in {"naive": {"engine": "naive"}, "openmp": {"threads": 3}, "ranks": {"ranks": 3}}.items():
        deck = MELT + SHIFTED + LOOKS + "rerun ../d/d.dump.gz dump x y z vx vy vz\n"
        again = harness.run(deck, tmp_path / name, **how)
        assert again.table.rows == first.table.rows
        for file in ("a.txt", "b.txt"):
            assert (tmp_path / name / file).read_bytes() == (tmp_path / "d" / file).read_bytes()


READS = {
    "scaled": "delete_atoms group gone compress no\nread_dump {} 40 x y z vx vy vz",
    "scaled, in the box here": "read_dump {} 20 x z trim yes box no",
    "new ids": "delete_atoms group gone compress no\nread_dump {} 40 x y z vx vy add yes",
    "own ids": "delete_atoms group gone compress no\nread_dump {} 40 x y z vx vy add keep",
    "purges": "delete_atoms group gone compress no\nread_dump {} 40 x y z add keep purge yes replace no",
    "trims": "read_dump {} 20 x vx trim yes box no",
    "labels": "read_dump {} 20 x y z vx trim yes label x y label y z label z x label vx vz",
}


@needs_lmp
@pytest.mark.mpi
@pytest.mark.parametrize("how", READS)
def test_read_dump_of_lammps(how, tmp_path):
    """Some of the particles are in the dump, in a box that is another one. In some cases coordinates are scaled."""
    part_of(tmp_path)
    name = "xsyszs" if how.startswith("scaled") else "xyz"
    deck = (MELT + "group gone id 1:200\n" + SHIFTED + READS[how].format(f"../made/{name}.dump") +
            "\nwrite_dump all custom out.dump id type x y z vx vy vz modify sort id format float %.12g\nrun 0\n")
    theirs = run_lmp(deck, tmp_path / "theirs")[0]
    step = int(theirs.rows[0][0])
    for ranks in (None, 2):
        ours = harness.run(deck, tmp_path / str(ranks), ranks=ranks)
        assert ours.table.at(step) == pytest.approx(theirs.at(step), rel=1e-7)
        one, other = (harness.read_dump(tmp_path / who / "out.dump")[0] for who in (str(ranks), "theirs"))
        assert one.step == other.step and one.bounds == pytest.approx(other.bounds)
        for column, values in one.columns.items():
            assert values == pytest.approx(other.columns[column], rel=1e-9, abs=1e-9), column


def part_of(tmp_path):
    """Dumps of the particles 101 to 400 in a box that is larger along z."""
    deck = MELT + ("group part id 101:400\nchange_box all z final 0 4.5\n"
                   "dump a part custom 20 xyz.dump id type x y z vx vy vz\n"
                   "dump b part custom 20 xsyszs.dump id type xs ys zs vx vy vz\n" + "run 40\n")
    harness.run(deck, tmp_path / "made")


def test_scaled_coordinates_where_faces_follow(tmp_path):
    """Scaled coordinates are parts of the snapshot's box, and not of one whose faces have a margin around it."""
    deck = ("dimension 2\nboundary s s p\nregion b block 0 10 0 10 -0.5 0.5\ncreate_box 1 b\nmass 1 1\n"
            "create_atoms 1 single 2 2 0\ncreate_atoms 1 single 4 4 0\n"
            "velocity all set 0.5 0 0\nfix 1 all nve\ntimestep 0.1\n"
            "dump d all atom 10 d.dump\nrun 10\nundump d\nread_dump d.dump 0 x y\n"
            'print "$(x[1]:%.6f) $(y[1]:%.6f) $(x[2]:%.6f) $(y[2]:%.6f)" file got\n')
    harness.run(deck, tmp_path)
    assert (tmp_path / "got").read_text().split() == ["2.000000"] * 2 + ["4.000000"] * 2


def test_write_dump_is_a_dump(tmp_path):
    deck = MELT + ("dump a odd custom 10 a.*.dump id x vx c_ke mass\ndump_modify a format float %.6g pad 4\nrun 10\n"
                   "write_dump odd custom b.*.dump id x vx c_ke mass modify format float %.6g pad 4\n"
                   "write_dump all extxyz b.xyz\ndump b all extxyz 10 a.xyz\nrun 0\n")
    harness.run(deck, tmp_path)
    assert (tmp_path / "a.0010.dump").read_bytes() == (tmp_path / "b.0010.dump").read_bytes()
    assert (tmp_path / "a.xyz").read_bytes() == (tmp_path / "b.xyz").read_bytes()


HEADER = ("ITEM: TIMESTEP\n5\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp pp\n0 6\n0 6\n0 6\n"
          "ITEM: ATOMS id type x y z\n")
ROWS = "1 1 1 1 1\n2 2 3 3 3\n"
FILES = {
    "no dump": ("hello\n", ["f.dump:1", "no item"]),
    "short": (HEADER + "1 1 1 1 1\n", ["f.dump:10", "ends within a snapshot"]),
    "few words": (HEADER + "1 1 1 1\n2 2 3 3 3\n", ["f.dump:10", "the number of words in the row"]),
    "an id": (HEADER + "x 1 1 1 1\n2 2 3 3 3\n", ["f.dump:10", "the id"]),
    "a place": (HEADER + "1 1 1 1 nan\n2 2 3 3 3\n", ["f.dump:10", "no number"]),
    "more rows": (HEADER + ROWS + "3 1 1 1 2\n", ["f.dump:12", "more rows than NUMBER OF ATOMS"]),
    "twice": (HEADER + "1 1 1 1 1\n1 2 3 3 3\n", ["f.dump:11", "twice"]),
    "tilted": (HEADER.replace("BOUNDS pp", "BOUNDS xy xz yz pp") + ROWS, ["tilted"]),
    "no box": (HEADER.replace("ITEM: NUMBER OF ATOMS\n2\n", "") + ROWS, ["before ITEM: ATOMS"]),
    "another step": (HEADER.replace("5", "6") + ROWS, ["no snapshot of step 5"]),
    "no column": (HEADER.replace("x y z", "x y w") + ROWS, ["no column for z"]),
}


@pytest.mark.parametrize("name", FILES)
def test_bad_files(name, tmp_path):
    text, words = FILES[name]
    (tmp_path / "f.dump").write_text(text)
    refused(run_deck(tmp_path, BOX + "read_dump f.dump 5 x y z\n"), USAGE, *words)


BAD = {
    "read_dump f.dump 5": ["read_dump takes"],
    "read_dump f.dump -5 x": ["-5"],
    "read_dump f.dump 5 box yes": ["needs the fields"],
    "read_dump f.dump 5 x q": ["q is not taken"],
    "read_dump f.dump 5 x ix": ["image flags"],
    "read_dump f.dump 5 id x": ["leave it out"],
    "read_dump f.dump 5 x boxes yes": ["'boxes'", "accepted are"],
    "read_dump f.dump 5 x box": ["box: its value is missing"],
    "read_dump f.dump 5 x purge yes": ["replace no"],
    "read_dump f.dump 5 x format xyz": ["'xyz'", "native"],
    "read_dump f.dump 5 x label q y": ["'q' is no field"],
    "read_dump f.dump 5 x scaled yes": ["scaled", "leave it out"],
    "rerun dump x": ["names of dumps first"],
    "rerun f.dump first 5": ["ends with `dump`"],
    "rerun f.dump first 6 dump x": ["no snapshot that is asked for"],
    "rerun f.dump first 5 last dump x": ["last", "dump"],
    "rerun f.dump skip 0 dump x": ["skip", "0"],
    "write_dump all custom": ["write_dump takes"],
    "write_dump all custom w.dump id fx": ["forces are only known"],
    "write_dump some custom w.dump id": ["some"],
    "write_dump all custom w.dump id modify sort": ["its value is missing"],
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input(line, tmp_path):
    (tmp_path / "f.dump").write_text(HEADER + ROWS)
    refused(run_deck(tmp_path, BOX + line + "\n"), USAGE, *BAD[line], line=BOX.count("\n") + 1)


def test_a_wrong_snapshot_after_a_good_one(tmp_path):
    (tmp_path / "f.dump").write_text(HEADER + ROWS + HEADER.replace("5", "9") + "1 1 1 1\n2 2 3 3 3\n")
    refused(run_deck(tmp_path, BOX + "rerun f.dump dump x y z\n"), USAGE, "f.dump:21", "the number of words in the row")


def test_a_number_of_atoms_that_is_wrong_takes_no_memory(tmp_path):
    (tmp_path / "f.dump").write_text(HEADER.replace("2", f"{2**60}", 1) + ROWS)
    deck = BOX + "read_dump f.dump 5 x y z purge yes replace no add keep\n"
    refused(run_deck(tmp_path, deck), USAGE, "f.dump:11", "ends within a snapshot")


@pytest.mark.parametrize("line", ["rerun f.dump dump x y z", "read_dump f.dump 5 x y z"])
def test_averages_whose_steps_would_change(line, tmp_path):
    (tmp_path / "f.dump").write_text(HEADER + ROWS)
    deck = BOX + "fix a all ave/time 1 1 1 c_thermo_pe\nrun 7\n" + line + "\n"
    refused(run_deck(tmp_path, deck), USAGE, line.split()[0] + ": this changes the step", "fix a (ave/time)")


def test_steps_that_averages_miss(tmp_path):
    (tmp_path / "f.dump").write_text(HEADER + ROWS + HEADER.replace("5", "9") + ROWS)
    begin = BOX + "thermo_style custom step pe\n"
    deck = begin + "fix a all ave/time 2 1 2 c_thermo_pe\nrerun f.dump dump x y z\n"
    refused(run_deck(tmp_path, deck), USAGE, "fix a (ave/time) samples step 6", "5 and 9")
    works(run_deck(tmp_path, deck.replace("fix a all ave/time 2 1 2 c_thermo_pe\n", "")))
    refused(run_deck(tmp_path, begin + "rerun g.dump dump x\n"), RUNTIME, "cannot open g.dump")


def test_a_dump_that_is_still_written(tmp_path):
    deck = BOX + "dump d all custom 1 d.dump id type x y z\nrun 1\n"
    refused(run_deck(tmp_path, deck + "rerun d.dump dump x y z\n"), USAGE, "d.dump", "dump d")
    works(run_deck(tmp_path, deck + "undump d\nrerun d.dump dump x y z\n"))


def test_plan_and_check(tmp_path):
    """The file need not be there yet when a deck is checked."""
    deck = BOX + "read_dump f.dump 5 x y z\nvariable s equal step\nif '${s} != 5' then 'quit 3'\nrerun f.dump dump x\n"
    (tmp_path / "in.deck").write_text(deck)
    assert call(tmp_path, "check", "-in", "in.deck").status == 0
