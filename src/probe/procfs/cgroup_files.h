// Reads limits and counters of a process's control group, versions 1 and 2.
#pragma once

#include <string>
#include <vector>

#include "src/probe/procfs/cgroup_folders.h"
#include "src/probe/procfs/machine_files.h"
#include "src/probe/procfs/system_sample.h"
#include "src/probe/util/kept_file.h"
#include "src/probe/util/unseen.h"

namespace recpack::probe {

class CgroupFiles {
 public:
  // `files` must outlive this object.
  CgroupFiles(KeptFiles* files, std::string proc, std::string sys);

  // Reads the group's limits, and looks the group up again in case the process has moved.
  void ReadLimits(int process, CgroupSample& sample, UnseenList& missing);
  // Reads what changes from sample to sample.
  void ReadCounters(CgroupSample& sample, UnseenList& missing);

 private:
  void Open(const CgroupFolders& folders);
  void ReadCpuLimit(CgroupSample& sample) const;
  void ReadCpus(CgroupSample& sample) const;
  void ReadMemoryLimit(CgroupSample& sample, UnseenList& missing);

  KeptFiles* files_;
  const std::string proc_;
  const std::string sys_;
  CgroupFolders folders_;
  std::vector<KeptFile> cpu_stats_;    // of the group and its ancestors
  std::vector<KeptFile> memory_used_;  // at most one
  std::vector<PressureFiles> pressure_;
};

}  // namespace recpack::probe
