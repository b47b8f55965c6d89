// A whole trainer that embeds the loader: softmax regression on CIFAR-10, with checkpoints.
//
//   softmax SHARDS CHECKPOINT [EPOCHS] [STOP_AFTER_STEPS]
//
// Goes on from CHECKPOINT where there is one, at the batch after the last one that was learned
// from, whatever the number of threads now. Prints the mean loss of each epoch and, at the end, a
// hash of the weights: a run that was stopped and went on prints the same one.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "recpack/loader/loader.h"
#include "recpack/loader/recipe.h"

namespace {

constexpr size_t kClasses = 10;
constexpr size_t kInputs = 3 * 32 * 32;
constexpr float kRate = 0.002F;

struct Model {
  std::vector<float> weights = std::vector<float>(kClasses * (kInputs + 1));
  double loss = 0;  // of this epoch so far
  uint64_t seen = 0;
  std::string token;  // where the loader stands
};

// One step of gradient descent on a batch. `images` is (count, kInputs), `labels` (count).
void Learn(const float* images, const int64_t* labels, size_t count, Model& model) {
  std::vector<float> gradient(model.weights.size());
  for (size_t i = 0; i < count; ++i) {
    const float* x = images + i * kInputs;
    double score[kClasses], sum = 0;
    for (size_t c = 0; c < kClasses; ++c) {
      const float* w = &model.weights[c * (kInputs + 1)];
      double s = w[kInputs];
      for (size_t k = 0; k < kInputs; ++k) s += w[k] * x[k];
      sum += score[c] = std::exp(s);
    }
    model.loss -= std::log(score[labels[i]] / sum);
    for (size_t c = 0; c < kClasses; ++c) {
      const auto d = static_cast<float>(score[c] / sum) - (labels[i] == int64_t(c) ? 1.0F : 0.0F);
      float* g = &gradient[c * (kInputs + 1)];
      for (size_t k = 0; k < kInputs; ++k) g[k] += d * x[k];
      g[kInputs] += d;
    }
  }
  for (size_t k = 0; k < gradient.size(); ++k) {
    model.weights[k] -= kRate * gradient[k] / static_cast<float>(count);
  }
  model.seen += count;
}

// Written beside its place and renamed: there is always a whole one.
void Save(const Model& model, const std::string& path) {
  {
    std::ofstream file(path + ".part", std::ios::binary);
    file << model.token << '\n';
    file.write(reinterpret_cast<const char*>(&model.loss), sizeof model.loss);
    file.write(reinterpret_cast<const char*>(&model.seen), sizeof model.seen);
    file.write(reinterpret_cast<const char*>(model.weights.data()),
               static_cast<std::streamsize>(model.weights.size() * sizeof(float)));
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
  }
  std::filesystem::rename(path + ".part", path);
}

Model Load(const std::string& path) {
  Model model;
  std::ifstream file(path, std::ios::binary);
  if (!file) return model;
  std::getline(file, model.token);
  file.read(reinterpret_cast<char*>(&model.loss), sizeof model.loss);
  file.read(reinterpret_cast<char*>(&model.seen), sizeof model.seen);
  file.read(reinterpret_cast<char*>(model.weights.data()),
            static_cast<std::streamsize>(model.weights.size() * sizeof(float)));
  if (!file) throw std::runtime_error("not a checkpoint: " + path);
  return model;
}

int Train(const std::string& shards, const std::string& checkpoint, uint64_t epochs, int steps) {
  Model model = Load(checkpoint);

  const recpack::Dataset dataset = recpack::Dataset::Open(shards);
  recpack::LoaderOptions options;
  options.fields = recpack::Recipe("cifar10-train");
  options.batch_size = 16;
  options.resume = model.token;  // empty: from the beginning
  recpack::Loader loader(dataset, options);

  for (uint64_t epoch = loader.options().epoch; epoch < epochs; ++epoch) {
    while (const auto batch = loader.Next()) {
      Learn(batch->Data<float>("image"), batch->Data<int64_t>("label"), batch->size(), model);
      model.token = batch->token();  // belongs to the weights that have learned from this batch
      if (--steps == 0) {
        Save(model, checkpoint);
        return 0;
      }
    }
    std::printf("epoch %llu: loss %.4f\n", static_cast<unsigned long long>(epoch),
                model.loss / static_cast<double>(model.seen));
    model.loss = 0;
    model.seen = 0;
    model.token = loader.Token();  // now at the next epoch's beginning
    Save(model, checkpoint);
  }

  recpack::Sha256 hash;
  hash.Update({reinterpret_cast<const uint8_t*>(model.weights.data()),
               model.weights.size() * sizeof(float)});
  std::printf("weights %s\n", recpack::Hex(hash.Finish()).c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: softmax SHARDS CHECKPOINT [EPOCHS] [STOP_AFTER_STEPS]\n");
    return 2;
  }
  try {
    return Train(argv[1], argv[2], argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 5,
                 argc > 4 ? std::atoi(argv[4]) : -1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "softmax: %s\n", error.what());
    return 2;
  }
}
