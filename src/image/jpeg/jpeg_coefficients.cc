#include "src/image/jpeg/jpeg_coefficients.h"

#include <algorithm>
#include <cstring>

namespace recpack {
namespace {

bool SameTables(const jpeg_component_info& a, const jpeg_component_info& b) {
  if (a.quant_table == nullptr || b.quant_table == nullptr) return a.quant_table == b.quant_table;
  return std::memcmp(a.quant_table->quantval, b.quant_table->quantval,
                     sizeof a.quant_table->quantval) == 0;
}

bool SameComponent(const jpeg_component_info& a, const jpeg_component_info& b) {
  return a.component_id == b.component_id && a.h_samp_factor == b.h_samp_factor &&
         a.v_samp_factor == b.v_samp_factor && a.width_in_blocks == b.width_in_blocks &&
         a.height_in_blocks == b.height_in_blocks;
}

const JBLOCK* BlockRow(jpeg_decompress_struct& info, jvirt_barray_ptr blocks, JDIMENSION row) {
  return info.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&info), blocks, row, 1,
                                      FALSE)[0];
}

}  // namespace

jvirt_barray_ptr* ReadCoefficients(JpegReader& reader) {
  jvirt_barray_ptr* blocks = nullptr;
  reader.Run([&] { blocks = jpeg_read_coefficients(&reader.info()); });
  reader.ThrowIfDamaged();
  return blocks;
}

bool LeavesOutCoefficients(const jpeg_decompress_struct& info) {
  if (info.coef_bits == nullptr) return false;
  for (int c = 0; c < info.num_components; ++c) {
    const int* bits = info.coef_bits[c];
    if (std::any_of(bits, bits + DCTSIZE2, [](int lacking) { return lacking != 0; })) return true;
  }
  return false;
}

const char* FindDifference(JpegReader& a, jvirt_barray_ptr* a_blocks, JpegReader& b,
                           jvirt_barray_ptr* b_blocks) {
  jpeg_decompress_struct& x = a.info();
  jpeg_decompress_struct& y = b.info();
  if (x.image_width != y.image_width || x.image_height != y.image_height) return "the size";
  if (x.num_components != y.num_components) return "the number of components";
  if (x.jpeg_color_space != y.jpeg_color_space) return "the colour space";
  for (int c = 0; c < x.num_components; ++c) {
    const jpeg_component_info& component = x.comp_info[c];
    if (!SameComponent(component, y.comp_info[c])) return "the sampling";
    if (!SameTables(component, y.comp_info[c])) return "the quantisation tables";
    const size_t row_bytes = component.width_in_blocks * sizeof(JBLOCK);
    for (JDIMENSION row = 0; row < component.height_in_blocks; ++row) {
      const JBLOCK *left = nullptr, *right = nullptr;
      a.Run([&] { left = BlockRow(x, a_blocks[c], row); });
      b.Run([&] { right = BlockRow(y, b_blocks[c], row); });
      if (std::memcmp(left, right, row_bytes) != 0) return "the coefficients";
    }
  }
  return nullptr;
}

}  // namespace recpack
