#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/layers/placement.h"
#include "src/train/models/model.h"
#include "src/train/models/review_tower.h"
#include "src/train/words/word_vectors.h"

namespace recpack::train {
namespace {

// Starts at the middle of the ratings (1 to 5), so that the first steps do not have to learn their
// mean: getting there from 0 drags all latent values along and leaves ReLUs stuck at 0.
constexpr float kMiddleRating = 3;
// The towers learn through a product of both, whose gradient vanishes near 0, so factors start with
// a product about as large as the spread of the ratings.
constexpr float kFactorSpread = 0.3F;

// The operation that looks up the tokens of a tower.
std::string LookUpName(const DeepconnOptions& options, const std::string& tower) {
  return options.tables == WordTables::kShared ? "embedding" : tower + ".embedding";
}

// Name of the operation that reads a variable: the part before the last dot.
std::string ReaderName(const VariableSpec& variable) {
  return variable.name.substr(0, variable.name.rfind('.'));
}

class Deepconn final : public Model {
 public:
  Deepconn(const ModelContext& context, const DeepconnOptions& options)
      : Model(context),
        options_(options),
        own_placement_(context.placement ? nullptr : std::make_unique<Placement>(*context.ops)),
        placement_(context.placement ? *context.placement : *own_placement_),
        user_(context_, placement_, "user", DeclareTable(), options),
        item_(context_, placement_, "item", DeclareTable(&user_.table()), options),
        machine_at_(placement_.At("fm")),
        loss_at_(placement_.At("fm.loss")),
        bias_(variables_.Add({"fm.bias", {1}, Initial::kConstant, 1, true, false, kMiddleRating})),
        weights_(variables_.Add({"fm.weight", {2 * options.latent}, Initial::kZeros})),
        factors_(variables_.Add({"fm.factors",
                                 {2 * options.latent, options.factors},
                                 Initial::kNormal,
                                 1,
                                 true,
                                 true,
                                 kFactorSpread})),
        from_user_(user_.out_queue(), machine_at_, placement_.transfers()),
        from_item_(item_.out_queue(), machine_at_, placement_.transfers()),
        to_loss_(machine_at_, loss_at_, placement_.transfers()),
        targets_link_(placement_.first(), loss_at_, placement_.transfers()),
        mask_link_(placement_.first(), loss_at_, placement_.transfers()) {}

  std::string name() const override { return "deepconn"; }
  std::string options() const override {
    // Two tables, and a maximum over all positions, are not named, as in checkpoints from before
    // there was a choice.
    std::string chosen;
    if (options_.pool_window > 0) {
      chosen += format(R"("pool_stride":{},"pool_window":{},)", options_.pool_stride,
                       options_.pool_window);
    }
    if (options_.tables == WordTables::kShared) chosen += R"("tables":1,)";
    return format(
        R"({{"dims":{},"factors":{},"filters":{},"kernel":{},"latent":{},"max_tokens":{},)"
        R"({}"vocabulary":{}}})",
        options_.dims, options_.factors, options_.filters, options_.kernel, options_.latent,
        options_.max_tokens, chosen, options_.vocabulary);
  }

  void Build(int slots, uint64_t seed) override {
    variables_.Allocate(
        [this](const VariableSpec& variable) -> DeviceQueue& {
          return placement_.At(ReaderName(variable));
        },
        slots, seed);
    if (placement_.several()) {
      for (PlacedSums* sums : {&user_sums_, &item_sums_, &loss_sums_}) sums->Build();
    }
    user_.Build(context_);
    item_.Build(context_);
    machine_at_.DoAndJoin([this] {
      const ModelContext here = On(machine_at_, context_);
      from_user_.Build(here, user_.out());
      from_item_.Build(here, item_.out());
      machine_ = here.ops->MakeFactorisation({.batch = context_.batch,
                                              .first = options_.latent,
                                              .second = options_.latent,
                                              .factors = options_.factors,
                                              .type = context_.type,
                                              .name = "fm"});
      rating_.Allocate(here, {context_.batch}, ElementType::kF32);
    });
    loss_at_.DoAndJoin([this] {
      const auto batch = static_cast<size_t>(context_.batch);
      to_loss_.Build(On(loss_at_, context_), rating_);
      targets_link_.Build(On(loss_at_, context_), batch * sizeof(float));
      mask_link_.Build(On(loss_at_, context_), batch);
    });
  }

  void Forward(const BatchArrays& batch, const uint8_t* mask, bool training, float scale,
               LossSums* sums) override {
    const void* const ratings = batch.Raw("rating");
    if (!placement_.several()) context_.ops->Zero(sums, sizeof *sums);
    Give(user_.Forward(context_, batch, training, user_sums_.Begin(sums)),
         item_.Forward(context_, batch, training, item_sums_.Begin(sums)));
    from_user_.Forward();
    from_item_.Forward();
    machine_at_.Do([this, training] {
      if (training) {
        for (const size_t variable : {bias_, weights_, factors_}) context_.need(variable);
      }
      machine_->Forward(MachineVariables(), from_user_.here().value.data,
                        from_item_.here().value.data, rating_.value.As<float>());
    });
    to_loss_.Forward();
    const void* const targets = targets_link_.Forward(ratings);
    const void* const counted = mask ? mask_link_.Forward(mask) : nullptr;
    LossSums* const loss = loss_sums_.Begin(sums);
    loss_at_.Do([this, targets, counted, scale, training, loss] {
      const Activations& rating = to_loss_.here();
      loss_at_.ops().SquaredError(rating.value, static_cast<const float*>(targets),
                                  static_cast<const uint8_t*>(counted), scale,
                                  training ? rating.gradient.As<float>() : nullptr, loss);
    });
    placement_.Join();
    if (placement_.several()) GatherSums(sums);
  }

  std::vector<LayerOutput> Activity() override {
    std::vector<LayerOutput> all;
    user_.Name(all);
    item_.Name(all);
    all.push_back({"fm", rating_.value, &machine_at_});
    return all;
  }

  ModelGraph Graph() const override { return DeepconnGraph(options_); }

  void Backward(const BatchArrays&, const GradientReady& ready) override {
    to_loss_.Backward();
    machine_at_.Do([&] {
      const Activations &user = from_user_.here(), &item = from_item_.here();
      machine_->Backward(MachineVariables(), user.value.data, item.value.data,
                         rating_.gradient.As<float>(), user.gradient.data, item.gradient.data,
                         {variables_.Gradient(bias_), variables_.Gradient(weights_),
                          variables_.Gradient(factors_)});
      for (const size_t variable : {factors_, weights_, bias_}) ready(variable);
    });
    from_item_.Backward();
    from_user_.Backward();
    Give(item_.Backward(context_, ready), user_.Backward(context_, ready));
    placement_.Join();
  }

 private:
  // `of_user`: the table of the first tower, if this is the second one's.
  WordTable DeclareTable(const WordTable* of_user = nullptr) {
    const bool shared = options_.tables == WordTables::kShared;
    WordTable table{.operation = LookUpName(options_, of_user ? "item" : "user")};
    if (shared) (of_user ? table.first : table.second) = false;
    // No weight decay: it would shrink the vectors of rare tokens.
    std::function<void(std::span<float>)> change;
    if (const WordVectors* const vectors = context_.word_vectors) {
      change = [vectors](std::span<float> values) { vectors->WriteTo(values); };
    }
    table.variable = shared && of_user ? of_user->variable
                                       : variables_.Add({table.operation + ".weight",
                                                         {options_.vocabulary, options_.dims},
                                                         Initial::kNormal,
                                                         1,
                                                         true,
                                                         false,
                                                         0.1F,
                                                         std::move(change)});
    return table;
  }

  // Alternates between the towers if there are several devices, so that one computes while the
  // other's activations are copied.
  void Give(const ReviewTower::Pieces& first, const ReviewTower::Pieces& second) {
    if (placement_.several()) {
      for (size_t i = 0; i < first.size(); ++i) {
        first[i]();
        second[i]();
      }
      return;
    }
    for (const auto& piece : first) piece();
    for (const auto& piece : second) piece();
  }

  void GatherSums(LossSums* sums) {
    LossSums all = loss_sums_.Read();
    all.bad_labels += user_sums_.Read().bad_labels + item_sums_.Read().bad_labels;
    placement_.first().DoAndJoin([&] { context_.ops->Upload(sums, &all, sizeof all); });
  }

  FactorisationArrays<const float> MachineVariables() const {
    return {variables_.At(bias_), variables_.At(weights_), variables_.At(factors_)};
  }

  const DeepconnOptions options_;
  const std::unique_ptr<Placement> own_placement_;
  Placement& placement_;
  ReviewTower user_, item_;
  DeviceQueue &machine_at_, &loss_at_;
  const size_t bias_, weights_, factors_;
  std::unique_ptr<Factorisation> machine_;
  Activations rating_;  // the prediction
  ActivationLink from_user_, from_item_, to_loss_;
  InputLink targets_link_, mask_link_;
  PlacedSums user_sums_{user_.embedding_queue()}, item_sums_{item_.embedding_queue()},
      loss_sums_{loss_at_};
};

}  // namespace

std::unique_ptr<Model> MakeDeepconn(const ModelContext& context, const DeepconnOptions& options) {
  for (const auto& [value, name] : {std::pair(options.vocabulary, "vocabulary"),
                                    {options.dims, "vector"},
                                    {options.filters, "filters"},
                                    {int64_t{options.kernel}, "kernel"},
                                    {options.latent, "latent values"},
                                    {options.factors, "factors"}}) {
    if (value >= 1) continue;
    throw Error(ErrorKind::kInvalidArgument, format("the size of deepconn's {} is {}", name, value),
                {}, "give 1 at least");
  }
  if (options.max_tokens < options.kernel) {
    throw Error(ErrorKind::kInvalidArgument,
                format("deepconn's filters see {} tokens, and texts have {} at most",
                       options.kernel, options.max_tokens),
                {}, "give more tokens");
  }
  const int64_t positions = options.max_tokens - options.kernel + 1;
  if (options.pool_window < 0 || options.pool_stride < 1 || options.pool_window > positions) {
    throw Error(
        ErrorKind::kInvalidArgument,
        format("deepconn's maxima are of windows of {} with a stride of {}, and its filters "
               "give {} positions",
               options.pool_window, options.pool_stride, positions),
        {}, "give a smaller window, and a stride of 1 at least");
  }
  return std::make_unique<Deepconn>(context, options);
}

ModelGraph DeepconnGraph(const DeepconnOptions& options) {
  ModelGraph graph;
  if (options.tables == WordTables::kShared) {
    graph.push_back({LookUpName(options, ""), {"user_tokens", "item_tokens"}});
  }
  for (const std::string tower : {"user", "item"}) {
    const std::string lookup = LookUpName(options, tower);
    if (options.tables == WordTables::kSeparate) graph.push_back({lookup, {tower + "_tokens"}});
    for (GraphOperation& operation : ReviewTower::Graph(tower, lookup, options))
      graph.push_back(operation);
  }
  graph.push_back({"fm", {"user.relu", "item.relu"}});
  graph.push_back({"fm.loss", {"fm", "rating"}});
  return graph;
}

}  // namespace recpack::train
