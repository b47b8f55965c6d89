// The samples of one split where they lie: what stands behind a Dataset.
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

// Immutable; any number of threads. Its samples lie in groups: shards, archives, classes.
class SampleStore {
 public:
  virtual ~SampleStore() = default;

  virtual uint64_t samples() const = 0;
  virtual uint64_t bytes() const = 0;  // on disk, about
  virtual std::unique_ptr<SampleSource> NewSource(const SourceOptions& options) const = 0;
  virtual Place PlaceOf(uint64_t id) const = 0;

  virtual std::vector<std::string> Notices() const { return {}; }

  // What digests are made of: names, sizes and counts, wherever the data set lies.
  virtual size_t groups() const = 0;
  virtual std::string GroupName(size_t group) const = 0;
  // Calls `add` with pieces of text.
  virtual void DescribeGroup(size_t group,
                             const std::function<void(const std::string&)>& add) const = 0;
};

}  // namespace recpack
