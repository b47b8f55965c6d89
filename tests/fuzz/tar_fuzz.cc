// Fuzzes tar files: an Error, or members within the file.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "recpack/base/error.h"
#include "src/pack/sources/tar/tar_index.h"

namespace {

class BytesAsFile final : public recpack::ReadableFile {
 public:
  explicit BytesAsFile(recpack::ByteView bytes) : bytes_(bytes) {}

  size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    if (offset >= bytes_.size()) return 0;
    const auto part = bytes_.subspan(offset, std::min(out.size(), bytes_.size() - offset));
    std::ranges::copy(part, out.begin());
    return part.size();
  }
  uint64_t Size() const override { return bytes_.size(); }
  const std::string& path() const noexcept override { return path_; }

 private:
  recpack::ByteView bytes_;
  std::string path_ = "input";
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const BytesAsFile file({data, size});
  try {
    recpack::pack::IndexTar(file, {0, size}, "input", [&](const recpack::pack::TarMember& member) {
      if (member.offset > size || member.size > size - member.offset) std::abort();
    });
  } catch (const recpack::Error&) {
  }
  return 0;
}
