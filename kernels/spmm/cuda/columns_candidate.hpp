// SPDX-License-Identifier: Apache-2.0
/// @file columns_candidate.hpp
/// The product of a dense and a sparse matrix on the GPU, as a candidate for statements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../cuda/transpose.hpp"
#include "../../epilogue/sums_of_product.hpp"
#include "../../epilogue/target.hpp"
#include "../../nest/bounds.hpp"
#include "../../operands/cuda/operands.hpp"
#include "../../protocol/candidate.hpp"
#include "../../protocol/parts.hpp"
#include "../pattern.hpp"

namespace sporos::gpu {

/// Y(i, j) = X(i, k) * W(j, k), with W in CSR or CSC, X and Y dense, as in a layer whose weights are sparse;
/// or an epilogue of such a product (kernels/epilogue/epilogue.hpp); and results by columns. The sums are
/// computed with the rows of W as rows, T(j, i), by whichever candidate is fastest, and then transposed into
/// Y while the epilogue is applied. X is transposed first if it is stored along i.
///
/// Returns before the GPU has finished. Later work on the same space instance runs after it; copies to the
/// host and Kokkos::fence() wait for it.
struct SpmmIntoColumns {
  using Pattern = SpmmIntoColumnsPattern<GpuMatrixOperands>;
  static constexpr std::string_view name = "SpMM, its result transposed";
  static constexpr std::string_view takes =
      "C(i, j) = B(i, k) * A(j, k), or C by columns, A in CSR or CSC, B and C dense, in the memory of the "
      "GPU";
  static constexpr bool deterministic = true;
  static constexpr bool replaces_nest = true;

  template <class S>
  static constexpr bool matches = Pattern::matches<S>;

  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources) {
    // Seconds of transposing the result, and X if it is not stored as the kernel reads it, as measured:
    // starting, and each element of the result.
    const double pass = 3.8e-6 + static_cast<double>(statement.result().tensor().nnz()) * 2.5e-12;
    const Cost sums = least_cost(Plan<S>(statement, resources).sums());
    return Cost{sums.once + pass, sums.again + pass};
  }

  template <class S>
  class Plan;
};

namespace detail {

/// Stores what the epilogue makes of the sum of an element, whose coordinates are given by level.
template <bool IsByColumns, class Sum, class Out, class E>
struct StoreTransposedSums {
  Out* values;  ///< [lines, length]
  std::int64_t length;
  bool accumulates;
  E epilogue;

  SPOROS_MAY_CALL_HOST
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t line, std::int64_t at, const Sum& sum) const {
    Out& to = values[line * length + at];
    auto value = IsByColumns ? epilogue(sum, at, line) : epilogue(sum, line, at);
    if (accumulates) value = plus(static_cast<Sum>(static_cast<accumulate_t<Out>>(to)), value);
    to = static_cast<Out>(static_cast<accumulate_t<Out>>(value));
  }
};

}  // namespace detail

template <class S>
class SpmmIntoColumns::Plan {
  using Result = typename S::result_type;
  using Out = typename Result::value_type;
  using Sparse = std::remove_cvref_t<decltype(Pattern::sparse(std::declval<const S&>()))>;
  using Sum = detail::compute_of<S>;
  using Sums = Tensor<Sum, DenseMatrix<>, Kokkos::Cuda>;
  static constexpr bool is_by_columns = Result::level_names[0] != Result::names[0];
  /// The variable of the sparse operand's rows, and the other one of the result.
  static constexpr bool is_of_rows = Sparse::names.contains(Result::names[0]);
  static constexpr char row = Result::names[is_of_rows ? 0 : 1], column = Result::names[is_of_rows ? 1 : 0];
  static constexpr bool is_turned = Result::level_names[0] != row;
  using SumsAccess = Access<Sums, row, column>;

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>&)
      : statement_(statement),
        product_(statement, SumsAccess(sums_), bytes_of_sums() + EpilogueTarget<S>::bytes(statement)) {
    bounds_of(statement);  // throws ShapeError if extents do not match
    place_sums(nullptr);
  }

  /// The statement that computes the sums.
  auto sums() const { return product_.statement(); }

  /// Analyses the product while the sums have their memory, as in runs: the product gets other memory.
  void prepare() {
    room_.with(statement_.resources().scratch(), array_bytes<Sum>(result().nnz()),
               [&](char*) { product_.prepare(); });
  }
  void run() {
    compute([&] { product_.run(); });
  }
  void refill() {
    compute([&] { product_.refill(); });
  }

  Bytes bytes() const {
    return {result().nnz(), result().bytes(),
            product_.workspace_bytes() + bytes_of_sums() + EpilogueTarget<S>::bytes(statement_)};
  }
  std::int64_t held_bytes() const { return product_.held_bytes(); }

  void explain(std::ostream& out) const {
    product_.explain(out);
    out << "  result: " << (is_turned ? "transposed from the sums" : "copied from the sums") << '\n';
  }

 private:
  const auto& result() const { return statement_.result().tensor(); }
  std::int64_t bytes_of_sums() const { return with_room_to_grow(array_bytes<Sum>(result().nnz())); }

  /// @param values  null between runs
  void place_sums(Sum* values) const {
    const std::int64_t rows = result().extent(is_of_rows ? 0 : 1),
                       columns = result().extent(is_of_rows ? 1 : 0);
    sums_.replace({rows, columns}, {{rows}, {columns}},
                  Array<Sum, Memory>(values, static_cast<std::size_t>(rows * columns)));
  }
  template <class F>
  void compute(const F& sum) {
    if (result().nnz() == 0) return;
    room_.with(statement_.resources().scratch(), array_bytes<Sum>(result().nnz()), [&](char* memory) {
      place_sums(reinterpret_cast<Sum*>(memory));
      sum();
      finish();
      place_sums(nullptr);
    });
  }
  void finish() const {
    const auto epilogue = epilogue_of(statement_);
    const auto& sums = sums_;
    const EpilogueTarget<S> target(statement_);
    if constexpr (is_turned) {
      const detail::StoreTransposedSums<is_by_columns, Sum, Out, std::remove_const_t<decltype(epilogue)>>
          store{target.data(), sums.extent(0), statement_.accumulates(), epilogue};
      for_each_transposed(statement_.resources().space(), sums.extent(0), sums.extent(1),
                          static_cast<const Sum*>(sums.values().data()), store);
    } else {
      apply_epilogue(statement_, static_cast<const Sum*>(sums.values().data()), target.data());
    }
    target.finish();
  }

  const S& statement_;
  Sums sums_;
  RoomOfPlan room_;  ///< for the sums
  sporos::detail::SumsOfProduct<S, SumsAccess> product_;
};

}  // namespace sporos::gpu
