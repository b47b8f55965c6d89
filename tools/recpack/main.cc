// recpack: packs many small files into TFRecord shards, and manages shards.
#include "tools/recpack/command.h"

int main(int argc, char** argv) {
  using namespace recpack::tool;
  return RunProgram(
      "recpack",
      "recpack packs many small files into TFRecord shards, and lists, verifies and repairs shards."
      "\nExit codes: 0 success, 1 findings (verify, skipped files), 2 usage error or failure.",
      {AddPack, AddLs, AddCat, AddBatches, AddBench, AddAudit, AddSheet, AddIndex, AddRepair,
       AddVerify, AddCache, AddMigrate, AddStandIn},
      argc, argv);
}
