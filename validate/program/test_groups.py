"""Groups and computes: their particles and values, from every engine and number of ranks, and after a resume."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from cli import BOX, USAGE, refused, run_deck, works
from test_averages import needs_lmp, run_lmp

START = """lattice fcc 0.8442
region box block 0 5 0 5 0 5
create_box 2 box
create_atoms 1 box
set type 1 type/fraction 2 0.3 771
mass 1 1
mass 2 3
velocity all create 1.44 87287
pair_style lj/cut 2.5
pair_coeff * * 1 1
"""
GROUPS = """region half block 0 2.4 INF INF INF INF
group left region half
group heavy type 2
group some id 1:100:3 400
group both intersect left heavy
group either union left heavy
group light subtract all heavy
"""
VALUES = """compute t heavy temp
compute k either ke
compute m heavy momentum
compute e both ke/atom
thermo_style custom step temp press pe ke c_t c_k c_m[1] c_m[2] c_m[3] c_thermo_temp c_thermo_press v_twice
thermo_modify format float %.17g norm no
variable twice equal 2*c_k+c_m[3]
dump d all custom 10 all.dump id type x y z vx vy vz c_e
dump_modify d format float %.17g
thermo 10
"""


def test_members_of_groups(tmp_path):
    works(run_deck(tmp_path, START + GROUPS + "".join(
        f"dump {name} {name} custom 1 {name}.dump id type x\n"
        for name in ("all", "left", "heavy", "some", "both", "either", "light")) + "run 0\n"))

    def ids(name):
        return set(harness.read_dump(tmp_path / f"{name}.dump")[0].columns["id"].astype(int))

    frame = harness.read_dump(tmp_path / "all.dump")[0]
    every, kind, x = (frame.columns[name] for name in ("id", "type", "x"))
    left = set(every[x <= 2.4 * (4 / 0.8442) ** (1 / 3)].astype(int))
    heavy = set(every[kind == 2].astype(int))
    assert 0 < len(left) < 500 and 0 < len(heavy) < 500
    assert ids("left") == left and ids("heavy") == heavy
    assert ids("some") == {*range(1, 101, 3), 400}
    assert ids("both") == left & heavy and ids("either") == left | heavy
    assert ids("light") == ids("all") - heavy


def test_values_of_computes(tmp_path):
    """The sums over the particles of a dump, to the rounding of doubles."""
    table = harness.run(START + GROUPS + VALUES + "fix 1 all nve\nrun 20\n", tmp_path).table
    frame = harness.read_dump(tmp_path / "all.dump")[-1]
    heavy = frame.columns["type"] == 2
    left = np.isin(frame.columns["id"], harness.read_dump(tmp_path / "all.dump")[0].columns["id"][
        harness.read_dump(tmp_path / "all.dump")[0].columns["x"] <= 2.4 * (4 / 0.8442) ** (1 / 3)])
    mass, v = np.where(heavy, 3.0, 1.0), frame.vectors("vx", "vy", "vz")
    energy = 0.5 * mass * (v ** 2).sum(axis=1)
    row = {name: float(value) for name, value in table.at(20).items()}
    assert row["c_k"] == pytest.approx(energy[heavy | left].sum(), rel=1e-13)
    assert row["c_t"] == pytest.approx(2 * energy[heavy].sum() / (3 * heavy.sum() - 3), rel=1e-13)
    for axis in range(3):
        momentum = (mass * v[:, axis])[heavy].sum()
        assert row[f"c_m[{axis + 1}]"] == pytest.approx(momentum, abs=1e-11)
    assert row["c_thermo_temp"] == row["Temp"] and row["c_thermo_press"] == row["Press"]
    assert row["v_twice"] == 2 * row["c_k"] + row["c_m[3]"]
    assert np.allclose(frame.columns["c_e"], np.where(heavy & left, energy, 0.0), rtol=1e-14, atol=0.0)


@pytest.mark.parametrize("integrator", ["nve", "nve/leapfrog"])
def test_particles_of_no_moving_group_stay(integrator, tmp_path, engine):
    deck = START + GROUPS + f"fix 1 light {integrator}\ndump d all custom 20 a.dump id type x y z vx vy vz\nrun 20\n"
    harness.run(deck, tmp_path, engine=engine)
    first, last = harness.read_dump(tmp_path / "a.dump")
    heavy = first.columns["type"] == 2
    same = np.all([first.columns[name] == last.columns[name] for name in ("x", "y", "z", "vx", "vy", "vz")], axis=0)
    assert same[heavy].all() and not same[~heavy].any()


@pytest.mark.mpi
def test_ranks_have_the_same_groups(tmp_path):
    deck = START + GROUPS + VALUES + "dump b both custom 10 both.dump id x vx c_e\nfix 1 either nve\nrun 30\n"
    wrote = []
    for ranks in (None, 2):
        folder = tmp_path / str(ranks)
        rows = harness.run(deck, folder, ranks=ranks).table.rows
        wrote.append([rows, (folder / "all.dump").read_bytes(), (folder / "both.dump").read_bytes()])
    assert wrote[0] == wrote[1]


def test_groups_after_a_resume(tmp_path):
    """The run is cut after a restart of its second run: groups, and values of the first run, come from the restart."""
    deck = START + GROUPS + VALUES + "fix 1 either nve\nrun 20\nvariable past equal $(c_k)\n{cut}run 20\n" \
        "print \"past ${{past}}\"\ngroup late region half\ncompute l late ke\nthermo_style custom step c_k c_l\n" \
        "thermo_modify format float %.17g\nrun 10\n"
    if harness.hdf5_missing():
        pytest.skip("no restarts in this build")
    whole = harness.run(deck.format(cut=""), tmp_path / "whole")
    harness.run(deck.format(cut="restart 10 r1 r2\n"), tmp_path / "cut")
    dump = tmp_path / "cut" / "all.dump"
    dump.write_text(dump.read_text() + "a frame too many")
    resumed = harness.run(deck.format(cut="restart 10 r1 r2\n"), tmp_path / "cut", arguments=("--resume",))
    assert "Resumed at step" in resumed.log
    past = [line for line in whole.log.splitlines() if line.startswith("past ")]
    assert past and past[0] in resumed.log
    assert resumed.tables[-1].rows[-1] == whole.tables[-1].rows[-1]
    assert dump.read_bytes() == (tmp_path / "whole" / "all.dump").read_bytes()


@pytest.mark.parametrize("line, message", [
    ("group all type 1", "`all` cannot be changed"),
    ("group g type 3", "there is no type '3'"),
    ("group g id 5:2", "the last id of group (write N, N:M or N:M:STEP) must be at least 5, not 2"),
    ("group g subtract all", "group subtract takes at least two groups, not 1"),
    ("group g id 1:9:0", "the step between ids"),
    ("group g region none", "none"),
    ("group g union all some", "unknown group 'some'; there are: all"),
    ("group g dance 1", "accepted are type, id, region"),
    ("group g type", "nothing follows"),
    ("compute 1 nobody ke", "unknown group 'nobody'"),
    ("compute 1 all erotate",
     "unknown compute style 'erotate' (`myriad help compute` has their arguments); accepted are: ke;"),
    ("compute 1 all ke 5", "unexpected '5'"),
    ("compute thermo_pe all pe", "exists already"),
    ("compute a-b all pe", "letters, digits and _"),
    ("group g type 1\ncompute 1 g pe", "is of the group all"),
    ("uncompute thermo_temp", "every run has the compute"),
    ("uncompute x", "there is no compute 'x'"),
    ("thermo_style custom step c_x", "c_x: there is no such compute"),
    ("compute m all momentum\nthermo_style custom c_m", "write c_m[1]"),
    ("compute m all momentum\nthermo_style custom c_m[4]", "this compute has 3 values"),
    ("compute e all ke/atom\nthermo_style custom c_e", "a column of dumps"),
    ("compute k all ke\ndump 1 all custom 1 f.dump id c_k", "a column of thermo_style"),
    ("compute k all ke\nvariable x equal c_k\nprint ${x}", "c_k is not known before the first run"),
    ("change_box all boundary f p p\ngroup g type 1\nfix w g wall/reflect xlo 0", "must be at EDGE"),
    ("compute k all ke\nthermo_style custom c_k\nuncompute k\nfix 1 all nve\nrun 0", "c_k: there is no such compute"),
])
def test_mistakes(line, message, tmp_path):
    refused(run_deck(tmp_path, START + line + "\n"), USAGE, message)


EXCLUDED = ("units lj\nlattice fcc 0.8\nregion b block 0 4 0 4 0 4\ncreate_box 3 b\ncreate_atoms 1 box\nmass * 1\n"
            "group few id 1:9\nvelocity all create 1 7\npair_style lj/cut 2.5\npair_coeff * * 1 1\nfix it all nve\n"
            "thermo_modify format float %.17g\n")


def test_an_excluded_group_of_whole_types(tmp_path):
    """A type without particles is in no group; the pairs are those of `exclude type`."""
    rows = []
    for exclude in ("group few few", "type 2 2", "type 3 1"):
        line = f"set group few type 2\nneigh_modify exclude {exclude}\nthermo 5\nrun 5\n"
        rows.append(harness.run(EXCLUDED + line, tmp_path).table.rows)
    assert len(rows[0]) == 2 and rows[0] == rows[1] != rows[2]


@pytest.mark.parametrize("engine", ["naive", "openmp"])
def test_excluded_groups_are_as_types_of_their_own(engine, tmp_path):
    """Groups that overlap and are parts of a type; the same particles with a type for each combination of groups."""
    run = "thermo 10\nthermo_style custom step temp pe press c_s\nrun 40\n"
    begin = EXCLUDED + "group more id 6:100\ncompute e all pe/atom\ncompute s few reduce sum c_e\n"
    groups = harness.run(begin + "neigh_modify exclude group few more\n" + run, tmp_path / "groups", engine=engine)
    types = harness.run(begin.replace("create_box 3", "create_box 4") + "group both id 6:9\ngroup only id 1:5\n"
                        "set group more type 2\nset group both type 3\nset group only type 4\n"
                        "neigh_modify exclude type 2 3 exclude type 2 4 exclude type 3 3 exclude type 3 4\n" + run,
                        tmp_path / "types", engine=engine)
    assert len(groups.table.rows) == 5 and groups.table.rows == types.table.rows


def test_excluded_groups_change_and_end(tmp_path):
    """A run takes the particles that a group has then; exclude none ends it; groups of a restart can be excluded."""
    first = harness.run(EXCLUDED + "neigh_modify exclude group few few\nthermo 20\nrun 20\ngroup few id 10:60\n"
                        "write_restart x.restart\nrun 20\nneigh_modify exclude none\nrun 0\n", tmp_path)
    again = harness.run("read_restart x.restart\nfix it all nve\n"
                        "neigh_modify exclude group few few\nthermo 20\nthermo_modify format float %.17g\nrun 20\n",
                        tmp_path)
    assert again.table.rows == first.tables[1].rows != first.tables[0].rows
    assert first.tables[2].rows[-1] != first.tables[1].rows[-1]


@pytest.mark.parametrize("engine", ["naive", "openmp"])
@pytest.mark.parametrize("change, energy", [
    # As long as the group has all of type 1, and only these; then a particle joins the type, or leaves it.
    ("", lambda pair: 0.0),
    ("create_atoms 1 single 3 3 4.2", lambda pair: pair(1.2)),
    ("set atom 2 type 2", lambda pair: 0.0),
    ("create_atoms 2 single 3 3 4.2\nset group a type 2", lambda pair: pair(1.2)),
    ("write_restart r\nclear\nread_restart r\ncreate_atoms 1 single 3 3 4.2\nneigh_modify exclude group a a",
     lambda pair: pair(1.2))])
def test_an_excluded_group_has_the_particles_of_its_command(change, energy, engine, tmp_path):
    if "restart" in change and harness.hdf5_missing():
        pytest.skip("this build has no HDF5")
    deck = ("units lj\nregion b block 0 9 0 9 0 9 units box\ncreate_box 2 b\nlattice none 1\n"
            "create_atoms 1 single 3 3 3\ncreate_atoms 1 single 3 3 1.9\nmass * 1\npair_style lj/cut 2.2\n"
            "pair_coeff * * 1 1\ngroup a type 1\nneigh_modify exclude group a a\nthermo_modify norm no\n"
            f"thermo_style custom step pe\nrun 0\n{change}\nthermo_style custom step pe\n"
            "thermo_modify norm no\nrun 0\n")
    found = harness.run(deck, tmp_path, engine=engine)
    assert float(found.tables[0].rows[0][1]) == 0.0
    assert float(found.tables[1].rows[0][1]) == pytest.approx(energy(lambda r: 4.0 * (r**-12 - r**-6)), rel=1e-6)


@pytest.mark.parametrize("compute", ["a group/group b", "a coord/atom cutoff 1.5 group b"])
def test_the_other_group_of_a_compute_stays(compute, tmp_path):
    deck = BOX + f"group a id 1\ngroup b id 2\ncompute c {compute}\ngroup b delete\n"
    refused(run_deck(tmp_path, deck), USAGE, "group 'b' cannot be deleted", "a compute")


def test_excluded_groups_that_are_refused(tmp_path):
    groups = "".join(f"group g{k} id {k}\n" for k in range(1, 12))
    many = "".join(f"neigh_modify exclude group g{k} g{k}\n" for k in range(1, 10))
    for lines, message in (
            ("group some dynamic all\nneigh_modify exclude group few some\n", "the group some is dynamic"),
            (groups + many + "run 0\n", "at most 8 groups"),
            ("neigh_modify exclude group few few\ngroup few delete\n", "exclude none first"),
            ("neigh_modify exclude group few other\n", "unknown group 'other'")):
        refused(run_deck(tmp_path, EXCLUDED + lines), USAGE, message)


@needs_lmp
def test_groups_of_molecules(tmp_path):
    """Numbers, ranges and comparisons of molecules, as those of ids."""
    words = ("2", "1 4:5", "1:8:3", "< 3", ">= 4", "<> 2 4", "!= 3", "0")
    deck = (f"units lj\natom_style bond\nspecial_bonds fene\nread_data {harness.REFERENCE}/chains-216.data\n"
            "bond_style fene\nbond_coeff * 30 1.5 1 1\npair_style lj/cut 1.5\npair_coeff * * 1 1\n"
            "set atom 7 mol 0\n" +
            "".join(f"group g{k} molecule {chosen}\nvariable n{k} equal count(g{k})\n"
                    for k, chosen in enumerate(words)) +
            f"thermo_style custom step {' '.join(f'v_n{k}' for k in range(len(words)))}\nrun 0\n")
    ours = harness.run(deck, tmp_path / "ours").table
    theirs = run_lmp(deck, tmp_path / "theirs")[0]
    assert list(map(float, ours.rows[0])) == list(map(float, theirs.rows[0]))
    assert float(ours.rows[0][-1]) == 1 and len(set(ours.rows[0])) > 5


@pytest.mark.parametrize("user, words", [
    ("compute c g reduce sum id", "a compute"),
    ("compute c g msd", "a compute"),
    ("group part dynamic g region half", "a dynamic group"),
    ("fix b all balance 10 1.1 shift xyz 5 1.1 weight group 1 g 2.0", "the weights of balance"),
    ("fix v g ave/atom 1 1 1 vx", "a fix"),
    ("dump d g atom 10 d.txt", "a dump")])
def test_a_group_in_use_is_not_deleted(user, words, tmp_path):
    """Its number would go to the next group, which would take its place."""
    deck = START + "region half block 0 2.4 INF INF INF INF\ngroup g id 1:40\n" + user + "\ngroup g delete\n"
    refused(run_deck(tmp_path, deck), USAGE, "group 'g' cannot be deleted", words, line=14)
