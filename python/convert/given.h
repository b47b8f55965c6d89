// Conversions of arguments whose errors say what to give, instead of the signature of the binding.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "python/convert/text.h"

namespace recpack::python {

// Throws TypeError: "WHAT cannot be GIVEN: give WANTED". Long values are cut.
[[noreturn]] inline void RefuseGiven(const std::string& what, nanobind::handle given,
                                     const std::string& wanted) {
  const auto shown = nanobind::module_::import_("reprlib").attr("repr")(given);
  throw nanobind::type_error((what + " cannot be " + ToUtf8(shown) + ": give " + wanted).c_str());
}

// Returns the value of an argument. Throws TypeError, as above, for other types.
template <typename T>
T Given(nanobind::handle given, const std::string& what, const std::string& wanted) {
  T value;
  if (!nanobind::try_cast(given, value)) RefuseGiven(what, given, wanted);
  return value;
}

}  // namespace recpack::python
