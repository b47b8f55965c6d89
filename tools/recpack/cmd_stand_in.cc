// recpack stand-in: a drawn CIFAR-10, for demos on machines without a network. Hidden from --help.
#include <memory>

#include "recpack/dataset/stand_in.h"
#include "tools/recpack/command.h"
#include "tools/recpack/numbers.h"

namespace recpack::tool {

void AddStandIn(CLI::App& app, int& exit_code) {
  struct Flags {
    std::string out;
    uint64_t rows = StandInOptions().rows_per_batch;
    uint64_t seed = 0;
  };
  CLI::App* command = app.add_subcommand("stand-in", "Draw a stand-in for CIFAR-10");
  auto flags = std::make_shared<Flags>();
  command->group("");
  command->add_option("OUT", flags->out, "Folder for the batches")->required();
  command->add_option("--rows", flags->rows, "Rows of each batch (default 10000)")
      ->check(WholeNumberIn(1));
  command->add_option("--seed", flags->seed, "Seed of the drawing")->check(WholeNumberIn(0));
  command->callback([flags, &exit_code] {
    WriteCifarStandIn(flags->out, {.rows_per_batch = flags->rows, .seed = flags->seed});
    exit_code = kDone;
  });
}

}  // namespace recpack::tool
