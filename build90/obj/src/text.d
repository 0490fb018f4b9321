build90/obj/src/text.o: src/text.c src/text.h common/error.h
src/text.h:
common/error.h:
