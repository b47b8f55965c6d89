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


def work(dispatcher_target):
    import tensorflow as tf
    service = tf.data.experimental.service
    dispatcher = service.DispatchServer()
    worker = service.WorkerServer(service.WorkerConfig(dispatcher.target.split('://')[1]))
    dispatcher_target.send(dispatcher.target)
    worker.join()


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
    from peer_tensorflow_loader import photos
    files = sorted(str(path) for path in pathlib.Path(shards).glob('train-*.tfrecord'))
    dataset = photos(files, int(batch), floats=kind != 'u8', antialias=True)
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
