#include "src/probe/events/operation_class.h"

#include <gtest/gtest.h>

#include <string>

namespace recpack::probe {
namespace {

void ExpectClass(std::string_view operation, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) EXPECT_EQ(ClassifyOperation(name), operation) << name;
}

// The two kernels of a profile of TensorFlow whose reader could not tell what they do: 21.4 % and
// 20.0 % of the time of a ResNet.
TEST(OperationClassTest, EigensExpressionsAreClassifiedByTheOutermost) {
  const std::string begin =
      "void Eigen::internal::EigenMetaKernel_NonVectorizable<Eigen::TensorEvaluator<Eigen::"
      "TensorAssignOp<Eigen::TensorMap<Eigen::Tensor<float, int=4, int=1, long>, int=16>, ";
  const std::string map =
      "Eigen::TensorMap<Eigen::Tensor<float const, int=4, int=1, long>, int=16> const";
  const std::string end = " > const > const, Eigen::GpuDevice>, long>(float, int=4)";
  const std::string pairs = "Eigen::array<std::pair<int, int>, unsigned long=4> const, ";
  const std::string longs = "Eigen::array<int, unsigned long=4> const, ";
  EXPECT_EQ(ClassifyOperation(begin + "Eigen::TensorPaddingOp<" + pairs + map + end), "padding");
  EXPECT_EQ(ClassifyOperation(begin + "Eigen::TensorBroadcastingOp<" + longs + map + end),
            "broadcasting");
  EXPECT_EQ(ClassifyOperation(begin +
                              "Eigen::TensorCwiseBinaryOp<Eigen::internal::scalar_sum_op<float>, " +
                              map + ", Eigen::TensorBroadcastingOp<" + longs + map + end),
            "elementwise");
}

TEST(OperationClassTest, ConvolutionsAreByDirection) {
  ExpectClass("convolution forward",
              {"sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128",
               "cudnn::ops::sm90_xmma_fprop_x", "maxwell_scudnn_128x64_relu_interior_nn",
               "void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3>(int, int)"});
  ExpectClass("convolution backward data",
              {"sm80_xmma_dgrad_implicit_gemm_indexed", "void cudnn::detail::dgrad_engine<float>",
               "void tensorflow::functor::DepthwiseConv2dBackpropInputGPUKernelNHWC"
               "BackpropInput<float>"});
  ExpectClass("convolution backward weights",
              {"cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_s16816wgrad_optimized_bf16>",
               "void cudnn::cnn::wgrad_alg0_engine<float, 128, 5>"});
  ExpectClass("convolution", {"maxwell_scudnn_winograd_128x128_ldg1_ldg4_tile148n_nt",
                              "void cudnn::cnn::conv2d_grouped_direct_kernel<false>"});
}

TEST(OperationClassTest, KernelsOfLibraries) {
  ExpectClass("matrix product",
              {"ampere_sgemm_128x64_tn", "nvjet_tst_128x256", "void gemv2T_kernel_val<int>",
               "void cublasLt::splitKreduce_kernel<32, 16, int>"});
  ExpectClass("normalisation",
              {"void cudnn::batchnorm_fwtr_nhwc_semiPersist<float>",
               "void cudnn::bn_bw_1C11_kernel_new<float>",
               "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>"});
  ExpectClass("optimiser",
              {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::"
               "FusedSgdMathFunctor<float, 3, false, false>>",
               "void tensorflow::functor::ApplyAdamKernel<float>"});
  ExpectClass("elementwise",
              {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<"
               "float>, std::array<char*, 3> >(int)",
               "triton_poi_fused_convolution_relu_0",
               "void tensorflow::BiasNHWCKernel<float>(int, float const*)"});
  ExpectClass("fill", {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<"
                       "float>, std::array<char*, 1> >(int)",
                       "[Memset]", "[memset]"});
  ExpectClass("layout change", {"void cudnn::engines_precompiled::nchwToNhwcKernel<float, float>"});
  ExpectClass("conversion", {"void tensorflow::convert_kernel"});
  ExpectClass("random numbers", {"void at::native::(anonymous namespace)::fused_dropout_kernel"});
  ExpectClass("collective", {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)"});
  ExpectClass("other", {"", "[copy of mine", "k", "void my_kernel(int)"});
}

TEST(OperationClassTest, CopiesAreByKind) {
  ExpectClass("copy HtoD", {"[CUDA memcpy HtoD]"});
  ExpectClass("copy DtoH", {"[CUDA memcpy DtoH]"});
  ExpectClass("copy DtoD", {"[CUDA memcpy DtoD]"});
  ExpectClass("copy PtoP", {"[CUDA memcpy PtoP]"});
  ExpectClass("copy", {"[copy]", "[Memcpy]"});
}

TEST(OperationClassTest, OurOwnKernels) {
  ExpectClass("normalisation",
              {"void recpack::train::(anonymous namespace)::Apply<float, 4>(recpack::train::"
               "ChannelMap, unsigned int, recpack::train::NormApplyArrays, bool)"});
  ExpectClass("optimiser", {"recpack::train::(anonymous namespace)::SgdStep(recpack::train::"
                            "SgdUpdate, float*, float const*, float*, unsigned long)"});
  ExpectClass("loss", {"recpack::train::(anonymous namespace)::SampleLosses(unsigned int)"});
  ExpectClass("embedding", {"void recpack::train::(anonymous namespace)::Gather<long, float>("
                            "recpack::train::TokenMap, unsigned int, recpack::train::LossSums*)"});
  ExpectClass("pooling", {"void recpack::train::(anonymous namespace)::PoolBackward<float>()"});
}

TEST(OperationClassTest, ANameMayBeginWithItsClass) {
  ExpectClass("convolution backward weights", {"convolution backward weights conv1"});
  ExpectClass("convolution forward", {"convolution forward", "convolution forward stage1.conv"});
  ExpectClass("optimiser", {"optimiser SGD"});
  ExpectClass("other", {"fillet", "other Conv2D/ReadVariableOp"});
}

}  // namespace
}  // namespace recpack::probe
