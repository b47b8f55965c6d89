#include "src/pack/store/staged_files.h"

#include <filesystem>
#include <utility>

#include "recpack/base/error.h"
#include "src/pack/plan/plan_name.h"
#include "src/pack/store/hole.h"
#include "src/remote/store/data_files.h"
#include "src/shards/manifest/manifest.h"
#include "src/shards/manifest/sidecar.h"

namespace recpack::pack {
namespace {

constexpr char kShardEnd[] = ".tfrecord";
constexpr char kTemporaryEnd[] = ".tfrecord.tmp";

using Existing = remote::Upload::Existing;

}  // namespace

StagedFiles::StagedFiles(std::string folder, std::string url, const SharedState* state,
                         StoreAppend* append)
    : folder_(std::move(folder)), url_(std::move(url)), state_(state), append_(append) {}

std::string StagedFiles::ResultName(const std::string& path) const {
  if (!path.starts_with(folder_ + "/")) return {};
  std::string name = path.substr(folder_.size() + 1);
  return name.find('/') == std::string::npos ? name : "";
}

bool StagedFiles::IsResultShard(const std::string& path) const {
  return ResultName(path).ends_with(kShardEnd);
}

std::unique_ptr<ReadableFile> StagedFiles::OpenForReading(const std::string& path) {
  if (!IsResultShard(path)) return PosixFiles().OpenForReading(path);
  return remote::DataFiles().OpenForReading(ObjectUrl(ResultName(path)));
}

std::unique_ptr<WritableFile> StagedFiles::Create(const std::string& path) {
  const std::string state = folder_ + "/" + kStateFolder + "/";
  // Shards of a stream have no names yet.
  if (!path.starts_with(state) || !path.ends_with(kTemporaryEnd)) return PosixFiles().Create(path);
  const size_t end = path.size() - std::string_view(kTemporaryEnd).size();
  const std::string name = path.substr(state.size(), end - state.size()) + kShardEnd;
  auto upload = std::make_shared<remote::Upload>(ObjectUrl(name));
  {
    const std::lock_guard lock(mutex_);
    uploads_[path] = upload;
  }
  return std::make_unique<remote::UploadedFile>(path, std::move(upload));
}

std::shared_ptr<remote::Upload> StagedFiles::TakeUpload(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = uploads_.find(path);
  if (found == uploads_.end()) return nullptr;
  auto upload = std::move(found->second);
  uploads_.erase(found);
  return upload;
}

void StagedFiles::Rename(const std::string& from, const std::string& to, bool durable) {
  const std::string name = ResultName(to);
  if (const auto upload = TakeUpload(from)) {
    // Names may be another job's by now: its shards must not be replaced.
    if (append_ != nullptr) append_->CheckUnchanged();
    upload->Finish(Existing::kReplace);
    MakeHole(from, upload->bytes());
  } else if (!name.empty()) {
    UploadFile(from, name);
    if (name.ends_with(kShardEnd)) MakeHole(from, std::filesystem::file_size(from));
  }
  // First in the store: what is here only would be taken for done, and nobody else would know it.
  if (state_ != nullptr || append_ != nullptr) PublishState(from, to);
  PosixFiles().Rename(from, to, durable);
}

void StagedFiles::PublishState(const std::string& from, const std::string& to) {
  const std::string state = folder_ + "/" + kStateFolder + "/";
  const std::string name = ResultName(to);
  const std::string in_state = to.starts_with(state) ? to.substr(state.size()) : "";
  if (append_ != nullptr) {
    if (IsPlan(in_state)) append_->PublishPlan(from, in_state);
  } else if (name.ends_with(kShardEnd)) {
    for (const char* const end : {".recindex", ".json"}) {  // the latter says that it is complete
      state_->Publish(state + name + end, name + end, Existing::kReplace);
    }
  } else if (IsPlan(in_state)) {
    state_->Publish(from, in_state, Existing::kRefuse);
  }
}

void StagedFiles::UploadFile(const std::string& from, const std::string& name) {
  // What is beside the shards is of all appends: an index must not lack another one's.
  if (append_ != nullptr && name != kManifestName) append_->CheckUnchanged();
  const bool whole = name == kManifestName;  // it has conditions
  remote::Upload upload(ObjectUrl(name),
                        whole ? remote::Upload::Kind::kWhole : remote::Upload::Kind::kInParts);
  remote::WriteFile(*PosixFiles().OpenForReading(from), upload);
  // The manifest makes the data set: the second of two jobs must not replace the first one's.
  if (name != kManifestName) {
    upload.Finish(Existing::kReplace);
  } else if (append_ == nullptr) {
    upload.Finish(Existing::kRefuse);
  } else {
    upload.FinishInPlaceOf(append_->manifest());
  }
}

void StagedFiles::Remove(const std::string& path) {
  if (!TakeUpload(path)) PosixFiles().Remove(path);
}

}  // namespace recpack::pack
