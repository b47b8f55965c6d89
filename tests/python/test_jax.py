"""recpack_io.jax: batches as jax.Arrays, on one and on several emulated devices of the host."""
import os
import subprocess
import sys

os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=4'

import jax
import numpy as np
import recpack_io
from jax.sharding import NamedSharding, PartitionSpec, SingleDeviceSharding
from recpack_io.jax import Loader
from support import CIFAR, ROOT, InFolder, main, pack

sys.path.append(str(ROOT / 'tests/cli'))
from launching import free_port

RANK = '''
import sys
import jax, numpy as np, recpack_io
rank, port, shards = int(sys.argv[1]), sys.argv[2], sys.argv[3]
jax.distributed.initialize(f"localhost:{port}", num_processes=2, process_id=rank)
from recpack_io.jax import Loader
fields = [*recpack_io.recipe("cifar10-eval"), recpack_io.Id()]
mesh = jax.sharding.Mesh(np.array(jax.devices()), ("batch",))
whole = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("batch"))
loader = Loader(recpack_io.open(shards), fields=fields, batch_size=8, device=whole,
                order="sequential")
for batch in loader:
    ids = batch["id"]
    mine = np.concatenate([shard.data for shard in ids.addressable_shards]).tolist()
    print(*ids.shape, *batch["image"].shape, *mine)
'''

ENDING = '''
import sys
import jax, jax.numpy as jnp, recpack_io
from recpack_io.jax import arrays

@jax.jit
def step(total, image):
    mix = lambda _, hidden: jnp.tanh(hidden @ jnp.full((3072, 3072), 1e-3))
    return total + jax.lax.fori_loop(0, 8, mix, image.reshape(len(image), -1)).sum()

shared = {"arrays": lambda batch: arrays(batch)["image"],
          "from_dlpack": lambda batch: jnp.from_dlpack(batch.dlpack("image"))}[sys.argv[2]]
total = jnp.zeros(())
for batch in recpack_io.Loader(recpack_io.open(sys.argv[1]), "cifar10-train", batch_size=8):
    total = step(total, shared(batch))
del batch
print("computing:", not total.is_ready(), flush=True)
if sys.argv[3] == "raise":
    raise RuntimeError("of the program")
'''


def take(loader, batches):
    """Leaves an iteration behind so many, none of which is held."""
    iterator = iter(loader)
    for _ in range(batches):
        next(iterator)


class Jax(InFolder):
    def setUp(self):
        super().setUp()
        pack(CIFAR, self.folder / 'shards')
        self.dataset = recpack_io.open(self.folder / 'shards')

    def batches(self, kind=Loader, **options):
        given = {'recipe': 'cifar10-train', 'batch_size': 8, 'seed': 3} | options
        return kind(self.dataset, **given)

    def same(self, loader):
        """All batches of an epoch are the NumPy loader's; returns how many there were."""
        for number, (mine, plain) in enumerate(zip(loader, self.batches(recpack_io.Loader),
                                                   strict=True)):
            for name in plain:
                np.testing.assert_array_equal(np.asarray(mine[name]), plain[name])
        return number + 1

    def test_arguments_that_there_are_not(self):
        for name, nearest in ('batch_sise', 'batch_size'), ('ahed', 'ahead'), ('devise', 'device'):
            with self.assertRaisesRegex(TypeError, rf"Loader\(\) has no .*'{name}': .*'{nearest}'"):
                Loader(self.dataset, 'cifar10-train', **{name: 4})
        with self.assertRaisesRegex(TypeError, "batch_size cannot be '4': give an integer"):
            Loader(self.dataset, 'cifar10-train', batch_size='4', device=jax.local_devices())

    def test_a_plain_loop_holds_no_batches(self):
        """JAX computes asynchronously: each step waits for the one before."""
        @jax.jit
        def step(sum_of_all, image):
            for _ in range(40):
                sum_of_all = jax.numpy.sin(sum_of_all) + (image @ image.mT).sum()
            return sum_of_all

        for device in None, jax.devices('cpu')[0], jax.devices('cpu'):
            total = jax.numpy.zeros(())
            for _ in range(10):
                for batch in self.batches(device=device):
                    total = step(total, batch['image'])
            self.assertTrue(np.isfinite(total.block_until_ready()))

    def test_arrays_without_a_copy(self):
        plain = next(iter(self.batches(recpack_io.Loader)))
        image = jax.dlpack.from_dlpack(plain.dlpack('image'))
        self.assertEqual(image.unsafe_buffer_pointer(), plain['image'].ctypes.data)
        self.assertEqual(self.same(self.batches()), len(self.batches()))

    def test_a_program_that_ends_while_jax_computes(self):
        """JAX's threads release the batches then, and Python ends threads that ask for its lock."""
        for how in 'arrays', 'from_dlpack':
            for ending, code, last in (('return', 0, ''), ('raise', 1, 'RuntimeError: of the program')):
                for _ in range(5):
                    done = subprocess.run(
                        [sys.executable, '-c', ENDING, str(self.folder / 'shards'), how, ending],
                        text=True, capture_output=True, timeout=120, check=False)
                    self.assertEqual((done.returncode, done.stdout), (code, 'computing: True\n'),
                                     done.stderr)
                    self.assertEqual(done.stderr.rstrip().rpartition('\n')[2], last)

    def test_arrays_that_jax_holds_are_told_of(self):
        """NumPy's, of a loop that holds none itself."""
        with self.assertRaises(recpack_io.InvalidArgumentError) as caught:
            list(self.batches(recpack_io.Loader, batch_size=1))
        for text in str(caught.exception), caught.exception.advice:
            self.assertRegex(text, 'max_live_batches.*JAX.*recpack_io.jax.Loader')

    def test_labels_are_int32_without_x64(self):
        self.assertEqual(next(iter(self.batches()))['label'].dtype, np.int32)
        with jax.enable_x64(True):
            self.assertEqual(next(iter(self.batches()))['label'].dtype, np.int64)

    def test_the_mask_tells_what_only_fills_up(self):
        @jax.jit
        def ids_that_count(batch):  # jit takes batches whole
            return jax.numpy.where(batch.mask, batch['id'], 0).sum()

        options = {'recipe': None, 'fields': [*recpack_io.recipe('cifar10-eval'), recpack_io.Id()],
                   'last_batch': 'pad', 'order': 'sequential'}
        plain = [batch.mask.astype(bool).tolist()
                 for batch in self.batches(recpack_io.Loader, **options, batch_size=12)]
        self.assertEqual(sum(map(sum, plain)), len(self.dataset))
        self.assertFalse(all(plain[-1]))
        for device in None, jax.devices()[2], jax.devices():
            batches = list(self.batches(**options, batch_size=12, device=device))
            for batch in batches:
                self.assertEqual(batch.mask.dtype, bool)
                self.assertEqual(batch.mask.devices(), batch['id'].devices())
                self.assertEqual(set(jax.tree.map(lambda array: array.shape[0], batch)),
                                 {'image', 'label', 'id'})
            self.assertEqual([batch.mask.tolist() for batch in batches], plain)
            self.assertEqual(sum(int(ids_that_count(batch)) for batch in batches),
                             sum(range(len(self.dataset))))

    def test_bf16(self):
        fields = recpack_io.recipe('cifar10-train', type='bf16')
        for device in None, jax.devices():
            rounded_ones = self.batches(recipe=None, fields=fields, device=device)
            for rounded, f32 in zip(rounded_ones, self.batches(), strict=True):
                self.assertEqual(rounded['image'].dtype, jax.numpy.bfloat16)
                np.testing.assert_array_equal(rounded['image'],
                                              np.asarray(f32['image']).astype(jax.numpy.bfloat16))

    def test_put_on_one_device(self):
        for ahead in 0, 1, 2:
            loader = self.batches(device=jax.devices()[2], ahead=ahead)
            for epoch in range(2):
                for batch in loader:
                    self.assertEqual(batch['image'].devices(), {jax.devices()[2]})
            self.same(self.batches(device=jax.devices()[2], ahead=ahead))

    def test_arrays_stay_what_they_were(self):
        """Three batches later, when the workers have written others."""
        expected = [np.array(batch['image']) for batch in self.batches(recpack_io.Loader)]
        for device in None, jax.devices()[1], jax.devices():
            loader, kept, seen = self.batches(device=device), [], 0
            for _ in range(20):
                loader.set_epoch(0)
                for number, batch in enumerate(loader):
                    kept.append((number, batch['image']))
                    if len(kept) > 3:
                        of, image = kept.pop(0)
                        np.testing.assert_array_equal(image, expected[of])
                        seen += 1
            self.assertEqual(seen, 20 * len(expected) - 3)

    def test_dealt_to_several_devices(self):
        devices = jax.devices()
        self.assertEqual(len(devices), 4)
        batch = next(iter(self.batches(device=devices)))
        shards = sorted(batch['image'].addressable_shards, key=lambda shard: shard.index[0].start)
        self.assertEqual([shard.device for shard in shards], devices)
        self.assertEqual({shard.data.shape for shard in shards}, {(2, 3, 32, 32)})
        self.same(self.batches(device=devices))

    def test_any_sharding(self):
        mesh = jax.make_mesh((2, 2), ('batch', 'model'))
        dealt, copied = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in (['batch'], []))
        for place in dealt, copied, SingleDeviceSharding(jax.devices()[1]):
            batch = next(iter(self.batches(device=place)))
            self.assertEqual(batch['image'].sharding, place)
            self.same(self.batches(device=place))

    def test_ragged(self):
        def times(sample):
            return {'times': np.full(sample.id % 3, sample.id)}
        fields = [recpack_io.Id(), recpack_io.Function(times, {'times': ('int64', recpack_io.Ragged(2))})]
        for batch in self.batches(recipe=None, fields=fields, device=jax.devices()[1]):
            self.assertIn('times int32 (', repr(batch))
            self.assertEqual(batch['times'].tolist(), [n for n in batch['id'].tolist() for _ in range(n % 3)])
            self.assertEqual(np.diff(batch['times_offsets']).tolist(), [n % 3 for n in batch['id'].tolist()])
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, "cannot share the array 'times', which is ragged"):
            self.batches(recipe=None, fields=fields, device=jax.devices())

    def test_what_devices_cannot_share(self):
        devices = jax.devices()
        for said, options in (
                ('4 devices cannot share batches of 6', {'device': devices, 'batch_size': 6}),
                ('kept short', {'device': devices, 'last_batch': 'keep'}),
                ('no device in the list', {'device': []}),
                ('-1 batches cannot be ahead', {'device': devices, 'ahead': -1})):
            with self.assertRaisesRegex(recpack_io.InvalidArgumentError, said):
                self.batches(**options)

    def test_batches_on_their_way_are_no_part_of_a_state(self):
        expected = [np.array(batch['image']) for batch in self.batches()]
        for ahead in 1, 2:
            for taken in range(len(expected)):
                first = self.batches(device=jax.devices(), ahead=ahead)
                take(first, taken + 1)
                state = first.state_dict()
                other = self.batches(device=jax.devices(), ahead=ahead)
                other.load_state_dict(state)
                self.assertEqual(other.state_dict(), state)
                rest = [np.array(batch['image']) for batch in other]
                self.assertEqual(len(rest), len(expected) - taken - 1)
                for mine, theirs in zip(rest, expected[taken + 1:]):
                    np.testing.assert_array_equal(mine, theirs)

    def test_epochs_with_batches_on_their_way(self):
        loader, plain = self.batches(device=jax.devices(), ahead=2), self.batches(recpack_io.Loader)
        take(loader, len(plain) - 1)  # the loader has given its last batch, the program has not
        for epoch in 1, 2:  # an iteration that is left ends its epoch
            plain.set_epoch(epoch)
            for mine, expected in zip(loader, plain, strict=True):
                np.testing.assert_array_equal(mine['image'], expected['image'])
        loader.set_epoch(1)
        plain.set_epoch(1)
        self.assertEqual(loader.state_dict(), plain.state_dict())
        np.testing.assert_array_equal(next(iter(loader))['image'], next(iter(plain))['image'])

    def test_damage_is_told_of_in_its_turn(self):
        options = {'order': 'sequential', 'batch_size': 4}
        whole = [np.array(batch['image']) for batch in self.batches(**options)]
        shard = next((self.folder / 'shards').glob('train-*'))
        data = bytearray(shard.read_bytes())
        data[self.dataset.place_of(14)[1] + 20] ^= 1  # of the fourth batch
        shard.write_bytes(data)
        got = []
        with self.assertRaises(recpack_io.CorruptError) as caught:
            for batch in self.batches(device=jax.devices(), ahead=2, **options):
                got.append(np.array(batch['image']))
        self.assertEqual(caught.exception.ordinal, 14)
        np.testing.assert_array_equal(got, whole[:3])

    def test_ranks_and_global_arrays_of_jax_distributed(self):
        port = free_port()
        environment = os.environ | {'XLA_FLAGS': '--xla_force_host_platform_device_count=2',
                                    'JAX_PLATFORMS': 'cpu'}
        ranks = [subprocess.Popen([sys.executable, '-c', RANK, str(rank), str(port),
                                   str(self.folder / 'shards')], env=environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                 for rank in range(2)]
        said = [rank.communicate(timeout=120) for rank in ranks]
        for rank, (out, err) in enumerate(said):
            self.assertEqual(ranks[rank].returncode, 0, err)
            lines = [list(map(int, line.split())) for line in out.splitlines()]
            self.assertEqual(len(lines), len(self.dataset) // 16)
            plain = self.batches(recpack_io.Loader, order='sequential', rank=rank, world_size=2,
                                 seed=0)
            for line, batch in zip(lines, plain, strict=True):
                self.assertEqual(line[:5], [16, 16, 3, 32, 32])
                self.assertEqual(line[5:], batch.ids.tolist())


if __name__ == '__main__':
    main()
