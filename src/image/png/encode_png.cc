#include <new>
#include <string>

#include "recpack/image/encode.h"
#include "src/image/checks.h"
#include "src/image/png/png_session.h"

namespace recpack {
namespace {

class PngWriter {
 public:
  PngWriter() {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &messages_, OnPngError, OnPngWarning);
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_write_struct(&png_, nullptr);
      throw std::bad_alloc();
    }
    png_set_write_fn(png_, this, Append, nullptr);
  }
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }
  PngWriter(const PngWriter&) = delete;

  ByteBuffer Write(const Image& image) {
    RunPng(messages_, ErrorKind::kInvalidArgument, [&] {
      png_set_IHDR(png_, info_, static_cast<png_uint_32>(image.width),
                   static_cast<png_uint_32>(image.height), 8,
                   image.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
                   PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
      png_write_info(png_, info_);
      for (int y = 0; y < image.height; ++y) png_write_row(png_, image.row(y));
      png_write_end(png_, info_);
    });
    return std::move(file_);
  }

 private:
  static void Append(png_structp png, png_bytep bytes, size_t size) {
    auto& file = static_cast<PngWriter*>(png_get_io_ptr(png))->file_;
    bool appended = true;
    try {
      file.insert(file.end(), bytes, bytes + size);
    } catch (const std::bad_alloc&) {
      appended = false;
    }
    if (!appended) png_error(png, "out of memory for the PNG's bytes");
  }

  PngMessages messages_;
  ByteBuffer file_;
  png_structp png_;
  png_infop info_;
};

}  // namespace

ByteBuffer EncodePng(const Image& image) {
  CheckEncodable(image);
  return PngWriter().Write(image);
}

}  // namespace recpack
