#include "recpack/image/resize.h"

#include <algorithm>

#include "recpack/base/bytes.h"
#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/image/checks.h"
#include "src/image/resize/resize_kernels.h"

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

ResizeAxis ToColumns(const ResizeWindow& window, int shown = 0) {
  return {.from = window.whole.width,
          .to = window.resized.width,
          .begin = window.window.x,
          .size = window.window.width,
          .shown = shown,
          .step = window.grid.step_x,
          .phase = window.grid.phase_x};
}

ResizeAxis ToLines(const ResizeWindow& window, int shown = 0) {
  return {.from = window.whole.height,
          .to = window.resized.height,
          .begin = window.window.y,
          .size = window.window.height,
          .shown = shown,
          .step = window.grid.step_y,
          .phase = window.grid.phase_y};
}

// Finds the samples that the outputs of one direction depend on.
void FindSourceRange(const ResizeAxis& axis, ResizeFilter filter, int& first, int& count) {
  if (!axis.scales()) {
    first = axis.begin;
    count = axis.size;
    return;
  }
  const double support = ResizeSupport(axis, filter);
  first = std::max(0, static_cast<int>(axis.Centre(axis.begin + 0.5) - support + 0.5));
  const double last = axis.Centre(axis.begin + axis.size - 0.5);
  count = std::min(axis.samples(), static_cast<int>(last + support + 0.5)) - first;
}

void CheckWindow(const ResizeWindow& window) {
  const auto& [whole, resized, part, grid] = window;
  if (grid.phase_x < 0 || grid.phase_x >= grid.step_x || grid.phase_y < 0 ||
      grid.phase_y >= grid.step_y) {
    throw Error(ErrorKind::kInvalidArgument,
                format("invalid grid: {}x{} pixels per sample with phase {}, {}", grid.step_x,
                       grid.step_y, grid.phase_x, grid.phase_y));
  }
  if (whole.width < 1 || whole.height < 1 || resized.width < 1 || resized.height < 1) {
    throw Error(ErrorKind::kInvalidArgument,
                format("cannot resize {}x{} pixels to {}x{}", whole.width, whole.height,
                       resized.width, resized.height));
  }
  CheckRegion(part, resized.width, resized.height);
}

void CheckShown(const PixelView& from, const Region& shown, const Region& needed) {
  if (shown.width == from.width && shown.height == from.height && shown.x <= needed.x &&
      shown.y <= needed.y && needed.x + needed.width <= shown.x + shown.width &&
      needed.y + needed.height <= shown.y + shown.height) {
    return;
  }
  throw Error(
      ErrorKind::kInvalidArgument,
      format("the pixels shown are {}x{} at {}, {}, and {}x{} at {}, {} are needed", shown.width,
             shown.height, shown.x, shown.y, needed.width, needed.height, needed.x, needed.y));
}

}  // namespace

// Rows of the region are resized horizontally when the first output row needs them, into a ring
// buffer with the source rows of one output row.
struct Resizer::State {
  const ResizeKernels& kernels;

  ResizeWeights column_weights = {}, row_weights = {};
  LineBuffer<uint8_t> ring = {};
  ByteBuffer padded = {};
  std::vector<const uint8_t*> rows = {};

  // Source of the current call, starting at the first pixel used, and the end of its memory.
  PixelView from = {};
  const uint8_t* end = nullptr;
  bool scales_columns = false, scales_rows = false;
  size_t ring_stride = 0, reach = 0;
  int ring_rows = 0, rows_made = 0;

  void Start(const PixelView& shown, const ResizeAxis& columns, const ResizeAxis& rows,
             ResizeFilter filter);
  void ResizeColumns(int y, uint8_t* to);
  const uint8_t* Row(int y);
  void ResizeRows(const PixelSpan& to);
  void CopyRows(const PixelSpan& to);
  void Make(const PixelView& shown, const ResizeAxis& columns, const ResizeAxis& lines,
            ResizeFilter filter, const PixelSpan& to);
};

void Resizer::State::Start(const PixelView& shown, const ResizeAxis& columns,
                           const ResizeAxis& lines, ResizeFilter filter) {
  from = shown;
  end = shown.row(shown.height - 1) + shown.row_bytes();
  scales_columns = columns.scales();
  if (scales_columns) {
    column_weights.Set(columns, filter, kernels.pack_columns);
    reach = ColumnsReach(column_weights, from.channels);
    const size_t row_bytes = static_cast<size_t>(column_weights.padded()) * from.channels;
    ring_stride = (row_bytes + kRowPadding + kCacheLine - 1) / kCacheLine * kCacheLine;
  } else {
    from.pixels += static_cast<ptrdiff_t>(columns.begin - columns.shown) * from.channels;
  }
  scales_rows = lines.scales();
  if (scales_rows) {
    row_weights.Set(lines, filter, kernels.pack_rows);
  } else {
    from.pixels += static_cast<ptrdiff_t>(lines.begin - lines.shown) * from.stride;
  }
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

// Returns the region's row `y`, resized horizontally. Rows must be requested in order, except for
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

void Resizer::State::Make(const PixelView& shown, const ResizeAxis& columns,
                          const ResizeAxis& lines, ResizeFilter filter, const PixelSpan& to) {
  Start(shown, columns, lines, filter);
  if (scales_rows) {
    ResizeRows(to);
  } else {
    CopyRows(to);
  }
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
  PixelView part = from;
  part.pixels = from.row(region.y) + static_cast<ptrdiff_t>(region.x) * from.channels;
  part.width = region.width;
  part.height = region.height;
  state_->Make(part,
               {.from = region.width, .to = to.width, .begin = 0, .size = to.width, .shown = 0},
               {.from = region.height, .to = to.height, .begin = 0, .size = to.height, .shown = 0},
               filter, to);
}

void Resizer::Resize(const PixelView& from, const Region& shown, const ResizeWindow& window,
                     ResizeFilter filter, const PixelSpan& to) {
  CheckSizes(from, to);
  CheckShown(from, shown, SourceRegion(window, filter));
  const Region& part = window.window;
  if (to.width != part.width || to.height != part.height) {
    throw Error(ErrorKind::kInvalidArgument,
                format("a window of {}x{} pixels does not fit a result of {}x{}", part.width,
                       part.height, to.width, to.height));
  }
  state_->Make(from, ToColumns(window, shown.x), ToLines(window, shown.y), filter, to);
}

Region SourceRegion(const ResizeWindow& window, ResizeFilter filter) {
  CheckWindow(window);
  Region source;
  FindSourceRange(ToColumns(window), filter, source.x, source.width);
  FindSourceRange(ToLines(window), filter, source.y, source.height);
  return source;
}

Image Resize(const Image& image, const ResizeOptions& options) {
  Image out;
  out.Reshape(std::max(0, options.width), std::max(0, options.height), image.channels);
  Resizer().Resize(ToView(image), {0, 0, image.width, image.height}, options.filter, ToSpan(out));
  return out;
}

}  // namespace recpack
