"""recpack against other people's object stores: moto's, which checks signatures as AWS does, and rclone's."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import boto3
from botocore.config import Config
from support import free_port, main, serve

RECPACK = os.environ['RECPACK']
CIFAR = pathlib.Path(__file__).parent.parent / 'golden/cifar10/cifar-10-batches-py'
REGION = 'eu-central-1'


class Store:
    """The tests of a store; subclasses start it: self.environment() is a client's."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='recpack-stores-'))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.port = free_port()
        self.url = f'http://127.0.0.1:{self.port}'
        self.start()
        self.client = boto3.client('s3', endpoint_url=self.url, region_name=REGION, aws_access_key_id=self.key[0],
                                   aws_secret_access_key=self.key[1],
                                   config=Config(s3={'addressing_style': 'path'}))
        self.client.create_bucket(Bucket='bucket', CreateBucketConfiguration={'LocationConstraint': REGION})

    def recpack(self, *words, code=0, **env):
        environment = {'RECPACK_CACHE': str(self.folder / 'cache'), 'AWS_REGION': REGION, 'AWS_ENDPOINT_URL': self.url,
                       'AWS_ACCESS_KEY_ID': self.key[0], 'AWS_SECRET_ACCESS_KEY': self.key[1]}
        done = subprocess.run([RECPACK, *map(str, words)], capture_output=True, text=True, timeout=120,
                              env={**os.environ, **environment, **env})
        self.assertEqual(done.returncode, code, f'{words}\n{done.stdout}\n{done.stderr}')
        return done

    def objects(self, prefix):
        found = {}
        for page in self.client.get_paginator('list_objects_v2').paginate(Bucket='bucket', Prefix=prefix + '/'):
            for each in page.get('Contents', ()):
                body = self.client.get_object(Bucket='bucket', Key=each['Key'])['Body'].read()
                found[each['Key'].removeprefix(prefix + '/')] = body
        return found

    def local(self, *flags, source=CIFAR):
        out = self.folder / 'local'
        shutil.rmtree(out, ignore_errors=True)
        self.recpack('pack', source, out, *flags)
        return {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}

    def uploads(self):
        return self.client.list_multipart_uploads(Bucket='bucket').get('Uploads', [])

    def test_packs_reads_and_lists(self):
        flags = '--shard-size', '30KB'
        self.recpack('pack', CIFAR, 's3://bucket/a folder/dätä', *flags)
        self.assertEqual(self.objects('a folder/dätä'), self.local(*flags))
        batches = 'batches', '--recipe', 'cifar10-train', '--batch-size', '16', '--order', 'global', '--json'
        here = self.recpack(batches[0], self.folder / 'local', *batches[1:]).stdout
        there = self.recpack(batches[0], 's3://bucket/a folder/dätä', *batches[1:]).stdout
        self.assertEqual(there.replace('s3://bucket/a folder/dätä', 'DATA'), here.replace(str(self.folder / 'local'), 'DATA'))
        self.recpack('verify', 's3://bucket/a folder/dätä')
        self.client.delete_object(Bucket='bucket', Key='a folder/dätä/manifest.json')  # listed from here on
        self.assertIn('train', self.recpack('ls', 's3://bucket/a folder/dätä').stdout)

    def test_appends(self):
        more = '--shuffle', '3', '--append'
        self.recpack('pack', CIFAR, 's3://bucket/grown')
        self.recpack('pack', CIFAR, 's3://bucket/grown', *more, RECPACK_CACHE=str(self.folder / 'another machine'))
        self.local()
        self.recpack('pack', CIFAR, self.folder / 'local', *more)
        there = self.objects('grown')
        self.assertTrue(there.pop('.recpack/plan-append1.json'))
        self.assertEqual(there, {path.name: path.read_bytes() for path in (self.folder / 'local').iterdir() if path.is_file()})

    def test_large_shards(self):
        self.recpack('stand-in', self.folder / 'made', '--rows', '2500')
        flags = '--shards', '1'
        self.recpack('pack', self.folder / 'made', 's3://bucket/large', *flags)
        self.assertEqual(self.objects('large'), self.local(*flags, source=self.folder / 'made'))
        self.assertEqual(self.uploads(), [])

    def test_packs_from_it(self):
        photos = self.folder / 'photos'
        for number in range(40):
            for kind in 'train/a b', 'train/ü+c%20d', 'val/a b':
                file = photos / kind / f'{number}é.bin'
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(os.urandom(1000 + number))
                self.client.put_object(Bucket='bucket', Key=f'some photos/{kind}/{number}é.bin', Body=file.read_bytes())
        self.recpack('pack', 's3://bucket/some photos', self.folder / 'out', '--shards', '2')
        made = {path.name: path.read_bytes() for path in (self.folder / 'out').iterdir() if path.is_file()}
        self.assertEqual(made, self.local('--shards', '2', source=photos))

    def test_killed_and_gone_on(self):
        self.recpack('stand-in', self.folder / 'made', '--rows', '2500')
        words = 'pack', self.folder / 'made', 's3://bucket/killed', '--shard-size', '20MB'
        environment = {**os.environ, 'RECPACK_CACHE': str(self.folder / 'cache'), 'AWS_REGION': REGION,
                       'AWS_ENDPOINT_URL': self.url, 'AWS_ACCESS_KEY_ID': self.key[0],
                       'AWS_SECRET_ACCESS_KEY': self.key[1]}
        for seconds in 0.1, 0.2, 0.4:
            running = subprocess.Popen([RECPACK, *map(str, words)], env=environment, stdout=subprocess.DEVNULL)
            time.sleep(seconds)
            running.send_signal(signal.SIGKILL)
            running.wait()
        self.recpack(*words)
        self.assertEqual(self.objects('killed'), self.local('--shard-size', '20MB', source=self.folder / 'made'))
        self.assertEqual(self.uploads(), [])

    def test_refuses_and_overwrites(self):
        self.recpack('pack', CIFAR, 's3://bucket/data')
        other = {'RECPACK_CACHE': str(self.folder / 'another')}
        done = self.recpack('pack', CIFAR, 's3://bucket/data', '--shuffle', '7', code=2, **other)
        self.assertIn('there is something already', done.stderr)
        self.recpack('pack', CIFAR, 's3://bucket/data', '--shuffle', '7', '--overwrite', **other)
        self.assertEqual(self.objects('data'), self.local('--shuffle', '7'))

    def test_a_wrong_secret(self):
        done = self.recpack('ls', 's3://bucket/data', code=2, AWS_SECRET_ACCESS_KEY='wrong')
        self.assertIn('access was refused', done.stderr)

    def test_what_is_not_there(self):
        self.assertIn('there is no such bucket', self.recpack('ls', 's3://nowhere/data', code=2).stderr)
        self.recpack('ls', 's3://bucket/nothing', code=2)


class Moto(Store, unittest.TestCase):
    key = ()

    def start(self):
        """With a user of its own; until then requests are not checked."""
        serve(self, [sys.executable, '-m', 'moto.server', '-p', str(self.port)], self.port,
              env={**os.environ, 'INITIAL_NO_AUTH_ACTION_COUNT': '3'})
        iam = boto3.client('iam', endpoint_url=self.url, region_name=REGION, aws_access_key_id='a',
                           aws_secret_access_key='b')
        iam.create_user(UserName='user')
        policy = ('{"Version": "2012-10-17", "Statement": '
                  '[{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}')
        iam.put_user_policy(UserName='user', PolicyName='all', PolicyDocument=policy)
        key = iam.create_access_key(UserName='user')['AccessKey']
        self.key = key['AccessKeyId'], key['SecretAccessKey']

    def test_the_second_of_two_jobs_does_not_replace_the_manifest(self):
        self.client.put_object(Bucket='bucket', Key='raced/manifest.json', Body=b'{}')
        with self.assertRaises(self.client.exceptions.ClientError):
            self.client.put_object(Bucket='bucket', Key='raced/manifest.json', Body=b'{1}', IfNoneMatch='*')


class Rclone(Store, unittest.TestCase):
    key = 'TESTKEY', 'test/secret+key'

    def start(self):
        (self.folder / 'store').mkdir()
        rclone = pathlib.Path(sys.executable).parent / 'rclone'
        serve(self, [rclone, 'serve', 's3', '--addr', f'127.0.0.1:{self.port}', '--auth-key', ','.join(self.key),
                     self.folder / 'store'], self.port)


if __name__ == '__main__':
    main()
