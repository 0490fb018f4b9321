"""Bad input: every way a deck, a data file or a disk can be wrong ends in one line that helps.

Each case asserts the exit status (1 runtime, 2 usage, 3 physics), that standard error
holds exactly one line which names file, line and token and says what is accepted, and
that nothing crashes, hangs or leaves half a file behind.
"""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Callable, Dict, List, Sequence, Tuple

import pytest

import harness
from cli import BOX, PHYSICS, RUNTIME, USAGE, call, refused, run_deck, works

LINES = BOX.count("\n")

pytestmark = pytest.mark.smoke


def bad_line(folder: Path, line: str, *words: str, before: str = BOX, status: int = USAGE) -> str:
    """Runs a deck whose last line is wrong."""
    number = before.count("\n") + 1
    return refused(run_deck(folder, before + line + "\n"), status, *words, line=number)


# ---------------------------------------------------------------- unknown names

UNKNOWN = {
    "velocty all create 1 1": ["velocty", "did you mean velocity"],
    "paircoeff 1 1 1 1": ["paircoeff", "did you mean pair_coeff"],
    "Run 5": ["Run", "did you mean run"],
    "wibblewobble 1": ["wibblewobble", "myriad help"],
    "kspace_style pppm 1e-4": ["kspace_style"],
    "pair_style lj/cat 2.5": ["lj/cat", "lj/cut", "repulsive", "soft", "none"],
    "pair_modify shaft yes": ["shaft", "shift yes|no", "mix"],
    "pair_modify mix harmonic": ["harmonic", "geometric", "arithmetic", "sixthpower"],
    "pair_modify tail maybe": ["pair_modify tail", "maybe"],
    "fix 2 all rigid": ["rigid", "nve", "langevin", "wall/reflect"],
    "fix 2 some nve": ["some", "all"],
    "fix 1 all enforce2d": ["fix 1", "exists", "unfix"],
    "fix 2 all nve": ["nve", "unfix"],
    "fix 2 all nve/leapfrog miror yes": ["miror", "mirror yes|no"],
    "fix 2 all wall/reflect xlow EDGE": ["xlow", "xlo xhi ylo yhi zlo zhi"],
    "fix 2 all wall/reflect xlo EDGE": ["xlo", "periodic", "boundary f"],
    "fix 2 all setforce 0 0 0 region nowhere": ["nowhere", "no region"],
    "fix 2 all aveforce 0 0 0 region b": ["region", "group ID region NAME"],
    "fix 2 all addforce 0 0 0 every 5": ["unexpected 'every'", "region ID"],
    "fix 2 all addforce 0 0 0 region b every 5": ["unexpected 'every'", "region ID"],
    "fix 2 all addforce 0 0 NULL": ["NULL"],
    "fix 2 all gravity 1 sideways 1 2 3": ["sideways", "chute ANGLE", "spherical PHI THETA", "vector X Y Z"],
    "fix 2 all gravity v_g vector 0 0 1": ["v_g", "change during a run"],
    "fix 2 all wall/lj93 xlow EDGE 1 1 2.5": ["xlow", "xlo, xhi, ylo"],
    "fix 2 all wall/lj93 zlo EDGE 1 1 2.5": ["zlo", "periodic along z", "boundary f"],
    "fix 2 all wall/lj1043 zlo EDGE 1 1 2.5 twice yes": ["twice", "units box|lattice", "pbc no"],
    "fix 2 all wall/lj1043 zlo EDGE 1 1 2.5 fld yes": ["fld no"],
    "fix 2 all wall/harmonic zlo EDGE 1 1 2.5 units metres": ["metres", "box and lattice"],
    "print $(logfreq2(1,9e15,2))": ["logfreq2", "the second at most a million"],
    "fix 2 all balance 100 0": ["the threshold", "must be positive, not 0"],
    "fix 2 all balance 100 1.1 shift xx": ["'xx' does not name axes"],
    "fix 2 all balance 100 1.1 shift xyz 10 1.05 8": ["unexpected '8'"],
    "fix 2 all balance 100 1.1 shift weight group 2 all 1": ["2 groups need a name and a weight each"],
    "fix 2 all balance 100 1.1 weight group 1 others 1": ["others"],
    "fix 2 all balance 100 1.1 weight group 1 all 0": ["positive"],
    "fix 2 all indent 1 cone 1 2 3 4": ["cone", "sphere X Y Z R", "cylinder AXIS A B R", "plane AXIS"],
    "fix 2 all indent 1 sphere 1 2 3 1 sphere 1 2 3 1": ["second shape"],
    "fix 2 all indent 1 cylinder w 2 3 1": ["'w'", "axes x to z"],
    "fix 2 all indent 1 plane x 1 lo": ["periodic along x", "boundary f"],
    "fix 2 all indent 1 sphere 1 2 3 1 side up": ["up", "in nor out"],
    "fix 2 all indent 1 sphere 1 2 3 1 units sigma": ["sigma", "box and lattice"],
    "fix_modify 7 energy yes": ["7", "no fix"],
    "fix_modify 1 energy yes": ["fix nve has no energy"],
    "fix_modify 1 temp t": ["temp", "fix nve does not take another temperature"],
    "fix_modify 1 press p": ["press", "energy yes|no, temp ID"],
    "thermo_modify temp t": ["no compute 't'"],
    "thermo_modify temp thermo_pe": ["thermo_pe", "is not a temperature"],
    "thermo_modify press thermo_temp": ["thermo_temp", "not of style pressure"],
    "compute_modify t extra/dof 1": ["no compute 't'"],
    "compute_modify thermo_pe extra/dof 1": ["thermo_pe", "is not a temperature"],
    "compute_modify thermo_temp extr 1": ["extr", "extra/dof N, dynamic/dof yes|no"],
    "compute c all temp/partial 0 1 2": ["an axis of compute temp/partial", "from 0 to 1"],
    "compute c all temp/partial 0 1": ["three words", "not 2"],
    "compute c all temp/com 1": ["temp/com", "unexpected '1'"],
    "compute c all temp/region nowhere": ["nowhere", "known are b"],
    "compute c all temp/region": ["the ID of a region"],
    "compute c all temp/ramp x 0 1 y 0 1": ["'x'", "vx, vy or vz"],
    "compute c all temp/ramp vx 0 1 w 0 1": ["'w'", "x, y or z"],
    "compute c all temp/ramp vx 0 1 y 1 1": ["'1' to '1'", "do not increase"],
    "compute c all temp/ramp vx 0 1 y 0 1 units sigma": ["'sigma'", "units box"],
    "compute c all temp/ramp vx 0 1 y 0": ["six words"],
    "compute c all pressure t": ["compute pressure", "no compute 't'"],
    "compute c all pressure NULL": ["NULL", "virial"],
    "compute c all pressure thermo_temp kin": ["'kin'", "ke, pair, virial, fix"],
    "thermo_style custom step f_9[1]": ["f_9[1]", "no such fix"],
    "fix 2 all momentum 0 linear 1 1 1": ["N of fix momentum", "from 1 to", "not 0"],
    "fix 2 all momentum 1 linear 1 2 1": ["an axis of fix momentum linear", "from 0 to 1"],
    "fix 2 all momentum 1 linear 1 1": ["three axes"],
    "fix 2 all momentum 1 linear 0 0 0 rescale": ["nothing is taken away"],
    "fix 2 all momentum 1 turning": ["'turning'", "linear X Y Z, angular and rescale"],
    "fix 2 all nvt": ["fix nvt", "needs a temperature"],
    "fix 2 all nvt temp 1 1 1": ["nvt", "another fix moves the particles"],
    "fix 2 all nvt temp 0 1 1": ["Tstart of fix nvt", "positive"],
    "fix 2 all nvt temp 1 0 1": ["Tstop of fix nvt", "positive"],
    "fix 2 all nvt temp 1 1 0": ["Tdamp of fix nvt", "positive"],
    "fix 2 all nvt temp 1 1": ["temp needs TSTART TSTOP TDAMP"],
    "fix 2 all nvt temp 1 1 1 tchain 9": ["tchain of fix nvt", "from 1 to 8"],
    "fix 2 all nvt temp 1 1 1 tloop 0": ["tloop of fix nvt", "from 1 to"],
    "fix 2 all nvt temp 1 1 1 drag -1": ["drag of fix nvt", "-1"],
    "fix 2 all nvt temp 1 1 1 iso 1 1 1": ["'iso'", "temp, tchain, tloop, drag"],
    "run_style respa 2 2": ["respa", "only verlet"],
    "velocity all scale 1 temp thermo_pe": ["thermo_pe", "is not a temperature"],
    "fix_modify 1 virial yes": ["virial no"],
    "thermo_style custom step f_7": ["f_7", "no such fix"],
    "thermo_style custom step f_1": ["f_1", "fix nve has no energy"],
    "thermo_style custom step f_1[1]": ["f_1[1]", "0 values"],
    "min_style hftn": ["hftn", "cg, sd, fire, fire/old, quickmin"],
    "min_modify dmin 1": ["dmin", "dmax, line, norm, integrator"],
    "min_modify line golden": ["golden", "backtrack, quadratic, forcezero"],
    "min_modify norm one": ["one", "two, max, inf"],
    "min_modify integrator euler": ["euler", "eulerimplicit, verlet, leapfrog, eulerexplicit"],
    "unfix 7": ["7", "no fix"],
    "undump 7": ["7", "dumps are"],
    "dump d all vtk 1 f": ["vtk", "custom", "atom", "extxyz", "frames", "density", "image", "movie"],
    "dump d all custom 1 f id speed": ["speed", "vx", "fx", "element"],
    "dump d all extxyz 1 f speed": ["speed", "vel", "force"],
    "dump d all density 1 f.png 8 axes x": ["axes", "axis x|y|z"],
    "dump d all density 1 f.jpg 8": ["f.jpg", ".png"],
    "dump d all custom 1 f.bin id": ["f.bin", "text"],
    "dump d all custom 1 f.%.txt id": ["%"],
    "dump d all custom 1 f.*.* id": ["f.*.*", "more than one"],
    "dump_modify d sort off": ["d", "no dump"],
    "thermo_style custom stepp": ["stepp", "step", "temp"],
    "thermo_style many": ["many", "one, multi, custom"],
    "thermo_modify lose yes": ["lose", "format, norm, flush, lost, lost/bond, warn, line, temp, press"],
    "thermo_modify format float %d": ["%d", "%g"],
    "thermo_modify format float %n": ["%n", "%g"],
    "thermo_modify format float %*g": ["%*g", "%g"],
    "thermo_modify format float %g%g": ["%g%g"],
    "thermo_modify lost maybe": ["maybe", "error, ignore, warn"],
    "velocity all creat 1 1": ["creat", "create, set, ramp, uniform, zero, scale, negate"],
    "velocity all create 1 1 dits uniform": ["dits", "dist"],
    "velocity all create 1 1 dist normal": ["normal", "uniform", "gaussian"],
    "velocity all create 1 1 bias yes": ["bias", "bias no"],
    "velocity all zero angle": ["angle", "linear or angular"],
    "create_atoms 1 boxx": ["boxx", "box, region, random, single, grid"],
    "create_atoms 1 region nowhere": ["nowhere", "known are b", "region nowhere block"],
    "create_atoms 1 box": ["lattice"],
    "create_atoms 3 single 1 2 3": ["3", "from 1 to 2"],
    "create_atoms 1 grid 10 sed 4": ["sed", "seed"],
    "create_box 1 b": ["box", "already"],
    "region c ellipsoid 0 0 0 1 1 1": ["ellipsoid", "block, sphere, cylinder"],
    "region c block 0 1 0 1 0 1 unit box": ["unit", "units lattice|box"],
    "region b block 0 1 0 1 0 1": ["b", "already"],
    "region c block 1 0 0 1 0 1": ["c", "lower x bound 1"],
    "lattice fc 1": ["fc", "fcc"],
    "lattice sq 1": ["sq", "dimension 2"],
    "lattice fcc 1 orgin 0 0 0": ["orgin", "origin"],
    "lattice fcc 1 basis 0 0 0": ["basis", "custom"],
    "set type 1 typ 2": ["typ", "type/fraction"],
    "set group some type 2": ["some", "all"],
    "set kind 1 type 2": ["kind"],
    "mass 3 1": ["no type '3'", "2 types"],
    "pair_coeff 2 1 1 1": ["2 1", "smaller type first"],
    "neighbor 0.3 bins": ["bins", "bin"],
    "neigh_modify evry 1": ["evry", "every N"],
    "neigh_modify once yes": ["once", "once no"],
    "neigh_modify exclude": ["exclude", "type I J", "none"],
    "neigh_modify exclude group all": ["two groups"],
    "neigh_modify exclude group all few": ["few"],
    "neigh_modify exclude molecule all": ["exclude molecule", "no molecules", "atom_style bond"],
    "neigh_modify exclude molecule/inter": ["molecule/inter", "needs a group"],
    "neigh_modify exclude molecules all": ["'molecules'", "group A B", "molecule/intra GROUP"],
    "neigh_modify exclude type 1": ["two types"],
    "neigh_modify exclude type 1 3": ["type of neigh_modify exclude", "3"],
    "neigh_modify exclude type 1 2 3": ["unknown keyword '3'", "exclude type I J"],
    "variable v lop 3": ["lop", "index, loop, file", "equal"],
    "variable v world a b": ["world", "partitions", "-var"],
    "variable v python f": ["python", "runs no programs"],
    "variable v loop 3 2": ["N1 3", "N2 2"],
    "variable v loop 0": ["variable loop", "from 1", "not 0"],
    "variable v loop 1 2 padd": ["takes N or N1 N2", "pad"],
    "variable v format x %d": ["%d", "%g"],
    "variable v internal x": ["'x'"],
    "next nothing": ["undefined variable 'nothing'"],
    "jump SELF nowhere": ["no label 'nowhere' in in.deck"],
    "if 1 than 'print a'": ["'than'", "expected then", "usage: if CONDITION then"],
    "if 1 then else 'print a'": ["no command after then"],
    "if 1 then 'print a' else": ["no command after else"],
    "if 0 then 'print a' elif": ["elif needs a condition"],
    "if 0 then 'print a' elif 1": ["no command after elif"],
    "if 0 then 'print a' else 'print b' elif 1 'print c'": ["elif", "else", "last"],
    "if '1 <' then 'print a'": ["'1 <'", "ends too early"],
    "if '1 = 1' then 'print a'": ["'= 1'", "unexpected"],
    "if 'a < b' then 'print a'": ["'a'", "word", "== or !="],
    "if 'a == 1' then 'print a'": ["'a'", "word", "== or !="],
    "if yes then 'print a'": ["'yes'", "word"],
    "if '((1)' then 'print a'": ["'((1)'", "ends too early"],
    "if $x then 'print a'": ["undefined variable 'x'"],
    "if '$x' then 'print a'": ["undefined variable 'x'"],
    "if 1 then 'prnt a'": ["prnt", "did you mean print"],
    "quit 256": ["256", "to 255"],
    "run 5 every 2": ["every needs a number of steps, and commands"],
    "run 5 every 0 NULL": ["at least 1", "not 0"],
    "run 5 every 2 'prnt a'": ["prnt", "did you mean print"],
    "run 5 post maybe": ["maybe", "yes or no"],
    "comm_style bricks": ["bricks", "brick and tiled"],
    "atom_modify map maybe": ["maybe", "yes, array and hash"],
    "atom_modify id no": ["always have ids"],
    "atom_modify sort 1 -1": ["-1", "zero or positive"],
    "atom_modify srt 1": ["srt", "id, map, first and sort"],
    "timer fast": ["fast", "off, loop, normal, full"],
    "timer timeout 1:00": ["1:00", "--walltime"],
    "variable a-b equal 1": ["a-b", "letters"],
    "print hello world": ["world", "quotes"],
    "log none append": ["append"],
    "log f apend": ["apend", "append"],
    "echo loud": ["loud", "none, screen, log and both"],
    "info atoms": ["atoms", "all, system, pair"],
    "run 5 upt": ["upt", "upto"],
    "run 5 pre maybe": ["maybe", "yes or no"],
    "newton maybe": ["maybe", "yes or no"],
    "comm_modify cutof 3": ["cutof", "cutoff"],
    "comm_modify mode double": ["double", "single and multi"],
    "package cuda": ["cuda", "gpu"],
    "package gpu speed 9": ["speed", "precision", "neighbours", "profile"],
    "package gpu precision single": ["precision", "single", "double or mixed"],
    "package gpu neighbours all": ["neighbours", "all", "auto, cells or list"],
    "package gpu block 48": ["block", "48", "multiple of 32"],
    "package gpu skin 0": ["skin", "0", "positive"],
    "package gpu 1 profile maybe": ["profile", "maybe", "yes or no"],
    "suffix cuda": ["cuda", "gpu"],
    "write_data f nocoef": ["nocoef", "nocoeff"],
    "write_data f.gz": ["f.gz", "not compressed"],
    "read_data f": ["box", "already"],
    "units lj": ["before create_box"],
    "dimension 2": ["before create_box"],
    "boundary f f f": ["before create_box"],
    "atom_style atomic": ["before create_box"],
    "processors 1 1 1": ["before create_box"],
}

UNKNOWN_BEFORE_BOX = {
    "units metric": ["metric", "lj"],
    "atom_style full": ["full", "atomic"],
    "dimension 4": ["4", "from 2 to 3"],
    "boundary p p q": ["q", "p (periodic)", "f (fixed)"],
    "boundary p p sp": ["sp", "both faces"],
    "boundary p p sq": ["sq", "s (follows the particles)"],
    "boundary pf p p": ["pf", "both faces"],
    "processors 2 1 1": ["2 1 1", "1 rank"],
    "mass 1 1": ["mass", "create_box or read_data"],
    "pair_coeff 1 1 1 1": ["pair_coeff", "create_box or read_data"],
    "create_atoms 1 box": ["create_atoms", "create_box or read_data"],
    "velocity all create 1 1": ["velocity", "create_box or read_data"],
    "set type 1 type 1": ["set", "create_box or read_data"],
    "dump d all atom 1 f": ["dump", "create_box or read_data"],
    "write_data f": ["write_data", "create_box or read_data"],
    "run 1": ["run", "create_box or read_data"],
    "create_box 1 b": ["b", "region b block"],
    "region b block EDGE 1 0 1 0 1": ["EDGE", "box"],
    "pair_modify shift yes": ["pair_style"],
}


@pytest.mark.parametrize("line", UNKNOWN)
def test_unknown_name(line, tmp_path):
    bad_line(tmp_path, line, *UNKNOWN[line])


@pytest.mark.parametrize("line", UNKNOWN_BEFORE_BOX)
def test_out_of_place(line, tmp_path):
    bad_line(tmp_path, line, *UNKNOWN_BEFORE_BOX[line], before="")


# ---------------------------------------------------------------- numbers of words

EMPTY = ""
# command: what comes before, a line with too few words, one with too many, and what the latter's message names.
COUNTS: Dict[str, Tuple[str, str, str, str]] = {
    "units": (EMPTY, "units", "units lj surplus", "usage: units"),
    "dimension": (EMPTY, "dimension", "dimension 3 surplus", "usage: dimension"),
    "box": (EMPTY, "box tilt", "box tilt large surplus", "usage: box"),
    "boundary": (EMPTY, "boundary p p", "boundary p p p surplus", "usage: boundary"),
    "atom_style": (EMPTY, "atom_style", "atom_style atomic surplus", "usage: atom_style"),
    "bond_style": ("atom_style bond\n", "bond_style", "bond_style fene surplus", "surplus"),
    "bond_coeff": ("atom_style bond\n" + BOX, "bond_coeff 1", "", ""),
    "special_bonds": (EMPTY, "special_bonds", "special_bonds fene surplus", "surplus"),
    "lattice": (BOX, "lattice fcc", "lattice none 1 surplus", "surplus"),
    "region": (EMPTY, "region b block 0 1 0 1 0", "region b block 0 1 0 1 0 1 surplus", "surplus"),
    "create_box": (EMPTY, "create_box 1", "create_box 1 b surplus", "usage: create_box"),
    "create_atoms": (BOX, "create_atoms 1", "create_atoms 1 single 1 2 3 units box surplus", "surplus"),
    "mass": (BOX, "mass 1", "mass 1 1 surplus", "usage: mass"),
    "set": (BOX, "set type 1 type", "set type 1 type 2 surplus", "surplus"),
    "velocity": (BOX, "velocity all", "velocity all negate surplus", "surplus"),
    "delete_atoms": (BOX, "delete_atoms group", "delete_atoms group all compress no surplus", "surplus"),
    "displace_atoms": (BOX, "displace_atoms all", "displace_atoms all move 0 0 0 surplus", "surplus"),
    "change_box": (BOX, "change_box all", "change_box all x scale 1.1 surplus", "surplus"),
    "replicate": (BOX, "replicate 2 2", "replicate 2 2 2 bbox surplus", "usage: replicate"),
    "read_data": (EMPTY, "read_data", "read_data file surplus", "surplus"),
    "read_dump": (BOX, "read_dump f 1", "", ""),
    "rerun": (BOX, "rerun f", "", ""),
    "write_dump": (BOX, "write_dump all custom", "", ""),
    "write_data": (BOX, "write_data", "write_data file surplus", "surplus"),
    "pair_write": (BOX, "pair_write 1 1 9 r 1 2 file", "pair_write 1 1 9 r 1 2 file A surplus", "takes 8 arguments"),
    "restart": (BOX, "restart", "restart 1 a b surplus", "usage: restart"),
    "write_restart": (BOX, "write_restart", "write_restart file surplus", "usage: write_restart"),
    "read_restart": (EMPTY, "read_restart", "read_restart file surplus", "usage: read_restart"),
    "pair_style": (BOX, "pair_style", "pair_style none surplus", "surplus"),
    "pair_coeff": (BOX, "pair_coeff 1", "pair_coeff 1 1 1 1 2.5 2.5", "2 to 3 coefficients, not 4"),
    "pair_modify": (BOX, "pair_modify shift", "pair_modify shift yes surplus", "surplus"),
    "neighbor": (BOX, "neighbor 0.3", "neighbor 0.3 bin surplus", "usage: neighbor"),
    "neigh_modify": (BOX, "neigh_modify", "neigh_modify delay 0 surplus", "surplus"),
    "timestep": (BOX, "timestep", "timestep 0.1 surplus", "usage: timestep"),
    "fix": (BOX, "fix 2 all", "fix 2 all langevin 1 1 1 1 surplus", "surplus"),
    "fix_modify": (BOX, "fix_modify 1", "fix_modify 1 virial no surplus", "surplus"),
    "unfix": (BOX, "unfix", "unfix 1 surplus", "usage: unfix"),
    "group": (BOX, "group g", "group g type 1 1 x", "x"),
    "compute": (BOX, "compute 1 all", "compute 1 all ke surplus", "surplus"),
    "compute_modify": (BOX, "compute_modify thermo_temp", "compute_modify thermo_temp extra/dof 3 surplus", "surplus"),
    "uncompute": (BOX, "uncompute", "uncompute 1 surplus", "usage: uncompute"),
    "thermo": (BOX, "thermo", "thermo 1 surplus", "usage: thermo"),
    "thermo_style": (BOX, "thermo_style", "thermo_style one surplus", "surplus"),
    "thermo_modify": (BOX, "thermo_modify norm", "thermo_modify norm yes surplus", "surplus"),
    "dump": (BOX, "dump d all atom 1", "dump d all atom 1 f surplus", "surplus"),
    "dump_modify": (BOX + "dump d all atom 1 f\n", "dump_modify d every", "dump_modify d every 1 surplus", "surplus"),
    "undump": (BOX + "dump d all atom 1 f\n", "undump", "undump d surplus", "usage: undump"),
    "variable": (EMPTY, "variable a", "variable a equal 1 surplus", "variable"),
    "next": (EMPTY, "next", "", ""),
    "label": (EMPTY, "label", "label a surplus", "usage: label"),
    "jump": (EMPTY, "jump", "jump SELF a surplus", "usage: jump"),
    "include": (EMPTY, "include", "include f surplus", "usage: include"),
    "if": (EMPTY, "if 1 then", "", ""),
    "quit": (EMPTY, "", "quit 0 surplus", "usage: quit"),
    "clear": (BOX, "", "clear surplus", "usage: clear"),
    "print": (EMPTY, "print", "print text surplus", "surplus"),
    "log": (EMPTY, "log", "log f append surplus", "usage: log"),
    "echo": (EMPTY, "echo", "echo log surplus", "usage: echo"),
    "reset_timestep": (BOX, "reset_timestep", "reset_timestep 1 surplus", "usage: reset_timestep"),
    "info": (BOX, "", "info system surplus", "surplus"),
    "seek": (BOX, "seek", "seek 5 surplus", "accepted is from FILE"),
    "verify": (BOX, "verify", "verify 5 flip 0 surplus", "usage: verify"),
    "run": (BOX, "run", "run 1 surplus", "surplus"),
    "minimize": (BOX, "minimize 0 0 1", "minimize 0 0 1 1 surplus", "usage: minimize"),
    "min_style": (BOX, "min_style", "min_style cg surplus", "usage: min_style"),
    "min_modify": (BOX, "min_modify dmax", "min_modify dmax 0.1 surplus", "surplus"),
    "newton": (EMPTY, "newton", "newton on on surplus", "usage: newton"),
    "balance": (BOX, "balance", None, "at least 1"),
    "processors": (EMPTY, "processors 1 1", "processors 1 1 1 surplus", "surplus"),
    "comm_modify": (EMPTY, "comm_modify vel", "comm_modify vel yes surplus", "surplus"),
    "comm_style": (EMPTY, "comm_style", "comm_style brick surplus", "usage: comm_style"),
    "atom_modify": (EMPTY, "atom_modify map", "atom_modify map yes surplus", "surplus"),
    "timer": (EMPTY, "timer", "timer full surplus", "surplus"),
    "package": (EMPTY, "package", "package gpu 1 sorted yes surplus", "surplus"),
    "run_style": (EMPTY, "run_style", "run_style verlet surplus", "surplus"),
    "suffix": (EMPTY, "suffix", "suffix on surplus", "suffix"),
}

# Commands whose arguments depend on a style, checked for each.
STYLE_COUNTS = {
    "create_atoms 1 box surplus": "surplus",
    "create_atoms 1 region b surplus": "surplus",
    "create_atoms 1 region": "region",
    "create_atoms 1 random 5 1": "random needs",
    "create_atoms 1 random 5 1 NULL surplus": "surplus",
    "create_atoms 1 grid": "grid needs",
    "create_atoms 1 grid 5 seed 1 surplus": "surplus",
    "create_atoms 1 grid 5 seed": "grid needs",
    "create_atoms 1 single 1 2": "single needs",
    "velocity all create 1": "create needs",
    "velocity all set 1 2": "set needs",
    "velocity all uniform 0 1": "uniform needs",
    "velocity all uniform 0 1 1 surplus": "surplus",
    "velocity all create 1 1 dist": "dist",
    "velocity all zero": "zero needs",
    "velocity all scale": "scale needs",
    "fix 2 all langevin 1 1 1": "langevin takes",
    "fix 2 all temp/rescale 1 1 1 0": "temp/rescale takes",
    "fix 2 all temp/berendsen 1 1": "temp/berendsen takes",
    "fix 2 all heat 1": "fix heat takes N",
    "fix 2 all heat 1 1 region": "the ID of a region is missing",
    "fix 2 all heat 1 1 surplus": "surplus",
    "fix 2 all heat 0 1": "N of fix heat",
    "fix 2 all heat 1 v_x": "v_x",
    "fix 2 all ehex 1 1 region nowhere hex": "nowhere",
    "fix 2 all ehex 1 1 hex constrain": "molecules",
    "fix 2 all ehex 1 1 surplus": "region ID, then hex",
    "fix 2 all nve/limit 0": "xmax",
    "fix 2 all nve/limit": "takes 1 argument",
    "fix 2 all brownian 1 1 rng none": "gamma_t GAMMA",
    "fix 2 all brownian -1 1 gamma_t 1": "temperature",
    "fix 2 all brownian 1 1 gamma_t 1 rng normal": "uniform, gaussian and none",
    "fix 2 all brownian 1 1 gamma_r 1": "gamma_t GAMMA and rng",
    "fix 2 all brownian 1 1 gamma_t 1 rng": "a value is missing",
    "fix 2 all wall/piston": "the face must be zlo",
    "fix 2 all wall/piston xlo": "the face must be zlo",
    "fix 2 all move": "linear, wiggle, rotate and variable",
    "fix 2 all move variable 0 0 0 0 0 0": "is not v_NAME or NULL",
    "fix 2 all move linear 1 2": "VX VY VZ",
    "fix 2 all move linear 1 2 NULL": "NULL is not available",
    "fix 2 all move linear 1 2 v_x": "v_x",
    "fix 2 all move wiggle 1 2 3 0": "period",
    "fix 2 all move rotate 1 2 3 0 0 0 1": "direction",
    "fix 2 all move linear 1 2 3 units metre": "box and lattice",
    "fix 2 all move linear 1 2 3 surplus": "units box|lattice",
    "fix 2 all move variable v_a v_a v_a v_a v_a": "move variable takes v_DX v_DY v_DZ",
    "fix 2 all move variable 1 NULL NULL v_a v_a v_a": "'1' is not v_NAME or NULL",
    "fix 2 all move variable NULL v_a v_a NULL v_a v_a": "neither a displacement nor a velocity along x",
    "fix 2 all recenter 1 2": "takes X Y Z, each of which may be NULL or INIT",
    "fix 2 all recenter 1 2 3 shift": "takes X Y Z",
    "fix 2 all recenter 1 2 THERE": "THERE",
    "fix 2 all recenter 1 2 3 about all": "accepted are shift all and units box|lattice|fraction",
    "fix 2 all recenter 1 2 3 units metre": "box, lattice and fraction",
    "fix 2 all dt/reset 10 0.01 0.02 0.1": "the timestep stays the same in a run",
    "pair_style lj/sf": "lj/smooth/linear",
    "fix 2 all enforce2d surplus": "surplus",
    "fix 2 all setforce 0 0": "setforce takes 3",
    "fix 2 all addforce 0 0 0 0": "unexpected '0'",
    "fix 2 all aveforce 0 0": "aveforce takes 3",
    "fix 2 all lineforce 1 0": "lineforce takes 3",
    "fix 2 all planeforce 1 0 0 0": "unexpected '0'",
    "fix 2 all gravity 1": "MAGNITUDE and a direction",
    "fix 2 all gravity 1 vector 0 0": "gravity takes 5",
    "fix 2 all gravity 1 chute 20 3": "unexpected '3'",
    "fix 2 all wall/lj93": "needs a wall: xlo",
    "fix 2 all wall/lj93 xlo EDGE 1 1": "xlo needs PLACE EPSILON SIGMA CUTOFF",
    "fix 2 all wall/lj126 zlo EDGE 1 1 2.5 units": "units: its value is missing",
    "fix 2 all indent": "takes K and a shape",
    "fix 2 all indent 1": "needs a shape",
    "fix 2 all indent 1 sphere 1 2 3": "sphere takes 4",
    "fix 2 all indent 1 plane x 1": "plane takes 3",
    "fix 2 all indent 1 sphere 1 2 3 1 side": "side takes 1",
    "fix_modify 1 energy": "energy: its value is missing",
    "compute_modify thermo_temp extra/dof": "extra/dof: its value is missing",
    "fix 2 all wall/reflect": "at least one face",
    "fix 2 all wall/reflect xlo": "xlo needs",
    "pair_style lj/cut": "lj/cut",
    "pair_style lj/cut 1 2": "lj/cut",
    "pair_style repulsive": "repulsive",
    "pair_style repulsive 1 0.1 3": "repulsive",
    "pair_style soft": "soft",
    "pair_style soft 1 2": "soft",
    "pair_style lj/cut 1 2 3 4 5 6 7 8 9": "at most",
    "pair_coeff 1 1": "2 to 3 coefficients, not 0",
    "pair_coeff 1 1 1": "2 to 3 coefficients, not 1",
    "thermo_style custom": "1 to 256",
    "thermo_style custom" + " step" * 257: "1 to 256",
    "thermo_modify format line %d": "1 formats, but there are 6 columns",
    "dump d all custom 1 f": "columns",
    "dump d all frames 1 f surplus": "surplus",
    "dump d all density 1 f.png": "pixels",
    "dump d all density 1 f.png 8 axis": "axis",
    "set type 1 type/fraction 2 0.5": "a seed",
    "delete_atoms overlap 1 all": "a cutoff and two groups",
    "delete_atoms porosity b 0.5": "a region, a fraction and a seed",
    "displace_atoms all move 1 2": "needs DX DY DZ",
    "displace_atoms all rotate 0 0 0 0 0 1": "needs PX PY PZ RX RY RZ THETA",
    "change_box all x final 1": "needs two numbers",
    "change_box all x scale": "needs a number",
    "change_box all boundary p p": "needs three words",
    "velocity all ramp vx 0 1 x 0": "ramp needs",
    "variable a equal": "a",
    "variable a index": "a",
    "variable a string": "a",
    "package gpu sort": "sort",
    "print text file": "file",
}


def test_every_command_is_counted(tmp_path):
    listing = works(call(tmp_path, "help")).out.split("deck commands")[1].splitlines()[1:]
    assert {line.split()[0] for line in listing} == set(COUNTS)


@pytest.mark.parametrize("command", COUNTS)
def test_wrong_number_of_words(command, tmp_path):
    before, few, many, named = COUNTS[command]
    if few:
        bad_line(tmp_path, few, command.split("_")[0], before=before)
    if many:
        bad_line(tmp_path, many, named, before=before)


@pytest.mark.parametrize("line", STYLE_COUNTS)
def test_wrong_number_of_words_of_a_style(line, tmp_path):
    bad_line(tmp_path, line, STYLE_COUNTS[line])


# ---------------------------------------------------------------- numbers

DUMPED = BOX + "dump d all custom 1 f id x\n"

# Every place where a real number is read, and where a whole one is.
REAL = [
    "lattice fcc {}", "lattice fcc scale {}", "lattice fcc 1 origin {} 0 0", "lattice fcc 1 origin 0 {} 0",
    "lattice fcc 1 origin 0 0 {}", "lattice fcc 1 spacing {} 1 1", "lattice fcc 1 spacing 1 1 {}",
    "lattice custom 1 a1 {} 0 0 basis 0 0 0", "lattice custom 1 a2 0 {} 0 basis 0 0 0",
    "lattice custom 1 a3 0 0 {} basis 0 0 0", "lattice custom 1 basis {} 0 0", "lattice custom 1 basis 0 0 {}",
    "region c block {} 1 0 1 0 1", "region c block 0 {} 0 1 0 1", "region c block 0 1 {} 1 0 1",
    "region c block 0 1 0 {} 0 1", "region c block 0 1 0 1 {} 1", "region c block 0 1 0 1 0 {}",
    "create_atoms 1 single {} 2 3", "create_atoms 1 single 2 {} 3", "create_atoms 1 single 2 3 {}",
    "mass 1 {}", "set type 1 type/fraction 2 {} 1", "velocity all create {} 1",
    "velocity all set {} 0 0", "velocity all set 0 {} 0", "velocity all set 0 0 {}",
    "velocity all uniform {} 1 1", "velocity all uniform 0 {} 1", "velocity all scale {}",
    "pair_style lj/cut {}", "pair_style repulsive {}", "pair_style repulsive 1 {}", "pair_style soft {}",
    "pair_coeff 1 1 {} 1", "pair_coeff 1 1 1 {}", "pair_coeff 1 1 1 1 {}",
    "neighbor {} bin", "neigh_modify binsize {}", "timestep {}",
    "minimize {} 0 1 1", "minimize 0 {} 1 1", "min_modify dmax {}", "min_modify tmax {}", "min_modify alpha0 {}",
    "fix 2 all langevin {} 1 1 1", "fix 2 all langevin 1 {} 1 1", "fix 2 all langevin 1 1 {} 1",
    "fix 2 all temp/rescale 1 {} 1 0 1", "fix 2 all temp/rescale 1 1 {} 0 1", "fix 2 all temp/rescale 1 1 1 {} 1",
    "fix 2 all temp/rescale 1 1 1 0 {}", "fix 2 all temp/berendsen {} 1 1", "fix 2 all temp/berendsen 1 {} 1",
    "fix 2 all temp/berendsen 1 1 {}",
    "fix 2 all setforce {} 0 0", "fix 2 all setforce NULL {} 0", "fix 2 all addforce 0 0 {}",
    "fix 2 all aveforce 0 {} NULL",
    "fix 2 all lineforce {} 0 1", "fix 2 all planeforce 1 {} 0", "fix 2 all gravity {} vector 0 0 1",
    "fix 2 all gravity 1 chute {}", "fix 2 all gravity 1 spherical 0 {}", "fix 2 all gravity 1 vector 0 {} 1",
    "fix 2 all indent {} sphere 1 2 3 1", "fix 2 all indent 1 sphere {} 2 3 1", "fix 2 all indent 1 sphere 1 2 3 {}",
    "fix 2 all indent 1 cylinder x {} 2 1", "fix 2 all indent 1 cylinder x 2 2 {}",
    "comm_modify cutoff {}", "package gpu skin {}", "delete_atoms overlap {} all all",
    "delete_atoms porosity b {} 5", "displace_atoms all move {} 0 0", "displace_atoms all ramp x 0 {} y 0 1",
    "displace_atoms all random 0 {} 0 5", "displace_atoms all rotate 0 0 0 0 0 1 {}", "set type 1 vx {}",
    "set type 1 x {}", "change_box all x final {} 1", "change_box all x delta 0 {}", "change_box all x scale {}",
    "velocity all ramp vx {} 1 x 0 1", "region c cone z 0 0 {} 1 0 1", "region c plane 0 0 0 {} 0 1",
    "region c prism 0 1 0 1 0 1 0 0 {}",
]
WHOLE = [
    "lattice fcc 1 orient x {} 0 0", "create_atoms {} single 2 2 2", "create_atoms 1 random {} 1 NULL",
    "create_atoms 1 random 5 {} NULL", "create_atoms 1 grid {}", "create_atoms 1 grid 5 seed {}",
    "set type {} type 1", "set atom {} type 1", "set type 1 type {}", "set type 1 type/fraction 2 0.5 {}",
    "set type 1 type/ratio 2 0.5 {}", "set type 1 type/subset 2 {} 5", "replicate 1 {} 1",
    "delete_atoms porosity b 0.5 {}", "displace_atoms all random 0 0 0 {}", "group g id < {}",
    "region c union {} b b",
    "mass {} 1", "velocity all create 1 {}", "velocity all uniform 0 1 {}", "pair_coeff {} 2 1 1",
    "pair_coeff 1 {} 1 1", "fix 2 all langevin 1 1 1 {}", "fix 2 all temp/rescale {} 1 1 0 1",
    "neigh_modify every {}", "neigh_modify delay {}", "neigh_modify one {}", "neigh_modify page {}", "thermo {}",
    "thermo_modify format {} %g",
    "dump e all custom {} g id", "dump e all density 1 g.png {}", "dump_modify d every {}",
    "dump_modify d pad {}", "dump_modify d precision {}", "dump_modify d format {} %g", "reset_timestep {}",
    "minimize 0 0 {} 1", "minimize 0 0 1 {}", "min_modify delaystep {}", "min_modify vdfmax {}",
    "run {}", "run {} upto", "package gpu rebin {}", "package gpu block {}", "package gpu device {}",
    "package gpu memory {}",
]


def dealt(k, always, others):
    """The words that place k is given. Each place could read numbers in a way of its own: the words of `always` are
    those that C's functions take. What only the project's own function can get wrong is dealt to the places in turn."""
    return (*always, *(others if k == 0 else (others[k % len(others)],)))


@pytest.mark.parametrize("k, template", list(enumerate(REAL)), ids=REAL)
def test_not_a_real_number(k, template, tmp_path):
    """strtod takes nan, 0x10 and the beginning of 12abc."""
    for word in dealt(k, ("nan", "12abc", "0x10"), ("-inf", "infinity", "1e999", "1,5", "--1", "1e", ".")):
        bad_line(tmp_path, template.format(word), word)


@pytest.mark.parametrize("k, template", list(enumerate(WHOLE)), ids=WHOLE)
def test_not_a_whole_number(k, template, tmp_path):
    """strtol takes the beginning of 1.5, and the nearest number it has in place of a large one. Each place has a least
    number of its own."""
    for word in dealt(k, ("1.5", "99999999999999999999", "-1"), ("nan", "inf", "12abc", "0x10")):
        bad_line(tmp_path, template.format(word), word, before=DUMPED)


def test_not_a_whole_number_before_the_box(tmp_path):
    region = "region b block 0 1 0 1 0 1\n"
    for word in ("nan", "1.5", "0", "-1", "1025", "99999999999999999999"):
        bad_line(tmp_path, f"create_box {word} b", word, before=region)
        bad_line(tmp_path, f"dimension {word}", word, before=EMPTY)
        bad_line(tmp_path, f"processors {word} 1 1", word, before=EMPTY)


OUT_OF_RANGE = {
    "run 99999999999999999999": ["number of steps", "at most 9223372036854775807"],
    "mass 1 0": ["mass", "positive", "0"],
    "mass 1 -1": ["mass", "positive", "-1"],
    "timestep -0.005": ["timestep", "positive", "-0.005"],
    "minimize -1 0 1 1": ["tolerance of the energy", "0 or more", "-1"],
    "minimize 0 -1 1 1": ["tolerance of the forces", "0 or more", "-1"],
    "minimize 0 0 -1 1": ["iterations", "-1"],
    "min_modify dmax 0": ["dmax", "positive"],
    "min_modify dtgrow 0.9": ["dtgrow", "1 or more", "0.9"],
    "min_modify dtshrink 1.5": ["dtshrink", "from 0 to 1", "1.5"],
    "min_modify alpha0 2": ["alpha0", "from 0 to 1"],
    "min_modify tmin -1": ["tmin", "0 or more"],
    "neighbor -0.1 bin": ["skin", "-0.1"],
    "pair_style lj/cut -2.5": ["-2.5", "rc", "positive"],
    "pair_style lj/cut 0": ["rc", "positive"],
    "pair_style repulsive -1": ["-1", "rc", "positive"],
    "pair_style repulsive 1 -0.1": ["-0.1", "rmin", "positive"],
    "pair_style soft -1": ["-1", "rc", "positive"],
    "pair_coeff 1 1 -1 1": ["epsilon", "-1"],
    "pair_coeff 1 1 1 -1": ["sigma", "-1"],
    "pair_coeff 1 1 1 1 -2.5": ["rc", "-2.5"],
    "lattice fcc 0": ["lattice density", "positive"],
    "lattice fcc -1": ["lattice density", "positive", "-1"],
    "lattice fcc 1 origin 1 0 0": ["origin", "fraction"],
    "lattice fcc 1 orient x 1 1 0": ["orient", "right angles"],
    "lattice custom 1 a1 0 1 0 basis 0 0 0": ["a1", "in a plane"],
    "velocity all create -1 1": ["-1", "negative"],
    "velocity all create 1 0": ["seed", "at least 1"],
    "velocity all scale -1": ["-1", "negative"],
    "velocity all scale 1": ["at rest", "velocity all create"],
    "velocity all uniform 1 0 1": ["increasing"],
    "set type 1 type/fraction 2 1.5 1": ["1.5", "0 and 1"],
    "create_atoms 1 single 7 1 1": ["x = 7", "outside the box", "0 to 6"],
    "create_atoms 1 random 99999999999999 1 NULL": ["too many"],
    "create_atoms 1 grid 99999999999999": ["too many"],
    "fix 2 all langevin -1 1 1 1": ["Tstart", "-1"],
    "fix 2 all langevin 1 1 0 1": ["damp", "positive"],
    "fix 2 all temp/rescale 0 1 1 0 1": ["N of fix temp/rescale", "from 1 to", "not 0"],
    "fix 2 all temp/rescale 1 -1 1 0 1": ["Tstart", "-1"],
    "fix 2 all temp/rescale 1 1 -1 0 1": ["Tstop", "-1"],
    "fix 2 all temp/rescale 1 1 1 -1 1": ["window", "-1"],
    "fix 2 all temp/rescale 1 1 1 0 0": ["fraction", "positive"],
    "fix 2 all temp/rescale 1 1 1 0 1.5": ["fraction", "at most 1", "1.5"],
    "fix 2 all temp/berendsen -1 1 1": ["Tstart", "-1"],
    "fix 2 all temp/berendsen 1 -1 1": ["Tstop", "-1"],
    "fix 2 all temp/berendsen 1 1 0": ["Tdamp", "positive"],
    "fix 2 all lineforce 0 0 0": ["lineforce", "must not be 0 0 0"],
    "fix 2 all planeforce 0 0 0": ["planeforce", "must not be 0 0 0"],
    "fix 2 all gravity 1 vector 0 0 0": ["gravity", "must not be 0 0 0"],
    "fix 2 all indent 1 sphere 1 2 3 0": ["radius", "positive"],
    "dump d all custom 0 f id": ["at least 1", "0"],
    "dump d all density 1 f.png 16385": ["16385", "from 1 to 16384"],
    "run -1": ["run -1", "step 0", "below 0"],
    "thermo -1": ["-1", "at least 0"],
    "reset_timestep -1": ["-1", "at least 0"],
    "neigh_modify every 0": ["every", "at least 1"],
    "neigh_modify binsize -1": ["binsize", "-1"],
}


@pytest.mark.parametrize("line", OUT_OF_RANGE)
def test_out_of_range(line, tmp_path):
    bad_line(tmp_path, line, *OUT_OF_RANGE[line])


def test_run_finds_what_is_missing(tmp_path):
    box = "region b block 0 6 0 6 0 6\ncreate_box 2 b\ncreate_atoms 1 single 1 1 1\n"
    bad_line(tmp_path, "run 1", "type 1", "mass 1 VALUE", before=box)
    bad_line(tmp_path, "run 1", "1 1", "pair_coeff", before=box + "mass * 1\npair_style lj/cut 2\n")
    bad_line(tmp_path, "run 10 upto", "10", "beyond", before=BOX + "reset_timestep 11\n")
    bad_line(tmp_path, "run 9223372036854775807", "2^63", before=BOX + "reset_timestep 1\n")
    bad_line(tmp_path, "run 1", "langevin", "nve",
             before=BOX + "unfix 1\nfix 2 all nve/leapfrog\nfix 3 all langevin 1 1 1 1\n")


def test_a_temperature_that_a_thermostat_cannot_have(tmp_path):
    before = BOX + "compute c all temp/com\nfix 2 all langevin 1 1 1 1\n"
    bad_line(tmp_path, "run 1", "fix langevin", "temp/com", before=before + "fix_modify 2 temp c\n")
    bad_line(tmp_path, "fix_modify 2 temp r", "'r'", "temp/region", "region s is not a block", "only for output here",
             before=before + "region s sphere 1 1 1 1\ncompute r all temp/region s\n")
    bad_line(tmp_path, "run 0", "fix nvt", "region", "degrees of freedom",
             before=BOX + "unfix 1\ncompute r all temp/region b\nfix 2 all nvt temp 1 1 1\nfix_modify 2 temp r\n")
    bad_line(tmp_path, "run 1", "temperature of fix langevin", "no compute 'c'",
             before=before + "fix_modify 2 temp c\nuncompute c\n")
    bad_line(tmp_path, "run 0", "'t'", "the pressure thermo_press",
             before=BOX + "compute t all temp\nthermo_modify temp t\nuncompute t\n")
    bad_line(tmp_path, "run 0", "compute s", "speed limit", "1e+06",
             before=BOX + "compute s all temp/ramp vx 0 1e6 y 0 1 units box\n")


WALLED = BOX.replace("region b", "boundary f f f\nregion b")


@pytest.mark.parametrize("style", ["lj93", "lj126", "lj1043", "harmonic"])
def test_walls_with_wrong_numbers(style, tmp_path):
    wall = f"fix 2 all wall/{style} "
    for line, words in {"zlo NEAR 1 1 2": ["NEAR", "neither EDGE nor a number"],
                        "zlo EDGE x 1 2": ["x", f"epsilon of fix wall/{style} zlo"],
                        "zlo EDGE 1 0 2": ["0", "sigma", "positive"],
                        "zlo EDGE 1 1 -2": ["-2", "cutoff", "positive"],
                        "zlo EDGE 1 1 2 zlo 1 1 1 1": ["zlo", "on that side already"]}.items():
        if style == "harmonic" and "sigma" in words:
            works(run_deck(tmp_path, WALLED + wall + line + "\nrun 0\n"))  # It has no sigma, and decks write 0.
        else:
            bad_line(tmp_path, wall + line, f"wall/{style}", *words, before=WALLED)
    flat = WALLED.replace("region b", "dimension 2\nregion b").replace("boundary f f f", "boundary f f p")
    flat = flat.replace("1 1 1\n", "1 1 0\n", 1).replace("3 3 3", "3 3 0").replace("0 6 0 6 0 6", "0 6 0 6 -1 1")
    bad_line(tmp_path, wall + "zlo EDGE 1 1 2", "two dimensions have no z walls", before=flat)


@pytest.mark.parametrize("style", ["lj93 zlo EDGE 1 1 2", "harmonic zlo EDGE 1 1 2", "reflect zlo EDGE"])
def test_walls_on_a_face_that_follows_the_particles(style, tmp_path):
    for letter in ("s", "m", "sf"):
        before = WALLED.replace("boundary f f f", f"boundary f f {letter}")
        bad_line(tmp_path, f"fix 2 all wall/{style}", "zlo EDGE", "follows the particles", "boundary f", before=before)
    before = WALLED.replace("boundary f f f", "boundary f f fs")
    works(run_deck(tmp_path, before + f"fix 2 all wall/{style}\n"))


@pytest.mark.parametrize("fix", ["addforce 0 0 1", "gravity 1 vector 0 0 1"])
def test_an_energy_that_depends_on_the_image(fix, tmp_path):
    before = BOX + f"fix 2 all {fix}\n"
    bad_line(tmp_path, "fix_modify 2 energy yes", "along z", "periodic", "boundary f", before=before)
    bad_line(tmp_path, "thermo_style custom step f_2", "f_2", "along z", "periodic", before=before)
    works(run_deck(tmp_path, before + "run 1\n"))


def test_too_many_walls(tmp_path):
    six = "".join(f" {face} EDGE 1 1 0.5" for face in ("xlo", "xhi", "ylo", "yhi", "zlo", "zhi"))
    walls = "".join(f"fix w{k} all wall/harmonic{six}\n" for k in range(6))
    bad_line(tmp_path, "run 0", "at most 32 walls", before=WALLED + walls)
    bad_line(tmp_path, f"fix 2 all wall/lj93{six}{six}", "wall on every side", before=WALLED)


def test_cutoff_beyond_many_sides_of_the_box(engine, tmp_path):
    words = harness.engine_words(engine)
    done = run_deck(tmp_path, BOX + "pair_coeff 1 2 1 1 96.001\nrun 1\n", *words)
    refused(done, USAGE, "96.001", "16 times", "along x", "6", "larger box", line=LINES + 2)
    works(run_deck(tmp_path, BOX + "pair_coeff 1 2 1 1 96\nrun 1\n", *words))


# ---------------------------------------------------------------- variables

VARIABLES = {
    "run ${nope}": ["nope"],
    "run $n": ["n"],
    "print $(v_nope)": ["nope"],
    "print $(1/0)": ["1/0", "division by zero"],
    "print $(1%0)": ["1%0", "division by zero"],
    "print $(sqrt(-1))": ["sqrt", "not a number"],
    "print $(ln(0))": ["ln", "infinite"],
    "print $(1e308*10)": ["infinite"],
    "print $(1e999)": ["infinite"],
    "print $(nan)": ["nan"],
    "print $(inf)": ["inf"],
    "print $(2+)": ["2+", "ends too early"],
    "print $(2 3)": ["unexpected '3'"],
    "print $((1)": ["parenthesis"],
    "print ${open": ["brace"],
    "print $": ["$"],
    "print $(pow(2,3))": ["pow", "sqrt"],
    "print $(temp)": ["temp", "create_box"],
    "print $(lx)": ["lx", "box"],
    "print $(1:%d)": ["%d", "%g"],
    "print $(1:%s)": ["%s"],
    "print $(" + "(" * 200 + "1" + ")" * 200 + ")": ["deep"],
    "print 'no end": ["quote", "no end"],
    'print """no end': ["triple quotes"],
    "run 1 &": ["continued with &"],
}


@pytest.mark.parametrize("line", VARIABLES)
def test_variables(line, tmp_path):
    bad_line(tmp_path, line, *VARIABLES[line], before=EMPTY)


def test_formulas_before_the_first_run(tmp_path):
    for keyword in ("temp", "press", "pe", "elapsed"):
        bad_line(tmp_path, f"print $({keyword})", keyword, "before the first run")


def test_recursive_variables(tmp_path):
    bad_line(tmp_path, "print ${a}", "a", "circular", before="variable a equal v_a+1\n")
    bad_line(tmp_path, "print $(v_b)", "circular",
             before="variable a equal v_b\nvariable b equal v_c\nvariable c equal v_a\n")
    doubling = "variable x0 equal 1\n" + "".join(f"variable x{n} equal v_x{n - 1}+v_x{n - 1}\n" for n in range(1, 60))
    bad_line(tmp_path, "print ${x59}", "operands", before=doubling)


def test_undefined_variable_in_the_thermo_table(tmp_path):
    bad_line(tmp_path, "run 1", "nope", before=BOX + "thermo_style custom step v_nope\n")
    bad_line(tmp_path, "run 1", "division by zero",
             before=BOX + 'variable d equal "1/(step-1)"\nthermo 1\nthermo_style custom step v_d\n')


@pytest.mark.parametrize("line, what", [("include nowhere", "include: cannot read"),
                                        ("jump nowhere", "jump: cannot read"),
                                        ("variable v file nowhere", "variable v: cannot read")])
def test_a_file_of_the_deck_that_is_not_there(line, what, tmp_path):
    bad_line(tmp_path, line, f"{what} nowhere: No such file", status=RUNTIME)


def test_redefined_variable(tmp_path):
    bad_line(tmp_path, "variable a equal 2", "a", before="variable a index 1\n")


# ---------------------------------------------------------------- data files

DATA = """\
made by a test

3 atoms
2 atom types

0 6 xlo xhi
0 6 ylo yhi
0 6 zlo zhi

Masses

1 1
2 4

Atoms # atomic

1 1 1 1 1
2 2 3 3 3
3 1 5 5 5

Velocities

1 0.1 0 0
2 0 0.1 0
3 0 0 0.1
"""


def bad_data(folder: Path, text, *words: str, status: int = USAGE, line=None, boundary: str = "p p p") -> None:
    data = text.encode() if isinstance(text, str) else text
    (folder / "data").write_bytes(data)
    done = run_deck(folder, f"boundary {boundary}\nread_data data\n")
    message = refused(done, status, "data", *words, line=2)
    if line is not None:
        assert f" data:{line}: " in message, message


# a line of DATA, what replaces it, what the message names
DATA_LINES = [
    (3, "-3 atoms", ["atoms", "negative"]),
    (3, "3.5 atoms", ["3.5", "whole number"]),
    (3, "nan atoms", ["nan"]),
    (3, "99999999999999999999 atoms", ["99999999999999999999", "64 bits"]),
    (3, "2 atoms", ["more lines than the 2"]),
    (3, "3 atoms 4", ["3"]),
    (4, "0 atom types", ["0", "1 to 1024"]),
    (4, "1025 atom types", ["1025", "1 to 1024"]),
    (4, "4 bonds", ["bonds", "atom_style bond"]),
    (6, "0 nan xlo xhi", ["nan"]),
    (6, "0 inf xlo xhi", ["inf"]),
    (6, "6 0 xlo xhi", ["x bounds"]),
    (6, "0 0 xlo xhi", ["x bounds"]),
    (6, "0 1e999 xlo xhi", ["1e999"]),
    (6, "0 6 0 1 0.5 0.5 xy xz yz", ["0"]),
    (10, "Massses", ["Massses", "only Masses, Pair Coeffs, PairIJ Coeffs, Atoms and Velocities"]),
    (12, "1 0", ["mass", "positive"]),
    (12, "1 -1", ["mass", "positive", "-1"]),
    (12, "1 nan", ["nan"]),
    (12, "1 inf", ["inf"]),
    (12, "2 1", ["type 2", "twice"]),
    (12, "3 1", ["no type 3", "says 2 atom types"]),
    (12, "1", ["type mass"]),
    (15, "Atoms # full", ["full", "atomic"]),
    (17, "2 1 1 1 1", ["2", "twice"]),
    (17, "0 1 1 1 1", ["id 0", "positive"]),
    (17, "-1 1 1 1 1", ["id -1", "positive"]),
    (17, "1.5 1 1 1 1", ["1.5", "whole"]),
    (17, "9223372036854775808 1 1 1 1", ["9223372036854775808", "64 bits"]),
    (17, "1 3 1 1 1", ["no type 3", "says 2 atom types"]),
    (17, "1 0 1 1 1", ["type 0"]),
    (17, "1 1 nan 1 1", ["nan", "finite"]),
    (17, "1 1 1 inf 1", ["inf", "finite"]),
    (17, "1 1 1 1 1e999", ["1e999", "finite"]),
    (17, "1 1 1 1 x", ["x", "number"]),
    (17, "1 1 1e300 1 1", ["boxes away", "1e+300"]),
    (17, "1 1 1 1", ["id type x y z"]),
    (17, "1 1 1 1 1 1", ["id type x y z"]),
    (17, "1 1 1 1 1 0 0 0.5", ["0.5", "whole"]),
    (23, "7 0.1 0 0", ["7", "not in section Atoms"]),
    (24, "1 0 0.1 0", ["particle 1", "twice"]),
    (23, "1 nan 0 0", ["nan"]),
    (23, "1 inf 0 0", ["inf"]),
    (23, "1 0 0", ["id vx vy vz"]),
]


@pytest.mark.parametrize("line, text, words", DATA_LINES)
def test_data_file(line, text, words, tmp_path):
    lines = DATA.splitlines()
    lines[line - 1] = text
    bad_data(tmp_path, "\n".join(lines) + "\n", *words)


def test_data_file_duplicate_id_names_the_line(tmp_path):
    bad_data(tmp_path, DATA.replace("3 1 5 5 5", "2 1 5 5 5"), "particle id 2", "twice", line=19)


def test_data_file_outside_the_box(tmp_path):
    outside = DATA.replace("3 1 5 5 5", "3 1 5 6.5 5")
    bad_data(tmp_path, outside, "particle 3", "outside the box", "y = 6.5", "0 and 6", line=19, boundary="f f f")
    (tmp_path / "data").write_text(outside)
    works(run_deck(tmp_path, "boundary f p f\nread_data data\nwrite_data wrapped\n"))
    assert "\n3 1 5 0.5 5 0 1 0\n" in (tmp_path / "wrapped").read_text()


def test_data_file_truncated(tmp_path):
    """A file that ends early is refused, unless it ends where a shorter complete file would."""
    complete = DATA.index("Velocities")
    for end in range(0, len(DATA) - 1, 2):
        text = DATA[:end]
        (tmp_path / "data").write_text(text)
        done = run_deck(tmp_path, "read_data data\n")
        if DATA.index("5 5 5") + 4 < end <= complete:
            assert done.status == 0, f"{end}: {done.err}"
        elif done.status == 0:
            # Cut within the last number: what is left is one still.
            assert end > DATA.index("5 5 5") + 2 and text[-1] in "0123456789.", text[-30:]
        else:
            refused(done, USAGE, "data", line=1)


def test_data_file_truncated_says_so(tmp_path):
    bad_data(tmp_path, DATA[:DATA.index("3 1 5")], "Atoms", "2 of 3", "truncated")
    bad_data(tmp_path, DATA[:DATA.index("3 0 0 0.1")], "Velocities", "2 of 3", "truncated")
    bad_data(tmp_path, DATA[:DATA.index("Atoms")], "Atoms", "3 atoms")
    bad_data(tmp_path, DATA.replace("3 atoms", "999999999999 atoms"), "truncated", "999999999999")
    bad_data(tmp_path, "", "empty")
    bad_data(tmp_path, "\n\n", "N atoms")


def test_data_file_unreadable(tmp_path):
    done = run_deck(tmp_path, "read_data nowhere\n")
    refused(done, RUNTIME, "nowhere", "No such file", line=1)
    (tmp_path / "folder").mkdir()
    refused(run_deck(tmp_path, "read_data folder\n"), RUNTIME, "folder", "directory", line=1)


def test_data_file_garbage(tmp_path):
    bytes_ = random.Random(1)
    for length in (1, 100, 10000):
        bad_data(tmp_path, bytes_.randbytes(length))
    bad_data(tmp_path, DATA.replace("Masses", "Mas\0ses"), "zero byte")
    bad_data(tmp_path, "a\n\x1b[2J\x07 atoms\n", "?[2J?")
    bad_data(tmp_path, b"a\n" + b"1" * 50_000_000, "longer than")


# ---------------------------------------------------------------- physics


NAIVE = ("--engine", "naive")
OPENMP = [("--threads", str(t)) for t in (1, 2, 3, 4)]
ON_GPU = [tuple(harness.engine_words(name, package)) for name, package in (
    ("gpu", {"neighbours": "cells"}), ("gpu-symmetric", {"neighbours": "cells"}), ("gpu", {"neighbours": "list"}),
    ("gpu-naive", {}))]


@pytest.fixture(params=["openmp", pytest.param("gpu", marks=pytest.mark.gpu)])
def others(request) -> List[Tuple[str, ...]]:
    """The command lines of an engine that is compared with naive."""
    return {"openmp": OPENMP, "gpu": ON_GPU}[request.param]


@pytest.fixture
def everywhere(others) -> Callable[..., str]:
    """Runs a deck on naive and on another engine in all its ways: all stop with the same message, which it returns."""

    def stop(folder: Path, deck: str, *words: str, line: int, status: int = PHYSICS) -> str:
        message = refused(run_deck(folder, deck, *NAIVE), status, *words, line=line)
        for arguments in others:
            assert refused(run_deck(folder, deck, *arguments), status, line=line) == message, arguments
        return message

    return stop


def box_of(*positions: str, size: float = 9.0, boundary: str = "p p p") -> str:
    deck = f"boundary {boundary}\nregion b block 0 {size} 0 {size} 0 {size}\ncreate_box 1 b\nmass 1 1\n"
    return deck + "".join(f"create_atoms 1 single {x}\n" for x in positions)


LJ = "pair_style lj/cut 2.5\npair_coeff 1 1 1 1\nfix 1 all nve\n"


def test_overlapping_particles(everywhere, tmp_path):
    deck = box_of("1 1 1", "4 4 4", "7 7 7", "4 4 4.00001") + LJ + "run 10\n"
    message = everywhere(tmp_path, deck, "particles 2 and 4", "overlap", "step 0", "timestep", line=12)
    assert float(re.search(r"distance (\S+):", message)[1]) == pytest.approx(1e-5, rel=1e-4)


def test_a_timestep_is_too_long_for_the_masses(everywhere, tmp_path):
    """Particles at their usual distance are no overlap, and a timestep as the message says works."""
    deck = box_of("4 4 4", "4 4 5.1").replace("mass 1 1", "mass 1 1e-20") + LJ + "run 10\n"
    message = everywhere(tmp_path, deck, "particles 1 and 2", "timestep 0.005 is too long", "masses", line=10)
    assert "overlap" not in message
    dt = re.search(r"timestep below (\S+)", message)[1]
    works(run_deck(tmp_path, deck.replace("run", f"timestep {dt}\nrun")))


def test_particles_in_one_place(everywhere, tmp_path):
    deck = box_of("4 4 4", "1 1 1", "4 4 4") + LJ + "run 10\n"
    everywhere(tmp_path, deck, "particles 1 and 3", "overlap", "distance 0", line=11)


def test_overlap_across_the_periodic_boundary(everywhere, tmp_path):
    deck = box_of("4 4 4", "0 5 5", "8.99999 5 5") + LJ + "run 10\n"
    everywhere(tmp_path, deck, "particles 2 and 3", "overlap", "distance 1e-05", line=11)


def test_a_particle_goes_beyond_the_room_of_a_run(everywhere, tmp_path):
    """The room follows from box and cutoff: 4096 sigma here.  In two runs the particles get further."""
    deck = box_of("4 4 4", "1 1 1", boundary="f f s") + LJ + "velocity all set 0 0 50\nrun {}\n"
    everywhere(tmp_path, deck.format(20000), "went to z = 409", "ends at 4096", "divide the run into two", line=11,
               status=USAGE)
    works(run_deck(tmp_path, deck.format(10000) + "run 10000\nprint $(zhi)\n"))


def test_the_overlap_of_the_smallest_ids_is_named(everywhere, tmp_path):
    deck = box_of("7 7 7", "1 1 1", "7 7 7.00002", "1 1 1.00001", "4 4 4", "4 4 4") + LJ + "run 10\n"
    everywhere(tmp_path, deck, "particles 1 and 3", line=14)


def test_overlap_on_the_way(everywhere, tmp_path):
    """A particle that meets another at enormous speed, among many at rest."""
    particles = ["2 4.5 4.5", "7 4.5 4.5"] + [f"{x} {y} 1" for x in range(9) for y in range(9)]
    deck = box_of(*particles) + LJ
    deck = deck.replace("create_atoms 1 single 7 4.5 4.5\n",
                        "velocity all set 100 0 0\ncreate_atoms 1 single 7 4.5 4.5\n")
    deck += "timestep 0.0024\nrun 100\n"
    message = everywhere(tmp_path, deck, "particles 1 and 2", "overlap", line=deck.count("\n"))
    step = int(re.search(r"step (\d+):", message)[1])
    assert step > 0
    # Also where forces are summed at the end of a run, or right after a row of output.
    for end in (f"run {step + 1}\n", f"thermo 1\nrun {step + 9}\n", f"run {step}\nrun 1\n"):
        again = deck.replace("run 100\n", end)
        assert everywhere(tmp_path, again, line=again.count("\n")).split(": ", 3)[-1] == message.split(": ", 3)[-1]


FAST_PAIR = LJ + "velocity all set 215 0 0\ntimestep {}\nrun 1000\n"


def test_too_large_a_timestep(everywhere, tmp_path):
    """A fast close pair is thrown apart; with the message's own timestep the deck runs."""
    deck = box_of("4 4 4", "3.28 4 4") + FAST_PAIR
    message = everywhere(tmp_path, deck.format(0.01), "along x", "timestep smaller", line=deck.count("\n"))
    assert re.match(r"in.deck:\d+: step 0: particle 1 is too fast: ", message), message
    # One step must not cross a quarter of the box.
    assert float(re.search(r"speed ([\d.e+]+)", message)[1]) > 9.0 / 4 / 0.01
    smaller = re.search(r"timestep smaller than (\S+)$", message)[1]
    assert 0.0 < float(smaller) < 0.01
    works(run_deck(tmp_path, deck.format(smaller)))


def test_too_large_a_timestep_between_walls(everywhere, tmp_path):
    walls = "fix w all wall/reflect " + " ".join(f"{d}{s} EDGE" for d in "xyz" for s in ("lo", "hi")) + "\n"
    deck = box_of("4 4 4", "3.28 4 4", boundary="f f f") + walls + FAST_PAIR
    everywhere(tmp_path, deck.format(0.01), "particle 1 is too fast", "timestep smaller", line=deck.count("\n"))


def test_a_timestep_beyond_all_range(everywhere, tmp_path):
    """One kick would carry each particle across the box."""
    deck = box_of("4 4 4", "4.75 4 4") + LJ + "timestep 100\nrun 10\n"
    everywhere(tmp_path, deck, "particles 1 and 2", "timestep 100 is too long", line=deck.count("\n"))


def test_too_fast_from_the_start(everywhere, tmp_path):
    deck = box_of("4 4 4", "1 1 1") + "fix 1 all nve\nvelocity all set 0 -600 0\nrun 10\n"
    message = everywhere(tmp_path, deck, "step 0", "particle 1", "speed 600", "along y", "timestep", line=9)
    smaller = re.search(r"timestep below (\S+)$", message)[1]
    assert 0.0 < float(smaller) < 0.005
    works(run_deck(tmp_path, deck.replace("run", f"timestep {smaller}\nrun")))


def lost(others: Sequence[Tuple[str, ...]], folder: Path, deck: str, where: str, step: int) -> None:
    """Every engine stops naming `where`, at the step of the loss, with the same message."""
    messages = set()
    for arguments in (NAIVE, *others):
        done = run_deck(folder, deck + "run 20000\nwrite_data after\n", *arguments)
        message = refused(done, PHYSICS, "is lost", where, "periodic", "wall/reflect", line=deck.count("\n") + 1)
        assert f" step {step}: particle " in message, message
        messages.add(message)
        # No run ends well with a particle outside.
        works(run_deck(folder, deck + f"run {step}\nwrite_data before\n", *arguments))
        done = run_deck(folder, deck + f"run {step + 1}\nwrite_data after\n", *arguments)
        refused(done, PHYSICS, "is lost", where)
        assert (folder / "before").exists() and not (folder / "after").exists()
        (folder / "before").unlink()
    assert len(messages) == 1, messages


def test_lost_particle(others, tmp_path):
    """Free flight: 1 + n/64 is beyond 9 first in the step from 512 to 513."""
    deck = box_of("5 1 5", "4 4 4", boundary="p f p") + "timestep 0.015625\nfix 1 all nve\n"
    deck = deck.replace("create_atoms 1 single 4", "velocity all set 0 1 0\ncreate_atoms 1 single 4")
    lost(others, tmp_path, deck, "particle 1 is lost: y = 9.", 512)


def test_lost_particle_in_the_plane(others, tmp_path):
    deck = """\
dimension 2
boundary f f p
region b block 0 9 0 9 -0.5 0.5
create_box 1 b
mass 1 0.01
create_atoms 1 grid 100
velocity all uniform -1 1 7
pair_style repulsive 0.5
timestep 0.0005
fix 1 all nve/leapfrog
"""
    done = run_deck(tmp_path, deck + "run 20000\n", "--engine", "naive")
    step = int(re.search(r"step (\d+): particle", refused(done, PHYSICS, "is lost"))[1])
    lost(others, tmp_path, deck, "outside the box [0, 9]", step)


def test_particle_that_is_nowhere(others, tmp_path):
    """The noise of a thermostat beyond all range makes infinite velocities."""
    deck = box_of("4 4 4", "1 1 1") + "fix 1 all nve\nfix 2 all langevin 1e308 1e308 1 1\nrun 5\n"
    for arguments in (NAIVE, *others):
        refused(run_deck(tmp_path, deck, *arguments), PHYSICS,
                "step 0: particle 1 has no finite position or velocity: x = ", line=9)


# ---------------------------------------------------------------- output that cannot be written


def writes(folder: Path) -> Dict[str, str]:
    """Decks that write a file NAME."""
    return {
        "dump custom": BOX + "dump d all custom 1 NAME id x\nrun 1\n",
        "dump atom": BOX + "dump d all atom 1 NAME\nrun 1\n",
        "dump extxyz": BOX + "dump d all extxyz 1 NAME\nrun 1\n",
        "dump frames": BOX + "dump d all frames 1 NAME\nrun 1\n",
        "print": "print text file NAME\n",
        "print append": "print text append NAME\n",
        "write_data": BOX + "write_data NAME\n",
    }


KINDS = sorted(writes(Path()))


@pytest.mark.parametrize("kind", KINDS)
def test_disk_full(kind, tmp_path):
    deck = writes(tmp_path)[kind].replace("NAME", "/dev/full")
    refused(run_deck(tmp_path, deck), RUNTIME, "/dev/full", "No space left on device", line=deck.count("\n"))
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize("kind", KINDS + ["dump gz", "density"])
def test_disk_full_within_a_file(kind, tmp_path):
    """A disk that takes 3 bytes, where files would be longer."""
    decks = writes(tmp_path)
    decks["dump gz"] = decks["dump custom"].replace("NAME", "NAME.gz")
    decks["density"] = decks["dump frames"].replace("frames 1 NAME", "density 1 NAME.png 8")
    done = run_deck(tmp_path, decks[kind].replace("NAME", "out"), "-screen", "none", file_size=3)
    # The deck itself is larger than what the limit allows, but was written before.
    refused(done, RUNTIME, "out", "File too large", line=decks[kind].count("\n"))


@pytest.mark.parametrize("kind", ["write_data", "density"])
def test_a_failed_write_keeps_the_file_before(kind, tmp_path):
    name = {"write_data": "out", "density": "out.png"}[kind]
    deck = {"write_data": BOX + "write_data out\n", "density": BOX + "dump d all density 1 out.png 8\nrun 1\n"}[kind]
    (tmp_path / name).write_text("precious")
    refused(run_deck(tmp_path, deck, file_size=3), RUNTIME, "File too large")
    assert (tmp_path / name).read_text() == "precious"
    assert {path.name for path in tmp_path.iterdir()} == {"in.deck", name}


def test_disk_full_log(tmp_path):
    runs = BOX + "run 1\nrun 1000000000000\n"
    refused(run_deck(tmp_path, runs, "-log", "/dev/full"), RUNTIME, "log", "disk full", line=LINES + 1)
    refused(run_deck(tmp_path, "log /dev/full\n" + runs), RUNTIME, "log", "disk full", line=LINES + 2)
    refused(run_deck(tmp_path, "print hello\n", "-log", "/dev/full"), RUNTIME, "log", "disk full")
    refused(run_deck(tmp_path, "print hello\nlog none\n", "-log", "/dev/full"), RUNTIME, "log", "disk full")


def test_disk_full_screen(tmp_path):
    with open("/dev/full", "wb") as full:
        refused(run_deck(tmp_path, "print hello\n", stdout=full), RUNTIME, "screen", "disk full")
        for arguments in (["help"], ["help", "run"], ["info"], ["--version"], ["--help"]):
            refused(call(tmp_path, *arguments, stdout=full), RUNTIME, "standard output", "No space left")


@pytest.mark.parametrize("kind", KINDS + ["density"])
def test_unwritable(kind, tmp_path):
    deck = {**writes(tmp_path), "density": BOX + "dump d all density 1 NAME.png 8\nrun 1\n"}[kind]
    last = deck[:deck.index("NAME")].count("\n") + 1
    refused(run_deck(tmp_path, deck.replace("NAME", "nowhere/out")), RUNTIME, "nowhere/out", line=last)
    (tmp_path / "file").write_text("")
    refused(run_deck(tmp_path, deck.replace("NAME", "file/out")), RUNTIME, "file/out", line=last)
    (tmp_path / "out").mkdir()
    (tmp_path / "out.png").mkdir()
    refused(run_deck(tmp_path, deck.replace("NAME", "out")), RUNTIME, "out", "irectory", line=last)


def test_unwritable_dump_is_found_before_the_run(tmp_path):
    """An hour's run must not end in a folder that was never there."""
    for name in ("nowhere/f", "nowhere/f.*", "nowhere/f.*.gz"):
        done = run_deck(tmp_path, BOX + f"dump d all custom 1000000 {name} id\nrun 1000000\n", limit=10)
        refused(done, RUNTIME, "nowhere", "dump d", line=LINES + 1)
        assert "Step" not in done.out


def test_unwritable_log(tmp_path):
    refused(run_deck(tmp_path, "", "-log", "nowhere/log"), RUNTIME, "nowhere/log", "-log none")
    refused(run_deck(tmp_path, "log nowhere/log\n"), RUNTIME, "nowhere/log", "No such file", line=1)
    refused(run_deck(tmp_path, "", "-screen", "nowhere/screen"), RUNTIME, "nowhere/screen")


# ---------------------------------------------------------------- decks that are none


def test_no_deck(tmp_path):
    refused(call(tmp_path, "-in", "nowhere", "-log", "none"), RUNTIME, "nowhere", "No such file")
    (tmp_path / "folder").mkdir()
    refused(call(tmp_path, "-in", "folder", "-log", "none"), RUNTIME, "folder", "directory")


def test_empty_deck(tmp_path):
    for text in ("", "\n", "# nothing", "   \n\t\n\n"):
        works(run_deck(tmp_path, text))


def test_garbage_as_a_deck(tmp_path):
    bytes_ = random.Random(2)
    for length in (1, 10, 1000, 100000):
        for _ in range(5):
            refused(run_deck(tmp_path, bytes_.randbytes(length - 1) + b"\xff"), USAGE, "in.deck:")
    for start in (b"\x7fELF\x02\x01\x01\0\0", b"\x89PNG\r\n\x1a\n", b"\x1f\x8b\x08\0\0", "run 1\n".encode("utf-16"),
                  b"run 1\0", b"\x1b[2J", b"print \xe4\xf6\n", b"\0" * 4096):
        refused(run_deck(tmp_path, start), USAGE, "is this file a deck?")
    refused(run_deck(tmp_path, "units lj\nprint 'a\x01b'\n"), USAGE, "0x01", "line 2", line=2)


def test_message_is_one_line(tmp_path):
    """Text in triple quotes may hold line ends, and -var any byte; neither may break the message."""
    refused(run_deck(tmp_path, 'echo """one\ntwo"""\n'), USAGE, "one?two")
    refused(run_deck(tmp_path, "echo $x\n", "-var", "x", "\x1b[31mred"), USAGE, "?[31mred")


def test_long_lines(tmp_path):
    long = b"a" * 100_000_000
    refused(run_deck(tmp_path, long, limit=20), USAGE, "1 MiB", "deck", line=1)
    refused(run_deck(tmp_path, b"units lj\n# " + long, limit=20), USAGE, "1 MiB", line=2)
    refused(run_deck(tmp_path, b"print a&\n" * 1_000_000, limit=20), USAGE, "1 MiB", line=1)
    refused(run_deck(tmp_path, b'print """\n' + b"a\n" * 1_000_000, limit=20), USAGE, "1 MiB", line=1)
    word = "x" * 1_000_000
    for line in (word, f"{word} 1", f"mass 1 {word}", f"fix {word} all nve", f"fix 2 all {word}",
                 f"thermo_style custom {word}", f"run {word}", f"velocity all {word}",
                 f"create_atoms 1 {word}", f"lattice {word} 1", f"pair_style {word}",
                 f"region {word} block 0 1 0 1 0 1",
                 f"dump {word} all atom 1 f", f"dump d all atom 1 {word}/f\nrun 1", f"print $({word})"):
        done = run_deck(tmp_path, BOX + line + "\n")
        refused(done, done.status or USAGE, "in.deck:")
        assert len(done.err) < 5000


def test_many_words(tmp_path):
    refused(run_deck(tmp_path, BOX + "mass" + " 1" * 500_000 + "\n"), USAGE, "500000", "usage: mass", line=LINES + 1)


def test_carriage_returns(tmp_path):
    """A deck written on Windows is the same deck."""
    deck = BOX + "variable n index 3\nprint \"value $n\"\nthermo 1\nrun &\n $n\n"
    plain = works(run_deck(tmp_path, deck)).out
    windows = works(run_deck(tmp_path, deck.replace("\n", "\r\n"), "-echo", "screen")).out
    rows = [line for line in plain.splitlines() if re.match(r" +\d+ ", line)]
    assert len(rows) == 4 and "value 3" in plain
    assert [line for line in windows.splitlines() if re.match(r" +\d+ ", line)] == rows
    assert "value 3\n" in windows and "\r" not in windows
    works(run_deck(tmp_path, b"\xef\xbb\xbf" + deck.encode()))


def test_missing_final_newline(tmp_path):
    assert "\nlast word\n" in works(run_deck(tmp_path, "units lj\nprint 'last word'")).out
    refused(run_deck(tmp_path, "units lj\nunits"), USAGE, "units takes", line=2)


def test_the_line_of_a_continued_command(tmp_path):
    """A command of several lines is known by its first; lines after it keep their numbers."""
    refused(run_deck(tmp_path, "units &\n lj &\n lj\n"), USAGE, "units takes", line=1)
    refused(run_deck(tmp_path, "units &\n lj\n\n# comment\nunit lj\n"), USAGE, "unit", line=5)


def test_an_error_stops_the_deck_and_is_logged(tmp_path):
    done = run_deck(tmp_path, "print before\nwrong\nprint after\n", "-log", "log")
    refused(done, USAGE, "wrong", line=2)
    assert "before" in done.out and "after" not in done.out
    log = (tmp_path / "log").read_text()
    assert "before" in log and log.endswith("ERROR: " + done.err[len("myriad: error: "):])


# ---------------------------------------------------------------- memory

MANY = """\
units lj
lattice fcc 0.8442
region b block 0 2000 0 2000 0 2000
create_box 1 b
"""
LIQUID = """\
units lj
lattice fcc 0.8442
region b block 0 50 0 50 0 50
create_box 1 b
create_atoms 1 box
mass 1 1
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
fix 1 all nve
"""


@pytest.mark.parametrize("created", ["random 2000000000 5 NULL", "grid 2000000000", "grid 2000000000 seed 3",
                                     "region part"])
def test_more_particles_than_memory(created, tmp_path):
    """Refused before they are made, which would take long."""
    begin = MANY + "region part block 0 2000 0 2000 0 125\n"
    done = run_deck(tmp_path, f"{begin}create_atoms 1 {created}\n", variables={"MYRIAD_MEMORY": "4"}, limit=5)
    message = refused(done, RUNTIME, "particles need 108.", "GiB", "(MYRIAD_MEMORY)", "MYRIAD_MEMORY=off", line=6)
    room = int(re.search(r"room for (\d+)", message)[1])
    assert 0.9 * 4 * 2**30 < 58 * room <= 4 * 2**30


@pytest.mark.slow
def test_a_run_that_needs_more_than_memory(tmp_path):
    line = LIQUID.count("\n") + 1
    done = run_deck(tmp_path, LIQUID + "run 1\n", variables={"MYRIAD_MEMORY": "0.1"})
    message = refused(done, RUNTIME, "for 500000 particles", "MYRIAD_MEMORY=off", line=line)
    fits = int(re.search(r"(\d+) would fit", message)[1])
    assert 100_000 < fits < 400_000
    works(run_deck(tmp_path, LIQUID + "run 1\n", variables={"MYRIAD_MEMORY": "2"}))
    works(run_deck(tmp_path, LIQUID + "run 1\n", variables={"MYRIAD_MEMORY": "off"}))


def test_memory_that_is_no_number(tmp_path):
    refused(run_deck(tmp_path, BOX, variables={"MYRIAD_MEMORY": "plenty"}), USAGE, "MYRIAD_MEMORY", "plenty", "off")


# ---------------------------------------------------------------- boxes

@pytest.mark.parametrize("bounds", ["0 1e16 0 1 0 1", "0 1 -9e307 9e306 0 1", "0 1 0 1 1e15 1.1e15",
                                    "0 9e307 0 9e307 0 9e307"])
def test_boxes_that_doubles_cannot_resolve(bounds, tmp_path):
    deck = f"region b block {bounds} units box\ncreate_box 1 b\n"
    refused(run_deck(tmp_path, deck), USAGE, "too far out", "1e+15", line=2)
    lo_hi = bounds.split()
    text = "t\n\n0 atoms\n1 atom types\n" + "".join(
        f"{lo_hi[2 * d]} {lo_hi[2 * d + 1]} {a}lo {a}hi\n" for d, a in enumerate("xyz"))
    (tmp_path / "f.data").write_text(text)
    refused(run_deck(tmp_path, "read_data f.data\n"), USAGE, "too far out", "1e+15")


def test_the_widest_box(tmp_path):
    """Without motion; doubles there do not resolve the steps of a usual timestep."""
    deck = BOX.replace("0 6 0 6 0 6", "-1e15 1e15 -1e15 1e15 -1e15 1e15")
    refused(run_deck(tmp_path, deck + "run 2\n"), USAGE, "too short for a box", "use a timestep of")
    works(run_deck(tmp_path, re.sub(r"(?m)^fix .*\n", "", deck) + "run 2\n"))


@pytest.mark.parametrize("cutoff, words", [
    ("5e-324", ["types 1 and 1", "the cutoff 4.94066e-324 is out of range"]),
    ("1e-200", ["types 1 and 1", "the cutoff 1e-200 is out of range"]),
    ("1e200", ["types 1 and 1", "the cutoff 1e+200 is out of range"]),
    ("1e30", ["the cutoff 1e+30 is too large for a box whose longest side is 5"]),
])
@pytest.mark.parametrize("style, coefficients", [("gauss/cut", "1 1 1"), ("buck", "1 0.3 1"), ("lj/cut", "1 1")])
def test_cutoffs_of_no_size(style, coefficients, cutoff, words, tmp_path):
    """The search for a zero of the energy never ended where steps of a distance rounded to nothing."""
    deck = ("region b block 0 5 0 5 0 5\ncreate_box 1 b\ncreate_atoms 1 grid 8 seed 1\nmass 1 1\n"
            f"pair_style {style} {cutoff}\npair_coeff 1 1 {coefficients}\nfix 1 all nve\nrun 1\n")
    refused(run_deck(tmp_path, deck), USAGE, *words, line=8)
