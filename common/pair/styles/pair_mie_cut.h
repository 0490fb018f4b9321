/* The potential of Mie: U(r) = C eps ((sigma/r)^gR - (sigma/r)^gA) [- U(rc) if shifted], r < rc, with
 * C = gR/(gR - gA) (gR/gA)^(gA/(gR - gA)), so that eps is the depth of the well. gR = 12, gA = 6 is lj/cut.
 *
 * Coefficients, s being the caller's scale of forces:
 *   k0 = rc^2                        k3 = -gR/2               k5 = C eps sigma^gR
 *   k1 = s C eps gR sigma^gR         k4 = -gA/2               k6 = C eps sigma^gA
 *   k2 = s C eps gA sigma^gA                                  k7 = U(rc) if shifted, else 0
 * If eps, sigma or rc is 0, all are 0, as those of lj/cut.
 *
 * Trade-off: exponents may be any real numbers, as coarse-grained models of fluids have them, so that a pair takes two
 * powers, 190 operations. References: Mie, Ann. Phys. 316 (1903) 657; Avendano et al., J. Phys. Chem. B 115 (2011)
 * 11154.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(mie_cut, "mie/cut")

#elif defined MD_PAIR_SHARED

MD_PAIR_SHARED(mie_cut)

#elif defined MD_PAIR_HOST

static const char *mie_cut_refuse(const double *parameter)
{
  if (!(parameter[2] > parameter[3])) return "gammaR must be larger than gammaA";
  const bool far = parameter[1] > 0.0 && fabs(parameter[2] * md_ln(parameter[1])) > 500.0;
  return far ? "sigma^gammaR is out of range; use units in which sigma is nearer to 1" : NULL;
}

/* LAMMPS mixes exponents as distances. */
static void mie_cut_mix(const double *a, const double *b, md_mixing mixing, double *ab)
{
  mix_energy_and_lengths(5, a, b, mixing, ab);
}

/* C eps. */
static double mie_cut_depth(const double *parameter)
{
  const double repulsive = parameter[2], attractive = parameter[3], apart = repulsive - attractive;
  return parameter[0] * (repulsive / apart) * md_pow(repulsive / attractive, attractive / apart);
}

/* The integral of (sigma/r)^g r^2 from rc on. */
static double mie_cut_power(const double *parameter, double g)
{
  const double rc = parameter[4];
  return rc * rc * rc * md_pow(parameter[1] / rc, g) / (g - 3.0);
}

static double mie_cut_tail(const double *parameter)
{
  return mie_cut_depth(parameter) *
         (mie_cut_power(parameter, parameter[2]) - mie_cut_power(parameter, parameter[3]));
}

static void mie_cut_prepare(const double *parameter, bool shift, double scale, double *k)
{
  const double epsilon = parameter[0], sigma = parameter[1], rc = parameter[4];
  const double repulsive = parameter[2], attractive = parameter[3];
  if (!(epsilon > 0.0 && sigma > 0.0 && rc > 0.0)) return;
  const double depth = mie_cut_depth(parameter);
  k[0] = rc * rc;
  k[3] = -0.5 * repulsive;
  k[4] = -0.5 * attractive;
  k[5] = depth * md_pow(sigma, repulsive);
  k[6] = depth * md_pow(sigma, attractive);
  k[1] = k[5] * repulsive * scale;
  k[2] = k[6] * attractive * scale;
  if (shift) k[7] = md_mie_cut_energy(k[0], k);
}

static const md_pair_style mie_cut_style = {
    .name = "mie/cut",
    .summary = "Mie potential: as lj/cut, with exponents gammaR and gammaA",
    .nparameter = 5,
    .nglobal = 1,
    .parameter = {{"epsilon", MD_NOT_NEGATIVE},
                  {"sigma", MD_NOT_NEGATIVE},
                  {"gammaR", MD_POSITIVE},
                  {"gammaA", MD_POSITIVE},
                  {"rc", MD_NOT_NEGATIVE}},
    .global_required = 1,
    .rc_parameter = 4,
    .length_parameter = 1,
    .length_factor = 1.0,
    .takes_shift = true,
    .tail = mie_cut_tail,
    .refuse = mie_cut_refuse,
    .mix = mie_cut_mix,
    .prepare = mie_cut_prepare,
};

#elif defined MD_T

/* F/r times the scale, for r2 < rc^2. Reads k1 to k4. */
MD_FN real MD_T(md_mie_cut_force)(real r2, const real *k)
{
  return MD_T(md_fms)(k[1], MD_T(md_pow)(r2, k[3]), k[2] * MD_T(md_pow)(r2, k[4])) * MD_T(md_recip)(r2);
}

/* U(r), for r2 < rc^2. Reads k3 to k7. */
MD_FN real MD_T(md_mie_cut_energy)(real r2, const real *k)
{
  return MD_T(md_fms)(k[5], MD_T(md_pow)(r2, k[3]), k[6] * MD_T(md_pow)(r2, k[4])) - k[7];
}

#endif
