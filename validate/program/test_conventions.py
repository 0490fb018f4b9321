"""Decks whose numbers depend on an order or a convention of LAMMPS: rows of thermo are those of lmp."""

from __future__ import annotations

import pytest

import harness
from cli import BOX, PHYSICS, USAGE, call, refused, run_deck, works
from test_averages import needs_lmp, run_lmp

pytestmark = pytest.mark.smoke

BEGIN = """\
units lj
lattice fcc 0.8
region b block 0 3 0 3 0 3
create_box 1 b
create_atoms 1 box
mass 1 1
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
variable v atom sin(id)
velocity all set v_v 0 0
"""
TWO = """\
units lj
region b block 0 10 0 10 0 10
create_box 1 b
create_atoms 1 single 9.9 5 5
create_atoms 1 single 0.2 5 5
mass 1 1
pair_style lj/cut 2
pair_coeff 1 1 0 1
group g id 1
fix 1 all nve
thermo 1
"""
RESCALE = "fix 1 all temp/rescale 1 1 1 0 1\n"
PRISM = "change_box all triclinic\n"
PARTS = "run 5\nrun 5\nrun 5 start 0 stop 20\nrun 5 start 5 stop 20\n"
REGIONS = ("sphere 7 7 7 3", "sphere 7 7 7 5", "cylinder z 7 7 5 INF INF", "cone z 7 7 2 6 1 9", "sphere 3 3 3 3",
           "prism 1 4 2 6 1 5 1 1 1")
DECKS = {
    "values of one particle": "atom_modify map array\n" + BEGIN + "fix 1 all nve\ncompute k all ke/atom\n"
    "compute p all pe/atom\ncompute s all stress/atom NULL\nvariable k equal c_k[7]\nvariable p equal 2*c_p[3]\n"
    "variable s equal c_s[5][2]\nfix a all ave/atom 1 2 2 vx vy\nvariable f equal f_a[9][1]\n"
    "thermo 2\nthermo_style custom step v_k v_p v_s v_f\nrun 6\n",
    # The last digit decides which sites are on the surface of a region.
    **{f"sites in regions, {lattice}": f"lattice {lattice}\nregion b block 0 14 0 14 0 14\ncreate_box 1 b\nmass 1 1\n"
       "create_atoms 1 box\npair_style lj/cut 1\npair_coeff 1 1 0 1\n" +
       "".join(f"region r{k} {shape}\ngroup g{k} region r{k}\nvariable n{k} equal count(g{k})\n"
               for k, shape in enumerate(REGIONS)) +
       f"thermo_style custom step {' '.join(f'v_n{k}' for k in range(len(REGIONS)))}\nrun 0\n"
       for lattice in ("fcc 0.8", "sc 0.6")},
    # Integrators end their step before any other fix acts at its end, wherever it stands.
    "rescale, then nve/limit": BEGIN + RESCALE + "fix 2 all nve/limit 0.005\nrun 2\n",
    "momentum, then nve/limit": BEGIN + "fix 1 all momentum 1 linear 1 1 1\nfix 2 all nve/limit 0.005\nrun 2\n",
    "rescale, then nph": BEGIN + RESCALE + "fix 2 all nph x 1 1 1\nthermo_style custom step temp vol\nrun 2\n",
    "rescale, then npt": BEGIN + RESCALE + "fix 2 all npt temp 1 1 1 iso 0 0 1\nthermo_style custom step temp vol\n"
                                           "run 3\n",
    "a pusher that grows": BEGIN + "variable r equal 1+0.1*step\nfix 1 all indent 10 sphere 2.1 2.2 2.3 v_r\nthermo 1\n"
                                   "thermo_style custom step pe f_1\nminimize 0 0 3 100\n",
    # Centres of mass go on where displacements go through faces, and begin with image flags.
    "spring": TWO + "fix 2 all spring tether 1 5 NULL NULL 0\nthermo_style custom step f_2[1]\nrun 0\n"
                    "displace_atoms g move 0.3 0 0\nrun 0\nrun 5\n",
    "recenter": TWO + "fix 2 all recenter 5 NULL NULL\nthermo_style custom step f_2\nrun 2\n"
                      "displace_atoms g move 0.3 0 0\nrun 3\n",
    "recenter, displaced before": TWO + "fix 2 all recenter 5 NULL NULL\ndisplace_atoms g move -0.3 0 0\n"
                                        "thermo_style custom step f_2\nrun 2\n",
    "a spring that is left": TWO + "create_atoms 1 single 4 8 5\ngroup h id 3\n"
                                   "fix 2 h spring tether 1 5 NULL NULL 0\nfix 3 g spring tether 1 5 NULL NULL 0\n"
                                   "thermo_style custom step f_3[1]\nrun 1\nunfix 2\n"
                                   "displace_atoms g move 0.3 0 0\nrun 1\n",
    # Slabs along x hold the images of the parallelepiped.
    "swaps in a tilted box": "lattice sc 0.8\nregion b prism 0 6 0 6 0 6 2 1 -1\ncreate_box 1 b\ncreate_atoms 1 box\n"
                             "mass 1 1\nvariable v atom sin(id*1.7)\nvelocity all set v_v v_v v_v\n"
                             "pair_style lj/cut 2.4\npair_coeff 1 1 1 1\nneigh_modify every 1 delay 0 check no\n"
                             "fix 1 all nve\nfix 2 all thermal/conductivity 5 x 6\nthermo 5\n"
                             "thermo_style custom step temp pe f_2\nrun 15\n",
    # What has the ID of a region takes the region of that ID at the next run.
    **{f"another region: {use}": BEGIN + f"region r block 0.1 1.4 INF INF INF INF\nfix 1 all nve\n{use}\nrun 2\n"
                                        "region r delete\nregion r block 1.1 2.4 0.1 2.4 INF INF\nrun 3\n"
       for use in ("fix 2 all addforce 1 0 0 region r\nthermo_style custom step temp f_2[1]",
                   "fix 2 all setforce 1 0 0 region r\nthermo_style custom step temp f_2[1]",
                   "compute m all reduce max vx\nfix 2 all heat 1 0.5 region r\nthermo_style custom step temp c_m",
                   "compute t all temp/region r\nthermo_style custom step temp c_t")},
    # A run that is a part of a longer one: fix deform begins with the box of its first run.
    **{f"deform {part} in parts": BEGIN + f"fix 1 all nve\n{PRISM if tilt else ''}fix 2 all deform 1 {part}\nthermo 5\n"
                                  f"thermo_style custom step temp lx{' xy' if tilt else ''} vol\n{PARTS}"
       for tilt, parts in ((False, ("x scale 1.1", "x final 0 3.1", "x delta 0 0.1 y volume", "x vel 1",
                                    "x wiggle 0.1 0.1")),
                           (True, ("xy erate 1 remap x", "xy final 1 remap x"))) for part in parts},
    "recenter INIT": TWO + "fix 2 all recenter INIT NULL NULL\nthermo_style custom step f_2\nrun 2\n"
                           "displace_atoms g move 0.3 0 0\nrun 3\n",
    "spring with image flags": TWO + "compute u all property/atom ix\nset atom 2 image 1 0 0\n"
                                     "fix 2 all spring tether 1 5 NULL NULL 0\nthermo_style custom step f_2[1]\n"
                                     "run 2\n",
    "recenter with image flags": TWO + "variable x equal xcm(all,x)\nset atom 2 image 1 0 0\n"
                                       "fix 2 all recenter 9.9 NULL NULL\nthermo_style custom step f_2 v_x\nrun 2\n",
    # The bias of a temperature is that of its group alone.
    "a bias of a group": BEGIN + "velocity all set 1 0 0\ngroup h id 1:50\ncompute t h temp/partial 0 1 1\n"
                                 "compute c all chunk/atom type\nfix 1 all nve\n"
                                 "fix 2 all ave/chunk 1 1 1 c temp bias t\nthermo_style custom step f_2[1][2]\nrun 0\n",
    # Extensive values are shown per particle.
    "averages of vectors": BEGIN + "fix 1 all nve\ncompute s all reduce sum x y\n"
                                   "fix 2 all ave/time 1 1 1 c_s mode vector\n"
                                   "fix 3 all ave/time 1 1 1 c_s c_s mode vector\n"
                                   "fix 4 all ave/time 1 1 1 c_thermo_press mode vector\n"
                                   "thermo_style custom step c_s[1] f_2[1] f_2[2] f_3[1][1] f_3[2][2] f_4[1] f_4[6]\n"
                                   "run 0\n",
    # `lower` and `upper` are the ends of the bounds.
    "bounds of bins": BEGIN + "compute c all chunk/atom bin/1d x lower 0.7 bound x 0.31 2.21\n"
                              "compute d all chunk/atom bin/1d x center 0.7 bound x 0.31 2.21\n"
                              "compute e all chunk/atom bin/1d x upper 0.7 bound x 0.31 2.21 discard no\n"
                              "fix 1 all nve\n"
                              "fix 2 all ave/chunk 1 1 1 c vx\nfix 3 all ave/chunk 1 1 1 d vx\n"
                              "fix 4 all ave/chunk 1 1 1 e vx\nthermo_style custom step f_2[1][1] f_2[1][2] f_2[2][1] "
                              "f_2[2][2] f_3[1][1] f_3[1][2] f_4[1][1] f_4[1][2] f_4[2][2]\nrun 0\n",
    # Layers that are exactly on both faces.
    "particles on faces that stay": "units lj\nboundary f p p\nlattice fcc 0.8442\nregion b block -5 5 0 2 0 2\n"
                                    "create_box 1 b\ncreate_atoms 1 box\nmass 1 1\npair_style lj/cut 2.5\n"
                                    "pair_coeff 1 1 1 1\nregion i block -4.2 4.2 INF INF INF INF\ngroup i region i\n"
                                    "fix 1 i nve\nthermo 5\nthermo_style custom step atoms temp pe press\nrun 10\n",
    # The normal of a plane is in lattice units.
    "a plane": "units lj\nlattice sc 1.0 spacing 1 2 1\nregion b block 0 10 0 5 0 10\nregion p plane 5 2.5 5 1 -1 0\n"
               "create_box 1 b\nmass 1 1\ncreate_atoms 1 single 6 2.875 5\ncreate_atoms 1 single 6 2.9 5\n"
               "create_atoms 1 single 6 4 5\ncreate_atoms 1 single 6 2.6 5\npair_style none\nfix 1 all nve\n"
               "group g region p\nvariable g equal count(g)\nthermo_style custom step v_g\nrun 0\n",
}


@needs_lmp
@pytest.mark.parametrize("name", DECKS)
def test_rows_of_lammps(name, tmp_path):
    theirs = run_lmp(DECKS[name], tmp_path / "theirs")
    ours = harness.run(DECKS[name], tmp_path / "ours").tables
    assert len(ours) == len(theirs) > 0
    for table, their_table in zip(ours, theirs):
        assert table.titles == their_table.titles and len(table.rows) == len(their_table.rows)
        for row, their_row in zip(table.rows, their_table.rows):
            assert list(map(float, row)) == pytest.approx(list(map(float, their_row)), rel=1e-6, abs=1e-9)


def test_the_number_of_chunks_is_that_of_the_group(tmp_path):
    deck = BEGIN + ('variable n atom "1+(id==7)*4"\ngroup g id 10:20\ncompute c g chunk/atom v_n\nfix 1 all nve\n'
                    "fix 2 all ave/chunk 1 1 1 c vx file k\nrun 0\n")
    harness.run(deck, tmp_path)
    assert (tmp_path / "k").read_text().splitlines()[3:] == ["0 1 11", (tmp_path / "k").read_text().splitlines()[-1]]


def test_a_note_on_samples_that_come_first(tmp_path):
    first = "fix 2 all ave/time 1 1 1 c_thermo_temp\n"
    late = "fix 3 all temp/rescale 1 0.1 0.1 0 1\n"
    note = "Note: order of fixes: fix 2 sees what fix 3 does after a step"
    begin = BOX + "velocity all set 1 0 0\n"
    assert note in works(run_deck(tmp_path, begin + first + late + "run 1\nrun 1\n")).out
    for lines in (late + first, first, late, first + "fix 3 all langevin 1 1 1 7\n"):
        assert "order of fixes" not in works(run_deck(tmp_path, begin + lines + "run 1\n")).out


NPT = """\
lattice fcc 0.6
region box block -3 2 0 2 0 2
create_box 1 box
create_atoms 1 box
mass 1 1
pair_style lj/cut 1.5
pair_coeff * * 1 1
velocity all create 1.5 10
fix go all npt temp 1 1 0.5 iso 1 1 2
"""


def test_npt_goes_on_in_another_deck(tmp_path):
    """The fixed point is the middle of the first box, not of that of the restart."""
    deck = NPT + ("run 100\nwrite_restart w\nrun 100\nprint 'now: $(lx:%.17g) $(temp:%.17g)'\nclear\nread_restart w\n"
                  "fix go all npt temp 1 1 0.5 iso 1 1 2\nrun 100\nprint 'now: $(lx:%.17g) $(temp:%.17g)'\n")
    shown = [line for line in works(run_deck(tmp_path, deck)).out.splitlines() if line.startswith("now: ")]
    assert len(shown) == 2 and shown[0] == shown[1]


def test_deposit_begins_anew_in_another_deck(tmp_path):
    fix = "region in block 1 2 1 2 1 2\nfix d all deposit 2 1 5 77 region in\n"
    deck = BOX + fix + "run 1\nwrite_restart w\nclear\nread_restart w\nfix 1 all nve\n" + fix + "run 1\n"
    assert works(run_deck(tmp_path, deck)).out.count("Note: fix deposit: it begins anew after read_restart") == 1


def test_replicate_copies_masses(tmp_path):
    deck = ("boundary f f f\natom_style sphere\nregion box block -20 20 -20 20 -20 20\ncreate_box 1 box\n"
            "create_atoms 1 plummer 10 seed 3 scale 1\npair_style gravity 0.5\nset atom 3 mass 7\nreplicate 1 2 1\n"
            "fix go all nve\nvariable m equal mass(all)\nprint 'mass: ${m}'\n"
            "write_dump all custom d id mass\nrun 2\n")
    harness.run(deck, tmp_path)
    mass = harness.read_dump(tmp_path / "d")[0].columns["mass"].tolist()
    assert mass[:10] == mass[10:] and mass[2] == 7 and mass[0] > 0


@pytest.mark.parametrize("style", ["heat 1 0.5", "ehex 1 0.5"])
def test_a_block_in_a_tilted_box_is_refused(style, tmp_path):
    deck = BEGIN.replace("block 0 3 0 3 0 3", "prism 0 3 0 3 0 3 1 0 0") + "region half block 0 1.5 INF INF INF INF\n"
    refused(run_deck(tmp_path, deck + f"fix go all nve\nfix h all {style} region half\nrun 1\n"), USAGE,
            f"fix {style[:4]} region: in a triclinic box")


@pytest.mark.mpi
@pytest.mark.parametrize("asked", ["compute m all msd\nthermo_style custom step c_m[4]",
                                   "dump d all custom 400 d id xu"])
def test_the_particle_that_went_too_far_is_the_same_everywhere(asked, tmp_path):
    """Particles are pushed after a long rest: many go too far at once."""
    deck = ("units lj\nlattice sc 0.1\nregion b block 0 6 0 6 0 6\ncreate_box 1 b\ncreate_atoms 1 box\nmass 1 1\n"
            "velocity all set 0 0 0\npair_style lj/cut 2.5\npair_coeff 1 1 0 1\nfix 1 all nve\n"
            "group odd id 5:200\nvariable k equal 60*(step>130)*(step<142)\nfix a odd addforce v_k 0 0\n"
            "timestep 0.01\n" + asked + "\nrun 400\n")
    runs = (dict(engine="naive"), dict(threads=1), dict(threads=3), dict(ranks=2))
    errors = {harness.run(deck, tmp_path / str(k), expect=PHYSICS, **run).err.split("in.deck:")[1].split("\n")[0]
              for k, run in enumerate(runs)}
    assert len(errors) == 1 and "particle 5 moved by a quarter of the periodic side x" in errors.pop()


@pytest.mark.parametrize("use", ["fix 2 all addforce 1 0 0 region r", "fix 2 all heat 1 0.5 region r",
                                 "fix 2 all wall/region r harmonic 0.1 1 0.3", "compute 2 all temp/region r"])
def test_a_region_that_is_gone(use, tmp_path):
    deck = BEGIN + f"region r block -9 9 -9 9 -9 9\nfix 1 all nve\n{use}\nrun 1\nregion r delete\nrun 1\n"
    refused(run_deck(tmp_path, deck), USAGE, "no region 'r'")


def test_a_column_of_a_compute_that_is_gone(tmp_path):
    deck = BEGIN + "compute k all ke/atom\ndump d all custom 1 d.dump id c_k\nrun 1\nuncompute k\nrun 1\n"
    refused(run_deck(tmp_path, deck), USAGE, "c_k: there is no such compute")
    (tmp_path / "in.gone").write_text(deck)
    checked = call(tmp_path, "check", "-in", "in.gone")
    assert checked.status == USAGE and "in.gone:15: c_k: there is no such compute" in checked.out
    deck = BEGIN + ("group g id 1\ncompute k g ke/atom\ndump d all custom 1 d.dump id c_k\nrun 1\nuncompute k\n"
                    "compute k all ke/atom\nrun 1\n")
    harness.run(deck, tmp_path)
    frames = harness.read_dump(tmp_path / "d.dump")
    assert [(frame.columns["c_k"] > 0).sum() for frame in (frames[1], frames[-1])] == [1, len(frames[0].columns["id"])]


CRYSTAL = ("units lj\nlattice fcc 0.8442\nregion b block 0 3 0 3 0 3\ncreate_box 1 b\ncreate_atoms 1 box\nmass 1 1\n"
           "velocity all create 1.44 87287\npair_style lj/cut 2.5\npair_coeff * * 1 1\nfix 1 all nve\n"
           "thermo_modify format float %.17g\n")


def test_velocity_has_a_temperature_of_its_own(tmp_path):
    """extra/dof of thermo_temp changes what thermo shows, not what `velocity` makes, as in LAMMPS."""
    deck = CRYSTAL + ("compute_modify thermo_temp extra/dof 33\ncompute own all temp\nvelocity all scale 0.7\n"
                      "thermo_style custom step c_own\nrun 0\n")
    assert float(harness.run(deck, tmp_path).table.rows[0][1]) == pytest.approx(0.7, rel=1e-12)


def test_a_dimer_has_its_spin_taken(fast_engine, tmp_path):
    """fix momentum angular: a group on a line has no spin about that line, as with `velocity zero angular`."""
    deck = ("units lj\nregion b block 0 20 0 20 0 20\ncreate_box 1 b\ncreate_atoms 1 single 10 10 10\n"
            "create_atoms 1 single 11.1 10.3 10.2\nmass 1 1\nvelocity all create 0.5 4711\npair_style lj/cut 2.5\n"
            "pair_coeff * * 1 1\nfix 1 all nve\n"
            "variable L equal abs(angmom(all,x))+abs(angmom(all,y))+abs(angmom(all,z))\n"
            "fix m all momentum 1 linear 1 1 1 angular\nthermo_style custom step v_L temp\n"
            "thermo_modify format float %.17g\nrun 10\n")
    _step, spin, temperature = map(float, harness.run(deck, tmp_path, engine=fast_engine).table.rows[-1])
    assert spin < 1e-9 and temperature > 0


def test_the_pressure_of_a_compute_that_moves_up(tmp_path):
    """uncompute gives other computes other numbers, and a component belongs to its compute."""
    deck = CRYSTAL + ("compute t all temp\ncompute p1 all pressure thermo_temp\ncompute p2 all pressure NULL virial\n"
                      "thermo_style custom c_p1[1]\nrun 0\nuncompute t\nprint '$(c_p2[1])'\n")
    refused(run_deck(tmp_path, deck), USAGE, "c_p2[1] is only known at an output of a run")


def test_a_pressure_of_pairs_alone_where_there_are_bonds(tmp_path):
    (tmp_path / "two.data").write_text(
        "two\n\n2 atoms\n1 bonds\n1 atom types\n1 bond types\n0 6 xlo xhi\n0 6 ylo yhi\n0 6 zlo zhi\n\n"
        "Masses\n\n1 1\n\n"
        "Atoms\n\n1 1 1 2 2 2\n2 1 1 3.2 2 2\n\nBonds\n\n1 1 1 2\n")
    deck = ("units lj\natom_style bond\nbond_style harmonic\npair_style lj/cut 2\nread_data two.data\n"
            "bond_coeff 1 50 1.1\npair_coeff * * 1 1\ncompute p all pressure NULL {}\n"
            "thermo_style custom c_p\nfix 1 all nve\nrun 0\n")
    refused(run_deck(tmp_path, deck.format("pair")), USAGE, "compute p:", "use `virial`")
    works(run_deck(tmp_path, deck.format("virial")))
