"""Shared parts of the Python trainings: flags, the step loop, and serving several runs."""
import argparse
import contextlib
import json
import random
import sys
import time


def flags() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description='Training with a planted cause of slowness.')
    parser.add_argument('--serve', action='store_true',
                        help='run a training for each line of flags on stdin')
    parser.add_argument('--cause', default='none')
    parser.add_argument('--strength', type=float, default=0)
    parser.add_argument('--step-ms', type=float, default=8)
    parser.add_argument('--steps', type=int, default=200)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--removed', action='store_true',
                        help='use a perfect input: the same batch every time')
    parser.add_argument('--out', help='file for a line of JSON: the mean step')
    return parser


class Planted:
    """A case. `seconds`: step time of the device alone; `slowed`: with the planted wait."""
    BATCH = 8

    def __init__(self, given: argparse.Namespace):
        self.cause, self.removed = given.cause, given.removed
        # More workers would also delay the training thread: a second cause.
        self.workers = 1 if self.cause == 'decompression' else 2
        self.steps, self.seed = given.steps, given.seed
        self.seconds = given.step_ms * 1e-3
        self.slowed = self.seconds / (1 - given.strength)

    def jitter(self, stream: str, position: int, spread: float) -> float:
        return 1 + spread * random.Random(f'{self.seed} {stream} {position}').uniform(-1, 1)

    def item_seconds(self, position: int) -> float:
        """Returns a worker's time per sample with which the pool makes a batch per step."""
        if self.cause == 'background':  # in time
            every = 0.8 * self.seconds
        elif self.cause in ('function', 'decompression'):
            every = self.slowed
        else:
            return 0
        return every * self.workers / self.BATCH * self.jitter('item', position, 0.2)

    def device_works(self, step: int) -> None:
        """Simulates a device, without using a processor."""
        time.sleep(self.seconds * self.jitter('step', step, 0.05))


def burn(seconds: float) -> None:
    """Uses that much CPU time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def mean_step(planted: Planted, batches, step) -> float:
    """Returns the mean step time, without the first steps, which verdicts leave out."""
    warm_up = min(10, max(1, planted.steps // 20))
    begin = 0.0
    # In this order of zip()'s arguments, no batch is requested after the last step.
    for number, batch in zip(range(planted.steps), batches):
        step(number, batch)
        if number + 1 == warm_up:
            begin = time.monotonic()
    return (time.monotonic() - begin) / (planted.steps - warm_up)


def main(train) -> None:
    """Runs trainings. `train(planted)` returns the mean step."""
    given = flags().parse_args()
    if not given.serve:
        result = json.dumps({'step_seconds': train(Planted(given)), 'odd_rank': 0})
        if given.out:
            with open(given.out, 'w', encoding='utf-8') as file:
                file.write(result)
        return
    answers = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        for line in sys.stdin:
            seconds = train(Planted(flags().parse_args(line.split())))
            print(json.dumps({'step_seconds': seconds, 'odd_rank': 0}), file=answers, flush=True)
