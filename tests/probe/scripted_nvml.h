// Fake GPUs whose values are scripted by a test.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "src/probe/gpu/gpu_sampler.h"
#include "tests/base/other_threads.h"

namespace recpack::probe {

class ScriptedNvml {
 public:
  // `script`: see tests/probe/fake_nvml.cc.
  explicit ScriptedNvml(const std::string& script)
      : folder_(std::filesystem::temp_directory_path() /
                ("recprobe-nvml-" + std::to_string(::getpid()))),
        threads_(OtherThreads().size() + 1) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    Say(script);
    ::setenv("FAKE_NVML", (folder_ / "script").c_str(), 1);
  }
  // Waits for threads that samplers have detached in blocked calls, which return now: they must not
  // read the next script or shut its driver down.
  ~ScriptedNvml() {
    std::filesystem::remove_all(folder_);
    AwaitThreads(threads_);
  }
  ScriptedNvml(const ScriptedNvml&) = delete;

  // Replaces the script.
  void Say(const std::string& script) const {
    std::ofstream(folder_ / "next") << script;
    std::filesystem::rename(folder_ / "next", folder_ / "script");
  }

  // Creates a file that blocks calls while it exists.
  std::string Block(const std::string& function) const {
    std::ofstream(folder_ / function) << "";
    return "block " + function + " " + (folder_ / function).string() + "\n";
  }
  void Unblock(const std::string& function) const { std::filesystem::remove(folder_ / function); }

  // Creates a /proc with one process, in the initial PID namespace or another.
  std::string Proc(const std::string& pid_namespace, int pid) const {
    const auto proc = folder_ / "proc";
    std::filesystem::create_directories(proc / "self" / "ns");
    std::filesystem::create_directories(proc / std::to_string(pid));
    std::filesystem::create_symlink(pid_namespace, proc / "self" / "ns" / "pid");
    return proc;
  }

  // Returns options with which results do not depend on time.
  static GpuSamplerOptions Options() {
    return {.library = RECPACK_FAKE_NVML,
            .patience = std::chrono::hours(1),
            .late = std::chrono::hours(1),
            .slow_interval = {},
            .gpm_interval = {}};
  }

 private:
  const std::filesystem::path folder_;
  const size_t threads_;  // number of threads of this process before the test
};

}  // namespace recpack::probe
