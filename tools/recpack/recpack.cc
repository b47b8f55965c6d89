#include "tools/recpack/command.h"

namespace recpack::tool {

int RunRecpack(int argc, char** argv) {
  return RunProgram(
      "recpack",
      "recpack packs many small files into TFRecord shards, and lists, verifies and repairs shards."
      "\nExit codes: 0 success, 1 findings (verify, skipped files), 2 usage error or failure.",
      {AddPack, AddLs, AddCat, AddBatches, AddBench, AddAudit, AddSheet, AddIndex, AddRepair,
       AddVerify, AddCache, AddMigrate, AddStandIn},
      argc, argv);
}

}  // namespace recpack::tool
