build90/obj/src/colour_map.o: src/colour_map.c src/colour_map.h
src/colour_map.h:
