// SPDX-License-Identifier: Apache-2.0
/// @file spmm_of.hpp
/// The template that implements device_spmm.hpp: operands in the form that each plan takes, and the
/// statement.
#pragma once

#include <sporos/core/index.hpp>
#include <sporos/formats/convert.hpp>
#include <sporos/kernels/spmm/cuda/dot_products_candidate.hpp>
#include <type_traits>

#include "../device_spmm.hpp"
#include "operands_of.hpp"
#include "statement_run.hpp"

namespace sporos::tool {

template <class Value>
class DeviceSpmm : DeviceOperands<Value> {
  using DeviceOperands<Value>::a_;
  using DeviceOperands<Value>::b_;
  using DeviceOperands<Value>::settings_;
  using DeviceOperands<Value>::out_;
  using typename DeviceOperands<Value>::Sum;

 public:
  using DeviceOperands<Value>::DeviceOperands;

  DeviceProduct<RealMatrix> run() {
    out_.run.rounding = rounding_of_sums<Value>();
    switch (settings_.plan) {
      case DevicePlan::automatic:
        if (b_.extent(1) != 1) expect_split_floats();
        b_.extent(1) == 1 ? spmv() : spmm();
        break;
      case DevicePlan::rows:
        spmm_by<gpu::SpmmByGroups>();
        break;
      case DevicePlan::padded:
        spmm_by<gpu::SpmmByPaddedRows>();
        break;
      case DevicePlan::window:
        spmm_by<gpu::SpmmByWindows>();
        break;
      case DevicePlan::tiles:
        expect_split_floats();
        spmm_by<std::conditional_t<std::is_same_v<Value, float>, gpu::SpmmBySplitTiles,
                                   gpu::SpmmOnTensorCores>>();
        break;
      case DevicePlan::tca:
        // tf32 has 11 digits.
        if (std::is_same_v<Value, float>)
          out_.run.rounding = {.sum = 0x1p-23, .term = 0x1p-9, .least = 0x1p-126};
        spmm_by<gpu::SpmmByDotProducts>();
        break;
      case DevicePlan::dense:
        spmm_by<gpu::SpmmByCublas>();
        break;
      case DevicePlan::two_four:
        two_four();
        break;
      default:
        throw InternalError("a plan for N:M sparsity is none of those for CSR");
    }
    return std::move(out_);
  }

 private:
  /// Tensor cores multiply floats that have been split: split_tiles.hpp.
  void expect_split_floats() {
    if (std::is_same_v<Value, float>)
      out_.run.rounding = {.sum = 0x1p-24, .term = 3 * 0x1p-20, .least = 0x1p-126};
  }

  void spmv() {
    using namespace sporos::indices;
    const Tensor<Value, DenseVector> x({b_.extent(0)}, {}, b_.values());
    const auto A = copied(a_, out_.run);
    const auto device_x = copied(x, out_.run);
    const Tensor<Sum, DenseVector, Cuda> y({A.extent(0)});
    run_statement(assign(y(i), A(i, j) * device_x(j)).with_constant_operands(), settings_, out_.run,
                  [](auto& product) { product.run(); });
    finish(A, device_x, y);
  }

  void spmm() {
    compute(a_, [&](const auto& statement) {
      run_statement(statement, settings_, out_.run, [](auto& product) { product.run(); });
    });
  }

  template <class Candidate>
  void spmm_by() {
    compute(a_, [&](const auto& statement) { run_statement_by<Candidate>(statement, settings_, out_.run); });
  }

  void two_four() {
    if constexpr (is_narrow_float_v<Value>) {
      compute(in_windows(), [&](const auto& statement) {
        run_statement_by<gpu::TwoFourOnTensorCores, gpu::TwoFourByWarps>(statement, settings_, out_.run);
      });
    } else {
      throw UsageError(text("--plan 2:4 does not take values of type ", to_string(settings_.value),
                            ": give --type half or bfloat16"));
    }
  }
  Tensor<Value, TwoFour> in_windows() const {
    try {
      return convert<TwoFour>(a_);
    } catch (const FormatError& error) {
      throw UsageError(text("--plan 2:4: ", error.what(), "; `sporos prune` keeps the largest of each four"));
    }
  }

  /// Gives `run` the statement with its operands on the GPU, and keeps the result.
  template <class Left, class Run>
  void compute(const Left& left, const Run& run) {
    using namespace sporos::indices;
    const auto A = copied(left, out_.run);
    const auto B = copied(b_, out_.run);
    const Tensor<Sum, DenseMatrix<>, Cuda> C({A.extent(0), B.extent(1)});
    run(assign(C(i, j), A(i, k) * B(k, j)).with_constant_operands());
    finish(A, B, C);
  }

  template <class A, class B, class C>
  void finish(const A& a, const B& b, const C& c) {
    out_.run.A = stored_on_device(a);
    out_.run.B = stored_on_device(b);
    out_.run.C = stored_on_device(c);
    const auto sums = c.template copy_to<Host>();
    out_.C = RealMatrix({a.extent(0), b_.extent(1)});
    for (std::int64_t q = 0; q < sums.nnz(); ++q) out_.C.values()(q) = static_cast<double>(sums.values()(q));
  }
};

template <class Value>
DeviceProduct<RealMatrix> device_spmm(const RealRows& A, const RealMatrix& B,
                                      const DeviceSettings& settings) {
  return DeviceSpmm<Value>(A, B, settings).run();
}

}  // namespace sporos::tool
