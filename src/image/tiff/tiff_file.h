// A TIFF in memory, opened by libtiff: its first image's layout, and its blocks (strips or tiles).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recpack/base/bytes.h"
#include "src/image/tiff/tiff_library.h"

namespace recpack {

struct TiffLayout {
  uint32_t width = 0, height = 0;  // pixels
  uint16_t bits = 1;               // per sample
  uint16_t samples = 1;            // per pixel
  uint16_t photometric = 0;
  uint16_t sample_type = 1;      // 1: unsigned integers
  bool planes = false;           // each sample in blocks of its own
  bool premultiplied = false;    // has alpha, by which the colours were multiplied
  std::vector<uint8_t> palette;  // red, green and blue of each entry
};

// Part of the image, as decoded: rows of whole bytes, 16-bit samples in this machine's byte order.
struct TiffBlock {
  uint32_t x, y, width, height;  // where it lies in the image, in pixels
  size_t row_bytes;
  const uint8_t* data;
};

class TiffFile {
 public:
  // Keeps a view of the bytes. Throws Error: kCorrupt; kUnsupported without libtiff.
  explicit TiffFile(ByteView bytes);
  ~TiffFile();
  TiffFile(const TiffFile&) = delete;

  const TiffLayout& layout() const { return layout_; }

  // Size of a block in pixels, of which those at the right and bottom reach beyond the image if
  // they are tiles.
  uint32_t block_width() const { return block_width_; }
  uint32_t block_height() const { return block_height_; }

  // Reads the block that begins at a pixel. Valid until the next call. Throws Error (kCorrupt).
  TiffBlock Read(uint32_t x, uint32_t y, uint16_t plane);

 private:
  static int OnError(TIFF*, void* file, const char* module, const char* message, va_list arguments);
  void Open();
  void ReadLayout();
  void ReadPalette();
  void ReadBlocks();
  [[noreturn]] void ThrowCorrupt(const char* otherwise) const;

  const TiffLibrary& tiff_;
  ByteView bytes_;
  std::string error_;
  TIFF* file_ = nullptr;
  TiffLayout layout_;
  bool tiled_ = false;
  uint32_t block_width_ = 0, block_height_ = 0;
  size_t row_bytes_ = 0;
  ByteBuffer block_;
};

}  // namespace recpack
