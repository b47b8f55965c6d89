// recpack pack: packs many small files into shards.
#include <algorithm>
#include <chrono>
#include <memory>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/base/parse_units.h"
#include "src/pack/job/pack.h"
#include "src/pack/job/pack_plan.h"
#include "src/pack/open/open_source.h"
#include "src/pack/plan/task.h"
#include "src/pack/store/store_target.h"
#include "src/remote/sign/credentials.h"
#include "tools/recpack/command.h"
#include "tools/recpack/numbers.h"
#include "tools/recpack/output.h"
#include "tools/recpack/pack_report.h"

namespace recpack::tool {
namespace {

constexpr char kExamples[] =
    "Examples:\n"
    "  recpack pack cifar10 shards               # downloads it\n"
    "  recpack pack cifar-10-python.tar.gz shards\n"
    "  recpack pack photos/ shards --shard-size 200MB --compression gzip\n"
    "  recpack pack photos/ shards --on-error skip --max-skip 0.1%\n"
    "  recpack pack photos/ shards --task 0/4   # one of four machines\n"
    "  recpack pack photos/ shards --resize 256 --quality 90 --dry-run\n"
    "  recpack pack list.csv shards --field image=file,label=kind --column zip=bytes\n"
    "  recpack pack 'samples-{000..002}.tar' shards --split train\n"
    "  recpack pack others/ shards --from tfrecord --filter label=3 --shuffle 7\n"
    "  recpack pack photos/ s3://bucket/photos\n"
    "  recpack pack s3://bucket/photos shards --threads 4\n"
    "  recpack pack reviews.json.gz shards --max-tokens 256 --vocabulary 30000\n"
    "If interrupted, the same command resumes the pack.";

constexpr int kDefaultLevel = 6;
constexpr char kDefaultMaxSkip[] = "0.1%";

struct PackFlags {
  pack::SourceFlags source;
  std::string out;
  std::string shard_size = "100MB";
  uint64_t shards = 0;
  std::string shuffle;
  std::string compression = "none";
  std::optional<int> level;
  int threads = 0;
  uint64_t limit = 0;
  bool dry_run = false;
  std::string task;
  bool append = false;
  bool overwrite = false;
  std::string on_error = "fail";
  std::string max_skip;
  bool dali_index = false;
  bool no_sync = false;
  bool no_digest = false;
  bool quiet = false;
  bool json = false;
};

// Parses --shuffle.
std::optional<uint64_t> ShuffleSeed(const std::string& text) {
  if (text.empty() || text == "off") return {};
  if (const auto seed = WholeNumber(text)) return seed;
  throw Error(ErrorKind::kInvalidArgument, format("not a seed: '{}'", text), {},
              "write a whole number, or off");
}

pack::PackOptions MakePackOptions(const PackFlags& flags) {
  pack::PackOptions options;
  options.out = flags.out;
  options.plan.shard_bytes = ParseBytes(flags.shard_size);
  options.plan.shards = flags.shards;
  options.plan.shuffle_seed = ShuffleSeed(flags.shuffle);
  options.plan.limit = flags.limit;
  options.writer.compression = ParseCompression(flags.compression);
  if (options.writer.compression == Compression::kNone && flags.level) {
    throw Error(ErrorKind::kInvalidArgument, "--level has no effect without --compression", {},
                "leave it out, or add --compression gzip or zlib");
  }
  options.writer.level = flags.level.value_or(kDefaultLevel);
  options.writer.digest = !flags.no_digest;
  options.created_by = "recpack " RECPACK_VERSION;
  options.sync = !flags.no_sync;
  options.threads = flags.threads;
  options.skip_bad_items = flags.on_error == "skip";
  options.max_skip = ParseShare(flags.max_skip.empty() ? kDefaultMaxSkip : flags.max_skip);
  if (!options.skip_bad_items && !flags.max_skip.empty()) {
    throw Error(ErrorKind::kInvalidArgument, "--max-skip has no effect without --on-error skip", {},
                "add it, or leave both out to stop at the first bad item");
  }
  options.append = flags.append;
  options.overwrite = flags.overwrite;
  options.dali_index = flags.dali_index;
  if (!flags.task.empty()) {
    const pack::PackTask task = pack::ParseTask(flags.task, remote::ProcessEnvironment);
    options.task = task.number;
    options.tasks = task.count;
  }
  return options;
}

// Downloads the source if it is a published one.
std::unique_ptr<pack::Source> OpenWithProgress(const PackFlags& flags, pack::PackOptions& options) {
  ProgressBar bar("downloading", flags.quiet);
  pack::SourceFlags source = flags.source;
  source.download_progress = [&](uint64_t bytes, uint64_t total) { bar.Update(bytes, total); };
  return pack::OpenSourceToPack(source, flags.shuffle.empty(), options);
}

int RunPack(const PackFlags& flags) {
  const auto started = std::chrono::steady_clock::now();
  pack::PackOptions options =
      MakePackOptions(flags);  // checks flags before reading or writing anything
  const auto source = OpenWithProgress(flags, options);
  if (flags.dry_run) {
    PrintDryRun(*source, options, flags.json);
    return kDone;
  }

  const auto store = pack::DirectToStore(options);
  options.planned = SuggestShardSize;
  ProgressBar bar("packing", flags.quiet);
  options.progress = [&](uint64_t bytes, uint64_t total) { bar.Update(bytes, total); };
  const pack::PackResult result =
      pack::NamingUrls(store.get(), [&] { return pack::Pack(*source, options); });
  bar.Clear();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  if (flags.json) {
    PrintPackJson(result, options, seconds);
  } else if (!flags.quiet) {
    PrintPackSummary(result, options, seconds);
  }
  if (!flags.json) PrintSkipped(result, options);
  if (!flags.quiet) PrintNotices(*source, result.manifest);
  return result.skip_limit_exceeded ? kFinding : kDone;
}

}  // namespace

// Adds options that describe SRC and the records made from its items.
static void AddSourceOptions(CLI::App& pack, pack::SourceFlags& flags) {
  pack.add_option("--from", flags.from, "Kind of SRC (default: recognised)")
      ->check(CLI::IsMember(
          {"cifar10", "cifar100", "folder", "imagenet", "tar", "list", "reviews", "tfrecord"}));
  pack.add_option("--splits", flags.splits, "Comma-separated names of CIFAR's splits");
  pack.add_option("--split", flags.split, "Name of the split of a tar (default train)");
  pack.add_option("--field", flags.fields, "TARGET=NAME,...: fields to pack, and their new names");
  pack.add_option("--column", flags.columns,
                  "COLUMN=TYPE,...: int64, float or bytes, if a list's values do not tell");
  pack.add_option("--layout", flags.layout,
                  "Meaning of the folders in SRC: splits or classes (default: by their names)")
      ->check(CLI::IsMember({"splits", "classes"}));
  pack.add_option("--max-tokens", flags.max_tokens,
                  "Maximum tokens of a user's and of an item's reviews in a record (default 512)")
      ->check(WholeNumberIn(1, 1 << 24));
  CLI::Option* vocabulary =
      pack.add_option("--vocabulary", flags.vocabulary,
                      "Number of the most frequent tokens of reviews in the vocabulary (default "
                      "50000)")
          ->check(WholeNumberIn(1, uint64_t{1} << 31));
  pack.add_option("--vocabulary-file", flags.vocabulary_file,
                  "Use the vocabulary.txt of an earlier pack instead")
      ->excludes(vocabulary);
  pack.add_option("--seed", flags.seed,
                  "Seed of the split of reviews into train, validation and test (default 0)")
      ->check(WholeNumberIn(0));
  pack.add_option("--filter", flags.filters, "FEATURE=VALUE or FEATURE!=VALUE: records to keep");
  pack.add_option("--label-offset", flags.label_offset,
                  "Number of the first class of foreign records (1: labels are 1 to N)");
  CLI::Option* devkit = pack.add_option(
      "--devkit", flags.devkit,
      "ImageNet's development kit with the labels of the validation images (default: beside SRC)");
  pack.add_option("--labels", flags.labels,
                  "Instead of the kit: a file with the WordNet id of validation image N in line N")
      ->excludes(devkit);
  pack.add_flag("--check-images", flags.check_images, "Decode every image");
  CLI::Option* resize =
      pack.add_option("--resize", flags.resize,
                      "Resize the shorter side of images to this [pixels]; they are stored as JPEG")
          ->check(CLI::Range(1, 65535));
  pack.add_option("--quality", flags.quality, "JPEG quality of resized images (default 90)")
      ->check(CLI::Range(1, 100))
      ->needs(resize);
  pack.add_option("--jpeg", flags.jpeg,
                  "tile: rewrite JPEGs losslessly so that loaders can decode crops only")
      ->check(CLI::IsMember({"tile"}));
}

// Adds options for the output and the job.
static void AddJobOptions(CLI::App& pack, PackFlags& flags) {
  CLI::Option* size =
      pack.add_option("--shard-size", flags.shard_size, "Size of a shard (default 100MB)");
  pack.add_option("--shards", flags.shards, "Number of shards of each split, instead of a size")
      ->check(WholeNumberIn(1))
      ->excludes(size);
  pack.add_option("--shuffle", flags.shuffle,
                  "Seed of the shuffle, or off (default: 0 if items are sorted by class)");
  pack.add_option("--compression", flags.compression, "none, gzip or zlib");
  pack.add_option("--level", flags.level, "Compression level, 1 to 9")->check(CLI::Range(1, 9));
  pack.add_option("--threads", flags.threads, "Threads (default: all); do not affect the output")
      ->check(ThreadCount());
  pack.add_option("--limit", flags.limit, "Maximum number of records per split")
      ->check(WholeNumberIn(1));
  pack.add_flag("--dry-run", flags.dry_run, "Print the plan and its cost; write nothing");
  pack.add_option(
      "--task", flags.task,
      "I/N: the I-th of N parts of the job, from 0; auto: as the environment of an array job, "
      "mpirun, srun or torchrun tells");
  CLI::Option* append = pack.add_flag("--append", flags.append, "Append to the data set in OUT");
  pack.add_flag("--overwrite", flags.overwrite, "First remove the earlier pack in OUT")
      ->excludes(append);
  pack.add_option("--on-error", flags.on_error, "On a bad item: fail (default), or skip it")
      ->check(CLI::IsMember({"fail", "skip"}));
  pack.add_option("--max-skip", flags.max_skip,
                  "Share of all items that may be bad (default 0.1%)");
  pack.add_option("--work-folder", flags.source.work_folder,
                  "Folder for temporary files: unpacked archives, tokens of reviews (default: "
                  "TMPDIR or /tmp)");
  pack.add_flag("--dali-index", flags.dali_index, "Also write SHARD.idx for NVIDIA DALI");
  pack.add_flag("--no-sync", flags.no_sync, "Do not sync files; a power failure may lose them");
  pack.add_flag("--no-digest", flags.no_digest, "Leave the SHA-256 of shards out of the manifest");
  pack.add_flag("--quiet", flags.quiet, "Print errors only");
  pack.add_flag("--json", flags.json, "Print one JSON object");
}

void AddPack(CLI::App& app, int& exit_code) {
  CLI::App* pack = app.add_subcommand("pack", "Pack a data set of small files into shards");
  auto flags = std::make_shared<PackFlags>();
  pack->footer(kExamples);
  pack->add_option(
          "SRC", flags->source.path,
          "File or folder to pack; a folder may be a URL (s3://, gs://). cifar10 and cifar100 "
          "are downloaded if there is no such file")
      ->required();
  pack->add_option("OUT", flags->out, "Output folder, or s3://BUCKET/FOLDER")->required();
  AddSourceOptions(*pack, flags->source);
  AddJobOptions(*pack, *flags);
  pack->callback([flags, &exit_code] { exit_code = RunPack(*flags); });
}

}  // namespace recpack::tool
