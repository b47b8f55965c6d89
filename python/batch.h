// A batch that Python holds.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "recpack/loader/batch.h"

namespace recpack::python {

// Arrays that were taken of it keep the batch's memory.
struct HeldBatch {
  std::shared_ptr<const Batch> batch;
};

}  // namespace recpack::python
