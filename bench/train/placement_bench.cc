// A training step of deepconn over one or several CPU devices, without input: one batch that stays.
//
//   placement_bench [--devices N] [--place PLACE]       as rectrain train takes it, or one
//                   [--type f32|bf16] [--steps N] [--batch N] [--threads N] [--rounds N] [--serve
//                   1]
//
// The threads are shared out to the devices. Its lines say besides how many copies between devices
// a step has ("copies"), and which part of the time they took ("copy_share").
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "bench/record/timing.h"
#include "bench/train/check_loss.h"
#include "recpack/base/random.h"
#include "recpack/train/cpu_ops.h"
#include "recpack/train/model.h"
#include "src/train/single_device.h"

namespace recpack {
namespace {

constexpr DeepconnOptions kModel{.vocabulary = 20'000};
constexpr double kRate = 1e-4;  // small enough that one batch over and over does not diverge

class ResidentBatch final : public BatchArrays {
 public:
  explicit ResidentBatch(int64_t batch) : ratings_(static_cast<size_t>(batch)) {
    KeyedRandom random(0, 1, 2);
    for (std::vector<int32_t>* tokens : {&user_, &item_}) {
      tokens->resize(static_cast<size_t>(batch * kModel.max_tokens));
      for (int32_t& token : *tokens) {
        token = static_cast<int32_t>(random.NextBelow(static_cast<uint32_t>(kModel.vocabulary)));
      }
    }
    for (float& rating : ratings_) rating = static_cast<float>(1 + random.NextBelow(5));
  }
  const void* Raw(const std::string& name) const override {
    if (name == "rating") return ratings_.data();
    return name == "user_tokens" ? user_.data() : item_.data();
  }

 private:
  std::vector<int32_t> user_, item_;
  std::vector<float> ratings_;
};

std::unique_ptr<Placement> PlacementOf(const std::vector<Ops*>& devices, const std::string& place) {
  if (devices.size() == 1) return nullptr;
  std::vector<DeviceSpec> specs;
  for (size_t i = 0; i < devices.size(); ++i) specs.push_back({.number = static_cast<int>(i)});
  const ModelGraph graph = DeepconnGraph();
  return std::make_unique<Placement>(devices, graph, PlaceOperations(place, graph, specs));
}

void Run(const bench::Flags& flags) {
  const int64_t batch = flags.Number("--batch", "128");
  const int steps = flags.Number("--steps", "15"), threads = flags.Number("--threads", "2");
  const auto count = static_cast<size_t>(flags.Number("--devices", "1"));
  std::vector<std::unique_ptr<Ops>> owned;
  std::vector<Ops*> devices;
  for (size_t i = 0; i < count; ++i) {
    owned.push_back(MakeCpuOps({.threads = std::max(1, threads / static_cast<int>(count))}));
    devices.push_back(owned.back().get());
  }
  const std::string place = flags.Text("--place", "one");
  const auto placement = PlacementOf(devices, place);
  if (!placement) devices[0]->Attach();
  const ValueType type = flags.Text("--type", "f32") == "bf16" ? ValueType::kBf16 : ValueType::kF32;
  const auto model = MakeDeepconn(
      {.ops = devices[0], .placement = placement.get(), .batch = batch, .type = type}, kModel);
  SingleDevice strategy({.decay = 0});
  model->Build(strategy.slots(), 0);
  strategy.Start(*devices[0], model->variables());
  const ResidentBatch resident(batch);
  const DeviceArray sums = devices[0]->Allocate(sizeof(LossSums));
  const auto pass = [&] {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; ++i) {
      strategy.BeginStep({.rate = kRate});
      model->Forward(resident, nullptr, true, 1.0F / static_cast<float>(batch),
                     sums.As<LossSums>());
      model->Backward(resident, [](size_t) {});
      strategy.EndStep();
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    bench::CheckLoss(*devices[0], sums);
    const TransferAccount copies = placement ? placement->transfers().Take() : TransferAccount{};
    char more[128];
    std::snprintf(more, sizeof more, ", \"copies\": %.1f, \"copy_share\": %.6f",
                  static_cast<double>(copies.calls) / steps, copies.seconds / taken.count());
    return bench::Pass{static_cast<uint64_t>(steps * batch), copies.bytes, more};
  };
  const std::string job = "deepconn step, " + std::to_string(count) + " devices, " + place;
  if (flags.Number("--serve", "0") != 0) {
    bench::Serve(
        job, [] {}, pass);
  } else {
    bench::Measure(job, threads, flags.Number("--rounds", "5"), pass);
  }
}

}  // namespace
}  // namespace recpack

int main(int argc, char** argv) {
  recpack::Run(recpack::bench::Flags(argc, argv));
  return 0;
}
