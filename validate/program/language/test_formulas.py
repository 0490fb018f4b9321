"""Functions of formulas that look at the simulation: of the step, of groups, of what is defined.

The expected values of WALLED are those of LAMMPS (29 Sep 2021).
"""

from __future__ import annotations

import signal
from pathlib import Path
from typing import List

import numpy as np
import pytest

import harness
from cli import BOX, USAGE, call, refused, run_deck, works
from test_lammps import LMP, both_tables
from test_restart import STOPPED, finish, start, wait_for

pytestmark = pytest.mark.smoke

WALLED = """\
lattice fcc 0.8442
region box block 0 4 0 4 0 4
region walls block 0.5 3.5 0.5 3.5 0.5 3.5
boundary f f f
create_box 2 box
create_atoms 1 region walls
set atom 1*60 type 2
mass 1 1.0
mass 2 2.0
velocity all set 1 2 3
group a id 1:50
region left block 0 2 0 4 0 4
pair_style lj/cut 2.5
pair_coeff * * 1.0 1.0 2.5
fix 1 all nve
fix w all wall/reflect xlo EDGE xhi EDGE ylo EDGE yhi EDGE zlo EDGE zhi EDGE
"""

OF_GROUPS = ("print '= $(count(a)) $(mass(a)) $(xcm(a,x):%.10g) $(xcm(a,z):%.10g) $(vcm(a,y):%.10g) $(ke(a):%.10g) "
             "$(bound(a,xmin):%.10g) $(bound(a,zmax):%.10g) $(gyration(a):%.10g) $(angmom(a,x):%.9g) "
             "$(angmom(a,y):%.9g) $(angmom(a,z):%.9g)'\n"
             "print '= $(count(a,left)) $(mass( a , left )) $(ke(a,left):%.10g) $(xcm(a,y,left):%.10g) "
             "$(gyration(all,left)*2+1:%.10g)'\n")


def printed(folder: Path, deck: str, *arguments: str) -> List[str]:
    """The words of the lines that begin with =."""
    lines = works(run_deck(folder, deck, *arguments)).out.splitlines()
    return [word for line in lines if line.startswith("=") for word in line[1:].split()]


def numbers(words: List[str]) -> List[float]:
    return [float(word) for word in words]


LAMMPS_GROUPS = [50, 100, 3.27541433576, 1.73210923652, 3.38714488163, 2029.5837194, 0.927191359623, 2.77133459753,
                 2.34595941524, 3.17919006965, -0.667414011499, -0.38100448942, 24, 48, 975.828449662, 2.96790101953,
                 5.86018386866]
LAMMPS_STEPS = {
    0: [1, 1, 1, 1, 2, 2, 2, 3],
    2: [1.2, 1.02, 2.73205080757, 4, 5, 4, 6, 3],
    5: [1.5, 1.05, -0.732050807569, 2, 7, 6, 6, 7],
    8: [1.8, 1.08, 2.73205080757, 4, 10, 14, 10, 9.22337203685e+18],
    10: [2, 1.1, -0.732050807569, 4, 12, 14, 14, 9.22337203685e+18],
}


def test_groups_have_the_values_of_lammps(tmp_path):
    got = numbers(printed(tmp_path, WALLED + "run 10\n" + OF_GROUPS))
    assert got == pytest.approx(LAMMPS_GROUPS, rel=2e-9)


IN_RUN = ("fcm(all,x)", "fcm(a,y)", "fcm(all,z,left)", "torque(a,x)", "torque(all,z)", "torque(a,y,left)",
          "inertia(a,xx)", "inertia(a,zz)", "inertia(all,xy)", "inertia(a,xz)", "inertia(all,yz,left)", "omega(a,x)",
          "omega(all,z)", "omega(a,y,left)")


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
def test_forces_and_rotations_of_groups_are_those_of_lammps(tmp_path):
    """With the forces of fixes; the group of one particle has no axis to turn about."""
    deck = (WALLED + "variable u atom sin(37.0*id)\nvariable v atom cos(23.0*id)\nvelocity all set v_u v_v NULL\n"
            "neigh_modify every 1 delay 0 check no\nfix 2 a addforce 1 2 3\ngroup one id 7\n" +
            "".join(f"variable v{k} equal {name}\n" for k, name in enumerate([*IN_RUN, "omega(one,x)"])) +
            "thermo_style custom step " + " ".join(f"v_v{k}" for k in range(len(IN_RUN) + 1)) +
            "\nthermo_modify format float %.12g\nthermo 5\nrun 10\n")
    ours, theirs = both_tables(deck, tmp_path, "openmp")
    assert ours[0].titles == theirs[0].titles and len(ours[0].rows) == 3
    for row, their_row in zip(ours[0].rows, theirs[0].rows):
        assert numbers(row) == pytest.approx(numbers(their_row), rel=1e-6, abs=2e-8)


@pytest.mark.parametrize("line", [(1.0, 0.5, 0.25), (0.0, 0.3, 1.0), (0.4, 1.0, 0.0)])
def test_particles_on_a_line_do_not_turn_about_it(line, tmp_path):
    """omega of a pair is r x v / r^2: the equations leave its part along the line open."""
    r, v = np.array(line), np.array([0.3, -0.7, 1.1])
    deck = ("units lj\nregion b block 0 9 0 9 0 9\nboundary f f f\ncreate_box 1 b\nmass 1 2\n" +
            "".join(f"create_atoms 1 single {' '.join(map(str, 4.0 + k * r))}\n" for k in range(2)) +
            f"group one id 2\nvelocity one set {' '.join(map(str, v))}\npair_style none\n")
    got = numbers(printed(tmp_path, deck + "".join(f"print '=$(omega(all,{axis}):%.15g)'\n" for axis in "xyz")))
    assert got[-3:] == pytest.approx(np.cross(r, v) / np.dot(r, r), rel=1e-9, abs=1e-12)


def test_forces_of_groups_are_known_in_a_run_only(tmp_path):
    refused(run_deck(tmp_path, WALLED + "run 1\nprint $(fcm(a,x))\n"), USAGE, "fcm() is only known while a run shows")
    refused(run_deck(tmp_path, WALLED + "run 1\nprint $(inertia(a,x))\n"), USAGE, "xx, yy, zz, xy, yz and xz")
    refused(run_deck(tmp_path, BOX + "run 1\nprint $(omega(all,x))\n"), USAGE, "needs image flags")


def test_steps_have_the_values_of_lammps(tmp_path):
    names = {"r": "ramp(1,2)", "d": "vdisplace(1,2)", "w": "swiggle(1,2,0.03)", "c": "cwiggle(1,2,0.03)",
             "g": "stagger(5,2)", "l": "logfreq(2,3,7)", "m": "logfreq2(2,3,7)", "t": "stride(3,8,2)"}
    deck = (WALLED + "".join(f"variable {name} equal {formula}\n" for name, formula in names.items()) +
            "thermo_style custom step xlat ylat zlat " + " ".join("v_" + name for name in names) +
            "\nthermo_modify format float %.12g\nthermo 1\nrun 10\n")
    table = harness.read_tables(works(run_deck(tmp_path, deck)).out)[0]
    for step, expected in LAMMPS_STEPS.items():
        assert numbers(table.rows[step]) == pytest.approx([step, *3 * [1.67959619138], *expected], rel=1e-11)


def test_what_is_defined(tmp_path):
    deck = WALLED + "variable v index 1\ncompute c all ke\ndump d all atom 1 f\n"
    asked = {"group,a": 1, "group,zz": 0, "variable,v": 1, "variable,w": 0, "fix,w": 1, "fix,2": 0, "region,left": 1,
             "region,q": 0, "compute,c": 1, "compute,thermo_temp": 1, "compute,k": 0, "dump,d": 1, "dump,e": 0}
    lines = "".join(f"print $(is_defined({words}))\n" for words in asked)
    lines += "".join(f"print $({name}({words}))\n" for name, words in (
        ("is_available", "fix,nve"), ("is_available", "fix,rigid"), ("is_available", "command,run"),
        ("is_available", "pair_style,lj/cut"), ("is_available", "compute,erotate"), ("is_active", "pair_style,lj/cut"),
        ("is_active", "pair_style,soft"), ("is_active", "atom_style,atomic"), ("is_active", "run_style,respa")))
    out = works(run_deck(tmp_path, deck + lines)).out.splitlines()[-len(asked) - 10:-1]
    assert [int(word) for word in out] == [*asked.values(), 1, 0, 1, 1, 0, 1, 0, 1, 0]


@pytest.mark.parametrize("words", [("--engine", "naive"), ("--threads", "3"),
                                   pytest.param(("ranks", 2), marks=pytest.mark.mpi),
                                   pytest.param(("--engine", "gpu"), marks=pytest.mark.gpu)])
def test_groups_have_the_same_bits_everywhere(words, tmp_path):
    """Within a run and after it: every digit of every value."""
    names = ("xcm(a,x)", "vcm(a,y)", "ke(all,left)", "gyration(all)", "angmom(a,z)", "bound(a,ymin)", "mass(a,left)",
             "inertia(a,xx)", "inertia(all,yz,left)", "omega(a,y)")
    in_run = ("fcm(a,x)", "fcm(all,z,left)", "torque(a,y)")
    columns = [*names, *in_run]
    wide = WALLED.replace("0 4 0 4 0 4\nregion walls block 0.5 3.5", "0 9 0 4 0 4\nregion walls block 0.5 8.5")
    deck = (wide + "".join(f"variable v{k} equal {name}\n" for k, name in enumerate(columns)) +
            "thermo_style custom step " + " ".join(f"v_v{k}" for k in range(len(columns))) +
            "\nthermo_modify format float %.17g\nthermo 5\nrun 20\n" +
            "".join(f"print '=$({name}:%.17g)'\n" for name in names))
    alone = works(run_deck(tmp_path, deck)).out
    if words[0] == "ranks":
        finish(start(tmp_path, ranks=words[1], deck=deck))
        out = (tmp_path / "log.myriad").read_text()
    else:
        out = works(run_deck(tmp_path, deck, *words)).out

    def values(text: str) -> List[List[str]]:
        last = [line for line in text.splitlines() if line.startswith("=")]
        assert [line[1:] for line in last] == harness.read_tables(text)[0].rows[-1][1:1 + len(names)]
        return [*harness.read_tables(text)[0].rows, last]

    assert values(out) == values(alone)


def test_normal_numbers(tmp_path):
    deck = "variable n equal normal(3,0.5,4711)\n" + "print '$(v_n:%.17g)'\n" * 4000
    values = numbers(works(run_deck(tmp_path, deck)).out.split()[2:-4])
    assert len(values) == 4000
    mean = sum(values) / 4000
    deviation = (sum((value - mean) ** 2 for value in values) / 3999) ** 0.5
    assert abs(mean - 3.0) < 4 * 0.5 / 4000**0.5 and abs(deviation - 0.5) < 4 * 0.5 / 8000**0.5
    assert sum(abs(value - 3.0) < 0.5 for value in values) == pytest.approx(0.6827 * 4000, abs=4 * 29.4)


REFUSED = {
    "count()": ["unknown group ''"], "count(zz)": ["unknown group 'zz'", "all"],
    "count(all,zz)": ["zz", "region"], "count(all,b,b)": ["takes a group", "not 3 arguments"],
    "xcm(all)": ["takes a group, an axis", "not 1"], "xcm(all,w)": ["'w'", "x, y and z"],
    "bound(all,x)": ["'x'", "xmin, xmax"], "bound(none,xmin)": ["no particle"],
    "charge(all)": ["does not exist here", "count, mass, xcm"],
    "ramp(1,2)": ["within a run only"], "ramp(1)": ["takes 2 arguments, not 1"],
    "stagger(2,5)": ["the first one larger"], "stride(5,3,1)": ["the second larger than the first"],
    "logfreq(1,10,10)": ["the second smaller"], "logfreq2(1,2,1)": ["the third larger than 1"],
    "is_defined(cat,b)": ["'cat'", "compute dump fix group region variable"], "is_defined(group)": ["not 1 arguments"],
    "is_active(package,gpu)": ["'package'", "pair_style atom_style run_style"],
    "normal(0,1,0)": ["seed of normal"], "foo(1)": ["unknown function 'foo'"],
    "count(1,2,3,4,5,6,7)": ["more than 6 arguments"],
}


@pytest.mark.parametrize("formula", REFUSED)
def test_wrong_functions(formula, tmp_path):
    deck = BOX + f"group none id 7\nprint '$({formula})'\n"
    refused(run_deck(tmp_path, deck), USAGE, *REFUSED[formula], line=11)


def test_functions_need_a_box_and_an_end(tmp_path):
    refused(run_deck(tmp_path, "print $(mass(all))\n"), USAGE, "needs a box", line=1)
    refused(run_deck(tmp_path, "variable v equal count(all\nprint $v\n"), USAGE, "'count(all' ends too early", line=2)


def test_check_accepts_functions(tmp_path):
    (tmp_path / "in.deck").write_text(WALLED + "run 10\n" + OF_GROUPS + "if '$(count(a)) > 5' then 'run 1'\n")
    works(call(tmp_path, "check", "-in", "in.deck"))


# A loop whose way depends on particles between runs.
MEASURED = WALLED.replace("0 4 0 4 0 4\nregion walls block 0.5 3.5 0.5 3.5",
                          "0 7 0 7 0 4\nregion walls block 1 6 1 6") + """\
variable i loop 4
label top
run 2500
print "$i $(xcm(a,x):%.17g) $(count(all,left))" append values
if "$(vcm(all,x)) > 0" then "velocity all scale $(ke(a)/100:%.17g)" else "timestep 0.004"
next i
jump SELF top
write_data end.data
"""


@pytest.mark.slow
@pytest.mark.parametrize("lines", [1, 2])
def test_measured_values_are_those_of_before(lines, tmp_path):
    """A deck that is resumed has not the particles of its earlier places, but their values."""
    finish(start(tmp_path, deck=MEASURED))
    wanted = {name: (tmp_path / name).read_bytes() for name in ("values", "end.data")}
    assert wanted["values"].count(b"\n") == 4
    for name in wanted:
        (tmp_path / name).unlink()
    process = start(tmp_path, deck=MEASURED)
    values = tmp_path / "values"
    wait_for(lambda: values.exists() and values.read_bytes().count(b"\n") >= lines, process)
    process.send_signal(signal.SIGTERM)
    finish(process, expect=STOPPED)
    finish(start(tmp_path, "--resume"))
    assert {name: (tmp_path / name).read_bytes() for name in wanted} == wanted


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [None, 2])
def test_a_value_of_one_particle_of_a_compute(ranks, tmp_path):
    """Between runs, with the values of the present velocities. A number of a whole is read as before."""
    deck = BOX.replace("0 6 0 6 0 6", "0 12 0 6 0 6") + (
        "velocity all set 0 3 4\nset atom 2 vx 2\ncompute k all ke/atom\ncompute w all ke\nrun 0\n"
        "print '$(c_k[1]) $(c_k[2]+1) $(c_w)' file got\n")
    harness.run(deck, tmp_path, ranks=ranks)
    assert (tmp_path / "got").read_text().split() == ["12.5", "15.5", "27"]
    if not ranks:
        refused(run_deck(tmp_path, deck.replace("c_k[2]", "c_k[3]")), USAGE, "c_k[3]: there is no particle 3")
        refused(run_deck(tmp_path, deck.replace("c_k[2]", "c_k[1][1]")), USAGE, "c_k[1][1]")
        refused(run_deck(tmp_path, deck.replace("c_k[2]", "c_k[0]")), USAGE, "c_k[0]")
