"""minimize, min_style and min_modify: LAMMPS's path and minimum, its summary, and what a minimisation is for a deck."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Dict, List, Tuple

import numpy as np
import pytest

import harness
from cli import PHYSICS, RUNTIME, USAGE, call, refused, run_deck, works

LMP = shutil.which("lmp")

# A crystal whose atoms are off their sites; a vacancy, and a group that a force pulls.
START = """\
units lj
dimension 2
lattice hex 0.92
region b block 0 9 0 5 -0.1 0.1
create_box 2 b
create_atoms 1 box
set type 1 type/fraction 2 0.2 3
delete_atoms group gone
mass 1 1
mass 2 2
displace_atoms all random 0.06 0.06 0 4711
write_data start.data
""".replace("delete_atoms", "group gone id 40\ndelete_atoms")
MODEL = """\
units lj
dimension 2
atom_style atomic
read_data start.data
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
pair_coeff 1 2 1.1 1.02
pair_coeff 2 2 0.9 0.97
pair_modify shift yes
neigh_modify every 1 delay 0 check yes
thermo_style custom step temp pe etotal press
thermo_modify format float %.15g
thermo 5
"""


THREE = """\
units lj
lattice fcc 0.9
region b block 0 4 0 4 0 4
create_box 1 b
create_atoms 1 box
mass 1 1
displace_atoms all random 0.1 0.1 0.1 3
write_data start.data
"""


@pytest.fixture(scope="module")
def start(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("start")
    works(run_deck(folder, START))
    return folder


def here(start: Path, folder: Path) -> Path:
    shutil.copy(start / "start.data", folder)
    return folder


def stats(text: str) -> Dict[str, str]:
    """The lines of the summary, by what stands before the `=`."""
    lines = text[text.index("Minimization stats:"):].splitlines()[1:8]
    found = {}
    for k, line in enumerate(lines):
        name, equals, value = line.partition(" = ")
        if equals:
            found[name.strip()] = value.strip() or lines[k + 1].strip()
    return found


def numbers(text: str) -> List[float]:
    return [float(word) for word in text.split()]


def both(folder: Path, deck: str, *arguments: str) -> Tuple[str, str]:
    """What Myriad and lmp write to their logs."""
    (folder / "in.both").write_text(deck)
    subprocess.run([LMP, "-in", "in.both", "-log", "log.lammps", "-screen", "none"], cwd=folder, check=True, timeout=60,
                   env=harness.environment())
    return works(call(folder, "-in", "in.both", *arguments)).out, (folder / "log.lammps").read_text()


# Styles, and words of min_modify. In the first iterations, where rounding is small, rows and summary are those of lmp.
PATHS = ["cg", "cg | line backtrack", "cg | line forcezero", "sd", "sd | line backtrack dmax 0.02", "cg | norm inf",
         "sd | norm max", "quickmin", "fire/old", "fire", "fire | integrator verlet", "fire | integrator leapfrog",
         "fire | integrator eulerexplicit halfstepback no initialdelay no",
         "fire | delaystep 3 dtgrow 1.3 dtshrink 0.4 alpha0 0.15 alphashrink 0.9 tmax 3 tmin 0.5 dmax 0.05 vdfmax 100"]


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
@pytest.mark.parametrize("path", PATHS)
def test_the_path_is_that_of_lammps(path, start, tmp_path):
    style, _, modify = path.partition(" | ")
    deck = MODEL + f"min_style {style}\n" + (f"min_modify {modify}\n" if modify else "") + "minimize 0 1e-3 35 60\n"
    ours, theirs = both(here(start, tmp_path), deck, "--engine", "naive")
    a, b = harness.read_tables(ours)[0], harness.read_tables(theirs)[0]
    assert [row[0] for row in a.rows] == [row[0] for row in b.rows] and len(a.rows) >= 3
    for name in ("PotEng", "TotEng", "Press"):
        scale = max(abs(x) for x in b.column(name))
        assert list(a.column(name)) == pytest.approx(list(b.column(name)), abs=1e-8 * scale), name
    mine, its = stats(ours), stats(theirs)
    assert mine.keys() == its.keys() and len(mine) == 6
    for name in ("Stopping criterion", "Iterations, force evaluations"):
        assert mine[name] == its[name]
    for name in mine.keys() - {"Stopping criterion"}:
        assert numbers(mine[name]) == pytest.approx(numbers(its[name]), rel=1e-5, abs=1e-12), name


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
@pytest.mark.parametrize("style", ["cg", "sd", "quickmin", "fire/old", "fire"])
def test_the_minimum_is_that_of_lammps(style, start, fast_engine, tmp_path):
    deck = MODEL + f"thermo 0\nmin_style {style}\nminimize 0 1e-5 3000 9000\n"
    ours, theirs = both(here(start, tmp_path), deck, *harness.engine_words(fast_engine))
    mine, its = stats(ours), stats(theirs)
    assert mine["Stopping criterion"] == its["Stopping criterion"] == "force tolerance"
    name = "Energy initial, next-to-last, final"
    assert numbers(mine[name])[2] == pytest.approx(numbers(its[name])[2], rel=1e-8)
    assert numbers(mine["Force two-norm initial, final"])[1] < 1e-5


# Coupled axes have one strain if they are all, else strains of their own that stay alike.
RELAXED = ["cg 2 iso 0.5", "cg 2 x 0.5 y 1.5", "sd 2 y 0.2 fixedpoint 1 2 0", "cg 2 aniso 0.5 couple xy",
           "cg 3 x 0.5 y 0.5 z 1 couple xy", "cg 3 iso 0.5"]


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
@pytest.mark.parametrize("relaxed", RELAXED)
def test_the_path_of_a_box_is_that_of_lammps(relaxed, start, tmp_path):
    style, dim, pressures = relaxed.split(" ", 2)
    deck = MODEL
    if dim == "3":
        works(run_deck(tmp_path, THREE))
        deck = "\n".join(line for line in MODEL.splitlines() if not re.match("dimension|pair_coeff . 2", line)) + "\n"
    deck += (f"fix r all box/relax {pressures} vmax 0.001\nthermo_style custom step pe press lx ly xlo yhi f_r\n"
             f"thermo_modify format float %.15g\nmin_style {style}\nminimize 0 1e-3 15 60\n")
    ours, theirs = both(tmp_path if dim == "3" else here(start, tmp_path), deck, "--engine", "naive")
    a, b = harness.read_tables(ours)[0], harness.read_tables(theirs)[0]
    assert [row[0] for row in a.rows] == [row[0] for row in b.rows] and len(a.rows) == 4
    for name in ("PotEng", "Press", "Lx", "Ly", "Xlo", "Yhi", "f_r"):
        scale = max(abs(x) for x in b.column(name))
        assert list(a.column(name)) == pytest.approx(list(b.column(name)), abs=1e-8 * scale), name
    assert a.column("Ly")[-1] > 1.001 * a.column("Ly")[0]
    for name in ("Energy initial, next-to-last, final", "Force two-norm initial, final"):
        assert numbers(stats(ours)[name]) == pytest.approx(numbers(stats(theirs)[name]), rel=1e-6), name


def test_the_pressure_goes_to_its_targets(start, tmp_path):
    """nreset brings it there along both axes, though they differ; f_ID begins anew, is a sum, and is not in pe."""
    deck = MODEL + ("compute v all pressure NULL virial\nfix r all box/relax x 0.5 y 1.5 vmax 0.01 nreset 20\n"
                    "variable e equal f_r\nthermo_style custom step pe c_v[1] c_v[2] f_r v_e vol\n"
                    "thermo_modify format float %.15g\n"
                    "minimize 0 1e-4 4000 9999\nminimize 0 1e-4 0 0\nfix 1 all nve\nrun 3\n")
    done = works(run_deck(here(start, tmp_path), deck))
    table, again, run = harness.read_tables(done.out)
    assert table.column("c_v[1]")[-1] == pytest.approx(0.5, abs=1e-5)
    assert table.column("c_v[2]")[-1] == pytest.approx(1.5, abs=1e-5)
    assert table.column("v_e")[-1] == pytest.approx(89 * table.column("f_r")[-1], abs=1e-9)
    assert again.column("f_r") == [0.0] and run.column("Volume")[-1] == table.column("Volume")[-1]
    energy = numbers(stats(done.out)["Energy initial, next-to-last, final"])[2]
    assert energy == pytest.approx(table.column("PotEng")[-1] + table.column("f_r")[-1], abs=1e-12)


def test_resume_knows_the_relaxed_box(start, tmp_path):
    deck = MODEL + ("fix r all box/relax iso 0.5 vmax 0.01\nminimize 0 1e-3 20 1000\nfix 1 all nve\nrestart 50 r.*\n"
                    "velocity all create 0.3 7\nthermo_style custom step pe f_r vol\nrun 100\n"
                    "write_data end.data\n")
    whole = works(run_deck(here(start, tmp_path), deck)).out
    wanted = (tmp_path / "end.data").read_bytes()
    max(tmp_path.glob("r.*"), key=lambda path: int(path.suffix[1:])).unlink()
    resumed = works(call(tmp_path, "-in", "in.deck", "--resume")).out
    assert (tmp_path / "end.data").read_bytes() == wanted and "were run before" in resumed
    a, b = harness.read_tables(whole)[-1].rows[-1], harness.read_tables(resumed)[-1].rows[-1]
    assert a == b and float(a[2]) != 0.0


def test_components_of_the_pressure_between_runs(start, tmp_path):
    """They are those of the last output, which a resumed run recalls. An output without them leaves none."""
    deck = MODEL + ("thermo_style custom step press pxx pxy\nthermo_modify format float %.15g\nfix 1 all nve\n"
                    "restart 50 r.*\nminimize 0 1e-3 10 100\nvariable tmp equal pxx\nvariable then equal ${tmp}\n"
                    "reset_timestep 0\nrun 60\nprint \"between ${then}\"\n")
    out = works(run_deck(here(start, tmp_path), deck)).out
    shown = harness.read_tables(out)[0].rows[-1][2]
    assert f"between {shown}" in out
    resumed = works(call(tmp_path, "-in", "in.deck", "--resume")).out
    assert f"between {shown}" in resumed and "were run before" in resumed
    refused(run_deck(tmp_path, deck.replace("press pxx pxy", "press")), USAGE,
            "pxx is only known at an output of a run, and after a run whose last output shows it")


def test_what_a_relaxed_box_needs(start, tmp_path):
    folder = here(start, tmp_path)
    for lines, words in (
            ("fix r all box/relax\n", ["needs a pressure"]),
            ("fix r all box/relax iso\n", ["iso needs a value"]),
            ("fix r all box/relax tri 1\n", ["'tri'", "iso, aniso", "tilt"]),
            ("fix r all box/relax z 1\n", ["two dimensions"]),
            ("fix r all box/relax x 1 x 2\n", ["x has a pressure already"]),
            ("fix r all box/relax x 1 y 2 couple xy\n", ["coupled", "same"]),
            ("fix r all box/relax iso 1 vmax 0\n", ["vmax", "positive"]),
            ("fix r all box/relax iso 1 dilate some\n", ["'some'", "all, partial"]),
            ("fix r all box/relax iso 1 fixedpoint 0 0\n", ["fixedpoint needs X Y Z"]),
            ("fix r all box/relax iso 1\nmin_style fire\nminimize 0 0 1 1\n", ["fire", "cg or sd"]),
            ("fix r all box/relax x 1\nfix s all box/relax y 1\nminimize 0 0 1 1\n", ["only one fix box/relax"])):
        refused(run_deck(folder, MODEL + lines), USAGE, *words)


FORCED = """\
group left id < 25
group pin id 50 51 52
fix 2 left addforce 0.3 0.1 0
fix 3 pin setforce 0 0 0
fix 4 all indent 20 sphere 5 5 0 1.3 units box
fix_modify 4 energy yes
fix 5 all gravity 3 vector 1 0 0
fix 6 all nve
"""


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
def test_fixes_act_as_in_lammps(start, tmp_path):
    """Forces of fixes count, energies with fix_modify energy; gravity and nve do nothing. A run goes on from there."""
    deck = MODEL + FORCED + "velocity all set 0.1 -0.2 0\nminimize 0 1e-4 30 200\nunfix 5\nrun 20\n"
    ours, theirs = both(here(start, tmp_path), deck)
    for a, b in zip(harness.read_tables(ours), harness.read_tables(theirs)):
        assert [row[0] for row in a.rows] == [row[0] for row in b.rows] and len(a.rows) > 3
        for name in ("Temp", "PotEng", "TotEng", "Press"):
            scale = max(abs(x) for x in b.column(name))
            assert list(a.column(name)) == pytest.approx(list(b.column(name)), abs=1e-8 * scale), name


def test_forces_vanish_and_the_energy_is_that_of_the_crystal(tmp_path):
    """A hexagonal crystal with its neighbours at the minimum of a pair: three bonds a particle, of depth 1."""
    density = 2.0 / 3.0 ** 0.5
    deck = (f"units lj\ndimension 2\nlattice hex {density:.17g}\nregion b block 0 8 0 4 -0.1 0.1\ncreate_box 1 b\n"
            "create_atoms 1 box\nmass 1 1\ndisplace_atoms all random 0.03 0.03 0 5\n"
            "pair_style lj/cut 1.5\npair_coeff 1 1 1 0.890898718140339\nmin_style {}\nminimize 0 1e-9 5000 9999\n"
            "dump f all custom 1 f.dump id fx fy\nrun 0\n")
    for style in ("cg", "fire"):
        got = works(run_deck(tmp_path, deck.format(style))).out
        assert numbers(stats(got)["Energy initial, next-to-last, final"])[2] == pytest.approx(-3.0, abs=1e-12)
        frame = harness.read_dump(tmp_path / "f.dump")[0]
        assert max(np.abs(frame.columns["fx"]).max(), np.abs(frame.columns["fy"]).max()) < 1e-9


@pytest.mark.parametrize("style", ["cg", "sd"])
def test_the_path_does_not_depend_on_masses(style, start, fast_engine, tmp_path):
    """The impulses of light particles in a timestep may be out of range, and no particle is moved by them."""
    folder = here(start, tmp_path)
    deck = MODEL + ("mass * {}\ntimestep 0.005\nvelocity all set 0.5 0 0\nmin_style " + style + "\n"
                    "dump d all custom 5 {}.dump id x y fx fy vx\nfix n all nve\nfix t all langevin 1 1 1 7\n"
                    "minimize 0 1e-6 30 90\n")
    frames = {}
    for mass, engine in (("1", "naive"), ("1e-4", fast_engine), ("1e-20", "naive"), ("1e-20", fast_engine)):
        works(run_deck(folder, deck.format(mass, mass + engine), *harness.engine_words(engine)))
        frames[mass, engine] = harness.read_dump(folder / f"{mass}{engine}.dump")
    assert len(frames["1", "naive"]) > 5
    for other in frames.values():
        for a, b in zip(frames["1", "naive"], other):
            for name in ("x", "y", "fx", "fy", "vx"):
                assert list(a.columns[name]) == pytest.approx(list(b.columns[name]), rel=1e-8, abs=1e-8), name
    assert (folder / "1e-20naive.dump").read_bytes() == (folder / f"1e-20{fast_engine}.dump").read_bytes()


def test_norm_no_counts_whole_energies(start, tmp_path):
    folder = here(start, tmp_path)
    out = [works(run_deck(folder, MODEL + f"thermo_modify norm {norm}\nminimize 1e-9 1e-4 50 500\n")).out
           for norm in ("yes", "no")]
    per, whole = (numbers(stats(text)["Energy initial, next-to-last, final"])[0] for text in out)
    assert whole == pytest.approx(89 * per, rel=1e-12)


def test_steps_rows_dumps_and_the_last_step(start, tmp_path):
    deck = MODEL + ("reset_timestep 7\nmin_style fire\ndump d all custom 4 d.dump id x vx\n"
                    "minimize 0 0 10 100\nminimize 1e10 0 50 100\nreset_timestep 3\nminimize 0 0 0 0\n")
    done = works(run_deck(here(start, tmp_path), deck)).out
    tables = harness.read_tables(done)
    assert [[int(row[0]) for row in table.rows] for table in tables] == [[7, 10, 15, 17], [17, 20, 25, 30, 35, 39], [3]]
    steps = [frame.step for frame in harness.read_dump(tmp_path / "d.dump")]
    assert steps == [8, 12, 16, 20, 24, 28, 32, 36, 39]
    assert "Stopping criterion = energy tolerance" in done and "Stopping criterion = max iterations" in done


def test_velocities(start, tmp_path):
    """cg and sd keep them; damped dynamics begin at rest."""
    for style, kept in (("cg", True), ("sd", True), ("fire", False), ("quickmin", False)):
        deck = MODEL + f"velocity all set 0.5 0 0\nmin_style {style}\nthermo 1\nminimize 0 0 3 30\n"
        temperature = harness.read_tables(works(run_deck(here(start, tmp_path), deck)).out)[0].column("Temp")
        assert (set(temperature) == {temperature[0]}) == kept and (temperature[0] > 0) == kept


def test_a_stop_says_that_there_is_no_restart(start, tmp_path):
    (here(start, tmp_path) / "in.long").write_text(MODEL + "restart 10 r.*\nmin_style quickmin\ntimestep 1e-9\n"
                                                  "minimize 0 0 100000000 1\n")
    process = subprocess.Popen([str(harness.program()), "-in", "in.long", "--threads", "1"], cwd=tmp_path,
                               env=harness.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1.0)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert process.returncode == RUNTIME and "stopped by SIGTERM in a minimisation" in err and "--resume" in err
    assert "no restart is written within a minimisation" in out and not list(tmp_path.glob("r.*"))


def test_resume_passes_over_a_minimisation(start, tmp_path):
    """It does not repeat it, and ends with the bits of a deck that was never stopped."""
    deck = MODEL + ("minimize 0 1e-3 100 1000\nfix 1 all nve\nvelocity all create 0.3 7\nrestart 50 r.*\n"
                    "variable n equal step\nprint 'behind $n'\nrun 100\nwrite_data end.data\n")
    whole = works(run_deck(here(start, tmp_path), deck)).out
    wanted, behind = (tmp_path / "end.data").read_bytes(), re.search("^behind .*", whole, re.M)[0]
    newest = max(tmp_path.glob("r.*"), key=lambda path: int(path.suffix[1:]))
    newest.unlink()
    (tmp_path / "end.data").unlink()
    resumed = works(call(tmp_path, "-in", "in.deck", "--resume")).out
    assert "were run before" in resumed and "Minimization stats" not in resumed and behind in resumed
    assert (tmp_path / "end.data").read_bytes() == wanted


def test_a_stopped_minimisation_appends_its_frames_once(start, tmp_path):
    """It begins with a restart, which says how long the files were; a resume repeats the rest."""
    h5py = pytest.importorskip("h5py")
    deck = MODEL + ("reset_timestep 3\ndump d all custom 5 d.dump id x\ndump e all h5md 5 e.h5\nmin_style sd\n"
                    "dump_modify d append yes\ndump_modify e append yes\nminimize 0 0 20 1000\nwrite_data end.data\n")
    works(run_deck(here(start, tmp_path), MODEL + "dump e all h5md 1 e.h5\nminimize 0 0 2 10\n"))
    (tmp_path / "d.dump").write_text("of another job\n")
    (tmp_path / "in.deck").write_text(deck)
    works(call(tmp_path, "-in", "in.deck"))
    names = ("d.dump", "end.data")
    wanted = [(tmp_path / name).read_bytes() for name in names]
    assert wanted[0].startswith(b"of another job\n") and wanted[0].count(b"TIMESTEP") == 4
    assert "Resumed at step 3" in works(call(tmp_path, "-in", "in.deck", "--resume")).out
    assert [(tmp_path / name).read_bytes() for name in names] == wanted
    with h5py.File(tmp_path / "e.h5") as file:
        assert list(file["particles/all/position/step"]) == [0, 1, 2, 5, 10, 15, 20]


def test_particles_may_not_leave_the_box(tmp_path):
    deck = ("boundary f p p\nregion b block 0 10 0 10 0 10\ncreate_box 1 b\ncreate_atoms 1 single 0.01 5 5\n"
            "create_atoms 1 single 0.9 5 5\nmass 1 1\npair_style lj/cut 2.5\npair_coeff 1 1 1 1\nmin_style sd\n"
            "minimize 0 0 10 10\n")
    refused(run_deck(tmp_path, deck), PHYSICS, "particle 1", "outside the box", line=10)


def test_what_a_minimisation_needs(start, tmp_path):
    folder = here(start, tmp_path)
    for lines, words in (("timestep 0\nmin_style fire\n", ["fire", "timestep above 0"]),
                         ("min_style fire\nmin_modify tmax 0.01\n", ["tmax", "0.01", "tmin", "0.02"])):
        refused(run_deck(folder, MODEL + lines + "minimize 0 0 1 1\n"), USAGE, *words)
    deck = ("dimension 2\nboundary f f p\nregion b block 0 1 0 1 -1 1\ncreate_box 1 b\ncreate_atoms 1 grid 50\n"
            "mass 1 0.01\npair_style repulsive 0.1\nfix 1 all nve/leapfrog drift float\nminimize 0 0 1 1\n")
    refused(run_deck(folder, deck), USAGE, "drift float", line=9)


def test_a_check_does_not_count_the_steps_of_a_minimisation(start, tmp_path):
    deck = MODEL + "fix 1 all nve\nminimize 0 0 1000 1000\nrun 10 upto\n"
    (here(start, tmp_path) / "in.deck").write_text(deck)
    works(call(tmp_path, "check", "-in", "in.deck"))
