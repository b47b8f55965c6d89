#include "src/remote/identity/google_sources.h"

#include <ctime>
#include <nlohmann/json.hpp>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/remote/identity/answers.h"
#include "src/remote/identity/jwt.h"
#include "src/remote/sign/sign_v4.h"

namespace recpack::remote {
namespace {

using Json = nlohmann::json;

constexpr char kTokenService[] = "https://oauth2.googleapis.com/token";
constexpr char kReadWrite[] = "https://www.googleapis.com/auth/devstorage.read_write";
// To act as a service account.
constexpr char kAll[] = "https://www.googleapis.com/auth/cloud-platform";
constexpr int64_t kLifetime = 3600;  // seconds, the most

constexpr char kFormHeader[] = "Content-Type: application/x-www-form-urlencoded";
constexpr char kJsonHeader[] = "Content-Type: application/json";

// Text of a member that the file or answer must have.
std::string Needed(const Json& object, const char* key, const std::string& source) {
  std::string text = TextOf(object, key);
  if (text.empty()) FailSource(source, std::string("it has no ") + key);
  return text;
}

// Reads the answer of a token service (RFC 6749, section 5.1).
Credentials FromToken(const std::string& text, const std::string& source) {
  const Json answer = ParseObject(text, source);
  const auto seconds = answer.find("expires_in");
  const bool has_end = seconds != answer.end() && seconds->is_number();
  return {.access = {},
          .secret = {},
          .token = Needed(answer, "access_token", source),
          .expires = has_end ? std::time(nullptr) + seconds->get<int64_t>() : 0};
}

Credentials AskTokenService(const std::string& url, const Headers& form,
                            const std::string& source) {
  const Request request{
      .method = "POST", .url = url, .headers = {kFormHeader}, .body = CanonicalQuery(form)};
  return FromToken(Ask(request, source)->text(), source);
}

std::string TokenService(const Json& file) {
  const std::string named = TextOf(file, "token_uri");
  return named.empty() ? kTokenService : named;
}

// developers.google.com/identity/protocols/oauth2/service-account#httprest
Credentials FromServiceAccount(const Json& file, const char* scope, const std::string& source) {
  const std::string service = TokenService(file);
  const int64_t now = std::time(nullptr);
  const Json header = {{"alg", "RS256"}, {"typ", "JWT"}, {"kid", TextOf(file, "private_key_id")}};
  const Json claims = {{"iss", Needed(file, "client_email", source)},
                       {"scope", scope},
                       {"aud", service},
                       {"iat", now},
                       {"exp", now + kLifetime}};
  std::string assertion;
  try {
    assertion = SignJwt(header.dump(), claims.dump(), Needed(file, "private_key", source));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInvalidArgument) throw;
    FailSource(source, error.reason());
  }
  return AskTokenService(
      service,
      {{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"}, {"assertion", assertion}},
      source);
}

Credentials FromUser(const Json& file, const std::string& source) {
  return AskTokenService(TokenService(file),
                         {{"grant_type", "refresh_token"},
                          {"client_id", Needed(file, "client_id", source)},
                          {"client_secret", Needed(file, "client_secret", source)},
                          {"refresh_token", Needed(file, "refresh_token", source)}},
                         source);
}

// The token of another identity provider, of which `from`, a "credential_source", tells.
std::string SubjectToken(const Json& from, const std::string& source) {
  std::string text;
  if (const std::string path = TextOf(from, "file"); !path.empty()) {
    text = ReadText(path);
  } else if (const std::string url = TextOf(from, "url"); !url.empty()) {
    Request request{.url = url};
    const auto headers = from.find("headers");
    if (headers != from.end() && headers->is_object()) {
      for (const auto& [name, value] : headers->items()) {
        if (value.is_string()) request.headers.push_back(name + ": " + value.get<std::string>());
      }
    }
    text = Ask(request, source)->text();
  } else {
    FailSource(source, "its credential_source has no file and no url");
  }
  const auto format = from.find("format");
  if (format == from.end() || TextOf(*format, "type") != "json") return text;
  const std::string field = Needed(*format, "subject_token_field_name", source);
  return Needed(ParseObject(text, source), field.c_str(), source);
}

// Exchanges a token for one of a service account
// (cloud.google.com/iam/docs/reference/credentials/rest).
Credentials Impersonate(const std::string& url, const Json& delegates, const Credentials& by,
                        const std::string& source) {
  Json asked = {{"scope", Json::array({kReadWrite})},
                {"lifetime", std::to_string(kLifetime) + "s"}};
  if (delegates.is_array()) asked["delegates"] = delegates;
  const Request request{.method = "POST",
                        .url = url,
                        .headers = {kJsonHeader, "Authorization: Bearer " + by.token},
                        .body = asked.dump()};
  const Json answer = ParseObject(Ask(request, source)->text(), source);
  return {.access = {},
          .secret = {},
          .token = Needed(answer, "accessToken", source),
          .expires = ParseTime(TextOf(answer, "expireTime"))};
}

// google.aip.dev/auth/4117
Credentials FromExternalAccount(const Json& file, const std::string& source) {
  const auto from = file.find("credential_source");
  if (from == file.end()) FailSource(source, "it has no credential_source");
  const std::string acts_as = TextOf(file, "service_account_impersonation_url");
  Credentials token =
      AskTokenService(Needed(file, "token_url", source),
                      {{"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
                       {"audience", Needed(file, "audience", source)},
                       {"scope", acts_as.empty() ? kReadWrite : kAll},
                       {"requested_token_type", "urn:ietf:params:oauth:token-type:access_token"},
                       {"subject_token_type", Needed(file, "subject_token_type", source)},
                       {"subject_token", SubjectToken(*from, source)}},
                      source);
  return acts_as.empty() ? token : Impersonate(acts_as, {}, token, source);
}

Credentials FromImpersonated(const Json& file, const std::string& source) {
  const auto by = file.find("source_credentials");
  const std::string type = by == file.end() ? "" : TextOf(*by, "type");
  if (type != "authorized_user" && type != "service_account") {
    FailSource(source, "its source_credentials are of type '" + type +
                           "'; those of authorized_user and service_account are known");
  }
  const Credentials token =
      type == "authorized_user" ? FromUser(*by, source) : FromServiceAccount(*by, kAll, source);
  const auto delegates = file.find("delegates");
  return Impersonate(Needed(file, "service_account_impersonation_url", source),
                     delegates == file.end() ? Json() : *delegates, token, source);
}

Credentials FromContent(const Json& file, const std::string& source) {
  const std::string type = TextOf(file, "type");
  if (type == "service_account") return FromServiceAccount(file, kReadWrite, source);
  if (type == "authorized_user") return FromUser(file, source);
  if (type == "external_account") return FromExternalAccount(file, source);
  if (type == "impersonated_service_account") return FromImpersonated(file, source);
  FailSource(source, "its type is '" + type +
                         "'; service_account, authorized_user, external_account and "
                         "impersonated_service_account are known");
}

Credentials FromFile(const std::string& path, const std::string& source) {
  const Json file = ParseObject(ReadText(path), source);
  Credentials credentials = FromContent(file, source);
  credentials.project = TextOf(file, "quota_project_id");
  return credentials;
}

std::optional<Credentials> FromMetadata(const std::string& host, const std::string& source) {
  const auto answer = AskMetadata({.url = "http://" + host +
                                          "/computeMetadata/v1/instance/service-accounts/"
                                          "default/token",
                                   .headers = {"Metadata-Flavor: Google"}});
  // Some networks answer for every host.
  const bool is_google = answer->Header("metadata-flavor") == "Google";
  if (!is_google || answer->status() == 404) return {};  // or a machine without an account
  if (!answer->ok()) FailSource(source, "HTTP status " + std::to_string(answer->status()));
  return FromToken(answer->text(), source);
}

// Path of the file that gcloud writes; empty if there is none.
std::string GcloudFile(const Environment& environment) {
  std::string folder = environment("CLOUDSDK_CONFIG");
  if (folder.empty() && !environment("HOME").empty()) {
    folder = environment("HOME") + "/.config/gcloud";
  }
  const std::string path = folder + "/application_default_credentials.json";
  return !folder.empty() && PosixFiles().Exists(path) ? path : "";
}

}  // namespace

CredentialSource FindGoogleSource(const Environment& environment) {
  std::string name = "the file of GOOGLE_APPLICATION_CREDENTIALS";
  std::string path = environment("GOOGLE_APPLICATION_CREDENTIALS");
  if (path.empty()) {
    name = "gcloud's application default credentials";
    path = GcloudFile(environment);
  }
  if (!path.empty()) return {name, [=] { return FromFile(path, name); }};
  if (environment("NO_GCE_CHECK") == "true") return {};
  name = "the machine's service account";
  std::string host = environment("GCE_METADATA_HOST");
  if (host.empty()) host = "metadata.google.internal";
  return {name, [=] { return FromMetadata(host, name); }};
}

}  // namespace recpack::remote
