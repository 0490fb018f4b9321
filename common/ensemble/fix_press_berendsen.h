/* fix press/berendsen: after every step the sides of the box go towards those of a pressure, by the factor
 * (1 - dt (P0 - P)/(PDAMP modulus))^(1/3), and the particles with them. P0 goes linearly from PSTART to PSTOP in a run.
 * The change belongs to the next step (common/step/step.h).
 *
 * Trade-off: the mean pressure is right, but the fluctuations of the volume are those of no ensemble.
 * Cost: a step takes a sum over pairs for the virial besides its forces.
 * Reference: Berendsen et al., J. Chem. Phys. 81 (1984) 3684.
 *
 * Numbers of the fix: k6 to k16 as of fix npt; k17 the modulus; k18 is 1 if only the group goes with the box.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(press_berendsen, "press/berendsen")

#elif defined MD_FIX_HOST

enum { PRESS_MODULUS = 17, PRESS_PARTIAL };

static md_status press_berendsen_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  fix->k[PRESS_MODULUS] = 10.0;
  for (int w = 0; w < words->n;) {
    bool known;
    MD_TRY(baro_keyword(fix, words, scope, &w, &known));
    if (known) continue;
    const char *keyword = words->word[w], *value = w + 1 < words->n ? words->word[w + 1] : "";
    if (strcmp(keyword, "modulus") == 0) {
      MD_TRY(md_word_positive(value, "the modulus of fix press/berendsen", &fix->k[PRESS_MODULUS]));
    } else if (strcmp(keyword, "dilate") == 0) {
      if (strcmp(value, "all") != 0 && strcmp(value, "partial") != 0)
        return md_error(MD_USAGE, "fix press/berendsen dilate '%.64s' is unknown; accepted are all, partial",
                        value);
      fix->k[PRESS_PARTIAL] = value[0] == 'p';
    } else {
      return md_error(
          MD_USAGE,
          "fix press/berendsen: unknown keyword '%.64s'; accepted are iso, aniso, x, y, z, couple, modulus, "
          "dilate",
          keyword);
    }
    w += 2;
  }
  return baro_read(fix, scope->box->dim);
}

static md_status press_berendsen_join(const md_fix *fix, md_model *model)
{
  if (!(fix->k[PRESS_MODULUS] > 0.0))
    return md_error(MD_USAGE, "fix press/berendsen: the modulus must be positive");
  return baro_check(fix, model->box.dim);
}

static md_status press_berendsen_move_box(md_fix *fix, const md_model *model, bool before,
                                          const double *value, md_box_move *move)
{
  (void)before;
  const md_step step = md_step_of(model);
  const md_box box = md_model_shown_box(model);
  double pressure[3];
  baro_pressures(fix, &box, value + MD_COMPUTE_TERMS, pressure);
  for (int d = 0; d < 3; ++d) {
    if (!baro_moves(fix, d)) continue;
    const double target = md_step_ramp(&step, fix->k[BARO_START + d], fix->k[BARO_STOP + d], 0);
    const double cube = 1.0 - model->dt / fix->k[BARO_DAMP + d] *
                                  (target - model->units->nktv2p * pressure[d]) / fix->k[PRESS_MODULUS];
    if (!(cube > 0.0))
      return md_error(
          MD_PHYSICS,
          "step %lld: fix press/berendsen would turn the box inside out, at a pressure of %g; take a larger "
          "Pdamp or modulus",
          (long long)model->step, pressure[d]);
    const double factor = md_exp(md_ln(cube) / 3.0), centre = 0.5 * (move->lo[d] + move->hi[d]);
    move->lo[d] = centre + (move->lo[d] - centre) * factor;
    move->hi[d] = centre + (move->hi[d] - centre) * factor;
    move->carried[d] = fix->k[PRESS_PARTIAL] != 0.0 ? md_group_bit(fix->group) : MD_GROUP_ALL;
  }
  return MD_OK;
}

static const md_fix_style press_berendsen_style = {
    .name = "press/berendsen",
    .usage = "press/berendsen iso|aniso|x|y|z PSTART PSTOP PDAMP ... [couple none|xyz|xy|yz|xz] [modulus B] "
             "[dilate all|partial]",
    .help = "together with fix nve, changes the box after every step, so that the pressure goes to the\n"
            "target in the time PDAMP if the modulus B (10) is that of the system. The target ramps in a run",
    .forgets = "the places of particles are rounded in each new box",
    .needs_box = true,
    .parse = press_berendsen_parse,
    .join = press_berendsen_join,
    .every = nvt_every,
    .measures = MD_COMPUTE_temp,
    .parts = baro_parts,
    .changes = baro_changes,
    .move_box = press_berendsen_move_box,
};

#endif
