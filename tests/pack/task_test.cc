#include "src/pack/plan/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "recpack/base/error.h"

namespace recpack::pack {
namespace {

using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

PackTask Parse(const std::string& text, const Variables& variables = {}) {
  return ParseTask(text, [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  });
}

std::string MessageOf(const std::string& text, const Variables& variables = {}) {
  try {
    Parse(text, variables);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    return error.what();
  }
  return "";
}

TEST(PackTask, IsWritten) {
  EXPECT_EQ(Parse("0/1"), (PackTask{0, 1}));
  EXPECT_EQ(Parse("6/7"), (PackTask{6, 7}));
  for (const char* text :
       {"", "1", "1/", "/2", "2/2", "1/0", "-1/2", "1/2/3", "1 /2", "a/b", "0/4294967296"}) {
    EXPECT_THAT(MessageOf(text), HasSubstr("write I/N")) << text;
  }
}

TEST(PackTask, IsThatOfAnArrayJob) {
  const Variables slurm = {{"SLURM_ARRAY_TASK_ID", "7"},    {"SLURM_ARRAY_TASK_MIN", "1"},
                           {"SLURM_ARRAY_TASK_MAX", "10"},  {"SLURM_ARRAY_TASK_STEP", "3"},
                           {"SLURM_ARRAY_TASK_COUNT", "4"}, {"SLURM_PROCID", "0"},
                           {"SLURM_STEP_NUM_TASKS", "1"}};
  EXPECT_EQ(Parse("auto", slurm), (PackTask{2, 4}));
  EXPECT_EQ(Parse("auto", {{"SGE_TASK_ID", "3"}, {"SGE_TASK_FIRST", "1"}, {"SGE_TASK_LAST", "8"}}),
            (PackTask{2, 8}));
  EXPECT_EQ(Parse("auto", {{"LSB_JOBINDEX", "3"}, {"LSB_JOBINDEX_END", "4"}}), (PackTask{2, 4}));
  EXPECT_EQ(Parse("auto", {{"AWS_BATCH_JOB_ARRAY_INDEX", "0"}, {"AWS_BATCH_JOB_ARRAY_SIZE", "9"}}),
            (PackTask{0, 9}));
  EXPECT_EQ(Parse("auto", {{"JOB_COMPLETION_INDEX", "4"}, {"RECPACK_TASKS", "5"}}),
            (PackTask{4, 5}));
}

TEST(PackTask, IsThatOfAProcess) {
  for (const auto& [rank, size] :
       {std::pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        std::pair("PMI_RANK", "PMI_SIZE"), std::pair("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
        std::pair("RANK", "WORLD_SIZE")}) {
    EXPECT_EQ(Parse("auto", {{rank, "1"}, {size, "3"}}), (PackTask{1, 3}));
  }
  // Outside of array jobs.
  EXPECT_EQ(Parse("auto", {{"SGE_TASK_ID", "undefined"}, {"RANK", "1"}, {"WORLD_SIZE", "2"}}),
            (PackTask{1, 2}));
  EXPECT_EQ(Parse("auto", {{"LSB_JOBINDEX", "0"}, {"RANK", "1"}, {"WORLD_SIZE", "2"}}),
            (PackTask{1, 2}));
}

TEST(PackTask, IsWhatTheUserSetsBeforeAll) {
  EXPECT_EQ(
      Parse("auto", {{"RECPACK_TASK", "1"}, {"RECPACK_TASKS", "2"}, {"SLURM_ARRAY_TASK_ID", "0"}}),
      (PackTask{1, 2}));
}

TEST(PackTask, IsNotGuessed) {
  EXPECT_THAT(MessageOf("auto"), HasSubstr("does not tell which task"));
  EXPECT_THAT(MessageOf("auto", {{"JOB_COMPLETION_INDEX", "4"}}),
              HasSubstr("RECPACK_TASKS is not set"));
  EXPECT_THAT(MessageOf("auto", {{"RANK", "2"}, {"WORLD_SIZE", "2"}}), HasSubstr("task 2 of 2"));
  EXPECT_THAT(MessageOf("auto", {{"RANK", "x"}, {"WORLD_SIZE", "2"}}), HasSubstr("RANK=x"));
  // --array=1,5,7
  EXPECT_THAT(MessageOf("auto", {{"SLURM_ARRAY_TASK_ID", "5"},
                                 {"SLURM_ARRAY_TASK_MIN", "1"},
                                 {"SLURM_ARRAY_TASK_MAX", "7"},
                                 {"SLURM_ARRAY_TASK_STEP", "1"},
                                 {"SLURM_ARRAY_TASK_COUNT", "3"}}),
              HasSubstr("without gaps"));
}

}  // namespace
}  // namespace recpack::pack
