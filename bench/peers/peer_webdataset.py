"""WebDataset: tar shards."""
import webdataset

from common import Job, cifar_rows, image_files, main, tree_bytes, version_of


def write(out, samples, field: str, **limits) -> int:
    count = 0
    with webdataset.ShardWriter(str(out / '%05d.tar'), maxcount=15_000, verbose=0, **limits) as writer:
        for image, label in samples:
            writer.write({'__key__': f'{count:08d}', field: image, 'cls': label})
            count += 1
    return count


def pack(context, name: str, samples, field: str) -> Job:
    def run():
        out = context.fresh(name)
        return write(out, samples(context), field), tree_bytes(out)
    return Job(run, 'ShardWriter')


def read_cifar(context) -> Job:
    out = context.made('webdataset-cifar')
    files, size = sorted(str(p) for p in out.glob('*.tar')), tree_bytes(out)

    def run():
        return sum(1 for _ in webdataset.WebDataset(files, shardshuffle=False)), size
    return Job(run, 'WebDataset, one process')


if __name__ == '__main__':
    main('webdataset', version_of('webdataset'), {
        'pack-cifar': lambda context: pack(context, 'webdataset-cifar', cifar_rows, 'bin'),
        'pack-files': lambda context: pack(context, 'webdataset-files', image_files, 'jpg'),
        'read-cifar': read_cifar})
