// Converts Python's numbers, and arrays of them, to values of features. Errors are of the kind
// kInvalidArgument and carry the feature's name.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace recpack::python {

// Throws an Error that says what is wrong with the feature's value.
[[noreturn]] void Refuse(std::string_view name, const std::string& what, const std::string& advice);
[[noreturn]] void RefuseType(std::string_view name, nanobind::handle value);

std::string TypeName(nanobind::handle value);

int64_t ToInt64(std::string_view name, nanobind::handle value);

// Rounds to the 24 bits of a float32. Refuses values that are too large or too small for these.
float ToFloat(std::string_view name, double value);

// Returns the format letter of a native type, otherwise 0.
char FormatLetter(const Py_buffer& view);

inline bool IsBytes(const Py_buffer& view) { return FormatLetter(view) == 'B' && view.ndim > 0; }

// Appends the numbers of a buffer to `ints` and returns true, or to `floats` and returns false.
bool AppendNumbers(std::string_view name, const Py_buffer& view, std::vector<int64_t>& ints,
                   std::vector<float>& floats);

}  // namespace recpack::python
