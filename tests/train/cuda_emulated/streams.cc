#include "tests/train/cuda_emulated/streams.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace recpack::emulated {
namespace {

// approximate number of pieces between changes of the streams' ranks
constexpr uint64_t kSteady = 1024;
constexpr uint64_t kSleepers = 2;  // one in so many streams sleeps
constexpr uint64_t kShared = 8;    // one in so many waits also runs work that it does not need

// Tells whether no stream blocks its next piece.
bool AtHand(const CUstream_st& stream) {
  if (stream.queue.empty()) return false;
  const auto& after = stream.queue.front().after;
  return std::all_of(after.begin(), after.end(), [](const Token& one) { return one->done; });
}

bool Ready(const CUstream_st& stream) {
  if (!AtHand(stream)) return false;
  const auto& ready = stream.queue.front().work.ready;
  return !ready || ready();
}

}  // namespace

cudaStream_t Streams::Create(int device) {
  streams_.push_back(std::make_unique<CUstream_st>());
  streams_.back()->device = device;
  streams_.back()->rank = Rank();
  return streams_.back().get();
}

void Streams::Destroy(cudaStream_t stream) {
  stream->destroyed = true;
  std::erase_if(streams_, [](const auto& one) { return one->destroyed && one->queue.empty(); });
}

bool Streams::Knows(cudaStream_t stream) const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [&](const auto& one) { return one.get() == stream && !one->destroyed; });
}

std::vector<cudaStream_t> Streams::BlockingOf(int device) const {
  std::vector<cudaStream_t> blocking;
  for (const auto& stream : streams_) {
    if (stream->blocking && stream->device == device) blocking.push_back(stream.get());
  }
  return blocking;
}

Token Streams::Enqueue(cudaStream_t stream, Work work, std::vector<Token> after) {
  auto token = std::make_shared<Completion>();
  after.insert(after.end(), stream->waits.begin(), stream->waits.end());
  stream->waits.clear();
  stream->queue.push_back({std::move(work), std::move(after), token});
  stream->last = token;
  return token;
}

void Streams::Run(CUstream_st& stream) {
  const CUstream_st::Entry entry = std::move(stream.queue.front());
  stream.queue.pop_front();
  if (before_(entry.work) && entry.work.run) entry.work.run();
  entry.token->done = true;
  entry.token->at = std::chrono::steady_clock::now();
  if (stream.destroyed && stream.queue.empty()) Destroy(&stream);
}

uint64_t Streams::Rank() { return random_() % kSleepers == 0 ? 0 : random_(); }

// A stream keeps its rank for a while, so that it may stand still while others finish all their
// work.
bool Streams::RunOne(bool sleepers) {
  CUstream_st* first = nullptr;
  if (random_() % kSteady == 0) {
    for (const auto& stream : streams_) stream->rank = Rank();
  }
  for (const auto& stream : streams_) {
    if (!Ready(*stream) || (stream->rank == 0 && !sleepers)) continue;
    if (!first || stream->rank > first->rank) first = stream.get();
  }
  if (!first) return false;
  Run(*first);
  return true;
}

void Streams::RunUntil(const Token& token) {
  if (!token || token->done) return;
  const auto holds = [&](const auto& stream) {
    return std::any_of(stream->queue.begin(), stream->queue.end(),
                       [&](const auto& entry) { return entry.token == token; });
  };
  CUstream_st& stream = **std::find_if(streams_.begin(), streams_.end(), holds);
  const bool alone = random_() % kShared != 0;
  while (!token->done) {
    if (alone && Ready(stream)) {
      Run(stream);
    } else if (!RunOne(true)) {
      AwaitOthers();
    }
  }
}

void Streams::AwaitOthers() {
  if (std::none_of(streams_.begin(), streams_.end(),
                   [](const auto& one) { return AtHand(*one); })) {
    std::fprintf(stderr, "emulated CUDA: streams wait for each other\n");
    std::abort();
  }
  idle_();
}

void Streams::RunSome(bool sleepers) {
  for (uint64_t some = random_() % 8 + 1; some > 0 && RunOne(sleepers); --some) {
  }
}

void Streams::RunAll() {
  while (RunOne(true)) {
  }
}

void Streams::RunAllOf(int device) {
  std::vector<Token> tokens;
  for (const auto& stream : streams_) {
    if (stream->device == device && stream->last) tokens.push_back(stream->last);
  }
  for (const Token& token : tokens) RunUntil(token);
}

size_t Streams::Waiting() const {
  size_t pieces = 0;
  for (const auto& stream : streams_) pieces += stream->queue.size();
  return pieces;
}

size_t Streams::Count() const {
  return static_cast<size_t>(std::count_if(streams_.begin(), streams_.end(),
                                           [](const auto& one) { return !one->destroyed; }));
}

}  // namespace recpack::emulated
