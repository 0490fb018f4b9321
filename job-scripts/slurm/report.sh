#!/usr/bin/env bash
# Makes the report of a scaling study when all its points are there or have failed.
# Filled in by job-scripts/submit for job-scripts/scaling.py.
#
#SBATCH --job-name=@NAME@
#SBATCH --dependency=afterany:@AFTER@
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --time=0:15:00
#SBATCH --output=report.out
#SBATCH --partition=@QUEUE@
#SBATCH --account=@ACCOUNT@
#SBATCH @OPTION@

# shellcheck source=job-scripts/job.sh
source @HOME@/job-scripts/job.sh
cd @FOLDER@ || exit 1
exec @PYTHON@ @HOME@/job-scripts/scaling.py --report --out @STUDY@
