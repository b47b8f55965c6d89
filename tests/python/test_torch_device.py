"""recpack_io.torch with a device, on a stand-in for CUDA that copies late (delayed_cuda.py)."""
import gc
import time
from unittest import mock

import recpack_io
import torch
from delayed_cuda import NEVER_SEEN, Cuda, Event, Stream
from recpack_io._cuda import HostMemory
from recpack_io.torch import Loader
from support import CIFAR, InFolder, main, pack


def refilled(loader):
    """Waits until the workers have written whatever slab they may write."""
    for _ in range(60_000):
        stats = loader.stats()
        if stats['ready'] + stats['held'] >= 4:
            return
        time.sleep(0.001)
    raise AssertionError(f'the workers do not fill the ring: {stats}')


class Device(InFolder):
    def setUp(self):
        super().setUp()
        pack(CIFAR, self.folder / 'shards')
        self.dataset = recpack_io.open(self.folder / 'shards')

    def cuda(self, **options):
        machine = Cuda(**options)
        context = machine.in_place()
        context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return machine

    def loader(self, **options):
        return Loader(self.dataset, **{'recipe': 'cifar10-train', 'batch_size': 8, 'seed': 3,
                                       'device': 'cuda:0'} | options)

    def host_batches(self, epochs=1, **options):
        loader = self.loader(device=None, **options)
        return [{name: tensor.clone() for name, tensor in batch.items()}
                for _ in range(epochs) for batch in loader]

    def wrong_batches(self, machine, loader, expected, epochs=1):
        """How many batches are not as expected, where the workers take every slab they may, and the
        consumer's stream works late."""
        got = []
        for _ in range(epochs):
            for batch in loader:
                refilled(loader)
                got.append(batch)
                if len(got) % 2 == 0:
                    machine.current.synchronize()
        machine.current.synchronize()
        self.assertEqual(len(got), len(expected))
        return sum(not torch.equal(mine[name], host[name])
                   for mine, host in zip(got, expected) for name in host)


class Reuse(Device):
    def test_no_slab_is_written_before_it_was_copied(self):
        expected = self.host_batches(epochs=3)
        for patience in 0, 3, 1000:
            for ahead in 0, 1, 2, 5:
                machine = self.cuda(patience=patience)
                wrong = self.wrong_batches(machine, self.loader(ahead=ahead), expected, epochs=3)
                self.assertEqual((wrong, machine.faults), (0, []), (patience, ahead))

    def test_a_slab_that_is_let_go_of_early_is_seen(self):
        """The test above fails where the loader does not wait for the event."""
        expected = self.host_batches(epochs=3)
        machine = self.cuda(patience=1000)
        with mock.patch.object(HostMemory, 'keep', lambda *_: None):
            self.assertGreater(self.wrong_batches(machine, self.loader(), expected, epochs=3), 0)

    def test_one_is_waited_for_where_all_are_being_read(self):
        expected = self.host_batches()
        machine = self.cuda(patience=1000)
        for most, options in ((2, {'prefetch': 2}), (3, {'prefetch': 3, 'max_live_batches': 0}),
                              (2, {'prefetch': 8, 'max_live_batches': 2})):
            got = []
            for batch in self.loader(**options):
                self.assertLessEqual(len(machine.reading) // len(batch), most)
                got.append(batch)
            machine.current.synchronize()
            self.assertTrue(all(torch.equal(mine['image'], host['image'])
                                for mine, host in zip(got, expected, strict=True)))

    def test_the_wait_is_before_the_slab_is_let_go_of(self):
        class Slab:
            def __del__(slab):
                order.append('let go')

        class Watched(Event):
            def synchronize(event):
                order.append('waited')

        order, memory = [], HostMemory()
        memory.keep(Slab(), Watched(Stream(patience=1000)))
        memory.let_go(0)
        self.assertEqual(order, ['waited', 'let go'])


class Streams(Device):
    def test_the_current_stream_waits_for_the_copy(self):
        machine = self.cuda(patience=1000)
        loader = self.loader()  # which waits for its copies where it goes
        batch = next(iter(loader))
        self.assertTrue((batch['image'] == NEVER_SEEN).all())
        self.assertEqual(machine.copies, 0)
        machine.current.synchronize()
        self.assertTrue(torch.equal(batch['image'], self.host_batches()[0]['image']))

    def test_batches_ahead_are_sent_before_they_are_asked_for(self):
        for ahead in 0, 1, 2:
            machine = self.cuda(patience=1000)
            loader = self.loader(ahead=ahead)
            batch = next(iter(loader))
            self.assertEqual(len(machine.reading), (1 + ahead) * len(batch))

    def test_tensors_are_recorded_on_the_stream_that_gets_them(self):
        machine = self.cuda()
        consumer, other = Stream(), Stream()
        with machine.stream(consumer):
            batch = next(iter(self.loader()))
        places = [tensor.data_ptr() for tensor in batch.values()]
        self.assertEqual(machine.told, [(place, consumer) for place in places])
        machine.told.clear()
        batch.record_stream(other)
        self.assertEqual(machine.told, [(place, other) for place in places])

    def test_copies_of_ones_own_from_locked_memory(self):
        """device=None with page_lock: the program copies, and tells of its stream."""
        expected = self.host_batches(epochs=2)
        for told in True, False:
            machine, mine = self.cuda(patience=1000), Stream(patience=1000)
            loader, got = self.loader(device=None, pin_memory=True), []
            for _ in range(2):
                for batch in loader:
                    with machine.stream(mine):
                        got.append(batch['image'].to('cuda:0', non_blocking=True))
                    if told:
                        batch.record_stream(mine)
                    del batch
                    refilled(loader)
            mine.synchronize()
            wrong = sum(not torch.equal(image, host['image'])
                        for image, host in zip(got, expected, strict=True))
            self.assertEqual((wrong == 0, machine.faults), (told, []))
            del loader  # with its machine

    def test_to_keeps_the_memory_until_it_was_copied(self):
        """Batch.to() with non_blocking, from page-locked memory: it tells of the stream itself."""
        expected = self.host_batches(epochs=2)
        for as_tuple in False, True:
            machine, mine = self.cuda(patience=1000), Stream(patience=1000)
            loader, got = self.loader(device=None, page_lock=True, as_tuple=as_tuple), []
            self.assertTrue(loader.pin_memory)
            for _ in range(2):
                for batch in loader:
                    with machine.stream(mine):
                        got.append(batch.to('cuda:0', non_blocking=True))
                    del batch
                    refilled(loader)
            mine.synchronize()
            wrong = sum(not torch.equal(batch.image, host['image'])
                        for batch, host in zip(got, expected, strict=True))
            self.assertEqual((wrong, machine.faults), (0, []), as_tuple)
            del loader  # with its machine

    def test_what_is_beside_the_tensors_comes_along(self):
        machine = self.cuda()
        for there, host in zip(self.loader(as_tuple=True), self.loader(device=None), strict=True):
            machine.current.synchronize()
            self.assertTrue(torch.equal(there.ids, host.ids))
            self.assertTrue(torch.equal(there.mask, host.mask))
            self.assertEqual((there.epoch, there.number, there.token),
                             (host.epoch, host.number, host.token))
            self.assertTrue(torch.equal(there[1], host.label))

    def test_channels_last(self):
        machine = self.cuda()
        for there, host in zip(self.loader(channels_last=True), self.host_batches(), strict=True):
            machine.current.synchronize()
            self.assertTrue(torch.equal(there.image, host['image']))
            self.assertTrue(there.image.is_contiguous(memory_format=torch.channels_last))
        self.assertEqual(machine.faults, [])


class Memory(Device):
    def test_all_that_is_copied_is_page_locked_until_the_loader_goes(self):
        machine = self.cuda()
        loader = self.loader(prefetch=3, last_batch='keep', batch_size=7)
        for epoch in 0, 1, 4:
            loader.set_epoch(epoch)
            for batch in loader:
                break
            for batch in loader:
                pass
            self.assertTrue(1 <= len(machine.locked) <= 5, machine.locked)  # 2 live beside the ring
        del loader, batch
        gc.collect()
        self.assertEqual((machine.locked, machine.faults), ({}, []))

    def test_an_iteration_that_is_left_keeps_nothing(self):
        machine = self.cuda(patience=1000)
        loader = self.loader(ahead=2)
        for _ in loader:
            break
        del loader
        gc.collect()
        self.assertEqual((machine.locked, machine.reading, machine.faults), ({}, [], []))

    def test_a_forked_child_leaves_it_locked(self):
        machine = self.cuda(patience=1000)
        loader = self.loader()
        next(iter(loader))
        locked, reading = dict(machine.locked), list(machine.reading)
        with mock.patch('os.getpid', lambda: 1):
            loader.close()
        self.assertEqual((machine.locked, machine.reading), (locked, reading))
        self.assertGreater(len(locked), 0)
        loader.close()
        self.assertEqual((machine.locked, machine.faults), ({}, []))

    def test_memory_that_cannot_be_locked(self):
        machine = self.cuda(refuses_locks=True)
        with self.assertRaisesRegex(recpack_io.DeviceError, r'cannot be page-locked .*ulimit -l'):
            next(iter(self.loader()))
        batch = next(iter(self.loader(page_lock=False)))
        machine.current.synchronize()
        self.assertTrue(torch.equal(batch['image'], self.host_batches()[0]['image']))


class States(Device):
    def test_batches_on_their_way_are_no_part_of_a_state(self):
        self.cuda()
        expected = self.host_batches()
        for taken in range(len(expected) - 1):
            first = self.loader(ahead=2)
            batches = iter(first)
            for _ in range(taken + 1):
                next(batches)
            other = self.loader(device=None)
            other.load_state_dict(first.state_dict())
            self.assertTrue(torch.equal(next(iter(other))['image'], expected[taken + 1]['image']))

    def test_devices_without_cuda(self):
        """Batches are copied there by torch, without streams. "meta" stands for all of them."""
        loader = self.loader(device='meta', channels_last=True)
        hosts = self.loader(device=None)
        for epoch in range(2):
            for there, host in zip(loader, hosts, strict=True):
                self.assertEqual({tensor.device.type for tensor in there.values()}, {'meta'})
                self.assertEqual(there.image.shape, host.image.shape)
                self.assertTrue(there.image.is_contiguous(memory_format=torch.channels_last))
                self.assertEqual((there.ids.tolist(), there.mask.tolist(), there.epoch),
                                 (host.ids.tolist(), host.mask.tolist(), epoch))
                self.assertEqual(loader.stats()['held'], 0)
        self.assertFalse(loader.pin_memory)

    def test_devices_that_do_not_fit(self):
        with self.assertRaisesRegex(recpack_io.UnsupportedError, 'for CUDA devices only, not for meta'):
            self.loader(device='meta', page_lock=True)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'two names of one option'):
            self.loader(page_lock=False, pin_memory=True)
        if not torch.backends.mps.is_available():
            with self.assertRaisesRegex(recpack_io.UnsupportedError, 'no device mps'):
                self.loader(device='mps')

    def test_no_memory_is_locked_without_cuda(self):
        if torch.cuda.is_available():
            self.skipTest('CUDA is there')
        for name in 'pin_memory', 'page_lock':
            with self.assertWarnsRegex(UserWarning, f'{name} has no effect: .* no CUDA device') as caught:
                loader = self.loader(device=None, **{name: True})
            self.assertEqual(caught.filename, __file__)
            self.assertFalse(loader.pin_memory)
            self.assertEqual(len(next(iter(loader))['label']), 8)

    def test_the_host_by_name(self):
        self.assertEqual(len(next(iter(self.loader(device='cpu')))['label']), 8)

    def test_a_machine_without_cuda(self):
        if torch.cuda.is_available():
            self.skipTest('this one has it')
        with self.assertRaisesRegex((RuntimeError, AssertionError), '(?i)cuda|nvidia'):
            self.loader()


if __name__ == '__main__':
    main()
