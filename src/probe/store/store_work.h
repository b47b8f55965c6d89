// Sums up what a loader fetched from object stores, and what its workers waited for.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "recpack/loader/stats.h"
#include "src/probe/evidence/evidence.h"
#include "src/probe/evidence/loader_work.h"

namespace recpack::probe {

struct StoreWork {
  StoreStats all;                   // between the loader's first and last sample
  std::optional<StoreStats> again;  // the part of it after an epoch had ended: data read before
  double seconds = 0;               // between these samples
  uint64_t epochs = 0;              // that ended before the last sample
  double worker_time = 0;           // seconds of all workers, without waits for a free slot
  double input_time = 0;            // of these, waits for input
  double max_gain = 0;              // of a perfect input

  double Waits(StoreWait what) const;  // seconds of all workers
  double Waits() const;
  // Share of the bytes read again that were not in the cache; 0: there is no cache.
  double MissedAgain() const;
  // Relative increase of steps per second without `seconds` of the waits.
  double GainWithout(double seconds) const;
  double MeanRequest() const;    // bytes; 0: none
  double MeanFirstByte() const;  // seconds of a request
  double MeanTransfer() const;
  double AtOnce() const;  // mean number of requests under way
};

// Returns nullopt if the loader waited for no store.
std::optional<StoreWork> FindStoreWork(const Evidence& evidence, const LoaderWork& work,
                                       double max_gain);

// Evidence that all causes share: "1,234 requests of 110 kB: ...".
std::string RequestsText(const StoreWork& work);
// "without them: +45.0 % steps/s".
std::string GainText(const StoreWork& work, const char* without, double seconds);

}  // namespace recpack::probe
