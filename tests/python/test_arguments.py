"""Arguments: errors name what is wrong with them, and types list what there is."""
import inspect
import re
from typing import Literal, get_args, get_origin

import numpy as np
import recpack_io
from recpack_io import options
from recpack_io.adapting.ahead import AheadLoader
from recpack_io.arguments import check_kind, checks_arguments
from support import CIFAR, InFolder, main, pack


def names_of(core_field):
    return {name for name in dir(core_field) if not name.startswith('_')}


class Arguments(InFolder):
    def setUp(self):
        super().setUp()
        pack(CIFAR, self.folder / 'shards')
        self.dataset = recpack_io.open(self.folder / 'shards')

    def says(self, message, call, *given, **named):
        with self.assertRaises(TypeError) as caught:
            call(*given, **named)
        self.assertEqual(str(caught.exception), message)


class Names(Arguments):
    def test_nearest_one(self):
        shards, out = self.folder / 'shards', self.folder / 'out'
        for of, call, given, name, nearest in (
                ('Loader', recpack_io.Loader, (self.dataset, 'cifar10-train'), 'batch_sise', 'batch_size'),
                ('open', recpack_io.open, (shards,), 'feilds', 'fields'),
                ('Writer', recpack_io.Writer, (out,), 'compresion', 'compression'),
                ('pack', recpack_io.pack, (CIFAR, out), 'shard_byte', 'shard_bytes'),
                ('pack', recpack_io.pack, (CIFAR, out), 'label_ofset', 'label_offset'),
                ('pack', recpack_io.pack, ([{'a': 1}], out), 'labl_offset', 'label_offset'),
                ('Image', recpack_io.Image, (), 'hight', 'height'),
                ('Image', recpack_io.recipe, ('cifar10-train',), 'lay_out', 'layout'),
                ('Numbers', recpack_io.Numbers, ('label',), 'legnth', 'length'),
                ('Bytes', recpack_io.Bytes, ('image',), 'shap', 'shape'),
                ('MultiHot', recpack_io.MultiHot, ('tags', 3), 'seperator', 'separator')):
            self.says(f'{of}() has no argument {name!r}: did you mean {nearest!r}?', call, *given,
                      **{name: 4})
        self.assertFalse(out.exists())

    def test_all_where_none_is_near(self):
        self.says("open() has no argument 'zzz': it has fields, label_offset, path, split, verify",
                  recpack_io.open, self.folder / 'shards', zzz=1)

    def test_loaders_that_pass_them_on(self):
        class Ahead(AheadLoader):
            def _send(self, core):
                return core

        class Mine(recpack_io.Loader):
            def __init__(self, *given, colour='red', **named):
                super().__init__(*given, **named)
        for kind, name, nearest in ((Ahead, 'prefetsh', 'prefetch'), (Ahead, 'aheads', 'ahead'),
                                    (Mine, 'color', 'colour')):
            needed = {'ahead': 1} if kind is Ahead else {}
            self.says(f'{kind.__name__}() has no argument {name!r}: did you mean {nearest!r}?', kind,
                      self.dataset, 'cifar10-train', **needed, **{name: 1})
        self.assertEqual(len(next(iter(Mine(self.dataset, 'cifar10-train', batch_size=8)))), 8)

    def test_signatures_stay(self):
        for call in recpack_io.Loader, recpack_io.Writer, recpack_io.open, recpack_io.pack:
            self.assertNotIn('given', inspect.signature(call).parameters, call)
        self.assertEqual(inspect.signature(recpack_io.Loader).parameters['batch_size'].default, 256)


class Kinds(Arguments):
    def test_wrong_ones(self):
        for name, value, wanted in (
                ('batch_size', '4', 'an integer'), ('seed', 0.5, 'an integer'), ('workers', None, 'an integer'),
                ('verify', 1, 'True or False'), ('max_bad_share', '1', 'a number'),
                ('order', 3, "'auto', 'global', 'window' or 'sequential', or (\"window\", BLOCK, LANES, WINDOW)"),
                ('ledger', 3, 'a string or a path')):
            self.says(f'Loader(): {name} cannot be {value!r}: give {wanted}', recpack_io.Loader,
                      self.dataset, 'cifar10-train', **{name: value})
        self.says("Loader(): rank cannot be '0': give an integer or None", recpack_io.Loader,
                  self.dataset, 'cifar10-train', rank='0', world_size=1)
        self.says('Loader(): dataset cannot be 3: give what recpack_io.open() returns, a view of it, a mixture or '
                  'a path', recpack_io.Loader, 3, 'cifar10-train')
        self.says('open(): path cannot be 3: give a path or a list of paths', recpack_io.open, 3)
        self.says("Writer(): level cannot be '6': give an integer", recpack_io.Writer, 'out', level='6')
        self.says("pack(): kind cannot be 3: give 'cifar10', 'cifar100', 'folder', 'imagenet', 'tar', "
                  "'list', 'reviews' or 'tfrecord'", recpack_io.pack, CIFAR, self.folder / 'out', kind=3)
        self.says("pack(): class_names cannot be 'cat': give a list of strings or None",
                  recpack_io.pack, [{'label': 0}], self.folder / 'out', class_names='cat')

    def test_wrong_ones_of_fields(self):
        self.says("Image(): height cannot be '4': give an integer", recpack_io.Image, height='4')
        self.says('Image(): mean cannot be 0.5: give a list of numbers', recpack_io.Image, mean=0.5)
        self.says('Image(): raw_shape cannot be [3]', recpack_io.Image, raw_shape=[3])
        self.says("Numbers(): type cannot be 4: give 'i64', 'i32' or 'f32'", recpack_io.Numbers, 'label',
                  type=4)
        self.says('Id(): name cannot be 3: give a string', recpack_io.Id, 3)
        self.says("MultiHot(): classes cannot be 'cat': give an integer or a list of strings", recpack_io.MultiHot, 'tags',
                  'cat')

    def test_wrong_ones_of_data_sets(self):
        ds, batch = self.dataset, next(iter(recpack_io.Loader(self.dataset, 'cifar10-train', batch_size=8)))
        key = 'the number of a record, a slice, or a list of numbers; open() takes the name of a split'
        self.says(f"the key of a data set cannot be 'train': give {key}", lambda: ds['train'])
        self.says(f'the key of a data set cannot be 1.5: give {key}', lambda: ds[1.5])
        self.says('the key of a record cannot be 3: give the name of a feature', lambda: ds[0][3])
        self.says('the key of a batch cannot be 3: give the name of an array', lambda: batch[3])
        self.says('the key of a batch cannot be 3: give the name of an array', batch.dlpack, 3)
        self.says("place_of(): number cannot be 'a': give an integer", ds.place_of, 'a')
        self.says("decode_image(): data cannot be 'photo.jpg': give bytes or an array of uint8", recpack_io.decode_image,
                  'photo.jpg')
        self.says("sheet(): columns cannot be '3': give an integer", ds.sheet, columns='3')
        self.says("sheet() has no argument 'colums': did you mean 'columns'?", ds.sheet, colums=3)
        self.assertNotIn(3, ds[0])
        self.assertIn('label', ds[0])

    def test_wrong_ones_of_selections(self):
        for ds in self.dataset, self.dataset.subset(range(20)):
            self.says('column(): feature cannot be 5: give a string', ds.column, 5)
            self.says('balanced(): label cannot be 5: give a string', ds.balanced, 5)
            self.says("balanced() has no argument 'lable': did you mean 'label'?", ds.balanced, lable='label')
            self.says("weighted(): epoch_samples cannot be 'a': give an integer", ds.weighted, [1] * len(ds), epoch_samples='a')
            self.says("random_split(): seed cannot be 'a': give an integer", ds.random_split, 0.9, seed='a')
            self.says("random_split(): a share cannot be 'a': give a number", ds.random_split, 'a')
            self.says('filter(): label cannot be 3.5: give integers, strings or bytes; filter(function) compares other values',
                      ds.filter, label=3.5)
            self.says('filter(): keep cannot be 3: give a function, or wanted values by feature', ds.filter, 3)
        self.says("Mixture(): a source cannot be 'a': give what recpack_io.open() returns or a view of it",
                  recpack_io.Mixture, [('a', 1)])
        self.says("Mixture(): a weight cannot be 'a': give a number", recpack_io.Mixture, [(self.dataset, 'a')])
        self.assertEqual(len(self.dataset.filter(label=np.array([3, 5]))), len(self.dataset.filter(label={3, np.uint8(5)})))

    def test_right_ones(self):
        """What NumPy computes, and what looks like a path or a list."""
        loader = recpack_io.Loader(self.dataset, 'cifar10-train', batch_size=np.int32(8),
                                   max_bad_share=np.float32(0.5),
                                   seed=np.uint64(3), ledger=self.folder / 'ledger')
        self.assertEqual(len(next(iter(loader))), 8)
        fields = (each for each in recpack_io.recipe('cifar10-eval', mean=np.array([1, 2, 3]), flip=0))
        recpack_io.Loader(self.dataset, fields=fields, batch_size=8, max_bad_share=1)
        recpack_io.pack([{'label': 0}], self.folder / 'out', class_names=np.array(['cat']))
        recpack_io.open([self.folder / 'out'], fields={'label': 'label'})

    def test_long_values_are_cut(self):
        with self.assertRaises(TypeError) as caught:
            check_kind('call', 'it', list(range(10**5)), 'int')
        self.assertLess(len(str(caught.exception)), 100)

    def test_other_annotations_are_not_checked(self):
        for annotation in 'Callable[..., Any] | None', 'tuple[int, int]', inspect.Parameter.empty, int:
            check_kind('call', 'it', object(), annotation)

    def test_own_annotation_comes_first(self):
        """A subclass may take another kind, or does not say which."""
        class Base:
            @checks_arguments()
            def __init__(self, it: 'int'):
                self.it = it

        class Other(Base):
            def __init__(self, it):
                super().__init__(it)
        self.says("Other(): it cannot be '3': give an integer", Other, '3')
        self.assertEqual(Other(3).it, 3)


class Types(Arguments):
    def test_options_are_the_loaders(self):
        signature = inspect.signature(recpack_io.Loader).parameters
        mine = {name: each.annotation for name, each in signature.items()
                if name not in ('dataset', 'recipe', 'batch_type', 'device')}
        typed = {name: each.__forward_arg__ for name, each in options.LoaderOptions.__annotations__.items()}
        self.assertEqual(typed, mine)

    def test_options_are_those_of_fields(self):
        for field, typed in ((recpack_io.Image(), options.ImageOptions),
                             (recpack_io.Numbers('label'), options.NumbersOptions),
                             (recpack_io.Bytes('image'), options.BytesOptions),
                             (recpack_io.MultiHot('tags', 3), options.MultiHotOptions),
                             (recpack_io.Audio(length=9), options.AudioOptions)):
            needed = inspect.signature(getattr(recpack_io, type(field).__name__.removesuffix('Field'))).parameters
            named = {name for name, each in needed.items() if each.kind != each.VAR_KEYWORD}
            self.assertEqual(named - {'then', 'given', 'result', 'stream'} | {*typed.__annotations__}, names_of(field))

    def test_choices_are_the_cores(self):
        """The core's messages list what there is."""
        for choice, call in (
                (options.Crop, lambda word: recpack_io.Image(crop=word)),
                (options.ImageType, lambda word: recpack_io.Image(type=word)),
                (options.ImageLayout, lambda word: recpack_io.Image(layout=word)),
                (options.Interpolation, lambda word: recpack_io.Image(interpolation=word)),
                (options.Policy, lambda word: recpack_io.Image(policy=word)),
                (options.NumbersType, lambda word: recpack_io.Numbers('label', type=word)),
                (options.AudioCrop, lambda word: recpack_io.Audio(length=9, crop=word)),
                (options.MultiHotType, lambda word: recpack_io.MultiHot('tags', 3, type=word)),
                (options.Share, lambda word: self.loader(share=word)),
                (options.LastBatch, lambda word: self.loader(last_batch=word)),
                (options.Cache, lambda word: self.loader(cache=word)),
                (options.OnBadRecord, lambda word: self.loader(on_bad_record=word))):
            with self.assertRaises(recpack_io.InvalidArgumentError) as caught:
                call('nothing')
            listed = re.search('choose one of (.*)', str(caught.exception))[1]
            self.assertEqual(list(get_args(choice)), listed.split(', '))
            for word in set(get_args(choice)) - {'pictures'}:  # which needs other records
                call(word)

    def test_other_choices(self):
        for word in get_args(options.OrderName):
            self.loader(order=word)
        for word in get_args(options.Compression):
            recpack_io.Writer(self.folder / word, compression=word).close()
        for word in get_args(options.Given):
            recpack_io.Image(then=str, given=word, result=('uint8', 3))
        unknown = self.folder / 'unknown'
        unknown.write_bytes(b'\0' * 100)
        with self.assertRaises(recpack_io.InvalidArgumentError) as caught:
            recpack_io.pack(unknown, self.folder / 'out')
        listed = re.search('kind: (.*)', str(caught.exception))[1].split(', ')
        self.assertEqual(['', *listed], list(get_args(options.SourceKind)))
        for option, choice in ('layout', options.FolderLayout), ('jpeg', options.Jpeg):
            with self.assertRaises(recpack_io.InvalidArgumentError) as caught:
                recpack_io.pack(unknown, self.folder / 'out', **{option: 'nothing'})
            listed = re.search('choose (.*), or leave', str(caught.exception))[1].split(' or ')
            self.assertEqual(['', *listed], list(get_args(choice)))

    def test_every_choice_is_tested_here(self):
        choices = [name for name, each in vars(options).items() if get_origin(each) is Literal]
        with open(__file__, encoding='utf-8') as file:
            text = file.read()
        self.assertEqual([name for name in choices if f'options.{name}' not in text], [])

    def loader(self, **named):
        return recpack_io.Loader(self.dataset, 'cifar10-train', batch_size=8, **named)


if __name__ == '__main__':
    main()
