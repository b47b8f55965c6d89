// The input of a trainer, with what is planted in it.
#pragma once

#include <memory>
#include <string>

#include "bench/probe/planted_case.h"

namespace recpack::bench {

// Of all ranks; each is asked by a thread of its own.
class PlantedInput {
 public:
  virtual ~PlantedInput() = default;

  // Returns when the rank's next batch was there. Past the ends of epochs.
  virtual void Take(uint32_t rank) = 0;
};

// Of the shards in `data`. One feeder for all ranks, or, where one rank's input is unlike the
// others', a loader for each. Throws Error.
std::unique_ptr<PlantedInput> MakeInput(const std::string& data, const Case& planted);

}  // namespace recpack::bench
