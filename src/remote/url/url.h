// URLs of data: s3://bucket/key, gs://bucket/key, http(s)://host/path?query.
#pragma once

#include <string>
#include <string_view>

namespace recpack::remote {

struct Url {
  std::string scheme;  // "s3", "gs", "http" or "https"
  std::string host;    // with the port; for s3 and gs the bucket
  std::string path;    // without the first slash; for s3 and gs the key, not encoded
  std::string query;   // of http and https, without '?'
};

// Tells whether the text begins with one of the schemes.
bool IsUrl(std::string_view text) noexcept;

// Tells whether the text is an http:// or https:// URL: of a web server, which has no listing.
bool IsWebUrl(std::string_view text) noexcept;

// Returns a web server's URL without its query, and anything else as it is.
std::string_view WithoutQuery(std::string_view text) noexcept;

// Throws Error (kInvalidArgument) if the text is not such a URL, if bucket or host is missing, or
// if it holds a user and password.
Url ParseUrl(const std::string& text);

// Returns the URL of a "folder" as listings and joined names want it: without slashes at its end.
std::string WithoutLastSlash(std::string url);

// Returns the URL for messages: without the values of a presigned query, which are secret.
std::string WithoutSecrets(const std::string& url);

}  // namespace recpack::remote
