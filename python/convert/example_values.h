// Converts Python values to features of a tf.train.Example.
#pragma once

#include <nanobind/nanobind.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "recpack/example/builder.h"

namespace recpack::python {

// Converts one dictionary at a time; keeps the objects that the features view, and reuses its
// buffers. Not thread-safe: protected by the GIL or the bindings' locks. While Python code runs, to
// convert or release a value, no other dictionary is accepted.
class ExampleValues {
 public:
  ExampleValues() = default;
  ~ExampleValues() { Clear(); }
  ExampleValues(const ExampleValues&) = delete;

  // Takes {name: value}. Integers and bools become int64 values, floats float32, text and bytes
  // bytes; lists and NumPy arrays become several of them, uint8 arrays bytes, with the shape in
  // NAME/shape if an array has several dimensions; Pillow images become PNG files. Throws
  // Error (kInvalidArgument), with the feature's name, for other values and while another
  // dictionary is being taken; also Python's own errors.
  ExampleBuilder& Set(const nanobind::dict& features);

  // Releases the values.
  void Clear();

 private:
  using Name = std::string_view;
  class Busy;
  void Drop();
  void Add(Name name, nanobind::handle value);
  void AddList(Name name, nanobind::handle list);
  void AddItem(Name name, nanobind::handle value);
  void AddBuffer(Name name, nanobind::handle value);
  void AddShape(Name name, const Py_buffer& view);
  std::optional<ByteView> EncodeFile(
      Name name, nanobind::handle value);  // of a path, or for an image of Pillow
  static ByteView ViewBytes(nanobind::handle value);
  static ByteView EncodeText(Name name, nanobind::handle text);
  ByteView BufferBytes(const Py_buffer& view);
  const Py_buffer& Hold(Name name, nanobind::handle value);

  bool busy_ = false;  // Python code may be running, which lets other threads in
  const nanobind::dict* given_ = nullptr;  // during Set()
  ExampleBuilder builder_;
  std::vector<nanobind::object> kept_;
  std::deque<Py_buffer> buffers_;
  std::deque<ByteBuffer> copies_;  // copies of non-contiguous bytes
  std::deque<std::string> names_;  // of shapes
  std::vector<int64_t> ints_;
  std::vector<float> floats_;
  std::vector<ByteView> bytes_;
};

}  // namespace recpack::python
