// Fuzzes list files: an Error, or rows within the text with a cell for every column. The first byte
// selects the format.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "recpack/base/error.h"
#include "src/pack/sources/list/list_rows.h"

namespace {

void ReadAll(recpack::pack::ListFormat& format, std::string_view text) {
  uint64_t position = 0;
  uint32_t line = 1;
  bool header = !format.is_json();
  recpack::pack::ListCells cells;
  while (const auto row = format.NextRow(text, position, line)) {
    if (row->offset + row->bytes > text.size()) std::abort();
    const std::string_view content = text.substr(row->offset, row->bytes);
    if (header) {
      format.LearnHeader(content);
    } else {
      format.Parse(content, cells, true);
      if (cells.all().size() > format.columns().size()) std::abort();
    }
    header = false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr char kSeparators[] = {',', '\t', 0};
  recpack::pack::ListFormat format(kSeparators[data[0] % 3]);
  try {
    ReadAll(format, {reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const recpack::Error&) {
  }
  return 0;
}
