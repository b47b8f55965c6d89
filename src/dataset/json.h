// JSON by nlohmann, with our errors.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "recpack/base/error.h"

namespace recpack {

using Json = nlohmann::ordered_json;

// Runs `read` on the parsed text; whatever is wrong with the text or its types becomes kCorrupt.
template <typename Read>
auto ReadJson(const std::string& text, const std::string& path, Read read) {
  try {
    return read(Json::parse(text));
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::kCorrupt, std::string("is not the JSON expected: ") + error.what(),
                {.path = path});
  }
}

// Text that may hold any bytes (a file name) is written with what is not UTF-8 replaced.
inline std::string WriteJson(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace recpack
