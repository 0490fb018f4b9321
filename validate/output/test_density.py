"""Maps of dump density: the same bytes from every engine and number of threads and ranks, the sums and means of a
dump's particles, windows, colours, and the three kinds of files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Dict

import numpy as np
import pytest

import harness
from cli import RUNTIME, USAGE, refused, run_deck, works
from test_output import decode_colours, decode_png

MIXTURE = """lattice fcc 0.8442
region box block 0 5 0 4 0 4
create_box 2 box
create_atoms 1 box
set type 1 type/fraction 2 0.3 771
mass 1 1
mass 2 3
velocity all create 1.44 87287
pair_style lj/cut 2.5
pair_coeff * * 1 1
region half block 0 2.4 INF INF INF INF
"""
PLANE = """dimension 2
boundary f f p
lattice sq 0.7
region box block 0 20 0 14 -0.5 0.5
create_box 1 box
create_atoms 1 box
mass 1 1.7
velocity all create 1.1 4321
pair_style repulsive 1.1
fix walls all wall/reflect xlo EDGE xhi EDGE ylo EDGE yhi EDGE
region half block 0 9 INF INF INF INF
"""
# Masses far apart: momenta have two words.
WIDE = MIXTURE.replace("mass 2 3", "mass 2 1e7")
CLUSTER = """boundary f f f
region box block -20 20 -20 20 -20 20
create_box 2 box
create_atoms 1 plummer 300 seed 3 scale 0.6
set type 1 type/fraction 2 0.3 771
mass 2 0.02
pair_style gravity 0.05
region half block INF 0.1 INF INF INF INF
"""
DECKS = {"mixture": MIXTURE, "plane": PLANE, "wide": WIDE, "cluster": CLUSTER}
WINDOW = {"mixture": "0.5 5.25 1 4", "plane": "3 19.5 2 11", "wide": "0.5 5.25 1 4", "cluster": "-1 1.5 -1 1"}
WEIGHTS = ("one", "mass", "ke", "vx", "vy", "px", "py", "c_e")


def maps(name: str) -> str:
    """A map of every weight: sums over the box, and means over a window; and maps of a group."""
    text = "group left region half\ncompute e left ke/atom\n"
    for weight in WEIGHTS:
        text += f"dump s_{weight} all density 10 s_{weight}.*.txt 9 weight {weight}\n"
        if weight != "one":
            text += (f"dump m_{weight} all density 10 m_{weight}.*.txt 12 weight {weight} mean yes "
                     f"window {WINDOW[name]}\n")
    return text + "dump g all density 10 all.*.txt 1\ndump h left density 10 g.*.txt 7\n" \
        "dump i left density 10 h.*.txt 7 weight ke\n"


def texts(folder: Path) -> Dict[str, str]:
    found = {path.name: path.read_text() for path in folder.glob("*.txt")}
    assert len(found) == 2 * (2 * len(WEIGHTS) + 2)
    return found


def deck_of(name: str) -> str:
    return DECKS[name] + maps(name) + "fix move all nve\ntimestep 0.002\nrun 10\n"


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> Dict[str, Dict[str, str]]:
    """The naive engine's maps."""
    found = {}
    for name in DECKS:
        folder = tmp_path_factory.mktemp(name)
        harness.run(deck_of(name), folder, engine="naive")
        found[name] = texts(folder)
    return found


@pytest.mark.parametrize("name", DECKS)
@pytest.mark.parametrize("threads", [1, 3])
def test_maps_equal_naive(name, threads, fast_engine, expected, tmp_path):
    if threads > 1 and fast_engine != "openmp":
        pytest.skip("threads are those of openmp")
    if name == "cluster" and fast_engine == "gpu-symmetric":
        pytest.skip("all pairs have no symmetric force")
    harness.run(deck_of(name), tmp_path, engine=fast_engine, threads=threads)
    assert texts(tmp_path) == expected[name]


@pytest.mark.mpi
@pytest.mark.parametrize("name", ["plane", "cluster"])
def test_maps_of_three_ranks(name, expected, tmp_path):
    harness.run(deck_of(name), tmp_path, ranks=3, threads=1)
    assert texts(tmp_path) == expected[name]


@pytest.mark.mpi
@pytest.mark.gpu
@pytest.mark.parametrize("name", ["plane", "cluster"])
def test_maps_of_gpu_ranks_equal_naive(name, expected, tmp_path):
    harness.run(deck_of(name), tmp_path, ranks=2, threads=1, engine="gpu")
    assert texts(tmp_path) == expected[name]


@pytest.mark.gpu
@pytest.mark.parametrize("package", [{"sorted": "no"}, {"sort": "radix"}, {"fused": "no"}])
def test_maps_of_gpu_options_equal_naive(package, expected, tmp_path):
    harness.run(deck_of("plane"), tmp_path, engine="gpu", package=package)
    assert texts(tmp_path) == expected["plane"]


# ---------------------------------------------------------------- values


def weights_of(frame: harness.Frame) -> Dict[str, np.ndarray]:
    mass, v = frame.columns["mass"], frame.vectors("vx", "vy", "vz")
    return {"one": np.ones(len(mass)), "mass": mass, "ke": 0.5 * mass * (v ** 2).sum(axis=1), "vx": v[:, 0],
            "vy": v[:, 1], "px": mass * v[:, 0], "py": mass * v[:, 1], "c_e": frame.columns["c_e"]}


def test_values_are_those_of_a_histogram(tmp_path):
    """Sums per area, and means, of the particles of a dump; and of the dump of a group."""
    columns = "id x y z vx vy vz mass c_e"
    harness.run(deck_of("mixture").replace("fix move", f"dump a all custom 10 a.dump {columns}\n"
                                           f"dump b left custom 10 b.dump {columns}\nfix move"), tmp_path)
    frame, group = harness.read_dump(tmp_path / "a.dump")[-1], harness.read_dump(tmp_path / "b.dump")[-1]
    (xlo, xhi), (ylo, yhi) = frame.bounds[:2]

    def histogram(of, weight, nx, ny, bounds):
        x, y = of.columns["x"], of.columns["y"]
        inside = (x >= bounds[0]) & (x < bounds[1]) & (y >= bounds[2]) & (y < bounds[3])
        return np.histogram2d(y[inside], x[inside], (ny, nx), ((bounds[2], bounds[3]), (bounds[0], bounds[1])),
                              weights=weights_of(of)[weight][inside])[0]

    box = (xlo, xhi, ylo, yhi)
    window = tuple(map(float, WINDOW["mixture"].split()))
    area = (xhi - xlo) / 9 * (yhi - ylo) / 7
    for weight in WEIGHTS:
        found = np.loadtxt(tmp_path / f"s_{weight}.10.txt")
        expected = histogram(frame, weight, 9, 7, box)
        assert found.shape == (7, 9) and found == pytest.approx(expected / area, rel=1e-13, abs=1e-11)
        if weight == "one":
            continue
        found = np.loadtxt(tmp_path / f"m_{weight}.10.txt")
        count = histogram(frame, "one", 12, 8, window)
        with np.errstate(invalid="ignore"):
            expected = histogram(frame, weight, 12, 8, window) / count
        assert np.isnan(found).sum() == (count == 0).sum()
        assert found == pytest.approx(expected, rel=1e-13, abs=1e-11, nan_ok=True)
    area = (xhi - xlo) / 7 * (yhi - ylo) / 6
    assert 0 < group.columns["id"].size < frame.columns["id"].size
    for name, weight in (("g", "one"), ("h", "ke")):
        found = np.loadtxt(tmp_path / f"{name}.10.txt")
        assert found == pytest.approx(histogram(group, weight, 7, 6, box) / area, rel=1e-13)
    head = (tmp_path / "m_ke.10.txt").read_text().splitlines()[:6]
    inside = int(np.nansum(histogram(frame, "one", 12, 8, window)))
    assert head == ["# mean kinetic energy", "# step 10", "# time 0.02 tau",
                    f"# {inside} of 320 particles, group all", "# 12 columns: x from 0.5 to 5.25 sigma",
                    "# 8 rows: y from 1 to 4 sigma"]
    assert (tmp_path / "h.10.txt").read_text().startswith("# kinetic energy / sigma^2\n# step 10\n")
    assert "particles, group left\n" in (tmp_path / "h.10.txt").read_text()


def test_small_and_large_weights_are_in_one_sum(tmp_path):
    """A light particle beside heavy ones keeps its digits: 10^9 + 10^-9 and so on, in every bin exactly."""
    deck = "dimension 2\nregion b block 0 4 0 4 -0.5 0.5\ncreate_box 3 b\nmass 1 1e9\nmass 2 1e-9\nmass 3 3e-5\n"
    deck += "create_atoms 2 single 0.5 0.5 0\ncreate_atoms 3 single 0.5 0.5 0\ncreate_atoms 1 single 2.5 2.5 0\n"
    deck += "create_atoms 2 single 2.5 2.5 0\n"
    works(run_deck(tmp_path, deck + "dump d all density 1 f.txt 4 weight mass\nrun 0\n"))
    found = np.loadtxt(tmp_path / "f.txt")
    assert found[0, 0] == pytest.approx(1e-9 + 3e-5, rel=1e-15) and found[2, 2] == 1e9
    assert found.sum() == found[0, 0] + found[2, 2]


# ---------------------------------------------------------------- windows


def test_a_window_holds_its_lower_edge(fast_engine, tmp_path):
    """Particles on the edges of a window and of its bins, and a step of the position grid beside them."""
    below = 1.0 - 2.0 ** -40
    places = [(1, 1), (below, 2), (2, 1), (2, 3 + below), (4 + below, 1), (5, 2), (3, 4), (3, below), (4, 3.5)]
    deck = "dimension 2\nboundary f f p\nregion b block -2 8 0 8 -0.5 0.5\ncreate_box 1 b\nmass 1 1\n"
    for x, y in places:
        deck += f"create_atoms 1 single {x!r} {y!r} 0\n"
    deck += ("dump a all density 1 f.txt 4 window 1 5 1 4\ndump b all density 1 g.txt 4 window -100 -99 0 1\n"
             "dump c all density 1 h.png 40 window 1 5 1 4\ndump_modify c furniture no\nrun 0\n")
    works(run_deck(tmp_path, deck, *harness.engine_words(fast_engine)))
    expected = np.zeros((3, 4))
    for x, y in ((1, 1), (2, 1), (2, 3 + below), (4 + below, 1), (4, 3.5)):
        expected[int(y) - 1, int(x) - 1] += 1
    assert np.array_equal(np.loadtxt(tmp_path / "f.txt"), expected)
    assert not np.loadtxt(tmp_path / "g.txt").any() and "# 0 of 9 particles" in (tmp_path / "g.txt").read_text()
    picture = decode_png((tmp_path / "h.png").read_bytes())
    assert picture.pixels.shape == (30, 40) and "5 of 9 particles" in picture.text


def test_windows_beside_one_another_hold_every_particle_once(tmp_path):
    deck = MIXTURE
    for k in range(4):
        deck += f"dump {k} all density 1 {k}.txt 5 axis y window {k * 2.1} {k * 2.1 + 2.1} 0 7\n"
    works(run_deck(tmp_path, deck + "dump a all density 1 all.txt 1 axis y\nrun 0\n"))
    heads = [(tmp_path / f"{k}.txt").read_text() for k in range(4)]
    assert sum(int(re.search(r"# (\d+) of 320 particles", head)[1]) for head in heads) == 320
    assert "# 2 columns: x from 0 to 2.1" in heads[0] and "# 5 rows: z from 0 to 7 sigma" in heads[0]


# ---------------------------------------------------------------- pictures and files


def test_colours(tmp_path):
    """Levels by their definition, from the text map; furniture whose bar has another axis."""
    deck = CLUSTER + "".join(
        f"dump {name}{ending[1:]} all density 1 {name}{ending} 20 window -1 1 -1 1 {words}\n"
        for ending in (".png", ".txt")
        for name, words in (("count", ""), ("countlog", "scale log"), ("ke", "weight ke"),
                            ("kelog", "weight ke scale log"), ("vx", "weight vx mean yes")))
    deck += "".join(f"dump_modify {name}png furniture no\n" for name in ("count", "countlog", "ke", "kelog", "vx"))
    deck += "dump p all density 1 p.png 200 weight ke\ndump q all density 1 q.png 200 weight ke scale log\n"
    works(run_deck(tmp_path, deck + "run 0\n"))

    def pixels(name):
        return decode_png((tmp_path / f"{name}.png").read_bytes()).pixels[::-1]

    def values(name):
        return np.loadtxt(tmp_path / f"{name}.txt")

    def near(found, level):
        return np.abs(found - level).max() <= 0.5 + 1e-6

    count, ke, vx = values("count") / 100, values("ke"), np.nan_to_num(values("vx"))
    assert near(pixels("count"), 255 * count / count.max())
    assert near(pixels("countlog"), 255 * np.log1p(count) / np.log1p(count.max()))
    assert near(pixels("ke"), 255 * ke / ke.max())
    unit = max(ke[ke > 0].min(), 1e-6 * ke.max())
    assert near(pixels("kelog"), 255 * np.log1p(ke / unit) / np.log1p(ke.max() / unit))
    most = np.abs(vx).max()
    assert vx.min() < 0 < vx.max() and near(pixels("vx"), 255 * (vx + most) / (2 * most))
    assert values("kelog").tolist() == ke.tolist()
    assert (tmp_path / "p.png").read_bytes() != (tmp_path / "q.png").read_bytes()
    text = decode_png((tmp_path / "kelog.png").read_bytes()).text
    assert f"log(1 + value/{unit:.9g})" in text and "\0kinetic energy per sigma^2 at step 0" in text
    assert decode_png((tmp_path / "vx.png").read_bytes()).text.startswith("Description\0mean vx at step 0")


@pytest.mark.parametrize("small, ends", [(-0.625, (-10, 10)), (-0.5, (-10, 10)), (-0.375, (-0.375, 10)), (0, (0, 10))])
@pytest.mark.parametrize("sign", (1, -1))
def test_colours_where_nearly_all_values_have_one_sign(small, ends, sign, tmp_path):
    """With 20 or more as the quotient of the sizes of both signs the colours are those between the two ends."""
    deck = ("dimension 2\nregion b block 0 4 0 4 -0.5 0.5\ncreate_box 1 b\nmass 1 1\n" + "".join(
        f"create_atoms 1 single {k}.5 0.5 0\nset atom {k + 1} vx {sign * v}\n" for k, v in enumerate((10, 3, small))))
    works(run_deck(tmp_path, deck + "dump d all density 1 f.png 4 weight vx\ndump_modify d furniture no\n"
                                    "dump e all density 1 f.txt 4 weight vx\nrun 0\n"))
    lo, hi = sorted(sign * end for end in ends)
    picture = decode_png((tmp_path / "f.png").read_bytes())
    assert f"; colours from {lo:g} to {hi:g}, linear" in picture.text
    values = np.loadtxt(tmp_path / "f.txt")
    assert values[0].tolist() == [sign * 10, sign * 3, sign * small, 0]
    assert np.abs(picture.pixels[::-1] - 255 * (values - lo) / (hi - lo)).max() <= 0.5 + 1e-6


def test_furniture_of_a_map_of_means(tmp_path):
    """A bin without particles is grey, in 14 of 16 bins of 135 pixels a side; lengths and times have their units."""
    deck = ("dimension 2\nregion b block 0 4 0 4 -0.5 0.5\ncreate_box 1 b\nmass 1 1\ntimestep 0.001\n"
            "create_atoms 1 single 0.5 0.5 0\ncreate_atoms 1 single 2.5 3.5 0\nvelocity all set 0 1 0\n"
            "dump d all density 1 {}.png 4 weight vx mean yes\nrun 0\n")
    for units in ("lj", "metal"):
        works(run_deck(tmp_path, f"units {units}\n" + deck.format(units)))
    lj, metal = (decode_colours((tmp_path / f"{units}.png").read_bytes()) for units in ("lj", "metal"))
    grey = (lj == 221).all(axis=2)
    assert grey.sum() == 14 * 135 ** 2
    rows, columns = np.nonzero(grey)
    bins = grey[rows.min():rows.max() + 1, columns.min():columns.max() + 1][67::135, 67::135]
    assert np.argwhere(~bins).tolist() == [[0, 2], [3, 0]]
    assert lj.shape == metal.shape and (lj != metal).any(axis=2).sum() > 100
    assert ((lj != metal).any(axis=2) & grey).sum() == 0


def numbers_of(black) -> list:
    """The texts of one line, as patterns of black pixels: between them are more white columns than between letters."""
    columns = np.nonzero(black.any(axis=0))[0]
    texts = np.split(columns, np.nonzero(np.diff(columns) > 6)[0] + 1)
    return [black[:, text[0]:text[-1] + 1].tolist() for text in texts]


@pytest.mark.parametrize("lo", [0, 10000.1, 1e7])
def test_numbers_of_an_axis_differ_and_do_not_touch(lo, tmp_path):
    deck = ("dimension 2\nregion b block 0 4 0 4 -0.5 0.5\ncreate_box 1 b\nmass 1 1\n"
            f"dump d all density 1 f.png 300 window {lo} {lo + 1} 0 1\nrun 0\n")
    works(run_deck(tmp_path, deck))
    black = (decode_colours((tmp_path / "f.png").read_bytes()) < 128).all(axis=2)
    # The longest black row and column are the edges of the map's frame. Ticks stand below it, and numbers below them.
    edge, left = np.nonzero(black.sum(axis=1) >= 302)[0].max(), np.nonzero(black.sum(axis=0) >= 302)[0].min()
    ticks, numbers = black[edge + 2, left:], numbers_of(black[edge + 5:edge + 13])
    assert len(numbers) == ticks.sum() >= 2
    assert all(number not in numbers[:k] for k, number in enumerate(numbers))


def test_hdf5(engine, tmp_path):
    h5py = pytest.importorskip("h5py")
    if harness.hdf5_missing():
        pytest.skip("this build has no HDF5")
    deck = MIXTURE + "group heavy type 2\n" + "".join(
        f"dump {ending} heavy density 5 f.*.{ending} 16 axis x window 1 5 -1 7 weight px mean yes\n"
        for ending in ("txt", "h5"))
    harness.run(deck + "fix 1 all nve\nrun 5\n", tmp_path, engine=engine)
    with h5py.File(tmp_path / "f.5.h5") as file:
        group, frames = file["observables/map"], [file[f"observables/{name}/value"][:] for name in ("map", "count")]
        value, count = frames[0][0], frames[1][0]
        assert value.dtype == np.float64 and count.dtype == np.int64
        assert [frame.shape for frame in frames] == [(1, 16, 8)] * 2
        assert list(file["h5md"].attrs["version"]) == [1, 1] and file["h5md/creator"].attrs["name"] == b"Myriad"
        assert file["parameters"].attrs["dimension"] == 3
        assert np.array_equal(value, np.loadtxt(tmp_path / "f.5.txt"), equal_nan=True)
        assert np.array_equal(np.isnan(value), count == 0) and count.sum() == group.attrs["particles"] > 0
        for name in ("map", "count"):
            assert list(file[f"observables/{name}/step"]) == [5] and list(file[f"observables/{name}/time"]) == [0.025]
        assert list(group.attrs["lower"]) == [1, -1] and list(group.attrs["upper"]) == [5, 7]
        assert list(group.attrs["axes"]) == [b"y", b"z"] and group.attrs["group"] == b"heavy"
        assert group.attrs["quantity"] == b"px" and b"mean" in group.attrs["normalisation"]


def test_a_map_replaces_the_one_before(tmp_path):
    works(run_deck(tmp_path, PLANE + "dump a all density 5 f.txt 4\nfix 1 all nve\nrun 10\n"))
    text = (tmp_path / "f.txt").read_text()
    assert text.count("# step") == 1 and "# step 10\n" in text
    assert {path.name for path in tmp_path.iterdir()} >= {"f.txt"} and not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize("ending", ["txt", "h5"])
def test_no_place_to_write(ending, tmp_path):
    if ending == "h5" and harness.hdf5_missing():
        pytest.skip("this build has no HDF5")
    refused(run_deck(tmp_path, PLANE + f"dump a all density 5 nowhere/f.{ending} 4\nrun 0\n"), RUNTIME, "nowhere")
    (tmp_path / f"f.{ending}").mkdir()
    refused(run_deck(tmp_path, PLANE + f"dump a all density 5 f.{ending} 4\nrun 0\n"), RUNTIME, f"f.{ending}")


@pytest.mark.parametrize("words, messages", [
    ("f.gz 8", [".png, .txt or .h5"]),
    ("f.png 8 log yes", ["'log'", "scale linear|log", "window XLO XHI YLO YHI"]),
    ("f.png 8 weight", ["weight", "missing"]),
    ("f.png 8 weight heavy", ["'heavy'", "one, mass, ke, vx"]),
    ("f.png 8 weight vz", ["weight vz", "two dimensions"]),
    ("f.png 8 weight c_none", ["c_none", "no such compute"]),
    ("f.png 8 weight c_t", ["c_t", "one value for all particles"]),
    ("f.png 8 weight c_n", ["c_n", "of computes, ke/atom", "fix ave/chunk"]),
    ("f.png 8 mean", ["mean", "missing"]),
    ("f.png 8 mean maybe", ["dump density mean", "maybe"]),
    ("f.png 8 mean yes", ["mean", "give a weight"]),
    ("f.png 8 window 0 1 0", ["window", "missing"]),
    ("f.png 8 window 0 1 0 one", ["bound of the window", "one"]),
    ("f.png 8 window 0 1 2 2", ["window", "2 is not below 2"]),
    ("f.png 8 window 1 0 0 1", ["window", "1 is not below 0"]),
    ("f.png 8 window 0 inf 0 1", ["bound of the window", "inf"]),
    ("f.png 8 scale cubic", ["scale", "'cubic'", "linear, log"]),
    ("f.png 8 scale log weight vx", ["scale log", "vx has both signs"]),
])
def test_mistakes(words, messages, tmp_path):
    computes = "compute t all temp\ncompute n all coord/atom cutoff 1\n"
    done = run_deck(tmp_path, PLANE + computes + f"dump d all density 1 {words}\n")
    refused(done, USAGE, *messages)
