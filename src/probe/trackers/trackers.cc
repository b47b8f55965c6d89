#include "src/probe/trackers/trackers.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/probe/hook/python_hook.h"
#include "src/probe/util/embedded_file.h"

namespace recpack::probe {
namespace {

namespace fs = std::filesystem;

constexpr int kNoPackage = 3;  // exit code of log_report.py

struct Kind {
  const char* name;
  const char* package;  // as pip calls it
};
constexpr Kind kKinds[] = {{"wandb", "wandb"},
                           {"mlflow", "mlflow"},
                           {"tensorboard", "tensorboard"},
                           {"otlp", "opentelemetry-sdk opentelemetry-exporter-otlp-proto-http"}};

// The program as a shell would find it; empty if there is none.
fs::path OnPath(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* path = ::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    fs::path candidate = fs::path(folder) / program;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

// The program in a script's first line, "#!/venv/bin/python"; empty if there is none.
std::string Interpreter(const fs::path& script) {
  std::ifstream file(script);
  std::string mark(2, '\0'), path;
  file.read(mark.data(), 2);
  if (mark == "#!") file >> path;
  return path;
}

// Runs log_report.py and returns its exit code. `folder` empty: looks for the package only.
int RunPython(const Tracker& tracker, const std::string& python, const std::string& folder) {
  const std::string code(TrackerFiles().front().text);
  const char* const words[] = {
      python.c_str(),        "-c",           code.c_str(), tracker.name.c_str(),
      tracker.where.c_str(), folder.c_str(), nullptr};
  pid_t process = 0;
  const int failed = ::posix_spawnp(&process, python.c_str(), nullptr, nullptr,
                                    const_cast<char* const*>(words), environ);
  if (failed != 0) throw SystemError("cannot run", python, failed);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) throw SystemError("cannot wait for", python, errno);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

[[noreturn]] void RefuseMissing(const Tracker& tracker, const std::string& python) {
  const auto* const kind =
      std::ranges::find_if(kKinds, [&](const Kind& each) { return tracker.name == each.name; });
  throw Error(ErrorKind::kNotFound, format("{} cannot log to {}", python, tracker.name), {},
              format("{} -m pip install {}", python, kind->package));
}

}  // namespace

std::vector<std::string> TrackerNames() {
  std::vector<std::string> names;
  std::ranges::transform(kKinds, std::back_inserter(names), &Kind::name);
  return names;
}

Tracker ParseTracker(const std::string& text) {
  const size_t colon = std::min(text.find(':'), text.size());
  Tracker tracker{text.substr(0, colon), colon < text.size() ? text.substr(colon + 1) : ""};
  const std::vector<std::string> names = TrackerNames();
  if (std::ranges::find(names, tracker.name) == names.end()) {
    throw Error(ErrorKind::kInvalidArgument,
                format("unknown tracker '{}': expected {}", tracker.name, JoinNames(names)), {},
                "with a project, experiment, folder or URL behind a colon, as in mlflow:cifar10");
  }
  return tracker;
}

std::string FindPython(std::span<const std::string> command) {
  for (const std::string& word : command) {
    if (IsPython(word)) return word;
    if (word.starts_with('-')) break;
  }
  const std::string script = command.empty() ? "" : Interpreter(OnPath(command.front()));
  return IsPython(script) ? script : "python3";
}

void CheckTracker(const Tracker& tracker, const std::string& python) {
  if (RunPython(tracker, python, "") != 0) RefuseMissing(tracker, python);
}

void LogReport(const Tracker& tracker, const std::string& python, const std::string& folder) {
  const int exit_code = RunPython(tracker, python, folder);
  if (exit_code == kNoPackage) RefuseMissing(tracker, python);
  if (exit_code != 0) {
    throw Error(ErrorKind::kIo, format("the report was not logged to {}", tracker.name),
                {.path = folder},
                format("log it again: recprobe log {} --to {}", folder, tracker.name));
  }
}

}  // namespace recpack::probe
