build90/obj/common/model.o: common/model.c common/model.h common/box.h \
 common/real.h common/error.h common/exact.h common/pair.h \
 common/pair_styles.h common/pair_lj_cut.h common/pair_repulsive.h \
 common/pair_soft.h common/particles.h common/motion.h common/rng.h
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
common/motion.h:
common/rng.h:
