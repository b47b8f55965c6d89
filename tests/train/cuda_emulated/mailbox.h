// Exchange of messages between the ranks of an emulated NCCL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace recpack::emulated {

// A folder of files, so that ranks can be threads or processes. A letter appears atomically.
class Mailbox {
 public:
  // Creates a new folder, to be passed to all ranks.
  static std::string MakeFolder();

  Mailbox(std::string folder, int rank, int size);
  // The last rank to leave removes the folder.
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  void Post(const std::string& subject, std::string_view letter) const;
  bool AllPosted(const std::string& subject) const;
  // Its first bytes, or all.
  std::string Read(const std::string& subject, int rank, size_t most = SIZE_MAX) const;
  void TakeBack(const std::string& subject) const;  // this rank's own

 private:
  std::string PathOf(const std::string& subject, int rank) const;

  const std::string folder_;
  const int rank_, size_;
};

}  // namespace recpack::emulated
