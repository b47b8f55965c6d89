// What can be packed: a source is a numbered list of items in splits, and a way to read each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/example/builder.h"

namespace recpack::pack {

struct SourceSplit {
  std::string name;  // "train", "validation", "test", "eval", ...
  uint64_t items = 0;
};

// One item, read. Either `features`, or `payload`: a finished record that is passed on as it is.
// Views inside live until the next Read() of the reader that filled it.
struct Sample {
  ExampleBuilder features;
  ByteView payload;    // data() is null where there is none; a record may be empty
  int64_t label = -1;  // class, for the histogram of the manifest; -1: none

  bool is_finished() const noexcept { return payload.data() != nullptr; }

  // Keeps the memory of `features`.
  void Clear() {
    features.Clear();
    payload = {};
    label = -1;
  }
};

// Reads items of one source. One a worker; one thread at a time; keeps its buffers from item to
// item.
class ItemReader {
 public:
  virtual ~ItemReader() = default;

  // Throws Error with the item's place: kCorrupt, kUnsupported, kNotFound or kIo. The reader stays
  // usable: the caller may go on with another item. `sample` comes in cleared.
  virtual void Read(size_t split, uint64_t item, Sample& sample) = 0;
};

// Items of a split that lie side by side and belong together.
struct ItemGroup {
  std::string name;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// A file that belongs beside the shards: what numbers in the records stand for.
struct SideFile {
  std::string name;  // in the folder of the shards
  std::string text;
};

// Immutable once opened; any number of threads.
class Source {
 public:
  virtual ~Source() = default;

  // "cifar10", "folder", "tar", ...
  virtual std::string kind() const = 0;

  virtual const std::vector<SourceSplit>& splits() const = 0;

  // Class names by label, empty where there are none.
  virtual const std::vector<std::string>& class_names() const = 0;

  // What the item is called in messages and lists: a path, or an archive's member or row.
  virtual std::string ItemName(size_t split, uint64_t item) const = 0;

  // About how many payload bytes its record will have, from names and source sizes only.
  virtual uint64_t ItemBytes(size_t split, uint64_t item) const = 0;

  // Whether items lie by class, so that a shuffle is needed unless the user says otherwise.
  virtual bool sorted_by_class() const = 0;

  // Whether several threads should share the items of one shard where there are fewer shards than
  // threads: reading an item takes work (a file to open, an image to decode) and is no faster right
  // after the one before it.
  virtual bool items_take_work() const { return false; }

  // All items of the split in the groups they lie in, in order: the classes of a folder, archives.
  // A user is told of them when a data set has changed.
  virtual std::vector<ItemGroup> Groups(size_t split) const {
    return {{.name = {}, .begin = 0, .end = splits()[split].items}};
  }

  // Appends text that changes when the item's name or size does, and does not tell where the source
  // lies.
  virtual void DescribeItem(size_t split, uint64_t item, std::string& text) const {
    text += ItemName(split, item) + '\0' + std::to_string(ItemBytes(split, item)) + '\n';
  }

  // Text that changes when the names or sizes of the items do: SHA-256 over them, in hexadecimal.
  virtual std::string Fingerprint() const = 0;

  virtual std::unique_ptr<ItemReader> NewReader() const = 0;

  // Written before the manifest, which lists them.
  virtual std::vector<SideFile> SideFiles() const { return {}; }

  // Why its records cannot be added to those of a data set that is there; empty: they can.
  virtual std::string WhyNotAppended() const { return {}; }

  // Sentences for the user about what was left out or looks odd, at opening and in what was read so
  // far. Any thread.
  virtual std::vector<std::string> Notices() const { return {}; }
};

}  // namespace recpack::pack
