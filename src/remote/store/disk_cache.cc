#include "src/remote/store/disk_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/file_lock.h"
#include "src/base/parse_units.h"
#include "src/remote/sign/credentials.h"
#include "src/remote/sign/sign_v4.h"
#include "src/remote/store/local_copy.h"

namespace recpack::remote {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kBlock = 256;
constexpr uint64_t kPage = 4096;  // in which disks give space
constexpr uint64_t kBitsPerWord = 64;
constexpr char kDataEnd[] = ".data", kBitsEnd[] = ".bits";
// The folder is looked through once for so many new bytes, for those that other processes add.
constexpr uint64_t kLookEvery = uint64_t{64} << 20;

std::string Folder() { return CacheFolder() + "/data"; }

uint64_t BytesOnDisk(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<uint64_t>(status.st_blocks) * 512 : 0;
}

struct Stored {
  std::string path;  // without its end
  uint64_t bytes;
  fs::file_time_type opened;
};

std::vector<Stored> StoredObjects() {
  std::vector<Stored> all;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(Folder(), ignored)) {
    if (entry.path().extension() != kDataEnd) continue;
    fs::path bits = entry.path();
    bits.replace_extension(kBitsEnd);
    fs::path stem = entry.path();
    stem.replace_extension();
    all.push_back({stem, BytesOnDisk(entry.path()), fs::last_write_time(bits, ignored)});
  }
  std::ranges::sort(all, {}, &Stored::opened);
  return all;
}

uint64_t Sum(const std::vector<Stored>& all) {
  uint64_t sum = 0;
  for (const Stored& each : all) sum += each.bytes;
  return sum;
}

// Removes an object unless a process has it open.
bool RemoveUnused(const Stored& object) {
  try {
    const auto lock = TryLock(object.path + kBitsEnd);
    if (!lock) return false;
    std::error_code ignored;
    fs::remove(object.path + kDataEnd, ignored);
    fs::remove(object.path + kBitsEnd, ignored);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Bytes that may be added before the folder has to be looked through again.
std::atomic<int64_t> room = 0;

// Time of the steady clock until which it is taken for full without looking.
std::atomic<int64_t> full_until = 0;
constexpr auto kStaysFull = std::chrono::seconds(10);

bool IsFull() {
  return std::chrono::steady_clock::now().time_since_epoch().count() <
         full_until.load(std::memory_order_relaxed);
}

// Looks how much room there is, after removing what no process has open to make room for `bytes`.
void LookForRoom(uint64_t bytes, uint64_t limit) {
  std::vector<Stored> all = StoredObjects();
  uint64_t used = Sum(all);
  for (const Stored& object : all) {
    if (used + bytes <= limit) break;
    if (RemoveUnused(object)) used -= std::min(used, object.bytes);
  }
  if (used + bytes <= limit) {
    room = static_cast<int64_t>(std::min(kLookEvery, limit - used));
  } else {
    room = 0;
    full_until = (std::chrono::steady_clock::now() + kStaysFull).time_since_epoch().count();
  }
}

// Reserves space; returns false if the cache is full.
bool TakeRoom(uint64_t bytes, uint64_t limit) {
  const auto wanted = static_cast<int64_t>(bytes);
  if (IsFull()) return false;
  if (room.fetch_sub(wanted) >= wanted) return true;
  LookForRoom(bytes, limit);
  return room.fetch_sub(wanted) >= wanted;
}

uint64_t MapBytes(uint64_t size) {
  const uint64_t blocks = (size + kBlock - 1) / kBlock;
  return (blocks + kBitsPerWord - 1) / kBitsPerWord * sizeof(uint64_t);
}

}  // namespace

std::optional<uint64_t> DiskCache::Limit() {
  const std::string text = ProcessEnvironment("RECPACK_CACHE_BYTES");
  if (text.empty() || text == "0") return {};
  try {
    return ParseBytes(text);
  } catch (const Error& error) {
    throw Error(error.kind(), "RECPACK_CACHE_BYTES is " + error.reason(), {}, error.advice());
  }
}

std::shared_ptr<DiskCache> DiskCache::Open(const std::string& url, const std::string& version,
                                           uint64_t size) {
  const auto limit = Limit();
  if (!limit || version.empty() || size == 0) return nullptr;
  const std::string key = HexSha256(url + "\n" + version + "\n" + std::to_string(size));
  const std::string path = Folder() + "/" + key.substr(0, 32);
  std::error_code failed;
  fs::create_directories(Folder(), failed);
  try {
    auto bits = TryLock(path + kBitsEnd, true);
    if (!bits) return nullptr;  // it is being removed
    Descriptor data(::open((path + kDataEnd).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    const uint64_t map_bytes = MapBytes(size);
    if (data.get() < 0 || ::ftruncate(data.get(), static_cast<off_t>(size)) != 0 ||
        ::posix_fallocate(bits->get(), 0, static_cast<off_t>(map_bytes)) != 0) {
      return nullptr;  // to write to a map whose blocks a full disk lacks would kill the process
    }
    ::futimens(bits->get(), nullptr);  // opened last
    if (room <= 0 && !IsFull()) LookForRoom(kPage, *limit);
    void* const map =
        ::mmap(nullptr, map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bits->get(), 0);
    if (map == MAP_FAILED) return nullptr;
    return std::shared_ptr<DiskCache>(new DiskCache(std::move(data), std::move(*bits), size, *limit,
                                                    static_cast<std::atomic<uint64_t>*>(map)));
  } catch (const Error&) {
    return nullptr;
  }
}

DiskCache::DiskCache(Descriptor data, Descriptor bits, uint64_t size, uint64_t limit,
                     std::atomic<uint64_t>* map)
    : data_(std::move(data)), bits_(std::move(bits)), size_(size), limit_(limit), map_(map) {}

DiskCache::~DiskCache() { ::munmap(map_, MapBytes(size_)); }

bool DiskCache::Has(uint64_t offset, uint64_t size) const noexcept {
  if (size == 0) return true;
  for (uint64_t block = offset / kBlock; block <= (offset + size - 1) / kBlock; ++block) {
    const uint64_t word = map_[block / kBitsPerWord].load(std::memory_order_acquire);
    if ((word >> (block % kBitsPerWord) & 1) == 0) return false;
  }
  return true;
}

bool DiskCache::Read(uint64_t offset, std::span<uint8_t> out) const noexcept {
  return Has(offset, out.size()) &&
         ReadFully(data_.get(), out, offset) == static_cast<int64_t>(out.size());
}

void DiskCache::Store(uint64_t offset, ByteView bytes) noexcept {
  const uint64_t first = (offset + kBlock - 1) / kBlock;
  const uint64_t end = offset + bytes.size();
  const uint64_t last = end == size_ ? (end + kBlock - 1) / kBlock : end / kBlock;  // one behind
  if (first >= last) return;
  const uint64_t begin = first * kBlock;
  const ByteView whole = bytes.subspan(begin - offset, std::min(last * kBlock, end) - begin);
  try {
    const uint64_t pages = (begin % kPage + whole.size() + kPage - 1) / kPage;  // not more
    if (!Has(begin, whole.size()) && !TakeRoom(pages * kPage, limit_)) return;
    if (!WriteFully(data_.get(), whole, begin)) return;  // such as a full disk
  } catch (...) {
    return;
  }
  for (uint64_t block = first; block < last; ++block) {
    map_[block / kBitsPerWord].fetch_or(uint64_t{1} << (block % kBitsPerWord),
                                        std::memory_order_release);
  }
}

std::pair<uint64_t, uint64_t> DiskCache::Around(uint64_t offset, uint64_t size) const noexcept {
  if (IsFull()) return {offset, offset + size};
  const uint64_t begin = offset / kBlock * kBlock;
  return {begin, std::min(size_, (offset + size + kBlock - 1) / kBlock * kBlock)};
}

DiskCacheUse DiskCache::Use() {
  const std::vector<Stored> all = StoredObjects();
  return {all.size(), Sum(all)};
}

DiskCacheUse DiskCache::Clear() {
  DiskCacheUse removed;
  for (const Stored& object : StoredObjects()) {
    if (!RemoveUnused(object)) continue;
    ++removed.objects;
    removed.bytes += object.bytes;
  }
  return removed;
}

}  // namespace recpack::remote
