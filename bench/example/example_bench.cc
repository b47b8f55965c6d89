// Writing and parsing records in memory, beside Protocol Buffers' own and a bare memcpy.
//
//   example_bench [ROUNDS]
//
// One JSON line a row. Records: `cifar` (an image of 3072 bytes and a label), `numbers` (1000 int64
// of up to 5 bytes, 1000 floats), `wide` (40 features of one int64). Jobs: `build` serialises
// features into a buffer, `parse` parses a record and finds all its features. Entrants take turns,
// figures are medians over the rounds. The peer is Protocol Buffers with a reused message of a type
// built at run time: generated code, as TensorFlow has it, is faster than that. The ceiling copies
// the record once; a parser that views bytes can be above it.
#include <google/protobuf/message.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/random.h"
#include "recpack/example/builder.h"
#include "recpack/example/view.h"
#include "src/example/example_proto.h"

namespace recpack {
namespace {

constexpr int kRepeats = 20'000;

struct Case {
  std::string name;
  std::vector<std::string> names;
  std::function<void(const Case&, ExampleBuilder&)> fill;
};

std::vector<Case> Cases() {
  static const ByteBuffer pixels(3072, 0x80);
  static std::vector<int64_t> ints;
  static std::vector<float> floats;
  KeyedRandom random(1, 0, 0);
  for (int i = 0; i < 1000; ++i) {
    ints.push_back(random.NextU32() >> random.NextU32() % 32);
    floats.push_back(static_cast<float>(i) / 8);
  }
  std::vector<Case> cases;
  cases.push_back({"cifar", {"image", "label"}, [](const Case& c, ExampleBuilder& builder) {
                     builder.AddBytes(c.names[0], pixels);
                     builder.AddInt64(c.names[1], 6);
                   }});
  cases.push_back({"numbers", {"floats", "ints"}, [](const Case& c, ExampleBuilder& builder) {
                     builder.AddFloatList(c.names[0], floats);
                     builder.AddInt64List(c.names[1], ints);
                   }});
  cases.push_back({"wide", {}, [](const Case& c, ExampleBuilder& builder) {
                     for (const std::string& name : c.names) builder.AddInt64(name, 7);
                   }});
  for (int i = 10; i < 50; ++i) cases.back().names.push_back("feature" + std::to_string(i));
  return cases;
}

// Keeps the compiler from dropping work whose result nobody reads.
void Keep(const void* result) { asm volatile("" : : "g"(result) : "memory"); }

double NanosecondsEach(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kRepeats; ++i) work();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  return took.count() / kRepeats;
}

struct Entrant {
  std::string job;
  std::string name;
  std::function<void()> work;
  std::vector<double> times = {};  // ns a record
};

void Run(const Case& c, int rounds) {
  ExampleBuilder builder;
  c.fill(c, builder);
  ByteBuffer record(builder.ByteSize());
  builder.SerializeTo(record.data());
  ByteBuffer out(record.size());
  ExampleView view;
  const auto message = ParseExampleMessage(record);
  const auto parsed = NewExampleMessage();
  const int size = static_cast<int>(record.size());

  const auto copy = [&] {
    std::memcpy(out.data(), record.data(), record.size());
    Keep(out.data());
  };
  const auto build = [&] {
    builder.Clear();
    c.fill(c, builder);
    if (builder.ByteSize() != out.size()) std::abort();
    builder.SerializeTo(out.data());
    Keep(out.data());
  };
  const auto parse = [&] {
    view.Parse(record);
    for (const std::string& name : c.names) {
      if (view.Find(name) == nullptr) std::abort();
    }
  };
  std::vector<Entrant> entrants = {
      {"build", "memcpy", copy},
      {"build", "recpack", build},
      {"build", "protobuf_dynamic",
       [&] {
         if (!message->SerializeToArray(out.data(), size)) std::abort();
         Keep(out.data());
       }},
      {"parse", "memcpy", copy},
      {"parse", "recpack", parse},
      {"parse", "protobuf_dynamic",
       [&] {
         if (!parsed->ParseFromArray(record.data(), size)) std::abort();
       }},
  };
  for (int round = -1; round < rounds; ++round) {  // the first one warms up
    for (Entrant& entrant : entrants) {
      const double time = NanosecondsEach(entrant.work);
      if (round >= 0) entrant.times.push_back(time);
    }
  }
  for (Entrant& entrant : entrants) {
    std::ranges::sort(entrant.times);
    std::printf(
        "{\"bench\": \"example\", \"record\": \"%s\", \"record_bytes\": %zu, \"job\": \"%s\", "
        "\"entrant\": \"%s\", \"ns_per_record\": %.1f, \"ns_least\": %.1f}\n",
        c.name.c_str(), record.size(), entrant.job.c_str(), entrant.name.c_str(),
        entrant.times[entrant.times.size() / 2], entrant.times.front());
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace recpack

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: example_bench [ROUNDS]\n");
    return 2;
  }
  for (const auto& c : recpack::Cases()) recpack::Run(c, rounds);
}
