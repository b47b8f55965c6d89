"""A user's faults, for `mypy --strict` on the wheel: check_faults.py compares its errors with the marks.

A mark is a comment `error:` with words of the message. It stands where a statement begins.
"""
import recpack_io
import recpack_io.jax
import recpack_io.torch
import recpack_io.tensorflow
from recpack_io.options import LoaderOptions

dataset = recpack_io.open('shards')

# Names.
recpack_io.Loader(dataset, 'cifar10-train', batch_sise=4)  # error: "batch_sise" for "Loader"
recpack_io.jax.Loader(dataset, 'cifar10-train', batch_sise=4)  # error: "batch_sise" for "Loader"
recpack_io.jax.Loader(dataset, 'cifar10-train', batch_size=4, ahead=2, device=None)
recpack_io.tensorflow.Loader(dataset, 'cifar10-train', batch_sise=4)  # error: "batch_sise" for "Loader"
recpack_io.tensorflow.Loader(dataset, 'cifar10-train', batch_size=4)
recpack_io.open('shards', feilds='image=jpg')  # error: "feilds" for "open"
recpack_io.pack('pictures', 'shards', shard=4)  # error: "shard" for "pack"
recpack_io.Writer('part.tfrecord', compresion='gzip')  # error: "compresion" for "Writer"
recpack_io.Image(hight=128)  # error: hight
recpack_io.Numbers('label', legnth=2)  # error: "legnth" for "Numbers"
recpack_io.Bytes('image', shap=[3])  # error: "shap" for "Bytes"
recpack_io.MultiHot('tags', ['cat', 'dog'], seperator='|')  # error: "seperator" for "MultiHot"
recpack_io.Audio(length=16000, crops='random')  # error: crops
recpack_io.recipe('imagenet-train', hight=128)  # error: "hight" for "recipe"

# Choices.
recpack_io.Loader(dataset, 'cifar10-train', order='windows')  # error: "order" to "Loader"
recpack_io.Loader(dataset, 'cifar10-train', last_batch='pads')  # error: "last_batch" to "Loader"
recpack_io.Loader(dataset, 'cifar10-train', cache='record')  # error: "cache" to "Loader"
recpack_io.jax.Loader(dataset, 'cifar10-train', order='windows')  # error: "order" to "Loader"
recpack_io.torch.Loader(dataset, 'cifar10-train', batch_sise=4)  # error: "batch_sise" for overloaded function "Loader"
recpack_io.torch.Loader(dataset, 'cifar10-train', batch_size=4, as_tuple=True)
for batch in recpack_io.torch.Loader(dataset, 'cifar10-train', pin_memory=True):
    batch.epoch.shape  # error: "int" has no attribute "shape"
recpack_io.pack('pictures', 'shards', kind='zip')  # error: "kind" to "pack"
recpack_io.pack('pictures', 'shards', layout='rows')  # error: "layout" to "pack"
recpack_io.Writer('part.tfrecord', compression='zstd')  # error: "compression" to "Writer"
recpack_io.Numbers('label', type='f16')  # error: "type" to "Numbers"
recpack_io.MultiHot('tags', 3, type='i64')  # error: "type" to "MultiHot"
recpack_io.Audio(length=16000, crop='middle')  # error: variant of "Audio"
recpack_io.recipe('imagenet-train', layout='hwcn')  # error: "layout" to "recipe"
options: LoaderOptions = {'order': 'window', 'batch_size': '4'}  # error: "batch_size" has type "int"

# Kinds.
recpack_io.Loader(dataset, 'cifar10-train', batch_size='4')  # error: "batch_size" to "Loader"
recpack_io.Loader(3, 'cifar10-train')  # error: expected "Dataset | View | Mixture | str
recpack_io.pack('pictures', 'shards', threads='all')  # error: "threads" to "pack"
