#include "src/pack/job/side_files.h"

#include <unistd.h>

#include <algorithm>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/shards/manifest/side_file.h"

namespace recpack::pack {
namespace {

ManifestFile RowOf(const SideFile& file) {
  return {.file = file.name, .bytes = file.text.size(), .sha256 = DigestOf(AsBytes(file.text))};
}

// By way of the state folder, where the next packer removes what a killed one left.
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
  if (*there == RowOf(file)) return true;
  throw Error(ErrorKind::kInvalidArgument,
              format("{} of the source is not that of the data set it is appended to", file.name),
              {.path = out}, "numbers would change their meaning: pack it on its own");
}

void WriteSideFiles(const Source& source, const PackFolder& folder, const PackOptions& options,
                    Manifest& manifest) {
  for (const SideFile& file : source.SideFiles()) {
    if (!FindSideFile(file, manifest, options.out)) manifest.files.push_back(RowOf(file));
    Write(file, folder, options);
  }
}

}  // namespace recpack::pack
