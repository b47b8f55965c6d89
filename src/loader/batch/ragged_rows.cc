#include "src/loader/batch/ragged_rows.h"

#include <algorithm>
#include <cstring>

#include "recpack/base/bytes.h"

namespace recpack {
namespace {

constexpr size_t kOffsetBytes = sizeof(int64_t);

}  // namespace

ArraySpec OffsetsOf(const ArraySpec& ragged) {
  return {.name = ragged.name + "_offsets",
          .type = ElementType::kI64,
          .sample_bytes = kOffsetBytes,
          .rows = ArrayRows::kOffsets};
}

size_t MostRows(const ArraySpec& array, size_t samples) noexcept {
  if (array.rows == ArrayRows::kRagged) return samples * array.shape[0];
  return array.rows == ArrayRows::kOffsets ? samples + 1 : samples;
}

size_t RowBytes(const ArraySpec& array) noexcept {
  return array.rows == ArrayRows::kRagged ? array.sample_bytes / array.shape[0]
                                          : array.sample_bytes;
}

void PackRagged(const std::vector<ArraySpec>& arrays, size_t samples, uint8_t* slab) noexcept {
  for (size_t i = 0; i < arrays.size(); ++i) {
    const ArraySpec& array = arrays[i];
    if (array.rows != ArrayRows::kRagged) continue;
    uint8_t* const rows = slab + array.offset;
    uint8_t* const offsets = slab + arrays[i + 1].offset;
    const size_t row_bytes = RowBytes(array);
    int64_t before = 0;
    for (size_t sample = 0; sample < samples; ++sample) {
      uint8_t* const at = offsets + sample * kOffsetBytes;
      const int64_t count =
          std::clamp<int64_t>(LoadLittleEndian<int64_t>(at), 0, int64_t{array.shape[0]});
      StoreLittleEndian(at, before);
      std::memmove(rows + static_cast<size_t>(before) * row_bytes,
                   rows + sample * array.sample_bytes, static_cast<size_t>(count) * row_bytes);
      before += count;
    }
    StoreLittleEndian(offsets + samples * kOffsetBytes, before);
  }
}

size_t RowsOf(const std::vector<ArraySpec>& arrays, size_t index, size_t samples,
              const uint8_t* slab) noexcept {
  const ArraySpec& array = arrays[index];
  const size_t most = MostRows(array, samples);
  if (array.rows != ArrayRows::kRagged) return most;
  const uint8_t* const offsets = slab + arrays[index + 1].offset;
  const auto end = LoadLittleEndian<int64_t>(offsets + samples * kOffsetBytes);
  return static_cast<size_t>(std::clamp<int64_t>(end, 0, static_cast<int64_t>(most)));
}

}  // namespace recpack
