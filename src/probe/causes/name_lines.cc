#include "src/probe/causes/name_lines.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "src/base/format.h"
#include "src/probe/verdict/line_text.h"

namespace recpack::probe {
namespace {

constexpr double kMuch = 0.1;  // of the time of the threads of its role
constexpr double kMost = 0.5;  // of the training thread's time
constexpr std::string_view kTransform = "transform ";

// Whose lines may be the cause.
enum class Where : uint8_t { kNowhere, kInput, kTrainer, kLoop, kEither };

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
    case Bottleneck::kTrainingThread:
      return Where::kTrainer;
    case Bottleneck::kUnknown:
    case Bottleneck::kInterference:
    case Bottleneck::kQuota:
    case Bottleneck::kLock:
    case Bottleneck::kHost:
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
  return line.phase != "model" && line.phase != "next batch" && line.phase != "import" &&
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

bool IsTrainer(const CodeLine& line) {
  return line.role == kTrainerRole || line.role == kProgramRole;
}

// Share of the training thread's time in which it waits for what others make.
double WaitsForOthers(const std::vector<CodeLine>& lines) {
  double share = 0;
  for (const CodeLine& line : lines) {
    if (IsTrainer(line) && (line.phase == "next batch" || IsHandingOver(line))) share += line.share;
  }
  return share;
}

std::optional<CodeLine> FindCause(const std::vector<CodeLine>& lines, Where where) {
  auto own = FindFunction(lines, {kTrainerRole, kProgramRole});
  if (where == Where::kLoop || where == Where::kTrainer) return own;
  if (where == Where::kEither && own && own->share > WaitsForOthers(lines)) return own;
  auto others = FindFunction(lines, {kWorkerRole, kInputRole});
  if (others) return others;
  // A thread of the program may do anything: it counts where the training waits for others.
  const double waits = WaitsForOthers(lines);
  if (waits < kMuch || (own && own->share > waits)) return own;
  auto thread = FindFunction(lines, {kThreadRole});
  return thread ? thread : own;
}

// The input of a program that no known library loads is taken for the device's work, as nothing
// reports a wait for it: where its line takes most of the training thread's time, or is what that
// thread waits for, it is the cause.
void CorrectCause(const CodeLine& line, Verdict& verdict) {
  if (verdict.band != Band::kUnknown || verdict.bottleneck != Bottleneck::kModel) return;
  const double share = IsTrainer(line) ? line.share : WaitsForOthers(verdict.lines);
  if (share < kMost) return;
  const bool makes_batches = line.phase == "generator" || line.phase == "input";
  verdict.bottleneck = !IsTrainer(line) ? Bottleneck::kFunction
                       : makes_batches  ? Bottleneck::kTrainingThread
                                        : Bottleneck::kHost;
  verdict.evidence.clear();
  if (!IsTrainer(line)) {
    verdict.evidence.push_back(format(
        "the training thread waits {} of its time for what others hand over", Percent(share)));
  }
  verdict.causes = {
      {.bottleneck = verdict.bottleneck, .saves = share, .evidence = verdict.evidence}};
  verdict.cure.clear();
  verdict.action = Action{.bottleneck = verdict.bottleneck, .saves = share};
}

std::string Subject(const CodeLine& line) {
  if (line.phase.starts_with(kTransform)) return line.phase.substr(kTransform.size());
  return line.function;
}

// Where to look: a transform of a library is named where the program makes it.
std::string CausePlace(const CodeLine& line, const std::vector<CodeLine>& lines) {
  const bool of_library =
      line.calling.ends_with(Subject(line)) || line.file.find("-packages") != std::string::npos;
  if (!of_library || line.made.empty()) return PlaceText(line, lines);
  return line.made.substr(line.made.rfind('/') + 1);
}

std::string CauseText(const CodeLine& line, const std::vector<CodeLine>& lines) {
  std::string text =
      format("`{}` at {} takes {} of {} time, {}", Subject(line), CausePlace(line, lines),
             Percent(line.share), OwnerText(line), DoingText(line));
  if (!line.calling.empty() && !line.calling.ends_with(Subject(line))) {
    text += format(", calling {}", line.calling);
  }
  return text;
}

std::string CureOfLine(const CodeLine& line, const std::vector<CodeLine>& lines,
                       const Verdict& verdict) {
  const std::string place = format("`{}` ({})", Subject(line), CausePlace(line, lines));
  std::string own = format("make {} faster", place);
  if (line.phase.starts_with(kTransform)) {
    own = format(
        "move {} out of the workers: onto the device, for whole batches, or into the "
        "data, once before the training",
        place);
  } else if (line.blocked >= 0.5) {
    own = format("let {} wait less for its {}: do it ahead, in more workers, or once", place,
                 line.waits);
  }
  return verdict.cure.empty() ? own : format("{}; else: {}", own, verdict.cure);
}

}  // namespace

void NameLines(const Evidence& evidence, Verdict& verdict) {
  verdict.lines = evidence.lines;
  const Where where = PlaceOfCause(verdict);
  if (where == Where::kNowhere) return;
  const auto cause = verdict.line = FindCause(verdict.lines, where);
  if (!cause) return;
  CorrectCause(*cause, verdict);
  // Where others take the processors, the line is only where that hurts.
  const bool others =
      verdict.bottleneck == Bottleneck::kInterference || verdict.bottleneck == Bottleneck::kQuota;
  const auto at = others ? verdict.evidence.end() : verdict.evidence.begin();
  verdict.evidence.insert(at, CauseText(*cause, verdict.lines));
  if (others) return;
  verdict.cure = CureOfLine(*cause, verdict.lines, verdict);
  if (verdict.causes.empty()) return;
  Cause& first = verdict.causes.front();
  first.where = format("{} ({})", CausePlace(*cause, verdict.lines), Subject(*cause));
  // A setting that saves as much lies elsewhere.
  if (verdict.action && verdict.action->bottleneck == first.bottleneck) {
    verdict.action->text = verdict.cure;
    verdict.action->where = first.where;
  }
}

}  // namespace recpack::probe
