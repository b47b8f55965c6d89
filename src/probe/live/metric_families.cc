#include "src/probe/live/metric_families.h"

#include <utility>

#include "src/probe/procfs/system_rates.h"

namespace recpack::probe {
namespace {

// Adds the share of input waits, unless it is unknown.
void AddShare(const Verdict& verdict, Exposition& text) {
  if (verdict.band == Band::kUnknown) return;
  text.Single("recprobe_input_share_ratio",
              "Share of step time in waits for input that no device work covers.",
              verdict.input_share.value);
  text.Single("recprobe_input_share_low_ratio", "Lower end of the 95 % interval.",
              verdict.input_share.low);
  text.Single("recprobe_input_share_high_ratio", "Upper end of the 95 % interval.",
              verdict.input_share.high);
  text.Single("recprobe_gain_ratio", "Relative increase of steps per second without these waits.",
              verdict.gain.value);
  text.Single(
      "recprobe_input_share_is_upper_bound",
      "1 if some waits may be covered: device work, waits of ranks for each other, or prefetching "
      "was not observed.",
      verdict.upper_bound ? 1 : 0);
}

}  // namespace

void AddVerdict(const Verdict& verdict, Exposition& text) {
  text.Family("recprobe_band", "1 for the band that the training is in, else 0.");
  for (size_t i = 0; i < kBands; ++i) {
    const auto band = static_cast<Band>(i);
    text.Sample(verdict.band == band ? 1 : 0, {{"band", BandName(band)}});
  }
  text.Family("recprobe_bottleneck", "1 for the bottleneck, else 0.");
  for (size_t i = 0; i < kBottlenecks; ++i) {
    const auto place = static_cast<Bottleneck>(i);
    text.Sample(verdict.bottleneck == place ? 1 : 0, {{"bottleneck", BottleneckName(place)}});
  }
  AddShare(verdict, text);
  if (verdict.steps == 0) return;
  text.Single("recprobe_steps_per_second",
              "Steps per second of all training threads together, of the time in steps.",
              verdict.steps_per_second);
  const Beside beside = verdict.beside.value_or(Beside{});
  text.Single("recprobe_beside_steps_ratio",
              "Share of the time that is in no step: evaluations, checkpoints.", beside.share);
  text.Single("recprobe_evaluation_wait_ratio",
              "Part of recprobe_beside_steps_ratio: waits for the input of evaluations.",
              beside.waits);
  text.Family("recprobe_step_part_ratio", "Shares of the mean step; they add up to 1.");
  const Breakdown& parts = verdict.breakdown;
  const std::pair<const char*, double> shares[] = {{"input_wait", parts.input_wait},
                                                   {"copies", parts.copies},
                                                   {"device_copies", parts.device_copies},
                                                   {"exchange", parts.exchange},
                                                   {"device", parts.device},
                                                   {"other", parts.other}};
  for (const auto& [part, share] : shares) {
    text.Sample(share, {{"part", part}});
  }
}

void AddSystem(const std::optional<SystemRates>& rates, Exposition& text) {
  if (!rates || rates->seconds <= 0) return;
  text.Single("recprobe_processors_busy", "Processors that the watched programs keep busy.",
              rates->tree_cores);
  text.Single(
      "recprobe_processors_allowed", "Processors that the watched programs may use.",
      rates->allowed_cores > 0 ? std::optional<double>(rates->allowed_cores) : std::nullopt);
  text.Single("recprobe_processors_others", "Allowed processors that other programs keep busy.",
              rates->others_cores);
  text.Single("recprobe_processors_own", "Processors that recprobe itself uses.", rates->own_cores);
  std::optional<double> read;
  for (const ProcessRates& process : rates->processes) {
    if (!process.read_bytes_per_second) continue;
    read = read.value_or(0) + *process.read_bytes_per_second;
  }
  text.Single("recprobe_storage_read_bytes_per_second",
              "Bytes read from storage for the watched programs.", read);
  text.Single("recprobe_page_cache_read_bytes_per_second",
              "Bytes read from block devices by the whole machine.",
              rates->page_cache_read_bytes_per_second);
  text.Single("recprobe_page_cache_refaults_per_second",
              "Evicted file pages that are read again, on the whole machine.",
              rates->refaults_per_second);
  text.Family("recprobe_pressure_ratio",
              "Share of time in which some task of the machine waited for the resource.");
  text.Sample(rates->pressure.cpu.some, {{"resource", "cpu"}});
  text.Sample(rates->pressure.io.some, {{"resource", "io"}});
  text.Sample(rates->pressure.memory.some, {{"resource", "memory"}});
  text.Single("recprobe_quota_used_up_ratio",
              "Share of the periods in which the container's CPU quota was used up.",
              rates->throttled_periods_share);
}

}  // namespace recpack::probe
