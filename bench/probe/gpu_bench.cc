// What NVML tells of the first GPU while something runs on it, as a line of JSON: means, what could
// not be read with the reason, and what asking costs.
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
using recpack::GpuSample;
using recpack::GpuSampler;
using recpack::GpuValues;
using recpack::Reading;

// Of one figure over all samples.
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
  Json Told() const {
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
  json["utilisation"] = figures.utilisation.Told();
  json["sm_active"] = figures.sm_active.Told();
  json["sm_occupancy"] = figures.occupancy.Told();
  json["tensor_active"] = figures.tensor.Told();
  json["dram_active"] = figures.dram.Told();
  json["power_w"] = figures.power.Told();
  json["pcie_rx_bytes_per_s"] = figures.pcie.Told();
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
