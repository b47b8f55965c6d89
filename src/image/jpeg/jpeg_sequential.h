// Our decoder for the usual kind of JPEG: sequential, Huffman coded, 8 bits, one scan of one
// component or three, not subsampled, or chroma to half the width or to half of both sides.
//
// Its pixels are libjpeg-turbo's, bit for bit. It refuses everything else, and every file that is
// not as it should be: those are libjpeg's.
#pragma once

#include <array>
#include <vector>

#include "recpack/image/decode.h"
#include "src/image/jpeg/jpeg_kernels.h"
#include "src/image/jpeg/jpeg_session.h"
#include "src/image/jpeg/jpeg_stream.h"

namespace recpack {

// The planes of a colour picture's region as they are stored.
struct JpegPlanes {
  std::array<Image, 3> samples;  // Y, Cb, Cr: those that hold the region's pixels
  int step_x = 1, step_y = 1;    // pixels for which Cb and Cr have a sample
};

// Decodes one JPEG after another and keeps its buffers. One thread at a time.
class SequentialJpeg {
 public:
  // Uses `kernels`, or the best for this CPU.
  explicit SequentialJpeg(const JpegKernels* kernels = nullptr);

  // Decodes `region` of `jpeg`, or all of it with its end checked. `reader` reads the header.
  // False, with undefined pixels in `out`, where this is a task for libjpeg: also where that will
  // find an error. Throws Error (kInvalidArgument) for a region that is not inside the image.
  bool Decode(ByteView jpeg, const Region* region, const DecodeOptions& options, JpegReader& reader,
              Image& out);

  // The same, before the colours are widened to the size of Y and converted. False besides for
  // other colours than YCbCr.
  bool DecodePlanes(ByteView jpeg, const Region& region, const DecodeOptions& options,
                    JpegReader& reader, JpegPlanes& planes);

  // Of the picture decoded last: the share of its MCUs whose coefficients were read, wanted or not.
  double coded_share() const noexcept {
    const double all = static_cast<double>(mcus_per_row_) * mcu_rows_;
    return all > 0 ? coded_ / all : 1;
  }

 private:
  struct Range {
    int first = 0, end = 0;
    bool Has(int i) const noexcept { return i >= first && i < end; }
  };

  // What one component of the scan needs. A plane holds its blocks of two rows of MCUs, those of
  // an even row first.
  struct Component {
    int h = 1, v = 1;           // blocks of an MCU
    int width = 0, height = 0;  // samples
    Range columns, rows;        // blocks whose samples are wanted
    const JpegHuffmanTable* dc_codes = nullptr;
    const JpegHuffmanTable* ac_codes = nullptr;
    alignas(32) int16_t quantisers[kBlockSize];
    int dc = 0;
    std::vector<uint8_t> plane;
    size_t stride = 0;

    // The sample in column `x` and row `y` of the whole component; kSamplePadding more are beside
    // the wanted columns.
    uint8_t* At(int x, int y) noexcept {
      const int row = y % (2 * v * kBlockSide);
      return plane.data() + static_cast<size_t>(row) * stride + kSamplePadding +
             (x - columns.first * kBlockSide);
    }
  };

  // Reads the header and gets ready to decode; `channels` of the pixels.
  bool Start(ByteView jpeg, const Region* region, const DecodeOptions& options, JpegReader& reader,
             int& channels);
  bool IsWellBehaved(bool at_end);
  bool SetUp(const jpeg_decompress_struct& info);
  bool SetUpTables(const jpeg_decompress_struct& info, int component);
  void SetUpRegion(const Region& region);
  // `put_out` gets the rows of the region, by first and end, when what they are made of is there.
  template <typename Put>
  bool DecodeRows(Put&& put_out);

  // Goes on by `count` MCUs, which are in row `row`, or anywhere. Segments of which nothing is
  // wanted any more are left at once.
  bool DecodeMcus(int row, int column, int count);
  bool SkipMcus(int count);
  // The same within one segment.
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
  int interval_ = 0;           // MCUs of a segment; 0: all
  int left_in_segment_ = 0;    // where interval_ > 0
  int next_restart_ = 0;       // number of the marker after the segment, 0..7
  bool is_abandoned_ = false;  // the segment's rest is not wanted
  double coded_ = 0;           // MCUs read, of this picture
  Region region_;
  Range mcu_columns_, wanted_rows_;  // MCUs
  alignas(32) int16_t block_[kBlockSize] = {};
  std::vector<uint8_t> wide_[2];
};

}  // namespace recpack
