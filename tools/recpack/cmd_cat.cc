// recpack cat: prints records as text or JSON, or a feature as bytes.
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/text.h"
#include "recpack/example/builder.h"
#include "recpack/example/text.h"
#include "recpack/example/view.h"
#include "recpack/loader/dataset.h"
#include "recpack/loader/feature_mapper.h"
#include "src/base/format.h"
#include "src/remote/url/url.h"
#include "src/shards/index/pick.h"
#include "tools/recpack/command.h"
#include "tools/recpack/data_flags.h"
#include "tools/recpack/output.h"

namespace recpack::tool {
namespace {

struct CatFlags {
  DataFlags data;
  std::string records = "0";
  bool json = false;
  bool text = false;
  std::string feature;
  std::string out;
};

// Parses "7", "3:9", ":9" or "3:" for a split of `count` records.
std::vector<uint64_t> ParseRange(const std::string& text, uint64_t count) {
  const size_t colon = text.find(':');
  const auto number = [&](const std::string& part, uint64_t otherwise) -> uint64_t {
    if (part.empty()) return otherwise;
    if (part.find_first_not_of("0123456789") == part.npos && part.size() < 19)
      return std::stoull(part);
    throw Error(ErrorKind::kInvalidArgument, format("not a record or range: '{}'", text), {},
                "write 7, 3:9 (9 excluded), 3: or :9");
  };
  const uint64_t begin = number(text.substr(0, colon), 0);
  const uint64_t end = colon == text.npos ? begin + 1 : number(text.substr(colon + 1), count);
  if (begin >= count || end > count || begin > end) {
    throw Error(ErrorKind::kInvalidArgument,
                format("there are no records {}: the split has {}", text, count));
  }
  std::vector<uint64_t> ordinals;
  for (uint64_t i = begin; i < end; ++i) ordinals.push_back(i);
  return ordinals;
}

// Concatenates the values of the feature; numbers become lines of text.
std::string RawFeature(ByteView payload, const std::string& name) {
  ExampleView view;
  view.Parse(payload);
  const FeatureView* feature = view.Find(name);
  if (feature == nullptr) {
    throw Error(ErrorKind::kNotFound, format("there is no feature '{}'", name), {},
                "there are: " + JoinNames(view, &FeatureView::name));
  }
  std::string bytes;
  for (const ByteView value : feature->bytes_values()) bytes += AsText(value);
  for (const float value : feature->float_values()) bytes += format("{}\n", value);
  for (const int64_t value : feature->int64_values()) bytes += format("{}\n", value);
  return bytes;
}

void Print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    throw SystemError("cannot write", "stdout", errno);
  }
}

// Adds the record's position to an error within it.
[[noreturn]] void FailInRecord(const Error& error, const CatFlags& flags, const std::string& split,
                               uint64_t ordinal) {
  const auto& offset = error.place().offset;
  throw Error(
      error.kind(),
      format("record {} of the split {}{}: {}", ordinal, split,
             offset ? format(", byte {} in it", *offset) : "", error.reason()),
      {.path =
           flags.data.paths.size() == 1 ? remote::WithoutSecrets(flags.data.paths.front()) : ""},
      error.advice());
}

using Visit = std::function<void(uint64_t ordinal, ByteView payload)>;

// Serialises records as a loader finds them: with the features of the field map, and labels that
// begin at 0.
class MappedRecords {
 public:
  explicit MappedRecords(const DatasetOptions& options)
      : mapper_(options.fields, options.label_offset) {}

  // Valid until the next call. Throws Error without a place.
  ByteView Map(ByteView payload) {
    view_.Parse(payload);
    mapper_.Apply(view_);
    builder_.Clear();
    for (const FeatureView& feature : view_) builder_.Add(feature.name(), feature);
    bytes_.resize(builder_.ByteSize());
    builder_.SerializeTo(bytes_.data());
    return bytes_;
  }

 private:
  FeatureMapper mapper_;
  ExampleView view_;
  ExampleBuilder builder_;
  ByteBuffer bytes_;
};

// Visits items that are not packed, as the records that packing would write.
void VisitItems(const CatFlags& flags, const DatasetOptions& options, const Visit& visit) {
  const Dataset dataset = Dataset::Open(flags.data.paths, options);
  const auto source = dataset.NewSource();
  ByteBuffer memory;
  for (const uint64_t ordinal : ParseRange(flags.records, dataset.records())) {
    visit(ordinal, source->Read(ordinal, memory));
  }
}

Layout FindShards(const DataFlags& flags) {
  std::vector<Layout> layouts;
  for (const std::string& path : flags.paths) {
    layouts.push_back(FindLayout(path));
    NoteUnfinished(layouts.back());
  }
  return JoinLayouts(std::move(layouts));
}

void VisitShards(const CatFlags& flags, const LayoutSplit& split, const Visit& visit) {
  const Index index = OpenSplitIndex(split);
  VisitRecords(split, index, ParseRange(flags.records, index.record_count()), visit);
}

void RunCat(const CatFlags& flags) {
  const bool is_unpacked = IsUnpacked(flags.data.paths);
  DatasetOptions options = flags.data.options();
  std::optional<Layout> layout;
  std::string& split = options.split;
  if (is_unpacked) {
    if (split.empty()) split = ListSplits(flags.data.paths, options).front().name;
  } else {
    layout = FindShards(flags.data);
    if (split.empty()) split = layout->splits.front().name;
    layout = OnlySplit(std::move(*layout), split);
  }
  // The items of sources are made of the mapped fields.
  MappedRecords mapped(
      {.fields = is_unpacked ? FieldMap() : options.fields, .label_offset = options.label_offset});
  std::string bytes;
  const auto show = [&](uint64_t ordinal, ByteView payload) {
    if (!flags.feature.empty()) {
      bytes = RawFeature(payload, flags.feature);
      if (flags.out.empty()) Print(bytes);
    } else if (flags.json) {
      Print(ExampleToJson(payload) + "\n");
    } else if (flags.text) {
      Print(ExampleToText(payload));
    } else {
      Print(format("# {} {} ({} bytes)\n{}", split, ordinal, payload.size(),
                   ExampleSummary(payload)));
    }
  };
  const Visit visit = [&](uint64_t ordinal, ByteView payload) {
    try {
      show(ordinal, flags.data.maps() ? mapped.Map(payload) : payload);
    } catch (const Error& error) {
      if (!error.place().path.empty()) throw;  // error of the output
      FailInRecord(error, flags, split, ordinal);
    }
  };
  if (is_unpacked) {
    VisitItems(flags, options, visit);
  } else {
    VisitShards(flags, layout->splits.front(), visit);
  }
  if (!flags.out.empty()) WriteFileAtomically(PosixFiles(), flags.out, AsBytes(bytes), false);
}

void Check(const CatFlags& flags) {
  if (flags.out.empty()) return;
  if (flags.feature.empty() || flags.records.find(':') != std::string::npos) {
    throw Error(ErrorKind::kInvalidArgument, "--out takes one feature of one record", {},
                "add --feature NAME and --record N");
  }
}

}  // namespace

void AddCat(CLI::App& app, int& exit_code) {
  CLI::App* cat = app.add_subcommand("cat", "Print records, or one feature of a record");
  auto flags = std::make_shared<CatFlags>();
  cat->footer(
      "Examples:\n  recpack cat shards --split train --record 0:3\n"
      "  recpack cat shards --record 7 --json\n"
      "  recpack cat shards --record 7 --feature image/encoded --out seven.jpg\n"
      "  recpack cat shards/train-*.tfrecord --field picture=image");
  AddDataFlags(*cat, flags->data);
  cat->add_option("--split", flags->data.split, "Split (default: the first one)");
  cat->add_option("--record,--range", flags->records,
                  "Record or range A:B of the split, from 0 (default 0)");
  cat->add_flag("--json", flags->json, "Print Protocol Buffers' JSON, one line per record");
  cat->add_flag("--text", flags->text, "Print Protocol Buffers' text format");
  cat->add_option("--feature", flags->feature, "Print only the raw values of this feature");
  cat->add_option("--out", flags->out, "File for the feature (default: stdout)");
  cat->callback([flags, &exit_code] {
    Check(*flags);
    RunCat(*flags);
    exit_code = kDone;
  });
}

}  // namespace recpack::tool
