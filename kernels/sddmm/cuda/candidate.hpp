// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// Dot products at the nonzeros of a sparse matrix on the GPU, as a candidate for statements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string_view>

#include "../../nest/bounds.hpp"
#include "../../protocol/candidate.hpp"
#include "sampled.hpp"
#include "sddmm.hpp"

namespace sporos::gpu {

/// A(i, j) = B(i, j) * C(i, k) * D(j, k), with A and B in CSR, CSC or COO, and C and D dense and stored along
/// either mode, batches of such products of matrices in CSR, A(b, i, j) = B(b, i, j) * C(b, i, k) *
/// D(b, j, k), and epilogues that keep zeros (kernels/epilogue/epilogue.hpp), by sddmm.hpp. A gets the
/// pattern of B, and shares B's arrays if they are reference counted.
///
/// Returns before the GPU has finished. Later work on the same space instance runs after it; copies to the
/// host and Kokkos::fence() wait for it.
struct SddmmByWarps {
  using Pattern = SddmmPattern<SampledOperands>;
  static constexpr std::string_view name = "SDDMM by warps";
  static constexpr std::string_view takes =
      "A(i, j) = B(i, j) * C(i, k) * D(j, k), or an epilogue of it that keeps zeros, A and B in the same "
      "CSR, CSC, COO or batches of CSR, C and D dense, in the memory of the GPU";
  static constexpr bool deterministic = true;
  static constexpr bool replaces_nest = true;

  template <class S>
  static constexpr bool matches = Pattern::matches<S>;

  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources) {
    const SampledProduct<S> product(statement);
    if (product.is_of_batches && product.columns() > std::numeric_limits<std::int32_t>::max())
      return Declined{"the columns of all matrices are counted in 32 bits"};
    return Cost{Plan<S>(statement, resources).seconds()};
  }

  template <class S>
  class Plan;
};

template <class S>
class SddmmByWarps::Plan {
  using Product = SampledProduct<S>;
  using Rows = typename Product::Rows;
  using Value = typename Product::Value;
  using T = typename Product::T;
  /// Whether a dense matrix is transposed first, to make the summed mode contiguous.
  static constexpr bool turn_c = Product::c_is_turned, turn_d = Product::d_is_turned;

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>&) : statement_(statement), product_(statement) {
    bounds_of(statement);  // throws ShapeError if extents do not match
  }

  /// The seconds that a product is expected to take, fitted on an H200 for half, within 15 %: the time that a
  /// warp waits or, with many nonzeros, the cost of these, whichever is longer; and transposing.
  double seconds() const {
    const auto nonzeros = static_cast<double>(product_.nonzeros());
    const auto inner = static_cast<double>(product_.inner());
    const double row_bytes = inner * sizeof(T);
    const auto turned = static_cast<double>(turned_bytes());
    return std::max(3.2e-6 + 15e-9 * inner, 3.1e-6 + 8e-9 * inner + nonzeros * (1e-11 + row_bytes / 8.5e12)) +
           turned / 1e12 + 2e-6 * static_cast<double>((turn_c + turn_d) * product_.matrices()) +
           (Product::is_of_batches ? 3e-6 + nonzeros * 1e-11 : 0);  // finding columns on the diagonal
  }

  /// Allocates what runs need.
  void prepare() { room_.prepare(statement_.resources().scratch(), room_bytes()); }
  void run() {
    product_.replace_result([&](Value* values) { compute(values); });
  }
  void refill() {
    if (product_.inner() > 0) compute(product_.result().values().data());
  }

  Bytes bytes() const {
    return {product_.nonzeros(), product_.sparse().bytes(), with_room_to_grow(room_bytes())};
  }
  void explain(std::ostream& out) const {
    out << "  result: a dot product at each nonzero of the sparse operand, whose pattern it shares, on CUDA "
           "cores";
    if (!Product::Epilogue::is_identity) out << ", the epilogue applied as they are stored";
    out << '\n';
    if (turn_c || turn_d)
      out << "  dense matrices are transposed first where the summed mode is not contiguous\n";
  }

 private:
  std::int64_t turned_bytes() const {
    Layout layout;
    if (turn_c) layout.template take<T>(product_.c().nnz());
    if (turn_d) layout.template take<T>(product_.d().nnz());
    return layout.bytes();
  }
  std::int64_t room_bytes() const { return turned_bytes() + Rows::found_bytes(product_.sparse()); }

  void compute(Value* values) {
    room_.with(statement_.resources().scratch(), room_bytes(),
               [&](char* memory) { compute(Layout(memory), values); });
  }
  void compute(Layout layout, Value* values) const {
    const Kokkos::Cuda& space = product_.space();
    const std::int64_t inner = product_.inner();
    const T* c = product_.c().values().data();  // [rows, inner]
    const T* d = product_.d().values().data();  // [columns, inner]
    if constexpr (turn_c) {
      T* const turned = layout.template take<T>(product_.c().nnz());
      transpose_each(inner, product_.rows_of_matrix(), c, turned);
      c = turned;
    }
    if constexpr (turn_d) {
      T* const turned = layout.template take<T>(product_.d().nnz());
      transpose_each(inner, product_.columns_of_matrix(), d, turned);
      d = turned;
    }
    const auto b = product_.by_rows(layout);
    sddmm(space, SddmmArguments{b.rows, b.nonzeros, inner, b.positions, b.coordinates, b.values, c, d, values,
                                product_.epilogue()});
  }

  /// Transposes the matrices [inner, rows] of all batches.
  void transpose_each(std::int64_t inner, std::int64_t rows, const T* from, T* to) const {
    for (std::int64_t at = 0; at < product_.matrices(); ++at)
      transpose(product_.space(), inner, rows, from + at * inner * rows, to + at * inner * rows);
  }

  const S& statement_;
  Product product_;
  RoomOfPlan room_;
};

}  // namespace sporos::gpu
