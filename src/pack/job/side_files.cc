#include "src/pack/job/side_files.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/shards/json/json.h"
#include "src/shards/manifest/side_file.h"

namespace recpack::pack {
namespace {

// Compares lists as they appear in a manifest, where invalid UTF-8 is replaced.
bool SameInManifest(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return a == b || DumpJson(Json(a)) == DumpJson(Json(b));
}

ManifestFile MakeManifestFile(const SideFile& file) {
  return {
      .file = file.name, .bytes = file.text.size(), .sha256 = ContentDigest(AsBytes(file.text))};
}

// Writes to the state folder first, where the next pack removes the files of a killed process.
void Write(const SideFile& file, const PackFolder& folder, const PackOptions& options) {
  const std::string temporary = folder.StatePath(format("{}.tmp-{}", file.name, ::getpid()));
  const auto out = options.files->Create(temporary);
  out->Write(AsBytes(file.text));
  if (options.sync) out->Sync();
  out->Close();
  options.files->Rename(temporary, options.out + "/" + file.name, options.sync);
}

}  // namespace

bool FindSideFile(const SideFile& file, const Manifest& manifest, const std::string& out) {
  const auto there = std::ranges::find(manifest.files, file.name, &ManifestFile::file);
  if (there == manifest.files.end()) return false;
  if (*there == MakeManifestFile(file)) return true;
  throw Error(
      ErrorKind::kInvalidArgument,
      format("{} of the source differs from that of the data set it is appended to", file.name),
      {.path = out}, "numbers would change their meaning: pack the source on its own");
}

void CheckAppend(const Source& source, const Manifest& base, const std::string& out) {
  if (!SameInManifest(base.class_names, source.class_names())) {
    throw Error(ErrorKind::kInvalidArgument,
                "the source and the data set it is appended to have different classes",
                {.path = out}, "labels would change their meaning: pack the source on its own");
  }
  for (const SideFile& file : source.SideFiles()) FindSideFile(file, base, out);
}

void WriteSideFiles(const Source& source, const PackFolder& folder, const PackOptions& options,
                    Manifest& manifest) {
  for (const SideFile& file : source.SideFiles()) {
    if (!FindSideFile(file, manifest, options.out))
      manifest.files.push_back(MakeManifestFile(file));
    Write(file, folder, options);
  }
}

}  // namespace recpack::pack
