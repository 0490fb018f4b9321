"""Names of files that would destroy something: refused before a byte is lost, and before the first step."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Dict, Tuple

import pytest

import harness
from cli import (BOX, OF_ANOTHER_RUN, RUNTIME, USAGE, Done, call, refused, run_deck, works,
                 written_by_another_run)

pytestmark = pytest.mark.smoke

WITH_HDF5 = pytest.mark.skipif(
    harness.program().exists() and harness.hdf5_missing(), reason="this build has no HDF5")
HERE = BOX.count("\n")


def steps_done(done: Done) -> bool:
    return "Step" in done.out


# ---------------------------------------------------------------- two uses of one file


@pytest.mark.parametrize("words", [["-log", "in.deck"], ["-log", "./in.deck"], ["-screen", "in.deck"], ["-log", "link"],
                                   ["-log", "a", "-screen", "./a"]])
def test_the_command_line_does_not_write_to_its_own_files(words, tmp_path):
    (tmp_path / "link").symlink_to("in.deck")
    deck = BOX + "run 1\n"
    refused(run_deck(tmp_path, deck, *words), USAGE, "choose another name", words[-1])
    assert (tmp_path / "in.deck").read_text() == deck


@pytest.mark.parametrize("command", ["rerun f dump x y z", "read_dump f 1 x y z", "include f"])
def test_a_file_that_a_dump_still_writes_is_not_read(command, tmp_path):
    deck = BOX + f"dump d all custom 1 f id type x y z\nrun 1\n{command}\n"
    refused(run_deck(tmp_path, deck), USAGE, "f is still written by dump d; end that before the file is read")
    if command != "include f":
        works(run_deck(tmp_path, deck.replace(command, f"undump d\n{command}")))


# ---------------------------------------------------------------- two runs at the same time


@pytest.mark.parametrize("name", ["log", "d"])
def test_a_file_that_another_run_writes(name, tmp_path):
    with written_by_another_run(tmp_path / name):
        refused(run_deck(tmp_path, BOX + "dump d all custom 1 d id\nrun 1\n", "-log", "log"), RUNTIME,
                f" {name}: another run is writing it")
    assert (tmp_path / name).read_bytes() == OF_ANOTHER_RUN


def test_a_file_of_a_run_that_ends_now(tmp_path):
    """Its last process may live on for a moment when the next job begins."""
    with written_by_another_run(tmp_path / "d") as file:
        end = threading.Timer(0.5, file.close)
        end.start()
        works(run_deck(tmp_path, BOX + "dump d all custom 1 d id\nrun 1\n"))
        end.join()
    assert (tmp_path / "d").read_bytes().startswith(b"ITEM: TIMESTEP\n0\n")


# What the deck says, and which two uses the message names; the file that must be as it was.
CONFLICTS: Dict[str, Tuple[str, Tuple[str, str]]] = {
    "dump onto the deck": ("dump d all custom 1 in.deck id\nrun 1\n", ("dump d", "the deck")),
    "picture onto the deck": ("dump d all density 1 deck.png 8\nrun 1\n", ("dump d", "the deck")),
    "data onto the deck": ("run 1\nwrite_data ./in.deck\n", ("write_data", "the deck")),
    "data onto the deck, by a link": ("run 1\nwrite_data hard\n", ("write_data", "the deck")),
    "print onto the deck": ("print hi append in.deck\nrun 1\n", ("print", "the deck")),
    "log onto the deck": ("log in.deck\nrun 1\n", ("the log", "the deck")),
    "data onto a dump": ("dump d all custom 1 a id\nrun 1\nwrite_data ./a\n", ("write_data", "dump d")),
    "data onto a frame": ("dump d all custom 1 a.* id\nrun 1\nwrite_data a.1\n", ("write_data", "dump d")),
    "dump onto data": ("write_data a.1\ndump d all custom 1 a.* id\nrun 1\n", ("dump d", "write_data")),
    "print onto a dump": ("dump d all custom 1 a id\nprint hi file a\nrun 1\n", ("print", "dump d")),
    "print onto the log": ("log l\nprint hi append ./l\nrun 1\n", ("print", "the log")),
    "log onto a dump": ("dump d all custom 1 a id\nlog a\nrun 1\n", ("the log", "dump d")),
    "dump onto a dump": ("dump d all custom 1 a id\ndump e all custom 1 ./a id\nrun 1\n", ("dump e", "dump d")),
    "dump onto what was read": ("dump d all custom 1 old.data id\nrun 1\n", ("dump d", "read_data")),
    "data onto what was read": ("run 1\nwrite_data old.data\n", ("write_data", "read_data")),
    "averages onto a dump": ("dump d all custom 1 a id\nrun 1\nfix a all ave/time 1 1 1 c_thermo_temp file a\nrun 1\n",
                             ("fix a", "dump d")),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_two_uses_of_one_file(name, tmp_path):
    words, uses = CONFLICTS[name]
    works(run_deck(tmp_path, BOX + "write_data old.data\n"))
    data = (tmp_path / "old.data").read_bytes()
    read = "read" in name
    deck = ("read_data old.data\npair_style lj/cut 2.5\npair_coeff * * 1 1\nfix 1 all nve\n" if read else BOX) + words
    (tmp_path / "in.deck").write_text("")
    (tmp_path / "hard").hardlink_to(tmp_path / "in.deck")
    (tmp_path / "deck.png").symlink_to("in.deck")
    message = refused(run_deck(tmp_path, deck), USAGE, "choose another name", *uses)
    assert message.startswith("in.deck:")
    assert (tmp_path / "in.deck").read_text() == deck and (tmp_path / "old.data").read_bytes() == data
    done = run_deck(tmp_path, deck)
    assert not steps_done(done), "only after a run"


@WITH_HDF5
@pytest.mark.parametrize("words, uses", [
    ("restart 1 a ./a\nrun 1\n", ("restart", "restart, a")),
    ("dump d all custom 1 a.1 id\nrestart 1 a\nrun 1\n", ("restart", "dump d")),
    ("restart 1 a.*\nrun 1\nwrite_data a.1\n", ("write_data", "restart")),
    ("run 1\nwrite_restart in.deck\n", ("write_restart", "the deck"))])
def test_restarts_and_other_files(words, uses, tmp_path):
    done = run_deck(tmp_path, BOX + words)
    refused(done, USAGE, *uses)
    assert not steps_done(done)


def test_the_standard_output_is_a_file_too(tmp_path):
    (tmp_path / "in.deck").write_text(BOX + "run 1\n")
    with (tmp_path / "log.myriad").open("wb") as out:
        refused(call(tmp_path, "-in", "in.deck", stdout=out), USAGE, "the log", "the standard output")
    with (tmp_path / "out").open("wb") as out:
        works(call(tmp_path, "-in", "in.deck", stdout=out))
    assert "Loop time" in (tmp_path / "out").read_text()


def test_what_may_be_written_again(tmp_path):
    """By the same command in its turn; and where nothing can be lost."""
    works(run_deck(tmp_path, BOX + "write_data w\ndump d all custom 1 a id\nprint 1 file p\nprint 2 append p\nrun 1\n"
                   "write_data w\nundump d\ndump e all custom 1 a id\nlog l\nrun 1\nlog m\nlog l append\n"
                   "print 3 file p\n"
                   "dump n all custom 1 /dev/null id\nwrite_data /dev/null\nrun 1\n", "-log", "/dev/null"))
    assert (tmp_path / "p").read_text() == "3\n"


@WITH_HDF5
def test_a_chain_of_runs_writes_over_the_restart_it_came_from(tmp_path):
    works(run_deck(tmp_path, BOX + "write_restart r\n"))
    works(run_deck(tmp_path, "read_restart r\nfix 1 all nve\nrestart 5 r s\nrun 10\nrestart 0\nwrite_restart r\n"))


@WITH_HDF5
@pytest.mark.parametrize("name, use", [("a", "dump d"), ("r.5", "restart"), ("p.4.png", "dump p"), ("t", "fix t"),
                                       ("end.data", "write_data"), ("later", "dump e"), ("in.deck", "the deck")])
def test_a_frame_does_not_replace_files_of_its_deck(name, use, tmp_path):
    """Outputs are left out for a frame, also those after the run of its step. Their files stay all the same."""
    deck = BOX + ("dump d all custom 2 a id x\ndump p all density 2 p.*.png 8\nrestart 5 r.*\n"
                  "fix t all ave/time 1 1 1 c_thermo_temp file t\nrun 10\nwrite_data end.data\n"
                  "dump e all custom 1 later id\nrun 2\n")
    works(run_deck(tmp_path, deck))
    before = (tmp_path / name).read_bytes()
    frame = ("frame", "-in", "in.deck", "--step", "4", "-o")
    refused(call(tmp_path, *frame, name), USAGE, use, "myriad frame -o", "choose another name")
    assert (tmp_path / name).read_bytes() == before
    for _ in range(2):
        works(call(tmp_path, *frame, "another"))


# ---------------------------------------------------------------- before the first step


@pytest.mark.parametrize("words, line", [
    ("run 1\nwrite_data no/x\n", 2),
    ("variable d string no\nrun 1\nwrite_data ${d}/x.*\n", 3),
    ("run 1\nprint hi file no/x\n", 2),
    ("run 1\nlog no/x\n", 2),
    ("run 1\ndump d all custom 1 no/x id\nrun 1\n", 2),
    ("run 1\nwrite_data folder\n", 2),
    ("run 1\nfix a all ave/time 1 1 1 c_thermo_temp file no/x\nrun 1\n", 2),
    ("run 1\nfix p all print 1 hi append no/x\nrun 1\n", 2),
    pytest.param("restart 500 no/a\nrun 1\n", 1, marks=WITH_HDF5),
    pytest.param("run 1\nwrite_restart no/a\n", 2, marks=WITH_HDF5)])
def test_outputs_are_looked_at_before_the_first_step(words, line, tmp_path):
    (tmp_path / "folder").mkdir()
    done = run_deck(tmp_path, BOX + words)
    refused(done, RUNTIME, "folder" if "folder" in words else "the directory no does not exist", line=HERE + line)
    assert not steps_done(done)


def test_an_earlier_mistake_comes_first(tmp_path):
    refused(run_deck(tmp_path, BOX + "timestep x\nrun 1\nwrite_data no/x\n"), USAGE, "timestep", line=HERE + 1)


@pytest.mark.parametrize("words", [
    # What only the run tells is left to its turn: names of folders, and variables that were something else before.
    "run 3\nwrite_data $(step:%.0f)/x\n",
    "variable d string no\nrun 3\nvariable d string $(step:%.0f)\nwrite_data ${d}/x\n",
    "variable d equal 0\nvariable d equal step\nrun 3\nwrite_data ${d}/x\n"])
def test_names_that_depend_on_the_run(words, tmp_path):
    for name in ("0", "3"):
        (tmp_path / name).mkdir()
    (tmp_path / "0").rmdir()
    works(run_deck(tmp_path, BOX + words))
    assert (tmp_path / "3/x").exists()


def test_a_deck_that_can_be_read_only_once(tmp_path):
    works(call(tmp_path, "-in", "-", "-log", "none", input=(BOX + "run 1\nwrite_data x\n").encode()))
    assert (tmp_path / "x").exists()
