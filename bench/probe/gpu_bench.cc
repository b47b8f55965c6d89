// Samples the first GPU with NVML while something runs on it. Prints a line of JSON: means, reasons
// for missing values, and the cost of sampling.
//
//   gpu_bench [--seconds 5] [--hertz 10]
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "bench/record/timing.h"
#include "src/probe/gpu/gpu_sampler.h"

namespace {

using Json = nlohmann::ordered_json;
using recpack::probe::GpuSample;
using recpack::probe::GpuSampler;
using recpack::probe::GpuValues;
using recpack::probe::Reading;

// Mean of one figure over all samples.
class Mean {
 public:
  void Add(const Reading<double>& reading) {
    if (reading) {
      sum_ += *reading;
      ++count_;
    } else {
      reason_ = reading.reason();
    }
  }
  Json ToJson() const {
    if (count_ == 0) return {{"unavailable", reason_}};
    return sum_ / count_;
  }

 private:
  double sum_ = 0;
  int count_ = 0;
  std::string reason_ = "there was no sample";
};

struct Figures {
  Mean utilisation, sm_active, occupancy, tensor, dram, power, pcie;

  void Add(const GpuValues& values) {
    utilisation.Add(values.utilisation);
    sm_active.Add(values.counters.sm_active);
    occupancy.Add(values.counters.sm_occupancy);
    tensor.Add(values.counters.tensor_active);
    dram.Add(values.counters.dram_active);
    power.Add(values.power);
    pcie.Add(values.pcie_rx);
  }
};

double Milliseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

Json Watch(GpuSampler& sampler, int seconds, int hertz) {
  using Clock = std::chrono::steady_clock;
  Figures figures;
  std::vector<double> costs;
  Json json;
  const auto end = Clock::now() + std::chrono::seconds(seconds);
  for (auto next = Clock::now(); next < end; next += std::chrono::milliseconds(1000 / hertz)) {
    std::this_thread::sleep_until(next);
    const auto begin = Clock::now();
    const auto samples = sampler.Sample();
    costs.push_back(Milliseconds(Clock::now() - begin));
    const GpuSample& first = samples.front();
    json["gpu"] = first.name ? *first.name : first.name.reason();
    if (first.values) figures.Add(*first.values);
  }
  std::ranges::sort(costs);
  json["samples"] = costs.size();
  json["utilisation"] = figures.utilisation.ToJson();
  json["sm_active"] = figures.sm_active.ToJson();
  json["sm_occupancy"] = figures.occupancy.ToJson();
  json["tensor_active"] = figures.tensor.ToJson();
  json["dram_active"] = figures.dram.ToJson();
  json["power_w"] = figures.power.ToJson();
  json["pcie_rx_bytes_per_s"] = figures.pcie.ToJson();
  json["sample_ms_median"] = costs[costs.size() / 2];
  json["sample_ms_max"] = costs.back();
  return json;
}

}  // namespace

int main(int argc, char** argv) {
  const recpack::bench::Flags flags(argc, argv);
  GpuSampler sampler;
  const Reading<int>& devices = sampler.devices();
  Json json;
  if (!devices || *devices == 0) {
    json["unavailable"] = devices ? "NVML sees no GPU" : devices.reason();
  } else {
    json = Watch(sampler, flags.Number("--seconds", "5"), flags.Number("--hertz", "10"));
  }
  std::printf("%s\n", json.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}
