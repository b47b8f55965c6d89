#include "src/loader/run/ledger.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/base/format.h"

namespace recpack {
namespace {

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      quoted += format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

// Removes `label` and the following number from the front of the text.
std::optional<uint64_t> TakeNumber(std::string_view& text, std::string_view label) {
  if (!text.starts_with(label)) return std::nullopt;
  text.remove_prefix(label.size());
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

}  // namespace

std::string LedgerLine(const Substitution& substitution) {
  const Place& place = substitution.place;
  std::string line = format(
      R"({{"epoch": {}, "position": {}, "record": {}, "taken": {}, "view": {})", substitution.epoch,
      substitution.position, substitution.bad, substitution.taken, substitution.view);
  line += R"(, "shard": )" + Quoted(place.path);
  if (place.offset) line += format(R"(, "offset": {})", *place.offset);
  if (place.ordinal) line += format(R"(, "ordinal": {})", *place.ordinal);
  return line + R"(, "reason": )" + Quoted(substitution.reason) + "}\n";
}

// O_NONBLOCK: to open a pipe would wait for its reader.
Ledger::Ledger(const std::string& path)
    : path_(path),
      fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666)) {
  if (fd_ < 0 && errno == ENXIO) {
    throw Error(ErrorKind::kInvalidArgument, "nobody reads this pipe", {.path = path},
                "start its reader first, or name a file for the ledger");
  }
  if (fd_ < 0) throw SystemError("cannot open the ledger", path, errno);
  ::fcntl(fd_, F_SETFL, O_WRONLY | O_APPEND);
  try {
    ReadLines();
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

Ledger::~Ledger() { ::close(fd_); }

void Ledger::ReadLines() {
  // Pipes and /dev/stderr accept lines but have none of an earlier run.
  struct stat status;
  if (::fstat(fd_, &status) == 0 && !S_ISREG(status.st_mode)) return;
  const ByteBuffer bytes = ReadWholeFile(PosixFiles(), path_);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
    std::string_view line = text.substr(begin, end - begin);
    const auto epoch = TakeNumber(line, "{\"epoch\": ");
    const auto position = TakeNumber(line, ", \"position\": ");
    const auto record = TakeNumber(line, ", \"record\": ");
    if (!epoch || !position || !record || !line.ends_with('}')) {
      throw Error(ErrorKind::kCorrupt, "not a ledger line", {.path = path_, .offset = begin},
                  "remove the line, or name another file");
    }
    bad_.emplace(std::pair(*epoch, *position), *record);
  }
  if (begin < text.size() && ::ftruncate(fd_, static_cast<off_t>(begin)) != 0) {
    throw SystemError("cannot shorten the ledger", path_, errno);
  }
}

void Ledger::Add(const Substitution& substitution) {
  const auto [found, is_new] =
      bad_.emplace(std::pair(substitution.epoch, substitution.position), substitution.bad);
  if (!is_new) {
    if (found->second == substitution.bad) return;
    throw Error(ErrorKind::kInvalidArgument,
                format("says that record {} was at position {} of epoch {}, where this run has {}",
                       found->second, substitution.position, substitution.epoch, substitution.bad),
                {.path = path_}, "the file belongs to another run: name another file");
  }
  const std::string line = LedgerLine(substitution);
  for (;;) {
    const ssize_t put = ::write(fd_, line.data(), line.size());
    if (put == static_cast<ssize_t>(line.size())) return;
    if (put < 0 && errno == EINTR) continue;
    throw SystemError("cannot write to the ledger", path_, put < 0 ? errno : ENOSPC);
  }
}

}  // namespace recpack
