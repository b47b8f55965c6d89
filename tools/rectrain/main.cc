// rectrain: the reference trainer, fed by the loader.
#include <string_view>

#include "tools/rectrain/command.h"
#include "tools/rectrain/ranks.h"

int main(int argc, char** argv) {
  using namespace recpack::tool;
  const bool trains = argc > 1 && std::string_view(argv[1]) == "train";
  return RunProgram("rectrain",
                    "rectrain trains reference networks on shards, on one or several devices, and "
                    "evaluates and times them.\n"
                    "Exit codes: 0 done, 1 a combination of a sweep failed, 2 usage or failure.",
                    {AddTrain, AddEval, AddSweep}, argc, argv,
                    trains ? TellOtherRanks : OnFailure());
}
