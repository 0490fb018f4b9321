#!/usr/bin/env bash
# CPUs only, on one node or several: ranks share the cores out evenly. Filled in by job-scripts/submit.
#
#PBS -N lj
#PBS -l select=2:ncpus=24:mpiprocs=3:ompthreads=8
#PBS -l place=scatter
#PBS -l walltime=2:00:00
#PBS -j oe
#PBS -A ab12

JOB_SYSTEM=pbs JOB_NAME=lj JOB_WALLTIME=2:00:00 JOB_WARNING=120
JOB_RANKS=6 JOB_RANKS_PER_NODE=3 JOB_GPUS_PER_NODE=0
# shellcheck source=job-scripts/job.sh
source "/work/wt/batch/job-scripts/job.sh"
JOB_SCRIPT="/work/wt/batch/lj.job.sh"
cd "$PBS_O_WORKDIR" || exit 1
job_run -in inputs/in.lj -log lj.log --engine openmp -var x 2\ 3 --print
