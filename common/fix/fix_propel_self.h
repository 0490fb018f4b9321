/* fix propel/self, mode velocity: particles that propel themselves along their velocity with a constant force, as
 * active particles with inertia do. It acts between the two halves of the drift.
 *
 *   v' = v + F dt/m v/|v|
 *
 * Beside friction gamma, from fix viscous or langevin, a free particle gets the speed F/gamma; noise turns it.
 * Trade-off: no direction of its own is stored; a particle at rest is not propelled.
 * Cost: a square root and a division for each particle and step, and general passes (fix.h).
 * Reference: Erdmann, Ebeling, Schimansky-Geier and Schweitzer, Eur. Phys. J. B 15 (2000) 105.
 *
 * Numbers of the fix: k0 F. Of its action: k0 F dt.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(propel_self, "propel/self")

#elif defined MD_FIX_MIDDLE

MD_FIX_MIDDLE(propel_self)

#elif defined MD_FIX_HOST

static md_status propel_self_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  (void)scope;
  if (words->n > 0 && strcmp(words->word[0], "velocity") != 0)
    return md_error(MD_USAGE,
                    "fix propel/self: the mode '%.64s' is not available, because particles have no direction "
                    "but that of their velocity; accepted is velocity",
                    words->word[0]);
  MD_TRY(md_fix_takes(fix, words, 2));
  return md_word_double(words->word[1], "the magnitude of fix propel/self", &fix->k[0]);
}

static md_status propel_self_prepare(const md_fix *fix, const md_model *model, md_action *action)
{
  MD_TRY(prepare_scaling(fix, model));
  action->k[0] = fix->k[0] * model->dt;
  return MD_OK;
}

static const md_fix_style propel_self_style = {
    .name = "propel/self",
    .usage = "propel/self velocity F",
    .help = "the force F along the velocity of each particle, which propels itself; together with fix nve",
    .forgets = "its force depends on velocities, which are rounded after it",
    .parse = propel_self_parse,
    .join = join_force,
    .prepare = propel_self_prepare,
    .halve = halve_first,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_propel_self_middle(const md_action *a, const md_step *s, int64_t done, bool again,
                                 md_particle *p)
{
  (void)done, (void)again;
  double v2 = 0.0;
  for (int d = 0; d < 3 && d < s->dim; ++d) v2 = fma(p->v[d], p->v[d], v2);
  if (!(v2 > 0.0)) return;
  const double push = a->k[0] / s->mass_reference / sqrt(v2);
  for (int d = 0; d < 3 && d < s->dim; ++d) p->v[d] = md_round_to(fma(push, p->v[d], p->v[d]), p->v_step);
}

#endif
