/* What the files of this room share, and nothing else needs: the table of styles says when a fix acts. */
#ifndef MD_COMMON_FIX_FIX_PARTS_H
#define MD_COMMON_FIX_FIX_PARTS_H

#include "common/fix/fix.h"
#include "common/force/shape.h"
#include "common/model.h"

/* Does the list of styles (fix_styles.h) say that the style acts within a step, before the drift, on forces, after a
 * step? */
bool md_fix_acts_in_middle(md_fix_kind kind);
bool md_fix_acts_before_drift(md_fix_kind kind);
bool md_fix_acts_on_forces(md_fix_kind kind);
bool md_fix_acts_at_end(md_fix_kind kind);

/* Fills the numbers of md_shape_wrap. MD_USAGE: a fix changes the box. */
md_status md_fix_settle_shape(const md_fix *fix, const md_model *model, double box[SHAPE_BOX]) MD_CHECKED;

#endif
