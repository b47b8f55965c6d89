// JSON by nlohmann, with our errors.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "recpack/base/error.h"

namespace recpack {

using Json = nlohmann::ordered_json;

// In our words: from which byte it is no JSON, or which member is of another type or missing.
std::string JsonReason(const nlohmann::detail::exception& error);

// Runs `body`; what nlohmann finds wrong in the text or its types becomes kCorrupt, at `path`.
template <typename Body>
auto CatchJson(const std::string& path, Body body) {
  try {
    return body();
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::kCorrupt, JsonReason(error), {.path = path});
  }
}

// For callbacks of nlohmann's parser: throws Error (kCorrupt) for text nested too deep.
void RefuseDeepJson(int depth, const std::string& path);

// Runs `read` on the parsed text; whatever is wrong with it becomes kCorrupt.
template <typename Read>
auto ReadJson(const std::string& text, const std::string& path, Read read) {
  const auto watch = [&](int depth, Json::parse_event_t, const Json&) {
    RefuseDeepJson(depth, path);
    return true;
  };
  return CatchJson(path, [&] { return read(Json::parse(text, watch)); });
}

// The whole number `name` of an object. Throws Error (kCorrupt) where it is missing or is none.
uint64_t NumberIn(const Json& object, const char* name, const std::string& path);

// The object `name` of an object; likewise.
const Json& ObjectIn(const Json& object, const char* name, const std::string& path);

// The texts of the list `name` of an object; none where there is no such list.
std::vector<std::string> TextsIn(const Json& object, const char* name, const std::string& path);

// The text `name` of an object; likewise.
std::string TextIn(const Json& object, const char* name, const std::string& path);

// Text that may hold any bytes (a file name) is written with what is not UTF-8 replaced.
inline std::string DumpJson(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

inline std::string WriteJson(const Json& json) { return DumpJson(json) + "\n"; }

}  // namespace recpack
