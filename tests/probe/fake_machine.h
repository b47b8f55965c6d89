// Fake /proc and /sys folders.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "src/base/format.h"
#include "src/probe/procfs/system_sampler.h"
#include "tests/base/temporary_folder.h"

namespace recpack::probe {

struct FakeProcess {
  int process = 0;
  int parent = 1;
  int group = 0;    // 0: that of the process
  int session = 0;  // the same
  std::string name = "train";
  char state = 'S';
  int major_faults = 0;
  int children_major_faults = 0;
  int user = 0;  // ticks
  int system = 0;
  int children_user = 0;
  int threads = 1;
  int start = 100;
  int processor = 0;
};

class FakeMachine {
 public:
  FakeMachine() {
    Stat("cpu0 10 0 5 80 3 1 1 2 0 0\ncpu1 20 0 0 70 5 0 0 0 0 0\n", 1);
    Write("proc/diskstats", "");
    Write("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable:  600 kB\nCached:   300 kB\n");
    Write("proc/vmstat", "pgpgin 8\npgmajfault 4\nworkingset_refault_file 2\n");
    Write("proc/net/dev", "Inter-| Receive\n face |bytes\n");
    Write("proc/self/mountinfo",
          "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n");
    Write("proc/sys/kernel/task_delayacct", "1\n");
    for (const char* name : {"cpu", "io", "memory"}) {
      Write(std::string("proc/pressure/") + name,
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
            "full avg10=0.00 avg60=0.00 avg300=0.00 total=5\n");
    }
  }

  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = folder_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::trunc) << text;
  }
  void Remove(const std::string& path) const { std::filesystem::remove_all(folder_ / path); }

  // Writes /proc/stat: the processors' lines, and the number of processes started.
  void Stat(const std::string& cores, int forks) const {
    Write("proc/stat", format("cpu  1 2 3 4\n{}intr 5 0 0\nctxt 6\nprocesses {}\n", cores, forks));
  }

  static std::string StatText(const FakeProcess& p) {
    const int group = p.group != 0 ? p.group : p.process;
    const int session = p.session != 0 ? p.session : p.process;
    return format(
        "{} ({}) {} {} {} {} 0 -1 4194304 103 0 {} {} {} {} {} 0 20 0 {} 0 {} 3133440 4 "
        "18446744073709551615 1 1 1 0 0 0 0 0 0 0 0 0 17 {} 0 0 3 0 0\n",
        p.process, p.name, p.state, p.parent, group, session, p.major_faults,
        p.children_major_faults, p.user, p.system, p.children_user, p.threads, p.start,
        p.processor);
  }

  // Adds a process with its main thread.
  void Set(const FakeProcess& process) const {
    const std::string folder = format("proc/{}", process.process);
    Write(folder + "/stat", StatText(process));
    Write(folder + "/io",
          "rchar: 10\nwchar: 2\nsyscr: 3\nsyscw: 1\nread_bytes: 4096\n"
          "write_bytes: 0\ncancelled_write_bytes: 0\n");
    Write(folder + "/cgroup", "0::/\n");
    SetThread(process, process.process);
  }
  void SetThread(const FakeProcess& of, int thread, const std::string& allowed = "0-1") const {
    const std::string folder = format("proc/{}/task/{}", of.process, thread);
    FakeProcess as_process = of;
    as_process.process = thread;
    Write(folder + "/stat", StatText(as_process));
    Write(folder + "/schedstat", "1000 2000 3\n");
    Write(folder + "/status", format("Name:\tx\nCpus_allowed_list:\t{}\nMems:\t0\n", allowed));
  }
  // Ends a thread. Empties its files for readers that have them open, as the kernel does.
  void EndThread(int process, int thread) const {
    const std::string folder = format("proc/{}/task/{}", process, thread);
    for (const char* file : {"/stat", "/schedstat"}) Write(folder + file, "");
    Remove(folder);
  }
  void End(int process) const {
    Write(format("proc/{}/stat", process), "");
    Remove(format("proc/{}", process));
  }

  SystemSamplerOptions Options() const {
    return {.proc = folder_ / "proc", .sys = folder_ / "sys", .max_scan_share = 0};
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace recpack::probe
