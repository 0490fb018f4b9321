build90/obj/src/formula.o: src/formula.c src/formula.h src/variable.h \
 common/error.h common/rng.h common/real.h
src/formula.h:
src/variable.h:
common/error.h:
common/rng.h:
common/real.h:
