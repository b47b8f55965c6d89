#include "src/train/collectives/launch/launch.h"

#include <gmock/gmock.h>

#include <map>

#include "recpack/base/error.h"
#include "tests/base/error_of.h"

namespace recpack::train {
namespace {

using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Environment EnvironmentOf(const Variables& variables) {
  return [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

LaunchPlace PlaceIn(const Variables& variables) {
  return LaunchPlace::FromEnvironment(EnvironmentOf(variables));
}

std::string ErrorIn(const Variables& variables) {
  const Error error = ErrorOf([&] { PlaceIn(variables); });
  EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
  return error.what();
}

void ExpectPlace(const LaunchPlace& place, Launcher launcher, int rank, int size, int local_rank,
                 int local_size) {
  EXPECT_STREQ(LauncherName(place.launcher), LauncherName(launcher));
  EXPECT_EQ(place.rank, rank);
  EXPECT_EQ(place.size, size);
  EXPECT_EQ(place.local_rank, local_rank);
  EXPECT_EQ(place.local_size, local_size);
}

Variables With(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

Variables Without(Variables variables, const std::string& name) {
  variables.erase(name);
  return variables;
}

const Variables kTorch = {{"RANK", "5"},
                          {"WORLD_SIZE", "8"},
                          {"LOCAL_RANK", "1"},
                          {"LOCAL_WORLD_SIZE", "4"},
                          {"MASTER_ADDR", "node1"},
                          {"MASTER_PORT", "29500"},
                          {"TORCHELASTIC_RUN_ID", "none"},
                          {"TORCHELASTIC_USE_AGENT_STORE", "False"}};
const Variables kMpirun = {{"OMPI_COMM_WORLD_RANK", "3"},
                           {"OMPI_COMM_WORLD_SIZE", "4"},
                           {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
const Variables kMpiexec = {
    {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "0"}, {"MPI_LOCALNRANKS", "1"}};
const Variables kSrun = {{"SLURM_JOB_ID", "1234567"},
                         {"SLURM_PROCID", "6"},
                         {"SLURM_NTASKS", "7"},
                         {"SLURM_STEP_NUM_TASKS", "7"},
                         {"SLURM_LOCALID", "0"},
                         {"SLURM_NODEID", "3"},
                         {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"},
                         {"MASTER_ADDR", "node1"}};

TEST(Launch, SomebodyWhoLooksOnNeedsNoAddress) {
  const Variables variables = {{"RANK", "3"}, {"WORLD_SIZE", "4"}};
  const LaunchPlace place = LaunchPlace::RanksFromEnvironment(EnvironmentOf(variables));
  EXPECT_EQ(place.launcher, Launcher::kTorchrun);
  EXPECT_EQ(place.rank, 3);
  EXPECT_EQ(place.size, 4);
  EXPECT_THAT(ErrorIn(variables), HasSubstr("MASTER_ADDR"));
}

// DeepSpeed's launcher sets LOCAL_SIZE, but not LOCAL_WORLD_SIZE.
TEST(Launch, NorHowManyRanksAreOnTheMachine) {
  const Variables deep_speed = {{"RANK", "9"},        {"WORLD_SIZE", "16"},
                                {"LOCAL_RANK", "1"},  {"LOCAL_SIZE", "8"},
                                {"MASTER_ADDR", "a"}, {"MASTER_PORT", "29500"}};
  const LaunchPlace place = LaunchPlace::RanksFromEnvironment(EnvironmentOf(deep_speed));
  EXPECT_EQ(place.rank, 9);
  EXPECT_EQ(place.size, 16);
  EXPECT_THAT(ErrorIn(deep_speed), HasSubstr("LOCAL_WORLD_SIZE"));
  const Variables srun = {
      {"SLURM_PROCID", "6"}, {"SLURM_NTASKS", "7"}, {"SLURM_STEP_NUM_TASKS", "7"}};
  EXPECT_EQ(LaunchPlace::RanksFromEnvironment(EnvironmentOf(srun)).rank, 6);
  EXPECT_THROW(
      LaunchPlace::RanksFromEnvironment(EnvironmentOf({{"RANK", "4"}, {"WORLD_SIZE", "4"}})),
      Error);
}

TEST(Launch, NothingSetIsOneProcess) {
  ExpectPlace(PlaceIn({}), Launcher::kNone, 0, 1, 0, 1);
  ExpectPlace(PlaceIn({{"RANK", ""}, {"MASTER_PORT", "1"}}), Launcher::kNone, 0, 1, 0, 1);
}

TEST(Launch, Torchrun) {
  const LaunchPlace place = PlaceIn(kTorch);
  ExpectPlace(place, Launcher::kTorchrun, 5, 8, 1, 4);
  EXPECT_EQ(place.address, "node1");
  EXPECT_EQ(place.port, 29500);
}

TEST(Launch, WhereTorchrunListensItselfRank0TakesTheNextPort) {
  const Variables agent = With(kTorch, {{"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  EXPECT_EQ(PlaceIn(agent).port, 29501);
  EXPECT_EQ(PlaceIn(With(agent, {{"RECPACK_PORT", "4000"}})).port, 4000);
}

TEST(Launch, WhereTorchrunHasTheLastPortThereIsNoNext) {
  const Variables last =
      With(kTorch, {{"TORCHELASTIC_USE_AGENT_STORE", "True"}, {"MASTER_PORT", "65535"}});
  EXPECT_THAT(ErrorIn(last), HasSubstr("MASTER_PORT=65535 itself, and there is no port 65536"));
  EXPECT_THAT(ErrorIn(last), HasSubstr("set RECPACK_PORT"));
  EXPECT_EQ(PlaceIn(With(last, {{"RECPACK_PORT", "4000"}})).port, 4000);
  EXPECT_EQ(PlaceIn(With(last, {{"MASTER_PORT", "65534"}})).port, 65535);
  ExpectPlace(
      PlaceIn(With(
          last,
          {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "1"}})),
      Launcher::kTorchrun, 0, 1, 0, 1);
}

TEST(Launch, RanksSetByHandAreOnOneMachineUnlessTheySayMore) {
  const Variables hand = {
      {"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "4000"}};
  ExpectPlace(PlaceIn(hand), Launcher::kTorchrun, 1, 2, 1, 2);
  EXPECT_THAT(ErrorIn(With(hand, {{"LOCAL_RANK", "0"}})),
              HasSubstr("LOCAL_RANK is set, but LOCAL_WORLD_SIZE is not"));
}

TEST(Launch, OpenMpi) {
  const LaunchPlace place = PlaceIn(kMpirun);
  ExpectPlace(place, Launcher::kOpenMpi, 3, 4, 1, 2);
  EXPECT_EQ(place.address, "");
  EXPECT_EQ(place.port, 0);
}

TEST(Launch, Hydra) { ExpectPlace(PlaceIn(kMpiexec), Launcher::kHydra, 1, 2, 0, 1); }

TEST(Launch, Srun) {
  const LaunchPlace place = PlaceIn(kSrun);
  ExpectPlace(place, Launcher::kSlurm, 6, 7, 0, 1);
  EXPECT_EQ(place.address, "node1");
  EXPECT_EQ(place.port, 15'000 + 4567);
  ExpectPlace(
      PlaceIn(With(kSrun, {{"SLURM_PROCID", "3"}, {"SLURM_LOCALID", "1"}, {"SLURM_NODEID", "1"}})),
      Launcher::kSlurm, 3, 7, 1, 2);
}

TEST(Launch, SrunOnOneMachineNeedsNoAddress) {
  const LaunchPlace place = PlaceIn({{"SLURM_JOB_ID", "12"},
                                     {"SLURM_PROCID", "1"},
                                     {"SLURM_STEP_NUM_TASKS", "2"},
                                     {"SLURM_LOCALID", "1"},
                                     {"SLURM_STEP_TASKS_PER_NODE", "2"}});
  ExpectPlace(place, Launcher::kSlurm, 1, 2, 1, 2);
  EXPECT_EQ(place.address, "127.0.0.1");
  EXPECT_EQ(place.port, 15'012);
  EXPECT_THAT(ErrorIn(Without(kSrun, "MASTER_ADDR")), HasSubstr("export MASTER_ADDR="));
}

TEST(Launch, AShellOfSlurmIsNoLaunch) {
  const Variables batch = {
      {"SLURM_JOB_ID", "12"},           {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"},
      {"SLURM_LOCALID", "0"},           {"SLURM_NODEID", "0"}, {"SLURM_NNODES", "2"},
      {"SLURM_TASKS_PER_NODE", "4(x2)"}};
  ExpectPlace(PlaceIn(batch), Launcher::kNone, 0, 1, 0, 1);
  const Variables interactive =
      With(batch, {{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_STEP_TASKS_PER_NODE", "1"}});
  ExpectPlace(PlaceIn(interactive), Launcher::kNone, 0, 1, 0, 1);
}

TEST(Launch, TheInnermostLauncherCounts) {
  ExpectPlace(PlaceIn(With(kSrun, kTorch)), Launcher::kTorchrun, 5, 8, 1, 4);
  ExpectPlace(PlaceIn(With(kMpirun, kTorch)), Launcher::kTorchrun, 5, 8, 1, 4);
  ExpectPlace(PlaceIn(With(kSrun, kMpirun)), Launcher::kOpenMpi, 3, 4, 1, 2);
  ExpectPlace(PlaceIn(With(kSrun, kMpiexec)), Launcher::kHydra, 1, 2, 0, 1);
}

TEST(Launch, TorchsNamesSetByHandMustBeThoseOfMpi) {
  ExpectPlace(PlaceIn(With(kMpirun, {{"RANK", "3"}, {"WORLD_SIZE", "4"}})), Launcher::kOpenMpi, 3,
              4, 1, 2);
  EXPECT_THAT(ErrorIn(With(kMpirun, {{"RANK", "2"}, {"WORLD_SIZE", "4"}})),
              HasSubstr("RANK=2 of WORLD_SIZE=4, but OMPI_COMM_WORLD_RANK=3"));
}

TEST(Launch, HalfOfAPairIsAnError) {
  EXPECT_THAT(ErrorIn(Without(kTorch, "WORLD_SIZE")), HasSubstr("WORLD_SIZE is not"));
  EXPECT_THAT(ErrorIn(Without(kTorch, "RANK")), HasSubstr("RANK is not"));
  EXPECT_THAT(ErrorIn(Without(kMpirun, "OMPI_COMM_WORLD_SIZE")), HasSubstr("_SIZE is not"));
  EXPECT_THAT(ErrorIn(Without(kSrun, "SLURM_LOCALID")), HasSubstr("SLURM_LOCALID is not"));
  EXPECT_THAT(ErrorIn(Without(kTorch, "MASTER_PORT")), HasSubstr("MASTER_PORT are not"));
}

TEST(Launch, NonsenseIsAnErrorThatNamesTheVariable) {
  for (const char* nonsense : {"-1", "one", "1x", " 1", "99999999999", "1.0"}) {
    EXPECT_THAT(ErrorIn(With(kTorch, {{"RANK", nonsense}})),
                HasSubstr(std::string("RANK=") + nonsense));
  }
  EXPECT_THAT(ErrorIn(With(kTorch, {{"RANK", "8"}})), HasSubstr("RANK=8, but WORLD_SIZE=8"));
  EXPECT_THAT(ErrorIn(With(kTorch, {{"WORLD_SIZE", "0"}})), HasSubstr("WORLD_SIZE=0"));
  EXPECT_THAT(ErrorIn(With(kTorch, {{"LOCAL_RANK", "4"}})), HasSubstr("LOCAL_RANK=4"));
  EXPECT_THAT(ErrorIn(With(kTorch, {{"LOCAL_WORLD_SIZE", "9"}})), HasSubstr("LOCAL_WORLD_SIZE=9"));
  EXPECT_THAT(ErrorIn(With(kTorch, {{"MASTER_PORT", "65536"}})), HasSubstr("MASTER_PORT=65536"));
  for (const char* nonsense : {"2(x", "2(x3", "2(x3),", "(x3)", "0", "2,,1", "two", "2(x2)"}) {
    EXPECT_THAT(ErrorIn(With(kSrun, {{"SLURM_STEP_TASKS_PER_NODE", nonsense}})),
                HasSubstr(std::string("SLURM_STEP_TASKS_PER_NODE=") + nonsense));
  }
}

}  // namespace
}  // namespace recpack::train
