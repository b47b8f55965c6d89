// Statistical tests of orders: chi-square against exact expectations. Every check is also run on
// Fisher-Yates shuffles, which must pass, and on faulty orders, which must fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>

#include "recpack/loader/order.h"

namespace recpack {
namespace {

using Ids = std::vector<uint64_t>;  // indexed by position
using EpochIds = std::function<Ids(uint64_t epoch)>;

constexpr uint32_t kBlock = 64, kLanes = 8, kWindowBlocks = 2, kRounds = 8;
constexpr uint64_t kBlocks = kLanes * kRounds;
constexpr uint64_t kRecords = kBlock * kBlocks;
constexpr uint64_t kWindow = kBlock * kWindowBlocks;  // records of a lane shuffled together
constexpr uint64_t kWindowRows = kWindow * kLanes;    // positions of a row of parallel windows
constexpr uint64_t kEpochs = 200;

// Compares observed counts with expected ones.
class ChiSquare {
 public:
  void Add(double observed, double expected) {
    sum_ += (observed - expected) * (observed - expected) / expected;
    ++cells_;
  }
  // Returns the distance from the mean, in standard deviations, of a chi-square distribution whose
  // mean for these counts is `scale * freedom`. Above +5: not the expected distribution. Below -5:
  // too even to be random.
  double Excess(double freedom, double scale = 1) const {
    return (sum_ / scale - freedom) / std::sqrt(2 * freedom);
  }
  double Excess() const { return Excess(cells_); }

 private:
  double sum_ = 0;
  double cells_ = 0;
};

bool Passes(double excess) { return std::abs(excess) <= 5; }

// For a permutation of n, cut into c classes of positions and c of ids, the counts of the c^2 cells
// have the mean n / c^2, and chi-square has the mean (c - 1)^2 n / (n - 1): each id is at one
// position, which makes the variance of a count slightly larger than with independent draws.
double Positions(const EpochIds& ids) {
  constexpr uint64_t kCells = 16;
  std::vector<double> seen(kCells * kCells);
  for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const Ids order = ids(epoch);
    for (uint64_t p = 0; p < kRecords; ++p) {
      ++seen[p * kCells / kRecords * kCells + order[p] * kCells / kRecords];
    }
  }
  ChiSquare chi;
  for (const double count : seen) chi.Add(count, double{kRecords * kEpochs} / (kCells * kCells));
  return chi.Excess((kCells - 1) * (kCells - 1), double{kRecords} / (kRecords - 1));
}

// Counts how often successors of a sequence have the values i and i + d, for each d != 0 up to
// `reach` on both sides; `expected` is the mean per epoch. Such meetings are rare and nearly
// independent.
double Distances(const EpochIds& ids, const std::function<std::vector<Ids>(const Ids&)>& sequences,
                 int64_t reach, const std::function<double(int64_t d)>& expected) {
  std::map<int64_t, double> seen;
  for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    for (const Ids& sequence : sequences(ids(epoch))) {
      for (size_t i = 0; i + 1 < sequence.size(); ++i) {
        ++seen[static_cast<int64_t>(sequence[i + 1]) - static_cast<int64_t>(sequence[i])];
      }
    }
  }
  ChiSquare chi;
  for (int64_t d = -reach; d <= reach; ++d) {
    if (d != 0) chi.Add(seen[d], kEpochs * expected(std::abs(d)));
  }
  return chi.Excess();
}

// n - d of the n (n - 1) pairs of ids have the distance d, and n - 1 pairs of positions are
// successors: (n - d) / n. Neighbours in the file meet once per epoch, in either direction.
double NeighboursOfGlobal(const EpochIds& ids) {
  const auto whole = [](const Ids& order) { return std::vector<Ids>{order}; };
  return Distances(ids, whole, 100, [](int64_t d) {
    return (double{kRecords} - static_cast<double>(d)) / kRecords;
  });
}

// Successors in the order belong to neighbouring lanes, and so to different blocks. The blocks stay
// the same throughout a window, so one position per lane and window is examined, by its block. As
// above, with K blocks and windows * (lanes - 1) pairs.
double BlocksOfNeighbouringLanes(const EpochIds& ids) {
  const auto blocks = [](const Ids& order) {
    std::vector<Ids> rows;
    for (uint64_t first = 0; first < kRecords; first += kWindowRows) {
      Ids& row = rows.emplace_back();
      for (uint64_t lane = 0; lane < kLanes; ++lane) row.push_back(order[first + lane] / kBlock);
    }
    return rows;
  };
  return Distances(ids, blocks, kBlocks - 1, [](int64_t d) {
    const double pairs = double{kRecords / kWindowRows} * (kLanes - 1);
    return pairs * (double{kBlocks} - static_cast<double>(d)) / (double{kBlocks} * (kBlocks - 1));
  });
}

// Successors in a lane: a window of k records has k - 1 pairs. Both are in one block of B with
// probability (B - 1) / (k - 1), and then have the distance d < B as in a permutation of B: (B - d)
// / (B (B - 1)). Otherwise, also where windows meet, they are in two of K blocks: each of the K - 1
// boundaries of blocks has d pairs, out of K (K - 1) B^2.
double NeighboursInLanes(const EpochIds& ids) {
  const auto lanes = [](const Ids& order) {
    std::vector<Ids> all(kLanes);
    for (uint64_t p = 0; p < kRecords; ++p) all[p % kLanes].push_back(order[p]);
    return all;
  };
  return Distances(ids, lanes, 8, [](int64_t d) {
    const double windows = double{kRecords} / kWindow;
    const double same = (kBlock - static_cast<double>(d)) / (kBlock * (kWindow - 1.0));
    const double across = static_cast<double>(d) / (double{kBlocks} * kBlock * kBlock);
    const double other = (double{kWindow} - kBlock) / (kWindow - 1.0) * across;
    return windows * (kWindow - 1) * (same + other) + (windows - kLanes) * across;
  });
}

// Runs of equal labels in rows of `row` positions, with records stored class by class in 8 classes
// of equal size. `things` are the permuted units, records or whole blocks, `each` of them per
// class. A row has row - s + 1 places for s successive positions, which are all of one class with
// probability C (m)_s / (n)_s, falling factorials: W_s places on average. A run of r covers max(0,
// r - s + 1) of them, so the mean number of runs of exactly s is W_s - 2 W_(s+1) + W_(s+2).
double LabelRuns(const EpochIds& ids, uint64_t row, uint64_t every, uint64_t things) {
  constexpr uint64_t kClasses = 8, kLongest = 4;
  const auto each = static_cast<double>(things / kClasses);
  const auto places = [&](uint64_t length) {
    double mean = length > row ? 0 : kClasses * static_cast<double>(row - length + 1);
    for (uint64_t i = 0; i < length; ++i) {
      mean *= (each - static_cast<double>(i)) / static_cast<double>(things - i);
    }
    return mean;
  };
  std::map<uint64_t, double> seen;
  double rows = 0;
  for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const Ids order = ids(epoch);
    for (uint64_t first = 0; first < kRecords; first += every, ++rows) {
      uint64_t length = 0;
      for (uint64_t p = first; p < first + row; ++p) {
        const auto label = [&](uint64_t at) { return order[at] * kClasses / kRecords; };
        ++length;
        if (p + 1 < first + row && label(p + 1) == label(p)) continue;
        ++seen[length];
        length = 0;
      }
    }
  }
  ChiSquare chi;
  for (uint64_t length = 1; length <= kLongest; ++length) {
    chi.Add(seen[length], rows * (places(length) - 2 * places(length + 1) + places(length + 2)));
  }
  return chi.Excess();
}

double LabelRunsOfGlobal(const EpochIds& ids) {
  return LabelRuns(ids, kRecords, kRecords, kRecords);
}

// One position per lane and window: that many different blocks, drawn at random.
double LabelRunsOfWindows(const EpochIds& ids) {
  return LabelRuns(ids, kLanes, kWindowRows, kBlocks);
}

// Blocks against windows: counts each block's lane, and its row of windows. Both are a permutation
// of the blocks, cut into classes as in Positions().
double BlocksAreDealt(const EpochIds& ids) {
  constexpr uint64_t kCells = kBlocks / kWindowBlocks;  // windows
  std::vector<double> seen(kBlocks * kCells);
  for (uint64_t epoch = 0; epoch < kEpochs * 4; ++epoch) {
    const Ids order = ids(epoch);
    for (uint64_t p = 0; p < kRecords; ++p) {
      if (order[p] % kBlock != 0) continue;
      const uint64_t window = p / kWindowRows * kLanes + p % kLanes;
      ++seen[order[p] / kBlock * kCells + window];
    }
  }
  ChiSquare chi;
  for (const double count : seen) chi.Add(count, 4.0 * kEpochs / kCells);
  return chi.Excess((kBlocks - 1.0) * (kCells - 1.0), kBlocks / (kBlocks - 1.0));
}

// Within a window: its records, numbered by id, against their positions. For permutations of k,
// chi-square has the mean (k - 1)^2 k / (k - 1).
double WindowsAreMixed(const EpochIds& ids) {
  std::vector<double> seen(kWindow * kWindow);
  double windows = 0;
  for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const Ids order = ids(epoch);
    for (uint64_t first = 0; first < kRecords; first += kWindowRows) {
      for (uint64_t lane = 0; lane < kLanes; ++lane, ++windows) {
        Ids window, sorted;
        for (uint64_t i = 0; i < kWindow; ++i) window.push_back(order[first + lane + i * kLanes]);
        sorted = window;
        std::ranges::sort(sorted);
        for (uint64_t i = 0; i < kWindow; ++i) {
          const auto rank = std::ranges::lower_bound(sorted, window[i]) - sorted.begin();
          ++seen[i * kWindow + static_cast<uint64_t>(rank)];
        }
      }
    }
  }
  ChiSquare chi;
  for (const double count : seen) chi.Add(count, windows / kWindow);
  return chi.Excess((kWindow - 1.0) * (kWindow - 1.0), kWindow / (kWindow - 1.0));
}

// Orders under test: the library's, the control's and faulty ones.

EpochIds Ours(const OrderSpec& spec, uint64_t seed) {
  return [=](uint64_t epoch) {
    Order order(spec, seed, epoch, kRecords);
    Ids ids;
    for (uint64_t p = 0; p < kRecords; ++p) ids.push_back(order(p));
    return ids;
  };
}

Ids Counted(uint64_t n) {
  Ids ids(n);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

// Fisher-Yates shuffle with the same result for every standard library.
Ids Shuffled(Ids ids, std::mt19937_64& random) {
  for (uint64_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[random() % i]);
  return ids;
}

Ids FisherYates(uint64_t epoch) {
  std::mt19937_64 random(epoch + 1);
  return Shuffled(Counted(kRecords), random);
}

Ids Rotated(uint64_t epoch) {
  Ids ids = Counted(kRecords);
  std::rotate(ids.begin(), ids.begin() + static_cast<int64_t>(FisherYates(epoch)[0]), ids.end());
  return ids;
}

Ids InPairs(uint64_t epoch) {
  std::mt19937_64 random(epoch + 1);
  Ids ids;
  for (const uint64_t pair : Shuffled(Counted(kRecords / 2), random)) {
    ids.insert(ids.end(), {2 * pair, 2 * pair + 1});
  }
  return ids;
}

Ids Affine(uint64_t epoch) {
  std::mt19937_64 random(epoch + 1);
  const uint64_t factor = random() % kRecords | 1, offset = random();
  Ids ids;
  for (uint64_t p = 0; p < kRecords; ++p) ids.push_back((p * factor + offset) % kRecords);
  return ids;
}

Ids ThroughABuffer(uint64_t epoch) {
  std::mt19937_64 random(epoch + 1);
  Ids buffer, ids;
  for (uint64_t i = 0; i < kRecords || !buffer.empty(); ++i) {
    if (i < kRecords) buffer.push_back(i);
    if (buffer.size() < kRecords / 8 && i < kRecords) continue;
    std::swap(buffer[random() % buffer.size()], buffer.back());
    ids.push_back(buffer.back());
    buffer.pop_back();
  }
  return ids;
}

Ids TheSameEveryEpoch(uint64_t) { return FisherYates(0); }

// Avoids two successive records of a class if possible.
Ids ClassesInTurn(uint64_t epoch) {
  const Ids order = FisherYates(epoch);
  Ids ids(kRecords);
  std::map<uint64_t, uint64_t> seen;
  for (const uint64_t id : order) {
    const uint64_t label = id * 8 / kRecords;
    ids[seen[label]++ * 8 + label] = id;
  }
  return ids;
}

// Window order made with plain shuffles; each fault removes one of them.
struct Windows {
  bool deal = true;         // permute blocks
  bool keep_pairs = false;  // but keep blocks of two neighbouring lanes together
  bool mix = true;          // shuffle records within a window
  bool own = true;          // with a different shuffle per window
  bool wide = true;         // across all blocks of a window, not block by block

  Ids operator()(uint64_t epoch) const {
    std::mt19937_64 random(epoch + 1);
    Ids blocks = Counted(kBlocks);
    if (keep_pairs) {
      const Ids pairs = Shuffled(Counted(kBlocks / 2), random);
      for (uint64_t i = 0; i < kBlocks; ++i) blocks[i] = 2 * pairs[i / 2] + i % 2;
    } else if (deal) {
      blocks = Shuffled(blocks, random);
    }
    const Ids shared = Shuffled(Counted(kWindow), random);
    Ids ids(kRecords);
    for (uint64_t first = 0; first < kRecords; first += kWindowRows) {
      for (uint64_t lane = 0; lane < kLanes; ++lane) {
        Ids mixed = mix && wide && own ? Shuffled(Counted(kWindow), random) : shared;
        if (!mix) mixed = Counted(kWindow);
        if (!wide) {
          mixed = Shuffled(Counted(kBlock), random);
          for (const uint64_t i : Shuffled(Counted(kBlock), random)) mixed.push_back(kBlock + i);
        }
        for (uint64_t i = 0; i < kWindow; ++i) {
          const uint64_t round = first / kWindowRows * kWindowBlocks + mixed[i] / kBlock;
          ids[first + i * kLanes + lane] =
              blocks[round * kLanes + lane] * kBlock + mixed[i] % kBlock;
        }
      }
    }
    return ids;
  }
};

using Check = double (*)(const EpochIds&);

struct Case {
  const char* name;
  Check check;
  std::vector<EpochIds> good;
  std::vector<EpochIds> faulty;
};

class Statistics : public testing::TestWithParam<Case> {};

TEST_P(Statistics, OursPassesAndFaultyOrdersDoNot) {
  const Case& test = GetParam();
  for (size_t i = 0; i < test.good.size(); ++i) {
    const double excess = test.check(test.good[i]);
    EXPECT_TRUE(Passes(excess)) << i << ": " << excess;
  }
  for (size_t i = 0; i < test.faulty.size(); ++i) {
    const double excess = test.check(test.faulty[i]);
    EXPECT_FALSE(Passes(excess)) << i << ": " << excess;
  }
}

const OrderSpec kGlobalSpec = {.kind = OrderKind::kGlobal};
const OrderSpec kWindowSpec = {OrderKind::kWindow, kBlock, kLanes, kWindowBlocks};

std::vector<EpochIds> GoodGlobal() {
  return {Ours(kGlobalSpec, 1), Ours(kGlobalSpec, 77), FisherYates};
}

std::vector<EpochIds> GoodWindows() {
  return {Ours(kWindowSpec, 1), Ours(kWindowSpec, 77), Windows{}};
}

std::string NameOf(const testing::TestParamInfo<Case>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    GlobalOrder, Statistics,
    testing::Values(
        Case{"positions", Positions, GoodGlobal(), {Rotated, ThroughABuffer, TheSameEveryEpoch}},
        Case{"neighbours", NeighboursOfGlobal, GoodGlobal(), {Rotated, InPairs, Affine, Windows{}}},
        Case{"label_runs",
             LabelRunsOfGlobal,
             GoodGlobal(),
             {Rotated, ThroughABuffer, ClassesInTurn}}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    WindowOrder, Statistics,
    testing::Values(Case{"blocks", BlocksAreDealt, GoodWindows(), {Windows{.deal = false}}},
                    Case{"mixing",
                         WindowsAreMixed,
                         GoodWindows(),
                         {Windows{.mix = false}, Windows{.own = false}}},
                    Case{"neighbours",
                         BlocksOfNeighbouringLanes,
                         GoodWindows(),
                         {Windows{.deal = false}, Windows{.keep_pairs = true}}},
                    Case{"neighbours_in_lanes",
                         NeighboursInLanes,
                         GoodWindows(),
                         {FisherYates, Windows{.mix = false}, Windows{.own = false},
                          Windows{.wide = false}}},
                    Case{"label_runs",
                         LabelRunsOfWindows,
                         GoodWindows(),
                         {Windows{.deal = false}, Windows{.keep_pairs = true}}}),
    NameOf);

}  // namespace
}  // namespace recpack
