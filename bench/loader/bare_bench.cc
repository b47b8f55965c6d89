// The ceilings of loader_bench.
//
//   bare_bench cifar|parse|crop|sequential DATA [--type f32|u8] [--threads N] [--batch N]
//              [--samples N] [--rounds N] [--serve 1]
#include "bench/loader/bare.h"

namespace {

int Run(int argc, char** argv) {
  using namespace recpack::bench;
  const auto flag = [&](const char* name, const char* otherwise) {
    return Flag(argc, argv, name, otherwise);
  };
  const BareFlags flags{.data = argv[2],
                        .floats = flag("--type", "f32") == "f32",
                        .threads = std::stoi(flag("--threads", "2")),
                        .batch = static_cast<uint32_t>(std::stoul(flag("--batch", "512"))),
                        .samples = std::stoull(flag("--samples", "0"))};
  const std::string job = argv[1];
  const auto loop = job == "crop"         ? BareCrop(flags)
                    : job == "parse"      ? BareParse(flags)
                    : job == "sequential" ? BareSequential(flags)
                                          : BareCifar(flags);
  const int rounds = std::stoi(flag("--rounds", "5"));
  if (flag("--serve", "0") == "1") {
    Serve(
        job, [] {}, [&] { return loop->Run(); });
  } else {
    Measure(job, flags.threads, rounds, [&] { return loop->Run(); });
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: bare_bench cifar|parse|crop|sequential DATA [--type f32|u8] ...\n");
    return 2;
  }
  try {
    return Run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bare_bench: %s\n", error.what());
    return 2;
  }
}
