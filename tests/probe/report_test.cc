#include "src/probe/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "recpack/base/error.h"
#include "src/probe/causes/decide.h"
#include "src/probe/report/kept_report.h"
#include "src/probe/steps/trace_summary.h"
#include "src/probe/verdict/verdict.h"
#include "tests/base/faulty_files.h"
#include "tests/base/temporary_folder.h"

namespace recpack::probe {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kBegin = 5'000 * kMillisecond;  // of the watch

// Steps of 10 ms: 3 wait, 1 copies, 6 computes.
TrainerSteps Trainer(int steps) {
  TrainerSteps trainer{.process = 7, .lane = 8, .device = 0, .device_seen = true};
  for (int i = 0; i < steps; ++i) {
    const int64_t begin = kBegin + i * 10 * kMillisecond;
    trainer.steps.push_back({.number = static_cast<uint64_t>(i),
                             .begin = begin,
                             .end = begin + 10 * kMillisecond,
                             .input_wait = 3 * kMillisecond,
                             .uncovered_wait = 3 * kMillisecond,
                             .copies = kMillisecond,
                             .device = 6 * kMillisecond});
  }
  return trainer;
}

Report Made(int steps = 100, Job job = {}) {
  const Evidence evidence{.trainers = {Trainer(steps)}, .unseen = {"the weather: no window"}};
  TimelineRecorder timeline;
  for (int i = 0; i < 20; ++i) {
    timeline.Add(kBegin + i * 100 * kMillisecond, kBegin + (i + 1) * 100 * kMillisecond,
                 {{"cpu", "", "the program", "cores", 1.5}});
  }
  return MakeReport({.recprobe = "1.2.3",
                     .job = std::move(job),
                     .begin = kBegin,
                     .timeline = timeline.Collected()},
                    evidence, Decide(evidence));
}

TEST(Report, HasWhatItsFormatNames) {
  const json report = json::parse(ReportJson(Made(
      100, {.name = "resnet", .command = {"python", "a.py"}, .begin = 1'700'000'000'250'000'000})));
  EXPECT_EQ(report["version"], kReportVersion);
  EXPECT_EQ(report["recprobe"], "1.2.3");
  EXPECT_EQ(report["job"]["name"], "resnet");
  EXPECT_EQ(report["job"]["command"], json({"python", "a.py"}));
  EXPECT_EQ(report["job"]["begin"], "2023-11-14T22:13:20.250Z");
  EXPECT_EQ(report["verdict"]["verdict"], "highly input-bound");
  for (const char* member :
       {"threads", "processes", "stages", "devices", "tables", "unseen", "how"}) {
    EXPECT_TRUE(report[member].is_array()) << member;
  }
  for (const char* group : {"cpu", "devices", "pressure"}) {
    EXPECT_TRUE(report["timeline"][group].is_array()) << group;
  }
}

TEST(Report, WhatIsNotKnownIsNullWithItsReason) {
  const json report = json::parse(ReportJson(Made()));
  for (const char* member : {"rank", "world_size", "begin", "exit_code", "gpus", "host", "user"}) {
    EXPECT_TRUE(report["job"][member].is_null()) << member;
  }
  EXPECT_THAT(report["unseen"].dump(), HasSubstr("which GPUs"));
  EXPECT_THAT(report["unseen"].dump(), HasSubstr("the weather"));
}

TEST(Report, StepsAreMeansOfStretchesAndNoneIsLost) {
  for (const int steps : {1, 480, 481, 5000}) {
    const json series = json::parse(ReportJson(Made(steps)))["steps"][0];
    EXPECT_EQ(series["steps"], steps);
    const size_t rows = series["count"].size();
    EXPECT_LE(rows, 480u);
    size_t count = 0;
    for (size_t i = 0; i < rows; ++i) {
      count += series["count"][i].get<size_t>();
      EXPECT_NEAR(series["step_s"][i], 0.010, 1e-6);
      EXPECT_NEAR(series["input_wait_s"][i], 0.003, 1e-6);
      EXPECT_NEAR(series["copies_s"][i], 0.001, 1e-6);
      EXPECT_NEAR(series["device_s"][i], 0.006, 1e-6);
      EXPECT_NEAR(series["other_s"][i], 0, 1e-6);
    }
    EXPECT_EQ(count, static_cast<size_t>(steps));
    EXPECT_NEAR(series["begin_s"][0], 0, 1e-9);
    EXPECT_NEAR(series["end_s"][rows - 1], 0.01 * steps, 1e-6);
  }
}

// A training as `attach` sees it: only its loader's statistics.
TEST(Report, StepsOfALoaderAreThoseOfTheVerdict) {
  Evidence evidence;
  for (int i = 0; i <= 20; ++i) {
    LoaderSample sample{.time = i * 100 * kMillisecond, .process = 7, .stats = {}};
    sample.stats.batches = static_cast<uint64_t>(i);
    sample.stats.consumer_wait = std::chrono::milliseconds(30 * i);
    sample.stats.workers.resize(1);
    evidence.loaders.push_back(sample);
  }
  const Report report = MakeReport({.recprobe = "1.2.3", .job = {}}, evidence, Decide(evidence));
  ASSERT_EQ(report.steps.size(), 1u);
  EXPECT_EQ(report.steps[0].source, TrainerSteps::Source::kLoader);
  EXPECT_EQ(report.steps[0].steps, 20u);
  EXPECT_NEAR(report.steps[0].stretches[0].step, 0.1, 1e-9);
  EXPECT_NEAR(report.verdict.input_share.value, 0.3, 1e-9);
  EXPECT_EQ(report.verdict.input_share.low, 0) << "batches may be fetched ahead";
  EXPECT_TRUE(report.verdict.upper_bound);
  EXPECT_EQ(report.verdict.band, Band::kUndecided);
}

TEST(Report, GpusThatItMayNotHaveUsedAreNotCounted) {
  Evidence evidence{.trainers = {Trainer(100)}, .gpus = {{.device = 0, .used = true}}};
  const auto gpus = [&] { return MakeReport({.job = {}}, evidence, Decide(evidence)).job.gpus; };
  EXPECT_EQ(gpus(), 1);
  evidence.gpus.push_back({.device = 1, .used = true});
  EXPECT_EQ(gpus(), 2);
  evidence.gpus.push_back({.device = 2});
  EXPECT_EQ(gpus(), std::nullopt);
}

TEST(Report, HowStepsAreKnownIsTold) {
  using Source = TrainerSteps::Source;
  struct {
    Source source;
    const char *name, *how;
  } const cases[] = {{Source::kTold, "told", "the program, or the hook in it"},
                     {Source::kMarked, "marked", "from one range of a name (NVTX)"},
                     {Source::kBetweenWaits, "between_waits", "from batch to batch"},
                     {Source::kLoader, "loader", "the loader's own statistics"}};
  for (const auto& [source, name, how] : cases) {
    Evidence evidence{.trainers = {Trainer(100), Trainer(100)}};
    evidence.trainers[0].source = source;  // the other one has kTold
    const json report = json::parse(ReportJson(MakeReport({}, evidence, Decide(evidence))));
    EXPECT_EQ(report["steps"][0]["source"], name);
    EXPECT_EQ(report["how"][0]["figure"], "steps");
    EXPECT_THAT(report["how"][0]["how"].get<std::string>(), HasSubstr(how));
  }
}

TEST(Report, WhatItsThreadsAndProcessesDid) {
  Evidence evidence{.trainers = {Trainer(100)}};
  evidence.system = {.processes = {{.process = 7, .name = "p", .cpu_cores = 1.5}},
                     .threads = {{.thread = 8, .process = 7, .name = "loader", .state = 'R'}}};
  evidence.system->threads[0].cpu_share = 0.75;
  evidence.system->threads[0].run_queue_wait_share = 0.2;
  const json report = json::parse(ReportJson(MakeReport({}, evidence, Decide(evidence))));
  EXPECT_EQ(report["threads"][0]["name"], "loader");
  EXPECT_EQ(report["threads"][0]["state"], "R");
  EXPECT_EQ(report["threads"][0]["run_queue_wait_share"], 0.2);
  EXPECT_TRUE(report["threads"][0]["block_io_wait_share"].is_null());
  EXPECT_EQ(report["processes"][0]["cpu_cores"], 1.5);
  EXPECT_TRUE(report["processes"][0]["read_from_storage_bytes_per_s"].is_null());
}

TEST(Report, OfARankThatMakesNoSenseNobodySaysThatThereIsNone) {
  Job job{.name = "a"};
  job.rank_unseen = "RANK is 3, and WORLD_SIZE is not there";
  EXPECT_THAT(ReportJson(Made(100, job)), Not(HasSubstr("no launcher")));
  EXPECT_THAT(ReportJson(Made(100, {.name = "a"})), HasSubstr("no launcher"));
}

TEST(Report, TheDevicesWorkIsInTheTimelineWhileStepsRan) {
  const json timeline = json::parse(ReportJson(Made(100)))["timeline"];  // the first of two seconds
  const json& device = timeline["devices"][0];
  EXPECT_EQ(device["of"], "device 0 of process 7");
  EXPECT_NEAR(device["values"][3], 0.6, 1e-3);
  EXPECT_TRUE(device["values"][15].is_null());
}

TEST(Report, ThePageCannotBeLeftByWhatAProgramSays) {
  const std::string evil = "</script><script>alert(1)</script><!--";
  const std::string page = ReportPage(Made(20, {.name = evil, .command = {evil, "{{data}}"}}));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<!--")));
  EXPECT_THAT(page, HasSubstr("&lt;/script&gt;&lt;script&gt;alert(1)"));
  const size_t begin = page.find(R"(id="data">)") + 10;
  const json inside = json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  EXPECT_EQ(inside["job"]["name"], evil);
  EXPECT_EQ(inside["job"]["command"][1], "{{data}}");
}

TEST(Report, NorCanATerminalBeTold) {
  Verdict verdict;
  verdict.notes = {"\x1b[2Jthread \x07"};
  EXPECT_THAT(VerdictText(verdict), HasSubstr("?[2Jthread ?\n"));
  const TraceTable table{.title = "t", .rows = {{.name = "\x1b]0;x\x07", .calls = 1}}};
  EXPECT_THAT(TraceTableText(table, 1), HasSubstr("  ?]0;x?\n"));
}

TEST(Report, ThePageNeedsNoNetwork) {
  const std::string page = ReportPage(Made());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* way : {"src=\"http", "href=\"http", "url(", "@import", "fetch(", "import("}) {
    EXPECT_THAT(page, Not(HasSubstr(way)));
  }
}

Report Full() {
  Job job{.name = "a", .command = {"x", "y z"}, .host = "h", .user = "u", .rank = 2};
  job.world_size = 4;
  job.process = 77;
  job.begin = 1'700'000'000'250'000'000;
  job.seconds = 12.5;
  job.exit_code = 3;
  job.gpus = 8;
  return Made(100, std::move(job));
}

TEST(ReadReport, GivesBackWhatWasWritten) {
  const TemporaryFolder folder;
  const Report report = Full();
  WriteReportFiles(PosixFiles(), folder.path(), {{"report.json", ReportJson(report)}});
  for (const std::string& path : {folder.path(), folder / "report.json"}) {
    const KeptReport read = ReadReport(PosixFiles(), path);
    EXPECT_EQ(read.job.name, "a");
    EXPECT_EQ(read.job.command, report.job.command);
    EXPECT_EQ(read.job.rank, 2);
    EXPECT_EQ(read.job.world_size, 4);
    EXPECT_EQ(read.job.begin, report.job.begin);
    EXPECT_EQ(read.job.seconds, 12.5);
    EXPECT_EQ(read.job.exit_code, 3);
    EXPECT_EQ(read.job.gpus, 8);
    EXPECT_EQ(VerdictText(read.verdict), VerdictText(report.verdict));
    EXPECT_EQ(VerdictJson(read.verdict), VerdictJson(report.verdict));
  }
}

TEST(ReadReport, OfATraceThatWasReadNobodyKnowsHostUserAndProcess) {
  const TemporaryFolder folder;
  WriteReportFiles(PosixFiles(), folder.path(),
                   {{"report.json", ReportJson(Made(100, {.name = "trace.json"}))}});
  const KeptReport read = ReadReport(PosixFiles(), folder.path());
  EXPECT_EQ(read.job.name, "trace.json");
  EXPECT_EQ(read.job.host + read.job.user, "");
  EXPECT_EQ(read.job.process, 0);
}

TEST(ReadReport, WhatIsKnownWithoutWaitsIsKept) {
  const TemporaryFolder folder;
  Evidence steps_alone{.trainers = {Trainer(100)}};
  steps_alone.trainers[0].waits_seen = false;
  const Evidence period_alone{.periods = {{.of = "kernels", .seconds = 0.25, .error = 0.01}}};
  for (const Evidence& evidence : {steps_alone, period_alone}) {
    const Verdict verdict = Decide(evidence);
    EXPECT_EQ(verdict.band, Band::kUnknown);
    const std::string to = folder / (evidence.periods.empty() ? "steps" : "period");
    const Report report = MakeReport({.job = {.name = "a"}}, evidence, verdict);
    WriteReportFiles(PosixFiles(), to, {{"report.json", ReportJson(report)}});
    EXPECT_EQ(VerdictText(ReadReport(PosixFiles(), to).verdict), VerdictText(verdict));
  }
}

// The gain is infinite if all of the time may be waits.
TEST(ReadReport, ATrainingThatWaitsAllOfItsTime) {
  const TemporaryFolder folder;
  Evidence evidence{.trainers = {Trainer(100)}};
  for (StepRecord& step : evidence.trainers[0].steps) {
    step.input_wait = step.uncovered_wait = step.duration();
    step.copies = step.device = 0;
  }
  const Report report = MakeReport({.job = {.name = "a"}}, evidence, Decide(evidence));
  WriteReportFiles(PosixFiles(), folder.path(), {{"report.json", ReportJson(report)}});
  const KeptReport read = ReadReport(PosixFiles(), folder.path());
  EXPECT_EQ(read.verdict.input_share.value, 1);
  EXPECT_EQ(VerdictJson(read.verdict), VerdictJson(report.verdict));
}

TEST(ReadReport, OfAProcessWhoseNameIsHidden) {
  const TemporaryFolder folder;
  WriteReportFiles(PosixFiles(), folder.path(), {{"report.json", ReportJson(Made(100))}});
  EXPECT_EQ(ReadReport(PosixFiles(), folder.path()).job.name, "");
}

TEST(ReadReport, WhatIsNoneIsRefusedWithItsPath) {
  const TemporaryFolder folder;
  const std::string path = folder / "report.json";
  const std::string whole = ReportJson(Full());
  const auto kind_of = [&](const std::string& text) {
    std::ofstream(path) << text;
    try {
      ReadReport(PosixFiles(), path);
    } catch (const Error& error) {
      EXPECT_EQ(error.place().path, path);
      return error.kind();
    }
    ADD_FAILURE() << text;
    return ErrorKind::kDevice;
  };
  for (const size_t size : {size_t{0}, size_t{1}, whole.size() / 2, whole.size() - 2}) {
    EXPECT_EQ(kind_of(whole.substr(0, size)), ErrorKind::kCorrupt) << size;
  }
  EXPECT_EQ(kind_of("[]"), ErrorKind::kCorrupt);
  EXPECT_EQ(kind_of(R"({"version":1})"), ErrorKind::kCorrupt);
  EXPECT_EQ(kind_of(R"({"version":1,"job":{"seconds":"x"},"verdict":{}})"), ErrorKind::kCorrupt);
  EXPECT_EQ(kind_of(R"({"version":2,"job":{},"verdict":{}})"), ErrorKind::kUnsupported);
  fs::remove(path);
  EXPECT_THROW(ReadReport(PosixFiles(), path), Error);
  EXPECT_THROW(ReadReport(PosixFiles(), folder.path()), Error);
  fs::create_symlink(path, path);  // a loop
  EXPECT_THROW(ReadReport(PosixFiles(), path), Error);
}

TEST(ReportFiles, AreThereAllAtOnce) {
  const TemporaryFolder folder;
  const std::string to = folder / "new";
  CheckReportFolder(to);
  WriteReportFiles(PosixFiles(), to, {{"a.json", "{}"}, {"b.html", "<p>"}});
  std::ifstream file(to + "/b.html");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "<p>");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(ReportFiles, MayFillAnEmptyFolder) {
  const TemporaryFolder folder;
  CheckReportFolder(folder.path() + "/");
  WriteReportFiles(PosixFiles(), folder.path() + "/", {{"a", "1"}});
  EXPECT_TRUE(fs::exists(folder / "a"));
}

// The watched program, or another rank, may fill the folder meanwhile.
TEST(ReportFiles, FindAPlaceWhereTheFolderWasFilledMeanwhile) {
  const TemporaryFolder folder;
  const std::string to = folder / "runs";
  CheckReportFolder(to);
  fs::create_directory(to);
  std::ofstream(to + "/model.pt") << "weights";
  const std::string beside = WriteReportFiles(PosixFiles(), to, {{"a.json", "{}"}});
  EXPECT_EQ(beside, to + "-" + std::to_string(::getpid()));
  EXPECT_TRUE(fs::exists(beside + "/a.json"));
  EXPECT_EQ(std::distance(fs::directory_iterator(to), {}), 1) << "the program's own file";
  EXPECT_THROW(WriteReportFiles(PosixFiles(), to, {{"a.json", "{}"}}), Error) << "both are taken";
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 2);
}

// A mount point cannot be replaced by another folder.
TEST(ReportFiles, MayFillAnEmptyFolderThatIsALink) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "there");
  fs::create_directory_symlink(folder / "there", folder / "link");
  CheckReportFolder(folder / "link");
  WriteReportFiles(PosixFiles(), folder / "link", {{"a", "1"}, {"b", "2"}});
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "there"), {}), 2);
  fs::create_directory_symlink(folder / "nowhere", folder / "to nothing");
  EXPECT_THROW(CheckReportFolder(folder / "to nothing"), Error);
}

TEST(ReportFiles, AFolderThatCannotBeFilledStaysEmpty) {
  const TemporaryFolder folder;
  FaultyFiles files;
  files.unrenamable = "/b";
  EXPECT_THROW(WriteReportFiles(files, folder.path(), {{"a", "1"}, {"b", "2"}}), Error);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(ReportFiles, AreReplacedAndAddedTo) {
  const TemporaryFolder folder;
  const std::string to = WriteReportFiles(PosixFiles(), folder / "new", {{"a", "1"}});
  EXPECT_EQ(WriteReportFiles(PosixFiles(), to, {{"a", "2"}, {"b", "3"}}, to), to);
  std::ifstream file(to + "/a");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "2");
  EXPECT_EQ(std::distance(fs::directory_iterator(to), {}), 2);
}

TEST(ReportFiles, ThatCannotBeReplacedStay) {
  const TemporaryFolder folder;
  FaultyFiles files;
  const std::string to = WriteReportFiles(files, folder / "new", {{"a", "1"}});
  files.room = 0;
  try {
    WriteReportFiles(files, to, {{"a", "2"}}, to);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the report was not replaced"));
  }
  std::ifstream file(to + "/a");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "1");
  EXPECT_EQ(std::distance(fs::directory_iterator(to), {}), 1);
}

TEST(ReportFiles, AFolderThatHoldsSomethingIsRefused) {
  const TemporaryFolder folder;
  std::ofstream(folder / "mine") << "x";
  EXPECT_THROW(CheckReportFolder(folder.path()), Error);
  EXPECT_THROW(CheckReportFolder(folder / "mine"), Error);
  EXPECT_THROW(CheckReportFolder(folder / "mine/deeper"), Error);
}

TEST(ReportFiles, AFullDiskLeavesNothingBehindAndSaysSo) {
  const TemporaryFolder folder;
  FaultyFiles files;
  files.room = 5;
  try {
    WriteReportFiles(files, folder / "new", {{"a", "1234"}, {"b", "5678"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("No space left"));
    EXPECT_THAT(error.what(), HasSubstr("no report was written"));
    EXPECT_EQ(error.place().path, folder / "new");
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace recpack::probe
