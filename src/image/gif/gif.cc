#include "src/image/gif/gif.h"

#include <algorithm>
#include <vector>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/image/checks.h"
#include "src/image/gif/gif_layout.h"
#include "src/image/gif/gif_lzw.h"

namespace recpack {
namespace {

// Rows of an image in the order in which they are stored.
std::vector<int> StoredRows(const GifLayout& layout) {
  std::vector<int> rows;
  const auto add = [&](int first, int step) {
    for (int row = first; row < layout.image_height; row += step) rows.push_back(row);
  };
  if (layout.is_interlaced) {
    add(0, 8);
    add(4, 8);
    add(2, 4);
    add(1, 2);
  } else {
    add(0, 1);
  }
  return rows;
}

bool IsGrayPalette(const GifLayout& layout) {
  return std::ranges::all_of(layout.palette,
                             [](const auto& c) { return c[0] == c[1] && c[1] == c[2]; });
}

// Writes pixels of the canvas.
class Painter {
 public:
  Painter(const GifLayout& layout, bool as_indices, Image& out)
      : layout_(layout), as_indices_(as_indices), out_(out) {}

  void Paint(int x, int y, uint8_t index) {
    if (index >= layout_.palette.size()) {
      throw Error(ErrorKind::kCorrupt,
                  format("a pixel has colour {} of {}", index, layout_.palette.size()));
    }
    uint8_t* const to = out_.row(y) + static_cast<ptrdiff_t>(x) * out_.channels;
    if (as_indices_) {
      *to = index;
    } else {
      std::copy_n(layout_.palette[index].begin(), out_.channels, to);
    }
  }

 private:
  const GifLayout& layout_;
  const bool as_indices_;
  Image& out_;
};

std::vector<uint8_t> DecodeIndices(ByteView bytes, const GifLayout& layout, bool allow_damage,
                                   size_t& decoded) {
  std::vector<uint8_t> indices(static_cast<size_t>(layout.image_width) *
                               static_cast<size_t>(layout.image_height));
  const int min_bits = bytes[layout.data_at];
  GifPixels found{.is_damaged = true};
  if (min_bits >= 1 && min_bits <= 8) {
    found = DecodeGifPixels(bytes.subspan(layout.data_at + 1), min_bits, indices);
  }
  if (found.pixels < indices.size() && !allow_damage) {
    throw Error(
        ErrorKind::kCorrupt,
        found.is_damaged ? "the GIF's pixels are damaged" : "the GIF ends inside its pixels",
        {.offset = found.is_damaged ? layout.data_at : bytes.size()});
  }
  decoded = found.pixels;
  return indices;
}

}  // namespace

void DecodeGif(ByteView bytes, const DecodeOptions& options, Image& out) {
  const GifLayout layout = ReadGifLayout(bytes);
  if (!layout.has_image() || layout.palette.empty()) {
    throw Error(ErrorKind::kCorrupt, layout.has_image() ? "the GIF has no palette"
                                                        : "the GIF ends before its first image");
  }
  CheckPixels(static_cast<uint64_t>(layout.width), static_cast<uint64_t>(layout.height),
              options.max_pixels);
  size_t decoded = 0;
  const std::vector<uint8_t> indices = DecodeIndices(bytes, layout, options.allow_damage, decoded);
  const bool as_gray = options.layout == PixelLayout::kAsStored && IsGrayPalette(layout);
  const bool as_indices = options.layout == PixelLayout::kOne;
  out.Reshape(layout.width, layout.height, as_indices || as_gray ? 1 : 3);
  Painter painter(layout, as_indices, out);
  if (layout.image_width < layout.width || layout.image_height < layout.height) {
    for (int y = 0; y < layout.height; ++y) {
      for (int x = 0; x < layout.width; ++x) painter.Paint(x, y, layout.transparent.value_or(0));
    }
  }
  size_t at = 0;
  for (const int row : StoredRows(layout)) {
    for (int x = 0; x < layout.image_width; ++x, ++at) {
      if (at < decoded) {
        painter.Paint(layout.x + x, layout.y + row, indices[at]);
      } else {
        uint8_t* const to =
            out.row(layout.y + row) + static_cast<ptrdiff_t>(layout.x + x) * out.channels;
        std::fill_n(to, out.channels, kGrey);
      }
    }
  }
}

}  // namespace recpack
