#include "python/convert/example_values.h"

#include <nanobind/stl/string.h>

#include <string>
#include <utility>

#include "python/convert/feature_numbers.h"
#include "recpack/base/error.h"
#include "recpack/example/shape.h"

namespace recpack::python {
namespace nb = nanobind;
using Name = std::string_view;

class ExampleValues::Busy {
 public:
  explicit Busy(ExampleValues& of) : of_(of) { of_.busy_ = true; }
  ~Busy() { of_.busy_ = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  ExampleValues& of_;
};

ExampleBuilder& ExampleValues::Set(const nb::dict& features) {
  if (busy_) {
    throw Error(ErrorKind::kInvalidArgument, "a record is written while another one is", {},
                "write in one thread, or take turns by a lock");
  }
  const Busy busy(*this);
  Drop();
  given_ = &features;
  // A copy, since the calls below could change the dictionary.
  const nb::list items = nb::borrow<nb::list>(nb::steal(PyDict_Items(features.ptr())));
  kept_.push_back(items);
  for (const nb::handle item : items) {
    const nb::handle name = nb::borrow<nb::tuple>(item)[0];
    if (!nb::isinstance<nb::str>(name)) {
      throw Error(ErrorKind::kInvalidArgument,
                  "the name of a feature is of the type " + TypeName(name), {}, "names are str");
    }
    const ByteView text = EncodeText("", name);
    Add(AsText(text), nb::borrow<nb::tuple>(item)[1]);
  }
  return builder_;
}

void ExampleValues::Clear() {
  const Busy busy(*this);
  Drop();
}

void ExampleValues::Drop() {
  builder_.Clear();
  for (Py_buffer& view : buffers_) PyBuffer_Release(&view);
  buffers_.clear();
  copies_.clear();
  names_.clear();
  kept_.clear();
}

void ExampleValues::Add(Name name, nb::handle value) {
  PyObject* it = value.ptr();
  if (PyLong_Check(it)) return builder_.AddInt64(name, ToInt64(name, value));  // includes bool
  if (PyFloat_Check(it)) return builder_.AddFloat(name, ToFloat(name, PyFloat_AsDouble(it)));
  if (PyUnicode_Check(it)) return builder_.AddBytes(name, EncodeText(name, value));
  if (PyBytes_Check(it)) return builder_.AddBytes(name, ViewBytes(value));
  if (PyList_Check(it) || PyTuple_Check(it)) return AddList(name, value);
  if (PyObject_CheckBuffer(it)) return AddBuffer(name, value);
  if (const auto file = EncodeFile(name, value)) return builder_.AddBytes(name, *file);
  if (!PyObject_HasAttrString(it, "__array__")) RefuseType(name, value);  // such as tensors
  kept_.push_back(nb::module_::import_("numpy").attr("asarray")(value));
  AddBuffer(name, kept_.back());
}

void ExampleValues::AddList(Name name, nb::handle list) {
  ints_.clear();
  floats_.clear();
  bytes_.clear();
  const nb::tuple items = nb::steal<nb::tuple>(PySequence_Tuple(list.ptr()));
  kept_.push_back(items);
  for (const nb::handle value : items) AddItem(name, value);
  const bool numbers = !ints_.empty() || !floats_.empty();
  if (!bytes_.empty() && numbers) {
    Refuse(name, "mixes numbers with text or bytes", "make it two features");
  }
  if (!ints_.empty() && !floats_.empty()) {
    Refuse(name, "mixes integers with floats", "give all of them as floats");
  }
  if (!bytes_.empty()) return builder_.AddBytesList(name, bytes_);
  if (!floats_.empty()) return builder_.AddFloatList(name, floats_);
  if (!ints_.empty()) return builder_.AddInt64List(name, ints_);
  builder_.AddNone(name);  // the kind is unknown
}

// Appends to ints_, floats_ or bytes_.
void ExampleValues::AddItem(Name name, nb::handle value) {
  PyObject* it = value.ptr();
  if (PyLong_Check(it)) return ints_.push_back(ToInt64(name, value));
  if (PyFloat_Check(it)) return floats_.push_back(ToFloat(name, PyFloat_AsDouble(it)));
  if (PyUnicode_Check(it)) return bytes_.push_back(EncodeText(name, value));
  if (PyBytes_Check(it)) return bytes_.push_back(ViewBytes(value));
  if (PyList_Check(it) || PyTuple_Check(it)) {
    Refuse(name, "is a list of lists", "give one list, and the lengths as another feature");
  }
  if (!PyObject_CheckBuffer(it)) {
    if (const auto file = EncodeFile(name, value)) return bytes_.push_back(*file);
    RefuseType(name, value);
  }
  const Py_buffer& view = Hold(name, value);
  if (IsBytes(view)) return bytes_.push_back(BufferBytes(view));
  if (view.ndim > 0) Refuse(name, "is a list of arrays", "give one array, np.concatenate(list)");
  AppendNumbers(name, view, ints_, floats_);
}

void ExampleValues::AddBuffer(Name name, nb::handle value) {
  const Py_buffer& view = Hold(name, value);
  if (view.ndim > 1) AddShape(name, view);
  if (IsBytes(view)) return builder_.AddBytes(name, BufferBytes(view));
  if (view.ndim > 1) {
    kept_.push_back(nb::module_::import_("numpy").attr("ravel")(value));  // in C's order
    return AddBuffer(name, kept_.back());
  }
  ints_.clear();
  floats_.clear();
  if (AppendNumbers(name, view, ints_, floats_)) return builder_.AddInt64List(name, ints_);
  builder_.AddFloatList(name, floats_);
}

// Adds the shape as another feature, unless the caller gives one of that name.
void ExampleValues::AddShape(Name name, const Py_buffer& view) {
  std::string shape_name = ShapeName(name);
  if (given_->contains(nb::str(shape_name.data(), shape_name.size()))) return;
  const std::vector<int64_t> shape(view.shape, view.shape + view.ndim);
  builder_.AddInt64List(names_.emplace_back(std::move(shape_name)), shape);
}

std::optional<ByteView> ExampleValues::EncodeFile(Name name, nb::handle value) {
  nb::object file =
      nb::module_::import_("recpack_io.pictures").attr("file_of")(std::string(name), value);
  if (file.is_none()) return {};
  kept_.push_back(std::move(file));
  return ViewBytes(kept_.back());
}

ByteView ExampleValues::ViewBytes(nb::handle value) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(value.ptr(), &data, &size) != 0) throw nb::python_error();
  return {reinterpret_cast<const uint8_t*>(data), static_cast<size_t>(size)};
}

ByteView ExampleValues::EncodeText(Name name, nb::handle text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (data == nullptr) {
    PyErr_Clear();
    Refuse(name, "is text that UTF-8 cannot say", "give it as bytes");
  }
  return {reinterpret_cast<const uint8_t*>(data), static_cast<size_t>(size)};
}

// In C order, for any strides.
ByteView ExampleValues::BufferBytes(const Py_buffer& view) {
  const auto size = static_cast<size_t>(view.len);
  if (PyBuffer_IsContiguous(&view, 'C') != 0) return {static_cast<uint8_t*>(view.buf), size};
  copies_.emplace_back(size);
  auto* source = const_cast<Py_buffer*>(&view);
  if (PyBuffer_ToContiguous(copies_.back().data(), source, view.len, 'C') != 0) {
    throw nb::python_error();
  }
  return copies_.back();
}

const Py_buffer& ExampleValues::Hold(Name name, nb::handle value) {
  Py_buffer view;
  if (PyObject_GetBuffer(value.ptr(), &view, PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    RefuseType(name, value);
  }
  buffers_.push_back(view);
  if (FormatLetter(view) != 'e') return buffers_.back();
  kept_.push_back(nb::module_::import_("numpy").attr("asarray")(value, "float32"));
  return Hold(name, kept_.back());
}

}  // namespace recpack::python
