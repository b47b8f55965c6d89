#include "python/calls/raised.h"

#include <nanobind/stl/string.h>

#include "python/convert/text.h"
#include "recpack/base/error.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

// Formats the exception as "ValueError: no such word".
std::string DescribeException(const nb::python_error& raised) {
  std::string text = nb::cast<std::string>(raised.type().attr("__name__"));
  try {
    text += ": " + ToUtf8(nb::str(raised.value()));
  } catch (const nb::python_error&) {  // NOLINT(bugprone-empty-catch): it says no more
  }
  return text;
}

bool IsCorrupt(const nb::python_error& raised) {
  return raised.matches(nb::module_::import_("recpack_io.errors").attr("CorruptError"));
}

}  // namespace

void ThrowRaised(const nb::python_error& raised, const std::string& who, HeldErrors& errors) {
  try {
    throw Raised(errors.Hold(nb::borrow(raised.value())));
  } catch (const Raised&) {
    std::throw_with_nested(
        Error(IsCorrupt(raised) ? ErrorKind::kCorrupt : ErrorKind::kInvalidArgument,
              who + " raised " + DescribeException(raised)));
  }
}

nb::object RaisedBehind(const std::exception& error) {
  const auto* outer = dynamic_cast<const std::nested_exception*>(&error);
  if (outer == nullptr || !outer->nested_ptr()) return {};
  try {
    outer->rethrow_nested();
  } catch (const Raised& raised) {
    return raised.value();
  } catch (const std::exception& inner) {
    return RaisedBehind(inner);
  } catch (...) {
    return {};
  }
}

}  // namespace recpack::python
