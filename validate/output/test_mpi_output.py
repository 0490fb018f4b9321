"""Files of several ranks: byte for byte those of one, read as one rank reads, and the same one message where something
is wrong.

Every deck is run by one rank, started without mpirun, and by several; what the two leave behind is compared.  The tests
are skipped where the program or the machine has no MPI.
"""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

import pytest

import harness
from cli import BOX, OF_ANOTHER_RUN, RUNTIME, USAGE, Done, run_deck, works, written_by_another_run
from test_bad_input import DATA, DATA_LINES, writes
from test_output import DUMPS, MIXTURE

pytestmark = pytest.mark.mpi

# Room for the domains of four ranks.
LIQUID = MIXTURE.replace("block 0 4 0 4 0 4", "block 0 6 0 6 0 6")
PAIR = BOX.replace("block 0 6 0 6 0 6", "block 0 12 0 12 0 12")


@pytest.fixture(params=[2, 3, 4])
def ranks(request) -> int:
    return request.param


def run_ranks(folder: Path, text: str, ranks: int, *arguments: str) -> Done:
    """Runs a deck by several ranks.  `err` holds the program's own lines: mpirun adds its own where a rank fails.  If
    the program did not speak, these are all there is."""
    folder.mkdir(exist_ok=True)
    (folder / "in.deck").write_text(text)
    command = [*harness.mpirun(ranks), str(harness.program()), "-in", "in.deck", "-log", "none", "--threads", "1",
               *arguments]
    done = subprocess.run(command, cwd=folder, env=harness.rank_environment(), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120, check=False)
    ours = [line for line in done.stderr.splitlines(keepends=True) if line.startswith("myriad: ")]
    return Done(done.returncode, done.stdout, "".join(ours) or done.stderr)


def run_one(folder: Path, text: str, *arguments: str) -> Done:
    folder.mkdir(exist_ok=True)
    return run_deck(folder, text, *arguments)


def files(folder: Path) -> Dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "data"}


def same_files(one: Path, many: Path) -> None:
    expected, found = files(one), files(many)
    assert expected.keys() == found.keys()
    for name, data in expected.items():
        assert found[name] == data, name


def both(folder: Path, text: str, ranks: int) -> Tuple[Path, Path]:
    """Runs a deck by one rank and by several; relative names that begin with ../ are the same file for both."""
    one, many = folder / "one", folder / "many"
    works(run_one(one, text))
    works(run_ranks(many, text, ranks))
    return one, many


# ---------------------------------------------------------------- writing


def test_all_kinds_of_output(ranks, tmp_path):
    same_files(*both(tmp_path, LIQUID + DUMPS, ranks))


def test_appending(ranks, tmp_path):
    """Titles that stand once in a file, and files that hold something already."""
    dumps = "dump a all custom 5 a id x\ndump b all frames 5 b\ndump c all custom 5 c.gz id x\n"
    dumps += "dump_modify a append yes units yes time yes\ndump_modify b append yes\ndump_modify c append yes\n"
    again = "run 5\nundump a\nundump b\nundump c\n" + dumps + "run 5\nprint 'a line' append lines\n"
    same_files(*both(tmp_path, LIQUID + dumps + again, ranks))


def test_a_file_that_another_run_writes(tmp_path):
    deck = LIQUID + "dump d all custom 1 d id\nrun 1\n"
    with written_by_another_run(tmp_path / "d"):
        done = run_ranks(tmp_path, deck, 2)
        assert done.status == RUNTIME and "cannot write d: another run is writing it" in done.err
    assert (tmp_path / "d").read_bytes() == OF_ANOTHER_RUN
    works(run_ranks(tmp_path, deck, 2))


def test_unsorted(ranks, tmp_path):
    deck = LIQUID + "dump a all custom 5 f id type x y z\ndump_modify a sort off\nrun 10\n"
    one, many = both(tmp_path, deck, ranks)
    frames = lambda folder: [part.splitlines() for part in (folder / "f").read_text().split("ITEM: TIMESTEP\n")]
    expected, found = frames(one), frames(many)
    assert len(expected) == len(found) == 4
    for a, b in zip(expected[1:], found[1:]):
        assert a[:8] == b[:8] and sorted(a[8:]) == sorted(b[8:])
    assert expected[3][8:] != found[3][8:], "the order of ids, without sorting by them?"


def test_many_rows(ranks, tmp_path):
    """More rows than a block, a part of an unsorted file and a window hold."""
    deck = ("region b block 0 90 0 90 0 90\ncreate_box 1 b\nmass 1 1\ncreate_atoms 1 random 700000 3 NULL\n"
            "dump a all custom 1 f.gz id x\ndump b all custom 1 g id\ndump_modify b sort off\nrun 0\n")
    one, many = both(tmp_path, deck, ranks)
    assert (one / "f.gz").read_bytes() == (many / "f.gz").read_bytes()
    rows = lambda folder: sorted((folder / "g").read_text().splitlines())
    assert rows(one) == rows(many)


def test_a_deck_may_ask_for_the_balance_before_a_run(ranks, tmp_path):
    """All ranks know the largest load of one from the beginning."""
    deck = (f"{LIQUID}fix b all balance 100 1.1\nif \"$(f_b[1]) > 1e6\" then \"run 1\"\nprint \"load $(f_b[1])\"\n"
            "run 1\n")
    done = works(run_ranks(tmp_path, deck, ranks))
    total = int(re.search(r"Created (\d+) atoms", done.out)[1])
    assert total / ranks <= float(re.search(r"load (\S+)", done.out)[1]) < total


@pytest.mark.parametrize("many", [1, 2])
def test_a_weight_of_a_variable_that_is_not_there(many, tmp_path):
    deck = LIQUID + "fix b all balance 100 1.1 weight var nothing\nrun 1\n"
    done = run_ranks(tmp_path, deck, many)
    assert done.status == USAGE and "there is no variable 'nothing' for its weights" in done.err


def test_fewer_particles_than_ranks(tmp_path):
    for particles in ("", "create_atoms 1 single 1 1 1\n",
                      "create_atoms 1 single 1 1 1\ncreate_atoms 1 single 5 5 5\n"):
        deck = "region b block 0 6 0 6 0 6\ncreate_box 1 b\n" + particles
        deck += "mass 1 1\ndump a all custom 1 f id x\ndump b all frames 1 g\n"
        deck += "write_data before\nrun 0\nwrite_data after\n"
        same_files(*both(tmp_path, deck, 3))


def test_print(ranks, tmp_path):
    deck = PAIR + "print 'one line' file f\nprint 'another' append f\nrun 1\nprint \"step $(step)\" append f\n"
    one, many = both(tmp_path, deck, ranks)
    same_files(one, many)
    assert (many / "f").read_text() == "one line\nanother\nstep 1\n"


@pytest.mark.parametrize("kind", sorted(writes(Path())) + ["density"])
def test_unwritable(kind, tmp_path):
    """One message, the same but for the words of the system, and nothing left."""
    deck = {**writes(tmp_path), "density": BOX + "dump d all density 1 NAME.png 8\nrun 1\n"}[kind].replace(BOX, PAIR)
    for name in ("nowhere/out", "out"):
        text = deck.replace("NAME", name)
        folder = tmp_path / name.replace("/", "-")
        folder.mkdir()
        if name == "out":
            (folder / "out").mkdir()
            (folder / "out.png").mkdir()
        before = {path.name for path in folder.iterdir()} | {"in.deck"}
        done = run_ranks(folder, text, 3)
        assert done.status == RUNTIME and done.err.count("\n") == 1, done
        line = deck[:deck.index("NAME")].count("\n") + 1
        assert done.err.startswith(f"myriad: error: in.deck:{line}: ") and name in done.err, done.err
        assert {path.name for path in folder.iterdir()} == before


def test_special_files_are_for_one_rank(tmp_path):
    done = run_ranks(tmp_path, PAIR + "write_data /dev/null\n", 2)
    assert done.status == RUNTIME and "/dev/null" in done.err and done.err.count("\n") == 1


# ---------------------------------------------------------------- ids and data files


def data_file(path: Path, ids: Sequence[int], shuffled: bool = True) -> None:
    """Particles on a lattice, with these ids, in a box of side 1.5 n^(1/3); types, positions and velocities follow from
    the ids alone."""
    side = 6
    while side ** 3 < len(ids):
        side += 1
    pick = random.Random(5)
    atoms, velocities = [], []
    for k, i in enumerate(sorted(ids)):
        x = [1.5 * (k // side ** d % side) + pick.uniform(0.3, 0.7) for d in range(3)]
        atoms.append(f"{i} {1 + i % 2} " + " ".join(harness.exact(c) for c in x))
        velocities.append(f"{i} " + " ".join(harness.exact(pick.uniform(-1, 1)) for _ in range(3)))
    if shuffled:
        pick.shuffle(atoms)
        pick.shuffle(velocities)
    atoms[1::7] = [line + " 0 0 1 # image flags" for line in atoms[1::7]]
    atoms[::5] = ["\n  # a comment\n" + line for line in atoms[::5]]
    size = harness.exact(1.5 * side)
    path.write_text("\n".join(["made by a test", "", f"{len(ids)} atoms", "2 atom types", f"0 {size} xlo xhi",
                               f"0 {size} ylo yhi", f"0 {size} zlo zhi", "", "Masses", "", "1 1", "2 4", "",
                               "Atoms # atomic", "", *atoms, "", "Velocities", "", *velocities, ""]))


IDS = {
    "1 to N": list(range(1, 1001)),
    "from 2^32 - 300": list(range(2 ** 32 - 300, 2 ** 32 + 700)),
    "about 2^53": list(range(2 ** 53 - 100, 2 ** 53 + 201)),
    "up to 2^63 - 1": list(range(2 ** 63 - 500, 2 ** 63)),
    "every fourth": list(range(4, 4001, 4)),
    "one far away": [*range(1, 500), 2 ** 62 + 1],
    "spread over all": sorted(random.Random(1).sample(range(1, 2 ** 63), 600)),
    "three": [7, 2 ** 33 + 1, 2 ** 53 + 1],
}

READ = "read_data ../data\nwrite_data read\n"
RUN = """\
pair_style lj/cut 2.5
pair_coeff * * 1 1
timestep 0.002
fix 1 all nve
dump a all custom 5 f id type x y z vx vy vz fx fy fz
dump b all frames 5 g
run 10
write_data end
"""


@pytest.mark.parametrize("name", sorted(IDS))
def test_ids(name, ranks, tmp_path):
    data_file(tmp_path / "data", IDS[name])
    # Every largest id is known, too: what is created next follows it.
    create = "" if name == "up to 2^63 - 1" else "create_atoms 1 random 50 3 NULL\nwrite_data more\n"
    walls = RUN if len(IDS[name]) > 3 else RUN.replace("lj/cut 2.5", "lj/cut 0.7")
    one, many = both(tmp_path, READ + walls + create, ranks)
    same_files(one, many)
    rows = (many / "read").read_text().split("Atoms # atomic\n\n")[1].split("\n\n")[0].splitlines()
    assert [int(row.split()[0]) for row in rows] == sorted(IDS[name])


def test_a_data_file_read_back(ranks, tmp_path):
    works(run_one(tmp_path, LIQUID + "run 20\nwrite_data data\n"))
    one, many = both(tmp_path, READ + RUN, ranks)
    same_files(one, many)
    text = (many / "read").read_text()
    assert text.split("\n", 1)[1] == (tmp_path / "data").read_text().split("\n", 1)[1]


def wrong_lines() -> List[str]:
    """Data files with something wrong; validate/unit/deck/test_data.c has many more."""
    texts = []
    for line, text, _ in DATA_LINES[::5]:
        lines = DATA.splitlines()
        lines[line - 1] = text
        texts.append("\n".join(lines) + "\n")
    texts += [DATA[:end] for end in range(0, len(DATA) - 1, 60)]
    texts += [DATA.replace("3 1 5 5 5", "2 1 5 5 5"), DATA.replace("3 1 5 5 5", "2 1 5 5 5\n4 1 1 1 1"),
              DATA.replace("3 1 5", "3 1\0 5"), DATA.replace("3 1 5", "# \0\n3 1 5"),
              DATA.replace("3 1 5 5 5", "3 1 5 5 5 " + "#" * 65525),
              DATA.replace("3 1 5 5 5", "3 1 5 5 5 " + "#" * 65526), DATA[:-1], DATA + "3 0 0 1\n"]
    return texts


def test_wrong_data_files(tmp_path):
    """The same status and message, with its line."""
    for k, text in enumerate(wrong_lines()):
        (tmp_path / "data").write_text(text)
        one = run_one(tmp_path / "one", "read_data ../data\n")
        many = run_ranks(tmp_path / "many", "read_data ../data\n", 2 + k % 3)
        assert (many.status, many.err) == (one.status, one.err), text


def damaged(lines: List[str], at: int) -> List[Tuple[int, str]]:
    """Ways to damage a line of Atoms or Velocities, `at` from 0: (line, what it becomes)."""
    words = lines[at].split()
    other = lines[at + 40].split()
    return [(at, " ".join([other[0], *words[1:]])), (at, " ".join(words[:-1] + ["x"])), (at, "Bonds"),
            (at, " ".join(words[:3]))]


def test_the_first_of_many_errors(tmp_path):
    """Two lines of 2000 are wrong, far apart and in different ways: an id that occurs twice is found by another rank
    than what cannot be read.  validate/unit/deck/test_data.c has many more."""
    data_file(tmp_path / "data", list(range(1, 1001)), shuffled=False)
    lines = (tmp_path / "data").read_text().split("\n")
    lines = [line for line in lines if "comment" not in line]
    pick = random.Random(3)
    section = {name: lines.index(title) + 2
               for name, title in (("atoms", "Atoms # atomic"), ("velocities", "Velocities"))}
    texts = [k for k, line in enumerate(lines) if k >= section["atoms"] and len(line.split()) >= 4
             and not line.startswith("Atoms")]
    for k in range(6):
        wrong = list(lines)
        for at in pick.sample([t for t in texts if t + 40 in texts and lines[t + 40]], 2):
            line, text = pick.choice(damaged(lines, at))
            wrong[line] = text
        (tmp_path / "data").write_text("\n".join(wrong))
        one = run_one(tmp_path / "one", "read_data ../data\n")
        assert one.status == USAGE
        many = run_ranks(tmp_path / "many", "read_data ../data\n", 2 + k % 3)
        assert (many.status, many.err) == (one.status, one.err)


def test_missing_data_file(tmp_path):
    done = run_ranks(tmp_path, "read_data nowhere\n", 3)
    assert (done.status, done.err) == (RUNTIME, run_one(tmp_path, "read_data nowhere\n").err)


def test_no_live_line_under_a_launcher(tmp_path):
    """Open MPI gives the first rank a terminal, whatever its own output is."""
    out = run_ranks(tmp_path, LIQUID + "thermo 100\nrun 1500\n", 2).out
    assert "\x1b" not in out and "\r" not in out.replace("\r\n", "\n")
    assert len(re.findall(r"^ +\d+ ", out.replace("\r", ""), re.M)) >= 16
