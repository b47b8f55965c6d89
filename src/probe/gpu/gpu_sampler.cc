#include "src/probe/gpu/gpu_sampler.h"

#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/probe/gpu/gpu_watch.h"

namespace recpack::probe {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

struct GpuSampler::State {
  explicit State(GpuSamplerOptions given) : options(std::move(given)) {
    try {
      nvml = std::make_shared<const Nvml>(options.library);
      Start();
    } catch (const Error& error) {
      SetUnavailable({error.what()});
    }
  }

  void Start() {
    if (const auto code = nvml->init(); code != nvml::kSuccess) {
      SetUnavailable(nvml->Why(nvml->init.name, code));
      return;
    }
    char version[nvml::kNameSize] = {};
    auto code = nvml->driver_version(version, nvml::kNameSize);
    driver = code == nvml::kSuccess ? Reading<std::string>(std::string(version))
                                    : nvml->Why(nvml->driver_version.name, code);
    int number = 0;
    code = nvml->cuda_version(&number);
    cuda = code == nvml::kSuccess
               ? Reading<std::string>(format("{}.{}", number / 1000, number % 1000 / 10))
               : nvml->Why(nvml->cuda_version.name, code);
    unsigned count = 0;
    code = nvml->count(&count);
    if (code != nvml::kSuccess) {
      devices = nvml->Why(nvml->count.name, code);
      return;
    }
    devices = static_cast<int>(count);
    for (int i = 0; i < *devices; ++i) {
      watches.push_back(std::make_unique<GpuWatch>(nvml, i, options));
    }
  }

  void SetUnavailable(const Unavailable& why) {
    devices = why;
    driver = why;
    cuda = why;
  }

  const GpuSamplerOptions options;
  std::shared_ptr<const Nvml> nvml;  // null: it could not be loaded
  Reading<int> devices;
  Reading<std::string> driver;
  Reading<std::string> cuda;
  std::vector<std::unique_ptr<GpuWatch>> watches;
};

GpuSampler::GpuSampler(GpuSamplerOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}

GpuSampler::~GpuSampler() {
  const auto until = Clock::now() + std::chrono::seconds(1);
  for (const auto& watch : state_->watches) watch->Stop(until);
}

const Reading<int>& GpuSampler::devices() const noexcept { return state_->devices; }

const Reading<std::string>& GpuSampler::driver() const noexcept { return state_->driver; }

const Reading<std::string>& GpuSampler::cuda() const noexcept { return state_->cuda; }

std::vector<GpuSample> GpuSampler::Sample() {
  for (const auto& watch : state_->watches) watch->Ask();
  const auto until = Clock::now() + state_->options.patience;
  std::vector<GpuSample> samples;
  for (const auto& watch : state_->watches) samples.push_back(watch->Get(until));
  return samples;
}

std::vector<GpuLink> GpuSampler::Links(const std::vector<GpuSample>& samples) const {
  if (!state_->nvml) return {};
  std::vector<int> gpus;
  for (const GpuSample& sample : samples) {
    if (sample.values) gpus.push_back(sample.device);
  }
  return ReadGpuLinks(*state_->nvml, gpus);
}

}  // namespace recpack::probe
