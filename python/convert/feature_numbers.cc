#include "python/convert/feature_numbers.h"

#include <nanobind/stl/string.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

using Name = std::string_view;

// Calls `use` with each of the values, contiguous or not.
template <typename T, typename Use>
void ForEachValue(const Py_buffer& view, const Use& use) {
  const Py_ssize_t count = view.ndim == 0 ? 1 : view.shape[0];
  const Py_ssize_t stride = view.ndim == 0 ? 0 : view.strides[0];
  const char* from = static_cast<const char*>(view.buf);
  for (Py_ssize_t i = 0; i < count; ++i, from += stride) {
    T value;
    std::memcpy(&value, from, sizeof value);
    use(value);
  }
}

template <typename T>
void AppendInts(Name name, const Py_buffer& view, std::vector<int64_t>& into) {
  ForEachValue<T>(view, [&](T value) {
    if (std::cmp_greater(value, std::numeric_limits<int64_t>::max())) {
      Refuse(name, "holds " + std::to_string(value) + ", which does not fit an int64",
             "give it as bytes");
    }
    into.push_back(static_cast<int64_t>(value));
  });
}

template <typename T>
void AppendSigned(bool is_signed, Name name, const Py_buffer& view, std::vector<int64_t>& into) {
  if (is_signed) return AppendInts<T>(name, view, into);
  AppendInts<std::make_unsigned_t<T>>(name, view, into);
}

template <typename T>
void AppendFloats(Name name, const Py_buffer& view, std::vector<float>& into) {
  ForEachValue<T>(view,
                  [&](T value) { into.push_back(ToFloat(name, static_cast<double>(value))); });
}

// Handles native integer types of this size and sign. Returns false if the letter is not an integer
// type.
bool AppendAnyInts(Name name, const Py_buffer& view, std::vector<int64_t>& into) {
  const char letter = FormatLetter(view);
  if (letter == '?') return AppendInts<uint8_t>(name, view, into), true;
  const bool is_signed = std::strchr("bhilqn", letter) != nullptr;
  if (letter == '\0' || (!is_signed && std::strchr("BHILQN", letter) == nullptr)) return false;
  switch (view.itemsize) {
    case 1:
      return AppendSigned<int8_t>(is_signed, name, view, into), true;
    case 2:
      return AppendSigned<int16_t>(is_signed, name, view, into), true;
    case 4:
      return AppendSigned<int32_t>(is_signed, name, view, into), true;
    default:
      return AppendSigned<int64_t>(is_signed, name, view, into), true;
  }
}

}  // namespace

void Refuse(Name name, const std::string& what, const std::string& advice) {
  throw Error(ErrorKind::kInvalidArgument, "the feature '" + std::string(name) + "' " + what, {},
              advice);
}

std::string TypeName(nb::handle value) {
  return nb::cast<std::string>(value.type().attr("__name__"));
}

void RefuseType(Name name, nb::handle value) {
  Refuse(name, "is of the type " + TypeName(value),
         "give int, bool, float, str, bytes, a NumPy array, or a list of these");
}

int64_t ToInt64(Name name, nb::handle value) {
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow != 0) Refuse(name, "does not fit an int64", "give it as text or as a float");
  if (number == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return number;
}

float ToFloat(Name name, double value) {
  const auto number = static_cast<float>(value);
  const bool too_large = std::isinf(number) && std::isfinite(value);
  const bool too_small =
      std::abs(number) < std::numeric_limits<float>::min() && static_cast<double>(number) != value;
  if (too_large || too_small) {
    Refuse(name, format("holds {}, which does not fit a float32", value),
           too_large ? "scale it" : "scale it, or give 0 where it is that small");
  }
  return number;
}

char FormatLetter(const Py_buffer& view) {
  const char* format = view.format == nullptr ? "B" : view.format;
  if (*format == '@' || *format == '=') ++format;
  if (*format == '<' && std::endian::native == std::endian::little) ++format;
  return std::strlen(format) == 1 ? *format : '\0';
}

bool AppendNumbers(Name name, const Py_buffer& view, std::vector<int64_t>& ints,
                   std::vector<float>& floats) {
  if (AppendAnyInts(name, view, ints)) return true;
  switch (FormatLetter(view)) {
    case 'f':
      return AppendFloats<float>(name, view, floats), false;
    case 'd':
      return AppendFloats<double>(name, view, floats), false;
    default:
      break;
  }
  Refuse(name, "is an array of the type '" + std::string(view.format) + "'",
         "give array.astype(np.float32) or np.int64");
}

}  // namespace recpack::python
