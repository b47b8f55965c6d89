"""Photos from tf.data: in this process, or from the tf.data service of this machine.

    python bench/feed/tensorflow_service.py local|service SHARDS TYPE BATCH SECONDS    prints {"images", "seconds", "config"}
"""
import json
import multiprocessing
import os
import pathlib
import sys
import time

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'peers'))

SIDE = 224


def work(dispatcher_target):
    import tensorflow as tf
    service = tf.data.experimental.service
    dispatcher = service.DispatchServer()
    worker = service.WorkerServer(service.WorkerConfig(dispatcher.target.split('://')[1]))
    dispatcher_target.send(dispatcher.target)
    worker.join()


def decoded(shards, kind, batch):
    import tensorflow as tf
    from peer_tensorflow_loader import PHOTO
    from recipes import AREA, ASPECT, IMAGENET_MEAN, IMAGENET_STD

    def decode(record):
        example = tf.io.parse_single_example(record, PHOTO)
        jpeg = example['image/encoded']
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            tf.io.extract_jpeg_shape(jpeg), tf.zeros([1, 0, 4]), min_object_covered=0.0, aspect_ratio_range=ASPECT,
            area_range=AREA, max_attempts=10, use_image_if_no_bounding_boxes=True)
        y, x, _ = tf.unstack(begin)
        height, width, _ = tf.unstack(size)
        image = tf.image.decode_and_crop_jpeg(jpeg, tf.stack([y, x, height, width]), 3, dct_method='INTEGER_ACCURATE')
        image = tf.image.random_flip_left_right(tf.image.resize(image, [SIDE, SIDE], antialias=True))
        if kind == 'u8':
            return tf.cast(image, tf.uint8), example['image/class/label']
        return (image - IMAGENET_MEAN) * (1 / tf.constant(IMAGENET_STD)), example['image/class/label']
    files = sorted(str(path) for path in pathlib.Path(shards).glob('train-*.tfrecord'))
    options = tf.data.Options()
    options.deterministic = False
    return tf.data.TFRecordDataset(files * 10_000, num_parallel_reads=2).shuffle(1000).map(
        decode, num_parallel_calls=tf.data.AUTOTUNE).batch(batch).with_options(options)


def main():
    how, shards, kind, batch, seconds = sys.argv[1:]
    config = 'shuffle(1000), AUTOTUNE'
    target = process = None
    if how == 'service':  # its process begins before TensorFlow's threads
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context('spawn').Process(target=work, args=(theirs,), daemon=True)
        process.start()
        target = ours.recv()
        config += ', one worker, processing mode OFF'
    import tensorflow as tf
    dataset = decoded(shards, kind, int(batch))
    if target:
        service = tf.data.experimental.service
        dataset = dataset.apply(service.distribute(service.ShardingPolicy.OFF, target))
    endless = iter(dataset.prefetch(tf.data.AUTOTUNE))
    for _ in range(6):
        next(endless)
    begin, images = time.monotonic(), 0
    while time.monotonic() - begin < float(seconds):
        images += int(next(endless)[1].shape[0])
    print(json.dumps({'images': images, 'seconds': time.monotonic() - begin, 'config': config}), flush=True)
    if process:
        process.kill()  # the service has no other end
    os._exit(0)


if __name__ == '__main__':
    main()
