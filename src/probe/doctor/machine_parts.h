// Readers of the parts of a machine, one per source of information, and helpers for small files of
// /proc and /sys.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include "src/base/format.h"
#include "src/probe/doctor/machine.h"
#include "src/probe/procfs/scanner.h"
#include "src/probe/procfs/system_sample.h"
#include "src/probe/util/reading.h"
#include "src/probe/util/unseen.h"

namespace recpack::probe {

MachineCores ReadMachineCores(const MachineOptions& options);
MachineMemory ReadMachineMemory(const MachineOptions& options);
MachineKernel ReadMachineKernel(const MachineOptions& options);
MachineStorage ReadMachineStorage(const MachineOptions& options);
MachineGpus ReadMachineGpus(const MachineOptions& options);

// Limits of this process's control group.
CgroupSample ReadCgroup(const MachineOptions& options, UnseenList& missing);
// The reason why a limit of the control group could not be read.
Unavailable CgroupReason(const UnseenList& missing);

// `which`: RLIMIT_NOFILE, ... Returns the soft limit or the hard one.
Reading<uint64_t> ResourceLimit(int which, bool soft);

// Reads a whole file; the last newline is dropped.
inline Reading<std::string> ReadText(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Unavailable{format("{} cannot be read", path)};
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// Reads the integer at the beginning of a file.
inline Reading<int> ReadNumber(const std::string& path) {
  const Reading<std::string> text = ReadText(path);
  if (!text) return Unavailable{text.reason()};
  try {
    return std::stoi(*text);
  } catch (const std::exception&) {
    return Unavailable{format("{} does not begin with a number", path)};
  }
}

}  // namespace recpack::probe
