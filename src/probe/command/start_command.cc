#include "src/probe/command/start_command.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "recpack/base/descriptor.h"
#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/probe/command/forwarded_signals.h"

namespace recpack::probe {
namespace {

std::vector<std::string> Environment(
    const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    const std::string_view name = variable.substr(0, variable.find('='));
    bool is_changed = false;
    for (const auto& [changed, value] : changes) is_changed |= name == changed;
    if (!is_changed) all.emplace_back(variable);
  }
  for (const auto& [name, value] : changes) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

Error StartError(const std::string& program, int error) {
  const bool is_path = program.find('/') != std::string::npos;
  struct stat status = {};
  const bool is_there = is_path && ::stat(program.c_str(), &status) == 0;
  if (error == ENOENT && is_there) {
    return Error(ErrorKind::kUnsupported, "its interpreter does not exist", {.path = program},
                 "check its first line (#!), or the loader it was linked for");
  }
  if (error == ENOENT || error == ENOTDIR) {
    return Error(ErrorKind::kNotFound, format("command not found: {}", program), {},
                 is_path ? "check the path" : "check the name, and PATH");
  }
  if (is_there && S_ISDIR(status.st_mode)) {
    return Error(ErrorKind::kInvalidArgument, "it is a folder, not a program", {.path = program});
  }
  if (error == EACCES) {
    return Error(ErrorKind::kIo,
                 format("{} may not be executed: {}", program, std::strerror(error)), {},
                 "chmod +x it, or name its interpreter (python3 FILE)");
  }
  return Error(ErrorKind::kIo, format("{} cannot be started: {}", program, std::strerror(error)));
}

// Makes only calls that are async-signal-safe, as required after fork() in a threaded program.
[[noreturn]] void BecomeCommand(char** arguments, char** environment, const sigset_t& mask,
                                bool gives_terminal, int tell) noexcept {
  ::setpgid(0, 0);
  if (gives_terminal) ::tcsetpgrp(STDIN_FILENO, ::getpid());  // SIGTTOU is blocked
  ResetForwardedSignals();
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  ::execvpe(arguments[0], arguments, environment);
  const int error = errno;
  const ssize_t told = ::write(tell, &error, sizeof error);
  ::_exit(told == sizeof error ? 127 : 126);
}

}  // namespace

pid_t StartCommand(const std::vector<std::string>& command,
                   const std::vector<std::pair<std::string, std::string>>& environment,
                   const sigset_t& mask, bool gives_terminal) {
  if (command.empty() || command[0].empty()) {
    throw Error(ErrorKind::kInvalidArgument, "no command is given", {}, "give one after --");
  }
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = Environment(environment);
  const std::vector<char*> argument_pointers = Pointers(arguments);
  const std::vector<char*> variable_pointers = Pointers(variables);
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw SystemError("cannot make a pipe", "", errno);
  const Descriptor listen(ends[0]);
  Descriptor tell(ends[1]);
  const pid_t process = ::fork();
  if (process < 0) throw SystemError("cannot start a process", "", errno);
  if (process == 0) {
    BecomeCommand(const_cast<char**>(argument_pointers.data()),
                  const_cast<char**>(variable_pointers.data()), mask, gives_terminal, tell.get());
  }
  ::setpgid(process, process);  // in parent and child, as either may run first
  tell = Descriptor();
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(listen.get(), &error, sizeof error);  // end of file: exec() succeeded
  } while (got < 0 && errno == EINTR);
  if (got != sizeof error) return process;
  ::waitpid(process, nullptr, 0);
  throw StartError(command[0], error);
}

}  // namespace recpack::probe
