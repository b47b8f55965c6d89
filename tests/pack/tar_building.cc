#include "tests/pack/tar_building.h"

#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace recpack::pack {
namespace {

struct Header {
  char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
  char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], padding[12];
};
static_assert(sizeof(Header) == 512);

std::string PaxRecord(std::string_view key, std::string_view value) {
  const size_t rest = key.size() + value.size() + 3;
  size_t total = rest + 1;
  while (rest + std::to_string(total).size() != total) ++total;
  return std::to_string(total) + " " + std::string(key) + "=" + std::string(value) + "\n";
}

}  // namespace

TarBuilder& TarBuilder::Add(std::string_view name, std::string_view content, char type) {
  Header header = {};
  std::memcpy(header.name, name.data(), std::min(name.size(), sizeof header.name));
  std::snprintf(header.mode, sizeof header.mode, "0000644");
  std::snprintf(header.uid, sizeof header.uid, "0000000");
  std::snprintf(header.gid, sizeof header.gid, "0000000");
  std::snprintf(header.size, sizeof header.size, "%011zo", content.size());
  std::snprintf(header.mtime, sizeof header.mtime, "00000000000");
  header.type = type;
  if (type == '1' || type == '2') std::snprintf(header.link, sizeof header.link, "elsewhere");
  std::memcpy(header.magic,
              "ustar\0"
              "00",
              8);
  std::memset(header.checksum, ' ', sizeof header.checksum);
  unsigned sum = 0;
  for (size_t i = 0; i < sizeof header; ++i) sum += reinterpret_cast<unsigned char*>(&header)[i];
  std::snprintf(header.checksum, sizeof header.checksum, "%06o", sum);
  bytes_.append(reinterpret_cast<const char*>(&header), sizeof header);
  bytes_ += content;
  bytes_.append((512 - content.size() % 512) % 512, '\0');
  return *this;
}

TarBuilder& TarBuilder::AddPax(std::string_view name, std::string_view content) {
  return Add("PaxHeader", PaxRecord("path", name), 'x').Add("short", content);
}

TarBuilder& TarBuilder::AddGnuLong(std::string_view name, std::string_view content) {
  return Add("././@LongLink", std::string(name) + '\0', 'L').Add(name.substr(0, 99), content);
}

std::string Gzip(std::string_view bytes) {
  z_stream stream = {};
  if (::deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  std::string out(::deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

std::string Zstd(std::string_view bytes) {
  archive* writer = archive_write_new();
  archive_entry* entry = archive_entry_new();
  std::string out(bytes.size() + 4096, '\0');
  size_t used = 0;
  archive_write_add_filter_zstd(writer);
  archive_write_set_format_raw(writer);
  archive_write_set_bytes_in_last_block(writer, 1);
  archive_write_open_memory(writer, out.data(), out.size(), &used);
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_write_header(writer, entry);
  archive_write_data(writer, bytes.data(), bytes.size());
  archive_entry_free(entry);
  if (archive_write_close(writer) != ARCHIVE_OK) throw std::runtime_error("zstd");
  archive_write_free(writer);
  out.resize(used);
  return out;
}

}  // namespace recpack::pack
