#include "src/remote/identity/identity.h"

#include <ctime>
#include <exception>
#include <utility>

#include "recpack/base/error.h"
#include "src/remote/http/reactor.h"
#include "src/remote/http/retry.h"
#include "src/remote/identity/answers.h"
#include "src/remote/identity/aws_sources.h"
#include "src/remote/identity/google_sources.h"

namespace recpack::remote {
namespace {

constexpr int64_t kRenewBefore = 300;  // seconds
// A source may keep giving credentials that expire earlier than that, or fail for a while.
constexpr int64_t kRenewalInterval = 10, kAfterFailure = 60;

}  // namespace

Identity::Identity(StoreSettings settings, Environment environment)
    : settings_(std::move(settings)), environment_(std::move(environment)) {}

// Looks for a source at the first call. Only for the thread that has set `fetching`.
std::optional<Credentials> Identity::Fetch(State& state) const {
  if (!state.looked) {
    CredentialSource source = settings_.dialect == Dialect::kGoogle
                                  ? FindGoogleSource(environment_)
                                  : FindAwsSource(settings_, environment_);
    auto found = source.fetch ? source.fetch() : std::nullopt;
    if (!found) source.fetch = nullptr;
    const std::lock_guard lock(state.mutex);
    state.source = std::move(source);
    return found;
  }
  auto renewed = state.source.fetch();
  if (!renewed) FailSource(state.source.name, "it has none any more");
  return renewed;
}

Identity::Need Identity::State::FindNeed() const {
  if (!looked) return Need::kNow;
  if (!source.fetch) return Need::kNone;
  const int64_t now = std::time(nullptr), end = current->expires;
  if (end != 0 && end <= now) return Need::kNow;
  const bool is_due = end != 0 && end - kRenewBefore < now && next_renewal <= now;
  // What a store says may be about others.
  return is_due || CountExpired() != seen_expired ? Need::kSoon : Need::kNone;
}

std::optional<Credentials> Identity::Get() const {
  if (settings_.credentials || settings_.anonymous) return settings_.credentials;
  const bool may_wait = !Reactor::IsItsThread();
  State& state = state_.Get();
  std::unique_lock lock(state.mutex);
  for (;;) {
    const Need need = state.FindNeed();
    const bool leave = need == Need::kSoon && (!may_wait || state.fetching);
    if (need == Need::kNone || leave) return state.current;
    if (!may_wait) throw Error(ErrorKind::kIo, "there are no valid credentials yet", {}, {});
    if (!state.fetching) return Renew(state, lock);
    state.changed.wait(lock);
  }
}

std::optional<Credentials> Identity::Renew(State& state, std::unique_lock<std::mutex>& lock) const {
  state.fetching = true;
  state.seen_expired = CountExpired();
  lock.unlock();
  std::optional<Credentials> fetched;
  std::exception_ptr error;
  try {
    fetched = Fetch(state);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  state.fetching = false;
  if (state.looked) {
    state.next_renewal = std::time(nullptr) + (error ? kAfterFailure : kRenewalInterval);
  }
  if (!error) {
    state.current = std::move(fetched);
    state.looked = true;
  }
  state.changed.notify_all();
  // What was valid before still is.
  if (error && state.FindNeed() == Need::kNow) std::rethrow_exception(error);
  return state.current;
}

std::string Identity::source() const {
  if (settings_.credentials || settings_.anonymous) return settings_.source;
  State& state = state_.Get();
  const std::lock_guard lock(state.mutex);
  return state.source.name.empty() ? settings_.source : state.source.name;
}

}  // namespace recpack::remote
