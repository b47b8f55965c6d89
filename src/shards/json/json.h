// JSON parsing with nlohmann::json that reports failures as Error.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "recpack/base/error.h"

namespace recpack {

// For writing: members stay in their order. Looks at all members for each that is added or found,
// so an object as large as a user's data is written by JsonStream.
using Json = nlohmann::ordered_json;

// For reading: members by name, each found in logarithmic time.
using ParsedJson = nlohmann::json;

// Describes the exception: the byte where the text is not JSON, or the member that is missing or
// has another type.
std::string JsonReason(const nlohmann::detail::exception& error);

// Runs `body`; converts nlohmann's exceptions to Error (kCorrupt) at `path`.
template <typename Body>
auto CatchJson(const std::string& path, Body body) {
  try {
    return body();
  } catch (const nlohmann::detail::exception& error) {
    throw Error(ErrorKind::kCorrupt, JsonReason(error), {.path = path});
  }
}

// For callbacks of nlohmann's parser: throws Error (kCorrupt) for text nested too deeply.
void RefuseDeepJson(int depth, const std::string& path);

// Returns the whole number `name` of an object. Throws Error (kCorrupt) if it is missing or has
// another type.
uint64_t NumberIn(const ParsedJson& object, const char* name, const std::string& path);

// Returns the object `name` of an object; throws likewise.
const ParsedJson& ObjectIn(const ParsedJson& object, const char* name, const std::string& path);

// Returns the strings of the list `name` of an object; empty if there is no such list.
std::vector<std::string> TextsIn(const ParsedJson& object, const char* name,
                                 const std::string& path);

// Returns the string `name` of an object. Throws Error (kCorrupt) if it is missing or has another
// type.
std::string TextIn(const ParsedJson& object, const char* name, const std::string& path);

// Serialises JSON. Invalid UTF-8 in strings, as in file names, is replaced.
inline std::string DumpJson(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

inline std::string WriteJson(const Json& json) { return DumpJson(json) + "\n"; }

}  // namespace recpack
