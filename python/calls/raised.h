// Python exceptions that pass through the library.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <string>

#include "python/calls/held_errors.h"
#include "recpack/base/error.h"

namespace recpack::python {

// Call in a catch block of `raised`, with the GIL: throws it, held by `errors`, nested in an Error
// that says that `who` raised it. A recpack_io.CorruptError becomes kind kCorrupt.
[[noreturn]] void ThrowRaised(const nanobind::python_error& raised, const std::string& who,
                              HeldErrors& errors);

// Requires the GIL. Returns the Python exception that caused `error`; invalid if there is none.
nanobind::object RaisedBehind(const std::exception& error);

// Requires the GIL. Throws `error` as a Python exception.
[[noreturn]] void ThrowInPython(const Error& error);

}  // namespace recpack::python
