// SPDX-License-Identifier: Apache-2.0
/// @file device_product.hpp
/// Products on the GPU, which the code in cuda/ computes.
#pragma once

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

/// What is known of a product on the GPU besides its values.
struct DeviceRun {
  std::string device;
  std::string kernel;
  std::string explanation;             ///< empty unless asked for
  double expected_seconds = 0;         ///< of one run of the plan, as the library predicts
  double copy_seconds = 0;             ///< of the operands, to the GPU
  std::optional<double> plan_seconds;  ///< none where each run begins anew
  Times times;  ///< of runs after a first one, in which kernels are loaded; each until the GPU is through
  Rounding rounding;
  Stored A, B, C;
};

template <class Result>
struct DeviceProduct {
  Result C;
  DeviceRun run;
};

/// C = A B. The values of A and B are converted to the type of the settings.
/// @throws UsageError for values that this type cannot hold, and for a plan that does not take the operands,
/// with the library's reason
DeviceProduct<RealMatrix> spmm_on_device(const RealRows& A, const RealMatrix& B,
                                         const DeviceSettings& settings);

/// C = A B, in double; the settings name no plan.
DeviceProduct<RealRows> spgemm_on_device(const RealRows& A, const RealRows& B,
                                         const DeviceSettings& settings);

/// The entries rounded to a type of value, as a product multiplies them.
Entries<double, 2> rounded_to(const Entries<double, 2>& entries, DeviceValue value);

}  // namespace sporos::tool
