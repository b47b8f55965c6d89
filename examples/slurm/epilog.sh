#!/bin/sh
# Epilog of Slurm: sums up what recprobe found in the ranks of a job.
#
#   srun sh -c 'recprobe run --report /shared/reports/$SLURM_JOB_ID/$SLURM_PROCID -- python train.py'
#
# slurm.conf: Epilog=/etc/slurm/epilog.sh. It runs on each node at the end of each job, as root, without the job's environment.
reports=/shared/reports/$SLURM_JOB_ID
export PATH=$PATH:/usr/local/bin

if [ -d "$reports" ]; then
  # As the user of the job, whose folder it is.
  runuser -u "$SLURM_JOB_USER" -- sh -c '
    recprobe merge "$1" > "$1/summary.txt.$2" 2>&1
    mv "$1/summary.txt.$2" "$1/summary.txt"
  ' sh "$reports" "$(hostname).$$"
fi
exit 0 # Slurm takes a node whose epilog fails out of service
