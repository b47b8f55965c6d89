#include "python/calls/function_calls.h"

#include <cstring>

#include "python/calls/raised.h"
#include "python/convert/array_type.h"
#include "python/convert/features.h"
#include "python/convert/owned_array.h"
#include "recpack/base/bytes.h"
#include "recpack/base/error.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

nb::tuple MakeKeyTuple(KeyedRandom& random) {
  const CallKey key(random);
  return nb::make_tuple(key.low, key.high, key.seed);
}

nb::object CopyPicture(const PixelView& picture) {
  if (picture.pixels == nullptr) return nb::none();
  const auto height = static_cast<size_t>(picture.height);
  const auto width = static_cast<size_t>(picture.width);
  const auto channels = static_cast<size_t>(picture.channels);
  std::vector<uint8_t> pixels(picture.pixels, picture.pixels + height * width * channels);
  return OwnedArray(std::move(pixels), {height, width, channels});
}

// (left, top, width, height, source height, source width, flip); None without an image.
nb::object MakeCropTuple(const SampleView& sample) {
  if (sample.picture.pixels == nullptr) return nb::none();
  const PictureCrop& crop = sample.crop;
  return nb::make_tuple(crop.left, crop.top, crop.width, crop.height, crop.source.height,
                        crop.source.width, crop.flip);
}

nb::object CopyAudio(const AudioPart& audio) {
  if (audio.samples == nullptr) return nb::none();
  const size_t channels = audio.channels, length = audio.length;
  std::vector<float> samples(audio.samples, audio.samples + channels * length);
  return channels == 1 ? OwnedArray(std::move(samples), {length})
                       : OwnedArray(std::move(samples), {channels, length});
}

// (first frame, frames, rate); None without a sound.
nb::object MakePartTuple(const AudioPart& audio) {
  if (audio.samples == nullptr) return nb::none();
  return nb::make_tuple(audio.begin, audio.frames, audio.rate);
}

// `results`: arrays of the declared types and shapes, in order; ragged ones have any number of rows
// up to the most.
void CopyTo(nb::handle results, const std::vector<ArraySpec>& arrays,
            std::span<uint8_t* const> out) {
  auto to = out.begin();
  for (size_t i = 0; i < arrays.size(); ++i) {
    using Values = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
    const auto values = nb::cast<Values>(results[i]);
    const bool ragged = arrays[i].rows == ArrayRows::kRagged;
    const size_t bytes = arrays[i].sample_bytes;
    if (ragged ? values.nbytes() > bytes : values.nbytes() != bytes) {
      throw Error(ErrorKind::kInvalidArgument, "array '" + arrays[i].name + "' has another size");
    }
    std::memcpy(*to++, values.data(), values.nbytes());
    if (ragged) StoreLittleEndian(*to++, static_cast<int64_t>(values.shape(0)));
  }
}

// Views of the batch's arrays by name, except bfloat16 arrays, which NumPy does not support.
nb::dict MakeArrayViews(const BatchView& batch, const nb::capsule& keeper) {
  nb::dict views;
  for (const ArraySpec& spec : batch.arrays()) {
    if (spec.type == ElementType::kBf16) continue;
    const auto shape = ShapeOf<size_t>(spec, batch.Rows(spec.name));
    views[spec.name.c_str()] =
        nb::cast(nb::ndarray<nb::numpy>(batch.Raw(spec.name), shape.size(), shape.data(), keeper,
                                        nullptr, ToDlpackType(spec.type)));
  }
  return views;
}

}  // namespace

Caller::Caller(const nb::object& caller, std::string name, SharedCalls running)
    : weak_(nb::module_::import_("weakref").attr("ref")(caller)),
      name_(std::move(name)),
      running_(std::move(running)) {}

nb::object Caller::operator*() const {
  nb::object caller = (*weak_)();
  if (!caller.is_none()) return caller;
  throw Error(ErrorKind::kInvalidArgument, name_ + " is gone: its loader was closed");
}

void SampleCall::operator()(SampleView& sample) const {
  AttachThread();
  const nb::gil_scoped_acquire locked;
  const RunningCalls::Mark running(caller_.running());
  try {
    const nb::object features = nb::cast(Features(sample.example));
    struct End {
      const nb::object& of;
      ~End() {
        const nb::ft_object_guard locked(of);  // a thread of the user function may still read them
        nb::cast<Features&>(of).End();
      }
    } const end{features};
    const nb::object results =
        (*caller_)(features, sample.id, sample.epoch, sample.position, MakeKeyTuple(sample.random),
                   CopyPicture(sample.picture), MakeCropTuple(sample), CopyAudio(sample.audio),
                   MakePartTuple(sample.audio));
    CopyTo(results, arrays_, sample.out);
  } catch (const nb::python_error& raised) {
    ThrowRaised(raised, caller_.name(), caller_.errors());
  }
}

void BatchCall::operator()(BatchView& batch) const {
  AttachThread();
  const nb::gil_scoped_acquire locked;
  const RunningCalls::Mark running(caller_.running());
  const nb::capsule keeper = MakeKeeper(batch.memory);
  try {
    (*caller_)(MakeArrayViews(batch, keeper), batch.epoch, batch.position, OwnedArray(batch.ids),
               OwnedArray(batch.mask), MakeKeyTuple(batch.random));
  } catch (const nb::python_error& raised) {
    ThrowRaised(raised, caller_.name(), caller_.errors());
  }
  if (Py_REFCNT(keeper.ptr()) == 1) return;
  throw Error(ErrorKind::kInvalidArgument, caller_.name() + " keeps views of a batch's arrays", {},
              "keep copies: the memory is that of later batches");
}

}  // namespace recpack::python
