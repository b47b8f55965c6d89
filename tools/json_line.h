// Prints JSON on one line.
#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace recpack::tool {

using Json = nlohmann::ordered_json;

// Dumps to one line without a line feed; invalid UTF-8 (in a file name) is replaced.
template <typename AnyJson = Json>
std::string JsonLine(const AnyJson& json) {
  return json.dump(-1, ' ', false, AnyJson::error_handler_t::replace);
}

// Prints the line and a line feed to stdout.
template <typename AnyJson = Json>
void PrintJson(const AnyJson& json) {
  std::printf("%s\n", JsonLine(json).c_str());
}

}  // namespace recpack::tool
