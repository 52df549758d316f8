// SPDX-License-Identifier: Apache-2.0
/// @file device_settings.cpp
/// Converts names to settings.
#include "device_settings.hpp"

#include <Kokkos_Macros.hpp>
#include <array>
#include <sporos/core/error.hpp>

#include "command.hpp"
#include "device.hpp"

namespace sporos::tool {
namespace {

template <class Choice>
struct Name {
  Choice choice;
  std::string_view name;
};
constexpr std::array spaces = {Name<bool>{false, "host"}, Name<bool>{true, "cuda"}};  // whether it is the GPU
constexpr std::array plans = {Name<DevicePlan>{DevicePlan::automatic, "auto"},
                              Name<DevicePlan>{DevicePlan::rows, "rows"},
                              Name<DevicePlan>{DevicePlan::padded, "padded"},
                              Name<DevicePlan>{DevicePlan::window, "window"},
                              Name<DevicePlan>{DevicePlan::tiles, "tiles"},
                              Name<DevicePlan>{DevicePlan::tca, "tca"},
                              Name<DevicePlan>{DevicePlan::dense, "dense"},
                              Name<DevicePlan>{DevicePlan::two_four, "2:4"},
                              Name<DevicePlan>{DevicePlan::one_of_4, "1:4"},
                              Name<DevicePlan>{DevicePlan::two_of_8, "2:8"},
                              Name<DevicePlan>{DevicePlan::four_of_32, "4:32/32"},
                              Name<DevicePlan>{DevicePlan::eight_of_32, "8:32/32"},
                              Name<DevicePlan>{DevicePlan::sixteen_of_32, "16:32/32"}};
constexpr std::array values = {
    Name<DeviceValue>{DeviceValue::real64, "double"}, Name<DeviceValue>{DeviceValue::real32, "float"},
    Name<DeviceValue>{DeviceValue::real16, "half"}, Name<DeviceValue>{DeviceValue::brain16, "bfloat16"}};

template <class Names, class Choice>
std::string_view name_of(const Names& names, Choice choice) {
  for (const auto& known : names)
    if (known.choice == choice) return known.name;
  return "unknown";
}

template <class Names>
auto named(const Names& names, std::string_view what, std::string_view name) {
  std::string expected;
  for (const auto& known : names) {
    if (known.name == name) return known.choice;
    expected += (expected.empty() ? "" : &known == &names.back() ? " or " : ", ") + std::string(known.name);
  }
  throw UsageError(text("no ", what, " is called ", name, "; expected ", expected));
}

}  // namespace

std::string_view to_string(DevicePlan plan) { return name_of(plans, plan); }
std::string_view to_string(DeviceValue value) { return name_of(values, value); }

std::optional<Windows> windows_of(DevicePlan plan) {
  switch (plan) {
    case DevicePlan::one_of_4:
      return Windows{.kept = 1, .window = 4, .unit = 1};
    case DevicePlan::two_of_8:
      return Windows{.kept = 2, .window = 8, .unit = 1};
    case DevicePlan::four_of_32:
      return Windows{.kept = 4, .window = 32, .unit = 32};
    case DevicePlan::eight_of_32:
      return Windows{.kept = 8, .window = 32, .unit = 32};
    case DevicePlan::sixteen_of_32:
      return Windows{.kept = 16, .window = 32, .unit = 32};
    default:
      return std::nullopt;
  }
}

std::vector<DevicePlan> device_plans() {
  std::vector<DevicePlan> all;
  for (const auto& known : plans) all.push_back(known.choice);
  return all;
}

std::optional<DeviceSettings> device_settings(const DeviceOptions& options) {
  const bool on_device = named(spaces, "space", options.space);
  const DeviceSettings out{.plan = named(plans, "plan", options.plan),
                           .value = named(values, "type of value", options.value)};
  if (!on_device) {
    if (out.plan != DevicePlan::automatic || out.value != DeviceValue::real64)
      throw UsageError("--plan and --type say what the GPU multiplies, and how: they go with --space cuda");
    return std::nullopt;
  }
#ifdef KOKKOS_ENABLE_CUDA
  return out;
#else
  throw UsageError(
      "--space cuda: this program was built without CUDA; scripts/bootstrap --cuda and cmake --preset cuda "
      "make one with it");
#endif
}

}  // namespace sporos::tool
