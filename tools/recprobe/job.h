// Whom a report is about.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/probe/report/report.h"

namespace recpack::tool {

// The environment of the program that is watched, "NAME=value"; nothing: it could not be read.
using ProgramEnvironment = std::optional<std::vector<std::string>>;

// Those of this process.
std::vector<std::string> OwnEnvironment();
std::string OwnUser();  // a name or number
std::string OwnHost();  // empty: the system does not tell

// A job that begins now. `name`: empty: what a job of Slurm is called, else the program's or
// script's file.
probe::Job JobOf(const std::string& name, const std::vector<std::string>& command,
                 const ProgramEnvironment& environment);

// Why its rank is not known, for people: a line, or none.
std::vector<std::string> UnseenOf(const probe::Job& job);

}  // namespace recpack::tool
