// Value read from the system, or the reason why it is unavailable.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace recpack::probe {

// `reason`: what failed and which permission or setting is missing, as a clause to print.
struct Unavailable {
  std::string reason;

  bool operator==(const Unavailable&) const = default;
};

// Keeps "unknown" apart from 0. Without a value, the reason is not empty.
template <typename T>
class Reading {
 public:
  Reading() : held_(Unavailable{"it was not read"}) {}
  Reading(T value) : held_(std::move(value)) {}        // NOLINT(google-explicit-constructor)
  Reading(Unavailable why) : held_(std::move(why)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const noexcept { return held_.index() == 1; }
  explicit operator bool() const noexcept { return has_value(); }

  // Undefined without a value.
  const T& operator*() const noexcept { return *std::get_if<1>(&held_); }
  const T* operator->() const noexcept { return std::get_if<1>(&held_); }

  // Empty if there is a value.
  std::string reason() const {
    const Unavailable* why = std::get_if<0>(&held_);
    return why == nullptr ? std::string() : why->reason;
  }

  bool operator==(const Reading&) const = default;

 private:
  std::variant<Unavailable, T> held_;
};

}  // namespace recpack::probe
