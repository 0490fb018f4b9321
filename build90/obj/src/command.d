build90/obj/src/command.o: src/command.c src/command.h common/error.h \
 src/commands.def
src/command.h:
common/error.h:
src/commands.def:
