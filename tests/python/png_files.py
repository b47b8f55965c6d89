"""PNG files by the standard library, for environments without Pillow."""
import zlib


def png(pixels):
    """A PNG of bytes: (height, width) of grey or (height, width, 3) of RGB."""
    def chunk(name, data):
        return len(data).to_bytes(4, 'big') + name + data + zlib.crc32(name + data).to_bytes(4, 'big')
    height, width = pixels.shape[:2]
    rows = b''.join(b'\0' + row.tobytes() for row in pixels)
    header = width.to_bytes(4, 'big') + height.to_bytes(4, 'big') + bytes((8, 2 if pixels.ndim == 3 else 0, 0, 0, 0))
    return b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header) + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b'')
