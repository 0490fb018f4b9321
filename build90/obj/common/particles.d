build90/obj/common/particles.o: common/particles.c common/particles.h \
 common/box.h common/real.h common/error.h common/particle_fields.def
common/particles.h:
common/box.h:
common/real.h:
common/error.h:
common/particle_fields.def:
