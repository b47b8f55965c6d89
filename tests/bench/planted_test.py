"""recprobe finds what is planted in a training. Sleeps make it: a busy machine changes little."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

from planted_photos import TRAINER, WithPlantedPhotos

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'cli'))
from figures_of_time import judges_time

INPUT_BOUND = ('moderately input-bound', 'highly input-bound')


class Planted(WithPlantedPhotos):
    def verdict(self, cause, strength=0.5, ranks=1, **environment):
        command = [os.environ['RECPROBE'], 'run', '--json', '--', TRAINER,
                   self.data, '--cause', cause, '--strength', strength, '--ranks', ranks,
                   '--step-ms', 40, '--steps', 30, '--seed', 1]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              check=False, env={**os.environ, **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    @judges_time
    def test_nothing(self):
        self.assertNotIn(self.verdict('none', 0)['verdict'], INPUT_BOUND)

    @judges_time
    def test_input(self):
        for cause, place in (('function', 'user function'), ('storage', 'storage')):
            verdict = self.verdict(cause)
            self.assertIn(verdict['verdict'], INPUT_BOUND, verdict)
            self.assertEqual(verdict['bottleneck'], place, verdict)

    @judges_time
    def test_input_of_one_rank(self):
        verdict = self.verdict('slow-rank-input', ranks=2)
        self.assertIn(verdict['verdict'], INPUT_BOUND, verdict)
        self.assertEqual((verdict['bottleneck'], verdict['rank']), ('user function', 1), verdict)

    @judges_time
    def test_work_of_one_rank(self):
        verdict = self.verdict('slow-rank-compute', ranks=2)
        self.assertNotIn(verdict['verdict'], INPUT_BOUND, verdict)
        self.assertEqual((verdict['bottleneck'], verdict['rank']), ('slow rank', 1), verdict)

    @judges_time
    def test_hidden_wait(self):
        verdict = self.verdict('hidden-wait', ranks=2)
        self.assertNotIn(verdict['verdict'], INPUT_BOUND, verdict)
        self.assertGreater(verdict['breakdown']['input_wait'], 0.1, verdict)

    @judges_time
    def test_launches(self):
        verdict = self.verdict('launch', 0.6)
        self.assertNotIn(verdict['verdict'], INPUT_BOUND, verdict)
        self.assertEqual(verdict['bottleneck'], 'launch overhead', verdict)

    @judges_time
    def test_a_batch_that_never_comes(self):
        self.assertEqual(self.verdict('stuck-input')['bottleneck'], 'hang')

    @unittest.skipUnless('FAKE_NVML_FOLDER' in os.environ, 'this build has no stand-in of NVML')
    @judges_time
    def test_a_gpu_that_is_used_all_the_time_and_ends_nothing(self):
        script = self.folder / 'nvml'
        script.write_text('devices 1\n0.utilization 97 40\n')
        verdict = self.verdict('hang', LD_LIBRARY_PATH=os.environ['FAKE_NVML_FOLDER'],
                               FAKE_NVML=str(script))
        self.assertEqual(verdict['bottleneck'], 'hang', verdict)
        self.assertIn('kernels run all the time', ' '.join(verdict['evidence']))


if __name__ == '__main__':
    unittest.main()
