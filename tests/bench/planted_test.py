"""recprobe finds what is planted in a training. Sleeps make it: a busy machine changes little."""
import json
import os
import subprocess
import unittest

from planted_photos import TRAINER, WithPlantedPhotos

INPUT_BOUND = ('moderately input-bound', 'highly input-bound')


class Planted(WithPlantedPhotos):
    def verdict(self, cause, strength=0.5, ranks=1):
        command = [os.environ['RECPROBE'], 'run', '--json', '--', TRAINER,
                   self.data, '--cause', cause, '--strength', strength, '--ranks', ranks,
                   '--step-ms', 40, '--steps', 30, '--seed', 1]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_nothing(self):
        self.assertNotIn(self.verdict('none', 0)['verdict'], INPUT_BOUND)

    def test_input(self):
        for cause, place in (('function', 'user function'), ('storage', 'storage')):
            verdict = self.verdict(cause)
            self.assertIn(verdict['verdict'], INPUT_BOUND, verdict)
            self.assertEqual(verdict['bottleneck'], place, verdict)

    def test_input_of_one_rank(self):
        verdict = self.verdict('slow-rank-input', ranks=2)
        self.assertIn(verdict['verdict'], INPUT_BOUND, verdict)
        self.assertEqual((verdict['bottleneck'], verdict['rank']), ('user function', 1), verdict)

    def test_work_of_one_rank(self):
        verdict = self.verdict('slow-rank-compute', ranks=2)
        self.assertNotIn(verdict['verdict'], INPUT_BOUND, verdict)
        self.assertEqual((verdict['bottleneck'], verdict['rank']), ('slow rank', 1), verdict)

    def test_hidden_wait(self):
        verdict = self.verdict('hidden-wait', ranks=2)
        self.assertNotIn(verdict['verdict'], INPUT_BOUND, verdict)
        self.assertGreater(verdict['breakdown']['input_wait'], 0.1, verdict)


if __name__ == '__main__':
    unittest.main()
