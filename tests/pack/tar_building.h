// Builds tar archives by hand, including invalid ones.
#pragma once

#include <string>
#include <string_view>

namespace recpack::pack {

// Writes ustar headers; Finish() adds the end mark of two zero blocks.
class TarBuilder {
 public:
  TarBuilder& Add(std::string_view name, std::string_view content, char type = '0');
  // A name in a pax header ("path=...") before the member.
  TarBuilder& AddPax(std::string_view name, std::string_view content);
  // A name in GNU's long-name member.
  TarBuilder& AddGnuLong(std::string_view name, std::string_view content);

  const std::string& bytes() const { return bytes_; }  // without the end mark
  std::string Finish() const { return bytes_ + std::string(1024, '\0'); }

 private:
  std::string bytes_;
};

std::string Gzip(std::string_view bytes);
std::string Zstd(std::string_view bytes);

}  // namespace recpack::pack
