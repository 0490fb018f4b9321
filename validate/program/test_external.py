"""Fix external: forces that a program gives, which uses the library. Springs that a function computes are those of
fix spring/self and of theory; the bits are the same on every engine and number of ranks; arrays; what is refused."""

from __future__ import annotations

import math
import shutil
import subprocess

import numpy as np
import pytest

import harness
from cli import USAGE, refused, run_deck
from harness import environment, patience
from test_python import QUIET, ROOT, library, md, myriad, script  # noqa: F401 pylint: disable=unused-import

# 256 particles of two types in a box that they leave through its faces.
LIQUID = """\
units lj
lattice fcc 0.7
region b block 0 4 0 4 0 4
create_box 2 b
create_atoms 1 box
set group all type/fraction 2 0.3 5
mass 1 1
mass 2 2
velocity all create 2 7
pair_style lj/cut 2.5
pair_coeff * * 1 1
timestep 0.004
group odd id 1:256:2
fix 1 all nve
thermo_modify format float %.17g norm no
"""
FREE = LIQUID.replace("pair_style lj/cut 2.5\npair_coeff * * 1 1\n", "")
K = 40.0

# The same in a process of its own, for ranks.
SPRINGS = """
import numpy as np
def springs(md, k):
    places, box = md.gather("x"), md.box()
    length = np.array(box.hi) - np.array(box.lo)
    def function(step, ids, x, f):
        u = x - places[ids - 1]
        u -= length * np.round(u / length)
        f[:] = -k * u
        return 0.5 * k * (u * u).sum(), [*(f * u).sum(axis=0), 0, 0, 0]
    return function
"""
exec(SPRINGS)  # pylint: disable=exec-used
springs = globals()["springs"]


def state(one):
    return one.gather("x"), one.gather("v"), one.gather("f")


def same(a, b) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a, b))


@pytest.fixture(params=["naive", "openmp", pytest.param("gpu", marks=pytest.mark.gpu)])
def one(request, myriad, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    with myriad.Myriad(*QUIET, "--engine", request.param) as simulation:
        yield simulation


# ---- functions

def test_springs_are_those_of_theory(one):
    """Particles without pairs: velocity Verlet of an oscillator has a solution in closed form."""
    steps, dt = 300, 0.004
    one.commands_string(FREE + "fix 2 all external pf/callback 1 1\n")
    one.fix_external("2", springs(one, K))
    places, speeds, mass = one.gather("x"), one.gather("v"), one.gather("mass")[:, None]
    one.run(steps)
    turn = np.arccos(1 - 0.5 * K * dt * dt / mass)
    expected = speeds * dt * np.sin(steps * turn) / np.sin(turn)
    length = one.box().hi[0] - one.box().lo[0]
    moved = one.gather("x") - places
    moved -= length * np.round(moved / length)
    assert np.abs(moved - expected).max() < 1e-8 and np.abs(moved).max() > 0.2
    assert one.number("pe") == one.number("f_2") == pytest.approx(0.5 * K * (moved**2).sum(), rel=1e-10)
    assert np.allclose(one.gather("f"), -K * moved, rtol=0, atol=1e-10)


def test_springs_are_those_of_fix_spring_self(one, myriad):  # noqa: F811
    rows = []
    for fix in ("external pf/callback 1 1", "spring/self 40"):
        one.command("clear")
        one.commands_string(LIQUID + f"fix 2 all {fix}\nfix_modify 2 energy yes\n")
        if "external" in fix:
            one.fix_external("2", springs(one, K))
        one.run(100)
        rows.append([*(one.number(name) for name in ("pe", "ke", "f_2")), *one.gather("x").ravel()])
    assert np.allclose(rows[0], rows[1], rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("fix, more", [
    ("all external pf/callback 1 1", ""),
    ("odd external pf/callback 1 1", "fix 3 all addforce 0.1 0 0\nfix 4 odd aveforce NULL NULL 0\n"),
    ("odd external pf/callback 1 3", "mass 2 1\n"),
    ("all external pf/array 1", ""),
    ("odd external pf/array 2", ""),
])
def test_bits_are_those_of_the_naive_engine_and_a_run_back_returns(one, myriad, fix, more):  # noqa: F811
    def begin(simulation):
        simulation.commands_string(LIQUID + more + f"fix 2 {fix}\nrun 0\n" if "array" in fix else
                                   LIQUID + more + f"fix 2 {fix}\n")
        if "array" in fix:
            simulation.fix_external_forces("2", np.sin(np.arange(256 * 3)).reshape(256, 3))
        else:
            simulation.fix_external("2", springs(simulation, K))
        simulation.run(0)
        first = state(simulation)
        simulation.run(60)
        return first

    first, turn = begin(one), state(one)
    with myriad.Myriad(*QUIET, "--engine", "naive") as other:
        begin(other)
        assert same(state(other), turn)
    assert not same(first, turn)
    one.run(-60)
    assert same(state(one), first)


@pytest.mark.mpi
def test_ranks_give_the_same_bits(library, md, tmp_path):  # noqa: F811
    text = f"""
from myriad import Myriad
{SPRINGS}
def run(md):
    md.commands_string('''{LIQUID}fix 2 odd external pf/callback 1 1''')
    md.fix_external("2", springs(md, {K}))
    md.run(60)
    md.command("unfix 2")
    md.command("fix 2 odd external pf/array 1")
    md.fix_external_forces("2", np.sin(np.arange(256 * 3)).reshape(256, 3))
    md.run(40)
    return md.gather("x"), md.gather("v"), md.gather("f")
md = Myriad(*{QUIET})
x, v, f = run(md)
if md.rank == 0:
    np.savez("ranks.npz", x=x, v=v, f=f, ranks=md.ranks)
md.close()
"""
    script(tmp_path, library, text, ranks=4)
    with np.load(tmp_path / "ranks.npz") as other:
        assert other["ranks"] == 4
        theirs = tuple(other[name] for name in "xvf")
    script(tmp_path, library, text)
    with np.load(tmp_path / "ranks.npz") as alone:
        assert alone["ranks"] == 1 and same(theirs, tuple(alone[name] for name in "xvf"))


def test_the_function_is_called_once_for_each_of_its_steps(one):
    steps = []

    def function(step, ids, x, f):
        assert sorted(ids) == list(range(1, 257)) and x.shape == f.shape == (256, 3) and not f.any()
        low, high = one_box.lo, one_box.hi
        assert (x >= low).all() and (x < high).all()
        steps.append(step)

    one.commands_string(LIQUID + "fix 2 all external pf/callback 5 1\nthermo 3\n")
    one_box = one.box()
    one.fix_external("2", function)
    one.run(17)
    assert steps == [0, 5, 10, 15]
    one.run(3)
    assert steps == [0, 5, 10, 15, 20]
    one.run(1)  # As in LAMMPS, the forces of the step at which a run begins are asked for anew.
    assert steps == [0, 5, 10, 15, 20, 20]


def test_energy_and_virial_count_unless_fix_modify_says_no(one):
    virial = (30.0, 60.0, 90.0, 12.0, 24.0, 36.0)
    one.commands_string(LIQUID + "compute w all pressure NULL fix\ncompute p all pressure NULL pair\n")
    one.run(0)
    pe, press, tensor = one.number("pe"), one.number("press"), [one.number(p) for p in ("pxx", "pyy", "pzz", "pxy")]
    pairs = one.number("c_p")
    one.command("fix 2 all external pf/callback 1 1")
    one.fix_external("2", lambda step, ids, x, f: (-5.5, virial))
    one.run(0)
    volume = math.prod(hi - lo for lo, hi in zip(one.box().lo, one.box().hi))
    assert one.number("pe") == pytest.approx(pe - 5.5, rel=1e-14) and one.number("f_2") == -5.5
    assert one.number("press") == pytest.approx(press + 60 / volume, rel=1e-13)
    assert one.number("c_w") == pytest.approx(60 / volume, rel=1e-13) and one.number("c_p") == pairs
    for before, part, name in zip(tensor, virial, ("pxx", "pyy", "pzz", "pxy")):
        assert one.number(name) == pytest.approx(before + part / volume, rel=1e-12)
    one.command("fix_modify 2 energy no virial no")
    one.run(0)
    assert (one.number("pe"), one.number("press"), one.number("c_w"), one.number("f_2")) == (pe, press, 0, -5.5)


def test_a_barostat_sees_the_virial(one):
    """A given virial moves the box as pairs with that virial do: the pressure P + W/V is held at the same value."""
    ends = []
    for given in (0.0, 300.0):
        one.command("clear")
        one.commands_string(LIQUID.replace("fix 1 all nve", "fix 1 all npt temp 2 2 0.4 iso 1 1 0.4"))
        one.command("fix 2 all external pf/array 1")
        one.fix_external_energy("2", 0.0, (given, given, given, 0, 0, 0))
        one.run(50)
        ends.append(one.box().hi[0])
    assert ends[1] > ends[0] * 1.003


def test_a_minimiser_finds_the_places_of_springs(one):
    one.commands_string(FREE + "fix 2 all external pf/callback 1 1\n")
    function, places = springs(one, K), one.gather("x")
    one.fix_external("2", function)
    one.command("displace_atoms odd random 0.2 0.2 0.2 99")
    assert np.abs(one.gather("x") - places).max() > 0.1
    one.command("minimize 0 1e-8 100 1000")
    assert one.number("pe") == pytest.approx(0, abs=1e-10)
    length = one.box().hi[0]
    moved = one.gather("x") - places
    assert np.abs(moved - length * np.round(moved / length)).max() < 1e-7


def test_functions_in_the_form_of_lammps(one):
    one.commands_string(FREE + "fix 2 all external pf/callback 1 1\n")
    said = []

    def callback(caller, step, nlocal, tag, x, f):
        caller.append((step, nlocal, len(tag), x.shape))
        f[:, 2] = -1.5
        one.fix_external_set_energy_global("2", 3.25)
        one.fix_external_set_virial_global("2", [1, 1, 1, 0, 0, 0])

    one.set_fix_external_callback("2", callback, said)
    one.run(2)
    assert said == [(step, 256, 256, (256, 3)) for step in range(3)]
    assert one.number("pe") == 3.25 and (one.gather("f") == [0, 0, -1.5]).all()


# ---- arrays

def test_an_array_accelerates_particles_until_it_is_set_again(one):
    one.commands_string(FREE.replace("velocity all create 2 7", "") + "fix 2 odd external pf/array 1\n")
    force = np.zeros((256, 3))
    force[:, 1] = np.arange(256)
    one.fix_external_forces("2", force)
    one.fix_external_energy("2", -12.5, [0.0] * 6)
    one.run(50)
    expected = 0.2 * np.where(one.ids() % 2 == 1, force[:, 1], 0) / one.gather("mass")
    v = one.gather("v")
    assert np.allclose(v[:, 1], expected, rtol=1e-6, atol=1e-9) and not v[:, [0, 2]].any()
    assert one.number("f_2") == one.number("pe") == -12.5
    one.fix_external_forces("2", -force)
    one.run(50)
    assert np.abs(one.gather("v")).max() < 1e-12
    one.command("fix 2 odd external pf/array 1")  # A new fix has no forces.
    one.run(10)
    assert np.abs(one.gather("v")).max() < 1e-12 and one.number("f_2") == 0


def test_forces_act_at_every_napply_th_step(one):
    """A kick of half a step before and after each step that is a multiple of 4."""
    one.commands_string(FREE.replace("velocity all create 2 7", "") + "fix 2 all external pf/array 4\n")
    one.fix_external_forces("2", np.ones((256, 3)))
    for steps, kicks in ((0, 0.0), (1, 0.5), (2, 0.5), (1, 1.0 - 0.5 + 0.5), (1, 1.5)):
        one.run(steps)
        assert np.allclose(one.gather("v")[:, 0], 0.004 * kicks / one.gather("mass"), rtol=1e-9, atol=0), steps


def test_a_run_goes_on_from_a_restart(one):
    if harness.hdf5_missing():
        pytest.skip("no restarts in this build")
    begin = LIQUID + "fix 2 odd external pf/array 1\n"
    one.commands_string(begin)
    one.fix_external_forces("2", np.sin(np.arange(256 * 3)).reshape(256, 3))
    one.fix_external_energy("2", 4.5, [1, 2, 3, 4, 5, 6])
    one.run(30)
    one.command("write_restart r")
    one.run(30)
    whole = (*state(one), one.number("pe"), one.number("press"))
    one.command("clear")
    one.commands_string("read_restart r\ntimestep 0.004\nfix 1 all nve\nfix 2 odd external pf/array 1\n"
                        "thermo_modify norm no\n")
    one.run(30)
    assert same(whole, (*state(one), one.number("pe"), one.number("press")))


# ---- refusals

def test_an_exception_in_a_function_comes_out_of_the_run(one, myriad):  # noqa: F811
    def function(step, ids, x, f):
        if step == 3:
            raise ZeroDivisionError("no force at step 3")

    one.commands_string(LIQUID + "fix 2 all external pf/callback 1 1\n")
    one.fix_external("2", function)
    with pytest.raises(ZeroDivisionError, match="no force at step 3"):
        one.run(10)
    with pytest.raises(myriad.UsageError, match="use the command clear to begin again"):
        one.run(1)
    one.command("clear")
    one.commands_string(LIQUID + "fix 2 all external pf/callback 1 1\n")
    one.fix_external("2", lambda step, ids, x, f: one.command("run 1"))
    with pytest.raises(myriad.UsageError, match="a function of fix external may not call the library"):
        one.run(1)


@pytest.mark.parametrize("value, message", [(math.nan, "is not a number"), (1e300, "leaves the exact range")])
def test_a_force_out_of_range_names_fix_and_particle(one, myriad, value, message):  # noqa: F811
    def function(step, ids, x, f):
        f[ids == 77, 1] = value if step > 2 else 0.0

    one.commands_string(LIQUID + "fix 2 all external pf/callback 1 1\n")
    one.fix_external("2", function)
    with pytest.raises(myriad.PhysicsError, match=message) as caught:
        one.run(10)
    assert "particle 77: the force that fix external gets from the program" in str(caught.value)


def test_energies_must_be_numbers(one, myriad):  # noqa: F811
    one.commands_string(LIQUID + "fix 2 all external pf/callback 1 1\n")
    one.fix_external("2", lambda step, ids, x, f: math.nan)
    with pytest.raises(myriad.MyriadError, match="step 0: the energy that the function of fix external gives is nan"):
        one.run(1)


def test_wrong_uses_are_refused(one, myriad):  # noqa: F811
    one.commands_string(LIQUID + "fix 2 all external pf/callback 2 1\nfix 3 all momentum 10 linear 1 1 1\n")

    def says(message, function, *words):
        with pytest.raises((myriad.UsageError, ValueError), match=message):
            function(*words)

    says("fix external pf/callback has no function", one.run, 1)
    says("there is no fix external with the ID '3'", one.fix_external, "3", springs(one, K))
    says("there is no fix external with the ID 'x'", one.fix_external_energy, "x", 1.0)
    says("is of mode pf/callback, and gets its forces and its energy from a function", one.fix_external_forces, "2",
         np.zeros((256, 3)))
    says("there is one already", one.command, "fix 4 all external pf/array 1")
    says("give it after replicate", one.command, "replicate 2 1 1")
    one.fix_external("2", springs(one, K))
    one.command("unfix 3")
    one.run(4)
    says("cannot be undone, because with an NCALL above 1", one.command, "run -4")
    one.command("unfix 2")
    one.command("fix 2 all external pf/array 1")
    says("is of mode pf/array, and gets an array of forces, no function", one.fix_external, "2", springs(one, K))
    says("shape", one.fix_external_forces, "2", np.zeros((255, 3)))
    says("6 numbers", one.fix_external_energy, "2", 1.0, [1, 2])
    says("must be finite numbers", one.fix_external_energy, "2", math.inf)
    wrong = np.zeros((256, 3))
    wrong[99, 2] = math.inf
    says("the force on particle 100 is no finite number", one.fix_external_forces, "2", wrong)
    one.run(1)


@pytest.mark.parametrize("words, message", [
    ("", "is no way to give forces; accepted are pf/callback NCALL NAPPLY and pf/array NAPPLY"),
    ("pf/loop 1", "'pf/loop' is no way to give forces"),
    ("pf/callback 1", "takes 3 arguments"),
    ("pf/array 1 1", "unexpected '1'"),
    ("pf/callback 0 1", "NCALL of fix external"),
    ("pf/array x", "NAPPLY of fix external"),
    ("pf/callback 1 1\nrun 0", "gives the function after the fix"),
])
def test_the_program_refuses(tmp_path, words, message):
    said = run_deck(tmp_path, LIQUID + f"fix 2 all external {words}\n")
    refused(said, USAGE, message)


def test_the_program_runs_with_an_array_that_nobody_sets(tmp_path):
    plain = harness.run(LIQUID + "run 20\n", tmp_path).table
    with_fix = harness.run(LIQUID + "fix 2 all external pf/array 1\nrun 20\n", tmp_path).table
    assert plain.at(20)["TotEng"] == with_fix.at(20)["TotEng"]


# ---- C

C_PROGRAM = """\
#include "src/library/myriad.h"
#include <stdio.h>

static int pull(void *caller, int64_t step, int64_t n, const int64_t *id, const double *const x[3],
                double *const f[3], double *energy, double virial[6])
{
  (void)x, (void)virial;
  for (int64_t i = 0; i < n; ++i) f[0][i] = id[i] == 1 ? *(double *)caller : 0.0;
  *energy = 2.5;
  return step == 7;
}

int main(int argc, char **argv)
{
  const char *words[] = {"-log", "none", "-screen", "none"};
  double strength = 0.25, f[256][3], energy;
  myriad *m;
  if (argc < 2 || myriad_open(4, words, &m) || myriad_file(m, argv[1])) return 1;
  if (myriad_fix_external(m, "2", pull, &strength) || myriad_command(m, "run 5")) return 2;
  if (myriad_gather(m, "f", 3, f[0]) || myriad_number(m, "pe", &energy)) return 3;
  printf("%g %g %g\\n", f[0][0], f[1][0], energy);
  if (myriad_command(m, "run 5") != MYRIAD_RUNTIME) return 4;
  puts(myriad_error());
  return myriad_close(m);
}
"""


def test_a_program_in_c(library, tmp_path):  # noqa: F811
    compiler = shutil.which("cc") or shutil.which("gcc") or pytest.skip("there is no C compiler")
    (tmp_path / "main.c").write_text(C_PROGRAM)
    (tmp_path / "in.free").write_text(FREE + "fix 2 all external pf/callback 1 1\n")
    subprocess.run([compiler, "-std=c99", "-Wall", "-Werror", f"-I{ROOT}", "main.c", "-o", "main", str(library),
                    f"-Wl,-rpath,{library.parent}"], cwd=tmp_path, check=True, timeout=60)
    done = subprocess.run([str(tmp_path / "main"), "in.free"], cwd=tmp_path, env=environment(), capture_output=True,
                          text=True, timeout=patience(60), check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == ["0.25 0 2.5",
                                        "command:1: step 7: the function of fix external returned an error"]
