// Credentials of a store, looked for once and renewed in time.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "src/remote/identity/credential_source.h"
#include "src/remote/sign/credentials.h"

namespace recpack::remote {

// The credentials of a store, renewed before they expire. Thread-safe.
class Identity {
 public:
  // `settings` found by FindSettings(). If these have no credentials and do not say that there are
  // none, the first Get() looks for others: FindAwsSource(), FindGoogleSource().
  Identity(StoreSettings settings, Environment environment);

  // Returns valid credentials; nullopt: anonymous. May wait for the network. Throws Error
  // (kIo, kInvalidArgument) if a source that is set up gives none.
  std::optional<Credentials> Get() const;

  // Says where the credentials came from, for messages.
  std::string source() const;

  const StoreSettings& settings() const noexcept { return settings_; }

 private:
  void Renew(int64_t now) const;

  const StoreSettings settings_;
  const Environment environment_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  mutable bool looked_ = false;
  mutable CredentialSource source_;
  mutable std::optional<Credentials> current_;
  mutable int64_t next_renewal_ = 0;  // seconds since 1970; not earlier
};

}  // namespace recpack::remote
