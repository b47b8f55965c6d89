#include "src/probe/procfs/process_tree.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "recpack/base/event_log.h"
#include "src/base/format.h"
#include "src/probe/procfs/scanner.h"
#include "src/probe/util/numbered_entries.h"

namespace recpack::probe {
namespace {

int64_t OwnCpuNs() noexcept {
  timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

bool BlockIoIsCounted(KeptFiles* files, const std::string& proc) {
  KeptFile setting(files, proc + "/sys/kernel/task_delayacct");
  const auto text = setting.Read();
  return text && Scanner(*text).Word() == "1";
}

}  // namespace

ProcessTree::ProcessTree(KeptFiles* files, const std::vector<int>& roots,
                         const SystemSamplerOptions& options)
    : files_(files),
      options_(options),
      own_process_(::getpid()),
      block_io_is_counted_(BlockIoIsCounted(files, options.proc)) {
  for (const int root : roots) Join(root);
}

void ProcessTree::Join(int process) {
  members_.try_emplace(process, files_, options_.proc, process);
  leaders_.insert(process);
}

void ProcessTree::Read(const Counter& forks, SystemSample& sample, UnseenList& missing) {
  if (!block_io_is_counted_) {
    missing.Add("block I/O wait of threads", "the kernel does not count it",
                "kernel.task_delayacct=1 (sysctl)");
  }
  FindNew(forks, missing);
  ReadMembers(missing);
  ReadAllowedCores(missing);
  Copy(sample);
}

void ProcessTree::FindNew(const Counter& forks, UnseenList& missing) {
  if (!forks || forks != forks_) looked_ = false;
  forks_ = forks;
  if (looked_ || !MayScan()) return;
  const int64_t cpu_before = OwnCpuNs();
  Scan(missing);
  looked_ = true;
  if (options_.max_scan_share > 0) {
    const auto cost = static_cast<double>(OwnCpuNs() - cpu_before);
    next_scan_ns_ = EventLog::Now() + static_cast<int64_t>(cost / options_.max_scan_share);
  }
}

bool ProcessTree::MayScan() const noexcept {
  return options_.max_scan_share <= 0 || EventLog::Now() >= next_scan_ns_;
}

// A process that does not belong to the tree when it is first checked never will, as descent is
// known from its start.
void ProcessTree::Scan(UnseenList& missing) {
  if (const int error = ListNumberedEntries(options_.proc, files_->text, listed_); error != 0) {
    missing.Add("child processes", options_.proc, error, "a readable /proc");
    return;
  }
  std::vector<int> fresh;
  std::set_difference(listed_.begin(), listed_.end(), known_.begin(), known_.end(),
                      std::back_inserter(fresh));
  std::vector<Candidate> candidates;
  for (const int process : fresh) {
    if (process == own_process_ || members_.contains(process)) continue;
    leaders_.erase(process);  // its PID was reused
    KeptFile file(files_, format("{}/{}/stat", options_.proc, process), KeptFile::Size::kOneRead);
    const auto text = file.Read();
    const auto stat = text ? ParseProcessStat(*text) : std::nullopt;
    if (stat) candidates.push_back({process, stat->parent, stat->group, stat->session});
    if (!text && (file.error() == EACCES || file.error() == EPERM)) {
      missing.Add("processes of other users", file.path(), file.error(),
                  "CAP_SYS_PTRACE, or the group that /proc is mounted for (hidepid)");
    }
  }
  for (bool joined = true; joined;) {
    joined = std::erase_if(candidates, [&](const Candidate& candidate) {
               if (!Belongs(candidate)) return false;
               Join(candidate.process);
               return true;
             }) > 0;
  }
  known_.swap(listed_);
  // The parent of a candidate may have started after its place in the listing was passed: check the
  // candidate again next time.
  for (const Candidate& candidate : candidates) {
    const auto is_known = [&](int process) {
      return process == 0 || std::binary_search(known_.begin(), known_.end(), process);
    };
    if (is_known(candidate.parent)) continue;
    known_.erase(std::lower_bound(known_.begin(), known_.end(), candidate.process));
  }
}

bool ProcessTree::Belongs(const Candidate& candidate) const {
  return members_.contains(candidate.parent) || leaders_.contains(candidate.group) ||
         leaders_.contains(candidate.session) ||
         (options_.adopter != 0 && candidate.parent == options_.adopter);
}

void ProcessTree::ReadMembers(UnseenList& missing) {
  std::map<int, Spent> ended_children;  // by parent
  for (auto member = members_.begin(); member != members_.end();) {
    TreeProcess& process = member->second;
    if (process.Read(block_io_is_counted_, missing)) {
      ++member;
      continue;
    }
    Spent& ended = ended_children[process.sample().parent];
    ended += process.own();
    ended += process.children();
    member = members_.erase(member);
  }
  if (!first_) {
    for (const auto& [number, member] : members_) {
      total_ += member.own_growth();
      // The children's usage was added while they ran, except for the last part.
      const auto ended = ended_children.find(number);
      const Spent counted = ended == ended_children.end() ? Spent() : ended->second;
      total_ += Beyond(member.children_growth(), counted);
    }
  }
  first_ = false;
}

void ProcessTree::ReadAllowedCores(UnseenList& missing) {
  constexpr size_t kAtOnce = 1;  // known threads per sample; affinities rarely change
  size_t threads = 0;
  bool changed = false;
  for (auto& [number, member] : members_) threads += member.threads().size();
  size_t at = 0;
  for (auto& [number, member] : members_) {
    for (TreeThread& thread : member.threads()) {
      const bool turn = at >= refresh_ && at < refresh_ + kAtOnce;
      if (turn || thread.allowed().empty()) changed |= thread.ReadAllowed();
      ++at;
    }
  }
  refresh_ = refresh_ + kAtOnce < threads ? refresh_ + kAtOnce : 0;
  if (!changed) {
    if (allowed_cores_.empty() && threads > 0) {
      missing.Add("processors that the tree may use", "/proc/PID/status does not say", "");
    }
    return;
  }
  std::set<std::string> lists;
  for (auto& [number, member] : members_) {
    for (const TreeThread& thread : member.threads()) lists.insert(thread.allowed());
  }
  std::set<int> cores;
  for (const std::string& list : lists) {
    const std::vector<int> some = ParseCoreList(list);
    cores.insert(some.begin(), some.end());
  }
  allowed_cores_.assign(cores.begin(), cores.end());
}

void ProcessTree::Copy(SystemSample& sample) {
  size_t threads = 0;
  for (auto& [number, member] : members_) threads += member.threads().size();
  sample.processes.resize(members_.size());
  sample.threads.resize(threads);
  auto to_process = sample.processes.begin();
  auto to_thread = sample.threads.begin();
  for (auto& [number, member] : members_) {
    *to_process++ = member.sample();
    for (const TreeThread& thread : member.threads()) *to_thread++ = thread.sample();
  }
  sample.allowed_cores = allowed_cores_;
  sample.tree_cpu_ns = total_.cpu_ns;
  sample.tree_major_faults = total_.major_faults;
}

}  // namespace recpack::probe
