#include "src/train/collectives/launch/launch.h"

#include <charconv>
#include <climits>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/collectives/launch/slurm_tasks.h"

namespace recpack::train {
namespace {

constexpr int kMostRanks = 1'000'000;
constexpr int kMostPort = 65'535;
// For Slurm jobs without a port.
constexpr int kFirstJobPort = 15'000;
constexpr int kJobPorts = 10'000;

Error Wrong(const std::string& reason, const std::string& advice = "") {
  return {ErrorKind::kInvalidArgument, reason, {}, advice};
}

// The names of one launcher's four variables.
struct Names {
  Launcher launcher;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
};
constexpr Names kTorchrun = {Launcher::kTorchrun, "RANK", "WORLD_SIZE", "LOCAL_RANK",
                             "LOCAL_WORLD_SIZE"};
constexpr Names kOpenMpi = {Launcher::kOpenMpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                            "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr Names kHydra = {Launcher::kHydra, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID",
                          "MPI_LOCALNRANKS"};
constexpr Names kSlurm = {Launcher::kSlurm, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID",
                          "SLURM_STEP_TASKS_PER_NODE"};

class Reader {
 public:
  // `place_too`: read the local rank as well. Some launchers (DeepSpeed) do not set it, and
  // observers do not need it.
  Reader(const Environment& environment, bool place_too)
      : environment_(environment), place_too_(place_too) {}

  LaunchPlace Read() const {
    LaunchPlace place = Ranks();
    SetAddress(place);
    return place;
  }

  LaunchPlace Ranks() const {
    const bool torch = Has(kTorchrun.rank) || Has(kTorchrun.size);
    if (torch && Has("TORCHELASTIC_RUN_ID")) return FindRanks(kTorchrun);
    for (const Names& mpi : {kOpenMpi, kHydra}) {
      if (!Has(mpi.rank) && !Has(mpi.size)) continue;
      LaunchPlace place = FindRanks(mpi);
      if (torch) CheckAgreement(place, mpi);
      return place;
    }
    if (torch) return FindRanks(kTorchrun);
    if (Has(kSlurm.rank) && Has(kSlurm.size)) return SlurmRanks();
    return {};
  }

 private:
  // An empty variable counts as unset.
  std::optional<std::string_view> Text(const char* name) const {
    const char* text = environment_(name);
    if (text == nullptr || *text == '\0') return std::nullopt;
    return text;
  }
  bool Has(const char* name) const { return Text(name).has_value(); }

  std::optional<int> Number(const char* name, int least, int most) const {
    const auto text = Text(name);
    if (!text) return std::nullopt;
    int number = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (error != std::errc() || end != text->data() + text->size() || number < least ||
        number > most) {
      throw Wrong(format("{}={}: expected a number from {} to {}", name, *text, least, most));
    }
    return number;
  }

  int Needed(const char* name, int least, int most, const char* because) const {
    const auto number = Number(name, least, most);
    if (number) return *number;
    throw Wrong(format("{} is set, but {} is not", because, name), "set both or neither");
  }

  // Users sometimes set torch's variables by hand from those of MPI.
  void CheckAgreement(const LaunchPlace& place, const Names& mpi) const {
    const LaunchPlace other = FindRanks(kTorchrun);
    if (other.rank == place.rank && other.size == place.size) return;
    throw Wrong(format("RANK={} of WORLD_SIZE={}, but {}={} of {}={}", other.rank, other.size,
                       mpi.rank, place.rank, mpi.size, place.size),
                "unset the variables that do not belong to this run");
  }

  LaunchPlace FindRanks(const Names& names) const {
    LaunchPlace place = FindWorld(names);
    if (!place_too_) return place;
    const bool has_local = Has(names.local_rank) || Has(names.local_size);
    if (has_local) {
      place.local_size = Needed(names.local_size, 1, kMostRanks, names.local_rank);
      place.local_rank = Needed(names.local_rank, 0, kMostRanks, names.local_size);
    } else {  // a single machine
      place.local_size = place.size;
      place.local_rank = place.rank;
    }
    Check(place, names);
    return place;
  }

  LaunchPlace FindWorld(const Names& names) const {
    LaunchPlace place{.launcher = names.launcher};
    place.size = Needed(names.size, 1, kMostRanks, names.rank);
    place.rank = Needed(names.rank, 0, kMostRanks, names.size);
    CheckBelow(names.rank, place.rank, names.size, place.size);
    return place;
  }

  static void Check(const LaunchPlace& place, const Names& names) {
    CheckBelow(names.local_rank, place.local_rank, names.local_size, place.local_size);
    if (place.local_size > place.size || place.local_rank > place.rank) {
      throw Wrong(
          format("{}={} of {}={}, but {}={} of {}={}: the local size or rank exceeds the world's",
                 names.local_rank, place.local_rank, names.local_size, place.local_size, names.rank,
                 place.rank, names.size, place.size));
    }
  }

  static void CheckBelow(const char* name, int number, const char* limit_name, int limit) {
    if (number < limit) return;
    throw Wrong(format("{}={}, but {}={}: ranks count from 0", name, number, limit_name, limit));
  }

  LaunchPlace SlurmRanks() const {
    LaunchPlace place = FindWorld(kSlurm);
    if (place.size == 1 && place.rank == 0) return {};  // a shell, or a program on its own
    if (!place_too_) return place;
    place.local_rank = Needed(kSlurm.local_rank, 0, kMostRanks, kSlurm.rank);
    place.local_size = TasksOfThisNode();
    Check(place, kSlurm);
    return place;
  }

  int TasksOfThisNode() const {
    const auto text = Text(kSlurm.local_size);
    if (!text) throw Wrong(format("{} is set, but {} is not", kSlurm.rank, kSlurm.local_size));
    const int node = Number("SLURM_NODEID", 0, kMostRanks).value_or(0);
    const auto tasks = SlurmTasks(*text, node);
    if (tasks) return *tasks;
    throw Wrong(
        format("{}={} has no node number {} (SLURM_NODEID)", kSlurm.local_size, *text, node));
  }

  void SetAddress(LaunchPlace& place) const {
    if (place.launcher == Launcher::kNone) return;
    place.address = Text("MASTER_ADDR").value_or("");
    place.port = Number("MASTER_PORT", 1, kMostPort).value_or(0);
    if (place.launcher == Launcher::kSlurm) SetSlurmAddress(place);
    if (place.launcher == Launcher::kTorchrun) CheckTorchAddress(place);
    if (Text("TORCHELASTIC_USE_AGENT_STORE") == "True" && place.port > 0) ++place.port;
    place.port = Number("RECPACK_PORT", 1, kMostPort).value_or(place.port);
    if (place.port <= kMostPort || place.size == 1) return;
    throw Wrong(
        format("torchrun listens at MASTER_PORT={} itself, and there is no port {}", kMostPort,
               place.port),
        "set RECPACK_PORT to one that is free on rank 0's machine, or give torchrun a lower "
        "--master-port");
  }

  static void CheckTorchAddress(const LaunchPlace& place) {
    if (place.size == 1 || (!place.address.empty() && place.port != 0)) return;
    throw Wrong("RANK is set, but MASTER_ADDR and MASTER_PORT are not",
                "torchrun sets them; otherwise set them to the address where rank 0 is to listen");
  }

  void SetSlurmAddress(LaunchPlace& place) const {
    if (place.address.empty() && place.local_size == place.size) place.address = "127.0.0.1";
    if (place.address.empty()) {
      throw Wrong("srun runs on several machines, but MASTER_ADDR is not set",
                  "in the job's script: export MASTER_ADDR=$(scontrol show hostnames "
                  "\"$SLURM_JOB_NODELIST\" | head -n 1)");
    }
    if (place.port != 0) return;
    const int job = Number("SLURM_JOB_ID", 0, INT_MAX).value_or(0);
    place.port = kFirstJobPort + job % kJobPorts;
  }

  const Environment& environment_;
  const bool place_too_;
};

}  // namespace

const char* LauncherName(Launcher launcher) noexcept {
  switch (launcher) {
    case Launcher::kNone:
      return "none";
    case Launcher::kTorchrun:
      return "torchrun";
    case Launcher::kOpenMpi:
      return "Open MPI";
    case Launcher::kHydra:
      return "Hydra";
    case Launcher::kSlurm:
      return "Slurm";
  }
  return "";
}

LaunchPlace LaunchPlace::FromEnvironment(const Environment& environment) {
  return Reader(environment, true).Read();
}

LaunchPlace LaunchPlace::FromEnvironment() {
  return FromEnvironment([](const char* name) { return std::getenv(name); });
}

LaunchPlace LaunchPlace::RanksFromEnvironment(const Environment& environment) {
  return Reader(environment, false).Ranks();
}

}  // namespace recpack::train
