#include <algorithm>

#include "src/probe/causes/rules.h"

namespace recpack::probe {
namespace {

constexpr double kSameGain = 0.85;   // of the best cause's gain in steps per second
constexpr double kSameShare = 0.03;  // of step time

double Saves(const Cause& cause) { return cause.saves.value_or(0); }

// Tells whether curing a cause saves about as much as the best cure does.
bool IsNear(double saves, double most) {
  return most - saves <= kSameShare || Speedup(saves) - 1 >= kSameGain * (Speedup(most) - 1);
}

// Order among causes that save about the same.
int CauseClass(Bottleneck bottleneck) {
  switch (bottleneck) {
    // Without them the rest may be in time.
    case Bottleneck::kInterference:
    case Bottleneck::kQuota:
    case Bottleneck::kLock:
    case Bottleneck::kStorage:
    case Bottleneck::kPageCache:
    case Bottleneck::kTurns:
    case Bottleneck::kThrottled:
      return 0;
    case Bottleneck::kWorkers:
    case Bottleneck::kPrefetch:
    case Bottleneck::kRestarts:
    case Bottleneck::kPinning:
    case Bottleneck::kTrainingThread:
      return 2;
    default:
      return 1;
  }
}

// Settings are changed in a line; work outside of the program needs its owner, work in it a change
// of the program.
bool IsSetting(Bottleneck bottleneck) { return CauseClass(bottleneck) == 2; }

bool Before(const Cause& a, const Cause& b) {
  if (CauseClass(a.bottleneck) != CauseClass(b.bottleneck)) {
    return CauseClass(a.bottleneck) < CauseClass(b.bottleneck);
  }
  return a.weight != b.weight ? a.weight > b.weight : Saves(a) > Saves(b);
}

}  // namespace

void RankCauses(std::vector<Cause>& causes) {
  // What a cause saves may be unknown: it was found by other signs, and comes first.
  auto at = std::stable_partition(causes.begin(), causes.end(),
                                  [](const Cause& cause) { return !cause.saves; });
  while (at != causes.end()) {
    const double most = Saves(*std::max_element(
        at, causes.end(), [](const Cause& a, const Cause& b) { return Saves(a) < Saves(b); }));
    auto first = at;
    for (auto it = at; it != causes.end(); ++it) {
      const bool near = IsNear(Saves(*it), most);
      const bool first_near = IsNear(Saves(*first), most);
      if (near && (!first_near || Before(*it, *first))) first = it;
    }
    std::rotate(at, first, std::next(first));
    ++at;
  }
  size_t kept = 0;
  std::erase_if(causes, [&](const Cause& cause) {
    return kept++ > 0 && cause.saves && *cause.saves < Verdict::kWorthNaming;
  });
}

std::optional<Action> ChooseAction(const std::vector<Cause>& causes) {
  const Cause* chosen = nullptr;
  for (const Cause& cause : causes) {
    if (cause.cure.empty()) continue;
    const bool setting = chosen != nullptr && !IsSetting(chosen->bottleneck) &&
                         IsSetting(cause.bottleneck) && IsNear(Saves(cause), Saves(causes.front()));
    if (chosen == nullptr || setting) chosen = &cause;
  }
  if (chosen == nullptr) return {};
  return Action{.bottleneck = chosen->bottleneck,
                .text = chosen->cure,
                .saves = chosen->saves,
                .where = chosen->where};
}

}  // namespace recpack::probe
