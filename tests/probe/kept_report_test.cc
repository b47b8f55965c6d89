#include "src/probe/report/kept_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "recpack/base/error.h"
#include "tests/base/error_of.h"
#include "tests/base/temporary_folder.h"
#include "tests/probe/made_report.h"

namespace recpack::probe {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class KeptReports : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::trunc) << text;
    return path;
  }
  Error Refused(const std::string& text) const {
    const std::string path = Write("report.json", text);
    const Error error = ErrorOf([&] { ReadReport(PosixFiles(), path); });
    EXPECT_THAT(error.what(), HasSubstr(path));
    return error;
  }

  TemporaryFolder folder_;
};

TEST_F(KeptReports, MayNotNestWithoutEnd) {
  const std::string deep = std::string(500'000, '[') + std::string(500'000, ']');
  const Error error = Refused(R"({"version": )" + deep + R"(, "job": {}, "verdict": {}})");
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(error.what(), HasSubstr("nested deeper than 100 levels"));
}

TEST_F(KeptReports, AreReadAsTheyWereWritten) {
  const MadeReport made{.rank = 2, .world_size = 4, .launch = "slurm 7.0"};
  const std::string path = Write("a/report.json", MadeText(made));
  const KeptReport wanted = Made(made);
  for (const std::string& name : {path, folder_ / "a"}) {
    const KeptReport report = ReadReport(PosixFiles(), name);
    EXPECT_EQ(report.path, path);
    EXPECT_EQ(report.job.name, wanted.job.name);
    EXPECT_EQ(report.job.command, wanted.job.command);
    EXPECT_EQ(report.job.rank, 2);
    EXPECT_EQ(report.job.world_size, 4);
    EXPECT_EQ(report.job.launch, "slurm 7.0");
    EXPECT_EQ(report.job.begin, wanted.job.begin);
    EXPECT_EQ(report.job.gpus, 1);
    EXPECT_EQ(report.verdict.band, Band::kHighly);
    EXPECT_EQ(report.verdict.input_share.high, wanted.verdict.input_share.high);
    EXPECT_EQ(report.verdict.steps, 990u);
    EXPECT_EQ(report.verdict.bottleneck, Bottleneck::kDecode);
    EXPECT_EQ(report.cause, "decode");
    EXPECT_NEAR(report.StepSeconds(), wanted.StepSeconds(), 1e-3);
    ASSERT_THAT(report.stages, SizeIs(1));
    EXPECT_EQ(report.stages[0].share, 0.75);
  }
}

TEST_F(KeptReports, WithoutStepsHaveNoShares) {
  const std::string path = Write("report.json", MadeText({.gpus = 0, .steps = 0}));
  const KeptReport report = ReadReport(PosixFiles(), path);
  EXPECT_EQ(report.verdict.band, Band::kUnknown);
  EXPECT_EQ(report.StepSeconds(), 0);
  EXPECT_FALSE(report.job.rank.has_value());
}

TEST_F(KeptReports, APlaceOfANewerVersionKeepsItsName) {
  std::string text = MadeText({});
  text.replace(text.find("\"decode\""), 8, "\"a new place\"");
  const KeptReport report = ReadReport(PosixFiles(), Write("report.json", text));
  EXPECT_EQ(report.cause, "a new place");
  EXPECT_EQ(report.verdict.bottleneck, Bottleneck::kUnknown);
}

TEST_F(KeptReports, EveryPrefixOfOneIsRefused) {
  std::string text = MadeText({.steps = 100});
  text.pop_back();  // the line feed
  for (size_t size = 0; size < text.size(); size += 1 + size / 64) {
    EXPECT_EQ(Refused(text.substr(0, size)).kind(), ErrorKind::kCorrupt) << size;
  }
  EXPECT_EQ(Refused(text.substr(0, text.size() - 1)).kind(), ErrorKind::kCorrupt);
}

TEST_F(KeptReports, WhatIsNoneIsRefused) {
  for (const char* text :
       {"", "[]", "7", "{}", "null", "{\"version\":1}", "\xff\xfe",
        "{\"version\":1,\"job\":{},\"verdict\":{}}", "{\"version\":1,\"job\":[],\"verdict\":7}"}) {
    EXPECT_EQ(Refused(text).kind(), ErrorKind::kCorrupt) << text;
  }
  EXPECT_EQ(Refused(std::string(1'000'000, '[')).kind(), ErrorKind::kCorrupt);
}

TEST_F(KeptReports, OfAnotherVersionAreRefused) {
  for (const char* version : {"2", "0", "\"1\"", "1.5"}) {
    std::string text = MadeText({});
    text.replace(text.find("\"version\":1"), 11, std::string("\"version\":") + version);
    const Error error = Refused(text);
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_THAT(error.what(), HasSubstr(version));
  }
}

TEST_F(KeptReports, MembersThatCannotBeAreNamed) {
  struct {
    const char *from, *to, *saying;
  } const cases[] = {
      {"\"seconds\":3600.0", "\"seconds\":-1", "job.seconds"},
      {"\"seconds\":3600.0", "\"seconds\":\"long\"", "job.seconds"},
      {"\"seconds\":3600.0", "\"seconds\":null", "job.seconds"},
      {"\"rank\":0", "\"rank\":4", "job.rank"},
      {"\"rank\":0", "\"rank\":0.5", "job.rank"},
      {"\"rank\":0", "\"rank\":-1", "job.rank"},
      {"\"name\":\"train.py\"", "\"name\":7", "job.name"},
      {"\"begin\":\"2023", "\"begin\":\"20-23", "job.begin"},
      {"\"command\":[\"python\"", "\"command\":[7", "job.command"},
      {"\"gpus\":1", "\"gpus\":99999999999999", "job.gpus"},
      {"\"verdict\":\"highly input-bound\"", "\"verdict\":\"fine\"", "verdict.verdict"},
      {"\"input_share\":{\"value\":0.2", "\"input_share\":{\"value\":1.2", "input_share.value"},
      {"\"input_share\":{\"value\":0.2", "\"input_share\":{\"value\":0.1", "verdict.input_share"},
      {"\"gain\":{\"value\":0.25", "\"gain\":{\"worth\":0.25", "'verdict.gain.value' is missing"},
      {"\"low\":0.23,", "", "'verdict.gain.low' is missing"},
      {"\"high\":0.28", "\"height\":0.28", "'verdict.gain.high' is missing"},
      {"\"high\":0.28", "\"high\":\"much\"", "verdict.gain.high"},
      {"\"low\":0.23", "\"low\":null", "verdict.gain"},
      {"\"upper_bound\":false", "\"upper_bound\":0", "verdict.upper_bound"},
      {"\"left_out\":10", "\"left_out\":-10", "verdict.left_out"},
      {"\"exchange\":0.0", "\"exchange\":2", "breakdown.exchange"},
      {"\"count\":[10,", "\"count\":[", "'count'"},
      {"\"count\":[10,", "\"count\":[0,", "steps.count"},
      {"\"share\":0.75", "\"share\":7", "stages.share"},
  };
  for (const auto& [from, to, saying] : cases) {
    std::string text = MadeText({.rank = 0, .world_size = 4});
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), std::string(from).size(), to);
    const Error error = Refused(text);
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << to;
    EXPECT_THAT(error.what(), HasSubstr(saying)) << to;
  }
}

// An unlimited gain is null; earlier builds wrote 0 if all of the time may be waits.
TEST_F(KeptReports, AGainWithoutLimitIsOne) {
  struct {
    const char *share, *gain, *same;
  } const cases[] = {
      {R"({"value":0.6,"low":0.3,"high":1.0})", R"({"value":1.5,"low":0.4,"high":null})",
       R"({"value":1.5,"low":0.4,"high":0})"},
      {R"({"value":1.0,"low":1.0,"high":1.0})", R"({"value":null,"low":null,"high":null})",
       R"({"value":0,"low":0,"high":0})"},
  };
  const std::string text = MadeText({});
  const auto read = [&](const std::string& share, const std::string& gain) {
    nlohmann::json json = nlohmann::json::parse(text);
    json["verdict"]["input_share"] = nlohmann::json::parse(share);
    json["verdict"]["gain"] = nlohmann::json::parse(gain);
    return ReadReport(PosixFiles(), Write("report.json", json.dump())).verdict.gain;
  };
  for (const auto& [share, gain, same] : cases) {
    const Estimate now = read(share, gain), before = read(share, same);
    EXPECT_TRUE(std::isinf(now.high)) << gain;
    EXPECT_EQ(before.value, now.value) << same;
    EXPECT_EQ(before.low, now.low) << same;
    EXPECT_EQ(before.high, now.high) << same;
  }
  const Estimate none = read(R"({"value":0,"low":0,"high":0})", R"({"value":0,"low":0,"high":0})");
  EXPECT_EQ(none.high, 0) << "a gain of 0 is not an unlimited gain";
}

TEST_F(KeptReports, AFileThatIsNotThere) {
  EXPECT_EQ(ErrorOf([&] { ReadReport(PosixFiles(), folder_ / "none"); }).kind(),
            ErrorKind::kNotFound);
  EXPECT_EQ(ErrorOf([&] { ReadReport(PosixFiles(), folder_.path()); }).kind(),
            ErrorKind::kNotFound);
}

TEST_F(KeptReports, AreFoundBelowAFolder) {
  const std::string one = Write("x/y/z/report.json", MadeText({.name = "one"}));
  const std::string two = Write("a/report.json", MadeText({.name = "two"}));
  Write("a/report.json.tmp-7", "half");
  Write("a/.tmp-7/report.json", "being written");
  Write("b.tmp-7/report.json", "being written");
  Write("a/other.json", "{}");
  fs::create_directory_symlink(folder_.path(), folder_ / "x/loop");
  const FoundReports found = FindReports(PosixFiles(), folder_.path());
  ASSERT_THAT(found.reports, SizeIs(2));
  EXPECT_EQ(found.reports[0].path, two);
  EXPECT_EQ(found.reports[1].path, one);
  EXPECT_THAT(found.left_out, IsEmpty());
}

TEST_F(KeptReports, DamagedOnesAndCopiesAreLeftOutAndNamed) {
  const std::string text = MadeText({});
  Write("a/report.json", text);
  const std::string copy = Write("b/report.json", text);
  const std::string half = Write("c/report.json", text.substr(0, text.size() / 2));
  const std::string foreign = Write("d/report.json", "{\"tests\":7}");
  Write("e/report.json", MadeText({.seconds = 1800}));
  const FoundReports found = FindReports(PosixFiles(), folder_.path());
  EXPECT_THAT(found.reports, SizeIs(2));
  ASSERT_THAT(found.left_out, SizeIs(3));
  EXPECT_EQ(found.left_out[0].path, copy);
  EXPECT_THAT(found.left_out[0].reason, HasSubstr("the same report as"));
  EXPECT_EQ(found.left_out[1].path, half);
  EXPECT_THAT(found.left_out[1].reason, HasSubstr("half written"));
  EXPECT_EQ(found.left_out[2].path, foreign);
  EXPECT_THAT(found.left_out[2].reason, HasSubstr("not a report of recprobe"));
}

TEST_F(KeptReports, AFolderWithoutAnyIsAnError) {
  EXPECT_THAT(ErrorOf([&] { FindReports(PosixFiles(), folder_.path()); }).what(),
              HasSubstr("--report"));
  EXPECT_EQ(ErrorOf([&] { FindReports(PosixFiles(), folder_ / "none"); }).kind(),
            ErrorKind::kNotFound);
}

}  // namespace
}  // namespace recpack::probe
