// Functions of the user, called on the loader's threads.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "python/attached.h"
#include "python/running_calls.h"
#include "recpack/loader/batch_step.h"
#include "recpack/loader/function_field.h"

namespace recpack::python {

// What a call's randomness is keyed by: 128 bits for NumPy's generator, 32 for others' seeds.
struct CallKey {
  explicit CallKey(KeyedRandom& random)
      : low(random.NextU64()), high(random.NextU64()), seed(random.NextU32()) {}

  uint64_t low;
  uint64_t high;
  uint32_t seed;
};

// A caller is an object of recpack_io.calling that Python's Loader owns. Only weak references to
// it are held here: a function that refers to its loader does not keep it.
class Caller {
 public:
  Caller(const nanobind::object& caller, std::string name, SharedCalls running);

  const std::string& name() const noexcept { return name_; }
  RunningCalls& running() const noexcept { return *running_.calls; }
  HeldErrors& errors() const noexcept { return *running_.errors; }
  // With the GIL. Throws Error where the loader was closed.
  nanobind::object operator*() const;

 private:
  SharedObject weak_;
  std::string name_;
  SharedCalls running_;
};

// Of FunctionField and of BatchFunction: take the GIL, and throw what Python raises nested in
// Error.
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
