"""Displacements through periodic faces: the values of lmp, the same bytes on every engine and number of ranks."""

from __future__ import annotations

import pytest

import harness
from cli import BOX, USAGE, refused, run_deck, works
from test_averages import MELT, assert_like_lmp, files, needs_lmp

pytestmark = pytest.mark.smoke

# The melt moves as a whole: within the run each particle goes through two faces along x and one along y.
FOLLOWED = """\
velocity all set 28 -14 0 sum yes units box
compute x odd com
compute g odd gyration
compute u odd property/atom xu iy zu iz
compute us odd reduce sum c_u[*]
run 20
compute m all msd
compute mc odd msd com yes
compute v odd vacf
compute d all displace/atom
compute dr all reduce max c_d[1] c_d[2] c_d[3] c_d[4]
compute ds odd reduce sum c_d[1] c_d[4]
variable far atom c_d[1]*(id==7)
compute one all reduce sum v_far
fix a all ave/time 100 1 200 c_m[*] c_mc[*] c_v[*] file a.txt format " %.10g"
fix c all ave/time 100 1 200 c_dr[*] c_ds[*] c_one c_x[*] c_g c_g[*] c_us[*] file c.txt format " %.10g"
thermo 400
thermo_style custom step temp c_m[4] c_mc[4] c_v[1]
run 180
run 0
run 20
"""
FILES = "ac"


@needs_lmp
def test_values_of_lammps(tmp_path):
    assert_like_lmp(MELT + FOLLOWED, tmp_path, FILES)
    row = (tmp_path / "ours" / "c.txt").read_text().splitlines()[-1].split()
    assert float(row[7]) == pytest.approx(20.1, abs=0.5)  # particle 7: the side of the box is 10.1
    assert float(row[-3]) < -200  # all odd particles together have gone through the lower face along y so often


def test_same_files_on_every_engine(tmp_path):
    harness.run(MELT + FOLLOWED, tmp_path / "naive", engine="naive")
    harness.run(MELT + FOLLOWED, tmp_path / "openmp", threads=3)
    assert files(tmp_path / "naive", FILES) == files(tmp_path / "openmp", FILES)


@pytest.mark.mpi
def test_same_files_on_ranks(tmp_path):
    harness.run(MELT + FOLLOWED, tmp_path / "one")
    harness.run(MELT + FOLLOWED, tmp_path / "four", ranks=4)
    assert files(tmp_path / "one", FILES) == files(tmp_path / "four", FILES)


DELETED = MELT + FOLLOWED.split("fix a all")[0] + """\
run 30
region gone block 0 1.5 INF INF INF INF
delete_atoms region gone compress {compress}
thermo 10
thermo_style custom step c_x[1] c_x[2] c_g c_m[4] c_mc[4] c_v[4] c_dr[*] c_ds[*] c_us[*]
thermo_modify format float %.17g
run 30
"""


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [None, 3])
def test_places_follow_particles_to_new_ids(ranks, tmp_path):
    more = {"ranks": ranks} if ranks else {}
    kept, numbered = (harness.run(DELETED.format(compress=compress), tmp_path / compress, **more).table.rows
                      for compress in ("no", "yes"))
    assert kept == numbered and len(kept) == 4
    assert 0 < float(kept[-1][4]) < 1000


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize("way", [2.0, 3.5, 17.0])
def test_displacements_by_commands(way, ranks, engine, tmp_path):
    """A lattice that displace_atoms moves, in two parts of the way, and change_box makes larger; the side is 6.3. All
    of it counts, however far it is."""
    if ranks and engine != "openmp":
        pytest.skip("ranks have engine openmp")
    deck = ("lattice sc 0.5\nregion b block 0 5 0 5 0 5\ncreate_box 1 b\ncreate_atoms 1 box\nmass 1 1\n"
            "pair_style soft 0.1\npair_coeff * * 1\nfix 1 all nve\ncompute m all msd\ncompute c all com\n"
            "compute d all displace/atom\ncompute x all reduce max c_d[1]\n"
            "thermo_style custom step c_m[1] c_c[1] c_x xlo xhi\nthermo_modify format float %.17g\nrun 0\n"
            f"displace_atoms all move {0.4 * way} 0 0 units box\ndisplace_atoms all move {0.6 * way} 0 0 units box\n"
            "run 0\nchange_box all x scale 2 remap\nrun 0\n")
    tables = harness.run(deck, tmp_path, engine=engine, ranks=ranks).tables
    first, moved, larger = ([float(word) for word in table.rows[0][1:]] for table in tables)
    assert first[0] < 1e-20 and [moved[0], moved[2]] == pytest.approx([way**2, way], rel=1e-10)
    assert moved[1] - first[1] == pytest.approx(way, rel=1e-10)
    # The centre of the box stays, and all particles go twice as far from it, in a box that is less than way away.
    side, lo = first[4] - first[3], first[3]
    at = [lo + k * side / 5 for k in range(5)]
    wrapped = [lo + (x + way - lo) % side for x in at]
    middle = lo + side / 2
    ends = [x + way + (w - middle) + (2 * side - side) * round((x + way - w) / side) for x, w in zip(at, wrapped)]
    assert larger[0] == pytest.approx(sum((end - x)**2 for end, x in zip(ends, at)) / 5, rel=1e-9)


def test_new_particles_may_be_displaced(tmp_path):
    """A compute that does not know them must be gone before the next run, and not before."""
    deck = BOX + "compute m all msd\nrun 1\ncreate_atoms 1 single 5 5 5\ndisplace_atoms all move 0.1 0 0 units box\n"
    works(run_deck(tmp_path, deck + "uncompute m\nrun 1\n"))
    refused(run_deck(tmp_path, deck + "thermo_style custom step c_m[1]\nrun 1\n"), USAGE, "particle 3 is new")


def test_displacements_of_a_free_particle(tmp_path):
    """Its speed is given: after 400 steps it is at 3 * 4 and -2 * 4, through the faces of a box of 6."""
    deck = ("units lj\nregion b block 0 6 0 6 0 6\ncreate_box 1 b\nmass 1 1\ncreate_atoms 1 single 1 5 3\n"
            "create_atoms 1 single 4 2 3\nvelocity all set 3 -2 0 units box\npair_style none\nfix 1 all nve\n"
            "timestep 0.01\ncompute m all msd\ncompute v all vacf\ncompute d all displace/atom\n"
            "compute s all reduce max c_d[1] c_d[2] c_d[4]\nthermo_modify format float %.9g\n"
            "thermo_style custom step c_m[1] c_m[2] c_m[3] c_m[4] c_v[1] c_v[4] c_s[1] c_s[2] c_s[3]\nrun 400\n")
    row = list(map(float, harness.run(deck, tmp_path).table.rows[-1][1:]))
    assert row == pytest.approx([144, 64, 0, 208, 9, 13, 12, -8, 208 ** 0.5], rel=1e-6)


@pytest.mark.parametrize("engine", ["openmp", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_particles_at_rest_in_a_box_that_runs_away(engine, tmp_path):
    """The box goes 3.5 of its sides and takes resting particles with it, less its last step, which comes later."""
    deck = ("units lj\nregion b block 0 20 0 20 0 20\ncreate_box 1 b\nmass 1 1\ncreate_atoms 1 single 3 3 3\n"
            "create_atoms 1 single 13 13 13\npair_style lj/cut 2.5\npair_coeff 1 1 1 1\nfix 1 all nve\n"
            "fix 2 all deform 1 x delta 70 70 remap x\ncompute m all msd\ncompute c all com\nthermo 200\n"
            "thermo_style custom step c_m[1] c_m[4] c_c[1]\nthermo_modify format float %.12g\nrun 200\n")
    row = list(map(float, harness.run(deck, tmp_path, engine=engine).table.rows[-1][1:]))
    way = 70 * 199 / 200
    assert row == pytest.approx([way ** 2, way ** 2, 8 + way], rel=1e-9)


BEGIN = BOX + "compute m all msd\ncompute d all displace/atom\n"
BAD = {
    "compute 1 all msd com": ["msd com", "missing"],
    "compute 1 all msd com perhaps": ["perhaps"],
    "compute 1 all msd average yes": ["average yes"],
    "compute 1 all msd mass yes": ["mass", "com yes|no"],
    "compute 1 all com of": ["compute com", "of"],
    "compute 1 all gyration of": ["compute gyration", "of"],
    "compute 1 all vacf twice": ["twice"],
    "compute 1 all displace/atom refresh v_x": ["refresh"],
    "compute 1 all property/atom xw": ["xw", "xu yu zu xsu ysu zsu ix iy iz"],
    "change_box all triclinic": ["follow particles", "uncompute"],
    "thermo_style custom step c_m[5]": ["c_m[5]", "4"],
    "compute 1 all reduce sum c_d": ["c_d", "no value for each particle"],
    "create_atoms 1 single 5.5 5.5 5.5\nthermo_style custom step c_m[1]\nrun 0": ["is new since compute msd"],
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input(line, tmp_path):
    refused(run_deck(tmp_path, BEGIN + line + "\n"), USAGE, *BAD[line])


def test_uncompute_ends_the_looks(tmp_path):
    works(run_deck(tmp_path, BEGIN + "run 1\nuncompute m\nrun 1\nuncompute d\nrun 1\nclear\n"))


def test_no_resume(tmp_path):
    deck = MELT + "compute m all msd\nrestart 10 r.*\nrun 20\n"
    works(run_deck(tmp_path, deck))
    (tmp_path / "r.20").unlink()
    refused(run_deck(tmp_path, deck, "--resume"), USAGE, "compute msd", "cannot be resumed")


@pytest.mark.mpi
def test_messages_in_rounds(tmp_path):
    """More particles on a rank than go in one round, and than the other rank has."""
    deck = ("region b block 0 60 0 50 0 50\ncreate_box 1 b\nregion left block 0 29 0 50 0 50\n"
            "create_atoms 1 random 140000 5 left\nmass 1 1\npair_style zero 1\ntimestep 0.01\nfix 1 all nve\n"
            "velocity all set 100 50 0\ncompute m all msd\nthermo_style custom step c_m[*]\nthermo 1\nrun 8\n")
    one, two = (harness.run(deck, tmp_path / str(ranks), ranks=ranks, threads=1).table for ranks in (None, 2))
    assert one.rows == two.rows and one.at(8)["c_m[4]"] == pytest.approx(80.0, rel=1e-6)


FLIPS = """\
units lj
dimension 2
region box prism 0 10 0 10 -0.5 0.5 0 0 0
create_box 1 box
compute img all property/atom ix
create_atoms 1 single 2 9.9 0 units box
create_atoms 1 single 5 9.92 0 units box
mass 1 1
velocity all set 0.01 0 0
pair_style zero 1.0
pair_coeff * *
fix 1 all nve
fix d all deform 1 xy erate 1 remap x
timestep 0.002
restart 600 rst.*
dump d all custom 1100 d.txt id xu yu ix iy
dump_modify d sort id format float %.17g first yes
run 1100
"""


@pytest.mark.skipif(harness.hdf5_missing(), reason="this build has no HDF5")
def test_flags_of_a_resumed_job_where_the_box_moves_particles(tmp_path):
    """After a restart the first looks are as close as at the beginning of a run: speeds do not tell how a deforming box
    moves its particles."""
    works(run_deck(tmp_path, FLIPS))
    whole = (tmp_path / "d.txt").read_bytes()
    works(run_deck(tmp_path, FLIPS, "--resume"))
    assert (tmp_path / "d.txt").read_bytes() == whole
