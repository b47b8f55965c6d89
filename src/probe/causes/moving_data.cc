#include "src/base/format.h"
#include "src/probe/causes/rules.h"
#include "src/probe/share/hidden_ranks.h"
#include "src/probe/share/slow_rank.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

constexpr double kMuchExchange = 0.1;  // of step time
constexpr double kMuchCopying = 0.1;

}  // namespace

void MovingData(const Situation& situation, Found& found) {
  const Breakdown parts = StepParts(situation.trainers, situation.verdict);
  const auto name = [&](Bottleneck bottleneck, const char* what, double share) {
    found.causes.push_back(
        {.bottleneck = bottleneck,
         .saves = situation.pipeline.Saved(0, share),
         .weight = share,
         .evidence = {format("{} of step time goes to {}", Percent(share), what)}});
  };
  if (parts.copies > kMuchCopying) {
    name(Bottleneck::kCopyToDevice, "copies to the device while it is otherwise idle",
         parts.copies);
  }
  if (parts.device_copies > kMuchCopying) {
    name(Bottleneck::kCopyOnDevices,
         "copies within devices and between them, while they do not compute", parts.device_copies);
  }
  if (parts.exchange > kMuchExchange && parts.exchange > parts.other) {
    name(Bottleneck::kExchange, "the exchange between devices", parts.exchange);
  }
  const double gradients = ShareOfExchanges(situation.evidence, situation.trainers);
  if (gradients > kMuchExchange) {
    name(Bottleneck::kExchange, "the exchange of gradients after the backward pass, on every rank",
         gradients);
  }
}

}  // namespace recpack::probe
