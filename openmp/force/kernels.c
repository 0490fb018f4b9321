/* The table of inner loops, for the instruction set this file is compiled for (-DMD_ISA=generic, avx2 or avx512); see
 * kernels.h.
 *
 * All loops are in headers that only this file includes, so that each is compiled once for each instruction set:
 * list_kernels.h builds lists, force_kernels.h sums over full lists and half_kernels.h over half ones, visits.h is for
 * styles whose force needs more than distances, and move_kernels.h moves particles.
 */
#include "openmp/force/kernels.h"
#include "openmp/force/bond_vectors.h"
#include "openmp/force/simd.h"
#include "openmp/force/table_rows.h"

#define real simd_d
#define MD_T(name) name##_v
#include "common/pair/pair_styles.h"
#undef real
#undef MD_T

#include "openmp/force/density_kernels.h"
#include "openmp/force/hybrid_kernels.h"
#include "openmp/force/visits.h"

/* These use functions of those above. */
#include "openmp/force/force_kernels.h"
#include "openmp/force/list_kernels.h"

#include "openmp/force/half_density.h"
#include "openmp/force/half_kernels.h"
#include "openmp/force/move_kernels.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define STRING_(a) #a
#define STRING(a) STRING_(a)

extern const kernels JOIN(md_openmp_kernels_, MD_ISA);
const kernels JOIN(md_openmp_kernels_, MD_ISA) = {
    .isa = STRING(MD_ISA),
    .lanes = MD_SINGLE_WIDTH,
    .list = build_list,
    .force =
        {
#define MD_PAIR_SHARED(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_CUT(symbol) [MD_PAIR_##symbol] = force_##symbol,
#define MD_PAIR_HYBRID(symbol) [MD_PAIR_##symbol] = force_hybrid,
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
#undef MD_PAIR_SHARED
#undef MD_PAIR_HYBRID
        },
    .force_virial =
        {
#define MD_PAIR_SHARED(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_CUT(symbol) [MD_PAIR_##symbol] = force_virial_##symbol,
#define MD_PAIR_HYBRID(symbol) [MD_PAIR_##symbol] = force_virial_hybrid,
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
#undef MD_PAIR_SHARED
#undef MD_PAIR_HYBRID
        },
    .output =
        {
#define MD_PAIR_SHARED(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_CUT(symbol) [MD_PAIR_##symbol] = output_##symbol,
#define MD_PAIR_HYBRID(symbol) [MD_PAIR_##symbol] = output_hybrid,
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
#undef MD_PAIR_SHARED
#undef MD_PAIR_HYBRID
        },
    .measure =
        {
#define MD_PAIR_SHARED(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_CUT(symbol) [MD_PAIR_##symbol] = measure_##symbol,
#define MD_PAIR_HYBRID(symbol) [MD_PAIR_##symbol] = measure_hybrid,
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
#undef MD_PAIR_SHARED
#undef MD_PAIR_HYBRID
        },
    .tensor =
        {
#define MD_PAIR_SHARED(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_CUT(symbol) [MD_PAIR_##symbol] = tensor_##symbol,
#define MD_PAIR_HYBRID(symbol) [MD_PAIR_##symbol] = tensor_hybrid,
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
#undef MD_PAIR_SHARED
#undef MD_PAIR_HYBRID
        },
    .half_list = build_half_list,
    .half_force = half_force,
    .half_impulse_virial = half_impulse_virial,
    .half_measure = half_measure,
    .half_lanes = MD_SIMD_WIDTH,
    .scale = scale,
    .kinetic = kinetic,
    .move = move,
    .move_in_bath = move_in_bath,
    .bonds = bond_impulses,
    .density = density_chunk,
    .three_body_sums = three_body_sums,
    .visited_force = visited_force,
    .visited_output = visited_output,
    .visited_measure = visited_measure,
    .visited_tensor = visited_tensor,
    .half_density = half_density,
    .half_density_force = half_density_force,
    .half_density_measure = half_density_measure,
};
