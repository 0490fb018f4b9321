build90/obj/src/engines.o: src/engines.c src/engines.h common/engine.h \
 common/comm.h common/model.h common/box.h common/real.h common/error.h \
 common/exact.h common/pair.h common/pair_styles.h common/pair_lj_cut.h \
 common/pair_repulsive.h common/pair_soft.h common/particles.h \
 common/timer.h gpu/gpu.h openmp/openmp.h validate/naive.h
src/engines.h:
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
gpu/gpu.h:
openmp/openmp.h:
validate/naive.h:
