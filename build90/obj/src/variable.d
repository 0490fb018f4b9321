build90/obj/src/variable.o: src/variable.c src/variable.h common/error.h \
 src/command.h src/commands.def src/formula.h src/number_format.h \
 src/quote.h
src/variable.h:
common/error.h:
src/command.h:
src/commands.def:
src/formula.h:
src/number_format.h:
src/quote.h:
