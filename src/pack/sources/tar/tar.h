// Tar archives of samples, as WebDataset lays them out, as a source of items (docs/sources.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recpack/example/field_map.h"
#include "src/pack/item/image_options.h"
#include "src/pack/item/source.h"

namespace recpack::pack {

struct TarOptions {
  // An archive (.tar, .tar.gz, .tgz, .tar.zst, .tar.xz, .tar.bz2), a folder of archives, or a
  // pattern with braces or globs: "train-{000..146}.tar".
  std::string path = {};

  // More of these, whose archives come after those of `path`; other ones.
  std::vector<std::string> further_paths = {};

  std::string split = "train";

  // From member extensions. Empty: each member becomes a feature named by its extension.
  FieldMap fields = {};

  // Without `fields`, `check` and `tile` apply to members jpg, jpeg and png, and `resize` is
  // refused.
  ImageOptions image = {};

  // Unpack compressed archives, to a temporary file. Off: they are refused (kUnsupported).
  bool unpack = true;

  // Where compressed archives are unpacked to, in a file without a name; "" is $TMPDIR, or /tmp.
  std::string work_folder = {};

  // Archives indexed or unpacked at once; 0: AvailableThreads().
  int threads = 0;
};

// Opens archives in the order of their names. Consecutive members whose names agree up to the first
// dot behind the last slash are one sample; that part is its key, the feature __key__, and the
// rest, in lower case, is the member's extension. A member `cls` of digits becomes an int64 feature
// and the sample's label. Members without an extension, links and names with __*__ in them are left
// out and counted in Notices().
//
// Memory: 24 bytes a member, 24 bytes and the key a sample.
//
// Throws Error: kNotFound, kIo; kCorrupt for an archive that is damaged, cut off or goes on after
// its end mark, for a member outside of the archive and for one that a sample has twice;
// kInvalidArgument for a file that is no archive, for an archive that two of the paths have, and
// where there are no samples. Read() throws kCorrupt where the archive changed or a mapped label is
// no number, kNotFound where a sample lacks a mapped member.
std::unique_ptr<Source> OpenTar(const TarOptions& options);

// Whether `path` names archives: by extension, for a folder by what lies in it.
bool LooksLikeTar(const std::string& path);

}  // namespace recpack::pack
