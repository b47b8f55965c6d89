// Data set held by Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "recpack/loader/dataset.h"

namespace recpack::python {

// What Python code opened; used to open it again in another process.
struct OpenedAs {
  std::vector<std::string> paths;
  std::string split;
  std::string fields;
  int64_t label_offset = 0;
  bool verify = true;
};

// Thread-safe: each call uses its own reader, which is kept for later calls.
class OpenDataset {
 public:
  explicit OpenDataset(OpenedAs as);

  const Dataset& dataset() const noexcept { return dataset_; }
  const OpenedAs& as() const noexcept { return as_; }

  // Calls `use` with a reader.
  template <typename Use>
  void WithSource(const Use& use) {
    std::unique_ptr<SampleSource> source = Take();
    use(*source);
    Return(std::move(source));
  }

 private:
  std::unique_ptr<SampleSource> Take();
  void Return(std::unique_ptr<SampleSource> source);

  OpenedAs as_;
  Dataset dataset_;
  std::vector<std::unique_ptr<SampleSource>> idle_;
  nanobind::ft_mutex mutex_;  // guards `idle_` on free-threaded Python; otherwise the GIL does
};

}  // namespace recpack::python
