// A writer killed at any moment leaves a folder whose latest checkpoint is valid.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "recpack/base/error.h"
#include "src/train/checkpoint/checkpoint_folder.h"
#include "tests/base/real_files.h"
#include "tests/base/temporary_folder.h"
#include "tests/train/run_state.h"

namespace recpack::train {
namespace {

namespace fs = std::filesystem;

// Kills its process at the n-th moment: before and after each operation, and amid writes.
class DeadlyFiles final : public RealFiles {
 public:
  explicit DeadlyFiles(int moments) : left_(moments) {}

  std::unique_ptr<WritableFile> Create(const std::string& path) override {
    Pass();
    return std::make_unique<File>(RealFiles::Create(path), *this);
  }
  void Rename(const std::string& from, const std::string& to, bool durable) override {
    Pass();
    RealFiles::Rename(from, to, durable);
    Pass();
  }
  void Remove(const std::string& path) override {
    Pass();
    RealFiles::Remove(path);
    Pass();
  }

 private:
  class File final : public WritableFile {
   public:
    File(std::unique_ptr<WritableFile> file, DeadlyFiles& files)
        : file_(std::move(file)), files_(files) {}
    void Write(ByteView bytes) override {
      files_.Pass();
      file_->Write(bytes.first(bytes.size() / 2));
      files_.Pass();
      file_->Write(bytes.subspan(bytes.size() / 2));
    }
    void Sync() override { file_->Sync(); }
    void Close() override {
      files_.Pass();
      file_->Close();
    }
    const std::string& path() const noexcept override { return file_->path(); }

   private:
    std::unique_ptr<WritableFile> file_;
    DeadlyFiles& files_;
  };

  void Pass() {
    if (left_-- == 0) ::raise(SIGKILL);
  }

  int left_;
};

// A child that resumes from the latest checkpoint and saves every one of `steps` steps; reports
// each saved step.
class Writer {
 public:
  Writer(const std::string& folder, FileSystem& files, uint64_t steps, bool durable = false) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    child_ = ::fork();
    if (child_ == 0) {
      ::close(ends[0]);
      ::_exit(Run(folder, files, steps, durable, ends[1]));
    }
    ::close(ends[1]);
    saved_ = ends[0];
  }
  ~Writer() { ::close(saved_); }
  Writer(const Writer&) = delete;

  // Returns when it has saved one, or is gone.
  void WaitForSave() { Take(); }

  void Kill() { ::kill(child_, SIGKILL); }

  // The last step it reported; 0 if none. `killed`: it did not finish.
  uint64_t Wait(bool& killed) {
    while (Take()) {
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    killed = WIFSIGNALED(status);
    EXPECT_TRUE(killed ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
    return last_;
  }

 private:
  static int Run(const std::string& path, FileSystem& files, uint64_t steps, bool durable,
                 int told) {
    try {
      CheckpointFolder folder(files, path, {.keep = 2, .durable = durable});
      const auto latest = FindLatestCheckpoint(files, path);
      uint64_t step = latest.path ? ReadCheckpoint(files, *latest.path).info.step : 0;
      for (const uint64_t end = step + steps; step < end;) {
        const RunState state(++step);
        folder.Save(state.info, state.arrays);
        if (::write(told, &step, sizeof step) != sizeof step) return 3;
      }
      return 0;
    } catch (const Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 2;
    }
  }

  bool Take() { return ::read(saved_, &last_, sizeof last_) == sizeof last_; }

  pid_t child_ = -1;
  int saved_ = -1;
  uint64_t last_ = 0;
};

// The latest checkpoint is valid, and is the last one saved or the one that was being written.
void ExpectWhole(const std::string& folder, uint64_t saved) {
  const auto latest = FindLatestCheckpoint(PosixFiles(), folder);
  EXPECT_TRUE(latest.skipped.empty());
  if (!latest.path) {
    EXPECT_EQ(saved, 0u);
    return;
  }
  const RunState any(1);
  const Checkpoint loaded = LoadCheckpoint(PosixFiles(), *latest.path, any.Target());
  const RunState expected(loaded.info.step);
  EXPECT_EQ(loaded.info, expected.info);
  EXPECT_EQ(Content(loaded.stored.arrays), Content(expected.arrays));
  EXPECT_GE(loaded.info.step, saved);
  EXPECT_LE(loaded.info.step, saved + 1);
  // The lock, the kept checkpoints, and one that was to be removed or was being written.
  EXPECT_LE(std::distance(fs::directory_iterator(folder), {}), 1 + 2 + 1);
}

TEST(CheckpointKill, AtEveryMoment) {
  int moments = 0;
  for (bool killed = true; killed; ++moments) {
    const TemporaryFolder folder;
    DeadlyFiles files(moments);
    const uint64_t saved = Writer(folder.path(), files, 4).Wait(killed);
    ExpectWhole(folder.path(), saved);
    bool next_killed = true;
    ExpectWhole(folder.path(), Writer(folder.path(), PosixFiles(), 1).Wait(next_killed));
    EXPECT_FALSE(next_killed);
    EXPECT_LE(std::distance(fs::directory_iterator(folder.path()), {}), 1 + 2) << moments;
  }
  EXPECT_GE(moments, 50);
}

TEST(CheckpointKill, AtRandomMomentsAgainAndAgain) {
  constexpr int kKills = 100;
  const TemporaryFolder folder;
  std::mt19937 random(5);
  uint64_t saved = 0;
  for (int kills = 0; kills < kKills;) {
    Writer writer(folder.path(), PosixFiles(), UINT64_MAX / 2, kills % 2 == 0);
    writer.WaitForSave();
    ::usleep(static_cast<useconds_t>(random() % 3000));
    writer.Kill();
    bool killed = false;
    saved = std::max(saved, writer.Wait(killed));
    ASSERT_TRUE(killed);
    ++kills;
    ExpectWhole(folder.path(), saved);
  }
  EXPECT_GE(saved, uint64_t{kKills});
}

}  // namespace
}  // namespace recpack::train
