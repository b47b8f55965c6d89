// Calls of user functions on the loader's threads.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "python/calls/attached.h"
#include "python/calls/running_calls.h"
#include "recpack/loader/batch_step.h"
#include "recpack/loader/function_field.h"

namespace recpack::python {

// Key of a call's random numbers: 128 bits for NumPy's generator, 32 for seeds of others.
struct CallKey {
  explicit CallKey(KeyedRandom& random)
      : low(random.NextU64()), high(random.NextU64()), seed(random.NextU32()) {}

  uint64_t low;
  uint64_t high;
  uint32_t seed;
};

// A caller is an object of recpack_io.calling owned by Python's Loader. Held by weak references
// only, so that a function that refers to its loader does not keep it alive.
class Caller {
 public:
  Caller(const nanobind::object& caller, std::string name, SharedCalls running);

  const std::string& name() const noexcept { return name_; }
  RunningCalls& running() const noexcept { return *running_.calls; }
  HeldErrors& errors() const noexcept { return *running_.errors; }
  // Requires the GIL. Throws Error if the loader was closed.
  nanobind::object operator*() const;

 private:
  SharedObject weak_;
  std::string name_;
  SharedCalls running_;
};

// Callbacks for FunctionField and BatchFunction: take the GIL, and throw Python exceptions nested
// in Error.
class SampleCall {
 public:
  SampleCall(Caller caller, std::vector<ArraySpec> arrays)
      : caller_(std::move(caller)), arrays_(std::move(arrays)) {}
  void operator()(SampleView& sample) const;

 private:
  Caller caller_;
  std::vector<ArraySpec> arrays_;
};

class BatchCall {
 public:
  explicit BatchCall(Caller caller) : caller_(std::move(caller)) {}
  void operator()(BatchView& batch) const;

 private:
  Caller caller_;
};

}  // namespace recpack::python
