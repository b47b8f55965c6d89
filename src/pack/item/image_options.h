// What is done to the images of a source on their way into records.
#pragma once

namespace recpack::pack {

struct ImageOptions {
  // Decode every image, so that a broken one is found now and not by a trainer. Default off: only
  // headers are read.
  bool check = false;

  // Pixels of the shorter side after resizing; images that are smaller stay as they are. A resized
  // image is stored as JPEG, without metadata. Default 0: off.
  int resize = 0;

  // JPEG quality of resized images, 1 to 100.
  int quality = 90;

  // Rewrite JPEGs losslessly with restart markers, so that crops can be decoded on their own. What
  // cannot be rewritten is stored unchanged and counted in Source::Notices().
  bool tile = false;

  // Whether more is done to images than reading their headers.
  bool reads_pixels() const { return check || resize > 0 || tile; }
};

}  // namespace recpack::pack
