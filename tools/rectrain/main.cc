// rectrain: the reference trainer, fed by the loader.
#include "tools/rectrain/command.h"

int main(int argc, char** argv) {
  using namespace recpack::tool;
  return RunProgram("rectrain",
                    "rectrain trains reference networks on shards, on one or several devices, and "
                    "evaluates and times them.\n"
                    "Exit codes: 0 done, 1 a combination of a sweep failed, 2 usage or failure.",
                    {AddTrain, AddEval, AddSweep}, argc, argv);
}
