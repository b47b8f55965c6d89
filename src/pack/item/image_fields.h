// Turns the bytes of a file into image features (image/encoded, image/format, size).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/example/builder.h"
#include "recpack/image/decode.h"
#include "recpack/image/header.h"
#include "recpack/image/image.h"
#include "src/pack/item/image_options.h"

namespace recpack::pack {

// Counters shared by all readers of a source. Thread-safe.
struct ImageCounters {
  std::atomic<uint64_t> not_tiled{0};

  // Counts a file whose name has an image extension but whose content is not an image.
  void CountNotImage(std::string_view name);
  void AddNotices(std::vector<std::string>& notices) const;

 private:
  mutable std::mutex mutex_;
  uint64_t not_images_ = 0;
  std::string first_not_image_;  // by name
};

// Returns what follows the last dot of the file's name, in capitals; empty if that is not an
// extension (letters and digits, not too long).
std::string ExtensionInCapitals(std::string_view name);

// Tells whether `capitals`, an image/format or an extension in capitals, names an image format.
bool IsImageFormat(std::string_view capitals);

struct ImageView {
  ByteView bytes;           // original or rewritten; valid until the next Process()
  std::string_view format;  // "JPEG", "PNG", ...; else the file extension in capitals, or ""
  int height = 0;           // pixels; 0 if the image format is unknown
  int width = 0;

  // Adds image/encoded, image/format and, if known, image/height and image/width.
  void AddTo(ExampleBuilder& features) const;
};

// Applies ImageOptions. One per reader; not thread-safe; reuses its buffers.
class ImageFields {
 public:
  // `counters` is not owned and must outlive this object. Throws Error (kInvalidArgument) for
  // invalid options.
  ImageFields(const ImageOptions& options, ImageCounters& counters);

  // `name` is the file name: errors carry it as their path, and its extension is the format of a
  // file that is not a known image. Throws Error: kCorrupt, kUnsupported.
  ImageView Process(ByteView bytes, std::string_view name);

 private:
  ImageView ProcessImage(ByteView bytes, std::string_view name);
  ImageView OtherFile(ByteView bytes, std::string_view name);
  bool Resize(ByteView bytes, const ImageHeader& header);
  ByteView Tile(ByteView jpeg);

  ImageOptions options_;
  ImageCounters& counters_;
  ImageDecoder decoder_;
  Image pixels_;
  ByteBuffer rewritten_;
  ByteBuffer tiled_;
  std::string extension_;
};

}  // namespace recpack::pack
