"""What the program writes, read back by parsers of the tests' own.

A mixture of masses 1 and 4 runs 20 steps and writes every kind of output at once.
Positions, velocities and forces must then be the same doubles, to the last bit, in
every format; velocities must be the true ones, although the engines compute with
momenta; and pictures are decoded pixel by pixel.
"""

from __future__ import annotations

import gzip
import math
import re
import struct
import zlib
from pathlib import Path
from typing import Dict, List, NamedTuple, Tuple

import numpy as np
import pytest

import harness
from cli import BOX, USAGE, refused, run_deck, works

pytestmark = pytest.mark.smoke

MIXTURE = """\
lattice fcc 0.8
region b block 0 4 0 4 0 4
create_box 2 b
create_atoms 1 box
set type 1 type/fraction 2 0.5 7
mass 1 1
mass 2 4
velocity all create 1.4 9
pair_style lj/cut 2.5
pair_coeff * * 1 1
pair_coeff 1 2 0.8 1.1
timestep 0.004
fix 1 all nve
"""
SIDE = 4 * (4 / 0.8) ** (1 / 3)
COUNT = 256

DUMPS = """\
dump a all custom 10 custom id type x y z vx vy vz fx fy fz mass xs ys zs xu yu zu ix iy iz element
dump b all atom 10 scaled
dump c all atom 10 unscaled
dump_modify c scale no
dump d all extxyz 10 extxyz vel force type mass
dump e all frames 10 frames
dump f all custom 10 custom.gz id type x y z vx vy vz fx fy fz mass xs ys zs xu yu zu ix iy iz element
dump g all extxyz 10 extxyz.gz vel force type mass
dump h all custom 10 each.*.txt id x
dump i all custom 10 each.*.gz id x
dump j all density 10 density.*.png 16
dump k all density 10 side.png 12 axis x scale log
dump_modify j furniture no
dump_modify k furniture no
dump l all density 10 furnished.png 16
dump m all density 10 energy.*.txt 12 weight ke axis y
thermo 10
thermo_modify format float %.17g
run 20
write_data end.data
"""

Rows = Dict[str, np.ndarray]


class CustomFrame(NamedTuple):
    step: int
    count: int
    bounds: List[Tuple[float, float]]
    boundary: str
    names: List[str]
    cells: List[List[str]]

    def column(self, name: str) -> np.ndarray:
        c = self.names.index(name)
        return np.array([float(row[c]) for row in self.cells])

    def columns(self, *names: str) -> np.ndarray:
        return np.stack([self.column(name) for name in names], axis=1)


def parse_custom(text: str) -> List[CustomFrame]:
    """LAMMPS's text dump, section by section."""
    frames: List[CustomFrame] = []
    for part in text.split("ITEM: TIMESTEP\n")[1:]:
        match = re.fullmatch(r"(\d+)\nITEM: NUMBER OF ATOMS\n(\d+)\nITEM: BOX BOUNDS (.*)\n(.*)\n(.*)\n(.*)\n"
                             r"ITEM: ATOMS (.*)\n((?:.*\n)*)", part)
        assert match, part[:400]
        bounds = [tuple(map(float, match[k].split())) for k in (4, 5, 6)]
        cells = [line.split() for line in match[8].splitlines()]
        names = match[7].split()
        assert len(cells) == int(match[2]) and all(len(row) == len(names) for row in cells)
        frames.append(CustomFrame(int(match[1]), int(match[2]), bounds, match[3], names, cells))
    return frames


class XyzFrame(NamedTuple):
    keys: Dict[str, str]
    species: List[str]
    columns: Rows


def parse_extxyz(text: str) -> List[XyzFrame]:
    frames = []
    lines = text.splitlines()
    while lines:
        count = int(lines[0])
        keys = {k: v.strip('"') for k, v in re.findall(r'(\w+)=("[^"]*"|\S+)', lines[1])}
        rows = [line.split() for line in lines[2:2 + count]]
        lines = lines[2 + count:]
        fields = keys["Properties"].split(":")
        columns: Rows = {}
        at = 0
        for name, kind, width in zip(fields[::3], fields[1::3], map(int, fields[2::3])):
            cells = [row[at:at + width] for row in rows]
            if kind != "S":
                columns[name] = np.array([[float(cell) for cell in row] for row in cells])
            at += width
        assert all(len(row) == at for row in rows) and len(rows) == count
        frames.append(XyzFrame(keys, [row[0] for row in rows], columns))
    return frames


def parse_data(text: str) -> Rows:
    """The sections of a data file, by id."""
    sections = re.split(r"\n(Masses|Atoms # atomic|Velocities)\n\n", text)
    table = lambda body: np.array([[float(word) for word in line.split()]
                                   for line in body.split("\n\n")[0].splitlines()])
    return {name: table(body) for name, body in zip(sections[1::2], sections[2::2])}


class Picture(NamedTuple):
    pixels: np.ndarray  # palette indices, [height, width]
    palette: np.ndarray
    text: str


def decode_png(data: bytes) -> Picture:
    """An 8-bit palette PNG."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks: Dict[bytes, bytes] = {}
    at = 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(name + body)
        chunks[name] = chunks.get(name, b"") + body
        at += 12 + length
    assert name == b"IEND"
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, colour, interlace) == (8, 3, 0)
    raw = zlib.decompress(chunks[b"IDAT"])
    assert len(raw) == height * (width + 1)
    rows = np.zeros((height + 1, width + 1), dtype=int)  # a row and a column of zeros in front
    for y in range(height):
        line = raw[y * (width + 1):(y + 1) * (width + 1)]
        for x in range(width):
            a, b, c = rows[y + 1, x], rows[y, x + 1], rows[y, x]
            paeth = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            rows[y + 1, x + 1] = (line[x + 1] + (0, a, b, (a + b) // 2, paeth)[line[0]]) % 256
    palette = np.frombuffer(chunks[b"PLTE"], dtype=np.uint8).reshape(-1, 3)
    return Picture(rows[1:, 1:], palette, chunks[b"tEXt"].decode())


def decode_colours(data: bytes) -> np.ndarray:
    """An 8-bit PNG of red, green and blue without filters: [height, width, 3]."""
    width, height, depth, colour = struct.unpack(">IIBB", data[16:26])
    assert (depth, colour) == (8, 2)
    body, at = b"", 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        body += data[at + 8:at + 8 + length] if name == b"IDAT" else b""
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(body), dtype=np.uint8).reshape(height, 1 + 3 * width)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 3)


def log_table(text: str) -> List[Dict[str, str]]:
    """What lammps-logfile and others take for the thermo table of the (only) run."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("Per MPI rank memory allocation"):
            break
    titles = next(lines).split()
    rows = []
    for line in lines:
        if line.startswith("Loop time"):
            return rows
        assert len(line.split()) == len(titles), line
        rows.append(dict(zip(titles, line.split())))
    raise AssertionError("no Loop time")


class Written(NamedTuple):
    folder: Path
    log: str

    def text(self, name: str) -> str:
        return (self.folder / name).read_text()


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Written:
    folder = tmp_path_factory.mktemp("output")
    works(run_deck(folder, MIXTURE + DUMPS, "--threads", "2", "-log", "log"))
    return Written(folder, (folder / "log").read_text())


@pytest.fixture(scope="module")
def custom(written) -> List[CustomFrame]:
    return parse_custom(written.text("custom"))


# ---------------------------------------------------------------- the same numbers in every format


def test_custom(custom):
    assert [frame.step for frame in custom] == [0, 10, 20]
    for frame in custom:
        assert frame.column("id").tolist() == list(range(1, COUNT + 1))
        assert frame.boundary == "pp pp pp"
        for lo, hi in frame.bounds:
            assert lo == 0.0 and hi == pytest.approx(SIDE, rel=1e-12)
        types = frame.column("type")
        assert 0.3 < np.mean(types == 2) < 0.7
        assert np.array_equal(frame.column("mass"), np.where(types == 1, 1.0, 4.0))
        assert [row[-1] for row in frame.cells] == ["Ar" if t == 1 else "Kr" for t in types]
        x, side = frame.columns("x", "y", "z"), frame.bounds[0][1]
        assert np.allclose(x, frame.columns("xu", "yu", "zu") - side * frame.columns("ix", "iy", "iz"), atol=1e-14)
        assert np.array_equal(x / side, frame.columns("xs", "ys", "zs"))
        assert ((x >= 0) & (x < side)).all()
        assert abs(frame.columns("fx", "fy", "fz")).max() > 1.0
        assert [math.fsum(frame.column(f)) for f in ("fx", "fy", "fz")] == [0.0, 0.0, 0.0]


def test_numbers_have_the_digits_that_give_the_same_bits_back(custom):
    for name in ("x", "vx", "fx"):
        c = custom[1].names.index(name)
        for row in custom[1].cells:
            assert row[c] == f"{float(row[c]):.17g}"


def test_data_file_holds_the_last_frame(custom, written):
    data = parse_data(written.text("end.data"))
    last = custom[-1]
    assert np.array_equal(data["Masses"], [[1, 1], [2, 4]])
    assert np.array_equal(data["Atoms # atomic"][:, :5], last.columns("id", "type", "x", "y", "z"))
    assert np.array_equal(data["Velocities"], last.columns("id", "vx", "vy", "vz"))


def test_velocities_are_true(custom, written):
    """The kinetic energy of the dumped velocities is that of the log, for masses 1 and 4."""
    rows = log_table(written.log)
    assert [int(row["Step"]) for row in rows] == [0, 10, 20]
    for frame, row in zip(custom, rows):
        kinetic = 0.5 * np.sum(frame.column("mass") * np.sum(frame.columns("vx", "vy", "vz") ** 2, axis=1))
        assert 2 * kinetic / (3 * COUNT - 3) == pytest.approx(float(row["Temp"]), rel=1e-12)


def test_velocities_are_the_change_of_positions(tmp_path):
    """v over one short step, for both masses."""
    works(run_deck(tmp_path, MIXTURE + "timestep 1e-6\ndump a all custom 1 f id x y z vx vy vz\nrun 2\n"))
    before, now, after = parse_custom((tmp_path / "f").read_text())
    moved = after.columns("x", "y", "z") - before.columns("x", "y", "z")
    moved -= np.round(moved / SIDE) * SIDE
    assert np.allclose(moved / 2e-6, now.columns("vx", "vy", "vz"), rtol=1e-6, atol=1e-6)


def test_atom(custom, written):
    for frame, scaled, plain in zip(custom, parse_custom(written.text("scaled")),
                                    parse_custom(written.text("unscaled"))):
        assert scaled.names == ["id", "type", "xs", "ys", "zs"] and plain.names == ["id", "type", "x", "y", "z"]
        for other in (scaled, plain):
            assert (other.step, other.count, other.bounds, other.boundary) == frame[:4]
            assert np.array_equal(other.columns(*other.names), frame.columns(*other.names))


def test_extxyz(custom, written):
    frames = parse_extxyz(written.text("extxyz"))
    assert len(frames) == 3
    for frame, xyz in zip(custom, frames):
        side = frame.bounds[0][1]
        assert [float(word) for word in xyz.keys["Lattice"].split()] == [side, 0, 0, 0, side, 0, 0, 0, side]
        assert [float(word) for word in xyz.keys["Origin"].split()] == [0, 0, 0]
        assert xyz.keys["pbc"] == "T T T" and int(xyz.keys["Step"]) == frame.step
        assert float(xyz.keys["Time"]) == frame.step * 0.004
        assert xyz.keys["Properties"] == "species:S:1:pos:R:3:velo:R:3:forces:R:3:type:I:1:masses:R:1:id:I:1"
        assert xyz.species == [row[-1] for row in frame.cells]
        assert np.array_equal(xyz.columns["pos"], frame.columns("x", "y", "z"))
        assert np.array_equal(xyz.columns["velo"], frame.columns("vx", "vy", "vz"))
        assert np.array_equal(xyz.columns["forces"], frame.columns("fx", "fy", "fz"))
        for name, column in (("type", "type"), ("masses", "mass"), ("id", "id")):
            assert np.array_equal(xyz.columns[name][:, 0], frame.column(column))


def test_extxyz_columns(tmp_path):
    works(run_deck(tmp_path, BOX + "dump a all extxyz 1 a\ndump b all extxyz 1 b force\n"
                                   "dump c all extxyz 1 c id\nrun 0\n"))
    properties = lambda name: parse_extxyz((tmp_path / name).read_text())[0].keys["Properties"]
    assert properties("a") == "species:S:1:pos:R:3:velo:R:3:id:I:1"
    assert properties("b") == "species:S:1:pos:R:3:forces:R:3:id:I:1"
    assert properties("c") == "species:S:1:pos:R:3:id:I:1"


def test_xyz(tmp_path):
    """Types as numbers or symbols, positions with all digits, or in formats; the words of dump_modify."""
    works(run_deck(tmp_path, MIXTURE + "group some id <= 9\ndump a all xyz 10 a\ndump b some xyz 10 b\n"
                                       "dump_modify b element Ne Xe time yes format line '%s %.3f %8.2f %g'\n"
                                       "dump c all custom 10 c id type x y z\nrun 20\n"))
    plain, named = ((tmp_path / name).read_text().splitlines() for name in "ab")
    for k, frame in enumerate(parse_custom((tmp_path / "c").read_text())):
        assert plain[:2] == [str(COUNT), f"Atoms. Timestep: {frame.step}"]
        rows = [line.split() for line in plain[2:2 + COUNT]]
        types, place = frame.column("type"), frame.columns("x", "y", "z")
        assert [int(row[0]) for row in rows] == list(types)
        assert np.array_equal([[float(word) for word in row[1:]] for row in rows], place)
        assert named[:2] == ["9", f"Atoms. Timestep: {frame.step} Time: {frame.step * 0.004:.17g}"]
        assert named[2:11] == [f"{'Ne' if t == 1 else 'Xe'} {x:.3f} {y:8.2f} {z:g}"
                               for t, (x, y, z) in zip(types[:9], place)]
        plain, named = plain[2 + COUNT:], named[11:]
    assert plain == named == []


def test_styles_and_keywords_of_lammps_that_say_nothing_new(tmp_path):
    works(run_deck(tmp_path, MIXTURE + "dump a all custom 5 a id x\ndump b all custom/mpiio 5 b id x\n"
                                       "dump c all custom/gz 5 c.gz id x\ndump d all xyz/gz 5 d.gz\n"
                                       "dump e all xyz 5 e\n"
                                       "dump_modify b flush no buffer yes pbc yes\ndump_modify e pbc no\nrun 5\n"
                                       "write_data f.data nofix pair ij\nwrite_data g.data nocoeff\n"))
    read = lambda name: (tmp_path / name).read_bytes()
    assert read("a") == read("b") == gzip.decompress(read("c.gz")) and read("e") == gzip.decompress(read("d.gz"))
    assert read("f.data") == read("g.data")


@pytest.mark.parametrize("line, words", [
    ("dump 1 all custom/gz 1 f id", "must end in .gz"),
    ("dump 1 all custom/zstd 1 f id", "unknown style 'custom/zstd'"),
    ("dump 1 all custom 1 f id iu", "unknown column 'iu'; accepted are id type"),
    ("write_data f pair all", "accepted are nocoeff, nofix and pair ii|ij"),
    ("dump 1 all atom 1 f\ndump_modify 1 pbc perhaps", "yes or no")])
def test_refused_words_of_output(line, words, tmp_path):
    refused(run_deck(tmp_path, BOX + line + "\n"), USAGE, words)


def test_frames(custom, written):
    blocks = written.text("frames").split("\n\n")
    assert blocks.pop() == "" and len(blocks) == 3
    head, blocks[0] = blocks[0].split("\n", 1)
    assert head.split()[0] == str(COUNT) and float(head.split()[1]) == custom[0].bounds[0][1]
    for frame, block in zip(custom, blocks):
        rows = np.array([[float(word) for word in line.split()] for line in block.splitlines()])
        assert np.array_equal(rows, frame.columns("x", "y", "z"))


def test_frames_in_the_plane(tmp_path):
    works(run_deck(tmp_path, "dimension 2\nboundary f f p\nregion b block 0 3 0 3 -0.5 0.5\ncreate_box 1 b\nmass 1 1\n"
                             "create_atoms 1 grid 4\ndump a all frames 1 f\nrun 0\n"))
    assert (tmp_path / "f").read_text() == "4 3\n1 1\n2 1\n1 2\n2 2\n\n"


@pytest.mark.parametrize("name", ["custom", "extxyz"])
def test_gzip(name, written):
    packed = (written.folder / f"{name}.gz").read_bytes()
    assert gzip.decompress(packed) == (written.folder / name).read_bytes()
    assert len(packed) < 0.7 * len(written.text(name))


def test_a_file_per_frame(custom, written):
    names = sorted(path.name for path in written.folder.glob("each.*.txt"))
    assert names == ["each.0.txt", "each.10.txt", "each.20.txt"]
    for frame in custom:
        (one,) = parse_custom(written.text(f"each.{frame.step}.txt"))
        assert one.step == frame.step and np.array_equal(one.columns("id", "x"), frame.columns("id", "x"))
        packed = (written.folder / f"each.{frame.step}.gz").read_bytes()
        assert gzip.decompress(packed).decode() == written.text(f"each.{frame.step}.txt")


@pytest.mark.parametrize("threads", ["1", "3"])
def test_engines_and_threads_write_the_same_bytes(engine, threads, written, tmp_path):
    works(run_deck(tmp_path, MIXTURE + DUMPS, *harness.engine_words(engine), "--threads", threads))
    names = {path.name for path in written.folder.iterdir()} - {"log"}
    assert names == {path.name for path in tmp_path.iterdir()}
    for name in names:
        assert (tmp_path / name).read_bytes() == (written.folder / name).read_bytes(), name


def test_blocks_of_many_rows(tmp_path):
    """More rows than one block, or one round of blocks, holds; ids beyond the first block stay in order."""
    deck = "region b block 0 50 0 50 0 50\ncreate_box 1 b\nmass 1 1\ncreate_atoms 1 random 40000 3 NULL\n"
    works(run_deck(tmp_path, deck + "dump a all custom 1 f id x\ndump b all custom 1 f.gz id x\nrun 0\n",
                   "--threads", "2"))
    (frame,) = parse_custom((tmp_path / "f").read_text())
    assert frame.column("id").tolist() == list(range(1, 40001)) and len(set(frame.column("x"))) > 39990
    assert gzip.decompress((tmp_path / "f.gz").read_bytes()) == (tmp_path / "f").read_bytes()


# ---------------------------------------------------------------- dump_modify


def dumped(folder: Path, commands: str, run: str = "run 20\n", name: str = "f") -> str:
    works(run_deck(folder, BOX + commands + run))
    return (folder / name).read_text()


def steps(text: str) -> List[int]:
    return [frame.step for frame in parse_custom(text)]


def test_modify_every_and_first(tmp_path):
    dump = "dump a all atom 8 f\n"
    assert steps(dumped(tmp_path, dump)) == [0, 8, 16]
    assert steps(dumped(tmp_path, dump + "dump_modify a every 5\n")) == [0, 5, 10, 15, 20]
    assert steps(dumped(tmp_path, "reset_timestep 3\n" + dump)) == [8, 16]
    assert steps(dumped(tmp_path, "reset_timestep 3\n" + dump + "dump_modify a first yes\n")) == [3, 8, 16]
    first = dumped(tmp_path, "reset_timestep 3\n" + dump + "dump_modify a first yes every 5\n")
    assert steps(first) == [3, 5, 10, 15, 20]


def test_modify_every_between_runs(tmp_path):
    text = dumped(tmp_path, "dump a all atom 5 f\nrun 10\ndump_modify a every 2\n", "run 6\n")
    assert steps(text) == [0, 5, 10, 12, 14, 16]


def test_modify_pad(tmp_path):
    dumped(tmp_path, "dump a all atom 10 f.*.x\ndump_modify a pad 4\n", name="f.0010.x")
    assert sorted(path.name for path in tmp_path.glob("f.*")) == ["f.0000.x", "f.0010.x", "f.0020.x"]


def test_modify_append(tmp_path):
    (tmp_path / "f").write_text("")
    dumped(tmp_path, "dump a all atom 20 f\ndump_modify a append yes\n")
    assert steps(dumped(tmp_path, "dump a all atom 20 f\ndump_modify a append yes\n")) == [0, 20, 0, 20]
    assert steps(dumped(tmp_path, "dump a all atom 20 f\n")) == [0, 20]


def test_modify_append_frames_and_gzip(tmp_path):
    """The line `n size` is not repeated; packed files are appended to as they are."""
    frames = "dump a all frames 20 f\ndump_modify a append yes\n"
    once = dumped(tmp_path, frames)
    assert dumped(tmp_path, frames) == once + once.split("\n", 1)[1]
    packed = "dump a all atom 20 g.gz\ndump_modify a append yes\n"
    dumped(tmp_path, packed)
    dumped(tmp_path, packed)
    assert steps(gzip.decompress((tmp_path / "g.gz").read_bytes()).decode()) == [0, 20, 0, 20]


def test_modify_sort(tmp_path):
    text = MIXTURE + ("dump a all custom 20 sorted id x\ndump b all custom 20 unsorted id x\n"
                      "dump_modify b sort off\nrun 20\n")
    works(run_deck(tmp_path, text))
    ordered, other = (parse_custom((tmp_path / name).read_text())[-1] for name in ("sorted", "unsorted"))
    assert other.column("id").tolist() != ordered.column("id").tolist()
    assert sorted(map(tuple, other.columns("id", "x"))) == [tuple(row) for row in ordered.columns("id", "x")]


def test_modify_numbers(tmp_path):
    third = BOX.replace("single 1 1 1", "single 0.33333333302289248 1 1")  # a multiple of 2^-30
    dump = "dump a all custom 1 f id type x mass element\n"

    def first_row(modify: str) -> str:
        works(run_deck(tmp_path, third + dump + modify + "run 0\n"))
        return (tmp_path / "f").read_text().splitlines()[9]

    assert first_row("") == "1 1 0.33333333302289248 1 Ar"
    assert first_row("dump_modify a precision 6\n") == "1 1 0.333333 1 Ar"
    assert first_row("dump_modify a format float %.3e\n") == "1 1 3.333e-01 1.000e+00 Ar"
    assert first_row("dump_modify a format int %04d\n") == "0001 0001 0.33333333302289248 1 Ar"
    assert first_row("dump_modify a format 3 <%8.4f>\n") == "1 1 <  0.3333> 1 Ar"
    assert first_row('dump_modify a format line "%d %3d %g %g %s!"\n') == "1   1 0.333333 1 Ar!"
    assert first_row("dump_modify a format float %.2f format 4 %.1f\n") == "1 1 0.33 1.0 Ar"
    assert first_row("dump_modify a format float %.2f format none\n") == "1 1 0.33333333302289248 1 Ar"
    assert first_row("dump_modify a element He Og\n") == "1 1 0.33333333302289248 1 He"


def test_ties_round_to_even(tmp_path):
    """1 + 2^-17 and 1 + 3/2^17 have 18 digits, the last of which is a 5: as printf rounds, and unlike 0.5 up."""
    deck = BOX.replace("single 1 1 1", "single 1.00000762939453125 1.00002288818359375 1")
    works(run_deck(tmp_path, deck + "dump a all custom 1 f x y\nrun 0\n"))
    assert (tmp_path / "f").read_text().splitlines()[9] == "1.0000076293945312 1.0000228881835938"


def test_modify_time_and_units(tmp_path):
    lines = dumped(tmp_path, "timestep 0.25\ndump a all atom 20 f\ndump_modify a time yes units yes\n").splitlines()
    assert lines[:4] == ["ITEM: UNITS", "lj", "ITEM: TIME", "0"]
    assert lines.count("ITEM: UNITS") == 1
    at = [k for k, line in enumerate(lines) if line == "ITEM: TIME"]
    assert [lines[k + 1] for k in at] == ["0", "5"] and [lines[k + 2] for k in at] == ["ITEM: TIMESTEP"] * 2


def test_modify_scale(tmp_path):
    text = dumped(tmp_path, "dump a all atom 20 f\ndump_modify a scale no\ndump_modify a scale yes\n")
    assert parse_custom(text)[0].cells[1] == ["2", "2", "0.5", "0.5", "0.5"]


def test_fixed_boundaries_are_marked(tmp_path):
    works(run_deck(tmp_path, "boundary p f p\n" + BOX + "dump a all atom 1 f\ndump b all extxyz 1 x\nrun 0\n"))
    assert parse_custom((tmp_path / "f").read_text())[0].boundary == "pp ff pp"
    assert parse_extxyz((tmp_path / "x").read_text())[0].keys["pbc"] == "T F T"


# ---------------------------------------------------------------- pictures


def counts_of(picture: Picture) -> np.ndarray:
    """Particles per pixel of a linear picture, from what its text says white stands for."""
    most = int(re.search(r"from 0 to (\d+) particles", picture.text)[1])
    counts = np.round(picture.pixels * most / 255).astype(int)
    assert np.array_equal(picture.pixels, np.floor(counts * 255 / most + 0.5)) and picture.pixels.max() == 255
    return counts


def test_density(custom, written):
    for frame in custom:
        picture = decode_png((written.folder / f"density.{frame.step}.png").read_bytes())
        assert picture.pixels.shape == (16, 16)
        assert f"step {frame.step}: {COUNT} particles" in picture.text
        counts = counts_of(picture)
        assert counts.sum() == COUNT
        pixel = np.floor(frame.columns("x", "y") * (16 / frame.bounds[0][1])).astype(int)
        expected = np.zeros((16, 16), dtype=int)
        np.add.at(expected, (15 - pixel[:, 1], pixel[:, 0]), 1)
        assert np.array_equal(counts, expected)


def test_density_along_x_by_logarithm(custom, written):
    """Without * the picture is the last frame's; y to the right, z upwards."""
    picture = decode_png((written.folder / "side.png").read_bytes())
    pixel = np.floor(custom[-1].columns("y", "z") * (12 / custom[-1].bounds[0][1])).astype(int)
    expected = np.zeros((12, 12))
    np.add.at(expected, (11 - pixel[:, 1], pixel[:, 0]), 1)
    assert np.array_equal(picture.pixels, np.floor(255 * np.log1p(expected) / np.log1p(expected.max()) + 0.5))
    assert "step 20" in picture.text and "log" in picture.text


def test_gzip_is_one_member_whatever_the_threads(tmp_path):
    """What OVITO and others read to its end; and the same bytes."""
    deck = ("dimension 2\nregion b block 0 90 0 90 -0.5 0.5\ncreate_box 1 b\nmass 1 1\n"
            "create_atoms 1 random 30000 3 NULL\n"
            "fix 1 all nve\nvelocity all create 1 1\ndump a all custom 1 f.gz id type x y z\nrun 2\nundump a\n"
            "dump b all custom 1 f.gz id type x y z\ndump_modify b append yes\nrun 2\n")
    found = set()
    for threads in (1, 3):
        works(run_deck(tmp_path, deck, "--threads", str(threads)))
        found.add((tmp_path / "f.gz").read_bytes())
    (data,) = found
    member = zlib.decompressobj(31)
    text = member.decompress(data)
    assert member.eof and not member.unused_data
    assert text == gzip.decompress(data) and text.count(b"ITEM: TIMESTEP") == 6


@pytest.mark.parametrize("reader", ["ovito.io", "ase.io", "MDAnalysis"])
def test_other_programs_read_a_plane_in_gzip(reader, tmp_path):
    module = pytest.importorskip(reader)
    deck = (harness.INPUTS / "in.repulsive").read_text()
    works(run_deck(tmp_path, deck, "-var", "n", "900", "-var", "steps", "10", "-var", "out", "."))
    path = str(tmp_path / "final.dump.gz")
    if reader == "ovito.io":
        source = module.import_file(path)
        counts = [source.compute(k).particles.count for k in range(source.source.num_frames)]
    elif reader == "ase.io":
        counts = [len(frame) for frame in module.read(path, index=":", format="lammps-dump-text")]
    else:
        universe = module.Universe(path, format="LAMMPSDUMP", topology_format="LAMMPSDUMP")
        counts = [len(frame.positions) for frame in universe.trajectory]
    assert counts == [900, 900]


def places_of(part, whole):
    """Where in a picture a part of it begins.  Most places drop out by the first and the last row alone."""
    height, width = part.shape[:2]
    found = []
    for y in range(whole.shape[0] - height + 1):
        for x in range(whole.shape[1] - width + 1):
            window = whole[y:y + height, x:x + width]
            if all((window[row] == part[row]).all() for row in (0, -1)) and (window == part).all():
                found.append((y, x))
    return np.array(found)


def test_furniture_stands_around_the_same_pixels(written):
    """The map's colours, bin by bin, each a square of pixels, on white paper with black letters."""
    bare = decode_png((written.folder / "density.20.png").read_bytes())
    around = decode_colours((written.folder / "furnished.png").read_bytes())
    side = 540 // max(bare.pixels.shape)
    assert side > 1
    colours = bare.palette[bare.pixels].repeat(side, axis=0).repeat(side, axis=1)
    (place,) = places_of(colours, around)
    assert (place > 0).all() and (around[[0, -1]] == 255).all() and (around[:, [0, -1]] == 255).all()
    assert (around == 0).all(axis=2).sum() > 100


def test_density_of_single_particles(fast_engine, tmp_path):
    """Known pixels in a box that is no square; y points up."""
    deck = "dimension 2\nregion b block -2 6 0 4 -0.5 0.5\ncreate_box 1 b\nmass 1 1\n"
    for x, y in ((-2, 0), (5.5, 3.5), (5.5, 3.5), (1.5, 2.5)):
        deck += f"create_atoms 1 single {x} {y} 0\n"
    works(run_deck(tmp_path, deck + "dump a all density 1 f.png 8\ndump_modify a furniture no\nrun 0\n",
                   *harness.engine_words(fast_engine)))
    picture = decode_png((tmp_path / "f.png").read_bytes())
    expected = np.zeros((4, 8), dtype=int)
    expected[3, 0], expected[0, 7], expected[1, 3] = 1, 2, 1
    assert np.array_equal(counts_of(picture), expected)
    # Dark where there is nothing, bright where there is most, and brighter at each level between.
    luminance = picture.palette @ [0.2126, 0.7152, 0.0722]
    assert len(picture.palette) == 256 and (np.diff(luminance) > -1.0).all() and luminance[255] - luminance[0] > 150


# ---------------------------------------------------------------- the thermo table and the log


def test_thermo_one(tmp_path):
    works(run_deck(tmp_path, MIXTURE + "thermo 10\nrun 25\n", "-log", "log"))
    lines = (tmp_path / "log").read_text().splitlines()
    at = lines.index("Step Temp E_pair E_mol TotEng Press ")
    assert [int(line[:8]) for line in lines[at + 1:at + 5]] == [0, 10, 20, 25]
    assert lines[at + 5].startswith("Loop time of ")
    for line in lines[at + 1:at + 5]:
        step, *values = line.split()
        assert line == f"{int(step):8d} " + "".join(f"{float(value):12.8g} " for value in values)


KEYWORDS = {
    "step": "Step", "elapsed": "Elapsed", "elaplong": "Elaplong", "dt": "Dt", "time": "Time", "cpu": "CPU",
    "tpcpu": "T/CPU", "spcpu": "S/CPU", "cpuremain": "CPULeft", "part": "Part", "timeremain": "TimeoutLeft",
    "atoms": "Atoms", "temp": "Temp", "press": "Press", "pe": "PotEng", "ke": "KinEng", "etotal": "TotEng",
    "evdwl": "E_vdwl", "ecoul": "E_coul", "epair": "E_pair", "ebond": "E_bond", "eangle": "E_angle",
    "edihed": "E_dihed", "eimp": "E_impro", "emol": "E_mol", "elong": "E_long", "etail": "E_tail",
    "enthalpy": "Enthalpy", "ecouple": "Ecouple", "econserve": "Econserve", "vol": "Volume", "density": "Density",
    "lx": "Lx", "ly": "Ly", "lz": "Lz", "xlo": "Xlo", "xhi": "Xhi", "ylo": "Ylo", "yhi": "Yhi", "zlo": "Zlo",
    "zhi": "Zhi", "nbuild": "Nbuild", "ndanger": "Ndanger", "momx": "Momx", "momy": "Momy", "momz": "Momz",
}


def test_thermo_keywords(tmp_path):
    style = f"thermo_style custom {' '.join(KEYWORDS)}\nthermo_modify format float %.17g"
    deck = MIXTURE + f"reset_timestep 30\n{style}\nthermo 10\ndump a all custom 10 f id mass vx vy vz\n"
    deck += "neighbor 0 bin\nrun 20\nvariable n equal nbuild\nprint 'builds $n'\n"
    log = works(run_deck(tmp_path, deck, "-log", "log")).out
    rows = log_table((tmp_path / "log").read_text())
    builds = [int(row["Nbuild"]) for row in rows]
    assert builds == sorted(builds) and builds[0] < builds[2] and f"builds {builds[2]}" in log.splitlines()
    frames = parse_custom((tmp_path / "f").read_text())
    assert list(rows[0]) == list(KEYWORDS.values()) and len(rows) == len(frames) == 3
    for row, frame in zip(rows, frames):
        value = {keyword: float(row[title]) for keyword, title in KEYWORDS.items()}
        near = lambda keyword, expected: value[keyword] == pytest.approx(expected, rel=1e-12, abs=1e-11)
        mass, v = frame.column("mass"), frame.columns("vx", "vy", "vz")
        kinetic = 0.5 * np.sum(mass * np.sum(v * v, axis=1))
        assert value["step"] == frame.step and value["elapsed"] == value["elaplong"] == frame.step - 30
        assert value["dt"] == 0.004 and value["time"] == frame.step * 0.004 and value["atoms"] == COUNT
        assert near("ke", kinetic / COUNT) and near("temp", 2 * kinetic / (3 * COUNT - 3))
        assert -8.0 < value["pe"] < -4.0 and value["evdwl"] == value["epair"] == value["pe"]
        assert near("etotal", value["pe"] + value["ke"]) and value["econserve"] == value["etotal"]
        assert near("vol", SIDE ** 3) and near("density", mass.sum() / SIDE ** 3)
        assert near("enthalpy", value["etotal"] + value["press"] * value["vol"] / COUNT)
        for d, axis in enumerate("xyz"):
            assert value[f"{axis}lo"] == 0 and value[f"{axis}hi"] == value[f"l{axis}"] and near(f"l{axis}", SIDE)
            assert near(f"mom{axis}", np.sum(mass * v[:, d]))
        for keyword in ("ecoul", "ebond", "eangle", "edihed", "eimp", "emol", "elong", "etail", "ecouple", "part",
                        "ndanger"):
            assert value[keyword] == 0
        assert value["cpu"] >= 0 and value["cpuremain"] >= 0
    assert len({row["Momx"] for row in rows}) == 1  # never a bit


def test_thermo_modify(tmp_path):
    def row(modify: str) -> List[str]:
        works(run_deck(tmp_path, MIXTURE + f"thermo_style custom step atoms pe temp vol\n{modify}run 0\n",
                       "-log", "log"))
        return list(log_table((tmp_path / "log").read_text())[0].values())

    step, atoms, pe, temp, volume = row("thermo_modify format float %.17g\n")
    assert (step, atoms) == ("0", "256") and float(temp) == pytest.approx(1.4)
    assert row("thermo_modify format float %.3f\n")[2:] == [f"{float(n):.3f}" for n in (pe, temp, volume)]
    assert row("thermo_modify format int %05d\n")[:2] == ["00000", "00256"]
    assert row("thermo_modify format 4 %.2e\n")[3] == f"{float(temp):.2e}"
    assert row('thermo_modify format line "%d %d %.1f %.2f %.3f"\n')[2:] == [
        f"{float(pe):.1f}", f"{float(temp):.2f}", f"{float(volume):.3f}"]
    total = float(row("thermo_modify norm no format float %.17g\n")[2])
    assert total == pytest.approx(COUNT * float(pe), rel=1e-14) and total != float(pe)
    assert row("thermo_modify format float %.3f format none\n")[3] == f"{float(temp):.8g}"


def test_log_ends_as_lammps_logs_do(tmp_path):
    works(run_deck(tmp_path, MIXTURE + "run 50\n", "--threads", "2", "-log", "log"))
    log = (tmp_path / "log").read_text()
    memory = re.search(r"^Per MPI rank memory allocation \(min/avg/max\) = (\S+) \| (\S+) \| (\S+) Mbytes$", log, re.M)
    assert memory and 0.0 < float(memory[1]) == float(memory[2]) == float(memory[3])
    loop = re.search(r"^Loop time of (\S+) on (\d+) procs for (\d+) steps with (\d+) atoms$", log, re.M)
    assert loop and loop.groups()[1:] == ("2", "50", str(COUNT))
    rate = re.search(r"^Performance: (\S+) tau/day, (\S+) timesteps/s, (\S+) Matom-step/s$", log, re.M)
    assert rate and loop.end() < rate.start()
    per_second = 50 / float(loop[1])
    assert float(rate[2]) == pytest.approx(per_second, rel=1e-4, abs=1e-3)
    assert float(rate[1]) == pytest.approx(per_second * 86400 * 0.004, rel=1e-4)
    assert float(rate[3]) == pytest.approx(per_second * COUNT * 1e-6, rel=1e-3, abs=2e-3)
    assert re.search(r"^\S+% CPU use with 1 MPI tasks x 2 OpenMP threads$", log, re.M)
    sections = re.findall(r"^(\w+) +\| (\S+) +\| +(\S+)$", log[rate.end():], re.M)
    assert [name for name, _, _ in sections] == ["Bin", "Sort", "List", "Force", "Move", "Comm", "Output", "Other"]
    assert "halo" not in log
    assert sum(float(seconds) for _, seconds, _ in sections) == pytest.approx(float(loop[1]), rel=1e-3, abs=1e-5)
    assert re.search(r"\nTotal wall time: \d+:\d\d:\d\d\n\Z", log)


def test_phases_are_those_of_the_loop_alone(tmp_path):
    """Bringing the particles back after a run rebins the list. After a single step the rebin would be a large part of
    the time."""
    got = harness.run(harness.deck_with(harness.deck("in.melt"), "run 1\n"), tmp_path, variables={"cells": 8})
    assert sum(got.phases.values()) == pytest.approx(got.loops[-1].seconds, rel=1e-3)


@pytest.mark.gpu
def test_log_of_a_gpu_run(tmp_path):
    """The closing lines that benchmarks read, and with `profile yes` the table of kernels."""
    got = harness.run(MIXTURE + "run 50\nrun 100\n", tmp_path, engine="gpu", package={"profile": "yes"})
    assert "\nEngine: gpu, " in got.log
    assert [(loop.steps, loop.particles) for loop in got.loops] == [(50, COUNT), (100, COUNT)]
    assert list(got.phases) == ["Bin", "Sort", "List", "Force", "Move", "Comm", "Output", "Other"]
    assert got.bytes_per_particle > 42
    assert got.report(r"(?m)^Rebins: \d+, one in (\S+) steps") >= 1.0
    assert got.kernels and all(kernel.calls > 0 and kernel.milliseconds > 0 for kernel in got.kernels)
    assert sum(kernel.share for kernel in got.kernels) == pytest.approx(100, abs=1)
    assert got.copy_bandwidth > 10
