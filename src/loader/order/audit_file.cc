// Audit files (docs/format/audit.md).
#include <algorithm>
#include <string_view>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/loader/audit.h"
#include "recpack/record/crc32c.h"
#include "src/base/format.h"

namespace recpack {
namespace {

template <typename T>
void Append(ByteBuffer& bytes, T value) {
  uint8_t raw[sizeof(T)];
  StoreLittleEndian(raw, value);
  bytes.insert(bytes.end(), raw, raw + sizeof(T));
}

// Reads fields from the front of bytes. Throws Error (kCorrupt) if they are too short.
class Taker {
 public:
  Taker(ByteView bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  ByteView Take(uint64_t size) {
    if (size > bytes_.size()) Fail("it ends too early");
    const ByteView taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }
  template <typename T>
  T Number() {
    return LoadLittleEndian<T>(Take(sizeof(T)).data());
  }
  size_t left() const noexcept { return bytes_.size(); }

  [[noreturn]] void Fail(const std::string& why) const {
    throw Error(ErrorKind::kCorrupt, "not an audit file: " + why, {.path = path_},
                "give a file that a loader saved");
  }

 private:
  ByteView bytes_;
  const std::string& path_;
};

}  // namespace

void EpochAudit::Save(const std::string& path) const {
  const std::string line = Text() + "\n";
  ByteBuffer bytes(line.begin(), line.end());
  if (has_counts()) {
    Append(bytes, static_cast<uint32_t>(counts_.size()));
    for (const auto& counts : counts_) {
      Append(bytes, uint64_t{counts.size()});
      bytes.insert(bytes.end(), counts.begin(), counts.end());
    }
    Append(bytes, Crc32c(bytes));
  }
  WriteFileAtomically(PosixFiles(), path, bytes, false);
}

EpochAudit EpochAudit::Load(const std::string& path) {
  const ByteBuffer bytes = ReadWholeFile(PosixFiles(), path);
  Taker taker(bytes, path);
  const auto end = std::find(bytes.begin(), bytes.end(), '\n');
  if (end == bytes.end()) taker.Fail("its first line has no end");
  const ByteView line = taker.Take(static_cast<size_t>(end - bytes.begin()));
  taker.Take(1);
  EpochAudit audit;
  try {
    audit = Parse({reinterpret_cast<const char*>(line.data()), line.size()});
  } catch (const Error& error) {
    throw Error(error.kind() == ErrorKind::kInvalidArgument ? ErrorKind::kCorrupt : error.kind(),
                error.reason(), {.path = path}, error.advice());
  }
  if (taker.left() == 0) return audit;
  const auto views = taker.Number<uint32_t>();
  for (uint32_t view = 0; view < views; ++view) {
    const ByteView counts = taker.Take(taker.Number<uint64_t>());
    audit.counts_.emplace_back(counts.begin(), counts.end());
  }
  const size_t checked = bytes.size() - taker.left();
  if (taker.Number<uint32_t>() != Crc32c(ByteView(bytes).first(checked)) || taker.left() > 0) {
    taker.Fail("its CRC does not match");
  }
  return audit;
}

}  // namespace recpack
