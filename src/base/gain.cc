#include "recpack/base/gain.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/event_log.h"
#include "recpack/base/random.h"
#include "src/base/format.h"

namespace recpack {
namespace {

constexpr uint32_t kOrderStream = 0x6761696e;  // "gain"
constexpr std::string_view kPrefix = "gain:";

// Removes a number from the front of the text.
template <typename Number>
bool Take(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool Take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

const char* Variable() noexcept {
  const char* text = std::getenv(GainPlan::kVariable);
  return text == nullptr || *text == '\0' ? nullptr : text;
}

}  // namespace

GainPlan::GainPlan(uint64_t seed, uint32_t block_steps) : seed_(seed), block_steps_(block_steps) {
  if (block_steps < kFewestSteps) {
    throw Error(ErrorKind::kInvalidArgument,
                format("a block of {} steps is too short", block_steps), {},
                format("choose {} or more", kFewestSteps));
  }
}

std::optional<GainPlan> GainPlan::FromEnvironment() {
  const char* const given = Variable();
  if (given == nullptr) return std::nullopt;
  std::string_view text = given;
  uint64_t seed = 0;
  uint32_t steps = 0;
  if (!Take(text, seed) || !Take(text, std::string_view(":")) || !Take(text, steps) ||
      !text.empty()) {
    throw Error(ErrorKind::kInvalidArgument, format("{} is '{}'", kVariable, given), {},
                "it is set by recprobe gain, as SEED:STEPS");
  }
  return GainPlan(seed, steps);
}

std::string GainPlan::Text() const { return format("{}:{}", seed_, block_steps_); }

GainPlan::Block GainPlan::At(uint64_t step) const noexcept {
  const uint64_t number = step / block_steps_;
  if (number == 0) return {};
  const uint64_t round = (number - 1) / kKinds;
  KeyedRandom random(seed_, kOrderStream, round);
  std::array<uint32_t, kKinds> kinds{0, 1, 2, 3};
  for (uint32_t i = kKinds; i-- > 1;) std::swap(kinds[i], kinds[random.NextBelow(i + 1)]);
  return {number, kinds[(number - 1) % kKinds]};
}

bool IsGainRun() noexcept { return Variable() != nullptr; }

std::string GainMark::Name() const {
  return format("{}{} loader {} of {}", kPrefix, kind, loader, batch_size);
}

std::optional<GainMark> GainMark::Parse(std::string_view name) {
  GainMark mark;
  if (!Take(name, kPrefix) || !Take(name, mark.kind) || !Take(name, std::string_view(" loader ")) ||
      !Take(name, mark.loader) || !Take(name, std::string_view(" of ")) ||
      !Take(name, mark.batch_size) || !name.empty() || mark.kind > kEndOfEpoch) {
    return std::nullopt;
  }
  return mark;
}

void GainMark::Tell(uint64_t block, uint16_t device) const {
  EventLog* const log = EventLog::OfProcess();
  if (log == nullptr) return;
  const int64_t now = EventLog::Now();
  log->Write({.kind = EventKind::kRange,
              .device = device,
              .lane = EventLog::ThreadLane(),
              .name = log->Name(Name()),
              .begin = now,
              .end = now,
              .value = block});
}

}  // namespace recpack
