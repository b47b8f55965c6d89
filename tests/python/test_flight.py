"""recpack_io.flight: batches of servers are those of the local loader, through killed, stopped and restarted servers."""
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from unittest import mock

import numpy as np
import recpack_io
import recpack_io.flight
from recpack_io.flight import makers, places, unfinished, wire
import recpack_io.flight.__main__ as program
from fed_loaders import FedLoaders, halved, seen
from support import CIFAR, InFolder, free_port, main


class Flight(FedLoaders, InFolder):
    def server(self, dataset=None, *given, **options):
        server = recpack_io.flight.Server(self.dataset if dataset is None else dataset, *given,
                                          **{'url': 'grpc://127.0.0.1:0', 'threads': 1, **options})
        self.addCleanup(server.shutdown)
        return server

    def loader(self, servers, **options):
        loader = recpack_io.flight.Loader([getattr(each, 'url', each) for each in servers], **options)
        self.addCleanup(loader.close)
        return loader

    def both(self, *given, dataset=None, servers=2, of_servers=None, **options):
        """The local loader, and one of servers."""
        dataset = self.dataset if dataset is None else dataset
        made = [self.server(dataset, *given, **(of_servers or {})) for _ in range(servers)]
        return recpack_io.Loader(dataset, *given, **(of_servers or {}), **options), self.loader(made, **options)


class Batches(Flight):
    def test_batches_are_those_of_the_local_loader(self):
        self.assert_same_batches()

    def test_ragged_arrays(self):
        with recpack_io.Writer(self.folder / 'ragged') as writer:
            for i in range(40):
                writer.write({'tokens': np.arange(i % 7)})
        fields = [recpack_io.Numbers('tokens', length=6, ragged=True, offsets=True)]
        local, ours = self.both(dataset=recpack_io.open(self.folder / 'ragged'), batch_size=7, last_batch='keep',
                                of_servers={'fields': fields})
        self.assert_same_epoch(local, ours)
        self.assertEqual(ours.arrays['tokens'], ('i64', (None,)))

    def test_more_servers_than_steps(self):
        local, ours = self.both('cifar10-train', servers=3, batch_size=40, last_batch='keep', order='global')
        for _ in range(2):
            self.assert_same_epoch(local, ours)
        self.assertTrue(ours.audit().check(self.dataset).complete)

    def test_a_server_may_come_twice_and_serve_many(self):
        server = self.server(None, 'cifar10-train')
        local = recpack_io.Loader(self.dataset, 'cifar10-train', batch_size=7, last_batch='keep')
        other = self.loader([server], batch_size=3)
        batches = iter(other)
        next(batches)
        self.assert_same_epoch(local, self.loader([server, server], batch_size=7, last_batch='keep'))
        self.assertEqual(next(batches).number, 1)

    def test_ranks_share_batches(self):
        options = {'batch_size': 6, 'share': 'batches', 'last_batch': 'keep', 'rank': 1, 'world_size': 3}
        self.assert_same_epoch(*self.both('cifar10-train', **options))
        with self.assertRaisesRegex(recpack_io.UnsupportedError, 'give share="batches"'):
            self.loader([self.server(None, 'cifar10-train')], rank=0, world_size=2)

    def test_states_of_one_continue_the_other(self):
        options = {'batch_size': 5, 'seed': 8, 'last_batch': 'keep'}
        local, ours = self.both('cifar10-train', **options)
        for given, taken in ((local, ours), (ours, local)):
            given.set_epoch(2)
            batches = iter(given)
            for _ in range(4):
                next(batches)
            taken.load_state_dict(given.state_dict())
            rest = [seen(batch) for batch in batches]
            for expected, batch in zip(rest, taken, strict=True):
                self.assertEqual(seen(batch)[:5], expected[:5])
            self.assertEqual(taken.audit(), given.audit())
            self.assertTrue(taken.audit().check(self.dataset).complete)

    def test_fields_functions_and_views(self):
        fields = [recpack_io.Image(height=20, width=24, raw_shape=(3, 32, 32), crop='random-resized', type='f16'),
                  recpack_io.Numbers('label'), recpack_io.Id(),
                  recpack_io.Function(lambda sample: {'noise': sample.rng.random(dtype='f4')}, {'noise': 'float32'})]
        of_servers = {'batch_functions': [halved], 'fields': fields}
        self.assert_same_epoch(*self.both(batch_size=8, of_servers=of_servers))
        self.assert_same_epoch(*self.both(batch_size=8, of_servers=of_servers, dataset=self.dataset.subset(range(30))))

    def test_images_travel_as_bytes(self):
        raw = {'height': 32, 'width': 32, 'raw_shape': (3, 32, 32)}
        numbers = {'mean': (0.5, 0.4, 0.3), 'std': (0.2, 0.3, 0.25)}
        for image in (recpack_io.Image(crop='pad', pad=4, flip=0.5, **raw, **numbers),
                      recpack_io.Image(layout='nhwc', flip=0.5, policy='trivialaugment', **raw, **numbers),
                      recpack_io.Image(crop='random-resized', type='f16', **{**raw, 'height': 20, 'width': 24}, **numbers),
                      recpack_io.Image(raw_layout='nhwc', crop='resize', raw_shape=(2, 48, 32), height=16, width=16)):
            with self.subTest(image=(image.crop, image.type, image.layout)), \
                    mock.patch.object(wire, 'to_stream', side_effect=wire.to_stream) as sent:
                local, ours = self.both(batch_size=9, last_batch='pad',
                                        of_servers={'fields': [recpack_io.Numbers('label'), image]})
                self.assert_same_epoch(local, ours)
                self.assertEqual(ours.arrays, local.arrays)
                self.assertEqual(sent.call_args.args[0].arrays['image'].dtype, np.uint8)

    def test_images_that_travel_whole(self):
        raw = {'height': 32, 'width': 32, 'raw_shape': (3, 32, 32)}
        for others in ([recpack_io.Image(erasing=0.5, **raw)],  # it comes after normalising
                       [recpack_io.Image(crop='pad', type='f16', **{**raw, 'height': 8, 'width': 8})],  # fewer bytes
                       [recpack_io.Image(**raw), recpack_io.Id('image_geometry')]):
            with mock.patch.object(wire, 'to_stream', side_effect=wire.to_stream) as sent:
                local, ours = self.both(batch_size=8, of_servers={'fields': others})
                self.assert_same_epoch(local, ours)
                self.assertNotEqual(sent.call_args.args[0].arrays['image'].dtype, np.uint8)

    def test_images_and_places_must_fit(self):
        _, options = unfinished.left(recpack_io.recipe('cifar10-train'))
        finish = unfinished.Finishers(options)
        arrays = {'image': np.zeros((2, 3, 32, 32), np.uint8), 'image_geometry': np.zeros((3, 3), np.int32)}
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, '6144 bytes of images, where 3 images of 3072'):
            finish(arrays)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'in_height'):
            unfinished.Finishers({'image': {**options['image'], 'in_height': 0}})

    def test_arrays_are_read_only_and_can_be_copied(self):
        batch = next(iter(self.loader([self.server(None, 'cifar10-train')], batch_size=8)))
        with self.assertRaisesRegex(ValueError, 'read-only'):
            batch['image'][0] = 0
        copy = batch.dlpack('image')
        copy[0] = 0
        self.assertFalse(np.array_equal(copy, batch['image']))

    def test_an_epoch_that_is_left_early_ends(self):
        local, ours = self.both('cifar10-train', batch_size=8)
        for loader in (local, ours):
            next(iter(loader))
        self.assert_same_epoch(local, ours)


class Faults(Flight):
    """Servers that are processes."""

    def setUp(self):
        super().setUp()
        self.ports, self.processes = {}, {}
        for name in 'ab':
            self.ports[name] = free_port()
            self.start(name)
        self.addCleanup(self.end)

    def start(self, name):
        """Starts a server, and waits until it listens."""
        self.processes[name] = subprocess.Popen(
            [sys.executable, '-m', 'recpack_io.flight', 'serve', self.shards, '--recipe', 'cifar10-train', '--threads', '1',
             '--url', self.url(name)], stdout=subprocess.PIPE, text=True)
        self.assertIn(self.url(name), self.processes[name].stdout.readline())

    def end(self):
        for name in self.processes:
            self.kill(name)

    def url(self, name):
        return f'grpc://127.0.0.1:{self.ports[name]}'

    def kill(self, name):
        self.processes[name].kill()
        self.processes[name].wait()
        self.processes[name].stdout.close()

    def loaders(self, **options):
        return (recpack_io.Loader(self.dataset, 'cifar10-train', batch_size=4, last_batch='keep'),
                self.loader([self.url(name) for name in self.ports], batch_size=4, last_batch='keep', **options))

    def test_batches_of_killed_servers_are_made_again(self):
        local, ours = self.loaders()
        chance = random.Random(5)
        later = threading.Thread(target=int)
        later.start()
        for epoch in range(3):
            batches = iter(ours)
            kills = set(chance.sample(range(16), 3))
            for i, batch in enumerate(local):
                if i in kills:
                    later.join()
                    name = chance.choice('ab')
                    self.kill(name)
                    if chance.random() < 0.5:
                        self.start(name)  # before it is missed
                    else:  # meanwhile the other one makes all
                        later = threading.Timer(0.3, self.start, [name])
                        later.start()
                self.assertEqual(seen(next(batches)), seen(batch), (epoch, i))
            self.assertIsNone(next(batches, None))
            self.assertEqual(ours.state_dict(), local.state_dict())
            self.assertTrue(ours.audit().check(self.dataset).complete)
        later.join()
        self.assertGreater(ours.stats()['replaced'], 0)

    def test_a_stopped_server_is_replaced(self):
        local, ours = self.loaders()
        with mock.patch.object(makers, '_LOOK', 1.0):
            batches = iter(ours)
            for i, batch in enumerate(local):
                if i == 3:
                    self.processes['a'].send_signal(signal.SIGSTOP)
                self.assertEqual(seen(next(batches)), seen(batch))
        self.assertGreater(ours.stats()['replaced'], 0)

    def test_no_server_is_an_error_in_time(self):
        _, ours = self.loaders(timeout=1)
        batches = iter(ours)
        next(batches)
        self.kill('a')
        self.kill('b')
        begin = time.monotonic()
        with self.assertRaisesRegex(recpack_io.IoError, 'none of the servers .* answers'):
            list(batches)
        self.assertLess(time.monotonic() - begin, 60)
        with self.assertRaisesRegex(recpack_io.IoError, 'none of the servers'):
            self.loaders(timeout=0.1)

    def test_a_server_that_is_not_there_yet_is_waited_for(self):
        self.kill('a')
        self.kill('b')
        later = threading.Timer(1, self.start, 'a')
        later.start()
        local, ours = self.loaders()
        later.join()
        self.assert_same_epoch(local, ours)

    def test_it_ends_by_signals(self):
        for name, number in ('a', signal.SIGINT), ('b', signal.SIGTERM):
            self.processes[name].send_signal(number)
            self.assertEqual(self.processes[name].wait(timeout=30), 0)


class Errors(Flight):
    def test_errors_of_the_maker(self):
        shutil.copytree(self.shards, self.folder / 'shards')
        bad = self.folder / 'shards' / 'train-00000-of-00001.tfrecord'
        data = bytearray(bad.read_bytes())
        data[1000] ^= 1
        bad.write_bytes(data)
        ours = self.loader([self.server(recpack_io.open(self.folder / 'shards'), 'cifar10-train')], batch_size=8)
        with self.assertRaises(recpack_io.CorruptError) as caught:
            list(ours)
        self.assertEqual((caught.exception.path, caught.exception.ordinal), (str(bad), 0))

        def fails(sample):
            raise KeyError('mine')
        ours = self.loader([self.server(fields=[recpack_io.Function(fails, {'one': 'int64'})])], batch_size=8)
        with self.assertRaisesRegex(RuntimeError, "server grpc://.*: KeyError: .*mine"):
            next(iter(ours))
        with self.assertRaisesRegex(RuntimeError, 'mine'):
            next(iter(ours))

    def test_what_a_server_does_not_serve(self):
        with self.assertRaisesRegex(recpack_io.UnsupportedError, 'bfloat16'):
            self.server(fields=recpack_io.recipe('cifar10-train', type='bf16'))
        with self.assertRaisesRegex(recpack_io.UnsupportedError, 'substitutes'):
            self.server(None, 'cifar10-train', on_bad_record='substitute')
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'batch_size is chosen by the client'):
            self.server(None, 'cifar10-train', batch_size=8)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'no recipe'):
            self.server(None, 'unheard-of')

    def test_servers_that_differ(self):
        other = self.folder / 'other'
        recpack_io.pack(CIFAR, other, sync=False, limit=40)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'all must serve the same'):
            self.loader([self.server(None, 'cifar10-train'), self.server(recpack_io.open(other), 'cifar10-train')])
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'serves other fields'):
            self.loader([self.server(None, 'cifar10-train'), self.server(None, 'cifar10-eval')])
        recpack_io.pack(CIFAR, self.folder / 'shuffled', sync=False, shuffle=3, shard_bytes=100_000)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'other fields, or of other data'):
            self.loader([self.server(None, 'cifar10-train'),
                         self.server(recpack_io.open(self.folder / 'shuffled'), 'cifar10-train')])
        server = self.server(None, 'cifar10-train')
        server._about = json.dumps({'version': '0.0.1', 'samples': 64, 'fields': ''}).encode()
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'has recpack_io 0.0.1'):
            self.loader([server])

    def test_a_port_that_is_taken(self):
        server = self.server(None, 'cifar10-train')
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'another program listens'):
            self.server(None, 'cifar10-train', url=server.url)

    def test_arguments(self):
        for url in 'http://host', '127.0.0.1:8815', 'grpc://', 'grpc://host:port':
            with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'names no server'):
                self.loader([url])
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'one server or more'):
            self.loader([])
        with self.assertRaisesRegex(TypeError, 'batch_siz'):
            self.loader(['grpc://127.0.0.1:1'], batch_siz=3)
        ours = self.loader([self.server(None, 'cifar10-train')], batch_size=8)
        self.assertIn('64 samples of grpc://', repr(ours))
        ours.close()
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'closed'):
            next(iter(ours))

    def test_clients_that_are_gone_are_forgotten(self):
        server = self.server(None, 'cifar10-train', idle=0.2)
        local = recpack_io.Loader(self.dataset, 'cifar10-train', batch_size=4)
        ours = self.loader([server], batch_size=4, ahead=1)
        batches = iter(ours)
        self.assertEqual(seen(next(batches)), seen(next(iter(local))))
        while server._sessions:
            time.sleep(0.05)
        local.set_epoch(0)
        self.assertEqual([seen(batch) for batch in batches], [seen(batch) for batch in local][1:])
        self.assertEqual(ours.stats()['replaced'], 1)
        ours.close()
        while server._sessions:
            time.sleep(0.05)


class Safety(Flight):
    def certificate(self, folder):
        """A certificate for 127.0.0.1, which is its own root."""
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', f'{folder}/key.pem', '-out',
                        f'{folder}/cert.pem', '-days', '1', '-subj', '/CN=127.0.0.1', '-addext',
                        'subjectAltName=IP:127.0.0.1'], check=True, capture_output=True)
        return {'certificate': f'{folder}/cert.pem', 'key': f'{folder}/key.pem'}

    def test_token_and_tls(self):
        pair = self.certificate(self.folder)
        server = self.server(None, 'cifar10-train', url='grpc+tls://127.0.0.1:0', token='secret', **pair)
        options = {'batch_size': 8, 'tls_root_certs': pair['certificate']}
        local = recpack_io.Loader(self.dataset, 'cifar10-train', batch_size=8)
        self.assert_same_epoch(local, self.loader([server], token='secret', **options))
        with mock.patch.dict(os.environ, {places.TOKEN_VARIABLE: 'secret'}):
            local.set_epoch(0)
            self.assert_same_epoch(local, self.loader([server], **options))
        for token in '', 'secre', 'other':
            with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'refuses the token'):
                self.loader([server], token=token, **options)
        for url, more in (server.url, {}), (server.url.replace('+tls', ''), {'tls_root_certs': pair['certificate']}):
            with self.assertRaisesRegex(recpack_io.IoError, 'none of the servers'):  # not trusted, or not encrypted
                self.loader([url], token='secret', timeout=0.1, batch_size=8, **more)

    def test_nothing_is_open_to_the_network_unasked(self):
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'without TLS'):
            self.server(None, 'cifar10-train', url='grpc://0.0.0.0:0', token='secret')
        pair = self.certificate(self.folder)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'without a token'):
            self.server(None, 'cifar10-train', url='grpc+tls://0.0.0.0:0', **pair)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'needs a certificate and its key'):
            self.server(None, 'cifar10-train', url='grpc+tls://127.0.0.1:0')
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'without TLS'):
            self.loader(['grpc://192.0.2.1:8815'], token='secret')
        server = self.server(None, 'cifar10-train', url='grpc://0.0.0.0:0', insecure=True)
        self.assertEqual(len(list(self.loader([f'grpc://127.0.0.1:{server.port}'], batch_size=8))), 8)


class Program(Flight):
    def test_errors_are_lines(self):
        for words, saying in [(['/none'], 'none'), ([self.shards, '--url', 'http://x'], 'names no server'),
                              ([self.shards, '--token-file', '/none'], '/none')]:
            with mock.patch('sys.stderr') as stderr, contextlib.redirect_stdout(None):
                self.assertEqual(program.main(['serve', *words, '--recipe', 'cifar10-train']), 2)
            said = ''.join(call.args[0] for call in stderr.write.call_args_list)
            self.assertIn(saying, said)
            self.assertTrue(said.startswith('recpack: '), said)

    def test_reads_a_token_file(self):
        token = self.folder / 'token'
        token.write_text('secret\n')
        port = free_port()
        with subprocess.Popen([sys.executable, '-m', 'recpack_io.flight', 'serve', self.shards, '--recipe', 'cifar10-train',
                               '--url', f'grpc://127.0.0.1:{port}', '--token-file', str(token)],
                              stdout=subprocess.PIPE, text=True) as process:
            try:
                process.stdout.readline()
                self.assertEqual(len(self.loader([f'grpc://127.0.0.1:{port}'], token='secret', batch_size=8)), 8)
            finally:
                process.terminate()
                process.wait(timeout=30)


if __name__ == '__main__':
    main()
