// Fuzzes indexes: arbitrary bytes as a whole index, and as the tables of an index with valid
// checksums.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "recpack/base/error.h"
#include "recpack/record/crc32c.h"
#include "recpack/record/index.h"
#include "src/record/index/index_layout.h"

namespace {

// Adds header and footer to `tables`, whose last whole entries are the directory.
recpack::ByteBuffer Wrapped(recpack::ByteView tables) {
  recpack::IndexHeader header = {.magic = {},
                                 .version = recpack::kIndexVersion,
                                 .records_per_block = recpack::kRecordsPerBlock};
  std::memcpy(header.magic, recpack::kIndexMagic, sizeof header.magic);
  const auto* head = reinterpret_cast<const uint8_t*>(&header);
  recpack::ByteBuffer bytes(head, head + sizeof header);
  bytes.insert(bytes.end(), tables.begin(), tables.end());
  bytes.resize(bytes.size() / 8 * 8);
  recpack::IndexFooter footer = {};
  footer.shards = (bytes.size() - sizeof header) / sizeof(recpack::IndexShard);
  if (!tables.empty() && footer.shards > 0) footer.shards = 1 + tables[0] % footer.shards;
  const size_t directory = footer.shards * sizeof(recpack::IndexShard);
  footer.directory_at = bytes.size() - directory;
  for (size_t i = 0; i < footer.shards; ++i) {  // makes the counts agree
    uint8_t* shard = bytes.data() + footer.directory_at + i * sizeof(recpack::IndexShard);
    recpack::StoreLittleEndian(shard + offsetof(recpack::IndexShard, first_record), footer.records);
    footer.records +=
        recpack::LoadLittleEndian<uint64_t>(shard + offsetof(recpack::IndexShard, records));
  }
  footer.directory_crc = recpack::Crc32c(recpack::ByteView(bytes).last(directory));
  std::memcpy(footer.magic, recpack::kIndexMagic, sizeof footer.magic);
  const auto* foot = reinterpret_cast<const uint8_t*>(&footer);
  footer.footer_crc = recpack::Crc32c({foot, offsetof(recpack::IndexFooter, footer_crc)});
  bytes.insert(bytes.end(), foot, foot + sizeof footer);
  return bytes;
}

void Walk(recpack::ByteView bytes) {
  const int fd = ::memfd_create("index", 0);
  if (fd < 0 || ::write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    __builtin_trap();
  }
  try {
    const auto index = recpack::Index::Open("/proc/self/fd/" + std::to_string(fd));
    for (size_t i = 0; i < index.shard_count(); ++i) {
      if (index.shard(i).records < 1'000'000) index.Entries(i);
    }
    const uint64_t step = index.record_count() / 1000 + 1;
    for (uint64_t i = 0; i < index.record_count(); i += step) index.Locate(i);
  } catch (const recpack::Error&) {
  }
  ::close(fd);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Walk({data, size});
  Walk(Wrapped({data, size}));
  return 0;
}
