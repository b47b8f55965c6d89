// Record held by Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "python/objects/dataset.h"
#include "recpack/example/view.h"
#include "recpack/loader/dataset.h"

namespace recpack::python {

// Bytes of a record, and its features, parsed on first use. Not thread-safe: bindings lock it on
// free-threaded Python.
class Record {
 public:
  Record(const Dataset& dataset, uint64_t id) : dataset_(dataset), id_(id) {}

  // Buffer to read the record into, before anything else.
  ByteBuffer& memory() noexcept { return memory_; }
  void Holds(ByteView payload);

  uint64_t id() const noexcept { return id_; }
  ByteView payload() const noexcept { return payload_; }
  // Parses the record at the first call. Throws Error with the record's place.
  const ExampleView& example();

 private:
  Dataset dataset_;
  uint64_t id_;
  ByteBuffer memory_;
  ByteView payload_;
  ExampleView example_;
  bool parsed_ = false;
};

// Reads the record without the GIL.
std::unique_ptr<Record> ReadOne(OpenDataset& open, uint64_t id);

}  // namespace recpack::python
