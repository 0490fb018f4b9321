build90/obj/src/cmd_ranks.o: src/cmd_ranks.c src/ranks.h src/sim.h \
 common/engine.h common/comm.h common/model.h common/box.h common/real.h \
 common/error.h common/exact.h common/pair.h common/pair_styles.h \
 common/pair_lj_cut.h common/pair_repulsive.h common/pair_soft.h \
 common/particles.h common/timer.h src/command.h src/commands.def \
 src/history.h src/log.h src/observer.h src/thermo.h src/variable.h
src/ranks.h:
src/sim.h:
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
src/command.h:
src/commands.def:
src/history.h:
src/log.h:
src/observer.h:
src/thermo.h:
src/variable.h:
