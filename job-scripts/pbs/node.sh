#!/usr/bin/env bash
# One node with several GPUs: one rank a GPU, bound to the cores nearest to it. Filled in by job-scripts/submit.
#
#PBS -N @NAME@
#PBS -l select=1:ncpus=@CORES_PER_NODE@:mpiprocs=@RANKS_PER_NODE@:ompthreads=@CORES_PER_RANK@:ngpus=@GPUS_PER_NODE@
#PBS -l walltime=@WALLTIME@
#PBS -j oe
#PBS -q @QUEUE@
#PBS -A @ACCOUNT@
#PBS @OPTION@

JOB_SYSTEM=@SYSTEM@ JOB_NAME=@NAME@ JOB_WALLTIME=@WALLTIME@ JOB_WARNING=@WARNING@
JOB_RANKS=@RANKS@ JOB_RANKS_PER_NODE=@RANKS_PER_NODE@ JOB_GPUS_PER_NODE=@GPUS_PER_NODE@
# shellcheck source=job-scripts/job.sh
source @HOME@/job-scripts/job.sh
JOB_SCRIPT=@SCRIPT@
cd "$PBS_O_WORKDIR" || exit 1
job_run @WORDS@
