// Folders, with errors of ours.
#pragma once

#include <filesystem>
#include <string>

namespace recpack {

// Makes the folder and those above it that are missing. Throws Error (kIo).
void MakeFolder(const std::string& path);

// What is there; "not found" where nothing is. Throws Error (kIo) where that cannot be told: no
// permission, links that go round in circles.
std::filesystem::file_status StatusOf(const std::string& path);

}  // namespace recpack
