// Folders, with errors of ours.
#pragma once

#include <filesystem>
#include <string>

namespace recpack {

// Makes the folder and those above it that are missing. With `durable`, returns when those that
// were made would survive a power cut. Throws Error (kIo).
void MakeFolder(const std::string& path, bool durable = false);

// What is there; "not found" where nothing is. Throws Error (kIo) where that cannot be told: no
// permission, links that go round in circles.
std::filesystem::file_status StatusOf(const std::string& path);

}  // namespace recpack
