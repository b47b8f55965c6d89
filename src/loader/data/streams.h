// Streams of keyed random numbers. No two purposes may share a number; numbers must never change.
#pragma once

#include <cstdint>

#include "recpack/base/random.h"

namespace recpack {

enum class RandomStream : uint32_t {
  kEpoch = 1,       // seed of an epoch
  kRecords = 2,     // order: all records, or all blocks
  kTail = 3,        // order: records after those in lanes
  kWindow = 4,      // order: records in a lane's window
  kSubstitute = 5,  // substitutes for bad records
  kClass = 6,       // balanced views: records of a class, for each pass
  kHashSplit = 7,   // hash of a record
  kMixedView = 8,   // seed of a view in a mixture
  kMixPeriod = 9,   // slots of the views in a period
  kWeighted = 10,   // weighted views: record of a sample
  kSample = 16,     // and above, one per view of a sample: crop and flip

  // Also followed by one stream per view.
  kColour = 1 << 16,
  kErase = 2 << 16,
  kPolicy = 3 << 16,

  // Also followed by one stream per stream number of the user.
  kFunction = 4 << 16,
  kMix = 5 << 16,
  kBatchFunction = 6 << 16,

  // Followed by one stream per view.
  kAudio = 7 << 16,  // part of a sound
};

// Number of views with streams of their own.
inline constexpr uint32_t kMostViews = (1 << 16) - 16;

inline constexpr uint32_t kMostStreams = 1 << 16;  // stream numbers of the user

inline uint32_t ToStream(RandomStream first, uint32_t number) noexcept {
  return static_cast<uint32_t>(first) + number;
}

inline uint64_t EpochSeed(uint64_t seed, uint64_t epoch) noexcept {
  return KeyedRandom(seed, static_cast<uint32_t>(RandomStream::kEpoch), epoch).NextU64();
}

}  // namespace recpack
