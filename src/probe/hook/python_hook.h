// The hook in Python programs that tells of input waits and steps; docs/probe-hook.md says what it
// sees.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace recpack::probe {

// Writes the hook into `folder`/python, and returns the variables that a program's environment
// needs for its events to come into `folder`, which is there: RECPACK_EVENTS, and PYTHONPATH with
// the hook before `python_path`, what the program would have had (empty: nothing). Throws Error
// (kIo; kInvalidArgument where the folder's path holds a colon, which PYTHONPATH cannot name).
std::vector<std::pair<std::string, std::string>> PreparePythonHook(const std::string& folder,
                                                                   const std::string& python_path);

// Why a Python program with this command line and environment ("NAME=value") does not run the hook
// in `folder`; empty where it does, or no Python is run.
std::string WhyPythonIsNotHooked(std::span<const std::string> command,
                                 std::span<const std::string> environment,
                                 const std::string& folder);

// The same of a process that runs: empty as well where its event file is there.
std::string WhyPythonIsNotHooked(int pid, const std::string& folder);

}  // namespace recpack::probe
