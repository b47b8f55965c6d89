#include "src/base/format.h"
#include "src/probe/causes/rules.h"
#include "src/probe/procfs/system_rates.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

constexpr double kLow = 0.8;           // of the GPU's time
constexpr double kBusyCores = 0.9;     // of the usable cores
constexpr double kMuchPressure = 0.2;  // of the time

bool IsInput(Band band) { return band == Band::kModerately || band == Band::kHighly; }

// What the measured waits say about a GPU that is used little.
std::string AgainstLow(const Verdict& verdict) {
  const std::string share = Percent(verdict.input_share.value);
  if (IsInput(verdict.band)) return format("confirmed: {} of step time waits for input", share);
  if (verdict.band == Band::kNotInput) {
    return format("against it: only {} of step time waits for input", share);
  }
  return "this does not tell whether it waits for input";
}

std::string AgainstHigh(const Verdict& verdict) {
  if (IsInput(verdict.band)) {
    return format(
        "against it: {} of step time waits for input; any running kernel counts, however small",
        Percent(verdict.input_share.value));
  }
  if (verdict.bottleneck == Bottleneck::kHang) {
    return "against it: no step ends; kernels that wait count as well";
  }
  return "any running kernel counts, however small";
}

// " (rank 1)", where there are several.
std::string RankText(const Evidence& evidence, int process) {
  const auto found = std::ranges::find(evidence.ranks, process, &ProcessRank::process);
  return found == evidence.ranks.end() || found->size < 2 ? "" : format(" (rank {})", found->rank);
}

std::string GrowthText(const MemoryGrowth& growth, const Evidence& evidence) {
  const Estimate& rate = growth.bytes_per_step;
  std::string text = format(
      "memory of process {}{} grows by {} a step [{}, {}], {} since {} after the first step: "
      "something keeps what each step makes (losses with their graph, lists, arrays that "
      "become new tensors each time)",
      growth.process, RankText(evidence, growth.process), BytesText(rate.value),
      BytesText(rate.low), BytesText(rate.high), BytesText(growth.grown),
      DurationText(growth.since_s));
  if (growth.full_in_s > 0) {
    text += format("; at this rate none is left in {}", DurationText(growth.full_in_s));
  }
  return text;
}

}  // namespace

std::vector<std::string> MakeHints(const Evidence& evidence, const Verdict& verdict) {
  std::vector<std::string> hints;
  for (const MemoryGrowth& growth : evidence.growths) {
    hints.push_back(GrowthText(growth, evidence));
  }
  bool low = false;
  for (const GpuUse& gpu : evidence.gpus) {
    if (!gpu.utilisation) continue;
    const bool is_low = *gpu.utilisation < kLow;
    low |= is_low;
    hints.push_back(format("GPU {} is used {} of the time: {}; {}", gpu.device,
                           Percent(*gpu.utilisation),
                           is_low ? "below 80 %, it may wait for input" : "it is busy",
                           is_low ? AgainstLow(verdict) : AgainstHigh(verdict)));
  }
  if (!low || !evidence.system) return hints;
  const SystemRates& system = *evidence.system;
  if (system.allowed_cores > 0 && system.tree_cores > kBusyCores * system.allowed_cores) {
    hints.push_back(
        format("the program keeps {:.1f} of {} processors busy: the input may lack processors",
               system.tree_cores, system.allowed_cores));
  }
  if (const IoPressure pressure = FindIoPressure(system); pressure.share > kMuchPressure) {
    hints.push_back(
        format("some task {} waited for I/O {} of the time: the input may wait for files",
               pressure.of, Percent(pressure.share)));
  }
  return hints;
}

}  // namespace recpack::probe
