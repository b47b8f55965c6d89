#include "src/loader/fields/wide_pixels.h"

#include <cstring>

namespace recpack {
namespace {

template <typename T, typename Convert>
void Join(ByteView pairs, uint8_t* out, Convert&& convert) noexcept {
  for (size_t i = 0; 2 * i + 1 < pairs.size(); ++i) {
    const T value = convert(LoadLittleEndian<uint16_t>(&pairs[2 * i]));
    std::memcpy(out + i * sizeof value, &value, sizeof value);
  }
}

}  // namespace

void JoinPairs(ByteView pairs, const ImageField& field, uint8_t* out) noexcept {
  if (field.type == ElementType::kI32) {
    return Join<int32_t>(pairs, out, [](uint16_t value) { return int32_t{value}; });
  }
  const double mean = field.mean[0], std = field.std[0];
  Join<float>(pairs, out,
              [=](uint16_t value) { return static_cast<float>((value / 65535.0 - mean) / std); });
}

}  // namespace recpack
