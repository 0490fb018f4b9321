/* Powers with a whole exponent, written once for all number types. A template, as real.h describes, without an include
 * guard.
 *
 *   md_whole_power(a, bit)  a^n, n = bit[0] + 2 bit[1] + 4 bit[2] + 8 bit[3]: 10 operations
 *
 * There is no branch, so that the lanes of a vector may have different exponents. Needed of the number type:
 * md_select_less and md_broadcast (real.h).
 */

/* a^n, n being a whole number below 16 whose bits are 0 or 1 each. */
MD_FN real MD_T(md_whole_power)(real a, const real *bit)
{
  const real one = MD_T(md_broadcast)(1.0), half = MD_T(md_broadcast)(0.5);
  const real a2 = a * a, a4 = a2 * a2, a8 = a4 * a4;
  const real low = MD_T(md_select_less)(bit[0], half, one, a) * MD_T(md_select_less)(bit[1], half, one, a2);
  const real high = MD_T(md_select_less)(bit[2], half, one, a4) * MD_T(md_select_less)(bit[3], half, one, a8);
  return low * high;
}
