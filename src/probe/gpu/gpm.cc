#include "src/probe/gpu/gpm.h"

#include <cmath>
#include <iterator>
#include <utility>

namespace recpack::probe {
namespace {

constexpr double kShare = 0.01;        // share per percent
constexpr double kMebibyte = 1048576;  // bytes

// A metric and its destination: either `counter` or `traffic`.
struct Metric {
  nvml::GpmMetricId id;
  double unit;
  Reading<double> GpuCounters::*counter = nullptr;
  Reading<double> GpmReading::*traffic = nullptr;

  Reading<double>& In(GpmReading& reading) const {
    return counter != nullptr ? reading.counters.*counter : reading.*traffic;
  }
};

constexpr Metric kMetrics[] = {
    {.id = nvml::kGpmSmActive, .unit = kShare, .counter = &GpuCounters::sm_active},
    {.id = nvml::kGpmSmOccupancy, .unit = kShare, .counter = &GpuCounters::sm_occupancy},
    {.id = nvml::kGpmTensorActive, .unit = kShare, .counter = &GpuCounters::tensor_active},
    {.id = nvml::kGpmDramActive, .unit = kShare, .counter = &GpuCounters::dram_active},
    {.id = nvml::kGpmNvlinkRx, .unit = kMebibyte, .counter = &GpuCounters::nvlink_rx},
    {.id = nvml::kGpmNvlinkTx, .unit = kMebibyte, .counter = &GpuCounters::nvlink_tx},
    {.id = nvml::kGpmPcieRx, .unit = kMebibyte, .traffic = &GpmReading::pcie_rx},
    {.id = nvml::kGpmPcieTx, .unit = kMebibyte, .traffic = &GpmReading::pcie_tx},
};

}  // namespace

Gpm::Gpm(std::shared_ptr<const Nvml> nvml) : nvml_(std::move(nvml)) {}

Gpm::~Gpm() {
  for (const nvml::GpmSample sample : samples_) {
    if (sample != nullptr) nvml_->gpm_free(sample);
  }
}

const GpmReading& Gpm::Read(nvml::Device device, bool mig, int64_t now, int64_t interval,
                            nvml::Return& status) {
  status = nvml::kSuccess;
  if (mig) {
    SetUnavailable({"the GPU is split into MIG devices, whose counters are not read"});
    return last_;
  }
  if (sampled_ != 0 && now - sampled_ < interval) return last_;
  const char* function = nullptr;
  status = Sample(device, function);
  if (status != nvml::kSuccess) {
    SetUnavailable(status == nvml::kNotSupported
                       ? Unavailable{"GPUs have these counters (GPM) from Hopper on"}
                       : nvml_->Why(function, status));
    sampled_ = 0;
    return last_;
  }
  if (sampled_ == 0) {
    SetUnavailable({kFirstReading});
  } else {
    TakeMetrics();
  }
  sampled_ = now;
  return last_;
}

nvml::Return Gpm::Sample(nvml::Device device, const char*& function) {
  nvml::Return status = nvml::kSuccess;
  const auto failed = [&](const auto& called, auto... args) {
    function = called.name;
    status = called(args...);
    return status != nvml::kSuccess;
  };
  if (sampled_ == 0) {
    nvml::GpmSupport support = {nvml::kGpmSupportVersion, 0};
    if (failed(nvml_->gpm_support, device, &support)) return status;
    if (support.supported == 0) return nvml::kNotSupported;
  }
  for (nvml::GpmSample& sample : samples_) {
    if (sample == nullptr && failed(nvml_->gpm_alloc, &sample)) return status;
  }
  if (failed(nvml_->gpm_sample, device, samples_[0])) return status;
  std::swap(samples_[0], samples_[1]);
  return nvml::kSuccess;
}

void Gpm::TakeMetrics() {
  nvml::GpmMetricsGet get = {};
  get.version = nvml::kGpmMetricsGetVersion;
  get.count = std::size(kMetrics);
  get.before = samples_[0];
  get.after = samples_[1];
  for (size_t i = 0; i < std::size(kMetrics); ++i) get.metrics[i].id = kMetrics[i].id;
  if (const nvml::Return status = nvml_->gpm_metrics(&get); status != nvml::kSuccess) {
    SetUnavailable(nvml_->Why(nvml_->gpm_metrics.name, status));
    return;
  }
  for (size_t i = 0; i < std::size(kMetrics); ++i) {
    const nvml::GpmMetric& metric = get.metrics[i];
    Reading<double>& reading = kMetrics[i].In(last_);
    if (metric.status == nvml::kSuccess && std::isfinite(metric.value)) {
      reading = metric.value * kMetrics[i].unit;
    } else if (metric.status == nvml::kSuccess) {
      reading = Unavailable{"the driver did not return a finite number"};
    } else {
      reading = nvml_->Why(nvml_->gpm_metrics.name, metric.status);
    }
  }
}

void Gpm::SetUnavailable(const Unavailable& why) {
  for (const Metric& metric : kMetrics) metric.In(last_) = why;
}

}  // namespace recpack::probe
