#include "src/probe/evidence/code_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/probe/causes/find_lines.h"
#include "src/probe/causes/name_lines.h"
#include "src/probe/evidence/families.h"
#include "src/probe/verdict/line_text.h"
#include "tests/probe/second.h"

namespace recpack::probe {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

// A second in which `threads` were at a place. `place`:
// "ROLE|WAITS|PHASE|FILE|LINE|FUNCTION|CALLING".
TimedEvent Sampled(const std::string& place, double threads, int process = 7) {
  std::string name = "line|" + place + "|";
  for (char& c : name) c = c == '|' ? '\t' : c;
  Event event{.kind = EventKind::kRange, .begin = 0, .end = kSecond};
  event.value = static_cast<uint64_t>(threads * 1e6);
  return {.event = event, .process = process, .name = name};
}

std::vector<CodeLine> LinesFrom(std::vector<TimedEvent> events) {
  LineSamples samples;
  samples.Take(events, {});
  EXPECT_THAT(events, IsEmpty());
  return samples.Lines();
}

const char kGetItem[] = "worker||__getitem__|/a/train.py|41|Photos.__getitem__|PIL.Image.resize";
const char kAsleep[] =
    "worker|sleep|__getitem__|/a/train.py|41|Photos.__getitem__|PIL.Image.resize";
const char kIdle[] = "worker||||0||";

TEST(LineSamples, SharesAreOfAllThreadsOfARole) {
  const auto lines =
      LinesFrom({Sampled(kGetItem, 0.5), Sampled(kGetItem, 0.7, 8), Sampled(kAsleep, 0.3),
                 Sampled(kIdle, 0.5), Sampled("training thread||model|/a/train.py|60|main|", 1)});
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0].role, "worker");
  EXPECT_EQ(lines[0].line, 41);
  EXPECT_EQ(lines[0].calling, "PIL.Image.resize");
  EXPECT_DOUBLE_EQ(lines[0].share, 0.75);
  EXPECT_DOUBLE_EQ(lines[0].blocked, 0.2);
  EXPECT_EQ(lines[0].waits, "sleep");
  EXPECT_DOUBLE_EQ(lines[1].share, 1);
}

TimedEvent Started(int process, int by) {
  Event event{.kind = EventKind::kRange};
  event.value = static_cast<uint64_t>(by);
  return {.event = event, .process = process, .name = "parent process"};
}

const char kModel[] = "training thread||model|/a/train.py|60|main|";

TEST(Families, AProcessWorksForTheNearestTrainerThatStartedIt) {
  Families families;
  families.Add({Started(20, 10), Started(21, 20), Started(30, 11), Started(11, 9), Started(40, 8),
                Started(50, 50), Sampled(kModel, 1, 10), Sampled(kModel, 1, 11)});
  EXPECT_EQ(families.TrainerOf(10), 10);
  EXPECT_EQ(families.TrainerOf(20), 10);
  EXPECT_EQ(families.TrainerOf(21), 10) << "a worker's worker";
  EXPECT_EQ(families.TrainerOf(30), 11) << "whose own starter trains nothing";
  EXPECT_EQ(families.TrainerOf(40), 0);
  EXPECT_EQ(families.TrainerOf(50), 0);
  EXPECT_EQ(families.HeadOf(30), 11);
  EXPECT_EQ(families.HeadOf(11), 11) << "a trainer that another process started";
  EXPECT_EQ(families.HeadOf(60), 0);
  families.Add({Started(30, 10)});
  EXPECT_EQ(families.TrainerOf(30), 10) << "another process of this number";
}

TEST(LineSamples, ATrainersLinesAreThoseOfItsWorkersToo) {
  std::vector<TimedEvent> events = {Started(10, 9), Started(11, 9), Started(20, 10),
                                    Started(21, 11), Started(22, 11)};
  for (const int trainer : {10, 11}) events.push_back(Sampled(kModel, 1, trainer));
  events.push_back(Sampled(kAsleep, 0.9, 20));
  events.push_back(Sampled(kIdle, 0.1, 20));
  for (const int worker : {21, 22}) events.push_back(Sampled(kIdle, 1, worker));
  Families families;
  families.Add(events);
  LineSamples samples;
  samples.Take(events, families);
  EXPECT_THAT(events, SizeIs(5));
  const auto lines = samples.LinesOf(10, families);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0].line, 41);
  EXPECT_DOUBLE_EQ(lines[0].share, 0.9);
  EXPECT_DOUBLE_EQ(lines[0].blocked, 1);
  EXPECT_FALSE(lines[1].in_several);
  EXPECT_THAT(samples.LinesOf(11, families), ElementsAre(testing::Field(&CodeLine::line, 60)));
  const auto all = samples.Lines();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_DOUBLE_EQ(all[0].share, 0.3);
  EXPECT_DOUBLE_EQ(all[1].share, 1);
  EXPECT_TRUE(all[1].in_several);
}

TEST(LineSamples, WhatCameBeforeATrainingIsLeftOut) {
  const std::string before = "program||import|/a/train.py|1|<module>|torch";
  EXPECT_THAT(LinesFrom({Sampled(before, 1)}), SizeIs(1));
  const auto lines =
      LinesFrom({Sampled(before, 1), Sampled("training thread||model|/a/train.py|60|main|", 1)});
  EXPECT_THAT(lines, ElementsAre(testing::Field(&CodeLine::line, 60)));
}

TEST(LineSamples, OtherEventsAndMalformedNamesAreNoLines) {
  TimedEvent other = Sampled(kGetItem, 1);
  other.name = "a range of the program";
  std::vector<TimedEvent> events = {other, Sampled("worker|too|few", 1)};
  LineSamples samples;
  samples.Take(events, {});
  EXPECT_THAT(events, SizeIs(1));
  EXPECT_THAT(samples.Lines(), IsEmpty());
}

TEST(LineSamples, AThreadThatWaitsForAProcessorIsNotBlocked) {
  const auto lines = LinesFrom({Sampled("worker|processor|__getitem__|/a/t.py|1|f|", 1)});
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0].blocked, 0);
}

Verdict Decided(Bottleneck bottleneck, const std::vector<CodeLine>& lines,
                Band band = Band::kHighly) {
  Verdict verdict{.band = band, .bottleneck = bottleneck, .evidence = {"as before"}};
  verdict.cure = "the usual";
  Evidence evidence;
  evidence.lines = lines;
  NameLines(evidence, verdict);
  return verdict;
}

TEST(NameLines, TheWorkersFunctionComesFirst) {
  const auto lines =
      LinesFrom({Sampled(kGetItem, 0.63), Sampled(kIdle, 0.37),
                 Sampled("training thread|poll|next batch|/a/train.py|60|main|torch", 1)});
  const Verdict verdict = Decided(Bottleneck::kFunction, lines);
  EXPECT_THAT(verdict.evidence,
              ElementsAre("`Photos.__getitem__` at train.py:41 takes 63.0 % of the workers' time, "
                          "computing, calling PIL.Image.resize",
                          "as before"));
  EXPECT_EQ(verdict.cure, "make `Photos.__getitem__` (train.py:41) faster; else: the usual");
  ASSERT_TRUE(verdict.line);
  EXPECT_EQ(verdict.line->line, 41);
}

TEST(NameLines, TheActionIsAtTheLineOfTheCauseThatItCures) {
  Evidence evidence;
  evidence.lines = LinesFrom({Sampled(kGetItem, 1)});
  const auto where = [&](Bottleneck cured) {
    Verdict verdict{.band = Band::kHighly, .bottleneck = Bottleneck::kFunction};
    verdict.causes = {{.bottleneck = Bottleneck::kFunction, .saves = 0.6},
                      {.bottleneck = Bottleneck::kWorkers, .saves = 0.59}};
    verdict.action = Action{.bottleneck = cured, .text = "cure", .saves = 0.6};
    NameLines(evidence, verdict);
    EXPECT_EQ(verdict.causes[0].where, "train.py:41 (Photos.__getitem__)");
    return verdict.action->where;
  };
  EXPECT_EQ(where(Bottleneck::kFunction), "train.py:41 (Photos.__getitem__)");
  EXPECT_EQ(where(Bottleneck::kWorkers), "");
}

TEST(ActionText, NamesThePlaceUnlessTheTextDoes) {
  const auto text = [](const std::string& of) {
    return ActionText({.text = of, .saves = {}, .where = "t.py:1 (f)"});
  };
  EXPECT_EQ(text("make `f` (t.py:1) faster"), "make `f` (t.py:1) faster");
  EXPECT_EQ(text("make it faster"), "make it faster; at t.py:1 (f)");
  EXPECT_EQ(text("not t.py:12"), "not t.py:12; at t.py:1 (f)");
  EXPECT_EQ(text("not at.py:1"), "not at.py:1; at t.py:1 (f)");
}

TEST(NameLines, LinesOfAFunctionAreOne) {
  const auto lines = LinesFrom({Sampled("worker||__getitem__|/a/t.py|8|slow|", 0.2),
                                Sampled("worker||__getitem__|/a/t.py|9|slow|", 0.4),
                                Sampled("worker||__getitem__|/a/t.py|20|other|", 0.4)});
  EXPECT_THAT(Decided(Bottleneck::kFunction, lines).evidence.front(),
              StartsWith("`slow` at t.py:9 takes 60.0 %"));
}

TEST(NameLines, ATransformIsNamedWithItsCure) {
  const auto lines = LinesFrom({Sampled(
      "worker||transform RandomCrop|/a/t.py|30|D.__getitem__|torchvision.transforms.RandomCrop",
      1)});
  const Verdict verdict = Decided(Bottleneck::kAugment, lines);
  EXPECT_THAT(verdict.evidence.front(), StartsWith("`RandomCrop` at t.py:30 takes 100.0 %"));
  EXPECT_THAT(verdict.cure, StartsWith("move `RandomCrop` (t.py:30) out of the workers"));
  TimedEvent made = Sampled(
      "worker||transform RandomCrop|/a/t.py|30|D.__getitem__|torchvision.transforms.RandomCrop", 1);
  made.name += "/a/main.py:12";
  EXPECT_THAT(Decided(Bottleneck::kAugment, LinesFrom({made})).cure,
              StartsWith("move `RandomCrop` (main.py:12)"));
}

TEST(NameLines, TheModelAndHandingOverAreNoCause) {
  const auto lines =
      LinesFrom({Sampled("training thread||model|/a/t.py|5|main|torch.Tensor.backward", 0.5),
                 Sampled("training thread|lock||/a/t.py|6|main|queue.Queue.put", 0.3),
                 Sampled("training thread||next batch|/a/t.py|7|main|", 0.2)});
  const Verdict verdict = Decided(Bottleneck::kHost, lines, Band::kNotInput);
  EXPECT_FALSE(verdict.line);
  EXPECT_THAT(verdict.evidence, ElementsAre("as before"));
  EXPECT_THAT(verdict.lines, SizeIs(3));
}

TEST(NameLines, CodeBetweenBatchesIsTheHosts) {
  const auto lines = LinesFrom(
      {Sampled("training thread|sleep||/a/t.py|6|log|time.sleep", 1), Sampled(kGetItem, 1)});
  EXPECT_THAT(Decided(Bottleneck::kHost, lines, Band::kNotInput).evidence.front(),
              StartsWith("`log` at t.py:6 takes 100.0 % of the training thread's time, blocked "
                         "(sleep)"));
}

TEST(NameLines, WithoutMeasuredWaitsThePlaceOfTheTrainingThreadDecides) {
  const TimedEvent producer = Sampled("thread|sleep||/a/t.py|9|produce|time.sleep", 1);
  const TimedEvent log = Sampled("training thread|sleep||/a/t.py|6|log|time.sleep", 0.4);
  const TimedEvent get = Sampled("training thread|lock||/a/t.py|7|main|queue.Queue.get", 0.6);
  const TimedEvent model = Sampled("training thread||model|/a/t.py|8|main|torch.sum", 0.6);
  const auto named = [](const std::vector<TimedEvent>& events) {
    const auto line = Decided(Bottleneck::kUnknown, LinesFrom(events), Band::kUnknown).line;
    return line ? line->function : "";
  };
  EXPECT_EQ(named({producer, log, get}), "produce");
  EXPECT_EQ(named({producer, log, model}), "log");
  EXPECT_EQ(named({producer, model}), "");
}

// Steps of a program whose input nothing reports look like the device's work from end to end.
TEST(NameLines, AnInputThatNothingReportsIsNotTheModel) {
  const TimedEvent generator = Sampled("training thread||generator|/a/t.py|4|batches|", 0.7);
  const TimedEvent model = Sampled("training thread||model|/a/t.py|8|main|torch.sum", 0.3);
  const auto decided = [](const std::vector<TimedEvent>& events) {
    return Decided(Bottleneck::kModel, LinesFrom(events), Band::kUnknown);
  };
  Verdict verdict = decided({generator, model});
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kTrainingThread);
  EXPECT_THAT(verdict.evidence, ElementsAre(StartsWith("`batches` at t.py:4 takes 70.0 %")));
  ASSERT_THAT(verdict.causes, SizeIs(1));
  EXPECT_NEAR(*verdict.causes[0].saves, 0.7, 1e-9);
  EXPECT_EQ(verdict.cure, "make `batches` (t.py:4) faster");
  EXPECT_EQ(verdict.action->text, verdict.cure);
  EXPECT_EQ(verdict.action->where, "t.py:4 (batches)");
  EXPECT_EQ(ActionText(*verdict.action),
            "make `batches` (t.py:4) faster; expected: 3.33 times as fast");

  const TimedEvent between = Sampled("training thread|sleep||/a/t.py|6|log|time.sleep", 0.7);
  EXPECT_EQ(decided({between, model}).bottleneck, Bottleneck::kHost);

  const TimedEvent worker = Sampled("worker||__getitem__|/a/t.py|41|make|", 1);
  const TimedEvent next = Sampled("training thread|lock|next batch|/a/t.py|7|main|", 0.7);
  verdict = decided({worker, next, model});
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kFunction);
  EXPECT_THAT(verdict.evidence,
              ElementsAre(StartsWith("`make` at t.py:41"), HasSubstr("waits 70.0 % of its time")));

  const TimedEvent little = Sampled("training thread||generator|/a/t.py|4|batches|", 0.2);
  const TimedEvent mostly = Sampled("training thread||model|/a/t.py|8|main|torch.sum", 0.8);
  EXPECT_EQ(decided({little, mostly}).bottleneck, Bottleneck::kModel);
  EXPECT_EQ(Decided(Bottleneck::kModel, LinesFrom({generator, model}), Band::kNotInput).bottleneck,
            Bottleneck::kModel)
      << "the waits were measured";
}

TEST(OwnCodeShare, IsOfWhatIsNeitherModelNorInput) {
  const auto share = [](const char* phase, double seconds) {
    return OwnCodeShare(
        LinesFrom({Sampled("training thread||" + std::string(phase) + "|/a/t.py|6|log|", seconds),
                   Sampled("training thread||import|/a/t.py|7|main|torch", 1),
                   Sampled("training thread||model|/a/t.py|8|main|torch.sum", 2 - seconds)}));
  };
  EXPECT_NEAR(share("", 0.6), 0.3, 1e-9);
  EXPECT_EQ(share("", 0.2), 0) << "little";
  EXPECT_EQ(share("model", 1), 0);
  EXPECT_EQ(share("generator", 1), 0);
  EXPECT_EQ(OwnCodeShare({}), 0);
}

TEST(NameLines, ImportsAtTheFirstStepDoNotHideWhatIsWaitedFor) {
  const auto lines =
      LinesFrom({Sampled("worker||__getitem__|/a/t.py|41|make|", 1),
                 Sampled("training thread||import|/a/t.py|8|main|torch.optim.SGD", 0.5),
                 Sampled("training thread|lock|next batch|/a/t.py|7|main|", 0.4),
                 Sampled("training thread||model|/a/t.py|8|main|torch.sum", 0.1)});
  const Verdict verdict = Decided(Bottleneck::kModel, lines, Band::kUnknown);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kFunction);
  EXPECT_NEAR(*verdict.causes.at(0).saves, 0.8, 1e-9);
  EXPECT_THAT(verdict.evidence.back(), HasSubstr("waits 80.0 % of its time"));
}

// A program of JAX, say, reports no steps.
TEST(NameLines, WithoutStepsWhatOthersHandOverIsTheInput) {
  const TimedEvent pool = Sampled("thread|||/a/t.py|18|make_batch|scipy.ndimage.rotate", 1);
  const TimedEvent result = Sampled(
      "training thread|lock|generator|/a/t.py|29|prefetched|concurrent.futures.Future.result", 0.6);
  const TimedEvent step = Sampled("training thread|||/a/t.py|68|main|step", 0.4);
  EXPECT_EQ(
      Decided(Bottleneck::kUnknown, LinesFrom({pool, result, step}), Band::kUnknown).bottleneck,
      Bottleneck::kFunction);
  const TimedEvent compiled = Sampled("training thread|||/a/t.py|68|main|step", 1);
  const TimedEvent python = Sampled("training thread|||/a/t.py|70|sample_batch|", 1);
  EXPECT_EQ(Decided(Bottleneck::kUnknown, LinesFrom({python}), Band::kUnknown).bottleneck,
            Bottleneck::kHost);
  EXPECT_EQ(Decided(Bottleneck::kUnknown, LinesFrom({compiled}), Band::kUnknown).bottleneck,
            Bottleneck::kUnknown)
      << "this may be the model";
}

TEST(NameLines, WithoutStepsACallBesideTheModelIsTheHosts) {
  const TimedEvent step = Sampled("training thread||model|/a/t.py|68|main|step", 0.5);
  const TimedEvent check = Sampled("training thread|||/a/t.py|19|all_finite|all", 0.5);
  const TimedEvent get = Sampled("training thread|lock||/a/t.py|20|main|np.asarray", 0.5);
  const auto decided = [](const std::vector<TimedEvent>& events) {
    return Decided(Bottleneck::kUnknown, LinesFrom(events), Band::kUnknown).bottleneck;
  };
  EXPECT_EQ(decided({step, check}), Bottleneck::kHost);
  EXPECT_EQ(decided({step, get}), Bottleneck::kUnknown) << "it may wait for the step";
}

// Keras takes batches within a compiled function; the thread that feeds it waits in Python.
TEST(NameLines, AnInputThreadThatWaitsForOthersWaitsForTheTraining) {
  const TimedEvent maker = Sampled("thread|||/a/t.py|26|Rows.__getitem__|h5py.Dataset", 1);
  const TimedEvent get =
      Sampled("input thread|lock|generator|/b/keras.py|667|get|threading.Condition.wait", 0.7);
  const TimedEvent computing =
      Sampled("input thread||generator|/b/keras.py|667|get|threading.Condition.wait", 0.3);
  const TimedEvent fit = Sampled("training thread|lock|model|/a/t.py|53|main|keras.Model.fit", 1);
  const Verdict verdict =
      Decided(Bottleneck::kUnknown, LinesFrom({maker, get, computing, fit}), Band::kUnknown);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kFunction);
  ASSERT_TRUE(verdict.line);
  EXPECT_EQ(verdict.line->function, "Rows.__getitem__");
}

TEST(NameLines, TheWorkersFunctionIsTheCauseWhereOnlyLinesAreKnown) {
  const auto decided = [](double share) {
    return Decided(Bottleneck::kUnknown,
                   LinesFrom({Sampled("worker||transformation|/a/t.py|48|warp|numpy.interp", share),
                              Sampled(kIdle, 1 - share)}));
  };
  EXPECT_EQ(decided(0.9).bottleneck, Bottleneck::kFunction);
  EXPECT_EQ(decided(0.9).evidence.size(), 1u);
  EXPECT_EQ(decided(0.4).bottleneck, Bottleneck::kUnknown);
}

TEST(NameLines, RestartsAreAtWhatWorkersDoFirst) {
  const auto lines =
      LinesFrom({Sampled("worker||worker_init_fn|/a/t.py|21|build_table|", 0.4),
                 Sampled("worker||__getitem__|/a/t.py|41|Photos.__getitem__|", 0.6)});
  const Verdict verdict = Decided(Bottleneck::kRestarts, lines);
  ASSERT_TRUE(verdict.line);
  EXPECT_EQ(verdict.line->function, "build_table");
}

TEST(NameLines, TheInterpreterLockIsHeldByOtherThreads) {
  const TimedEvent hog = Sampled("thread|||/a/t.py|80|compute|", 1);
  const TimedEvent log = Sampled("training thread|interpreter lock||/a/t.py|6|log|", 0.5);
  const auto named = [](const std::vector<TimedEvent>& events) {
    return Decided(Bottleneck::kLock, LinesFrom(events), Band::kNotInput).line.value().function;
  };
  EXPECT_EQ(named({hog, log}), "compute");
  EXPECT_EQ(named({log}), "log");
}

TEST(NameLines, OthersThatTakeTheProcessorsComeFirst) {
  const auto lines = LinesFrom({Sampled(kGetItem, 1)});
  const Verdict verdict = Decided(Bottleneck::kInterference, lines);
  EXPECT_THAT(verdict.evidence, ElementsAre("as before", HasSubstr("train.py:41")));
  EXPECT_EQ(verdict.cure, "the usual");
}

TEST(FindOwnLine, IsOfWhatNoOtherProcessRuns) {
  const auto in = [](int process, const char* text, double seconds) {
    TimedEvent event = Sampled(text, seconds);
    event.process = process;
    return event;
  };
  const char* const shared = "training thread||model|/a/t.py|100|forward|torch.relu";
  const char* const slow = "training thread||model|/a/t.py|102|forward|torch.sort";
  const char* const backward = "thread|||/a/t.py|88|Costly.backward|torch.sort";
  const auto lines = LinesFrom({in(10, shared, 3), in(11, shared, 3), in(11, slow, 1),
                                in(10, backward, 2), in(10, kGetItem, 9)});
  EXPECT_EQ(FindOwnLine(lines, 11).value().line, 102);
  EXPECT_EQ(FindOwnLine(lines, 10).value().line, 88) << "workers make the input";
  EXPECT_FALSE(FindOwnLine(lines, 12));
}

TEST(LineText, FilesOfOneNameAreToldApart) {
  const auto lines = LinesFrom({Sampled("worker||__getitem__|/a/data.py|1|f|", 0.5),
                                Sampled("worker||__getitem__|/b/data.py|2|g|", 0.5)});
  EXPECT_THAT(WhereText(lines),
              AllOf(HasSubstr("/a/data.py:1 in f"), HasSubstr("/b/data.py:2 in g")));
}

}  // namespace
}  // namespace recpack::probe
