#include "src/remote/store/remote_file.h"

#include <algorithm>
#include <tuple>

#include "src/remote/http/traffic.h"

namespace recpack::remote {

size_t RemoteFile::ReadAt(uint64_t offset, std::span<uint8_t> out) const {
  const uint64_t size = object_->size();
  const ByteView tail = object_->tail();
  const uint64_t tail_begin = size - tail.size();
  if (offset >= size) return 0;
  const size_t wanted = std::min<uint64_t>(out.size(), size - offset);
  size_t done = 0;
  while (done < wanted) {
    const uint64_t at = offset + done;
    const std::span<uint8_t> rest = out.subspan(done, wanted - done);
    if (at >= tail_begin) {
      std::copy_n(tail.end() - static_cast<ptrdiff_t>(size - at), rest.size(), rest.begin());
      return wanted;
    }
    const auto part = rest.first(std::min<uint64_t>(rest.size(), tail_begin - at));
    if (cache_ && cache_->Read(at, part)) {
      done += part.size();
    } else if (const size_t taken = announced_->Take(at, part)) {
      done += taken;
    } else {
      Fetch(at, part);
      done += part.size();
    }
  }
  return wanted;
}

void RemoteFile::Fetch(uint64_t offset, std::span<uint8_t> out) const {
  if (!cache_) return object_->Fetch(offset, out);
  const auto [begin, end] = cache_->Around(offset, out.size());
  ByteBuffer bytes(end - begin);
  object_->Fetch(begin, bytes);
  cache_->Store(begin, bytes);
  std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(offset - begin), out.size(), out.begin());
}

size_t RemoteFile::ReadAgain(uint64_t offset, std::span<uint8_t> out) const {
  if (offset >= object_->size()) return 0;
  out = out.first(std::min<uint64_t>(out.size(), object_->size() - offset));
  Fetch(offset, out);
  return out.size();
}

ByteView RemoteFile::View(uint64_t offset, uint64_t size,
                          std::shared_ptr<const void>& owner) const {
  const uint64_t tail_begin = object_->size() - object_->tail().size();
  if (offset >= tail_begin || size > tail_begin - offset) return {};
  if (cache_ && cache_->Has(offset, size)) return {};
  return announced_->View(offset, size, owner);
}

void RemoteFile::WillNeed(uint64_t offset, uint64_t size) const noexcept {
  uint64_t begin = offset;
  uint64_t end = std::min(offset + size, object_->size() - object_->tail().size());
  if (begin >= end) return;
  if (cache_) {
    Traffic& traffic = TrafficOfThread();
    const bool has = cache_->Has(begin, end - begin);
    Traffic::Add(has ? traffic.cache_hits : traffic.cache_misses, end - begin);
    if (has) return;
  }
  if (cache_) std::tie(begin, end) = cache_->Around(begin, end - begin);
  try {
    announced_->Add(begin, end - begin);
  } catch (...) {  // NOLINT(bugprone-empty-catch): a hint; reading reports errors
  }
}

}  // namespace recpack::remote
