// recpack cat: prints records as text or JSON, or a feature as bytes.
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/text.h"
#include "recpack/example/text.h"
#include "recpack/example/view.h"
#include "recpack/loader/dataset.h"
#include "src/base/format.h"
#include "src/shards/index/pick.h"
#include "tools/recpack/command.h"
#include "tools/recpack/output.h"

namespace recpack::tool {
namespace {

struct CatFlags {
  std::string path;
  std::string split;
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
  throw Error(error.kind(),
              format("record {} of the split {}{}: {}", ordinal, split,
                     offset ? format(", byte {} in it", *offset) : "", error.reason()),
              {.path = flags.path}, error.advice());
}

using Visit = std::function<void(uint64_t ordinal, ByteView payload)>;

// Visits items that are not packed, as the records that packing would write.
void VisitItems(const CatFlags& flags, const std::string& split, const Visit& visit) {
  const Dataset dataset = Dataset::Open(flags.path, {.split = split});
  const auto source = dataset.NewSource();
  ByteBuffer memory;
  for (const uint64_t ordinal : ParseRange(flags.records, dataset.records())) {
    visit(ordinal, source->Read(ordinal, memory));
  }
}

void VisitShards(const CatFlags& flags, Layout layout, const Visit& visit) {
  NoteUnfinished(layout);
  if (!flags.split.empty()) layout = OnlySplit(std::move(layout), flags.split);
  const LayoutSplit& split = layout.splits.front();
  const Index index = OpenSplitIndex(split);
  VisitRecords(split, index, ParseRange(flags.records, index.record_count()), visit);
}

void RunCat(const CatFlags& flags) {
  const bool is_unpacked = IsUnpacked(flags.path);
  std::optional<Layout> layout;
  std::string split = flags.split;
  if (is_unpacked) {
    if (split.empty()) split = ListSplits(flags.path).front().name;
  } else {
    layout = FindLayout(flags.path);
    if (split.empty()) split = layout->splits.front().name;
  }
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
      show(ordinal, payload);
    } catch (const Error& error) {
      if (!error.place().path.empty()) throw;  // error of the output
      FailInRecord(error, flags, split, ordinal);
    }
  };
  if (is_unpacked) {
    VisitItems(flags, split, visit);
  } else {
    VisitShards(flags, std::move(*layout), visit);
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
      "  recpack cat shards --record 7 --feature image/encoded --out seven.jpg");
  cat->add_option(
         "DATA", flags->path,
         "A folder of shards, a shard, a pattern or a URL; class folders, tar archives, a list")
      ->required();
  cat->add_option("--split", flags->split, "Split (default: the first one)");
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
