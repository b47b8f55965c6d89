#include "tools/rectrain/picture.h"

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/image/decode.h"
#include "recpack/image/resize.h"

namespace recpack::tool {
namespace {

Image Decoded(const std::string& path) {
  const ByteBuffer bytes = ReadWholeFile(PosixFiles(), path);
  try {
    return DecodeImage(bytes, {.apply_orientation = true});
  } catch (const Error& error) {
    throw Error(
        error.kind(), error.reason(), {.path = path},
        error.advice().empty() ? "give a JPEG, PNG, WebP, AVIF, TIFF, BMP or GIF" : error.advice());
  }
}

}  // namespace

Image ReadPicture(const std::string& path, int size) {
  const Image whole = Decoded(path);
  const ImageSize seen = {whole.width, whole.height};
  const ImageSize resized = ScaleShorterSide(seen, size);
  Image part;
  part.Reshape(size, size, whole.channels);
  Resizer().Resize(
      ToView(whole), {0, 0, whole.width, whole.height},
      {seen, resized, {(resized.width - size) / 2, (resized.height - size) / 2, size, size}},
      ResizeFilter::kBilinear, ToSpan(part));
  return part;
}

}  // namespace recpack::tool
