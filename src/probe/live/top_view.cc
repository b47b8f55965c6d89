#include "src/probe/live/top_view.h"

#include <algorithm>
#include <cmath>

#include "src/base/format.h"
#include "src/probe/util/units.h"
#include "src/probe/util/wrapped.h"

namespace recpack::probe {
namespace {

constexpr size_t kMostDisks = 3;  // the busiest
constexpr double kIdleDisk = 0.001;

std::string BandText(const Verdict& verdict) {
  std::string text = BandName(verdict.band);
  if (verdict.band != Band::kUnknown && verdict.bottleneck != Bottleneck::kUnknown) {
    text += format(": {}", BottleneckName(verdict.bottleneck));
  }
  return text;
}

std::string Bar(double share) {
  constexpr double kWidth = 30;
  const double part = std::clamp(share, 0.0, 1.0) * kWidth;
  std::string bar(static_cast<size_t>(std::lround(part)), '#');
  bar.resize(static_cast<size_t>(kWidth), '.');
  return bar;
}

std::string Line(const char* title, const std::string& text) {
  return format("{:<17} {}", title, text);
}

// Disks that did anything, the busiest first.
std::vector<DeviceRates> BusyDisks(const SystemRates& rates) {
  std::vector<DeviceRates> disks;
  for (const DeviceRates& disk : rates.devices) {
    if (disk.busy_share > kIdleDisk || disk.read_bytes_per_second > 0) disks.push_back(disk);
  }
  std::stable_sort(disks.begin(), disks.end(), [](const DeviceRates& a, const DeviceRates& b) {
    return a.busy_share > b.busy_share;
  });
  if (disks.size() > kMostDisks) disks.resize(kMostDisks);
  return disks;
}

std::string ProcessorsText(const SystemRates& rates) {
  std::string text = format("{:.2f}", rates.tree_cores);
  if (rates.allowed_cores > 0) text += format(" of {}", rates.allowed_cores);
  text += rates.allowed_cores == 1 ? " processor" : " processors";
  if (rates.others_cores) text += format(", others {:.2f}", *rates.others_cores);
  return text + format(", recprobe {:.2f}", rates.own_cores);
}

std::string MemoryText(const TopFigures& figures) {
  std::string text = BytesText(static_cast<double>(figures.resident));
  text += format(" in {} {}", figures.processes, figures.processes == 1 ? "process" : "processes");
  const auto& available = figures.memory.available_bytes;
  const auto& total = figures.memory.total_bytes;
  if (!available || !total) return text;
  return text + format("; {} of {} available", BytesText(static_cast<double>(*available)),
                       BytesText(static_cast<double>(*total)));
}

std::string GpuText(const GpuSample& gpu) {
  if (!gpu.values) return gpu.values.reason();
  const GpuValues& values = *gpu.values;
  std::string text =
      values.utilisation ? "used " + Percent(*values.utilisation) : values.utilisation.reason();
  if (values.counters.sm_active) text += ", SMs " + Percent(*values.counters.sm_active);
  if (values.power) text += format(", {:.0f} W", *values.power);
  if (values.memory_used && values.memory_total) {
    text += format(", {} of {}", BytesText(static_cast<double>(*values.memory_used)),
                   BytesText(static_cast<double>(*values.memory_total)));
  }
  return text;
}

void AddSteps(const TopFigures& figures, std::vector<std::string>& lines) {
  const Verdict& verdict = figures.verdict;
  if (verdict.steps == 0 && figures.now.steps == 0) {
    lines.push_back(Line("steps", "none were told yet"));
    return;
  }
  lines.push_back(
      Line("steps", format("{:.2f}/s now, {:.2f}/s so far; {} counted", figures.now.per_second,
                           verdict.steps_per_second, verdict.steps)));
  if (verdict.band != Band::kUnknown) {
    lines.push_back(Line("waits for input", Bar(verdict.input_share.value) + " " +
                                                PercentRange(verdict.input_share) + " so far"));
  }
  if (figures.now.wait_share) {
    lines.push_back(
        Line("", Bar(*figures.now.wait_share) + " " + Percent(*figures.now.wait_share) + " now"));
  }
}

std::string Cut(std::string line, size_t columns) {
  line = Printable(std::move(line));
  if (line.size() <= columns) return line;
  while (columns > 0 && (static_cast<uint8_t>(line[columns]) & 0xc0) == 0x80) --columns;  // UTF-8
  return line.substr(0, columns);
}

}  // namespace

StepsWithin CountSteps(const std::vector<TrainerSteps>& trainers, int64_t from, int64_t to) {
  StepsWithin within;
  int64_t time = 0, waited = 0;
  for (const TrainerSteps& trainer : trainers) {
    for (const StepRecord& step : trainer.steps) {
      if (step.end <= from || step.end > to) continue;
      ++within.steps;
      time += step.duration();
      waited += step.uncovered_wait;
    }
  }
  if (to > from) {
    within.per_second = static_cast<double>(within.steps) / Seconds(to - from);
  }
  if (time > 0) within.wait_share = static_cast<double>(waited) / static_cast<double>(time);
  return within;
}

std::string TopText(const TopFigures& figures, size_t rows, size_t columns) {
  const Verdict& verdict = figures.verdict;
  std::vector<std::string> lines = {
      format("recprobe top, {:.0f} s (q ends it): {}", figures.seconds, figures.what), ""};
  AddSteps(figures, lines);
  lines.push_back(Line("verdict so far", BandText(verdict)));
  if (!verdict.cure.empty()) lines.push_back(Line("next", verdict.cure));
  lines.emplace_back();
  lines.push_back(Line("CPU", ProcessorsText(figures.rates)));
  lines.push_back(Line("memory", MemoryText(figures)));
  const std::vector<DeviceRates> disks = BusyDisks(figures.rates);
  if (disks.empty()) lines.push_back(Line("disk", "idle"));
  for (const DeviceRates& disk : disks) {
    lines.push_back(Line(
        "disk",
        format("{} busy {}, reads {}/s, writes {}/s", disk.name, Percent(disk.busy_share),
               BytesText(disk.read_bytes_per_second), BytesText(disk.written_bytes_per_second))));
  }
  for (const GpuSample& gpu : figures.gpus) {
    lines.push_back(Line(format("GPU {}", gpu.device).c_str(), GpuText(gpu)));
  }
  if (!figures.gpus_unseen.empty()) lines.push_back(Line("GPU", figures.gpus_unseen));
  if (!figures.output.empty()) {
    lines.emplace_back();
    const size_t left = rows > lines.size() ? rows - lines.size() : 0;
    const size_t skipped = figures.output.size() - std::min(left, figures.output.size());
    lines.insert(lines.end(), figures.output.begin() + static_cast<ptrdiff_t>(skipped),
                 figures.output.end());
  }
  if (lines.size() > rows) lines.resize(rows);
  std::string text;
  for (std::string& line : lines) text += Cut(std::move(line), columns) + "\n";
  return text;
}

std::string TopLine(const TopFigures& figures) {
  const Verdict& verdict = figures.verdict;
  std::string text = format("{:.0f} s: {:.2f} steps/s", figures.seconds, figures.now.per_second);
  if (verdict.band != Band::kUnknown) {
    text += format(", waits for input {} so far", PercentRange(verdict.input_share));
  }
  text += format(", {}; CPU {:.2f}", BandText(verdict), figures.rates.tree_cores);
  if (figures.rates.allowed_cores > 0) text += format(" of {}", figures.rates.allowed_cores);
  text += ", memory " + BytesText(static_cast<double>(figures.resident));
  for (const DeviceRates& disk : BusyDisks(figures.rates)) {
    text += format(", {} busy {}, reads {}/s", disk.name, Percent(disk.busy_share),
                   BytesText(disk.read_bytes_per_second));
  }
  for (const GpuSample& gpu : figures.gpus) {
    text += format(", GPU {} {}", gpu.device, GpuText(gpu));
  }
  return Printable(text) + "\n";
}

}  // namespace recpack::probe
