#include "src/probe/live/metric_families.h"

#include <utility>

namespace recpack::probe {
namespace {

// Of waits for input, where they were seen.
void AddShare(const Verdict& verdict, Exposition& text) {
  if (verdict.band == Band::kUnknown) return;
  text.Single("recprobe_input_share_ratio",
              "Of step time, waits for input that no device work covers.",
              verdict.input_share.value);
  text.Single("recprobe_input_share_low_ratio", "Lower end of the 95 % interval.",
              verdict.input_share.low);
  text.Single("recprobe_input_share_high_ratio", "Upper end of the 95 % interval.",
              verdict.input_share.high);
  text.Single("recprobe_gain_ratio", "What steps a second would grow by without these waits.",
              verdict.gain.value);
  text.Single(
      "recprobe_input_share_is_upper_bound",
      "1 where nobody told what the devices did, or ranks waited for each other, or whether "
      "batches are fetched ahead: some waits may be covered.",
      verdict.upper_bound ? 1 : 0);
}

}  // namespace

void AddVerdict(const Verdict& verdict, Exposition& text) {
  text.Family("recprobe_band", "1 for the band that the training is in, else 0.");
  for (size_t i = 0; i < kBands; ++i) {
    const auto band = static_cast<Band>(i);
    text.Sample(verdict.band == band ? 1 : 0, {{"band", BandName(band)}});
  }
  text.Family("recprobe_bottleneck", "1 for what most time is lost to, else 0.");
  for (size_t i = 0; i < kBottlenecks; ++i) {
    const auto place = static_cast<Bottleneck>(i);
    text.Sample(verdict.bottleneck == place ? 1 : 0, {{"bottleneck", BottleneckName(place)}});
  }
  AddShare(verdict, text);
  if (verdict.steps == 0) return;
  text.Single("recprobe_steps_per_second", "Of all training threads together.",
              verdict.steps_per_second);
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
      "recprobe_processors_allowed", "Processors that they may use.",
      rates->allowed_cores > 0 ? std::optional<double>(rates->allowed_cores) : std::nullopt);
  text.Single("recprobe_processors_others", "Of those, processors that others keep busy.",
              rates->others_cores);
  text.Single("recprobe_processors_own", "Processors that recprobe itself takes.",
              rates->own_cores);
  std::optional<double> read;
  for (const ProcessRates& process : rates->processes) {
    if (!process.read_bytes_per_second) continue;
    read = read.value_or(0) + *process.read_bytes_per_second;
  }
  text.Single("recprobe_storage_read_bytes_per_second", "Fetched for the watched programs.", read);
  text.Single("recprobe_page_cache_read_bytes_per_second",
              "Fetched from block devices, of the whole machine.",
              rates->page_cache_read_bytes_per_second);
  text.Single("recprobe_page_cache_refaults_per_second",
              "Pages of files that were dropped and are read again, of the whole machine.",
              rates->refaults_per_second);
  text.Family("recprobe_pressure_ratio", "Of the time, some task of the machine was held up.");
  text.Sample(rates->pressure.cpu.some, {{"resource", "cpu"}});
  text.Sample(rates->pressure.io.some, {{"resource", "io"}});
  text.Sample(rates->pressure.memory.some, {{"resource", "memory"}});
  text.Single("recprobe_quota_used_up_ratio", "Of the periods of the container's processor quota.",
              rates->throttled_periods_share);
}

}  // namespace recpack::probe
