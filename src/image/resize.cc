#include "recpack/image/resize.h"

#include <algorithm>

#include "recpack/base/bytes.h"
#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/image/region.h"
#include "src/image/resize_kernels.h"

namespace recpack {
namespace {

void CheckSizes(const PixelView& from, const PixelSpan& to) {
  if (from.width > 0 && from.height > 0 && from.channels > 0 && from.channels <= 4 &&
      to.width > 0 && to.height > 0 && to.channels == from.channels) {
    return;
  }
  throw Error(ErrorKind::kInvalidArgument,
              format("cannot resize {}x{} pixels of {} channels to {}x{} of {}", from.width,
                     from.height, from.channels, to.width, to.height, to.channels));
}

}  // namespace

// Rows of the region are resized in width when the first output row needs them, into a ring that
// holds as many as one output row is made of.
struct Resizer::State {
  const ResizeKernels& kernels;

  ResizeWeights column_weights = {}, row_weights = {};
  LineBuffer<uint8_t> ring = {};
  ByteBuffer padded = {};
  std::vector<const uint8_t*> rows = {};

  // Of the call: the region's first pixel and where the memory of its image ends.
  PixelView from = {};
  const uint8_t* end = nullptr;
  bool scales_columns = false;
  size_t ring_stride = 0, reach = 0;
  int ring_rows = 0, rows_made = 0;

  void Start(const PixelView& image, const Region& region, ResizeFilter filter,
             const PixelSpan& to);
  void ResizeColumns(int y, uint8_t* to);
  const uint8_t* Row(int y);
  void ResizeRows(const PixelSpan& to);
  void CopyRows(const PixelSpan& to);
};

void Resizer::State::Start(const PixelView& image, const Region& region, ResizeFilter filter,
                           const PixelSpan& to) {
  from = image;
  from.pixels = image.row(region.y) + static_cast<ptrdiff_t>(region.x) * image.channels;
  from.width = region.width;
  from.height = region.height;
  end = image.row(image.height - 1) + image.row_bytes();
  scales_columns = from.width != to.width;
  if (scales_columns) {
    column_weights.Set(from.width, to.width, filter, kernels.pack_columns);
    reach = ReachOf(column_weights, from.channels);
    const size_t row_bytes = static_cast<size_t>(column_weights.padded()) * from.channels;
    ring_stride = (row_bytes + kRowPadding + kCacheLine - 1) / kCacheLine * kCacheLine;
  }
  const bool scales_rows = from.height != to.height;
  if (scales_rows) row_weights.Set(from.height, to.height, filter, kernels.pack_rows);
  ring_rows = scales_rows ? row_weights.taps : 1;
  rows_made = 0;
  ring.Reserve(ring_stride * static_cast<size_t>(ring_rows));
  rows.resize(std::max(rows.size(), static_cast<size_t>(ring_rows)));
}

void Resizer::State::ResizeColumns(int y, uint8_t* to) {
  const uint8_t* row = from.row(y);
  if (reach > static_cast<size_t>(end - row)) {
    padded.resize(std::max(padded.size(), reach));
    std::copy_n(row, from.row_bytes(), padded.data());
    row = padded.data();
  }
  kernels.columns(row, column_weights, from.channels, to);
}

// The region's row `y` in the width wanted. Rows are asked for in order, but for going back to
// those of the last output row.
const uint8_t* Resizer::State::Row(int y) {
  if (!scales_columns) return from.row(y);
  uint8_t* slot = ring.data() + static_cast<size_t>(y % ring_rows) * ring_stride;
  if (y >= rows_made) {
    ResizeColumns(y, slot);
    rows_made = y + 1;
  }
  return slot;
}

void Resizer::State::ResizeRows(const PixelSpan& to) {
  for (int y = 0; y < to.height; ++y) {
    for (int k = 0; k < row_weights.count[y]; ++k) rows[k] = Row(row_weights.first[y] + k);
    kernels.rows(rows.data(), row_weights, y, to.row_bytes(), to.row(y));
  }
}

void Resizer::State::CopyRows(const PixelSpan& to) {
  for (int y = 0; y < to.height; ++y) std::copy_n(Row(y), to.row_bytes(), to.row(y));
}

Resizer::Resizer() : Resizer(*AvailableResizeKernels().back()) {}
Resizer::Resizer(const ResizeKernels& kernels) : state_(new State{.kernels = kernels}) {}
Resizer::~Resizer() = default;
Resizer::Resizer(Resizer&&) noexcept = default;
Resizer& Resizer::operator=(Resizer&&) noexcept = default;

void Resizer::Resize(const PixelView& from, const Region& region, ResizeFilter filter,
                     const PixelSpan& to) {
  CheckSizes(from, to);
  CheckRegion(region, from.width, from.height);
  state_->Start(from, region, filter, to);
  if (region.height == to.height) {
    state_->CopyRows(to);
  } else {
    state_->ResizeRows(to);
  }
}

Image Resize(const Image& image, const ResizeOptions& options) {
  Image out;
  out.Reshape(std::max(0, options.width), std::max(0, options.height), image.channels);
  Resizer().Resize(ViewOf(image), {0, 0, image.width, image.height}, options.filter, SpanOf(out));
  return out;
}

ImageSize ScaleShorterSide(ImageSize size, int shorter) {
  const auto scale = [&](int longer, int by) {
    return std::max(1, static_cast<int>(int64_t{shorter} * longer / by));
  };
  if (size.width <= size.height) return {shorter, scale(size.height, size.width)};
  return {scale(size.width, size.height), shorter};
}

}  // namespace recpack
