"""Pictures of dump image and movies of dump movie: pixels of known spheres, the same bytes from every engine and number
of threads and ranks, LAMMPS's geometry, and bad input."""

from __future__ import annotations

import os
import shutil
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest

import harness
from cli import RUNTIME, USAGE, refused, run_deck, works

RED, GREEN, BLUE = (255, 0, 0), (0, 128, 0), (0, 0, 255)

# A box with sides of 10 in a picture with 10 pixels per sigma, seen along z.
VIEW = "size 200 200 box no 0 view 0 0 up 0 1 0"


def ppm(path: Path) -> np.ndarray:
    magic, width, height, most, pixels = path.read_bytes().split(None, 4)[:5]
    assert (magic, most) == (b"P6", b"255")
    data = path.read_bytes()[-3 * int(width) * int(height):]
    return np.frombuffer(data, dtype=np.uint8).reshape(int(height), int(width), 3).astype(int)


def png(path: Path) -> np.ndarray:
    """An 8-bit PNG of colours with any filters."""
    data = path.read_bytes()
    width, height = (int.from_bytes(data[at:at + 4], "big") for at in (16, 20))
    assert data[24:26] == b"\x08\x02"
    body, at = b"", 8
    while at < len(data):
        length = int.from_bytes(data[at:at + 4], "big")
        body += data[at + 8:at + 8 + length] if data[at + 4:at + 8] == b"IDAT" else b""
        at += 12 + length
    raw, rows = zlib.decompress(body), np.zeros((height + 1, 3 * width + 3), dtype=int)
    for y in range(height):
        line = raw[y * (3 * width + 1):(y + 1) * (3 * width + 1)]
        for x in range(3 * width):
            a, b, c = rows[y + 1, x], rows[y, x + 3], rows[y, x]
            paeth = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            rows[y + 1, x + 3] = (line[x + 1] + (0, a, b, (a + b) // 2, paeth)[line[0]]) % 256
    return rows[1:, 3:].reshape(height, width, 3)


def box(particles, dim: int = 3, types: int = 3, boundary: str = "p p p") -> str:
    z = "0 10" if dim == 3 else "-0.5 0.5"
    deck = f"dimension {dim}\nboundary {boundary}\nregion b block 0 10 0 10 {z}\ncreate_box {types} b\nmass * 1\n"
    deck += "pair_style lj/cut 0.1\npair_coeff * * 1 0.05\n"
    return deck + "".join(f"create_atoms {t} single {x} {y} {z}\n" for t, x, y, z in particles)


def covered(x: float, y: float, radius: float) -> np.ndarray:
    """The pixels whose centres are in a circle, by VIEW."""
    rows, columns = np.mgrid[0:200, 0:200] + 0.5
    return (columns - 10 * x - 50) ** 2 + (150 - 10 * y - rows) ** 2 <= (10 * radius) ** 2


def picture(folder: Path, deck: str, words: str, modify: str = "", *arguments: str) -> np.ndarray:
    line = f"write_dump all image f.ppm {words} {'modify ' + modify if modify else ''}\n"
    works(run_deck(folder, deck + line, *arguments))
    return ppm(folder / "f.ppm")


# ---------------------------------------------------------------- spheres


def test_a_sphere_covers_its_circle(tmp_path):
    """The centre is bright, the edge dark, the rest background; at its exact place."""
    seen = picture(tmp_path, box([(2, 3.25, 6.5, 1)]), f"type type {VIEW} shiny 0", "adiam 2 3.1 backcolor navy")
    inside = covered(3.25, 6.5, 1.55)
    assert (seen[~inside] == (0, 0, 128)).all() and (seen[inside] != (0, 0, 128)).any(axis=1).all()
    assert not seen[inside][:, 0].any() and not seen[inside][:, 2].any()
    light = seen[:, :, 1]
    assert 0.85 * 128 < light[85, 82] <= 128 and light[96, 94] < 0.75 * light[85, 82] < light[80, 77]


def test_the_nearest_sphere_is_seen(tmp_path):
    """Where two spheres intersect, the surface in front decides, pixel by pixel."""
    seen = picture(tmp_path, box([(1, 4, 5, 5), (3, 5.5, 5, 5.5)]), f"type type {VIEW} adiam 3")
    rows, columns = np.mgrid[0:200, 0:200] + 0.5
    depth = []
    for x, z in ((4, 5), (5.5, 5.5)):
        square = 1.5 ** 2 - ((columns - 50) / 10 - x) ** 2 - ((150 - rows) / 10 - 5) ** 2
        depth.append(np.where(square >= 0, z + np.sqrt(np.maximum(square, 0)), -np.inf))
    far = np.isinf(depth[0]) & np.isinf(depth[1])
    assert (seen[far] == 0).all()
    first = depth[0] > depth[1]
    assert first.sum() > 300 and (first & (depth[1] > 0)).sum() > 50
    assert (seen[first][:, 0] > seen[first][:, 2]).all()
    assert (seen[~first & ~far][:, 2] > seen[~first & ~far][:, 0]).all()


def test_discs_of_two_dimensions(tmp_path):
    """Flat colours with a dark rim; of two discs that overlap the one with the smaller id is in front."""
    seen = picture(tmp_path, box([(1, 4, 5, 0), (2, 5, 5, 0)], dim=2), "type type size 200 200 box no 0 adiam 2")
    first, second = covered(4, 5, 1), covered(5, 5, 1)
    assert (seen[~first & ~second] == 0).all()
    assert (seen[covered(4, 5, 0.8)] == RED).all() and (seen[covered(5, 5, 0.8) & ~first] == GREEN).all()
    assert (seen[first & ~covered(4, 5, 0.9)] == (140, 0, 0)).all()


def test_small_particles_are_pixels(tmp_path):
    seen = picture(tmp_path, box([(1, 3.27, 6.54, 0)], dim=2), "type type size 200 200 box no 0 adiam 0.001")
    assert np.argwhere(seen.any(axis=2)).tolist() == [[84, 82]]


def test_views_and_centres(tmp_path):
    """Along each axis, from numbers and from variables; up; zoom; a centre that is a corner."""
    deck = box([(1, 8, 5, 5), (2, 5, 9, 5), (3, 5, 5, 7)])
    sides = "size 200 200 box no 0 adiam 1"

    def places(words):
        seen = picture(tmp_path, deck, f"type type {sides} {words}")
        return [tuple(np.argwhere(seen[:, :, k] > 30).mean(axis=0).round(1)) if (seen[:, :, k] > 30).any() else None
                for k in range(3)]

    assert places("shiny 0 view 0 0 up 0 1 0") == [(99.5, 129.5), (59.5, 99.5), (99.5, 99.5)]
    assert places("shiny 0 view 90 0") == [(99.5, 99.5), (99.5, 139.5), (79.5, 99.5)]
    assert places("shiny 0 view 90 -90") == [(99.5, 129.5), (99.5, 99.5), (79.5, 99.5)]
    assert places("shiny 0 view 0 0 up 1 0 0") == [(69.5, 99.5), (99.5, 59.5), (99.5, 99.5)]
    assert places("shiny 0 view 0 0 up 0 1 0 zoom 0.5") == [(99.5, 114.5), (79.5, 99.5), (99.5, 99.5)]
    assert places("shiny 0 view 0 0 up 0 1 0 center d 1 1 0") == [(149.5, 79.5), (109.5, 49.5), (149.5, 49.5)]
    deck += "variable t equal 90\nvariable p equal step-90\nvariable z equal 1/2\n"
    assert places("shiny 0 view v_t v_p zoom v_z") == [(99.5, 114.5), (99.5, 99.5), (89.5, 99.5)]


def test_box_and_axes(tmp_path):
    words = "type type size 200 200 shiny 0 view 0 0 up 0 1 0 box yes 0.04 axes yes 0.5 0.04"
    seen = picture(tmp_path, box([]), words, "boxcolor white")
    inner, grey = seen[60:140, 60:140], (seen.std(axis=2) < 2) & (seen.sum(axis=2) > 0)
    assert not inner.any() and grey[100, 48:52].all() and grey[48:52, 100].all() and grey[148:152, 100].all()
    assert seen[160, 60, 0] > 100 and not seen[160, 60, 1:].any()  # x, from a tenth outside of the corner to 4
    assert seen[140, 40, 1] > 60 and not seen[140, 40, ::2].any()
    assert seen[160, 92].any() == False and seen[140, 89].any() == False  # noqa: E712
    assert (seen[0] == 0).all()


def test_values_by_a_scale(tmp_path):
    """Continuous, discrete and sequential scales; fractions; values beyond the ends; diameters that are values."""
    deck = box([(1, 2, 5, 0), (1, 4, 5, 0), (1, 6, 5, 0), (1, 8, 5, 0)], dim=2)
    deck += "".join(f"set atom {k + 1} vx {v}\n" for k, v in enumerate((-2, 0, 1, 6)))

    def colours(scale):
        seen = picture(tmp_path, deck, "vx type size 200 200 box no 0", scale)
        return [tuple(seen[100, x]) for x in (70, 90, 110, 130)]

    assert colours("") == [BLUE, (64, 0, 191), (96, 0, 159), RED]
    assert colours("amap 0 4 ca 0 3 min black 1 white max red")[:3] == [(0, 0, 0), (0, 0, 0), (255, 255, 255)]
    assert colours("amap min max cf 0 3 min black 0.25 white max red") == [
        (0, 0, 0), (255, 255, 255), (255, 213, 213), RED]
    assert colours("amap min max da 0 3 0 1 blue 0.5 7 red min max green") == [GREEN, BLUE, BLUE, RED]
    assert colours("amap -2 6 sa 2 3 red green blue") == [RED, GREEN, GREEN, GREEN]
    assert colours("color mine 0.2 0.4 1 amap -2 6 sf 0.25 2 mine blue") == [(51, 102, 255), BLUE, BLUE, (51, 102, 255)]
    seen = picture(tmp_path, deck, "type vx size 200 200 box no 0")
    assert (seen.any(axis=2) == (covered(6, 5, 0.5) | covered(8, 5, 3))).all()


def test_types_elements_groups_and_regions(tmp_path):
    deck = box([(1, 2, 5, 0), (2, 4, 5, 0), (3, 6, 5, 0), (3, 8, 5, 0)], dim=2)
    deck += "group few id 1 2 3\nregion left block INF 5 INF INF INF INF\n"
    seen = picture(tmp_path, deck, "type type size 200 200 box no 0", "acolor 1*2 gold/teal acolor 3 snow adiam 2* 0.4")
    assert [tuple(seen[100, x]) for x in (70, 90, 110, 130)] == [(255, 215, 0), (0, 128, 128)] + 2 * [(255, 250, 250)]
    assert seen[100, 73].any() and not seen[100, 93].any()
    seen = picture(tmp_path, deck, "element element size 200 200 box no 0", "element C O H")
    assert [tuple(seen[100, x]) for x in (70, 90, 110)] == [(144, 144, 144), (255, 13, 13), (255, 255, 255)]
    widths = [int(seen[100, x - 9:x + 9].any(axis=1).sum()) for x in (70, 90, 110)]
    assert widths == [16, 14, 6]  # covalent radii 0.76, 0.66 and 0.31
    works(run_deck(tmp_path, deck + "write_dump few image f.ppm type type size 200 200 box no 0 modify region left "
                   "thresh id > 1\nwrite_dump all image g.ppm type type atom no\n"))
    assert (ppm(tmp_path / "f.ppm").any(axis=2) == covered(4, 5, 0.5)).all()
    assert (ppm(tmp_path / "g.ppm")[255, 255] == 0).all()


def test_a_particle_beyond_a_face_is_wrapped(tmp_path):
    """A particle that has gone through a periodic face is where a text dump has it."""
    deck = box([(1, 9.9, 5, 0)], dim=2) + "set atom 1 vx 1\nfix 1 all nve\n"
    deck += "dump d all image 100 f.*.ppm type type size 200 200 box no 0\n"
    deck += "dump e all custom 100 e.dump id x y\nrun 100\n"
    works(run_deck(tmp_path, deck))
    x = harness.read_dump(tmp_path / "e.dump")[-1].columns["x"][0]
    assert x == pytest.approx(0.4)
    assert (ppm(tmp_path / "f.100.ppm").any(axis=2) == covered(x, 5, 0.5)).all()


def test_a_picture_as_png_and_half_as_large(tmp_path):
    """PNG has the pixels of PPM; with fsaa a pixel is the mean of four."""
    deck = box([(1, 3, 5, 5), (2, 6, 6, 5)])
    works(run_deck(tmp_path, deck + "write_dump all image f.png type type size 40 30 ssao yes 7 0.7\n"
                   "write_dump all image f.ppm type type size 40 30 ssao yes 7 0.7\n"
                   "write_dump all image g.ppm type type size 80 60 box no 0\n"
                   "write_dump all image h.ppm type type size 40 30 box no 0 fsaa yes\n"))
    assert (png(tmp_path / "f.png") == ppm(tmp_path / "f.ppm")).all()
    large = ppm(tmp_path / "g.ppm")
    mean = (large[::2, ::2] + large[1::2, ::2] + large[::2, 1::2] + large[1::2, 1::2] + 2) // 4
    assert (ppm(tmp_path / "h.ppm") == mean).all()


def test_occlusion_darkens_gaps(tmp_path):
    """A sphere alone has none; between two spheres that touch it is dark."""
    deck = box([(1, 4, 5, 5), (1, 6, 5, 5)])
    bare = picture(tmp_path, deck, f"type type {VIEW} adiam 2")
    shaded = picture(tmp_path, deck, f"type type {VIEW} adiam 2 ssao yes 1 1.0")
    assert (shaded <= bare).all() and shaded[100, 97, 0] < 0.9 * bare[100, 97, 0]
    assert shaded[100, 85, 0] > 0.97 * bare[100, 85, 0]
    alone = box([(1, 4, 5, 5)])
    assert (picture(tmp_path, alone, f"type type {VIEW}") ==
            picture(tmp_path, alone, f"type type {VIEW} ssao yes 3 1")).mean() > 0.999


def test_furniture(tmp_path):
    """The picture stands in a frame; below it is a bar whose length is what the text says: 5 sigma, 50 pixels."""
    deck = box([(1, 4, 5, 0)], dim=2)
    words = "vx type size 200 200 box no 0"
    bare, whole = picture(tmp_path, deck, words), picture(tmp_path, deck, words, "furniture yes")
    assert whole.shape[0] > 220 and whole.shape[1] > 240
    found = [(r, c) for r in range(30) for c in range(30) if (whole[r:r + 200, c:c + 200] == bare).all()]
    assert len(found) == 1
    row, column = found[0]
    below = (whole[row + 203:, :] == 0).all(axis=2)
    assert max(int(line[column:column + 60].sum()) for line in below) == 50


def test_geometry_is_that_of_lammps(tmp_path):
    """Both draw the same spheres: at most some pixels on edges differ."""
    lmp = shutil.which("lmp")
    if not lmp:
        pytest.skip("there is no lmp")
    for box_words, dim, words in (("block 0 10 0 7 0 5", 3, "view 50 -20 zoom 1.4 up 0 1 1"),
                                  ("block 0 9 0 6 -0.5 0.5", 2, "size 300 200"),
                                  ("block 0 10 0 7 0 5", 3, "view 0 30"), ("block 0 10 0 7 0 5", 3, "view 180 30"),
                                  ("block 0 10 0 7 0 5", 3, "view 90 90 up 0 1 0"),
                                  ("prism 0 10 0 7 0 5 2 -1 1", 3, "center s 0.4 0.6 0.9")):
        z = 2 if dim == 3 else 0
        deck = f"dimension {dim}\nregion b {box_words}\ncreate_box 2 b\nmass * 1\npair_style lj/cut 0.5\n" \
            f"pair_coeff * * 1 1\ncreate_atoms 1 single 1 1 {z}\ncreate_atoms 2 single 4 5 {z}\n" \
            f"create_atoms 1 single 6 2 {z / 2}\nwrite_dump all image NAME.ppm type type box no 0 adiam 3 {words}\n"
        (tmp_path / "in.lmp").write_text(deck.replace("NAME", "theirs"))
        subprocess.run([lmp, "-in", "in.lmp", "-log", "none", "-screen", "none"], cwd=tmp_path, check=True)
        works(run_deck(tmp_path, deck.replace("NAME", "ours")))
        ours, theirs = (ppm(tmp_path / f"{name}.ppm") for name in ("ours", "theirs"))
        assert ours.shape == theirs.shape
        differ = ours.any(axis=2) != theirs.any(axis=2)
        assert differ.sum() < 0.1 * theirs.any(axis=2).sum() and theirs.any(axis=2).sum() > 1000
        both = ~differ & theirs.any(axis=2)
        assert ((ours[both][:, 0] > ours[both][:, 1]) == (theirs[both][:, 0] > theirs[both][:, 1])).mean() > 0.97


def test_radii_of_elements_are_in_angstrom(tmp_path):
    """The same argon in units metal, and in units si, in metres."""
    seen = {}
    for units, one in (("metal", 1.0), ("si", 1e-10)):
        deck = (f"units {units}\nregion b block 0 {10 * one} 0 {10 * one} 0 {10 * one}\ncreate_box 1 b\nmass 1 {one}\n"
                f"pair_style zero {one}\npair_coeff * *\ncreate_atoms 1 single {4 * one} {5 * one} {6 * one}\n")
        seen[units] = picture(tmp_path, deck, f"element element {VIEW} shiny 0", "element Ar")
    assert 300 < seen["si"].any(axis=2).sum() < 400
    assert (seen["si"] != seen["metal"]).any(axis=2).sum() < 10


# ---------------------------------------------------------------- the same bytes

MIXTURE = """lattice fcc 0.8442
region box block 0 6 0 4 0 4
create_box 2 box
create_atoms 1 box
set type 1 type/fraction 2 0.3 771
mass * 1
velocity all create 2 87287
pair_style lj/cut 2.5
pair_coeff * * 1 1
group most id > 20
region part block 0.4 INF INF INF INF INF
compute p all pe/atom
variable speed atom sqrt(vx^2+vy^2+vz^2)
variable phi equal 5*step
fix move all nve
dump a most image 10 a.*.png v_speed type size 120 100 ssao yes 3 0.8 fsaa yes view 60 v_phi axes yes 0.4 0.03
dump_modify a region part thresh vx > -2 amap min max cf 0 3 min blue 0.4 white max red furniture yes adiam 2 0.7
dump b all image 10 b.*.png c_p v_speed size 60 60
dump c all image 10 c.*.ppm fx element size 60 60 zoom 1.5
run 10
"""


def files(folder: Path):
    found = {p.name: p.read_bytes() for p in folder.iterdir() if p.suffix in (".png", ".ppm")}
    assert len(found) == 6
    return found


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("naive")
    harness.run(MIXTURE, folder, engine="naive")
    return files(folder)


@pytest.mark.parametrize("threads", [1, 3])
def test_pictures_equal_naive(threads, fast_engine, expected, tmp_path):
    if threads > 1 and fast_engine != "openmp":
        pytest.skip("threads are those of openmp")
    harness.run(MIXTURE, tmp_path, engine=fast_engine, threads=threads)
    assert files(tmp_path) == expected


@pytest.mark.mpi
def test_pictures_of_three_ranks(expected, tmp_path):
    harness.run(MIXTURE, tmp_path, ranks=3, threads=1)
    assert files(tmp_path) == expected


@pytest.mark.mpi
def test_overlaps_of_ranks_are_decided_by_id(tmp_path):
    """Discs at one depth on two ranks: the smaller id is in front, whatever rank it is on."""
    particles = [(1 + k % 3, 4.6 + 0.2 * (k * 7 % 5), 4.6 + 0.2 * k, 0) for k in range(5)]
    deck = box(particles, dim=2) + "fix 1 all nve\n"
    deck += "dump d all image 1 f.*.ppm type type size 100 100 adiam 1.5\nrun 0\n"
    harness.run(deck, tmp_path / "one")
    harness.run(deck, tmp_path / "two", ranks=2, threads=1)
    assert (tmp_path / "one/f.0.ppm").read_bytes() == (tmp_path / "two/f.0.ppm").read_bytes()


# ---------------------------------------------------------------- movies

FFMPEG = """#!/bin/sh
for last; do :; done
echo "$@" >"${last#file:}.words"
cat >"${last#file:}"
"""


def with_ffmpeg(folder: Path, script: str = FFMPEG):
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin/ffmpeg").write_text(script)
    (folder / "bin/ffmpeg").chmod(0o755)
    return {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}


MOVIE = box([(1, 4, 5, 0)], dim=2) + "set atom 1 vx 1\nfix 1 all nve\n" \
    "dump m all movie 10 m.mp4 type type size 20 16\ndump_modify m framerate 12.5 bitrate 900\n"


def test_a_movie_is_its_pictures(tmp_path):
    """ffmpeg gets the pictures of dump image one after the other, over all runs, and the numbers of dump_modify."""
    deck = MOVIE + "dump p all image 10 p.*.ppm type type size 20 16\nrun 20\nrun 10\nundump m\nrun 10\n"
    works(run_deck(tmp_path, deck, variables=with_ffmpeg(tmp_path)))
    pictures = b"".join((tmp_path / f"p.{k}.ppm").read_bytes() for k in (0, 10, 20, 30))
    assert (tmp_path / "m.mp4").read_bytes() == pictures
    words = (tmp_path / "m.mp4.words").read_text().split()
    assert words[-7:] == ["-r", "12.5", "-b:v", "900k", "-pix_fmt", "yuv420p", "file:m.mp4"]
    assert " ".join(words).startswith("-v error -y -r 12.5 -f image2pipe -c:v ppm -i -")


def test_a_resumed_movie_is_another_file(tmp_path):
    deck = MOVIE + "restart 20 r.*\nrun 30\n"
    surroundings = with_ffmpeg(tmp_path)
    works(run_deck(tmp_path, deck, variables=surroundings))
    first = (tmp_path / "m.mp4").read_bytes()
    works(run_deck(tmp_path, deck, "--resume", variables=surroundings))
    assert (tmp_path / "m.mp4").read_bytes() == first
    assert (tmp_path / "m.20.mp4").read_bytes() == first[3 * len(first) // 4:]


def test_without_ffmpeg(tmp_path):
    (tmp_path / "bin").mkdir()
    nowhere = {"PATH": str(tmp_path / "bin")}
    refused(run_deck(tmp_path, MOVIE, variables=nowhere), USAGE, "ffmpeg", "dump image", line=11)
    surroundings = with_ffmpeg(tmp_path, "#!/bin/sh\nexec <&-\nexit 3\n")
    large = MOVIE.replace("20 16", "900 900")
    refused(run_deck(tmp_path, large + "run 30\n", variables=surroundings), RUNTIME, "ffmpeg has ended")
    surroundings = with_ffmpeg(tmp_path, "#!/bin/sh\ncat >/dev/null\nexit 3\n")
    refused(run_deck(tmp_path, MOVIE + "run 30\nundump m\n", variables=surroundings), RUNTIME, "undump m",
            "ffmpeg failed")
    for end in ("", "clear\nprint over\n"):
        refused(run_deck(tmp_path, MOVIE + "run 30\n" + end, variables=surroundings), RUNTIME, "dump m:",
                "ffmpeg failed")
    refused(run_deck(tmp_path, MOVIE + "write_dump all movie w.mp4 type type\n", variables=surroundings), RUNTIME,
            "ffmpeg failed")


@pytest.mark.parametrize("name, size, half", [("m.webm", "20 16", True), ("m.mp4", "21 16", False),
                                              ("m.mp4", "20 15", False), ("m.gif", "20 16", False)])
def test_films_that_players_know(name, size, half, tmp_path):
    """Colours of half the resolution, where the size and the format allow it."""
    deck = MOVIE.replace("m.mp4", name).replace("20 16", size) + "run 10\n"
    works(run_deck(tmp_path, deck, variables=with_ffmpeg(tmp_path)))
    assert ("-pix_fmt yuv420p" in (tmp_path / f"{name}.words").read_text()) == half


@pytest.mark.skipif(shutil.which("ffprobe") is None, reason="ffmpeg is not installed")
def test_ffmpeg_makes_a_film_of_it(tmp_path):
    works(run_deck(tmp_path, MOVIE + "run 50\n"))
    words = "-v error -count_frames -show_entries stream=width,height,r_frame_rate,nb_read_frames,pix_fmt -of csv"
    said = subprocess.run(["ffprobe", *words.split(), "m.mp4"], cwd=tmp_path, capture_output=True, check=True)
    assert said.stdout.decode() == "stream,20,16,yuv420p,25/2,6\n"


# ---------------------------------------------------------------- bad input

DUMP = "dump d all image 10 f.*.png type type "
BAD = {
    "dump d all image 100 image.*.jpg type type axes yes 0.8 0.02 view 60 -30": ["image.*.jpg", ".png", ".ppm"],
    "dump d all image 10 f.*.gif type type": ["f.*.gif", ".png"],
    "dump d all image 10 f.*.png type": ["colour and diameter"],
    "dump d all image 10 f.*.png speed type": ["speed", "vx"],
    "dump d all image 10 f.*.png type c_no": ["c_no"],
    "dump d all movie 10 f.*.mp4 type type": ["f.*.mp4", "one file"],
    DUMP + "colour red": ["colour", "atom", "fsaa"],
    DUMP + "atom maybe": ["atom", "maybe"],
    DUMP + "adiam 0": ["adiam", "positive"],
    DUMP + "bond atom 0.5": ["bond", "not drawn"],
    DUMP + "line type 1": ["line", "segments"],
    DUMP + "tri type 1 1": ["tri", "triangles"],
    DUMP + "body type 1 1": ["body", "bodies"],
    DUMP + "grid c_1:g:d": ["grid", "density"],
    DUMP + "fix 1 type 1 1": ["fix", "objects"],
    DUMP + "persp 0.5": ["persp", "parallel"],
    DUMP + "size 0 10": ["width", "from 1 to 8192"],
    DUMP + "size 10": ["size needs 2"],
    DUMP + "size 10 9000": ["height", "8192"],
    DUMP + "view 190 0": ["theta", "0 to 180"],
    DUMP + "view v_no 0": ["theta", "'no'"],
    DUMP + "center x 0 0 0": ["center", "s, d"],
    DUMP + "up 0 0 0": ["up", "0"],
    DUMP + "zoom 0": ["zoom", "positive"],
    DUMP + "box yes 2": ["box", "0 to 1"],
    DUMP + "axes yes -1 0": ["axes", "-1"],
    DUMP + "subbox yes 0.1": ["subbox", "ranks"],
    DUMP + "shiny 2": ["shiny", "0 to 1"],
    DUMP + "ssao yes 0 0.5": ["seed", "ssao"],
    DUMP + "ssao yes 1 1.5": ["strength", "0 to 1"],
    DUMP + "fsaa 2": ["fsaa"],
    "dump_modify e acolor 4 red": ["4"],
    "dump_modify e acolor 1 reddish": ["reddish", "CSS"],
    "dump_modify e acolor 1": ["acolor needs 2"],
    "dump_modify e adiam 1 -1": ["adiam", "-1"],
    "dump_modify e amap 1 0 ca 0 2 min red max blue": ["range from 1 to 0"],
    "dump_modify e amap max min ca 0 2 min red max blue": ["range"],
    "dump_modify e amap min max cx 0 2 min red max blue": ["cx", "ca, cf"],
    "dump_modify e amap min max cf 0 2 0 red max blue": ["first entry", "min"],
    "dump_modify e amap min max cf 0 4 min red 0.5 blue 0.4 red max blue": ["increase"],
    "dump_modify e amap min max da 0 1 0 1 red": ["last entry", "min to max"],
    "dump_modify e amap min max sa 0 1 red": ["bin", "positive"],
    "dump_modify e amap min max cf 0 3 min red max blue": ["amap needs"],
    "dump_modify e amap low max cf 0 2 min red max blue": ["low", "min and max"],
    "dump_modify e backcolor none": ["none", "backcolor"],
    "dump_modify e boxcolor 7": ["7", "boxcolor"],
    "dump_modify e color mine 0.1 2 0.3": ["2", "0 to 1"],
    "dump_modify e color a/b 0.1 0.2 0.3": ["a/b"],
    "dump_modify e framerate 24": ["framerate", "image", "acolor"],
    "dump_modify e sort off": ["sort", "image"],
}


@pytest.mark.parametrize("line", BAD)
def test_what_is_refused(line, tmp_path):
    deck = box([(1, 4, 5, 5)]) + "dump e all image 10 e.*.png type type\n"
    refused(run_deck(tmp_path, deck + line + "\n"), USAGE, *BAD[line], line=deck.count("\n") + 1)


def test_variables_are_checked_at_the_picture(tmp_path):
    deck = box([(1, 4, 5, 5)]) + "variable z equal 1-step/5\nfix 1 all nve\n" + DUMP + "zoom v_z\nrun 10\n"
    refused(run_deck(tmp_path, deck), USAGE, "zoom must be positive")


def test_words_of_lammps_are_accepted(tmp_path):
    deck = box([(1, 4, 5, 5)]) + "variable colors string \"red green blue\"\nvariable m atom id%3\n" \
        "dump 3 all image 100 image.*.png type type axes yes 0.8 0.02 view 60 -30\ndump_modify 3 pad 5 adiam 1 0.5\n" \
        "dump 4 all image 100 other.*.png v_m type zoom 1.6 adiam 1.5 subbox no 0.0 bond none none\n" \
        "dump_modify 4 pad 5 amap 0 3 sa 1 3 ${colors}\nfix 1 all nve\nrun 0\n"
    works(run_deck(tmp_path, deck))
    assert {p.name for p in tmp_path.glob("*.png")} == {"image.00000.png", "other.00000.png"}
