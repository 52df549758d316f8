// SPDX-License-Identifier: Apache-2.0
/// @file device_product.hpp
/// Products on the GPU: their settings by name, and what the code for it, in cuda/, computes.
#pragma once

#include <optional>
#include <sporos/core/tensor.hpp>
#include <sporos/formats/named.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "device.hpp"
#include "product.hpp"
#include "spmv_run.hpp"
#include "stored.hpp"
#include "timing.hpp"

namespace sporos::tool {

using RealMatrix = Tensor<double, DenseMatrix<>>;

/// What computes C(i, j) = A(i, k) * B(k, j), A sparse and B dense: "auto", the library's choice for A in CSR
/// and, where B is one column, SpMV; "rows", CUDA cores by rows of A; "window", tensor cores by tiles of A
/// that have nonzeros; "tca", tensor cores by dot products, TCA-SpMM; "dense", cuBLAS, A with its zeros;
/// "2:4", sparse tensor cores.
enum class DevicePlan { automatic, rows, window, tca, dense, two_four };

/// The values that are multiplied: "double", "float", "half", "bfloat16". Those of 16 bits are added up in
/// float.
enum class DeviceValue { real64, real32, real16, brain16 };

std::string_view to_string(DevicePlan plan);
std::string_view to_string(DeviceValue value);

/// All plans, in the order in which they are reported.
std::vector<DevicePlan> device_plans();

/// The settings of a product on the GPU.
struct DeviceSettings {
  DevicePlan plan = DevicePlan::automatic;
  DeviceValue value = DeviceValue::real64;
  int repeats = 1;       ///< 0: it is planned, not run
  bool explain = false;  ///< say what the library says of the statement
};

/// The settings that options name; none for the host.
/// @throws UsageError for unknown names, for choices of a GPU without --space cuda, and for that if the
/// program was built without CUDA
std::optional<DeviceSettings> device_settings(const DeviceOptions& options);

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
