"""Ranks: the same bits as one rank, the commands about them, what the log says of them, and every way to fail.

`make check` compares many more systems, grids and numbers of ranks with naive, at greater length.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import List, Mapping, Optional, Sequence, Tuple

import numpy as np
import pytest

import check
import check_engines
import harness
from cli import PHYSICS, RUNTIME, USAGE
from test_exact import same
from test_reversal import assert_reversed, there_and_back

pytestmark = pytest.mark.mpi

QUIET = ("-screen", "none", "-log", "none", "--threads", "1")


@dataclass
class Ended:
    """How a job of several ranks ended."""

    status: int
    out: str
    err: str
    seconds: float

    @property
    def errors(self) -> List[str]:
        """What the program says; mpirun adds words of its own."""
        return re.findall(r"^myriad: error: (.*)$", self.err, re.M)


Group = Tuple[int, Sequence[object]]


def job(folder: Path, *groups: Group, variables: Optional[Mapping[str, str]] = None, limit: float = 60.0,
        stdin: str = "") -> Ended:
    """Runs groups of ranks together: the number of each, and the words after the program's name, or a whole command
    that begins with a path."""
    command = list(harness.mpirun_words())
    for count, words in groups:
        words = [str(word) for word in words]
        own = [] if words[:1] and words[0].startswith("/") else [str(harness.program())]
        command += ([":"] if "-n" in command else []) + ["-n", str(count), *own, *words]
    began = time.monotonic()
    done = subprocess.run(command, cwd=folder, input=stdin, env={**harness.rank_environment(), **(variables or {})},
                          capture_output=True, text=True, timeout=limit, check=False)
    return Ended(done.returncode, done.stdout, done.stderr, time.monotonic() - began)


def refused(done: Ended, status: int, *words: str) -> str:
    """One message on behalf of all ranks, and one status."""
    assert done.status == status, f"status {done.status}, not {status}:\n{done.err}"
    assert len(done.errors) == 1, done.err
    for word in words:
        assert word in done.errors[0], f"`{word}` is not in: {done.errors[0]}"
    return done.errors[0]


def one_rank(folder: Path, *words: object) -> Tuple[int, str]:
    """The status and the message of a program that is started by itself."""
    done = subprocess.run([str(harness.program()), *map(str, words)], cwd=folder, env=harness.environment(),
                          capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr.replace("myriad: error: ", "").rstrip("\n")


# ---------------------------------------------------------------- the same bits

EXACT = [(turn, case) for turn, case in enumerate(check_engines.CASES + check_engines.RANK_CASES)
         if case.name in ("leapfrog drift float 2D", "langevin 3D", "scaled velocities 3D", "slab 3D, two walls",
                          "four types 3D", "minimized 2D", "fast 3D", "corner 3D, walls")]


@pytest.mark.parametrize("turn, case", EXACT, ids=[case.name for _, case in EXACT])
def test_ranks_equal_naive(turn, case, tmp_path):
    chosen = check_engines.rank_variants(case, turn)[-3:]
    verdict = check_engines.check_case(case, chosen, tmp_path, steps=100, every=20)
    assert not verdict.failures, "\n".join(verdict.failures)
    assert verdict.steps == 100 and verdict.variants == 3 and verdict.particles > 100


def test_make_check_tries_every_shape():
    """Each number of ranks in rows, planes and blocks, with 1 and 2 threads, with cuts that move and that stay."""
    cases = check_engines.CASES + check_engines.RANK_CASES
    tried = [variant for turn, case in enumerate(cases) for variant in check_engines.rank_variants(case, turn)]
    shapes = {(variant.ranks, sum(count > 1 for count in variant.grid)) for variant in tried if variant.grid}
    assert shapes == {(1, 0), (2, 1), (3, 1), *((p, d) for p in (4, 6, 8) for d in (1, 2)), (8, 3)}
    for ranks in check_engines.RANKS:
        mine = [variant for variant in tried if variant.ranks == ranks]
        assert {variant.threads for variant in mine} == {1, 2}
        assert {bool(variant.balance) for variant in mine} == {variant.shifted for variant in mine} == {True, False}
        assert any(variant.grid is None for variant in mine) and len({variant.skin for variant in mine}) > 2
    # Tilted boxes are not cut along x, and small boxes only along sides of two cutoffs. Boxes that change are small, so
    # that they change much.
    few = {"box": 1, "tilted": 2, "sheared": 3, "small": 1, "barostat": 3, "isotropic": 3, "relaxing": 3}
    for case in cases:
        assert len(check_engines.rank_variants(case, 0)) >= few.get(case.name.split()[0], 4), case.name


def test_particles_cross_several_domains_in_one_step(tmp_path):
    """What the deck in.fast is for: 8 domains of 5 in a row, and steps of up to 9.9."""
    knobs = {"steps": 3, "every": 1}
    harness.run(check_engines.RankVariant(8, (8, 1, 1), 1, 0.0, 0, False).deck(harness.deck("in.fast").read_text()),
                tmp_path / "ranks", ranks=8, threads=1, variables=knobs)
    harness.run(harness.deck("in.fast"), tmp_path / "naive", engine="naive", variables=knobs)
    same(tmp_path / "naive" / "check.dump", tmp_path / "ranks" / "check.dump")
    before, after = (frame.columns["x"] for frame in harness.read_dump(tmp_path / "ranks" / "check.dump")[1:3])
    domain = lambda x: np.floor((x + 20.0) / 5.0)
    crossed = np.abs(domain(after) - domain(before))
    assert (np.minimum(crossed, 8 - crossed) >= 2).sum() > 10


@pytest.mark.parametrize("name, ranks", [("nve periodic 3D", 8), ("nve walls 3D, two masses", 6),
                                         ("leapfrog, then its mirror, walls", 4),
                                         ("mirror, then leapfrog, walls, two masses", 3)])
def test_there_and_back(name, ranks, tmp_path):
    assert_reversed(there_and_back(name, 3000, tmp_path, ranks=ranks, threads=1))


@pytest.mark.parametrize("deck, ranks", [("in.mixture", 6), ("in.types", 8)])
def test_momentum_never_changes(deck, ranks, tmp_path):
    got = harness.run(harness.deck(deck), tmp_path, ranks=ranks, threads=1,
                      variables={"steps": 300, "every": 10, **({"mass2": 0.4} if deck == "in.mixture" else {})})
    titles = got.table.titles
    for name in ("Momx", "Momy", "Momz"):
        assert len({row[titles.index(name)] for row in got.table.rows}) == 1, name
    assert len({row[titles.index("KinEng")] for row in got.table.rows}) > 25


def test_ids_beyond_32_bits(tmp_path):
    """Few particles with ids around 2^32 and far beyond: sorted, kept and random numbers drawn by all 64 bits."""
    rng = np.random.default_rng(7)
    sites = np.stack(np.meshgrid(*[np.arange(5.0)] * 3), axis=-1).reshape(-1, 3) * 1.5 + 0.5
    ids = [2**32 - 3 + k for k in range(60)] + [2**62 - 7 * k for k in range(60)] + [1, 2, 3, 2**53 + 1, 2**63 - 1]
    rng.shuffle(sites)
    rows = "\n".join(f"{i} 1 {x:.17g} {y:.17g} {z:.17g}" for i, (x, y, z) in zip(ids, sites))
    (tmp_path / "far.data").write_text(
        f"made by a test\n\n{len(ids)} atoms\n1 atom types\n\n" +
        "".join(f"0 7.5 {axis}lo {axis}hi\n" for axis in "xyz") + f"\nMasses\n\n1 1\n\nAtoms\n\n{rows}\n")
    deck = (f"read_data {tmp_path / 'far.data'}\npair_style lj/cut 2.5\npair_coeff * * 1 1\nneighbor 0.2 bin\n"
            "velocity all create 1 5\nfix 1 all nve\nfix 2 all langevin 1 1 0.5 9\nthermo 10\n"
            "thermo_style custom step temp pe ke press momx\nthermo_modify format float %.17g\n"
            "dump check all custom 10 check.dump id x y z vx vy vz fx fy fz\nrun 30\nwrite_data end.data\n")
    naive = harness.run(deck, tmp_path / "naive", engine="naive")
    for ranks in (1, 4, 8):
        got = harness.run(deck, tmp_path / str(ranks), ranks=ranks, threads=1)
        same(tmp_path / "naive" / "check.dump", tmp_path / str(ranks) / "check.dump")
        assert got.table == naive.table
        assert (tmp_path / "naive" / "end.data").read_bytes() == (tmp_path / str(ranks) / "end.data").read_bytes()
    last = (tmp_path / "8" / "check.dump").read_text().splitlines()[-len(ids):]
    assert sorted(int(line.split()[0]) for line in last) == sorted(ids)


def test_no_more_threads_or_ranks_than_asked_for(tmp_path):
    got = harness.run(harness.deck("in.repulsive"), tmp_path, ranks=3, threads=2, variables={"steps": 10})
    assert "\nLoop time of " in got.log and re.search(r" on 6 procs for 10 steps with 400 atoms$", got.log, re.M)
    assert re.search(r"with 3 MPI tasks x 2 OpenMP threads$", got.log, re.M)


# ---------------------------------------------------------------- commands, and what the log says


def write(folder: Path, text: str, before: str = "", after: str = "") -> str:
    """The name of a deck with more commands before its first and after its last."""
    (folder / "in.deck").write_text(before + text + after)
    return "in.deck"


def sample(name: str) -> str:
    return harness.deck(name).read_text()


@pytest.mark.parametrize("words, grid", [("* * *", None), ("1 4 1", "1 by 4 by 1"), ("4 1 1", "4 by 1 by 1"),
                                         ("2 * 1", "2 by 2 by 1"), ("* 4 *", "1 by 4 by 1")])
def test_processors(words, grid, tmp_path):
    got = harness.run(f"processors {words}\n" + sample("in.repulsive"), tmp_path, ranks=4, threads=1,
                      variables={"steps": 10})
    found = re.search(r"^  (\d+ by \d+ by \d+) MPI processor grid$", got.log, re.M).group(1)
    assert np.prod([int(count) for count in found.split(" by ")]) == 4
    assert grid in (None, found)


@pytest.mark.parametrize("n, threads, grid", [(60000, 1, "1 by 4 by 1"), (60000, 2, "1 by 4 by 1"),
                                              (40000, 1, "2 by 2 by 1")])
def test_slabs_of_many_rows(n, threads, grid, tmp_path):
    """4 slabs have 68 and 56 rows of cells; and as many chunks as are worth taking before all messages have come."""
    text = (harness.INPUTS / "in.repulsive-bench").read_text().replace(
        "run ", "dump d all custom 30 check.dump id x y vx vy fx fy\nthermo 10\n"
                "thermo_style custom step temp pe ke press momx\nthermo_modify format float %.17g\nrun ")
    knobs = {"n": n, "steps": 60}
    one = harness.run(text, tmp_path / "one", ranks=1, threads=2, variables=knobs)
    got = harness.run(text, tmp_path / "ranks", ranks=4, threads=threads, variables=knobs)
    assert f"\n  {grid} MPI processor grid\n" in got.log
    same(tmp_path / "one" / "check.dump", tmp_path / "ranks" / "check.dump")
    assert got.table == one.table and len(got.table.rows) == 7


@pytest.mark.parametrize("words, says", [("3 * *", ["does not fit the 4 ranks", "processors * * *"]),
                                         ("2 1 1", ["does not fit the 4 ranks"]), ("0 2 2", ["each of processors"]),
                                         ("2 2", ["processors takes at least 3"])])
def test_processors_that_do_not_fit(words, says, tmp_path):
    deck = write(tmp_path, sample("in.repulsive"), before=f"processors {words}\n")
    refused(job(tmp_path, (4, ["-in", deck, *QUIET])), USAGE, "in.deck:1: ", *says)


def test_processors_after_the_box(tmp_path):
    deck = write(tmp_path, sample("in.repulsive"), after="processors 2 1 1\n")
    refused(job(tmp_path, (2, ["-in", deck, *QUIET, "-var", "steps", "1"])), USAGE,
            "processors must come before create_box or read_data")


def test_domains_too_thin(tmp_path):
    deck = write(tmp_path, sample("in.melt"))
    refused(job(tmp_path, (8, ["-in", deck, *QUIET, "-var", "skin", "1.0"])), USAGE,
            "8 ranks would be thinner than the halo of 3.5", "at most 1 rank fits")
    deck = write(tmp_path, sample("in.melt"), before="processors 4 1 1\n")
    refused(job(tmp_path, (4, ["-in", deck, *QUIET])), USAGE, "thinner than the halo of 2.8", "processors 1 2 2 fits")


def test_a_domain_is_never_thinner_than_the_halo(tmp_path):
    """Two particles that a whole domain lies between, nearer than the cutoff by a millionth of it: four such domains do
    not fit, and three see the pair."""
    side = 4 * 2.5 * (1.0 - 5e-7)
    pair = (f"region b block 0 {side:.17g} 0 8 0 8 units box\ncreate_box 1 b\nmass 1 1\n"
            f"create_atoms 1 single {side / 4 - 1e-9:.17g} 1 1\ncreate_atoms 1 single {side / 2:.17g} 1 1\n"
            "pair_style lj/cut 2.5\npair_coeff 1 1 1 1\nneighbor 0 bin\nfix 1 all nve\n"
            "thermo_style custom step pe press\nthermo_modify format float %.17g\nrun 1\n")
    naive = harness.run(pair, tmp_path / "naive", engine="naive")
    assert abs(naive.table.at(0)["PotEng"]) > 1e-3
    assert harness.run("processors 3 1 1\n" + pair, tmp_path / "3", ranks=3, threads=1).table == naive.table
    deck = write(tmp_path, pair, before="processors 4 1 1\n")
    refused(job(tmp_path, (4, ["-in", deck, *QUIET])), USAGE, "thinner than the halo of 2.5")


def test_balance_moves_the_cuts(tmp_path):
    """All particles start in one corner: 8 ranks, of which one has everything; then all have some."""
    log = {}
    for name, commands in (("off", ""), ("command", "balance 1.1 shift\n"), ("fix", "fix cuts all balance 5 1.1\n"),
                           ("axis", "balance 1.1 shift x 10 1.05\n"), ("patient", "balance 9 shift\n")):
        deck = harness.deck_with(harness.deck("in.corner"), f"{commands}run 20\n")
        log[name] = harness.run("processors 2 2 2\n" + deck, tmp_path / name, ranks=8, threads=1)
    mean, most, fewest, imbalance = log["off"].particles_of_ranks
    assert (mean, most, fewest, imbalance) == (27.0, 216.0, 0.0, 8.0)
    assert "Balance:" not in log["off"].log + log["fix"].log
    for name, least, best in (("command", 1.0, 2.0), ("fix", 1.0, 2.0), ("axis", 3.0, 5.0), ("patient", 8.0, 8.0)):
        assert least <= log[name].particles_of_ranks[3] <= best, name
        assert log[name].table == log["off"].table
    balance = r"^Balance: most particles of a rank over the average (\S+), now (\S+)$"
    said = {name: re.search(balance, log[name].log, re.M)
            for name in ("command", "axis", "patient")}
    assert said["command"].group(1) == "8" and 1.0 <= float(said["command"].group(2)) < 2.0
    assert said["axis"].group(1) == "8" and 4.0 <= float(said["axis"].group(2)) < 5.0
    assert said["patient"].groups() == ("8", "8")


# Half of the box is three times as much work a particle: of two ranks the upper one gets a third of the particles.
WEIGHED = """\
processors 2 1 1
units lj
lattice sc 1.0
region b block 0 24 0 6 0 6
create_box 2 b
create_atoms 1 box
region upper block 11.9 24 EDGE EDGE EDGE EDGE
set region upper type 2
mass * 1
group light type 1
group heavy type 2
velocity all create 1.0 87287
pair_style lj/cut 2.5
pair_coeff * * 1 1
fix move all nve
thermo_style custom step temp pe press
thermo_modify format float %.17g
variable w atom 1.0+2.0*(type==2)
"""


@pytest.mark.mpi
@pytest.mark.parametrize("edit", ["displace_atoms odd move 0.5 0 0 units box\nbalance 1 shift",
                                  "displace_atoms all move 1 0 0 units box\nbalance 1 rcb",
                                  "set group odd x 9\nbalance 1 x uniform y uniform",
                                  "displace_atoms odd move 0.5 0 0 units box\ndelete_atoms overlap 0.3 all all"],
                         ids=["shift", "rcb", "x", "overlap"])
def test_faces_follow_particles_that_an_edit_has_moved(edit, tmp_path):
    deck = ("dimension 2\nboundary s ms p\nregion b block 0 7 0 7 -0.5 0.5\ncreate_box 1 b\n"
            "create_atoms 1 random 20 5 NULL\nmass 1 1\npair_style soft 1\npair_coeff 1 1 1\nfix 1 all nve\n"
            "group odd id 1:20:2\nthermo_style custom step atoms pe lx ly\nthermo_modify format float %.17g\nrun 1\n"
            f"{edit}\nvariable l equal lx\nprint '<$l>'\nrun 5\n")
    logs = [harness.run(deck, tmp_path / str(ranks), ranks=ranks) for ranks in (1, 2, 4)]
    assert logs[0].table.rows == logs[1].table.rows == logs[2].table.rows
    assert len({re.search(r"^<(.*)>$", result.log, re.M).group(1) for result in logs}) == 1


def test_weights_move_the_cuts(tmp_path):
    """A third of 864 particles are 288: 8 of 24 layers; the imbalance of plain numbers is then 4/3."""
    log = {}
    for name, commands, run in (
            ("plain", "", 10), ("group", "balance 1 shift x weight group 2 light 1 heavy 3\n", 0),
            ("var", "balance 1 shift x 10 1.1 weight var w\n", 0), ("cuts", "balance 1 x 0.6666\n", 0),
            ("back", "balance 1 x 0.6666\nbalance 1 x uniform\n", 0),
            ("fix", "fix cuts all balance 2 0.9 shift x weight group 2 light 1 heavy 3\n", 10),
            ("product", "balance 1 shift x weight group 1 heavy 3 weight var w\n", 0),
            ("work", "run 5\nbalance 1 shift x weight time 1.0\nbalance 1 shift x weight neigh 0.8\n", 5)):
        log[name] = harness.run(f"{WEIGHED}{commands}thermo 5\nrun {run}\n", tmp_path / name, ranks=2, threads=1)
    most = {name: got.particles_of_ranks[1] for name, got in log.items()}
    assert abs(most["plain"] - 432) < 20 and most["back"] == 432
    assert most["group"] == most["var"] == most["cuts"] == 576
    assert abs(most["fix"] - 576) < 20
    assert most["product"] in (612, 648)  # 5 1/3 layers above the middle
    said = re.findall(r"^Balance: largest weight of a rank over the average (\S+), now (\S+)$", log["group"].log, re.M)
    assert said == [("1.5", "1")]
    assert len(re.findall("^Balance: largest weight", log["work"].log, re.M)) == 2
    assert log["fix"].table == log["plain"].table
    assert log["work"].tables[-1].rows[-1] == log["plain"].table.rows[-1]


@pytest.mark.parametrize("command, says",
                         [("balance 0 shift", "must be positive"), ("balance 1 rcb x", "unexpected 'x'"),
                          ("balance 1 bisect", "shift and rcb"),
                          ("balance 1 x 0.2 0.4", "0 cuts along this axis, not 2"),
                          ("balance 1 shift xx", "each once"), ("fix 9 all balance 0 1.1", "balance"),
                          ("fix 9 all balance 10", "fix balance takes N and THRESHOLD"),
                          ("fix 9 all balance 10 1.1\nfix 10 all balance 10 1.1", "unfix it first")])
def test_wrong_words_of_balance(command, says, tmp_path):
    deck = harness.deck_with(harness.deck("in.corner"), f"{command}\nrun 1\n")
    refused(job(tmp_path, (2, ["-in", write(tmp_path, deck), *QUIET])), USAGE, says)


def test_reset_timestep_does_not_stop_the_balance(tmp_path):
    """A clock that goes back must not make fix balance wait for the old one."""
    deck = harness.deck_with(harness.deck("in.corner"),
                             "fix cuts all balance 5 1.1 shift x\nreset_timestep 100000\nrun 0\nunfix cuts\n"
                             "reset_timestep 0\nfix again all balance 5 1.1\nrun 20\n")
    got = harness.run("processors 2 2 2\n" + deck, tmp_path, ranks=8, threads=1)
    assert got.particles_of_ranks[3] < 2.0


def test_the_log_of_ranks(tmp_path):
    got = harness.run(harness.deck("in.langevin"), tmp_path, ranks=4, threads=1,
                      variables={"steps": 400, "every": 100})
    seconds = got.loops[-1].seconds
    phases = got.rank_phases
    assert list(phases) == ["Bin", "Sort", "List", "Force", "Move", "Comm", "Output", "Other"]
    for name, (least, mean, most, imbalance, share) in phases.items():
        assert 0.0 <= least <= mean * 1.0001 and mean <= most * 1.0001, name
        assert imbalance == pytest.approx(most / mean if mean > 0.0 else 1.0, rel=1e-3), name
        assert share == pytest.approx(100.0 * mean / seconds, abs=0.02), name
    assert sum(phase.mean for phase in phases.values()) == pytest.approx(seconds, rel=0.05)
    assert all(phases[name].least > 0.0 for name in ("Sort", "List", "Force", "Move", "Comm"))
    mean, most, fewest, imbalance = got.particles_of_ranks
    assert mean == 50.0 and fewest <= mean <= most and imbalance == pytest.approx(most / mean, rel=1e-3)
    ghosts = re.search(r"^Ghosts of a rank: (\S+) ave (\S+) max (\S+) min, stored neighbours: (\S+) per particle$",
                       got.log, re.M)
    assert 0.0 < float(ghosts.group(3)) <= float(ghosts.group(1)) <= float(ghosts.group(2))
    memory = re.search(r"^Per MPI rank memory allocation \(min/avg/max\) = (\S+) \| (\S+) \| (\S+) Mbytes$",
                       got.log, re.M)
    assert float(memory.group(1)) <= float(memory.group(2)) <= float(memory.group(3))
    assert got.bytes_per_particle > 58.0


def assert_communication_adds_up(got: harness.Result) -> None:
    """The kinds of communication against their sum: means add up, extremes cannot be further apart than theirs."""
    whole, kinds = got.rank_phases["Comm"], got.rank_comm
    assert list(kinds) == ["halo", "borders", "migrate", "reduce", "balance"]
    for name, kind in kinds.items():
        assert 0.0 <= kind.least <= kind.mean * 1.0001 and kind.mean <= kind.most * 1.0001, name
        assert kind.imbalance == pytest.approx(kind.most / kind.mean if kind.mean > 0.0 else 1.0, rel=1e-3), name
    assert sum(kind.mean for kind in kinds.values()) == pytest.approx(whole.mean, rel=1e-4)
    assert sum(kind.share for kind in kinds.values()) == pytest.approx(whole.share, abs=0.04)
    assert sum(kind.least for kind in kinds.values()) <= whole.least * 1.0001
    assert sum(kind.most for kind in kinds.values()) >= whole.most * 0.9999
    assert all(kinds[name].least > 0.0 for name in ("halo", "borders", "migrate", "reduce"))


@pytest.mark.parametrize("balanced", [False, True])
def test_the_time_in_communication_by_kind(balanced, tmp_path):
    fix = "fix cuts all balance 5 1.1\n" if balanced else ""
    deck = harness.deck_with(harness.deck("in.melt"), fix + "run 100\n")
    got = harness.run(deck, tmp_path, ranks=3, threads=1, variables={"cells": 6})
    assert_communication_adds_up(got)
    assert (got.rank_comm["balance"].least > 0.0) == balanced


def test_ranks_without_particles_wait_in_reductions(tmp_path):
    deck = "processors 3 1 1\n" + harness.deck_with(harness.deck("in.corner"), "run 100\n")
    corner = "0 5.9 0 5.9 0 5.9"
    assert deck.count(corner) == 1

    def waits() -> bool:
        got = harness.run(deck.replace(corner, "0 7.9 0 23 0 23"), tmp_path, ranks=3, threads=1)
        assert got.particles_of_ranks[3] > 2.5
        force, reduce = got.rank_phases["Force"], got.rank_comm["reduce"]
        return (force.imbalance > 2.0 and reduce.least < 0.5 * reduce.most and 0.5 * force.most < reduce.most
                and got.rank_comm["halo"].least < 0.5 * reduce.most)

    # The times of a run are those of other programs too, if these want the same cores.
    assert any(waits() for _ in range(4))


# ---------------------------------------------------------------- errors: one message, one status, no hang


def test_ranks_that_disagree_about_a_variable(tmp_path):
    words = ["-in", harness.deck("in.repulsive"), *QUIET]
    done = job(tmp_path, (1, [*words, "-var", "n", "400"]), (2, [*words, "-var", "n", "401"]))
    refused(done, USAGE, "the ranks disagree about the deck", "'400'")
    assert not (tmp_path / "check.dump").exists()


def test_ranks_with_different_decks(tmp_path):
    done = job(tmp_path, (2, ["-in", harness.deck("in.repulsive"), *QUIET]),
               (1, ["-in", harness.deck("in.melt"), *QUIET]))
    refused(done, USAGE, "in.repulsive:", "the ranks disagree about the deck", "variable        n index 400")


def test_a_deck_that_is_longer_for_one_rank(tmp_path):
    deck = write(tmp_path, sample("in.repulsive"))
    (tmp_path / "in.longer").write_text(sample("in.repulsive") + "run 5\n")
    done = job(tmp_path, (1, ["-in", deck, *QUIET, "-var", "steps", "3"]),
               (1, ["-in", "in.longer", *QUIET, "-var", "steps", "3"]))
    refused(done, USAGE, "the ranks disagree about the deck")


@pytest.mark.parametrize("where", ["first", "last"])
def test_a_deck_that_one_rank_does_not_find(where, tmp_path):
    there = (2, ["-in", harness.deck("in.repulsive"), *QUIET])
    missing = (1, ["-in", "in.nothere", *QUIET])
    done = job(tmp_path, *((missing, there) if where == "first" else (there, missing)))
    refused(done, RUNTIME, "cannot read the deck in.nothere")
    assert done.seconds < harness.patience(6.0)


def test_a_wrong_deck(tmp_path):
    deck = write(tmp_path, "units lj\nvelocty all\n")
    refused(job(tmp_path, (4, ["-in", deck, *QUIET])), USAGE, "in.deck:2: ", "did you mean velocity")


def test_a_wrong_command_line(tmp_path):
    refused(job(tmp_path, (3, ["--nonsense"])), USAGE, "unknown option '--nonsense'")


def test_a_deck_from_standard_input(tmp_path):
    refused(job(tmp_path, (2, ["-in", "-", *QUIET]), stdin=sample("in.repulsive")), USAGE,
            "standard input reaches rank 0 only")


def test_naive_runs_on_one_rank(tmp_path):
    words = ["-in", harness.deck("in.empty"), *QUIET, "--engine", "naive", "-var", "steps", "10"]
    refused(job(tmp_path, (2, words)), USAGE, "the naive engine runs on one rank")
    assert job(tmp_path, (1, words)).status == 0


def test_talking_about_itself_once(tmp_path):
    for word in ("--version", "info", "help"):
        done = job(tmp_path, (3, [word]))
        assert done.status == 0 and done.err == ""
        assert done.out == subprocess.run([str(harness.program()), word], env=harness.environment(),
                                          capture_output=True, text=True, check=True).stdout


LAP = """\
region b block 0 12 0 12 0 12 units box
create_box 1 b
mass 1 1
create_atoms 1 single 1 1 1
create_atoms 1 single 11 11 11
create_atoms 1 single 11 11 11.0000001
create_atoms 1 single 5 11 1
create_atoms 1 single 5 11 1.0000002
create_atoms 1 single 1 1 1.0000003
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
"""
# Two pairs meet at speed, and others fly out of a box without walls, on several ranks in the same step.
MEET = """\
boundary f f f
region b block 0 12 0 12 0 12 units box
create_box 1 b
mass 1 1
create_atoms 1 single 0.5 1 1
create_atoms 1 single 11.5 11 11
create_atoms 1 single 11.5 1 11
create_atoms 1 single 0.5 11 1
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
"""
PHYSICS_ERRORS = {
    "overlap": (LAP + "fix 1 all nve\nrun 10\n", "particles 1 and 6 overlap"),
    "overlap, leapfrog": (LAP + "fix 1 all nve/leapfrog\nrun 10\n", "particles 1 and 6 overlap"),
    "overlap, mirror": (LAP + "fix 1 all nve/leapfrog mirror yes\nrun 10\n", "particles 1 and 6 overlap"),
    "lost": (MEET + "velocity all set 60 0 0\nfix 1 all nve\nrun 100\n", "particle 2 is lost"),
    "lost after leapfrog": (MEET + "velocity all set 60 0 0\nfix 1 all nve/leapfrog\nrun 100\n", "particle 2 is lost"),
    "flying": (sample("in.repulsive").replace("dt index 0.0005", "dt index 0.9"), "particle 1 "),
}


@pytest.mark.parametrize("name", PHYSICS_ERRORS)
@pytest.mark.parametrize("ranks", [3, 8])
def test_physics_errors_are_those_of_one_rank(name, ranks, tmp_path):
    text, says = PHYSICS_ERRORS[name]
    words = ["-in", write(tmp_path, text), *QUIET]
    status, message = one_rank(tmp_path, *words)
    assert status == PHYSICS and says in message, message
    assert refused(job(tmp_path, (ranks, words)), PHYSICS) == message


def children(pid: int) -> List[int]:
    return [int(word) for task in Path(f"/proc/{pid}/task").iterdir()
            for word in (task / "children").read_text().split()]


@pytest.mark.parametrize("which", [0, -1])
def test_a_rank_that_is_killed(which, tmp_path):
    words = ["-in", str(harness.deck("in.repulsive")), "-screen", "none", "--threads", "1", "-var", "steps",
             "100000000", "-var", "every", "1000"]
    with subprocess.Popen([*harness.mpirun(4), str(harness.program()), *words], cwd=tmp_path, stderr=subprocess.PIPE,
                          env=harness.rank_environment(), text=True) as mpirun:
        try:
            deadline = time.monotonic() + 30.0
            log = tmp_path / "check.dump"
            while time.monotonic() < deadline and not (log.exists() and log.stat().st_size > 0):
                time.sleep(0.05)
            ranks = sorted(children(mpirun.pid))
            assert len(ranks) == 4
            os.kill(ranks[which], signal.SIGKILL)
            began = time.monotonic()
            said = mpirun.communicate(timeout=20)[1]
        finally:
            mpirun.kill()
    assert mpirun.returncode != 0 and "signal 9" in said
    assert time.monotonic() - began < harness.patience(10.0)
    assert "Total wall time" not in (tmp_path / "log.myriad").read_text()


def limited(kilobytes: int, *words: object) -> List[object]:
    """A rank that cannot write beyond a size of file, as on a disk that is full for it alone."""
    script = f"trap '' XFSZ; ulimit -f {kilobytes}; exec \"$0\" \"$@\""
    return [shutil.which("bash"), "-c", script, harness.program(), *words]


# Shared memory between ranks would be a file beyond the limit too.
NO_SHARED_FILES = {"OMPI_MCA_btl": "self,tcp"}


@pytest.mark.parametrize("where", ["first", "last"])
def test_a_full_disk_on_one_rank(where, tmp_path):
    """A dump that grows beyond what one of three ranks can write."""
    words = ["-in", harness.deck("in.repulsive"), *QUIET, "-var", "every", "20", "-var", "n", "13000"]
    free, full = (2, words), (1, limited(6000, *words))
    done = job(tmp_path, *((full, free) if where == "first" else (free, full)), variables=NO_SHARED_FILES)
    refused(done, RUNTIME, "cannot write", "check.dump")
    assert done.seconds < harness.patience(10.0)
    # What is there is right, as far as it goes, and ends within a frame or with one long before the last.
    text = (tmp_path / "check.dump").read_text()
    assert 0 < text.count("ITEM: TIMESTEP") < 20 and "\0" not in text


def test_a_full_disk_leaves_no_data_file_that_looks_complete(tmp_path):
    deck = write(tmp_path, re.sub(r"(?m)^dump .*\n", "", sample("in.repulsive")), after="write_data end.data\n")
    words = ["-in", deck, *QUIET, "-var", "steps", "1", "-var", "n", "13000"]
    assert job(tmp_path, (3, words)).status == 0
    assert (tmp_path / "end.data").stat().st_size > 300000
    (tmp_path / "end.data").unlink()
    refused(job(tmp_path, (2, words), (1, limited(100, *words)), variables=NO_SHARED_FILES), RUNTIME, "cannot write",
            "end.data")
    assert list(tmp_path.glob("end.data*")) == []


def compiled(folder: Path, source: str) -> Path:
    """A library to put before others, from its source in C."""
    compiler = shutil.which("mpicc")
    if compiler is None:
        pytest.skip("no mpicc")
    (folder / "shim.c").write_text(source)
    subprocess.run([compiler, "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", "shim.so", "shim.c", "-ldl"], cwd=folder,
                   check=True)
    return folder / "shim.so"


def preloaded(library: Path, *words: object) -> List[object]:
    return [shutil.which("env"), f"LD_PRELOAD={library}", harness.program(), *words]


def test_a_library_without_threads(tmp_path):
    shim = compiled(tmp_path, """
#include <mpi.h>
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
  (void)required;
  const int code = PMPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, provided);
  *provided = MPI_THREAD_SINGLE;
  return code;
}
""")
    words = ["-in", harness.deck("in.repulsive"), *QUIET]
    refused(job(tmp_path, (2, preloaded(shim, *words))), RUNTIME, "MPI_THREAD_FUNNELED", "one rank with --threads")


# Memory that ends with the n-th array: during a run, in any of its phases.
FEW_ARRAYS = """
#include <dlfcn.h>
#include <stdlib.h>
void *aligned_alloc(size_t alignment, size_t size)
{
  static void *(*real)(size_t, size_t);
  static long calls;
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "aligned_alloc");
  return ++calls > MOST ? NULL : real(alignment, size);
}
"""


@pytest.mark.parametrize("arrays, where", [(300, "first"), (303, "last"), (306, "last")])
def test_memory_that_one_rank_lacks(arrays, where, tmp_path):
    """One rank fails within an exchange, the others are in that or in a later one: one message ends all."""
    shim = compiled(tmp_path, FEW_ARRAYS.replace("MOST", str(arrays)))
    words = ["-in", harness.deck("in.repulsive"), *QUIET, "-var", "every", "2000"]
    rich, poor = (2, words), (1, preloaded(shim, *words))
    done = job(tmp_path, *((poor, rich) if where == "first" else (rich, poor)))
    refused(done, RUNTIME, "in.repulsive:33: out of memory: ")
    assert done.seconds < harness.patience(8.0)
    frames = (tmp_path / "check.dump").read_text()
    assert frames.count("ITEM: TIMESTEP") == 1, "the failure is not in the middle of the run"


def test_a_launcher_whose_ranks_do_not_see_one_another(tmp_path):
    """Such as srun without the way to MPI: each task would run the whole deck."""
    words = [str(harness.program()), "-in", str(harness.deck("in.repulsive")), *QUIET]
    surroundings = {k: v for k, v in harness.rank_environment().items() if k not in harness.LEAN_ENVIRONMENT}
    done = subprocess.run(words, cwd=tmp_path, env={**surroundings, "SLURM_STEP_NUM_TASKS": "4"},
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == RUNTIME
    assert "the launcher started 4 tasks, but MPI sees only one" in done.stderr


def drops(box: str, one: str, two: str) -> str:
    """A deck without its runs: two drops in a plane fly through periodic faces. Its sides, and centre and radius of
    each drop, in lattice spacings."""
    return f"""\
units lj
dimension 2
boundary f p p
lattice hex 0.7
region box block {box} -0.5 0.5
create_box 1 box
region one sphere {one}
region two sphere {two}
create_atoms 1 region one
create_atoms 1 region two
mass 1 1
velocity all create 1.0 87287
velocity all set 3 2 0 sum yes
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
fix move all nve
fix walls all wall/reflect xlo EDGE xhi EDGE
thermo 50
thermo_style custom step temp pe press
thermo_modify format float %.17g
dump check all custom 50 check.dump id x y vx vy fx fy
"""


DROPS = drops("0 40 0 25", "9 9 0 6", "25 14 0 4")


@pytest.mark.mpi
def test_a_box_that_shrinks_gets_another_grid(tmp_path):
    """Eight ranks begin with four domains along z, which later would be thinner than the halo."""
    knobs = {"ensemble": "npt temp 0.9 0.9 0.5 aniso 10 14 0.6", "tie": "addforce 0 0 0", "steps": 250, "every": 25,
             "skin": 0.013}
    text = harness.deck("in.springs").read_text()
    naive = harness.run(text, tmp_path / "naive", engine="naive", variables=knobs)
    got = harness.run(text.replace("run  ", "fix even all balance 7 1\nrun  "), tmp_path / "ranks", ranks=8, threads=1,
                      variables=knobs)
    assert "1 by 2 by 4 MPI processor grid" in got.log
    assert got.tables == naive.tables
    assert (tmp_path / "ranks" / "check.dump").read_bytes() == (tmp_path / "naive" / "check.dump").read_bytes()


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [3, 4])
def test_bricks_balance_what_a_grid_cannot(ranks, tmp_path):
    """Two drops that fly through periodic faces: the same bytes, and ranks within a tenth of each other."""
    weights = "fix p all property/atom d_w\n"
    end = "run 100\nminimize 0 0 5 20\nrun 50\n"
    fix = "fix even all balance 10 1.05 {}\n"
    got = {}
    for name, commands, number in (
            ("one", "", 1), ("bricks", "balance 1 rcb\n" + fix.format("rcb"), ranks),
            ("grid", fix.format("shift"), ranks),
            ("weighed", weights + fix.format("rcb weight neigh 0.5 weight store w"), ranks)):
        grid = "processors 2 2 1\n" if (name, ranks) == ("grid", 4) else ""
        got[name] = harness.run(grid + DROPS + commands + end, tmp_path / name, ranks=number, threads=1)
        assert got[name].tables == got["one"].tables
        assert (tmp_path / name / "check.dump").read_bytes() == (tmp_path / "one" / "check.dump").read_bytes()
    assert got["bricks"].particles_of_ranks[3] < 1.1
    assert ranks == 3 or got["grid"].particles_of_ranks[3] > 1.3
    assert f"{ranks} domains by recursive bisection" in got["bricks"].log
    # Back to a grid within a deck, while ghosts are still those of bricks.
    both = (DROPS + "balance 1 rcb\nrun 20\n" + fix.format("shift weight neigh 1.0")
            + "run 80\nminimize 0 0 5 20\nrun 50\n")
    back = harness.run(both, tmp_path / "both", ranks=ranks, threads=1)
    assert "processor grid" in back.log
    assert (tmp_path / "both" / "check.dump").read_text().endswith(
        (tmp_path / "one" / "check.dump").read_text().split("ITEM: TIMESTEP")[-1])


@pytest.mark.mpi
@pytest.mark.parametrize("pair", ["zero 1.5", "none"])
@pytest.mark.parametrize("balance", ["", "balance 1 rcb\n"], ids=["grid", "bricks"])
def test_molecules_where_no_halo_is(pair, balance, tmp_path):
    """Excluded pairs do not interact anyway. Ranks once waited for neighbours that they did not know."""
    deck = (f"atom_style bond\nregion b block 0 6 0 6 0 6\ncreate_box 1 b\ncreate_atoms 1 random 20 5 NULL\nmass 1 1\n"
            f"pair_style {pair}\nfix 1 all nve\nneigh_modify exclude molecule/intra all\n{balance}run 5\n"
            "write_dump all custom check.dump id x y z\n")
    for ranks in (1, 3):
        harness.run(deck, tmp_path / str(ranks), ranks=ranks, threads=1)
    same(tmp_path / "1" / "check.dump", tmp_path / "3" / "check.dump")


@pytest.mark.mpi
def test_a_tilted_box_has_no_bricks(tmp_path):
    deck = ("units lj\nregion b prism 0 9 0 9 0 9 1 0 0\ncreate_box 1 b\ncreate_atoms 1 random 20 1 NULL\nmass 1 1\n"
            "pair_style lj/cut 2.5\npair_coeff 1 1 1 1\nfix 1 all nve\nbalance 1 rcb\nrun 0\n")
    refused(job(tmp_path, (2, ["-in", write(tmp_path, deck), *QUIET])), USAGE, "tilted box")
    later = deck.replace("prism 0 9 0 9 0 9 1 0 0", "block 0 9 0 9 0 9").replace(
        "balance 1 rcb", "balance 0.5 rcb\nchange_box all triclinic xy final 1 remap")
    refused(job(tmp_path, (2, ["-in", write(tmp_path, later), *QUIET])), USAGE, "tilted box")
