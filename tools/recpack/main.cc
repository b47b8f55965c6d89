// recpack: packs many small files into TFRecord shards, and looks after shards.
#include <cstdio>

#include "tools/recpack/command.h"

int main(int argc, char** argv) {
  using namespace recpack::tool;
  const int code = RunProgram(
      "recpack",
      "recpack packs many small files into TFRecord shards, and lists, verifies and repairs shards."
      "\nExit codes: 0 done, 1 something was found (verify, skipped files), 2 usage or failure.",
      {AddPack, AddLs, AddCat, AddBatches, AddBench, AddAudit, AddSheet, AddIndex, AddRepair,
       AddVerify, AddCompletion, AddStandIn},
      argc, argv);
  // Records that a full disk did not take are not there, whatever was read of them.
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::fputs("recpack: not all of the output could be written\n", stderr);
  return kFailure;
}
