// Reads one feature of all records.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "recpack/loader/view.h"

namespace recpack::python {

// Returns the values of a feature for all samples of a view: a NumPy array of int64 or float32,
// shape (samples,) or, if each record has n values, (samples, n); for bytes, a list of bytes. Reads
// with all threads, without the GIL. Throws Error (kInvalidArgument), with the record's place, if a
// record has another number or kind of values than the first one.
nanobind::object Column(const View& view, const std::string& feature);

}  // namespace recpack::python
