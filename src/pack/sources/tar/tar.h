// Source for tar archives of samples in the WebDataset layout (docs/reference/sources.md).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "recpack/example/field_map.h"
#include "src/pack/item/image_options.h"
#include "src/pack/item/source.h"

namespace recpack::pack {

struct TarOptions {
  // An archive (.tar, .tar.gz, .tgz, .tar.zst, .tar.xz, .tar.bz2), a folder of archives, or a
  // pattern with braces or globs: "train-{000..146}.tar". Also URLs: s3://bucket/train-*.tar.
  std::string path = {};

  // More paths, whose archives follow those of `path`. No archive may occur twice.
  std::vector<std::string> further_paths = {};

  std::string split = "train";

  // Maps member extensions to features. Empty: each member becomes a feature named by its
  // extension.
  FieldMap fields = {};

  // Without `fields`, `check` and `tile` apply to members jpg, jpeg and png, and `resize` is an
  // error.
  ImageOptions image = {};

  // Unpack compressed archives to a temporary file. If false, they are refused (kUnsupported).
  bool unpack = true;

  // Folder of the unnamed temporary file for unpacking; "" is $TMPDIR, or /tmp.
  std::string work_folder = {};

  // Number of threads that index or unpack archives; 0: AvailableThreads().
  int threads = 0;
};

// Opens archives in the order of their names. Consecutive members whose names agree up to the first
// dot after the last slash form a sample. That part is its key, the feature __key__; the rest, in
// lower case, is the member's extension. A member `cls` of digits becomes an int64 feature and the
// sample's label. Members without an extension, links and names with __*__ in them are left out and
// counted in Notices().
//
// Memory: 24 bytes a member; 24 bytes and the key a sample.
//
// Throws Error: kNotFound, kIo; kCorrupt for an archive that is damaged, truncated or continues
// after its end mark, for a member outside of the archive and for a duplicate member of a sample;
// kInvalidArgument for a file that is not an archive, for an archive that occurs in two of the
// paths, and if there are no samples. Read() throws kCorrupt if the archive has changed or a mapped
// label is not a number, kNotFound if a sample lacks a mapped member.
std::unique_ptr<Source> OpenTar(const TarOptions& options);

// Tells whether a path or URL ends like the name of an archive.
bool HasTarName(std::string_view name);

// Tells whether `path` names archives: by extension, or for a folder by its content.
bool LooksLikeTar(const std::string& path);

}  // namespace recpack::pack
