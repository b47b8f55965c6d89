#include "src/probe/evidence/code_lines.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "recpack/base/text.h"
#include "src/probe/events/hook_ranges.h"
#include "src/probe/evidence/families.h"

namespace recpack::probe {
namespace {

constexpr size_t kMostPlaces = 20'000;
constexpr size_t kMostLines = 20;          // of a role
constexpr double kLeastLineShare = 0.005;  // of the role's time
// Parts of a name, separated by tabs.
enum class NamePart : size_t {
  kMark,
  kRole,
  kWaits,
  kPhase,
  kFile,
  kLine,
  kFunction,
  kCalling,
  kMade
};
constexpr size_t kPlaceParts = 9;
constexpr size_t kMostRecent = 20'000;

// A thread that waits for a processor could run.
bool IsBlocked(const std::string& waits) { return !waits.empty() && waits != "processor"; }

}  // namespace

LineSamples::Sums* LineSamples::Find(const TimedEvent& event, const Families& families) {
  const std::vector<std::string> parts = SplitText(event.name, '\t');
  if (parts.size() != kPlaceParts) return nullptr;
  const auto part = [&](NamePart which) -> const std::string& {
    return parts[static_cast<size_t>(which)];
  };
  const double seconds = static_cast<double>(event.event.end - event.event.begin) * 1e-15 *
                         static_cast<double>(event.event.value);
  const int head = families.HeadOf(event.process);
  roles_[{head, part(NamePart::kRole)}] += seconds;
  if (part(NamePart::kFile).empty()) return nullptr;
  OfHead key(head, event.name);
  key.second.erase(part(NamePart::kMark).size() + part(NamePart::kRole).size() + 1,
                   part(NamePart::kWaits).size() + 1);
  if (sums_.size() >= kMostPlaces && !sums_.contains(key)) return nullptr;
  Sums& sums = sums_[key];
  CodeLine& line = sums.line;
  if (line.role.empty()) {
    line = {.role = part(NamePart::kRole),
            .phase = part(NamePart::kPhase),
            .file = part(NamePart::kFile),
            .function = part(NamePart::kFunction),
            .calling = part(NamePart::kCalling),
            .made = part(NamePart::kMade),
            .waits = {}};
    const std::string& number = part(NamePart::kLine);
    std::from_chars(number.data(), number.data() + number.size(), line.line);
  }
  line.in_several |= line.process != 0 && line.process != event.process;
  line.process = event.process;
  line.seconds += seconds;
  if (IsBlocked(part(NamePart::kWaits))) sums.waits[part(NamePart::kWaits)] += seconds;
  if (line.role == kTrainerRole) Remember(event, sums, part(NamePart::kWaits), seconds);
  return &sums;
}

void LineSamples::Sums::Add(const Sums& other) {
  line.in_several |= other.line.in_several || line.process != other.line.process;
  line.seconds += other.line.seconds;
  for (const auto& [name, seconds] : other.waits) waits[name] += seconds;
}

CodeLine LineSamples::Sums::WithWaits() const {
  CodeLine whole = line;
  double longest = 0;
  for (const auto& [name, seconds] : waits) {
    whole.blocked += seconds / line.seconds;
    if (seconds > longest) whole.waits = name;
    longest = std::max(longest, seconds);
  }
  return whole;
}

void LineSamples::Remember(const TimedEvent& event, const Sums& sums, const std::string& waits,
                           double seconds) {
  recent_.push_back({.process = event.process,
                     .end = event.event.end,
                     .seconds = seconds,
                     .blocked = IsBlocked(waits) && waits != "I/O",
                     .sums = &sums});
  const int64_t oldest = event.event.end - kRemembered * 1'000'000'000;
  while (recent_.size() > kMostRecent || recent_.front().end < oldest) recent_.pop_front();
}

std::vector<Standstill> LineSamples::Since(int64_t when) const {
  std::map<int, Standstill> found;
  std::map<std::pair<int, const Sums*>, double> longest;
  for (const Recent& recent : recent_) {
    if (recent.end <= when) continue;
    Standstill& still = found[recent.process];
    still.process = recent.process;
    still.seconds += recent.seconds;
    if (recent.blocked) still.blocked += recent.seconds;
    longest[{recent.process, recent.sums}] += recent.seconds;
  }
  std::vector<Standstill> all;
  for (auto& [process, still] : found) {
    double most = 0;
    for (const auto& [place, seconds] : longest) {
      if (place.first != process || seconds <= most) continue;
      most = seconds;
      still.line = place.second->WithWaits();
    }
    if (still.seconds > 0) still.blocked /= still.seconds;
    all.push_back(std::move(still));
  }
  return all;
}

void LineSamples::Take(std::vector<TimedEvent>& events, const Families& families) {
  std::erase_if(events, [&](const TimedEvent& event) {
    if (!IsLineSample(event)) return false;
    if (event.event.end > event.event.begin) Find(event, families);
    return true;
  });
}

std::vector<CodeLine> LineSamples::Lines() const {
  return Lines([](int) { return true; });
}

std::vector<CodeLine> LineSamples::LinesOf(int trainer, const Families& families) const {
  return Lines([&](int head) { return families.TrainerOf(head) == trainer; });
}

std::vector<CodeLine> LineSamples::Lines(const std::function<bool(int)>& counts) const {
  std::map<std::string, double> roles;
  for (const auto& [key, seconds] : roles_) {
    if (counts(key.first)) roles[key.second] += seconds;
  }
  std::map<std::string, Sums> places;
  for (const auto& [key, sums] : sums_) {
    if (!counts(key.first)) continue;
    const auto [found, is_new] = places.try_emplace(key.second, sums);
    if (!is_new) found->second.Add(sums);
  }
  std::map<std::string, std::vector<CodeLine>> by_role;
  for (const auto& [name, sums] : places) {
    CodeLine line = sums.WithWaits();
    if (line.role == kProgramRole && roles.contains(kTrainerRole)) continue;
    line.share = line.seconds / std::max(1e-9, roles.at(line.role));
    if (line.share >= kLeastLineShare) by_role[line.role].push_back(std::move(line));
  }
  std::vector<CodeLine> lines;
  for (const char* role : {kWorkerRole, kInputRole, kTrainerRole, kThreadRole, kProgramRole}) {
    std::vector<CodeLine>& all = by_role[role];
    std::ranges::stable_sort(all, std::ranges::greater{}, &CodeLine::seconds);
    if (all.size() > kMostLines) all.resize(kMostLines);
    std::ranges::move(all, std::back_inserter(lines));
  }
  return lines;
}

}  // namespace recpack::probe
