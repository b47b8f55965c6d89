// Batch held by Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "recpack/loader/batch.h"

namespace recpack::python {

// Arrays taken from it keep the batch's memory alive.
struct HeldBatch {
  std::shared_ptr<const Batch> batch;
};

}  // namespace recpack::python
