#!/usr/bin/env bash
# Proves that the set-up of `make test SAN=thread` tells a race from a barrier.
#
# Two programs of a few lines: in both, threads write what other threads wrote before; in one a barrier lies
# between. The detector must accuse the other one and only it. Without this, a run without reports could as
# well mean that the detector sees nothing of OpenMP.
set -u
CC=${CLANG:-clang}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/loops.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
  enum { N = 100000 };
  long *a = calloc(N, sizeof *a);
  if (!a) return 2;
  long sum = 0;
#pragma omp parallel
  {
#ifdef RACE
#pragma omp for nowait
#else
#pragma omp for
#endif
    for (int i = 0; i < N; i++) a[i] += i;
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < N; i++) sum += ++a[N - 1 - i];
  }
  printf("%ld\n", sum);
  free(a);
  return 0;
}
C
status_of() {
  "$CC" -std=c17 -O1 -g -fopenmp -fsanitize=thread "$@" -o "$folder/loops" "$folder/loops.c" || return 99
  local -a fixed=()
  setarch -R true 2>/dev/null && fixed=(setarch -R)
  TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1 OMP_NUM_THREADS=4 \
    "${fixed[@]}" "$folder/loops" >"$folder/out" 2>&1
}

status_of
ordered=$?
status_of -DRACE
racy=$?
if [ $ordered -ne 0 ]; then
  cat "$folder/out"
  echo "the race detector fails a correct program (status $ordered)" >&2
  exit 1
fi
if [ $racy -ne 66 ] || ! grep -q 'data race' "$folder/out"; then
  cat "$folder/out"
  echo "the race detector misses a race (status $racy)" >&2
  exit 1
fi
echo 'the race detector accepts the ordered loops and reports the race'
