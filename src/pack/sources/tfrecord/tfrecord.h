// Shards of TFRecord files, ours or others', as a source of items (docs/sources.md).
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
  // What FindLayout() takes: a data set of ours, a folder of shards, a pattern, or one shard.
  std::string path = {};

  // From features. Not empty: records are made anew of these.
  FieldMap fields = {};

  // The number of the first class, taken off every label: 1 for labels 1 to N. Default 0.
  int64_t label_offset = 0;

  // Records to keep: "FEATURE=VALUE" (one of the feature's values is VALUE) or "FEATURE!=VALUE"
  // (none is); all of them must hold. Every record is read when opening.
  std::vector<std::string> filters = {};

  // Of the feature image/encoded, or of the one that is mapped to `image`.
  ImageOptions image = {};

  // Where compressed shards are unpacked to, as TarOptions has it.
  std::string work_folder = {};

  // Items will be read in their order, by and large. Compressed shards of ours are then inflated
  // by the flush points of the index beside them, about 1 MiB at a time, and not unpacked ahead:
  // for items in any other order each would cost such a stretch.
  bool in_order = true;

  // Shards indexed or unpacked at once; 0: AvailableThreads().
  int threads = 0;
};

// Opens shards; the splits are those of the manifest or of the file names. Payloads are passed on
// byte for byte, whatever they hold, unless the options ask for a change. Uncompressed shards are
// read at random by the index beside them, or by one that is made by a scan; compressed ones by the
// flush points of the index, or else unpacked once to a temporary file. CRCs are always checked.
// The label is the feature image/class/label or else label.
//
// Memory: about 4.2 bytes a record, 8.2 with filters.
//
// Throws Error, with shard, offset and ordinal: kNotFound, kIo, kCorrupt; kInvalidArgument for
// filters that are none and where no record is left. Read() throws kCorrupt for a damaged record,
// for one that is no Example where it has to be changed, and kNotFound where it lacks a mapped
// feature.
std::unique_ptr<Source> OpenTfrecord(const TfrecordOptions& options);

// Whether it is a TFRecord file or a folder or pattern of such, by names or by the first bytes.
bool LooksLikeTfrecord(const std::string& path);

// What to tell the user if labels seem to count from 1: counts of records by label. Nothing if not.
std::optional<std::string> OneBasedLabelNotice(const std::map<int64_t, uint64_t>& class_counts);

}  // namespace recpack::pack
