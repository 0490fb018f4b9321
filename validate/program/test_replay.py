"""read_dump, rerun and write_dump: what lmp makes of the same dump, and the bits of the run that wrote it."""

from __future__ import annotations

import gzip

import numpy as np
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


# Particles go through faces between any two snapshots that are read.
FAST = MELT + "velocity all set 140 -60 70 sum yes units box\ntimestep 0.002\n"
WAYS = """\
compute m all msd
compute n all msd com yes
compute c odd com
compute g all gyration
compute t all chunk/atom type
compute h all gyration/chunk t
compute q all com/chunk t
thermo_style custom step c_m[1] c_m[4] c_n[4] c_c[1] c_c[3] c_g c_h[1] c_h[2] c_q[1][2]
thermo_modify format float %.17g
thermo 20
"""
PLACES = "write_dump all custom out.dump id type xu yu zu ix iy iz modify sort id format float %.12g\n"
FLAGGED = {"unwrapped": ("xu yu zu", "x y z"), "unwrapped and scaled": ("xsu ysu zsu", "x y z"),
           "flags": ("x y z ix iy iz", "x y z ix iy iz")}


@needs_lmp
@pytest.mark.mpi
@pytest.mark.parametrize("command", ["rerun {} every 20 dump {}", "read_dump {} 40 {}\nrun 0"])
@pytest.mark.parametrize("what", FLAGGED)
def test_image_flags_of_lammps(what, command, tmp_path):
    """Displacements and unwrapped places of snapshots that have image flags, or unwrapped places."""
    columns, fields = FLAGGED[what]
    dump = written(tmp_path, deck=FAST + f"dump d all custom 10 d.dump id {columns}\n" + EXACT + "run 40\n")
    deck = MELT + WAYS + command.format(dump, fields) + "\n" + PLACES
    theirs = run_lmp(deck, tmp_path / "theirs")[0]
    assert theirs.column("c_m[4]")[-1] > 10.0
    for ranks in (None, 2):
        ours = harness.run(deck, tmp_path / str(ranks), ranks=ranks).table
        assert len(ours.rows) == len(theirs.rows)
        for row, other in zip(ours.rows, theirs.rows):
            assert list(map(float, row)) == pytest.approx(list(map(float, other)), rel=1e-9, abs=1e-9)
        one, other = (harness.read_dump(tmp_path / who / "out.dump")[0] for who in (str(ranks), "theirs"))
        for column, values in one.columns.items():
            assert values == pytest.approx(other.columns[column], rel=1e-9, abs=1e-9), column


def test_image_flags_on_every_engine(engine, tmp_path):
    dump = written(tmp_path, deck=FAST + "dump d all custom 10 d.dump id xu yu zu\n" + EXACT + "run 40\n")
    deck = MELT + WAYS + f"rerun {dump} every 20 post no dump x y z\n" + PLACES
    one, other = (harness.run(deck, tmp_path / name, engine=name) for name in ("naive", engine))
    assert one.table.rows == other.table.rows and float(one.table.rows[-1][2]) > 100.0
    assert (tmp_path / "naive" / "out.dump").read_bytes() == (tmp_path / engine / "out.dump").read_bytes()
    assert "Pair " not in (tmp_path / engine / "log.myriad").read_text()


def test_image_flags_of_particles_that_stay_and_go(tmp_path):
    """Particle 1 is in the snapshot, 2 is deleted, 3 is new: their flags are those of their rows."""
    (tmp_path / "f.dump").write_text(HEADER.replace("x y z", "xu y zs iy") + "1 1 13 1 0.5 7\n3 2 3 5 0.5 -2\n")
    places = "write_dump all custom {} id xu yu zu modify sort id format float %.12g\n"
    deck = (BOX + "read_dump f.dump 5 x y z iy trim yes add keep\n" + places.format("a.dump") +
            "displace_atoms all move 0 0 2\nrun 1\n" + places.format("b.dump"))
    harness.run(deck, tmp_path)
    for name, z in (("a", 3), ("b", 5)):
        frame = harness.read_dump(tmp_path / f"{name}.dump")[0]
        assert frame.columns["id"].tolist() == [1, 3]
        assert frame.vectors("xu", "yu", "zu") == pytest.approx(np.array([[13, 43, z], [3, -7, z]]), abs=0.1)


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
    "cut off": (HEADER + ROWS[:-1], ["f.dump:11", "the file ends within a line"]),
    "a flag": (HEADER.replace("x y z", "x y z ix") + "1 1 1 1 1 0\n2 2 3 3 3 0.5\n", ["f.dump:11", "an image flag"]),
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
    fields = "x y z ix" if " ix" in text else "x y z"
    refused(run_deck(tmp_path, BOX + f"read_dump f.dump 5 {fields}\n"), USAGE, *words)


BAD = {
    "read_dump f.dump 5": ["read_dump takes"],
    "read_dump f.dump -5 x": ["-5"],
    "read_dump f.dump 5 box yes": ["needs the fields"],
    "read_dump f.dump 5 x q": ["q is not taken"],
    "read_dump f.dump 5 x ix": ["no column for ix"],
    "read_dump f.dump 5 x y x": ["the field x is there twice"],
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
    "rerun f.dump first 6 last 5 dump x": ["first 6 is after last 5"],
    "rerun f.dump start 6 stop 5 dump x": ["start 6 is after stop 5"],
    "rerun f.dump post 1 dump x": ["rerun post", "'1'"],
    "write_dump all custom": ["write_dump takes"],
    "write_dump all custom w.dump id fx": ["forces are only known"],
    "write_dump some custom w.dump id": ["some"],
    "write_dump all custom w.dump id modify sort": ["its value is missing"],
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input(line, tmp_path):
    (tmp_path / "f.dump").write_text(HEADER + ROWS)
    refused(run_deck(tmp_path, BOX + line + "\n"), USAGE, *BAD[line], line=BOX.count("\n") + 1)


def test_a_second_file_that_is_not_there(tmp_path):
    """The error comes before the first snapshot is shown."""
    (tmp_path / "f.dump").write_text(HEADER + ROWS)
    deck = BOX + "dump d all atom 5 shown.dump\nrerun f.dump none.dump dump x y z\n"
    refused(run_deck(tmp_path, deck), RUNTIME, "cannot open none.dump: No such file")
    assert not (tmp_path / "shown.dump").exists()


def test_a_wrong_snapshot_after_a_good_one(tmp_path):
    (tmp_path / "f.dump").write_text(HEADER + ROWS + HEADER.replace("5", "9") + "1 1 1 1\n2 2 3 3 3\n")
    refused(run_deck(tmp_path, BOX + "rerun f.dump dump x y z\n"), USAGE, "f.dump:21", "the number of words in the row")


def test_a_number_of_atoms_that_is_wrong_takes_no_memory(tmp_path):
    (tmp_path / "f.dump").write_text(HEADER.replace("2", f"{2**60}", 1) + ROWS)
    deck = BOX + "read_dump f.dump 5 x y z purge yes replace no add keep\n"
    refused(run_deck(tmp_path, deck), USAGE, "f.dump:11", "ends within a snapshot")


def test_a_rerun_in_the_deck_of_the_run(tmp_path):
    """As docs/reference/output.md has it: averages that begin after the run get the snapshots from the first on."""
    begin = MELT + DUMP + EXACT
    harness.run(begin + LOOKS + "run 60\n", tmp_path / "once")
    harness.run(begin + "run 60\nundump d\n" + LOOKS + "rerun d.dump dump x y z vx vy vz\n", tmp_path / "again")
    for name in ("a.txt", "b.txt"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "once" / name).read_bytes()


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
    """What is in the file is not looked at when a deck is checked."""
    deck = BOX + "read_dump f.dump 5 x y z\nvariable s equal step\nif '${s} != 5' then 'quit 3'\nrerun f.dump dump x\n"
    (tmp_path / "in.deck").write_text(deck)
    assert call(tmp_path, "check", "-in", "in.deck").out.count("cannot open f.dump: ") == 2
    (tmp_path / "f.dump").write_text("")
    assert call(tmp_path, "check", "-in", "in.deck").status == 0


@pytest.mark.parametrize("way, sums", [
    ("read_dump all.dump 0 x y z purge yes replace no add keep box no", [14, 0]),
    ("read_dump one.dump 0 x y z replace yes trim yes box no", [14, 7]),
    ("read_dump one.dump 0 x y z replace yes trim yes box no\n"
     "read_dump all.dump 0 x y z replace no add keep box no", [14, 7])])
def test_particles_of_a_snapshot_have_no_values_of_others(way, sums, tmp_path):
    """A particle that is added has zeros, whatever one of the same id had before."""
    deck = BOX + ("group one id 1\nwrite_dump all custom all.dump id type x y z\n"
                  "write_dump one custom one.dump id type x y z\nfix p all property/atom d_w\nset group all d_w 7\n"
                  "compute s all reduce sum d_w\nthermo_style custom step c_s\nthermo_modify norm no\nrun 0\n")
    tables = harness.run(deck + way + "\nrun 0\n", tmp_path).tables
    assert [float(t.rows[0][1]) for t in tables] == sums
