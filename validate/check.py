#!/usr/bin/env python3
"""Compare two particle dumps frame by frame, particle by particle, by id.

Every engine of Myriad is proven identical to the naive one with this program,
so it answers one question without a margin: do the two files hold the same
numbers?  `check.py --help` lists formats, options and exit codes.

Algorithm
    Both files are read as streams.  Each frame is taken CHUNK_ROWS rows at a
    time from both files.  While the two files list their ids in the same order
    the chunks are compared row by row and dropped.  At the first chunk whose
    ids disagree, the rest of B's frame is held in compact arrays sorted by id
    (argsort), and the rest of A's frame is streamed through it (searchsorted).

    A chunk of text becomes numbers in one call of numpy.fromstring, whose
    conversion is correctly rounded: 17 digits give back the double they came
    from.  It ignores where lines end, so the columns of every row are counted
    separately.  Integers pass through the same conversion, which is exact below
    2^53; a chunk with a larger one has that column read again as integers.
    Where the two chunks hold the same bytes, only one of them is converted.

Memory
    Same order: two chunks, about 100 MB at 8 columns of 17 digits, and one byte
    per particle to notice an id that appears twice (eight bytes for ids outside
    0..n).  Different order: also 8 bytes per particle for the id and for each
    shared field of the rest of one frame of B, and about 18 more while it is
    sorted.  Nothing grows with the number of frames, except 16 bytes a frame
    for --mean-distance.

Trade-offs
    Converting text bounds the speed: about 4 million values a second, 75 % of
    it in the conversion, on one core.  Frames are paired by their place in the
    file, not by step, since a missing frame is a difference anyway.  The
    reading goes on after the first difference, because the size of the largest
    one tells a rounding error from a wrong force.
"""

from __future__ import annotations

import argparse
import gzip
import math
import os
import re
import sys
import warnings
import zlib
from contextlib import closing
from dataclasses import dataclass, field
from typing import IO, Callable, Dict, List, Optional, Sequence, Tuple, Union, cast

try:
    import numpy as np
except ImportError:
    print(f"check.py: {sys.executable} has no numpy: install it (pip install numpy), or run "
          "check.py with a Python that has it", file=sys.stderr)
    sys.exit(2)

SAME, DIFFERENT, UNREADABLE = 0, 1, 2

CHUNK_ROWS = 1 << 16
READ_BYTES = 1 << 20
EXACT_IN_DOUBLE = 2.0**53
AXES = ("x", "y", "z")
SCALED = {"xs": 0, "ys": 1, "zs": 2}

HELP_TEXT = """\
formats, recognised by content, gzipped or not, A and B independently:
  LAMMPS    `dump custom` or `dump atom` text: ITEM: TIMESTEP, NUMBER OF ATOMS,
            BOX BOUNDS, ATOMS (with an id column), optionally UNITS and TIME;
            boxes may be tilted (BOX BOUNDS xy xz yz)
  ext. XYZ  count, comment with Lattice="..." Properties=species:S:1:pos:R:3:...
            [pbc="T T F"] [Origin="..."] [Time=...] [Step=...], rows; pos is
            read as x y z, velo, vel or velocities as vx vy vz, force or forces
            as fx fy fz, species as element; without an id column the ids are
            the row numbers from 1
  frames    `n size` once, then n lines `x y`, or `x y z`, per frame; blank
            lines between frames are skipped; ids are the row numbers from 1; the
            box is [0, size] along each axis and not periodic

what is compared:
  Frames are numbered from 0 and paired by their place in the file.  Compared
  are the columns that both files have (or --fields), the set of ids, and what
  both files state of step, time, units, number of particles, box bounds and
  boundaries, and the number of frames.  Where an XYZ file gives no Origin the
  lengths of the box are compared, not its bounds.  Scaled coordinates xs ys zs
  are unscaled with the box if the other file has only x y z; this rounds, so
  use --tol.

  By default numbers must be identical as doubles: 1 equals 1.0 and -0 equals 0,
  a NaN equals nothing.  Integer columns (id, type, mol, ix, ...) are always
  compared exactly, as 64-bit integers; element and other words as text.

exit status:
  0  same (or all --mean-distance limits met)
  1  different (or a limit not met)
  2  not comparable: missing file, truncated or malformed text (the message
     names file and line), no shared fields, wrong usage
"""


class Unreadable(Exception):
    """The comparison cannot be made; the message says why and where."""


# ---------------------------------------------------------------------------
# Text: lines out of a plain or gzipped file
# ---------------------------------------------------------------------------


class TextSource:
    """A file as a stream of numbered lines, gunzipped when it is gzipped."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.line_number = 0  # of the line taken last, from 1
        self._buffer = b""
        self._start = 0
        try:
            self._file = open(path, "rb")
            self._stream: IO[bytes] = self._file
            if self._file.peek(2)[:2] == b"\x1f\x8b":
                self._stream = cast(IO[bytes], gzip.GzipFile(fileobj=self._file))
        except OSError as error:
            raise Unreadable(f"{path}: {error.strerror or error}") from None

    def close(self) -> None:
        self._file.close()

    def error(self, message: str, line: Optional[int] = None) -> Unreadable:
        """An Unreadable naming this file and `line`, by default the last one taken."""
        return Unreadable(f"{self.path}:{self.line_number if line is None else line}: {message}")

    def peek_line(self) -> Optional[bytes]:
        """The next line without its newline, left in place; None at the end."""
        end = self._line_end()
        return self._buffer[self._start : end].rstrip(b"\r\n") if end > self._start else None

    def take_line(self) -> Optional[bytes]:
        line = self.peek_line()
        if line is not None:
            self._start = self._line_end()
            self.line_number += 1
        return line

    def skip_blank_lines(self) -> None:
        line = self.peek_line()
        while line is not None and not line.strip():
            self.take_line()
            line = self.peek_line()

    def take_lines(self, count: int) -> Tuple[bytes, int]:
        """Up to `count` whole lines, each ended by a newline, and how many they are."""
        pieces: List[bytes] = []
        missing = count
        while missing > 0 and (self._start < len(self._buffer) or self._fill()):
            # A window, because a frame of 30 rows must not scan the whole buffer.
            window = self._buffer[self._start : self._start + 4096 + 256 * missing]
            found = window.count(b"\n")
            if found >= missing:
                newlines = np.flatnonzero(np.frombuffer(window, np.uint8) == 10)
                window = window[: int(newlines[missing - 1]) + 1]
                found = missing
            pieces.append(window)
            self._start += len(window)
            missing -= found
        if missing > 0 and pieces and not pieces[-1].endswith(b"\n"):
            pieces.append(b"\n")
            missing -= 1
        self.line_number += count - missing
        return b"".join(pieces), count - missing

    def _line_end(self) -> int:
        """Offset just after the next line; self._start when there is none."""
        while True:
            newline = self._buffer.find(b"\n", self._start)
            if newline >= 0:
                return newline + 1
            if not self._fill():
                return len(self._buffer)

    def _fill(self) -> bool:
        try:
            data = self._stream.read(READ_BYTES)
        except EOFError:
            raise self.error("the gzip stream is truncated", self.line_number + 1) from None
        except (OSError, zlib.error) as error:
            raise self.error(f"cannot be read: {error}", self.line_number + 1) from None
        # Binary files may have no newline at all; do not take them in whole.
        if len(data) == READ_BYTES and b"\n" not in data:
            raise self.error(f"a line longer than {READ_BYTES} bytes: not a dump",
                             self.line_number + 1)
        self._buffer = self._buffer[self._start :] + data
        self._start = 0
        return bool(data)


def shown(text: bytes) -> str:
    """A piece of the file for a message: one line, printable and short."""
    word = text.decode("utf-8", "replace")
    return repr(word if len(word) <= 60 else word[:57] + "...")


def to_int(source: TextSource, word: bytes, what: str) -> int:
    if not re.fullmatch(rb"[+-]?\d{1,19}", word) or not -(2**63) <= int(word) < 2**63:
        raise source.error(f"expected {what}, a 64-bit integer, found {shown(word)}")
    return int(word)


def to_count(source: TextSource, word: bytes, what: str) -> int:
    count = to_int(source, word, what)
    if count < 0:
        raise source.error(f"expected {what}, found {count}")
    return count


def to_float(source: TextSource, word: bytes, what: str) -> float:
    try:
        number = float(word) if b"_" not in word else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise source.error(f"expected {what}, a finite number, found {shown(word)}")
    return number


# ---------------------------------------------------------------------------
# Frames: header, and rows on demand
# ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Box:
    """Bounds per axis (2 or 3 axes)."""

    lo: Tuple[float, ...]
    hi: Tuple[float, ...]
    lo_stated: bool  # False: only the lengths were given, lo is 0
    boundary: Optional[Tuple[str, ...]]  # LAMMPS flags such as "pp"; None: not stated
    periodic_by_default: bool
    tilt: Tuple[float, float, float] = (0.0, 0.0, 0.0)  # xy, xz, yz

    def periodic(self, axis: int) -> bool:
        if axis >= len(self.lo):
            return False
        if self.boundary is None:
            return self.periodic_by_default
        return self.boundary[axis] == "pp"

    def length(self, axis: int) -> float:
        return self.hi[axis] - self.lo[axis]


@dataclass(frozen=True)
class Column:
    name: str
    kind: str  # "int", "float" or "text"


@dataclass(frozen=True)
class RowText:
    """Consecutive rows of a frame, still text."""

    text: bytes
    rows: int
    first_row: int  # within the frame, from 0
    first_line: int
    columns: Tuple[Column, ...]
    source: TextSource


@dataclass
class Frame:
    """One frame's header; its rows are taken in order, before the next frame is asked for."""

    source: TextSource
    index: int
    particles: int
    columns: Tuple[Column, ...]
    box: Optional[Box] = None
    step: Optional[int] = None
    time: Optional[float] = None
    units: Optional[str] = None
    format: str = ""
    taken: int = 0

    @property
    def left(self) -> int:
        return self.particles - self.taken

    def names(self) -> List[str]:
        return [column.name for column in self.columns]

    def kind(self, name: str) -> str:
        return next(column.kind for column in self.columns if column.name == name)

    def take(self, rows: int) -> RowText:
        first_line = self.source.line_number + 1
        text, found = self.source.take_lines(rows)
        if found < rows:
            raise self.source.error(f"the file ends in frame {self.index} after "
                                    f"{self.taken + found} of {self.particles} particles")
        chunk = RowText(text, rows, self.taken, first_line, self.columns, self.source)
        self.taken += rows
        return chunk


class Reader:
    """Yields the frames of one file, None at the end."""

    format = ""

    def __init__(self, source: TextSource) -> None:
        self.source = source
        self.frames = 0

    def next_frame(self) -> Optional[Frame]:
        self.source.skip_blank_lines()
        if self.source.peek_line() is None:
            if self.frames == 0:
                raise self.source.error("the file holds no frame")
            return None
        frame = self.read_header()
        frame.format = self.format
        self.frames += 1
        return frame

    def close(self) -> None:
        self.source.close()

    def read_header(self) -> Frame:
        raise NotImplementedError

    def expect_line(self, what: str) -> bytes:
        line = self.source.take_line()
        if line is None:
            raise self.source.error(f"the file ends in the header of frame {self.frames}, "
                                    f"where {what} is expected")
        return line

    def check_names(self, columns: Sequence[Column]) -> Tuple[Column, ...]:
        names = [column.name for column in columns]
        for name in names:
            if names.count(name) > 1:
                raise self.source.error(f"column {name} appears twice")
        return tuple(columns)


class LammpsReader(Reader):
    """LAMMPS `dump custom` and `dump atom` text."""

    format = "LAMMPS"
    INTEGERS = {"id", "type", "mol", "proc", "procp1", "ix", "iy", "iz"}
    WORDS = {"element", "typelabel"}

    def read_header(self) -> Frame:
        frame = Frame(self.source, self.frames, -1, ())
        while True:
            item = self.expect_line("an ITEM: line").decode("utf-8", "replace").strip()
            if item == "ITEM: TIMESTEP":
                frame.step = to_int(self.source, self.expect_line("a step").strip(), "a step")
            elif item == "ITEM: TIME":
                frame.time = to_float(self.source, self.expect_line("a time").strip(), "a time")
            elif item == "ITEM: UNITS":
                frame.units = self.expect_line("units").decode("utf-8", "replace").strip()
            elif item == "ITEM: NUMBER OF ATOMS":
                word = self.expect_line("a number of atoms").strip()
                frame.particles = to_count(self.source, word, "a number of atoms")
            elif item.startswith("ITEM: BOX BOUNDS"):
                frame.box = self.read_box(item.split()[3:])
            elif item.startswith("ITEM: ATOMS"):
                frame.columns = self.read_columns(item.split()[2:])
                break
            else:
                raise self.source.error("expected ITEM: TIMESTEP, TIME, UNITS, NUMBER OF ATOMS, "
                                        f"BOX BOUNDS or ATOMS, found {shown(item.encode())}")
        for name, present in (("TIMESTEP", frame.step is not None),
                              ("NUMBER OF ATOMS", frame.particles >= 0),
                              ("BOX BOUNDS", frame.box is not None)):
            if not present:
                raise self.source.error(f"frame {self.frames} has no ITEM: {name}")
        return frame

    def read_box(self, flags: List[str]) -> Box:
        if "abc" in flags:
            raise self.source.error("general triclinic boxes are not supported")
        tilted = flags[:3] == ["xy", "xz", "yz"]
        if tilted:
            flags = flags[3:]
        if flags and (len(flags) != 3 or not all(re.fullmatch("[pfsm]{2}", f) for f in flags)):
            raise self.source.error("expected boundaries such as `pp pp pp`, "
                                    f"found {shown(' '.join(flags).encode())}")
        bounds = []
        tilt = [0.0, 0.0, 0.0]
        for axis in AXES:
            words = self.expect_line(f"the bounds of {axis}").split()
            if len(words) != 2 + tilted:
                raise self.source.error(f"expected `lo hi{' tilt' * tilted}` of {axis}, "
                                        f"found {len(words)} numbers")
            lo, hi = (to_float(self.source, word, "a box bound") for word in words[:2])
            if tilted:
                tilt[AXES.index(axis)] = to_float(self.source, words[2], "a tilt factor")
            if hi < lo:
                raise self.source.error(f"the upper bound of {axis} is below the lower one")
            bounds.append((lo, hi))
        los, his = zip(*bounds)
        return Box(los, his, True, tuple(flags) or None, False, (tilt[0], tilt[1], tilt[2]))

    def read_columns(self, names: List[str]) -> Tuple[Column, ...]:
        if "id" not in names:
            raise self.source.error("no id column: particles cannot be matched")
        return self.check_names([Column(name, self.kind(name)) for name in names])

    def kind(self, name: str) -> str:
        return "int" if name in self.INTEGERS else "text" if name in self.WORDS else "float"


class XyzReader(Reader):
    """Extended XYZ."""

    format = "extended XYZ"
    PAIR = re.compile(r'([A-Za-z_][\w.-]*)\s*=\s*("[^"]*"|\{[^}]*\}|\[[^\]]*\]|[^\s"]\S*)')
    VECTORS = {"pos": "", "velo": "v", "vel": "v", "velocity": "v", "velocities": "v",
               "force": "f", "forces": "f"}
    KINDS = {"S": "text", "L": "text", "I": "int", "R": "float"}

    def read_header(self) -> Frame:
        word = self.expect_line("a number of particles").strip()
        particles = to_count(self.source, word, "a number of particles")
        comment = self.expect_line("a comment").decode("utf-8", "replace")
        values = {key.lower(): value.strip('"{}[]').replace(",", " ")
                  for key, value in self.PAIR.findall(comment)}
        frame = Frame(self.source, self.frames, particles, self.read_columns(values),
                      self.read_box(values))
        step = values.get("step", values.get("timestep"))
        if step is not None:
            frame.step = to_int(self.source, step.encode(), "Step")
        if "time" in values:
            frame.time = to_float(self.source, values["time"].encode(), "Time")
        if "units" in values:
            frame.units = values["units"]
        return frame

    def numbers(self, values: Dict[str, str], key: str, count: int) -> List[float]:
        words = values[key].split()
        if len(words) != count:
            raise self.source.error(f"expected {count} numbers in {key}, found {len(words)}")
        return [to_float(self.source, word.encode(), key) for word in words]

    def read_box(self, values: Dict[str, str]) -> Optional[Box]:
        if "lattice" not in values:
            return None
        lattice = self.numbers(values, "lattice", 9)
        if any(lattice[i] != 0.0 for i in (1, 2, 5)):
            raise self.source.error("general triclinic boxes are not supported: "
                                    "Lattice must be 0 above its diagonal")
        lengths = lattice[::4]
        if min(lengths) < 0.0:
            raise self.source.error("Lattice has a negative length")
        origin = self.numbers(values, "origin", 3) if "origin" in values else [0.0, 0.0, 0.0]
        boundary: Optional[Tuple[str, ...]] = None
        if "pbc" in values:
            words = values["pbc"].split()
            if len(words) != 3 or not all(w.lower() in ("t", "f", "true", "false", "1", "0")
                                          for w in words):
                raise self.source.error('expected pbc such as "T T F"')
            boundary = tuple("pp" if w.lower() in ("t", "true", "1") else "ff" for w in words)
        his = tuple(lo + length for lo, length in zip(origin, lengths))
        tilt = (lattice[3], lattice[6], lattice[7])
        return Box(tuple(origin), his, "origin" in values, boundary, True, tilt)

    def read_columns(self, values: Dict[str, str]) -> Tuple[Column, ...]:
        words = values.get("properties", "species:S:1:pos:R:3").split(":")
        columns: List[Column] = []
        if len(words) % 3:
            raise self.source.error("Properties must be triples name:kind:count")
        for name, letter, count in zip(words[::3], words[1::3], words[2::3]):
            if not name or letter not in self.KINDS or not re.fullmatch(r"[1-9]\d{0,2}", count):
                raise self.source.error("expected a property such as pos:R:3, "
                                        f"found {shown(f'{name}:{letter}:{count}'.encode())}")
            kind = "int" if name == "id" else self.KINDS[letter]
            columns += [Column(part, kind) for part in self.parts(name, int(count))]
        return self.check_names(columns)

    def parts(self, name: str, count: int) -> List[str]:
        if name in self.VECTORS and count in (2, 3):
            return [self.VECTORS[name] + axis for axis in AXES[:count]]
        if count == 1:
            return ["element" if name == "species" else name]
        return [f"{name}_{k + 1}" for k in range(count)]


class FramesReader(Reader):
    """`n size` once, then n lines `x y`, or `x y z`, for every frame."""

    format = "frames"

    def __init__(self, source: TextSource) -> None:
        super().__init__(source)
        source.skip_blank_lines()
        words = (source.take_line() or b"").split()
        self.particles = to_int(source, words[0], "a number of particles")
        if self.particles < 1:
            raise source.error("expected at least one particle")
        size = to_float(source, words[1], "a box size")
        if size <= 0.0:
            raise source.error("the box size must be positive")
        source.skip_blank_lines()
        dim = 3 if len((source.peek_line() or b"").split()) == 3 else 2
        self.box = Box((0.0,) * dim, (size,) * dim, True, ("ff",) * dim, False)
        self.columns = tuple(Column(axis, "float") for axis in AXES[:dim])

    def read_header(self) -> Frame:
        return Frame(self.source, self.frames, self.particles, self.columns, self.box)


def open_dump(path: str) -> Reader:
    """The reader of a file, to be closed by the caller."""
    source = TextSource(path)
    try:
        return recognise(source)
    except BaseException:
        source.close()
        raise


def recognise(source: TextSource) -> Reader:
    """The reader of the format that the first line of the file shows."""
    source.skip_blank_lines()
    line = source.peek_line()
    if line is None:
        raise source.error("the file is empty", 1)
    if line.startswith(b"ITEM:"):
        return LammpsReader(source)
    if re.fullmatch(rb"\s*\d+\s*", line):
        return XyzReader(source)
    if re.fullmatch(rb"\s*[+-]?\d+\s+[-+.\w]+\s*", line):
        return FramesReader(source)
    raise source.error("expected a LAMMPS dump (ITEM: ...), extended XYZ (a count) or frames "
                       f"(`n size`), found {shown(line)}", source.line_number + 1)


# ---------------------------------------------------------------------------
# Rows: text to arrays
# ---------------------------------------------------------------------------

Arrays = Dict[str, np.ndarray]


class Words:
    """Numbers for words, so that text columns are compared and held as integers."""

    def __init__(self) -> None:
        self._code: Dict[bytes, int] = {}
        self._word: List[bytes] = []

    def encode(self, words: Sequence[bytes]) -> np.ndarray:
        for word in set(words).difference(self._code):
            self._code[word] = len(self._word)
            self._word.append(word)
        return np.fromiter(map(self._code.__getitem__, words), np.int64, len(words))

    def decode(self, code: int) -> str:
        return self._word[code].decode("utf-8", "replace")


def parse_numbers(text: bytes) -> Optional[np.ndarray]:
    """All numbers of a text, correctly rounded; None if anything in it is not a number."""
    with warnings.catch_warnings():
        # Where numpy does not raise yet, it warns and returns what it has read so far.
        warnings.simplefilter("error")
        try:
            return np.fromstring(text, dtype=np.float64, sep=" ")
        except (ValueError, DeprecationWarning):
            return None


def rows_have(text: bytes, rows: int, columns: int) -> bool:
    """Whether each of the `rows` lines has `columns` words."""
    byte = np.frombuffer(text, np.uint8)
    inside = byte > 32
    starts = inside.copy()
    np.greater(inside[1:], inside[:-1], out=starts[1:])
    word = np.flatnonzero(starts)
    if word.size != rows * columns:
        return False
    newline = np.flatnonzero(byte == 10)
    return bool((word[columns - 1 :: columns] < newline).all()
                and (word[columns::columns] > newline[:-1]).all())


def bad_row(chunk: RowText) -> Unreadable:
    """The error that names the first malformed row of a chunk."""
    for k, line in enumerate(chunk.text.split(b"\n")[: chunk.rows]):
        words = line.split()
        number = chunk.first_line + k
        if line.startswith(b"ITEM:"):
            return chunk.source.error(
                f"the frame ends after {chunk.first_row + k} particles, before its announced "
                f"number: found {shown(line)}", number)
        if len(words) != len(chunk.columns):
            return chunk.source.error(
                f"expected {len(chunk.columns)} columns "
                f"({' '.join(c.name for c in chunk.columns)}), found {len(words)}", number)
        for word, column in zip(words, chunk.columns):
            if column.kind != "text":
                value = parse_numbers(word)
                if value is None or value.size != 1:
                    return chunk.source.error(
                        f"{column.name}: {shown(word)} is not a number", number)
    return chunk.source.error("cannot be read as rows of numbers", chunk.first_line)


def to_integers(chunk: RowText, c: int, values: np.ndarray) -> np.ndarray:
    """Column c as int64, from its doubles if these are exact, else from the text."""
    whole = np.isfinite(values) & (values == np.rint(values))
    if whole.all() and (np.abs(values) < EXACT_IN_DOUBLE).all():
        return values.astype(np.int64)
    integers = np.empty(chunk.rows, np.int64)
    for k, word in enumerate(chunk.text.split()[c :: len(chunk.columns)]):
        try:
            integers[k] = int(word)
        except (ValueError, OverflowError):
            raise chunk.source.error(f"{chunk.columns[c].name}: {shown(word)} is not a 64-bit "
                                     "integer", chunk.first_line + k) from None
    return integers


def parse_rows(chunk: RowText, words: Words) -> Arrays:
    """The columns of a chunk: int64 (also for text, coded by `words`) or float64."""
    columns, text = chunk.columns, chunk.text
    if not rows_have(text, chunk.rows, len(columns)):
        raise bad_row(chunk)
    arrays: Arrays = {}
    if any(column.kind == "text" for column in columns):
        tokens = text.split()
        if len(tokens) != chunk.rows * len(columns):
            raise bad_row(chunk)
        for c, column in enumerate(columns):
            if column.kind == "text":
                arrays[column.name] = words.encode(tokens[c :: len(columns)])
                tokens[c :: len(columns)] = [b"0"] * chunk.rows
        text = b" ".join(tokens)
    numbers = parse_numbers(text)
    if numbers is None or numbers.size != chunk.rows * len(columns):
        raise bad_row(chunk)
    table = numbers.reshape(chunk.rows, len(columns))
    for c, column in enumerate(columns):
        if column.kind == "int":
            arrays[column.name] = to_integers(chunk, c, table[:, c])
        elif column.kind == "float":
            arrays[column.name] = table[:, c]
    if "id" not in arrays:
        arrays["id"] = np.arange(chunk.first_row + 1, chunk.first_row + chunk.rows + 1,
                                 dtype=np.int64)
    return arrays


# ---------------------------------------------------------------------------
# Fields: what of frame A is compared with what of frame B
# ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Field:
    """One compared quantity: its column in A and in B, and the period of its difference."""

    name: str
    kind: str
    columns: Tuple[str, str]  # in A and B; a scaled column is unscaled
    period: float  # 0: not periodic


@dataclass(frozen=True)
class Pair:
    """Two frames with the same place in their files, and the fields they share."""

    a: Frame
    b: Frame
    fields: Tuple[Field, ...]

    def where(self) -> str:
        step = self.a.step if self.a.step is not None else self.b.step
        return f"frame {self.a.index}" + ("" if step is None else f" step {step}")

    def select(self, side: int, arrays: Arrays) -> Arrays:
        """The compared fields of one side (0: A, 1: B), unscaled where necessary."""
        box = (self.a, self.b)[side].box
        selected: Arrays = {}
        for shared in self.fields:
            column = shared.columns[side]
            values = arrays[column]
            if column != shared.name and box is not None:
                axis = SCALED[column]
                if any(box.tilt):
                    raise (self.a, self.b)[side].source.error("scaled coordinates of a tilted box cannot "
                                                              "be compared with unscaled ones")
                values = box.lo[axis] + values * box.length(axis)
            selected[shared.name] = values
        return selected


def shared_kind(a: Frame, b: Frame, name: str) -> str:
    kinds = {a.kind(name), b.kind(name)}
    if len(kinds) == 1:
        return kinds.pop()
    return "mixed" if "text" in kinds else "float"


def period(a: Frame, b: Frame, axis: int) -> float:
    """Length of a box that is periodic along the axis in both frames; else, and for tilted boxes, 0."""
    if a.box is None or b.box is None or not (a.box.periodic(axis) and b.box.periodic(axis)):
        return 0.0
    if any(a.box.tilt) or any(b.box.tilt):
        return 0.0
    return a.box.length(axis)


def shared_fields(a: Frame, b: Frame) -> List[Field]:
    """The fields both frames have, in A's order, without id."""
    names_b = b.names()
    fields: List[Field] = []
    for name in a.names():
        if name == "id":
            continue
        if name in names_b:
            length = 0.0
            if name in AXES:
                length = period(a, b, AXES.index(name))
            elif name in SCALED and period(a, b, SCALED[name]) > 0.0:
                length = 1.0
            fields.append(Field(name, shared_kind(a, b, name), (name, name), length))
        elif name in AXES and name + "s" in names_b and name + "s" not in a.names():
            length = period(a, b, AXES.index(name))
            fields.append(Field(name, "float", (name, name + "s"), length))
        elif name in SCALED and name[0] in names_b and name[0] not in a.names():
            length = period(a, b, SCALED[name])
            fields.append(Field(name[0], "float", (name, name[0]), length))
    return fields


def pair_frames(a: Frame, b: Frame, wanted: Optional[Sequence[str]]) -> Pair:
    fields = shared_fields(a, b)
    if wanted is not None:
        named = {shared.name: shared for shared in fields}
        for name in wanted:
            if name != "id" and name not in named:
                raise Unreadable(f"field {name} is not in both files: {a.source.path} has "
                                 f"{' '.join(a.names())}, {b.source.path} has "
                                 f"{' '.join(b.names())}")
        fields = [named[name] for name in wanted if name != "id"]
    elif not fields:
        raise Unreadable(f"no shared fields: {a.source.path} has {' '.join(a.names())}, "
                         f"{b.source.path} has {' '.join(b.names())}")
    for shared in fields:
        if shared.kind == "mixed":
            raise Unreadable(f"field {shared.name} is text in one file and a number in the other: "
                             f"{a.source.path}, {b.source.path}")
    return Pair(a, b, tuple(fields))


def field_notes(pair: Pair) -> List[str]:
    """Notes for the verdict about the fields that were compared."""
    notes = []
    for label, frame, side in (("A", pair.a, 0), ("B", pair.b, 1)):
        used = {shared.columns[side] for shared in pair.fields}
        scaled = [shared for shared in pair.fields if shared.columns[side] != shared.name]
        if scaled:
            notes.append(f"note: {' '.join(s.name for s in scaled)} of {label} are unscaled from "
                         f"{' '.join(s.columns[side] for s in scaled)}, which rounds: "
                         "not expected to be identical, use --tol")
        unused = [name for name in frame.names() if name != "id" and name not in used]
        if unused:
            notes.append(f"note: not compared, in {label}: {' '.join(unused)}")
    return notes


# ---------------------------------------------------------------------------
# Report
# ---------------------------------------------------------------------------


@dataclass
class Report:
    """The differences found so far."""

    compared: int = 0
    values: Dict[str, int] = field(default_factory=dict)  # differing values per field
    first: Optional[str] = None
    largest: float = -1.0
    largest_where: str = ""
    named: Dict[str, int] = field(default_factory=dict)  # differences other than values
    named_first: Dict[str, str] = field(default_factory=dict)

    @property
    def different(self) -> bool:
        return bool(self.values or self.named)

    def add(self, kind: str, where: str, text: str, count: int = 1) -> None:
        """A difference that is not one of values, for instance of steps."""
        line = f"{where}{': ' if where else ''}{kind}: {text}"
        self.named[kind] = self.named.get(kind, 0) + count
        self.named_first.setdefault(kind, line)
        if self.first is None:
            self.first = line

    def lines(self, fields: Sequence[str]) -> List[str]:
        out = [f"first difference: {self.first}"]
        out += [f"also: {line}" for line in self.named_first.values() if line != self.first]
        if self.largest > 0.0:
            out.append(f"largest difference: {self.largest_where}")
        counts = [f"{kind} {count}" for kind, count in self.named.items()]
        if self.compared:
            per_field = ", ".join(f"{name} {self.values[name]}" for name in fields
                                  if name in self.values)
            counts.insert(0, f"{sum(self.values.values())} of {self.compared} values"
                          + (f" ({per_field})" if per_field else ""))
        return out + ["differing: " + "; ".join(counts), "DIFFERENT"]


# ---------------------------------------------------------------------------
# Measures: what is done with matched rows
# ---------------------------------------------------------------------------


def signed_difference(a: np.ndarray, b: np.ndarray, length: float) -> np.ndarray:
    """a - b, of the nearest image if `length` is a period."""
    with np.errstate(invalid="ignore", over="ignore"):
        difference = a - b
        if length > 0.0:
            difference = difference - length * np.rint(difference / length)
    return difference


def magnitude(shared: Field, a: np.ndarray, b: np.ndarray,
              tolerance: Optional[float]) -> np.ndarray:
    """|a - b|: uint64 for integers, since it may exceed int64; infinite where undefined."""
    if shared.kind != "float":
        ua, ub = a.view(np.uint64), b.view(np.uint64)
        return np.where(a > b, ua - ub, ub - ua)
    size = np.abs(signed_difference(a, b, 0.0 if tolerance is None else shared.period))
    size[a == b] = 0.0
    size[np.isnan(size)] = np.inf
    return size


class ValueMeasure:
    """Counts values that differ, and keeps the first and the largest difference."""

    def __init__(self, report: Report, words: Words, tolerance: Optional[float]) -> None:
        self.report = report
        self.words = words
        self.tolerance = tolerance

    def visit(self, pair: Pair, ids: np.ndarray, a: Arrays, b: Arrays) -> None:
        first: Optional[Tuple[int, str]] = None
        for shared in pair.fields:
            x, y = a[shared.name], b[shared.name]
            self.report.compared += ids.size
            differs = x != y
            if not differs.any():
                continue
            if shared.kind != "text":
                size = magnitude(shared, x, y, self.tolerance)
                self.keep_largest(pair, shared, ids, x, y, size)
                if shared.kind == "float" and self.tolerance is not None:
                    differs = size > self.tolerance
                    if not differs.any():
                        continue
            count = int(np.count_nonzero(differs))
            self.report.values[shared.name] = self.report.values.get(shared.name, 0) + count
            row = int(differs.argmax())
            if first is None or row < first[0]:
                first = (row, self.describe(pair, shared, ids, x, y, row))
        if first is not None and self.report.first is None:
            self.report.first = first[1]

    def keep_largest(self, pair: Pair, shared: Field, ids: np.ndarray, x: np.ndarray,
                     y: np.ndarray, size: np.ndarray) -> None:
        row = int(size.argmax())
        if float(size[row]) > self.report.largest:
            self.report.largest = float(size[row])
            self.report.largest_where = self.describe(pair, shared, ids, x, y, row)

    def describe(self, pair: Pair, shared: Field, ids: np.ndarray, x: np.ndarray,
                 y: np.ndarray, row: int) -> str:
        line = f"{pair.where()} id {ids[row]} field {shared.name}: "
        if shared.kind == "text":
            return line + f"A {self.words.decode(int(x[row]))}, B {self.words.decode(int(y[row]))}"
        if shared.kind == "int":
            va, vb = int(x[row]), int(y[row])
            return line + f"A {va}, B {vb}, difference {abs(va - vb)}"
        size = magnitude(shared, x[row : row + 1], y[row : row + 1], self.tolerance)[0]
        if not (math.isfinite(x[row]) and math.isfinite(y[row])):
            return line + f"A {x[row]:.17g}, B {y[row]:.17g}, not comparable"
        return line + f"A {x[row]:.17g}, B {y[row]:.17g}, difference {size:.6g}"


class DistanceMeasure:
    """The mean over particles of the distance between both positions, per frame."""

    def __init__(self) -> None:
        self.sums: List[float] = []
        self.counts: List[int] = []

    def visit(self, pair: Pair, ids: np.ndarray, a: Arrays, b: Arrays) -> None:
        square = np.zeros(ids.size)
        with np.errstate(invalid="ignore", over="ignore"):
            for shared in pair.fields:
                d = signed_difference(a[shared.name], b[shared.name], shared.period)
                square += d * d
            total = float(np.sqrt(square).sum())
        while len(self.sums) <= pair.a.index:
            self.sums.append(0.0)
            self.counts.append(0)
        self.sums[pair.a.index] += total
        self.counts[pair.a.index] += ids.size

    def mean(self, frames: int) -> float:
        """Average of the first `frames` frames' means."""
        means = [s / c for s, c in zip(self.sums[:frames], self.counts[:frames]) if c]
        return sum(means) / len(means) if means else 0.0


Measure = Union[ValueMeasure, DistanceMeasure]
Visit = Callable[[Pair, np.ndarray, Arrays, Arrays], None]


# ---------------------------------------------------------------------------
# Matching rows by id
# ---------------------------------------------------------------------------


def reserve(frame: Frame, rows: int, dtype: type) -> np.ndarray:
    try:
        return np.zeros(rows, dtype)
    except (MemoryError, ValueError, OverflowError):
        raise frame.source.error(f"frame {frame.index} of {frame.particles} particles does not "
                                 "fit in memory") from None


def repeated(sorted_ids: np.ndarray) -> np.ndarray:
    return sorted_ids[1:][sorted_ids[1:] == sorted_ids[:-1]]


def find_sorted(sorted_ids: np.ndarray, ids: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Which of `ids` are among the sorted ones, and where."""
    if sorted_ids.size == 0:
        return np.zeros(ids.size, np.bool_), np.zeros(ids.size, np.int64)
    place = np.minimum(np.searchsorted(sorted_ids, ids), sorted_ids.size - 1)
    return sorted_ids[place] == ids, place


class SeenIds:
    """The ids of a frame so far: a byte each for 0..n, eight bytes for any other."""

    def __init__(self, frame: Frame) -> None:
        self._near = reserve(frame, frame.particles + 1, np.bool_)
        self._settled = np.empty(0, np.int64)
        self._far: List[np.ndarray] = []

    def add(self, ids: np.ndarray) -> np.ndarray:
        """Adds ids; returns those in 0..n that were there before or are twice among them."""
        near = (ids >= 0) & (ids < self._near.size)
        if not near.all():
            self._far.append(ids[~near])
            ids = ids[near]
        again = ids[self._near[ids]]
        self._near[ids] = True
        if (ids[1:] > ids[:-1]).all():
            return again
        return np.concatenate([again, repeated(np.sort(ids))])

    def settle(self) -> np.ndarray:
        """Sorts the ids outside 0..n; returns those added again since the last call."""
        if not self._far:
            return np.empty(0, np.int64)
        far = np.sort(np.concatenate([self._settled, *self._far]))
        self._settled = np.unique(far)
        self._far = []
        return repeated(far)

    def contain(self, ids: np.ndarray) -> np.ndarray:
        """Which of `ids` have been added, those outside 0..n before the last settle()."""
        near = (ids >= 0) & (ids < self._near.size)
        return (near & self._near[np.where(near, ids, 0)]) | find_sorted(self._settled, ids)[0]


class HeldRows:
    """The rest of a frame of B, sorted by id."""

    def __init__(self, pair: Pair, first: Optional[Arrays], words: Words) -> None:
        frame = pair.b
        rows = frame.left + (first["id"].size if first else 0)
        self.ids = reserve(frame, rows, np.int64)
        self.columns: Arrays = {}
        for shared in pair.fields:
            is_float = frame.kind(shared.columns[1]) == "float"
            self.columns[shared.name] = reserve(frame, rows, np.float64 if is_float else np.int64)
        end = self._put(pair, 0, first) if first else 0
        while frame.left:
            chunk = frame.take(min(CHUNK_ROWS, frame.left))
            end = self._put(pair, end, parse_rows(chunk, words))
        self._sort()
        self.matched = reserve(frame, rows, np.bool_)

    def _put(self, pair: Pair, start: int, arrays: Arrays) -> int:
        end = start + arrays["id"].size
        self.ids[start:end] = arrays["id"]
        for name, values in pair.select(1, arrays).items():
            self.columns[name][start:end] = values
        return end

    def _sort(self) -> None:
        order = np.argsort(self.ids, kind="stable")
        self.ids = self.ids[order]
        for name in self.columns:
            self.columns[name] = self.columns[name][order]


class Matcher:
    """Pairs the rows of two frames by id and hands them to `visit`."""

    def __init__(self, pair: Pair, words: Words, report: Report, visit: Visit) -> None:
        self.pair = pair
        self.words = words
        self.report = report
        self.visit = visit
        self.seen = SeenIds(pair.a if pair.a.particles >= pair.b.particles else pair.b)

    def run(self) -> None:
        a, b = self.pair.a, self.pair.b
        while a.left and b.left:
            rows = min(CHUNK_ROWS, a.left, b.left)
            rows_a, rows_b = self.parse_both(a.take(rows), b.take(rows))
            if not (rows_a["id"] == rows_b["id"]).all():
                self.match_rest(rows_a, rows_b)
                return
            self.add_ids("duplicate ids in A and B", self.seen.add(rows_a["id"]))
            self.visit(self.pair, rows_a["id"], self.pair.select(0, rows_a),
                       self.pair.select(1, rows_b))
        if a.left or b.left:
            self.match_rest(None, None)
        else:
            self.add_ids("duplicate ids in A and B", self.seen.settle())

    def parse_both(self, chunk_a: RowText, chunk_b: RowText) -> Tuple[Arrays, Arrays]:
        rows_a = parse_rows(chunk_a, self.words)
        if chunk_a.columns == chunk_b.columns and chunk_a.text == chunk_b.text:
            return rows_a, rows_a
        return rows_a, parse_rows(chunk_b, self.words)

    def match_rest(self, rows_a: Optional[Arrays], rows_b: Optional[Arrays]) -> None:
        """Streams the rest of A's frame through the rest of B's, which is held in memory."""
        self.add_ids("duplicate ids in A and B", self.seen.settle())
        held = HeldRows(self.pair, rows_b, self.words)
        twice = self.seen.contain(held.ids)
        twice[1:] |= held.ids[1:] == held.ids[:-1]
        self.add_ids("duplicate ids in B", held.ids[twice])
        held.matched |= twice  # they have been reported: not to be called missing in A as well
        if rows_a is not None:
            self.match_chunk(rows_a, held)
        frame = self.pair.a
        while frame.left:
            chunk = frame.take(min(CHUNK_ROWS, frame.left))
            self.match_chunk(parse_rows(chunk, self.words), held)
        self.add_ids("duplicate ids in A", self.seen.settle())
        self.add_ids("ids only in B", held.ids[~held.matched])

    def match_chunk(self, rows: Arrays, held: HeldRows) -> None:
        ids = rows["id"]
        found, place = find_sorted(held.ids, ids)
        self.add_ids("ids only in A", ids[~found & ~self.seen.contain(ids)])
        self.add_ids("duplicate ids in A", self.seen.add(ids))
        if found.any():
            place = place[found]
            held.matched[place] = True
            a = {name: values[found] for name, values in self.pair.select(0, rows).items()}
            b = {name: values[place] for name, values in held.columns.items()}
            self.visit(self.pair, ids[found], a, b)

    def add_ids(self, kind: str, ids: np.ndarray) -> None:
        if ids.size:
            self.report.add(kind, self.pair.where(), f"id {ids[0]}", int(ids.size))


# ---------------------------------------------------------------------------
# The comparison
# ---------------------------------------------------------------------------


@dataclass
class Options:
    fields: Optional[List[str]] = None
    tolerance: Optional[float] = None
    limits: Optional[List[Tuple[int, float]]] = None  # (first frames, or 0 for all; limit)


@dataclass
class Summary:
    """What was compared, for the verdict."""

    frames: int = 0
    fields: Tuple[str, ...] = ()
    particles: Tuple[int, int] = (0, 0)  # smallest and largest frame
    notes: List[str] = field(default_factory=list)

    def add(self, pair: Pair) -> None:
        fields = tuple(shared.name for shared in pair.fields)
        if self.frames == 0:
            self.fields = fields
            self.notes = field_notes(pair)
            self.particles = (pair.a.particles, pair.a.particles)
        elif fields != self.fields:
            raise pair.a.source.error(f"the shared fields change in frame {pair.a.index}: "
                                      f"{' '.join(self.fields)} before, {' '.join(fields)} here")
        self.particles = (min(self.particles[0], pair.a.particles),
                          max(self.particles[1], pair.a.particles))
        self.frames += 1

    def text(self) -> str:
        low, high = self.particles
        particles = plural(high, "particle") if low == high else f"{low} to {high} particles"
        return (f"{plural(self.frames, 'frame')}, {particles}, "
                f"fields {' '.join(('id',) + self.fields)}")


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def compare_headers(pair: Pair, report: Report, tolerance: float) -> None:
    a, b, where = pair.a, pair.b, pair.where()
    if a.step is not None and b.step is not None and a.step != b.step:
        report.add("step", f"frame {a.index}", f"A {a.step}, B {b.step}")
    if a.time is not None and b.time is not None and not abs(a.time - b.time) <= tolerance:
        report.add("time", where, f"A {a.time:.17g}, B {b.time:.17g}")
    if a.units is not None and b.units is not None and a.units != b.units:
        report.add("units", where, f"A {a.units}, B {b.units}")
    if a.box is not None and b.box is not None:
        compare_boxes(pair, a.box, b.box, report, tolerance)


def compare_boxes(pair: Pair, a: Box, b: Box, report: Report, tolerance: float) -> None:
    where = pair.where()
    for axis in range(min(len(a.lo), len(b.lo))):
        bounds = [("length", a.length(axis), b.length(axis))]
        if a.lo_stated and b.lo_stated:
            bounds = [("lo", a.lo[axis], b.lo[axis]), ("hi", a.hi[axis], b.hi[axis])]
        for name, bound_a, bound_b in bounds:
            if not abs(bound_a - bound_b) <= tolerance:
                report.add("box bounds", where,
                           f"{AXES[axis]} {name} A {bound_a:.17g}, B {bound_b:.17g}")
        if not abs(a.tilt[axis] - b.tilt[axis]) <= tolerance:
            report.add("box bounds", where,
                       f"{('xy', 'xz', 'yz')[axis]} A {a.tilt[axis]:.17g}, B {b.tilt[axis]:.17g}")
        if a.boundary is None or b.boundary is None:
            continue
        differs = a.periodic(axis) != b.periodic(axis)
        if pair.a.format == pair.b.format:
            differs = a.boundary[axis] != b.boundary[axis]
        if differs:
            report.add("box boundary", where,
                       f"{AXES[axis]} A {a.boundary[axis]}, B {b.boundary[axis]}")


def compare(reader_a: Reader, reader_b: Reader, options: Options,
            measure: Measure, report: Report, words: Words) -> Summary:
    """Runs `measure` over all frames; what differs besides goes into the report."""
    summary = Summary()
    while True:
        a, b = reader_a.next_frame(), reader_b.next_frame()
        if a is None or b is None:
            break
        pair = pair_frames(a, b, wanted_fields(a, b, options))
        summary.add(pair)
        if options.limits is None:
            compare_headers(pair, report, options.tolerance or 0.0)
        if a.particles != b.particles:
            report.add("particle count", pair.where(), f"A {a.particles}, B {b.particles}")
        Matcher(pair, words, report, measure.visit).run()
    frames_a, frames_b = count_rest(reader_a, a, words), count_rest(reader_b, b, words)
    if frames_a != frames_b:
        report.add("number of frames", "", f"A {frames_a}, B {frames_b}")
    return summary


def wanted_fields(a: Frame, b: Frame, options: Options) -> Optional[List[str]]:
    if options.limits is None:
        return options.fields
    shared = [s.name for s in shared_fields(a, b)]
    return ["x", "y"] + (["z"] if "z" in shared else [])


def count_rest(reader: Reader, frame: Optional[Frame], words: Words) -> int:
    """The number of frames of a file, of which `frame` is the next to be read."""
    while frame is not None:
        while frame.left:
            # Parsed too: a damaged file is unreadable wherever the damage is.
            parse_rows(frame.take(min(CHUNK_ROWS, frame.left)), words)
        frame = reader.next_frame()
    return reader.frames


def value_verdict(summary: Summary, report: Report, tolerance: Optional[float]) -> List[str]:
    if report.different:
        return summary.notes + report.lines(summary.fields)
    if tolerance is None:
        return summary.notes + [f"identical: {summary.text()}"]
    lines = summary.notes + [f"within {tolerance:g}: {summary.text()}"]
    if report.largest > 0.0:
        lines.append(f"largest difference: {report.largest_where}")
    return lines


def distance_verdict(summary: Summary, report: Report, measure: DistanceMeasure,
                     limits: List[Tuple[int, float]]) -> Tuple[bool, List[str]]:
    passed = True
    lines = []
    for first, limit in limits:
        if first > summary.frames:
            if report.different:  # the reason may be the number of frames, reported below
                continue
            raise Unreadable(f"--mean-distance first{first} needs {first} frames, "
                             f"the files have {summary.frames}")
        mean = measure.mean(first or summary.frames)
        # Not `mean > limit`: a NaN fails.
        met = mean <= limit
        passed = passed and met
        over = f"the first {plural(first, 'frame')}" if first else plural(summary.frames, "frame")
        lines.append(f"mean distance over {over}: {mean:.6g}, limit {limit:g}: "
                     f"{'PASS' if met else 'FAIL'}")
    if report.different:
        return False, lines + report.lines(summary.fields)
    return passed, lines + ["PASS" if passed else "FAIL"]


def check(path_a: str, path_b: str, options: Options) -> Tuple[int, List[str]]:
    """Compares two files; the exit status and the lines to print."""
    with closing(open_dump(path_a)) as reader_a, closing(open_dump(path_b)) as reader_b:
        report, words = Report(), Words()
        if options.limits is not None:
            distance = DistanceMeasure()
            summary = compare(reader_a, reader_b, options, distance, report, words)
            passed, lines = distance_verdict(summary, report, distance, options.limits)
            return (SAME if passed else DIFFERENT), lines
        values = ValueMeasure(report, words, options.tolerance)
        summary = compare(reader_a, reader_b, options, values, report, words)
        lines = value_verdict(summary, report, options.tolerance)
        return (DIFFERENT if report.different else SAME), lines


# ---------------------------------------------------------------------------
# Command line
# ---------------------------------------------------------------------------


def tolerance_argument(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0.0):
        raise argparse.ArgumentTypeError(f"expected a finite number >= 0, found {text!r}")
    return number


def limits_argument(text: str) -> List[Tuple[int, float]]:
    limits = []
    for part in text.split(","):
        match = re.fullmatch(r"(all|first([1-9]\d{0,17}))=(.+)", part.strip())
        if not match:
            raise argparse.ArgumentTypeError(
                f"expected all=LIMIT or firstN=LIMIT, separated by commas, found {part!r}")
        limits.append((int(match[2] or 0), tolerance_argument(match[3])))
    return limits


def fields_argument(text: str) -> List[str]:
    names = ["element" if name.strip() == "species" else name.strip() for name in text.split(",")]
    if not all(names) or len(set(names)) < len(names):
        raise argparse.ArgumentTypeError(f"expected different names separated by commas, "
                                         f"found {text!r}")
    return names


def parse_arguments(arguments: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="check.py", epilog=HELP_TEXT, formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Compare two particle dumps frame by frame, particle by particle, by id.")
    parser.add_argument("a", metavar="A", help="a dump, in any of the formats below")
    parser.add_argument("b", metavar="B", help="the dump to compare it with")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--tol", metavar="T", type=tolerance_argument,
                      help="accept |a-b| <= T for non-integers, times and box bounds; x y z "
                           "(xs ys zs) along an axis that is periodic in both files differ by the "
                           "nearest image, which they never do without --tol")
    mode.add_argument("--mean-distance", metavar="LIMITS", type=limits_argument,
                      help="compare only positions, by the mean over particles of the distance "
                           "between both (nearest image where periodic), averaged over the first "
                           "N or all frames: firstN=LIMIT,all=LIMIT; steps and boxes may differ, "
                           "ids and the number of frames may not. The homework's acceptance is "
                           "first50=3e-7,all=0.025")
    parser.add_argument("--fields", metavar="NAMES", type=fields_argument,
                        help="compare only these columns, for instance x,y,vx,vy")
    parser.add_argument("--quiet", action="store_true",
                        help="print no verdict, only set the exit status")
    parsed = parser.parse_args(arguments)
    if parsed.fields is not None and parsed.mean_distance is not None:
        parser.error("--fields cannot be used with --mean-distance")
    return parsed


def print_lines(lines: List[str]) -> None:
    try:
        for line in lines:
            # A dump may hold characters that the terminal's encoding does not have.
            encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
            print(line.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:
        # `check.py a b | head -1`: no program reads the output any more, also not at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parsed = parse_arguments(arguments)
    options = Options(parsed.fields, parsed.tol, parsed.mean_distance)
    try:
        status, lines = check(parsed.a, parsed.b, options)
    except Unreadable as error:
        message = str(error)
    except MemoryError:
        message = "not enough memory"
    except KeyboardInterrupt:
        message = "interrupted"
    except Exception as error:  # an error of this program must not look like a difference (status 1)
        message = f"internal error, please report: {type(error).__name__}: {error}"
    else:
        if not parsed.quiet:
            print_lines(lines)
        return status
    print(f"check.py: {message}", file=sys.stderr)
    return UNREADABLE


if __name__ == "__main__":
    sys.exit(main())
