/* Values of particles that their neighbours give (environment.cuh). */
#include "gpu/sums/environment.cuh"

#define INSTANCE(T)                                                                                          \
  template md_status launch_environment<T>(const launch &, const system_view<T> &, const environment_args &);
MD_EXACT_LAYOUTS(INSTANCE)
