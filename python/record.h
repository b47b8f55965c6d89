// A record that Python holds.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "python/dataset.h"
#include "recpack/example/view.h"
#include "recpack/loader/dataset.h"

namespace recpack::python {

// Its bytes, and its features once one is asked for. One thread at a time: bindings lock it where
// there is no GIL.
class Record {
 public:
  Record(const Dataset& dataset, uint64_t id) : dataset_(dataset), id_(id) {}

  // To be read into, before anything else.
  ByteBuffer& memory() noexcept { return memory_; }
  void Holds(ByteView payload);

  uint64_t id() const noexcept { return id_; }
  ByteView payload() const noexcept { return payload_; }
  // Parsed when first called. Throws Error with the record's place.
  const ExampleView& example();

 private:
  Dataset dataset_;
  uint64_t id_;
  ByteBuffer memory_;
  ByteView payload_;
  ExampleView example_;
  bool parsed_ = false;
};

// Reads it, without the GIL.
std::unique_ptr<Record> ReadOne(OpenDataset& open, uint64_t id);

}  // namespace recpack::python
