#include "src/pack/sources/cifar/cifar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "recpack/base/error.h"
#include "tests/base/error_of.h"
#include "tests/base/temporary_folder.h"
#include "tests/golden.h"

namespace recpack::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
namespace fs = std::filesystem;

const std::string kGolden = GoldenPath("cifar10/");
const std::string kPy = kGolden + "cifar-10-batches-py";
const std::string kBin = kGolden + "cifar-10-batches-bin";
const std::string kArchive = kGolden + "cifar-10-python.tar.gz";
constexpr uint64_t kRows = 16;  // per batch

ByteBuffer FileContents(const std::string& path) { return ReadWholeFile(PosixFiles(), path); }

void Write(const std::string& path, ByteView bytes) {
  WriteFileAtomically(PosixFiles(), path, bytes, false);
}

ByteBuffer Serialised(ExampleBuilder& example) {
  ByteBuffer bytes(example.ByteSize());
  example.SerializeTo(bytes.data());
  return bytes;
}

struct Item {
  ByteBuffer record;
  int64_t label = -1;
  bool operator==(const Item&) const = default;
};

Item Read(ItemReader& reader, size_t split, uint64_t item) {
  Sample sample;
  reader.Read(split, item, sample);
  return {Serialised(sample.features), sample.label};
}

std::vector<Item> ReadAll(const Source& source) {
  std::vector<Item> items;
  const auto reader = source.NewReader();
  for (size_t split = 0; split < source.splits().size(); ++split) {
    for (uint64_t i = 0; i < source.splits()[split].items; ++i) {
      items.push_back(Read(*reader, split, i));
    }
  }
  return items;
}

// Converts a row of the binary version to an item.
Item ItemOfRow(ByteView row) {
  ExampleBuilder example;
  example.AddBytes("image", row.last(3072));
  example.AddInt64("label", row[0]);
  return {Serialised(example), row[0]};
}

std::vector<Item> ItemsOfBinary() {
  std::vector<Item> items;
  for (const char* name : {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4",
                           "data_batch_5", "test_batch"}) {
    const ByteBuffer bytes = FileContents(kBin + "/" + name + ".bin");
    for (size_t at = 0; at < bytes.size(); at += 3073) {
      items.push_back(ItemOfRow(ByteView(bytes).subspan(at, 3073)));
    }
  }
  return items;
}

Error OpenError(const std::string& path, const std::string& splits = "") {
  return ErrorOf([&] { OpenCifar({.path = path, .splits = splits}); });
}

// A copy of the Python folder, so that its files can be changed.
class CifarFolder {
 public:
  explicit CifarFolder(const std::string& from = kPy) { fs::copy(from, path()); }
  std::string path() const { return folder_ / "copy"; }
  std::string operator/(const std::string& name) const { return path() + "/" + name; }

 private:
  TemporaryFolder folder_;
};

ByteBuffer GoldenPickle(const std::string& name) {
  return FileContents(GoldenPath("pickle/" + name + ".pickle"));
}

// Opens a folder whose second batch is the named pickle.
Error ErrorWithBatch(const std::string& pickle) {
  const CifarFolder folder;
  Write(folder / "data_batch_2", GoldenPickle(pickle));
  const Error error = OpenError(folder.path());
  EXPECT_EQ(error.place().path, folder / "data_batch_2");
  return error;
}

// ---------------------------------------------------------------------------------------------

TEST(CifarTest, EveryFormHoldsTheSameRowsBitForBit) {
  const auto expected = ItemsOfBinary();
  ASSERT_EQ(expected.size(), 6 * kRows);
  for (const std::string& path : {kPy, kBin, kArchive, kGolden}) {
    EXPECT_EQ(ReadAll(*OpenCifar({.path = path})), expected) << path;
  }
}

TEST(CifarTest, SplitsAreThoseOfTheConversionScriptByDefault) {
  const auto source = OpenCifar({.path = kPy});
  ASSERT_THAT(source->splits(), SizeIs(3));
  EXPECT_EQ(source->splits()[0].name, "train");
  EXPECT_EQ(source->splits()[0].items, 4 * kRows);
  EXPECT_EQ(source->splits()[1].name, "validation");
  EXPECT_EQ(source->splits()[1].items, kRows);
  EXPECT_EQ(source->splits()[2].name, "eval");
  EXPECT_EQ(source->splits()[2].items, kRows);
  EXPECT_EQ(source->kind(), "cifar10");
  EXPECT_FALSE(source->sorted_by_class());
}

TEST(CifarTest, TwoSplitsTakeAllTrainingBatches) {
  const auto source = OpenCifar({.path = kBin, .splits = "train,test"});
  ASSERT_THAT(source->splits(), SizeIs(2));
  EXPECT_EQ(source->splits()[0].items, 5 * kRows);
  EXPECT_EQ(source->splits()[1].name, "test");
  EXPECT_EQ(ReadAll(*source), ItemsOfBinary());
}

TEST(CifarTest, SplitsThatCannotBeAreRefused) {
  for (const char* splits : {"train", "a,b,c,d", "train,train", "train,", "a/b,c"}) {
    EXPECT_EQ(OpenError(kPy, splits).kind(), ErrorKind::kInvalidArgument) << splits;
  }
}

TEST(CifarTest, ClassNamesAreThoseOfTheMetaFile) {
  for (const std::string& path : {kPy, kBin, kArchive}) {
    EXPECT_THAT(OpenCifar({.path = path})->class_names(),
                ElementsAre("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse",
                            "ship", "truck"));
  }
}

TEST(CifarTest, WithoutAMetaFileThereAreNoClassNames) {
  const CifarFolder folder;
  fs::remove(folder / "batches.meta");
  const auto source = OpenCifar({.path = folder.path()});
  EXPECT_THAT(source->class_names(), SizeIs(0));
  EXPECT_EQ(ReadAll(*source), ItemsOfBinary());
}

TEST(CifarTest, ItemsAreNamedByBatchAndRow) {
  const auto source = OpenCifar({.path = kPy});
  EXPECT_EQ(source->ItemName(0, 2 * kRows + 7), "data_batch_3 row 7");
  EXPECT_EQ(source->ItemName(2, 0), "test_batch row 0");
}

TEST(CifarTest, ItemBytesAreThoseOfTheRecords) {
  const auto source = OpenCifar({.path = kPy});
  for (const Item& item : ReadAll(*source)) EXPECT_EQ(item.record.size(), source->ItemBytes(0, 0));
}

TEST(CifarTest, AnItemBeyondTheSplitIsRefusedAndTheReaderGoesOn) {
  const auto source = OpenCifar({.path = kPy});
  const auto reader = source->NewReader();
  EXPECT_EQ(ErrorOf([&] { Read(*reader, 1, kRows); }).kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(Read(*reader, 1, kRows - 1), ItemsOfBinary()[5 * kRows - 1]);
}

TEST(CifarTest, RowsComeInAnyOrder) {
  const auto expected = ItemsOfBinary();
  const auto source = OpenCifar({.path = kPy, .splits = "train,test"});
  const auto reader = source->NewReader();
  for (uint64_t i = 0; i < 400; ++i) {
    const uint64_t item = i * 37 % (5 * kRows);
    ASSERT_EQ(Read(*reader, 0, item), expected[item]) << item;
    const uint64_t next = (item + 1) % (5 * kRows);
    ASSERT_EQ(Read(*reader, 0, next), expected[next]) << next;
  }
}

TEST(CifarTest, ReadersOfSeveralThreadsDoNotDisturbEachOther) {
  const auto expected = ItemsOfBinary();
  for (const std::string& path : {kPy, kArchive}) {
    const auto source = OpenCifar({.path = path});
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] { EXPECT_EQ(ReadAll(*source), expected); });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(CifarTest, TheFingerprintFollowsNamesAndSizes) {
  const CifarFolder folder;
  const std::string before = OpenCifar({.path = folder.path()})->Fingerprint();
  EXPECT_THAT(before, SizeIs(64));
  EXPECT_EQ(before, OpenCifar({.path = kPy})->Fingerprint());
  EXPECT_EQ(before, OpenCifar({.path = kArchive})->Fingerprint());
  EXPECT_NE(before, OpenCifar({.path = kPy, .splits = "train,test"})->Fingerprint());
  Write(folder / "data_batch_4", GoldenPickle("np2_protocol5"));
  EXPECT_NE(before, OpenCifar({.path = folder.path()})->Fingerprint());
}

TEST(CifarTest, BatchesMayBeOfAnyProtocolAndNumberOfRows) {
  for (const char* pickle :
       {"py27_protocol0", "np1_protocol2", "np2_protocol3", "np2_protocol5", "ordered", "data_4d",
        "labels_int64", "labels_big_endian", "labels_uint8", "labels_scalars"}) {
    const CifarFolder folder;
    Write(folder / "data_batch_2", GoldenPickle(pickle));
    const auto source = OpenCifar({.path = folder.path()});
    EXPECT_EQ(source->splits()[0].items, 3 * kRows + 2);
    ByteBuffer row(3073);
    row[0] = 9;
    for (int j = 0; j < 3072; ++j) row[1 + j] = static_cast<uint8_t>(31 + 7 * j);
    EXPECT_EQ(Read(*source->NewReader(), 0, kRows + 1), ItemOfRow(row)) << pickle;
    EXPECT_EQ(source->ItemName(0, kRows + 2), "data_batch_3 row 0");
  }
}

TEST(CifarTest, TheLabelsOfLargeBatchesAreReadWhereverTheyStand) {
  const TemporaryFolder folder;          // an array of labels longer than kPickleBulkBytes
  const std::string rows = "M\x10\x27";  // 10,000
  std::string labels(80000, '\0'), pixels(30720000, '\x5a');
  for (size_t i = 0; i < 10000; ++i) labels[8 * i] = static_cast<char>(i % 10);
  const auto array = [](const std::string& shape, const std::string& type,
                        const std::string& data) {
    std::string size(4, '\0');
    StoreLittleEndian(reinterpret_cast<uint8_t*>(size.data()), static_cast<uint32_t>(data.size()));
    return "cnumpy.core.multiarray\n_reconstruct\n)R(K\1" + shape + "cnumpy\ndtype\nU\2" + type +
           "\x85R\x89T" + size + data + "tb";
  };
  const std::string batch = "}(U\6labels" + array(rows + "\x85", "i8", labels) + "U\4data" +
                            array(rows + std::string("M\0\x0c\x86", 4), "u1", pixels) + "u.";
  for (int i = 1; i <= 6; ++i) {
    const std::string name = i < 6 ? "data_batch_" + std::to_string(i) : "test_batch";
    if (i == 1) Write(folder / name, AsBytes(batch));
    if (i > 1) fs::create_hard_link(folder / "data_batch_1", folder / name);
  }
  const auto source = OpenCifar({.path = folder.path()});
  EXPECT_EQ(source->splits()[0].items, 40000u);
  const auto reader = source->NewReader();
  EXPECT_EQ(Read(*reader, 0, 19997).label, 7);
  EXPECT_EQ(Read(*reader, 0, 19998).label, 8);
}

// CIFAR-100 -----------------------------------------------------------------------------------

Item Cifar100Item(uint8_t coarse, uint8_t fine, ByteView pixels) {
  ExampleBuilder example;
  example.AddBytes("image", pixels);
  example.AddInt64("label", fine);
  example.AddInt64("coarse_label", coarse);
  return {Serialised(example), fine};
}

TEST(CifarTest, Cifar100HasFineAndCoarseLabels) {
  const TemporaryFolder folder;
  Write(folder / "train", GoldenPickle("cifar100"));
  Write(folder / "test", GoldenPickle("cifar100"));
  Write(folder / "meta", AsBytes("}(U\x10"
                                 "fine_label_names](" +
                                 [] {
                                   std::string names;
                                   for (int i = 0; i < 100; ++i) names += "U\1x";
                                   return names;
                                 }() +
                                 "eU\x12"
                                 "coarse_label_names]("
                                 "U\1a"
                                 "U\1b"
                                 "U\1c"
                                 "U\1d"
                                 "U\1e"
                                 "eu."));
  const auto source = OpenCifar({.path = folder.path()});
  EXPECT_EQ(source->kind(), "cifar100");
  EXPECT_THAT(source->class_names(), SizeIs(100));
  ASSERT_THAT(source->splits(), SizeIs(2));
  EXPECT_EQ(source->splits()[1].name, "eval");
  ByteBuffer pixels(3072);
  for (int j = 0; j < 3072; ++j) pixels[j] = static_cast<uint8_t>(31 + 7 * j);
  const auto reader = source->NewReader();
  EXPECT_EQ(Read(*reader, 0, 1), Cifar100Item(4, 3, pixels));
  // Row 0 has the coarse label 19, but the meta file names only 5.
  const Error error = ErrorOf([&] { Read(*reader, 0, 0); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(error.what(), HasSubstr("label 19 is not one of 0 to 4"));
}

TEST(CifarTest, Cifar100BinaryRowsBeginWithTheCoarseLabel) {
  const TemporaryFolder folder;
  ByteBuffer row(3074, 0x42);
  row[0] = 4;
  row[1] = 77;
  Write(folder / "train.bin", row);
  Write(folder / "test.bin", row);
  Write(folder / "fine_label_names.txt", AsBytes(""));
  const auto source = OpenCifar({.path = folder.path(), .splits = "train,test"});
  EXPECT_EQ(Read(*source->NewReader(), 1, 0), Cifar100Item(4, 77, ByteView(row).last(3072)));
  EXPECT_EQ(OpenError(folder.path(), "a,b,c").kind(), ErrorKind::kInvalidArgument);
  row.push_back(0);
  Write(folder / "test.bin", row);
  EXPECT_EQ(OpenError(folder.path()).kind(), ErrorKind::kCorrupt);
}

// Recognition ---------------------------------------------------------------------------------

TEST(CifarTest, IsRecognisedByItsNames) {
  for (const std::string& path : {kPy, kBin, kArchive, kGolden}) {
    EXPECT_TRUE(LooksLikeCifar(path)) << path;
  }
}

TEST(CifarTest, OtherThingsAreNotTakenForCifar) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "train/cat");
  fs::create_directories(folder / "test/cat");
  Write(folder / "train/cat/1.jpg", AsBytes("x"));
  for (const std::string& path :
       {folder.path(), folder / "train/cat/1.jpg", folder / "missing", kPy + "/data_batch_1"}) {
    EXPECT_FALSE(LooksLikeCifar(path)) << path;
  }
  EXPECT_EQ(OpenError(folder.path()).kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(OpenError(folder / "train/cat/1.jpg").kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(OpenError(folder / "missing").kind(), ErrorKind::kNotFound);
}

TEST(CifarTest, TheOtherDataSetThanWasAskedForIsNotTaken) {
  const Error error = ErrorOf([] { OpenCifar({.path = kPy, .dataset = CifarDataset::kCifar100}); });
  EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
}

// Damage --------------------------------------------------------------------------------------

TEST(CifarTest, AMissingBatchIsNamed) {
  const CifarFolder folder;
  fs::remove(folder / "data_batch_4");
  const Error error = OpenError(folder.path());
  EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
  EXPECT_THAT(error.what(), HasSubstr("data_batch_4 is missing"));
}

TEST(CifarTest, ALabelOutOfRangeIsFoundAtItsRow) {
  for (const char* pickle : {"labels_ten", "labels_negative"}) {
    const CifarFolder folder;
    Write(folder / "data_batch_2", GoldenPickle(pickle));
    const auto reader_of = OpenCifar({.path = folder.path()});
    const auto reader = reader_of->NewReader();
    EXPECT_EQ(Read(*reader, 0, kRows).label, 6);
    const Error error = ErrorOf([&] { Read(*reader, 0, kRows + 1); });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    EXPECT_EQ(error.place().path, folder / "data_batch_2");
    EXPECT_EQ(error.place().ordinal, 1u);
    EXPECT_EQ(Read(*reader, 0, kRows + 2), ItemsOfBinary()[2 * kRows]);
  }
}

TEST(CifarTest, ALabelOutOfRangeInABinaryRowIsFound) {
  const CifarFolder folder(kBin);
  ByteBuffer bytes = FileContents(folder / "test_batch.bin");
  bytes[3 * 3073] = 10;
  Write(folder / "test_batch.bin", bytes);
  const auto source = OpenCifar({.path = folder.path()});
  const auto reader = source->NewReader();
  const Error error = ErrorOf([&] { Read(*reader, 2, 3); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(error.place().ordinal, 3u);
}

TEST(CifarTest, AnotherNumberOfLabelsThanRowsIsCorrupt) {
  const Error error = ErrorWithBatch("labels_three");
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(error.what(), HasSubstr("2 images but 3 entries"));
}

TEST(CifarTest, LabelsThatAreNoIntegersAreCorrupt) {
  EXPECT_EQ(ErrorWithBatch("labels_floats").kind(), ErrorKind::kCorrupt);
}

TEST(CifarTest, APickleWithoutDataIsCorrupt) {
  EXPECT_THAT(ErrorWithBatch("no_data").what(), HasSubstr("without the entry \"data\""));
}

TEST(CifarTest, ArraysOfOtherKindsAreRefusedWithTheReason) {
  const std::pair<const char*, const char*> kCases[] = {
      {"data_fortran", "not in C order"},     {"data_fortran_5", "not in C order"},
      {"data_fortran_one", "not in C order"}, {"data_swapped_5", "not in C order"},
      {"data_float", "\"f4\", not uint8"},    {"data_channels_last", "shape (2, 32, 32, 3)"},
      {"data_list", "is not a NumPy array"},  {"command", "which is not executed"}};
  for (const auto& [pickle, reason] : kCases) {
    const Error error = ErrorWithBatch(pickle);
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported) << pickle;
    EXPECT_THAT(error.what(), HasSubstr(reason)) << pickle;
  }
}

TEST(CifarTest, ARowAloneIsTheSameInEveryOrder) {
  const CifarFolder folder;
  Write(folder / "data_batch_2", GoldenPickle("data_row_fortran"));
  const auto source = OpenCifar({.path = folder.path()});
  EXPECT_EQ(source->splits()[0].items, 3 * kRows + 1);
  ByteBuffer row(3073);
  row[0] = 6;
  for (int j = 0; j < 3072; ++j) row[1 + j] = static_cast<uint8_t>(7 * j);
  EXPECT_EQ(Read(*source->NewReader(), 0, kRows), ItemOfRow(row));
}

TEST(CifarTest, ATruncatedPickleIsCorrupt) {
  const CifarFolder folder;
  ByteBuffer bytes = FileContents(folder / "data_batch_3");
  for (const size_t size : {size_t{0}, size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
    Write(folder / "data_batch_3", ByteView(bytes).first(size));
    EXPECT_EQ(OpenError(folder.path()).kind(), ErrorKind::kCorrupt) << size;
  }
}

TEST(CifarTest, ABinaryFileOfPartOfARowIsCorrupt) {
  const CifarFolder folder(kBin);
  ByteBuffer bytes = FileContents(folder / "data_batch_1.bin");
  bytes.pop_back();
  Write(folder / "data_batch_1.bin", bytes);
  const Error error = OpenError(folder.path());
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(error.what(), HasSubstr("not a multiple of the row size, 3073"));
}

TEST(CifarTest, AFileThatChangesWhileItIsReadIsAnError) {
  for (const int64_t change : {-5000, 1}) {
    const CifarFolder folder(kBin);
    const auto source = OpenCifar({.path = folder.path()});
    const auto reader = source->NewReader();
    Read(*reader, 0, 0);
    const std::string path = folder / "data_batch_2.bin";
    fs::resize_file(path, fs::file_size(path) + change);
    const Error error = ErrorOf([&] { Read(*reader, 0, kRows); });
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_EQ(error.place().path, path);
    EXPECT_EQ(Read(*reader, 0, 1), ItemsOfBinary()[1]);
  }
}

TEST(CifarTest, ATruncatedArchiveIsCorruptWhereverItEnds) {
  const TemporaryFolder folder;
  const ByteBuffer bytes = FileContents(kArchive);
  for (size_t cut = 1; cut < bytes.size(); cut += cut < 40 ? 1 : 9973) {
    Write(folder / "a.tar.gz", ByteView(bytes).first(bytes.size() - cut));
    const Error error = OpenError(folder / "a.tar.gz");
    EXPECT_TRUE(error.kind() == ErrorKind::kCorrupt ||
                (bytes.size() - cut < 2 && error.kind() == ErrorKind::kInvalidArgument))
        << cut << ": " << error.what();
  }
}

TEST(CifarTest, AFlippedBitInAnArchiveIsCorrupt) {
  const TemporaryFolder folder;
  for (size_t at = 3000; at < FileContents(kArchive).size(); at += 17011) {
    ByteBuffer bytes = FileContents(kArchive);
    bytes[at] ^= 0x10;
    Write(folder / "a.tar.gz", bytes);
    EXPECT_EQ(OpenError(folder / "a.tar.gz").kind(), ErrorKind::kCorrupt) << at;
  }
}

TEST(CifarTest, AGzipFileThatHoldsNoTarIsRefused) {
  const TemporaryFolder folder;
  const std::string empty("\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0", 20);
  const std::string hello(
      "\x1f\x8b\x08\0\0\0\0\0\0\x03\xcbH\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0", 25);
  for (const std::string& bytes : {empty, hello}) {
    Write(folder / "a.gz", AsBytes(bytes));
    const Error error = OpenError(folder / "a.gz");
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument) << error.what();
    EXPECT_FALSE(LooksLikeCifar(folder / "a.gz"));
  }
}

}  // namespace
}  // namespace recpack::pack
