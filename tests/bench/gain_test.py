"""recprobe gain measures what is planted in a training's input. Sleeps make it."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

from planted_photos import TRAINER, WithPlantedPhotos

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'cli'))
from figures_of_time import judges_time

BATCH = 8  # of planted_trainer
STEP_MS = 8
# The machine of a test is shared: of the live rate.
SLACK = 0.1


class Gain(WithPlantedPhotos):
    def trainer(self, cause, strength, steps, *flags):
        return [str(word) for word in (
            TRAINER, self.data, '--cause', cause, '--strength', strength,
            '--step-ms', STEP_MS, '--steps', steps, '--seed', 1, *flags)]

    def rate(self, *words):
        out = self.folder / 'out'
        subprocess.run([*self.trainer(*words), '--out', str(out)], check=True)
        return BATCH / json.loads(out.read_text())['step_seconds']

    def gain(self, cause, strength, *flags):
        command = [os.environ['RECPROBE'], 'gain', '--json', '--precision', '2', '--seconds', '30',
                   '--', *self.trainer(cause, strength, 1_000_000, *flags)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check(self, cause, strength):
        live = self.rate(cause, strength, 200)
        perfect = self.rate(cause, strength, 200, '--perfect-input', 1)
        got = self.gain(cause, strength)
        slack = SLACK * live
        self.assertGreater(perfect - live, 3 * slack, 'something was planted')
        self.assertLessEqual(got['gain']['low'] - slack, perfect - live, got)
        self.assertGreaterEqual(got['gain']['high'] + slack, perfect - live, got)
        self.assertGreater(got['gain']['low'], 0, got)
        # The pipeline sleeps and takes nothing from a step.
        self.assertGreater(got['starvation']['low'], 0, got)
        self.assertLess(abs(got['interference']['value']), 0.25 * got['gain']['value'], got)

    @judges_time
    def test_a_slow_function(self):
        self.check('function', 0.5)

    @judges_time
    def test_slow_storage(self):
        self.check('storage', 0.4)

    @judges_time
    def test_nothing(self):
        got = self.gain('none', 0)
        live = got['samples_per_s']['live']['value']
        self.assertLessEqual(got['gain']['low'], SLACK * live, got)
        self.assertGreaterEqual(got['gain']['high'], -SLACK * live, got)

    @judges_time
    def test_work_in_the_background_that_is_in_time(self):
        got = self.gain('background', 0)
        self.assertLessEqual(got['gain']['low'], SLACK * got['samples_per_s']['live']['value'], got)


if __name__ == '__main__':
    unittest.main()
