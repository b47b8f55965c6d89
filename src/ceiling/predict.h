// Model that predicts a loader's throughput after changes, from its cost per sample.
#pragma once

#include "src/ceiling/scaling.h"

namespace recpack::ceiling {

// Measured costs of a loader and its consumer.
struct LoaderCost {
  int threads = 1;
  double per_second = 0;  // samples consumed per second
  double work = 0;        // thread seconds per sample, without waits for input or free slots
  double bytes = 0;       // bytes moved through memory per sample
  double input = 0;       // seconds per sample that a thread waits for the disk or network
  double consumer = 0;    // seconds per sample that the consumer does not wait for batches
  // Core seconds per sample used by all threads except the workers; includes the consumer's thread
  // when it does not wait for a device.
  double consumer_cpu = 0;
};

// Hypothetical changes to a loader.
struct LoaderChange {
  int threads = 0;     // 0: unchanged
  double work = 1;     // factor of the work per sample
  double input = 1;    // factor of the wait for input
  double bytes = 1;    // factor of the bytes read per sample, for `read_ceiling`
  int copies = 1;      // loaders, each with its consumer, on the same cores
  bool alone = false;  // the consumer takes no time
  // Samples per second that the storage delivers, before changes; 0: unknown, or nothing is read.
  double read_ceiling = 0;
};

// Returns the samples per second of all copies. Each thread works and waits for input
// independently, at the speed that contention leaves; one consumer takes the samples of a copy; the
// cores and the storage limit the total. Without a change the result is the measured rate:
// overheads that no stage counts, such as hand-over and wake-up, scale in proportion.
double Predict(const LoaderCost& cost, const LoaderChange& change, const Scaling& scaling);

}  // namespace recpack::ceiling
