#include "recpack/image/jpeg_tile.h"

#include <algorithm>
#include <string>

#include "recpack/base/error.h"
#include "recpack/image/header.h"
#include "src/base/format.h"
#include "src/image/jpeg/jpeg_coefficients.h"
#include "src/image/jpeg/jpeg_session.h"

namespace recpack {
namespace {

constexpr int kMarkerDataMax = 0xFFFF;

[[noreturn]] void ThrowUnsupported(const std::string& reason) {
  throw Error(ErrorKind::kUnsupported, reason);
}

void KeepMarkers(JpegReader& reader) {
  reader.Run([&] {
    jpeg_save_markers(&reader.info(), JPEG_COM, kMarkerDataMax);
    for (int i = 0; i < 16; ++i) jpeg_save_markers(&reader.info(), JPEG_APP0 + i, kMarkerDataMax);
  });
}

jvirt_barray_ptr* ReadSource(JpegReader& reader, ByteView jpeg, uint64_t max_pixels) {
  if (ReadImageHeader(jpeg).format != ImageFormat::kJpeg) ThrowUnsupported("not a JPEG");
  reader.Open(jpeg);
  KeepMarkers(reader);
  reader.ReadHeader(max_pixels);
  const jpeg_decompress_struct& info = reader.info();
  if (info.arith_code) ThrowUnsupported("the JPEG is arithmetic coded");
  if (info.num_components > 4) ThrowUnsupported("the JPEG has more than four components");
  jvirt_barray_ptr* blocks = ReadCoefficients(reader);
  if (LeavesOutCoefficients(info)) {
    ThrowUnsupported("the scans of the progressive JPEG leave out coefficients");
  }
  return blocks;
}

// Returns the MCU width of a single scan with all components. The MCU of a single component is one
// block, with any factors.
int McuWidth(const jpeg_decompress_struct& info) {
  return info.num_components == 1 ? DCTSIZE : DCTSIZE * info.max_h_samp_factor;
}

void WriteMarkers(jpeg_compress_struct& to, const jpeg_decompress_struct& from) {
  for (auto* marker = from.marker_list; marker != nullptr; marker = marker->next) {
    jpeg_write_marker(&to, marker->marker, marker->data, marker->data_length);
  }
}

ByteBuffer WriteTiled(JpegReader& reader, jvirt_barray_ptr* blocks, size_t expected_bytes,
                      int target_pixels) {
  jpeg_decompress_struct& from = reader.info();
  const int mcu_width = McuWidth(from);
  const int mcus = (static_cast<int>(from.image_width) + mcu_width - 1) / mcu_width;
  JpegWriter writer;
  writer.Open(expected_bytes);
  jpeg_compress_struct& to = writer.info();
  writer.Run([&] {
    jpeg_copy_critical_parameters(&from, &to);
    to.optimize_coding = TRUE;
    to.restart_interval =
        static_cast<unsigned>(ChooseRestartInterval(mcus, mcu_width, target_pixels));
    // The source's JFIF header is copied with its other markers.
    to.write_JFIF_header = FALSE;
    to.write_Adobe_marker = FALSE;
    jpeg_write_coefficients(&to, blocks);
    WriteMarkers(to, from);
    jpeg_finish_compress(&to);
  });
  return writer.TakeFile();
}

// Returns the ratio between width and target, at least 1.
double DistanceRatio(int width, int target) {
  return width > target ? static_cast<double>(width) / target : static_cast<double>(target) / width;
}

}  // namespace

int ChooseRestartInterval(int mcus_per_row, int mcu_width, int target_pixels) noexcept {
  int best = mcus_per_row;
  double best_ratio = 0;  // 0: none found yet
  for (int divisor = mcus_per_row; divisor >= 1; --divisor) {
    const int width = divisor * mcu_width;
    const bool near = 2 * width >= target_pixels && width <= 4 * target_pixels;
    if (mcus_per_row % divisor != 0 || !near) continue;
    const double ratio = DistanceRatio(width, target_pixels);
    if (best_ratio == 0 || ratio < best_ratio) {
      best = divisor;
      best_ratio = ratio;
    }
  }
  return best;
}

ByteBuffer TileJpeg(ByteView jpeg, const TileOptions& options) {
  JpegReader source;
  jvirt_barray_ptr* blocks = ReadSource(source, jpeg, options.max_pixels);
  ByteBuffer tiled;
  try {
    tiled = WriteTiled(source, blocks, jpeg.size() + jpeg.size() / 8, options.target_pixels);
  } catch (const Error& error) {
    ThrowUnsupported("cannot be a sequential JPEG of one scan: " + error.reason());
  }
  JpegReader proof;
  proof.Open(tiled);
  proof.ReadHeader(options.max_pixels);
  if (const char* difference = FindDifference(source, blocks, proof, ReadCoefficients(proof))) {
    ThrowUnsupported(format("rewriting the JPEG would change {}", difference));
  }
  return tiled;
}

}  // namespace recpack
