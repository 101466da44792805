#!/usr/bin/env bash
#SBATCH --job-name=vanity
#SBATCH --array=1-4
#SBATCH --cpus-per-task=8
#SBATCH --output=vanity-%A_%a.json
#SBATCH --error=vanity-%A_%a.log
#SBATCH --open-mode=append
# One task of a search. The first task that has found its keys ends the others.
# usage: sbatch job.sh WORD
set -uo pipefail

status=0
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" vanity-ed25519 --threads "$SLURM_CPUS_PER_TASK" \
    --json --passphrase-file passphrase --output-dir keys "$@" || status=$?
if [ "$status" = 0 ]; then
    # Cancels all tasks but this one, running and waiting ones.
    squeue --noheader --array --jobs "$SLURM_ARRAY_JOB_ID" --format %i |
        grep -v "_$SLURM_ARRAY_TASK_ID\$" | xargs -r scancel
fi
exit "$status"
