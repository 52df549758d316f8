// SPDX-License-Identifier: Apache-2.0
/// @file n_of_m_of.hpp
/// The template that implements device_n_of_m of device_spmm.hpp: A in the format for each plan, and the
/// statement.
#pragma once

#include <sporos/core/index.hpp>
#include <sporos/formats/convert.hpp>
#include <sporos/formats/named.hpp>
#include <type_traits>

#include "../device_spmm.hpp"
#include "operands_of.hpp"
#include "statement_run.hpp"

namespace sporos::tool {

/// The kernels for N:M sparsity take the sparse factor on the right, so the transpose of C is computed, from
/// the transposes of B, which is B by columns, and of A, whose windows lie along the summed mode.
template <class Value>
class DeviceNofM : DeviceOperands<Value> {
  using DeviceOperands<Value>::a_;
  using DeviceOperands<Value>::b_;
  using DeviceOperands<Value>::settings_;
  using DeviceOperands<Value>::out_;
  using typename DeviceOperands<Value>::Sum;

 public:
  using DeviceOperands<Value>::DeviceOperands;

  DeviceProduct<RealMatrix> run() {
    out_.run.rounding = rounding_of_sums<Value>();
    // On tensor cores, a float is represented by two halfs, with 22 digits.
    if (std::is_same_v<Value, float>) out_.run.rounding.term = 0x1p-20;
    switch (settings_.plan) {
      case DevicePlan::one_of_4:
        multiply<NM<1, 4, 1, 1>>();
        break;
      case DevicePlan::two_of_8:
        multiply<NM<2, 8, 1, 1>>();
        break;
      case DevicePlan::four_of_32:
        multiply<NM<4, 32, 32, 1>>();
        break;
      case DevicePlan::eight_of_32:
        multiply<NM<8, 32, 32, 1>>();
        break;
      case DevicePlan::sixteen_of_32:
        multiply<NM<16, 32, 32, 1>>();
        break;
      default:
        throw InternalError("a plan that is not for N:M sparsity");
    }
    return std::move(out_);
  }

 private:
  template <class F>
  Tensor<Value, F> in_windows() const {
    try {
      return convert<F>(a_);
    } catch (const FormatError& error) {
      const Windows windows = *windows_of(settings_.plan);
      throw UsageError(text("--plan ", to_string(settings_.plan), ": ", error.what(),
                            "; `sporos prune --keep ", windows.kept, ":", windows.window,
                            windows.unit > 1 ? text(" --unit ", windows.unit) : "", "` keeps the largest"));
    }
  }

  template <class F>
  void multiply() {
    using namespace sporos::indices;
    const auto A = copied(in_windows<F>(), out_.run);
    const auto B = copied(b_, out_.run);
    const Tensor<Sum, DenseMatrix<>, Cuda> C({b_.extent(1), a_.extent(0)});  // the transpose
    run_statement(assign(C(j, i), B(k, j) * A(i, k)).with_constant_operands(), settings_, out_.run,
                  [](auto& product) { product.run(); });
    out_.run.A = stored_on_device(A);
    out_.run.B = stored_on_device(B);
    out_.run.C = stored_on_device(C);
    const auto sums = C.template copy_to<Host>();
    out_.C = RealMatrix({a_.extent(0), b_.extent(1)});
    for (std::int64_t row = 0; row < a_.extent(0); ++row)
      for (std::int64_t column = 0; column < b_.extent(1); ++column)
        out_.C.values()(row * b_.extent(1) + column) =
            static_cast<double>(sums.values()(column * a_.extent(0) + row));
  }
};

template <class Value>
DeviceProduct<RealMatrix> device_n_of_m(const RealRows& A, const RealMatrix& B,
                                        const DeviceSettings& settings) {
  return DeviceNofM<Value>(A, B, settings).run();
}

}  // namespace sporos::tool
