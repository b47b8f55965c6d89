// Signature Version 4 of requests, as AWS defines it
// (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html) and with
// Google's names (cloud.google.com/storage/docs/authentication/signatures).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/remote/sign/credentials.h"

namespace recpack::remote {

using Headers = std::vector<std::pair<std::string, std::string>>;

// SHA-256 of an empty body, and the word of a body that is not signed.
inline constexpr char kEmptySha256[] =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
inline constexpr char kUnsignedPayload[] = "UNSIGNED-PAYLOAD";

// Returns the SHA-256 of a text in hexadecimal.
std::string HexSha256(const std::string& text);

struct RequestToSign {
  std::string method;
  std::string host;  // as in the Host header
  std::string path;  // encoded, with the first slash
  Headers query;     // not encoded, in any order
  Headers headers;   // to be signed, besides host; names in any case
  std::string payload_sha256 = kEmptySha256;
};

struct SigningScope {
  Dialect dialect = Dialect::kAws;
  std::string region;
  std::string service = "s3";  // kGoogle: "storage"; of AWS's token service: "sts"
  int64_t time = 0;            // seconds since 1970, UTC
};

// Returns a header's name: "x-amz-" or "x-goog-", and `rest`. Google's store refuses requests that
// have both.
std::string ExtensionHeader(Dialect dialect, const std::string& rest);

// Returns the headers to add: x-amz-date, x-amz-content-sha256 (for object stores),
// x-amz-security-token (for temporary credentials), or those of x-goog-, and authorization.
Headers SignV4(const RequestToSign& request, const SigningScope& scope, const Credentials& by);

// Returns the encoded query in the order that is signed: "a=1&b=%2F"; empty without one.
std::string CanonicalQuery(const Headers& query);

}  // namespace recpack::remote
