// Fuzzes files of word vectors: they are refused, or give finite values of rows of the table.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "recpack/base/error.h"
#include "src/train/words/word_vector_file.h"
#include "tests/record/memory_files.h"

namespace {

constexpr int64_t kDims = 3;
constexpr uint32_t kRows = 27;  // words are known by their first letter

uint32_t RowOf(std::string_view word) {
  return word.empty() || word[0] < 'a' || word[0] > 'z' ? 0
                                                        : static_cast<uint32_t>(word[0] - 'a' + 1);
}

void Check(const recpack::train::WordVectors& vectors) {
  std::vector<float> table(kRows * kDims);
  vectors.WriteTo(table);
  bool good = vectors.rows.size() * kDims == vectors.values.size();
  for (const float value : table) good = good && std::isfinite(value);
  for (const uint32_t row : vectors.rows) good = good && row > 0 && row < kRows;
  if (good) return;
  std::fprintf(stderr, "vectors that do not fit the table\n");
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const recpack::MemoryReadable file(recpack::ByteBuffer(data, data + size), "vectors");
  try {
    Check(recpack::train::ReadWordVectors(file, {kDims, kRows, RowOf}).vectors);
  } catch (const recpack::Error& error) {
    const bool refusal = error.kind() == recpack::ErrorKind::kCorrupt ||
                         error.kind() == recpack::ErrorKind::kUnsupported ||
                         error.kind() == recpack::ErrorKind::kInvalidArgument;
    if (!refusal) throw;
  }
  return 0;
}
