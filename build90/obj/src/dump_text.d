build90/obj/src/dump_text.o: src/dump_text.c src/dump.h \
 src/number_format.h common/error.h src/rows.h src/by_id.h common/comm.h \
 common/model.h common/box.h common/real.h common/exact.h common/pair.h \
 common/pair_styles.h common/pair_lj_cut.h common/pair_repulsive.h \
 common/pair_soft.h common/particles.h src/output_stream.h src/text.h \
 src/sim.h common/engine.h common/timer.h src/command.h src/commands.def \
 src/history.h src/log.h src/observer.h src/thermo.h src/variable.h
src/dump.h:
src/number_format.h:
common/error.h:
src/rows.h:
src/by_id.h:
common/comm.h:
common/model.h:
common/box.h:
common/real.h:
common/exact.h:
common/pair.h:
common/pair_styles.h:
common/pair_lj_cut.h:
common/pair_repulsive.h:
common/pair_soft.h:
common/particles.h:
src/output_stream.h:
src/text.h:
src/sim.h:
common/engine.h:
common/timer.h:
src/command.h:
src/commands.def:
src/history.h:
src/log.h:
src/observer.h:
src/thermo.h:
src/variable.h:
