// Names that stand for several files.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace recpack {

// The files that `path` means: a file or folder that exists under exactly this name; else every
// alternative of its braces ("a-{000..012}.tar", "{x,y}.tar"), in their order, each with its glob
// (*, ?, [...]) expanded in sorted order; a file of several alternatives comes once, with the
// first. A name without a pattern comes back as it is. Throws Error: kNotFound for a glob that
// matches nothing, kInvalidArgument for a range that is none or gives more than a million names.
std::vector<std::string> ExpandPathPattern(const std::string& path);

// The files directly in `folder` whose names `wanted` says yes to: paths, sorted; hidden ones are
// left out. Throws Error: kNotFound, kIo.
std::vector<std::string> FilesInFolder(const std::string& folder,
                                       const std::function<bool(const std::string&)>& wanted);

bool IsFolder(const std::string& path);
bool IsFile(const std::string& path);

}  // namespace recpack
