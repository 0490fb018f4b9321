/* A temperature of the particles on the host, of any style: for commands between runs, and for temperatures that no
 * engine sums.
 */
#ifndef MD_SRC_SUMS_TEMPERATURE_H
#define MD_SRC_SUMS_TEMPERATURE_H

#include "src/sim.h"

/* The values of a temperature (MD_TEMPERATURE_T and so on), value[0 .. MD_COMPUTE_TERMS). sim->particles must be up to
 * date. While a step is observed they hold p/m_reference, else velocities. MD_USAGE: a region does not exist, or a type
 * in use has no mass. MD_PHYSICS: a velocity is not finite. Collective. */
md_status md_temperature_measure(md_sim *sim, const md_compute *compute, double *value) MD_CHECKED;

/* The tensor of the thermal motion of a temperature, the sum of m v_a v_b (common/tensor.h), in energy. As above. */
md_status md_temperature_tensor(md_sim *sim, const md_compute *compute, double tensor[MD_TENSOR]) MD_CHECKED;

/* The bias of the velocities of the temperature with this ID, with the flow of the present step; no bias for the ID "".
 * *bit: that of its group. As above. MD_USAGE: there is no such temperature that engines sum; `what` asks for it. */
md_status md_temperature_bias(md_sim *sim, const char *what, const char *id, md_bias *bias,
                              uint32_t *bit) MD_CHECKED;

#endif
