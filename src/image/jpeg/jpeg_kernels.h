// The inner loops that make pixels of a JPEG's coefficients, for each kind of CPU. All give the
// bits of libjpeg-turbo's slow integer inverse DCT, smooth upsampling and colours; the scalar ones
// define them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace recpack {

constexpr int kBlockSide = 8;
constexpr int kBlockSize = 64;

// Where the kernels want a coefficient, or its quantiser, of a block's row and column: pairs of
// rows (0,4), (2,6), (1,3), (5,7) lie together, coefficient by coefficient, for VPMADDWD, and so do
// the columns, which are rows of the second pass.
constexpr int BlockIndex(int row, int column) {
  constexpr int kPlaces[kBlockSide] = {0, 4, 2, 5, 1, 6, 3, 7};
  return kPlaces[row] / 2 * 16 + kPlaces[column] * 2 + kPlaces[row] % 2;
}

// BlockIndex() by place in zigzag order.
extern const std::array<uint8_t, kBlockSize> kZigzagIndex;

// Blocks whose dequantised coefficients have a larger sum of absolute values are refused: the
// 16 bits of libjpeg's SIMD code might not hold them, and what it then puts out depends on the
// CPU. Blocks of pixels stay below, but for noise of the extremes.
constexpr int kMaxBlockSum = 5900;

// Of quantisers, with up to 10 bits of AC coefficients and 15 of DC: their sum fits into 32 bits.
constexpr int kMaxQuantiser = 16383;

// The inverse DCT is that of libjpeg's jidctint.c (Loeffler, Ligtenberg and Moschytz) with its
// products multiplied out, which changes no bit: factors with kDctBits bits of fraction; columns
// first, rounded to kDctPassBits bits of fraction, then rows.
constexpr int kDctBits = 13;
constexpr int kDctPassBits = 2;
constexpr int16_t kDctEven[2][2] = {{10703, 4433}, {4433, -10704}};  // of 2 and 6
constexpr int16_t kDctOdd[4][4] = {{11363, 9633, 6437, 2260},        // of 1, 3, 5 and 7
                                   {9633, -2259, -11362, -6436},
                                   {6437, -11362, 2261, 9633},
                                   {2260, -6436, 9633, -11363}};

// Bytes that kernels may read and write too many after a row's end. `to_rgb` writes none.
constexpr size_t kSamplePadding = 64;

struct JpegKernels {
  const char* name;

  // Pixels of a block, 8 rows of 8, and zeros for its coefficients. False where it is refused.
  // Coefficients and quantisers are at BlockIndex(), the latter at most kMaxQuantiser.
  bool (*inverse_dct)(int16_t* block, const int16_t* quantisers, uint8_t* to, size_t stride);

  // Doubles `count` samples to the right; from[-1] and from[count] count in.
  void (*widen)(const uint8_t* from, int count, uint8_t* to);

  // Doubles samples to the right, and downwards for the one row that is near `near`.
  void (*widen_between)(const uint8_t* near, const uint8_t* far, int count, uint8_t* to);

  // YCbCr to RGB.
  void (*to_rgb)(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int pixels, uint8_t* rgb);
};

// A block with a DC coefficient alone.
bool InverseDctOfDc(int dc, uint8_t* to, size_t stride);

// Those that this process may use, the scalar ones first, the best last.
std::span<const JpegKernels* const> AvailableJpegKernels() noexcept;

extern const JpegKernels kScalarJpeg;
#if defined(__x86_64__)
extern const JpegKernels kAvx2Jpeg;
#endif

}  // namespace recpack
