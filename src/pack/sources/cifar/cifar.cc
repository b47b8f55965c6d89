#include "src/pack/sources/cifar/cifar.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/pack/sources/cifar/cifar_batch.h"
#include "src/pack/sources/cifar/cifar_files.h"

namespace recpack::pack {
namespace {

// Rows per read, so that they stay in the core's cache until they are copied.
constexpr uint64_t kRowsARead = 128;

constexpr int64_t kCifar10Classes = 10;
constexpr int64_t kCifar100Classes = 100;
constexpr int64_t kCifar100CoarseClasses = 20;

struct ItemLabels {
  int64_t fine = 0;
  std::optional<int64_t> coarse;
};

struct BatchRow {
  size_t batch = 0;
  uint64_t row = 0;
};

std::vector<std::string> CheckedSplitNames(const std::string& asked, const CifarLayout& layout) {
  const bool cifar10 = layout.dataset == CifarDataset::kCifar10;
  auto names = SplitText(!asked.empty() ? asked
                         : cifar10      ? "train,validation,eval"
                                        : "train,eval",
                         ',');
  auto sorted = names;
  std::ranges::sort(sorted);
  const bool distinct = std::ranges::adjacent_find(sorted) == sorted.end();
  const bool count = names.size() == 2 || (names.size() == 3 && cifar10);
  if (count && distinct && std::ranges::all_of(names, IsSplitName)) return names;
  throw Error(ErrorKind::kInvalidArgument, format("\"{}\" does not name CIFAR's splits", asked), {},
              cifar10 ? "give two names, as in train,test, or three, as in train,validation,eval"
                      : "give two names, as in train,test");
}

class CifarSource final : public Source {
 public:
  CifarSource(const CifarOptions& options, CifarFiles files);

  std::string kind() const override {
    return layout_.dataset == CifarDataset::kCifar10 ? "cifar10" : "cifar100";
  }
  const std::vector<SourceSplit>& splits() const override { return splits_; }
  const std::vector<std::string>& class_names() const override { return classes_.fine; }
  std::string ItemName(size_t split, uint64_t item) const override;
  uint64_t ItemBytes(size_t, uint64_t) const override { return item_bytes_; }
  bool sorted_by_class() const override { return false; }
  std::string Fingerprint() const override { return fingerprint_; }
  std::unique_ptr<ItemReader> NewReader() const override;

  const CifarBatch& batch(size_t i) const { return batches_[i]; }
  BatchRow Locate(size_t split, uint64_t item) const;

  // Reads the labels of a row from its bytes, which begin with the labels. Throws Error (kCorrupt)
  // for a label out of range.
  ItemLabels ReadLabels(const CifarBatch& batch, uint64_t row, ByteView row_bytes) const;

 private:
  void MakeSplits(const std::vector<std::string>& names);
  void MakeFingerprint(const CifarFiles& files);
  void CheckLabel(const CifarBatch& batch, uint64_t row, int64_t label, int64_t count) const;

  const CifarLayout& layout_;
  CifarClasses classes_;
  int64_t fine_count_ = 0;
  int64_t coarse_count_ = 0;
  std::vector<CifarBatch> batches_;  // train in order, then test
  std::vector<SourceSplit> splits_;
  std::vector<size_t> split_batches_;  // first batch of each split, and the number of batches
  uint64_t item_bytes_ = 0;
  std::string fingerprint_;
};

void AddFeatures(ExampleBuilder& features, ByteView pixels, const ItemLabels& labels) {
  features.AddBytes("image", pixels);
  features.AddInt64("label", labels.fine);
  if (labels.coarse) features.AddInt64("coarse_label", *labels.coarse);
}

class CifarReader final : public ItemReader {
 public:
  explicit CifarReader(const CifarSource& source) : source_(source) {}

  void Read(size_t split, uint64_t item, Sample& sample) override {
    const BatchRow at = source_.Locate(split, item);
    const CifarBatch& batch = source_.batch(at.batch);
    const ByteView row = batch.memory.empty() ? RowFromFile(batch, at) : RowFromMemory(batch, at);
    const ItemLabels labels = source_.ReadLabels(batch, at.row, row);
    sample.label = labels.fine;
    AddFeatures(sample.features, row.last(kCifarPixels), labels);
  }

 private:
  static ByteView RowFromMemory(const CifarBatch& batch, const BatchRow& at) {
    return batch.memory.subspan(batch.first_row + at.row * batch.row_bytes, batch.row_bytes);
  }

  ByteView RowFromFile(const CifarBatch& batch, const BatchRow& at);
  void Fill(const CifarBatch& batch, const BatchRow& at, uint64_t rows);

  const CifarSource& source_;
  std::vector<uint8_t> buffer_;
  size_t batch_ = 0;    // batch of the rows in the buffer
  uint64_t begin_ = 0;  // first row in the buffer
  uint64_t end_ = 0;    // one past the last
};

// Reads one row for random access, a whole buffer for sequential access.
ByteView CifarReader::RowFromFile(const CifarBatch& batch, const BatchRow& at) {
  if (at.batch != batch_ || at.row < begin_ || at.row >= end_) {
    const bool follows = at.row == 0 || (at.batch == batch_ && at.row == end_);
    Fill(batch, at, follows ? std::min(kRowsARead, batch.rows - at.row) : 1);
  }
  return ByteView(buffer_).subspan((at.row - begin_) * batch.row_bytes, batch.row_bytes);
}

void CifarReader::Fill(const CifarBatch& batch, const BatchRow& at, uint64_t rows) {
  buffer_.resize(kRowsARead * batch.row_bytes);
  begin_ = end_ = 0;
  const uint64_t offset = batch.first_row + at.row * batch.row_bytes;
  const std::span<uint8_t> out(buffer_.data(), rows * batch.row_bytes);
  const bool whole = batch.file->ReadAt(offset, out) == out.size();
  const uint64_t size = batch.file->Size();
  if (!whole || size != batch.file_bytes) {
    throw Error(
        ErrorKind::kIo,
        format("was {} bytes long when it was opened and is {} now", batch.file_bytes, size),
        {.path = batch.file->path(), .ordinal = at.row},
        "pack again when no other program writes to it");
  }
  batch_ = at.batch;
  begin_ = at.row;
  end_ = at.row + rows;
}

CifarSource::CifarSource(const CifarOptions& options, CifarFiles files) : layout_(*files.layout) {
  const auto names = CheckedSplitNames(options.splits, layout_);
  const bool cifar10 = layout_.dataset == CifarDataset::kCifar10;
  classes_ = ReadCifarClasses(files);
  fine_count_ = !classes_.fine.empty() ? static_cast<int64_t>(classes_.fine.size())
                : cifar10              ? kCifar10Classes
                                       : kCifar100Classes;
  coarse_count_ = !classes_.coarse.empty() ? static_cast<int64_t>(classes_.coarse.size())
                                           : kCifar100CoarseClasses;
  const auto open = layout_.binary ? OpenBinaryBatch : OpenPickleBatch;
  for (const CifarFile& file : files.batches) batches_.push_back(open(file, layout_.dataset));
  MakeSplits(names);
  MakeFingerprint(files);
  const ByteBuffer pixels(kCifarPixels);
  ExampleBuilder example;
  AddFeatures(example, pixels, {0, cifar10 ? std::nullopt : std::optional<int64_t>(0)});
  item_bytes_ = example.ByteSize();
}

void CifarSource::MakeSplits(const std::vector<std::string>& names) {
  const size_t train = layout_.train.size();
  split_batches_ = names.size() == 3 ? std::vector<size_t>{0, train - 1, train, train + 1}
                                     : std::vector<size_t>{0, train, train + 1};
  for (size_t split = 0; split < names.size(); ++split) {
    uint64_t items = 0;
    for (size_t i = split_batches_[split]; i < split_batches_[split + 1]; ++i) {
      items += batches_[i].rows;
    }
    splits_.push_back({names[split], items});
  }
}

void CifarSource::MakeFingerprint(const CifarFiles& files) {
  Sha256 digest;
  const auto add = [&](std::string_view name, uint64_t number) {
    digest.Update(AsBytes(format("{} {}\n", name, number)));
  };
  for (const SourceSplit& split : splits_) add(split.name, split.items);
  for (const CifarBatch& batch : batches_) add(batch.name, batch.file_bytes);
  for (const CifarFile& file : files.meta) add(file.name, file.file->Size());
  fingerprint_ = Hex(digest.Finish());
}

BatchRow CifarSource::Locate(size_t split, uint64_t item) const {
  BatchRow at{split_batches_.at(split), item};
  while (at.batch < split_batches_[split + 1] && at.row >= batches_[at.batch].rows) {
    at.row -= batches_[at.batch++].rows;
  }
  if (at.batch < split_batches_[split + 1]) return at;
  throw Error(ErrorKind::kInvalidArgument,
              format("split {} has no item {}", splits_[split].name, item));
}

std::string CifarSource::ItemName(size_t split, uint64_t item) const {
  const BatchRow at = Locate(split, item);
  return format("{} row {}", batches_[at.batch].name, at.row);
}

void CifarSource::CheckLabel(const CifarBatch& batch, uint64_t row, int64_t label,
                             int64_t count) const {
  if (label >= 0 && label < count) return;
  throw Error(ErrorKind::kCorrupt, format("label {} is not one of 0 to {}", label, count - 1),
              {.path = batch.file->path(), .ordinal = row}, "fetch the archive again");
}

ItemLabels CifarSource::ReadLabels(const CifarBatch& batch, uint64_t row,
                                   ByteView row_bytes) const {
  ItemLabels labels;
  if (layout_.binary) {
    labels.fine = row_bytes[batch.row_bytes - kCifarPixels - 1];
    if (batch.row_bytes == kCifarPixels + 2) labels.coarse = row_bytes[0];
  } else {
    labels.fine = batch.labels[row];
    if (!batch.coarse_labels.empty()) labels.coarse = batch.coarse_labels[row];
  }
  CheckLabel(batch, row, labels.fine, fine_count_);
  if (labels.coarse) CheckLabel(batch, row, *labels.coarse, coarse_count_);
  return labels;
}

std::unique_ptr<ItemReader> CifarSource::NewReader() const {
  return std::make_unique<CifarReader>(*this);
}

}  // namespace

std::unique_ptr<Source> OpenCifar(const CifarOptions& options) {
  FileSystem& files = options.files != nullptr ? *options.files : PosixFiles();
  return std::make_unique<CifarSource>(options,
                                       OpenCifarFiles(files, options.path, options.dataset));
}

}  // namespace recpack::pack
