// Kernels that turn JPEG coefficients into pixels, for each CPU level. All are bit-identical to
// libjpeg-turbo's slow integer inverse DCT, smooth upsampling and colour conversion; the scalar
// ones are the reference.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace recpack {

constexpr int kBlockSide = 8;
constexpr int kBlockSize = 64;

// Index of a coefficient, or its quantiser, by row and column of the block. Pairs of rows (0,4),
// (2,6), (1,3), (5,7) are interleaved for VPMADDWD, and columns are ordered likewise, since they
// are rows of the second pass.
constexpr int BlockIndex(int row, int column) {
  constexpr int kPlaces[kBlockSide] = {0, 4, 2, 5, 1, 6, 3, 7};
  return kPlaces[row] / 2 * 16 + kPlaces[column] * 2 + kPlaces[row] % 2;
}

// BlockIndex() by place in zigzag order.
extern const std::array<uint8_t, kBlockSize> kZigzagIndex;

// Blocks whose dequantised coefficients have a larger sum of absolute values are refused: they may
// overflow the 16 bits of libjpeg's SIMD code, whose output then depends on the CPU. Blocks of real
// images stay below, except for noise between the extremes.
constexpr int kMaxBlockSum = 5900;

// Limit of quantisers: with up to 10 bits of AC coefficients and 15 of DC, sums fit into 32 bits.
constexpr int kMaxQuantiser = 16383;

// The inverse DCT is that of libjpeg's jidctint.c (Loeffler, Ligtenberg and Moschytz) with its
// products multiplied out, which gives identical results. Factors have kDctBits fractional bits;
// columns are transformed first and rounded to kDctPassBits fractional bits, then rows.
constexpr int kDctBits = 13;
constexpr int kDctPassBits = 2;
constexpr int16_t kDctEven[2][2] = {{10703, 4433}, {4433, -10704}};  // for inputs 2 and 6
constexpr int16_t kDctOdd[4][4] = {{11363, 9633, 6437, 2260},        // for inputs 1, 3, 5 and 7
                                   {9633, -2259, -11362, -6436},
                                   {6437, -11362, 2261, 9633},
                                   {2260, -6436, 9633, -11363}};

// Bytes that kernels may read and write past the end of a row. `to_rgb` writes none.
constexpr size_t kSamplePadding = 64;

struct JpegKernels {
  const char* name;

  // Computes the 8x8 pixels of a block and clears its coefficients. Returns false if the block is
  // refused. Coefficients and quantisers are in the order of BlockIndex(); quantisers are at most
  // kMaxQuantiser.
  bool (*inverse_dct)(int16_t* block, const int16_t* quantisers, uint8_t* to, size_t stride);

  // Upsamples `count` samples horizontally by 2; also reads from[-1] and from[count].
  void (*widen)(const uint8_t* from, int count, uint8_t* to);

  // Upsamples horizontally and vertically by 2, for the output row that is nearer to `near`.
  void (*widen_between)(const uint8_t* near, const uint8_t* far, int count, uint8_t* to);

  // Converts YCbCr to RGB.
  void (*to_rgb)(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int pixels, uint8_t* rgb);
};

// Computes the pixels of a block that has only a DC coefficient.
bool InverseDctOfDc(int dc, uint8_t* to, size_t stride);

// Returns the kernels that this process may use, scalar first, fastest last.
std::span<const JpegKernels* const> AvailableJpegKernels() noexcept;

extern const JpegKernels kScalarJpeg;
#if defined(__x86_64__)
extern const JpegKernels kAvx2Jpeg;
#endif

}  // namespace recpack
