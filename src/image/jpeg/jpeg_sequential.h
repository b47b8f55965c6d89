// Fast decoder for common JPEGs: sequential, Huffman coded, 8 bits, one scan of one or three
// components, with 4:4:4, 4:2:2 or 4:2:0 sampling.
//
// Bit-identical to libjpeg-turbo. It refuses all other files, including damaged ones, which are
// left to libjpeg.
#pragma once

#include <array>
#include <vector>

#include "recpack/image/decode.h"
#include "src/image/jpeg/jpeg_kernels.h"
#include "src/image/jpeg/jpeg_session.h"
#include "src/image/jpeg/jpeg_stream.h"

namespace recpack {

// Stored planes of a region of a colour image.
struct JpegPlanes {
  std::array<Image, 3> samples;  // Y, Cb, Cr samples that cover the region
  int step_x = 1, step_y = 1;    // pixels per sample of Cb and Cr
};

// Decodes JPEGs. Reuse it: it keeps its buffers. Not thread-safe.
class SequentialJpeg {
 public:
  // Uses `kernels`, or by default the best for this CPU.
  explicit SequentialJpeg(const JpegKernels* kernels = nullptr);

  // Decodes `region` of `jpeg`, or if null all of it, checking its end. `reader` parses the header.
  // Returns false, with undefined pixels in `out`, if libjpeg must decode the file, possibly to
  // report an error. Throws Error (kInvalidArgument) for a region that is not inside the image.
  bool Decode(ByteView jpeg, const Region* region, const DecodeOptions& options, JpegReader& reader,
              Image& out);

  // Like Decode(), but without upsampling and colour conversion. Also returns false for colour
  // spaces other than YCbCr.
  bool DecodePlanes(ByteView jpeg, const Region& region, const DecodeOptions& options,
                    JpegReader& reader, JpegPlanes& planes);

  // Returns the fraction of the MCUs of the last image whose coefficients were read, wanted or not.
  double coded_share() const noexcept {
    const double all = static_cast<double>(mcus_per_row_) * mcu_rows_;
    return all > 0 ? coded_ / all : 1;
  }

 private:
  struct Range {
    int first = 0, end = 0;
    bool Has(int i) const noexcept { return i >= first && i < end; }
  };

  // State of one component of the scan. `plane` holds the blocks of two rows of MCUs, those of the
  // even row first.
  struct Component {
    int h = 1, v = 1;           // blocks per MCU
    int width = 0, height = 0;  // samples
    Range columns, rows;        // blocks whose samples are needed
    const JpegHuffmanTable* dc_codes = nullptr;
    const JpegHuffmanTable* ac_codes = nullptr;
    alignas(32) int16_t quantisers[kBlockSize];
    int dc = 0;
    std::vector<uint8_t> plane;
    size_t stride = 0;

    // Returns the address of the sample in column `x` and row `y` of the component. kSamplePadding
    // bytes are allocated on both sides of the needed columns.
    uint8_t* At(int x, int y) noexcept {
      const int row = y % (2 * v * kBlockSide);
      return plane.data() + static_cast<size_t>(row) * stride + kSamplePadding +
             (x - columns.first * kBlockSide);
    }
  };

  // Parses the header and prepares decoding; sets `channels`.
  bool Start(ByteView jpeg, const Region* region, const DecodeOptions& options, JpegReader& reader,
             int& channels);
  bool IsWellBehaved(bool at_end);
  bool SetUp(const jpeg_decompress_struct& info);
  bool SetUpTables(const jpeg_decompress_struct& info, int component);
  void SetUpRegion(const Region& region);
  // Calls put_out(first, end) for rows of the region once their samples are decoded.
  template <typename Put>
  bool DecodeRows(Put&& put_out);

  // Decode or skip `count` MCUs. The rest of a segment that is not needed is skipped without
  // decoding.
  bool DecodeMcus(int row, int column, int count);
  bool SkipMcus(int count);
  // Decodes (kWanted) or skips MCUs within one segment.
  template <bool kWanted>
  bool RunMcus(int row, int column, int count);
  bool DecodeBlock(JpegBits& bits, Component& c, int x, int y);
  bool SkipBlock(JpegBits& bits, Component& c);

  void StartSegment(size_t at);
  bool NextSegment();

  void PadRows(int mcu_row);
  void PutOut(int first, int end, Image& out);
  void PutOutRgb(const uint8_t* first, int y, uint8_t* rgb);
  void PutOutPlanes(int first, int end, JpegPlanes& planes);
  const uint8_t* ChromaRow(int component, int y);

  const JpegKernels* kernels_;
  ByteView jpeg_;
  JpegStream stream_;
  JpegBits bits_;
  std::array<JpegHuffmanTable, 4> dc_codes_, ac_codes_;
  std::array<Component, 3> components_;
  int component_count_ = 0;
  bool is_ycc_ = false;
  int mcu_width_ = 0, mcu_height_ = 0;  // pixels
  int mcus_per_row_ = 0, mcu_rows_ = 0;
  int interval_ = 0;           // MCUs per segment; 0: one segment
  int left_in_segment_ = 0;    // MCUs left, if interval_ > 0
  int next_restart_ = 0;       // number of the marker after the segment, 0..7
  bool is_abandoned_ = false;  // the rest of the segment is not needed
  double coded_ = 0;           // MCUs read of this image
  Region region_;
  Range mcu_columns_, wanted_rows_;  // MCUs
  alignas(32) int16_t block_[kBlockSize] = {};
  std::vector<uint8_t> wide_[2];
};

}  // namespace recpack
