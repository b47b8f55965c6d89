// A training step of deepconn on one CPU device, without input: one batch that stays.
//
//   deepconn_bench [--dtype f32|bf16] [--steps N] [--batch N] [--threads N] [--rounds N] [--serve
//   1]
#include <string>
#include <vector>

#include "bench/record/timing.h"
#include "bench/train/check_loss.h"
#include "recpack/base/random.h"
#include "src/train/cpu/cpu_ops.h"
#include "src/train/models/model.h"
#include "src/train/strategies/single_device.h"

namespace recpack::train {
namespace {

// With separate tables, as the peer's network has them.
constexpr DeepconnOptions kModel{.vocabulary = 20'000, .tables = WordTables::kSeparate};
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

void Run(const bench::Flags& flags) {
  const int64_t batch = flags.Number("--batch", "128");
  const int steps = flags.Number("--steps", "15"), threads = flags.Number("--threads", "2");
  const auto ops = MakeCpuOps({.threads = threads});
  ops->Attach();
  const ElementType type =
      flags.Text("--dtype", "f32") == "bf16" ? ElementType::kBf16 : ElementType::kF32;
  const auto model = MakeDeepconn({.ops = ops.get(), .batch = batch, .type = type}, kModel);
  SingleDevice strategy({.decay = 0});
  model->Build(strategy.slots(), 0);
  strategy.Start(*ops, model->variables());
  const ResidentBatch resident(batch);
  const DeviceArray sums = ops->Allocate(sizeof(LossSums));
  const auto pass = [&] {
    for (int i = 0; i < steps; ++i) {
      strategy.BeginStep({.rate = kRate});
      model->Forward(resident, nullptr, true, 1.0F / static_cast<float>(batch),
                     sums.As<LossSums>());
      model->Backward(resident, [](size_t) {});
      strategy.EndStep();
    }
    bench::CheckLoss(*ops, sums);
    return bench::Pass{static_cast<uint64_t>(steps * batch), 0};
  };
  const std::string job = "deepconn step, " + std::to_string(threads) + " threads";
  if (flags.Number("--serve", "0") != 0) {
    bench::Serve(
        job, [] {}, pass);
  } else {
    bench::Measure(job, threads, flags.Number("--rounds", "5"), pass);
  }
}

}  // namespace
}  // namespace recpack::train

int main(int argc, char** argv) {
  recpack::train::Run(recpack::bench::Flags(argc, argv));
  return 0;
}
