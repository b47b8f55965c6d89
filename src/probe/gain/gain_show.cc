#include <nlohmann/json.hpp>
#include <string>

#include "src/base/format.h"
#include "src/probe/gain/gain.h"
#include "src/probe/util/estimate_json.h"

namespace recpack::probe {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKinds[GainPlan::kKinds] = {"live", "replayed", "replayed, pipeline running",
                                                  "synthetic"};

std::string RateLine(const char* name, const Estimate& rate) {
  return format("  {:<28} {:>12.1f} samples/s [{:.1f}, {:.1f}]\n", name, rate.value, rate.low,
                rate.high);
}

std::string Range(const Estimate& difference) {
  return format("{:+.1f} samples/s [{:+.1f}, {:+.1f}]", difference.value, difference.low,
                difference.high);
}

std::string DifferenceLine(const char* name, const Estimate& difference, const char* what) {
  return format("  {:<14} {}: {}\n", name, Range(difference), what);
}

}  // namespace

std::string GainText(const GainResult& result) {
  std::string text;
  if (result.rounds == 0) {
    text = "gain: unknown\n";
  } else {
    text = format("gain of a perfect input: {}\n", Range(result.gain));
    text += format("  {:.3f} times as fast [{:.3f}, {:.3f}]; 95 % intervals\n", result.ratio.value,
                   result.ratio.low, result.ratio.high);
    text += format("  {} round{} of {} blocks of {} steps, {} trainer{}\n", result.rounds,
                   result.rounds == 1 ? "" : "s", GainPlan::kKinds, result.block_steps,
                   result.trainers, result.trainers == 1 ? "" : "s");
    text += "\nrate by kind of batches\n";
    for (const LoaderMode mode : {LoaderMode::kLive, LoaderMode::kReplayAndWork,
                                  LoaderMode::kReplay, LoaderMode::kSynthetic}) {
      text += RateLine(kKinds[static_cast<size_t>(mode)], result.rate(mode));
    }
    text += "\nwhere the gain is\n";
    text += DifferenceLine("starvation", result.starvation, "batches that come late");
    text += DifferenceLine("interference", result.interference, "the pipeline slows down steps");
    text += format(
        "  `recprobe run` sees late batches only: its gain is to be compared with "
        "starvation, {:+.1f} % here\n",
        100 * result.starvation.value / result.rate(LoaderMode::kLive).value);
    text += DifferenceLine("(synthetic", result.synthetic, "over replayed: not part of the gain)");
  }
  if (!result.notes.empty()) text += "\ncaveats and missing data\n";
  for (const std::string& note : result.notes) text += "  - " + note + "\n";
  return text;
}

std::string GainJson(const GainResult& result) {
  Json json = {{"rounds", result.rounds},
               {"trainers", result.trainers},
               {"block_steps", result.block_steps},
               {"measured_steps", result.measured_steps}};
  if (result.rounds > 0) {
    json["gain"] = ToJson(result.gain);
    json["ratio"] = ToJson(result.ratio);
    json["starvation"] = ToJson(result.starvation);
    json["interference"] = ToJson(result.interference);
    json["synthetic_over_replay"] = ToJson(result.synthetic);
    for (size_t kind = 0; kind < GainPlan::kKinds; ++kind) {
      json["samples_per_s"][LoaderModeName(static_cast<LoaderMode>(kind))] =
          ToJson(result.rates[kind]);
    }
  }
  json["notes"] = result.notes;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace recpack::probe
