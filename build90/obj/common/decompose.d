build90/obj/common/decompose.o: common/decompose.c common/decompose.h \
 common/box.h common/real.h common/error.h
common/decompose.h:
common/box.h:
common/real.h:
common/error.h:
