build90/obj/src/id_table.o: src/id_table.c src/id_table.h common/error.h
src/id_table.h:
common/error.h:
