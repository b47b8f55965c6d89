// How the programs print JSON.
#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace recpack::tool {

using Json = nlohmann::ordered_json;

// On one line, without a line feed; what is not UTF-8 (a file name) is replaced.
template <typename AnyJson = Json>
std::string JsonLine(const AnyJson& json) {
  return json.dump(-1, ' ', false, AnyJson::error_handler_t::replace);
}

// The same and a line feed to stdout.
template <typename AnyJson = Json>
void PrintJson(const AnyJson& json) {
  std::printf("%s\n", JsonLine(json).c_str());
}

}  // namespace recpack::tool
