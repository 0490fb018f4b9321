# shellcheck shell=bash
# What every job does after the header of its batch system: sourced by the templates.
#
# job_run PROGRAM'S WORDS... runs the program on the shape that the template has set (JOB_RANKS, JOB_RANKS_PER_NODE,
# JOB_GPUS_PER_NODE), and stays reachable meanwhile: SIGUSR1, which Slurm sends JOB_WARNING seconds ahead of the
# limit and a timer of ours elsewhere, is handed on once. The program then writes a restart and ends with status 85,
# and the job goes back into the queue; when it comes up again, --resume continues from the newest restart.
#
# Slurm requeues the same job. LSF does so by itself on status 85 (bsub -Q 85). In PBS only operators may rerun a job,
# so there it submits its own script again. A file JOB_NAME.requeued says that there is something to resume; it is
# removed when a run ends otherwise. A job that Slurm itself requeued, after a node failed, resumes too.

JOB_HERE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" >/dev/null && pwd)
# shellcheck source=job-scripts/site.env
source "${MYRIAD_SITE:-$JOB_HERE/site.env}"
site_modules
JOB_MYRIAD=$MYRIAD_PROGRAM
[[ $JOB_MYRIAD == /* ]] || JOB_MYRIAD=$JOB_HERE/../$JOB_MYRIAD
readonly JOB_REQUEUE=85 JOB_STARTING=10

# Threads stay on their cores: a job has its cores for itself.
export MYRIAD_PIN=${MYRIAD_PIN:-yes}

job_requeue() {
  case $JOB_SYSTEM in
  slurm)
    echo "job: to be continued; requeueing $SLURM_JOB_ID"
    scontrol requeue "$SLURM_JOB_ID"
    # The end of the script would end the job before it is requeued.
    sleep 60
    ;;
  pbs)
    echo "job: to be continued; submitting $JOB_SCRIPT again"
    qsub "$JOB_SCRIPT"
    ;;
  lsf) echo 'job: to be continued; LSF requeues it' ;;
  *) echo 'job: to be continued, by hand: there is no batch system' ;;
  esac
}

job_seconds() {
  local h m s
  IFS=: read -r h m s <<<"$1"
  echo $((10#$h * 3600 + 10#$m * 60 + 10#${s:-0}))
}

# job_forward SIGNAL: hands a signal on, but not while ranks are starting, when it would just end them.
job_forward() {
  interrupted=yes
  [ -n "$child" ] || return 0
  if ((SECONDS - began < JOB_STARTING)); then sleep $((JOB_STARTING - SECONDS + began)); fi
  kill "-$1" "$child" 2>/dev/null || true
}

job_run() {
  local status interrupted='' timer='' child='' marker=$JOB_NAME.requeued began=$SECONDS
  local -a resume=()
  if [ -e "$marker" ] || [ "${SLURM_RESTART_COUNT:-0}" -gt 0 ]; then resume=(--resume); fi

  trap 'echo "job: the limit is near"; job_forward USR1' USR1
  trap 'job_forward TERM' TERM
  "$JOB_HERE/launch" "$JOB_RANKS" "$JOB_RANKS_PER_NODE" "$JOB_GPUS_PER_NODE" "$JOB_MYRIAD" "$@" "${resume[@]}" &
  child=$!
  if [ "$JOB_SYSTEM" != slurm ]; then
    (
      trap 'kill $! 2>/dev/null' EXIT
      trap 'exit' TERM
      sleep $(($(job_seconds "$JOB_WALLTIME") - JOB_WARNING)) &
      wait $! && kill -USR1 $$
    ) &
    timer=$!
  fi
  # A signal that was trapped ends `wait`, and not the program.
  while interrupted=''; wait "$child"; status=$?; [ -n "$interrupted" ]; do :; done
  if [ -n "$timer" ]; then kill "$timer" 2>/dev/null; fi
  trap - USR1 TERM

  if ((status == JOB_REQUEUE)); then
    touch "$marker"
    job_requeue
  else
    rm -f "$marker"
  fi
  return "$status"
}
