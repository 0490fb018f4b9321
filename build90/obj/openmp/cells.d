build90/obj/openmp/cells.o: openmp/cells.c openmp/cells.h common/error.h \
 common/timer.h
openmp/cells.h:
common/error.h:
common/timer.h:
