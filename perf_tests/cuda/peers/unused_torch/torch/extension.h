// SPDX-License-Identifier: Apache-2.0
/// @file extension.h
/// Declares what the functions beside the kernels of FlashSparse and DTC-SpMM name of PyTorch, so that these
/// kernels can be included without it. Those functions are not called.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <initializer_list>
#include <iostream>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

namespace at {

struct Half {
  Half() = default;
  __host__ __device__ Half(double value) : value(static_cast<float>(value)) {}
  __half value;
};

}  // namespace at

namespace torch {

enum Dtype { kFloat32, kInt32, kUInt8 };
enum Device { kCPU, kCUDA };

struct TensorOptions {
  TensorOptions dtype(Dtype) const { return *this; }
  TensorOptions device(Device) const { return *this; }
};

struct Tensor {
  template <class T>
  T* data() const {
    return nullptr;
  }
  std::int64_t size(int) const { return 0; }
  Tensor to(Device) const { return {}; }
};

inline Tensor zeros(std::initializer_list<std::int64_t>, TensorOptions = {}) { return {}; }
inline Tensor ones(std::initializer_list<std::int64_t>, TensorOptions = {}) { return {}; }
inline Tensor zeros_like(const Tensor&) { return {}; }

}  // namespace torch
