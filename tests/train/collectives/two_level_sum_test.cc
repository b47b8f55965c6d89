// Tests of AllReduce() in two levels: within machines and between them.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <random>

#include "src/train/collectives/transport.h"
#include "tests/train/collectives/thread_world.h"

namespace recpack::train {
namespace {

// Carries messages between threads; counts the bytes between machines.
class Network {
 public:
  explicit Network(std::vector<uint64_t> machines) : machines_(std::move(machines)) {}

  const std::vector<uint64_t>& machines() const noexcept { return machines_; }
  int size() const noexcept { return static_cast<int>(machines_.size()); }
  uint64_t bytes_between() const noexcept { return bytes_between_; }
  void Forget() noexcept { bytes_between_ = 0; }

  void Send(int from, int to, const std::byte* data, size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (Machine(from) != Machine(to)) bytes_between_ += bytes;
    queues_[{from, to}].emplace_back(data, data + bytes);
    arrived_.notify_all();
  }

  void Receive(int from, int to, std::byte* data, size_t bytes) {
    std::unique_lock lock(mutex_);
    auto& queue = queues_[{from, to}];
    arrived_.wait(lock, [&] { return !queue.empty(); });
    ASSERT_EQ(queue.front().size(), bytes);
    std::memcpy(data, queue.front().data(), bytes);
    queue.pop_front();
  }

 private:
  uint64_t Machine(int rank) const { return machines_[static_cast<size_t>(rank)]; }

  const std::vector<uint64_t> machines_;  // by rank
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> queues_;
  std::atomic<uint64_t> bytes_between_ = 0;
};

class NetworkTransport final : public Transport {
 public:
  NetworkTransport(Network& network, int rank) : network_(network), rank_(rank) {}
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return network_.size(); }
  void Move(std::span<const Parcel> parcels, const CollectiveCall&,
            std::chrono::milliseconds) override {
    for (int other = 0; other < size(); ++other) {
      const Parcel& parcel = parcels[static_cast<size_t>(other)];
      if (other == rank_ || parcel.send_bytes == 0) continue;
      network_.Send(rank_, other, parcel.send, parcel.send_bytes);
    }
    for (int other = 0; other < size(); ++other) {
      const Parcel& parcel = parcels[static_cast<size_t>(other)];
      if (other == rank_ || parcel.receive_bytes == 0) continue;
      network_.Receive(other, rank_, parcel.receive, parcel.receive_bytes);
    }
  }
  void Fail(const Error& error) noexcept override { ADD_FAILURE() << error.what(); }
  void Check() override {}

 private:
  Network& network_;
  const int rank_;
};

using Arrays = std::vector<std::vector<float>>;  // by rank

Arrays Numbers(int ranks, size_t count) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  Arrays arrays(static_cast<size_t>(ranks), std::vector<float>(count));
  for (auto& array : arrays) {
    for (float& value : array) value = normal(random) * std::exp2(20 * normal(random));
  }
  return arrays;
}

// Sums in the order of `groups`: within each, then over them.
std::vector<float> Expected(const Arrays& arrays, const std::vector<std::vector<size_t>>& groups) {
  std::vector<float> total;
  for (const auto& group : groups) {
    std::vector<float> sum = arrays[group[0]];
    for (size_t k = 1; k < group.size(); ++k) {
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += arrays[group[k]][i];
    }
    if (total.empty()) {
      total = sum;
      continue;
    }
    for (size_t i = 0; i < sum.size(); ++i) total[i] += sum[i];
  }
  return total;
}

// Returns the bytes between machines. Every rank has to get `expected`.
uint64_t Reduce(Network& network, const Arrays& arrays, const std::vector<float>& expected) {
  std::barrier<> all(network.size());
  RunThreads(network.size(), [&](int rank) {
    const CollectiveOptions options{.machine = network.machines()[static_cast<size_t>(rank)]};
    const auto collective =
        MessageCollective(std::make_unique<NetworkTransport>(network, rank), options);
    collective->Barrier();
    all.arrive_and_wait();
    if (rank == 0) network.Forget();
    all.arrive_and_wait();
    std::vector<float> data = arrays[static_cast<size_t>(rank)];
    collective->AllReduce(data);
    EXPECT_TRUE(data == expected) << "rank " << rank;
  });
  return network.bytes_between();
}

constexpr size_t kCount = (size_t{1} << 20) + 12'345;  // more than a block

TEST(TwoLevelSum, AMachineSendsAnArrayOnce) {
  const std::map<std::vector<uint64_t>, std::vector<std::vector<size_t>>> layouts = {
      {{5, 5, 9, 9}, {{0, 1}, {2, 3}}},
      {{5, 9, 5, 9}, {{0, 2}, {1, 3}}},
      {{9, 9, 9, 5, 5, 5}, {{0, 1, 2}, {3, 4, 5}}},
      {{1, 2, 3, 3, 2, 1}, {{0, 5}, {1, 4}, {2, 3}}}};
  for (const auto& [machines, groups] : layouts) {
    Network network(machines);
    const Arrays arrays = Numbers(network.size(), kCount);
    const uint64_t bytes = Reduce(network, arrays, Expected(arrays, groups));
    const uint64_t array = kCount * sizeof(float);
    EXPECT_NEAR(static_cast<double>(bytes), 2.0 * static_cast<double>((groups.size() - 1) * array),
                4096.0);
  }
}

TEST(TwoLevelSum, OtherwiseRankOrder) {
  const std::vector<uint64_t> layouts[] = {{5, 5, 5, 5}, {5, 6, 7, 8}, {5, 5, 9}, {5, 5, 9, 0}};
  for (const auto& machines : layouts) {
    Network network(machines);
    const Arrays arrays = Numbers(network.size(), kCount);
    std::vector<std::vector<size_t>> groups;
    for (size_t rank = 0; rank < machines.size(); ++rank) groups.push_back({rank});
    Reduce(network, arrays, Expected(arrays, groups));
  }
}

}  // namespace
}  // namespace recpack::train
