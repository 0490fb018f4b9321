#!/usr/bin/env bash
# A Slurm of one node, started here on the loopback interface, and what users do with it.
#
#   validate/scripts/test_slurm.sh [study] [restart]     by default both; as root, with slurm-wlm and munge installed
#
#   study    a strong-scaling study on 1, 2 and 4 ranks is submitted as an array and ends with a complete report; the
#            same command again finds nothing to do; with one bit of an energy changed it fails.
#   restart  a job with a limit of one minute is signalled ahead of it, writes a restart, is requeued, resumes, and
#            ends with the same bits as a run that nobody interrupted.
#
# Keys, ports, state and logs are its own, in a temporary folder, and everything is taken down at the end, also after
# a failure, when the logs of Slurm are shown. Nothing is skipped: what cannot be done is a failure.
# Environment: MYRIAD, the program (build/myriad).
set -euo pipefail
cd "$(dirname "$0")/../.."

program=$(realpath "${MYRIAD:-build/myriad}")
python=$(bash .ci/setup --python matplotlib)
folder=$(mktemp -d /tmp/myriad-slurm.XXXXXX)
study="$folder/study %j" # Slurm does not replace that
daemons=()

say() { printf '%s\n' "slurm test: $*"; }

fail() {
  say "FAILED: $*" >&2
  exit 1
}

take_down() {
  local status=$? pid
  trap - EXIT
  if ((status != 0)); then
    for log in "$folder"/*.log "$folder"/*.out "$study"/*.out; do
      if [ -s "$log" ]; then
        printf '\n==> %s\n' "$log" >&2
        tail -n 25 "$log" >&2
      fi
    done
  fi
  scancel --user=root --quiet 2>/dev/null || true
  for _ in {1..60}; do
    [ -n "$(squeue --noheader 2>/dev/null)" ] || break
    sleep 0.2
  done
  # In the opposite order: without munge the others cannot end their jobs.
  for ((k = ${#daemons[@]} - 1; k >= 0; --k)); do
    pid=${daemons[k]}
    kill "$pid" 2>/dev/null || continue
    for _ in {1..50}; do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
  done
  rm -rf "$folder"
  exit "$status"
}

# until_true SECONDS WHAT COMMAND...
until_true() {
  local limit=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    ((SECONDS < limit)) || fail "$what did not happen in time"
    sleep 0.3
  done
}

daemon() {
  local name=$1
  shift
  "$@" >"$folder/$name.out" 2>&1 &
  daemons+=($!)
}

start_slurm() {
  local host cores port
  host=$(hostname -s)
  cores=$(nproc)
  # Four ranks, even if they share cores.
  ((cores >= 4)) || cores=4
  port=$((20000 + $$ % 20000))
  mkdir -m 700 "$folder/state" "$folder/spool"
  dd if=/dev/urandom of="$folder/key" bs=128 count=1 status=none
  chmod 400 "$folder/key"
  cat >"$folder/slurm.conf" <<EOF
ClusterName=myriad
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
CredType=cred/munge
# A requeued job waits until its old credential has expired.
AuthInfo=socket=$folder/munge.socket,cred_expire=5
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0,bf_interval=1
KillWait=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cores State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
EOF
  export SLURM_CONF=$folder/slurm.conf
  daemon munged munged --force --foreground --key-file="$folder/key" --socket="$folder/munge.socket" \
    --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" --seed-file="$folder/seed"
  until_true 10 'the socket of munge' test -S "$folder/munge.socket"
  daemon slurmctld slurmctld -D -f "$SLURM_CONF"
  daemon slurmd slurmd -D -f "$SLURM_CONF"
  # shellcheck disable=SC2016 # for the inner shell
  until_true 30 'an idle node' bash -c '[ "$(sinfo --noheader --format=%t 2>/dev/null)" = idle ]'
  say "$(sinfo --version) with a node of $cores cores runs on ports $port and $((port + 1))"
}

scaling() {
  "$python" job-scripts/scaling.py --myriad "$program" --mode strong --n 20000 --sizes '10000 20000' --ranks '1 2 4' \
    --threads 1 --steps 200 --repeat 2 --submit slurm --walltime 0:05:00 --wait --out "$study"
}

# Changes the last bit of the energy in a row: 17 digits, one unit in the last place.
flip() {
  "$python" - "$study/results.csv" <<'EOF'
import csv, math, sys
with open(sys.argv[1], newline="") as file:
    rows = list(csv.DictReader(file))
row = next(row for row in rows if row["mode"] == "strong" and row["ranks"] == "4")
row["final_energy"] = f"{math.nextafter(float(row['final_energy']), math.inf):.17g}"
with open(sys.argv[1], "w", newline="") as file:
    writer = csv.DictWriter(file, rows[0])
    writer.writeheader()
    writer.writerows(rows)
EOF
}

test_study() {
  local began=$SECONDS
  scaling >"$folder/first.out" 2>&1 || fail 'the study'
  grep -Eq '^array [0-9]+: 4 points on 1 node$' "$folder/first.out" || fail 'there was no array of four points'
  for part in results.csv report.html report.md {time,speedup,efficiency,phases,cost}.{svg,png}; do
    [ -s "$study/$part" ] || fail "the study has no $part"
  done
  [ "$(grep -c '^strong,openmp,[124],1,.*,exact$' "$study/results.csv")" = 3 ] || fail 'not 1, 2 and 4 ranks, all exact'
  grep -q 'Complete\.' "$study/report.md" || fail 'the report does not say that the study is complete'
  [ "$(grep -o 'src="data:image/svg' "$study/report.html" | wc -l)" = 5 ] || fail 'the report does not show five plots'

  scaling >"$folder/again.out" 2>&1 || fail 'the same command again'
  if grep -q '^array' "$folder/again.out"; then fail 'a complete study was submitted again'; fi

  flip
  if scaling >"$folder/flipped.out" 2>&1; then fail 'a study with a wrong energy passed'; fi
  grep -q '^WRONG: strong, 4 ranks' "$folder/flipped.out" || fail 'the wrong point is not named'
  grep -q '^strong,openmp,4,.*,WRONG$' "$study/results.csv" || fail 'the wrong point is not marked'
  say "a study of 1, 2 and 4 ranks as an array: passed, $((SECONDS - began)) s"
}

job_state() { scontrol show job "$1" 2>/dev/null | sed -n 's/.*JobState=\([A-Z]*\).*/\1/p'; }

ended() {
  case $(job_state "$1") in
  COMPLETED | FAILED | TIMEOUT | CANCELLED | NODE_FAIL | '') return 0 ;;
  esac
  return 1
}

test_restart() {
  local began=$SECONDS job state work=$folder/restart steps
  "$program" info | grep -q '^Restarts.*HDF5 [0-9]' ||
    fail 'this build writes no restarts: it needs HDF5 (see make info)'
  mkdir "$work"
  # shellcheck disable=SC2016 # variables of the deck
  sed 's/^run.*/dump end all custom ${steps} ${out}.dump id x y z vx vy vz\nrun ${steps}/' inputs/in.lj >"$work/deck"
  local -a system=(-in deck -var x 0.5 -var y 0.5 -var z 0.5 -screen none)
  (cd "$work" && "$program" "${system[@]}" --threads 2 -var steps 2000 -var out warm -log warm.log)
  # Enough steps for 75 seconds on two threads, so that two ranks cannot do them in one minute.
  steps=$(awk '/^Loop time of/ { print int(75 / $4 * 2000) }' "$work/warm.log")
  (cd "$work" && exec "$program" "${system[@]}" --threads 2 -var steps "$steps" -var out whole -log whole.log) &
  local whole=$!

  job=$(cd "$work" && "$OLDPWD/job-scripts/submit" deck --system slurm --ranks 2 --walltime 0:01:00 --name parts -- \
    "${system[@]:2}" --threads 1 -var steps "$steps" -var out parts)
  until_true 240 'the end of the job' ended "$job"
  state=$(job_state "$job")
  cp "$work/parts-$job.out" "$folder/job.out"
  wait "$whole" || fail 'the run that nobody interrupts'
  [ "$state" = COMPLETED ] || fail "the job ended as $state"
  grep -q 'job: the limit is near' "$folder/job.out" || fail 'the job was not signalled'
  grep -q "requeueing $job" "$folder/job.out" || fail 'the job was not requeued'
  [ "$(scontrol show job "$job" | sed -n 's/.*Restarts=\([0-9]*\).*/\1/p')" -ge 1 ] || fail 'Slurm counts no restart'
  [ ! -e "$work/parts.requeued" ] || fail 'the mark of a job to be resumed is left behind'
  "$python" validate/check.py "$work/whole.dump" "$work/parts.dump" >"$folder/check.out" || fail 'the bits differ'
  say "a job that was signalled, requeued and resumed: the same bits, $((SECONDS - began)) s"
}

[ "$(id -u)" = 0 ] || fail 'a Slurm of its own must be started as root'
for tool in munged slurmctld slurmd sbatch mpirun taskset; do
  command -v "$tool" >/dev/null || fail "$tool is not installed (.ci/setup slurm mpi)"
done
trap take_down EXIT
trap 'exit 130' INT TERM
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Cores may be fewer than ranks, and others may be using them.
export MYRIAD_BIND=no MYRIAD_PIN=no OMP_WAIT_POLICY=passive MYRIAD_CORES_PER_NODE=4 MYRIAD_SITE='' MYRIAD_WARNING=10
export MYRIAD_PROGRAM=$program
start_slurm
for part in "${@:-study restart}"; do
  for name in $part; do "test_$name"; done
done
say 'all passed'
