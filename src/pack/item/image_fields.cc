#include "src/pack/item/image_fields.h"

#include <algorithm>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/image/encode.h"
#include "recpack/image/jpeg_tile.h"
#include "recpack/image/resize.h"
#include "src/base/format.h"
#include "src/pack/item/feature_names.h"
#include "src/pack/item/with_path.h"

namespace recpack::pack {
namespace {

constexpr size_t kMaxExtension = 12;
constexpr std::string_view kImageExtensions[] = {"JPG",  "JPEG", "PNG", "GIF", "BMP",
                                                 "WEBP", "AVIF", "TIF", "TIFF"};

std::string_view FormatText(ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg:
      return "JPEG";
    case ImageFormat::kPng:
      return "PNG";
    case ImageFormat::kGif:
      return "GIF";
    case ImageFormat::kBmp:
      return "BMP";
    case ImageFormat::kWebp:
      return "WEBP";
    case ImageFormat::kAvif:
      return "AVIF";
    case ImageFormat::kTiff:
      return "TIFF";
    case ImageFormat::kUnknown:
      break;
  }
  return "";
}

}  // namespace

std::string ExtensionInCapitals(std::string_view name) {
  name = name.substr(name.rfind('/') + 1);
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || name.size() - dot > kMaxExtension) return {};
  std::string extension(name.substr(dot + 1));
  for (char& c : extension) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) return {};
  }
  return extension;
}

bool IsImageFormat(std::string_view capitals) {
  return std::ranges::count(kImageExtensions, capitals) > 0;
}

void ImageCounters::CountNotImage(std::string_view name) {
  const std::lock_guard lock(mutex_);
  // The smallest name, so that the notice does not depend on thread timing.
  if (not_images_++ == 0 || name < first_not_image_) first_not_image_ = name;
}

void ImageCounters::AddNotices(std::vector<std::string>& notices) const {
  const std::lock_guard lock(mutex_);
  if (not_images_ > 0) {
    notices.push_back(
        format("{} files have an image extension but are not images, such as {}; they were packed "
               "unchanged (--check-images refuses them)",
               not_images_, first_not_image_));
  }
  if (not_tiled > 0) {
    notices.push_back(
        format("{} images could not be tiled and are stored as they were", not_tiled.load()));
  }
}

void ImageView::AddTo(ExampleBuilder& features) const {
  features.AddBytes(kImageEncoded, bytes);
  features.AddBytes(kImageFormat, AsBytes(format));
  if (width == 0) return;
  features.AddInt64(kImageHeight, height);
  features.AddInt64(kImageWidth, width);
}

ImageFields::ImageFields(const ImageOptions& options, ImageCounters& counters)
    : options_(options), counters_(counters) {
  if (options.resize < 0 || options.quality < 1 || options.quality > 100) {
    throw Error(ErrorKind::kInvalidArgument,
                format("cannot resize to {} pixels at quality {}", options.resize, options.quality),
                {}, "give pixels above 0 and a quality from 1 to 100");
  }
}

ImageView ImageFields::OtherFile(ByteView bytes, std::string_view name) {
  extension_ = ExtensionInCapitals(name);
  if (IsImageFormat(extension_)) {
    if (options_.check) {
      throw Error(ErrorKind::kCorrupt, "not an image, but has an image extension");
    }
    counters_.CountNotImage(name);
  }
  return {.bytes = bytes, .format = extension_};
}

// Returns false if the image is already small enough.
bool ImageFields::Resize(ByteView bytes, const ImageHeader& header) {
  if (std::min(header.width, header.height) <= options_.resize) return false;
  decoder_.Decode(bytes, {.layout = PixelLayout::kAsStored, .apply_orientation = true}, pixels_);
  const ImageSize size = ScaleShorterSide({pixels_.width, pixels_.height}, options_.resize);
  pixels_ = recpack::Resize(pixels_, {.width = size.width, .height = size.height});
  rewritten_ = EncodeJpeg(pixels_, {.quality = options_.quality});
  return true;
}

// Returns the bytes unchanged if they cannot be tiled.
ByteView ImageFields::Tile(ByteView jpeg) {
  try {
    tiled_ = TileJpeg(jpeg);
    return tiled_;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnsupported) throw;
    ++counters_.not_tiled;
    return jpeg;
  }
}

ImageView ImageFields::ProcessImage(ByteView bytes, std::string_view name) {
  ImageHeader header = ReadImageHeader(bytes);
  if (header.format == ImageFormat::kUnknown) return OtherFile(bytes, name);
  if (options_.check) decoder_.Decode(bytes, {.layout = PixelLayout::kAsStored}, pixels_);
  if (options_.resize > 0 && Resize(bytes, header)) {
    bytes = rewritten_;
    header = ReadImageHeader(bytes);
  }
  if (options_.tile && header.format == ImageFormat::kJpeg) bytes = Tile(bytes);
  return {.bytes = bytes,
          .format = FormatText(header.format),
          .height = header.height,
          .width = header.width};
}

ImageView ImageFields::Process(ByteView bytes, std::string_view name) {
  return WithPath(name, [&] { return ProcessImage(bytes, name); });
}

}  // namespace recpack::pack
