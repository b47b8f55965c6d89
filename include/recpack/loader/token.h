// Resume token: the position of a consumer, saved with a checkpoint.
#pragma once

#include <cstdint>
#include <string>

#include "recpack/loader/order.h"

namespace recpack {

// Everything that the following batches depend on, except for options that may change between runs:
// threads, ranks, batch size, prefetch.
struct ResumeToken {
  std::string digest;  // Dataset::digest()
  OrderSpec order;     // resolved: no kAuto, no block of 0 records
  uint64_t seed = 0;
  uint64_t epoch = 0;
  uint64_t position = 0;     // of the next sample in the epoch, over all ranks
  uint64_t substituted = 0;  // bad records substituted so far in this epoch on this rank

  bool operator==(const ResumeToken&) const = default;
};

// Returns the token as one line of less than 200 bytes:
// "recpack1.ORDERVERSION.DIGEST.ORDER.SEED.EPOCH.POSITION.SUBSTITUTED.CHECK".
std::string TokenText(const ResumeToken& token);

// Throws Error: kInvalidArgument if the text is not a token or was modified, kUnsupported if it has
// another version.
ResumeToken ParseToken(const std::string& text);

}  // namespace recpack
