build90/obj/src/picture.o: src/picture.c src/picture.h common/error.h \
 src/colour_map.h
src/picture.h:
common/error.h:
src/colour_map.h:
