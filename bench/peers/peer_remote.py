"""Reads objects of an S3 store, in requests of 8 MiB, by libraries of others.

    peer_remote.py obstore|s3torchconnector|s3fs BUCKET KEY:SIZE... --rounds N

Store and credentials are those of the environment (AWS_ENDPOINT_URL ...). Prints a line of JSON for each
round, after one that is not counted: seconds, cpu_seconds (of this process, imports not included), bytes.
The bytes are there and are not looked at: none of the three checks them.
"""
import argparse
import asyncio
import importlib.metadata
import json
import os
import resource
import time

PART = 8 << 20
AT_ONCE = 16


def ranges(objects):
    """(key, begin, end) of each part."""
    for key, size in objects:
        for begin in range(0, size, PART):
            yield key, begin, min(begin + PART, size)


def with_obstore(bucket, objects):
    import obstore
    store = obstore.store.S3Store(
        bucket, endpoint=os.environ['AWS_ENDPOINT_URL'], region=os.environ['AWS_REGION'],
        access_key_id=os.environ['AWS_ACCESS_KEY_ID'], secret_access_key=os.environ['AWS_SECRET_ACCESS_KEY'],
        virtual_hosted_style_request=False, client_options={'allow_http': True})

    async def fetch(room, key, begin, end):
        async with room:
            return len(await obstore.get_range_async(store, key, start=begin, end=end))

    async def run():
        room = asyncio.Semaphore(AT_ONCE)
        return sum(await asyncio.gather(*(fetch(room, *part) for part in ranges(objects))))
    return lambda: asyncio.run(run()), f'get_range_async, {AT_ONCE} ranges of 8 MiB at once'


def with_s3torchconnector(bucket, objects):
    from s3torchconnector import S3ClientConfig, S3IterableDataset
    config = S3ClientConfig(force_path_style=True, part_size=PART)
    uris = [f's3://{bucket}/{key}' for key, _ in objects]

    def run():
        data = S3IterableDataset.from_objects(uris, region=os.environ['AWS_REGION'],
                                              endpoint=os.environ['AWS_ENDPOINT_URL'], s3client_config=config)
        total = 0
        for reader in data:
            while piece := reader.read(PART):
                total += len(piece)
        return total
    return run, 'S3IterableDataset, sequential reader, parts of 8 MiB'


def with_s3fs(bucket, objects):
    import s3fs
    files = s3fs.S3FileSystem(endpoint_url=os.environ['AWS_ENDPOINT_URL'], skip_instance_cache=True,
                              config_kwargs={'s3': {'addressing_style': 'path'}})

    def run():
        total, some = 0, []
        for part in [*ranges(objects), None]:
            if part:
                some.append(part)
            if some and (part is None or len(some) == AT_ONCE):
                keys, begins, ends = zip(*some)
                total += sum(map(len, files.cat_ranges([f'{bucket}/{key}' for key in keys], begins, ends)))
                some = []
        return total
    return run, f'cat_ranges, {AT_ONCE} ranges of 8 MiB at once'


READERS = {'obstore': with_obstore, 's3torchconnector': with_s3torchconnector, 's3fs': with_s3fs}


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('reader', choices=READERS)
    parser.add_argument('bucket')
    parser.add_argument('objects', nargs='+', help='KEY:SIZE')
    parser.add_argument('--rounds', type=int, default=1)
    options = parser.parse_args()
    objects = [(key, int(size)) for key, _, size in (text.rpartition(':') for text in options.objects)]
    run, config = READERS[options.reader](options.bucket, objects)
    for number in range(-1, options.rounds):
        began, cpu = time.perf_counter(), cpu_seconds()
        got = run()
        row = {'seconds': time.perf_counter() - began, 'cpu_seconds': cpu_seconds() - cpu, 'bytes': got}
        if got != sum(size for _, size in objects):
            raise SystemExit(f'{options.reader}: {got} bytes came')
        if number >= 0:
            print(json.dumps(row | {'version': importlib.metadata.version(options.reader), 'config': config,
                                    'peak_mb': resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}), flush=True)
    os._exit(0)  # obstore's threads abort in an ordinary exit, now and then


if __name__ == '__main__':
    main()
