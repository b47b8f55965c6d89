// JSON by nlohmann, with our errors.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "recpack/base/error.h"

namespace recpack {

using Json = nlohmann::ordered_json;

// Runs `body`; what nlohmann finds wrong in the text or its types becomes kCorrupt.
template <typename Body>
auto CatchJson(const std::string& path, Body body) {
  try {
    return body();
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::kCorrupt, std::string("is not the JSON expected: ") + error.what(),
                {.path = path});
  }
}

// Runs `read` on the parsed text; whatever is wrong with it becomes kCorrupt.
template <typename Read>
auto ReadJson(const std::string& text, const std::string& path, Read read) {
  return CatchJson(path, [&] { return read(Json::parse(text)); });
}

// Text that may hold any bytes (a file name) is written with what is not UTF-8 replaced.
inline std::string DumpJson(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

inline std::string WriteJson(const Json& json) { return DumpJson(json) + "\n"; }

}  // namespace recpack
