#include "src/remote/sign/credentials.h"

#include <cstdlib>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/remote/sign/profile_file.h"

namespace recpack::remote {
namespace {

constexpr uint64_t kMostBytes = 1 << 20;  // of a shared file
constexpr char kDefaultRegion[] = "us-east-1";

std::string FirstSet(const Environment& environment, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (std::string value = environment(name); !value.empty()) return value;
  }
  return {};
}

Profile ReadProfile(const std::string& path, const std::string& name) {
  if (path.empty() || !PosixFiles().Exists(path)) return {};
  const ByteBuffer bytes = ReadWholeFile(PosixFiles(), path, kMostBytes);
  return FindProfile({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name);
}

std::string SharedFile(const Environment& environment, const char* variable, const char* name) {
  if (std::string path = environment(variable); !path.empty()) return path;
  const std::string home = environment("HOME");
  return home.empty() ? "" : home + "/.aws/" + name;
}

// Settings of config and credentials files together; those of the latter apply.
Profile SharedProfile(const Environment& environment, const std::string& name) {
  Profile profile = ReadProfile(SharedFile(environment, "AWS_CONFIG_FILE", "config"), name);
  for (auto& [key, value] :
       ReadProfile(SharedFile(environment, "AWS_SHARED_CREDENTIALS_FILE", "credentials"), name)) {
    profile[key] = value;
  }
  return profile;
}

void RefuseHalf(const std::string& access, const std::string& secret, const std::string& source) {
  if (access.empty() == secret.empty()) return;
  throw Error(ErrorKind::kInvalidArgument,
              source + " has a key id without its secret, or a secret without its key id", {},
              "set both");
}

std::optional<Credentials> KeysOf(Profile& profile, const std::string& source) {
  RefuseHalf(profile["aws_access_key_id"], profile["aws_secret_access_key"], source);
  if (profile["aws_access_key_id"].empty()) return {};
  return Credentials{profile["aws_access_key_id"], profile["aws_secret_access_key"],
                     profile["aws_session_token"], 0};
}

[[noreturn]] void RefuseProfile(const std::string& name, const std::string& why) {
  throw Error(ErrorKind::kUnsupported, "the profile '" + name + "' " + why, {},
              "write credential_process = aws configure export-credentials --profile " + name +
                  " into a profile, and name that one");
}

std::optional<AssumedRole> RoleOf(Profile& profile, const std::string& name,
                                  const Environment& environment) {
  if (profile["role_arn"].empty()) return {};
  if (!profile["mfa_serial"].empty()) RefuseProfile(name, "asks for a code (mfa_serial)");
  AssumedRole role{.arn = profile["role_arn"],
                   .session = profile["role_session_name"],
                   .external_id = profile["external_id"],
                   .by = {},
                   .process = {},
                   .source = profile["credential_source"],
                   .web_identity_file = profile["web_identity_token_file"]};
  const std::string& from = profile["source_profile"];
  if (from.empty()) {
    if (!role.source.empty() || !role.web_identity_file.empty()) return role;
    throw Error(ErrorKind::kInvalidArgument,
                "the profile '" + name + "' has a role_arn, but nothing that assumes it", {},
                "add source_profile, credential_source or web_identity_token_file");
  }
  Profile source = SharedProfile(environment, from);
  if (source.empty()) {
    throw Error(ErrorKind::kInvalidArgument,
                "there is no profile '" + from + "', the source_profile of '" + name + "'", {},
                "write it to ~/.aws/credentials or ~/.aws/config");
  }
  role.by = KeysOf(source, "the profile '" + from + "'");
  role.process = source["credential_process"];
  if (!role.by && role.process.empty()) RefuseProfile(from, "has no keys for the role to assume");
  return role;
}

StoreSettings GoogleSettings(const Environment& environment) {
  StoreSettings settings;
  settings.dialect = Dialect::kGoogle;
  settings.region = "auto";
  settings.endpoint = FirstSet(environment, {"STORAGE_EMULATOR_HOST", "RECPACK_GS_ENDPOINT"});
  if (settings.endpoint.empty()) settings.endpoint = "https://storage.googleapis.com";
  if (settings.endpoint.find("://") == std::string::npos) {
    settings.endpoint = "http://" + settings.endpoint;  // as emulators are named
  }
  settings.payer = environment("GOOGLE_CLOUD_QUOTA_PROJECT");
  settings.anonymous = environment("RECPACK_GS_ANONYMOUS") == "1";
  if (settings.anonymous) return settings;

  const std::string access = environment("GS_ACCESS_KEY_ID");
  const std::string secret = environment("GS_SECRET_ACCESS_KEY");
  settings.source = "the environment (GS_ACCESS_KEY_ID)";
  RefuseHalf(access, secret, settings.source);
  if (!access.empty()) {
    settings.credentials = Credentials{access, secret, {}, 0};
    return settings;
  }
  settings.source.clear();
  settings.anonymous = !environment("STORAGE_EMULATOR_HOST").empty();
  return settings;
}

}  // namespace

std::string ProcessEnvironment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

StoreSettings FindSettings(const std::string& scheme, const Environment& environment) {
  if (scheme == "gs") return GoogleSettings(environment);
  std::string name = FirstSet(environment, {"AWS_PROFILE", "AWS_DEFAULT_PROFILE"});
  const bool is_named = !name.empty();
  if (!is_named) name = "default";
  Profile profile = SharedProfile(environment, name);
  if (is_named && profile.empty()) {
    throw Error(ErrorKind::kInvalidArgument, "there is no profile '" + name + "' (AWS_PROFILE)", {},
                "write it to ~/.aws/credentials or ~/.aws/config");
  }
  StoreSettings settings;
  settings.region = FirstSet(environment, {"AWS_REGION", "AWS_DEFAULT_REGION"});
  if (settings.region.empty()) settings.region = profile["region"];
  if (settings.region.empty()) settings.region = kDefaultRegion;
  settings.endpoint = FirstSet(environment, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  if (settings.endpoint.empty()) settings.endpoint = profile["endpoint_url"];
  settings.payer = environment("AWS_REQUEST_PAYER");
  if (!settings.payer.empty() && settings.payer != "requester") {
    throw Error(ErrorKind::kInvalidArgument, "AWS_REQUEST_PAYER is '" + settings.payer + "'", {},
                "set it to requester, or to nothing");
  }
  settings.anonymous = environment("RECPACK_S3_ANONYMOUS") == "1";
  if (settings.anonymous) return settings;

  const std::string access = environment("AWS_ACCESS_KEY_ID");
  const std::string secret = environment("AWS_SECRET_ACCESS_KEY");
  settings.source = "the environment (AWS_ACCESS_KEY_ID)";
  RefuseHalf(access, secret, settings.source);
  if (!access.empty()) {
    settings.credentials = Credentials{access, secret, environment("AWS_SESSION_TOKEN"), 0};
    return settings;
  }
  settings.role = RoleOf(profile, name, environment);
  settings.source = "the profile '" + name + "'";
  if (!settings.role) settings.credentials = KeysOf(profile, settings.source);
  if (settings.credentials) return settings;
  settings.source.clear();
  settings.credential_process = profile["credential_process"];
  const bool has_other = settings.role || !settings.credential_process.empty();
  if (!has_other && !(profile["sso_session"] + profile["sso_start_url"]).empty()) {
    RefuseProfile(name, "signs in with SSO");
  }
  return settings;
}

}  // namespace recpack::remote
