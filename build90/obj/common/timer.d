build90/obj/common/timer.o: common/timer.c common/timer.h
common/timer.h:
