"""Units real, metal and si: a mixture of two masses against LAMMPS, and the files that readers take."""

from __future__ import annotations

import re

import numpy as np
import pytest

import harness
from cli import USAGE, refused, run_deck
from test_lammps import LMP, both_tables

# Of each units: cell, epsilon, sigma, cutoff, masses, acceleration, time of the thermostat, skin, timestep.
SYSTEMS = {
    "metal": (5.3, 0.0104, 3.405, 8.0, 39.948, 83.798, 1e-3, 0.1, 2.0, 0.001),
    "real": (5.3, 0.238, 3.405, 8.0, 39.948, 83.798, 1e-3, 100.0, 2.0, 1.0),
    "si": (5.3e-10, 1.65e-21, 3.405e-10, 8e-10, 6.6e-26, 13.9e-26, 1e13, 1e-13, 2e-10, 1e-15),
}


def start(units, folder):
    """The data file mix.data, and the lines of a deck up to the model's end."""
    cell, epsilon, sigma, cutoff, light, heavy, _, _, skin, dt = SYSTEMS[units]
    harness.run(f"units {units}\nlattice fcc {cell}\nregion b block 0 4 0 4 0 4\ncreate_box 2 b\ncreate_atoms 1 box\n"
                f"set type 1 type/fraction 2 0.3 77\nmass 1 {light}\nmass 2 {heavy}\nvelocity all create 60 87287\n"
                f"pair_style lj/cut {cutoff}\npair_coeff * * 1 1\nwrite_data mix.data nocoeff\n", folder)
    return (f"units {units}\natom_style atomic\nneighbor {skin} bin\ntimestep {dt}\nread_data mix.data\n"
            f"pair_style lj/cut {cutoff}\npair_coeff 1 1 {epsilon} {sigma}\npair_coeff 2 2 {1.3 * epsilon} "
            f"{1.06 * sigma}\n")


COLUMNS = ("step temp pe ke etotal press pxx pxy enthalpy density c_sx c_j[1] c_j[4] v_m v_l c_mx lx")


@pytest.mark.skipif(LMP is None, reason="lmp is not installed")
@pytest.mark.parametrize("units", SYSTEMS)
def test_a_mixture_moves_as_in_lammps(units, tmp_path):
    """Also nvt, langevin's friction alone, a field, and what computes and profiles show."""
    _, _, _, _, _, _, field, damp, _, _ = SYSTEMS[units]
    text = start(units, tmp_path) + f"""\
compute s all stress/atom NULL
compute k all ke/atom
compute p all pe/atom
compute j all heat/flux k p s
compute sx all reduce sum c_s[1]
variable m equal mass(all)
variable l equal ke(all)
variable mm atom mass
compute mx all reduce max v_mm
fix 1 all nve
fix g all gravity {field} vector 0 0 -1
compute layer all chunk/atom bin/1d z lower 0.5 units reduced
fix ac all ave/chunk 1 1 50 layer density/mass temp file profile
thermo_style custom {COLUMNS}
thermo 25
thermo_modify format float %.15g
run 50
unfix ac
unfix g
unfix 1
fix 1 all nvt temp 60 90 {damp}
run 25
"""
    (tmp_path / "naive").mkdir()
    harness.run(text.replace("mix.data", "../mix.data"), tmp_path / "naive", engine="naive")
    ours, theirs = both_tables(text, tmp_path, "openmp")
    for a, b in zip(ours, theirs):
        assert a.titles == b.titles and len(a.rows) == len(b.rows)
        steps = [int(row[0]) for row in a.rows]
        for step in steps:
            p, q = a.at(step), b.at(step)
            for name in a.titles[1:]:
                scale = abs(q["c_j[1]"]) if name.startswith("c_j") else abs(q["Press"]) if name == "Pxy" else 0.0
                near = 1e-9 if step == 0 else 1e-6
                assert p[name] == pytest.approx(q[name], rel=near, abs=near * scale), (step, name)
    # lmp has written the profile after openmp.
    rows = [[float(word) for line in (tmp_path / folder / "profile").read_text().splitlines()[-2:]
             for word in line.split()] for folder in ("naive", ".")]
    assert rows[0] == pytest.approx(rows[1], rel=1e-5)


@pytest.mark.parametrize("units", ["real", "si"])
def test_a_thermostat_takes_degrees(units, tmp_path):
    """A gas far apart: friction and noise lead to the temperature that the deck names, as do rescaled velocities."""
    _, _, _, _, _, _, _, damp, _, _ = SYSTEMS[units]
    text = start(units, tmp_path) + (
        f"fix 1 all nve\nfix 2 all langevin 300 300 {damp / 40} 77\nthermo 10\nrun 200\nunfix 2\n"
        "fix 2 all temp/rescale 1 150 150 0 1\nrun 5\nunfix 2\n"
        f"fix 2 all temp/berendsen 150 150 {damp / 40}\nrun 5\n")
    langevin, rescaled, berendsen = harness.run(text, tmp_path).tables
    late = [float(row[1]) for row in langevin.rows[10:]]
    assert np.mean(late) == pytest.approx(300.0, rel=0.1)
    assert rescaled.at(int(rescaled.rows[-1][0]))["Temp"] == pytest.approx(150.0, rel=1e-9)
    assert berendsen.at(int(berendsen.rows[-1][0]))["Temp"] == pytest.approx(150.0, rel=0.05)


def test_swapped_momenta_are_mass_times_velocity(tmp_path):
    """In g/mol A/ps and g/mol A/fs: the same velocities, so that one number is a thousand times the other."""
    moved = []
    for units in ("metal", "real"):
        text = start(units, tmp_path) + ("mass * 40\nfix 1 all nve\nfix v all viscosity 1 x z 4\n"
                                         "thermo_style custom step f_v\nrun 1\n")
        moved.append(harness.run(text, tmp_path).table.at(1)["f_v"])
    assert moved[0] > 10.0 and moved[0] == pytest.approx(1000.0 * moved[1], rel=1e-2)


def frame(path):
    lines = path.read_text().splitlines()
    rows = [line.split() for line in lines[2:]]
    return lines[1], np.array([[float(word) for word in row[1:]] for row in rows])


def test_extxyz_is_in_angstrom_and_electronvolt(tmp_path):
    """The same system in three units: positions, velocities (A/fs), forces (eV/A) and masses agree in the file."""
    frames = {}
    for units in SYSTEMS:
        lengths = {"si": 1e-10}.get(units, 1.0)
        energy = {"metal": 1.0, "real": 0.0019872067 / 8.617343e-5, "si": 1.3806504e-23 / 8.617343e-5}[units]
        mass = {"si": 1.0364269e-4 * energy * 1e-24 / 1e-20}.get(units, 1.0)
        speed = {"metal": 1.0, "real": 1e-3, "si": 100.0}[units]
        text = (f"units {units}\nregion b block 0 {20 * lengths} 0 {20 * lengths} 0 {20 * lengths} units box\n"
                f"create_box 1 b\nneighbor {lengths} bin\n"
                f"create_atoms 1 single {5 * lengths} {6 * lengths} 7e{-10 if lengths < 1 else 0} units box\n"
                f"create_atoms 1 single {8 * lengths} {6 * lengths} {7 * lengths} units box\nmass 1 {40 * mass!r}\n"
                f"velocity all set {2 * speed} 0 0 units box\npair_style lj/cut {8 * lengths}\n"
                f"pair_coeff 1 1 {0.01 * energy!r} {3.4 * lengths}\nfix 1 all nve\n"
                f"timestep {1e-15 if units == 'si' else 0.001}\ndump 1 all extxyz 1 two.xyz vel force mass\nrun 0\n")
        (tmp_path / units).mkdir()
        harness.run(text, tmp_path / units)
        frames[units] = frame(tmp_path / units / "two.xyz")
    for units in ("real", "si"):
        assert np.allclose(frames[units][1], frames["metal"][1], rtol=2e-6, atol=1e-12), units
        boxes = [re.search(r'Lattice="([^"]*)"', frames[u][0]).group(1).split() for u in (units, "metal")]
        assert np.allclose([float(a) for a in boxes[0]], [float(a) for a in boxes[1]])
    assert frames["metal"][1][0][3] == pytest.approx(2e-3)


def test_h5md_names_its_units(tmp_path):
    h5py = pytest.importorskip("h5py")
    harness.run(start("metal", tmp_path) + "fix 1 all nve\ndump 1 all h5md 1 a.h5 position velocity force\nrun 1\n",
                tmp_path)
    with h5py.File(tmp_path / "a.h5") as file:
        part = file["particles/all"]
        units = {name: part[name].attrs["unit"] for name in
                 ("position/value", "velocity/value", "force/value", "box/edges/value", "position/time")}
    assert {name: u.decode() if isinstance(u, bytes) else u for name, u in units.items()} == {
        "position/value": "Angstrom", "velocity/value": "Angstrom ps-1", "force/value": "eV Angstrom-1",
        "box/edges/value": "Angstrom", "position/time": "ps"}


def test_a_restart_keeps_units(tmp_path):
    """The second half of a run has the same bits from a restart, and from a data file with the deck's masses."""
    text = start("real", tmp_path)
    whole = harness.run(text + "fix 1 all nve\nrun 10\nwrite_restart half\nwrite_data half.data nocoeff\nrun 10\n"
                        "dump 1 all custom 1 whole id mass x vx\nrun 0\n", tmp_path)
    harness.run("read_restart half\nfix 1 all nve\nrun 10\ndump 1 all custom 1 again id mass x vx\nrun 0\n", tmp_path)
    harness.run(text.replace("mix.data", "half.data") + "fix 1 all nve\nrun 10\n"
                "dump 1 all custom 1 data id mass x vx\nrun 0\n", tmp_path)
    masses = (tmp_path / "half.data").read_text().split("Masses\n\n")[1].splitlines()[:2]
    assert [float(line.split()[1]) for line in masses] == [39.948, 83.798]
    frames = [harness.read_dump(tmp_path / name)[-1] for name in ("whole", "again", "data")]
    for other in frames[1:]:
        assert all(np.array_equal(frames[0].columns[c], other.columns[c]) for c in ("id", "mass", "x", "vx"))
    assert "ns/day" in whole.log and "hours/ns" in whole.log


def test_defaults_and_refusals(tmp_path):
    harness.run("units real\nlattice fcc 4\nregion b block 0 2 0 2 0 2\ncreate_box 1 b\ninfo system\n", tmp_path)
    text = harness.run("units real\nregion b block 0 8 0 8 0 8\ncreate_box 1 b\ninfo system\n", tmp_path).log
    assert "units real, dimension 3, timestep 1, step 0, skin 2" in text
    refused(run_deck(tmp_path, "units metric\n"), USAGE, "accepted are lj, real, metal and si")
    refused(run_deck(tmp_path, "units metal\nboundary f f f\nregion b block 0 8 0 8 0 8\ncreate_box 1 b\nmass 1 1\n"
                   "create_atoms 1 single 1 1 1\npair_style gravity 0.1\nfix 1 all nve\nrun 1\n"),
            USAGE, "use units lj")
