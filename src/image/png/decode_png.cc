#include "src/image/png/decode_png.h"

#include <cstring>
#include <string>

#include "recpack/base/error.h"
#include "src/image/checks.h"
#include "src/image/png/png_session.h"

namespace recpack {
namespace {

// Reader of one file; libpng's structures cannot be reused.
class PngReader {
 public:
  explicit PngReader(ByteView bytes) : rest_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &messages_, OnPngError, OnPngWarning);
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
    png_set_read_fn(png_, this, ReadBytes);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;

  void ReadHeader(const DecodeOptions& options);
  void Transform(PixelLayout layout);
  void ReadPixels(Image& out, bool allow_damage);
  int bytes_per_pixel() const {
    return channels() * (png_get_bit_depth(png_, info_) == 16 ? 2 : 1);
  }

  int width() const { return static_cast<int>(png_get_image_width(png_, info_)); }
  int height() const { return static_cast<int>(png_get_image_height(png_, info_)); }
  int channels() const { return png_get_channels(png_, info_); }

 private:
  void KeepWideGray();

  template <typename Body>
  void Run(Body&& body) {
    RunPng(messages_, ErrorKind::kCorrupt, body);
  }

  static void ReadBytes(png_structp png, png_bytep to, size_t size) {
    auto& reader = *static_cast<PngReader*>(png_get_io_ptr(png));
    if (size > reader.rest_.size()) png_error(png, "the file ends too early");
    std::memcpy(to, reader.rest_.data(), size);
    reader.rest_ = reader.rest_.subspan(size);
  }

  ByteView rest_;
  PngMessages messages_;
  png_structp png_;
  png_infop info_;
};

// Ignores text, profiles and similar chunks: they do not affect pixels, and may contain irrelevant
// damage or decompression bombs.
void SkipAncillaryChunks(png_structp png) {
  constexpr png_byte kChunks[] = "iCCP\0zTXt\0iTXt\0tEXt\0eXIf\0sPLT\0hIST\0tIME\0gAMA\0cHRM\0sRGB";
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, kChunks, sizeof kChunks / 5);
}

void PngReader::ReadHeader(const DecodeOptions& options) {
  Run([&] {
    SkipAncillaryChunks(png_);
    png_set_user_limits(png_, 0x7FFFFFFF, 0x7FFFFFFF);
    png_read_info(png_, info_);
  });
  CheckPixels(png_get_image_width(png_, info_), png_get_image_height(png_, info_),
              options.max_pixels);
}

// Leaves 16 bits of gray, the low byte first.
void PngReader::KeepWideGray() {
  if (png_get_bit_depth(png_, info_) != 16 ||
      (png_get_color_type(png_, info_) & PNG_COLOR_MASK_COLOR) != 0) {
    RefuseNotWideGray();
  }
  Run([&] {
    png_set_swap(png_);
    png_set_strip_alpha(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
  });
}

void PngReader::Transform(PixelLayout layout) {
  if (layout == PixelLayout::kOne16) return KeepWideGray();
  if (layout == PixelLayout::kOne && png_get_bit_depth(png_, info_) == 16) {
    throw Error(ErrorKind::kUnsupported, "the PNG has 16 bits per value, of which 8 would be lost",
                {}, "store values below 256, or decode it with your own function");
  }
  Run([&] {
    const png_byte type = png_get_color_type(png_, info_);
    png_set_scale_16(png_);
    if (type == PNG_COLOR_TYPE_PALETTE) {
      layout == PixelLayout::kOne ? png_set_packing(png_) : png_set_palette_to_rgb(png_);
    }
    if (type == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png_);
    png_set_strip_alpha(png_);
    if (layout == PixelLayout::kRgb) png_set_gray_to_rgb(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
  });
}

void PngReader::ReadPixels(Image& out, bool allow_damage) {
  std::vector<png_bytep> rows(static_cast<size_t>(out.height));
  for (int y = 0; y < out.height; ++y) rows[static_cast<size_t>(y)] = out.row(y);
  Run([&] {
    png_read_image(png_, rows.data());
    png_read_end(png_, nullptr);
  });
  if (messages_.damage[0] != '\0' && !allow_damage) {
    throw Error(ErrorKind::kCorrupt, std::string("libpng: ") + messages_.damage);
  }
}

}  // namespace

void DecodePng(ByteView bytes, const DecodeOptions& options, Image& out) {
  PngReader reader(bytes);
  reader.ReadHeader(options);
  reader.Transform(options.layout);
  out.Reshape(reader.width(), reader.height(), reader.bytes_per_pixel());
  reader.ReadPixels(out, options.allow_damage);
}

}  // namespace recpack
