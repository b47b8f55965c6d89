"""recpack_io.spark: data frames in both directions, with tasks that fail, are repeated, or never end well."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import recpack_io
import recpack_io.spark
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession
from support import CIFAR, InFolder, main, recpack

sys.path.append(str(pathlib.Path(__file__).parent.parent / 'cli'))
from object_server import ObjectServer  # noqa: E402


store = pathlib.Path()
server: ObjectServer


def setUpModule():
    """Starts an object store: workers have the environment that the first session was started in."""
    global store, server
    holder = tempfile.TemporaryDirectory(prefix='recpack-store-')
    unittest.addModuleCleanup(holder.cleanup)
    store = pathlib.Path(holder.name)
    (store / 'bucket').mkdir()
    server = ObjectServer(store)
    unittest.addModuleCleanup(server.close)
    os.environ.update(server.environment(), RECPACK_CACHE=str(store / 'cache'))


class Spark(InFolder):
    """A Spark of two cores on this machine; a task may fail three times."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.environ['PYSPARK_PYTHON'] = sys.executable  # of the tasks
        settings = {'spark.ui.enabled': 'false', 'spark.ui.showConsoleProgress': 'false', 'spark.driver.memory': '1g',
                    'spark.driver.bindAddress': '127.0.0.1', 'spark.driver.host': '127.0.0.1', 'spark.sql.shuffle.partitions': '2'}
        builder = SparkSession.builder.master('local[2, 4]')
        for name, value in settings.items():
            builder = builder.config(name, value)
        cls.spark = builder.getOrCreate()
        cls.spark.sparkContext.setLogLevel('OFF')
        cls.spark.dataSource.register(recpack_io.spark.DataSource)

    @classmethod
    def tearDownClass(cls):
        cls.spark.stop()
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        self.out = self.folder / 'out'

    def numbers(self, count=1000, partitions=4):
        return self.spark.range(0, count, 1, partitions)

    def write(self, frame, mode='append', **options):
        frame.write.format('recpack').mode(mode).options(**options).save(str(self.out))

    def read(self, **options):
        return self.spark.read.format('recpack').options(**options).load(str(self.out))

    def written(self):
        return [int(record['id'][0]) for record in recpack_io.open(self.out)]


class Writing(Spark):
    def test_shards_are_a_data_set(self):
        self.write(self.numbers().selectExpr('id', 'id % 3 as label', 'array(id / 2, 1.5) as box'))
        self.assertEqual(self.written(), list(range(1000)))  # in order of the partitions
        data = recpack_io.open(self.out)
        self.assertEqual(data[3]['box'].tolist(), [1.5, 1.5])
        self.assertEqual(data.schema['box'].kind, 'float')
        self.assertEqual(sorted(path.name for path in self.out.iterdir()),
                         ['manifest.json', *(f'train-{i:05}-of-00004.tfrecord' for i in range(4)), 'train.recindex'])
        self.assertIn('1,000 records', recpack('verify', self.out))
        self.assertEqual(recpack_io.open(self.out).splits, {'train': 1000})

    def test_it_can_be_compressed_and_cut(self):
        self.write(self.numbers(), split='test', compression='gzip', shard_bytes=2000)
        self.assertEqual(self.written(), list(range(1000)))
        self.assertGreater(len(list(self.out.glob('test-*'))), 8)
        recpack('verify', self.out)

    def test_a_task_that_fails_and_is_repeated_doubles_nothing(self):
        marks = self.folder / 'marks'
        marks.mkdir()

        def fail_once(rows):
            for i, row in enumerate(rows):
                mark = marks / f'{row.id // 250}'
                if i == 100 and not mark.exists():
                    mark.touch()
                    raise ValueError('once')
                yield row
        frame = self.spark.createDataFrame(self.numbers().rdd.mapPartitions(fail_once), 'id long')
        self.write(frame)
        self.assertEqual(len(list(marks.iterdir())), 4)
        self.assertEqual(self.written(), list(range(1000)))
        self.assertEqual(list(self.out.glob('.parts-*')), [])

    def test_an_attempt_that_another_one_overtook_does_not_count(self):
        source = recpack_io.spark.DataSource({'path': str(self.out)})
        writer = source.writer(self.numbers().schema, False)
        rows = [Row(id=i) for i in range(10)]
        counted, _ = writer.write(iter(rows)), writer.write(iter(rows))
        self.assertFalse((self.out / 'manifest.json').exists())
        writer.commit([counted, None])
        self.assertEqual(self.written(), list(range(10)))
        self.assertEqual(list(self.out.glob('.parts-*')), [])
        with self.assertRaises(FileNotFoundError):  # an attempt that comes too late
            writer.write(iter(rows))
        recpack('verify', self.out)

    def test_a_job_that_fails_leaves_nothing(self):
        def fail(rows):
            for row in rows:
                if row.id == 700:
                    raise ValueError('always')
                yield row
        with self.assertRaisesRegex(Exception, 'always'):
            self.write(self.spark.createDataFrame(self.numbers().rdd.mapPartitions(fail), 'id long'))
        self.assertEqual(list(self.out.iterdir()), [])

    def test_it_overwrites_at_the_commit_only(self):
        self.write(self.numbers(10))
        before = recpack('verify', self.out)
        with self.assertRaisesRegex(PySparkException, "has a split 'train'; name another split"):
            self.write(self.numbers(20))
        with self.assertRaises(Exception):
            self.write(self.numbers(20).selectExpr('id', 'raise_error("no") as x'), mode='overwrite')
        self.assertEqual(recpack('verify', self.out), before)
        self.write(self.numbers(20), mode='overwrite')
        self.assertEqual(self.written(), list(range(20)))
        self.write(self.numbers(5), split='test')
        self.assertEqual(recpack_io.open(self.out).splits, {'test': 5, 'train': 20})
        recpack('verify', self.out)
        (self.out / 'manifest.json').unlink()
        with self.assertRaisesRegex(PySparkException, 'has other files'):
            self.write(self.numbers(20), mode='overwrite')

    def test_values_that_cannot_be_stored_are_named(self):
        with self.assertRaisesRegex(PySparkException, "column 'day' is date, which no feature can hold"):
            self.write(self.numbers().selectExpr('id', 'current_date() as day'))
        with self.assertRaisesRegex(PySparkException, "'large'"):
            self.write(self.numbers().selectExpr('id', 'cast(1e300 as double) as large'))
        with self.assertRaisesRegex(PySparkException, 'a web server takes no objects'):
            self.numbers().write.format('recpack').mode('append').save('http://127.0.0.1/folder')


class ToStore(Spark):
    """Into an object store."""

    def setUp(self):
        super().setUp()
        self.out = 's3://bucket/out'

    def test_shards_are_a_data_set(self):
        self.write(self.numbers())
        self.assertEqual(self.written(), list(range(1000)))  # in order of the partitions
        self.write(self.numbers(5), split='test')
        self.assertEqual(recpack_io.open(self.out).splits, {'test': 5, 'train': 1000})
        with self.assertRaisesRegex(PySparkException, "has a split 'train'; name another split"):
            self.write(self.numbers(20))
        with self.assertRaises(Exception):
            self.write(self.numbers(20).selectExpr('id', 'raise_error("no") as x'), mode='overwrite')
        self.assertEqual(len(self.written()), 1000)
        self.write(self.numbers(20), mode='overwrite')
        self.assertEqual(sorted(row.id for row in self.read().collect()), list(range(20)))
        self.assertIn('all is well', recpack('verify', self.out))
        self.assertEqual(len([path for path in (store / 'bucket').rglob('*') if path.is_file()]), 6)
        self.assertEqual(server.uploads, {})


class Executors(InFolder):
    """A Spark of two executors, each a process of its own with workers in Python."""

    def test_a_killed_executor_loses_nothing(self):
        """A session has one master, so the cluster's is in another process. The first attempt of a task ends its executor."""
        program = self.folder / 'write.py'
        program.write_text('''
import os, pathlib, signal, sys
import recpack_io.spark
from pyspark.sql import SparkSession

out, mark = sys.argv[1:]
spark = (SparkSession.builder.master('local-cluster[2,1,1024]').config('spark.ui.enabled', 'false')
         .config('spark.driver.bindAddress', '127.0.0.1').config('spark.driver.host', '127.0.0.1')
         .config('spark.executor.memory', '512m').getOrCreate())
spark.sparkContext.setLogLevel('OFF')
spark.dataSource.register(recpack_io.spark.DataSource)

def parent(process):
    return int(pathlib.Path(f'/proc/{process}/stat').read_text().rpartition(')')[2].split()[1])

def kill(number):
    if number == 700 and not os.path.exists(mark):
        open(mark, 'x').close()
        executor = os.getpid()
        while b'CoarseGrainedExecutorBackend' not in pathlib.Path(f'/proc/{executor}/cmdline').read_bytes():
            executor = parent(executor)
        os.kill(executor, signal.SIGKILL)
    return number

spark.udf.register('kill', kill, 'long')
spark.range(0, 1000, 1, 4).selectExpr('kill(id) as id').write.format('recpack').mode('append').save(out)
print(spark.read.format('recpack').load(out).count())
spark.stop()
''')
        out, mark = self.folder / 'out', self.folder / 'killed'
        done = subprocess.run([sys.executable, program, out, mark], capture_output=True, text=True, timeout=300, check=False,
                              env={**os.environ, 'PYSPARK_PYTHON': sys.executable, 'PYTHONPATH': ':'.join(sys.path),
                                   'SPARK_WORKER_DIR': str(self.folder / 'work'), 'SPARK_LOCAL_IP': '127.0.0.1'})
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertEqual(done.stdout.split()[-1], '1000')
        self.assertTrue(mark.exists())
        self.assertEqual([int(record['id'][0]) for record in recpack_io.open(out)], list(range(1000)))
        self.assertEqual({path.suffix for path in out.rglob('*') if path.is_file()}, {'.json', '.tfrecord', '.recindex'})


class Reading(Spark):
    def test_reads_what_it_wrote(self):
        rows = [Row(label=i, ratio=i / 4, text=f'ü{i}', raw=bytes([i]), flag=i % 2 == 0, many=[i, -i],
                    words=['a', f'{i}'], some=None if i % 3 else i) for i in range(100)]
        schema = ('label int, ratio double, text string, raw binary, flag boolean, many array<long>, '
                  'words array<string>, some short')
        self.write(self.spark.createDataFrame(rows, schema).repartition(3))
        frame = self.spark.read.format('recpack').schema(schema).load(str(self.out))
        self.assertEqual(sorted(frame.collect()), sorted(rows))
        self.assertEqual(frame.where('flag').selectExpr('sum(label)').first()[0], sum(range(0, 100, 2)))

    def test_columns_are_those_of_the_features(self):
        recpack_io.pack(({'label': i, 'image': bytes(9), 'box': [0.5] * (1 + i % 2)} for i in range(50)), self.out)
        frame = self.read(partitions=3)
        self.assertEqual(frame.schema.simpleString(), 'struct<box:array<float>,image:binary,label:bigint>')
        self.assertEqual(frame.rdd.getNumPartitions(), 3)
        self.assertEqual([row.label for row in frame.collect()], list(range(50)))
        self.assertEqual(frame.where('size(box) = 2').count(), 25)

    def test_splits_of_a_pack(self):
        recpack('pack', CIFAR, self.out)
        self.assertEqual(self.read(split='validation').count(), 16)
        self.assertEqual(self.read().groupBy('label').count().selectExpr('sum(count)').first()[0], 64)

    def test_errors(self):
        with self.assertRaisesRegex(PySparkException, 'absent'):
            self.spark.read.format('recpack').load(str(self.folder / 'absent'))
        recpack_io.pack(({'x': [1, 2] if i == 400 else 1} for i in range(401)), self.out)
        with self.assertRaisesRegex(PySparkException, 'give the reader a schema with array<bigint>'):
            self.read().collect()
        frame = self.spark.read.format('recpack').schema('x array<long>').load(str(self.out))
        self.assertEqual(frame.selectExpr('max(size(x))').first()[0], 2)
        shard, = self.out.glob('*.tfrecord')
        data = bytearray(shard.read_bytes())
        data[len(data) // 2] ^= 1
        pathlib.Path(shard).write_bytes(data)
        with self.assertRaisesRegex(PySparkException, f'CorruptError: {shard}.*CRC'):
            frame.collect()


if __name__ == '__main__':
    main()
