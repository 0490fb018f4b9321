build90/obj/src/rows.o: src/rows.c src/rows.h src/by_id.h common/comm.h \
 common/model.h common/box.h common/real.h common/error.h common/exact.h \
 common/pair.h common/pair_styles.h common/pair_lj_cut.h \
 common/pair_repulsive.h common/pair_soft.h common/particles.h \
 src/output_stream.h src/text.h
src/rows.h:
src/by_id.h:
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
src/output_stream.h:
src/text.h:
