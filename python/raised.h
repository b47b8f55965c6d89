// Python's exceptions on their way through the library.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <string>

#include "python/held_errors.h"
#include "recpack/base/error.h"

namespace recpack::python {

// With the GIL, in a catch block of `raised`: throws it, held by `errors`, nested in an Error that
// says that `who` raised it. A recpack_io.CorruptError makes one of kind kCorrupt.
[[noreturn]] void ThrowRaised(const nanobind::python_error& raised, const std::string& who,
                              HeldErrors& errors);

// With the GIL: the exception of Python that led to `error`; not valid where there is none.
nanobind::object RaisedBehind(const std::exception& error);

// With the GIL: throws what the bindings make of `error`, as an exception of Python.
[[noreturn]] void ThrowInPython(const Error& error);

}  // namespace recpack::python
