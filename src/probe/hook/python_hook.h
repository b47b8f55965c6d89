// Installs the hook that reports input waits and steps of Python programs
// (docs/reference/probe-hook.md).
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace recpack::probe {

// Tells whether a program is a Python interpreter, by its file's name.
bool IsPython(const std::string& program);

// Writes the hook to `folder`/python. Returns the environment variables with which a program writes
// its events to `folder`, which must exist: RECPACK_EVENTS, and PYTHONPATH with the hook before
// `python_path`, the program's own PYTHONPATH (may be empty). Throws Error: kIo; kInvalidArgument
// if the path contains a colon, which PYTHONPATH does not allow.
std::vector<std::pair<std::string, std::string>> PreparePythonHook(const std::string& folder,
                                                                   const std::string& python_path);

// Returns why a Python program with this command line and environment ("NAME=value") does not run
// the hook in `folder`. Empty if it does, or if the program is not Python.
std::string WhyPythonIsNotHooked(std::span<const std::string> command,
                                 std::span<const std::string> environment,
                                 const std::string& folder);

// The same for a running process. Empty also if its event file exists.
std::string WhyPythonIsNotHooked(int pid, const std::string& folder);

}  // namespace recpack::probe
