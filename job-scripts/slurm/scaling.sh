#!/usr/bin/env bash
# Points of a scaling study that need equally many nodes, as a job array: one point an element, alone on its nodes.
# Filled in by job-scripts/submit for job-scripts/scaling.py, which says what a point is.
#
#SBATCH --job-name=@NAME@
#SBATCH --array=@ARRAY@
#SBATCH --nodes=@NODES@
#SBATCH --ntasks-per-node=@RANKS_PER_NODE@
#SBATCH --cpus-per-task=@CORES_PER_RANK@
#SBATCH --gpus-per-node=@GPUS_PER_NODE@
#SBATCH --exclusive
#SBATCH --time=@WALLTIME@
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=point-%a.out
#SBATCH --partition=@QUEUE@
#SBATCH --account=@ACCOUNT@
#SBATCH @OPTION@

# shellcheck source=job-scripts/job.sh
source @HOME@/job-scripts/job.sh
cd @FOLDER@ || exit 1
exec @PYTHON@ @HOME@/job-scripts/scaling.py --measure "$SLURM_ARRAY_TASK_ID" --out @STUDY@
