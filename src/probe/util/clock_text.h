// Formats and parses wall-clock times in ISO 8601.
#pragma once

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>

#include "src/base/format.h"

namespace recpack::probe {

// Formats ns since 1970 as UTC with milliseconds: "2026-11-22T05:01:38.250Z".
inline std::string ClockText(int64_t time) {
  const auto seconds = static_cast<std::time_t>(time / 1'000'000'000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                time / 1'000'000 % 1000);
}

// Parses the format of ClockText(). Returns nullopt for any other text.
inline std::optional<int64_t> ClockTime(const std::string& text) {
  std::tm parts{};
  int millis = 0, read = 0;
  const int fields =
      std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &parts.tm_year, &parts.tm_mon,
                  &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &millis, &read);
  if (fields != 7 || static_cast<size_t>(read) != text.size()) return {};
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  const auto seconds = static_cast<int64_t>(::timegm(&parts));
  if (seconds < 0 || seconds > 9'000'000'000) return {};  // ns would not fit an int64_t
  return (seconds * 1000 + millis) * 1'000'000;
}

}  // namespace recpack::probe
