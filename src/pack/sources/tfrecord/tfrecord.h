// Source for TFRecord shards, written by Recpack or other programs (docs/reference/sources.md).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recpack/example/field_map.h"
#include "src/pack/item/image_options.h"
#include "src/pack/item/source.h"

namespace recpack::pack {

struct TfrecordOptions {
  // Argument of FindLayout(): a Recpack data set, a folder of shards, a pattern, or one shard.
  std::string path = {};

  // Maps features. If not empty, records are rebuilt from the mapped features.
  FieldMap fields = {};

  // Subtracted from every label: 1 for labels 1 to N. Default: 0.
  int64_t label_offset = 0;

  // Conditions on records: "FEATURE=VALUE" (the feature has VALUE among its values) or
  // "FEATURE!=VALUE" (it does not). All must hold. Every record is read when opening.
  std::vector<std::string> filters = {};

  // Applied to the feature image/encoded, or to the one that is mapped to `image`.
  ImageOptions image = {};

  // Folder for unpacked compressed shards, as in TarOptions.
  std::string work_folder = {};

  // Items will be read mostly in order. Compressed shards with Recpack's index are then inflated
  // from its flush points, about 1 MiB at a time, instead of being unpacked first; in any other
  // order each item would inflate such a piece.
  bool in_order = true;

  // Number of threads that index or unpack shards; 0: AvailableThreads().
  int threads = 0;
};

// Opens shards; the splits come from the manifest or the file names. Payloads are passed on
// unchanged, whatever they contain, unless the options change them. Uncompressed shards are read at
// random through their index, or one made by a scan; compressed ones through the flush points of
// the index, or else unpacked once to a temporary file. CRCs are always checked. The label is the
// feature image/class/label, or else label.
//
// Memory: about 4.2 bytes a record, 8.2 with filters.
//
// Throws Error with shard, offset and ordinal: kNotFound, kIo, kCorrupt; kInvalidArgument for
// invalid filters and if no record is left. Read() throws kCorrupt for a damaged record, and for
// one that is not an Example although it has to be changed; kNotFound if it lacks a mapped feature.
std::unique_ptr<Source> OpenTfrecord(const TfrecordOptions& options);

// Tells whether `path` is a TFRecord file, or a folder or pattern of them, by names or first bytes.
bool LooksLikeTfrecord(const std::string& path);

// Returns a message if labels seem to start at 1, given the number of records by label; else
// nullopt.
std::optional<std::string> OneBasedLabelNotice(const std::map<int64_t, uint64_t>& class_counts);

}  // namespace recpack::pack
