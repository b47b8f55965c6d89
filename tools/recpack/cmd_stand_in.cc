// recpack stand-in: writes a synthetic CIFAR-10 or synthetic reviews, for demos and tests on
// machines without a network. Hidden from --help.
#include <memory>

#include "src/stand_in/cifar.h"
#include "src/stand_in/reviews.h"
#include "tools/recpack/command.h"
#include "tools/recpack/numbers.h"

namespace recpack::tool {

void AddStandIn(CLI::App& app, int& exit_code) {
  struct Flags {
    std::string out;
    std::string kind = "cifar10";
    uint64_t rows = stand_in::CifarOptions().rows_per_batch;
    uint64_t records = stand_in::ReviewsOptions().records;
    uint64_t seed = 0;
  };
  CLI::App* command = app.add_subcommand("stand-in", "Write a synthetic data set");
  auto flags = std::make_shared<Flags>();
  command->group("");
  command->add_option("OUT", flags->out, "Folder for the files")->required();
  command->add_option("--kind", flags->kind, "cifar10 (default) or reviews")
      ->check(CLI::IsMember({"cifar10", "reviews"}));
  command->add_option("--rows", flags->rows, "Rows of each batch (default 10000)")
      ->check(WholeNumberIn(1));
  command->add_option("--records", flags->records, "Number of reviews (default 10000)")
      ->check(WholeNumberIn(1));
  command->add_option("--seed", flags->seed, "Seed of the drawing")->check(WholeNumberIn(0));
  command->callback([flags, &exit_code] {
    if (flags->kind == "reviews") {
      stand_in::WriteReviews(flags->out, {.records = flags->records, .seed = flags->seed});
    } else {
      stand_in::WriteCifar(flags->out, {.rows_per_batch = flags->rows, .seed = flags->seed});
    }
    exit_code = kDone;
  });
}

}  // namespace recpack::tool
