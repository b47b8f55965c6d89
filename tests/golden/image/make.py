#!/usr/bin/env python3
"""Makes the samples of this folder: make.py ORIGINALS

ORIGINALS is a folder that holds the ImageNet files named below, anywhere under it. Needs Pillow, tifffile,
numpy and libjpeg-turbo's cjpeg and jpegtran. The results are committed; the tests need none of it.
"""
import io
import pathlib
import shutil
import struct
import subprocess
import sys
import zlib

import numpy as np
import tifffile
from PIL import Image, ImageOps

HERE = pathlib.Path(__file__).parent
REAL = {
    "real_420.jpg": "n01871265_tusker.JPEG",
    "real_420b.jpg": "n03796401_moving_van.JPEG",
    "real_gray.jpg": "n03804744_nail.JPEG",
    "real_444.jpg": "n02091467_Norwegian_elkhound.JPEG",
    "real_422.jpg": "n02865351_bolo_tie.JPEG",
    "real_icc.jpg": "n04560804_water_jug.JPEG",
}


def run(*args, data=None):
    return subprocess.run(args, input=data, stdout=subprocess.PIPE, check=True).stdout


def ppm(image):
    out = io.BytesIO()
    image.save(out, "PPM")
    return out.getvalue()


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(pixels, depth, colour_type, interlaced=False, extra=b""):
    """A PNG written by hand, for what Pillow does not write: 16-bit colour and Adam7."""
    height, width = pixels.shape[:2]
    passes = [(0, 0, 1, 1)]
    if interlaced:
        passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4),
                  (1, 0, 2, 2), (0, 1, 1, 2)]
    raw = b""
    for x, y, dx, dy in passes:
        for row in pixels[y::dy, x::dx]:
            if row.size:
                raw += b"\0" + row.astype(">u2" if depth == 16 else "u1").tobytes()
    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra +
            chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


def expect(name, image):
    image.save(HERE / f"{name}.expected.png", optimize=True)


def make_jpegs():
    rgb = Image.open(HERE / "real_420b.jpg").convert("RGB")
    tusker = Image.open(HERE / "real_420.jpg").convert("RGB")
    (HERE / "progressive.jpg").write_bytes(run("cjpeg", "-progressive", "-quality", "70", data=ppm(rgb)))
    (HERE / "progressive_gray.jpg").write_bytes(
        run("cjpeg", "-progressive", "-grayscale", "-quality", "70", data=ppm(rgb)))
    for name, factors in {"411": "4x1", "440": "1x2", "gray_2x2": None, "410": "4x2",
                          "mixed": "2x2,1x2,2x1"}.items():
        how = ["-sample", factors] if factors else ["-grayscale", "-sample", "2x2"]
        (HERE / f"sampled_{name}.jpg").write_bytes(
            run("cjpeg", *how, "-quality", "60", data=ppm(rgb)))
    (HERE / "arithmetic.jpg").write_bytes(run("cjpeg", "-arithmetic", "-quality", "60", data=ppm(tusker)))
    scans = HERE / "scans.txt"
    scans.write_text("0;\n1;\n2;\n")
    (HERE / "scans.jpg").write_bytes(
        run("cjpeg", "-scans", str(scans), "-quality", "60", "-restart", "3B", data=ppm(rgb)))
    # Only DC and two AC of each: a decoder smooths what is missing.
    scans.write_text("0,1,2: 0-0, 0, 0;\n0: 1-2, 0, 0;\n")
    (HERE / "incomplete.jpg").write_bytes(
        run("cjpeg", "-scans", str(scans), "-quality", "60", data=ppm(tusker)))
    scans.unlink()
    (HERE / "coarse.jpg").write_bytes(run("cjpeg", "-quality", "1", data=ppm(rgb)))
    (HERE / "prime.jpg").write_bytes(  # 31 MCUs a row
        run("cjpeg", "-quality", "40", "-sample", "1x1", data=ppm(rgb.resize((243, 50)))))
    cmyk = rgb.crop((0, 0, 90, 70)).convert("CMYK")
    key = np.minimum.reduce(list(np.array(cmyk)[..., :3].transpose(2, 0, 1))) // 2
    parts = np.array(cmyk)
    parts[..., 3] = key
    Image.fromarray(parts, "CMYK").save(HERE / "cmyk.jpg", quality=80)
    picture = np.array(tusker.crop((10, 10, 34, 26)))
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        Image.fromarray(picture).save(HERE / f"orientation{orientation}.jpg", quality=90, exif=exif)
        with Image.open(HERE / f"orientation{orientation}.jpg") as image:
            expect(f"orientation{orientation}", ImageOps.exif_transpose(image))
    for name in ["real_420", "real_gray", "cmyk", "sampled_411", "progressive"]:
        expect(name, Image.open(HERE / f"{name}.jpg").convert("RGB"))


def make_pngs():
    rgb = Image.open(HERE / "real_420.jpg").convert("RGB").crop((8, 8, 48, 40))
    pixels = np.array(rgb)
    alpha = np.linspace(0, 255, pixels.shape[0] * pixels.shape[1]).astype("u1").reshape(pixels.shape[:2])
    with_alpha = Image.fromarray(np.dstack([pixels, alpha]))
    palette = rgb.quantize(13)
    rgb.save(HERE / "rgb.png")
    with_alpha.save(HERE / "rgba.png")
    with_alpha.convert("LA").save(HERE / "la.png")
    rgb.convert("L").save(HERE / "gray.png")
    rgb.convert("1").save(HERE / "bit.png")
    palette.save(HERE / "palette.png", bits=4)
    palette.save(HERE / "palette_clear.png", transparency=3)
    (HERE / "adam7.png").write_bytes(png(pixels, 8, 2, interlaced=True))
    wide = pixels.astype("u4") * 257 + 77  # what scaling to 8 bits rounds
    wide = np.minimum(wide, 65535)
    (HERE / "rgb16.png").write_bytes(png(wide, 16, 2))
    (HERE / "gray16.png").write_bytes(png(wide[..., 0], 16, 0))
    exif = Image.Exif()
    exif[0x0112] = 6
    rgb.save(HERE / "exif6.png", exif=exif)
    for name in ["rgb", "rgba", "la", "gray", "bit", "palette", "palette_clear", "adam7"]:
        expect(f"png_{name}", Image.open(HERE / f"{name}.png").convert("RGB"))
    narrowed = ((wide * 255 + 32767) // 65535).astype("u1")
    expect("png_rgb16", Image.fromarray(narrowed))
    expect("png_gray16", Image.fromarray(narrowed[..., 0]).convert("RGB"))


def make_resized():
    image = Image.open(HERE / "real_420b.jpg").convert("RGB").crop((0, 0, 101, 67))
    image.save(HERE / "resize.png", optimize=True)
    for width, height in [(50, 33), (13, 9), (101, 20), (7, 67), (160, 90), (1, 1)]:
        expect(f"resize_{width}x{height}", image.resize((width, height), Image.BILINEAR))
    gray = image.convert("L")
    gray.save(HERE / "resize_gray.png", optimize=True)
    expect("resize_gray_40x30", gray.resize((40, 30), Image.BILINEAR))


def make_others():
    image = Image.open(HERE / "real_420.jpg").convert("RGB").resize((20, 11))
    image.save(HERE / "small.gif")
    image.save(HERE / "small.bmp")
    image.save(HERE / "lossy.webp", quality=10)
    image.save(HERE / "lossless.webp", lossless=True)
    image.convert("RGBA").save(HERE / "extended.webp", quality=10, exif=b"Exif\0\0MM\0*\0\0\0\x08\0\0")


def make_webps():
    photo = Image.open(HERE / "real_420.jpg").convert("RGB").resize((61, 45))
    photo.save(HERE / "photo.webp", quality=80)
    rgba = photo.copy()
    rgba.putalpha(Image.linear_gradient("L").resize(photo.size))
    rgba.save(HERE / "alpha.webp", quality=80)
    exif = Image.Exif()
    exif[0x0112] = 6
    photo.save(HERE / "exif6.webp", quality=80, exif=exif)
    photo.save(HERE / "animated.webp", save_all=True, append_images=[photo.transpose(Image.FLIP_LEFT_RIGHT)])
    for name in "photo", "alpha", "lossless":
        expect(f"webp_{name}", Image.open(HERE / f"{name}.webp").convert("RGB"))


def make_avifs():
    photo = Image.open(HERE / "real_420.jpg").convert("RGB").resize((61, 45))
    rgba = photo.copy()
    rgba.putalpha(Image.linear_gradient("L").resize(photo.size))
    photo.save(HERE / "photo.avif", quality=80)
    photo.save(HERE / "full.avif", quality=90, subsampling="4:4:4")
    photo.convert("L").save(HERE / "gray.avif", quality=80, subsampling="4:0:0")
    rgba.save(HERE / "alpha.avif", quality=80)
    photo.save(HERE / "animated.avif", save_all=True, append_images=[photo.transpose(Image.FLIP_LEFT_RIGHT)])
    for orientation in range(2, 9):  # as "irot" and "imir"
        exif = Image.Exif()
        exif[0x0112] = orientation
        photo.resize((16, 12)).save(HERE / f"orientation{orientation}.avif", quality=60, exif=exif)
    for name in "photo", "full", "gray", "alpha":
        expect(f"avif_{name}", Image.open(HERE / f"{name}.avif").convert("RGB"))


def make_tiffs():
    photo = Image.open(HERE / "real_420.jpg").convert("RGB").resize((61, 45))
    rgba = photo.copy()
    rgba.putalpha(Image.linear_gradient("L").resize(photo.size))
    palette = photo.quantize(200)
    photo.save(HERE / "raw.tif")
    photo.save(HERE / "lzw.tif", compression="tiff_lzw")
    photo.save(HERE / "zlib.tif", compression="tiff_adobe_deflate", tiffinfo={317: 2})
    photo.save(HERE / "jpeg.tif", compression="jpeg", quality=90)
    photo.convert("CMYK").save(HERE / "cmyk.tif", compression="tiff_lzw")
    photo.convert("L").save(HERE / "gray.tif", compression="packbits")
    photo.convert("1").save(HERE / "bit.tif", compression="group4")
    palette.save(HERE / "palette.tif")
    rgba.save(HERE / "rgba.tif", compression="tiff_lzw")
    photo.save(HERE / "orientation6.tif", tiffinfo={274: 6})
    tifffile.imwrite(HERE / "tiles.tif", np.asarray(photo), tile=(16, 32), photometric="rgb")
    tifffile.imwrite(HERE / "planes.tif", np.moveaxis(np.asarray(photo), -1, 0), planarconfig="separate", photometric="rgb")
    tifffile.imwrite(HERE / "big.tif", np.asarray(photo), bigtiff=True, photometric="rgb", byteorder=">")
    tifffile.imwrite(HERE / "white.tif", np.asarray(photo.convert("L")), photometric="miniswhite")
    tifffile.imwrite(HERE / "floats.tif", np.asarray(photo.convert("L")).astype(np.float32), photometric="minisblack")
    wide = np.minimum(np.asarray(photo).astype("u4") * 257 + 77, 65535).astype("u2")  # what scaling to 8 bits rounds
    tifffile.imwrite(HERE / "rgb16.tif", wide, photometric="rgb")
    tifffile.imwrite(HERE / "gray16.tif", wide[..., 0], photometric="minisblack", byteorder=">")
    for name in "raw lzw zlib jpeg cmyk gray bit palette tiles white".split():
        expect(f"tiff_{name}", Image.open(HERE / f"{name}.tif").convert("RGB"))
    for name in "planes", "big", "orientation6":
        expect(f"tiff_{name}", photo)
    expect("tiff_rgba", photo)  # alpha is dropped
    narrowed = ((wide.astype("u4") * 255 + 32767) // 65535).astype("u1")
    expect("tiff_rgb16", Image.fromarray(narrowed))
    expect("tiff_gray16", Image.fromarray(narrowed[..., 0]).convert("RGB"))


def bmp(width, height, bits, rows, compression=0, extra=b""):
    """A file of rows as they are stored: from the bottom, or from the top if the height is negative."""
    pixels = b"".join(row + bytes(-len(row) % 4) for row in rows)
    at = 54 + len(extra)
    info = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, len(pixels), 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", at + len(pixels), 0, 0, at) + info + extra + pixels


def make_bmps():
    photo = Image.open(HERE / "real_420.jpg").convert("RGB").resize((21, 13))
    photo.save(HERE / "rgb.bmp")
    photo.convert("L").save(HERE / "gray.bmp")
    photo.quantize(200).save(HERE / "palette.bmp")
    photo.convert("1").save(HERE / "bit.bmp")
    pixels = np.asarray(photo).astype(np.uint32)
    red, green, blue = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    five = (red >> 3 << 10 | green >> 3 << 5 | blue >> 3).astype("<u2")
    (HERE / "rgb555.bmp").write_bytes(bmp(21, 13, 16, [row.tobytes() for row in five[::-1]]))
    six = (red >> 3 << 11 | green >> 2 << 5 | blue >> 3).astype("<u2")
    masks = struct.pack("<III", 0xF800, 0x7E0, 0x1F)
    (HERE / "rgb565.bmp").write_bytes(bmp(21, 13, 16, [row.tobytes() for row in six[::-1]], 3, masks))
    whole = (red << 16 | green << 8 | blue | 0x55000000).astype("<u4")
    (HERE / "from_top32.bmp").write_bytes(bmp(21, -13, 32, [row.tobytes() for row in whole]))
    nibbles = Image.fromarray((np.asarray(photo.convert("L")) >> 4).astype(np.uint8))
    packed = [bytes(a << 4 | b for a, b in zip(row[::2], [*row[1::2], 0])) for row in np.asarray(nibbles).tolist()]
    palette = b"".join(bytes((16 * i, 255 - 16 * i, 128, 0)) for i in range(16))
    (HERE / "nibbles.bmp").write_bytes(bmp(21, 13, 4, packed[::-1], extra=palette))
    for path in sorted(HERE.glob("*.bmp")):
        if path.name != "small.bmp":
            expect(f"bmp_{path.stem}", Image.open(path).convert("RGB"))


def make_gifs():
    photo = Image.open(HERE / "real_420.jpg").convert("RGB").resize((61, 45))
    photo.quantize(200).save(HERE / "palette.gif", interlace=False)
    photo.quantize(256).save(HERE / "interlaced.gif", interlace=True)
    photo.convert("L").save(HERE / "gray.gif")
    photo.convert("1").save(HERE / "bit.gif")
    photo.save(HERE / "animated.gif", save_all=True, append_images=[photo.transpose(Image.FLIP_LEFT_RIGHT)])
    part = (HERE / "palette.gif").read_bytes()
    at = part.index(b",\0\0\0\0")  # the first image, which then begins at 5, 9: beyond the screen, and not from its corner
    (HERE / "shifted.gif").write_bytes(part[:at] + struct.pack("<BHH", 0x2C, 5, 9) + part[at + 5:])
    for path in sorted(HERE.glob("*.gif")):
        expect(f"gif_{path.stem}", Image.open(path).convert("RGB"))


def main():
    originals = {path.name: path for path in pathlib.Path(sys.argv[1]).rglob("*.JPEG")}
    for name, original in REAL.items():
        shutil.copyfile(originals[original], HERE / name)
    make_jpegs()
    make_pngs()
    make_resized()
    make_others()
    make_webps()
    make_bmps()
    make_gifs()
    make_avifs()
    make_tiffs()


if __name__ == "__main__":
    main()
