// Prints what `recpack pack` did, or what it would do.
#pragma once

#include "src/pack/item/source.h"
#include "src/pack/job/pack.h"

namespace recpack::tool {

// Says on stderr which shard size would do, if the plan has very many shards.
void SuggestShardSize(const pack::Plan& plan);

// The result as one JSON object.
void PrintPackJson(const pack::PackResult& result, const pack::PackOptions& options,
                   double seconds);

void PrintPackSummary(const pack::PackResult& result, const pack::PackOptions& options,
                      double seconds);

// Lists the items left out on stderr, and says so if they were too many.
void PrintSkipped(const pack::PackResult& result, const pack::PackOptions& options);

// Prints the source's notices on stderr.
void PrintNotices(const pack::Source& source, const Manifest& manifest);

// Prints the plan, and its cost by a trial. Writes nothing.
void PrintDryRun(const pack::Source& source, const pack::PackOptions& options, bool json_wanted);

}  // namespace recpack::tool
