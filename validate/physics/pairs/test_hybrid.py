"""Pair styles hybrid and hybrid/overlay beside LAMMPS and beside the styles alone; restarts, data files, bad input.

check_engines.py has the bits of all engines (in.hybrid).
"""

from __future__ import annotations

import numpy as np
import pytest

import harness
import pair_figures
from cli import BOX, USAGE, refused, run_deck
from test_lammps import LMP, lammps_tables
from test_pair_styles import write_system

TABLE = harness.REFERENCE / "made-up.table"

# Words of pair_style, and the lines below it; `run` stands for a run of no steps, the last run has 50.
MODELS = {
    "two styles": ("hybrid lj/cut 2.5 morse 2.4", """\
pair_coeff 1 1 lj/cut 1 0.9
pair_coeff 2 2 morse 0.8 5 1 2.2
pair_coeff 1 2 lj/cut 0.9 0.85 2.3
run
pair_modify shift yes
run
pair_modify pair morse shift no
"""),
    "two of one name": ("hybrid lj/cut 2.5 lj/cut 2.0 yukawa 1.5 2.2", """\
pair_coeff 1 1 lj/cut 1 1 0.9
pair_coeff 2 2 lj/cut 2 0.8 0.9 2.1
pair_coeff 1 2 yukawa 3
run
pair_modify pair lj/cut 2 shift yes
run
pair_coeff 1 2 lj/cut 1 0.7 0.9
pair_coeff 1 1 yukawa 5
"""),
    "mixed": ("hybrid lj/cut 2.5 gauss 2.2", """\
pair_coeff * * gauss -1 2
pair_coeff 1 1 lj/cut 1 0.9
pair_coeff 2 2 lj/cut 0.8 0.8 2.2
run
pair_style hybrid lj/cut 2.5
pair_coeff 1 1 lj/cut 1 0.9
pair_coeff 2 2 lj/cut 0.8 0.8 2.2
run
pair_modify mix sixthpower
run
pair_modify pair lj/cut mix arithmetic
"""),
    "overlay of two": ("hybrid/overlay lj/cut 2.5 yukawa 1.5 2.2", """\
pair_coeff * * lj/cut 1 0.9
pair_coeff * * yukawa 3
pair_coeff 2 2 yukawa 2 1.9
run
pair_modify shift yes
run
pair_modify pair yukawa shift no
"""),
    "overlay of five": ("hybrid/overlay lj/cut 2.5 gauss/cut 2.4 table spline 300 lj/cut 2.0 born 2.3", f"""\
pair_coeff * * lj/cut 1 1 0.9
pair_coeff 1 1 gauss/cut -2 1.4 0.2
pair_coeff 1 2 table {TABLE} BOTH 2.2
pair_coeff 2 2 lj/cut 2 0.5 0.95
pair_coeff 1 2 lj/cut 2 0.6 0.9 1.8
pair_coeff 2 2 born 0.4 0.15 0.9 1 -0.3
pair_coeff 1 2 gauss/cut 3 1 0.3
run
pair_modify pair lj/cut 2 shift yes
"""),
    "none": ("hybrid/overlay lj/cut 2.5 lj/cut 1.6", """\
pair_coeff * * lj/cut 1 1 0.9
pair_coeff 1 1 lj/cut 2 0.8 0.8
run
pair_coeff 1 2 none
run
pair_coeff 1 2 lj/cut 2 0.5 0.9
"""),
}


def deck(name, dim, steps=50):
    style, lines = MODELS[name]
    text = (f"units lj\ndimension {dim}\nread_data system.data\ntimestep 0.002\nfix 1 all nve\nthermo 10\n"
            "thermo_style custom step temp pe ke etotal press pxx pyy pxy\n"
            f"thermo_modify format float %.15g norm no\npair_style {style}\n")
    return text + lines.replace("run\n", "run 0\n") + f"run {steps}\n"


def close(got, expected, late, scale=1.0):
    return got == pytest.approx(expected, rel=1e-6 if late else 1e-10, abs=(1e-6 if late else 1e-10) * scale)


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_models_are_those_of_lammps(name, dim, tmp_path):
    """Energies and pressures of each run, and 50 steps of the last one, which are undone to the last bit."""
    write_system(tmp_path, dim)
    text = deck(name, dim)
    (tmp_path / "in.both").write_text(text)
    ours = harness.run(text + "verify 30\n", tmp_path, engine="openmp").tables
    theirs = lammps_tables(tmp_path / "in.both", tmp_path)
    assert len(theirs) == text.count("\nrun ") and len(ours) >= len(theirs)
    for a, b in zip(ours, theirs):
        for row in b.rows:
            step = int(row[0])
            for column in ("Temp", "PotEng", "Press", "Pxx", "Pyy", "Pxy"):
                assert close(a.at(step)[column], b.at(step)[column], step > 0), (step, column)
    assert len({b.rows[0][2] for b in theirs}) == len(theirs)
    assert len(theirs[-1].rows) == 6


@pytest.mark.parametrize("overlay", ["", "/overlay"])
@pytest.mark.parametrize("style, coefficients", [("lj/cut", "1 0.9"), ("morse", "1 5 1.1"), ("soft", "9")])
def test_one_sub_style_has_the_bits_of_the_style_alone(style, coefficients, overlay, tmp_path):
    write_system(tmp_path, 3)
    frames, tables = [], []
    for pair in (f"pair_style {style} 2.5\npair_coeff * * {coefficients}\n",
                 f"pair_style hybrid{overlay} {style} 2.5\npair_coeff * * {style} {coefficients}\n"):
        run = harness.run("units lj\nread_data system.data\ntimestep 0.002\nfix 1 all nve\nthermo 10\n"
                          "thermo_style custom step temp pe press pxy\nthermo_modify format float %.17g\n"
                          f"{pair}dump 1 all custom 30 d id x y z vx vy vz fx fy fz\ndump_modify 1 sort id "
                          "format float %.17g\nrun 30\n", tmp_path, engine="openmp")
        frames.append((tmp_path / "d").read_text())
        tables.append(run.table.rows)
    assert frames[0] == frames[1] and len(frames[0]) > 10000
    assert tables[0] == tables[1] and len(tables[0]) == 4


def rows_of(folder, keyword):
    """Distance, energy and force of a section of the file `pairs`."""
    lines = (folder / "pairs").read_text().split(f"\n{keyword}\n")[1].splitlines()[2:]
    return np.array([[float(word) for word in line.split()[1:]] for line in lines[:lines.index("")]])


def test_an_overlay_is_the_sum_of_its_terms(tmp_path):
    """And its force is minus the gradient of its energy."""
    harness.run(BOX + "pair_style hybrid/overlay lj/cut 2.5 yukawa 1.5 1.8\npair_coeff * * lj/cut 1 0.9\n"
                "pair_coeff * * yukawa 3\npair_write 1 2 600 r 0.85 2.6 pairs SUM\n"
                "pair_style lj/cut 2.5\npair_coeff * * 1 0.9\npair_write 1 2 600 r 0.85 2.6 pairs ONE\n"
                "pair_style yukawa 1.5 1.8\npair_coeff * * 3\npair_write 1 2 600 r 0.85 2.6 pairs TWO\n", tmp_path)
    total, one, two = (rows_of(tmp_path, keyword) for keyword in ("SUM", "ONE", "TWO"))
    assert len(total) == 600
    assert total[:, 1:] == pytest.approx(one[:, 1:] + two[:, 1:], rel=1e-13, abs=1e-13)
    assert np.any(two[:300, 1] > 0.1) and not np.any(two[400:, 1:]) and not np.any(total[-10:, 1:])
    r, energy, force = total.T
    inside = (r[1:-1] < 1.79) | ((r[1:-1] > 1.81) & (r[1:-1] < 2.49))
    slope = (energy[2:] - energy[:-2]) / (r[2:] - r[:-2])
    assert force[1:-1][inside] == pytest.approx(-slope[inside], rel=2e-3, abs=5e-3)


CONTINUED = ("timestep 0.002\nfix 1 all nve\nthermo 10\nthermo_style custom step pe press\n"
             "thermo_modify format float %.17g\n")


def test_restarts_hold_sub_styles(tmp_path):
    """All but tables, whose file pair_coeff gives again; without it the message says so."""
    write_system(tmp_path, 3)
    style, lines = MODELS["overlay of five"]
    begin = f"units lj\nread_data system.data\n{CONTINUED}pair_style {style}\n{lines.replace('run', 'run 0')}"
    whole = harness.run(begin + "run 20\nwrite_restart r\nrun 20\n", tmp_path, engine="openmp")
    again = harness.run(f"read_restart r\n{CONTINUED}pair_coeff 1 2 table {TABLE} BOTH 2.2\nrun 20\n", tmp_path,
                        engine="naive")
    assert whole.tables[-1].rows == again.table.rows and len(again.table.rows) == 3
    refused(run_deck(tmp_path, f"read_restart r\n{CONTINUED}run 20\n"), USAGE,
            "pair style table has no table for types 1 and 2: add pair_coeff 1 2 with a file")


def test_a_deck_that_stops_goes_on_with_the_same_bits(tmp_path):
    """--resume compares what the restart holds of sub-styles with the deck's."""
    write_system(tmp_path, 3)
    style, lines = MODELS["two of one name"]
    text = (f"units lj\nread_data system.data\n{CONTINUED}restart 20 r.1 r.2\npair_style {style}\n"
            f"{lines.replace('run', 'run 0')}run 60\n")
    ends = []
    for more in ([], ["--resume"]):
        done = run_deck(tmp_path, text, *more, "-log", "log.deck")
        assert done.status == 0, done.err
        ends.append(harness.read_tables((tmp_path / "log.deck").read_text())[-1].rows)
        (tmp_path / "r.1").unlink()  # that of step 60; r.2 is of step 40
    assert ends[0][-1] == ends[1][-1] and ends[0][-1][0] == "60" and ends[1][0][0] == "40"
    assert len(ends[0]) == 7 and len(ends[1]) == 3
    other = run_deck(tmp_path, text.replace("yukawa 5", "yukawa 6"), "--resume")
    assert other.status != 0 and "was written by another deck, or the deck has changed" in other.err, other.err


def test_data_files_and_info(tmp_path):
    """A line of Pair Coeffs begins with the sub-style; `info pair` shows each of them."""
    write_system(tmp_path, 3)
    text = (tmp_path / "system.data").read_text()
    section = "Pair Coeffs # hybrid\n\n1 lj/cut 1 0.9\n2 morse 0.8 5 1 2.2\n\nAtoms"
    (tmp_path / "system.data").write_text(text.replace("Atoms", section, 1))
    run = "thermo_modify format float %.17g norm no\nrun 0\n"
    done = harness.run("units lj\npair_style hybrid lj/cut 2.5 morse 2.4\nread_data system.data\n"
                       f"pair_coeff 1 2 none\ninfo pair\n{run}", tmp_path)
    other = harness.run("units lj\npair_style hybrid lj/cut 2.5 morse 2.4\nread_data system.data nocoeff\n"
                        f"pair_coeff 1 1 lj/cut 1 0.9\npair_coeff 2 2 morse 0.8 5 1 2.2\npair_coeff 1 2 none\n{run}",
                        tmp_path)
    assert done.table.rows == other.table.rows
    for line in ("pair style hybrid\n", "sub-style 1, lj/cut, shift no, mixing geometric\n",
                 "types 1 1: epsilon 1 sigma 0.9 rc 2.5\n", "sub-style 2, morse, shift no, mixing geometric\n",
                 "types 2 2: D0 0.8 alpha 5 r0 1 rc 2.2\n", "types 1 2: none\n"):
        assert f"  {line}" in done.log, line


def test_none_and_excluded_types_are_the_same(tmp_path):
    """On vectors of pairs too, whose lanes then have no term; the cutoff is that of the terms that are used."""
    write_system(tmp_path, 3)
    begin = ("units lj\nread_data system.data\nthermo_style custom step pe press\n"
             "thermo_modify format float %.17g norm no\npair_style hybrid/overlay lj/cut 2.5 yukawa 1.5 1.8\n"
             "pair_coeff * * lj/cut 1 0.9 2.2\npair_coeff * * yukawa 3\n")
    rdf = "compute g all rdf 10\nfix g all ave/time 1 1 1 c_g[*] mode vector file g\n"
    left_out = harness.run(begin + "pair_coeff 1 2 none\nrun 0\n", tmp_path, engine="openmp")
    excluded = harness.run(begin + f"neigh_modify exclude type 1 2\n{rdf}run 1\n", tmp_path, engine="openmp")
    assert excluded.table.at(0)["PotEng"] == pytest.approx(left_out.table.at(0)["PotEng"], rel=1e-12)
    assert excluded.table.at(0)["Press"] == pytest.approx(left_out.table.at(0)["Press"], rel=1e-10)
    last = (tmp_path / "g").read_text().splitlines()[-1].split()
    assert float(last[1]) == pytest.approx(0.95 * 2.2)


def test_values_of_particles_add_up(tmp_path):
    """Energies and stresses of particles, which the host makes of all terms."""
    write_system(tmp_path, 3)
    style, lines = MODELS["overlay of five"]
    row = harness.run(f"units lj\nread_data system.data\npair_style {style}\n{lines.split('run')[0]}"
                      "velocity all set 0 0 0\ncompute e all pe/atom\ncompute s all stress/atom NULL\n"
                      "compute sum all reduce sum c_e c_s[1] c_s[4]\nthermo_style custom step vol pe pxx pxy c_sum[*]\n"
                      "thermo_modify format float %.17g norm no\nrun 0\n", tmp_path, engine="openmp").table.rows[0]
    volume, energy, xx, xy, sum_e, sum_xx, sum_xy = (float(word) for word in row[1:])
    assert sum_e == pytest.approx(energy, rel=1e-12) and abs(energy) > 10
    assert [sum_xx, sum_xy] == pytest.approx([-volume * xx, -volume * xy], rel=1e-9, abs=1e-9)


def test_minimize_with_sub_styles(tmp_path):
    """The energy falls, to the same bits on both engines."""
    write_system(tmp_path, 2)
    style, lines = MODELS["overlay of two"]
    ends = []
    for engine in ("naive", "openmp"):
        run = harness.run(f"units lj\ndimension 2\nread_data system.data\npair_style {style}\n"
                          f"{lines.replace('run', 'run 0')}pair_modify shift yes\nthermo_style custom step pe press\n"
                          "thermo_modify format float %.17g norm no\nminimize 0 1e-4 200 2000\n", tmp_path,
                          engine=engine)
        rows = run.tables[-1].rows
        assert float(rows[-1][1]) < float(rows[0][1]) - 1.0
        ends.append(rows[-1])
    assert ends[0] == ends[1]


@pytest.mark.parametrize("name", ["hybrid", "hybrid/overlay"])
def test_examples_of_the_page(name, tmp_path):
    text = "\n".join(pair_figures.examples()[name])
    run = harness.run(f"{BOX}{text}\nrun 10\n", tmp_path)
    assert run.table.rows[-1][0] == "10" and text.startswith(f"pair_style {name} ")


HYBRID = "pair_style hybrid lj/cut 2.5 morse 2.5\n"
TWICE = "pair_style hybrid/overlay lj/cut 2.5 lj/cut 2\n"
REFUSED = [
    ("pair_style hybrid", "pair style hybrid takes 1 to 16 sub-styles, not 0"),
    ("pair_style hybrid tersoff 2", "unknown pair style 'tersoff'; accepted are"),
    ("pair_style hybrid lj/cut 2.5 tersoff 2", "'tersoff' is neither a pair style nor a number for lj/cut"),
    ("pair_style hybrid lj/cut 2.5 none", "none is no sub-style; pair_coeff I J none"),
    ("pair_style hybrid lj/cut 2.5 hybrid morse 2", "the sub-style hybrid: a sub-style cannot have sub-st"),
    ("pair_style hybrid/overlay eam/alloy", "cannot have the sub-style eam/alloy: its forces need the density"),
    ("pair_style hybrid/overlay dpd 1 1 7 dpd/tstat 1 1 1 77", "at most one sub-style may be dpd or dpd/tstat, not 2"),
    ("pair_style hybrid gravity 0.1", "cannot have the sub-style gravity: it has no cutoff"),
    ("pair_style hybrid lj/cut", "pair style lj/cut takes 1 number ("),
    ("pair_style hybrid lj/cut -1", "rc of pair style lj/cut must be positive"),
    ("pair_style hybrid " + "soft 1 " * 17, "takes at most 16 sub-styles"),
    (HYBRID + "pair_coeff 1 1", "takes I J STYLE ..., or I J none"),
    (HYBRID + "pair_coeff 1 1 1 1", "'1' is no sub-style of pair style hybrid; these are lj/cut, morse"),
    (HYBRID + "pair_coeff 1 1 soft 1", "'soft' is no sub-style of pair style hybrid; these are lj/cut, morse"),
    (HYBRID + "pair_coeff 1 1 morse 1 2", "pair style morse takes 3 to 4 coefficients, not 2"),
    (HYBRID + "pair_coeff 1 1 none 2", "takes no further argument, not '2'"),
    (HYBRID + "pair_coeff 2 1 none", "sets nothing: write the smaller type first"),
    (HYBRID + "pair_coeff 1 3 none", "3"),
    (HYBRID + "pair_coeff 1 1 lj/cut 1 1\nrun 0", "has no coefficients for types 1 and 2: add pair_coeff 1 2 STYLE"),
    (HYBRID + "pair_coeff 1 1 lj/cut 1 1\npair_coeff 2 2 morse 1 2 1\nrun 0",
     "types 1 and 2: add pair_coeff 1 2 STYLE ..., or pair_coeff 1 2 none; only types that both have the same single"),
    (HYBRID + "pair_coeff * * none\nrun 0", "no pair of types uses the sub-style lj/cut: add pair_coeff I J lj/cut"),
    (HYBRID + "pair_coeff * * lj/cut 1 1\nrun 0", "no pair of types uses the sub-style morse: add pair_coeff I J m"),
    (HYBRID + "pair_coeff 1 1 morse 1 2 1\npair_coeff 2 2 morse 1 2 1\npair_coeff 1 2 lj/cut 1 1\npair_coeff 1 2 "
     "morse 1 2 1\nrun 0", "uses the sub-style lj/cut"),
    ("pair_style hybrid morse 2.5\npair_coeff 1 1 morse 1 2 1\npair_coeff 2 2 morse 1 2 1\nrun 0",
     "pair style morse has no coefficients for types 1 and 2"),
    (TWICE + "pair_coeff * * lj/cut", "lj/cut is there 2 times; give its number, as in lj/cut 1"),
    (TWICE + "pair_coeff * * lj/cut 3 1 1", "the number of sub-style lj/cut must be"),
    (TWICE + "pair_coeff * * lj/cut one 1 1", "the number of sub-style lj/cut must be a whole number, not 'one'"),
    (TWICE + "pair_coeff * * lj/cut 1 1 1\nrun 0", "uses the sub-style lj/cut 2: add pair_coeff I J lj/cut 2 ..."),
    (TWICE + "pair_coeff 1 1 lj/cut 1 1 1\npair_coeff 1 1 lj/cut 2 1 1\npair_coeff 2 2 lj/cut 1 1 1\npair_coeff 2 2 "
     "lj/cut 2 1 1\nrun 0", "pair style hybrid/overlay has no coefficients for types 1 and 2"),
    (TWICE + "pair_modify pair lj/cut shift yes", "the number of sub-style lj/cut must be a whole number, not 'shift'"),
    (HYBRID + "pair_modify pair lj/cut", "pair_modify pair STYLE needs a keyword and a value"),
    (HYBRID + "pair_modify pair soft shift yes", "pair_modify: 'soft' is no sub-style of pair style hybrid"),
    (HYBRID + "pair_modify tail yes shift yes", "shift yes and tail yes do not go together"),
    (HYBRID + "pair_modify mix arithmetic shift", "pair_modify shift needs a value"),
    (HYBRID + "pair_modify special lj/coul", "unknown keyword 'special'"),
    ("pair_style hybrid soft 1 zbl 1 2\npair_modify shift yes", "is zero at its cutoff already"),
    ("pair_style hybrid lj/gromacs 2.5 2.5\npair_coeff * * lj/gromacs 1 1\nrun 0", "inner must be smaller than rc"),
    ("pair_style hybrid table linear 100 soft 1\npair_coeff 1 1 table", "takes I J FILE KEYWORD [RC]"),
    ("pair_style hybrid table cubic 100", "'cubic' is unknown; accepted are linear and spline"),
]


@pytest.mark.parametrize("words, message", REFUSED, ids=range(len(REFUSED)))
def test_refused(words, message, tmp_path):
    refused(run_deck(tmp_path, BOX + words + "\n"), USAGE, message)


def test_a_style_before_the_box_is_settled_by_it(tmp_path):
    text = BOX.replace("pair_style lj/cut 2.5\npair_coeff * * 1 1\n",
                       "pair_coeff * * lj/cut 1 1\npair_coeff 1 2 morse 1 2 1\n")
    done = run_deck(tmp_path, HYBRID + "pair_modify pair lj/cut shift yes\n" + text + "info pair\nrun 0\n")
    assert done.status == 0, done.err
    assert "sub-style 1, lj/cut, shift yes" in done.out and "types 1 2: D0 1 alpha 2 r0 1 rc 2.5" in done.out
