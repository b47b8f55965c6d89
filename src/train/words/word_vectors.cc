#include "src/train/words/word_vectors.h"

#include <algorithm>

#include "recpack/base/hash.h"

namespace recpack::train {

void WordVectors::WriteTo(std::span<float> table) const {
  const auto size = static_cast<size_t>(dims);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(values.begin() + static_cast<ptrdiff_t>(i * size), size,
                table.begin() + static_cast<ptrdiff_t>(rows[i] * size));
  }
}

std::string WordVectors::Digest() const {
  const auto bytes = [](const auto& array) {
    return ByteView(reinterpret_cast<const uint8_t*>(array.data()),
                    array.size() * sizeof(array[0]));
  };
  Sha256 hash;
  hash.Update(bytes(rows));
  hash.Update(bytes(values));
  return Hex(hash.Finish());
}

}  // namespace recpack::train
