// Expansion of path patterns: globs and brace ranges.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace recpack {

// Expands `path`. A file or folder with exactly this name is returned as it is; otherwise every
// alternative of its braces ("a-{000..012}.tar", "{x,y}.tar"), in their order, each with its glob
// (*, ?, [...]) expanded in sorted order; a file that matches several alternatives is returned
// once, for the first. A name without a pattern is returned unchanged. Throws Error: kNotFound for
// a glob that matches nothing, kInvalidArgument for an invalid range or more than a million names.
std::vector<std::string> ExpandPathPattern(const std::string& path);

// Returns the sorted paths of the files directly in `folder` for whose names `wanted` returns true,
// without hidden ones. Throws Error: kNotFound, kIo.
std::vector<std::string> FilesInFolder(const std::string& folder,
                                       const std::function<bool(const std::string&)>& wanted);

bool IsFolder(const std::string& path);
bool IsFile(const std::string& path);

}  // namespace recpack
