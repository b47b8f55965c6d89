#include "tools/recprobe/job.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <iterator>

#include "recpack/base/error.h"
#include "src/probe/procfs/process_strings.h"
#include "src/train/collectives/launch/launch.h"

namespace recpack::tool {
namespace {

// Tells whether a program launches another one, whose name is wanted.
bool IsLauncher(const std::string& program) {
  constexpr const char* kNames[] = {
      "sh",        "bash",       "env",     "nice",   "ionice",  "time",    "timeout", "stdbuf",
      "taskset",   "uv",         "numactl", "poetry", "conda",   "run",     "srun",    "accelerate",
      "deepspeed", "horovodrun", "launch",  "mpirun", "mpiexec", "torchrun"};
  return program.starts_with("python") || program.starts_with("torch.distributed.") ||
         std::find(std::begin(kNames), std::end(kNames), program) != std::end(kNames);
}

// "4", "10h", "0-7": an argument of a launcher, not a program.
bool IsAmount(const std::string& word) {
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0;
}

// Tells whether a launcher's option takes the next word as its value.
bool TakesValue(const std::string& word) {
  constexpr const char* kOptions[] = {"-s", "-k", "-n", "-p", "-H", "-x", "-w", "-N"};
  return std::ranges::find(kOptions, word) != std::end(kOptions);
}

std::string LastPart(const std::string& word) {
  return std::filesystem::path(word).filename().string();
}

// "train.py" of "torchrun --rdzv-backend c10d train.py --rate 1".
std::string ProgramName(const std::vector<std::string>& command) {
  if (command.empty()) return "";
  if (IsLauncher(LastPart(command.front()))) {
    const auto script = std::ranges::find_if(
        command, [](const std::string& word) { return word.ends_with(".py"); });
    if (script != command.end()) return LastPart(*script);
  }
  std::string name = LastPart(command.front());
  for (size_t i = 1; i < command.size() && IsLauncher(name); ++i) {
    const std::string& word = command[i];
    if (word.starts_with('-') || IsAmount(word) || TakesValue(command[i - 1])) continue;
    name = LastPart(word);
  }
  return name;
}

// Name that all ranks of a launch have in common; empty if the launcher sets none.
std::string LaunchName(train::Launcher launcher, const train::Environment& variable) {
  const auto known = [&](const char* name, const std::string& by) {
    const char* const value = variable(name);
    return value == nullptr || *value == '\0' ? std::string() : by + value;
  };
  switch (launcher) {
    case train::Launcher::kTorchrun: {
      const std::string id = known("TORCHELASTIC_RUN_ID", "torchrun ");
      return id == "torchrun none" ? "" : id;  // the default of every launch
    }
    case train::Launcher::kOpenMpi:
      return known("PMIX_NAMESPACE", "Open MPI ");
    case train::Launcher::kSlurm: {
      const std::string step = known("SLURM_STEP_ID", ".");
      const std::string job = known("SLURM_JOB_ID", "Slurm ");
      return job.empty() ? "" : job + step;
    }
    case train::Launcher::kHydra:
    case train::Launcher::kNone:
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

probe::Job MakeJob(const std::string& name, const std::vector<std::string>& command,
                   const ProgramEnvironment& environment) {
  probe::Job job{.name = name, .command = command, .host = OwnHost(), .user = OwnUser()};
  job.begin = std::chrono::duration_cast<std::chrono::nanoseconds>(
                  std::chrono::system_clock::now().time_since_epoch())
                  .count();
  if (!environment) job.rank_unseen = "the program's environment cannot be read";
  const auto variable = [&](const char* wanted) {
    return environment ? probe::FindVariable(*environment, wanted) : nullptr;
  };
  if (job.name.empty()) {
    const char* const slurm = variable("SLURM_JOB_NAME");
    job.name = slurm == nullptr ? ProgramName(command) : slurm;
  }
  try {
    const train::LaunchPlace place = train::LaunchPlace::RanksFromEnvironment(variable);
    if (place.launcher == train::Launcher::kNone) return job;
    job.rank = place.rank;
    job.world_size = place.size;
    job.launch = LaunchName(place.launcher, variable);
  } catch (const Error& error) {
    job.rank_unseen = error.what();
  }
  return job;
}

std::vector<std::string> UnseenRank(const probe::Job& job) {
  if (job.rank_unseen.empty()) return {};
  return {"rank: " + job.rank_unseen};
}

}  // namespace recpack::tool
