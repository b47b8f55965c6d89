#include "src/image/tiff/tiff_file.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>

#include "recpack/base/error.h"
#include "src/image/tiff/tiff_tags.h"

namespace recpack {
namespace {

constexpr uint64_t kMostBlockBytes = uint64_t{1} << 31;

struct View {
  ByteView bytes;
  uint64_t at = 0;
};

tmsize_t ReadBytes(thandle_t handle, void* to, tmsize_t size) {
  auto& view = *static_cast<View*>(handle);
  if (view.at >= view.bytes.size()) return 0;
  const size_t got = std::min<uint64_t>(static_cast<uint64_t>(size), view.bytes.size() - view.at);
  std::memcpy(to, view.bytes.data() + view.at, got);
  view.at += got;
  return static_cast<tmsize_t>(got);
}
tmsize_t WriteNothing(thandle_t, void*, tmsize_t) { return 0; }
toff_t Seek(thandle_t handle, toff_t offset, int from) {
  auto& view = *static_cast<View*>(handle);
  view.at = from == SEEK_SET ? offset : (from == SEEK_CUR ? view.at : view.bytes.size()) + offset;
  return view.at;
}
int CloseView(thandle_t handle) {
  delete static_cast<View*>(handle);
  return 0;
}
toff_t SizeOf(thandle_t handle) { return static_cast<View*>(handle)->bytes.size(); }
int MapView(thandle_t handle, void** base, toff_t* size) {
  const ByteView bytes = static_cast<View*>(handle)->bytes;
  *base = const_cast<uint8_t*>(bytes.data());
  *size = bytes.size();
  return 1;
}
void Unmap(thandle_t, void*, toff_t) {}

int IgnoreWarning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

}  // namespace

// Keeps the first message.
int TiffFile::OnError(TIFF*, void* file, const char*, const char* message, va_list arguments) {
  std::string& error = static_cast<TiffFile*>(file)->error_;
  char text[200];
  const int size = std::vsnprintf(text, sizeof text, message, arguments);
  if (error.empty() && size > 0) error = text;
  return 1;
}

void TiffFile::ThrowCorrupt(const char* otherwise) const {
  throw Error(ErrorKind::kCorrupt, "libtiff: " + (error_.empty() ? otherwise : error_));
}

TiffFile::TiffFile(ByteView bytes) : tiff_(Tiff()), bytes_(bytes) {
  Open();
  try {
    ReadLayout();
    ReadBlocks();
  } catch (...) {
    tiff_.close(file_);
    throw;
  }
}

TiffFile::~TiffFile() { tiff_.close(file_); }

void TiffFile::Open() {
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(tiff_.options_alloc(),
                                                                             tiff_.options_free);
  if (!options) throw std::bad_alloc();
  tiff_.options_on_error(options.get(), &OnError, this);
  tiff_.options_on_warning(options.get(), &IgnoreWarning, nullptr);
  std::unique_ptr<View> view(new View{.bytes = bytes_});
  file_ = tiff_.open("", "r", view.get(), ReadBytes, WriteNothing, Seek, CloseView, SizeOf, MapView,
                     Unmap, options.get());
  if (file_ == nullptr) ThrowCorrupt("the header is damaged");
  static_cast<void>(view.release());  // CloseView() deletes it
}

void TiffFile::ReadLayout() {
  uint16_t planar = PLANARCONFIG_CONTIG, compression = COMPRESSION_NONE, extras = 0;
  const uint16_t* kinds = nullptr;
  tiff_.get_field(file_, TIFFTAG_IMAGEWIDTH, &layout_.width);
  tiff_.get_field(file_, TIFFTAG_IMAGELENGTH, &layout_.height);
  tiff_.get_field(file_, TIFFTAG_BITSPERSAMPLE, &layout_.bits);
  tiff_.get_field(file_, TIFFTAG_SAMPLESPERPIXEL, &layout_.samples);
  if (tiff_.get_field(file_, TIFFTAG_PHOTOMETRIC, &layout_.photometric) == 0)
    layout_.photometric = tiff::kBlackIsZero;
  tiff_.get_field(file_, TIFFTAG_SAMPLEFORMAT, &layout_.sample_type);
  tiff_.get_field(file_, TIFFTAG_PLANARCONFIG, &planar);
  tiff_.get_field(file_, TIFFTAG_COMPRESSION, &compression);
  layout_.planes = planar == PLANARCONFIG_SEPARATE && layout_.samples > 1;
  if (tiff_.get_field(file_, TIFFTAG_EXTRASAMPLES, &extras, &kinds) != 0 && extras > 0) {
    layout_.premultiplied = kinds[0] == EXTRASAMPLE_ASSOCALPHA;
  }
  if (layout_.photometric == tiff::kPalette) ReadPalette();
  if (layout_.photometric == tiff::kYCbCr && compression == COMPRESSION_JPEG && !layout_.planes) {
    tiff_.set_field(file_, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);  // the JPEG codec converts it
    layout_.photometric = tiff::kRgb;
  }
}

void TiffFile::ReadPalette() {
  uint16_t* colours[3] = {};
  if (layout_.bits > 8 ||
      tiff_.get_field(file_, TIFFTAG_COLORMAP, &colours[0], &colours[1], &colours[2]) == 0) {
    ThrowCorrupt("the palette is missing");
  }
  const size_t entries = size_t{1} << layout_.bits;
  for (size_t i = 0; i < entries; ++i) {
    for (const uint16_t* const channel : colours)
      layout_.palette.push_back(static_cast<uint8_t>(channel[i] >> 8));
  }
}

void TiffFile::ReadBlocks() {
  tiled_ = tiff_.is_tiled(file_) != 0;
  if (tiled_) {
    tiff_.get_field(file_, TIFFTAG_TILEWIDTH, &block_width_);
    tiff_.get_field(file_, TIFFTAG_TILELENGTH, &block_height_);
    row_bytes_ = tiff_.tile_row_bytes(file_);
  } else {
    block_width_ = layout_.width;
    tiff_.get_field(file_, TIFFTAG_ROWSPERSTRIP, &block_height_);
    block_height_ = std::min(block_height_, layout_.height);
    row_bytes_ = tiff_.row_bytes(file_);
  }
  const uint64_t bytes = tiled_ ? tiff_.tile_bytes(file_) : tiff_.strip_bytes(file_);
  const uint64_t samples = layout_.planes ? 1 : layout_.samples;
  const bool whole = block_width_ > 0 && block_height_ > 0 &&
                     row_bytes_ >= (uint64_t{block_width_} * samples * layout_.bits + 7) / 8 &&
                     bytes >= row_bytes_ * block_height_;
  if (!whole || bytes > kMostBlockBytes)
    ThrowCorrupt("the strips or tiles have an impossible size");
  block_.resize(bytes);
}

TiffBlock TiffFile::Read(uint32_t x, uint32_t y, uint16_t plane) {
  const auto size = static_cast<tmsize_t>(block_.size());
  const uint32_t height = std::min(block_height_, layout_.height - y);
  const tmsize_t got =
      tiled_ ? tiff_.read_tile(file_, tiff_.tile_of(file_, x, y, 0, plane), block_.data(), size)
             : tiff_.read_strip(file_, tiff_.strip_of(file_, y, plane), block_.data(), size);
  if (got < 0 || static_cast<uint64_t>(got) < row_bytes_ * height)
    ThrowCorrupt("a strip or tile is cut off");
  return {.x = x,
          .y = y,
          .width = std::min(block_width_, layout_.width - x),
          .height = height,
          .row_bytes = row_bytes_,
          .data = block_.data()};
}

}  // namespace recpack
