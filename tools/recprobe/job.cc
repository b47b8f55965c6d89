#include "tools/recprobe/job.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <iterator>

#include "recpack/base/error.h"
#include "recpack/probe/process_strings.h"
#include "recpack/train/launch.h"

namespace recpack::tool {
namespace {

// Programs that run the one whose name is wanted.
bool IsLauncher(const std::string& program) {
  constexpr const char* kNames[] = {"sh",     "bash", "env",  "nice", "torchrun", "accelerate",
                                    "mpirun", "srun", "time", "uv",   "numactl",  "run"};
  return program.starts_with("python") ||
         std::find(std::begin(kNames), std::end(kNames), program) != std::end(kNames);
}

bool IsNumber(const std::string& word) {
  return word.find_first_not_of("0123456789") == std::string::npos;
}

// "train.py" of "python -u train.py --rate 1".
std::string NameOf(const std::vector<std::string>& command) {
  std::string name;
  for (const std::string& word : command) {
    if (!name.empty() && (word.starts_with('-') || IsNumber(word))) continue;
    name = std::filesystem::path(word).filename().string();
    if (!IsLauncher(name)) return name;
  }
  return name;
}

// By which all ranks of one launch are known to belong together; empty where the launcher gives
// none.
std::string LaunchName(Launcher launcher, const Environment& variable) {
  const auto known = [&](const char* name, const std::string& by) {
    const char* const value = variable(name);
    return value == nullptr || *value == '\0' ? std::string() : by + value;
  };
  switch (launcher) {
    case Launcher::kTorchrun: {
      const std::string id = known("TORCHELASTIC_RUN_ID", "torchrun ");
      return id == "torchrun none" ? "" : id;  // its default, of every launch
    }
    case Launcher::kOpenMpi:
      return known("PMIX_NAMESPACE", "Open MPI ");
    case Launcher::kSlurm: {
      const std::string step = known("SLURM_STEP_ID", ".");
      const std::string job = known("SLURM_JOB_ID", "Slurm ");
      return job.empty() ? "" : job + step;
    }
    case Launcher::kHydra:
    case Launcher::kNone:
      return "";
  }
  return "";
}

}  // namespace

std::string OwnHost() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string OwnUser() {
  const passwd* const user = ::getpwuid(::geteuid());
  return user == nullptr ? std::to_string(::geteuid()) : user->pw_name;
}

std::vector<std::string> OwnEnvironment() {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
  }
  return environment;
}

Job JobOf(const std::string& name, const std::vector<std::string>& command,
          const ProgramEnvironment& environment) {
  Job job{.name = name, .command = command, .host = OwnHost(), .user = OwnUser()};
  job.begin = std::chrono::duration_cast<std::chrono::nanoseconds>(
                  std::chrono::system_clock::now().time_since_epoch())
                  .count();
  if (!environment) job.rank_unseen = "the program's environment cannot be read";
  const auto variable = [&](const char* wanted) {
    return environment ? FindVariable(*environment, wanted) : nullptr;
  };
  if (job.name.empty()) {
    const char* const slurm = variable("SLURM_JOB_NAME");
    job.name = slurm == nullptr ? NameOf(command) : slurm;
  }
  try {
    const LaunchPlace place = LaunchPlace::RanksFromEnvironment(variable);
    if (place.launcher == Launcher::kNone) return job;
    job.rank = place.rank;
    job.world_size = place.size;
    job.launch = LaunchName(place.launcher, variable);
  } catch (const Error& error) {
    job.rank_unseen = error.what();
  }
  return job;
}

std::vector<std::string> UnseenOf(const Job& job) {
  if (job.rank_unseen.empty()) return {};
  return {"rank: " + job.rank_unseen};
}

}  // namespace recpack::tool
