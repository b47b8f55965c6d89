#include "src/image/jpeg/jpeg_sequential.h"

#include <algorithm>
#include <cstdlib>

#include "src/image/jpeg/jpeg_markers.h"

namespace recpack {
namespace {

static_assert(JpegStream::kReach >= 6 * kMaxBlockBytes + 16, "an MCU has up to six blocks");

constexpr int kMaxDc = INT16_MAX;

}  // namespace

SequentialJpeg::SequentialJpeg(const JpegKernels* kernels)
    : kernels_(kernels != nullptr ? kernels : AvailableJpegKernels().back()) {}

bool SequentialJpeg::Decode(ByteView jpeg, const Region* region, const DecodeOptions& options,
                            JpegReader& reader, Image& out) {
  int channels = 0;
  if (!Start(jpeg, region, options, reader, channels)) return false;
  out.Reshape(region_.width, region_.height, channels);
  return DecodeRows([&](int first, int end) { PutOut(first, end, out); }) &&
         IsWellBehaved(region == nullptr);
}

bool SequentialJpeg::DecodePlanes(ByteView jpeg, const Region& region, const DecodeOptions& options,
                                  JpegReader& reader, JpegPlanes& planes) {
  int channels = 0;
  if (!Start(jpeg, &region, options, reader, channels) || !is_ycc_) return false;
  planes.step_x = mcu_width_ / kBlockSide;
  planes.step_y = mcu_height_ / kBlockSide;
  const auto samples = [](int first, int size, int step) {
    return (first + size - 1) / step - first / step + 1;
  };
  planes.samples[0].Reshape(region.width, region.height, 1);
  for (const int i : {1, 2}) {
    planes.samples[i].Reshape(samples(region.x, region.width, planes.step_x),
                              samples(region.y, region.height, planes.step_y), 1);
  }
  return DecodeRows([&](int first, int end) { PutOutPlanes(first, end, planes); }) &&
         IsWellBehaved(false);
}

// Checks the state of the file where decoding stopped.
bool SequentialJpeg::IsWellBehaved(bool at_end) {
  if (at_end) return stream_.IsAtEnd(bits_) && stream_.FindMarker() == jpeg_marker::kEoi;
  return !stream_.IsBeyondEnd(bits_) && !stream_.is_cut();
}

// A row of pixels is written once the samples below it are decoded.
template <typename Put>
bool SequentialJpeg::DecodeRows(Put&& put_out) {
  int done = 0;
  if (!SkipMcus(wanted_rows_.first * mcus_per_row_)) return false;
  for (int row = wanted_rows_.first; row < wanted_rows_.end; ++row) {
    const bool is_last = row + 1 == wanted_rows_.end;
    const int columns = mcu_columns_.end - mcu_columns_.first;
    if (!SkipMcus(mcu_columns_.first) || !DecodeMcus(row, mcu_columns_.first, columns)) {
      return false;
    }
    if (!is_last && !SkipMcus(mcus_per_row_ - mcu_columns_.end)) return false;
    PadRows(row);
    const int below = mcu_height_ > kBlockSide ? 1 : 0;
    const int ready =
        is_last ? region_.height : std::max(0, (row + 1) * mcu_height_ - below - region_.y);
    put_out(done, ready);
    done = ready;
  }
  return true;
}

void SequentialJpeg::StartSegment(size_t at) {
  stream_.Start(jpeg_, at);
  bits_ = {};
  left_in_segment_ = interval_;
  is_abandoned_ = false;
  for (Component& c : components_) c.dc = 0;
}

bool SequentialJpeg::NextSegment() {
  if (!is_abandoned_ && !stream_.IsAtEnd(bits_)) return false;
  if (stream_.FindMarker() != jpeg_marker::kRst0 + next_restart_) return false;
  next_restart_ = (next_restart_ + 1) % 8;
  StartSegment(stream_.after_marker());
  return true;
}

bool SequentialJpeg::SkipMcus(int count) {
  if (interval_ == 0) return RunMcus<false>(0, 0, count);
  while (count > 0) {
    if (left_in_segment_ == 0 && !NextSegment()) return false;
    const int run = std::min(count, left_in_segment_);
    is_abandoned_ = run == left_in_segment_;
    if (!is_abandoned_ && !RunMcus<false>(0, 0, run)) return false;
    left_in_segment_ -= run;
    count -= run;
  }
  return true;
}

bool SequentialJpeg::DecodeMcus(int row, int column, int count) {
  if (interval_ == 0) return RunMcus<true>(row, column, count);
  while (count > 0) {
    if (left_in_segment_ == 0 && !NextSegment()) return false;
    const int run = std::min(count, left_in_segment_);
    if (!RunMcus<true>(row, column, run)) return false;
    column += run;
    left_in_segment_ -= run;
    count -= run;
  }
  return true;
}

template <bool kWanted>
bool SequentialJpeg::RunMcus(int row, int column, int count) {
  if (bits_.next == nullptr) bits_.next = stream_.Open();
  coded_ += count;
  JpegBits bits = bits_;  // a local copy stays in registers
  for (const int end = column + count; column < end; ++column) {
    if (!stream_.Prepare(bits)) return false;
    for (int i = 0; i < component_count_; ++i) {
      Component& c = components_[i];
      for (int block = 0; block < c.v * c.h; ++block) {
        const int y = row * c.v + block / c.h, x = column * c.h + block % c.h;
        const bool wanted = kWanted && c.columns.Has(x) && c.rows.Has(y);
        if (!(wanted ? DecodeBlock(bits, c, x, y) : SkipBlock(bits, c))) return false;
      }
    }
  }
  bits_ = bits;
  return true;
}

inline bool SequentialJpeg::SkipBlock(JpegBits& bits, Component& c) {
  const int last = DecodeHuffmanBlock(bits, *c.dc_codes, *c.ac_codes, c.dc, [](int, int) {});
  return last >= 0 && std::abs(c.dc) <= kMaxDc;
}

inline bool SequentialJpeg::DecodeBlock(JpegBits& bits, Component& c, int x, int y) {
  const int last =
      DecodeHuffmanBlock(bits, *c.dc_codes, *c.ac_codes, c.dc, [this](int k, int value) {
        block_[kZigzagIndex[static_cast<size_t>(k)]] = static_cast<int16_t>(value);
      });
  if (last < 0 || std::abs(c.dc) > kMaxDc) return false;
  uint8_t* to = c.At(x * kBlockSide, y * kBlockSide);
  if (last == 0) return InverseDctOfDc(c.dc * c.quantisers[0], to, c.stride);
  block_[0] = static_cast<int16_t>(c.dc);
  return kernels_->inverse_dct(block_, c.quantisers, to, c.stride);
}

}  // namespace recpack
