"""Tests of check.py: every format, every kind of difference, every unreadable input.

Run with `python3 -m pytest validate/output/test_check.py`.  All data is made here, small
except for the test of memory, which compares frames of 10^6 particles.
"""

from __future__ import annotations

import gzip
import math
import os
import random
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import List, Sequence, Tuple

import numpy as np
import pytest

import check

PROGRAM = Path(check.__file__)
Row = Tuple


class Result:
    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err
        self.lines = out.splitlines()


@pytest.fixture
def run(capsys):
    """Runs check.py in this process on the given arguments."""

    def call(*arguments) -> Result:
        try:
            status = check.main([str(argument) for argument in arguments])
        except SystemExit as stop:  # argparse
            status = stop.code
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        assert "internal error" not in captured.err
        if status == 2:
            assert captured.out == "" and captured.err != ""
        else:
            assert captured.err == ""
        return Result(status, captured.out, captured.err)

    return call


@pytest.fixture
def put(tmp_path):
    """Writes a file and returns its path."""

    def write(name: str, text) -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture(params=[1, 2, 3, 7, 1 << 16])
def chunk_rows(request, monkeypatch):
    monkeypatch.setattr(check, "CHUNK_ROWS", request.param)
    return request.param


def lammps_frame(rows: Sequence[Row], step: int = 0, columns: str = "id type x y z",
                 box: str = "BOX BOUNDS pp pp pp\n0 10\n0 10\n0 10", before: str = "") -> str:
    body = "".join(" ".join(map(str, row)) + "\n" for row in rows)
    return (f"{before}ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n{len(rows)}\n"
            f"ITEM: {box}\nITEM: ATOMS {columns}\n{body}")


def xyz_frame(rows: Sequence[Row], comment: str) -> str:
    body = "".join(" ".join(map(str, row)) + "\n" for row in rows)
    return f"{len(rows)}\n{comment}\n{body}"


def random_rows(n: int, seed: int = 1) -> List[Row]:
    """Rows `id type x y z`, 17 digits, ids 1..n in order."""
    values = np.random.default_rng(seed).random((n, 3)) * 10.0
    return [(i + 1, 1 + i % 2, *(f"{v:.17g}" for v in row)) for i, row in enumerate(values)]


def with_value(rows: Sequence[Row], row: int, column: int, value) -> List[Row]:
    changed = [list(r) for r in rows]
    changed[row][column] = value
    return [tuple(r) for r in changed]


ROWS = random_rows(20)
XYZ = 'Lattice="10 0 0 0 10 0 0 0 10" Properties=id:I:1:type:I:1:pos:R:3 Time=0.5 Step=0'


# --- identical ---------------------------------------------------------------


def test_identical_line(run, put):
    columns = "id type x y z vx vy vz"
    rows = [row + (0.1, -0.2, 1e-300) for row in ROWS]
    text = "".join(lammps_frame(rows, step, columns) for step in range(0, 210, 10))
    result = run(put("a", text), put("b", text))
    assert result.status == 0
    assert result.out == "identical: 21 frames, 20 particles, fields id type x y z vx vy vz\n"


def test_quiet_prints_nothing(run, put):
    a, b = put("a", lammps_frame(ROWS)), put("b", lammps_frame(with_value(ROWS, 3, 2, 0.5)))
    assert (run(a, a, "--quiet").status, run(a, a, "--quiet").out) == (0, "")
    assert (run(a, b, "--quiet").status, run(a, b, "--quiet").out) == (1, "")
    assert "nowhere" in run(a, "nowhere", "--quiet").err


def test_one_frame_one_particle_and_changing_counts(run, put):
    one = put("one", lammps_frame(ROWS[:1]))
    assert run(one, one).out == "identical: 1 frame, 1 particle, fields id type x y z\n"
    two = put("two", lammps_frame(ROWS[:5]) + lammps_frame(ROWS[:8], 1))
    assert run(two, two).out == "identical: 2 frames, 5 to 8 particles, fields id type x y z\n"


def test_empty_frame(run, put):
    a = put("a", lammps_frame([]) + lammps_frame(ROWS, 1))
    assert run(a, a).out.startswith("identical: 2 frames, 0 to 20 particles")
    assert run(a, a, "--mean-distance", "all=0").status == 0


def test_same_value_written_differently(run, put):
    a = put("a", lammps_frame([(1, 1, "1", "-0", "1e-1")]))
    b = put("b", lammps_frame([("+1", "01", "1.0", "0.0", ".1")]))
    assert run(a, b).status == 0


def test_windows_line_ends_tabs_and_missing_last_newline(run, put):
    text = lammps_frame(ROWS)
    a = put("a", text)
    assert run(a, put("b", text.replace("\n", "\r\n"))).status == 0
    assert run(a, put("c", text.rstrip("\n"))).status == 0
    head, rows = text.split("z\n", 1)
    assert run(a, put("d", head + "z\n" + rows.replace(" ", "\t ") + "\n\n")).status == 0


def test_infinities_equal_and_nan_does_not(run, put):
    a = put("a", lammps_frame([(1, 1, "inf", "-inf", "0")]))
    assert run(a, a).status == 0
    assert run(a, a, "--tol", "1").status == 0
    nan = put("nan", lammps_frame([(1, 1, "0", "nan", "0")]))
    for extra in ([], ["--tol", "1e300"]):
        result = run(nan, nan, *extra)
        assert result.status == 1
        assert result.lines[0] == ("first difference: frame 0 step 0 id 1 field y: A nan, B nan, "
                                   "not comparable")
        assert result.lines[-1] == "DIFFERENT"


def test_17_digits_round_trip(run, put):
    bits = np.random.default_rng(3).integers(0, 2**64, 20000, dtype=np.uint64)
    values = bits.view(np.float64)
    values = values[np.isfinite(values)][:9999]
    words = [f"{v:.17g}" for v in values]
    assert check.parse_numbers(" ".join(words).encode()).tobytes() == values.tobytes()
    shortest = [repr(float(v)) for v in values]
    rows = [(i + 1, *words[3 * i : 3 * i + 3]) for i in range(3333)]
    same = [(i + 1, *shortest[3 * i : 3 * i + 3]) for i in range(3333)]
    assert run(put("a", lammps_frame(rows, columns="id x y z")),
               put("b", lammps_frame(same, columns="id x y z"))).status == 0


def test_halfway_cases_are_rounded_correctly():
    text = b"9007199254740993 9007199254740993.0000000000000001 2.2250738585072011e-308 5e-324"
    assert check.parse_numbers(text).tolist() == [
        9007199254740992.0, 9007199254740994.0, 2.2250738585072011e-308, 5e-324]


# --- formats -----------------------------------------------------------------


def test_gzip_by_content(run, put):
    text = lammps_frame(ROWS).encode()
    half = len(text) // 2
    plain = put("plain.gz", text)
    zipped = put("zipped.txt", gzip.compress(text))
    members = put("members", gzip.compress(text[:half]) + gzip.compress(text[half:]))
    assert run(plain, zipped).status == 0
    assert run(members, plain).status == 0
    other = put("other", gzip.compress(lammps_frame(with_value(ROWS, 0, 2, 0.5)).encode()))
    assert run(zipped, other).status == 1


def test_lammps_sections(run, put):
    before = "ITEM: UNITS\nlj\nITEM: TIME\n0.5\n"
    a = put("a", lammps_frame(ROWS, before=before))
    assert run(a, a).status == 0
    assert run(a, put("b", lammps_frame(ROWS))).status == 0
    time_differs = run(a, put("c", lammps_frame(ROWS, before=before.replace("0.5", "0.6"))))
    assert time_differs.status == 1
    assert "frame 0 step 0: time: A 0.5, B 0.59999999999999998" in time_differs.out
    units = run(a, put("d", lammps_frame(ROWS, before=before.replace("lj", "metal"))))
    assert units.lines[0] == "first difference: frame 0 step 0: units: A lj, B metal"


def test_lammps_box_without_flags(run, put):
    a = put("a", lammps_frame(ROWS, box="BOX BOUNDS\n0 10\n0 10\n0 10"))
    assert run(a, put("b", lammps_frame(ROWS))).status == 0


def test_columns_in_another_order_and_extra_ones(run, put):
    a = put("a", lammps_frame([(7, 1, 0.25, 0.5, 0.75)]))
    b = put("b", lammps_frame([(0.75, 0.5, 7, 0.25, 99)], columns="z y id x c_pe"))
    result = run(a, b)
    assert result.status == 0
    assert result.lines == ["note: not compared, in A: type", "note: not compared, in B: c_pe",
                            "identical: 1 frame, 1 particle, fields id x y z"]


def test_same_rows_under_other_column_names(run, put):
    """The same bytes are converted once only if they mean the same."""
    a = put("a", lammps_frame([(1, 2, 3)], columns="id x y"))
    b = put("b", lammps_frame([(1, 2, 3)], columns="id y x"))
    assert "differing: 2 of 2 values (x 1, y 1)" in run(a, b).out


def test_xyz_names(run, put):
    comment = ('Lattice="10 0 0 0 10 0 0 0 10" Step=5 Time=0.25 '
               "Properties=species:S:1:pos:R:3:velo:R:3:forces:R:3:id:I:1")
    a = put("a", xyz_frame([("Ar", 1, 2, 3, 4, 5, 6, 7, 8, 9, 11)], comment))
    b = put("b", lammps_frame([(11, "Ar", 1, 2, 3, 4, 5, 6, 7, 8, 9)], 5,
                              "id element x y z vx vy vz fx fy fz"))
    result = run(a, b)
    assert result.out == ("identical: 1 frame, 1 particle, fields id element x y z vx vy vz "
                          "fx fy fz\n")
    for name in ("vel", "velocities"):
        same = put("c", xyz_frame([("Ar", 1, 2, 3, 4, 5, 6, 7, 8, 9, 11)],
                                  comment.replace("velo:", name + ":")))
        assert run(same, b).out == result.out


@pytest.mark.parametrize("field,column", [("vz", 6), ("fx", 7), ("x", 1)])
def test_xyz_vector_components(run, put, field, column):
    comment = "Properties=species:S:1:pos:R:3:velo:R:3:forces:R:3:id:I:1"
    row = ["Ar", 1, 2, 3, 4, 5, 6, 7, 8, 9, 11]
    a = put("a", xyz_frame([row], comment))
    row[column] = 99
    result = run(a, put("b", xyz_frame([row], comment)))
    assert f"id 11 field {field}: A {column}, B 99, difference {99 - column}" in result.lines[0]


def test_xyz_without_ids_and_plain(run, put):
    rows = [("H", 1, 2, 3), ("O", 4, 5, 6), ("H", 7, 8, 9)]
    plain = put("a", xyz_frame(rows, "just words"))
    lammps = put("b", lammps_frame([(3, "H", 7, 8, 9), (1, "H", 1, 2, 3), (2, "O", 4, 5, 6)],
                                   columns="id element x y z"))
    assert run(plain, lammps).out == "identical: 1 frame, 3 particles, fields id element x y z\n"
    other = put("c", xyz_frame(with_value(rows, 1, 0, "Ne"), ""))
    assert run(plain, other).lines[:1] == [
        "first difference: frame 0 id 2 field element: A O, B Ne"]


def test_xyz_two_dimensions_and_other_columns(run, put):
    comment = "Properties=pos:R:2:flag:L:1:dipole:R:2:mass:R:1 pbc='T T F'".replace("'", '"')
    a = put("a", xyz_frame([(1, 2, "T", 3, 4, 5)], comment))
    assert run(a, a).out == ("identical: 1 frame, 1 particle, fields id x y flag dipole_1 "
                             "dipole_2 mass\n")
    b = put("b", xyz_frame([(1, 2, "F", 3, 4, 5)], comment))
    assert "field flag: A T, B F" in run(a, b).lines[0]


def test_text_value_first_of_its_chunk_row(run, put, chunk_rows):
    rows = [(i, "AB"[i % 2], 1, 2, 3) for i in range(1, 12)]
    a = put("a", lammps_frame(rows, columns="id element x y z"))
    b = put("b", lammps_frame(with_value(rows, 8, 1, "C"), columns="id element x y z"))
    assert run(a, b).lines == [
        "first difference: frame 0 step 0 id 9 field element: A B, B C",
        "differing: 1 of 44 values (element 1)", "DIFFERENT"]


def test_frames_of_three_dimensions(run, put):
    text = "2 0.5\n0.1 0.2 0.3\n0.3 0.4 0.1\n\n0.11 0.21 0.3\n0.31 0.41 0.1\n"
    a = put("a", text)
    assert run(a, a).out == "identical: 2 frames, 2 particles, fields id x y z\n"
    differs = run(a, put("b", text.replace("0.21 0.3", "0.21 0.2"))).lines[0]
    assert "frame 1 id 1 field z: A 0.29999999999999999" in differs
    assert run(a, put("c", text.replace("0.31 0.41 0.1", "0.31 0.41"))).status == 2


def test_frames_format(run, put):
    text = "2 0.5\n0.1 0.2\n0.3 0.4\n\n0.11 0.21\n0.31 0.41\n"
    a = put("a", text)
    assert run(a, put("b", text.replace("\n\n", "\n"))).out == (
        "identical: 2 frames, 2 particles, fields id x y\n")
    result = run(a, put("c", text.replace("0.31", "0.32")))
    assert result.lines[0] == ("first difference: frame 1 id 2 field x: A 0.31, B 0.32000000000"
                               "000001, difference 0.01")
    xyz = "".join(xyz_frame(rows, 'Properties=pos:R:2 pbc="F F F"') for rows in
                  ([(0.1, 0.2), (0.3, 0.4)], [(0.11, 0.21), (0.31, 0.41)]))
    assert run(a, put("d", xyz)).status == 0
    lammps = "".join(
        lammps_frame(rows, step, "id x y", "BOX BOUNDS ff ff pp\n0 0.5\n0 0.5\n-1 1")
        for step, rows in enumerate([[(2, 0.3, 0.4), (1, 0.1, 0.2)],
                                     [(2, 0.31, 0.41), (1, 0.11, 0.21)]]))
    assert run(put("e", lammps), a).status == 0


def test_scaled_coordinates(run, put):
    box = "BOX BOUNDS pp pp pp\n-2 8\n0 10\n0 10"
    a = put("a", lammps_frame([(1, 1, -1.5, 2.5, 5)], box=box))
    b = put("b", lammps_frame([(1, 1, 0.05, 0.25, 0.5)], columns="id type xs ys zs", box=box))
    for first, second, side in ((a, b, "B"), (b, a, "A")):
        result = run(first, second)
        assert result.status == 0
        assert result.lines[0] == (f"note: x y z of {side} are unscaled from xs ys zs, which "
                                   "rounds: not expected to be identical, use --tol")
        assert result.lines[-1] == "identical: 1 frame, 1 particle, fields id type x y z"
    assert run(b, b).lines == ["identical: 1 frame, 1 particle, fields id type xs ys zs"]
    c = put("c", lammps_frame([(1, 1, 0.06, 0.25, 0.5)], columns="id type xs ys zs", box=box))
    assert "field x: A -1.5, B -1.3999999999999999, difference 0.1" in run(a, c).out
    assert run(a, c, "--tol", "0.11").status == 0
    far = put("d", lammps_frame([(1, 1, 1.05, 0.25, 0.5)], columns="id type xs ys zs", box=box))
    assert run(a, far, "--tol", "1e-9").status == 0
    assert run(b, far, "--tol", "1e-9").status == 0
    assert run(b, far).status == 1


def test_scaled_coordinates_in_another_order(run, put):
    a = put("a", lammps_frame([(1, 1, 2, 3, 4), (2, 1, 5, 6, 7)]))
    b = put("b", lammps_frame([(2, 1, .5, .75, .75), (1, 1, .25, .25, .5)],
                              columns="id type xs ys zs"))
    result = run(a, b)
    assert "id 1 field x: A 2, B 2.5, difference 0.5" in result.out
    assert "(x 1, y 2, z 2)" in result.out
    assert run(a, b, "--tol", "1.5").status == 0


def test_fields_option(run, put):
    a = put("a", lammps_frame(ROWS))
    b = put("b", lammps_frame(with_value(ROWS, 2, 3, 0.125)))
    assert run(a, b).status == 1
    result = run(a, b, "--fields", "z,x")
    assert result.lines[-1] == "identical: 1 frame, 20 particles, fields id z x"
    assert run(a, b, "--fields", "y").status == 1
    assert run(a, b, "--fields", "id").lines[-1] == "identical: 1 frame, 20 particles, fields id"
    result = run(a, b, "--fields", "x,vx")
    assert result.status == 2 and "field vx is not in both files" in result.err
    e = put("e", lammps_frame([(1, "Ar", 1)], columns="id element x"))
    assert run(e, e, "--fields", "species").lines[-1].endswith("fields id element")


# --- differences -------------------------------------------------------------


@pytest.mark.parametrize("order", ["same", "permuted"])
def test_one_ulp_is_found_and_named(run, put, chunk_rows, order):
    later = random_rows(20, 2)
    value = float(later[13][3])
    other = float(np.nextafter(value, math.inf))
    changed = with_value(later, 13, 3, f"{other:.17g}")
    if order == "permuted":
        random.Random(5).shuffle(changed)
    a = put("a", lammps_frame(ROWS, 100) + lammps_frame(later, 200))
    b = put("b", lammps_frame(ROWS, 100) + lammps_frame(changed, 200))
    where = (f"frame 1 step 200 id 14 field y: A {value:.17g}, B {other:.17g}, "
             f"difference {other - value:.6g}")
    assert run(a, b).lines == [f"first difference: {where}", f"largest difference: {where}",
                               "differing: 1 of 160 values (y 1)", "DIFFERENT"]
    assert run(a, b).status == 1


def test_first_and_largest_and_counts(run, put, chunk_rows):
    b = with_value(with_value(with_value(ROWS, 4, 4, 1e3), 4, 1, 9), 11, 2, -1e6)
    result = run(put("a", lammps_frame(ROWS, 30)), put("b", lammps_frame(b, 30)))
    assert result.lines[0].startswith("first difference: frame 0 step 30 id 5 field type: A 1, B 9")
    assert result.lines[1].startswith("largest difference: frame 0 step 30 id 12 field x: A ")
    assert "B -1000000, difference 1.00001e+06" in result.lines[1]
    assert result.lines[2:] == ["differing: 3 of 80 values (type 1, x 1, z 1)", "DIFFERENT"]


def test_first_difference_is_the_first_row_not_the_first_field(run, put):
    b = with_value(with_value(ROWS, 2, 4, 0), 9, 2, 0)
    result = run(put("a", lammps_frame(ROWS)), put("b", lammps_frame(b)))
    assert "id 3 field z" in result.lines[0]


def test_permuted_order_is_identical(run, put, chunk_rows):
    for seed in range(4):
        shuffled = list(ROWS)
        random.Random(seed).shuffle(shuffled)
        tail = ROWS[:8] + ROWS[8:][::-1]
        a, b = put("a", lammps_frame(ROWS) * 2), put("b", lammps_frame(shuffled) * 2)
        c = put("c", lammps_frame(shuffled) + lammps_frame(tail))
        for pair in ((a, b), (b, a), (a, c), (c, b)):
            assert run(*pair).out == "identical: 2 frames, 20 particles, fields id type x y z\n"


def test_different_particles_with_the_same_values_differ(run, put, chunk_rows):
    swapped = [(ROWS[1][0], *ROWS[0][1:]), (ROWS[0][0], *ROWS[1][1:])] + ROWS[2:]
    result = run(put("a", lammps_frame(ROWS)), put("b", lammps_frame(swapped)))
    assert result.status == 1
    assert "differing: 8 of 80 values" in result.out


@pytest.mark.parametrize("base", [2**53, 2**62])
def test_large_ids_are_exact(run, put, chunk_rows, base):
    rows = [(base + i, 1, i, i, i) for i in range(10)]
    a = put("a", lammps_frame(rows))
    assert run(a, put("b", lammps_frame(rows[::-1]))).status == 0
    off = with_value(rows, 9, 0, base + 10)
    for order in (1, -1):
        result = run(a, put("c", lammps_frame(off[::order])))
        assert result.status == 1
        assert f"ids only in A: id {base + 9}" in result.out
        assert f"ids only in B: id {base + 10}" in result.out
        assert "ids only in A 1; ids only in B 1" in result.out
    wide = with_value(rows, 3, 1, base + 1)
    result = run(put("d", lammps_frame(wide)), put("e", lammps_frame(with_value(rows, 3, 1, base))))
    assert f"field type: A {base + 1}, B {base}, difference 1" in result.lines[0]


def test_integer_difference_beyond_int64(run, put):
    a = put("a", lammps_frame([(1, -(2**63), 0, 0, 0)]))
    b = put("b", lammps_frame([(1, 2**63 - 1, 0, 0, 0)]))
    result = run(a, b)
    assert f"A {-2**63}, B {2**63 - 1}, difference {2**64 - 1}" in result.lines[0]
    c = put("c", lammps_frame([(1, 2**63 - 1, 0, 5, 0)]))
    assert "largest difference: frame 0 step 0 id 1 field type" in run(a, c).lines[1]


def test_negative_and_zero_ids(run, put, chunk_rows):
    rows = [(i, 1, i, i, i) for i in range(-3, 4)]
    assert run(put("a", lammps_frame(rows)), put("b", lammps_frame(rows[::-1]))).status == 0


def test_missing_ids(run, put, chunk_rows):
    off = with_value(ROWS, 7, 0, 100)
    for b in (off, off[::-1]):
        result = run(put("a", lammps_frame(ROWS)), put("b", lammps_frame(b)))
        assert result.status == 1
        assert result.lines[0] == "first difference: frame 0 step 0: ids only in A: id 8"
        assert result.lines[1] == "also: frame 0 step 0: ids only in B: id 100"
        assert result.lines[2:] == ["differing: 0 of 76 values; ids only in A 1; ids only in B 1",
                                    "DIFFERENT"]


def test_different_particle_counts(run, put, chunk_rows):
    a, b = put("a", lammps_frame(ROWS)), put("b", lammps_frame(ROWS[:17]))
    result = run(a, b)
    assert result.status == 1
    assert result.lines[0] == "first difference: frame 0 step 0: particle count: A 20, B 17"
    assert result.lines[1] == "also: frame 0 step 0: ids only in A: id 18"
    assert "ids only in A 3" in result.lines[2] and "0 of 68 values" in result.lines[2]
    result = run(b, a)
    assert "particle count: A 17, B 20" in result.out and "ids only in B 3" in result.out


@pytest.mark.parametrize("offset", [0, 1000])
def test_duplicate_ids(run, put, chunk_rows, offset):
    """Ids within 0..n and beyond are noticed by different means."""
    rows = [(row[0] + offset, *row[1:]) for row in ROWS]
    twice = with_value(rows, 15, 0, 3 + offset)
    a, b = put("a", lammps_frame(rows)), put("b", lammps_frame(twice))
    result = run(b, b)
    assert result.status == 1
    assert result.lines == [
        f"first difference: frame 0 step 0: duplicate ids in A and B: id {3 + offset}",
        "differing: 0 of 80 values; duplicate ids in A and B 1", "DIFFERENT"]
    result = run(a, b)
    assert f"duplicate ids in B: id {3 + offset}" in result.out
    assert f"ids only in A: id {16 + offset}" in result.out and "in A 1" in result.out
    assert "ids only in B" not in result.out and "duplicate ids in A" not in result.out
    result = run(b, a)
    assert f"duplicate ids in A: id {3 + offset}" in result.out
    assert f"ids only in B: id {16 + offset}" in result.out
    assert "duplicate ids in B" not in result.out and "ids only in A" not in result.out
    backwards = put("c", lammps_frame(twice[::-1]))
    result = run(b, backwards)
    assert "duplicate ids in A: " in result.out and "duplicate ids in B: " in result.out
    assert "only in" not in result.out


def test_different_steps_and_frames(run, put):
    a = put("a", lammps_frame(ROWS, 0) + lammps_frame(ROWS, 10))
    result = run(a, put("b", lammps_frame(ROWS, 0) + lammps_frame(ROWS, 11)))
    assert result.lines[0] == "first difference: frame 1: step: A 10, B 11"
    assert result.status == 1
    c = put("c", lammps_frame(ROWS, 0) + lammps_frame(ROWS, 10) * 3)
    result = run(a, c)
    assert result.status == 1
    assert result.lines == ["first difference: number of frames: A 2, B 4",
                            "differing: 0 of 160 values; number of frames 1", "DIFFERENT"]
    assert "number of frames: A 4, B 2" in run(c, a).out


def test_different_boxes(run, put):
    a = put("a", lammps_frame(ROWS))
    b = put("b", lammps_frame(ROWS, box="BOX BOUNDS pp pp pp\n0 10\n-0.5 10\n0 10"))
    result = run(a, b)
    assert result.lines[0] == "first difference: frame 0 step 0: box bounds: y lo A 0, B -0.5"
    assert result.status == 1
    assert run(a, b, "--tol", "0.5").status == 0
    c = put("c", lammps_frame(ROWS, box="BOX BOUNDS pp ff pp\n0 10\n0 10\n0 10"))
    assert "box boundary: y A pp, B ff" in run(a, c).lines[0]
    d = put("d", lammps_frame(ROWS, box="BOX BOUNDS pp fs pp\n0 10\n0 10\n0 10"))
    assert run(c, d).status == 1


def test_xyz_boxes(run, put):
    a = put("a", lammps_frame(ROWS, box="BOX BOUNDS pp pp pp\n-5 5\n0 10\n0 10"))
    assert run(a, put("b", xyz_frame(ROWS, XYZ))).status == 0
    origin = XYZ + ' Origin="-5 0 0" pbc="T T T"'
    assert run(a, put("c", xyz_frame(ROWS, origin))).status == 0
    result = run(a, put("d", xyz_frame(ROWS, origin.replace("-5", "-4"))))
    assert result.lines[:2] == ["first difference: frame 0 step 0: box bounds: x lo A -5, B -4"] + [
        "differing: 0 of 80 values; box bounds 2"]
    result = run(a, put("e", xyz_frame(ROWS, XYZ.replace("10 0 0 0 10 ", "10 0 0 0 11 "))))
    assert "box bounds: y length A 10, B 11" in result.out
    result = run(a, put("f", xyz_frame(ROWS, XYZ + ' pbc="T T F"')))
    assert "box boundary: z A pp, B ff" in result.out


# --- tolerance ---------------------------------------------------------------


def test_tolerance(run, put, chunk_rows):
    a = put("a", lammps_frame([(1, 1, 1.0, 2.0, 3.0)]))
    b = put("b", lammps_frame([(1, 1, 1.25, 2.0, 2.5)]))
    assert run(a, b, "--tol", "0.49").status == 1
    assert "differing: 1 of 4 values (z 1)" in run(a, b, "--tol", "0.49").out
    result = run(a, b, "--tol", "0.5")
    assert result.status == 0
    assert result.lines == [
        "within 0.5: 1 frame, 1 particle, fields id type x y z",
        "largest difference: frame 0 step 0 id 1 field z: A 3, B 2.5, difference 0.5"]
    assert run(a, a, "--tol", "0").lines == ["within 0: 1 frame, 1 particle, fields id type x y z"]


def test_tolerance_does_not_apply_to_integers_and_text(run, put):
    a = put("a", lammps_frame([(1, 1, 1, 1, 1)]))
    assert run(a, put("b", lammps_frame([(1, 2, 1, 1, 1)])), "--tol", "5").status == 1
    assert run(a, put("c", lammps_frame([(2, 1, 1, 1, 1)])), "--tol", "5").status == 1
    a = put("a", lammps_frame([(1, "H", 1)], columns="id element x"))
    b = put("b", lammps_frame([(1, "He", 1)], columns="id element x"))
    assert run(a, b, "--tol", "5").status == 1


def test_nearest_image_only_with_tolerance_and_only_if_periodic(run, put):
    box = "BOX BOUNDS pp ff pp\n0 10\n0 10\n-5 5"
    a = put("a", lammps_frame([(1, 1, 9.9375, 5.0, 4.9375)], box=box))
    x = put("x", lammps_frame([(1, 1, 0.0, 5.0, -5.0)], box=box))
    assert run(a, x).status == 1
    assert "field x: A 9.9375, B 0, difference 9.9375" in run(a, x).lines[0]
    assert run(a, x, "--tol", "0.0625").status == 0
    assert run(a, x, "--tol", "0.0624").status == 1
    assert "difference 0.0625" in run(a, x, "--tol", "0.0624").out
    y = put("y", lammps_frame([(1, 1, 9.9375, 15.0, 4.9375)], box=box))
    assert run(a, y, "--tol", "1").status == 1
    velocity = [put(n, lammps_frame([(1, v)], columns="id vx", box=box))
                for n, v in (("u", 0), ("v", 10))]
    assert run(*velocity, "--tol", "1").status == 1


# --- mean distance -----------------------------------------------------------


def frames_text(shift: float, first: int = 0, frames: int = 4, n: int = 5) -> str:
    """Frames of the homework, moved by (3, 4)/5 * shift from frame `first` on."""
    text = f"{n} 1.0\n"
    for f in range(frames):
        s = shift if f >= first else 0.0
        text += "".join(f"{0.1 * i + 0.6 * s!r} {0.05 * i + 0.8 * s!r}\n" for i in range(n)) + "\n"
    return text


def test_mean_distance(run, put, chunk_rows):
    a, b = put("a", frames_text(0.0)), put("b", frames_text(0.25, first=2))
    result = run(a, b, "--mean-distance", "first2=1e-12,all=0.126")
    assert result.status == 0
    assert result.lines == [
        "mean distance over the first 2 frames: 0, limit 1e-12: PASS",
        "mean distance over 4 frames: 0.125, limit 0.126: PASS", "PASS"]
    result = run(a, b, "--mean-distance", "first3=0.05,all=0.2")
    assert result.status == 1
    assert result.lines == [
        "mean distance over the first 3 frames: 0.0833333, limit 0.05: FAIL",
        "mean distance over 4 frames: 0.125, limit 0.2: PASS", "FAIL"]
    assert run(a, b, "--mean-distance", "all=0.124").status == 1


def test_mean_distance_takes_no_image_of_frames_but_of_periodic_boxes(run, put):
    a, b = put("a", "1 1.0\n0.0 0.5\n"), put("b", "1 1.0\n1.0 0.5\n")
    assert "1 frame: 1, limit 0.5: FAIL" in run(a, b, "--mean-distance", "all=0.5").out
    c = put("c", lammps_frame([(1, 1, 0, 0, 0)]))
    d = put("d", lammps_frame([(1, 1, 9, 9, 8)], step=7))
    result = run(c, d, "--mean-distance", "all=2.5")
    assert result.lines[0] == f"mean distance over 1 frame: {math.sqrt(6):.6g}, limit 2.5: PASS"


def test_mean_distance_between_formats_in_any_order(run, put, chunk_rows):
    a = put("a", frames_text(0.0, frames=1))
    rows = [(i + 1, 0.1 * i, 0.05 * i + 0.5) for i in range(5)]
    b = put("b", lammps_frame(rows[::-1], 3, "id x y", "BOX BOUNDS ff ff pp\n0 9\n0 9\n0 1"))
    assert "over 1 frame: 0.5, limit 0.51: PASS" in run(a, b, "--mean-distance", "all=0.51").out


def test_mean_distance_needs_the_same_frames_and_ids(run, put):
    a, b = put("a", frames_text(0.0)), put("b", frames_text(0.0, frames=3))
    result = run(a, b, "--mean-distance", "all=1,first4=1")
    assert result.status == 1
    assert "number of frames: A 4, B 3" in result.out and result.lines[-1] == "DIFFERENT"
    c = put("c", frames_text(0.0, n=6))
    assert run(a, c, "--mean-distance", "all=1").status == 1
    result = run(a, a, "--mean-distance", "first5=1")
    assert result.status == 2 and "needs 5 frames, the files have 4" in result.err


def test_mean_distance_fails_on_nan(run, put):
    a = put("a", "1 1\nnan 0\n")
    assert run(a, a, "--mean-distance", "all=1").lines[-1] == "FAIL"
    assert run(a, a, "--mean-distance", "all=1").status == 1


# --- unreadable --------------------------------------------------------------

GOOD = lammps_frame([(1, 1, 0.5, 0.5, 0.5), (2, 1, 0.25, 0.5, 0.5)])
XYZ_ROW = [(1, 1, 1, 2, 3)]

UNREADABLE = [
    ("empty", "", 1, "is empty"),
    ("blank", "\n \n", 1, "is empty"),
    ("garbage", "hello world again\n", 1, "expected a LAMMPS dump"),
    ("binary", bytes(range(256)) * 10, 1, "expected a LAMMPS dump"),
    ("no newline at all", b"\x01" * (3 << 20), 1, "longer than"),
    ("unknown item", GOOD.replace("ITEM: TIMESTEP", "ITEM: NONSENSE"), 1, "expected ITEM:"),
    ("step is a word", GOOD.replace("STEP\n0", "STEP\nzero"), 2, "expected a step"),
    ("step beyond int64", GOOD.replace("STEP\n0", f"STEP\n{2**63}"), 2, "64-bit"),
    ("negative count", GOOD.replace("ATOMS\n2", "ATOMS\n-2"), 4, "found -2"),
    ("count too large", GOOD.replace("ATOMS\n2", "ATOMS\n9223372036854775807"), 9, "memory"),
    ("no count", GOOD.replace("ITEM: NUMBER OF ATOMS\n2\n", ""), 7, "no ITEM: NUMBER OF ATOMS"),
    ("no step", GOOD.replace("ITEM: TIMESTEP\n0\n", ""), 7, "no ITEM: TIMESTEP"),
    ("no box", lammps_frame([(1,)], columns="id", box="TIME\n0"), 7, "no ITEM: BOX BOUNDS"),
    ("box of one number", GOOD.replace("\n0 10\n", "\n10\n", 1), 6, "expected `lo hi` of x"),
    ("box is a word", GOOD.replace("0 10\n0", "0 ten\n0", 1), 6, "a finite number"),
    ("box underscore", GOOD.replace("0 10\n0", "0 1_0\n0", 1), 6, "a finite number"),
    ("box upside down", GOOD.replace("0 10\n0", "10 0\n0", 1), 6, "below the lower"),
    ("boundary", GOOD.replace("pp pp pp", "pp qq pp"), 5, "pp pp pp"),
    ("tilted without tilt", GOOD.replace("pp pp pp", "xy xz yz pp pp pp"), 6, "`lo hi tilt` of x"),
    ("general triclinic", GOOD.replace("pp pp pp", "abc origin pp pp pp"), 5, "triclinic"),
    ("no id", GOOD.replace("ATOMS id", "ATOMS mol"), 9, "no id column"),
    ("column twice", GOOD.replace("type x y", "type x x"), 9, "column x appears twice"),
    ("truncated header", "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n", 3, "the file ends"),
    ("truncated frame", GOOD[: GOOD.rindex("2 1 0.25")], 10, "in frame 0 after 1 of 2"),
    ("truncated line", GOOD[: GOOD.rindex(" 0.5")], 11, "expected 5 columns"),
    ("too few rows", GOOD.replace("ATOMS\n2", "ATOMS\n3") + GOOD, 12, "ends after 2 particles"),
    ("too many rows", GOOD.replace("ATOMS\n2", "ATOMS\n1"), 11, "expected ITEM:"),
    ("column missing", GOOD.replace("0.25 0.5 0.5", "0.25 0.5"), 11, "expected 5 columns"),
    ("column too many", GOOD.replace("2 1 0.25", "2 1 1 0.25"), 11, "found 6"),
    ("value moved to the next row", GOOD.replace("0.5\n2 1", "\n0.5 2 1"), 10, "found 4"),
    ("value moved to the row before", GOOD.replace("0.5\n2 1", "0.5 2\n1"), 10, "found 6"),
    ("blank line", GOOD.replace("\n2 1", "\n\n2 1"), 11, "found 0"),
    ("word as value", GOOD.replace("0.25", "zero"), 11, "x: 'zero' is not a number"),
    ("two numbers in one", GOOD.replace("0.25", "1-2"), 11, "x: '1-2' is not a number"),
    ("underscore", GOOD.replace("0.25", "1_0"), 11, "is not a number"),
    ("hexadecimal", GOOD.replace("0.25", "0x10"), 11, "is not a number"),
    ("comma", GOOD.replace("0.25", "0,25"), 11, "is not a number"),
    ("NUL", GOOD.replace("0.25", "0.\0005"), 11, ""),
    ("id is not whole", GOOD.replace("2 1 0.25", "2.5 1 0.25"), 11, "id: '2.5' is not a 64-bit"),
    ("id is nan", GOOD.replace("2 1 0.25", "nan 1 0.25"), 11, "id: 'nan' is not"),
    ("id beyond int64", GOOD.replace("2 1 0.25", f"{2**63} 1 0.25"), 11, "is not a 64-bit"),
    ("type is a word", GOOD.replace("2 1 0.25", "2 A 0.25"), 11, "type: 'A' is not a number"),
    ("second frame", GOOD + GOOD.replace("0.25", "?"), 22, "is not a number"),
    ("xyz without comment", "3\n", 1, "where a comment is expected"),
    ("xyz truncated", xyz_frame(XYZ_ROW, XYZ).replace("1\n", "2\n", 1), 3, "after 1 of 2"),
    ("xyz no count", xyz_frame(XYZ_ROW, XYZ) + "x\n", 4, "expected a number of particles"),
    ("xyz triclinic", xyz_frame(XYZ_ROW, XYZ.replace("10 0 0 0", "10 1 0 0")), 2, "triclinic"),
    ("xyz lattice", xyz_frame(XYZ_ROW, XYZ.replace("10 0 0 0", "10 0 0")), 2, "expected 9"),
    ("xyz negative", xyz_frame(XYZ_ROW, XYZ.replace("10 0 0 0", "-10 0 0 0")), 2, "negative"),
    ("xyz properties", xyz_frame(XYZ_ROW, "Properties=id:I:1:pos:R"), 2, "triples"),
    ("xyz kind", xyz_frame(XYZ_ROW, "Properties=id:Q:1:pos:R:3"), 2, "id:Q:1"),
    ("xyz twice", xyz_frame(XYZ_ROW, "Properties=vel:R:3:velo:R:3"), 2, "appears twice"),
    ("xyz step", xyz_frame(XYZ_ROW, XYZ.replace("Step=0", "Step=0.5")), 2, "expected Step"),
    ("xyz time", xyz_frame(XYZ_ROW, XYZ.replace("Time=0.5", "Time=now")), 2, "expected Time"),
    ("xyz pbc", xyz_frame(XYZ_ROW, XYZ + ' pbc="T T"'), 2, "expected pbc"),
    ("xyz control", xyz_frame([("A\x01B", 1, 2)], "Properties=species:S:1:pos:R:2"), 3, ""),
    ("frames only a header", "2 0.5\n", 1, "no frame"),
    ("frames truncated", "2 0.5\n1 1\n2 2\n\n3 3\n", 5, "in frame 1 after 1 of 2"),
    ("frames blank line within", "2 0.5\n1 1\n\n2 2\n", 3, "expected 2 columns"),
    ("frames of nothing", "0 0.5\n", 1, "at least one"),
    ("frames size", "2 big\n1 1\n2 2\n", 1, "a box size"),
    ("frames negative size", "2 -1\n1 1\n2 2\n", 1, "positive"),
    ("frames of words", "1 1\na b\n", 2, "x: 'a' is not a number"),
]


@pytest.mark.parametrize("name,text,line,message", UNREADABLE, ids=[u[0] for u in UNREADABLE])
def test_unreadable(run, put, name, text, line, message):
    bad = put("bad", text)
    good = put("good", GOOD if b"ITEM" in bad.read_bytes()[:6] else
               "2 0.5\n1 1\n2 2\n\n3 3\n4 4\n")
    for pair in ((bad, good), (good, bad), (bad, bad)):
        result = run(*pair)
        assert result.status == 2, result.out
        assert result.err.startswith(f"check.py: {bad}:{line}: "), result.err
        assert message in result.err
        assert result.err.count("\n") == 1


def test_good_is_readable(run, put):
    good = put("good", GOOD)
    assert run(good, good).status == 0
    xyz = put("xyz", xyz_frame(XYZ_ROW, XYZ))
    assert run(xyz, xyz).status == 0


def test_line_numbers_are_independent_of_chunks(run, put, chunk_rows):
    bad = put("bad", lammps_frame(with_value(ROWS, 16, 3, "oops")))
    assert f"{bad}:26: y: 'oops' is not a number" in run(bad, put("a", lammps_frame(ROWS))).err
    short = put("short", lammps_frame(ROWS).replace("ATOMS\n20", "ATOMS\n21"))
    assert f"{short}:29: the file ends in frame 0 after 20 of 21" in run(short, short).err


def test_missing_file_and_directory(run, put, tmp_path):
    a = put("a", GOOD)
    assert run(a, tmp_path / "nowhere").err == (
        f"check.py: {tmp_path / 'nowhere'}: No such file or directory\n")
    assert run(tmp_path / "nowhere", a).status == 2
    assert run(a, tmp_path).status == 2


def test_damaged_gzip(run, put):
    whole = gzip.compress("".join(lammps_frame(random_rows(500, s)) for s in range(4)).encode())
    a = put("a", whole)
    for cut in (5, 15, len(whole) // 2, len(whole) - 1):
        result = run(a, put("cut", whole[:cut]))
        assert result.status == 2 and "gzip stream is truncated" in result.err
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    assert run(put("flipped", bytes(flipped)), a).status == 2
    assert run(put("tail", whole + b"tail"), a).status == 2
    assert "is empty" in run(put("empty", gzip.compress(b"")), a).err


def test_no_shared_fields(run, put):
    a = put("a", lammps_frame([(1, 2)], columns="id vx"))
    b = put("b", lammps_frame([(1, 2)], columns="id fx"))
    result = run(a, b)
    assert result.status == 2 and "no shared fields" in result.err
    assert str(a) in result.err and "id fx" in result.err
    assert run(a, a, "--mean-distance", "all=1").status == 2


def test_text_against_number(run, put):
    a = put("a", xyz_frame([("x", 1, 2)], "Properties=charge:S:1:pos:R:2"))
    b = put("b", xyz_frame([("1", 1, 2)], "Properties=charge:R:1:pos:R:2"))
    result = run(a, b)
    assert result.status == 2 and "field charge is text in one file" in result.err
    assert run(a, b, "--fields", "x").status == 0


def test_fields_that_change_between_frames(run, put):
    a = put("a", lammps_frame(ROWS) + lammps_frame([(1, 1)], 1, "id x"))
    result = run(a, a)
    assert result.status == 2 and "the shared fields change in frame 1" in result.err


@pytest.mark.parametrize("arguments", [
    [], ["a"], ["a", "b", "c"], ["a", "b", "--tol", "-1"], ["a", "b", "--tol", "nan"],
    ["a", "b", "--tol", "x"], ["a", "b", "--tol", "1", "--mean-distance", "all=1"],
    ["a", "b", "--mean-distance", "some=1"], ["a", "b", "--mean-distance", "first0=1"],
    ["a", "b", "--mean-distance", "all"], ["a", "b", "--mean-distance", "all=-1"],
    ["a", "b", "--fields", ""], ["a", "b", "--fields", "x,x"], ["a", "b", "--nonsense"],
    ["a", "b", "--fields", "x", "--mean-distance", "all=1"]])
def test_usage_errors(run, arguments):
    result = run(*arguments)
    assert result.status == 2 and "usage:" in result.err


def test_help(run):
    result = run("--help")
    assert result.status == 0
    for word in ("LAMMPS", "XYZ", "frames", "gzip", "exit status", "nearest image", "--quiet"):
        assert word in result.out


# --- chunks, memory, speed ---------------------------------------------------


@pytest.mark.parametrize("n", [1, 6, 7, 8, 13, 14, 15])
@pytest.mark.parametrize("place", ["first", "last"])
def test_chunk_boundaries(run, put, monkeypatch, n, place):
    monkeypatch.setattr(check, "CHUNK_ROWS", 7)
    rows = random_rows(n)
    row = 0 if place == "first" else n - 1
    a = put("a", lammps_frame(rows) * 2)
    b = put("b", lammps_frame(rows) + lammps_frame(with_value(rows, row, 4, -1)))
    assert run(a, a).status == 0
    result = run(a, b)
    assert f"first difference: frame 1 step 0 id {row + 1} field z:" in result.lines[0]
    assert f"differing: 1 of {8 * n} values" in result.out


@pytest.mark.parametrize("size", [1, 2, 17, 1000])
def test_read_boundaries(run, put, monkeypatch, size):
    # Two newlines may lie further apart than so small a read; only the limit is patched out.
    monkeypatch.setattr(check.TextSource, "_fill", small_fill(size))
    a = put("a", lammps_frame(ROWS) * 2)
    b = put("b", gzip.compress((lammps_frame(ROWS) + lammps_frame(ROWS[::-1])).encode()))
    assert run(a, b).out == "identical: 2 frames, 20 particles, fields id type x y z\n"
    bad = put("bad", lammps_frame(with_value(ROWS, 16, 3, "oops")))
    assert f"{bad}:26: " in run(a, bad).err


def small_fill(size):
    def fill(self) -> bool:
        data = self._stream.read(size)
        self._buffer = self._buffer[self._start :] + data
        self._start = 0
        return bool(data)

    return fill


BIG = 10**6
BIG_MEBIBYTES = 64  # the two frames as arrays would be 122, as text 90


def big_frame(path: Path, end: str, order: Sequence[int]) -> None:
    with open(path, "w") as file:
        file.write(lammps_frame([], columns="id type x y z vx vy vz").replace(
            "ATOMS\n0", f"ATOMS\n{BIG}"))
        file.writelines(f"{i} 1 {i}.5 0.25 {i}e-3 -1.125 2 3.5{end}\n" for i in order)


def test_memory_and_speed_of_a_large_frame(run, tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    big_frame(a, "", range(1, BIG + 1))
    big_frame(b, " ", range(1, BIG + 1))  # other bytes, so that both are converted
    start = time.process_time()
    assert run(a, b).status == 0
    seconds = time.process_time() - start
    tracemalloc.start()
    try:
        result = run(a, b)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.out == "identical: 1 frame, 1000000 particles, fields id type x y z vx vy vz\n"
    assert peak < BIG_MEBIBYTES << 20, f"{peak / 2**20:.1f} MiB"
    # 16 million values at a third of the required rate: a guard against a quadratic mistake.
    assert seconds < 32.0


def test_large_permuted_frame(run, tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    big_frame(a, "", range(1, BIG + 1))
    order = np.random.default_rng(1).permutation(BIG) + 1
    big_frame(b, "", order.tolist())
    assert run(a, b).status == 0
    text = b.read_text()
    target = f"\n{order[-1]} 1 {order[-1]}.5"
    b.write_text(text.replace(target, target + "00000001"))
    result = run(a, b)
    assert result.status == 1
    assert f"id {order[-1]} field x: A {order[-1]}.5, B " in result.lines[0]
    assert "differing: 1 of 7000000 values (x 1)" in result.out


# --- as a program ------------------------------------------------------------


def program(*arguments, **options) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, str(PROGRAM), *map(str, arguments)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **options)


def test_exit_status_of_the_program(put, tmp_path):
    a, b = put("a", lammps_frame(ROWS)), put("b", lammps_frame(with_value(ROWS, 1, 2, 0)))
    assert (program(a, a).returncode, program(a, b).returncode) == (0, 1)
    missing = program(a, tmp_path / "nowhere")
    assert missing.returncode == 2 and b"Traceback" not in missing.stderr
    assert os.access(PROGRAM, os.X_OK)
    assert PROGRAM.read_text().startswith("#!/usr/bin/env python3\n")


def test_reads_a_pipe(put):
    text = lammps_frame(ROWS)
    zipped = gzip.compress(text.encode())
    assert program(put("a", text), "/dev/stdin", input=zipped).returncode == 0


def test_characters_the_terminal_does_not_have(put):
    a = put("a", lammps_frame([(1, "\u00c4\u4e00", 1)], columns="id element x"))
    b = put("b", lammps_frame([(1, b"\xff".decode("latin1"), 1)], columns="id element x"))
    done = program(a, b, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 1 and done.stderr == b""
    assert b"field element: A \\xc4\\u4e00, B \\xff" in done.stdout


def test_a_defect_is_not_taken_for_a_difference(put, monkeypatch, capsys):
    def fail(*_):
        raise RuntimeError("boom")

    monkeypatch.setattr(check, "parse_rows", fail)
    a = put("a", GOOD)
    assert check.main([str(a), str(a)]) == 2
    assert capsys.readouterr().err == (
        "check.py: internal error, please report: RuntimeError: boom\n")
