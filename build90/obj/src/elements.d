build90/obj/src/elements.o: src/elements.c src/elements.h
src/elements.h:
