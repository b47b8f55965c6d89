// Purposes of keyed random numbers: no two may share a number, none may ever change.
#pragma once

#include <cstdint>

#include "recpack/base/random.h"

namespace recpack {

enum class RandomStream : uint32_t {
  kEpoch = 1,       // the seed of an epoch
  kRecords = 2,     // order: all records, or all blocks
  kTail = 3,        // order: records behind the lanes
  kWindow = 4,      // order: records of a lane's window
  kSubstitute = 5,  // records in place of bad ones
  kClass = 6,       // balanced views: a class's records, each time through
  kHashSplit = 7,   // which records are in a part
  kMixedView = 8,   // the seed of a view in a mixture
  kMixPeriod = 9,   // whose slots a period has where
  kSample = 16,     // and above, one for each view of a sample: crop and flip

  // And above, one for each view, too.
  kColour = 1 << 16,
  kErase = 2 << 16,
  kPolicy = 3 << 16,

  // And above, one for each stream that the user names.
  kFunction = 4 << 16,
  kMix = 5 << 16,
  kBatchFunction = 6 << 16,
};

// Views that have streams of their own.
inline constexpr uint32_t kMostViews = (1 << 16) - 16;

inline constexpr uint32_t kMostStreams = 1 << 16;  // of the user

inline uint32_t StreamOf(RandomStream first, uint32_t number) noexcept {
  return static_cast<uint32_t>(first) + number;
}

inline uint64_t EpochSeed(uint64_t seed, uint64_t epoch) noexcept {
  return KeyedRandom(seed, static_cast<uint32_t>(RandomStream::kEpoch), epoch).NextU64();
}

}  // namespace recpack
