"""Several runs in one deck: what goes on, what starts afresh, and what may change in between."""

from __future__ import annotations

import re
from pathlib import Path
from typing import List

import pytest

from cli import BOX, PHYSICS, USAGE, refused, run_deck, works
from harness import INPUTS, Table, engine_words, read_tables
from test_output import parse_custom, parse_data

pytestmark = pytest.mark.smoke

MELT = """\
lattice fcc 0.8442
region b block 0 4 0 4 0 4
create_box 1 b
create_atoms 1 box
mass 1 1
velocity all create 1.44 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
fix 1 all nve
thermo_modify format float %.17g
"""


def tables(folder: Path, deck: str) -> List[Table]:
    works(run_deck(folder, deck, "-log", "log", "-echo", "none"))
    return read_tables((folder / "log").read_text())


def steps(table: Table) -> List[int]:
    return [int(row[0]) for row in table.rows]


def said(folder: Path, deck: str) -> List[str]:
    """What print printed, each in <>."""
    return re.findall(r"^<(.*)>$", works(run_deck(folder, deck, "-echo", "none")).out, re.M)


# ---------------------------------------------------------------- how far


def test_runs_go_on_from_one_another(tmp_path):
    (whole,) = tables(tmp_path, MELT + "thermo 20\nrun 60\nwrite_data whole\n")
    parts = tables(tmp_path, MELT + "thermo 20\nrun 20\nrun 0\nrun 40\nwrite_data parts\n")
    assert [steps(t) for t in parts] == [[0, 20], [20], [20, 40, 60]]
    assert parts[0].rows == whole.rows[:2] and parts[1].rows == whole.rows[1:2] and parts[2].rows == whole.rows[1:]
    assert (tmp_path / "whole").read_text() == (tmp_path / "parts").read_text()


def test_run_zero_measures_and_moves_nothing(tmp_path):
    (table,) = tables(tmp_path, MELT + "write_data before\nrun 0\nwrite_data after\n")
    row = table.at(0)
    assert row["Temp"] == pytest.approx(1.44, rel=1e-12)
    # An fcc crystal at this density with rc 2.5: LAMMPS's bench/in.lj at step 0, but for the particle number.
    assert row["E_pair"] == pytest.approx(-6.7733681, abs=1e-6)
    before, after = (parse_data((tmp_path / name).read_text()) for name in ("before", "after"))
    assert abs(before["Velocities"] - after["Velocities"]).max() < 1e-12
    log = (tmp_path / "log").read_text()
    assert "for 0 steps with 256 atoms" in log and "Performance" not in log


def test_run_upto(tmp_path):
    done = tables(tmp_path, MELT + "thermo 10\nrun 15\nrun 30 upto\nrun 30 upto\n")
    assert [steps(t) for t in done] == [[0, 10, 15], [15, 20, 30], [30]]
    refused(run_deck(tmp_path, MELT + "run 15\nrun 14 upto\n"), USAGE, "14", "15", line=MELT.count("\n") + 2)


def test_thermo_rows_fall_on_multiples(tmp_path):
    (first,) = tables(tmp_path, MELT + "reset_timestep 7\nthermo 10\nrun 20\n")
    assert steps(first) == [7, 10, 20, 27]
    (quiet,) = tables(tmp_path, MELT + "run 20\n")
    assert steps(quiet) == [0, 20]
    (every,) = tables(tmp_path, MELT + "thermo 1\nrun 3\n")
    assert steps(every) == [0, 1, 2, 3]


def test_reset_timestep(tmp_path):
    first, second = tables(tmp_path, MELT + "thermo 10\nrun 10\nreset_timestep 1000\nrun 10\n")
    (plain,) = tables(tmp_path, MELT + "thermo 10\nrun 20\n")
    assert steps(first) == [0, 10] and steps(second) == [1000, 1010]
    # Nothing but the number changes.
    assert [row[1:] for row in second.rows] == [row[1:] for row in plain.rows[1:]]


# ---------------------------------------------------------------- what changes in between


def test_timestep_between_runs(tmp_path):
    """Free flight at speed 1: the way is the sum of the times."""
    deck = BOX + ("pair_style none\nvelocity all set 1 0 0\nthermo_style custom step time dt\n"
                  "thermo_modify format float %.17g\ndump d all custom 16 f id x\ntimestep 0.0625\nrun 16\n"
                  "timestep 0.015625\nrun 32\n")
    first, second = tables(tmp_path, deck)
    assert first.column("Dt").tolist() == [0.0625] * 2 and first.column("Time").tolist() == [0.0, 1.0]
    assert second.column("Dt").tolist() == [0.015625] * 2 and second.column("Time").tolist() == [0.25, 0.75]
    frames = parse_custom((tmp_path / "f").read_text())
    assert [frame.column("x").tolist() for frame in frames] == [[1, 3], [2, 4], [2.25, 4.25], [2.5, 4.5]]


def test_pair_coeff_between_runs(tmp_path):
    deck = MELT + "run 0\npair_coeff 1 1 2 1\nrun 0\npair_coeff 1 1 1 1 2.0\nrun 0\npair_style none\nrun 0\n"
    plain, double, short, none = (t.at(0)["E_pair"] for t in tables(tmp_path, deck))
    assert double == pytest.approx(2 * plain, rel=1e-12) and plain < short < 0.0 and none == 0.0


def test_pair_modify_between_runs(tmp_path):
    """Shifting lifts the energy by the same amount for each neighbour, and leaves the forces as they are."""
    plain, shifted, back = (t.at(0) for t in tables(
        tmp_path, MELT + "run 0\npair_modify shift yes\nrun 0\npair_modify shift no\nrun 0\n"))
    at_cutoff = 4 * (2.5 ** -12 - 2.5 ** -6)
    neighbours = (shifted["E_pair"] - plain["E_pair"]) / (-0.5 * at_cutoff)
    assert neighbours == pytest.approx(54, abs=1e-7) and shifted["Press"] == plain["Press"] and back == plain


def test_mass_between_runs(tmp_path):
    """Velocities, not momenta, stay."""
    light, heavy = (t.at(0) for t in tables(tmp_path, MELT + "run 0\nmass 1 3\nrun 0\n"))
    assert heavy["Temp"] == pytest.approx(3 * light["Temp"], rel=1e-12)


def test_fixes_between_runs(tmp_path):
    moving, still, again = tables(tmp_path, MELT + "thermo 5\nrun 10\nunfix 1\nrun 10\nfix again all nve\nrun 10\n")
    assert len({tuple(row[1:]) for row in moving.rows}) == 3
    assert len({tuple(row[1:]) for row in still.rows}) == 1 and still.rows[0][1:] == moving.rows[-1][1:]
    (plain,) = tables(tmp_path, MELT + "thermo 5\nrun 20\n")
    assert [row[1:] for row in again.rows] == [row[1:] for row in plain.rows[2:]]


def test_thermostat_between_runs(tmp_path):
    """Langevin takes the melt to its temperature; without it the energy stands again."""
    deck = MELT + "fix 2 all langevin 3 3 0.1 5\nrun 300\nunfix 2\nthermo 50\nrun 100\n"
    heated, free = tables(tmp_path, deck)
    assert 2.5 < heated.column("Temp")[-1] < 3.5
    energy = free.column("TotEng")
    assert abs(energy - energy[0]).max() < 0.02 < energy[0] - heated.column("TotEng")[0]


def test_walls_between_runs(tmp_path):
    deck = ("boundary f p p\nregion b block 0 8 0 8 0 8\ncreate_box 1 b\nmass 1 1\ncreate_atoms 1 single 4 4 4\n"
            "velocity all set 1 0 0\nfix 1 all nve\ntimestep 0.0625\nfix w all wall/reflect xlo 2 xhi 6\n"
            "dump d all custom 32 f id x vx\nrun 64\nunfix w\nrun 32\n")
    works(run_deck(tmp_path, deck + "fix w all wall/reflect xlo EDGE xhi EDGE\nrun 96\n"))
    rows = [tuple(map(float, frame.cells[0][1:])) for frame in parse_custom((tmp_path / "f").read_text())]
    # To the wall at 6, back to 4, 2 (beyond it no wall is left), and around; mirrors stand half a quantum outside.
    assert rows == [pytest.approx(row, abs=1e-14)
                    for row in [(4, 1), (6, 1), (4, -1), (2, -1), (0, -1), (2, 1), (4, 1)]]


def test_undump(tmp_path):
    works(run_deck(tmp_path, BOX + "dump a all atom 5 a\ndump b all atom 5 b\nrun 10\nundump a\nrun 10\n"
                                   "dump a all atom 5 c\nrun 5\n"))
    assert [[frame.step for frame in parse_custom((tmp_path / name).read_text())] for name in "abc"] == [
        [0, 5, 10], [0, 5, 10, 15, 20, 25], [20, 25]]


def test_thermo_between_runs(tmp_path):
    deck = MELT + ("thermo 5\nrun 10\nthermo 0\nthermo_style custom step pe\nrun 10\n"
                   "thermo_modify norm no format 2 %.3f\n"
                   "run 0\nthermo_style one\nrun 0\n")
    first, second, third, fourth = tables(tmp_path, deck)
    assert steps(first) == [0, 5, 10] and steps(second) == [10, 20]
    assert second.titles == ["Step", "PotEng"] and third.titles == ["Step", "PotEng"] and len(fourth.titles) == 6
    per_particle = second.rows[-1][1]
    assert re.fullmatch(r"-\d\.\d{1,7}", per_particle)  # thermo_style brings its own format back
    assert third.rows[0][1] == f"{float(third.rows[0][1]):.3f}"
    assert float(third.rows[0][1]) == pytest.approx(256 * float(per_particle), rel=1e-6)
    assert float(fourth.rows[0][2]) == pytest.approx(float(per_particle), rel=1e-7)  # and norm


def test_particles_and_velocities_between_runs(tmp_path):
    deck = BOX + ("run 5\ncreate_atoms 1 single 5 5 5\nvelocity all set 0 0 1\nrun 5\n"
                  "set type 1 type 2\nrun 5\nwrite_data end\n")
    done = tables(tmp_path, deck)
    assert steps(done[-1]) == [10, 15]
    data = parse_data((tmp_path / "end").read_text())
    assert data["Atoms # atomic"][:, 0].tolist() == [1, 2, 3] and data["Atoms # atomic"][:, 1].tolist() == [2, 2, 2]
    assert data["Velocities"][:, 3].tolist() == [1, 1, 1] and data["Atoms # atomic"][2, 4] == pytest.approx(5.05)


# ---------------------------------------------------------------- variables and print


def test_steps_since_the_run_and_since_its_ramps_began(tmp_path):
    """The numbers of lmp."""
    deck = MELT + ("thermo 2\nthermo_style custom step elapsed elaplong cpuremain\nrun 2\nrun 2 start 0 stop 100\n"
                   "run 4 start 0 every 2 NULL\nminimize 0 0 2 9\n")
    rows = [tuple(map(int, row[:3])) for table in tables(tmp_path, deck) for row in table.rows]
    assert rows == [(0, 0, 0), (2, 2, 2), (2, 0, 2), (4, 2, 4), (4, 0, 4), (6, 2, 6), (6, 0, 6), (8, 2, 8),
                    (8, 0, 0), (10, 2, 2)]


def test_keywords_after_a_run(tmp_path):
    deck = MELT + ('run 0\nprint "<$(step) $(atoms) $(temp:%.12g)>"\nrun 10\nprint "<$(step) $(elapsed) $(temp)>"\n'
                   'variable t equal temp\nprint "<${t}>"\nprint "<$(pe+ke-etotal:%.6f)>"\nprint "<$(dt) $(time)>"\n')
    first, second, third, fourth, fifth = said(tmp_path, deck)
    (table,) = tables(tmp_path, MELT + "run 10\n")
    assert first == "0 256 1.44"
    step, elapsed, temperature = second.split()
    assert (step, elapsed) == ("10", "10") and float(temperature) == table.at(10)["Temp"]
    assert float(third) == pytest.approx(table.at(10)["Temp"], rel=1e-14)
    assert abs(float(fourth)) < 1e-6 and fifth.split()[1][:4] == "0.05"


def test_keywords_are_those_of_the_last_row(tmp_path):
    """Each reading follows the run; an equal variable is evaluated when it is read."""
    deck = MELT + 'variable t equal temp\nrun 10\nprint "<${t}>"\nrun 10\nprint "<${t}>"\n'
    rows = tables(tmp_path, MELT + "run 10\nrun 10\n")
    assert [float(word) for word in said(tmp_path, deck)] == [
        pytest.approx(table.column("Temp")[-1], rel=1e-14) for table in rows]


def test_variables_in_the_thermo_table(tmp_path):
    style = 'variable twice equal "2*temp"\nvariable now equal step/10\nthermo_style custom step temp v_twice v_now\n'
    (table,) = tables(tmp_path, MELT + style + "thermo_modify format float %.17g\nthermo 5\nrun 20\n")
    assert table.titles == ["Step", "Temp", "v_twice", "v_now"]
    assert (table.column("v_twice") == 2 * table.column("Temp")).all()
    assert table.column("v_now").tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]


def test_a_variable_as_the_length_of_a_run(tmp_path):
    done = tables(tmp_path, MELT + "variable n index 6\nvariable m equal ${n}/2\nrun $n\nrun ${m}\nrun $(v_m+1)\n")
    assert [steps(t)[-1] for t in done] == [6, 9, 13]


def test_print(tmp_path):
    deck = ('variable name string "a  b"\nprint "<${name}>"\nprint \'<"quoted">\'\nprint <word>\nprint ""\n'
            'print "<hidden>" screen no\nprint "one" file out\nprint "two" append out\n'
            'print """<first\nsecond>"""\n')
    done = works(run_deck(tmp_path, deck, "-log", "log", "-echo", "none"))
    assert re.findall(r"<([^>]*)>", done.out) == ["a  b", '"quoted"', "word", "first\nsecond"]
    assert "<hidden>\n" in (tmp_path / "log").read_text()
    assert (tmp_path / "out").read_text() == "one\ntwo\n"


def test_print_replaces_late(tmp_path):
    """Text in quotes is replaced when it is printed, so it follows the run."""
    assert said(tmp_path, MELT + "run 3\nprint '<$(step)>'\nrun 4\nprint '<$(step)>'\n") == ["3", "7"]


def test_info_shows_the_state(tmp_path):
    out = works(run_deck(tmp_path, MELT + "dump d all atom 5 f\nrun 5\ninfo\n")).out
    for line in ("step 5", "256 particles of 1 type", "mass of type 1: 1",
                 "pair style lj/cut, shift no, mixing geometric",
                 "types 1 1: epsilon 1 sigma 1 rc 2.5", "fix 1: nve", "observer d", "engine openmp, 1 rank"):
        assert line in out


FAR = 2**63 - 1


@pytest.mark.parametrize("output", [f"thermo {FAR}", f"thermo {FAR - 1}", f"dump 1 all atom {FAR} f",
                                    f"restart {FAR} r", f"dump 1 all atom 1 f\ndump_modify 1 every {FAR}"])
def test_outputs_that_never_come_do_not_keep_a_run_from_ending(output, tmp_path):
    done = run_deck(tmp_path, f"{BOX}{output}\nrun 5\nrun 5\n", limit=20)
    works(done)
    assert [steps(table) for table in read_tables(done.out)] == [[0, 5], [5, 10]]


def test_a_run_to_the_last_step_there_is(tmp_path):
    deck = f"{BOX}thermo 4\ndump 1 all atom 4 f\nrestart 4 r\nreset_timestep {FAR - 6}\n"
    done = run_deck(tmp_path, deck + "run 6\n", limit=20)
    works(done)
    assert steps(read_tables(done.out)[0]) == [FAR - 6, FAR - 3, FAR]
    refused(run_deck(tmp_path, deck + "run 7\n"), USAGE, "run 7", str(FAR - 6))
    refused(run_deck(tmp_path, deck + f"run 7 stop {FAR}\n"), USAGE, "run 7", str(FAR - 6))


# ---------------------------------------------------------------- what is in no state to be shown


@pytest.mark.parametrize("style", ["nve", "nve/leapfrog", "nve/leapfrog mirror yes", None])
def test_an_overlap_is_reported_before_any_row_or_frame(style, engine, tmp_path):
    """Sums over particles that overlap mean nothing; also of a run of no steps, and of particles that never move."""
    deck = ("region b block 0 9 0 9 0 9\ncreate_box 1 b\nmass 1 1\ncreate_atoms 1 single 4 4 4\n"
            "create_atoms 1 single 4 4 4.00001\npair_style lj/cut 2.5\npair_coeff 1 1 1 1\nthermo 1\n"
            "dump d all custom 1 frames id x y z\n" + (f"fix 1 all {style}\n" if style else ""))
    for steps in (0, 3):
        done = run_deck(tmp_path, deck + f"run {steps}\n", *engine_words(engine))
        refused(done, PHYSICS, "step 0: particles 1 and 2 overlap", line=deck.count("\n") + 1)
        assert not re.search(r"^ +0 ", done.out, re.M), done.out
        assert (tmp_path / "frames").read_text() == ""


def test_a_disc_of_fast_particles(tmp_path):
    """The main job, and by a variable the homework's own start: the same speeds everywhere, to the last bit."""
    words = ["-var", "n", "2500"]
    text = (INPUTS / "in.repulsive").read_text().split("thermo ")[0] + 'print "cutoff ${rc}"\n'
    end = "write_data {}.data\n"
    works(run_deck(tmp_path, text + end.format("burst"), *words))
    done = works(run_deck(tmp_path, text + end.format("homework"), *words, "-var", "homework", "1"))
    assert "cutoff 0.01\n" in done.out
    plain = re.sub(r"^(region +disc|velocity.*disc).*\n", "", text, flags=re.M)
    assert plain.count("disc") < text.count("disc")
    works(run_deck(tmp_path, plain + end.format("plain"), *words))
    read = {name: (tmp_path / f"{name}.data").read_text() for name in ("burst", "homework", "plain")}
    assert read["homework"] == read["plain"]
    burst, homework = (parse_data(read[name]) for name in ("burst", "homework"))
    assert (burst["Atoms # atomic"] == homework["Atoms # atomic"]).all()
    side = (0.0005 * 2500) ** 0.5
    inside = ((homework["Atoms # atomic"][:, 2:4] - side / 2) ** 2).sum(axis=1) <= (0.42 * side) ** 2
    ratio = burst["Velocities"][:, 1:3] / homework["Velocities"][:, 1:3]
    assert (abs(ratio[inside] - 3) < 1e-9).all() and (ratio[~inside] == 1).all() and 1000 < inside.sum() < 1600
