// Bindings of the loader, which recpack_io.loading wraps.
#include "recpack/loader/loader.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "python/bind/bind.h"
#include "python/calls/shared_slabs.h"
#include "python/convert/array_type.h"
#include "python/convert/choice.h"
#include "python/convert/options.h"
#include "python/convert/text.h"
#include "python/objects/batch.h"
#include "python/objects/open_loader.h"
#include "recpack/base/gain.h"
#include "recpack/loader/token.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

constexpr Words<LastBatch, 3> kLast = {
    {{"drop", LastBatch::kDrop}, {"pad", LastBatch::kPad}, {"keep", LastBatch::kKeep}}};
constexpr Words<RankShare, 2> kShares = {
    {{"samples", RankShare::kSamples}, {"batches", RankShare::kBatches}}};
constexpr Words<OnBadRecord, 2> kOnBad = {
    {{"fail", OnBadRecord::kFail}, {"substitute", OnBadRecord::kSubstitute}}};
constexpr Words<CacheKind, 3> kCaches = {{{"none", CacheKind::kNone},
                                          {"records", CacheKind::kRecords},
                                          {"pictures", CacheKind::kPictures}}};

LoaderOptions TakeLoaderOptions(nb::dict given) {
  LoaderOptions options;
  options.fields = Take<std::vector<Field>>(given, "fields");
  options.view_fields = Take<std::vector<std::vector<Field>>>(given, "view_fields");
  options.batch_steps = Take<std::vector<BatchStep>>(given, "batch_functions");
  options.batch_size = Take<uint32_t>(given, "batch_size");
  options.seed = Take<uint64_t>(given, "seed");
  options.rank = Take<uint32_t>(given, "rank");
  options.world_size = Take<uint32_t>(given, "world_size");
  options.order = ParseOrder(Take<std::string>(given, "order"));
  options.share = ParseWord(kShares, Take<std::string>(given, "share"), "share");
  options.last_batch = ParseWord(kLast, Take<std::string>(given, "last_batch"), "last_batch");
  options.epoch = Take<uint64_t>(given, "epoch");
  options.resume = Take<std::string>(given, "resume");
  options.epochs = Take<uint64_t>(given, "epochs");
  options.threads = Take<int>(given, "threads");
  options.prefetch = Take<uint32_t>(given, "prefetch");
  options.max_live_batches = Take<uint32_t>(given, "max_live_batches");
  options.cache.what = ParseWord(kCaches, Take<std::string>(given, "cache"), "cache");
  options.cache.budget_bytes = Take<uint64_t>(given, "cache_bytes");
  options.on_bad_record =
      ParseWord(kOnBad, Take<std::string>(given, "on_bad_record"), "on_bad_record");
  options.max_bad_share = Take<double>(given, "max_bad_share");
  options.ledger = Take<std::string>(given, "ledger");
  if (const auto audit = Take<std::string>(given, "audit"); !audit.empty()) {
    options.audit = EpochAudit::Parse(audit);
  }
  options.audit_counts = Take<bool>(given, "audit_counts");
  options.source.verify = Take<bool>(given, "verify");
  if (Take<bool>(given, "shared_slabs")) options.slabs = &ProcessSlabs();
  return options;
}

std::optional<HeldBatch> Next(OpenLoader& open) {
  std::optional<Batch> batch = open.Next();
  if (!batch) return {};
  return HeldBatch{std::make_shared<const Batch>(std::move(*batch))};
}

std::vector<ArrayTuple> Arrays(OpenLoader& open) {
  const auto specs = open.With([](const Loader& loader) { return loader.arrays(); });
  std::vector<ArrayTuple> arrays;
  arrays.reserve(specs.size());
  for (const ArraySpec& spec : specs) {
    arrays.emplace_back(spec.name, ElementName(spec.type), spec.shape, ToWord(kRows, spec.rows));
  }
  return arrays;
}

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::string Token(OpenLoader& open) {
  return open.With([](const Loader& loader) { return loader.Token(); });
}

// Members of recpack_io.Substitution, in order.
nb::list Substitutions(OpenLoader& open) {
  const auto all = open.With([](const Loader& loader) { return loader.substitutions(); });
  nb::list list;
  for (const Substitution& each : all) {
    list.append(nb::make_tuple(each.epoch, each.position, each.view, each.bad, each.taken,
                               ToName(each.place.path), ToText(each.reason)));
  }
  return list;
}

nb::dict StoreToDict(const StoreStats& store) {
  nb::dict waits;
  for (size_t i = 0; i < kStoreWaits; ++i) {
    waits[StoreWaitName(static_cast<StoreWait>(i))] = Seconds(store.waits[i]);
  }
  nb::dict all;
  all["wait_seconds"] = waits;
  all["requests"] = store.requests;
  all["bytes"] = store.bytes;
  all["first_byte_seconds"] = Seconds(store.first_byte);
  all["transfer_seconds"] = Seconds(store.transfer);
  all["throttled"] = store.throttled;
  all["retried"] = store.retried;
  all["hedged"] = store.hedged;
  all["cache_hit_bytes"] = store.cache_hits;
  all["cache_miss_bytes"] = store.cache_misses;
  return all;
}

nb::dict Stats(OpenLoader& open) {
  const auto stats = open.With([](const Loader& loader) { return loader.stats(); });
  nb::dict stages;
  for (size_t i = 0; i < kStages; ++i) {
    const StageStats total = stats.Total(static_cast<Stage>(i));
    nb::dict stage;
    stage["count"] = total.count;
    stage["bytes"] = total.bytes;
    stage["seconds"] = Seconds(total.time);
    stages[StageName(static_cast<Stage>(i))] = stage;
  }
  nb::dict all;
  all["seconds"] = Seconds(stats.age);
  all["threads"] = stats.workers.size();
  all["batches"] = stats.batches;
  all["samples"] = stats.samples;
  all["epochs"] = stats.epochs;
  all["waits"] = stats.waits;
  all["wait_seconds"] = Seconds(stats.consumer_wait);
  all["ready"] = stats.ready;
  all["held"] = stats.held;
  all["slabs"] = stats.slabs;
  all["batch_bytes"] = stats.batch_bytes;
  all["stages"] = stages;
  all["store"] = StoreToDict(stats.TotalStore());
  return all;
}

}  // namespace

void BindLoader(nb::module_& module) {
  nb::class_<OpenLoader>(module, "Loader")
      .def(
          "__init__",
          [](OpenLoader* self, const Mixture& samples, const nb::dict& options) {
            nb::dict given = nb::cast<nb::dict>(options.attr("copy")());
            auto running = Take<SharedCalls>(given, "running");
            new (self) OpenLoader(samples, TakeLoaderOptions(std::move(given)), std::move(running));
          },
          nb::arg("samples"), nb::arg("options"))
      .def("next", Next)
      .def("close", &OpenLoader::Close)
      .def("token", Token)
      .def("epoch", [](OpenLoader& open) { return ParseToken(Token(open)).epoch; })
      .def("position", [](OpenLoader& open) { return ParseToken(Token(open)).position; })
      .def("order",
           [](OpenLoader& open) {
             return open.With([](const Loader& l) { return OrderText(l.options().order); });
           })
      .def("seed",
           [](OpenLoader& open) {
             return open.With([](const Loader& l) { return l.options().seed; });
           })
      .def("audit",
           [](OpenLoader& open) {
             return open.With([](const Loader& loader) { return loader.audit(); });
           })
      .def("substitutions", Substitutions)
      .def("arrays", Arrays)
      .def("steps_per_epoch",
           [](OpenLoader& open) {
             return open.With([](const Loader& loader) { return loader.steps_per_epoch(); });
           })
      .def("stats", Stats, nb::sig("def stats(self) -> dict[str, typing.Any]"));
  module.def(
      "token_at",
      [](const std::string& text, uint64_t epoch, uint64_t position) {
        ResumeToken token = ParseToken(text);
        token.epoch = epoch;
        token.position = position;
        return TokenText(token);
      },
      nb::arg("token"), nb::arg("epoch"), nb::arg("position"),
      "The token of the same samples, order and seed, at another position: the number of samples "
      "of all ranks in the epoch.");
  module.def(
      "token_place",
      [](const std::string& text) {
        const ResumeToken token = ParseToken(text);
        return std::pair(token.epoch, token.position);
      },
      nb::arg("token"), "The token's epoch and position.");
  module.def("await_endings", &OpenLoader::AwaitEndings,
             "Waits for loaders that their own functions closed.");
  module.def(
      "is_gain_run", [] { return IsGainRun(); },
      "True if this run is an experiment of `recprobe gain`: most of its batches are repeated "
      "or made up, and what it trains is worth nothing.");
}

}  // namespace recpack::python
