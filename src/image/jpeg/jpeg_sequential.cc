#include "src/image/jpeg/jpeg_sequential.h"

#include <algorithm>
#include <cstdlib>

#include "recpack/base/error.h"
#include "src/image/checks.h"
#include "src/image/jpeg/decode_jpeg.h"
#include "src/image/jpeg/jpeg_markers.h"

namespace recpack {
namespace {

static_assert(JpegStream::kReach >= 6 * kMaxBlockBytes + 16, "an MCU has up to six blocks");

constexpr int kMaxDc = INT16_MAX;

int CeilDiv(int a, int b) { return (a + b - 1) / b; }

bool HasUsualOptions(const DecodeOptions& options) {
  return !options.allow_damage && !options.fast_dct && options.fancy_upsampling &&
         options.scale_denominator == 1;
}

// Tells whether the file has one scan of all components in frame order, with full coefficients.
bool HasOneScan(const jpeg_decompress_struct& info) {
  if (info.progressive_mode || info.arith_code || info.data_precision != 8) return false;
  if (info.Ss != 0 || info.Se != 63 || info.Ah != 0 || info.Al != 0) return false;
  if (info.comps_in_scan != info.num_components) return false;
  for (int i = 0; i < info.comps_in_scan; ++i) {
    if (info.cur_comp_info[i] != &info.comp_info[i]) return false;
  }
  return true;
}

// Tells whether the file has one component, with any factors, or three with a supported sampling.
// libjpeg does not upsample smoothly if a component has less than three samples per row.
bool HasUsualSampling(const jpeg_decompress_struct& info) {
  if (info.num_components == 1) return info.jpeg_color_space == JCS_GRAYSCALE;
  if (info.num_components != 3) return false;
  const jpeg_component_info* c = info.comp_info;
  const int h = c[0].h_samp_factor, v = c[0].v_samp_factor;
  for (int i = 1; i < 3; ++i) {
    if (c[i].h_samp_factor != 1 || c[i].v_samp_factor != 1) return false;
  }
  if (h > 2 || v > h) return false;
  if (info.jpeg_color_space == JCS_RGB) return h == 1;
  return info.jpeg_color_space == JCS_YCbCr && (h == 1 || info.image_width > 4);
}

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

bool SequentialJpeg::Start(ByteView jpeg, const Region* region, const DecodeOptions& options,
                           JpegReader& reader, int& channels) {
  if (!HasUsualOptions(options)) return false;
  try {
    reader.Open(jpeg);
    reader.ReadHeader(options.max_pixels);
    channels = SetUpJpeg(reader, options);
  } catch (const Error&) {
    return false;
  }
  const jpeg_decompress_struct& info = reader.info();
  if (reader.is_damaged() || !SetUp(info)) return false;
  const int width = static_cast<int>(info.image_width),
            height = static_cast<int>(info.image_height);
  if (region != nullptr) CheckRegion(*region, width, height);
  SetUpRegion(region != nullptr ? *region : Region{0, 0, width, height});
  jpeg_ = jpeg;
  std::fill(std::begin(block_), std::end(block_), int16_t{0});
  next_restart_ = 0;
  coded_ = 0;
  StartSegment(jpeg.size() - info.src->bytes_in_buffer);
  return true;
}

// Checks the state of the file where decoding stopped.
bool SequentialJpeg::IsWellBehaved(bool at_end) {
  if (at_end) return stream_.IsAtEnd(bits_) && stream_.FindMarker() == jpeg_marker::kEoi;
  return !stream_.IsBeyondEnd(bits_) && !stream_.is_cut();
}

bool SequentialJpeg::SetUp(const jpeg_decompress_struct& info) {
  if (!HasOneScan(info) || !HasUsualSampling(info)) return false;
  component_count_ = info.num_components;
  is_ycc_ = info.jpeg_color_space == JCS_YCbCr;
  const bool single = component_count_ == 1;
  const int max_h = single ? 1 : info.max_h_samp_factor,
            max_v = single ? 1 : info.max_v_samp_factor;
  mcu_width_ = max_h * kBlockSide;
  mcu_height_ = max_v * kBlockSide;
  const int width = static_cast<int>(info.image_width),
            height = static_cast<int>(info.image_height);
  mcus_per_row_ = CeilDiv(width, mcu_width_);
  mcu_rows_ = CeilDiv(height, mcu_height_);
  interval_ = static_cast<int>(info.restart_interval);
  for (int i = 0; i < component_count_; ++i) {
    Component& c = components_[i];
    c.h = single ? 1 : info.comp_info[i].h_samp_factor;
    c.v = single ? 1 : info.comp_info[i].v_samp_factor;
    c.width = CeilDiv(width * c.h, max_h);
    c.height = CeilDiv(height * c.v, max_v);
    if (!SetUpTables(info, i)) return false;
  }
  return true;
}

bool SequentialJpeg::SetUpTables(const jpeg_decompress_struct& info, int component) {
  const jpeg_component_info& from = info.comp_info[component];
  Component& to = components_[component];
  const auto in_range = [](int table) { return table >= 0 && table < 4; };
  if (!in_range(from.quant_tbl_no) || !in_range(from.dc_tbl_no) || !in_range(from.ac_tbl_no)) {
    return false;
  }
  const JQUANT_TBL* quantisers = info.quant_tbl_ptrs[from.quant_tbl_no];
  const JHUFF_TBL* dc = info.dc_huff_tbl_ptrs[from.dc_tbl_no];
  const JHUFF_TBL* ac = info.ac_huff_tbl_ptrs[from.ac_tbl_no];
  if (quantisers == nullptr || dc == nullptr || ac == nullptr) return false;
  // libjpeg keeps quantisers in natural order.
  for (int i = 0; i < kBlockSize; ++i) {
    const int value = quantisers->quantval[i];
    if (value > kMaxQuantiser) return false;
    to.quantisers[BlockIndex(i / kBlockSide, i % kBlockSide)] = static_cast<int16_t>(value);
  }
  JpegHuffmanTable& dc_codes = dc_codes_[static_cast<size_t>(from.dc_tbl_no)];
  JpegHuffmanTable& ac_codes = ac_codes_[static_cast<size_t>(from.ac_tbl_no)];
  to.dc_codes = &dc_codes;
  to.ac_codes = &ac_codes;
  return dc_codes.Assign(JpegHuffmanTable::Kind::kDc, dc->bits, dc->huffval) &&
         ac_codes.Assign(JpegHuffmanTable::Kind::kAc, ac->bits, ac->huffval);
}

// Selects the blocks with the region's samples and those that smooth upsampling mixes with them.
void SequentialJpeg::SetUpRegion(const Region& region) {
  region_ = region;
  const auto blocks = [](int first, int size, int factor, int samples) {
    const int margin = factor > 1 ? 1 : 0;
    const int last = std::min((first + size - 1) / factor + margin, samples - 1);
    return Range{std::max(0, first / factor - margin) / kBlockSide, last / kBlockSide + 1};
  };
  mcu_columns_ = {INT32_MAX, 0};
  wanted_rows_ = {INT32_MAX, 0};
  const auto widen = [](Range& range, const Range& by, int factor) {
    range.first = std::min(range.first, by.first / factor);
    range.end = std::max(range.end, CeilDiv(by.end, factor));
  };
  for (int i = 0; i < component_count_; ++i) {
    Component& c = components_[i];
    c.columns = blocks(region.x, region.width, mcu_width_ / (kBlockSide * c.h), c.width);
    c.rows = blocks(region.y, region.height, mcu_height_ / (kBlockSide * c.v), c.height);
    widen(mcu_columns_, c.columns, c.h);
    widen(wanted_rows_, c.rows, c.v);
    const size_t width = static_cast<size_t>(c.columns.end - c.columns.first) * kBlockSide;
    c.stride = width + 2 * kSamplePadding;
    const size_t rows = size_t{2} * static_cast<size_t>(c.v) * kBlockSide;
    c.plane.resize(std::max(c.plane.size(), rows * c.stride + kSamplePadding));
  }
  for (auto& wide : wide_) {
    wide.resize(std::max(wide.size(), static_cast<size_t>(region.width) + 2 * kSamplePadding));
  }
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

// Replicates the edge samples beside the image.
void SequentialJpeg::PadRows(int mcu_row) {
  if (mcu_width_ == kBlockSide) return;
  for (int i = 1; i < component_count_; ++i) {
    Component& c = components_[i];
    for (int y = mcu_row * kBlockSide; y < (mcu_row + 1) * kBlockSide; ++y) {
      if (c.columns.first == 0) *c.At(-1, y) = *c.At(0, y);
      if (c.columns.end * kBlockSide >= c.width) *c.At(c.width, y) = *c.At(c.width - 1, y);
    }
  }
}

void SequentialJpeg::PutOut(int first, int end, Image& out) {
  for (int y = first; y < end; ++y) {
    const uint8_t* samples = components_[0].At(region_.x, region_.y + y);
    if (out.channels == 1) {
      std::copy_n(samples, region_.width, out.row(y));
    } else {
      PutOutRgb(samples, region_.y + y, out.row(y));
    }
  }
}

void SequentialJpeg::PutOutRgb(const uint8_t* first, int y, uint8_t* rgb) {
  const uint8_t* samples[3] = {first, first, first};
  if (component_count_ == 3) {
    samples[1] = ChromaRow(1, y);
    samples[2] = ChromaRow(2, y);
  }
  if (is_ycc_) {
    kernels_->to_rgb(samples[0], samples[1], samples[2], region_.width, rgb);
    return;
  }
  for (int x = 0; x < region_.width; ++x, rgb += 3) {
    for (int c = 0; c < 3; ++c) rgb[c] = samples[c][x];
  }
}

void SequentialJpeg::PutOutPlanes(int first, int end, JpegPlanes& planes) {
  for (int i = 0; i < 3; ++i) {
    const int step_x = i == 0 ? 1 : planes.step_x, step_y = i == 0 ? 1 : planes.step_y;
    Image& plane = planes.samples[i];
    for (int row = first; row < end; ++row) {
      const int y = region_.y + row;
      if (row > 0 && y % step_y != 0) continue;
      const uint8_t* samples = components_[i].At(region_.x / step_x, y / step_y);
      std::copy_n(samples, plane.width, plane.row(y / step_y - region_.y / step_y));
    }
  }
}

// Returns the region's samples of image row `y`, smoothly upsampled.
const uint8_t* SequentialJpeg::ChromaRow(int component, int y) {
  Component& c = components_[component];
  if (mcu_width_ == kBlockSide) return c.At(region_.x, y);
  uint8_t* wide = wide_[component - 1].data();
  const int x = region_.x / 2, count = (region_.x + region_.width - 1) / 2 + 1 - x;
  if (mcu_height_ == kBlockSide) {
    kernels_->widen(c.At(x, y), count, wide);
  } else {
    const int far = std::clamp(y % 2 == 0 ? y / 2 - 1 : y / 2 + 1, 0, c.height - 1);
    kernels_->widen_between(c.At(x, y / 2), c.At(x, far), count, wide);
  }
  return wide + region_.x % 2;
}

}  // namespace recpack
