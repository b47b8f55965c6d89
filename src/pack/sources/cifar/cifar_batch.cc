#include "src/pack/sources/cifar/cifar_batch.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::pack {
namespace {

constexpr uint64_t kMaxMetaBytes = uint64_t{1} << 20;

PickleDocument Parse(const CifarFile& file) {
  if (!file.memory.empty()) return ParsePickle({.memory = file.memory, .path = file.file->path()});
  return ParsePickle({.file = file.file.get(), .path = file.file->path()});
}

[[noreturn]] void Refuse(const CifarFile& file, ErrorKind kind, const std::string& reason,
                         const std::string& advice, std::optional<uint64_t> offset = {}) {
  throw Error(kind, reason, {.path = file.file->path(), .offset = offset}, advice);
}

const PickleValue& Entry(const CifarFile& file, const PickleDocument& document,
                         std::string_view key) {
  const PickleValue* value = document.Find(document.root(), key);
  if (value != nullptr) return *value;
  Refuse(file, ErrorKind::kCorrupt, format("is a pickle without the entry \"{}\"", key),
         "a CIFAR batch is a dictionary of data and labels");
}

bool IsImageShape(const std::vector<uint64_t>& shape) {
  using Shape = std::vector<uint64_t>;
  return !shape.empty() && (Shape(shape.begin() + 1, shape.end()) == Shape{kCifarPixels} ||
                            Shape(shape.begin() + 1, shape.end()) == Shape{3, 32, 32});
}

std::string ShapeText(const std::vector<uint64_t>& shape) {
  std::string text;
  for (const uint64_t extent : shape) text += format("{}{}", text.empty() ? "" : ", ", extent);
  return text;
}

// If at most one extent exceeds 1, all orders are the same.
bool IsInCOrder(const PickleArray& array) {
  return array.c_order ||
         std::ranges::count_if(array.shape, [](uint64_t extent) { return extent > 1; }) <= 1;
}

const PickleArray& PixelArray(const CifarFile& file, const PickleDocument& document) {
  const PickleValue& data = Entry(file, document, "data");
  const char* save = "save it as a C-ordered uint8 array of shape (rows, 3072)";
  if (data.kind != PickleKind::kArray) {
    Refuse(file, ErrorKind::kUnsupported, "its data is not a NumPy array", save, data.offset);
  }
  const PickleArray& array = document.Array(data);
  if (array.type != "u1") {
    Refuse(file, ErrorKind::kUnsupported,
           format("its data is of the NumPy type \"{}\", not uint8", array.type), save,
           data.offset);
  }
  if (!IsInCOrder(array)) {
    Refuse(file, ErrorKind::kUnsupported, "its data is not in C order (such as a transposed array)",
           save, data.offset);
  }
  if (!IsImageShape(array.shape)) {
    Refuse(file, ErrorKind::kUnsupported,
           format("its data has the shape ({}), not (rows, 3072)", ShapeText(array.shape)), save,
           data.offset);
  }
  return array;
}

// Reads item `i`; items have `size` bytes.
int64_t Integer(const PickleArray& array, ByteView bytes, uint64_t size, uint64_t i) {
  const ByteView item = bytes.subspan(i * size, size);
  const uint8_t most = item[array.big_endian ? 0 : size - 1];
  uint64_t value = array.type[0] == 'i' && most >= 0x80 ? ~uint64_t{0} : 0;
  for (uint64_t k = 0; k < size; ++k) {
    value = value << 8 | item[array.big_endian ? k : size - 1 - k];
  }
  return static_cast<int64_t>(value);
}

std::vector<int64_t> ArrayLabels(const CifarFile& file, const PickleArray& array,
                                 std::string_view key) {
  constexpr std::string_view kIntegers = "i1i2i4i8u1u2u4u8";
  if (array.type.size() != 2 || kIntegers.find(array.type) % 2 != 0 || array.shape.size() != 1) {
    Refuse(file, ErrorKind::kUnsupported,
           format("\"{}\" is not a list or one-dimensional array of integers", key),
           "save them as a list of int");
  }
  const auto size = static_cast<uint64_t>(array.type[1] - '0');
  ByteView bytes(array.data.data, array.data.size);
  ByteBuffer loaded;
  if (array.data.data == nullptr) {
    loaded.resize(array.data.size);
    loaded.resize(file.file->ReadAt(array.data.offset, loaded));
    bytes = loaded;
  }
  std::vector<int64_t> labels(bytes.size() / size);
  for (uint64_t i = 0; i < labels.size(); ++i) labels[i] = Integer(array, bytes, size, i);
  return labels;
}

std::vector<int64_t> ListLabels(const CifarFile& file, std::span<const PickleValue> items,
                                std::string_view key) {
  std::vector<int64_t> labels;
  labels.reserve(items.size());
  for (const PickleValue& item : items) {
    if (item.kind != PickleKind::kInt) {
      Refuse(file, ErrorKind::kCorrupt, format("\"{}\" holds something other than integers", key),
             "", item.offset);
    }
    labels.push_back(item.number);
  }
  return labels;
}

std::vector<int64_t> Labels(const CifarFile& file, const PickleDocument& document,
                            std::string_view key, uint64_t rows) {
  const PickleValue& value = Entry(file, document, key);
  auto labels = value.kind == PickleKind::kArray ? ArrayLabels(file, document.Array(value), key)
                                                 : ListLabels(file, document.Items(value), key);
  if (labels.size() == rows) return labels;
  Refuse(file, ErrorKind::kCorrupt,
         format("has {} images but {} entries in \"{}\"", rows, labels.size(), key),
         "fetch the archive again", value.offset);
}

CifarBatch StartBatch(const CifarFile& file) {
  CifarBatch batch;
  batch.name = file.name;
  batch.file = file.file;
  batch.file_bytes = file.file->Size();
  batch.memory = file.memory;
  return batch;
}

std::vector<std::string> Names(const CifarFile& file, const PickleDocument& document,
                               std::string_view key) {
  std::vector<std::string> names;
  for (const PickleValue& item : document.Items(Entry(file, document, key))) {
    if ((item.kind != PickleKind::kText && item.kind != PickleKind::kBytes) || !item.data) {
      Refuse(file, ErrorKind::kCorrupt, format("\"{}\" holds something other than text", key), "",
             item.offset);
    }
    names.emplace_back(AsText({item.data, item.size}));
  }
  return names;
}

std::vector<std::string> Lines(const CifarFile& file) {
  if (file.file->Size() > kMaxMetaBytes) {
    Refuse(file, ErrorKind::kCorrupt, "is too long for a list of class names", "");
  }
  ByteBuffer bytes(file.file->Size());
  bytes.resize(file.file->ReadAt(0, bytes));
  std::vector<std::string> lines;
  std::string_view text = AsText(bytes);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

CifarBatch OpenPickleBatch(const CifarFile& file, CifarDataset dataset) {
  CifarBatch batch = StartBatch(file);
  PickleDocument document = Parse(file);
  const PickleArray& pixels = PixelArray(file, document);
  batch.rows = pixels.shape[0];
  const bool fine = dataset == CifarDataset::kCifar100;
  batch.labels = Labels(file, document, fine ? "fine_labels" : "labels", batch.rows);
  if (fine) batch.coarse_labels = Labels(file, document, "coarse_labels", batch.rows);
  if (pixels.data.in_input) {
    batch.first_row = pixels.data.offset;
  } else {
    batch.memory = {pixels.data.data, pixels.data.size};
    batch.document = std::make_shared<PickleDocument>(std::move(document));
  }
  return batch;
}

CifarBatch OpenBinaryBatch(const CifarFile& file, CifarDataset dataset) {
  CifarBatch batch = StartBatch(file);
  batch.row_bytes = kCifarPixels + (dataset == CifarDataset::kCifar100 ? 2 : 1);
  batch.rows = batch.file_bytes / batch.row_bytes;
  if (batch.file_bytes % batch.row_bytes == 0) return batch;
  Refuse(file, ErrorKind::kCorrupt,
         format("is {} bytes long, which is not a multiple of the row size, {}", batch.file_bytes,
                batch.row_bytes),
         "it is truncated or not a CIFAR batch: fetch the archive again",
         batch.rows * batch.row_bytes);
}

CifarClasses ReadCifarClasses(const CifarFiles& files) {
  CifarClasses classes;
  const bool fine = files.layout->dataset == CifarDataset::kCifar100;
  for (const CifarFile& file : files.meta) {
    if (files.layout->binary) {
      (file.name.starts_with("coarse") ? classes.coarse : classes.fine) = Lines(file);
      continue;
    }
    const PickleDocument document = Parse(file);
    classes.fine = Names(file, document, fine ? "fine_label_names" : "label_names");
    if (fine) classes.coarse = Names(file, document, "coarse_label_names");
  }
  return classes;
}

}  // namespace recpack::pack
