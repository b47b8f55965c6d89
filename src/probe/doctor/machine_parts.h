// The parts of a machine, each by who tells of it.
#pragma once

#include "src/probe/doctor/machine.h"
#include "src/probe/procfs/system_sample.h"
#include "src/probe/util/unseen_list.h"

namespace recpack::probe {

MachineCores ReadMachineCores(const MachineOptions& options);
MachineMemory ReadMachineMemory(const MachineOptions& options);
MachineKernel ReadMachineKernel(const MachineOptions& options);
MachineStorage ReadMachineStorage(const MachineOptions& options);
MachineGpus ReadMachineGpus(const MachineOptions& options);

// Limits of the control group of this process.
CgroupSample ReadCgroup(const MachineOptions& options, UnseenList& missing);
// Of what could not be read of it.
Unavailable Why(const UnseenList& missing);

// RLIMIT_NOFILE and its kin: the soft limit or the hard one.
Reading<uint64_t> ResourceLimit(int which, bool soft);

}  // namespace recpack::probe
