// Credentials of object stores, found as the stores' own tools find them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace recpack::remote {

// Secret: never in messages, logs or reports.
struct Credentials {
  std::string access;  // key id; empty: `token` alone is sent, as OAuth 2.0's bearer
  std::string secret;
  std::string token;    // of temporary credentials; otherwise empty
  int64_t expires = 0;  // seconds since 1970; 0: never
  // Google's project that requests count for (quota_project_id); may be empty.
  std::string project{};
};

// Names that stores have for the same things: headers "x-amz-*" or "x-goog-*", and signatures.
enum class Dialect : uint8_t { kAws, kGoogle };

// Value of an environment variable; empty if it is not set.
using Environment = std::function<std::string(const char* name)>;

std::string ProcessEnvironment(const char* name);

// Role that a profile assumes, and by whom: one of `by`, `process`, `source` and
// `web_identity_file`.
struct AssumedRole {
  std::string arn;
  std::string session;
  std::string external_id;
  std::optional<Credentials> by;  // of the source_profile
  std::string process;            // credential_process of the source_profile
  std::string source;  // credential_source: Environment, Ec2InstanceMetadata, EcsContainer
  std::string web_identity_file;
};

// Settings of an object store.
struct StoreSettings {
  Dialect dialect = Dialect::kAws;
  std::optional<Credentials> credentials;  // nullopt: none in environment and files
  bool anonymous = false;                  // do not look for others
  std::optional<AssumedRole> role;         // of the profile
  std::string credential_process;          // command that gives them; empty: none
  std::string region;                      // default: us-east-1
  std::string endpoint;                    // such as http://127.0.0.1:9000; empty: the store's own
  std::string source;                      // where the credentials were found, for messages
  // Who pays where the owner of a bucket does not: "requester" for AWS, a project for Google.
  // Empty: the owner, or Credentials::project.
  std::string payer;
};

// Finds settings in this order: environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
// AWS_SESSION_TOKEN), then the profile AWS_PROFILE, or default, of the shared files
// (AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE; ~/.aws): its role (role_arn, with source_profile,
// credential_source or web_identity_token_file), its keys, its credential_process. Region:
// AWS_REGION, AWS_DEFAULT_REGION, the profile's. Endpoint: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL,
// the profile's endpoint_url. AWS_REQUEST_PAYER=requester: requests are paid for.
// RECPACK_S3_ANONYMOUS=1: no credentials.
//
// For gs://: GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY, an HMAC key. Endpoint: an emulator's,
// STORAGE_EMULATOR_HOST, which is asked without credentials if there is no key;
// RECPACK_GS_ENDPOINT. GOOGLE_CLOUD_QUOTA_PROJECT: the project that pays. RECPACK_GS_ANONYMOUS=1:
// no credentials.
//
// Throws Error: kIo if a file cannot be read, kInvalidArgument if a value is invalid, kUnsupported
// for profiles that need a person (SSO, MFA) or a chain of roles.
StoreSettings FindSettings(const std::string& scheme, const Environment& environment);

}  // namespace recpack::remote
