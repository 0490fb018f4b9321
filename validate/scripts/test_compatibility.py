"""The page docs/compatibility.md and the program that makes it, validate/compatibility.py."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

import harness

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import compatibility
from compatibility import Outcome

pytestmark = pytest.mark.smoke

PAGE = Path(__file__).resolve().parents[2] / "docs" / "compatibility.md"
OUTCOMES = [
    Outcome("a/in.one", columns=5),
    Outcome("a/in.two", reasons=["unknown fix style 'a|b'", "another"]),
    Outcome("b/in.three", columns=2, differences=["Temp 1.0 instead of 2.0"]),
    Outcome("b/in.four"),
    Outcome("b/in.five", lmp="Unknown pair style"),
]


def test_page():
    lines = compatibility.page(OUTCOMES, "LAMMPS 1").splitlines()
    assert "LAMMPS 1: of 4 decks that lmp runs, Myriad runs 3: 1 agree, 1 differ, 1 have nothing to compare." in lines
    assert "| `a/in.one` | agrees |  |" in lines
    assert "| `a/in.two` | no | unknown fix style 'a\\|b'; another |" in lines
    assert "| `b/in.three` | differs | Temp 1.0 instead of 2.0 |" in lines
    assert "| `b/in.five` | Unknown pair style |" in lines


def test_reasons_are_short():
    assert compatibility.short("unknown fix style 'a' (`myriad help fix` has their arguments); accepted are b, c") == \
        "unknown fix style 'a'"
    assert compatibility.short("a deck runs no programs here; make folders before the run, and use `variable getenv`") \
        == "a deck runs no programs here"
    assert compatibility.short("cannot give a use to a") == "cannot give a use to a"
    assert compatibility.fitting("Cannot use\nNEB with a single\nreplica ") == "Cannot use NEB with a single replica"


def test_the_page_of_the_manual():
    """It is what the program writes: the same beginning, a row for each deck, in order, and their numbers."""
    text = PAGE.read_text(encoding="utf-8")
    assert text.startswith("\n".join(compatibility.page([], "").splitlines()[:8]))
    rows = re.findall(r"^\| `(\S+)` \| (agrees|runs|differs|no) \| (.*) \|$", text, re.M)
    decks = [deck for deck, _, _ in rows]
    assert decks == sorted(decks, key=Path) and len(decks) > 20
    assert all(bool(why) == (verdict in ("no", "differs")) for _, verdict, why in rows)
    verdicts = [verdict for _, verdict, _ in rows]
    count = {name: verdicts.count(name) for name in ("agrees", "differs", "runs", "no")}
    assert (f": of {len(rows)} decks that lmp runs, Myriad runs {len(rows) - count['no']}: {count['agrees']} agree, "
            f"{count['differs']} differ, {count['runs']} have nothing to compare.") in text


def test_classes():
    assert compatibility.is_of_class("pair_style lj/cut 2.5\nrun 5\n")
    assert compatibility.is_of_class("units lj\natom_style atomic\n")
    assert not compatibility.is_of_class("units metal\nrun 5\n")
    assert not compatibility.is_of_class("units lj\natom_style bond\n")
    assert not compatibility.is_of_class("variable a equal 1\n")


def test_shortened():
    text = "run 1000 post no\nrun ${n}\nrun 20\nrun 5000 upto\nminimize 0 0 1000 2000\nrunner 9999\n"
    assert compatibility.shortened(text) == ("run 50 post no\nrun 50\nrun 20\nrun 5000 upto\nminimize 0 0 50 2000\n"
                                             "runner 9999\n")


def test_numbers():
    assert compatibility.near("1.2345678", "1.2345679") and compatibility.near("0.5", "0.50000001")
    assert not compatibility.near("1.2345", "1.2385") and compatibility.near("nan", "nan")


DECK = ("units lj\nlattice fcc 0.8\nregion b block 0 4 0 4 0 4\ncreate_box 1 b\ncreate_atoms 1 box\nmass 1 1\n"
        "pair_style lj/cut 2.5\npair_coeff 1 1 1 1\nfix 1 all nve\n")


@pytest.mark.skipif(not shutil.which("lmp"), reason="lmp is not installed")
def test_decks(tmp_path):
    decks = {
        "in.agrees": DECK + "run 100000000\n",
        "in.random": DECK + "velocity all create 1.5 7\nthermo_style custom step temp pe press\nrun 2\n",
        "in.refused": DECK + "kspace_style none\nrun 1\n",
        "in.no": DECK + "pair_style nonsense\nrun 1\n",
    }
    for name, text in decks.items():
        (tmp_path / "decks").mkdir(exist_ok=True)
        (tmp_path / "decks" / name).write_text(text)
    found = {name: compatibility.judge(tmp_path / "decks" / name, tmp_path, shutil.which("lmp"), str(harness.program()))
             for name in decks}
    assert found["in.agrees"].verdict == "agrees" and found["in.agrees"].columns == 6
    assert found["in.random"].verdict == "agrees" and found["in.random"].columns == 3
    assert found["in.refused"].verdict == "no" and "kspace_style" in found["in.refused"].reasons[0]
    assert found["in.no"].verdict == "lmp does not run it" and "nonsense" in found["in.no"].lmp
