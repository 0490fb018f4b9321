/* Can a run go back? Steps are undone by steps with the opposite sign (common/step/step.h), if every change of a
 * particle in a step can be undone. A fix says so by `reversible`, or says by `forgets` why not. Outputs that count on
 * steps which go up are refused too. A message names what is refused, with the reason. */
#ifndef MD_SRC_BACKWARDS_CHECK_BACK_H
#define MD_SRC_BACKWARDS_CHECK_BACK_H

#include "src/sim.h"

/* Are steps of the present model undone by steps back? command: for the message. MD_USAGE: a fix forgets something, or
 * positions or momenta are not on grids. */
md_status md_check_reversible(const md_sim *sim, const char *command) MD_CHECKED;

/* The same; and do all outputs accept steps whose numbers fall? MD_USAGE also: an average, or a file of one style. */
md_status md_check_back(const md_sim *sim, const char *command) MD_CHECKED;

/* Do all outputs accept that the state is another one at once, that of a restart? MD_USAGE: one does not. */
md_status md_check_jump(const md_sim *sim, const char *command) MD_CHECKED;

#endif
