#include "tests/train/cuda_emulated/mailbox.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace recpack::emulated {

std::string Mailbox::MakeFolder() {
  std::string folder = (std::filesystem::temp_directory_path() / "emulated-nccl-XXXXXX").string();
  if (!mkdtemp(folder.data())) throw std::runtime_error("no folder " + folder);
  return folder;
}

Mailbox::Mailbox(std::string folder, int rank, int size)
    : folder_(std::move(folder)), rank_(rank), size_(size) {}

Mailbox::~Mailbox() {
  try {
    Post("gone", "");
    std::error_code ignored;
    if (AllPosted("gone")) std::filesystem::remove_all(folder_, ignored);
  } catch (const std::exception&) {
    // Another rank was the last one at the same time.
  }
}

std::string Mailbox::PathOf(const std::string& subject, int rank) const {
  return folder_ + "/" + subject + "." + std::to_string(rank);
}

void Mailbox::Post(const std::string& subject, std::string_view letter) const {
  const std::string path = PathOf(subject, rank_);
  std::ofstream(path + ".tmp", std::ios::binary)
      .write(letter.data(), static_cast<std::streamsize>(letter.size()));
  std::filesystem::rename(path + ".tmp", path);
}

bool Mailbox::AllPosted(const std::string& subject) const {
  std::error_code ignored;
  for (int rank = 0; rank < size_; ++rank) {
    if (!std::filesystem::exists(PathOf(subject, rank), ignored)) return false;
  }
  return true;
}

std::string Mailbox::Read(const std::string& subject, int rank, size_t most) const {
  std::ifstream file(PathOf(subject, rank), std::ios::binary | std::ios::ate);
  if (!file) return {};
  std::string letter(std::min(most, static_cast<size_t>(file.tellg())), '\0');
  file.seekg(0).read(letter.data(), static_cast<std::streamsize>(letter.size()));
  return letter;
}

void Mailbox::TakeBack(const std::string& subject) const {
  std::error_code ignored;
  std::filesystem::remove(PathOf(subject, rank_), ignored);
}

}  // namespace recpack::emulated
