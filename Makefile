# Myriad's one entry: builds, tests, measures, installs. `make help` lists the targets.
#
# Every C file of common/, src/, openmp/ and validate/ becomes an object under build/obj, and all of them one program,
# build/myriad, and one library, build/libmyriad.so. Parts are added where their tools exist: ranks, mpi/*.c, with
# mpicc; restarts and H5MD with HDF5. A part found later compiles its own files and links, no more: every part has flags
# of its own. Two parts are libraries beside the program, which loads them when they are asked for: files of HDF5, and
# the GPU engine, gpu/*/*.cu with nvcc, which is built after the program, and only by targets that need it. Targets that
# need more than a compiler call .ci/setup first, which installs what is missing or says how to. The program picks its
# vector kernels at run time, so nothing is tuned to the building machine, except openmp/force/kernels.c, compiled once
# per instruction set, and the GPU engine's architectures (CUDA_ARCHS).
#
# Results must be the same bits everywhere: no option here may allow the compiler to contract, reassociate
# or approximate floating-point arithmetic.

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
MAKEFLAGS += --no-print-directory --no-builtin-rules
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif

## Options, as in `make test CC=clang`:
##   CC=gcc|clang       the compiler (gcc)
##   WERROR=1           warnings are errors
##   V=1                print full commands, and everything the unit tests say
##   SAN=NAME[,NAME]    build and test with a sanitizer: address, undefined, thread
##   DECK= ARGS=        another deck for `make run`, further words for its command line, or that of a script
##   SECONDS=60         duration of `make fuzz`
##   PREFIX= DESTDIR=   where `make install` puts things (/usr/local)
##   PYTHON=            the interpreter for tests and tables, with numpy and pytest
##   MODE= N= RANKS= ENGINE= REPEAT= THREADS= STEPS= OUT= SUBMIT=slurm WALLTIME= PER_NODE= WAIT=yes FRESH=yes
##                      the study of `make scaling` (docs/parallel/cluster.md)
##   STUDY= N=          studies and numbers of bodies of `make ladder` (docs/ladder.md): activity, atomics, cells,
##                      laboratory, porting; also REPEAT= THREADS= OUT=
##   MPI=no GPU=no      leave ranks or the GPU engine out even if their tools are here; NCCL=no: that library alone
##   CUDA_ARCHS=        of GPUs: native (the default: those of this machine, or, where there are none, 90 80+), all, or
##                      a list: 90 is code for 9.0, 90+ is PTX, which later GPUs compile when a program starts
##   JOBS=              tests that run side by side (two more than there are cores, because some wait)
##   HDF5=no            leave restarts and H5MD out even if the library is here
V ?= 0
WERROR ?= 0
SAN ?=
SECONDS ?= 60
PREFIX ?= /usr/local
DECK ?= inputs/in.repulsive
ARGS ?=

# ---------------------------------------------------------------- tools

ifeq ($(origin CC),default)
CC := $(if $(shell command -v gcc 2>/dev/null),gcc,cc)
endif
# Only clang's OpenMP runtime tells the thread sanitizer about its barriers; with gcc's every parallel
# loop is reported as a race.
ifneq ($(filter thread fuzz,$(SAN)),)
ifeq ($(findstring clang,$(CC)),)
override CC := clang
endif
endif
CLANG ?= clang
CLANG_FORMAT ?= clang-format
CLANG_TIDY ?= clang-tidy
CPPCHECK ?= cppcheck
SHELLCHECK ?= shellcheck
NVCC ?= $(or $(shell command -v nvcc 2>/dev/null),$(wildcard /usr/local/cuda/bin/nvcc))
# Fedora and openSUSE keep MPI where only their modules put it into the PATH.
MPICC ?= $(or $(shell command -v mpicc 2>/dev/null),$(firstword $(wildcard \
  /usr/lib64/openmpi/bin/mpicc /usr/lib64/mpi/gcc/openmpi*/bin/mpicc /usr/lib64/mpich/bin/mpicc)))
MPIRUN ?= $(or $(shell command -v mpirun 2>/dev/null),$(if $(MPICC),$(wildcard $(dir $(MPICC))mpirun)))
# The shell looks it up when a recipe's line runs, which is after the set-up.
PYTHON ?= $$(bash .ci/setup --python)
SETUP := CC='$(CC)' CLANG='$(CLANG)' SAN='$(SAN)' bash .ci/setup
ARCH := $(shell uname -m)

comma := ,
quoted = '$(subst ','\'',$1)'

# ---------------------------------------------------------------- what is built

BUILD ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
OBJ := $(BUILD)/obj
FLAGS := $(BUILD)/flags
PROGRAM := $(BUILD)/myriad
# An instrumented library does not go into a program that is not, such as Python.
LIBRARY := $(if $(SAN),,$(BUILD)/libmyriad.so)

# Sanitizers do not see through nvcc.
GPU ?= $(if $(SAN),no)
LADDER_CUDA := $(wildcard gpu/ladder/*.cu gpu/ladder/*/*.cu)
GPU_SOURCES := $(filter-out $(LADDER_CUDA),$(wildcard gpu/*/*.cu))
GPU_HEADERS := $(wildcard gpu/*.h gpu/*/*.h gpu/*/*.cuh gpu/*/*.inc gpu/ladder/*/*.cuh)
GPU_LIBRARY := $(BUILD)/libmyriad-gpu.so
HDF5_SOURCE := src/hdf5/hdf5_file.c
MPI_SOURCES := $(wildcard mpi/*.c mpi/transport/*.c)
WITH_GPU := $(if $(filter no,$(GPU)),,$(if $(GPU_SOURCES),$(NVCC)))
WITH_MPI := $(if $(filter no,$(MPI)),,$(if $(MPI_SOURCES),$(MPICC)))

# HDF5: the library that works over MPI if there are ranks and it is here, else the plain one; `parallel FLAGS` or
# `serial FLAGS`. Once found, it is handed on to the makes that are called from here.
ifeq ($(HDF5_FOUND)$(filter no,$(HDF5)),)
HDF5_FOUND := $(shell CC='$(CC)' MPICC='$(if $(WITH_MPI),$(MPICC))' bash .ci/setup --hdf5)
endif
ifneq ($(filter no,$(HDF5)),)
override HDF5_FOUND :=
endif
ifneq ($(HDF5_FOUND),)
export HDF5_FOUND
endif
# Nice to have: a machine that does not get it builds without.
SETUP_HDF5 := $(if $(filter no,$(HDF5)),:,$(SETUP) hdf5 || echo 'going on without restarts and H5MD' >&2)
HDF5_INCLUDES := $(filter -I%,$(HDF5_FOUND))
HDF5_LIBRARY := $(if $(HDF5_FOUND),$(BUILD)/libmyriad-hdf5.so)

# Messages between GPUs need both, and are in the GPU engine's library.
TRANSPORTS := $(wildcard mpi/transport/*.c)
LEFT_OUT := $(if $(WITH_GPU),,$(TRANSPORTS))
GPU_C := gpu/library.c $(if $(WITH_MPI),$(TRANSPORTS))

# The ladder's programs share these with one another, and nothing with the engines.
LADDER_C := $(wildcard common/ladder/*.c)
LADDER_CPU_C := $(wildcard openmp/ladder/*.c)
LADDER_CPU := $(BUILD)/ladder-cpu
LADDER_GPU := $(BUILD)/ladder-gpu
SOURCES := $(filter-out $(LADDER_C) $(LADDER_CPU_C) $(HDF5_SOURCE), \
  $(wildcard $(foreach room,common src,$(room)/*.c $(room)/*/*.c $(room)/*/*/*.c) \
  openmp/*.c openmp/*/*.c)) \
  $(if $(WITH_MPI),$(filter-out $(TRANSPORTS),$(MPI_SOURCES)))
UNIT_TESTS := $(wildcard validate/unit/test_*.c validate/unit/*/test_*.c)
FUZZ_TARGETS := $(wildcard validate/fuzz/fuzz_*.c)
ALL_C := $(sort $(SOURCES) $(HDF5_SOURCE) $(LADDER_C) $(LADDER_CPU_C) $(MPI_SOURCES) gpu/library.c $(UNIT_TESTS) \
  $(FUZZ_TARGETS))
HEADERS := $(wildcard $(foreach room,common src openmp mpi,$(room)/*.h $(room)/*/*.h $(room)/*/*/*.h) \
  validate/unit/support/*.h) $(GPU_HEADERS)
DEFINITIONS := $(wildcard common/*.def src/*/*.def src/*/*/*.def)
SCRIPTS := .ci/run .ci/setup $(wildcard .ci/*.sh validate/*.sh validate/*/*.sh job-scripts/*.sh job-scripts/*/*.sh) \
  $(addprefix job-scripts/,bind launch submit site.env)

# These hold the inner loops; MD_ISA names their copies, and the program asks the processor. With ISAS=native, as `make
# run` calls this file, a program gets the best ones for this processor, and those that were built before.
KERNELS := openmp/force/kernels.c openmp/all_pairs/kernels.c
ISAS ?= all
ALL_ISAS := generic $(if $(filter x86_64 amd64,$(ARCH)),avx2 avx512)
ifeq ($(ISAS),native)
CPU := $(shell grep -m 1 '^flags' /proc/cpuinfo)
cpu_has = $(if $(filter-out $(CPU),$2),,$1)
BUILT_ISAS := $(patsubst $(BUILD)/obj/openmp/force/kernels.%.o,%,$(wildcard $(BUILD)/obj/openmp/force/kernels.*.o))
WITH_ISAS := $(filter $(BUILT_ISAS) $(or $(call cpu_has,avx512,avx512f avx512dq avx512vl avx512bw avx512cd), \
  $(call cpu_has,avx2,avx2 fma),generic),$(ALL_ISAS))
else
WITH_ISAS := $(ALL_ISAS)
endif
ISA_FLAGS_avx2 := -mavx2 -mfma
ISA_FLAGS_avx512 := -mavx512f -mavx512dq -mavx512vl -mavx512bw -mavx512cd -mfma -mprefer-vector-width=512

# Source names to objects: $(call objects_of,src/deck/deck.c openmp/force/kernels.c). What takes longest to compile
# comes first, so that no core waits for it at the end.
objects_of = $(strip $(foreach kernels,$(filter $(KERNELS),$1),$(WITH_ISAS:%=$(OBJ)/$(kernels:.c=).%.o)) \
             $(patsubst %.c,$(OBJ)/%.o,$(filter-out $(KERNELS),$1)))
OBJECTS := $(call objects_of,$(SOURCES))
HDF5_OBJECT := $(HDF5_SOURCE:%.c=$(OBJ)/%.o)
GPU_C_OBJECTS := $(GPU_C:%.c=$(OBJ)/%.o)
CUDA_OBJECTS := $(GPU_SOURCES:%.cu=$(OBJ)/%.o)
TEST_PROGRAMS := $(UNIT_TESTS:validate/unit/%.c=$(BUILD)/unit/%)
FUZZ_PROGRAMS := $(FUZZ_TARGETS:validate/fuzz/%.c=$(BUILD)/unit/%)

# Unit tests and fuzz targets use this library: every function of the program but main, and what the ladder's programs
# share. A function that a test defines itself takes the place of the library's, in calls from other files too.
TESTED_LIBRARY := $(BUILD)/libtested.so

# ---------------------------------------------------------------- flags

# Names of functions and numbers of lines, for profilers and backtraces. All of -g would take half as long again to
# compile, and four times the bytes.
OPTIMISE := -O3 -g1
SANITIZE :=
SANITIZERS := $(subst $(comma), ,$(SAN))
ifneq ($(SAN),)
OPTIMISE := -Og -g1 -fno-omit-frame-pointer
# gcc takes 20 s for each copy of the vector kernels with the checks of both sanitizers, and 1 s without optimising.
KERNELS_OPTIMISE := -O0
ifeq ($(SAN),fuzz)
SANITIZE := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
# What inputs go through first is optimised, and the rest is not, which takes half of the time to compile.
OPTIMISE := -O0 -g1 -fno-omit-frame-pointer
READERS := $(addprefix src/,deck formula script data particles files potential region) common common/arithmetic
$(READERS:%=$(OBJ)/%/%.o): LEVEL := -O1
else
SANITIZE := -fsanitize=$(SAN) -fno-sanitize-recover=all
# The texts of undefined behaviour are 16 MB, which every program would load and search for leaks: half of a short run's
# time. With both sanitizers such a finding is a trap in place of a text. ASan then names function and line, and
# SAN=undefined has the text.
ifneq ($(and $(filter address,$(SANITIZERS)),$(filter undefined,$(SANITIZERS))),)
SANITIZE += -fsanitize-undefined-trap-on-error
endif
endif
endif
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wdouble-promotion -Wmissing-prototypes
# Not with gcc's sanitizers, whose added code makes it warn of what is not in the source. It also hinders vectorization,
# of which clang warns.
WARNINGS += $(if $(filter 1,$(WERROR)),$(if $(filter-out fuzz,$(SAN)),,-Werror))
WARNINGS += $(if $(filter fuzz,$(SAN)),-Wno-pass-failed)
CFLAGS ?= $(OPTIMISE)
ifeq ($(origin CFLAGS)$(SAN),file)
# What runs once or for a row of output, not for every particle, takes two thirds of the time to compile with -O1.
SELDOM := $(addprefix src/,balance bonds commands deck edit fixes group library minimize potential replay restart \
  run script thermo)
SELDOM_C := $(wildcard src/*.c $(SELDOM:%=%/*.c)) $(addprefix common/,model.c model_box.c model_scales.c pair/pair.c)
$(SELDOM_C:%.c=$(OBJ)/%.o): LEVEL := -O1
# Nearly every x86 processor has AVX2. The other copy takes half of the time to compile with -O1. Not with clang, which
# then warns of loops that it does not vectorize.
ISA_OPTIMISE_generic := $(if $(filter x86_64 amd64,$(ARCH)),$(if $(findstring clang,$(CC)),,-O1))
endif
KERNELS_OPTIMISE ?=
EXACT := -ffp-contract=off -fno-math-errno -fno-trapping-math
# Program and library share their objects.
SHARED := -fPIC -fno-semantic-interposition
COMPILE := -std=c17 -D_DEFAULT_SOURCE $(SHARED) $(CFLAGS) -fopenmp $(EXACT) $(SANITIZE) -I. $(WARNINGS) $(CPPFLAGS)
# The checks' own data has 400000 addresses. In a program at a fixed place nothing has to set them at its start, a fifth
# of the time of a short run.
FIXED_PLACE := $(if $(filter address undefined,$(SANITIZERS)),-no-pie)
LINK := $(CFLAGS) -fopenmp $(SANITIZE) $(FIXED_PLACE) $(LDFLAGS)
SHARED_LINK := $(filter-out -no-pie,$(LINK)) -shared
LIBRARIES := -lpng -lz -lm -ldl $(LDLIBS)
# The libraries that the program loads call its functions.
EXPORTS := src/exports.list
EXPORTED := -Wl,--dynamic-list=$(EXPORTS)

# The compiler wrapper of MPI, told to use the compiler chosen here.
CC_MPI := $(if $(MPICC),OMPI_CC='$(CC)' MPICH_CC='$(CC)' $(MPICC),$(CC))
CC_LINK := $(if $(WITH_MPI),$(CC_MPI),$(CC))
CC_HDF5 := $(if $(filter parallel,$(HDF5_FOUND)),$(CC_MPI),$(CC))

# What single files are told of the parts of this build. The libraries that the program loads have the
# digest of what they share with it.
HAS_MPI := $(if $(WITH_MPI),-DMD_WITH_MPI)
DIGESTED := $(filter-out common/ladder/% gpu/ladder/%, \
  $(sort $(wildcard $(addsuffix /*.*,common common/* common/*/* gpu gpu/*)) \
  $(HDF5_SOURCE) src/hdf5/hdf5_file.h src/files/new_file.h))
DIGEST := -DMD_SOURCES='"$(shell cat $(DIGESTED) | sha256sum | cut -c1-16)"'

# Looked up when first used: `make run` does not wait for it.
once = $(eval $1 := $(shell $2))$($1)
ifneq ($(WITH_GPU),)
CUDA_HOME ?= $(patsubst %/bin/nvcc,%,$(realpath $(NVCC)))
CUDA_ARCHS ?= native
CUDA_WORDS = $(or $(call once,CUDA_WORDS,bash .ci/setup --cuda-archs '$(NVCC)' $(CUDA_ARCHS)),$(error \
  $(NVCC) knows none of CUDA_ARCHS=$(CUDA_ARCHS)))
# Without optimising, and with PTX alone (CUDA_ARCHS=90+), nvcc takes a third of the time.
CUDA_OPTIMISE ?= -O3
CUDA_COMPILE = -std=c++17 $(CUDA_OPTIMISE) -lineinfo -fmad=false -ccbin '$(CUDA_CXX)' -I. \
  $(if $(filter 1,$(WERROR)),-Werror all-warnings) \
  -Xcompiler -fPIC,-Wall,-Wextra,-Wno-missing-field-initializers,-ffp-contract=off,-fopenmp \
  $(foreach a,$(filter-out %+,$(CUDA_WORDS)),-gencode arch=compute_$a$(comma)code=sm_$a) \
  $(foreach a,$(patsubst %+,%,$(filter %+,$(CUDA_WORDS))),-gencode arch=compute_$a$(comma)code=compute_$a)
# The ladder's kernels promise no bits: multiplications and additions may be contracted, as in any other CUDA program.
LADDER_COMPILE = $(filter-out -fmad=false,$(CUDA_COMPILE))
CUDA_CXX ?= g++
CUDA_LIBRARIES := -L$(CUDA_HOME)/lib64 -lcudart_static -lstdc++ -ldl -lrt -lpthread
CUDA_INCLUDES := -isystem $(CUDA_HOME)/include
# Is NCCL there to compile and to link with?
NCCL ?= $(if $(WITH_MPI),$(call once,NCCL,\
  printf '\043include <nccl.h>\nint main(void) { return ncclGetVersion(0); }\n' | \
  $(CC) $(CUDA_INCLUDES) -x c - -o /dev/null -L$(CUDA_HOME)/lib64 -lnccl 2>/dev/null && echo yes || echo no))
WITH_NCCL = $(filter-out no,$(NCCL))
NCCL_LIBRARIES = $(if $(WITH_NCCL),-lnccl -Wl$(comma)-rpath$(comma)$(CUDA_HOME)/lib64)
EMULATED_LIBRARIES = $(LIBRARIES) $(if $(WITH_NCCL),-L$(CUDA_HOME)/lib64 $(NCCL_LIBRARIES)) -lstdc++
GPU_LINK = $(SHARED_LINK) -Wl,--version-script=gpu/library.map
GPU_LIBRARIES = $(CUDA_LIBRARIES) $(NCCL_LIBRARIES) $(LDLIBS)
endif

# The kernels as C++ (validate/emulator): CUDA's headers are found after the emulator's. nvcc has seen
# the sources: warnings here would be of what the translation made of them.
EMULATED := $(BUILD)/emulated
EMULATOR := validate/emulator
EMULATOR_SOURCES := $(wildcard $(EMULATOR)/*.cpp $(EMULATOR)/*.h $(EMULATOR)/cub/*.cuh $(EMULATOR)/cuda/* \
  $(EMULATOR)/thrust/*.h)
EMULATED_HEADERS := $(patsubst %,$(EMULATED)/%,$(filter %.cuh %.inc,$(GPU_HEADERS)))
EMULATED_OBJECTS := $(GPU_SOURCES:%.cu=$(OBJ)/emulated/%.o) $(OBJ)/emulated/emulator.o
LADDER_OBJECTS := $(LADDER_C:%.c=$(OBJ)/%.o)
LADDER_GPU_OBJECTS := $(LADDER_CUDA:%.cu=$(OBJ)/%.o) $(LADDER_OBJECTS)
LADDER_EMULATED_OBJECTS := $(LADDER_CUDA:%.cu=$(OBJ)/emulated/%.o) $(OBJ)/emulated/emulator.o $(LADDER_OBJECTS)
# -O2 takes half as long again to compile, and its kernels are a tenth faster.
EMULATED_OPTIMISE ?= -O1
EMULATED_COMPILE = '$(CUDA_CXX)' -std=c++17 -w -fopenmp $(EMULATED_OPTIMISE) $(EXACT) -fno-strict-aliasing \
  $(if $(filter x86_64 amd64,$(ARCH)),-mfma) -I$(EMULATOR) -I$(EMULATED) -I. $(CUDA_INCLUDES) -MMD -MP

ifeq ($(V),1)
say = @:
quiet :=
else
say = @printf '%-4s %s\n'
quiet := @
endif

# ---------------------------------------------------------------- for everyone

.PHONY: all gpu library wanted help info setup run test test-unit test-e2e test-gpu test-slurm check check-extending \
        emulated check-emulated compatibility figures scaling bench bench-gpu profile-gpu ladder ladder-cpu \
        ladder-cells fuzz install uninstall clean format format-check lint objects kernels tests need-gpu FORCE

all: $(PROGRAM) $(LIBRARY) $(if $(WITH_GPU),$(GPU_LIBRARY)) ## build program, library and, with nvcc, the GPU engine

ifneq ($(LIBRARY),)
library: $(LIBRARY) ## build libmyriad.so alone, for C (src/library/myriad.h) and Python (python/)
endif

ifneq ($(WITH_GPU),)
gpu: $(PROGRAM) $(GPU_LIBRARY) ## build the GPU engine, which the program loads when it is asked for
else
gpu:
	@echo 'the GPU engine needs nvcc, which is not found (or GPU=no, or SAN=): see make info' >&2; exit 1
endif

# The program. Also the GPU engine, if the command line asks for it, or it has been built before, or there is a GPU to
# run it.
asks_for_gpu = $(filter gpu --gpu-naive,$(ARGS) $(ENGINE))
gpu_is_here = $(shell nvidia-smi -L 2>/dev/null | grep -m 1 '^GPU')
wanted: $(PROGRAM) $(LIBRARY) \
  $(if $(WITH_GPU),$(if $(asks_for_gpu)$(wildcard $(GPU_LIBRARY))$(gpu_is_here),$(GPU_LIBRARY)))

help: ## list the targets and options, and what this machine offers
	@awk -F ':.*## ' '/^[a-z][a-z0-9-]*:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile
	@echo
	@sed -n 's/^## \{0,1\}//p' Makefile
	@echo
	@$(MAKE) info

info: ## say which compiler, libraries and tools this build would use
	@$(SETUP) --info
	@echo "engines naive, openmp    always built ($(strip $(ALL_ISAS)) kernels)"
	@echo "engine gpu               $(if $(WITH_GPU),$(GPU_BUILT),not built: $(WHY_NO_GPU))"
	@echo "restarts, H5MD           $(if $(HDF5_FOUND),$(HDF5_BUILT),not in this build: $(WHY_NO_HDF5))"
	@echo "ranks (MPI)              $(if $(WITH_MPI),$(MPI_BUILT),not in this build: $(WHY_NO_MPI))"
GPU_IS = $(if $(wildcard $(GPU_LIBRARY)), built,$(comma) to be built by make gpu)
GPU_BUILT = $(GPU_LIBRARY)$(GPU_IS) with $(WITH_GPU) for $(CUDA_WORDS)$(if $(WITH_NCCL),$(comma) with NCCL)
WHY_NO_GPU = $(if $(GPU_SOURCES),$(if $(NVCC),GPU=no,nvcc not found),gpu/ has no sources; nvcc $(if $(NVCC),,not )found)
HDF5_BUILT = HDF5$(if $(filter parallel,$(HDF5_FOUND)), over MPI$(comma) all ranks write together)
WHY_NO_HDF5 = $(if $(filter no,$(HDF5)),HDF5=no,no HDF5 library found)
MPI_BUILT = built with $(WITH_MPI)$(if $(MPIRUN),,; mpirun not found)
WHY_NO_MPI = $(if $(MPI_SOURCES),$(if $(MPICC),MPI=no,mpicc not found; bash .ci/setup mpi gets it),mpi/ has no sources)

setup: ## install what building and testing need, or say how to
	@$(SETUP) build test
	@$(SETUP_HDF5)

run: ## install what is missing, build, and run DECK; results go to run/
	@$(SETUP) build
	@$(MAKE) ISAS=native $(if $(asks_for_gpu),gpu,$(PROGRAM))
	@mkdir -p run
	$(quiet)$(PROGRAM) -in '$(DECK)' -log run/log.myriad \
	  $$(! grep -qs '^[[:space:]]*variable[[:space:]]\{1,\}out[[:space:]]' '$(DECK)' || echo -var out run) $(ARGS)

# ---------------------------------------------------------------- tests

test: ## pass every test: unit tests, then end-to-end tests (with SAN= the reduced set)
	@$(SETUP) build test $(if $(SAN),sanitize)
	@$(SETUP_HDF5)
	@$(SETUP) xdist || echo 'going on with one test after the other' >&2
	$(if $(filter thread,$(SAN)),@CLANG='$(CC)' bash validate/race_detector.sh)
	@$(MAKE) wanted tests $(LADDER_CPU)
	@$(MAKE) test-unit
	@$(MAKE) test-e2e

test-unit: ## run the unit tests alone
	@$(MAKE) -k -O $(TEST_PROGRAMS:=.passed) || { echo 'unit tests failed: see FAIL above' >&2; exit 1; }

# A program that passes no test has not passed: the closing line of cmocka must be there.
.PHONY: $(TEST_PROGRAMS:=.passed)
$(TEST_PROGRAMS:=.passed): %.passed: %
	@began=$$(date +%s%N); \
	if $(TEST_ENV) timeout -k 5 300 $< >$<.log 2>&1 && grep -q '  PASSED  ' $<.log; then \
	  printf 'UNIT %s, %d ms\n' $< $$((($$(date +%s%N) - began) / 1000000)); \
	  $(if $(filter 1,$(V)),cat,grep -E '^\[(==========|  PASSED  |  SKIPPED )\]') $<.log; \
	else printf 'FAIL %s\n' $<; cat $<.log; exit 1; fi

test-e2e: wanted $(LADDER_CPU) ## run the end-to-end tests alone (pytest)
	@$(SETUP) python
	$(quiet)MYRIAD='$(abspath $(PROGRAM))' $(TEST_ENV) \
	  $(PYTHON) -m pytest -q -p no:cacheprovider $(SIDE_BY_SIDE) --durations=15 \
	  $(if $(SAN),-m 'smoke and not slow and not mpi' $(if $(filter thread,$(SAN)),$(NO_FILE_LIMIT))) validate
# Sanitizers leave several ranks out, because Open MPI does not free all of its memory, which is reported as a leak.
# clang's OpenMP runtime dies at its start where the size of files is limited, as these tests do.
NO_FILE_LIMIT := -k 'not disk_full_within_a_file and not failed_write_keeps_the_file_before \
  and not full_disk_within_a_trajectory'
# Tests wait for files, for ranks and for one another's cores: three more than there are cores keep these busy.
JOBS ?= $(shell expr $$(nproc 2>/dev/null || echo 2) + 3)
SIDE_BY_SIDE = $$(bash .ci/setup --side-by-side "$(PYTHON)" $(JOBS))

# A machine without a GPU skips these tests in `make test`; here that is a failure.
test-gpu: need-gpu ## pass every test of the GPU engine: naive [STEPS=], compute-sanitizer, 10^8 particles
	@$(SETUP) xdist || echo 'going on with one test after the other' >&2
	@$(MAKE) ladder-programs
	$(quiet)MYRIAD='$(abspath $(PROGRAM))' $(TEST_ENV) \
	  $(PYTHON) -m pytest -q -p no:cacheprovider $(SIDE_BY_SIDE) -m gpu --durations=15 validate
	$(quiet)$(TEST_ENV) $(PYTHON) validate/check_engines.py --engine gpu --myriad $(PROGRAM) $(call option,STEPS,steps)
	$(quiet)$(PYTHON) validate/speed/sanitize_gpu.py --myriad $(PROGRAM)
	$(quiet)$(PYTHON) validate/speed/large_gpu.py --myriad $(PROGRAM) $(ARGS)

test-slurm: ## start a Slurm of one node here (as root), and pass a study and a requeued job through it
	@$(SETUP) build mpi hdf5 plots slurm
	@$(MAKE) wanted
	$(quiet)MYRIAD='$(abspath $(PROGRAM))' PATH="$$PATH$(addprefix :,$(dir $(MPIRUN)))" \
	  bash validate/scripts/test_slurm.sh $(ARGS)

# Builds, and ends unless the program finds a GPU.
need-gpu:
	@$(SETUP) build python
	@$(MAKE) all
	@$(PROGRAM) info | grep '^GPU 0:' || { $(PROGRAM) info | grep -i gpu; \
	  echo 'this needs a GPU, and a program built with nvcc (see make info)' >&2; exit 1; }

check: ## compare every engine, thread count and number of ranks with the naive one, bit by bit [STEPS=]
	@$(SETUP) build python
	@$(MAKE) wanted
	$(quiet)$(TEST_ENV) $(PYTHON) validate/check_engines.py --engine openmp mpi gpu --if-present \
	  --myriad $(PROGRAM) $(call option,STEPS,steps)

check-extending: ## follow docs/extending.md in a copy of the tree: build its examples, and compare every engine
	@$(SETUP) build python
	@$(MAKE) wanted
	$(quiet)$(TEST_ENV) $(PYTHON) validate/extending.py --make '$(MAKE)'

ifneq ($(WITH_GPU),)
emulated: $(BUILD)/myriad-emulated ## build the program with its GPU kernels translated for the CPU

check-emulated: ## run every GPU kernel on the CPU, thread by thread, against naive [STEPS=120]
	@$(SETUP) build python
	@$(MAKE) emulated $(BUILD)/ladder-emulated
	$(quiet)$(TEST_ENV) $(PYTHON) validate/check_engines.py --engine gpu --steps $(or $(STEPS),120) \
	  --myriad $(BUILD)/myriad-emulated
	$(quiet)MYRIAD='$(abspath $(BUILD)/myriad-emulated)' $(TEST_ENV) \
	  $(PYTHON) -m pytest -q -p no:cacheprovider $(SIDE_BY_SIDE) -m gpu -k '$(EMULATED_TESTS)' \
	  validate/exactness/test_gpu_ranks.py validate/exactness/test_exact.py validate/output/test_density.py \
	  validate/program/test_host_memory.py \
	  validate/output/test_in_place.py validate/output/test_environments.py
	$(quiet)LADDER='$(abspath $(BUILD)/ladder-emulated)' $(TEST_ENV) \
	  $(PYTHON) -m pytest -q -p no:cacheprovider $(SIDE_BY_SIDE) validate/scripts/test_ladder_gpu.py
EMULATED_TESTS := equal_naive and not repulsive and not melt or moving_cuts or a_grid_cannot or one_error \
                  or steps_sort or host
else
emulated check-emulated:
	@echo "the GPU's kernels on the CPU: not built, nvcc not found (its headers are needed), or GPU=no"
endif

compatibility: ## run LAMMPS's example decks here and by lmp, and write docs/compatibility.md (10 minutes)
	@$(SETUP) build python
	@$(MAKE) $(PROGRAM)
	$(quiet)$(PYTHON) validate/compatibility.py --myriad $(PROGRAM) --output docs/compatibility.md $(ARGS)

figures: ## draw the plots of docs/pair-styles.md again, from what the program computes
	@$(SETUP) build plots
	@$(MAKE) $(PROGRAM)
	$(quiet)MYRIAD='$(abspath $(PROGRAM))' $(SCALING_PYTHON) validate/pair_figures.py $(ARGS)

# A word of the driver's for each option that is given.
option = $(if $($1),--$2 $(call quoted,$($1)))
SCALING_DECK = $(if $(filter file,$(origin DECK)),,--deck '$(DECK)')
SCALING_PYTHON = $(if $(filter file,$(origin PYTHON)),$$(bash .ci/setup --python matplotlib),$(PYTHON))

scaling: ## a study of strong and weak scaling and of cost against N, with a report; SUBMIT=slurm: as jobs
	@$(SETUP) build plots $(if $(filter no,$(MPI)),,mpi)
	@$(MAKE) wanted
	$(quiet)PATH="$$PATH$(addprefix :,$(dir $(MPIRUN)))" $(SCALING_PYTHON) job-scripts/scaling.py \
	  --myriad $(PROGRAM) $(SCALING_DECK) $(call option,MODE,mode) \
	  $(call option,N,n) $(call option,RANKS,ranks) $(call option,ENGINE,engine) $(call option,REPEAT,repeat) \
	  $(call option,THREADS,threads) $(call option,STEPS,steps) $(call option,OUT,out) $(call option,SUBMIT,submit) \
	  $(call option,WALLTIME,walltime) $(call option,PER_NODE,per-node) $(if $(filter yes,$(WAIT)),--wait) \
	  $(if $(filter yes,$(FRESH)),--fresh) $(ARGS)

bench: ## measure speed, beside LAMMPS where it is installed (under 4 minutes)
	@$(SETUP) build
	@$(MAKE) wanted
	$(quiet)$(PYTHON) validate/speed/bench.py --myriad $(PROGRAM) $(ARGS)

# The ladder's programs on a GPU: what `make ladder` runs.
.PHONY: ladder-programs
ladder-programs: $(if $(WITH_GPU),$(BUILD)/ladder-gpu)

bench-gpu: need-gpu ## measure the GPU engine, 10^3 to 5 10^8 particles (under 5 minutes on an H100)
	$(quiet)$(PYTHON) validate/speed/bench_gpu.py --myriad $(PROGRAM) $(ARGS)

profile-gpu: need-gpu ## time every kernel of the GPU engine; ARGS=--ncu: also with Nsight Compute
	$(quiet)$(PYTHON) validate/speed/profile_gpu.py --myriad $(PROGRAM) $(ARGS)

# What is missing is left out, with a word of it in the report.
ladder: ## climb the five studies of docs/ladder.md (STUDY= N=), with a report; results go to run/ladder
	@$(SETUP) build plots
	@$(MAKE) wanted $(LADDER_CPU) $(if $(WITH_GPU),$(if $(gpu_is_here),$(LADDER_GPU)))
	$(quiet)$(LADDER) --myriad $(PROGRAM) --gpu $(LADDER_GPU) $(LADDER_ARGS)

ladder-cpu: ## the same with the rungs for a processor alone (under 3 minutes on 4 cores)
	@$(SETUP) build plots
	@$(MAKE) $(LADDER_CPU)
	$(quiet)$(LADDER) $(LADDER_ARGS)

LADDER = PATH="$$PATH$(addprefix :,$(dir $(MPIRUN)))" $(SCALING_PYTHON) validate/speed/ladder.py --cpu $(LADDER_CPU)
LADDER_ARGS = $(if $(STUDY),--study $(STUDY)) $(call option,N,n) $(call option,REPEAT,repeat) $(call option,OUT,out) \
  $(call option,THREADS,threads) $(ARGS)

ladder-cells: need-gpu ## measure what each part of the GPU's cell pipeline is worth; results go to run/
	$(quiet)$(PYTHON) validate/speed/ladder_cells.py --myriad $(PROGRAM) $(ARGS)

# Each target gets its share of the time; a crash leaves its input in build/fuzz.
fuzz: ## feed mutated decks, data files and tables to the readers for SECONDS
	@$(SETUP) build fuzz
	@$(MAKE) SAN=fuzz fuzz-programs
	@test -n "$(FUZZ_TARGETS)" || { echo "there are no validate/fuzz/fuzz_*.c" >&2; exit 1; }
	@mkdir -p build/fuzz/seeds build/fuzz/scratch
	@cp inputs/in.* inputs/recipes/in.* validate/reference/* build/fuzz/seeds/ 2>/dev/null || true
	@cd build/fuzz/scratch && for f in $(FUZZ_TARGETS:validate/fuzz/%.c=%); do \
	  mkdir -p ../$$f; echo "FUZZ $$f"; \
	  OMP_NUM_THREADS=1 ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=256 \
	  UBSAN_OPTIONS=print_stacktrace=1 '$(CURDIR)'/build-fuzz/unit/$$f -timeout=10 -malloc_limit_mb=100000 \
	    -max_total_time=$$(( ($(SECONDS) + $(words $(FUZZ_TARGETS)) - 1) / $(words $(FUZZ_TARGETS)) )) \
	    -max_len=4096 -artifact_prefix=../$$f- -print_final_stats=1 ../$$f ../seeds >../$$f.log 2>&1 \
	  || { tail -n 60 ../$$f.log; echo "$$f failed: its input is in build/fuzz" >&2; exit 1; }; \
	  grep -E 'number_of_executed_units|average_exec_per_sec' ../$$f.log; done

# ---------------------------------------------------------------- the tree

# Where `install` copies to, for the shell. Everyone may read it, whatever the umask is.
PLACE = $(call quoted,$(DESTDIR)$(PREFIX))

install: all ## copy the program, its libraries, decks and documentation under PREFIX
	install -d $(PLACE)/bin $(PLACE)/share/myriad $(PLACE)/share/doc/myriad
	install -m 755 $(PROGRAM) $(PLACE)/bin/myriad
	$(if $(WITH_GPU),install -D -m 755 $(GPU_LIBRARY) $(PLACE)/lib/myriad/$(notdir $(GPU_LIBRARY)))
	$(if $(HDF5_LIBRARY),install -D -m 755 $(HDF5_LIBRARY) $(PLACE)/lib/myriad/$(notdir $(HDF5_LIBRARY)))
	$(if $(LIBRARY),install -D -m 755 $(LIBRARY) $(PLACE)/lib/libmyriad.so)
	install -D -m 644 src/library/myriad.h $(PLACE)/include/myriad.h
	install -m 755 validate/check.py $(PLACE)/bin/myriad-check
	cp -R inputs $(PLACE)/share/myriad
	install -D -m 644 -t $(PLACE)/share/myriad/validate/reference validate/reference/repulsive-1000.*
	cp -R LICENSE $(wildcard README.md docs/*) $(PLACE)/share/doc/myriad
	chmod -R u=rwX,go=rX $(PLACE)/share/myriad $(PLACE)/share/doc/myriad

uninstall: ## remove what install copied
	rm -f $(PLACE)/bin/myriad $(PLACE)/bin/myriad-check
	rm -f $(PLACE)/lib/libmyriad.so $(PLACE)/include/myriad.h
	rm -rf $(PLACE)/lib/myriad $(PLACE)/share/myriad $(PLACE)/share/doc/myriad

clean: ## remove everything built (results in run/ stay)
	rm -rf build build-*

format: ## rewrite the sources in the project's format
	@$(SETUP) format
	@$(CLANG_FORMAT) -i $(ALL_C) $(HEADERS) $(GPU_SOURCES) $(LADDER_CUDA) $(EMULATOR_SOURCES)

format-check: ## fail if `make format` would change a file
	@$(SETUP) format
	$(quiet)$(CLANG_FORMAT) --dry-run --Werror $(ALL_C) $(HEADERS) $(GPU_SOURCES) $(LADDER_CUDA) $(EMULATOR_SOURCES)

lint: ## run clang-tidy, cppcheck and shellcheck
	@$(SETUP) build test lint
	@$(MAKE) lint-files

.PHONY: lint-files
lint-files: $(patsubst %,$(BUILD)/lint/%.tidy,$(filter-out $(LEFT_OUT),$(ALL_C))) $(BUILD)/lint/cppcheck \
  $(SCRIPTS:%=$(BUILD)/lint/%.shellcheck)

$(BUILD)/lint/%.c.tidy: %.c .clang-tidy Makefile $(HEADERS) $(DEFINITIONS)
	@mkdir -p $(@D)
	$(say) TIDY $<
	$(quiet)$(CLANG_TIDY) --quiet $< -- -std=c17 -D_DEFAULT_SOURCE -fopenmp -I. -DMD_ISA=generic $(DIGEST) $(ANALYSER) \
	  $(if $(findstring mpi/,$<)$(findstring hdf5,$<),$(WITH_ALL_PARTS)) >$@.log 2>&1 || { cat $@.log; exit 1; }
	@mv $@.log $@
WITH_ALL_PARTS = $(MPI_INCLUDES) $(HDF5_INCLUDES) $(CUDA_INCLUDES) $(NCCL_DEFINED)
# How many states of a function the analyser follows. With its own number, 225000, the few longest functions take most
# of the time; 30000 is a third of it.
ANALYSER := -Xclang -analyzer-config -Xclang max-nodes=30000
MPI_INCLUDES = $(filter -I%,$(shell $(MPICC) -show 2>/dev/null))

# cppcheck takes most of its time for headers. In units of several files it reads them a few times in place of 300.
$(BUILD)/lint/cppcheck: $(ALL_C) $(HEADERS) $(DEFINITIONS) .cppcheck validate/lint_units.py Makefile
	@mkdir -p $(@D)
	$(say) CPPC 'all C files'
	$(quiet)$(PYTHON) validate/lint_units.py $(@D)/units $(ALL_C)
	$(quiet)$(CPPCHECK) --quiet --enable=warning,performance,portability --inline-suppr \
	  --suppressions-list=.cppcheck --error-exitcode=1 --std=c11 --max-configs=4 -j 2 -I. -D_DEFAULT_SOURCE \
	  -D_OPENMP=201511 -D__x86_64__ -DMD_ISA=generic $(DIGEST) '-D__attribute__(x)=' $(@D)/units/*.c
	@touch $@

$(BUILD)/lint/%.shellcheck: %
	@mkdir -p $(@D)
	$(say) SH $<
	$(quiet)$(SHELLCHECK) $<
	@touch $@

# ---------------------------------------------------------------- rules

.PHONY: fuzz-programs
fuzz-programs: $(TESTED_LIBRARY) $(FUZZ_PROGRAMS)
tests: $(TESTED_LIBRARY) $(TEST_PROGRAMS) ## build the unit tests without running them
ALL_OBJECTS := $(OBJECTS) $(if $(HDF5_FOUND),$(HDF5_OBJECT)) $(LADDER_OBJECTS) $(UNIT_TESTS:%.c=$(OBJ)/%.o)
objects: $(ALL_OBJECTS) ## compile every file, tests included, without linking
kernels: $(call objects_of,$(KERNELS)) ## compile the vector kernels alone

# The flags of each part, rewritten only when they change; what they compile depends on them.
FLAGS_c = $(CC) $(COMPILE)
FLAGS_mpi = $(CC_MPI) $(HAS_MPI)
FLAGS_hdf5 = $(CC_HDF5) $(HDF5_FOUND)
FLAGS_digest = $(DIGEST)
FLAGS_isas = $(WITH_ISAS)
FLAGS_link = $(CC_LINK) $(LINK) $(LIBRARIES)
FLAGS_cuda = $(NVCC) $(CUDA_COMPILE)
FLAGS_ladder = $(NVCC) $(LADDER_COMPILE)
FLAGS_messages = $(CUDA_INCLUDES) $(NCCL_DEFINED)
FLAGS_gpu = $(CC_LINK) $(GPU_LINK) $(GPU_LIBRARIES)
FLAGS_emulated = $(EMULATED_COMPILE) $(EMULATED_LIBRARIES)
# They are named, because make takes what a pattern makes for something in between, which changes each time it is made.
PARTS := c mpi hdf5 digest isas link cuda ladder messages gpu emulated
$(PARTS:%=$(FLAGS)/%): $(FLAGS)/%: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(call quoted,$(FLAGS_$*)) | cmp -s - $@ || printf '%s\n' $(call quoted,$(FLAGS_$*)) >$@

# Before the first compilation, so that a missing library is named rather than found by an #include.
$(BUILD)/toolchain: $(FLAGS)/c
	@$(SETUP) --check build
	@touch $@

# The library of HDF5 files comes with all that may load it. Without HDF5 none of an earlier build may stay.
.PHONY: hdf5
hdf5: $(HDF5_LIBRARY)
	$(if $(HDF5_LIBRARY),,@rm -f $(BUILD)/libmyriad-hdf5.so)

$(BUILD)/libmyriad-hdf5.so: $(HDF5_OBJECT) src/hdf5/hdf5.map $(FLAGS)/hdf5 $(FLAGS)/link
	$(say) LINK $@
	$(quiet)$(CC_HDF5) $(SHARED_LINK) -Wl,--version-script=src/hdf5/hdf5.map -o $@ $< \
	  $(filter -L% -l% -Wl%,$(HDF5_FOUND)) $(LDLIBS)

$(PROGRAM): $(OBJECTS) $(EXPORTS) $(FLAGS)/link $(FLAGS)/isas | hdf5
	$(say) LINK $@
	$(quiet)$(CC_LINK) $(LINK) $(EXPORTED) -o $@ $(OBJECTS) $(LIBRARIES)

# All objects of the program but its main. Its own functions are its own, whatever others are loaded beside it.
$(BUILD)/libmyriad.so: $(OBJECTS) src/library/library.map $(FLAGS)/link | hdf5
	$(say) LINK $@
	$(quiet)$(CC_LINK) $(SHARED_LINK) -Wl,-Bsymbolic,-soname,libmyriad.so,--version-script=src/library/library.map -o $@ \
	  $(filter-out $(OBJ)/src/main.o,$(OBJECTS)) $(LIBRARIES)

# Which files are compiled by another compiler than CC, and what they are told, is said below this rule.
COMPILER = $(CC)
$(OBJ)/%.o: %.c $(FLAGS)/c | $(BUILD)/toolchain
	@mkdir -p $(@D)
	$(say) CC $<
	$(quiet)$(COMPILER) $(COMPILE) $(LEVEL) $(TOLD) -MMD -MP -c -o $@ $<

$(OBJ)/src/files/part.o: TOLD = $(DIGEST)
$(OBJ)/src/files/part.o: $(FLAGS)/digest
$(OBJ)/src/engines/open_comm.o: TOLD = $(HAS_MPI)
$(OBJ)/src/engines/open_comm.o: $(FLAGS)/mpi
$(HDF5_OBJECT): COMPILER = $(CC_HDF5)
$(HDF5_OBJECT): TOLD = $(HDF5_INCLUDES) $(DIGEST)
$(HDF5_OBJECT): $(FLAGS)/hdf5 $(FLAGS)/digest
$(MPI_SOURCES:%.c=$(OBJ)/%.o): COMPILER = $(CC_MPI)
$(MPI_SOURCES:%.c=$(OBJ)/%.o): $(FLAGS)/mpi
NCCL_DEFINED = $(if $(WITH_NCCL),-DMD_WITH_NCCL)
$(TRANSPORTS:%.c=$(OBJ)/%.o): TOLD = -fPIC $(CUDA_INCLUDES) $(NCCL_DEFINED)
$(TRANSPORTS:%.c=$(OBJ)/%.o): $(FLAGS)/messages
$(OBJ)/gpu/library.o: COMPILER = $(CC_LINK)
$(OBJ)/gpu/library.o: TOLD = -fPIC $(HAS_MPI) $(DIGEST)
$(OBJ)/gpu/library.o: $(FLAGS)/mpi $(FLAGS)/digest

$(LADDER_CPU): $(call objects_of,$(LADDER_C) $(LADDER_CPU_C)) $(FLAGS)/link
	$(say) LINK $@
	$(quiet)$(CC) $(LINK) -o $@ $(filter %.o,$^) -lm $(LDLIBS)

define compile_kernels
$(OBJ)/$(1:.c=).%.o: $1 $(FLAGS)/c | $(BUILD)/toolchain
	@mkdir -p $$(@D)
	$$(say) CC '$$< ($$*)'
	$$(quiet)$$(CC) $$(COMPILE) $$(ISA_OPTIMISE_$$*) $$(KERNELS_OPTIMISE) -DMD_ISA=$$* $$(ISA_FLAGS_$$*) -MMD -MP \
	  -c -o $$@ $$<
endef
$(foreach kernels,$(KERNELS),$(eval $(call compile_kernels,$(kernels))))

$(GPU_LIBRARY): $(CUDA_OBJECTS) $(GPU_C_OBJECTS) gpu/library.map $(FLAGS)/gpu
	$(say) LINK $@
	$(quiet)$(CC_LINK) $(GPU_LINK) -o $@ $(filter %.o,$^) $(GPU_LIBRARIES)

# The program comes first.
$(OBJ)/gpu/%.o: gpu/%.cu $(FLAGS)/cuda | $(PROGRAM)
	@mkdir -p $(@D)
	$(say) NVCC $<
	$(quiet)$(NVCC) $(CUDA_COMPILE) $(CUDA_TOLD) -MMD -MP -c -o $@ $<
# The host's side of the engine, without loops over particles, for all layouts: with -O3 it is the longest to compile,
# and no faster. nvcc's -O is for the host's compiler alone.
$(OBJ)/gpu/engine/engine.o: private CUDA_OPTIMISE = -O1
$(OBJ)/gpu/runtime/device.o: CUDA_TOLD = -DMD_CUDA_ARCHS='"$(CUDA_WORDS)"'

# The ladder: a program of its own. One flag of fast arithmetic is what two of its rungs are about.
$(OBJ)/gpu/ladder/%.o: gpu/ladder/%.cu $(FLAGS)/ladder | $(BUILD)/toolchain
	@mkdir -p $(@D)
	$(say) NVCC $<
	$(quiet)$(NVCC) $(LADDER_COMPILE) $(CUDA_TOLD) -MMD -MP -c -o $@ $<
$(addprefix $(OBJ)/gpu/ladder/,laboratory/ftz.o porting/ftz.o): CUDA_TOLD = -ftz=true
$(OBJ)/gpu/ladder/porting/hybrid.o: CUDA_TOLD = -ftz=true -Xcompiler -fno-math-errno

$(BUILD)/ladder-gpu: $(LADDER_GPU_OBJECTS) $(FLAGS)/gpu
	$(say) LINK $@
	$(quiet)$(CC) $(LINK) -o $@ $(filter %.o,$^) $(CUDA_LIBRARIES) -lm

$(BUILD)/ladder-emulated: $(LADDER_EMULATED_OBJECTS) $(FLAGS)/emulated
	$(say) LINK $@
	$(quiet)$(CC) $(LINK) -o $@ $(filter %.o,$^) -lstdc++ -lm

# The interpreter is looked up once for all files: that takes longer than a translation.
TRANSLATOR = $(if $(filter file,$(origin PYTHON)),$(call once,TRANSLATOR,bash .ci/setup --python),$(PYTHON))
# Old lists of dependencies may name headers that are gone. They need no translation.
$(EMULATED)/gpu/%: gpu/% $(EMULATOR)/translate.py
	@mkdir -p $(@D)
	$(quiet)$(if $(wildcard $<),$(TRANSLATOR) $(EMULATOR)/translate.py $< $@)

$(OBJ)/emulated/gpu/%.o: $(EMULATED)/gpu/%.cu $(FLAGS)/emulated | $(EMULATED_HEADERS) $(BUILD)/toolchain
	@mkdir -p $(@D)
	$(say) CXX $<
	$(quiet)$(EMULATED_COMPILE) $(EMULATED_TOLD) -DMD_CUDA_ARCHS='"emulated"' -include cuda_runtime.h -c -o $@ -x c++ $<
# This file is the host's side of the engine, without loops over particles. It is the longest to compile.
$(OBJ)/emulated/gpu/engine/engine.o: EMULATED_TOLD = -O0

# It changes stacks, on other processors than x86-64 by longjmp, which glibc's checks forbid, and the rounding mode. A
# fifth of a run's time is spent in this one file.
$(OBJ)/emulated/emulator.o: $(EMULATOR)/emulator.cpp $(FLAGS)/emulated | $(BUILD)/toolchain
	@mkdir -p $(@D)
	$(say) CXX $<
	$(quiet)$(EMULATED_COMPILE) -O3 -frounding-math -U_FORTIFY_SOURCE -c -o $@ $<

# The engine is linked into this one, which finds it among its own symbols.
$(BUILD)/myriad-emulated: $(OBJECTS) $(GPU_C_OBJECTS) $(EMULATED_OBJECTS) $(EXPORTS) $(FLAGS)/emulated | hdf5
	$(say) LINK $@
	$(quiet)$(CC_LINK) $(LINK) $(EXPORTED) -o $@ $(filter %.o,$^) $(EMULATED_LIBRARIES)

$(TESTED_LIBRARY): $(filter-out $(OBJ)/src/main.o,$(OBJECTS)) $(LADDER_OBJECTS) $(FLAGS)/link | hdf5
	@mkdir -p $(@D)
	$(say) LINK $@
	$(quiet)$(CC_LINK) $(SHARED_LINK) -Wl,-soname,$(@F) -o $@ $(filter %.o,$^) $(LIBRARIES)

# They find the library in a folder above them, so that a change of it does not link them again.
LINK_TESTED = $(LINK) -o $@ $< $(TESTED_LIBRARY) -Wl,-rpath,'$$ORIGIN/..:$$ORIGIN/../..'
$(TEST_PROGRAMS): $(BUILD)/unit/%: $(OBJ)/validate/unit/%.o $(FLAGS)/link | $(TESTED_LIBRARY)
	@mkdir -p $(@D)
	$(say) LINK $@
	$(quiet)$(CC_LINK) $(LINK_TESTED) -lcmocka $(LIBRARIES)

$(FUZZ_PROGRAMS): $(BUILD)/unit/%: $(OBJ)/validate/fuzz/%.o $(FLAGS)/link | $(TESTED_LIBRARY)
	@mkdir -p $(@D)
	$(say) LINK $@
	$(quiet)$(CC_LINK) -fsanitize=fuzzer $(LINK_TESTED) $(LIBRARIES)

# Threads that wait sleep: waiting busily costs a time slice at every barrier when other programs, or other
# tests, want the same cores. ASan and UBSan stop at the first finding. The thread sanitizer must look away
# from the OpenMP runtime, which is not instrumented, and needs addresses that are not randomised too widely. Python
# keeps what it makes of sources in the build folder, also where the environment tells it to keep nothing: to make it
# again takes 3 s for each process that runs tests, and 0.7 s for each that draws.
TEST_ENV = OMP_WAIT_POLICY=passive PYTHONPYCACHEPREFIX='$(CURDIR)/build/pycache' PYTHONDONTWRITEBYTECODE= \
  $(if $(MPIRUN),MPIRUN='$(MPIRUN)') $(if $(SAN),ASAN_OPTIONS=detect_leaks=1:handle_sigill=1 \
  UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1 \
  $(if $(filter thread,$(SAN)),$(FIXED_ADDRESSES)))
FIXED_ADDRESSES = $(shell setarch -R true 2>/dev/null && echo setarch -R)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
