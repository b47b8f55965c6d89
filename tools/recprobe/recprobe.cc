#include "tools/recprobe/command.h"

namespace recpack::tool {

int RunRecprobe(int argc, char** argv) {
  return RunProgram("recprobe",
                    "recprobe watches a training program and tells whether it is input-bound, "
                    "where, and what fixing it would gain.\n"
                    "Exit codes: that of the command that is run; else 0 done, 1 a finding "
                    "(--fail-above, doctor, merge), 2 usage or failure.",
                    {AddRun, AddAttach, AddTop, AddDoctor, AddGain, AddRead, AddShow, AddLog,
                     AddMerge, AddCompare},
                    argc, argv);
}

}  // namespace recpack::tool
