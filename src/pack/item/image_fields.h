// From a file's bytes to the features that say what image it is.
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

// Counted by all readers of a source.
struct ImageCounters {
  std::atomic<uint64_t> not_tiled{0};
  std::atomic<uint64_t> not_checked{0};  // of formats that are not decoded here

  // A file that is no image, though its name says so. Any thread.
  void CountNotImage(std::string_view name);
  void AddNotices(std::vector<std::string>& notices) const;

 private:
  mutable std::mutex mutex_;
  uint64_t not_images_ = 0;
  std::string first_not_image_;  // by name
};

// Whether image/format, or an extension in capitals, names a format of images.
bool IsImageFormat(std::string_view capitals);

struct ImageView {
  ByteView bytes;           // as given, or rewritten; lives until the next Process()
  std::string_view format;  // "JPEG", "PNG", ...; else the name's extension in capitals; "" if none
  int height = 0;           // pixels; 0: no known image
  int width = 0;

  // Adds image/encoded, image/format and, where they are known, image/height and image/width.
  void AddTo(ExampleBuilder& features) const;
};

// Does what ImageOptions ask for. One a reader; one thread at a time; keeps its buffers.
class ImageFields {
 public:
  // `counters` is not owned and must outlive this object. Throws Error (kInvalidArgument).
  ImageFields(const ImageOptions& options, ImageCounters& counters);

  // `name` is the file's: its extension names the format of what is no known image, and errors
  // carry it as their path. Throws Error: kCorrupt, kUnsupported.
  ImageView Process(ByteView bytes, std::string_view name);

 private:
  ImageView ProcessImage(ByteView bytes, std::string_view name);
  ImageView OtherFile(ByteView bytes, std::string_view name);
  void Check(ByteView bytes, const ImageHeader& header);
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
