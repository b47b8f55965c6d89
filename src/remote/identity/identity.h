// Credentials of a store, looked for once and renewed in time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "src/remote/http/per_process.h"
#include "src/remote/identity/credential_source.h"
#include "src/remote/sign/credentials.h"

namespace recpack::remote {

// The credentials of a store, renewed before they expire. Thread-safe.
class Identity {
 public:
  // `settings` found by FindSettings(). If these have no credentials and do not say that there are
  // none, the first Get() looks for others: FindAwsSource(), FindGoogleSource().
  Identity(StoreSettings settings, Environment environment);

  // Returns valid credentials; nullopt: anonymous. May wait for the network, but not on the
  // reactor's thread, which would wait for itself. Throws Error (kIo, kInvalidArgument) if a source
  // that is set up gives none; kIo on the reactor's thread, until another one has fetched them.
  std::optional<Credentials> Get() const;

  // Says where the credentials came from, for messages.
  std::string source() const;

  const StoreSettings& settings() const noexcept { return settings_; }

 private:
  enum class Need : uint8_t { kNone, kSoon, kNow };

  struct State {
    // Requires mutex.
    Need FindNeed() const;

    std::mutex mutex;
    std::condition_variable changed;
    // Guarded by mutex:
    bool looked = false;
    bool fetching = false;  // a thread looks for credentials, or renews them
    CredentialSource source;
    std::optional<Credentials> current;
    int64_t next_renewal = 0;   // seconds since 1970; not earlier
    uint64_t seen_expired = 0;  // of CountExpired()
  };

  std::optional<Credentials> Fetch(State& state) const;
  // Fetches credentials while others may use the mutex that `lock` holds.
  std::optional<Credentials> Renew(State& state, std::unique_lock<std::mutex>& lock) const;

  const StoreSettings settings_;
  const Environment environment_;
  mutable PerProcess<State> state_;
};

}  // namespace recpack::remote
