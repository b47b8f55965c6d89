#include "src/probe/causes/program_cures.h"

#include <algorithm>

#include "src/base/format.h"
#include "src/probe/causes/rules.h"
#include "src/probe/share/slow_rank.h"

namespace recpack::probe {
namespace {

// "num_workers" as the program's library calls it, and where it is set.
std::string SettingName(const InputSettings& settings, const char* name) {
  return settings.library == InputLibrary::kHuggingFace ? format("dataloader_{}", name) : name;
}

const char* SettingsPlace(const InputSettings& settings) {
  switch (settings.library) {
    case InputLibrary::kHuggingFace:
      return "TrainingArguments(...)";
    case InputLibrary::kLightning:
      return "the DataLoader(...) of train_dataloader()";
    default:
      return "DataLoader(...)";
  }
}

struct ProgramCure {
  Bottleneck bottleneck;
  const char* text;
};

// For programs without a recpack loader: nothing that they have not got.
constexpr ProgramCure kInPython[] = {
    {Bottleneck::kStorage,
     "read from faster storage, keep the files in memory, or put small files into large ones "
     "(recpack pack writes shards)"},
    {Bottleneck::kPageCache,
     "add memory, store less data (smaller pictures, fewer features), or let each rank read only a "
     "part of it"},
    {Bottleneck::kDecompress,
     "store without compression if the disk is fast enough, or use a faster one (zstd, lz4)"},
    {Bottleneck::kDecode,
     "store smaller pictures, or use a faster decoder; recpack's loader "
     "decodes on all cores without Python"},
    {Bottleneck::kAugment, "use fewer augmentations, or do them on the device"},
    {Bottleneck::kPrefetch, "fetch more batches ahead"},
    {Bottleneck::kWorkers, "use more workers"},
};

constexpr ProgramCure kInPyTorch[] = {
    {Bottleneck::kFunction,
     "make __getitem__ and what it calls faster, or compute once and store the results"},
    {Bottleneck::kBatch, "make collate_fn faster: stack arrays, and leave the rest to the device"},
};

constexpr ProgramCure kInTfData[] = {
    {Bottleneck::kFunction,
     "make the function of Dataset.map faster (TensorFlow's operations instead of "
     "tf.numpy_function), give it num_parallel_calls=tf.data.AUTOTUNE, or add .cache()"},
    {Bottleneck::kDecode,
     "give the map that decodes num_parallel_calls=tf.data.AUTOTUNE, store smaller pictures, or "
     "add .cache()"},
    {Bottleneck::kAugment, "give the map num_parallel_calls=tf.data.AUTOTUNE, after .batch()"},
    {Bottleneck::kStorage,
     "read files in parallel: .interleave(num_parallel_calls=tf.data.AUTOTUNE), and add .cache() "
     "if the data fits in memory"},
    {Bottleneck::kTrainingThread, "end the dataset with .prefetch(tf.data.AUTOTUNE)"},
};

constexpr ProgramCure kInGrain[] = {
    {Bottleneck::kFunction,
     "make the function of .map faster, or give the loader processes: "
     "DataLoader(worker_count=...), "
     "or .mp_prefetch(grain.MultiprocessingOptions(num_workers=...))"},
    {Bottleneck::kTrainingThread,
     "make batches ahead: DataLoader(worker_count=...), or "
     ".mp_prefetch(grain.MultiprocessingOptions(num_workers=...))"},
};

template <size_t N>
const char* FindCure(const ProgramCure (&cures)[N], Bottleneck bottleneck) {
  const auto found = std::ranges::find(cures, bottleneck, &ProgramCure::bottleneck);
  return found == std::end(cures) ? nullptr : found->text;
}

const char* FindIn(InputLibrary library, Bottleneck bottleneck) {
  switch (library) {
    case InputLibrary::kTfData:
      return FindCure(kInTfData, bottleneck);
    case InputLibrary::kGrain:
      return FindCure(kInGrain, bottleneck);
    case InputLibrary::kUnknown:
      return nullptr;
    default:
      return FindCure(kInPyTorch, bottleneck);
  }
}

}  // namespace

const InputSettings* SettingsOfLongest(const Evidence& evidence,
                                       const std::vector<TrainerSteps>& trainers) {
  return FindSettings(evidence, trainers[WaitsLongest(trainers)].process);
}

std::string WorkersCure(const InputSettings& settings, uint32_t enough) {
  return format("{}={} -> {} in {}", SettingName(settings, "num_workers"), settings.workers, enough,
                SettingsPlace(settings));
}

std::string PrefetchCure(const InputSettings& settings) {
  const uint32_t present = std::max(2U, settings.prefetch);
  return format("{}={} -> {} in {}", SettingName(settings, "prefetch_factor"), present, 4 * present,
                SettingsPlace(settings));
}

std::string PersistentCure(const InputSettings& settings) {
  return format("{}=False -> True in {}", SettingName(settings, "persistent_workers"),
                SettingsPlace(settings));
}

std::string MakeOnceCure(const InputSettings& settings) {
  return format(
      "make the DataLoader once, before the loop, with {}=True: it was made {} times or more",
      SettingName(settings, "persistent_workers"), settings.made);
}

std::string PlaceOfSettings(const InputSettings& settings) {
  if (settings.place.empty()) return {};
  return format("{} ({})", settings.place.substr(settings.place.rfind('/') + 1),
                settings.loads() ? "DataLoader" : "Dataset.map");
}

std::string PinningCure(const InputSettings& settings) {
  return format(
      "{}=True -> False in {}, or larger tensors in fewer pieces: one thread copies all "
      "of them",
      SettingName(settings, "pin_memory"), SettingsPlace(settings));
}

std::string CureInProgram(const Situation& situation, const Cause& cause) {
  if (situation.trainers.empty()) return UsualCure(cause.bottleneck);
  const InputSettings* const settings = SettingsOfLongest(situation.evidence, situation.trainers);
  if (!situation.evidence.loaders.empty()) return UsualCure(cause.bottleneck);
  if (settings != nullptr) {
    if (const char* text = FindIn(settings->library, cause.bottleneck)) return text;
  }
  if (const char* text = FindCure(kInPython, cause.bottleneck)) return text;
  return UsualCure(cause.bottleneck);
}

}  // namespace recpack::probe
