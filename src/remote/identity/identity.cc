#include "src/remote/identity/identity.h"

#include <array>
#include <cstdio>
#include <ctime>
#include <memory>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/remote/http/reactor.h"
#include "src/remote/http/retry.h"
#include "src/remote/identity/flat_json.h"
#include "src/remote/sign/sign_v4.h"

namespace recpack::remote {
namespace {

constexpr int64_t kRefreshBefore = 300;  // seconds
constexpr uint64_t kMostBytes = 1 << 20;
constexpr long kMetadataMilliseconds = 1000;  // not there: an error after this
constexpr char kMetadata[] = "http://169.254.169.254";
constexpr char kContainers[] = "http://169.254.170.2";

std::string ReadText(const std::string& path) {
  const ByteBuffer bytes = ReadWholeFile(PosixFiles(), path, kMostBytes);
  std::string text(bytes.begin(), bytes.end());
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

[[noreturn]] void FailSource(const std::string& source, const std::string& reason) {
  throw Error(ErrorKind::kIo, source + " gave no credentials: " + reason, {},
              "check its settings, or set RECPACK_S3_ANONYMOUS=1");
}

// Parses the JSON of containers, instances and processes.
Credentials FromJson(const std::string& json, const char* token_name, const std::string& source) {
  Credentials found{.access = JsonText(json, "AccessKeyId"),
                    .secret = JsonText(json, "SecretAccessKey"),
                    .token = JsonText(json, token_name),
                    .expires = ParseTime(JsonText(json, "Expiration"))};
  if (found.access.empty() || found.secret.empty()) {
    FailSource(source, "its answer has no AccessKeyId and SecretAccessKey");
  }
  return found;
}

Credentials FromProcess(const std::string& command, const std::string& source) {
  std::FILE* const pipe = ::popen(command.c_str(), "re");
  if (pipe == nullptr) FailSource(source, "it cannot be started");
  std::string text;
  std::array<char, 4096> buffer;
  while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    if (text.size() < kMostBytes) text.append(buffer.data(), got);
  }
  if (::pclose(pipe) != 0) FailSource(source, "it failed");
  return FromJson(text, "SessionToken", source);
}

std::shared_ptr<Exchange> Ask(const Request& request, const std::string& source) {
  auto answer = SendWithRetries([&] { return request; }, {}, nullptr, request.url);
  if (!answer->ok()) FailSource(source, "HTTP status " + std::to_string(answer->status()));
  return answer;
}

std::string Element(const std::string& xml, const std::string& name) {
  const std::string open = "<" + name + ">";
  const size_t begin = xml.find(open), end = xml.find("</" + name + ">");
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  return xml.substr(begin + open.size(), end - begin - open.size());
}

Credentials FromWebIdentity(const Environment& environment, const std::string& region,
                            const std::string& source) {
  std::string endpoint = environment("AWS_ENDPOINT_URL_STS");
  if (endpoint.empty()) endpoint = "https://sts." + region + ".amazonaws.com";
  std::string session = environment("AWS_ROLE_SESSION_NAME");
  if (session.empty()) session = "recpack";
  const std::string body =
      CanonicalQuery({{"Action", "AssumeRoleWithWebIdentity"},
                      {"Version", "2011-06-15"},
                      {"RoleArn", environment("AWS_ROLE_ARN")},
                      {"RoleSessionName", session},
                      {"WebIdentityToken", ReadText(environment("AWS_WEB_IDENTITY_TOKEN_FILE"))}});
  const auto answer = Ask({.method = "POST",
                           .url = endpoint + "/",
                           .headers = {"Content-Type: application/x-www-form-urlencoded"},
                           .body = body},
                          source);
  const std::string& xml = answer->text();
  Credentials found{.access = Element(xml, "AccessKeyId"),
                    .secret = Element(xml, "SecretAccessKey"),
                    .token = Element(xml, "SessionToken"),
                    .expires = ParseTime(Element(xml, "Expiration"))};
  if (found.access.empty()) FailSource(source, "its answer has no AccessKeyId");
  return found;
}

Credentials FromContainer(const Environment& environment, const std::string& source) {
  std::string url = environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (url.empty()) url = kContainers + environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  Request request{.url = url};
  std::string token = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (const auto file = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !file.empty()) {
    token = ReadText(file);
  }
  if (!token.empty()) request.headers.push_back("Authorization: " + token);
  return FromJson(Ask(request, source)->text(), "Token", source);
}

// Sends a request once, with a short time limit: most machines have no metadata service.
std::shared_ptr<Exchange> AskMetadata(Request request) {
  request.timeout_ms = kMetadataMilliseconds;
  auto exchange = std::make_shared<Exchange>(std::move(request));
  Reactor::Get().Start(exchange);
  exchange->Wait();
  return exchange;
}

std::optional<Credentials> FromInstance(const Environment& environment, const std::string& source) {
  std::string base = environment("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (base.empty()) base = kMetadata;
  const auto session = AskMetadata({.method = "PUT",
                                    .url = base + "/latest/api/token",
                                    .headers = {"x-aws-ec2-metadata-token-ttl-seconds: 21600"}});
  if (!session->ok()) return {};
  const std::vector<std::string> headers = {"x-aws-ec2-metadata-token: " + session->text()};
  const std::string roles = base + "/latest/meta-data/iam/security-credentials/";
  const auto role = AskMetadata({.url = roles, .headers = headers});
  if (!role->ok() || role->text().empty()) return {};  // an instance without a role
  const std::string name = role->text().substr(0, role->text().find('\n'));
  const auto answer = AskMetadata({.url = roles + name, .headers = headers});
  if (!answer->ok()) FailSource(source, "HTTP status " + std::to_string(answer->status()));
  return FromJson(answer->text(), "Token", source);
}

}  // namespace

int64_t ParseTime(const std::string& text) {
  std::tm time = {};
  const char* const end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  return end == nullptr || text.empty() ? 0 : ::timegm(&time);
}

Identity::Identity(StoreSettings settings, Environment environment)
    : settings_(std::move(settings)), environment_(std::move(environment)) {
  current_ = settings_.credentials;
  source_ = settings_.source;
  looked_ = current_.has_value() || settings_.anonymous;
}

// Requires mutex_.
void Identity::FindFetch() const {
  looked_ = true;
  if (!settings_.credential_process.empty()) {
    source_ = "the profile's credential_process";
    fetch_ = [this] { return FromProcess(settings_.credential_process, source_); };
  } else if (!environment_("AWS_WEB_IDENTITY_TOKEN_FILE").empty() &&
             !environment_("AWS_ROLE_ARN").empty()) {
    source_ = "the web identity (AWS_WEB_IDENTITY_TOKEN_FILE)";
    fetch_ = [this] { return FromWebIdentity(environment_, settings_.region, source_); };
  } else if (!environment_("AWS_CONTAINER_CREDENTIALS_FULL_URI").empty() ||
             !environment_("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI").empty()) {
    source_ = "the container (AWS_CONTAINER_CREDENTIALS_*)";
    fetch_ = [this] { return FromContainer(environment_, source_); };
  } else if (environment_("AWS_EC2_METADATA_DISABLED") != "true") {
    source_ = "the instance's role";
    fetch_ = [this] { return FromInstance(environment_, source_); };
  }
}

std::optional<Credentials> Identity::Get() const {
  const std::lock_guard lock(mutex_);
  if (!looked_) {
    FindFetch();
    if (fetch_) current_ = fetch_();
    if (!current_) fetch_ = nullptr;
  }
  const bool expires = current_ && current_->expires != 0;
  if (fetch_ && expires && current_->expires - kRefreshBefore < std::time(nullptr)) {
    current_ = fetch_();
  }
  return current_;
}

std::string Identity::source() const {
  const std::lock_guard lock(mutex_);
  return source_;
}

}  // namespace recpack::remote
