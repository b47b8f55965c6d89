// What a loader would give under other circumstances, by what its samples cost it.
#pragma once

#include "src/ceiling/scaling.h"

namespace recpack::ceiling {

// What was seen of a loader and of the one that takes its batches.
struct LoaderCost {
  int threads = 1;
  double per_second = 0;  // samples that were taken
  double work = 0;        // seconds of a thread a sample, without waits for input and for room
  double bytes = 0;       // moved through memory a sample
  double input = 0;       // seconds a sample that a thread waits for the disk or network
  double consumer = 0;    // seconds a sample that the consumer does not wait for batches
  // Seconds of cores a sample that all but the workers take; the consumer's thread at least, where
  // it does not wait for a device.
  double consumer_cpu = 0;
};

// What would be other than it was.
struct LoaderChange {
  int threads = 0;     // 0: as it was
  double work = 1;     // times the seconds of work a sample
  double input = 1;    // times the seconds of waiting for input
  double bytes = 1;    // times what is read a sample, of `read_ceiling`
  int copies = 1;      // loaders, each with its consumer, on the same cores
  bool alone = false;  // with a consumer that takes no time
  // Samples a second that the storage gives as they were; 0: not known, or nothing is read from it.
  double read_ceiling = 0;
};

// Samples a second of all copies: each thread works and waits for input on its own, at the speed
// that is left to each; one consumer takes all of a copy; all together have no more than the cores,
// and no more than the storage gives. Without a change it is what it was: what no stage counts,
// handing over and waking up, stays in proportion.
double Predict(const LoaderCost& cost, const LoaderChange& change, const Scaling& scaling);

}  // namespace recpack::ceiling
