// Makes the plan of a pack, and stores it in the output folder or resumes the one that is there.
#pragma once

#include <map>
#include <string>

#include "src/pack/item/source.h"
#include "src/pack/job/pack.h"
#include "src/pack/job/pack_folder.h"
#include "src/pack/plan/plan.h"

namespace recpack::pack {

// Returns the settings that the bytes of a data set depend on, by option name: the caller's, and
// Pack()'s own. `kind` is the kind of the source.
std::map<std::string, std::string> AllSettings(const std::string& kind, const PackOptions& options);

// Returns the plan that Pack() would make, including its own settings.
Plan PlanPack(const Source& source, const PackOptions& options);

// Makes the plan, of a new append if the last one is another job's, and stores it or resumes the
// equal one that is there. Removes what killed processes left. Throws as StorePlan().
Plan AdoptPlan(const Source& source, const PackOptions& options, PackFolder& folder);

// Resumes the existing plan, or stores `wanted`. Throws Error (kInvalidArgument) if they differ or
// the folder has other content.
void StorePlan(const Plan& wanted, const PackFolder& folder, const PackOptions& options);

}  // namespace recpack::pack
