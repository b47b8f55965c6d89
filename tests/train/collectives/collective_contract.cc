#include "tests/train/collectives/collective_contract.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "recpack/base/error.h"
#include "tests/base/error_of.h"

namespace recpack::train {
namespace {

using testing::HasSubstr;

using Floats = std::vector<float>;
using Bytes = std::vector<std::byte>;

uint64_t Mixed(uint64_t key) {
  key = (key ^ (key >> 31)) * 0x9E37'79B9'7F4A'7C15;
  key = (key ^ (key >> 29)) * 0xBF58'476D'1CE4'E5B9;
  return key ^ (key >> 32);
}

// Values with both signs and many magnitudes, so that sums in another order have other bits.
float Value(int rank, size_t index, uint64_t salt) {
  const uint64_t bits = Mixed(salt * 1'000'003 + index * 64 + static_cast<uint64_t>(rank));
  const float mantissa = static_cast<float>(bits % 16'777'216) / 8'388'608.0f - 1;
  return std::ldexp(mantissa, static_cast<int>(bits >> 40) % 12);
}

Floats Values(int rank, size_t count, uint64_t salt) {
  Floats values(count);
  for (size_t i = 0; i < count; ++i) values[i] = Value(rank, i, salt);
  return values;
}

Floats SumInRankOrder(int ranks, size_t count, uint64_t salt) {
  Floats sum = Values(0, count, salt);
  for (int rank = 1; rank < ranks; ++rank) {
    for (size_t i = 0; i < count; ++i) sum[i] += Value(rank, i, salt);
  }
  return sum;
}

bool SameBits(const Floats& a, const Floats& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

Bytes SomeBytes(int rank, size_t count) {
  Bytes bytes(count);
  for (size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::byte>(Mixed(i * 64 + static_cast<uint64_t>(rank)));
  }
  return bytes;
}

// Fewer than ranks, odd ones, around a cache line, around a tile.
constexpr size_t kCounts[] = {0, 1, 2, 3, 5, 15, 16, 17, 63, 64, 65, 1000, 1023, 1025, 20'011};

TEST_P(CollectiveContract, AllReduceSumsInRankOrderAtEveryRankAndTime) {
  Run([&](auto collective) {
    EXPECT_EQ(collective->size(), size());
    for (const size_t count : kCounts) {
      const Floats sum = SumInRankOrder(size(), count, count);
      for (int repetition = 0; repetition < 3; ++repetition) {
        Floats data = Values(collective->rank(), count, count);
        collective->AllReduce(data);
        EXPECT_TRUE(SameBits(data, sum)) << count << " floats at rank " << collective->rank();
      }
    }
  });
}

TEST_P(CollectiveContract, AllReduceIsTheSumWithinRounding) {
  constexpr size_t kCount = 5000;
  std::vector<double> sums(kCount);
  std::vector<double> sizes(kCount);
  for (int rank = 0; rank < size(); ++rank) {
    for (size_t i = 0; i < kCount; ++i) {
      sums[i] += Value(rank, i, 1);
      sizes[i] += std::fabs(Value(rank, i, 1));
    }
  }
  Run([&](auto collective) {
    Floats data = Values(collective->rank(), kCount, 1);
    collective->AllReduce(data);
    for (size_t i = 0; i < kCount; ++i) {
      // Each addition rounds by half a unit of 2^-23.
      ASSERT_TRUE(std::fabs(data[i] - sums[i]) <= sizes[i] * size() * 6e-8) << i;
    }
  });
}

TEST_P(CollectiveContract, ArraysMayBeLargerThanBlocks) {
  constexpr size_t kCount = (size_t{1} << 20) + 37;
  const Floats sum = SumInRankOrder(size(), kCount, 2);
  Run([&](auto collective) {
    Floats data = Values(collective->rank(), kCount, 2);
    collective->AllReduce(data);
    EXPECT_TRUE(SameBits(data, sum));
  });
}

TEST_P(CollectiveContract, ReduceSumsAtTheRootAlone) {
  Run([&](auto collective) {
    for (const size_t count : kCounts) {
      for (int root = 0; root < size(); ++root) {
        Floats data = Values(collective->rank(), count, count);
        collective->Reduce(data, root);
        EXPECT_TRUE(SameBits(data, collective->rank() == root
                                       ? SumInRankOrder(size(), count, count)
                                       : Values(collective->rank(), count, count)))
            << count << " floats at rank " << collective->rank() << ", root " << root;
      }
    }
  });
}

TEST_P(CollectiveContract, ReduceScatterSumsEachRanksPart) {
  Run([&](auto collective) {
    const auto rank = static_cast<size_t>(collective->rank());
    for (const size_t count : kCounts) {
      const size_t all = count * static_cast<size_t>(size());
      const Floats whole = SumInRankOrder(size(), all, count);
      const auto begin = whole.begin() + static_cast<ptrdiff_t>(rank * count);
      const Floats sum(begin, begin + static_cast<ptrdiff_t>(count));
      Floats data = Values(collective->rank(), all, count);
      Floats part(count);
      collective->ReduceScatter(data, part);
      EXPECT_TRUE(SameBits(part, sum)) << count;

      const std::span in_place = std::span(data).subspan(rank * count, count);
      collective->ReduceScatter(data, in_place);
      EXPECT_TRUE(SameBits(Floats(in_place.begin(), in_place.end()), sum)) << count;
    }
  });
}

TEST_P(CollectiveContract, BroadcastBringsTheRootsBytes) {
  Run([&](auto collective) {
    for (const size_t count : {0, 1, 3, 15, 16, 1001, 300'007}) {
      for (int root = 0; root < size(); ++root) {
        Bytes data = SomeBytes(collective->rank(), count);
        collective->Broadcast(data, root);
        EXPECT_TRUE(data == SomeBytes(root, count)) << count << " bytes from rank " << root;
      }
    }
  });
}

TEST_P(CollectiveContract, BroadcastOfMoreThanABlock) {
  constexpr size_t kCount = (size_t{16} << 20) + 5;
  Run([&](auto collective) {
    Bytes data(kCount, static_cast<std::byte>(collective->rank()));
    collective->Broadcast(data, last());
    EXPECT_TRUE(data == Bytes(kCount, static_cast<std::byte>(last())));
  });
}

TEST_P(CollectiveContract, AllGatherBringsAllParts) {
  Run([&](auto collective) {
    for (const size_t count : {0, 1, 3, 16, 1001, 70'001}) {
      Bytes expected;
      for (int rank = 0; rank < size(); ++rank) {
        const Bytes part = SomeBytes(rank, count);
        expected.insert(expected.end(), part.begin(), part.end());
      }
      Bytes all(expected.size());
      collective->AllGather(SomeBytes(collective->rank(), count), all);
      EXPECT_TRUE(all == expected) << count;

      const auto rank = static_cast<size_t>(collective->rank());
      std::fill(all.begin(), all.end(), std::byte{0});
      const std::span in_place = std::span(all).subspan(rank * count, count);
      std::copy_n(expected.begin() + static_cast<ptrdiff_t>(rank * count), count, in_place.begin());
      collective->AllGather(in_place, all);
      EXPECT_TRUE(all == expected) << count << " in place";
    }
  });
}

TEST_P(CollectiveContract, ValuesComeInRankOrder) {
  Run([&](auto collective) {
    std::vector<uint64_t> expected;
    for (int rank = 0; rank < size(); ++rank) expected.push_back(uint64_t{1} << rank);
    EXPECT_EQ(GatherValues(*collective, uint64_t{1} << collective->rank()), expected);
  });
}

TEST_P(CollectiveContract, ManyCallsWithRanksThatDawdle) {
  Run([&](auto collective) {
    std::mt19937 calls(7);  // the same on all ranks
    std::mt19937 delays(static_cast<uint32_t>(collective->rank()));
    for (uint64_t call = 0; call < 300; ++call) {
      const size_t count = calls() % 200;
      const int root = static_cast<int>(calls() % static_cast<uint32_t>(size()));
      if (delays() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(delays() % 300));
      if (delays() % 4 == 0) std::this_thread::yield();
      Floats data = Values(collective->rank(), count, call);
      switch (calls() % 4) {
        case 0:
          collective->AllReduce(data);
          ASSERT_TRUE(SameBits(data, SumInRankOrder(size(), count, call))) << call;
          break;
        case 1:
          collective->Reduce(data, root);
          if (collective->rank() == root) {
            ASSERT_TRUE(SameBits(data, SumInRankOrder(size(), count, call))) << call;
          }
          break;
        case 2:
          collective->Broadcast(std::as_writable_bytes(std::span(data)), root);
          ASSERT_TRUE(SameBits(data, Values(root, count, call))) << call;
          break;
        default:
          collective->Barrier();
      }
    }
  });
}

TEST_P(CollectiveContract, BarrierWaitsForAll) {
  Run([&](auto collective) {
    for (uint64_t call = 0; call < 20; ++call) {
      collective->Barrier();
      // A rank that is past it knows that all are past the one before.
      for (const uint64_t other : GatherValues(*collective, call)) EXPECT_EQ(other, call);
    }
  });
}

TEST_P(CollectiveContract, WrongArgumentsAreRefusedAndHarmNobody) {
  Run([&](auto collective) {
    Floats data(10);
    Floats odd(10 * static_cast<size_t>(size()) + 1);
    EXPECT_THAT(ErrorOf([&] { collective->Reduce(data, size()); }).what(),
                HasSubstr("invalid root " + std::to_string(size())));
    EXPECT_THAT(ErrorOf([&] { collective->Broadcast({}, -1); }).what(), HasSubstr("root -1"));
    EXPECT_THAT(ErrorOf([&] { collective->ReduceScatter(odd, data); }).what(),
                HasSubstr("parts of 10"));
    EXPECT_THAT(ErrorOf([&] {
                  collective->AllGather(std::as_bytes(std::span(data)),
                                        std::as_writable_bytes(std::span(odd)));
                }).what(),
                HasSubstr("parts of 40"));
    collective->AllReduce(data);
    collective->Check();
  });
}

TEST_P(CollectiveContract, AccountsForCallsAndBytes) {
  Run([&](auto collective) {
    Floats data(10);
    Bytes all(3 * static_cast<size_t>(size()));
    collective->AllReduce(data);
    collective->AllGather(Bytes(3), all);
    collective->Barrier();
    EXPECT_EQ(collective->account().calls, 3u);
    EXPECT_EQ(collective->account().bytes, 40u + all.size());
    EXPECT_GE(collective->account().seconds, 0.0);
  });
}

// Calls of one rank that differ from those of all others.
using Call = std::function<void(Collective&)>;
struct Mismatch {
  Call call;
  Call others;
  std::string text;  // of the call
  std::string others_text;
};

std::vector<Mismatch> Mismatches() {
  const auto all_reduce = [](size_t count) {
    return [count](Collective& collective) {
      Floats data(count);
      collective.AllReduce(data);
    };
  };
  const auto broadcast = [](int root) {
    return [root](Collective& collective) {
      Bytes data(8);
      collective.Broadcast(data, root);
    };
  };
  const Call barrier = [](Collective& collective) { collective.Barrier(); };
  const Call reduce = [](Collective& collective) {
    Floats data(8);
    collective.Reduce(data, 0);
  };
  return {
      {all_reduce(10), all_reduce(11), "AllReduce of 10 floats", "AllReduce of 11 floats"},
      {all_reduce(3), barrier, "AllReduce of 3 floats", "Barrier"},
      {barrier, all_reduce(0), "Barrier", "AllReduce of 0 floats"},
      {broadcast(0), broadcast(1), "from rank 0", "from rank 1"},
      {reduce, broadcast(0), "Reduce of 8 floats to rank 0", "Broadcast of 8 bytes from rank 0"}};
}

constexpr char kProcesses[] = "failures name processes of several ranks";
constexpr char kUnseen[] = "ranks do not see each other's calls";

TEST_P(CollectiveContract, CallsThatDifferAreAnErrorThatNamesBoth) {
  if (!GetParam().names_ranks) GTEST_SKIP() << kProcesses;
  if (!GetParam().sees_calls) GTEST_SKIP() << kUnseen;
  if (size() == 1) GTEST_SKIP() << "one rank calls what it calls";
  for (const Mismatch& mismatch : Mismatches()) {
    for (const int odd : {0, last()}) {
      Run([&](auto collective) {
        collective->Barrier();
        const Call& call = collective->rank() == odd ? mismatch.call : mismatch.others;
        const Error error = ErrorOf([&] { call(*collective); });
        EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
        EXPECT_THAT(error.what(), HasSubstr("rank " + std::to_string(odd)));
        EXPECT_THAT(error.what(), HasSubstr(mismatch.text));
        EXPECT_THAT(error.what(), HasSubstr(mismatch.others_text));
        EXPECT_STREQ(ErrorOf([&] { collective->Barrier(); }).what(), error.what());
      });
    }
  }
}

std::string AbortText(int rank) {
  return "rank " + std::to_string(rank) + " ended the run: the disk is full";
}

void AwaitFailure(Collective& collective) {
  while (true) {
    collective.Check();
    std::this_thread::yield();
  }
}

TEST_P(CollectiveContract, AbortEndsThoseThatWaitAndAllLaterCalls) {
  if (!GetParam().names_ranks) GTEST_SKIP() << kProcesses;
  for (const int aborting : {0, last()}) {
    Run([&](auto collective) {
      Floats data(1000);
      collective->AllReduce(data);
      Sync();  // a call that some ranks are still in may fail as well
      if (collective->rank() == aborting) {
        collective->Abort("the disk is full");
        collective->Abort("a second reason");
      } else {
        EXPECT_STREQ(ErrorOf([&] { collective->AllReduce(data); }).what(),
                     AbortText(aborting).c_str());
      }
      EXPECT_STREQ(ErrorOf([&] { collective->Barrier(); }).what(), AbortText(aborting).c_str());
      EXPECT_STREQ(ErrorOf([&] { collective->Check(); }).what(), AbortText(aborting).c_str());
    });
  }
}

TEST_P(CollectiveContract, AbortReachesThoseThatOnlyCheck) {
  Run([&](auto collective) {
    collective->Check();
    Sync();
    if (collective->rank() == 0) collective->Abort("the disk is full");
    const Error error = ErrorOf([&] { AwaitFailure(*collective); });
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_STREQ(error.what(), AbortText(0).c_str());
  });
}

TEST_P(CollectiveContract, AnotherThreadMayAbortTheCallOfItsRank) {
  if (!GetParam().names_ranks) GTEST_SKIP() << kProcesses;
  if (size() == 1) GTEST_SKIP() << "one rank waits for nobody";
  Run([&](auto collective) {
    if (collective->rank() == 0) {
      // The others can complete no further call.
      EXPECT_STREQ(ErrorOf([&] { AwaitFailure(*collective); }).what(), AbortText(1).c_str());
    } else if (collective->rank() == 1) {
      std::thread watchdog([&] { collective->Abort("the disk is full"); });
      EXPECT_STREQ(ErrorOf([&] { collective->Barrier(); }).what(), AbortText(1).c_str());
      watchdog.join();
    } else {
      EXPECT_STREQ(ErrorOf([&] { collective->Barrier(); }).what(), AbortText(1).c_str());
    }
  });
}

TEST_P(CollectiveContract, ARankThatGoesEarlyIsNamed) {
  if (!GetParam().names_ranks) GTEST_SKIP() << kProcesses;
  if (!GetParam().sees_calls) GTEST_SKIP() << kUnseen;
  if (size() == 1) GTEST_SKIP() << "one rank waits for nobody";
  for (const int leaving : {0, last()}) {
    Run([&](auto collective) {
      Floats data(1000);
      collective->AllReduce(data);
      Sync();
      if (collective->rank() == leaving) return;
      const Error error = ErrorOf([&] { collective->AllReduce(data); });
      EXPECT_EQ(error.kind(), ErrorKind::kIo);
      EXPECT_THAT(error.what(), HasSubstr("rank " + std::to_string(leaving) + " has finished"));
      EXPECT_THAT(error.what(), HasSubstr("AllReduce of 1000 floats"));
    });
  }
}

TEST_P(CollectiveContract, RanksMayGoAfterTheLastCallWhileOthersAreStillInIt) {
  for (int repetition = 0; repetition < 30; ++repetition) {
    Run([&](auto collective) {
      Floats data = Values(collective->rank(), 5000, 3);
      collective->AllReduce(data);
      const bool first = collective->rank() == repetition % size();
      if (first) collective.reset();
      EXPECT_TRUE(SameBits(data, SumInRankOrder(size(), 5000, 3)));
    });
  }
}

TEST_P(CollectiveContract, ARankMayBeWaitedForWithoutALimit) {
  const auto body = [&](auto collective) {
    if (collective->rank() == last()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    collective->Barrier();
    Floats data(10);
    collective->AllReduce(data);
  };
  Run(body,
      {.timeout = CollectiveOptions::kNoLimit, .connect_timeout = CollectiveOptions::kNoLimit});
}

TEST_P(CollectiveContract, ARankThatDoesNotComeIsNamed) {
  if (!GetParam().names_ranks) GTEST_SKIP() << kProcesses;
  if (size() == 1) GTEST_SKIP() << "one rank waits for nobody";
  const CollectiveOptions options{.timeout = GetParam().timeout};
  const auto is_late = [&](const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(last()) + " did not come to Barrier"));
    EXPECT_THAT(error.what(),
                HasSubstr("within " + std::to_string(options.timeout.count()) + " ms"));
  };
  Run(
      [&](auto collective) {
        if (collective->rank() == last()) {
          is_late(ErrorOf([&] { AwaitFailure(*collective); }));
        } else {
          is_late(ErrorOf([&] { collective->Barrier(); }));
        }
      },
      options);
}

}  // namespace
}  // namespace recpack::train
