build90/obj/src/main.o: src/main.c gpu/gpu.h common/engine.h \
 common/comm.h common/model.h common/box.h common/real.h common/error.h \
 common/exact.h common/pair.h common/pair_styles.h common/pair_lj_cut.h \
 common/pair_repulsive.h common/pair_soft.h common/particles.h \
 common/timer.h openmp/openmp.h src/deck.h src/sim.h src/command.h \
 src/commands.def src/history.h src/log.h src/observer.h src/thermo.h \
 src/variable.h src/engines.h src/plan.h src/resume.h src/restart.h \
 src/hdf5_file.h src/stop.h
gpu/gpu.h:
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
openmp/openmp.h:
src/deck.h:
src/sim.h:
src/command.h:
src/commands.def:
src/history.h:
src/log.h:
src/observer.h:
src/thermo.h:
src/variable.h:
src/engines.h:
src/plan.h:
src/resume.h:
src/restart.h:
src/hdf5_file.h:
src/stop.h:
