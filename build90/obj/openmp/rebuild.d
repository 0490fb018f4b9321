build90/obj/openmp/rebuild.o: openmp/rebuild.c openmp/engine.h \
 common/engine.h common/comm.h common/model.h common/box.h common/real.h \
 common/error.h common/exact.h common/pair.h common/pair_styles.h \
 common/pair_lj_cut.h common/pair_repulsive.h common/pair_soft.h \
 common/particles.h common/timer.h common/faults.h openmp/kernels.h \
 common/motion.h common/rng.h openmp/cells.h openmp/shares.h
openmp/engine.h:
common/engine.h:
common/comm.h:
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
common/timer.h:
common/faults.h:
openmp/kernels.h:
common/motion.h:
common/rng.h:
openmp/cells.h:
openmp/shares.h:
