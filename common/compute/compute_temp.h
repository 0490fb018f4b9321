/* compute temp: the temperature, T = 2 K / (dim N - dim). One momentum is fixed, so dim degrees of freedom are lost, as
 * in LAMMPS; compute_modify extra/dof says another number. Without a degree of freedom the temperature is 0.
 *
 * Reference: Allen and Tildesley, Computer Simulation of Liquids, 2nd ed. (2017), section 2.4.
 */
#if defined MD_COMPUTE_STYLE

MD_COMPUTE_STYLE(temp, "temp")

#elif defined MD_COMPUTE_HOST

static const md_compute_style temp_style = {
    .name = "temp",
    .usage = "temp",
    .help = "temperature of the group; c_ID[1] to c_ID[6]: sum of m v_a v_b, xx yy zz xy xz yz",
    .nvalue = 1,
    .temperature = true,
    .terms_of = MD_COMPUTE_ke,
    .value = temperature_value,
};

#endif
