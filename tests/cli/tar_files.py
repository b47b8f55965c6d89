"""Writes tar archives for tests."""
import io
import tarfile


def write_tar(path, members):
    """Writes an archive of (name, content) pairs, compressed if the path ends with gz; returns the path."""
    with tarfile.open(path, 'w:gz' if str(path).endswith('gz') else 'w') as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path
