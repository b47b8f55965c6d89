// The records of a data set that are sampled, where that is not all of them once an epoch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "recpack/example/view.h"
#include "recpack/loader/dataset.h"

namespace recpack {

// How a view that depends on what records hold reads them, once, when it is made.
struct ScanOptions {
  int threads = 0;                 // 0: AvailableThreads()
  bool leave_out_corrupt = false;  // off: a corrupt record is an error
  SourceOptions source;
};

// Which part of the records a hash split takes: those whose hash, as a number in [0, 1), is in
// [begin, end). Ranges that share a bound and a seed have no record in common and leave out none:
// [0, 0.9) trains, [0.9, 1) validates; bucket i of k is [i / k, (i + 1) / k), in floating point.
struct HashRange {
  double begin = 0;
  double end = 1;
  uint64_t seed = 0;
  // Feature, one value of bytes or int64, that the hash is of: a record stays where it is whatever
  // becomes of others. Empty: the record's ordinal in the split, which needs no reading and is
  // stable where records are only added at the end.
  std::string key;
};

// Immutable and cheap to copy; any number of threads. Holds 4 bytes a record that it has (8 where
// the split has more than 2^32 records), once for all copies. Orders, positions and the length of
// an epoch are those of the view: its records are numbered from 0. Batch::ids() are ordinals in
// the split all the same.
class View {
 public:
  // All records.
  View(const Dataset& dataset);  // NOLINT(google-explicit-constructor): a data set is a view

  // These records, numbered as listed; one that is listed twice is sampled twice. Throws Error
  // (kInvalidArgument) for one beyond the end, and for none.
  static View Subset(const Dataset& dataset, const std::vector<uint64_t>& ids);

  // Those of `of` for which `keep` is true, in its order. `keep` is called once a record, by
  // several threads. Throws what reading, parsing and `keep` throw, with the record's place; Error
  // (kInvalidArgument) where none is kept or `of` is balanced.
  static View Filter(const View& of,
                     const std::function<bool(const ExampleView& example, uint64_t id)>& keep,
                     const ScanOptions& options = {});

  // Those of `of` whose hash is in the range, in its order. Throws as Filter().
  static View HashSplit(const View& of, const HashRange& range, const ScanOptions& options = {});

  // Each class equally often, whatever its records: the class is the one int64 value of feature
  // `label`. An epoch has `epoch_samples` samples (0: as many as `of` has records), rounded up to
  // a multiple of the classes. Each class's records are permuted anew each time that they are
  // through, within an epoch or over several: none comes again before all of its class have come.
  // The order is one of these samples, so that a window order does not read in sequence, and
  // `auto` is global. A bad record's substitute is of the same class. Throws as Filter().
  static View ClassBalanced(const View& of, const std::string& label, uint64_t epoch_samples = 0,
                            const ScanOptions& options = {});

  const Dataset& dataset() const noexcept { return dataset_; }
  uint64_t samples() const noexcept;  // of an epoch
  uint64_t bytes() const noexcept;    // of shards: what an epoch reads, by the mean
  size_t classes() const noexcept;    // of a balanced view; else 0
  bool balanced() const noexcept { return classes() > 0; }

  // The data set's digest; where it is not all of it, a '-' and 12 digits of which records.
  const std::string& digest() const noexcept { return digest_; }

  // Says in what this view differs from the one that had `digest`; empty: in nothing.
  std::string DifferenceFrom(const std::string& digest) const;

  // The ordinal of sample `number` < samples(); `seed` and `epoch` matter to a balanced view only.
  uint64_t Record(uint64_t number, uint64_t seed, uint64_t epoch) const noexcept;

  // Of a balanced view: another record of the class of `record`, which is that of sample `number`;
  // any `draw` is a choice. `record` itself where the class has no other.
  uint64_t AnotherOfClass(uint64_t number, uint64_t record, uint64_t draw) const noexcept;

 private:
  struct Choice;
  View(const Dataset& dataset, std::shared_ptr<const Choice> choice);

  Dataset dataset_;
  std::shared_ptr<const Choice> choice_;  // null: all records
  std::string digest_;
};

}  // namespace recpack
