// Text of the library, which holds names of files and so any bytes, and text of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

namespace recpack::python {

// For people: what is no UTF-8 as \xe9.
inline nanobind::str TextOf(std::string_view text) {
  PyObject* const made =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
  if (made == nullptr) throw nanobind::python_error();
  return nanobind::steal<nanobind::str>(made);
}

// For open() and its like, as os.fsdecode() makes it.
inline nanobind::str NameOf(std::string_view name) {
  PyObject* const made =
      PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
  if (made == nullptr) throw nanobind::python_error();
  return nanobind::steal<nanobind::str>(made);
}

inline std::vector<nanobind::str> TextsOf(const std::vector<std::string>& texts) {
  std::vector<nanobind::str> all;
  all.reserve(texts.size());
  for (const std::string& text : texts) all.push_back(TextOf(text));
  return all;
}

inline std::vector<nanobind::str> NamesOf(const std::vector<std::string>& names) {
  std::vector<nanobind::str> all;
  all.reserve(names.size());
  for (const std::string& name : names) all.push_back(NameOf(name));
  return all;
}

// Of a str, for people: what UTF-8 cannot say as \udce9.
inline std::string Utf8Of(nanobind::handle text) {
  PyObject* const bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace");
  if (bytes == nullptr) throw nanobind::python_error();
  const auto kept = nanobind::steal<nanobind::bytes>(bytes);
  return {kept.c_str(), kept.size()};
}

// The inverse of NameOf(), of str, bytes and os.PathLike. Throws what Python raises for others.
inline std::string NameFrom(nanobind::handle name) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(name.ptr(), &bytes) == 0) throw nanobind::python_error();
  const auto kept = nanobind::steal<nanobind::bytes>(bytes);
  return {kept.c_str(), kept.size()};
}

}  // namespace recpack::python
