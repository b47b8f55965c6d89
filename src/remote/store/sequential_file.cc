#include "src/remote/store/sequential_file.h"

#include <algorithm>

namespace recpack::remote {

size_t SequentialFile::ReadAt(uint64_t offset, std::span<uint8_t> out) const {
  if (offset >= size_) return 0;
  const size_t wanted = std::min<uint64_t>(out.size(), size_ - offset);
  for (size_t done = 0; done < wanted;) {
    const uint64_t at = offset + done;
    if (at < begin_ || at >= begin_ + bytes_.size()) Load(at);
    if (bytes_.empty()) return done;
    const size_t inside = at - begin_;
    const size_t count = std::min(wanted - done, bytes_.size() - inside);
    std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(inside), count,
                out.begin() + static_cast<ptrdiff_t>(done));
    done += count;
  }
  return wanted;
}

// Loads pieces until one has the byte at `offset`.
void SequentialFile::Load(uint64_t offset) const {
  const uint64_t end = begin_ + bytes_.size();
  if (offset < begin_ || offset > std::max(end + kShortSkip, announced_)) {
    begin_ = announced_ = offset;
    piece_ = kFirstPiece;
  } else {
    begin_ = end;
  }
  for (;;) {
    bytes_.resize(std::min(piece_, size_ - begin_));
    announced_ = std::max(announced_, begin_);
    // Only pieces that were followed by others are worth reading ahead of.
    const uint64_t ahead = piece_ == kLargestPiece ? std::min(size_, begin_ + kAhead) : begin_;
    if (ahead > announced_) {
      object_.WillNeed(announced_, ahead - announced_);
      announced_ = ahead;
    }
    bytes_.resize(object_.ReadAt(begin_, bytes_));
    piece_ = std::min(2 * piece_, kLargestPiece);
    if (offset < begin_ + bytes_.size() || bytes_.empty()) return;
    begin_ += bytes_.size();
  }
}

}  // namespace recpack::remote
