// Fuzzes MAT files: an Error, or a structure array whose cells can all be read.
#include <cstdint>

#include "recpack/base/error.h"
#include "src/pack/sources/imagenet/mat_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const recpack::pack::MatStruct array = recpack::pack::ReadMatStruct({data, size}, "synsets");
    [[maybe_unused]] static volatile size_t sink;
    for (size_t i = 0; i < array.elements; ++i) {
      for (size_t field = 0; field < array.fields.size(); ++field) {
        sink = array.Cell(i, field).text.size() + array.Cell(i, field).numbers.size();
      }
    }
  } catch (const recpack::Error&) {
  }
  return 0;
}
