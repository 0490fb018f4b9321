/* Tables of energy and force, out of files: F/r and U are cubic or straight in r^2 between n distances.
 *
 * Coefficients, s being the caller's scale of forces:
 *   k0 = rc^2           k3 = 1/step of r^2                    k5 + k6 = the address of the first row
 *   k1 = s              k4 = n - 2, the last row              k7 = the number of the table
 *   k2 = inner^2, the least distance of the table, below which particles overlap
 *
 * Cost: a load of four numbers and 7 operations for each pair. Splines and reference: table.h.
 */
#if defined MD_PAIR_STYLE

MD_PAIR_STYLE(table, "table")

#elif defined MD_PAIR_SHARED

MD_PAIR_SHARED(table)

#elif defined MD_PAIR_LISTED

MD_PAIR_LISTED(table)

#elif defined MD_PAIR_HOST

static void table_prepare(const double *parameter, bool shift, double scale, double *k)
{
  (void)shift;
  const double rc = parameter[0], inner = parameter[1], n = parameter[5];
  k[0] = rc * rc;
  k[1] = scale;
  k[2] = inner * inner;
  k[3] = (n - 1.0) / (rc * rc - inner * inner);
  k[4] = n - 2.0;
  k[7] = parameter[2];
}

static const md_pair_style table_style = {
    .name = "table",
    .summary = "tables of energy and force by distance, straight or cubic (spline) between N values; files",
    .nparameter = 6,
    .nglobal = 2,
    .parameter = {{"rc", MD_POSITIVE},
                  {"inner", MD_POSITIVE},
                  {"table", MD_NOT_NEGATIVE},
                  {"checksum", MD_ANY},
                  {"spline", MD_NOT_NEGATIVE},
                  {"N", MD_POSITIVE}},
    .global_required = 2,
    .nfixed = 2,
    .length_parameter = MD_AT_ZERO_ENERGY,
    .length_factor = 0.4,
    .tabulated = true,
    .prepare = table_prepare,
};

#elif defined MD_T

/* The value at r2, from the rows after the first `skip`. */
MD_FN real MD_T(table_value)(real r2, const real *k, real skip)
{
  const real x = MD_T(md_max)((r2 - k[2]) * k[3], MD_T(md_broadcast)(0.0));
  const real row = MD_T(md_floor)(MD_T(md_min)(x, k[4])), p = x - row;
  real c[4];
  MD_T(md_table_load)(k[5], k[6], skip + row, c);
  return MD_T(md_fma)(MD_T(md_fma)(MD_T(md_fma)(c[0], p, c[1]), p, c[2]), p, c[3]);
}

/* F/r times the scale, for r2 < rc^2. Reads k1 to k6. */
MD_FN real MD_T(md_table_force)(real r2, const real *k)
{
  return k[1] * MD_T(table_value)(r2, k, MD_T(md_broadcast)(0.0));
}

/* U(r), for r2 < rc^2. Reads k2 to k6. */
MD_FN real MD_T(md_table_energy)(real r2, const real *k)
{
  return MD_T(table_value)(r2, k, k[4] + MD_T(md_broadcast)(1.0));
}

#endif
