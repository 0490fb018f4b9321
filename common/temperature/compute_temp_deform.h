/* compute temp/deform: the temperature of the motion relative to the flow of a box that fix deform shears at a constant
 * rate. The velocity of the flow goes linearly across the box: from 0 at one face to that of the other face.
 * T = 2 K / (dim N - extra), where extra is dim (compute_modify).
 *
 * Its bias (bias.h) is a ramp, and md_compute_take_flow sets it when a run begins. Reference: as of bias.h.
 */
#if defined MD_COMPUTE_STYLE

MD_COMPUTE_STYLE(temp_deform, "temp/deform")

#elif defined MD_COMPUTE_HOST

static const md_compute_style temp_deform_style = {
    .name = "temp/deform",
    .usage = "temp/deform",
    .help = "temperature of the motion relative to the flow of a box that fix deform shears, by erate or vel",
    .nvalue = 1,
    .temperature = true,
    .terms_of = MD_COMPUTE_ke,
    .value = temperature_value,
};

#endif
