build90/obj/openmp/shares.o: openmp/shares.c openmp/shares.h \
 common/error.h
openmp/shares.h:
common/error.h:
