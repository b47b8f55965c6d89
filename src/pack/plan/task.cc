#include "src/pack/plan/task.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/base/parse_units.h"

namespace recpack::pack {
namespace {

constexpr char kSyntax[] = "write I/N, with I from 0 to N-1, or auto";

std::optional<uint32_t> ToNumber(std::string_view text) {
  const auto number = WholeNumber(text);
  return number && *number <= UINT32_MAX ? std::optional(static_cast<uint32_t>(*number))
                                         : std::nullopt;
}

// The variables of array jobs whose numbers run from `first` to `last`.
struct ArrayNames {
  const char* number;
  const char* first;  // null: `base`
  const char* last;   // null: as many as `count` says
  const char* step;   // null: 1
  const char* count;  // null: from first to last
  uint32_t base = 0;
};
constexpr ArrayNames kArrays[] = {
    {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP",
     "SLURM_ARRAY_TASK_COUNT"},
    {"SGE_TASK_ID", "SGE_TASK_FIRST", "SGE_TASK_LAST", "SGE_TASK_STEPSIZE", nullptr},
    {"LSB_JOBINDEX", nullptr, "LSB_JOBINDEX_END", "LSB_JOBINDEX_STEP", nullptr, 1},
    {"AWS_BATCH_JOB_ARRAY_INDEX", nullptr, nullptr, nullptr, "AWS_BATCH_JOB_ARRAY_SIZE"},
    {"JOB_COMPLETION_INDEX", nullptr, nullptr, nullptr, "RECPACK_TASKS"}};

struct ProcessNames {
  const char* number;
  const char* count;
};
constexpr ProcessNames kProcesses[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                       {"PMI_RANK", "PMI_SIZE"},
                                       {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
                                       {"RANK", "WORLD_SIZE"}};

class Reader {
 public:
  explicit Reader(const TaskEnvironment& environment) : environment_(environment) {}

  PackTask Read() const {
    if (Has("RECPACK_TASK")) return Process({"RECPACK_TASK", "RECPACK_TASKS"});
    for (const ArrayNames& names : kArrays) {
      // Grid Engine sets "undefined" outside of array jobs, LSF 0.
      const std::string text = environment_(names.number);
      if (text.empty() || text == "undefined" || (names.base == 1 && text == "0")) continue;
      return Array(names);
    }
    for (const ProcessNames& names : kProcesses) {
      if (Has(names.number) && Has(names.count)) return Process(names);
    }
    throw Error(ErrorKind::kInvalidArgument, "the environment does not tell which task this is", {},
                "auto is for array jobs of Slurm, Grid Engine, LSF and AWS Batch, for Kubernetes "
                "indexed jobs, and for mpirun, srun and torchrun; otherwise give I/N, or set "
                "RECPACK_TASK and RECPACK_TASKS");
  }

 private:
  bool Has(const char* name) const { return !environment_(name).empty(); }

  uint32_t Number(const char* name) const {
    const std::string text = environment_(name);
    if (const auto number = ToNumber(text)) return *number;
    throw Error(ErrorKind::kInvalidArgument,
                text.empty() ? format("{} is not set", name)
                             : format("{}={}: expected a whole number", name, text),
                {}, kAdvice);
  }

  uint32_t NumberOr(const char* name, uint32_t value) const {
    return name != nullptr && Has(name) ? Number(name) : value;
  }

  PackTask Process(const ProcessNames& names) const {
    return Checked({Number(names.number), Number(names.count)}, names.number);
  }

  PackTask Array(const ArrayNames& names) const {
    const uint32_t number = Number(names.number);
    if (names.last == nullptr) return Checked({number, Number(names.count)}, names.number);
    const uint32_t first = NumberOr(names.first, names.base), last = Number(names.last);
    const uint32_t step = std::max(1u, NumberOr(names.step, 1));
    const uint32_t count = last < first ? 0 : (last - first) / step + 1;
    // Slurm's arrays may be lists, such as 1,5,7: then the number does not tell the place.
    if (number < first || (number - first) % step != 0 || NumberOr(names.count, count) != count) {
      throw Error(ErrorKind::kInvalidArgument,
                  format("{}={}: expected task numbers without gaps from {} to {}", names.number,
                         number, first, last),
                  {}, kAdvice);
    }
    return Checked({(number - first) / step, count}, names.number);
  }

  static PackTask Checked(PackTask task, const char* name) {
    if (task.number < task.count) return task;
    throw Error(
        ErrorKind::kInvalidArgument,
        format("by {} this is task {} of {}, counted from 0", name, task.number, task.count), {},
        kAdvice);
  }

  static constexpr char kAdvice[] =
      "give --task I/N instead, or set RECPACK_TASK and RECPACK_TASKS";

  const TaskEnvironment& environment_;
};

}  // namespace

PackTask ParseTask(const std::string& text, const TaskEnvironment& environment) {
  if (text == "auto") return Reader(environment).Read();
  const std::string_view whole = text;
  const size_t slash = std::min(whole.find('/'), whole.size());
  const auto number = ToNumber(whole.substr(0, slash));
  const auto count = ToNumber(whole.substr(std::min(slash + 1, whole.size())));
  if (!number || !count || *number >= *count) {
    throw Error(ErrorKind::kInvalidArgument, format("not a task: '{}'", text), {}, kSyntax);
  }
  return {*number, *count};
}

}  // namespace recpack::pack
