// Reads the machine-wide files of /proc.
#pragma once

#include <set>
#include <string>

#include "src/probe/procfs/system_sample.h"
#include "src/probe/util/kept_file.h"
#include "src/probe/util/unseen.h"

namespace recpack::probe {

// Reads the pressure stall files "cpu", "io" and "memory".
class PressureFiles {
 public:
  // Reads FOLDER/cpuSUFFIX and so on.
  PressureFiles(KeptFiles* files, const std::string& folder, const std::string& suffix);

  void Read(PressureStall& stall, const char* what, const char* right, UnseenList& missing);

 private:
  KeptFile cpu_;
  KeptFile io_;
  KeptFile memory_;
};

class MachineFiles {
 public:
  MachineFiles(KeptFiles* files, const std::string& proc, const std::string& sys);

  void Read(SystemSample& sample, UnseenList& missing);

  // Returns the number of processes and threads started since boot, as of the last Read().
  Counter forks() const noexcept { return forks_; }

 private:
  void ReadCores(SystemSample& sample, UnseenList& missing);
  void ReadDevices(SystemSample& sample, UnseenList& missing);
  void ReadNetwork(SystemSample& sample, UnseenList& missing);
  void ReadMemory(SystemSample& sample, UnseenList& missing);
  bool IsWholeDisk(std::string_view name);

  const std::string sys_;
  KeptFile stat_;
  KeptFile disks_;
  KeptFile network_;
  KeptFile memory_;
  KeptFile vmstat_;
  PressureFiles pressure_;
  std::set<std::string, std::less<>> whole_disks_;
  std::set<std::string, std::less<>> parts_;
  Counter forks_;
};

}  // namespace recpack::probe
