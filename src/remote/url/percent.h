// Percent encoding of URLs.
#pragma once

#include <string>
#include <string_view>

namespace recpack::remote {

// Encodes all but unreserved characters (RFC 3986), as AWS signs them: "a b/c" becomes "a%20b%2Fc",
// or "a%20b/c" if slashes are kept.
std::string PercentEncode(std::string_view text, bool keep_slashes);

// Inverse. An incomplete or invalid escape stays as it is.
std::string PercentDecode(std::string_view text);

// The same for forms and S3's listings, in which '+' is a space.
std::string FormDecode(std::string text);

}  // namespace recpack::remote
