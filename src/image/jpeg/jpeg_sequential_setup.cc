// Preparation of SequentialJpeg: tells whether it decodes a file, and takes its tables and sizes.
#include <algorithm>

#include "recpack/base/error.h"
#include "src/image/checks.h"
#include "src/image/jpeg/decode_jpeg.h"
#include "src/image/jpeg/jpeg_sequential.h"

namespace recpack {
namespace {

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

}  // namespace recpack
