#include "src/remote/store/remote_file.h"

#include <algorithm>

namespace recpack::remote {

size_t RemoteFile::ReadAt(uint64_t offset, std::span<uint8_t> out) const {
  const uint64_t size = object_->size();
  const ByteView tail = object_->tail();
  if (offset >= size) return 0;
  const size_t wanted = std::min<uint64_t>(out.size(), size - offset);
  size_t done = 0;
  while (done < wanted) {
    const uint64_t at = offset + done;
    const std::span<uint8_t> rest = out.subspan(done, wanted - done);
    if (at >= size - tail.size()) {
      std::copy_n(tail.end() - static_cast<ptrdiff_t>(size - at), rest.size(), rest.begin());
      return wanted;
    }
    const size_t taken = announced_->Take(at, rest);
    if (taken == 0) {
      object_->Fetch(at, rest);
      return wanted;
    }
    done += taken;
  }
  return wanted;
}

size_t RemoteFile::ReadAgain(uint64_t offset, std::span<uint8_t> out) const {
  if (offset >= object_->size()) return 0;
  out = out.first(std::min<uint64_t>(out.size(), object_->size() - offset));
  object_->Fetch(offset, out);
  return out.size();
}

void RemoteFile::WillNeed(uint64_t offset, uint64_t size) const noexcept {
  const uint64_t end = std::min(offset + size, object_->size() - object_->tail().size());
  if (offset >= end) return;
  try {
    announced_->Add(offset, end - offset);
  } catch (...) {  // NOLINT(bugprone-empty-catch): a hint; reading reports errors
  }
}

}  // namespace recpack::remote
