#include "src/probe/procfs/tree_process.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "src/base/format.h"
#include "src/probe/procfs/scanner.h"
#include "src/probe/util/numbered_entries.h"

namespace recpack::probe {
namespace {

constexpr const char* kSameUser = "CAP_SYS_PTRACE or the same user";

bool Exists(const std::string& path) noexcept { return ::access(path.c_str(), F_OK) == 0; }

uint64_t PageBytes() noexcept {
  static const auto bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

bool IsRefusal(int error) noexcept { return error == EACCES || error == EPERM; }

}  // namespace

Spent Beyond(const Spent& a, const Spent& b) noexcept {
  return {a.cpu_ns - std::min(a.cpu_ns, b.cpu_ns),
          a.major_faults - std::min(a.major_faults, b.major_faults)};
}

TreeThread::TreeThread(KeptFiles* files, const std::string& process_folder, int process, int thread)
    : files_(files),
      folder_(format("{}/task/{}", process_folder, thread)),
      stat_(files, folder_ + "/stat", KeptFile::Size::kOneRead),
      schedule_(files, folder_ + "/schedstat", KeptFile::Size::kOneRead) {
  sample_.process = process;
  sample_.thread = thread;
}

bool TreeThread::Read(size_t turn, bool block_io_is_counted, UnseenList& missing) {
  constexpr size_t kAsleep = 16;  // samples in a row without having run
  constexpr size_t kPauseOfSleepers = 4;
  constexpr size_t kPauseOfStat = 4;  // reading stat costs five times as much as schedstat
  constexpr size_t kPauseAtMost = 32;
  if (idle_ >= kAsleep && turn % kPauseOfSleepers != 0) return true;
  const Schedule schedule = ReadSchedule();
  idle_ = schedule == Schedule::kSame ? idle_ + 1 : 0;
  if (schedule == Schedule::kRan) TakeSchedule(missing);
  has_run_ |= schedule != Schedule::kSame;
  const size_t since = turn - read_at_;
  const bool is_due = has_run_ ? since >= kPauseOfStat : turn % kPauseAtMost == 0;
  if (is_known_ && !is_due && schedule != Schedule::kUnknown) return true;
  const auto text = stat_.Read();
  if (!text) {
    if (IsRefusal(stat_.error())) {
      missing.Add("threads", stat_.path(), stat_.error(), kSameUser);
    }
    return false;
  }
  const auto stat = ParseProcessStat(*text);
  if (!stat) return false;
  sample_.name = stat->name;
  sample_.state = stat->state;
  sample_.processor = stat->processor;
  sample_.user_ns = TicksToNs(stat->user);
  sample_.system_ns = TicksToNs(stat->system);
  sample_.block_io_wait_ns.reset();
  if (block_io_is_counted) sample_.block_io_wait_ns = TicksToNs(stat->block_io_ticks);
  TakeSchedule(missing);
  is_known_ = true;
  has_run_ = false;
  read_at_ = turn;
  return true;
}

TreeThread::Schedule TreeThread::ReadSchedule() {
  const auto text = schedule_.Read();
  if (!text) {
    times_ = {};
    return Schedule::kUnknown;
  }
  Scanner scanner(*text);
  std::array<Counter, 3> times;
  for (Counter& time : times) time = scanner.Number();
  const bool counts = times[2].value_or(0) > 0;
  const bool ran = std::exchange(times_, times) != times;
  return !counts ? Schedule::kUnknown : ran ? Schedule::kRan : Schedule::kSame;
}

void TreeThread::TakeSchedule(UnseenList& missing) {
  constexpr const char* kWhat = "run-queue wait of threads";
  constexpr const char* kRight = "a kernel with CONFIG_SCHED_INFO and CONFIG_SCHEDSTATS";
  const auto& [run, wait, slices] = times_;
  // Kernels without accounting report zeros.
  const bool counted = slices && (*slices > 0 || sample_.user_ns + sample_.system_ns == 0);
  sample_.run_ns = counted ? run : std::nullopt;
  sample_.run_queue_wait_ns = counted ? wait : std::nullopt;
  if (counted) return;
  if (slices) {
    missing.Add(kWhat, format("not counted ({})", schedule_.path()), kRight);
  } else if (schedule_.error() != ESRCH && Exists(stat_.path())) {
    missing.Add(kWhat, schedule_.path(), schedule_.error(), kRight);
  }
}

bool TreeThread::ReadAllowed() {
  KeptFile status(files_, folder_ + "/status", KeptFile::Size::kOneRead);
  const auto text = status.Read();
  constexpr std::string_view kName = "Cpus_allowed_list:";
  const size_t at = text ? text->find(kName) : std::string_view::npos;
  if (at == std::string_view::npos) return false;
  const std::string_view list = Scanner(text->substr(at + kName.size())).Word();
  if (list == allowed_) return false;
  allowed_ = list;
  return true;
}

TreeProcess::TreeProcess(KeptFiles* files, const std::string& proc, int process)
    : files_(files),
      folder_(format("{}/{}", proc, process)),
      stat_(files, folder_ + "/stat", KeptFile::Size::kOneRead),
      io_(files, folder_ + "/io", KeptFile::Size::kOneRead),
      memory_(files, folder_ + "/statm", KeptFile::Size::kOneRead) {
  sample_.process = process;
}

bool TreeProcess::Read(bool block_io_is_counted, UnseenList& missing) {
  const auto text = stat_.Read();
  if (!text) {
    if (IsRefusal(stat_.error())) {
      missing.Add(
          "processes", stat_.path(), stat_.error(),
          "CAP_SYS_PTRACE, the same user, or the group that /proc is mounted for (hidepid)");
    }
    return false;
  }
  const auto stat = ParseProcessStat(*text);
  if (!stat) return false;
  if (sample_.start_ticks != 0 && stat->start != sample_.start_ticks) return false;
  Take(*stat);
  ReadIo(missing);
  ReadMemory();
  ReadThreads(block_io_is_counted, missing);
  return true;
}

void TreeProcess::ReadThreads(bool block_io_is_counted, UnseenList& missing) {
  std::erase_if(threads_, [&, turn = samples_++](TreeThread& thread) mutable {
    return !thread.Read(turn++, block_io_is_counted, missing);
  });
  const bool are_all = static_cast<size_t>(sample_.threads) == threads_.size();
  if (!are_all) ListThreads(block_io_is_counted, missing);
}

void TreeProcess::Take(const ProcessStat& stat) {
  sample_.parent = stat.parent;
  sample_.group = stat.group;
  sample_.session = stat.session;
  sample_.name = stat.name;
  sample_.state = stat.state;
  sample_.threads = stat.threads;
  sample_.start_ticks = stat.start;
  sample_.user_ns = TicksToNs(stat.user);
  sample_.system_ns = TicksToNs(stat.system);
  sample_.major_faults = stat.major_faults;
  sample_.resident_bytes = stat.resident_pages * PageBytes();
  const Spent own = {sample_.user_ns + sample_.system_ns, stat.major_faults};
  const Spent children = {TicksToNs(stat.children_user + stat.children_system),
                          stat.children_major_faults};
  own_growth_ = Beyond(own, own_);
  children_growth_ = Beyond(children, children_);
  own_ = own;
  children_ = children;
}

void TreeProcess::ReadIo(UnseenList& missing) {
  const auto text = io_.Read();
  ProcessIo& io = sample_.io;
  TakeNamed(text.value_or(""), {{"rchar", &io.read_chars},
                                {"wchar", &io.written_chars},
                                {"syscr", &io.read_calls},
                                {"syscw", &io.write_calls},
                                {"read_bytes", &io.read_bytes},
                                {"write_bytes", &io.written_bytes},
                                {"cancelled_write_bytes", &io.cancelled_write_bytes}});
  if (text && io.read_bytes) return;
  const bool zombie = sample_.state == 'Z' || sample_.state == 'X';
  if (!text && !zombie && io_.error() != ESRCH && Exists(stat_.path())) {
    missing.Add("I/O of processes", io_.path(), io_.error(),
                IsRefusal(io_.error()) ? kSameUser : "a kernel with CONFIG_TASK_IO_ACCOUNTING");
  } else if (text && !text->empty()) {
    missing.Add("bytes that processes read from storage", io_.path() + " has no read_bytes",
                "a kernel with CONFIG_TASK_IO_ACCOUNTING");
  }
}

// Pages: size, resident, and of these the ones of files and of shared memory.
void TreeProcess::ReadMemory() {
  sample_.private_bytes.reset();
  const auto text = memory_.Read();
  if (!text) return;
  Scanner scanner(*text);
  std::array<uint64_t, 3> pages = {};
  for (uint64_t& each : pages) {
    const auto number = scanner.Number();
    if (!number) return;
    each = *number;
  }
  sample_.private_bytes = (pages[1] - std::min(pages[1], pages[2])) * PageBytes();
}

void TreeProcess::ListThreads(bool block_io_is_counted, UnseenList& missing) {
  const std::string folder = folder_ + "/task";
  const int error = ListNumberedEntries(folder, files_->text, listed_);
  if (error != 0) {
    if (Exists(stat_.path())) missing.Add("threads", folder, error, kSameUser);
    return;
  }
  for (const int number : listed_) {
    const auto place =
        std::lower_bound(threads_.begin(), threads_.end(), number,
                         [](const TreeThread& a, int b) { return a.sample().thread < b; });
    if (place != threads_.end() && place->sample().thread == number) continue;
    TreeThread thread(files_, folder_, process(), number);
    if (thread.Read(0, block_io_is_counted, missing)) threads_.insert(place, std::move(thread));
  }
}

}  // namespace recpack::probe
