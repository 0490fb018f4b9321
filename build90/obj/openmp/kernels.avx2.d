build90/obj/openmp/kernels.avx2.o: openmp/kernels.c openmp/kernels.h \
 common/model.h common/box.h common/real.h common/error.h common/exact.h \
 common/pair.h common/pair_styles.h common/pair_lj_cut.h \
 common/pair_repulsive.h common/pair_soft.h common/particles.h \
 common/motion.h common/rng.h openmp/cells.h openmp/simd.h
openmp/kernels.h:
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
openmp/cells.h:
openmp/simd.h:
