// Lists the features that hold a picture, and those that hold a sound, by their names.
#pragma once

namespace recpack::pack {

// In the order in which a picture is looked for: a record's first is its picture.
inline constexpr const char* kPictureNames[] = {
    "image/encoded", "image", "jpg", "jpeg", "png", "webp", "bmp", "gif", "avif", "tif", "tiff"};

// The same for a sound. Those behind "sound" are of formats that are not read: the error says so.
inline constexpr const char* kSoundNames[] = {"audio/encoded", "audio", "wav", "sound",
                                              "flac",          "mp3",   "ogg"};

}  // namespace recpack::pack
