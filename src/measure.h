/* Measures over all ranks: the engine's exact sums, added up by the communicator. The sums are integers, so that their
 * order does not matter, and all ranks get the same bits. Cost: a measure of the engine, and one reduction. */
#ifndef MD_SRC_MEASURE_H
#define MD_SRC_MEASURE_H

#include "common/engine.h"

/* Fills the sums of all ranks that are wanted, of the present state. All ranks get the same. Collective. MD_USAGE: the
 * tensor is wanted of a pair style without a cutoff. Other errors: as for md_engine_kind.measure, and those of
 * messages. */
md_status md_measure_ranks(const md_engine_kind *kind, md_engine *engine, md_comm *comm,
                           const md_model *model, md_wanted wanted, md_measure *measure) MD_CHECKED;

#endif
