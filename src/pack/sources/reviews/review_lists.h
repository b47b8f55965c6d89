// Lists the reviews of each user or item.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace recpack::pack {

// Memory: 4 bytes a review and 16 an owner (user or item). Immutable and thread-safe once filled.
class ReviewLists {
 public:
  // Filled in two passes over the same reviews: Count() all, then Start(), then Add() all.
  void Count(uint32_t owner, uint64_t tokens);
  void Start();
  void Add(uint32_t owner, uint32_t review);

  // Reviews of the owner in the order in which they were added.
  std::span<const uint32_t> Reviews(uint32_t owner) const;

  uint64_t TokenCount(uint32_t owner) const;

 private:
  struct Owner {
    uint64_t end = 0;  // of its reviews in reviews_, which begin at the end of the previous owner
    uint64_t tokens = 0;
  };

  std::vector<Owner> owners_;
  std::vector<uint32_t> reviews_;
};

}  // namespace recpack::pack
