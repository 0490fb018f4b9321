build90/obj/common/faults.o: common/faults.c common/faults.h \
 common/model.h common/box.h common/real.h common/error.h common/exact.h \
 common/pair.h common/pair_styles.h common/pair_lj_cut.h \
 common/pair_repulsive.h common/pair_soft.h common/particles.h
common/faults.h:
common/model.h:
common/box.h:
common/real.h:
common/error.h:
common/exact.h:
common/pair.h:
common/pair_styles.h:
common/pair_lj_cut.h:
common/pair_repulsive.h:
common/pair_soft.h:
common/particles.h:
