build90/obj/src/output_stream.o: src/output_stream.c src/output_stream.h \
 common/comm.h common/model.h common/box.h common/real.h common/error.h \
 common/exact.h common/pair.h common/pair_styles.h common/pair_lj_cut.h \
 common/pair_repulsive.h common/pair_soft.h common/particles.h src/text.h
src/output_stream.h:
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
src/text.h:
