/* fix momentum: takes the velocity of the centre of mass of its group away, along some axes, and the rotation about it,
 * after every step whose number is a multiple of N.
 *
 *   v' = f (v - V - w x (x - X))
 *
 * V = sum of m v/sum of m, X is the centre of mass, and w = L/I of the angular momentum L and the tensor of inertia I
 * about X. With `rescale` f gives the group the kinetic energy back that it had, else it is 1.
 *
 * Each velocity is rounded to its grid, so that a momentum of that size remains. Along periodic axes X and x are those
 * of positions in the box, which suits a group that no face of the box divides.
 * Trade-off: the sums for `angular` and `rescale` are made on the host, from a download of the particles.
 * Cost: that of two passes over the particles, see fix.h.
 *
 * Numbers of the fix: k0 N, k1 to k3 whether it acts along an axis, k4 1 for angular, k5 1 for rescale. Of its action:
 * k0 to k2 V, k3 to k5 w, k6 to k8 X, k9 f. State: 0 to 6 as k3 to k9.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(momentum, "momentum")

#elif defined MD_FIX_END

MD_FIX_END(momentum)

#elif defined MD_FIX_HOST

/* Reads the keyword at word *w with its values, and moves *w past them. */
static md_status momentum_read(md_fix *fix, const md_words *words, int *w)
{
  const char *keyword = words->word[*w];
  int64_t yes;
  if (strcmp(keyword, "angular") == 0 || strcmp(keyword, "rescale") == 0) {
    fix->k[keyword[0] == 'a' ? 4 : 5] = 1.0;
    ++*w;
    return MD_OK;
  }
  if (strcmp(keyword, "linear") != 0)
    return md_error(MD_USAGE,
                    "fix momentum: unknown keyword '%.64s'; accepted are linear X Y Z, angular and rescale",
                    keyword);
  if (*w + 3 >= words->n)
    return md_error(MD_USAGE, "fix momentum linear takes 0 or 1 for each of three axes");
  for (int d = 0; d < 3; ++d) {
    MD_TRY(md_word_int64(words->word[*w + 1 + d], "an axis of fix momentum linear", 0, 1, &yes));
    fix->k[1 + d] = (double)yes;
  }
  *w += 4;
  return MD_OK;
}

static md_status momentum_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  (void)scope;
  int64_t every;
  if (words->n == 0) return md_error(MD_USAGE, "fix momentum takes N and keywords after its name");
  MD_TRY(md_word_int64(words->word[0], "N of fix momentum", 1, INT64_C(1) << 53, &every));
  fix->k[0] = (double)every;
  for (int w = 1; w < words->n;) MD_TRY(momentum_read(fix, words, &w));
  if (fix->k[1] + fix->k[2] + fix->k[3] + fix->k[4] > 0.0) return MD_OK;
  return md_error(MD_USAGE, "fix momentum: nothing is taken away; accepted are linear X Y Z and angular");
}

static md_status momentum_join(const md_fix *fix, md_model *model)
{
  (void)model;
  if (fix->k[0] >= 1.0 && fix->k[0] <= 0x1p53) return MD_OK;
  return md_error(MD_USAGE, "fix momentum: N must be at least 1");
}

static md_status momentum_prepare(const md_fix *fix, const md_model *model, md_action *action)
{
  action->k[9] = 1.0;
  return fix->k[4] != 0.0 ? check_right_angles(fix, model) : MD_OK;
}

static int64_t momentum_every(const md_fix *fix) { return (int64_t)fix->k[0]; }

static bool momentum_looks(const md_fix *fix) { return fix->k[4] != 0.0 || fix->k[5] != 0.0; }

/* Sums over the particles of the group: mass, kinetic energy, m (x - origin), m v; then about X: L, and I with the
 * parts xx, yy, zz, yz, xz, xy of m r r. */
enum { MOMENTUM_FIRST = 8, MOMENTUM_SUMS = 9 };

typedef struct momentum_pass {
  bool about; /* the second pass, about X */
  double X[3];
} momentum_pass;

/* From where positions are counted in the first pass. A face that follows the particles lies elsewhere in each piece of
 * a run, where the engine has it. */
static double momentum_origin(const md_model *model, int d)
{
  return md_box_follows(&model->box) ? 0.0 : model->box.lo[d];
}

static void momentum_terms(const md_model *model, const md_particle *p, const momentum_pass *pass,
                           double term[MOMENTUM_SUMS])
{
  double r[3] = {0.0, 0.0, 0.0}, v[3] = {0.0, 0.0, 0.0};
  const double m = p->mass;
  for (int d = 0; d < model->box.dim; ++d) {
    r[d] = p->x[d] - (pass->about ? pass->X[d] : momentum_origin(model, d));
    v[d] = md_particle_velocity(p, d, model->grids.v);
  }
  term[0] = m;
  term[1] = 0.5 * m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int d = 0; d < 3; ++d) {
    const int e = (d + 1) % 3, f = (d + 2) % 3;
    term[pass->about ? d : 2 + d] = pass->about ? m * (r[e] * v[f] - r[f] * v[e]) : m * r[d];
    term[pass->about ? 3 + d : 5 + d] = pass->about ? m * r[d] * r[d] : m * v[d];
    if (pass->about) term[6 + d] = m * r[e] * r[f];
  }
}

/* The sums over all ranks. Collective. */
static md_status momentum_sum(const md_fix *fix, const md_model *model, const md_particles *particles,
                              md_comm *comm, const momentum_pass *pass, double value[MOMENTUM_SUMS])
{
  md_long_sum sum[MOMENTUM_SUMS] = {{.terms = 0}};
  for (int64_t i = 0; i < particles->n; ++i) {
    const md_particle p = md_particle_of(model, particles, i);
    double term[MOMENTUM_SUMS] = {0.0};
    if (!(p.group & md_group_bit(fix->group))) continue;
    momentum_terms(model, &p, pass, term);
    for (int k = 0; k < MOMENTUM_SUMS; ++k) md_long_add(&sum[k], term[k]);
  }
  MD_TRY(md_long_sums_over_ranks(comm, sum, MOMENTUM_SUMS));
  for (int k = 0; k < MOMENTUM_SUMS; ++k) value[k] = md_long_value(&sum[k]);
  return MD_OK;
}

/* Solves I w = L, of the sums of the second pass. */
static void momentum_solve(const md_model *model, const double sum[MOMENTUM_SUMS], double w[3])
{
  const double *L = sum, *s = sum + 3;
  const double inertia[6] = {s[1] + s[2], s[0] + s[2], s[0] + s[1], -s[5], -s[4], -s[3]};
  w[0] = w[1] = w[2] = 0.0;
  if (model->box.dim == 3)
    md_rotation_of(inertia, L, w);
  else if (inertia[2] > 0.0)
    w[2] = L[2] / inertia[2];
}

static md_status momentum_look(md_fix *fix, const md_model *model, const md_particles *particles,
                               double *const force[3], md_comm *comm)
{
  (void)force;
  double *w = fix->state, *X = fix->state + 3, *f = fix->state + 6;
  double first[MOMENTUM_SUMS], second[MOMENTUM_SUMS];
  momentum_pass pass = {.about = false};
  w[0] = w[1] = w[2] = 0.0;
  *f = 1.0;
  MD_TRY(momentum_sum(fix, model, particles, comm, &pass, first));
  if (!(first[0] > 0.0)) return MD_OK;
  double kept = first[1];
  for (int d = 0; d < model->box.dim; ++d) {
    X[d] = pass.X[d] = momentum_origin(model, d) + first[2 + d] / first[0];
    if (fix->k[1 + d] != 0.0) kept -= 0.5 * first[5 + d] * first[5 + d] / first[0];
  }
  if (fix->k[4] != 0.0) {
    pass.about = true;
    MD_TRY(momentum_sum(fix, model, particles, comm, &pass, second));
    momentum_solve(model, second, w);
    for (int d = 0; d < 3; ++d) kept -= 0.5 * w[d] * second[d];
  }
  if (fix->k[5] != 0.0 && kept > 1e-9 * first[1]) *f = sqrt(first[1] / kept);
  return MD_OK;
}

static md_status momentum_end(const md_fix *fix, const md_model *model, const md_step *step,
                              const double *value, md_action *action, bool *acts)
{
  (void)model;
  (void)step;
  *acts = fix->k[4] != 0.0;
  for (int d = 0; d < 3; ++d) {
    action->k[d] = fix->k[1 + d] != 0.0 ? value[MD_TEMPERATURE_FLOW + d] : 0.0;
    if (action->k[d] != 0.0) *acts = true;
  }
  if (momentum_looks(fix)) memcpy(action->k + 3, fix->state, 7 * sizeof *action->k);
  return MD_OK;
}

static const md_fix_style momentum_style = {
    .name = "momentum",
    .usage = "momentum N [linear X Y Z] [angular] [rescale]",
    .help =
        "takes the velocity of the centre of mass of the group away after every N-th step, along the axes\n"
        "with 1; 0 leaves an axis out. angular: and the rotation about it. rescale: the kinetic energy stays",
    .forgets = "it takes the momentum away, which nothing keeps",
    .parse = momentum_parse,
    .join = momentum_join,
    .prepare = momentum_prepare,
    .every = momentum_every,
    .measures = MD_COMPUTE_temp_com,
    .end = momentum_end,
    .look = momentum_look,
    .looks = momentum_looks,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_momentum_end(const md_action *a, const md_step *s, md_particle *p)
{
  double r[3] = {0.0, 0.0, 0.0};
  for (int d = 0; d < 3 && d < s->dim; ++d) {
    const double x = s->periodic[d] ? md_wrap(p->x[d], s->box_lo[d], s->box_hi[d], s->length[d]) : p->x[d];
    r[d] = x - a->k[6 + d];
  }
  for (int d = 0; d < 3 && d < s->dim; ++d) {
    const int e = (d + 1) % 3, f = (d + 2) % 3;
    const double flow = a->k[d] + fma(a->k[3 + e], r[f], -(a->k[3 + f] * r[e]));
    p->v[d] = md_round_to(a->k[9] * (p->v[d] - flow / p->velocity_per_v), p->v_step);
  }
}

#endif
