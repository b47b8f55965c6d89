#include "src/remote/identity/aws_sources.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "src/remote/identity/answers.h"
#include "src/remote/sign/sign_v4.h"

namespace recpack::remote {
namespace {

constexpr size_t kMostOutput = 1 << 20;
constexpr char kInstance[] = "http://169.254.169.254";
constexpr char kContainers[] = "http://169.254.170.2";

// Parses the JSON of containers, instances and processes.
Credentials FromJson(const std::string& text, const char* token_name, const std::string& source) {
  const auto given = ParseObject(text, source);
  Credentials found{.access = TextOf(given, "AccessKeyId"),
                    .secret = TextOf(given, "SecretAccessKey"),
                    .token = TextOf(given, token_name),
                    .expires = ParseTime(TextOf(given, "Expiration"))};
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
    if (text.size() < kMostOutput) text.append(buffer.data(), got);
  }
  if (::pclose(pipe) != 0) FailSource(source, "it failed");
  return FromJson(text, "SessionToken", source);
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

std::optional<Credentials> FromInstance(const Environment& environment, const std::string& source) {
  std::string base = environment("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (base.empty()) base = kInstance;
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

CredentialSource FindAwsSource(const StoreSettings& settings, const Environment& environment) {
  if (!settings.credential_process.empty()) {
    const std::string name = "the profile's credential_process";
    return {name,
            [=, command = settings.credential_process] { return FromProcess(command, name); }};
  }
  if (!environment("AWS_WEB_IDENTITY_TOKEN_FILE").empty() && !environment("AWS_ROLE_ARN").empty()) {
    const std::string name = "the web identity (AWS_WEB_IDENTITY_TOKEN_FILE)";
    return {name,
            [=, region = settings.region] { return FromWebIdentity(environment, region, name); }};
  }
  if (!environment("AWS_CONTAINER_CREDENTIALS_FULL_URI").empty() ||
      !environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI").empty()) {
    const std::string name = "the container (AWS_CONTAINER_CREDENTIALS_*)";
    return {name, [=] { return FromContainer(environment, name); }};
  }
  if (environment("AWS_EC2_METADATA_DISABLED") == "true") return {};
  const std::string name = "the instance's role";
  return {name, [=] { return FromInstance(environment, name); }};
}

}  // namespace recpack::remote
