// SPDX-License-Identifier: Apache-2.0
/// @file device_product.hpp
/// Products on the GPU, computed by the code in cuda/.
#pragma once

#include <cstdint>
#include <optional>
#include <sporos/core/tensor.hpp>
#include <sporos/formats/named.hpp>
#include <string>

#include "device_settings.hpp"
#include "product.hpp"
#include "spmv_run.hpp"
#include "stored.hpp"
#include "timing.hpp"

namespace sporos::tool {

using RealMatrix = Tensor<double, DenseMatrix<>>;

/// What is known about a product on the GPU besides its values.
struct DeviceRun {
  std::string device;
  std::string kernel;
  std::string explanation;                 ///< empty unless requested
  double expected_seconds = 0;             ///< predicted by the library for one run of the plan
  double copy_seconds = 0;                 ///< copying the operands to the GPU
  std::optional<double> plan_seconds;      ///< empty if each run starts from scratch
  std::optional<std::int64_t> plan_bytes;  ///< that the plan holds; the same
  Times times;  ///< times of runs after a first one that loads the kernels; each until the GPU has finished
  Rounding rounding;
  Stored A, B, C;
};

template <class Result>
struct DeviceProduct {
  Result C;
  DeviceRun run;
};

/// C = A B. The values of A and B are converted to the type in the settings.
/// @throws UsageError for values that this type cannot hold, and with the library's reason if the plan cannot
/// take the operands
DeviceProduct<RealMatrix> spmm_on_device(const RealRows& A, const RealMatrix& B,
                                         const DeviceSettings& settings);

/// C = A B, in double; the settings must not name a plan.
DeviceProduct<RealRows> spgemm_on_device(const RealRows& A, const RealRows& B,
                                         const DeviceSettings& settings);

/// The entries rounded to a type of value, which is how a product multiplies them.
Entries<double, 2> rounded_to(const Entries<double, 2>& entries, DeviceValue value);

}  // namespace sporos::tool
