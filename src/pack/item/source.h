// Interface of sources: numbered items in splits, and readers that turn items into samples.
#pragma once

#include <algorithm>
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

// Tells whether `name` may name a split: letters, digits and _.
inline bool IsSplitName(const std::string& name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && std::ranges::all_of(name, allowed);
}

// One item that was read: either `features` or `payload`, a serialized record that is written
// unchanged. Views are valid until the next Read() of the reader that filled the sample.
struct Sample {
  ExampleBuilder features;
  ByteView payload;    // data() is null if unused; a record may be empty
  int64_t label = -1;  // class for the manifest's histogram; -1: none

  bool is_finished() const noexcept { return payload.data() != nullptr; }

  // Resets the sample, keeping the memory of `features`.
  void Clear() {
    features.Clear();
    payload = {};
    label = -1;
  }
};

// Reads the items of one source. One per worker; not thread-safe; reuses its buffers.
class ItemReader {
 public:
  virtual ~ItemReader() = default;

  // Reads an item into `sample`, which must be cleared. Throws Error with the item's location:
  // kCorrupt, kUnsupported, kNotFound or kIo. The reader can read other items after an error.
  virtual void Read(size_t split, uint64_t item, Sample& sample) = 0;

  // Says that the item will be read soon, so that fetching it can begin; see
  // Source::items_are_remote(). Does not throw for items that cannot be fetched.
  virtual void Announce(size_t /*split*/, uint64_t /*item*/) {}
};

// A contiguous range of items of a split that belong together.
struct ItemGroup {
  std::string name;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// A file stored next to the shards that explains numbers in the records, such as a vocabulary.
struct SideFile {
  std::string name;  // in the folder of the shards
  std::string text;
};

// A data set to pack. Immutable and thread-safe once opened.
class Source {
 public:
  virtual ~Source() = default;

  // "cifar10", "folder", "tar", ...
  virtual std::string kind() const = 0;

  virtual const std::vector<SourceSplit>& splits() const = 0;

  // Class names by label; empty if there are none.
  virtual const std::vector<std::string>& class_names() const = 0;

  // Name of the item in messages and lists: a path, an archive member or a row.
  virtual std::string ItemName(size_t split, uint64_t item) const = 0;

  // Estimated payload bytes of the item's record, from names and source sizes only.
  virtual uint64_t ItemBytes(size_t split, uint64_t item) const = 0;

  // Tells whether items are sorted by class; such sources are shuffled by default.
  virtual bool sorted_by_class() const = 0;

  // Tells whether several threads should share the items of one shard when there are fewer shards
  // than threads. True if reading an item is expensive (opens a file, decodes an image) and is not
  // faster directly after the item before it.
  virtual bool items_take_work() const { return false; }

  // Tells whether reading an item waits for a network. Readers then announce many items ahead, and
  // an item that cannot be fetched ends the job: it is not a bad item.
  virtual bool items_are_remote() const { return false; }

  // Tells whether what one reader announces is there for the others, too.
  virtual bool announces_for_all() const { return false; }

  // All items of the split as consecutive groups, such as the classes of a folder or archives.
  // Messages name the groups when a data set has changed.
  virtual std::vector<ItemGroup> Groups(size_t split) const {
    return {{.name = {}, .begin = 0, .end = splits()[split].items}};
  }

  // Appends text that changes when the item's name or size changes. Must not depend on the location
  // of the source.
  virtual void DescribeItem(size_t split, uint64_t item, std::string& text) const {
    text += ItemName(split, item) + '\0' + std::to_string(ItemBytes(split, item)) + '\n';
  }

  // Hexadecimal SHA-256 over the names and sizes of all items.
  virtual std::string Fingerprint() const = 0;

  virtual std::unique_ptr<ItemReader> NewReader() const = 0;

  // Files to write before the manifest, which lists them.
  virtual std::vector<SideFile> SideFiles() const { return {}; }

  // Reason why the records cannot be appended to an existing data set; empty if they can.
  virtual std::string WhyNotAppended() const { return {}; }

  // Messages for the user about skipped or unusual items, from opening and from reads so far.
  // Thread-safe.
  virtual std::vector<std::string> Notices() const { return {}; }
};

}  // namespace recpack::pack
