// Options for processing the images of a source before they are packed.
#pragma once

namespace recpack::pack {

struct ImageOptions {
  // Decode every image, to find broken ones while packing instead of while training. Default:
  // false, only headers are read.
  bool check = false;

  // Length of the shorter side after resizing [pixels]; smaller images are not enlarged. A resized
  // image is stored as JPEG without metadata. Default: 0, no resizing.
  int resize = 0;

  // JPEG quality of resized images, 1 to 100.
  int quality = 90;

  // Rewrite JPEGs losslessly with restart markers, so that crops can be decoded independently.
  // Images that cannot be rewritten are stored unchanged and counted in Source::Notices().
  bool tile = false;

  // Tells whether any option needs more than the image header.
  bool reads_pixels() const { return check || resize > 0 || tile; }
};

}  // namespace recpack::pack
