// recpack batches: prints the records of past or future training steps.
#include <cstdio>
#include <memory>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/hash.h"
#include "recpack/loader/loader.h"
#include "recpack/loader/recipe.h"
#include "recpack/loader/token.h"
#include "src/base/format.h"
#include "src/base/parse_units.h"
#include "tools/cache_flag.h"
#include "tools/recpack/command.h"
#include "tools/recpack/output.h"
#include "tools/recpack/samples_flags.h"

namespace recpack::tool {
namespace {

struct BatchesFlags {
  SamplesFlags samples;
  std::string audit;
  std::string max_bad;
  std::string recipe;
  std::string order = "auto";
  std::string cache;
  std::string last_batch = "drop";
  std::string on_bad_record = "fail";
  uint64_t limit = 0;
  bool ids = false;
  bool json = false;
  LoaderOptions loader;
};

LastBatch ParseLastBatch(const std::string& text) {
  if (text == "drop") return LastBatch::kDrop;
  return text == "pad" ? LastBatch::kPad : LastBatch::kKeep;
}

std::string DigestArrays(const Batch& batch) {
  Sha256 digest;
  for (size_t i = 0; i < batch.arrays().size(); ++i) {
    digest.Update({static_cast<const uint8_t*>(batch.Raw(i)), batch.Bytes(i)});
  }
  digest.Update(ByteView(batch.mask()).first(batch.size()));
  return Hex(digest.Finish());
}

std::string FormatIds(const Batch& batch, bool mixed) {
  std::string text;
  for (uint32_t i = 0; i < batch.size(); ++i) {
    text += i == 0 ? "" : ",";
    if (mixed) text += format("{}:", batch.views()[i]);
    text += format("{}", batch.ids()[i]);
    if (batch.mask()[i] == 0) text += "*";  // padding of the batch
  }
  return text;
}

void RunBatches(BatchesFlags& flags) {
  const Mixture samples = OpenSamples(flags.samples);
  flags.loader.fields = Recipe(flags.recipe);
  flags.loader.order = ParseOrder(flags.order);
  flags.loader.cache = ParseCache(flags.cache);
  flags.loader.last_batch = ParseLastBatch(flags.last_batch);
  if (flags.on_bad_record == "substitute") {
    flags.loader.on_bad_record = OnBadRecord::kSubstitute;
  }
  if (!flags.max_bad.empty()) flags.loader.max_bad_share = ParseShare(flags.max_bad);
  if (!flags.audit.empty()) {
    flags.loader.audit_counts = true;
    if (!flags.loader.resume.empty() && PosixFiles().Exists(flags.audit)) {
      flags.loader.audit = EpochAudit::Load(flags.audit);
    }
  }
  // One epoch, of which only the samples are fetched; across epochs with a limit.
  if (flags.limit == 0) {
    const std::string& token = flags.loader.resume;
    flags.loader.epochs = (token.empty() ? flags.loader.epoch : ParseToken(token).epoch) + 1;
  }
  Loader loader(samples, flags.loader);
  const bool mixed = samples.views().size() > 1;
  uint64_t given = 0;
  while (flags.limit == 0 || given < flags.limit) {
    const auto batch = loader.Next();
    if (!batch) {
      if (flags.limit == 0) break;  // end of the epoch
      continue;
    }
    ++given;
    const std::string digest = DigestArrays(*batch);
    if (flags.json) {
      std::printf("{\"epoch\": %llu, \"batch\": %llu, \"samples\": %u, \"sha256\": \"%s\"",
                  static_cast<unsigned long long>(batch->epoch()),
                  static_cast<unsigned long long>(batch->number()), batch->size(), digest.c_str());
      if (flags.ids) {
        std::printf(", \"ids\": [");
        for (uint32_t i = 0; i < batch->size(); ++i) {
          std::printf("%s%llu", i == 0 ? "" : ", ",
                      static_cast<unsigned long long>(batch->ids()[i]));
        }
        std::printf("]");
        if (mixed) {
          std::printf(", \"views\": [");
          for (uint32_t i = 0; i < batch->size(); ++i) {
            std::printf("%s%u", i == 0 ? "" : ", ", batch->views()[i]);
          }
          std::printf("]");
        }
      }
      std::printf(", \"token\": \"%s\"}\n", batch->token().c_str());
    } else {
      std::printf("%llu %llu %s%s%s\n", static_cast<unsigned long long>(batch->epoch()),
                  static_cast<unsigned long long>(batch->number()), digest.c_str(),
                  flags.ids ? " " : "", flags.ids ? FormatIds(*batch, mixed).c_str() : "");
    }
    std::fflush(stdout);  // the reader of a pipe gets each token at once, even if this fails later
  }
  if (!flags.audit.empty()) loader.audit().Save(flags.audit);
  for (const Substitution& each : loader.substitutions()) {
    std::fprintf(
        stderr, "epoch %llu, position %llu: record %llu in place of %llu: %s\n",
        static_cast<unsigned long long>(each.epoch), static_cast<unsigned long long>(each.position),
        static_cast<unsigned long long>(each.taken), static_cast<unsigned long long>(each.bad),
        Error(ErrorKind::kCorrupt, each.reason, each.place).what());
  }
  if (!flags.json) std::printf("token %s\n", loader.Token().c_str());
}

}  // namespace

void AddBatches(CLI::App& app, int& exit_code) {
  CLI::App* batches = app.add_subcommand("batches", "Print what each batch of a loader is made of");
  auto flags = std::make_shared<BatchesFlags>();
  LoaderOptions& loader = flags->loader;
  batches->footer(
      "One line per batch: epoch, number, SHA-256 of its arrays, and with --ids the records. The\n"
      "last line is the token for --resume. Without --limit, prints to the end of the epoch.\n\n"
      "Examples:\n"
      "  recpack batches shards --recipe cifar10-train --batch-size 16 --limit 3 --ids\n"
      "  recpack batches shards --recipe cifar10-train --batch-size 16 --rank 1 --world-size 4");
  AddSamplesFlags(*batches, flags->samples);
  batches->add_option("--recipe", flags->recipe, RecipeList())->required();
  batches->add_option("--batch-size", loader.batch_size, "Samples per rank (default 256)");
  batches->add_option("--seed", loader.seed, "Seed of order and augmentation (default 0)");
  batches->add_option("--epoch", loader.epoch, "First epoch (default 0)");
  batches->add_option("--rank", loader.rank, "Rank (default 0)");
  batches->add_option("--world-size", loader.world_size, "Number of ranks (default 1)");
  batches->add_option("--threads", loader.threads, "Worker threads (default: all)");
  batches->add_option("--prefetch", loader.prefetch, "Batches prepared ahead (default 4)");
  AddCacheFlag(*batches, flags->cache);
  batches->add_option("--order", flags->order,
                      "auto, sequential, global, window or window:BLOCK:LANES:WINDOW");
  batches
      ->add_option("--last-batch", flags->last_batch,
                   "Incomplete last batch of an epoch: drop (default), pad or keep")
      ->check(CLI::IsMember({"drop", "pad", "keep"}));
  batches
      ->add_option("--on-bad-record", flags->on_bad_record,
                   "On a bad record: fail (default), or substitute another record")
      ->check(CLI::IsMember({"fail", "substitute"}));
  batches->add_option("--max-bad", flags->max_bad,
                      "Share of a rank's records per epoch that may be substituted (default "
                      "0.1%)");
  batches->add_option("--ledger", loader.ledger,
                      "Append a JSON line to this file for each substituted record");
  batches->add_option("--audit", flags->audit,
                      "Save the audit of the epoch so far; --resume continues it");
  batches->add_option("--resume", loader.resume, "Start after the batch of this token");
  batches->add_option("--limit", flags->limit, "Batches to print (default: to the epoch's end)");
  batches->add_flag(
      "--ids", flags->ids,
      "Print the ordinals of the records, for a mixture VIEW:ORDINAL; * marks repeated ones");
  batches->add_flag("--json", flags->json, "Print one JSON object per line");
  batches->callback([flags, &exit_code] {
    RunBatches(*flags);
    exit_code = kDone;
  });
}

}  // namespace recpack::tool
