#include "tools/recpack/samples_flags.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/base/format.h"
#include "src/base/parse_units.h"
#include "tools/recpack/data_flags.h"
#include "tools/recpack/numbers.h"

namespace recpack::tool {
namespace {

// Reads a file with one ordinal per line.
std::vector<uint64_t> ReadOrdinals(const std::string& path) {
  const ByteBuffer bytes = ReadWholeFile(PosixFiles(), path);
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<uint64_t> ids;
  for (uint64_t line = 1; !rest.empty(); ++line) {
    std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (text.empty()) continue;
    const auto id = WholeNumber(text);
    if (!id) {
      throw Error(ErrorKind::kInvalidArgument,
                  format("line {}: not a record ordinal: '{}'", line, text), {.path = path},
                  "write one ordinal per line, counted from 0");
    }
    ids.push_back(*id);
  }
  return ids;
}

std::optional<double> Fraction(std::string_view text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return {};
  return value;
}

MixedView OpenMixed(const std::string& text) {
  const size_t equals = text.rfind('=');
  const auto weight =
      Fraction(equals == std::string::npos ? "" : std::string_view(text).substr(equals + 1));
  if (!weight) {
    throw Error(ErrorKind::kInvalidArgument, format("not DATA=WEIGHT: '{}'", text), {},
                "give for example --mix other=0.5");
  }
  return {Dataset::Open(text.substr(0, equals)), *weight};
}

// Takes the text up to the next colon, and removes the colon.
std::string_view TakePart(std::string_view& rest) {
  const std::string_view part = rest.substr(0, rest.find(':'));
  rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  return part;
}

HashRange ParseHashRange(const std::string& text) {
  std::string_view rest = text;
  const auto begin = Fraction(TakePart(rest)), end = Fraction(TakePart(rest));
  const auto seed = rest.empty() ? 0 : WholeNumber(TakePart(rest));
  if (!begin || !end || !seed) {
    throw Error(ErrorKind::kInvalidArgument, format("not BEGIN:END[:SEED[:KEY]]: '{}'", text), {},
                "give for example --hash-range 0:0.9, or 0.9:1:7:__key__");
  }
  return {.begin = *begin, .end = *end, .seed = *seed, .key = std::string(rest)};
}

View OpenFirst(const SamplesFlags& flags) {
  std::vector<std::string> paths = {flags.path};
  paths.insert(paths.end(), flags.also.begin(), flags.also.end());
  const Dataset dataset = Dataset::Open(paths, {.split = flags.split,
                                                .fields = ParseFieldMap(flags.fields),
                                                .label_offset = flags.label_offset});
  for (const auto& notice : dataset.Notices()) std::fprintf(stderr, "note: %s\n", notice.c_str());
  View view =
      flags.subset.empty() ? View(dataset) : View::Subset(dataset, ReadOrdinals(flags.subset));
  const ScanOptions scan{.leave_out_corrupt = flags.leave_out_corrupt};
  if (!flags.hash_range.empty())
    view = View::HashSplit(view, ParseHashRange(flags.hash_range), scan);
  if (flags.balanced.empty()) return view;
  return View::ClassBalanced(view, flags.balanced,
                             flags.mix.empty() ? flags.options.epoch_samples : 0, scan);
}

}  // namespace

void AddSamplesFlags(CLI::App& command, SamplesFlags& flags) {
  command
      .add_option("DATA", flags.path,
                  "A folder of shards, a shard, or a pattern; class folders, tar archives, a list")
      ->required();
  command
      .add_option("--also", flags.also, "More shards or tar archives that belong to the data set")
      ->allow_extra_args(false);
  AddFieldFlags(command, flags.fields, flags.label_offset);
  command.add_option("--split", flags.split, "Split (default: train, or the only one)");
  command.add_option("--subset", flags.subset,
                     "Use only the records whose ordinals this file lists, one per line");
  command.add_option("--hash-range", flags.hash_range,
                     "BEGIN:END[:SEED[:KEY]]: use only records whose hash, scaled to 0 to 1, is in "
                     "the range; hash of the feature KEY, or of the ordinal");
  command.add_option("--balanced", flags.balanced,
                     "Sample all classes equally often, by this int64 feature");
  command.add_flag("--leave-out-corrupt", flags.leave_out_corrupt,
                   "With --balanced or a KEY: leave out records that cannot be read");
  command
      .add_option("--mix", flags.mix,
                  "DATA=WEIGHT: mix in another data set; the first one has weight 1")
      ->allow_extra_args(false);
  command
      .add_option("--mix-period", flags.options.period,
                  "Number of samples after which a mixture's shares are exact (default 100)")
      ->check(WholeNumberIn(1, 65'536));
  command
      .add_option("--epoch-samples", flags.options.epoch_samples,
                  "Samples per epoch, balanced or mixed (default: the number of records, or until "
                  "all have been used)")
      ->check(WholeNumberIn(1));
}

Mixture OpenSamples(const SamplesFlags& flags) {
  if (flags.mix.empty()) {
    if (flags.balanced.empty() && flags.options.epoch_samples != 0) {
      throw Error(ErrorKind::kInvalidArgument, "--epoch-samples without --balanced or --mix", {},
                  "an epoch of a data set is always all its records");
    }
    return OpenFirst(flags);
  }
  std::vector<MixedView> views = {{OpenFirst(flags), 1}};
  for (const std::string& text : flags.mix) views.push_back(OpenMixed(text));
  return Mixture(views, flags.options);
}

}  // namespace recpack::tool
