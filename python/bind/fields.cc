// Bindings of fields and recipes.
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "python/bind/bind.h"
#include "python/convert/choice.h"
#include "python/convert/image_words.h"
#include "recpack/loader/recipe.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

constexpr Words<CropKind, 5> kCrops = {{{"none", CropKind::kNone},
                                        {"pad", CropKind::kPadAndCrop},
                                        {"random-resized", CropKind::kRandomResized},
                                        {"resize-centre", CropKind::kResizeCentre},
                                        {"resize", CropKind::kResize}}};
constexpr Words<ResizeFilter, 4> kFilters = {
    {{"bilinear", ResizeFilter::kBilinear},
     {"bilinear-no-antialias", ResizeFilter::kBilinearTwoTaps},
     {"box", ResizeFilter::kBox},
     {"nearest", ResizeFilter::kNearest}}};
constexpr Words<ElementType, 3> kNumbers = {
    {{"i64", ElementType::kI64}, {"i32", ElementType::kI32}, {"f32", ElementType::kF32}}};
constexpr Words<ElementType, 2> kMultiHot = {
    {{"f32", ElementType::kF32}, {"u8", ElementType::kU8}}};
constexpr Words<AudioCrop, 3> kAudioCrops = {
    {{"start", AudioCrop::kStart}, {"centre", AudioCrop::kCentre}, {"random", AudioCrop::kRandom}}};
constexpr Words<AugmentPolicyKind, 3> kPolicies = {
    {{"none", AugmentPolicyKind::kNone},
     {"randaugment", AugmentPolicyKind::kRandAugment},
     {"trivialaugment", AugmentPolicyKind::kTrivialAugmentWide}}};

constexpr Words<Interpolation, 2> kInterpolations = {
    {{"nearest", Interpolation::kNearest}, {"bilinear", Interpolation::kBilinear}}};

// Binds an enumeration member as an attribute with word values.
template <auto member, const auto& words, typename Class>
void Word(Class& bound, const char* name) {
  using T = typename Class::Type;
  bound.def_prop_rw(
      name, [](const T& self) { return ToWord(words, self.*member); },
      [name](T& self, const std::string& word) { self.*member = ParseWord(words, word, name); });
}

void BindImage(nb::module_& module) {
  nb::class_<ImageField> field(module, "ImageField");
  field.def(nb::init<>())
      .def_rw("name", &ImageField::name)
      .def_rw("feature", &ImageField::feature)
      .def_rw("raw_shape", &ImageField::raw_shape)
      .def_rw("height", &ImageField::height)
      .def_rw("width", &ImageField::width)
      .def_rw("pad", &ImageField::pad)
      .def_rw("resize", &ImageField::resize)
      .def_rw("area", &ImageField::area)
      .def_rw("aspect", &ImageField::aspect)
      .def_rw("flip", &ImageField::flip)
      .def_rw("mean", &ImageField::mean)
      .def_rw("std", &ImageField::std)
      .def_rw("view", &ImageField::view)
      .def_prop_rw(
          "apply_orientation", [](const ImageField& f) { return f.decoding.apply_orientation; },
          [](ImageField& f, bool on) { f.decoding.apply_orientation = on; })
      .def_prop_rw(
          "allow_damage", [](const ImageField& f) { return f.decoding.allow_damage; },
          [](ImageField& f, bool on) { f.decoding.allow_damage = on; })
      .def_prop_rw(
          "channels",
          [](const ImageField& f) {
            return f.raw_shape[0] > 0 ? f.raw_shape[0] : f.decoding.channels;
          },
          [](ImageField& f, int channels) { f.decoding.channels = channels; })
      .def_prop_rw(
          "bits", [](const ImageField& f) { return f.decoding.bits; },
          [](ImageField& f, int bits) { f.decoding.bits = bits; })
      .def_prop_rw(
          "scaled", [](const ImageField& f) { return f.decoding.scaled; },
          [](ImageField& f, bool on) { f.decoding.scaled = on; })
      .def_prop_rw(
          "erasing", [](const ImageField& f) { return f.augment.erasing.probability; },
          [](ImageField& f, double probability) { f.augment.erasing.probability = probability; })
      .def_prop_rw(
          "policy", [](const ImageField& f) { return ToWord(kPolicies, f.augment.policy.kind); },
          [](ImageField& f, const std::string& word) {
            f.augment.policy.kind = ParseWord(kPolicies, word, "policy");
          })
      .def_prop_rw(  // for pickling: recipes set it
          "_policy_interpolation",
          [](const ImageField& f) {
            return ToWord(kInterpolations, f.augment.policy.interpolation);
          },
          [](ImageField& f, const std::string& word) {
            f.augment.policy.interpolation =
                ParseWord(kInterpolations, word, "_policy_interpolation");
          });
  Word<&ImageField::crop, kCrops>(field, "crop");
  Word<&ImageField::type, kImageTypes>(field, "type");
  Word<&ImageField::layout, kLayouts>(field, "layout");
  Word<&ImageField::raw_layout, kLayouts>(field, "raw_layout");
  Word<&ImageField::filter, kFilters>(field, "interpolation");
}

void BindMultiHot(nb::module_& module) {
  using Classes = std::variant<uint32_t, std::vector<std::string>>;
  nb::class_<MultiHotField> field(module, "MultiHotField");
  field.def(nb::init<>())
      .def_rw("name", &MultiHotField::name)
      .def_rw("feature", &MultiHotField::feature)
      .def_prop_rw(
          "classes",
          [](const MultiHotField& f) {
            return f.classes.empty() ? Classes(f.count) : Classes(f.classes);
          },
          [](MultiHotField& f, Classes classes) {
            const auto* const count = std::get_if<uint32_t>(&classes);
            f.count = count != nullptr ? *count : 0;
            f.classes = count != nullptr ? std::vector<std::string>()
                                         : std::get<std::vector<std::string>>(std::move(classes));
          })
      .def_rw("separator", &MultiHotField::separator)
      .def_rw("ignore_unknown", &MultiHotField::ignore_unknown)
      .def_rw("missing_ok", &MultiHotField::missing_ok);
  Word<&MultiHotField::type, kMultiHot>(field, "type");
}

void BindAudio(nb::module_& module) {
  nb::class_<AudioField> field(module, "AudioField");
  field.def(nb::init<>())
      .def_rw("name", &AudioField::name)
      .def_rw("feature", &AudioField::feature)
      .def_rw("length", &AudioField::length)
      .def_rw("channels", &AudioField::channels)
      .def_rw("rate", &AudioField::rate)
      .def_rw("view", &AudioField::view);
  Word<&AudioField::crop, kAudioCrops>(field, "crop");
}

}  // namespace

void BindFields(nb::module_& module) {
  BindImage(module);
  nb::class_<NumbersField> numbers(module, "NumbersField");
  numbers.def(nb::init<>())
      .def_rw("name", &NumbersField::name)
      .def_rw("feature", &NumbersField::feature)
      .def_rw("length", &NumbersField::length)
      .def_rw("ragged", &NumbersField::ragged)
      .def_rw("truncate", &NumbersField::truncate)
      .def_rw("padding", &NumbersField::padding)
      .def_rw("offsets", &NumbersField::offsets);
  Word<&NumbersField::type, kNumbers>(numbers, "type");
  nb::class_<BytesField>(module, "BytesField")
      .def(nb::init<>())
      .def_rw("name", &BytesField::name)
      .def_rw("feature", &BytesField::feature)
      .def_rw("shape", &BytesField::shape)
      .def_rw("ragged", &BytesField::ragged)
      .def_rw("truncate", &BytesField::truncate)
      .def_rw("offsets", &BytesField::offsets);
  BindMultiHot(module);
  BindAudio(module);
  nb::class_<IdField>(module, "IdField").def(nb::init<>()).def_rw("name", &IdField::name);
  module.def(
      "recipe",
      [](const std::string& name) {
        nb::list fields;
        for (Field& field : Recipe(name)) {
          std::visit(
              [&](auto& each) {
                if constexpr (!std::is_same_v<std::decay_t<decltype(each)>, FunctionField>) {
                  fields.append(nb::cast(std::move(each)));
                }
              },
              field);
        }
        return fields;
      },
      nb::arg("name"),
      nb::sig("def recipe(name: str) -> list[ImageField | NumbersField | BytesField | IdField]"),
      "The fields of a recipe, to be changed or given to a Loader.");
  module.def("recipe_names", &RecipeNames, "Names that recipe() knows.");
}

}  // namespace recpack::python
