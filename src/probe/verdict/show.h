// Verdicts for people and for programs.
#pragma once

#include <string>

#include "src/probe/steps/trace_summary.h"
#include "src/probe/util/unseen.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// One line: what could not be seen, why, and what is missing.
std::string UnseenText(const Unseen& unseen);

// One screen, 100 columns wide, the verdict first.
std::string VerdictText(const Verdict& verdict);

// One JSON object on one line; docs/verdicts.md has its members.
std::string VerdictJson(const Verdict& verdict);

// The same with what a trace adds up to: "devices" and "tables" beside the verdict's members.
std::string TraceJson(const Verdict& verdict, const TraceSummary& summary);

}  // namespace recpack::probe
