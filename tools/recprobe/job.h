// Describes the job of a report: name, host, user, rank.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/probe/report/report.h"

namespace recpack::tool {

// Environment of the watched program, as "NAME=value"; nullopt if it could not be read.
using ProgramEnvironment = std::optional<std::vector<std::string>>;

// Properties of this process.
std::vector<std::string> OwnEnvironment();
std::string OwnUser();  // a name or number
std::string OwnHost();  // empty if unknown

// Describes a job that begins now. `name`: default: its name in Slurm, else the file name of the
// program or script.
probe::Job MakeJob(const std::string& name, const std::vector<std::string>& command,
                   const ProgramEnvironment& environment);

// Explains why the rank is unknown: one line, or none.
std::vector<std::string> UnseenRank(const probe::Job& job);

}  // namespace recpack::tool
