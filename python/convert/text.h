// Conversions between the library's text, which may contain any bytes, and Python's str.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

namespace recpack::python {

// For display: bytes that are not UTF-8 become \xe9.
inline nanobind::str ToText(std::string_view text) {
  PyObject* const made =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
  if (made == nullptr) throw nanobind::python_error();
  return nanobind::steal<nanobind::str>(made);
}

// For open() and similar functions, as in os.fsdecode().
inline nanobind::str ToName(std::string_view name) {
  PyObject* const made =
      PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
  if (made == nullptr) throw nanobind::python_error();
  return nanobind::steal<nanobind::str>(made);
}

inline std::vector<nanobind::str> ToTexts(const std::vector<std::string>& texts) {
  std::vector<nanobind::str> all;
  all.reserve(texts.size());
  for (const std::string& text : texts) all.push_back(ToText(text));
  return all;
}

inline std::vector<nanobind::str> ToNames(const std::vector<std::string>& names) {
  std::vector<nanobind::str> all;
  all.reserve(names.size());
  for (const std::string& name : names) all.push_back(ToName(name));
  return all;
}

// Converts a str for display: what UTF-8 cannot represent becomes \udce9.
inline std::string ToUtf8(nanobind::handle text) {
  PyObject* const bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace");
  if (bytes == nullptr) throw nanobind::python_error();
  const auto kept = nanobind::steal<nanobind::bytes>(bytes);
  return {kept.c_str(), kept.size()};
}

// Inverse of ToName(), for str, bytes and os.PathLike. Throws Python's error for other types.
inline std::string NameFrom(nanobind::handle name) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(name.ptr(), &bytes) == 0) throw nanobind::python_error();
  const auto kept = nanobind::steal<nanobind::bytes>(bytes);
  return {kept.c_str(), kept.size()};
}

}  // namespace recpack::python
