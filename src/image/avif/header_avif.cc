#include <algorithm>
#include <vector>

#include "recpack/base/error.h"
#include "src/image/avif/avif_boxes.h"
#include "src/image/header_formats.h"

namespace recpack {
namespace {

constexpr size_t kVersionBytes = 4;  // version and flags, before the content of a full box

IsoBox WithoutVersion(const IsoBox& box) {
  IsoNumbers(box).Next(kVersionBytes);
  return {.type = box.type,
          .content = box.content.subspan(kVersionBytes),
          .offset = box.offset + kVersionBytes};
}

IsoBox Needed(IsoBoxes boxes, std::string_view type, size_t offset) {
  if (std::optional<IsoBox> box = boxes.Next(type)) return *box;
  throw Error(ErrorKind::kCorrupt, "the AVIF has no box '" + std::string(type) + "'",
              {.offset = offset});
}

IsoBox Needed(const IsoBox& parent, std::string_view type) {
  return Needed(IsoBoxes(parent.content, parent.offset), type, parent.offset);
}

// Number of the item that is the picture ('pitm').
uint32_t PrimaryItem(const IsoBox& meta) {
  const IsoBox box = Needed(meta, "pitm");
  IsoNumbers numbers(box);
  const uint32_t version = numbers.Next(1);
  numbers.Next(3);
  return numbers.Next(version == 0 ? 2 : 4);
}

// Numbers of an item's properties, counted from 1, in the order in which they apply ('ipma').
std::vector<uint32_t> PropertiesOf(uint32_t item, const IsoBox& properties) {
  const IsoBox box = Needed(properties, "ipma");
  IsoNumbers numbers(box);
  const uint32_t version = numbers.Next(1);
  const bool wide = (numbers.Next(3) & 1) != 0;
  std::vector<uint32_t> found;
  for (uint32_t items = numbers.Next(4); items > 0; --items) {
    const bool is_this = numbers.Next(version == 0 ? 2 : 4) == item;
    for (uint32_t count = numbers.Next(1); count > 0; --count) {
      const uint32_t number = wide ? numbers.Next(2) & 0x7FFF : numbers.Next(1) & 0x7F;
      if (is_this) found.push_back(number);
    }
  }
  return found;
}

// Orientation of EXIF that turns as the AVIF says: it is mirrored after it was turned by `quarters`
// anti-clockwise.
int Orientation(uint32_t quarters, std::optional<uint32_t> mirrored_sideways) {
  constexpr int kTurned[] = {1, 8, 3, 6}, kThenSideways[] = {2, 7, 4, 5},
                kThenUpsideDown[] = {4, 5, 2, 7};
  if (!mirrored_sideways) return kTurned[quarters];
  return *mirrored_sideways != 0 ? kThenSideways[quarters] : kThenUpsideDown[quarters];
}

int Side(uint32_t pixels, size_t offset) {
  if (pixels >= 1 && pixels <= 0x7FFFFFFF) return static_cast<int>(pixels);
  throw Error(ErrorKind::kCorrupt, "the AVIF has an impossible size", {.offset = offset});
}

// Whether some item is the alpha channel of another ('auxl' in 'iref'), which is then the picture.
bool HasAlpha(const IsoBox& meta) {
  const std::optional<IsoBox> references = IsoBoxes(meta.content, meta.offset).Next("iref");
  if (!references) return false;
  const IsoBox content = WithoutVersion(*references);
  return IsoBoxes(content.content, content.offset).Next("auxl").has_value();
}

}  // namespace

ImageHeader ReadAvifHeader(ByteView bytes) {
  const IsoBox meta = WithoutVersion(Needed(IsoBoxes(bytes, 0), "meta", 0));
  const IsoBox properties = Needed(meta, "iprp");
  const IsoBox container = Needed(properties, "ipco");
  std::vector<IsoBox> all;
  for (IsoBoxes boxes(container.content, container.offset);
       std::optional<IsoBox> box = boxes.Next();)
    all.push_back(*box);

  ImageHeader header{.format = ImageFormat::kAvif, .channels = 3, .bit_depth = 8};
  uint32_t quarters = 0;
  std::optional<uint32_t> mirrored;
  for (const uint32_t number : PropertiesOf(PrimaryItem(meta), properties)) {
    if (number == 0 || number > all.size()) continue;
    const IsoBox& box = all[number - 1];
    IsoNumbers numbers(box);
    if (box.type == "ispe") {
      numbers.Next(kVersionBytes);
      header.width = Side(numbers.Next(4), box.offset);
      header.height = Side(numbers.Next(4), box.offset);
    } else if (box.type == "pixi") {
      numbers.Next(kVersionBytes);
      header.channels = static_cast<int>(numbers.Next(1));
      header.bit_depth = static_cast<int>(numbers.Next(1));
    } else if (box.type == "irot") {
      quarters = numbers.Next(1) & 3;
    } else if (box.type == "imir") {
      mirrored = numbers.Next(1) & 1;
    }
  }
  if (header.width == 0)
    throw Error(ErrorKind::kCorrupt, "the AVIF has no size", {.offset = meta.offset});
  if (HasAlpha(meta)) ++header.channels;
  header.orientation = Orientation(quarters, mirrored);
  return header;
}

}  // namespace recpack
