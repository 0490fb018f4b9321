build90/obj/src/number_format.o: src/number_format.c src/number_format.h \
 common/error.h
src/number_format.h:
common/error.h:
