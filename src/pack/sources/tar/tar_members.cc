#include "src/pack/sources/tar/tar_members.h"

#include <filesystem>
#include <string_view>

#include "recpack/base/bytes.h"
#include "recpack/base/hash.h"
#include "recpack/record/crc32c.h"
#include "src/base/format.h"
#include "src/remote/store/data_files.h"
#include "src/remote/store/local_copy.h"
#include "src/remote/url/url.h"

namespace recpack::pack {
namespace {

// A file of members: this text; links and number of members (u64); offset, size (u64), length of
// the name (u32) and name of each; CRC-32C of all before (u32). Little endian.
constexpr std::string_view kBegin = "recpack tar members 1\n";

template <typename Number>
void Put(ByteBuffer& bytes, Number number) {
  const size_t at = bytes.size();
  bytes.resize(at + sizeof number);
  StoreLittleEndian(bytes.data() + at, number);
}

void Put(ByteBuffer& bytes, std::string_view text) {
  const ByteView view = AsBytes(text);
  bytes.insert(bytes.end(), view.begin(), view.end());
}

template <typename Number>
bool Take(ByteView& bytes, Number& number) {
  if (bytes.size() < sizeof number) return false;
  number = LoadLittleEndian<Number>(bytes.data());
  bytes = bytes.subspan(sizeof number);
  return true;
}

bool TakeMember(ByteView& bytes, TarMember& member) {
  uint32_t length = 0;
  if (!Take(bytes, member.offset) || !Take(bytes, member.size) || !Take(bytes, length) ||
      bytes.size() < length) {
    return false;
  }
  member.name = AsText(bytes.first(length));
  bytes = bytes.subspan(length);
  return true;
}

bool TakeAll(ByteView bytes, TarMembers& all) {
  uint32_t crc = 0;
  if (bytes.size() < kBegin.size() + sizeof crc || !AsText(bytes).starts_with(kBegin)) return false;
  ByteView last = bytes.last(sizeof crc);
  bytes = bytes.first(bytes.size() - sizeof crc);
  if (!Take(last, crc) || crc != Crc32c(bytes)) return false;
  bytes = bytes.subspan(kBegin.size());
  uint64_t count = 0;
  if (!Take(bytes, all.summary.links) || !Take(bytes, count)) return false;
  for (uint64_t i = 0; i < count; ++i) {
    if (!TakeMember(bytes, all.members.emplace_back())) return false;
  }
  return bytes.empty();
}

}  // namespace

std::string PathOfMembers(const ReadableFile& object) {
  const std::string version = remote::ObjectVersion(object);
  if (version.empty()) return {};
  Sha256 name;
  name.Update(
      AsBytes(format("{}\n{}\n{}", remote::WithoutSecrets(object.path()), version, object.Size())));
  return format("{}/{}.members", remote::CopiesFolder(), Hex(name.Finish()));
}

std::optional<TarMembers> LoadTarMembers(const std::string& path) {
  if (path.empty() || !PosixFiles().Exists(path)) return {};
  try {
    TarMembers all;
    if (TakeAll(ReadWholeFile(PosixFiles(), path), all)) return all;
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the archive is read instead
  }
  return {};
}

void SaveTarMembers(const std::string& path, const TarMembers& all) noexcept {
  if (path.empty()) return;
  try {
    ByteBuffer bytes;
    Put(bytes, kBegin);
    Put(bytes, all.summary.links);
    Put(bytes, uint64_t{all.members.size()});
    for (const TarMember& member : all.members) {
      Put(bytes, member.offset);
      Put(bytes, member.size);
      Put(bytes, static_cast<uint32_t>(member.name.size()));
      Put(bytes, std::string_view(member.name));
    }
    Put(bytes, Crc32c(bytes));
    std::filesystem::create_directories(remote::CopiesFolder());
    WriteFileAtomically(PosixFiles(), path, bytes, false);
  } catch (...) {  // NOLINT(bugprone-empty-catch): the next one reads the archive again
  }
}

}  // namespace recpack::pack
