// Interface of the storage behind a Dataset: the samples of one split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/loader/sample_source.h"
#include "recpack/record/random_access_reader.h"

namespace recpack {

// Immutable and thread-safe. Samples are grouped: shards, archives, classes.
class SampleStore {
 public:
  virtual ~SampleStore() = default;

  virtual uint64_t samples() const = 0;
  virtual uint64_t bytes() const = 0;  // approximate size on disk
  virtual std::unique_ptr<SampleSource> NewSource(const RandomAccessOptions& options) const = 0;
  virtual Place FindPlace(uint64_t id) const = 0;

  virtual std::vector<std::string> Notices() const { return {}; }

  // Input of digests: names, sizes and counts, independent of the data set's location.
  virtual size_t groups() const = 0;
  virtual std::string GroupName(size_t group) const = 0;
  // Calls `add` with pieces of text.
  virtual void DescribeGroup(size_t group,
                             const std::function<void(const std::string&)>& add) const = 0;
};

}  // namespace recpack
