// SPDX-License-Identifier: Apache-2.0
/// @file streams.hpp
/// CUDA streams and graphs for the tests on the GPU.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <memory>
#include <sporos/core/resources.hpp>

namespace sporos::test {

/// A stream, and the resources of it.
class OwnStream {
 public:
  OwnStream() {
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    space_ = std::make_unique<Cuda>(stream_);
    resources_ = std::make_unique<Resources<Cuda>>(*space_);
  }
  OwnStream(const OwnStream&) = delete;
  ~OwnStream() {
    resources_.reset();
    space_.reset();
    cudaStreamDestroy(stream_);
  }
  cudaStream_t operator*() const { return stream_; }
  const Resources<Cuda>& resources() const { return *resources_; }
  void wait() const { EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess); }

 private:
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<Cuda> space_;
  std::unique_ptr<Resources<Cuda>> resources_;
};

/// A graph of what work() starts on a stream. By default, nothing that waits or allocates may be among it.
class Graph {
 public:
  template <class Work>
  Graph(const OwnStream& stream, const Work& work, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal)
      : stream_(*stream) {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamBeginCapture(stream_, mode), cudaSuccess);
    work();
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiate(&graph_, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  }
  Graph(const Graph&) = delete;
  ~Graph() { cudaGraphExecDestroy(graph_); }
  void launch() const {
    Kokkos::fence();  // what the default stream has written
    EXPECT_EQ(cudaGraphLaunch(graph_, stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  }

 private:
  cudaStream_t stream_;
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace sporos::test
