// SPDX-License-Identifier: Apache-2.0
/// @file once_per_device.cpp
/// What is found out once for each GPU: how often it is looked for, by many threads at once, and on which
/// GPU.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <sporos/kernels/cuda/once_per_device.hpp>
#include <sporos/sporos.hpp>
#include <thread>
#include <vector>

namespace sporos::test {
namespace {

TEST(CudaOncePerDevice, LooksOnceForEachExpression) {
  int calls = 0;
  const auto look = [&] { return gpu::once_per_device(Cuda(), [&] { return ++calls; }); };
  EXPECT_EQ(look(), 1);
  EXPECT_EQ(look(), 1);
  EXPECT_EQ(calls, 1);
  const int other = gpu::once_per_device(Cuda(), [&] { return 10 * ++calls; });
  EXPECT_EQ(other, 20);
  EXPECT_EQ(look(), 1);
  const auto set = [&] { gpu::set_once_per_device(Cuda(), [&] { ++calls; }); };
  set();
  set();
  EXPECT_EQ(calls, 3);
}

TEST(CudaOncePerDevice, TellsManyThreadsTheSame) {
  std::atomic<int> calls = 0, wrong = 0;
  const Cuda space;
  const auto look = [&] {
    const auto& found = gpu::once_per_device(space, [&] {
      ++calls;
      return std::array<int, 3>{1, 2, 3};
    });
    wrong += found != std::array<int, 3>{1, 2, 3};
  };
  constexpr int threads = 8;
  std::vector<std::thread> all;
  for (int thread = 0; thread < threads; ++thread)
    all.emplace_back([&] {
      for (int again = 0; again < 1000; ++again) look();
    });
  for (auto& thread : all) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GE(calls, 1);
  EXPECT_LE(calls, threads);
  const int before = calls;
  look();
  EXPECT_EQ(calls, before);
}

TEST(CudaOncePerDevice, LooksOnTheGpuOfTheSpace) {
  int devices = 0;
  gpu::expect_success(cudaGetDeviceCount(&devices), "the number of GPUs");
  if (devices < 2) GTEST_SKIP() << "there is one GPU";
  const auto current = [] {
    int device = -1;
    gpu::expect_success(cudaGetDevice(&device), "the GPU of a thread");
    return device;
  };
  const int own = Cuda().cuda_device(), other = (own + 1) % devices;
  cudaStream_t stream{};
  gpu::expect_success(cudaSetDevice(other), "another GPU");
  gpu::expect_success(cudaStreamCreate(&stream), "a stream of another GPU");
  gpu::expect_success(cudaSetDevice(own), "this GPU");
  {
    const Cuda of_other(stream);
    const int before = current();  // Kokkos has changed it
    int calls = 0;
    const auto look = [&](const Cuda& space) {
      return gpu::once_per_device(space, [&] {
        ++calls;
        return current();
      });
    };
    for (int again = 0; again < 2; ++again) {
      EXPECT_EQ(look(Cuda()), own);
      EXPECT_EQ(look(of_other), other);
      EXPECT_EQ(current(), before);
    }
    EXPECT_EQ(calls, 2);
  }
  gpu::expect_success(cudaStreamDestroy(stream), "the end of a stream");
}

}  // namespace
}  // namespace sporos::test
