#include "src/probe/causes/find_lines.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string_view>
#include <tuple>

namespace recpack::probe {
namespace {

constexpr double kMuch = 0.1;        // of the time of the threads of its role
constexpr double kMuchOfOne = 0.05;  // of the time of the threads of all processes
constexpr double kMostlyBlocked = 0.5;
constexpr std::string_view kImport = "import";

// Whose lines may be the cause.
enum class Where : uint8_t { kNowhere, kInput, kStart, kThreads, kTrainer, kStuck, kLoop, kEither };

bool IsInput(Band band) { return band == Band::kModerately || band == Band::kHighly; }

Where ByBand(Band band) {
  if (IsInput(band)) return Where::kInput;
  return band == Band::kNotInput ? Where::kLoop : Where::kEither;
}

Where PlaceOfCause(const Verdict& verdict) {
  switch (verdict.bottleneck) {
    case Bottleneck::kStorage:
    case Bottleneck::kPageCache:
    case Bottleneck::kRead:
    case Bottleneck::kDecompress:
    case Bottleneck::kParse:
    case Bottleneck::kDecode:
    case Bottleneck::kAugment:
    case Bottleneck::kFunction:
    case Bottleneck::kBatch:
    case Bottleneck::kWrite:
      return Where::kInput;
    case Bottleneck::kRestarts:
      return Where::kStart;
    case Bottleneck::kLock:
      return Where::kThreads;
    case Bottleneck::kTrainingThread:
    case Bottleneck::kHost:
      return Where::kTrainer;
    case Bottleneck::kHang:
      return Where::kStuck;
    case Bottleneck::kUnknown:
    case Bottleneck::kInterference:
    case Bottleneck::kQuota:
    case Bottleneck::kModel:
    case Bottleneck::kLaunch:
      return ByBand(verdict.band);
    default:
      return Where::kNowhere;
  }
}

// A thread that hands over batches by a queue waits for its peer there.
bool IsHandingOver(const CodeLine& line) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"queue.", "multiprocessing.", "threading.",
                                              "concurrent.futures."},
      [&](std::string_view library) { return line.calling.starts_with(library); });
}

bool MayCause(const CodeLine& line) {
  return line.phase != "model" && line.phase != "next batch" && line.phase != kImport &&
         !IsHandingOver(line);
}

// Returns the function that takes most time, with its shares; `line` is the longest of its lines.
std::optional<CodeLine> FindFunction(const std::vector<CodeLine>& lines, const std::string& role) {
  // By phase and function: lines come with the longest first.
  std::map<std::tuple<std::string, std::string, std::string>, CodeLine> functions;
  for (const CodeLine& line : lines) {
    if (line.role != role || !MayCause(line)) continue;
    const auto [found, is_new] =
        functions.try_emplace(std::tuple(line.phase, line.file, line.function), line);
    CodeLine& sum = found->second;
    if (is_new) continue;
    sum.blocked = (sum.blocked * sum.share + line.blocked * line.share) / (sum.share + line.share);
    if (sum.waits.empty()) sum.waits = line.waits;
    sum.share += line.share;
  }
  const auto most = std::ranges::max_element(
      functions, {}, [](const auto& function) { return function.second.share; });
  if (most == functions.end() || most->second.share < kMuch) return {};
  return most->second;
}

std::optional<CodeLine> FindFunction(const std::vector<CodeLine>& lines,
                                     std::initializer_list<const char*> roles) {
  for (const char* role : roles) {
    if (auto function = FindFunction(lines, std::string(role))) return function;
  }
  return {};
}

// The function that workers run before they make samples.
std::optional<CodeLine> FindStart(std::vector<CodeLine> lines) {
  std::erase_if(lines, [](const CodeLine& line) {
    return !line.phase.empty() && line.phase != "worker_init_fn";
  });
  return FindFunction(lines, {kWorkerRole});
}

// Lines of the parts of an input that libraries call.
std::vector<CodeLine> OfInput(std::vector<CodeLine> lines) {
  std::erase_if(lines, [](const CodeLine& line) { return line.phase.empty(); });
  return lines;
}

std::optional<CodeLine> FindCause(const std::vector<CodeLine>& lines, Where where) {
  if (where == Where::kStart) return FindStart(lines);
  // Those that hold the lock while the training thread waits for it.
  if (where == Where::kThreads) return FindFunction(lines, {kInputRole, kThreadRole});
  auto own = FindFunction(lines, {kTrainerRole, kProgramRole});
  if (where == Where::kLoop || where == Where::kTrainer) return own;
  if (where == Where::kStuck) return own && own->blocked > kMostlyBlocked ? own : std::nullopt;
  if (where == Where::kEither && own && own->share > WaitsForOthers(lines)) return own;
  auto others = FindFunction(lines, {kWorkerRole, kInputRole});
  if (others) return others;
  if (where == Where::kInput) {
    if (auto input = FindFunction(OfInput(lines), {kTrainerRole})) return input;
  }
  // A thread of the program may do anything: it counts where the training waits for others.
  const double waits = WaitsForOthers(lines);
  if (waits < kMuch || (own && own->share > waits)) return own;
  auto thread = FindFunction(lines, {kThreadRole});
  return thread ? thread : own;
}

}  // namespace

std::optional<CodeLine> FindOwnLine(const std::vector<CodeLine>& lines, int process) {
  // By file and line: one may call several functions of libraries.
  std::map<std::pair<std::string, int>, CodeLine> places;
  for (const CodeLine& line : lines) {
    if (line.in_several || line.process != process) continue;
    if (!IsTrainer(line) && line.role != kThreadRole) continue;  // backward has threads of its own
    if (line.phase == "next batch" || line.phase == kImport || IsHandingOver(line)) continue;
    const auto [found, is_new] = places.try_emplace({line.file, line.line}, line);
    if (is_new) continue;
    found->second.share += line.share;
    found->second.seconds += line.seconds;
  }
  const auto most =
      std::ranges::max_element(places, {}, [](const auto& place) { return place.second.seconds; });
  if (most == places.end() || most->second.share < kMuchOfOne) return {};
  return most->second;
}

bool IsTrainer(const CodeLine& line) {
  return line.role == kTrainerRole || line.role == kProgramRole;
}

double WaitsForOthers(const std::vector<CodeLine>& lines) {
  double share = 0, input = 0, all = 0;  // the latter in seconds
  for (const CodeLine& line : lines) {
    const bool waits = line.phase == "next batch" || IsHandingOver(line);
    if (IsTrainer(line)) {
      all = line.seconds / line.share;
      if (waits) share += line.share;
    } else if (line.role == kInputRole && IsHandingOver(line) && !line.calling.ends_with(".put")) {
      input += line.seconds * line.blocked;
    }
  }
  return all > 0 ? std::max(share, std::min(1.0, input / all)) : share;
}

double Imports(const std::vector<CodeLine>& lines) {
  double share = 0;
  for (const CodeLine& line : lines) {
    if (IsTrainer(line) && line.phase == kImport) share += line.share;
  }
  return share;
}

double OfTraining(double share, const std::vector<CodeLine>& lines) {
  const double trains = 1 - Imports(lines);
  return trains > 0 ? std::min(1.0, share / trains) : 0;
}

double OwnCodeShare(const std::vector<CodeLine>& lines) {
  std::vector<CodeLine> own = lines;
  std::erase_if(own, [](const CodeLine& line) { return !line.phase.empty(); });
  const auto function = FindFunction(own, {kTrainerRole, kProgramRole});
  return function ? OfTraining(function->share, lines) : 0;
}

std::optional<CodeLine> FindLine(const Verdict& verdict) {
  const Where where = PlaceOfCause(verdict);
  if (where == Where::kNowhere) return {};
  auto line = FindCause(verdict.lines, where);
  if (line || where != Where::kThreads) return line;
  return FindCause(verdict.lines, ByBand(verdict.band));
}

}  // namespace recpack::probe
