/* compute pressure/tensor: P_ab = (sum of m v_a v_b + sum of r_a f_b over pairs) / V, symmetric: xx yy zz xy xz yz. A
 * third of its trace (half in two dimensions) is the pressure. In two dimensions V is the area, and the components
 * with z are 0. The tensors of pressures with a temperature of their own (md_model.tensor) have its thermal velocities.
 *
 * Trade-off: thermo columns and formulas measure it only where it is asked for (md_view_tensor), because its pairs are
 * evaluated once more, and have six sums.
 *
 * Reference: Allen and Tildesley, Computer Simulation of Liquids, 2nd ed. (2017), section 2.7.
 */
#if defined MD_COMPUTE_STYLE

MD_COMPUTE_STYLE(pressure_tensor, "pressure/tensor")

#elif defined MD_COMPUTE_SUMS

MD_COMPUTE_SUMS(pressure_tensor)

#elif defined MD_COMPUTE_HOST

static void pressure_tensor_prepare(const md_model *model, md_summand *s)
{
  for (int c = 0; c < s->n; ++c) s->unit[c] = model->grids.k;
}

/* Takes the motion of the centre of mass away from the tensor of motion: M V_a V_b, with the sums of temp/com. */
static void take_centre_away(const md_model *model, const md_compute *temperature, const md_measure *measure,
                             double motion[MD_TENSOR])
{
  const md_summand *s = &model->summand[temperature->summand];
  const md_compute_sums sums = {.term = measure->term + s->first, .unit = s->unit};
  const double mass = md_compute_sum(&sums, 1);
  double momentum[3] = {0.0, 0.0, 0.0};
  for (int d = 0; d < model->box.dim; ++d) momentum[d] = md_compute_sum(&sums, 2 + d) * model->mass_reference;
  for (int c = 0; c < MD_TENSOR && mass > 0.0; ++c)
    motion[c] -= momentum[md_tensor_row(c)] * (momentum[md_tensor_column(c)] / mass);
}

static void pressure_tensor_value(const md_model *model, const md_compute *compute,
                                  const md_compute_sums *sums, double *value)
{
  const md_box box = md_model_shown_box(model);
  const double kinetic = compute->k[0] != 0.0 ? 0.0 : 2.0, pairs = compute->k[1] != 0.0 ? 0.0 : 0.5;
  double motion[MD_TENSOR];
  for (int c = 0; c < MD_TENSOR; ++c) motion[c] = kinetic * md_compute_sum(sums, c);
  if (compute->bias.kind == MD_BIAS_SHIFT)
    take_centre_away(model, &model->compute[compute->temperature], sums->all, motion);
  for (int c = 0; c < MD_TENSOR; ++c) {
    double virial = pairs * md_wide_value(&sums->all->tensor2[c], model->grids.w);
    if (c < 3 && compute->k[1] == 0.0) virial += md_model_tail_virial(model);
    if (compute->k[2] == 0.0) virial += sums->all->fix_virial[c];
    value[c] = (motion[c] + virial) / md_box_volume(&box) * model->units->nktv2p;
  }
}

static const md_compute_style pressure_tensor_style = {
    .name = "pressure/tensor",
    .usage = "pressure/tensor",
    .help = "pressure of pairs and of motion: six values, xx yy zz xy xz yz; of the group all",
    .nvalue = MD_TENSOR,
    .all_only = true,
    .of_tensor = true,
    .terms_of = MD_COMPUTE_pressure_tensor,
    .nterm = MD_TENSOR,
    .prepare = pressure_tensor_prepare,
    .value = pressure_tensor_value,
};

#elif defined MD_COMPUTE_FORMULAS

/* Half of m v_a v_b, which is within the range of kinetic energies. */
MD_FN void md_pressure_tensor_add(const md_summand *s, const md_particle *p, md_fine *sum)
{
  double v[3] = {0.0, 0.0, 0.0};
  for (int d = 0; d < 3 && d < s->dim; ++d) v[d] = md_particle_thermal(p, d, s->quantum, &s->bias);
  for (int c = 0; c < MD_TENSOR; ++c)
    md_fine_add(&sum[c], md_kinetic(v[md_tensor_row(c)] * v[md_tensor_column(c)], p->velocity_per_v,
                                    s->mass_reference) *
                             s->per_unit[c]);
}

#endif
