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
// The least share that counts beside a model: a device that works for three quarters is the limit.
constexpr double kBesideModel = 0.25;
constexpr double kMost = 0.5;  // of the workers' time
constexpr std::string_view kTransform = "transform ";
constexpr std::string_view kImport = "import";

// Whose lines may be the cause.
enum class Where : uint8_t { kNowhere, kInput, kStart, kThreads, kTrainer, kLoop, kEither };

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

bool IsTrainer(const CodeLine& line) {
  return line.role == kTrainerRole || line.role == kProgramRole;
}

// Share of the training thread's time in which it waits for what others make. So does a thread that
// makes its batches of what others hand over, where the training thread's own waits are not seen.
double WaitsForOthers(const std::vector<CodeLine>& lines) {
  double share = 0, input = 0, all = 0;  // the latter in seconds
  for (const CodeLine& line : lines) {
    const bool waits = line.phase == "next batch" || IsHandingOver(line);
    if (IsTrainer(line)) {
      all = line.seconds / line.share;
      if (waits) share += line.share;
    } else if (line.role == kInputRole && IsHandingOver(line)) {
      input += line.seconds * line.blocked;
    }
  }
  return all > 0 ? std::max(share, std::min(1.0, input / all)) : share;
}

// Share of the training thread's time in which libraries import others, as at the first step.
double Imports(const std::vector<CodeLine>& lines) {
  double share = 0;
  for (const CodeLine& line : lines) {
    if (IsTrainer(line) && line.phase == kImport) share += line.share;
  }
  return share;
}

// Converts a share of the training thread's time to one without imports, which may last longer than
// a short training.
double OfTraining(double share, const std::vector<CodeLine>& lines) {
  const double trains = 1 - Imports(lines);
  return trains > 0 ? std::min(1.0, share / trains) : 0;
}

// The function that workers run before they make samples.
std::optional<CodeLine> FindStart(std::vector<CodeLine> lines) {
  std::erase_if(lines, [](const CodeLine& line) {
    return !line.phase.empty() && line.phase != "worker_init_fn";
  });
  return FindFunction(lines, {kWorkerRole});
}

std::optional<CodeLine> FindCause(const std::vector<CodeLine>& lines, Where where) {
  if (where == Where::kStart) return FindStart(lines);
  // Those that hold the lock while the training thread waits for it.
  if (where == Where::kThreads) return FindFunction(lines, {kInputRole, kThreadRole});
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

// Waits for an input of which only lines are known: the workers' function is the cause.
void NameFunction(const CodeLine& line, Verdict& verdict) {
  if (!IsInput(verdict.band) || verdict.bottleneck != Bottleneck::kUnknown) return;
  if (line.role != kWorkerRole || line.share < kMost) return;
  verdict.bottleneck = Bottleneck::kFunction;
  verdict.evidence.clear();
  verdict.causes = {
      {.bottleneck = verdict.bottleneck, .saves = std::min(line.share, verdict.input_share.value)}};
  verdict.cure.clear();
  verdict.action = Action{.bottleneck = verdict.bottleneck, .saves = verdict.causes[0].saves};
}

// Nothing reports a wait for the input of a program that no known library loads: corrects the cause
// by the lines, by what the training thread does beside the model, and what it waits for.
void CorrectCause(const Evidence& evidence, const CodeLine& line, Verdict& verdict) {
  const bool may_be_wrong =
      verdict.bottleneck == Bottleneck::kModel || verdict.bottleneck == Bottleneck::kUnknown;
  if (verdict.band != Band::kUnknown || !may_be_wrong) return;
  const bool makes_batches = line.phase == "generator" || line.phase == "input";
  // Without steps: a call of a compiled one would look like the program's own code.
  const bool has_steps = !evidence.trainers.empty() || verdict.bottleneck == Bottleneck::kModel;
  const bool may_be_step = IsTrainer(line) && !makes_batches && !line.calling.empty();
  if (!has_steps && may_be_step) return;
  const double share =
      OfTraining(IsTrainer(line) ? line.share : WaitsForOthers(verdict.lines), verdict.lines);
  if (share < kBesideModel) return;
  verdict.bottleneck = !IsTrainer(line) ? Bottleneck::kFunction
                       : makes_batches  ? Bottleneck::kTrainingThread
                                        : Bottleneck::kHost;
  verdict.evidence.clear();
  if (!IsTrainer(line)) {
    verdict.evidence.push_back(
        format("the training thread waits {} of its time for what others hand over{}",
               Percent(share), Imports(verdict.lines) > 0 ? ", imports left out" : ""));
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

double OwnCodeShare(const std::vector<CodeLine>& lines) {
  std::vector<CodeLine> own = lines;
  std::erase_if(own, [](const CodeLine& line) { return !line.phase.empty(); });
  const auto function = FindFunction(own, {kTrainerRole, kProgramRole});
  return function ? OfTraining(function->share, lines) : 0;
}

void NameLines(const Evidence& evidence, Verdict& verdict) {
  verdict.lines = evidence.lines;
  const Where where = PlaceOfCause(verdict);
  if (where == Where::kNowhere) return;
  auto cause = FindCause(verdict.lines, where);
  if (!cause && where == Where::kThreads) {
    cause = FindCause(verdict.lines, ByBand(verdict.band));
  }
  verdict.line = cause;
  if (!cause) return;
  NameFunction(*cause, verdict);
  CorrectCause(evidence, *cause, verdict);
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
  // The host has no usual cure.
  if (!verdict.action && first.bottleneck == Bottleneck::kHost) {
    verdict.action = Action{.bottleneck = first.bottleneck, .saves = first.saves};
  }
  // A setting that saves as much lies elsewhere.
  if (verdict.action && verdict.action->bottleneck == first.bottleneck) {
    verdict.action->text = verdict.cure;
    verdict.action->where = first.where;
  }
}

}  // namespace recpack::probe
