/* fix addforce: adds a force to that on each particle, with the energy U = -F x. Reference: the LAMMPS manual.
 *
 * Numbers of the fix and of its action: k0 to k2 the force. Of the fix also a region, from MD_FIX_REGION on.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(addforce, "addforce")

#elif defined MD_FIX_FORCE

MD_FIX_FORCE(addforce)

#elif defined MD_FIX_HOST

static md_status addforce_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  MD_TRY(read_region(fix, words, scope));
  for (int d = 0; d < 3; ++d) MD_TRY(parse_varied(fix, words->word[d], &fix->k[d]));
  return MD_OK;
}

static bool addforce_needs_image(const md_fix *fix, int axis) { return fix->k[axis] != 0.0; }

static const md_fix_style addforce_style = {
    .name = "addforce",
    .usage = "addforce FX FY FZ [region ID]",
    .help =
        "adds a force to that on each particle. f_ID: its energy, -F x, where no axis along F is periodic;\n"
        "f_ID[1] to f_ID[3]: the force on the group before it. A component may be v_NAME. region: on\n"
        "particles that are in this block, sphere, cylinder or plane at the time",
    .conserves_energy = true,
    .reversible = true,
    .parse = addforce_parse,
    .join = join_force,
    .prepare_force = copy_numbers,
    .usual_force = size_of_force,
    .vector = MD_VECTOR_BEFORE,
    .takes_region = true,
    .has_energy = true,
    .energy_needs_image = addforce_needs_image,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_addforce_post_force(const md_force_action *a, const md_particle *p, md_net_force *n)
{
  for (int d = 0; d < 3; ++d) {
    md_net_force_add(n, d, a->k[d]);
    n->energy -= a->k[d] * p->x[d];
  }
}

#endif
