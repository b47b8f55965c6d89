// Which reviews each user wrote, or each item got.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace recpack::pack {

// Memory: 4 bytes a review and 16 an owner. Immutable once filled; any number of threads.
class ReviewLists {
 public:
  // In two rounds over the same reviews: Count() all, then Start(), then Add() all.
  void Count(uint32_t owner, uint64_t tokens);
  void Start();
  void Add(uint32_t owner, uint32_t review);

  // In the order in which they were added.
  std::span<const uint32_t> Of(uint32_t owner) const;

  uint64_t TokensOf(uint32_t owner) const;

 private:
  struct Owner {
    uint64_t end = 0;  // of its reviews in reviews_, which begin where the owner's before it end
    uint64_t tokens = 0;
  };

  std::vector<Owner> owners_;
  std::vector<uint32_t> reviews_;
};

}  // namespace recpack::pack
