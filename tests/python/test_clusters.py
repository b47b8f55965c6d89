"""The Python blocks of docs/guide/clusters.md, on a cluster of Ray or a Spark of this machine: the one of the environment."""
import importlib
import os
import re
import sys
import unittest

import numpy as np
import recpack_io
from support import CIFAR, ROOT, InFolder, main

PAGE = ROOT / 'docs' / 'guide' / 'clusters.md'
ENGINE = os.environ['RECPACK_ENVIRONMENT']
# Sizes and names of the page, by what they are here.
HERE = {'"imagenet-train"': '"cifar10-train"', 'batch_size=256': 'batch_size=8', 'actors=8': 'actors=2', 'cpus_per_actor=4': 'cpus_per_actor=1',
        'torch.from_dlpack': 'np.from_dlpack'}


def block_with(text):
    """The page's first block of Python in which the text occurs."""
    return next(block for block in re.findall(r'```python\n(.*?)```', PAGE.read_text('utf-8'), re.DOTALL) if text in block)


class Blocks(InFolder):
    def run_block(self, block, **names):
        for there, here in {'/shared/photos': str(CIFAR), '/shared/': f'{self.folder}/', **HERE}.items():
            block = block.replace(there, here)
        names = {'recpack_io': recpack_io, 'np': np, **names}
        exec(compile(block, str(PAGE), 'exec'), names)  # noqa: S102
        return names


@unittest.skipUnless(ENGINE == 'ray', 'the environment has no Ray')
class Ray(Blocks):
    def test_packs_loads_and_converts(self):
        ray = importlib.import_module('ray')
        importlib.import_module('recpack_io.ray')
        ray.init('local', num_cpus=3, include_dashboard=False, log_to_driver=False)
        self.addCleanup(ray.shutdown)
        packing, loading, converting = (block_with(text) for text in ('ray.pack(', 'ray.Loader(', 'ray.Datasink('))
        self.run_block(packing)
        records = recpack_io.open(self.folder / 'shards').splits['train']
        names = self.run_block(loading.replace('actors=8', 'epochs=1, actors=8'))
        self.assertEqual(names['image'].shape[0], 8)
        self.run_block(converting, ray=ray)
        labels = recpack_io.open(self.folder / 'labels')
        self.assertEqual(labels.splits, {'train': records})
        self.assertEqual(set(labels[0].keys()), {'label'})


@unittest.skipUnless(ENGINE == 'spark', 'the environment has no Spark')
class Spark(Blocks):
    def test_writes_and_reads(self):
        session = importlib.import_module('pyspark.sql').SparkSession
        os.environ['PYSPARK_PYTHON'] = sys.executable
        builder = session.builder.master('local[2]')
        for name, value in {'spark.ui.enabled': 'false', 'spark.driver.bindAddress': '127.0.0.1', 'spark.driver.host': '127.0.0.1'}.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        self.addCleanup(spark.stop)
        names = self.run_block(block_with('spark.dataSource.register'), spark=spark, df=spark.range(100))
        self.assertEqual(names['df'].count(), 100)
        self.assertEqual(len(recpack_io.open(self.folder / 'shards')), 100)


if __name__ == '__main__':
    main()
