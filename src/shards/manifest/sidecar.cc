#include "src/shards/manifest/sidecar.h"

#include <filesystem>
#include <istream>

#include "recpack/base/error.h"
#include "src/shards/manifest/manifest_json.h"

namespace recpack {

std::string SidecarPath(const std::string& out, const std::string& file) {
  return out + "/" + kStateFolder + "/" + file + ".json";
}

std::string SidecarToJson(const Sidecar& sidecar) {
  return JsonText([&](JsonStream& stream) {
    stream.Begin('{');
    stream.Member("shard", ShardToJson(sidecar.shard));
    WriteCounts(sidecar.class_counts, stream);
    WriteSchema(sidecar.schema, stream);
    WriteSkipped(sidecar.skipped, stream);
    stream.End();
  });
}

Sidecar ReadSidecar(FileSystem& files, const std::string& path) {
  FileStreamBuf buffer(files.OpenForReading(path));
  std::istream text(&buffer);
  TakenLists lists;
  const auto take = [&](JsonPath keys, ParsedJson& value) { return lists.Take(keys, value); };
  return ReadJsonInPieces(text, path, take, [&](const ParsedJson& json) {
    json.at("schema");  // must exist, although their parts have been taken
    json.at("skipped");
    return Sidecar{.shard = ShardFromJson(json.at("shard"), path),
                   .class_counts = CountsFromJson(json.at("class_counts"), path),
                   .schema = lists.Schema(path),
                   .skipped = lists.Skipped()};
  });
}

std::optional<Sidecar> FindSidecar(FileSystem& files, const std::string& out,
                                   const std::string& file) {
  const std::string sidecar_path = SidecarPath(out, file);
  std::error_code missing;
  const uint64_t bytes = std::filesystem::file_size(out + "/" + file, missing);
  if (missing || !files.Exists(sidecar_path)) return {};
  try {
    Sidecar sidecar = ReadSidecar(files, sidecar_path);
    if (sidecar.shard.bytes == bytes) return sidecar;
  } catch (const Error& error) {  // truncated by a power failure when sync was off
    if (error.kind() != ErrorKind::kCorrupt) throw;
  }
  return {};
}

}  // namespace recpack
