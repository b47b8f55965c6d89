// Values of the small JSON objects that hold credentials.
#pragma once

#include <string>
#include <string_view>

namespace recpack::remote {

// Returns the string `key` of a JSON object, wherever it is nested; numbers as they are written;
// empty if it is missing or not complete. Escapes other than \uXXXX beyond ASCII are replaced.
std::string JsonText(std::string_view json, std::string_view key);

}  // namespace recpack::remote
