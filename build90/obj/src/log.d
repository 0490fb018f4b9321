build90/obj/src/log.o: src/log.c src/log.h common/error.h
src/log.h:
common/error.h:
