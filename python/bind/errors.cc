// Translates recpack::Error to the exceptions of recpack_io.errors, or to the Python exception that
// caused it.
#include <nanobind/stl/string.h>

#include "python/bind/bind.h"
#include "python/calls/raised.h"
#include "python/convert/text.h"
#include "recpack/base/error.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

template <typename T>
nb::object OrNone(const std::optional<T>& value) {
  return value ? nb::cast(*value) : nb::none();
}

nb::object MakeException(const Error& error) {
  if (nb::object raised = RaisedBehind(error); raised.is_valid()) {
    nb::module_::import_("recpack_io.errors").attr("add_note")(raised, ToText(error.what()));
    return raised;
  }
  return nb::module_::import_("recpack_io.errors")
      .attr("from_core")(ErrorKindName(error.kind()), ToText(error.what()), ToText(error.reason()),
                         ToText(error.advice()), ToName(error.place().path),
                         OrNone(error.place().offset), OrNone(error.place().ordinal));
}

void SetInPython(const Error& error) {
  const nb::object made = MakeException(error);
  PyErr_SetObject(made.type().ptr(), made.ptr());
}

void Raise(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    SetInPython(error);
  }
}

}  // namespace

void ThrowInPython(const Error& error) {
  SetInPython(error);
  throw nb::python_error();
}

void BindErrors(nb::module_&) { nb::register_exception_translator(Raise); }

}  // namespace recpack::python
