// Notes of a report about its own figures.
#pragma once

#include <vector>

#include "src/probe/report/report.h"

namespace recpack::probe {

// Explains how each figure was obtained.
std::vector<Explanation> ExplainFigures(const Report& report, const Evidence& evidence);

// Adds the reasons for values that are null in the file.
void AddUnseen(Report& report);

}  // namespace recpack::probe
