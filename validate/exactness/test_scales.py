"""Accuracy where the sizes of a deck are not those of its units, or of its cutoff: fixes of any strength, pair styles
that decay long before the cutoff, anchors between two positions of the grid.  Expected values are formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest

import harness


def write_forces(every: int = 100) -> str:
    return (f"dump forces all custom {every} forces.dump id x y z vx vy vz fx fy fz\n"
            "dump_modify forces sort id format float %.17g\nthermo_modify norm no format float %.17g\n")


def last_frame(folder):
    return harness.read_dump(folder / "forces.dump")[-1].columns


@pytest.mark.smoke
@pytest.mark.parametrize("energy", [1e-21, 1e-16, 1.0, 1e12, 1e20])
def test_output_of_a_wall_of_any_strength(energy, tmp_path):
    """It was of quanta that followed from the units alone: 0 for the weakest, refused for the strongest."""
    deck = (f"units lj\nboundary f f f\nregion b block 0 10 0 10 0 10\ncreate_box 1 b\ncreate_atoms 1 single 5 5 5\n"
            f"create_atoms 1 single 9.125 5 5\nmass 1 1\npair_style lj/cut 2.5\npair_coeff 1 1 {energy!r} 1\n"
            f"timestep {0.002 / math.sqrt(energy)!r}\nfix 1 all nve\nfix w all wall/lj93 xhi 10 {energy!r} 1 2.5\n"
            f"fix_modify w energy yes\nthermo_style custom step pe f_w f_w[1]\n{write_forces()}run 0\n")
    row = harness.run(deck, tmp_path).table.at(0)
    r, rc = 10.0 - 9.125, 2.5
    value = 2 / 15 * r**-9 - r**-3 - (2 / 15 * rc**-9 - rc**-3)
    force = 1.2 * r**-10 - 3 * r**-4
    assert row["PotEng"] == row["f_w"] == pytest.approx(energy * value, rel=1e-13, abs=0)
    assert row["f_w[1]"] == pytest.approx(energy * force, rel=1e-13, abs=0)
    assert last_frame(tmp_path)["fx"][1] == pytest.approx(-energy * force, rel=1e-13, abs=0)


@pytest.mark.parametrize("stiffness", [1e-10, 1e-4, 0.1, 1e3])
def test_output_of_a_spring_in_units_si(stiffness, tmp_path):
    """A grain at a wall: sums of its forces wrapped around, without a message."""
    deck = (f"units si\nboundary f f f\nregion b block 0 0.01 0 0.01 0 0.01\ncreate_box 1 b\n"
            f"create_atoms 1 single 0.0095 0.005 0.005\nmass 1 1e-6\ntimestep 1e-6\nfix 1 all nve\n"
            f"fix w all wall/harmonic xhi 0.01 {stiffness!r} 1 0.001\nfix_modify w energy yes\n"
            f"thermo_style custom step pe f_w[1]\n{write_forces()}run 0\n")
    row = harness.run(deck, tmp_path).table.at(0)
    assert row["PotEng"] == pytest.approx(stiffness * 0.0005**2, rel=1e-11, abs=0)
    assert row["f_w[1]"] == pytest.approx(2 * stiffness * 0.0005, rel=1e-11, abs=0)


@pytest.mark.parametrize("strength", [1e-20, 1e-16, 1e-3])
@pytest.mark.parametrize("style", ["addforce", "aveforce", "setforce"])
def test_weak_forces_of_fixes_in_dumps(style, strength, tmp_path):
    """On one particle of a pair as weak: the mean of its force was rounded as a wall's was."""
    deck = (f"units lj\nregion b block 0 10 0 10 0 10\ncreate_box 1 b\ncreate_atoms 1 single 5 5 5\n"
            f"create_atoms 1 single 6.5 5 5\nmass 1 1\npair_style lj/cut 2.5\npair_coeff 1 1 {strength!r} 1\n"
            f"timestep {0.002 / math.sqrt(strength)!r}\ngroup one id 1\nfix 1 all nve\n"
            f"fix 2 one {style} {strength!r} 0 0\n{write_forces()}run 0\n")
    harness.run(deck, tmp_path)
    pair = 48 * 1.5**-13 - 24 * 1.5**-7
    wanted = 1.0 if style == "setforce" else 1.0 - pair
    assert last_frame(tmp_path)["fx"] == pytest.approx([strength * wanted, strength * pair], rel=1e-11, abs=0)


PAIRS = {
    "yukawa 3.0 10|5.0": lambda r: 5 * math.exp(-3 * r) / r,
    "yukawa 2.0 5|5.0": lambda r: 5 * math.exp(-2 * r) / r,
    "buck 10|1000 0.1 0": lambda r: 1000 * math.exp(-r / 0.1),
    "born 10|2.0 0.1 1.0 0 0": lambda r: 2 * math.exp((1 - r) / 0.1),
    "gauss 10|-5 1.5": lambda r: 5 * math.exp(-1.5 * r * r),
    "gauss 25|-5 1.5": lambda r: 5 * math.exp(-1.5 * r * r),
    "gauss/cut 5|0.3 1.1 0.05": lambda r: 0.3 / (0.05 * math.sqrt(2 * math.pi)) * math.exp(-((r - 1.1) / 0.05)**2 / 2),
}


@pytest.mark.parametrize("words", PAIRS)
def test_a_style_that_decays_before_its_cutoff(words, tmp_path):
    """At 0.4 of the cutoff its force is next to nothing. A pair closer than that was an overlap."""
    style, coefficients = words.split("|")
    deck = ("units lj\nregion b block 0 60 0 60 0 60\ncreate_box 1 b\ncreate_atoms 1 single 5 5 5\n"
            f"create_atoms 1 single 6.0 5.2 5.1\nmass 1 1\npair_style {style}\npair_coeff * * {coefficients}\n"
            f"timestep 0.0005\nfix 1 all nve\nthermo 100\nthermo_style custom step pe etotal\n"
            f"{write_forces()}run 1000\n")
    table = harness.run(deck, tmp_path).table
    energy, r, h = PAIRS[words], math.sqrt(1.05), 1e-6
    assert table.at(0)["PotEng"] == pytest.approx(energy(r), rel=1e-9)
    first = harness.read_dump(tmp_path / "forces.dump")[0].columns
    pushed = np.array([first[f][1] for f in ("fx", "fy", "fz")])
    assert pushed == pytest.approx((energy(r - h) - energy(r + h)) / (2 * h) / r * np.array([1.0, 0.2, 0.1]), rel=1e-6)
    assert table.column("TotEng") == pytest.approx(energy(r), rel=2e-3)
    assert table.at(1000)["PotEng"] < 0.9 * energy(r)


def test_an_anchor_is_where_its_particle_is(tmp_path):
    """The position of the deck is rounded to the grid. The anchor was not, which a stiff spring showed as a force."""
    deck = ("units lj\nregion b block 0 10 0 10 0 10\ncreate_box 1 b\n"
            "create_atoms 1 single 5.123456789012345 5.1 5.7\n"
            "create_atoms 1 single 2.123456789012345 5.1 5.7\n"
            "mass 1 1\npair_style lj/cut 2.5\npair_coeff 1 1 1 1\ntimestep 1e-5\nfix 1 all nve\n"
            f"fix 2 all spring/self 1e7\nthermo 50\nthermo_style custom step temp f_2\n{write_forces(50)}run 100\n")
    table = harness.run(deck, tmp_path).table
    for frame in harness.read_dump(tmp_path / "forces.dump"):
        assert not any(frame.columns[f].any() for f in ("fx", "fy", "fz"))
    assert table.column("f_2").tolist() == table.column("Temp").tolist() == [0.0, 0.0, 0.0]


@pytest.mark.smoke
@pytest.mark.parametrize("heavy", [1e6, 1e9])
@pytest.mark.parametrize("present", [True, False])
def test_velocities_beside_a_heavy_type_without_pairs(heavy, present, tmp_path):
    """The quantum of momenta followed from the heaviest mass, and nothing asked for a finer one."""
    third = "create_atoms 2 single 7 7 7\n" if present else ""
    deck = (f"units lj\nregion b block 0 10 0 10 0 10\ncreate_box 2 b\ncreate_atoms 1 single 5 5 5\n"
            f"create_atoms 1 single 2 5 5\n{third}mass 1 1\nmass 2 {heavy!r}\nvelocity all set 0 0 0\n"
            "group one type 1\nvelocity one set 0.123456789 0.0012345 0.00001\ntimestep 0.005\n"
            "fix 1 all nve\nfix 2 one spring tether 1 5 5 5 0\n"
            f"thermo 1000\n{write_forces(1000)}run 1000\n")
    harness.run(deck, tmp_path)
    first, last = (frame.columns for frame in harness.read_dump(tmp_path / "forces.dump"))
    wanted = np.array([0.123456789, 0.0012345, 0.00001])
    assert np.array([first[v][0] for v in ("vx", "vy", "vz")]) == pytest.approx(wanted, rel=0, abs=2e-11)
    # The spring acts on the centre of both, from x = 3.5, whose frequency is sqrt(K/M) in velocity Verlet.
    frequency = 2 / 0.005 * math.asin(0.5 * 0.005 * math.sqrt(0.5))
    turned = wanted[1:] * math.cos(frequency * 5.0)
    assert np.array([last[v][0] for v in ("vy", "vz")]) == pytest.approx(turned, rel=0, abs=2e-9)


@pytest.mark.parametrize("dt", [1e-6, 1e-7, 1e-9])
def test_free_fall_of_a_grain(dt, tmp_path):
    """Each step rounds the same impulse in the same direction, at 10^7 m/s of range."""
    deck = (f"units si\nregion b block 0 1 0 1 0 1\ncreate_box 1 b\ncreate_atoms 1 single 0.5 0.5 0.5\nmass 1 1e-6\n"
            f"timestep {dt!r}\nfix 1 all nve\nfix 2 all gravity 9.81 vector 0 0 -1\n{write_forces(1000)}run 1000\n")
    harness.run(deck, tmp_path)
    assert last_frame(tmp_path)["vz"] == pytest.approx([-9810 * dt], rel=1.1e-10, abs=0)


@pytest.mark.parametrize("force", [1.0, 1e-6, 1e-12])
def test_a_constant_force_without_pairs(force, tmp_path):
    deck = (f"units lj\nboundary f f f\nregion b block 0 10 0 10 0 10\ncreate_box 1 b\ncreate_atoms 1 single 5 5 2\n"
            f"mass 1 1\ntimestep 0.001\nfix 1 all nve\nfix 2 all addforce 0 0 {force!r}\n"
            "fix 3 all wall/lj93 zhi 10 2 1 1\n"
            f"{write_forces(1000)}run 1000\n")
    harness.run(deck, tmp_path)
    # A wall 10^12 times as strong must stay in range, which costs the weak force six digits.
    assert last_frame(tmp_path)["vz"] == pytest.approx([force], rel=max(1.1e-10, 2e-13 / force), abs=0)


@pytest.mark.parametrize("present", [True, False])
def test_small_particles_beside_a_long_cutoff(present, tmp_path):
    """Positions were rounded to 10^-12 of the longest cutoff, here 10^-9 of a small particle's diameter."""
    large = "create_atoms 2 single 5000 5000 5000\n" if present else ""
    deck = ("units lj\nregion b block 0 7000 0 7000 0 7000\ncreate_box 2 b\n"
            "create_atoms 1 single 1000.3 1000.2 1000.1\n"
            f"create_atoms 1 single 1001.2 1000.4 1000.3\n{large}mass * 1\npair_style lj/cut 2500\n"
            "pair_coeff 1 1 1 1 2.5\npair_coeff 1 2 1 500 1250\npair_coeff 2 2 1 1000 2500\ntimestep 0.005\n"
            "fix 1 all nve\nthermo_style custom step pe\n"
            f"{write_forces()}run 0\n")
    table = harness.run(deck, tmp_path).table
    r2 = (1001.2 - 1000.3)**2 + (1000.4 - 1000.2)**2 + (1000.3 - 1000.1)**2
    assert table.at(0)["PotEng"] == pytest.approx(4 * (r2**-6 - r2**-3), rel=1e-10, abs=0)


def test_a_barostat_of_small_energies(tmp_path):
    """Everything may be scaled: 10^-6 of a unit of temperature was too cold for the mass of the barostat."""
    def volume(scale, folder):
        root = math.sqrt(scale)
        deck = (f"units lj\nlattice fcc 0.7\nregion b block 0 4 0 4 0 4\ncreate_box 1 b\ncreate_atoms 1 box\nmass 1 1\n"
                f"velocity all create {scale!r} 87287\npair_style lj/cut 2.5\npair_coeff 1 1 {scale!r} 1\n"
                f"timestep {0.005 / root!r}\nfix 1 all npt temp {scale!r} {scale!r} {0.5 / root!r} "
                f"iso {scale!r} {scale!r} {5 / root!r}\nthermo 100\nthermo_style custom step vol\n"
                "thermo_modify format float %.17g\nrun 100\n")
        return harness.run(deck, tmp_path / folder).table.column("Volume")
    # 4^-12 changes no digit of a double: the same steps, in other units.
    assert volume(4.0**-12, "small") == pytest.approx(volume(1.0, "usual"), rel=1e-8)


def test_weak_forces_beside_strong_ones_in_dumps(tmp_path):
    """They were rounded to quanta of the strongest pair of types, also if no such pair is there."""
    deck = ("units lj\nregion b block 0 20 0 20 0 20\ncreate_box 2 b\ncreate_atoms 1 single 5 5 5\n"
            "create_atoms 1 single 6.25 5.25 5.125\nmass * 1\npair_style lj/cut 2.5\npair_coeff 1 1 1 1\n"
            f"pair_coeff 1 2 1e3 1\npair_coeff 2 2 1e8 1\ntimestep 1e-6\nfix 1 all nve\n{write_forces()}run 0\n")
    harness.run(deck, tmp_path)
    r2 = 1.25**2 + 0.25**2 + 0.125**2
    pushed = (48 * r2**-7 - 24 * r2**-4) * np.array([-1.25, -0.25, -0.125])
    found = last_frame(tmp_path)
    assert np.array([found[f][0] for f in ("fx", "fy", "fz")]) == pytest.approx(pushed, rel=1e-12, abs=0)
    assert [found[f][0] for f in ("fx", "fy", "fz")] == [-found[f][1] for f in ("fx", "fy", "fz")]


def test_the_log_says_what_far_apart_forces_cost(tmp_path):
    begin = ("units lj\nregion b block 0 20 0 20 0 20\ncreate_box 2 b\ncreate_atoms 1 single 5 5 5\n"
             "create_atoms 1 single 6.3 5.2 5.1\ncreate_atoms 2 single 15 15 15\nmass * 1\npair_style lj/cut 2.5\n"
             "pair_coeff 1 1 1 1\npair_coeff 1 2 1 1\n")
    near = harness.run(begin + "pair_coeff 2 2 10 1\nfix 1 all nve\nrun 1\n", tmp_path).log
    far = harness.run(begin + "pair_coeff 2 2 1e5 1\ntimestep 1e-4\nfix 1 all nve\nrun 1\n", tmp_path).log
    assert "so far apart" not in near and "Note: the forces of pairs of types and bonds are so far apart" in far


# Decks of the tests above, with 20 steps and a dump, for engines that may go other ways: momenta of two words without
# pairs, positions that are not packed, a long range of forces, anchors, slabs of a box that follows.
BEGIN = ("units lj\nboundary {boundary}\nlattice fcc {density}\nregion b block 0 4 0 4 0 4\ncreate_box 2 b\n"
         "create_atoms 1 box\nset type 1 type/fraction 2 0.3 1711\nmass 1 1\nmass 2 {heavy}\n"
         "velocity all create 1.0 87287\ntimestep 0.002\n")
SAME = {
    "two words, fixes alone": BEGIN.format(boundary="f p p", density=0.1, heavy=1e8) +
    "displace_atoms all move 0.5 0 0 units box\nfix g all gravity 0.1 vector 0 0 -1\n"
    "fix w all wall/lj93 xhi EDGE 1 0.1 0.3\nfix s all spring tether 1 5 5 5 0\n",
    "constant forces alone": BEGIN.format(boundary="p p p", density=0.1, heavy=2) + "fix a all addforce 1e-7 0 1e-9\n",
    "decays before its cutoff": BEGIN.format(boundary="p p p", density=0.02, heavy=2) +
    "pair_style yukawa 3.0 8\npair_coeff * * 100\n",
    "small beside large": BEGIN.format(boundary="p p p", density=0.05, heavy=1) +
    "pair_style lj/cut 8\npair_coeff 1 1 1 0.1 0.25\npair_coeff 1 2 1 1.6 4\npair_coeff 2 2 1 3 8\n",
    "anchors": BEGIN.format(boundary="p p p", density=0.8, heavy=2) +
    "pair_style lj/cut 2.5\npair_coeff * * 1 1\nfix s all spring/self 1e4\n",
    "slabs that follow": BEGIN.format(boundary="s s s", density=0.6, heavy=2) +
    "pair_style lj/cut 2.5\npair_coeff * * 1 1\nfix c all thermal/conductivity 5 y 4\n"
    "fix m all momentum 7 linear 1 1 1 angular\n",
}


@pytest.mark.parametrize("engine", ["openmp", pytest.param("ranks", marks=pytest.mark.mpi),
                                    pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("name", SAME)
def test_every_engine_has_the_bits_of_naive(name, engine, tmp_path):
    text = (SAME[name] + "fix 1 all nve\nthermo 10\nthermo_style custom step temp pe press\n"
            f"{write_forces(10)}run 20\n")
    ranks = 2 if engine == "ranks" else None
    wanted = harness.run(text, tmp_path / "naive", engine="naive")
    found = harness.run(text, tmp_path / engine, engine="openmp" if ranks else engine, ranks=ranks)
    assert found.table.rows == wanted.table.rows
    assert (tmp_path / engine / "forces.dump").read_bytes() == (tmp_path / "naive" / "forces.dump").read_bytes()
