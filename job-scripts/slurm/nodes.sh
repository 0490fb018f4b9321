#!/usr/bin/env bash
# Several nodes with GPUs: one rank a GPU, bound to the cores nearest to it. Filled in by job-scripts/submit.
#
#SBATCH --job-name=@NAME@
#SBATCH --nodes=@NODES@
#SBATCH --ntasks-per-node=@RANKS_PER_NODE@
#SBATCH --cpus-per-task=@CORES_PER_RANK@
#SBATCH --gpus-per-node=@GPUS_PER_NODE@
#SBATCH --exclusive
#SBATCH --time=@WALLTIME@
#SBATCH --signal=B:USR1@@WARNING@
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=@NAME@-%j.out
#SBATCH --partition=@QUEUE@
#SBATCH --account=@ACCOUNT@
#SBATCH @OPTION@

JOB_SYSTEM=@SYSTEM@ JOB_NAME=@NAME@ JOB_WALLTIME=@WALLTIME@ JOB_WARNING=@WARNING@
JOB_RANKS=@RANKS@ JOB_RANKS_PER_NODE=@RANKS_PER_NODE@ JOB_GPUS_PER_NODE=@GPUS_PER_NODE@
# shellcheck source=job-scripts/job.sh
source @HOME@/job-scripts/job.sh
job_run @WORDS@
