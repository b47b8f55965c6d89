// The control group of a process, versions 1 and 2.
#pragma once

#include <string>
#include <vector>

#include "src/probe/procfs/cgroup_folders.h"
#include "src/probe/procfs/machine_files.h"
#include "src/probe/procfs/system_sample.h"
#include "src/probe/util/kept_file.h"
#include "src/probe/util/unseen_list.h"

namespace recpack::probe {

class CgroupFiles {
 public:
  // `files` must outlive it.
  CgroupFiles(KeptFiles* files, std::string proc, std::string sys);

  // Finds the group anew where the process has moved to another one, and its limits.
  void ReadLimits(int process, CgroupSample& sample, UnseenList& missing);
  // What changes from sample to sample.
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
  std::vector<KeptFile> cpu_stats_;    // of the group and of those around it
  std::vector<KeptFile> memory_used_;  // none, or one
  std::vector<PressureFiles> pressure_;
};

}  // namespace recpack::probe
