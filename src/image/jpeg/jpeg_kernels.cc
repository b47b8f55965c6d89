#include "src/image/jpeg/jpeg_kernels.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "recpack/base/cpu.h"

namespace recpack {
namespace {

constexpr std::array<uint8_t, kBlockSize> MakeZigzagIndex() {
  std::array<uint8_t, kBlockSize> index{};
  int row = 0, column = 0;
  for (size_t k = 0; k < index.size(); ++k) {
    index[k] = static_cast<uint8_t>(BlockIndex(row, column));
    const bool up = (row + column) % 2 == 0;
    const bool at_edge = up ? column == 7 || row == 0 : row == 7 || column == 0;
    if (!at_edge) {
      row += up ? -1 : 1;
      column += up ? 1 : -1;
    } else if (up ? column == 7 : row != 7) {
      ++row;
    } else {
      ++column;
    }
  }
  return index;
}

#if defined(__x86_64__)
constexpr const JpegKernels* kAll[] = {&kScalarJpeg, &kAvx2Jpeg};
size_t Usable() { return ActiveCpu() < CpuLevel::kAvx2 ? 1 : 2; }
#else
constexpr const JpegKernels* kAll[] = {&kScalarJpeg};
size_t Usable() { return 1; }
#endif

}  // namespace

constexpr std::array<uint8_t, kBlockSize> kZigzagIndex = MakeZigzagIndex();

bool InverseDctOfDc(int dc, uint8_t* to, size_t stride) {
  if (std::abs(dc) > kMaxBlockSum) return false;
  // dc / 8, rounded, plus 128.
  const int sample = std::clamp(((dc + 4) >> 3) + 128, 0, 255);
  for (int y = 0; y < kBlockSide; ++y, to += stride) std::memset(to, sample, kBlockSide);
  return true;
}

std::span<const JpegKernels* const> AvailableJpegKernels() noexcept {
  return std::span(kAll).first(Usable());
}

}  // namespace recpack
