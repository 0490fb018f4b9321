build90/obj/src/stop.o: src/stop.c src/stop.h common/error.h \
 common/timer.h
src/stop.h:
common/error.h:
common/timer.h:
