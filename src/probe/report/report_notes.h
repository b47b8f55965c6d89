// What a report says of its own figures.
#pragma once

#include <vector>

#include "src/probe/report/report.h"

namespace recpack::probe {

// How each figure was obtained.
std::vector<Explanation> HowOf(const Report& report, const Evidence& evidence);

// Adds what is null in the file, and why.
void AddUnseen(Report& report);

}  // namespace recpack::probe
