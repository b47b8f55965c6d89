#include "src/pack/sources/tar/tar_samples.h"

#include <algorithm>
#include <optional>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::pack {
namespace {

struct KeyAndExtension {
  std::string_view key;
  std::string extension;
};

// Splits a name as WebDataset does; nullopt for names that it ignores.
std::optional<KeyAndExtension> SplitName(std::string_view name) {
  for (size_t at = 0; at < name.size();) {
    const size_t end = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, end - at);
    if (part.size() >= 4 && part.starts_with("__") && part.ends_with("__")) return {};
    at = end + 1;
  }
  const size_t slash = name.rfind('/');
  const size_t base = slash == std::string_view::npos ? 0 : slash + 1;
  const size_t dot = name.find('.', base);
  if (dot == std::string_view::npos || dot == base || dot + 1 == name.size()) return {};
  std::string extension(name.substr(dot + 1));
  std::ranges::transform(extension, extension.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return KeyAndExtension{name.substr(0, dot), std::move(extension)};
}

}  // namespace

uint32_t ExtensionNumbers::Number(std::string_view text) {
  if (texts_.size() >= kMostExtensions && !numbers_.contains(std::string(text))) {
    throw Error(
        ErrorKind::kInvalidArgument,
        format("has more than {} extensions, such as {} and {}: the part of a name after the "
               "first dot is the member's field",
               kMostExtensions, texts_.front(), text),
        {}, "create the archive again with one dot per name");
  }
  const auto [found, added] =
      numbers_.try_emplace(std::string(text), static_cast<uint32_t>(texts_.size()));
  if (added) texts_.emplace_back(text);
  return found->second;
}

std::span<const TarSampleMember> TarSamples::Members(size_t sample) const {
  const uint64_t begin = samples[sample].first_member;
  const uint64_t end =
      sample + 1 < samples.size() ? samples[sample + 1].first_member : members.size();
  return std::span(members).subspan(begin, end - begin);
}

uint32_t TarSamples::ExtensionNumber(std::string_view extension, const std::string& path) {
  try {
    return extensions.Number(extension);
  } catch (const Error& error) {
    throw error.At({.path = path});
  }
}

void TarSamples::Add(uint32_t volume, const std::string& path, const TarMember& member) {
  const auto name = SplitName(member.name);
  if (!name) {
    ++without_extension;
    return;
  }
  if (samples.empty() || samples.back().volume != volume || Key(samples.size() - 1) != name->key) {
    samples.push_back({.first_member = members.size(), .key = keys.size(), .volume = volume});
    keys.append(name->key);
    keys += '\0';
  }
  const uint32_t extension = ExtensionNumber(name->extension, path);
  const auto others = Members(samples.size() - 1);
  if (std::ranges::count(others, extension, &TarSampleMember::extension) > 0) {
    throw Error(ErrorKind::kCorrupt, format("the member {} occurs twice", member.name),
                {.path = path, .offset = member.offset}, "create the archive again");
  }
  members.push_back({.offset = member.offset, .size = member.size, .extension = extension});
}

void TarSamples::Append(const TarSamples& later) {
  const uint64_t first_member = members.size();
  const uint64_t first_key = keys.size();
  for (TarSampleMember member : later.members) {
    member.extension = extensions.Number(later.extensions.Text(member.extension));
    members.push_back(member);
  }
  for (TarSample sample : later.samples) {
    sample.first_member += first_member;
    sample.key += first_key;
    samples.push_back(sample);
  }
  keys += later.keys;
  links += later.links;
  without_extension += later.without_extension;
}

}  // namespace recpack::pack
