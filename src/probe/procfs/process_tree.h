// Tracks the process tree of the root processes and samples its members.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "src/probe/procfs/system_sample.h"
#include "src/probe/procfs/system_sampler.h"
#include "src/probe/procfs/tree_process.h"
#include "src/probe/util/kept_file.h"
#include "src/probe/util/unseen.h"

namespace recpack::probe {

class ProcessTree {
 public:
  // `files` must outlive this object.
  ProcessTree(KeptFiles* files, const std::vector<int>& roots, const SystemSamplerOptions& options);

  // `forks`: the number of processes and threads started since boot. While it does not change, the
  // tree does not look for new ones.
  void Read(const Counter& forks, SystemSample& sample, UnseenList& missing);

 private:
  struct Candidate {
    int process = 0;
    int parent = 0;
    int group = 0;
    int session = 0;
  };

  void FindNew(const Counter& forks, UnseenList& missing);
  bool MayScan() const noexcept;
  void Scan(UnseenList& missing);
  bool Belongs(const Candidate& candidate) const;
  void Join(int process);
  void ReadMembers(UnseenList& missing);
  void ReadAllowedCores(UnseenList& missing);
  void Copy(SystemSample& sample);

  KeptFiles* files_;
  const SystemSamplerOptions options_;
  const int own_process_;
  const bool block_io_is_counted_;
  std::map<int, TreeProcess> members_;
  std::set<int> leaders_;  // present and past members: they may lead groups and sessions
  std::vector<int> listed_;
  std::vector<int> known_;  // processes checked before, ascending
  Counter forks_;
  bool looked_ = false;
  int64_t next_scan_ns_ = 0;

  bool first_ = true;
  Spent total_;
  std::vector<int> allowed_cores_;
  size_t refresh_ = 0;
};

}  // namespace recpack::probe
