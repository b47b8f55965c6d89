// Fuzzes safetensors files: they are refused, or their arrays are equal after writing and reading.
#include <cstdio>
#include <cstdlib>

#include "recpack/base/error.h"
#include "tests/train/safetensors_files.h"

namespace {

void Check(const recpack::train::LoadedArrays& loaded) {
  const recpack::ByteBuffer written = recpack::train::Written(loaded.arrays, loaded.metadata);
  const recpack::train::LoadedArrays again = recpack::train::ReadBytes(written);
  const bool same = again.metadata == loaded.metadata &&
                    again.arrays.size() == loaded.arrays.size() &&
                    recpack::train::Written(again.arrays, again.metadata) == written;
  if (same) return;
  std::fprintf(stderr, "the file changes when it is written and read\n");
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    Check(recpack::train::ReadBytes(recpack::ByteBuffer(data, data + size)));
  } catch (const recpack::Error& error) {
    const bool refusal = error.kind() == recpack::ErrorKind::kCorrupt ||
                         error.kind() == recpack::ErrorKind::kUnsupported;
    if (!refusal) throw;
  }
  return 0;
}
