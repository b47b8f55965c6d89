// Views that depend on record contents.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "recpack/base/parallel.h"
#include "recpack/loader/feature.h"
#include "src/base/format.h"
#include "src/loader/data/record_place.h"
#include "src/loader/data/streams.h"
#include "src/loader/data/view_choice.h"

namespace recpack {
namespace {

constexpr uint64_t kChunkRecords = 256;

// Returns the records of a view whose mark is set, in its order.
IdList Marked(const View& of, const std::vector<uint8_t>& keep) {
  IdList ids(of.dataset().records());
  ids.Reserve(static_cast<size_t>(std::count(keep.begin(), keep.end(), 1)));
  for (uint64_t i = 0; i < keep.size(); ++i) {
    if (keep[i] != 0) ids.Add(of.Record(i, 0, 0));
  }
  return ids;
}

uint64_t KeyHash(const ExampleView& example, const HashRange& range) {
  const FeatureView& feature = RequireFeature(example, range.key);
  Sha256 hash;
  uint8_t number[8];
  StoreLittleEndian(number, range.seed);
  hash.Update(number);
  if (feature.bytes_values().size() == 1) {
    hash.Update(feature.bytes_values()[0]);
  } else if (feature.int64_values().size() == 1) {
    StoreLittleEndian(number, static_cast<uint64_t>(feature.int64_values()[0]));
    hash.Update(number);
  } else {
    Refuse(format("feature '{}' has {} values of kind {}", range.key, feature.size(),
                  FeatureKindName(feature.kind())),
           "a key is one value of bytes or int64");
  }
  return LoadLittleEndian<uint64_t>(hash.Finish().data());
}

// Tells whether a hash lies in [begin, end), scaled to 2^64.
class HashBounds {
 public:
  explicit HashBounds(const HashRange& range) {
    if (!(range.begin >= 0 && range.begin < range.end && range.end <= 1)) {
      Refuse(format("[{}, {}) is not a part of [0, 1)", range.begin, range.end),
             "give bounds such as 0 and 0.9");
    }
    begin_ = static_cast<uint64_t>(std::ldexp(range.begin, 64));
    to_end_ = range.end == 1;
    if (!to_end_) end_ = static_cast<uint64_t>(std::ldexp(range.end, 64));
  }

  bool Has(uint64_t hash) const noexcept { return hash >= begin_ && (to_end_ || hash < end_); }

 private:
  uint64_t begin_;
  uint64_t end_ = 0;
  bool to_end_ = false;
};

}  // namespace

void View::ForEachRecord(
    const std::function<void(uint64_t number, uint64_t id, const ExampleView& example)>& visit,
    const ScanOptions& options) const {
  RefuseDrawn();
  const uint64_t records = samples();
  const uint64_t chunks = (records + kChunkRecords - 1) / kChunkRecords;
  struct Reader {
    std::unique_ptr<SampleSource> source;
    ByteBuffer memory;
    ExampleView example;
  };
  std::vector<Reader> readers;
  for (size_t i = 0; i < ParallelThreads(chunks, options.threads); ++i) {
    readers.push_back(
        {i > 0 ? readers.front().source->ForAnotherThread() : dataset_.NewSource(options.source),
         {},
         {}});
  }
  const auto visit_record = [&](Reader& reader, uint64_t number) {
    const uint64_t id = Record(number, 0, 0);
    try {
      reader.example.Parse(reader.source->Read(id, reader.memory));
      dataset_.MapFeatures(reader.example);
      visit(number, id, reader.example);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kCorrupt && options.leave_out_corrupt) return;
      RethrowWithPlace(dataset_, id);
    } catch (...) {
      RethrowWithPlace(dataset_, id);
    }
  };
  ParallelFor(chunks, options.threads, [&](size_t worker, size_t chunk) {
    const uint64_t end = std::min(records, (chunk + 1) * kChunkRecords);
    for (uint64_t i = chunk * kChunkRecords; i < end; ++i) visit_record(readers[worker], i);
  });
}

View View::Filter(const View& of,
                  const std::function<bool(const ExampleView& example, uint64_t id)>& keep,
                  const ScanOptions& options) {
  of.RefuseDrawn();
  std::vector<uint8_t> kept(of.samples());
  of.ForEachRecord([&](uint64_t number, uint64_t id,
                       const ExampleView& example) { kept[number] = keep(example, id); },
                   options);
  return View(of.dataset_, std::make_shared<Choice>(Choice{Marked(of, kept), {}, 0}));
}

View View::HashSplit(const View& of, const HashRange& range, const ScanOptions& options) {
  of.RefuseDrawn();
  const HashBounds bounds(range);
  std::vector<uint8_t> kept(of.samples());
  if (range.key.empty()) {
    constexpr auto kStream = static_cast<uint32_t>(RandomStream::kHashSplit);
    for (uint64_t i = 0; i < kept.size(); ++i) {
      kept[i] = bounds.Has(KeyedRandom(range.seed, kStream, of.Record(i, 0, 0)).NextU64());
    }
  } else {
    of.ForEachRecord(
        [&](uint64_t number, uint64_t, const ExampleView& example) {
          kept[number] = bounds.Has(KeyHash(example, range));
        },
        options);
  }
  return View(of.dataset_, std::make_shared<Choice>(Choice{Marked(of, kept), {}, 0}));
}

View View::ClassBalanced(const View& of, const std::string& label, uint64_t epoch_samples,
                         const ScanOptions& options) {
  of.RefuseDrawn();
  std::vector<int64_t> labels(of.samples());
  std::vector<uint8_t> read(of.samples());
  of.ForEachRecord(
      [&](uint64_t number, uint64_t, const ExampleView& example) {
        const FeatureView& feature = RequireFeature(example, label);
        if (feature.int64_values().size() != 1) {
          Refuse(format("feature '{}' has {} values of kind {}", label, feature.size(),
                        FeatureKindName(feature.kind())),
                 "a class is one int64");
        }
        labels[number] = feature.int64_values()[0];
        read[number] = 1;
      },
      options);

  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < read.size(); ++i) {
    if (read[i] != 0) numbers.push_back(i);
  }
  std::ranges::stable_sort(numbers, {}, [&](uint64_t number) { return labels[number]; });
  auto choice = std::make_shared<Choice>(Choice{IdList(of.dataset().records()), {}, 0});
  choice->ids.Reserve(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i == 0 || labels[numbers[i]] != labels[numbers[i - 1]]) choice->first.push_back(i);
    choice->ids.Add(of.Record(numbers[i], 0, 0));
  }
  const uint64_t classes = std::max<uint64_t>(1, choice->first.size());
  choice->first.push_back(numbers.size());
  const uint64_t wanted = epoch_samples == 0 ? numbers.size() : epoch_samples;
  choice->class_samples = (wanted + classes - 1) / classes;
  return View(of.dataset_, std::move(choice));
}

}  // namespace recpack
