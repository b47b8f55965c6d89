#include "src/remote/url/url.h"

#include "recpack/base/error.h"

namespace recpack::remote {
namespace {

constexpr std::string_view kSchemes[] = {"s3", "gs", "http", "https"};
constexpr std::string_view kSeparator = "://";

std::string_view FindScheme(std::string_view text) noexcept {
  for (const std::string_view scheme : kSchemes) {
    if (text.starts_with(scheme) && text.substr(scheme.size()).starts_with(kSeparator)) {
      return scheme;
    }
  }
  return {};
}

[[noreturn]] void FailUrl(const std::string& text, const std::string& reason) {
  throw Error(ErrorKind::kInvalidArgument, reason, {.path = WithoutSecrets(text)},
              "write s3://bucket/key, gs://bucket/key or https://host/path");
}

}  // namespace

bool IsUrl(std::string_view text) noexcept { return !FindScheme(text).empty(); }

bool IsWebUrl(std::string_view text) noexcept { return FindScheme(text).starts_with("http"); }

std::string_view WithoutQuery(std::string_view text) noexcept {
  return IsWebUrl(text) ? text.substr(0, text.find('?')) : text;
}

Url ParseUrl(const std::string& text) {
  const std::string_view scheme = FindScheme(text);
  if (scheme.empty()) FailUrl(text, "is not a URL of data");
  Url url{.scheme = std::string(scheme), .host = {}, .path = {}, .query = {}};
  std::string_view rest = std::string_view(text).substr(scheme.size() + kSeparator.size());
  const bool is_web = url.scheme.starts_with("http");
  if (is_web) {
    rest = rest.substr(0, rest.find('#'));
    if (const size_t query = rest.find('?'); query != rest.npos) {
      url.query = rest.substr(query + 1);
      rest = rest.substr(0, query);
    }
  }
  url.host = rest.substr(0, rest.find('/'));
  if (url.host.size() < rest.size()) url.path = rest.substr(url.host.size() + 1);
  if (url.host.empty()) FailUrl(text, is_web ? "has no host" : "has no bucket");
  if (url.host.find('@') != std::string::npos) {
    FailUrl(text, "holds a user name, which is sent by credentials only");
  }
  return url;
}

std::string WithoutLastSlash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

std::string WithoutSecrets(const std::string& url) {
  const size_t query = url.find('?');
  if (query == std::string::npos || !url.starts_with("http")) return url;
  return url.substr(0, query) + "?...";
}

}  // namespace recpack::remote
