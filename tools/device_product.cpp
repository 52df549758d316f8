// SPDX-License-Identifier: Apache-2.0
/// @file device_product.cpp
/// Selects the code that was compiled for a type of value.
#include "device_product.hpp"

#include <sporos/formats/value_cast.hpp>

#include "device_spmm.hpp"

namespace sporos::tool {
namespace {

template <class Value>
void round(double& value) {
  Value narrow{};
  value_cast(value, narrow);
  value = static_cast<double>(static_cast<accumulate_t<Value>>(narrow));
}

}  // namespace

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
namespace {

template <class Value>
DeviceProduct<RealMatrix> product_of(const RealRows& A, const RealMatrix& B, const DeviceSettings& settings) {
  return windows_of(settings.plan) ? device_n_of_m<Value>(A, B, settings)
                                   : device_spmm<Value>(A, B, settings);
}

}  // namespace

DeviceProduct<RealMatrix> spmm_on_device(const RealRows& A, const RealMatrix& B,
                                         const DeviceSettings& settings) {
  switch (settings.value) {
    case DeviceValue::real32:
      return product_of<float>(A, B, settings);
    case DeviceValue::real16:
      return product_of<half>(A, B, settings);
    case DeviceValue::brain16:
      return product_of<bfloat16>(A, B, settings);
    case DeviceValue::real64:
      break;
  }
  return product_of<double>(A, B, settings);
}
#else
// Not reached: device_settings has already refused --space cuda.
DeviceProduct<RealMatrix> spmm_on_device(const RealRows&, const RealMatrix&, const DeviceSettings&) {
  throw InternalError("a program without CUDA is asked for a product on a GPU");
}
DeviceProduct<RealRows> spgemm_on_device(const RealRows&, const RealRows&, const DeviceSettings&) {
  throw InternalError("a program without CUDA is asked for a product on a GPU");
}
#endif

}  // namespace sporos::tool
