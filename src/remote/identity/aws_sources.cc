#include "src/remote/identity/aws_sources.h"

#include <array>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

#include "src/remote/http/xml.h"
#include "src/remote/identity/answers.h"
#include "src/remote/sign/sign_v4.h"
#include "src/remote/url/url.h"

namespace recpack::remote {
namespace {

constexpr size_t kMostOutput = 1 << 20;
constexpr char kInstance[] = "http://169.254.169.254";
constexpr char kContainers[] = "http://169.254.170.2";
constexpr char kStsVersion[] = "2011-06-15";
constexpr char kContentType[] = "Content-Type";
constexpr char kForm[] = "application/x-www-form-urlencoded";

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

std::string StsEndpoint(const Environment& environment, const std::string& region) {
  const std::string named = environment("AWS_ENDPOINT_URL_STS");
  return named.empty() ? "https://sts." + region + ".amazonaws.com" : named;
}

std::string SessionName(const std::string& given) { return given.empty() ? "recpack" : given; }

// Asks the token service; `by`: who signs, nullopt: nobody.
Credentials AskSts(const Headers& form, const std::optional<Credentials>& by,
                   const Environment& environment, const std::string& region,
                   const std::string& source) {
  const std::string endpoint = StsEndpoint(environment, region);
  Request request{.method = "POST",
                  .url = endpoint + "/",
                  .headers = {std::string(kContentType) + ": " + kForm},
                  .body = CanonicalQuery(form)};
  if (by) {
    const RequestToSign to_sign{.method = "POST",
                                .host = ParseUrl(endpoint).host,
                                .path = "/",
                                .query = {},
                                .headers = {{kContentType, kForm}},
                                .payload_sha256 = HexSha256(request.body)};
    const SigningScope scope{.region = region, .service = "sts", .time = std::time(nullptr)};
    for (const auto& [name, value] : SignV4(to_sign, scope, *by)) {
      request.headers.push_back(name + ": " + value);
    }
  }
  const auto answer = Ask(request, source);
  const std::string& xml = answer->text();
  Credentials found{.access = FirstElement(xml, "AccessKeyId"),
                    .secret = FirstElement(xml, "SecretAccessKey"),
                    .token = FirstElement(xml, "SessionToken"),
                    .expires = ParseTime(FirstElement(xml, "Expiration"))};
  if (found.access.empty()) FailSource(source, "its answer has no AccessKeyId");
  return found;
}

Credentials FromWebIdentity(const std::string& file, const std::string& role,
                            const std::string& session, const Environment& environment,
                            const std::string& region, const std::string& source) {
  return AskSts({{"Action", "AssumeRoleWithWebIdentity"},
                 {"Version", kStsVersion},
                 {"RoleArn", role},
                 {"RoleSessionName", SessionName(session)},
                 {"WebIdentityToken", ReadText(file)}},
                {}, environment, region, source);
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

std::optional<Credentials> FromEnvironment(const Environment& environment) {
  const std::string access = environment("AWS_ACCESS_KEY_ID");
  if (access.empty()) return {};
  return Credentials{access, environment("AWS_SECRET_ACCESS_KEY"), environment("AWS_SESSION_TOKEN"),
                     0};
}

Credentials FromRole(const AssumedRole& role, const Environment& environment,
                     const std::string& region, const std::string& source) {
  if (!role.web_identity_file.empty()) {
    return FromWebIdentity(role.web_identity_file, role.arn, role.session, environment, region,
                           source);
  }
  std::optional<Credentials> by = role.by;
  if (!by && !role.process.empty()) by = FromProcess(role.process, source);
  if (role.source == "Environment") by = FromEnvironment(environment);
  if (role.source == "Ec2InstanceMetadata") by = FromInstance(environment, source);
  if (role.source == "EcsContainer") by = FromContainer(environment, source);
  if (!by) FailSource(source, "there are no credentials that may assume it");
  Headers form = {{"Action", "AssumeRole"},
                  {"Version", kStsVersion},
                  {"RoleArn", role.arn},
                  {"RoleSessionName", SessionName(role.session)}};
  if (!role.external_id.empty()) form.emplace_back("ExternalId", role.external_id);
  return AskSts(form, by, environment, region, source);
}

}  // namespace

CredentialSource FindAwsSource(const StoreSettings& settings, const Environment& environment) {
  if (settings.role) {
    const std::string name = "the role " + settings.role->arn + " of the profile";
    return {name, [=, role = *settings.role, region = settings.region] {
              return FromRole(role, environment, region, name);
            }};
  }
  if (!settings.credential_process.empty()) {
    const std::string name = "the profile's credential_process";
    return {name,
            [=, command = settings.credential_process] { return FromProcess(command, name); }};
  }
  if (!environment("AWS_WEB_IDENTITY_TOKEN_FILE").empty() && !environment("AWS_ROLE_ARN").empty()) {
    const std::string name = "the web identity (AWS_WEB_IDENTITY_TOKEN_FILE)";
    return {name, [=, region = settings.region] {
              return FromWebIdentity(
                  environment("AWS_WEB_IDENTITY_TOKEN_FILE"), environment("AWS_ROLE_ARN"),
                  environment("AWS_ROLE_SESSION_NAME"), environment, region, name);
            }};
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
