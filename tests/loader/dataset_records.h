// Reads all records of a data set.
#pragma once

#include <vector>

#include "recpack/loader/dataset.h"

namespace recpack {

inline std::vector<ByteBuffer> Records(const Dataset& dataset) {
  const auto source = dataset.NewSource();
  ByteBuffer memory;
  std::vector<ByteBuffer> records;
  for (uint64_t id = 0; id < dataset.records(); ++id) {
    const ByteView record = source->Read(id, memory);
    records.emplace_back(record.begin(), record.end());
  }
  return records;
}

}  // namespace recpack
