// Where a consumer stands: what is saved with a checkpoint.
#pragma once

#include <cstdint>
#include <string>

#include "recpack/loader/order.h"

namespace recpack {

// Everything that the batches after it depend on, but for the options that may change between runs:
// threads, ranks, batch size, prefetching.
struct ResumeToken {
  std::string digest;  // Dataset::digest()
  OrderSpec order;     // resolved
  uint64_t seed = 0;
  uint64_t epoch = 0;
  uint64_t position = 0;     // in the epoch, over all ranks: of the first sample not yet taken
  uint64_t substituted = 0;  // bad records replaced in this epoch so far, on this rank

  bool operator==(const ResumeToken&) const = default;
};

// One line of less than 200 bytes:
// "recpack1.ORDERVERSION.DIGEST.ORDER.SEED.EPOCH.POSITION.SUBSTITUTED.CHECK".
std::string TokenText(const ResumeToken& token);

// Throws Error: kInvalidArgument for what is no token or was changed by hand, kUnsupported for one
// of another version.
ResumeToken ParseToken(const std::string& text);

}  // namespace recpack
