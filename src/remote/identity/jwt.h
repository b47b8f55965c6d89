// JSON Web Tokens, signed with RS256 (RFC 7519, RFC 7515).
#pragma once

#include <string>

namespace recpack::remote {

// Returns the signed token with these header and claims, JSON objects. `private_key`: an RSA key,
// PEM. Throws Error (kInvalidArgument) if it is none.
std::string SignJwt(const std::string& header, const std::string& claims,
                    const std::string& private_key);

}  // namespace recpack::remote
