// View: a selection of a data set's records, for sampling.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "recpack/example/view.h"
#include "recpack/loader/dataset.h"

namespace recpack {

// Options for views that depend on record contents; the records are read once, when the view is
// made.
struct ScanOptions {
  int threads = 0;                 // 0: AvailableThreads()
  bool leave_out_corrupt = false;  // false: a corrupt record is an error
  RandomAccessOptions source;
};

// Part of the records that a hash split takes: those whose hash, as a number in [0, 1), lies in
// [begin, end). Adjacent ranges with the same seed are disjoint and leave out no record: [0, 0.9)
// for training, [0.9, 1) for validation; bucket i of k is [i / k, (i + 1) / k), in floating point.
struct HashRange {
  double begin = 0;
  double end = 1;
  uint64_t seed = 0;
  // Feature to hash, with one value of bytes or int64: a record then keeps its place whatever
  // happens to others. Empty: hashes the record's ordinal in the split, which needs no reading and
  // is stable if records are only appended.
  std::string key;
};

// Immutable and thread-safe. Cheap to copy. Uses 4 bytes per record (8 if the split has more than
// 2^32 records), shared by all copies. Orders, positions and the epoch length refer to the view:
// its records are numbered from 0. Batch::ids() are still ordinals in the split.
class View {
 public:
  // All records.
  View(const Dataset& dataset);  // NOLINT(google-explicit-constructor): a data set is a view

  // Selects records by ordinal, in the given order; a record listed twice is sampled twice. Throws
  // Error (kInvalidArgument) if the list is empty or an ordinal is beyond the end.
  static View Subset(const Dataset& dataset, const std::vector<uint64_t>& ids);

  // Selects samples of `of` by number, as above. Throws Error (kInvalidArgument) if `of` is drawn.
  static View Subset(const View& of, const std::vector<uint64_t>& numbers);

  // Selects the records of `of` for which `keep` returns true, in its order. `keep` is called once
  // per record, by several threads. Throws what reading, parsing and `keep` throw, with the
  // record's place; Error (kInvalidArgument) if no record is kept or `of` is drawn.
  static View Filter(const View& of,
                     const std::function<bool(const ExampleView& example, uint64_t id)>& keep,
                     const ScanOptions& options = {});

  // Selects the records of `of` whose hash lies in the range, in its order. Throws as Filter().
  static View HashSplit(const View& of, const HashRange& range, const ScanOptions& options = {});

  // Samples each class equally often, however many records it has. The class is the single int64
  // value of feature `label`. An epoch has `epoch_samples` samples (0: as many as `of` has
  // records), rounded up to a multiple of the number of classes. Each class's records are permuted
  // anew whenever all have been delivered, within an epoch or across epochs: no record repeats
  // before all others of its class have come. The order applies to these samples, so a window order
  // does not read sequentially, and `auto` means global. A bad record is substituted by one of the
  // same class. Throws as Filter().
  static View ClassBalanced(const View& of, const std::string& label, uint64_t epoch_samples = 0,
                            const ScanOptions& options = {});

  // Samples records in proportion to their weights, one per sample of `of`, with repetition. An
  // epoch has `epoch_samples` samples (0: as many as `of` has). Stratified sampling: sample i is
  // drawn from the i-th of epoch_samples equal parts of the sum of the weights. So a record comes
  // weight / sum * epoch_samples times on average and less than 2 times more or fewer, and a record
  // of weight 0 never. Each epoch draws anew. Sample numbers follow the order of `of`, so a window
  // order reads shards nearly in order. Uses 8 more bytes per record. Throws Error
  // (kInvalidArgument) if `of` is drawn, if the number of weights is not that of its samples, or if
  // a weight is negative or not finite, or all are 0.
  static View Weighted(const View& of, const std::vector<double>& weights,
                       uint64_t epoch_samples = 0);

  // Calls visit(number, id, example) once for each sample, from several threads at once. Throws
  // what reading, parsing and `visit` throw, with the record's place; Error (kInvalidArgument) if
  // the view is drawn.
  void ForEachRecord(
      const std::function<void(uint64_t number, uint64_t id, const ExampleView& example)>& visit,
      const ScanOptions& options = {}) const;

  const Dataset& dataset() const noexcept { return dataset_; }
  uint64_t samples() const noexcept;  // per epoch
  // Bytes of shards read per epoch, estimated by the mean record size.
  uint64_t bytes() const noexcept;
  size_t classes() const noexcept;  // of a balanced view; otherwise 0
  bool balanced() const noexcept { return classes() > 0; }
  // True if the records of an epoch are drawn for it: balanced and weighted views. These cannot be
  // divided further.
  bool drawn() const noexcept;

  // The data set's digest; if the view does not have all records, followed by '-' and 12 digits
  // that identify the selection.
  const std::string& digest() const noexcept { return digest_; }

  // Describes how this view differs from the one with `digest`; empty if it does not.
  std::string DifferenceFrom(const std::string& digest) const;

  // Returns the ordinal of sample `number` < samples(). Only drawn views use `seed` and `epoch`.
  uint64_t Record(uint64_t number, uint64_t seed, uint64_t epoch) const noexcept;

  // For balanced views: returns another record of the class of `record`, which is that of sample
  // `number`. `draw` selects it; any value is valid. Returns `record` if the class has no other.
  uint64_t AnotherOfClass(uint64_t number, uint64_t record, uint64_t draw) const noexcept;

 private:
  struct Choice;
  void RefuseDrawn() const;
  View(const Dataset& dataset, std::shared_ptr<const Choice> choice);

  Dataset dataset_;
  std::shared_ptr<const Choice> choice_;  // null: all records
  std::string digest_;
};

}  // namespace recpack
