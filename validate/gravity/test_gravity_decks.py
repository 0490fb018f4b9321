"""Decks with `pair_style gravity`: every wrong one ends in one line that says what to do, `myriad check` finds the
same, and `myriad plan` plans for all pairs. Overlaps and bodies that leave the box are in
validate/gravity/test_gravity_exact.py."""

from __future__ import annotations

import pytest

import harness
from cli import PHYSICS, USAGE, call, refused, run_deck, works

BOX = """\
units lj
boundary f f f
region b block -5 5 -5 5 -5 5 units box
create_box 2 b
create_atoms 1 cold 20 seed 1
mass 2 1
fix move all nve
"""
STYLE = "pair_style gravity 0.1\n"

WRONG_STYLE = {
    "gravity": ["1 to 2 numbers", "the first is eps", "not 0"],
    "gravity 0.1 1 2.5": ["1 to 2 numbers", "not 3"],
    "gravity -0.1": ["eps of pair style gravity", "zero or positive", "-0.1"],
    "gravity 0.1 0": ["G of pair style gravity", "positive", "not 0"],
    "gravity 0.1 -1": ["G of pair style gravity", "positive", "-1"],
    "gravity eps": ["number", "eps"],
    "gravity nan": ["number", "nan"],
    "gravity inf": ["inf"],
    "gravitty 0.1": ["gravitty", "gravity"],
}


@pytest.mark.smoke
@pytest.mark.parametrize("words", WRONG_STYLE)
def test_wrong_pair_style(words, tmp_path):
    refused(run_deck(tmp_path, BOX + f"pair_style {words}\n"), USAGE, *WRONG_STYLE[words], line=BOX.count("\n") + 1)


WRONG_LINE = {
    "pair_coeff 1 1 0.1": ["gravity", "no coefficients of its own"],
    "pair_coeff * * 0.1 1": ["gravity", "no coefficients of its own"],
    "pair_coeff 2 1": ["2 1", "smaller type first"],
    "pair_coeff 3 3": ["3"],
    "pair_modify shift yes": ["gravity has no cutoff"],
    "pair_modify tail yes": ["tail"],
    "pair_modify mix harmonic": ["harmonic"],
}


@pytest.mark.smoke
@pytest.mark.parametrize("line", WRONG_LINE)
def test_wrong_line_after_the_style(line, tmp_path):
    refused(run_deck(tmp_path, BOX + STYLE + line + "\n"), USAGE, *WRONG_LINE[line], line=BOX.count("\n") + 2)


@pytest.mark.smoke
def test_what_has_a_meaning_for_other_styles_is_accepted(tmp_path):
    """Hints, defaults, and pair_coeff without numbers, as decks with several styles have them. None changes a bit."""
    plain = harness.run(BOX + STYLE + "thermo_modify format float %.17g\nrun 3\n", tmp_path / "plain")
    lines = ("pair_coeff * *\npair_modify shift no\npair_modify mix arithmetic\npair_modify tail no\nneighbor 0.1 bin\n"
             "neigh_modify every 1 delay 0 check yes\ncomm_modify cutoff 3\nnewton on\npackage gpu force full\n")
    more = harness.run(BOX + STYLE + lines + "thermo_modify format float %.17g\nrun 3\n", tmp_path / "more")
    assert plain.table == more.table


# A whole deck, the words of the message, and the line that it names: that of `run`.
WRONG_RUN = {
    "a periodic axis x": (BOX.replace("f f f", "p f f") + STYLE, ["periodic axis x", "boundary f", "no cutoff"]),
    "a periodic axis y": (BOX.replace("f f f", "f p f") + STYLE, ["periodic axis y"]),
    "a periodic axis z": (BOX.replace("f f f", "f f p") + STYLE, ["periodic axis z"]),
    "a large box": (BOX.replace("-5 5", "-6e8 6e8") + STYLE, ["shorter than 10^9", "x has 1.2e+09"]),
    "a long box": (BOX.replace("-5 5 units", "0 3e9 units").replace("seed 1", "seed 1 centre 0 0 1e9") + STYLE,
                   ["shorter than 10^9", "z has 3e+09"]),
    "a large softening length": (BOX + "pair_style gravity 1e10\n", ["softening length", "below 10^9"]),
    "a missing mass": (BOX.replace("mass 2 1\n", "") + STYLE, ["type 2 has no mass", "mass 2"]),
    "a short timestep": (BOX + STYLE + "timestep 1e-15\n", ["timestep 1e-15 is too short"]),
}


@pytest.mark.smoke
@pytest.mark.parametrize("name", WRONG_RUN)
def test_wrong_run(name, tmp_path):
    """The run itself, the check of the deck, and its plan."""
    text, words = WRONG_RUN[name]
    line = text.count("\n") + 1
    refused(run_deck(tmp_path, text + "run 5\n"), USAGE, *words, line=line)
    done = call(tmp_path, "check", "-in", "in.deck")
    assert done.status == USAGE and f"in.deck:{line}: " in done.out and "1 problem in" in done.out
    assert all(word in done.out for word in words)
    refused(call(tmp_path, "plan", "-in", "in.deck"), USAGE, *words, line=line)


@pytest.mark.smoke
@pytest.mark.parametrize("deck", ["in.plummer", "in.cold-collapse", "in.activity"])
def test_sample_decks_are_checked_and_planned(deck, tmp_path):
    assert "No problem in" in works(call(tmp_path, "check", "-in", harness.INPUTS / deck)).out
    done = works(call(tmp_path, "plan", "-in", harness.INPUTS / deck))
    assert "Neighbours: all pairs" in done.out and "blocks of bodies" in done.out


def test_sample_decks_run(tmp_path):
    """Short: what their heads promise of the beginning."""
    for deck, knobs in (("in.plummer", {"n": 512, "steps": 20}), ("in.cold-collapse", {"n": 200, "steps": 30}),
                        ("in.activity", {"n": 500, "steps": 30})):
        folder = tmp_path / deck
        got = harness.run(harness.INPUTS / deck, folder, variables={**knobs, "out": "."})
        first, last = got.table.at(0), got.table.at(knobs["steps"])
        assert abs(last["TotEng"] / first["TotEng"] - 1.0) < 1e-3
        assert len(list(folder.glob("*.png"))) >= 11
        if deck == "in.plummer":
            # The total energy of the cluster is -1/4, and thermo shows that of a body.
            assert first["TotEng"] * 512 == pytest.approx(-0.25, rel=0.1)
            assert first["v_virial"] == pytest.approx(1.0, abs=0.1)


PACKAGE = {"neighbours": "list", "sorted": "no", "padded": "no", "unrolled": "no", "staged": "yes",
           "rebin": 4}


@pytest.mark.gpu
@pytest.mark.parametrize("name", PACKAGE)
def test_options_of_cells_and_lists_are_refused_on_a_gpu(name, tmp_path):
    text = BOX + STYLE + "run 5\n"
    refused(run_deck(tmp_path, text, "--engine", "gpu", "-pk", "gpu", name, str(PACKAGE[name])), USAGE, name,
            "takes all pairs", line=text.count("\n"))


@pytest.mark.mpi
def test_rounds_of_messages_are_counted(tmp_path):
    """The log of several ranks: no grid of ranks, and no ghosts."""
    log = harness.run(BOX + STYLE + "run 3\n", tmp_path, ranks=3, threads=1).log
    assert "processor grid" not in log and "Ghosts of a rank: 0 ave" in log
    assert "Particles of a rank: 6.666" in log and "7 max 6 min" in log


def test_a_force_far_above_the_gravity_of_the_bodies(fast_engine, tmp_path):
    """The range of forces is a fixed number of usual ones, so that a shorter timestep is no advice."""
    deck = ("boundary f f f\nregion b block -1000 1000 -1000 1000 -1000 1000\ncreate_box 1 b\nmass 1 1\n"
            "create_atoms 1 random 16 6392 NULL\npair_style gravity 200 1e-4\n"
            "fix 1 all nve\nfix e all gravity 1 chute 0\n")
    for dt in (1e-1, 1e-3):
        refused(run_deck(tmp_path, f"{deck}timestep {dt}\nrun 1\n", *harness.engine_words(fast_engine)), PHYSICS,
                "fix gravity leaves the exact range", "the range follows the forces between particles")
