#include "src/remote/sign/sign_v4.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "recpack/base/bytes.h"
#include "recpack/base/hash.h"
#include "src/remote/url/percent.h"

namespace recpack::remote {
namespace {

constexpr size_t kBlock = 64;  // of SHA-256

struct DialectNames {
  std::string headers;
  std::string key;  // before the secret
  std::string algorithm;
  std::string end;  // of the scope
};

const DialectNames& NamesOf(Dialect dialect) {
  static const DialectNames kAws = {"x-amz-", "AWS4", "AWS4-HMAC-SHA256", "aws4_request"};
  static const DialectNames kGoogle = {"x-goog-", "GOOG4", "GOOG4-HMAC-SHA256", "goog4_request"};
  return dialect == Dialect::kGoogle ? kGoogle : kAws;
}

Sha256Digest Digest(ByteView bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Finish();
}

// HMAC-SHA256 (RFC 2104).
Sha256Digest Hmac(ByteView key, ByteView message) {
  std::array<uint8_t, kBlock> padded = {};
  if (key.size() > kBlock) {
    std::ranges::copy(Digest(key), padded.begin());
  } else {
    std::ranges::copy(key, padded.begin());
  }
  std::array<uint8_t, kBlock> inner, outer;
  for (size_t i = 0; i < kBlock; ++i) {
    inner[i] = padded[i] ^ 0x36;
    outer[i] = padded[i] ^ 0x5c;
  }
  Sha256 hash;
  hash.Update(inner);
  hash.Update(message);
  const Sha256Digest first = hash.Finish();
  hash.Update(outer);
  hash.Update(first);
  return hash.Finish();
}

Sha256Digest Hmac(ByteView key, const std::string& message) { return Hmac(key, AsBytes(message)); }

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

// Removes spaces at the ends and makes several in a row one.
std::string Trimmed(const std::string& text) {
  std::string trimmed;
  for (const char c : text) {
    const bool is_space = c == ' ' || c == '\t';
    if (is_space && (trimmed.empty() || trimmed.back() == ' ')) continue;
    trimmed += is_space ? ' ' : c;
  }
  if (trimmed.ends_with(' ')) trimmed.pop_back();
  return trimmed;
}

std::string Time(int64_t seconds, const char* form) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm utc = {};
  ::gmtime_r(&time, &utc);
  char text[32];
  return {text, std::strftime(text, sizeof text, form, &utc)};
}

}  // namespace

std::string CanonicalQuery(const Headers& query) {
  Headers encoded;
  for (const auto& [name, value] : query) {
    encoded.emplace_back(PercentEncode(name, false), PercentEncode(value, false));
  }
  std::ranges::sort(encoded);
  std::string text;
  for (const auto& [name, value] : encoded) {
    text += (text.empty() ? "" : "&") + name + "=" + value;
  }
  return text;
}

std::string HexSha256(const std::string& text) { return Hex(Digest(AsBytes(text))); }

std::string ExtensionHeader(Dialect dialect, const std::string& rest) {
  return NamesOf(dialect).headers + rest;
}

Headers SignV4(const RequestToSign& request, const SigningScope& scope, const Credentials& by) {
  const DialectNames& named = NamesOf(scope.dialect);
  const std::string time = Time(scope.time, "%Y%m%dT%H%M%SZ"), day = Time(scope.time, "%Y%m%d");
  Headers added = {{named.headers + "date", time}};
  if (scope.service == "s3" || scope.service == "storage") {
    added.emplace_back(named.headers + "content-sha256", request.payload_sha256);
  }
  if (!by.token.empty()) added.emplace_back(named.headers + "security-token", by.token);

  Headers to_sign = {{"host", request.host}};
  for (const Headers* headers : {&request.headers, &std::as_const(added)}) {
    for (const auto& [name, value] : *headers) to_sign.emplace_back(Lower(name), Trimmed(value));
  }
  std::ranges::stable_sort(to_sign, {}, &Headers::value_type::first);
  std::string headers, names;
  for (const auto& [name, value] : to_sign) {
    headers += name + ":" + value + "\n";
    names += (names.empty() ? "" : ";") + name;
  }
  const std::string canonical = request.method + "\n" + request.path + "\n" +
                                CanonicalQuery(request.query) + "\n" + headers + "\n" + names +
                                "\n" + request.payload_sha256;
  const std::string region = day + "/" + scope.region + "/" + scope.service + "/" + named.end;
  const std::string text =
      named.algorithm + "\n" + time + "\n" + region + "\n" + HexSha256(canonical);
  Sha256Digest key = Hmac(AsBytes(named.key + by.secret), day);
  for (const std::string& part : {scope.region, scope.service, named.end}) {
    key = Hmac(key, part);
  }
  added.emplace_back("authorization", named.algorithm + " Credential=" + by.access + "/" + region +
                                          ", SignedHeaders=" + names +
                                          ", Signature=" + Hex(Hmac(key, text)));
  return added;
}

}  // namespace recpack::remote
