#include "src/remote/identity/identity.h"

#include <ctime>

#include "recpack/base/error.h"
#include "src/remote/identity/answers.h"
#include "src/remote/identity/aws_sources.h"
#include "src/remote/identity/google_sources.h"

namespace recpack::remote {
namespace {

constexpr int64_t kRenewBefore = 300;  // seconds
// A source may keep giving credentials that expire earlier than that, or fail for a while.
constexpr int64_t kRenewalInterval = 10;

}  // namespace

Identity::Identity(StoreSettings settings, Environment environment)
    : settings_(std::move(settings)), environment_(std::move(environment)) {
  current_ = settings_.credentials;
  source_.name = settings_.source;
  looked_ = current_.has_value() || settings_.anonymous;
}

// Requires mutex_.
void Identity::Renew(int64_t now) const {
  next_renewal_ = now + kRenewalInterval;
  try {
    const auto renewed = source_.fetch();
    if (!renewed) FailSource(source_.name, "it has none any more");
    current_ = renewed;
  } catch (const Error&) {
    if (current_->expires <= now) throw;
  }
}

std::optional<Credentials> Identity::Get() const {
  const std::lock_guard lock(mutex_);
  if (!looked_) {
    source_ = settings_.dialect == Dialect::kGoogle ? FindGoogleSource(environment_)
                                                    : FindAwsSource(settings_, environment_);
    if (source_.fetch) current_ = source_.fetch();
    if (!current_) source_.fetch = nullptr;
    looked_ = true;
    return current_;
  }
  if (!source_.fetch || current_->expires == 0) return current_;
  const int64_t now = std::time(nullptr);
  const bool is_due = current_->expires - kRenewBefore < now && next_renewal_ <= now;
  if (is_due || current_->expires <= now) Renew(now);
  return current_;
}

std::string Identity::source() const {
  const std::lock_guard lock(mutex_);
  return source_.name;
}

}  // namespace recpack::remote
