/* fix nve: velocity Verlet. Each step is a kick by half a step, a drift, the new forces, and a kick by half a step.
 *
 * Cost: that of the forces. Reference: Swope, Andersen, Berens and Wilson, J. Chem. Phys. 76 (1982) 637.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(nve, "nve")

#elif defined MD_FIX_HOST

static md_status nve_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  (void)scope;
  return md_fix_takes(fix, words, 0);
}

static md_status nve_join(const md_fix *fix, md_model *model) { return join_integrator(fix, model, MD_NVE); }

static const md_fix_style nve_style = {
    .name = "nve",
    .usage = "nve",
    .help = "velocity Verlet",
    .conserves_momentum = true,
    .conserves_energy = true,
    .reversible = true,
    .parse = nve_parse,
    .join = nve_join,
};

#endif
