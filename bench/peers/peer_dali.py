"""NVIDIA DALI, CPU pipelines, on TFRecord with the index that its reader asks for. No CRC check."""
import os
import struct

from nvidia.dali import fn, pipeline_def
import nvidia.dali.tfrecord as tfrecord

from common import Job, main, version_of


def write_index(shard: str, path: str) -> int:
    """DALI's text index: a line 'offset bytes' for each frame. Returns the number of records."""
    count, offset, end = 0, 0, os.path.getsize(shard)
    with open(shard, 'rb') as file, open(path, 'w', encoding='ascii') as out:
        while offset < end:
            file.seek(offset)
            frame = struct.unpack('<Q', file.read(8))[0] + 16
            out.write(f'{offset} {frame}\n')
            offset += frame
            count += 1
    return count


def batches(context, kind: str, batch: int, parse: bool) -> Job:
    files = context.shards(kind)
    out = context.fresh(f'dali-index-{kind}')
    indexes = [str(out / f'{i}.idx') for i in range(len(files))]
    records = sum(write_index(*pair) for pair in zip(files, indexes))
    size = sum(os.path.getsize(name) for name in files)
    features = {'image': tfrecord.FixedLenFeature((), tfrecord.string, ''),
                'label': tfrecord.FixedLenFeature([1], tfrecord.int64, -1)}

    @pipeline_def(batch_size=batch, num_threads=context.threads, device_id=None,
                  prefetch_queue_depth=2)
    def pipeline():
        row = fn.readers.tfrecord(path=files, index_path=indexes, features=features,
                                  pad_last_batch=False, prefetch_queue_depth=2)
        image = row['image']
        return fn.reshape(image, shape=[3, 32, 32], layout='CHW') if parse else image, row['label']
    running = pipeline()
    running.build()

    def run():
        for _ in range(records // batch):
            running.run()
        count = records // batch * batch
        return count, size * count // records
    return Job(run, f'readers.tfrecord, {context.threads} threads, batch {batch}, no CRC check')


if __name__ == '__main__':
    main('dali', version_of('nvidia-dali-cuda120'), {
        'read-cifar': lambda context: batches(context, 'cifar', 512, False),
        'read-photo': lambda context: batches(context, 'photo', 128, False),
        'parse-cifar': lambda context: batches(context, 'cifar', 512, True)})
