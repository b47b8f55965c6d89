#include "src/stand_in/cifar.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/folders.h"
#include "src/base/format.h"
#include "src/stand_in/picture.h"

namespace recpack::stand_in {
namespace {

constexpr uint64_t kMaxRows = 500000;    // a protocol 2 string is shorter than 2 GiB
constexpr size_t kItemsAnAppend = 1000;  // Python's batch size for writing lists
constexpr uint32_t kStream = 0x57414e44;

struct Batch {
  std::string name;
  std::string title;
};

// Writes opcodes of pickle protocol 2 as Python 2 does.
class PickleWriter {
 public:
  PickleWriter() { Raw("\x80\x02}("); }  // a dictionary

  // Appends a literal, which may contain zero bytes.
  template <size_t N>
  void Raw(const char (&opcodes)[N]) {
    Append({opcodes, N - 1});
  }

  void Text(std::string_view text) {  // SHORT_BINSTRING, below 256 bytes
    bytes_.push_back('U');
    bytes_.push_back(static_cast<uint8_t>(text.size()));
    Append(text);
  }

  void Number(uint32_t number) {  // BININT1, BININT2, BININT
    const size_t size = number < 256 ? 1 : number < 65536 ? 2 : 4;
    bytes_.push_back(size == 1 ? 'K' : size == 2 ? 'M' : 'J');
    Little(number, size);
  }

  void Little(uint32_t number, size_t size) {
    for (size_t i = 0; i < size; ++i) bytes_.push_back(static_cast<uint8_t>(number >> (8 * i)));
  }

  template <typename Items, typename WriteItem>
  void List(const Items& items, WriteItem write) {
    Raw("]");
    for (size_t i = 0; i < items.size(); ++i) {
      if (i % kItemsAnAppend == 0) Raw("(");
      write(items[i]);
      if (i % kItemsAnAppend == kItemsAnAppend - 1 || i + 1 == items.size()) Raw("e");
    }
  }

  // Appends a numpy.ndarray of uint8 and returns room for its rows * 3072 bytes, valid until the
  // next call.
  std::span<uint8_t> Pixels(uint32_t rows) {
    Raw("cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85U\1b\x87R(K\1");
    Number(rows);
    Number(kPixels);
    Raw("\x86"
        "cnumpy\ndtype\nU\2u1K\0K\1\x87R(K\3U\1|NNN");
    Raw("J\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89T");
    const size_t size = size_t{rows} * kPixels;
    Little(static_cast<uint32_t>(size), 4);
    bytes_.resize(bytes_.size() + size);
    return std::span(bytes_).last(size);
  }

  const ByteBuffer& Finish() {
    Raw("u.");
    return bytes_;
  }

 private:
  void Append(std::string_view text) { bytes_.insert(bytes_.end(), text.begin(), text.end()); }

  ByteBuffer bytes_;
};

ByteBuffer MetaPickle(uint32_t rows) {
  PickleWriter pickle;
  pickle.Text("num_cases_per_batch");
  pickle.Number(rows);
  pickle.Text("label_names");
  pickle.List(std::span(kClasses), [&](std::string_view name) { pickle.Text(name); });
  pickle.Text("num_vis");
  pickle.Number(kPixels);
  return pickle.Finish();
}

ByteBuffer BatchPickle(const std::string& title, uint64_t first_row, uint32_t rows, uint64_t seed) {
  std::vector<uint32_t> labels(rows);
  std::vector<std::string> names(rows);
  PickleWriter pickle;
  pickle.Text("data");
  const auto pixels = pickle.Pixels(rows);
  for (uint32_t row = 0; row < rows; ++row) {
    KeyedRandom random(seed, kStream, first_row + row);
    labels[row] = random.NextBelow(std::size(kClasses));
    names[row] = format("{}_s_{:06}.png", kClasses[labels[row]], first_row + row);
    DrawPicture(labels[row], random, pixels.subspan(row * kPixels).first<kPixels>());
  }
  pickle.Raw("tb");
  pickle.Text("labels");
  pickle.List(labels, [&](uint32_t label) { pickle.Number(label); });
  pickle.Text("batch_label");
  pickle.Text(title);
  pickle.Text("filenames");
  pickle.List(names, [&](const std::string& name) { pickle.Text(name); });
  return pickle.Finish();
}

std::vector<Batch> Batches() {
  std::vector<Batch> batches;
  for (int i = 1; i <= 5; ++i) {
    batches.push_back({format("data_batch_{}", i), format("training batch {} of 5", i)});
  }
  batches.push_back({"test_batch", "testing batch 1 of 1"});
  return batches;
}

void CheckNothingIsThere(FileSystem& files, const std::string& folder) {
  std::vector<std::string> names = {"batches.meta"};
  for (const Batch& batch : Batches()) names.push_back(batch.name);
  for (const std::string& name : names) {
    if (!files.Exists(folder + "/" + name)) continue;
    throw Error(ErrorKind::kInvalidArgument, format("already holds {}", name), {.path = folder},
                "give an empty folder for the stand-in");
  }
}

}  // namespace

void WriteCifar(const std::string& folder, const CifarOptions& options) {
  FileSystem& files = options.files != nullptr ? *options.files : PosixFiles();
  if (options.rows_per_batch == 0 || options.rows_per_batch > kMaxRows) {
    throw Error(ErrorKind::kInvalidArgument,
                format("invalid number of rows per batch: {}", options.rows_per_batch), {},
                format("give a number from 1 to {}", kMaxRows));
  }
  CheckNothingIsThere(files, folder);
  MakeFolder(folder);
  const auto rows = static_cast<uint32_t>(options.rows_per_batch);
  uint64_t first_row = 0;
  for (const Batch& batch : Batches()) {
    WriteFileAtomically(files, folder + "/" + batch.name,
                        BatchPickle(batch.title, first_row, rows, options.seed), false);
    first_row += rows;
  }
  WriteFileAtomically(files, folder + "/batches.meta", MetaPickle(rows), false);
}

}  // namespace recpack::stand_in
