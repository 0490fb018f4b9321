build90/obj/common/pair.o: common/pair.c common/pair.h common/error.h \
 common/real.h common/pair_styles.h common/pair_lj_cut.h \
 common/pair_repulsive.h common/pair_soft.h common/formulas.h
common/pair.h:
common/error.h:
common/real.h:
common/pair_styles.h:
common/pair_lj_cut.h:
common/pair_repulsive.h:
common/pair_soft.h:
common/formulas.h:
