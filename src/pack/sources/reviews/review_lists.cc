#include "src/pack/sources/reviews/review_lists.h"

#include <utility>

namespace recpack::pack {

void ReviewLists::Count(uint32_t owner, uint64_t tokens) {
  if (owner >= owners_.size()) owners_.resize(owner + size_t{1});
  ++owners_[owner].end;
  owners_[owner].tokens += tokens;
}

// While reviews are added, `end` moves from an owner's first review to one past its last.
void ReviewLists::Start() {
  uint64_t begin = 0;
  for (Owner& owner : owners_) begin += std::exchange(owner.end, begin);
  reviews_.resize(begin);
}

void ReviewLists::Add(uint32_t owner, uint32_t review) { reviews_[owners_[owner].end++] = review; }

std::span<const uint32_t> ReviewLists::Reviews(uint32_t owner) const {
  if (owner >= owners_.size()) return {};
  const uint64_t begin = owner == 0 ? 0 : owners_[owner - 1].end;
  return std::span(reviews_).subspan(begin, owners_[owner].end - begin);
}

uint64_t ReviewLists::TokenCount(uint32_t owner) const {
  return owner < owners_.size() ? owners_[owner].tokens : 0;
}

}  // namespace recpack::pack
