"""Tests that processes connect according to a launcher's environment.

usage: launchers_test.py PROGRAM [MPIRUN...]    PROGRAM: launched; MPIRUN: a command up to the ranks
"""

import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "cli"))
from launching import clean_environment, free_port  # noqa: E402

PROGRAM = ""
MPIRUN = []


def start(environment, *arguments):
    return subprocess.Popen(
        [PROGRAM, *arguments],
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def torchrun(ranks, *arguments):
    """Starts processes as torchrun does; an even number of them as if on two machines."""
    local = ranks // 2 if ranks % 2 == 0 else ranks
    port = free_port()
    return [
        start(
            clean_environment(
                RANK=rank,
                WORLD_SIZE=ranks,
                LOCAL_RANK=rank % local,
                LOCAL_WORLD_SIZE=local,
                MASTER_ADDR="localhost",
                MASTER_PORT=port,
                TORCHELASTIC_RUN_ID="none",
            ),
            *arguments,
        )
        for rank in range(ranks)
    ]


def slurm(ranks, *arguments):
    port = free_port()
    return [
        start(
            clean_environment(
                SLURM_JOB_ID=77,
                SLURM_PROCID=rank,
                SLURM_STEP_NUM_TASKS=ranks,
                SLURM_LOCALID=rank,
                SLURM_STEP_TASKS_PER_NODE=ranks,
                MASTER_PORT=port,
            ),
            *arguments,
        )
        for rank in range(ranks)
    ]


class Launchers(unittest.TestCase):
    def outcome(self, processes):
        results = []
        for process in processes:
            out, err = process.communicate(timeout=300)
            results.append((process.returncode, out, err))
        return results

    def test_alone(self):
        ((status, out, err),) = self.outcome([start(clean_environment())])
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out, "rank 0 of 1, local 0 of 1, by none: 1\n")

    def test_torchrun(self):
        for rank, result in enumerate(self.outcome(torchrun(4))):
            line = f"rank {rank} of 4, local {rank % 2} of 2, by torchrun: 10\n"
            self.assertEqual(result, (0, line, ""))

    def test_slurm(self):
        for rank, result in enumerate(self.outcome(slurm(3))):
            line = f"rank {rank} of 3, local {rank} of 3, by Slurm: 6\n"
            self.assertEqual(result, (0, line, ""))

    def test_a_rank_that_fails_ends_the_others_with_its_reason(self):
        for status, _, err in self.outcome(torchrun(3, "1")):
            self.assertEqual(status, 2)
            self.assertEqual(err, "launched: rank 1 ended the run: the disk is full\n")

    def test_a_rank_that_dies_is_named(self):
        results = self.outcome(torchrun(3, "1", "die"))
        self.assertEqual(results.pop(1)[0], -signal.SIGKILL)
        for status, _, err in results:
            self.assertEqual(status, 2)
            self.assertIn("launched: rank 1 was lost in Barrier", err)

    def test_mpirun(self):
        if not MPIRUN:
            self.skipTest("this build has no MPI, or there is no mpirun")
        command = [*MPIRUN, "3", PROGRAM]
        done = subprocess.run(
            command, env=clean_environment(), text=True, capture_output=True, timeout=300
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [f"rank {rank} of 3, local {rank} of 3, by Open MPI: 6" for rank in range(3)]
        self.assertEqual(sorted(done.stdout.splitlines()), lines)


if __name__ == "__main__":
    PROGRAM, *MPIRUN = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
