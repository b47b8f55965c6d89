#include "src/probe/causes/hints.h"

#include "src/base/format.h"
#include "src/probe/procfs/io_pressure.h"
#include "src/probe/util/percent.h"

namespace recpack::probe {
namespace {

constexpr double kLow = 0.8;           // of the GPU's time
constexpr double kBusyCores = 0.9;     // of those that may be used
constexpr double kMuchPressure = 0.2;  // of the time

bool IsInput(Band band) { return band == Band::kModerately || band == Band::kHighly; }

// What was measured of the waits themselves.
std::string AgainstLow(const Verdict& verdict) {
  const std::string share = Percent(verdict.input_share.value);
  if (IsInput(verdict.band))
    return format("the waits for input bear it out: {} of step time", share);
  if (verdict.band == Band::kNotInput) {
    return format("against it: only {} of step time waits for input", share);
  }
  return "whether it waits for input is not known by this";
}

std::string AgainstHigh(const Verdict& verdict) {
  if (IsInput(verdict.band)) {
    return format(
        "against it: {} of step time waits for input; a kernel that runs counts, however "
        "small",
        Percent(verdict.input_share.value));
  }
  if (verdict.bottleneck == Bottleneck::kHang) {
    return "against it: no step ends; kernels that wait count as well";
  }
  return "a kernel that runs counts, however small";
}

}  // namespace

std::vector<std::string> HintsOf(const Evidence& evidence, const Verdict& verdict) {
  std::vector<std::string> hints;
  bool low = false;
  for (const GpuUse& gpu : evidence.gpus) {
    if (!gpu.utilisation) continue;
    const bool is_low = *gpu.utilisation < kLow;
    low |= is_low;
    hints.push_back(format("GPU {} is used {} of the time: {}; {}", gpu.device,
                           Percent(*gpu.utilisation),
                           is_low ? "below 80 %, it may wait for input" : "it is kept busy",
                           is_low ? AgainstLow(verdict) : AgainstHigh(verdict)));
  }
  if (!low || !evidence.system) return hints;
  const SystemRates& system = *evidence.system;
  if (system.allowed_cores > 0 && system.tree_cores > kBusyCores * system.allowed_cores) {
    hints.push_back(
        format("the program keeps {:.1f} of {} processors busy: they may be what the "
               "input lacks",
               system.tree_cores, system.allowed_cores));
  }
  if (const IoPressure pressure = IoPressureOf(system); pressure.share > kMuchPressure) {
    hints.push_back(
        format("I/O held some task {} up {} of the time: files may be what the input lacks",
               pressure.of, Percent(pressure.share)));
  }
  return hints;
}

}  // namespace recpack::probe
