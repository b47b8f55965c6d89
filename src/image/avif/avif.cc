#include "src/image/avif/avif.h"

#include <memory>
#include <string>
#include <utility>

#include "recpack/base/error.h"
#include "src/image/avif/avif_library.h"
#include "src/image/checks.h"

namespace recpack {
namespace {

void Check(const AvifLibrary& avif, avifResult result) {
  if (result == AVIF_RESULT_OK) return;
  if (result == AVIF_RESULT_OUT_OF_MEMORY) throw std::bad_alloc();
  if (result == AVIF_RESULT_NO_CODEC_AVAILABLE) {
    throw Error(ErrorKind::kUnsupported, "libavif has no decoder of AV1", {},
                "install one that has dav1d");
  }
  throw Error(ErrorKind::kCorrupt, std::string("libavif: ") + avif.text_of(result));
}

}  // namespace

void DecodeAvif(ByteView bytes, const DecodeOptions& options, Image& out) {
  const AvifLibrary& avif = Avif();
  const std::unique_ptr<avifDecoder, decltype(avif.destroy)> decoder(avif.create(), avif.destroy);
  if (!decoder) throw std::bad_alloc();
  decoder->maxThreads = 1;  // images are decoded side by side
  decoder->ignoreExif = decoder->ignoreXMP = AVIF_TRUE;
  decoder->strictFlags = AVIF_STRICT_DISABLED;  // as browsers and Pillow read them
  Check(avif, avif.set_memory(decoder.get(), bytes.data(), bytes.size()));
  Check(avif, avif.parse(decoder.get()));
  if (decoder->imageCount > 1) {
    throw Error(ErrorKind::kUnsupported, "is an AVIF sequence, which has no single image", {},
                "pack its frames as images");
  }
  CheckPixels(decoder->image->width, decoder->image->height, options.max_pixels);
  Check(avif, avif.next(decoder.get()));
  avifImage& image = *decoder->image;
  CheckPixels(image.width, image.height, options.max_pixels);
  out.Reshape(static_cast<int>(image.width), static_cast<int>(image.height), 3);

  avifRGBImage rgb;
  avif.set_defaults(&rgb, &image);
  rgb.depth = 8;
  rgb.format = AVIF_RGB_FORMAT_RGB;
  rgb.chromaUpsampling = AVIF_CHROMA_UPSAMPLING_BEST_QUALITY;
  rgb.avoidLibYUV = AVIF_TRUE;  // some builds have it, with other roundings
  rgb.pixels = out.pixels.data();
  rgb.rowBytes = static_cast<uint32_t>(out.row_bytes());
  // With an alpha channel libavif would put the image on black, also where alpha is to be ignored.
  uint8_t* const alpha = std::exchange(image.alphaPlane, nullptr);
  const avifResult result = avif.to_rgb(&image, &rgb);
  image.alphaPlane = alpha;
  Check(avif, result);
}

}  // namespace recpack
