// Credentials that a process, a web identity, a container or the machine gives for a time.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "src/remote/sign/credentials.h"

namespace recpack::remote {

// The credentials of a store, refreshed before they expire. Thread-safe.
class Identity {
 public:
  // `settings` found by FindSettings(). If these have no credentials, looks for others in this
  // order, at the first Get():
  // - the profile's `credential_process`, whose output is the JSON of its documentation;
  // - AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN (and AWS_ROLE_SESSION_NAME), as Kubernetes sets
  //   them: AssumeRoleWithWebIdentity of STS (AWS_ENDPOINT_URL_STS);
  // - AWS_CONTAINER_CREDENTIALS_FULL_URI or _RELATIVE_URI, with AWS_CONTAINER_AUTHORIZATION_TOKEN
  // or
  //   _TOKEN_FILE: containers of ECS and EKS;
  // - the instance's metadata service, version 2 (AWS_EC2_METADATA_SERVICE_ENDPOINT), unless
  //   AWS_EC2_METADATA_DISABLED is "true" or RECPACK_S3_ANONYMOUS is "1".
  Identity(StoreSettings settings, Environment environment);

  // Returns valid credentials; nullopt: anonymous. May wait for the network. Throws Error
  // (kIo, kInvalidArgument) if a source that is set up gives none.
  std::optional<Credentials> Get() const;

  // Says where the credentials came from, for messages.
  std::string source() const;

  const StoreSettings& settings() const noexcept { return settings_; }

 private:
  using Fetch = std::function<std::optional<Credentials>()>;
  void FindFetch() const;

  const StoreSettings settings_;
  const Environment environment_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  mutable bool looked_ = false;
  mutable Fetch fetch_;
  mutable std::optional<Credentials> current_;
  mutable std::string source_;
};

// Parses "2026-11-25T12:30:00Z" (RFC 3339 in UTC) to seconds since 1970; 0 if it is not that.
int64_t ParseTime(const std::string& text);

}  // namespace recpack::remote
