#include "src/probe/verdict/line_text.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "src/base/format.h"
#include "src/probe/util/wrapped.h"

namespace recpack::probe {
namespace {

constexpr size_t kMostShown = 4;      // of a role
constexpr double kLeastShown = 0.03;  // of its time
constexpr double kMostlyBlocked = 0.5;

std::string FileName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string ShareText(const CodeLine& line, const std::vector<CodeLine>& lines) {
  std::string text = format("{} of {} time, {}: {} in {}", Percent(line.share), OwnerText(line),
                            DoingText(line), PlaceText(line, lines), line.function);
  if (!line.calling.empty()) text += format(", calling {}", line.calling);
  const bool said = line.function.ends_with(line.phase) || line.calling.ends_with(line.phase);
  if (line.phase.starts_with("transform ")) {
    if (!line.made.empty()) text += format(", made at {}", FileName(line.made));
  } else if (!said) {
    text += format(" ({})", line.phase);
  }
  return text;
}

}  // namespace

std::string PlaceText(const CodeLine& line, const std::vector<CodeLine>& lines) {
  const std::string name = FileName(line.file);
  const bool unique = std::ranges::all_of(lines, [&](const CodeLine& other) {
    return other.file == line.file || FileName(other.file) != name;
  });
  return format("{}:{}", unique ? name : line.file, line.line);
}

std::string DoingText(const CodeLine& line) {
  return line.blocked < kMostlyBlocked ? "computing" : format("blocked ({})", line.waits);
}

std::string OwnerText(const CodeLine& line) {
  if (line.role == kTrainerRole) return "the training thread's";
  if (line.role == kProgramRole) return "the main thread's";
  if (line.role == kThreadRole) return "other threads'";
  return format("the {}s'", line.role);
}

std::string WhereText(const std::vector<CodeLine>& lines) {
  std::map<std::string, size_t> shown;
  std::string text;
  for (const CodeLine& line : lines) {
    // How long the thread waits for its next batch is part of the step.
    if (line.share < kLeastShown || line.phase == "next batch") continue;
    if (++shown[line.role] > kMostShown) continue;
    text += Wrapped("  - ", ShareText(line, lines));
  }
  return text.empty() ? text : "\nwhere: lines of the program\n" + text;
}

}  // namespace recpack::probe
