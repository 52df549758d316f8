// SPDX-License-Identifier: Apache-2.0
/// @file device_settings.hpp
/// What the options of the command line say of a product on the GPU.
#pragma once

#include <optional>
#include <sporos/formats/prune_entries.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sporos::tool {

struct DeviceOptions;

/// What computes C(i, j) = A(i, k) * B(k, j), A sparse and B dense: "auto", the library's choice for A in CSR
/// and, where B is one column, SpMV; "rows", CUDA cores by rows of A; "window", tensor cores by tiles of A
/// that have nonzeros; "tca", tensor cores by dot products, TCA-SpMM; "dense", cuBLAS, A with its zeros;
/// "2:4", sparse tensor cores; "N:M" or "N:M/L", the kernels for N:M sparsity, of which windows_of tells.
enum class DevicePlan {
  automatic,
  rows,
  window,
  tca,
  dense,
  two_four,
  one_of_4,
  two_of_8,
  four_of_32,
  eight_of_32,
  sixteen_of_32
};

/// The values that are multiplied: "double", "float", "half", "bfloat16". Those of 16 bits are added up in
/// float.
enum class DeviceValue { real64, real32, real16, brain16 };

std::string_view to_string(DevicePlan plan);
std::string_view to_string(DeviceValue value);

/// Of a plan for N:M sparsity, what A may hold: of each `window` neighbours in a row `kept` at most, in each
/// `unit` neighbouring rows at the same places. None for other plans, 2:4 among them.
std::optional<Windows> windows_of(DevicePlan plan);

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

}  // namespace sporos::tool
