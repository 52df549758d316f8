// SPDX-License-Identifier: Apache-2.0
/// @file device_settings.hpp
/// The settings of a product on the GPU, as given by command-line options.
#pragma once

#include <optional>
#include <sporos/formats/prune_entries.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sporos::tool {

struct DeviceOptions;

/// What computes C(i, j) = A(i, k) * B(k, j), A sparse and B dense: "auto", the library's choice for A in CSR
/// and, if B is one column, SpMV; "rows", CUDA cores by rows of A; "padded", the same with rows that a plan
/// has padded and sorted by their lengths; "window", tensor cores by the columns that neighbouring rows of A
/// share; "tiles", tensor cores by tiles of A that have nonzeros; "tca", tensor cores by dot products,
/// TCA-SpMM; "dense", cuBLAS, with A's zeros stored; "2:4", sparse tensor cores; "N:M" or "N:M/L", the
/// kernels for N:M sparsity, see windows_of.
enum class DevicePlan {
  automatic,
  rows,
  padded,
  window,
  tiles,
  tca,
  dense,
  two_four,
  one_of_4,
  two_of_8,
  four_of_32,
  eight_of_32,
  sixteen_of_32
};

/// The type of the values that are multiplied: "double", "float", "half", "bfloat16". 16-bit values are
/// summed in float.
enum class DeviceValue { real64, real32, real16, brain16 };

std::string_view to_string(DevicePlan plan);
std::string_view to_string(DeviceValue value);

/// What A may hold if a plan is for N:M sparsity: at most `kept` of each `window` neighbours in a row, at the
/// same places in each `unit` neighbouring rows. Empty for other plans, including 2:4.
std::optional<Windows> windows_of(DevicePlan plan);

/// All plans, in the order in which they are reported.
std::vector<DevicePlan> device_plans();

/// The settings of a product on the GPU.
struct DeviceSettings {
  DevicePlan plan = DevicePlan::automatic;
  DeviceValue value = DeviceValue::real64;
  int repeats = 1;       ///< 0: it is planned but not run
  bool explain = false;  ///< report the library's explanation of the statement
};

/// The settings named by options; empty for the host.
/// @throws UsageError for unknown names, for choices that apply to a GPU without --space cuda, and for
/// --space cuda if the program was built without CUDA
std::optional<DeviceSettings> device_settings(const DeviceOptions& options);

}  // namespace sporos::tool
