#include "src/pack/check/repeated_stretch.h"

namespace recpack::pack {

std::optional<size_t> FindRepeatedStretch(std::span<const RecordMark> records, size_t surplus) {
  if (surplus == 0) return {};
  size_t equal = 0;  // records in a row, up to i, that equal the one `surplus` before
  for (size_t i = surplus; i < records.size(); ++i) {
    equal = records[i] == records[i - surplus] ? equal + 1 : 0;
    if (equal == surplus) return i + 1 - surplus;
  }
  return {};
}

}  // namespace recpack::pack
