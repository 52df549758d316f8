// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of two sparse matrices by rows, on the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../../core/pool.hpp"
#include "../../../core/statement.hpp"
#include "../../../formats/storage_bound.hpp"
#include "../../../workspace/dense.hpp"
#include "../../nest/bounds.hpp"
#include "../../nest/work.hpp"
#include "../../operands/by_rows.hpp"
#include "../../operands/host/operands.hpp"
#include "../../protocol/candidate.hpp"
#include "../../protocol/compute_type.hpp"
#include "../pattern.hpp"
#include "factor_by_rows.hpp"
#include "multiply.hpp"

namespace sporos {

/// A(i, j) = B(i, k) * C(k, j), each in CSR or CSC in host memory, for any order of the loops.
///
/// A result in CSC is computed as its transpose, A'(j, i) = C'(j, k) * B'(k, i), whose rows are the columns
/// of A. Factors not stored by the rows that this needs are copied first, in time linear in their nonzeros:
/// scattering each product, as loops with k outermost do, is slower as soon as there are more products than
/// nonzeros.
struct SpgemmByRows {
  using Pattern = SpgemmPattern<detail::SparseMatrixOperands>;
  static constexpr std::string_view name = "SpGEMM by rows";
  static constexpr std::string_view takes = "A(i, j) = B(i, k) * C(k, j), each in CSR or CSC in host memory";
  static constexpr bool deterministic = true;
  static constexpr std::string_view less_memory =
      "compute it in parts, or one row at a time, with .generic().workspace(sorted_workspace)";

  /// The nest remains for rows too long for a dense accumulator, which have 64-bit coordinates.
  template <class S>
  static constexpr bool replaces_nest_for =
      sizeof(typename S::result_type::format::template level<1>::coordinate_type) < sizeof(std::int64_t);

  template <class S>
  static constexpr bool matches = Pattern::matches<S> && is_complex_like_result<S>;

  template <class S>
  static Offer cost(const S& statement, const Resources<typename S::space_type>&) {
    constexpr double seconds_of_term = 1e-9, seconds_of_copy = 10e-9;
    using Result = typename S::result_type;
    const auto extents = Result::format::level_extents(statement.result().tensor().extents());
    if (!replaces_nest_for<S> && !fits_dense(extents[1], sizeof(typename Result::value_type)))
      return Declined{"the rows of the result are too long for a dense accumulator"};
    std::int64_t copied = 0;
    if constexpr (Factors<S>::First::is_copied) copied += Factors<S>::first(statement).nnz();
    if constexpr (Factors<S>::Second::is_copied) copied += Factors<S>::second(statement).nnz();
    return Cost{detail::expected_terms(statement) * seconds_of_term +
                static_cast<double>(copied) * seconds_of_copy};
  }

  /// The product that is computed: that of the statement, or its transpose.
  template <class S>
  using InOrder = OperandsByRows<Pattern, !SparseRowsMatrix<typename S::result_type::tensor_type>>;
  template <class S>
  struct Factors : InOrder<S> {
    template <class Tensor>
    using Rows = detail::FactorByRows<std::remove_cvref_t<Tensor>, InOrder<S>::is_transposed>;
    using First = Rows<decltype(InOrder<S>::first(std::declval<S>()))>;
    using Second = Rows<decltype(InOrder<S>::second(std::declval<S>()))>;
  };

  template <class S>
  class Plan;
};

template <class S>
class SpgemmByRows::Plan {
  using Space = typename S::space_type;
  using Of = Factors<S>;
  using B = typename Of::First::Rows;
  using C = typename Of::Second::Rows;
  using Value = typename S::result_type::value_type;
  using Format = typename S::result_type::format;
  using Level = typename Format::template level<1>;
  using Acc = detail::product_accumulate_t<Value, typename B::value_type, typename C::value_type>;
  using Product =
      detail::ProductByRows<Acc, B, C, Value, typename Level::position_type, typename Level::coordinate_type>;

 public:
  Plan(const S& statement, const Resources<Space>& resources) : statement_(statement), resources_(resources) {
    bounds_of(statement);
  }

  void prepare() { analyse(); }

  /// The bytes of copies of the factors, which are made before anything else is known.
  std::int64_t bytes_to_plan() const {
    return Of::First::most_bytes(Of::first(statement_)) + Of::Second::most_bytes(Of::second(statement_));
  }

  void run() {
    read();
    detail::replace_rows(statement_.result().tensor(), product_->compute());
  }

  void refill() {
    const std::int64_t left = read_values();
    const auto& result = statement_.result().tensor();
    const auto pattern = result.template level<1>().view();
    product_->refill(first_.rows(), second_.rows(), pattern.positions, pattern.coordinates,
                     result.values().data(), S::schedule::is_deterministic, left);
  }

  Bytes bytes() const {
    analyse();
    const StorageBound bound =
        storage_bound<Format, Value>(statement_.result().tensor().extents(), product_->most_elements());
    return {bound.values, bound.bytes, product_->most_bytes() - bound.bytes + bytes_to_plan()};
  }
  std::int64_t held_bytes() const {
    return product_->held_bytes() + first_.held_bytes() + second_.held_bytes();
  }
  void explain(std::ostream& out) const {
    constexpr int copies = Of::First::is_copied + Of::Second::is_copied;
    if constexpr (copies > 0)
      out << "  operands: "
          << (copies == 2                                 ? "both are"
              : Of::First::is_copied != Of::is_transposed ? "the left one is"
                                                          : "the right one is")
          << " copied by " << (Of::is_transposed ? "columns" : "rows") << " first\n";
    out << "  result: gathered " << (Of::is_transposed ? "column by column" : "row by row")
        << " in a dense accumulator; " << (Of::is_transposed ? "columns" : "rows")
        << " with similar patterns are computed together\n";
  }

 private:
  /// Reads the factors, whose arrays may have been replaced.
  void read() {
    if (!is_analysed_) {
      analyse();
    } else {
      read_factors();
      product_->read(first_.rows(), second_.rows());
    }
  }
  /// Reads the values of the factors, whose patterns are those that were analysed.
  /// @return how many of the bytes that refills may keep are left
  std::int64_t read_values() {
    if (!is_analysed_) analyse();
    std::int64_t left = most_for_places_;
    first_.refill(resources_.space(), Of::first(statement_), left);
    left -= first_.held_for_refills();
    second_.refill(resources_.space(), Of::second(statement_), left);
    left -= second_.held_for_refills();
    product_->read(first_.rows(), second_.rows());
    return left;
  }
  /// Analyses the patterns at the first call.
  void analyse() const {
    if (is_analysed_) return;
    read_factors();
    product_.emplace(resources_.space(), first_.rows(), second_.rows());
    // Similar rows are marked in arrays, for which there may be no room.
    const std::int64_t marks = Product::bytes_of_marks(first_.rows(), second_.rows());
    product_->prepare(marks <= resources_.memory_limit() - bytes_to_plan());
    is_analysed_ = true;
    const Bytes needed = bytes();
    most_for_places_ =
        std::min(resources_.memory_limit() - needed.result - needed.workspace, Pool::machine_bytes() / 4);
  }
  void read_factors() const {
    first_.read(resources_.space(), Of::first(statement_));
    second_.read(resources_.space(), Of::second(statement_));
  }

  const S& statement_;
  const Resources<Space>& resources_;
  mutable typename Of::First first_;
  mutable typename Of::Second second_;
  mutable std::optional<Product> product_;
  mutable bool is_analysed_ = false;
  mutable std::int64_t most_for_places_ = 0;  ///< bytes
};

}  // namespace sporos
