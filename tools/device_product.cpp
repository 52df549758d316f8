// SPDX-License-Identifier: Apache-2.0
/// @file device_product.cpp
/// Settings by name, and the choice of the code that is compiled for a type of value.
#include "device_product.hpp"

#include <array>
#include <sporos/formats/value_cast.hpp>

#include "command.hpp"
#include "device_spmm.hpp"

namespace sporos::tool {
namespace {

template <class Choice>
struct Name {
  Choice choice;
  std::string_view name;
};
constexpr std::array spaces = {Name<bool>{false, "host"}, Name<bool>{true, "cuda"}};  // whether it is the GPU
constexpr std::array plans = {
    Name<DevicePlan>{DevicePlan::automatic, "auto"}, Name<DevicePlan>{DevicePlan::rows, "rows"},
    Name<DevicePlan>{DevicePlan::window, "window"},  Name<DevicePlan>{DevicePlan::tca, "tca"},
    Name<DevicePlan>{DevicePlan::dense, "dense"},    Name<DevicePlan>{DevicePlan::two_four, "2:4"}};
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

template <class Value>
void round(double& value) {
  Value narrow{};
  value_cast(value, narrow);
  value = static_cast<double>(static_cast<accumulate_t<Value>>(narrow));
}

}  // namespace

std::string_view to_string(DevicePlan plan) { return name_of(plans, plan); }
std::string_view to_string(DeviceValue value) { return name_of(values, value); }

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

Entries<double, 2> rounded_to(const Entries<double, 2>& entries, DeviceValue value) {
  if (value == DeviceValue::real64) return entries;
  const auto round_as = value == DeviceValue::real32   ? round<float>
                        : value == DeviceValue::real16 ? round<half>
                                                       : round<bfloat16>;
  Entries<double, 2> out(entries.extents, 0);
  out.coordinates = entries.coordinates;
  out.values = make_array<double>("sporos::rounded", entries.size());
  for (std::size_t q = 0; q < out.values.extent(0); ++q) {
    out.values(q) = entries.values(q);
    round_as(out.values(q));
  }
  return out;
}

#ifdef KOKKOS_ENABLE_CUDA
DeviceProduct<RealMatrix> spmm_on_device(const RealRows& A, const RealMatrix& B,
                                         const DeviceSettings& settings) {
  switch (settings.value) {
    case DeviceValue::real32:
      return device_spmm<float>(A, B, settings);
    case DeviceValue::real16:
      return device_spmm<half>(A, B, settings);
    case DeviceValue::brain16:
      return device_spmm<bfloat16>(A, B, settings);
    case DeviceValue::real64:
      break;
  }
  return device_spmm<double>(A, B, settings);
}
#else
// device_settings refuses --space cuda before.
DeviceProduct<RealMatrix> spmm_on_device(const RealRows&, const RealMatrix&, const DeviceSettings&) {
  throw InternalError("a program without CUDA is asked for a product on a GPU");
}
DeviceProduct<RealRows> spgemm_on_device(const RealRows&, const RealRows&, const DeviceSettings&) {
  throw InternalError("a program without CUDA is asked for a product on a GPU");
}
#endif

}  // namespace sporos::tool
