#include "src/pack/job/pack_stream.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "recpack/base/temporaries.h"
#include "recpack/base/text.h"
#include "recpack/example/view.h"
#include "recpack/record/framing.h"
#include "src/base/format.h"
#include "src/pack/job/finish_pack.h"
#include "src/pack/job/pack.h"
#include "src/pack/job/pack_folder.h"
#include "src/pack/job/pack_plan.h"
#include "src/pack/job/shard_content.h"
#include "src/pack/job/shard_file.h"
#include "src/pack/job/stale_files.h"
#include "src/pack/job/stream_source.h"
#include "src/pack/sources/tfrecord/record_rebuild.h"
#include "src/shards/manifest/shard_name.h"
#include "src/shards/manifest/sidecar.h"

namespace recpack::pack {
namespace {

// A shard without a name: the name contains the number of shards, which is not known yet.
struct StreamShard {
  TemporaryFile file;
  TemporaryFile index;
  size_t split = 0;
  Sidecar sidecar = {};
  SchemaSample schema = {};
  uint64_t frames_bytes = 0;
  std::optional<RecordWriter> writer = {};  // until the shard is finished
};

PackOptions ToPackOptions(const PackStreamOptions& from) {
  PackOptions options;
  options.out = from.out;
  options.plan.shard_bytes = from.shard_bytes;
  options.writer = from.writer;
  options.created_by = from.created_by;
  options.sync = from.sync;
  options.overwrite = from.overwrite;
  options.files = from.files;
  return options;
}

void CheckSplitName(const std::string& name) {
  if (!name.empty() && name.front() != '.' && name.find('/') == std::string::npos && IsUtf8(name)) {
    return;
  }
  throw Error(ErrorKind::kInvalidArgument, format("'{}' cannot be the name of a split", name), {},
              "shard names begin with it: choose one such as train");
}

}  // namespace

struct PackStream::State {
  explicit State(const PackStreamOptions& from)
      : options(ToPackOptions(from)), class_names(from.class_names), folder(options, true) {
    RefuseFinished();
    RemoveStaleTemporaries({}, folder, options);
  }

  // Throws before the records are read, not after.
  void RefuseFinished() {
    const bool finished = options.files->Exists(options.out + "/" + kManifestName);
    const bool packed = finished || options.files->Exists(folder.StatePath("plan.json"));
    if (options.overwrite && finished) ReadManifest(*options.files, options.out);  // check early
    if (options.overwrite || !packed) return;
    throw Error(ErrorKind::kInvalidArgument, "this folder belongs to another pack job",
                {.path = options.out}, "choose another folder, or overwrite it");
  }

  StreamShard& ShardFor(uint64_t frame_bytes) {
    if (!shards.empty() && shards.back().writer) {
      StreamShard& open = shards.back();
      const bool fits = open.frames_bytes + frame_bytes <= options.plan.shard_bytes;
      if (open.split + 1 == splits.size() && fits) return open;
      Close(open);
    }
    const std::string part = folder.StatePath(format("part-{:05}", shards.size()));
    shards.push_back({.file = TemporaryFile(part + ".tmp"),
                      .index = TemporaryFile(part + ".recindex.tmp"),
                      .split = splits.size() - 1});
    shards.back().writer.emplace(StartShard(part + ".tmp", options));
    return shards.back();
  }

  void Close(StreamShard& shard) {
    shard.writer->Finish(options.sync);
    shard.sidecar.schema = shard.schema.Finish();
    shard.sidecar.shard = DescribeShard(*shard.writer, {});
    WriteIndexPart(shard.writer->entries(), "part", shard.index.path(), options);
    shard.writer.reset();
  }

  void Count(ByteView payload, StreamShard& shard) {
    ++splits.back().items;
    shard.frames_bytes += payload.size() + kFrameBytes;
    shard.schema.Add(payload);
    const auto size = static_cast<uint32_t>(payload.size());
    lengths.Update({reinterpret_cast<const uint8_t*>(&size), sizeof size});
    view.Parse(payload);
    const FeatureView* label = FindLabel(view);
    if (label == nullptr || label->int64_values().size() != 1) return;
    if (label->int64_values()[0] >= 0) ++shard.sidecar.class_counts[label->int64_values()[0]];
  }

  // Positions in the plan are those of a source read in order.
  Plan DescribePlan(const StreamSource& source) const {
    Plan plan{.settings = AllSettings(source.kind(), options),
              .fingerprint = source.Fingerprint(),
              .shuffle_seed = {},
              .splits = splits,
              .source_items = {},
              .shards = {}};
    for (const SourceSplit& split : splits) plan.source_items.push_back(split.items);
    std::vector<uint64_t> of(splits.size());
    for (const StreamShard& shard : shards) ++of[shard.split];
    std::vector<uint64_t> number(splits.size());
    std::vector<uint64_t> begin(splits.size());
    for (const StreamShard& shard : shards) {
      const size_t i = shard.split;
      const uint64_t end = begin[i] + shard.sidecar.shard.records;
      plan.shards.push_back({.file = ShardName(splits[i].name, 0, number[i]++, of[i]),
                             .split = i,
                             .begin = begin[i],
                             .end = end,
                             .bytes = shard.sidecar.shard.bytes});
      begin[i] = end;
    }
    return plan;
  }

  // `made` removes the files again if a later step fails.
  void Publish(StreamShard& shard, const std::string& file, std::vector<TemporaryFile>& made) {
    shard.sidecar.shard.file = file;
    made.emplace_back(folder.IndexPartPath(file));
    made.emplace_back(SidecarPath(options.out, file));
    made.emplace_back(folder.TemporaryPath(file));
    made.emplace_back(folder.ShardPath(file));
    options.files->Rename(shard.index.path(), folder.IndexPartPath(file), false);
    options.files->Rename(shard.file.path(), folder.TemporaryPath(file), false);
    PublishShard(file, shard.sidecar, folder, options);
  }

  const PackOptions options;
  const std::vector<std::string> class_names;
  PackFolder folder;
  std::vector<SourceSplit> splits;  // items: added so far
  std::deque<StreamShard> shards;
  Sha256 lengths;
  ExampleView view;
};

PackStream::PackStream(const PackStreamOptions& options) {
  if (options.shard_bytes == 0) {
    throw Error(ErrorKind::kInvalidArgument, "invalid shard size: 0 bytes");
  }
  state_ = std::make_unique<State>(options);
}

PackStream::~PackStream() = default;
PackStream::PackStream(PackStream&&) noexcept = default;

void PackStream::BeginSplit(const std::string& name) {
  CheckSplitName(name);
  if (std::ranges::count(state_->splits, name, &SourceSplit::name) > 0) {
    throw Error(ErrorKind::kInvalidArgument, format("the split '{}' was already packed", name), {},
                "add all of its records in one go");
  }
  state_->splits.push_back({.name = name, .items = 0});
}

void PackStream::Add(ExampleBuilder& features) {
  if (state_->splits.empty()) {
    throw Error(ErrorKind::kInvalidArgument, "a record was added without a split", {},
                "begin a split first");
  }
  const size_t size = features.ByteSize();
  StreamShard& shard = state_->ShardFor(size + kFrameBytes);
  const std::span<uint8_t> room = shard.writer->Begin(size);
  features.SerializeTo(room.data());
  shard.writer->End();
  state_->Count(room, shard);
}

uint64_t PackStream::records() const noexcept {
  uint64_t sum = 0;
  for (const SourceSplit& split : state_->splits) sum += split.items;
  return sum;
}

Manifest PackStream::Finish() {
  State& state = *state_;
  if (state.shards.empty()) {
    throw Error(ErrorKind::kInvalidArgument, "the source has no items",
                {.path = state.options.out});
  }
  if (state.shards.back().writer) state.Close(state.shards.back());
  const StreamSource source(state.splits, state.class_names, Hex(state.lengths.Finish()));
  const Plan plan = state.DescribePlan(source);
  // Not earlier: the records may have been read from there.
  if (state.options.overwrite) state.folder.RemoveOldOutput();
  std::vector<TemporaryFile> made;
  made.emplace_back(state.options.out + "/" + kManifestName);
  made.emplace_back(state.folder.StatePath("plan.json"));
  for (const SourceSplit& split : state.splits) {
    made.emplace_back(state.options.out + "/" + split.name + ".recindex");
  }
  StorePlan(plan, state.folder, state.options);
  for (size_t i = 0; i < plan.shards.size(); ++i) {
    state.Publish(state.shards[i], plan.shards.files()[i], made);
  }
  Manifest manifest;
  FinishPack(source, plan, state.folder, state.options, 0, manifest);
  for (TemporaryFile& file : made) file.Keep();
  return manifest;
}

}  // namespace recpack::pack
