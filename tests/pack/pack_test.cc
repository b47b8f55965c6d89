#include "src/pack/job/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <map>
#include <mutex>

#include "recpack/base/error.h"
#include "recpack/base/file_lock.h"
#include "recpack/base/hash.h"
#include "recpack/record/index.h"
#include "recpack/record/reader.h"
#include "src/base/format.h"
#include "tests/base/faulty_files.h"
#include "tests/base/temporary_folder.h"
#include "tests/pack/fake_source.h"

namespace recpack::pack {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

FakeSource Source1() { return FakeSource({{"train", 1000}, {"test", 100}}); }

PackOptions Options(const TemporaryFolder& folder) {
  PackOptions options;
  options.out = folder / "out";
  options.plan.shard_bytes = 9000;
  options.plan.shuffle_seed = 1;
  options.writer.digest = true;
  options.sync = false;
  options.threads = 2;
  return options;
}

PackOptions Appending(const TemporaryFolder& folder) {
  PackOptions options = Options(folder);
  options.append = true;
  return options;
}

// SHA-256 of every visible file, by name.
std::map<std::string, std::string> Contents(const std::string& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) continue;
    Sha256 digest;
    digest.Update(ReadWholeFile(PosixFiles(), entry.path()));
    contents[entry.path().filename()] = Hex(digest.Finish());
  }
  return contents;
}

std::map<std::string, std::string> PackFresh(const Source& source, PackOptions options,
                                             const TemporaryFolder& folder,
                                             const std::string& name) {
  options.out = folder / name;
  Pack(source, options);
  return Contents(options.out);
}

std::string FailureOf(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing failed";
}

TEST(PackTest, WritesEveryItemOnceInShuffledOrderWithIndexAndManifest) {
  const TemporaryFolder folder;
  const PackResult result = Pack(Source1(), Options(folder));
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.records, 1100u);
  EXPECT_GT(result.shards, 8u);
  const Manifest manifest = ReadManifest(PosixFiles(), folder / "out");
  EXPECT_EQ(manifest.FindSplit("train")->records(), 1000u);
  EXPECT_EQ(manifest.FindSplit("test")->class_counts.at(1), 50u);
  EXPECT_EQ(manifest.class_names.size(), 2u);

  uint64_t records = 0;
  bool in_order = true;
  size_t last = 0;
  uint64_t shards = 0;
  VisitPackedShards(Options(folder), result.plan, [&](const ManifestShard& shard) {
    ++shards;
    EXPECT_TRUE(shard.sha256);
    RecordReader reader(PosixFiles().OpenForReading(folder / "out/" + shard.file), {});
    for (Record record; reader.Next(record); ++records) {
      in_order &= record.payload.size() >= last;
      last = record.payload.size();
    }
  });
  EXPECT_EQ(shards, result.shards);
  EXPECT_EQ(records, 1100u);
  EXPECT_FALSE(in_order);
  const Index index = Index::Open(folder / "out/train.recindex");
  EXPECT_EQ(index.record_count(), 1000u);
}

TEST(PackTest, WhatCannotBePlannedLeavesNothing) {
  const TemporaryFolder folder;
  PackOptions options = Options(folder);
  options.plan.shard_bytes = 0;
  EXPECT_THROW(Pack(FakeSource({{"train", 3}}), options), Error);
  EXPECT_THROW(Pack(FakeSource({{"train", 0}}), Options(folder)), Error);
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST(PackTest, BytesDoNotDependOnThreads) {
  const TemporaryFolder folder;
  PackOptions options = Options(folder);
  for (const auto compression : {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    options.writer.compression = compression;
    options.threads = 1;
    const std::string name = CompressionName(compression);
    const auto one = PackFresh(Source1(), options, folder, name + "1");
    options.threads = 4;
    EXPECT_EQ(one, PackFresh(Source1(), options, folder, name + "4"));
  }
}

TEST(PackTest, BytesOfOneShardDoNotDependOnThreads) {
  const TemporaryFolder folder;
  FakeSource source = Source1();
  source.take_work = true;
  PackOptions options = Options(folder);
  options.plan.shards = 1;
  options.writer.flush_interval = 3000;
  for (const auto compression : {Compression::kNone, Compression::kGzip}) {
    options.writer.compression = compression;
    options.threads = 1;
    const std::string name = CompressionName(compression);
    const auto one = PackFresh(source, options, folder, name + "1");
    for (const int threads : {2, 3, 7}) {
      options.threads = threads;
      EXPECT_EQ(one, PackFresh(source, options, folder, name + std::to_string(threads)));
    }
  }
}

TEST(PackTest, ThreadsOfOneShardFailAtItsFirstBadItem) {
  const TemporaryFolder folder;
  FakeSource source = Source1();
  source.take_work = true;
  source.before_read = [](size_t split, uint64_t item) {
    if (split == 0 && item % 50 == 7) {
      throw Error(ErrorKind::kCorrupt, "broken", {.path = "item " + std::to_string(item)});
    }
  };
  PackOptions options = Options(folder);
  options.plan.shards = 1;
  options.threads = 1;
  const std::string failure = FailureOf([&] { Pack(source, options); });
  EXPECT_THAT(failure, HasSubstr("broken"));
  for (int again = 0; again < 20; ++again) {
    options.threads = 6;
    EXPECT_EQ(FailureOf([&] { Pack(source, options); }), failure);
    EXPECT_FALSE(fs::exists(folder / "out/.recpack/train-00000-of-00001.tfrecord.tmp"));
  }
}

TEST(PackTest, ThreadsOfOneShardSkipWhatOneThreadSkips) {
  const TemporaryFolder folder;
  FakeSource source({{"train", 1000}});
  source.take_work = true;
  source.before_read = [](size_t, uint64_t item) {
    if (item % 50 == 7) throw Error(ErrorKind::kCorrupt, "broken " + std::to_string(item));
  };
  PackOptions options = Options(folder);
  options.plan.shards = 1;
  options.skip_bad_items = true;
  for (const double max_skip : {0.5, 0.01}) {
    options.max_skip = max_skip;
    options.threads = 1;
    options.out = folder / ("one" + std::to_string(max_skip));
    const PackResult one = Pack(source, options);
    EXPECT_EQ(one.complete, max_skip == 0.5);
    options.threads = 6;
    options.out = folder / ("six" + std::to_string(max_skip));
    const PackResult six = Pack(source, options);
    EXPECT_EQ(six.skip_limit_exceeded, one.skip_limit_exceeded);
    EXPECT_EQ(Contents(folder / ("six" + std::to_string(max_skip))),
              Contents(folder / ("one" + std::to_string(max_skip))));
    ASSERT_EQ(six.skipped.size(), one.skipped.size());
    for (size_t i = 0; i < one.skipped.size(); ++i) {
      EXPECT_EQ(six.skipped[i].item, one.skipped[i].item);
    }
  }
}

TEST(PackTest, TheSameCommandAgainFindsAllShards) {
  const TemporaryFolder folder;
  Pack(Source1(), Options(folder));
  const auto before = Contents(folder / "out");
  const PackResult again = Pack(Source1(), Options(folder));
  EXPECT_EQ(again.shards_found, again.shards);
  EXPECT_EQ(again.records, 1100u);
  EXPECT_EQ(Contents(folder / "out"), before);
}

TEST(PackTest, GoesOnAfterADiskThatWasFullAnywhere) {
  const TemporaryFolder folder;
  const auto whole = PackFresh(Source1(), Options(folder), folder, "whole");
  for (int64_t room = 0; room < 200'000; room += 7'919) {
    FaultyFiles files;
    files.room = room;
    PackOptions options = Options(folder);
    options.out = folder / std::to_string(room);
    options.files = &files;
    std::string failure = "nothing failed";
    try {
      Pack(Source1(), options);
    } catch (const Error& error) {
      failure = error.what();
      EXPECT_EQ(error.kind(), ErrorKind::kIo);
    }
    if (failure != "nothing failed") {
      EXPECT_THAT(failure, HasSubstr("No space left"));
      EXPECT_FALSE(fs::exists(options.out + "/manifest.json"));
    }
    for (const auto& entry : fs::recursive_directory_iterator(options.out)) {
      EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
    }
    files.room = INT64_MAX;
    Pack(Source1(), options);
    EXPECT_EQ(Contents(options.out), whole) << room;
  }
}

TEST(PackTest, AFailedRenameLeavesNoManifestAndCanBeRepeated) {
  const TemporaryFolder folder;
  FaultyFiles files;
  PackOptions options = Options(folder);
  options.files = &files;
  for (const char* name :
       {"manifest.json", "train.recindex", "plan.json", "train-00003-of-00012.tfrecord"}) {
    options.out = folder / name;
    files.unrenamable = name;
    EXPECT_THAT(FailureOf([&] { Pack(Source1(), options); }), HasSubstr(name));
    EXPECT_FALSE(fs::exists(options.out + "/manifest.json"));
    files.unrenamable = "\n";
    EXPECT_TRUE(Pack(Source1(), options).complete);
  }
}

TEST(PackTest, AFailedItemStopsTheJobAndNamesIt) {
  const TemporaryFolder folder;
  FakeSource source = Source1();
  source.before_read = [](size_t, uint64_t item) {
    if (item == 77) throw Error(ErrorKind::kCorrupt, "broken", {.path = "item 77"});
  };
  EXPECT_EQ(FailureOf([&] { Pack(source, Options(folder)); }),
            "item 77: broken; --on-error skip leaves out bad items");
  EXPECT_FALSE(fs::exists(folder / "out/manifest.json"));
  source.before_read = {};
  Pack(source, Options(folder));
  EXPECT_EQ(Contents(folder / "out"), PackFresh(Source1(), Options(folder), folder, "clean"));
}

TEST(PackTest, SkipsBadItemsWithinTheLimitAndListsThem) {
  const TemporaryFolder folder;
  FakeSource source = Source1();
  source.before_read = [](size_t split, uint64_t item) {
    if (split == 0 && item % 200 == 5) throw Error(ErrorKind::kCorrupt, "broken");
  };
  PackOptions options = Options(folder);
  options.skip_bad_items = true;
  options.max_skip = 0.004;  // 4 of 1100
  const PackResult failed = Pack(source, options);
  EXPECT_TRUE(failed.skip_limit_exceeded);
  EXPECT_FALSE(failed.complete);
  EXPECT_FALSE(fs::exists(folder / "out/manifest.json"));

  options.max_skip = 0.01;
  const PackResult result = Pack(source, options);
  EXPECT_FALSE(result.skip_limit_exceeded);
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.records, 1095u);
  ASSERT_EQ(result.skipped.size(), 5u);
  EXPECT_EQ(result.manifest.skipped.size(), 5u);
  EXPECT_EQ(result.skipped[0].reason, "broken");
}

TEST(PackTest, RefusesAShareThatIsNone) {
  const TemporaryFolder folder;
  PackOptions options = Options(folder);
  options.skip_bad_items = true;
  for (const double share : {-0.1, 1.1, double{INFINITY}, double{NAN}}) {
    options.max_skip = share;
    EXPECT_THAT(FailureOf([&] { Pack(Source1(), options); }),
                HasSubstr("invalid share of bad items"));
  }
  EXPECT_FALSE(fs::exists(options.out));
}

TEST(PackTest, RefusesChangedOptionsAndSources) {
  const TemporaryFolder folder;
  Pack(Source1(), Options(folder));
  PackOptions options = Options(folder);
  options.plan.shard_bytes = 8000;
  EXPECT_THAT(FailureOf([&] { Pack(Source1(), options); }),
              HasSubstr("shard-size was '9000' and is now '8000'"));
  FakeSource changed = Source1();
  changed.salt = "x";
  EXPECT_THAT(FailureOf([&] { Pack(changed, Options(folder)); }),
              HasSubstr("source's items changed"));
  options.overwrite = true;
  EXPECT_TRUE(Pack(Source1(), options).complete);
  options.overwrite = false;
  EXPECT_EQ(Contents(folder / "out"), PackFresh(Source1(), options, folder, "fresh"));
}

TEST(PackTest, OverwriteRemovesOnlyWhatItMade) {
  const TemporaryFolder folder;
  Pack(Source1(), Options(folder));
  WriteFileAtomically(PosixFiles(), folder / "out/notes.txt", AsBytes("mine"));
  PackOptions options = Options(folder);
  options.overwrite = true;
  options.plan.shards = 2;
  Pack(Source1(), options);
  const auto contents = Contents(folder / "out");
  EXPECT_TRUE(contents.contains("notes.txt"));
  EXPECT_EQ(contents.size(), 1u + 4 + 2 + 1);  // notes, shards, indexes, manifest
}

// Names of all files, including the state folder.
std::vector<std::string> AllFiles(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    names.push_back(fs::relative(entry.path(), folder));
  }
  std::ranges::sort(names);
  return names;
}

TEST(PackTest, OverwritesWhereSplitsAreCalledAsItsOwnFiles) {
  const TemporaryFolder folder;
  const FakeSource source({{"planes", 100}, {"lock-1", 50}, {"plan", 30}});
  PackOptions options = Options(folder);
  Pack(source, options);
  options.overwrite = true;
  options.plan.shards = 1;
  Pack(source, options);
  const auto files = AllFiles(options.out);
  EXPECT_EQ(Contents(options.out), PackFresh(source, options, folder, "fresh"));
  EXPECT_EQ(files, AllFiles(folder / "fresh"));
}

TEST(PackTest, OverwritesWhereThePlanCannotBeRead) {
  const TemporaryFolder folder;
  PackOptions options = Options(folder);
  Pack(Source1(), options);
  for (const char* plan : {"", R"({"format": "recpack-plan", "version": 99})"}) {
    WriteFileAtomically(PosixFiles(), options.out + "/.recpack/plan.json", AsBytes(plan), false);
    fs::remove(options.out + "/manifest.json");
    EXPECT_THAT(FailureOf([&] { Pack(Source1(), options); }), HasSubstr("plan.json"));
    PackOptions anew = options;
    anew.overwrite = true;
    anew.plan.shards = 3;
    EXPECT_TRUE(Pack(Source1(), anew).complete);
    EXPECT_EQ(Contents(options.out), PackFresh(Source1(), anew, folder, "fresh"));
    anew.plan.shards = 0;
    Pack(Source1(), anew);
  }
}

TEST(PackTest, OverwritingRemovesDaliIndexesOfADataSetWithoutItsStateFolder) {
  const TemporaryFolder folder;
  PackOptions options = Options(folder);
  options.dali_index = true;
  Pack(Source1(), options);
  fs::remove_all(options.out + "/.recpack");
  options.dali_index = false;
  options.overwrite = true;
  Pack(Source1(), options);
  for (const auto& [name, digest] : Contents(options.out)) EXPECT_FALSE(name.ends_with(".idx"));
}

// Truncated files, as after a power failure when nothing was synced.
TEST(PackTest, GoesOnWhereASidecarOrAPartOfTheIndexWasCut) {
  const TemporaryFolder folder;
  const auto whole = PackFresh(Source1(), Options(folder), folder, "whole");
  FaultyFiles files;
  PackOptions options = Options(folder);
  options.files = &files;
  files.unrenamable = "manifest.json";
  EXPECT_THROW(Pack(Source1(), options), Error);
  for (const char* name :
       {"train-00001-of-00012.tfrecord.json", "test-00000-of-00002.tfrecord.json",
        "train-00002-of-00012.tfrecord.recindex"}) {
    ASSERT_TRUE(fs::exists(folder / "out/.recpack/" + name)) << name;
    fs::resize_file(folder / "out/.recpack/" + name, 0);
  }
  fs::remove(folder / "out/train.recindex");
  files.unrenamable = "\n";
  EXPECT_TRUE(Pack(Source1(), options).complete);
  EXPECT_EQ(Contents(folder / "out"), whole);
}

TEST(PackTest, RefusesASplitWhoseNameIsNotUtf8) {
  const TemporaryFolder folder;
  EXPECT_THAT(FailureOf([&] {
                Pack(FakeSource({{"tr\xe9s", 3}}), Options(folder));
              }),
              HasSubstr("is not UTF-8"));
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST(PackTest, RefusesAFolderWithOtherThings) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "out");
  WriteFileAtomically(PosixFiles(), folder / "out/thesis.txt", AsBytes("dear"));
  EXPECT_THAT(FailureOf([&] { Pack(Source1(), Options(folder)); }), HasSubstr("not empty"));
  EXPECT_EQ(Contents(folder / "out").size(), 1u);
  PackOptions options = Options(folder);
  options.out = folder / "out/thesis.txt";
  EXPECT_THAT(FailureOf([&] { Pack(Source1(), options); }), HasSubstr("is a file"));
}

TEST(PackTest, RefusesASecondPackerInTheFolder) {
  const TemporaryFolder folder;
  FakeSource source = Source1();
  std::once_flag once;
  std::string failure;
  source.before_read = [&](size_t, uint64_t) {
    std::call_once(once, [&] { failure = FailureOf([&] { Pack(Source1(), Options(folder)); }); });
  };
  Pack(source, Options(folder));
  EXPECT_THAT(failure, HasSubstr("another recpack is packing"));
}

TEST(PackTest, TasksTogetherMakeWhatOneMakes) {
  const TemporaryFolder folder;
  PackOptions options = Options(folder);
  options.tasks = 3;
  for (uint32_t task : {2u, 0u}) {
    options.task = task;
    EXPECT_FALSE(Pack(Source1(), options).complete);
  }
  EXPECT_FALSE(fs::exists(folder / "out/manifest.json"));
  options.task = 1;
  EXPECT_TRUE(Pack(Source1(), options).complete);
  EXPECT_EQ(Contents(folder / "out"), PackFresh(Source1(), Options(folder), folder, "whole"));
}

TEST(PackTest, WhatSaysNothingOfTheItemIsNotSkipped) {
  const TemporaryFolder folder;
  FakeSource source({{"train", 1000}});
  source.before_read = [](size_t, uint64_t item) {
    if (item == 77) throw SystemError("cannot open", "item 77", EMFILE);
  };
  PackOptions options = Options(folder);
  options.skip_bad_items = true;
  options.max_skip = 0.5;
  for (const bool team : {false, true}) {
    source.take_work = team;
    options.threads = team ? 6 : 1;
    options.plan.shards = 1;
    const std::string failure = FailureOf([&] { Pack(source, options); });
    EXPECT_THAT(failure, HasSubstr("item 77"));
    EXPECT_THAT(failure, HasSubstr("ulimit -n"));
  }
  source.before_read = {};
  EXPECT_TRUE(Pack(source, options).skipped.empty());
}

// Each task is within the limit, but all together are not.
TEST(PackTest, SkippedItemsOfAllTasksCountTogether) {
  const TemporaryFolder folder;
  FakeSource source = Source1();
  source.before_read = [](size_t split, uint64_t item) {
    if (split == 0 && item % 100 == 5) throw Error(ErrorKind::kCorrupt, "broken");
  };
  PackOptions options = Options(folder);
  options.skip_bad_items = true;
  options.max_skip = 9 / 1100.0;
  options.tasks = 2;
  EXPECT_FALSE(Pack(source, options).skip_limit_exceeded);
  options.task = 1;
  const PackResult last = Pack(source, options);
  EXPECT_TRUE(last.skip_limit_exceeded);
  EXPECT_FALSE(last.complete);
  EXPECT_LT(last.skipped.size(), 9u);
  EXPECT_FALSE(fs::exists(folder / "out/manifest.json"));
  options.max_skip = 10 / 1100.0;
  EXPECT_TRUE(Pack(source, options).complete);
}

// Names of the temporary files, sorted.
std::vector<std::string> Temporaries(const std::string& out) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(out)) {
    const std::string name = entry.path().filename();
    if (name.find(".tmp") != std::string::npos) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

TEST(PackTest, TasksRemoveWhatNoLivingTaskHolds) {
  const TemporaryFolder folder;
  PackOptions options = Options(folder);
  options.tasks = 3;
  const PackResult first = Pack(Source1(), options);
  const std::string state = options.out + "/.recpack/";
  const std::string of_task0 = first.plan.shards.files()[0];
  const std::string of_task1 = first.plan.shards.files()[1];
  const auto leave = [&](const std::string& path) {
    WriteFileAtomically(PosixFiles(), path, AsBytes("half"), false);
  };
  for (const std::string& name :
       {of_task0 + ".tmp", of_task0 + ".json.tmp-99", of_task1 + ".tmp", of_task1 + ".json.tmp-99",
        std::string("plan.json.tmp-99"), std::string("train.recindex.tmp-99")}) {
    leave(state + name);
  }
  leave(options.out + "/manifest.json.tmp-99");
  leave(options.out + "/notes.tmp");  // not written by recpack
  {
    const auto lives = TryLock(state + "lock-1");
    ASSERT_TRUE(lives);
    Pack(Source1(), options);
    EXPECT_EQ(
        Temporaries(options.out),
        (std::vector<std::string>{"notes.tmp", of_task1 + ".json.tmp-99", of_task1 + ".tmp"}));
  }
  options.task = 2;
  Pack(Source1(), options);  // any task removes the files of a dead one
  EXPECT_EQ(Temporaries(options.out), std::vector<std::string>{"notes.tmp"});
  leave(state + "plan.json.tmp-7");
  options.task = 1;
  EXPECT_TRUE(Pack(Source1(), options).complete);
  EXPECT_EQ(Temporaries(options.out), std::vector<std::string>{"notes.tmp"});
}

TEST(PackTest, TheLastTaskRemovesWhatWasLeftMeanwhile) {
  const TemporaryFolder folder;
  PackOptions options = Options(folder);
  options.tasks = 2;
  options.threads = 1;
  Pack(Source1(), options);
  FakeSource source = Source1();
  source.before_read = [&](size_t, uint64_t item) {
    if (item != 5) return;
    WriteFileAtomically(PosixFiles(), options.out + "/.recpack/train.recindex.tmp-99",
                        AsBytes("half"), false);
  };
  options.task = 1;
  EXPECT_TRUE(Pack(source, options).complete);
  EXPECT_TRUE(Temporaries(options.out).empty());
}

TEST(PackTest, ASplitMayBeCalledAsATemporaryFile) {
  const TemporaryFolder folder;
  const FakeSource source({{"a.tmp", 100}});
  Pack(source, Options(folder));
  const PackResult again = Pack(source, Options(folder));
  EXPECT_EQ(again.shards_found, again.shards);
}

TEST(PackTest, ATaskCannotOverwriteTheOthersShards) {
  const TemporaryFolder folder;
  PackOptions options = Options(folder);
  options.tasks = 2;
  Pack(Source1(), options);
  const auto before = Contents(options.out);
  options.overwrite = true;
  EXPECT_THAT(FailureOf([&] { Pack(Source1(), options); }), HasSubstr("one task cannot overwrite"));
  EXPECT_EQ(Contents(options.out), before);
}

// A data set with the number of shards in manifest and index; appending does not need the files.
void WriteBase(const std::string& folder, size_t shards) {
  fs::create_directories(folder);
  Manifest manifest{.source_kind = "fake", .class_names = {"even", "odd"}};
  manifest.splits = {{.name = "train", .index = "train.recindex", .shards = {}}};
  IndexWriter index(PosixFiles().Create(folder + "/train.recindex"));
  for (size_t i = 0; i < shards; ++i) {
    const std::string name = format("train-{:05}-of-{:05}.tfrecord", i, shards);
    index.AddShard({.name = name, .file_bytes = 17, .lengths = {1}});
    manifest.splits[0].shards.push_back(
        {.file = name, .records = 1, .bytes = 17, .sha256 = Sha256Digest{}});
  }
  index.Finish(false);
  WriteManifest(PosixFiles(), folder, manifest, false);
}

// Peak memory of an append to this many shards, measured at each rename of a file.
size_t MemoryOfAppend(size_t shards) {
  const TemporaryFolder folder;
  PackOptions options = Appending(folder);
  options.threads = 1;
  WriteBase(options.out, shards);
  FaultyFiles files;
  const size_t before = ::mallinfo2().uordblks;  // always 0 under a sanitizer
  size_t most = before;
  files.before_rename = [&](const std::string&) {
    most = std::max<size_t>(most, ::mallinfo2().uordblks);
  };
  options.files = &files;
  const PackResult result = Pack(FakeSource({{"train", 3}}), options);
  EXPECT_EQ(result.manifest.splits[0].shards.size(), shards + 1);
  return most - before;
}

TEST(PackTest, AnAppendTakes100BytesForEachShardThatWasThere) {
  constexpr size_t kFew = 1000, kMany = 30'000;
  const size_t few = MemoryOfAppend(kFew);
  EXPECT_LE(MemoryOfAppend(kMany), few + 100 * (kMany - kFew));
}

TEST(PackTest, AppendsAndCanBeRepeated) {
  const TemporaryFolder folder;
  Pack(Source1(), Options(folder));
  const auto before = Contents(folder / "out");
  PackOptions options = Appending(folder);
  FakeSource more({{"train", 500}});
  more.salt = "more";
  const PackResult appended = Pack(more, options);
  EXPECT_EQ(appended.records, 500u);
  EXPECT_EQ(appended.manifest.FindSplit("train")->records(), 1500u);
  EXPECT_EQ(appended.manifest.FindSplit("test")->records(), 100u);
  EXPECT_EQ(Index::Open(folder / "out/train.recindex").record_count(), 1500u);
  for (const auto& [name, bytes] : before) {
    if (name.ends_with(".tfrecord")) {
      EXPECT_EQ(Contents(folder / "out").at(name), bytes);
    }
  }
  const auto after = Contents(folder / "out");
  Pack(more, options);  // repeated: nothing is added twice
  EXPECT_EQ(Contents(folder / "out"), after);
  FakeSource third({{"test", 10}});
  third.salt = "third";
  EXPECT_EQ(Pack(third, options).manifest.records(), 1610u);
  EXPECT_EQ(Index::Open(folder / "out/test.recindex").record_count(), 110u);
}

TEST(PackTest, TwoTasksThatFinishAnAppendAddItOnce) {
  const TemporaryFolder folder;
  PackOptions options = Options(folder);
  options.plan.shards = 2;
  Pack(Source1(), options);
  options.append = true;
  options.tasks = 2;
  FaultyFiles files;
  files.unrenamable = "manifest.json";
  options.files = &files;
  FakeSource more({{"train", 500}});
  EXPECT_FALSE(Pack(more, options).complete);
  PackOptions other = options;
  other.task = 1;
  EXPECT_THROW(Pack(more, other), Error);  // complete except for the manifest
  files.unrenamable = "\n";
  options.planned = [&](const Plan&) { EXPECT_TRUE(Pack(more, other).complete); };
  EXPECT_EQ(Pack(more, options).manifest.FindSplit("train")->records(), 1500u);
  EXPECT_EQ(ReadManifest(PosixFiles(), options.out).FindSplit("train")->records(), 1500u);
}

TEST(PackTest, TheSameCommandAgainKeepsWhatWasAppended) {
  const TemporaryFolder folder;
  Pack(Source1(), Options(folder));
  PackOptions append = Appending(folder);
  for (const uint64_t records : {500u, 20u}) {
    FakeSource more({{"train", records}});
    more.salt = std::to_string(records);
    Pack(more, append);
  }
  const auto before = Contents(folder / "out");
  EXPECT_EQ(Pack(Source1(), Options(folder)).manifest.records(), 1620u);
  EXPECT_EQ(Contents(folder / "out"), before);
  for (const char* lost : {"train-00003-of-00012.tfrecord", "train.recindex"}) {
    fs::remove(folder / "out/" + lost);
    const PackResult again = Pack(Source1(), Options(folder));
    EXPECT_TRUE(again.complete);
    EXPECT_EQ(again.records, 1100u);  // of its own shards
    EXPECT_EQ(Contents(folder / "out"), before) << lost;
  }
}

TEST(PackTest, AnAppendThatDoesNotFitIsRefusedBeforeItIsBegun) {
  const TemporaryFolder folder;
  Pack(Source1(), Options(folder));
  const auto before = Contents(folder / "out");
  PackOptions options = Appending(folder);
  FakeSource more({{"train", 50}});
  more.names = {"cat", "dog"};
  more.before_read = [](size_t, uint64_t) { FAIL() << "is packed"; };
  EXPECT_THAT(FailureOf([&] { Pack(more, options); }), HasSubstr("have different classes"));
  EXPECT_EQ(Contents(folder / "out"), before);
  more.names = Source1().names;
  more.before_read = {};
  EXPECT_EQ(Pack(more, options).manifest.records(), 1150u);
}

TEST(PackTest, AppendsWhereNamesOfClassesAreNotUtf8) {
  const TemporaryFolder folder;
  FakeSource source = Source1();
  source.names = {"caf\xe9", "th\xe9"};
  Pack(source, Options(folder));
  PackOptions options = Appending(folder);
  source.salt = "more";
  EXPECT_EQ(Pack(source, options).manifest.records(), 2200u);
}

TEST(PackTest, AnAppendThatWasBegunSaysHowToGiveItUp) {
  const TemporaryFolder folder;
  Pack(Source1(), Options(folder));
  PackOptions options = Appending(folder);
  options.plan.shards = 2;
  FakeSource begun({{"train", 50}});
  begun.salt = "begun";
  begun.before_read = [](size_t, uint64_t item) {
    if (item == 7) throw Error(ErrorKind::kCorrupt, "broken");
  };
  EXPECT_THAT(FailureOf([&] { Pack(begun, options); }), HasSubstr("broken"));
  const FakeSource other({{"train", 60}});
  const std::string failure = FailureOf([&] { Pack(other, options); });
  EXPECT_THAT(failure, HasSubstr("another append was started here"));
  EXPECT_THAT(failure, HasSubstr(folder / "out/.recpack/plan-append1.json"));
  EXPECT_THAT(failure, Not(HasSubstr("--overwrite")));  // it would remove the data set
  fs::remove(folder / "out/.recpack/plan-append1.json");
  for (const char* shard :
       {"train-append1-00000-of-00002.tfrecord", "train-append1-00001-of-00002.tfrecord"}) {
    fs::remove(folder / "out/" + shard);
  }
  EXPECT_EQ(Pack(other, options).manifest.records(), 1160u);
}

TEST(PackTest, AppendsWhereTheStateFolderWasLeftBehind) {
  const TemporaryFolder folder;
  Pack(Source1(), Options(folder));
  PackOptions options = Appending(folder);
  options.plan.shards = 1;
  for (const uint64_t records : {10u, 20u, 30u}) {
    fs::remove_all(folder / "out/.recpack");
    FakeSource more({{"train", records}});
    more.salt = std::to_string(records);
    Pack(more, options);
  }
  EXPECT_EQ(ReadManifest(PosixFiles(), folder / "out").records(), 1160u);
  EXPECT_TRUE(fs::exists(folder / "out/train-append3-00000-of-00001.tfrecord"));
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(Pack(FakeSource({{"train", 5}}), options).manifest.records(), 1165u);
  }
  EXPECT_TRUE(fs::exists(folder / "out/train-append4-00000-of-00001.tfrecord"));
}

TEST(PackTest, DoesNotOverwriteWhatItIsToAppendTo) {
  const TemporaryFolder folder;
  Pack(Source1(), Options(folder));
  const auto before = Contents(folder / "out");
  PackOptions options = Options(folder);
  options.append = options.overwrite = true;
  EXPECT_THAT(FailureOf([&] { Pack(Source1(), options); }),
              HasSubstr("append or overwrite, not both"));
  EXPECT_EQ(Contents(folder / "out"), before);
}

TEST(PackTest, AppendNeedsADataSet) {
  const TemporaryFolder folder;
  PackOptions options = Appending(folder);
  EXPECT_THAT(FailureOf([&] { Pack(Source1(), options); }), HasSubstr("no data set to append to"));
}

TEST(PackTest, WritesDaliIndexes) {
  const TemporaryFolder folder;
  PackOptions options = Options(folder);
  options.plan.shards = 1;
  options.dali_index = true;
  Pack(Source1(), options);
  const ByteBuffer bytes =
      ReadWholeFile(PosixFiles(), folder / "out/train-00000-of-00001.tfrecord.idx");
  const std::string_view text = AsText(bytes);
  EXPECT_EQ(std::ranges::count(text, '\n'), 1000);
  EXPECT_TRUE(text.starts_with("0 "));
}

// DALI would take offsets of uncompressed bytes for file offsets.
TEST(PackTest, RefusesADaliIndexOfCompressedShards) {
  const TemporaryFolder folder;
  PackOptions options = Options(folder);
  options.dali_index = true;
  options.writer.compression = Compression::kGzip;
  EXPECT_THAT(FailureOf([&] { Pack(Source1(), options); }), HasSubstr("DALI"));
  EXPECT_FALSE(fs::exists(options.out));
  options.dali_index = false;
  Pack(Source1(), options);
  const auto before = Contents(options.out);
  PackOptions more = Appending(folder);
  more.dali_index = true;
  EXPECT_THAT(FailureOf([&] { Pack(FakeSource({{"train", 7}}), more); }), HasSubstr("DALI"));
  EXPECT_EQ(Contents(options.out), before);
}

TEST(PackTest, ReportsProgressUpToTheEnd) {
  const TemporaryFolder folder;
  PackOptions options = Options(folder);
  options.threads = 1;
  uint64_t last = 0, whole = 0;
  options.progress = [&](uint64_t bytes, uint64_t total) {
    EXPECT_GE(bytes, last);
    last = bytes;
    whole = total;
  };
  Pack(Source1(), options);
  EXPECT_GT(last, 0u);
  EXPECT_LE(last, whole);
}

}  // namespace
}  // namespace recpack::pack
