"""recpack_io.torch: batches as tensors, and a training that is killed and goes on."""
import contextlib
import copy
import os
import pickle
import signal
import subprocess
import sys
from unittest import mock

import numpy as np
import recpack_io
import torch
from PIL import Image
from recpack_io.torch import Batch, Loader, MapDataset, TupleBatch
from support import CIFAR, InFolder, main, pack

TRAIN = '''
import os, sys, pathlib
import recpack_io, torch
from recpack_io.torch import Loader

shards, checkpoint, stop_after = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Linear(3072, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
loader = Loader(recpack_io.open(shards), "cifar10-train", batch_size=8, seed=1)
first = 0
if checkpoint.exists():
    saved = torch.load(checkpoint)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    loader.load_state_dict(saved["loader"])
    first = saved["epoch"]
steps = 0
for epoch in range(first, 3):
    loader.set_epoch(epoch)
    for batch in loader:
        loss = torch.nn.functional.cross_entropy(model(batch["image"].flatten(1)), batch["label"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                    "loader": loader.state_dict(), "epoch": epoch}, str(checkpoint) + ".part")
        os.replace(str(checkpoint) + ".part", checkpoint)
        steps += 1
        if steps == stop_after:
            os.kill(os.getpid(), 9)
print(model.weight.double().sum().item(), loss.item())
'''


class WithShards(InFolder):
    def setUp(self):
        super().setUp()
        pack(CIFAR, self.folder / 'shards')
        self.dataset = recpack_io.open(self.folder / 'shards')

    def loader(self, recipe='cifar10-train', **options):
        return Loader(self.dataset, recipe, **{'batch_size': 8, 'seed': 2} | options)


class Torch(WithShards):
    def test_tensors_without_a_copy(self):
        plain = recpack_io.Loader(self.dataset, 'cifar10-train', batch_size=8)
        for mine, theirs in zip(plain, Loader(self.dataset, 'cifar10-train', batch_size=8), strict=True):
            self.assertTrue(torch.equal(torch.from_dlpack(mine.dlpack('image')), theirs['image']))
            self.assertEqual(mine.dlpack('label').__dlpack_device__()[0], 1)
            self.assertEqual(theirs['label'].tolist(), mine['label'].tolist())

    def test_bf16(self):
        fields = recpack_io.recipe('cifar10-eval', type='bf16')
        exact = Loader(self.dataset, fields=recpack_io.recipe('cifar10-eval'), batch_size=8)
        for rounded, f32 in zip(Loader(self.dataset, fields=fields, batch_size=8), exact, strict=True):
            self.assertTrue(torch.equal(rounded['image'], f32['image'].bfloat16()))

    def test_the_mask_tells_what_only_fills_up(self):
        loader = Loader(self.dataset, 'cifar10-eval', batch_size=7, last_batch='pad', order='sequential')
        masks = [batch.mask for batch in loader]
        self.assertTrue(all(mask.dtype == torch.bool for mask in masks))
        self.assertTrue(all(len(mask) == 7 for mask in masks))
        self.assertEqual(sum(int(mask.sum()) for mask in masks), len(self.dataset))

    def test_tensors_keep_the_batch(self):
        loader = Loader(self.dataset, 'cifar10-train', batch_size=8, prefetch=4)
        image = next(iter(loader))['image']
        copy = image.clone()
        del loader
        self.assertTrue(torch.equal(image, copy))

    def test_killed_and_gone_on(self):
        def run(checkpoint, stop_after):
            return subprocess.run([sys.executable, '-c', TRAIN, str(self.folder / 'shards'),
                                   str(self.folder / checkpoint), str(stop_after)],
                                  text=True, capture_output=True, timeout=300, check=False)
        whole = run('whole', -1)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        for stop_after in 3, 8, 13:
            name = f'killed {stop_after}'
            self.assertEqual(run(name, stop_after).returncode, -signal.SIGKILL)
            again = run(name, -1)
            self.assertEqual((again.stdout, again.returncode), (whole.stdout, 0), again.stderr)

    def test_rank_of_torch_distributed(self):
        torch.distributed.init_process_group('gloo', rank=0, world_size=1,
                                             init_method=f'file://{self.folder}/store')
        self.addCleanup(torch.distributed.destroy_process_group)
        os.environ |= {'RANK': '1', 'WORLD_SIZE': '2'}
        self.addCleanup(lambda: [os.environ.pop(name) for name in ('RANK', 'WORLD_SIZE')])
        ids = [number for batch in recpack_io.Loader(self.dataset, 'cifar10-train', batch_size=8)
               for number in batch.ids]
        self.assertEqual(len(set(ids)), 8 * (len(self.dataset) // 8))

    def test_a_map_style_dataset(self):
        """Torch's own DataLoader takes records, in worker processes too."""
        for workers, context in (0, None), (2, 'fork'), (2, 'spawn'):
            loader = torch.utils.data.DataLoader(
                self.dataset, batch_size=8, num_workers=workers, collate_fn=labels,
                multiprocessing_context=context)
            self.assertEqual([label for batch in loader for label in batch],
                             [int(record['label'][0]) for record in self.dataset])


class Batches(WithShards):
    def test_arrays_are_attributes(self):
        for as_tuple in False, True:
            self.check_attributes(next(iter(self.loader(as_tuple=as_tuple))))

    def check_attributes(self, batch):
        self.assertIs(batch.image, batch['image'])
        self.assertIs(batch.label, batch['label'])
        with self.assertRaisesRegex(AttributeError, "no 'images'; its arrays are image, label"):
            batch.images
        self.assertEqual(getattr(batch, 'images', 7), 7)

    def test_what_a_dictionary_has_comes_before_arrays(self):
        names = 'items', 'mask'
        fields = [recpack_io.Numbers(name, feature='label') for name in names]
        batch = next(iter(self.loader(None, fields=fields)))
        self.assertEqual([name for name, _ in batch.items()], ['items', 'mask'])
        self.assertEqual((batch['mask'].dtype, batch.mask.dtype), (torch.int64, torch.bool))

    def test_what_is_beside_the_tensors_is_the_plain_loaders(self):
        plain = recpack_io.Loader(self.dataset, 'cifar10-train', batch_size=8, seed=2)
        mine = self.loader()
        for epoch in range(2):
            for batch, expected in zip(mine, plain, strict=True):
                self.assertEqual((batch.epoch, batch.number, batch.token, batch.ids.tolist()),
                                 (epoch, expected.number, expected.token, expected.ids.tolist()))
                self.assertEqual(batch.ids.dtype, torch.int64)

    def test_what_is_beside_the_tensors_holds_no_memory(self):
        loader, kept = self.loader(prefetch=2, max_live_batches=2), []
        for batch in loader:
            kept.append((batch.ids, batch.mask))
            del batch
        self.assertGreater(len(kept), 2)
        self.assertEqual(len({number for ids, _ in kept for number in ids.tolist()}), 8 * len(kept))

    def test_to_keeps_what_is_beside_the_tensors(self):
        batch = next(iter(self.loader(as_tuple=False)))
        there = batch.to('meta', non_blocking=True)
        self.assertIs(type(there), Batch)
        self.assertEqual({tensor.device.type for tensor in there.values()}, {'meta'})
        self.assertEqual({tensor.device.type for tensor in batch.values()}, {'cpu'})
        for name in 'mask', 'ids', 'epoch', 'number', 'token':
            self.assertIs(getattr(there, name), getattr(batch, name), name)
        self.assertIs(batch.to('cpu').image, batch.image)
        with self.assertRaises(TypeError):
            batch.to(torch.float16)  # which would change labels too

    def test_only_copies_to_cuda_are_not_waited_for(self):
        """Others could read the batch's memory when it is another batch's."""
        batch, waited_for = next(iter(self.loader())), {}
        with mock.patch.object(torch.Tensor, 'to', lambda tensor, device, non_blocking:
                               waited_for.update({device.type: not non_blocking})):
            for device in 'mps', 'cuda:0', 'cpu':
                batch.to(device, non_blocking=True)
        self.assertEqual(waited_for, {'mps': True, 'cuda': False, 'cpu': True})

    def test_a_dictionary_without_what_was_beside(self):
        batch = next(iter(self.loader(as_tuple=False)))
        with self.assertRaisesRegex(AttributeError, "no 'mask'"):
            Batch(batch).mask
        self.assertIs(Batch(batch).to('cpu').image, batch.image)

    def test_a_named_recipe_gives_tuples_and_fields_give_dictionaries(self):
        """As (images, labels) of torchvision's data sets in torch's DataLoader."""
        fields = recpack_io.recipe('cifar10-train')
        for given, expected in (({}, TupleBatch), ({'as_tuple': False}, Batch), ({'fields': fields}, Batch),
                                ({'fields': fields, 'as_tuple': True}, TupleBatch), ({'channels_last': True}, TupleBatch)):
            loader = self.loader(None if 'fields' in given else 'cifar10-train', **given)
            self.assertIsInstance(next(iter(loader)), expected, given)

    def test_tuples(self):
        for (images, labels), batch in zip(self.loader(), self.loader(as_tuple=False), strict=True):
            self.assertTrue(torch.equal(images, batch['image']))
            self.assertTrue(torch.equal(labels, batch['label']))
        fields = recpack_io.recipe('cifar10-train')[::-1]
        labels, images = next(iter(self.loader(None, fields=fields, as_tuple=True)))
        self.assertEqual((labels.ndim, images.ndim), (1, 4))

    def test_tuples_have_names(self):
        batch = next(iter(self.loader()))
        images, labels = batch
        self.assertIs(batch['image'], images)
        self.assertIs(batch[-1], labels)
        self.assertEqual(batch[1:], (labels,))
        self.assertEqual(list(batch.keys()), ['image', 'label'])
        self.assertEqual([name for name, _ in batch.items()], ['image', 'label'])
        self.assertIs(batch.items()[1][1], labels)
        self.assertIs(batch.values()[0], images)
        self.assertIs(batch.get('label'), labels)
        self.assertEqual((batch.get('boxes'), batch.get('boxes', 7)), (None, 7))
        self.assertEqual(('label' in batch, 'boxes' in batch, labels in batch, images[0] in batch), (True, False, True, False))
        self.assertEqual({**batch, 'more': 1}.keys(), {'image', 'label', 'more'})
        self.assertIs(dict(batch)['label'], labels)
        with self.assertRaisesRegex(KeyError, 'boxes'):
            batch['boxes']
        self.assertIs(batch.as_tuple(), batch)
        self.assertEqual(batch.as_dict().ids.tolist(), batch.ids.tolist())

    def test_tuples_have_what_batches_have(self):
        batch = next(iter(self.loader()))
        self.assertIs(batch.image, batch[0])
        self.assertEqual((len(batch.mask), len(batch.ids), batch.epoch, batch.number), (8, 8, 0, 0))
        there = batch.to('meta')
        self.assertEqual([tensor.device.type for tensor in there], ['meta', 'meta'])
        self.assertIs(there.mask, batch.mask)

    def test_texts(self):
        batch, arrays = next(iter(self.loader())), 'image float32 (8, 3, 32, 32), label int64 (8,)>'
        self.assertEqual(repr(batch), '<recpack_io.torch.TupleBatch 0 of epoch 0: ' + arrays)
        self.assertEqual(repr(batch.as_dict()), '<recpack_io.torch.Batch 0 of epoch 0: ' + arrays)
        self.assertEqual(repr(Batch(batch)), '<recpack_io.torch.Batch: ' + arrays)
        self.assertEqual(repr(TupleBatch(batch)), '<recpack_io.torch.TupleBatch: 0 float32 (8, 3, 32, 32), 1 int64 (8,)>')

    def test_libraries_remake_tuples_with_their_names(self):
        """As a named tuple, from values, and as a tuple, from an iterable."""
        batch = next(iter(self.loader()))
        for remade in (type(batch)(*(each.double() for each in batch)), type(batch)(each.double() for each in batch),
                       torch.utils.data.default_convert(batch)):
            self.assertIs(type(remade), type(batch))
            self.assertEqual(remade['label'].tolist(), batch['label'].tolist())
            self.assertEqual(remade.to('meta').image.device.type, 'meta')
            with self.assertRaisesRegex(AttributeError, "no 'mask': it was made without a batch"):
                remade.mask
        only = next(iter(self.loader(None, fields=[recpack_io.Numbers('label')], as_tuple=True)))
        self.assertEqual([len(each) for each in (*only, *type(only)(*only), *type(only)(each for each in only))], [8] * 3)
        for tuples in batch, only:  # pytrees, of whatever a function gives
            shapes = torch.utils._pytree.tree_map(lambda tensor: tensor.shape, tuples)
            self.assertEqual(tuple(shapes), tuple(tensor.shape for tensor in tuples))
            self.assertEqual(type(tuples)(*(tensor.shape for tensor in tuples)), tuple(shapes))
            self.assertIn('label Size', repr(shapes))
        doubled = torch.utils._pytree.tree_map(lambda tensor: 2 * tensor, batch)
        self.assertEqual(doubled['label'].tolist(), [2 * label for label in batch['label'].tolist()])

    def test_tuples_have_no_methods_that_change_dictionaries(self):
        batch = next(iter(self.loader()))
        for name in 'pop', 'update', 'clear', 'copy':
            with self.assertRaisesRegex(AttributeError, f"the batch has no '{name}'"):
                getattr(batch, name)

    def test_tuples_are_pickled_and_copied(self):
        batch = next(iter(self.loader()))
        for other in pickle.loads(pickle.dumps(batch)), copy.deepcopy(batch), copy.copy(batch):
            self.assertIs(type(other), type(batch))
            self.assertTrue(torch.equal(other['image'], batch['image']))
            self.assertEqual((other.token, other.ids.tolist()), (batch.token, batch.ids.tolist()))

    def test_a_tuple_made_from_tensors(self):
        batch = TupleBatch(tensor for tensor in next(iter(self.loader())))
        self.assertEqual([tensor.device.type for tensor in batch.to('meta')], ['meta', 'meta'])
        with self.assertRaisesRegex(AttributeError, "no 'mask': it was made without a batch"):
            batch.mask


class AsDataLoader(WithShards):
    def test_attributes(self):
        loader = self.loader()
        theirs = torch.utils.data.DataLoader(self.dataset, 8, drop_last=True)
        for name in 'dataset', 'batch_size', 'drop_last', 'num_workers', 'pin_memory', 'generator':
            self.assertEqual(getattr(loader, name), getattr(theirs, name), name)
        for name in 'sampler', 'batch_sampler', 'collate_fn':
            self.assertIsNone(getattr(loader, name), name)
        with contextlib.closing(self.loader(workers=1, last_batch='keep')) as other:
            self.assertEqual((other.num_workers, other.drop_last), (1, False))

    def test_epochs(self):
        expected = self.loader()
        epochs = [[batch.ids.tolist() for batch in expected] for _ in range(4)]
        loader = self.loader()
        for epoch in 3, 0, 2, 2:
            loader.set_epoch(epoch)
            self.assertEqual([batch.ids.tolist() for batch in loader], epochs[epoch])
        self.assertEqual([len(loader)] * 4, [len(epoch) for epoch in epochs])


class ChannelsLast(WithShards):
    def check(self, loader, expected):
        for mine, theirs in zip(loader, expected, strict=True):
            self.assertTrue(torch.equal(mine.image, theirs.image))
            self.assertTrue(mine.image.is_contiguous(memory_format=torch.channels_last))
            self.assertFalse(mine.image.is_contiguous())
            self.assertTrue(mine.image._is_view())
        self.assertEqual(loader.arrays, expected.arrays)

    def test_a_recipe(self):
        self.check(self.loader(channels_last=True), self.loader())

    def test_fields(self):
        for kind in 'u8', 'bf16':
            fields, planes = (recpack_io.recipe('cifar10-train', type=kind, layout=layout)
                              for layout in ('nhwc', 'nchw'))
            self.check(self.loader(None, fields=fields, channels_last=True),
                       self.loader(None, fields=planes))

    def test_fields_that_do_not_fit(self):
        for fields, message in ((recpack_io.recipe('cifar10-train'), "'image' with layout=\"nhwc\""),
                                ([recpack_io.Numbers('label')], 'needs an image field')):
            with self.assertRaisesRegex(recpack_io.InvalidArgumentError, message):
                self.loader(None, fields=fields, channels_last=True)


def labels(records):
    return [int(record['label'][0]) for record in records]


class Maps(WithShards):
    def test_are_images_and_labels_by_number(self):
        data = MapDataset(self.dataset, raw_shape=(3, 32, 32), given='torch', target_transform=lambda label: label + 1)
        self.assertEqual((len(data), data.classes), (len(self.dataset), self.dataset.class_names))
        for number, record in enumerate(self.dataset):
            image, label = data[number]
            self.assertEqual(label, int(record['label'][0]) + 1)
            self.assertTrue(torch.equal(image, torch.from_numpy(record['image'].reshape(3, 32, 32).copy())))
        loaded = torch.utils.data.DataLoader(torch.utils.data.Subset(data, range(10)), batch_size=4, num_workers=2)
        self.assertEqual([tuple(images.shape) for images, _ in loaded], [(4, 3, 32, 32)] * 2 + [(2, 3, 32, 32)])

    def test_encoded_images_and_arrays_become_pillows(self):
        pixels = np.arange(75, dtype='u1').reshape(5, 5, 3)
        recpack_io.pack([{'image': Image.fromarray(pixels), 'cls': 1}, {'image': pixels, 'cls': 2}, {'image': pixels[:, :, 0], 'cls': 3}],
                        self.folder / 'images')
        data = MapDataset(recpack_io.open(self.folder / 'images'), transform=np.asarray)
        for number, expected in enumerate([pixels, pixels, np.stack([pixels[:, :, 0]] * 3, 2)]):
            np.testing.assert_array_equal(data[number][0], expected)
            self.assertEqual(data[number][1], number + 1)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, "has no feature 'picture'; it has: cls, image"):
            MapDataset(data.dataset, image='picture')[0]


if __name__ == '__main__':
    main()
