// Fuzzes manifests: they are refused, or equal after writing and reading.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "recpack/base/error.h"
#include "src/shards/manifest/manifest.h"

namespace {

void CheckText(const std::string& text) {
  const recpack::Manifest manifest = recpack::ManifestFromJson(text, "manifest.json");
  const std::string written = recpack::ManifestToJson(manifest);
  const std::string again =
      recpack::ManifestToJson(recpack::ManifestFromJson(written, "manifest.json"));
  if (written == again) return;
  std::fprintf(stderr, "the manifest changes when it is written and read:\n%s\n%s\n",
               written.c_str(), again.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    CheckText(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const recpack::Error& error) {
    const bool refusal = error.kind() == recpack::ErrorKind::kCorrupt ||
                         error.kind() == recpack::ErrorKind::kUnsupported;
    if (!refusal) throw;
  }
  return 0;
}
