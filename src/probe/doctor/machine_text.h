// Small files of /proc and /sys, read once.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include "src/base/format.h"
#include "src/probe/procfs/scanner.h"
#include "src/probe/util/reading.h"

namespace recpack::probe {

// All of it; of one line without its end.
inline Reading<std::string> TextOf(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Unavailable{format("{} cannot be read", path)};
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// The number that the file begins with, perhaps negative.
inline Reading<int> NumberOf(const std::string& path) {
  const Reading<std::string> text = TextOf(path);
  if (!text) return Unavailable{text.reason()};
  try {
    return std::stoi(*text);
  } catch (const std::exception&) {
    return Unavailable{format("{} holds no number", path)};
  }
}

}  // namespace recpack::probe
