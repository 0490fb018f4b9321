#!/usr/bin/env bash
# Several nodes with GPUs: one rank a GPU, bound to the cores nearest to it. Filled in by job-scripts/submit.
#
#BSUB -J @NAME@
#BSUB -n @RANKS@
#BSUB -R "span[ptile=@RANKS_PER_NODE@] affinity[core(@CORES_PER_RANK@)]"
#BSUB -gpu "num=@GPUS_PER_NODE@:j_exclusive=yes"
#BSUB -x
#BSUB -W @MINUTES@
#BSUB -r
#BSUB -Q "85"
#BSUB -o @NAME@-%J.out
#BSUB -q @QUEUE@
#BSUB -P @ACCOUNT@
#BSUB @OPTION@

JOB_SYSTEM=@SYSTEM@ JOB_NAME=@NAME@ JOB_WALLTIME=@WALLTIME@ JOB_WARNING=@WARNING@
JOB_RANKS=@RANKS@ JOB_RANKS_PER_NODE=@RANKS_PER_NODE@ JOB_GPUS_PER_NODE=@GPUS_PER_NODE@
# shellcheck source=job-scripts/job.sh
source @HOME@/job-scripts/job.sh
job_run @WORDS@
