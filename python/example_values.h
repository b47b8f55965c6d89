// Python's values as the features of a tf.train.Example.
#pragma once

#include <nanobind/nanobind.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "recpack/example/builder.h"

namespace recpack::python {

// The features of one dictionary at a time; keeps what they view. Keeps its buffers from one to the
// next. One thread at a time, by the GIL or the bindings' locks: where code of Python runs, for a
// value or at its end, nothing else is taken.
class ExampleValues {
 public:
  ExampleValues() = default;
  ~ExampleValues() { Clear(); }
  ExampleValues(const ExampleValues&) = delete;

  // Takes {name: value}. Integers and bools become int64 values, floats float32, text and bytes
  // bytes; lists and one-dimensional NumPy arrays several of them; arrays of uint8, of any shape,
  // are bytes; images of Pillow PNG files. Throws Error (kInvalidArgument) with the feature's name,
  // or where another dictionary is being taken; Python's own errors.
  ExampleBuilder& Set(const nanobind::dict& features);

  // Lets go of the values.
  void Clear();

 private:
  using Name = std::string_view;
  class Busy;
  void Drop();
  void Add(Name name, nanobind::handle value);
  void AddList(Name name, nanobind::handle list);
  void AddItem(Name name, nanobind::handle value);
  void AddBuffer(Name name, nanobind::handle value);
  std::optional<ByteView> PngOf(Name name, nanobind::handle value);  // of an image of Pillow
  bool AddNumbers(Name name, const Py_buffer& view);  // behind ints_ (true) or floats_
  static ByteView BytesOf(nanobind::handle value);
  static ByteView TextOf(Name name, nanobind::handle text);
  ByteView BufferBytes(const Py_buffer& view);
  const Py_buffer& Hold(Name name, nanobind::handle value);

  bool busy_ = false;  // code of Python may run, which lets other threads in
  ExampleBuilder builder_;
  std::vector<nanobind::object> kept_;
  std::deque<Py_buffer> buffers_;
  std::deque<ByteBuffer> copies_;  // of bytes that do not lie side by side
  std::vector<int64_t> ints_;
  std::vector<float> floats_;
  std::vector<ByteView> bytes_;
};

}  // namespace recpack::python
