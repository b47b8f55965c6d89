// recpack ls: lists splits, shards, schema and classes of a data set.
#include <cstdio>
#include <memory>

#include "recpack/loader/dataset.h"
#include "recpack/loader/feature_mapper.h"
#include "src/base/format.h"
#include "src/pack/check/survey.h"
#include "src/remote/store/data_files.h"
#include "src/shards/layout/layout.h"
#include "tools/recpack/command.h"
#include "tools/recpack/data_flags.h"
#include "tools/recpack/output.h"

namespace recpack::tool {
namespace {

struct LsFlags {
  DataFlags data;
  bool shards = false;
  bool classes = false;
  bool json = false;
};

Json ToJson(const Manifest& manifest, const Layout& layout) {
  Json json = {{"splits", Json::object()}, {"schema", Json::object()}};
  // Appends without looking for the name, which would be quadratic in the number of splits.
  auto& rows = json["splits"].get_ref<Json::object_t&>();
  const auto splits = manifest.SplitsByName();
  for (const auto& wanted : layout.splits) {
    const ManifestSplit& split = *splits.at(wanted.name);
    Json row = {
        {"shards", split.shards.size()}, {"records", split.records()}, {"bytes", split.bytes()}};
    for (const auto& [label, count] : split.class_counts) {
      row["classes"][std::to_string(label)] = count;
    }
    rows.push_back({split.name, std::move(row)});
  }
  for (const auto& feature : manifest.schema) {
    json["schema"][feature.name] = {
        {"kind", feature.kind},
        {"length", feature.length >= 0 ? Json(feature.length) : Json("varies")}};
  }
  json["class_names"] = manifest.class_names;
  for (const auto& file : manifest.files) json["files"][file.file] = {{"bytes", file.bytes}};
  return json;
}

void PrintHistogram(const ManifestSplit& split, const std::vector<std::string>& names) {
  constexpr size_t kMostRows = 20;
  uint64_t most = 1;
  for (const auto& [label, count] : split.class_counts) most = std::max(most, count);
  size_t row = 0;
  for (const auto& [label, count] : split.class_counts) {
    if (++row > kMostRows) {
      std::printf("  … %zu more classes\n", split.class_counts.size() - kMostRows);
      return;
    }
    const bool named = label >= 0 && static_cast<size_t>(label) < names.size();
    const std::string bar(static_cast<size_t>(40 * count / most), '#');
    std::printf("  %5s %-14s %10s %s\n", std::to_string(label).c_str(),
                named ? names[static_cast<size_t>(label)].c_str() : "", CountText(count).c_str(),
                bar.c_str());
  }
}

void Print(const Manifest& manifest, const Layout& layout, bool shards) {
  std::printf("%-12s %8s %14s %12s\n", "split", "shards", "records", "bytes");
  const auto splits = manifest.SplitsByName();
  for (const auto& wanted : layout.splits) {
    const ManifestSplit& split = *splits.at(wanted.name);
    std::printf("%-12s %8zu %14s %12s\n", split.name.c_str(), split.shards.size(),
                CountText(split.records()).c_str(), BytesText(split.bytes()).c_str());
    for (const auto& shard : shards ? split.shards : ShardList()) {
      std::printf("  %-40s %12s %12s\n", shard.file.c_str(), CountText(shard.records).c_str(),
                  BytesText(shard.bytes).c_str());
    }
    PrintHistogram(split, manifest.class_names);
  }
  for (const auto& feature : manifest.schema) {
    std::printf("feature %-24s %-6s %s\n", feature.name.c_str(), feature.kind.c_str(),
                feature.length >= 0 ? format("{} a record", feature.length).c_str() : "varies");
  }
  for (const auto& file : manifest.files) {
    std::printf("file %s, %s\n", file.file.c_str(), BytesText(file.bytes).c_str());
  }
  if (!manifest.skipped.empty())
    std::printf("%s skipped\n", Counted(manifest.skipped.size(), "item").c_str());
}

// Announce reads of this size, which would otherwise look as if the program hangs [bytes].
constexpr uint64_t kWorthAWord = 1'000'000'000;

Manifest Find(const std::vector<Layout>& layouts, const LsFlags& flags) {
  ProgressBar bar("reading", false);
  const DatasetOptions data = flags.data.options();
  const FeatureMapper mapper(data.fields, data.label_offset);
  pack::SurveyOptions options{
      .classes = flags.classes,
      .progress = [&](uint64_t bytes, uint64_t total) { bar.Update(bytes, total); }};
  if (flags.data.maps()) options.map = [&](ExampleView& record) { mapper.Apply(record); };
  const uint64_t bytes = pack::BytesToSurvey(layouts, options);
  if (bytes >= kWorthAWord) {
    std::fprintf(stderr, "recpack: reading %s of shards: %s\n", BytesText(bytes).c_str(),
                 flags.classes ? "to count the classes"
                               : "no manifest and no index that fits describes them (`recpack "
                                 "index` makes one)");
  }
  pack::Survey survey = pack::SurveyDataset(layouts, options);
  bar.Clear();
  if (!survey.classes_counted) {
    std::fprintf(stderr, "note: %s; --classes reads all records and counts them\n",
                 flags.data.maps()
                     ? "the index has no classes, and those of the manifest are not "
                       "of these fields"
                     : "no manifest describes all shards, and an index has no classes");
  }
  return std::move(survey.manifest);
}

// Prints a note for each shard that differs from the manifest; returns their number.
size_t NoteOtherShards(const Layout& layout) {
  constexpr size_t kMostNotes = 5;
  size_t others = 0;
  for (const LayoutSplit& split : layout.splits) {
    for (size_t i = 0; i < split.shards.size(); ++i) {
      const auto listed = split.ListedAt(i);
      if (!listed) continue;
      const std::string path = split.shards[i];
      const auto bytes = remote::FileBytes(path);
      if (bytes == listed->bytes) continue;
      if (++others > kMostNotes) continue;
      std::fprintf(stderr, "note: %s %s, but should have %s bytes according to the manifest\n",
                   path.c_str(), bytes ? format("has {} bytes", *bytes).c_str() : "is missing",
                   std::to_string(listed->bytes).c_str());
    }
  }
  if (others > kMostNotes) {
    std::fprintf(stderr, "note: and %zu more such shards\n", others - kMostNotes);
  }
  if (others > 0) std::fprintf(stderr, "note: recpack verify finds other damage\n");
  return others;
}

// Lists items that are not packed: splits and classes.
void ListItems(const LsFlags& flags) {
  DatasetOptions options = flags.data.options();
  const std::string only = options.split;
  const auto splits = ListSplits(flags.data.paths, options);
  if (only.empty()) options.split = splits.front().name;
  const Dataset dataset = Dataset::Open(flags.data.paths, options);
  Json json = {{"splits", Json::object()}, {"class_names", dataset.class_names()}};
  // Appends without looking for the name, which would be quadratic in the number of splits.
  auto& rows = json["splits"].get_ref<Json::object_t&>();
  if (!flags.json) std::printf("%-12s %14s\n", "split", "records");
  for (const SplitSize& split : splits) {
    if (!only.empty() && split.name != only) continue;
    if (flags.json) {
      rows.push_back({split.name, {{"records", split.records}}});
      continue;
    }
    std::printf("%-12s %14s\n", split.name.c_str(), CountText(split.records).c_str());
  }
  if (flags.json) return PrintJson(json);
  if (!dataset.class_names().empty()) {
    std::printf("%s classes; ", CountText(dataset.class_names().size()).c_str());
  }
  std::printf("not packed: `recpack pack` makes shards\n");
}

// Leaves only the split of this name, which some of the layouts may lack. Throws Error (kNotFound).
void KeepSplit(const std::string& split, std::vector<Layout>& layouts, Layout& joined) {
  if (split.empty()) return;
  joined = OnlySplit(std::move(joined), split);
  for (Layout& layout : layouts) {
    std::erase_if(layout.splits, [&](const LayoutSplit& there) { return there.name != split; });
  }
}

// Returns whether all shards in the manifests exist and have the right size.
bool RunLs(const LsFlags& flags) {
  const std::vector<std::string>& paths = flags.data.paths;
  if (IsUnpacked(paths)) {
    ListItems(flags);
    return true;
  }
  std::vector<Layout> layouts;
  std::optional<pack::UnfinishedPack> unfinished;
  for (const std::string& path : paths) {
    const Layout& layout = layouts.emplace_back(FindLayout(path));
    const auto found = NoteUnfinished(layout);
    if (!found) continue;
    if (!unfinished) unfinished.emplace();
    unfinished->planned += found->planned;
    unfinished->missing += found->missing;
  }
  CommonClassNames(layouts, paths);
  Layout joined = JoinLayouts(layouts);
  // Several paths may hold a part of the shards each.
  const auto missing =
      unfinished || paths.size() > 1 ? std::nullopt : pack::FindMissingShards(joined);
  if (missing) std::fprintf(stderr, "note: %s\n", missing->Reason().c_str());
  PrintNotices(joined);
  KeepSplit(flags.data.split, layouts, joined);
  const Manifest manifest = Find(layouts, flags);
  if (flags.json) {
    Json json = ToJson(manifest, joined);
    if (unfinished) {
      json["unfinished"] = {{"planned_shards", unfinished->planned},
                            {"missing_shards", unfinished->missing}};
    }
    PrintJson(json);
  } else {
    Print(manifest, joined, flags.shards);
  }
  return NoteOtherShards(joined) == 0;
}

}  // namespace

void AddLs(CLI::App& app, int& exit_code) {
  CLI::App* ls = app.add_subcommand("ls", "List splits, shards, records, schema and classes");
  auto flags = std::make_shared<LsFlags>();
  ls->footer(
      "Exit code 1 if a shard in the manifest is missing or has another size.\n"
      "Examples:\n  recpack ls shards\n  recpack ls shards --json\n"
      "  recpack ls 'others/*.tfrecord' --shards\n"
      "  recpack ls shards/train-*.tfrecord --field picture=image --classes");
  AddDataFlags(*ls, flags->data);
  ls->add_option("--split", flags->data.split, "Only this split");
  ls->add_flag("--shards", flags->shards, "List every shard");
  ls->add_flag("--classes", flags->classes,
               "Count the classes even if all records must be read for it");
  ls->add_flag("--json", flags->json, "Print one JSON object");
  ls->callback([flags, &exit_code] { exit_code = RunLs(*flags) ? kDone : kFinding; });
}

}  // namespace recpack::tool
