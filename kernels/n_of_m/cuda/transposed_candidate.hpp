// SPDX-License-Identifier: Apache-2.0
/// @file transposed_candidate.hpp
/// The product of an N:M sparse and a dense matrix on the GPU, as a candidate for statements.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../cuda/transpose.hpp"
#include "../../protocol/demands.hpp"
#include "../../protocol/parts.hpp"
#include "blocks_candidate.hpp"
#include "candidate.hpp"

namespace sporos::gpu {

namespace detail {

/// A statement that assigns the right side of another one to the transpose of its result.
/// @tparam To    the access to the transpose
/// @param bytes  size of the transpose, if it is allocated for the statement
template <class To, class S>
auto transposed(const S& statement, const typename To::tensor_type& to, std::int64_t bytes) {
  const auto product = sporos::detail::with_demands_of(statement, assign(To(to), statement.right()), bytes);
  return statement.accumulates() ? product.accumulate() : product;
}

}  // namespace detail

/// C(i, j) = B(i, k) * A(k, j) or B(k, i) * A(k, j), with B in NM<N, M, L, 1> or NM<N, M, L> with windows
/// along k, and A and C dense and stored along either mode; or C(i, j) = A(i, k) * B(k, j) with C by columns,
/// unless NmByGathering stores it so; or an epilogue of such a product: all those whose result NmByGathering
/// and NmByBlocks would compute transposed.
///
/// One of these computes the transpose, epilogue included. If that is how C is stored - by columns, with B on
/// the left - it goes there directly, and so it does if NmByGathering can store it by columns; otherwise it
/// goes to working memory and is transposed from there.
///
/// Returns before the GPU has finished. Later work on the same space instance runs after it; copies to the
/// host and Kokkos::fence() wait for it.
struct NmTransposed {
  struct Pattern : SparseTimesDense<Pattern, NmOperands, FactorsOfSums> {
    template <class C, class B, class A>
    static constexpr bool fits() {
      if constexpr (is_dense_matrix<C> && is_dense_matrix<A> && NmTraits<typename B::format>::is &&
                    is_tensor_v<typename C::tensor_type> && NmOperands::computes<C, A, B>) {
        constexpr bool is_along_rows = NmTraits<typename B::format>::along == 0;
        const auto is = [](const char* dense, const char* sparse) {
          return binds<C, A, B>("ij", dense, sparse);
        };
        const char *const right = is_along_rows ? "kj" : "jk", *const left = is_along_rows ? "ki" : "ik";
        return is("jk", left) || is("kj", left) ||
               (!NmOperands::is_dense_by_rows<C> && !NmByGathering::Operands::stores_by_columns<B> &&
                (is("ik", right) || is("ki", right)));
      } else {
        return false;
      }
    }
  };
  static constexpr std::string_view name = "N:M product, transposed";
  static constexpr std::string_view takes =
      "C(i, j) = B(i, k) * A(k, j), B in NM<N, M, L, 1> or B(k, i) in NM<N, M, L>, A and C dense, or what "
      "NmByGathering takes with C by columns where that does not, floats in the memory of the GPU";
  static constexpr bool deterministic = true;
  static constexpr bool replaces_nest = true;

  template <class S>
  static constexpr bool matches = Pattern::matches<S>;

  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources) {
    const Plan<S> plan(statement, resources);
    const double pass =
        plan.is_in_place ? 0 : 3e-6 + static_cast<double>(plan.bytes_of_transpose()) * 0.6e-12;
    const Cost product = least_cost(plan.product());
    return Cost{product.once + pass, product.again + pass};
  }

  template <class S>
  class Plan;
};

template <class S>
class NmTransposed::Plan {
  using Result = typename S::result_type;
  using Out = typename Result::value_type;
  using Sparse = std::remove_cvref_t<decltype(Pattern::sparse(std::declval<const S&>()))>;
  /// The result's variables that come from the sparse factor and from the dense one.
  static constexpr char of_sparse = Sparse::names[1 - NmTraits<typename Sparse::format>::along];
  static constexpr int sparse_mode = Result::names.find(of_sparse);
  static constexpr char of_dense = Result::names[1 - sparse_mode];
  /// Whether the transpose is stored by columns, which is the result by rows.
  static constexpr bool is_by_columns =
      Result::level_names[0] == of_sparse && NmByGathering::Operands::stores_by_columns<Sparse>;
  using Transpose =
      Tensor<Out, DenseMatrix<std::conditional_t<is_by_columns, ColumnMajor, RowMajor>>, Kokkos::Cuda>;
  using ToTranspose = Access<Transpose, of_dense, of_sparse>;
  using Product = decltype(detail::transposed<ToTranspose>(std::declval<const S&>(),
                                                           std::declval<const Transpose&>(), 0));

 public:
  /// Whether the kernels store the transpose where the result is.
  static constexpr bool is_in_place = Result::level_names[0] == of_dense || is_by_columns;

  Plan(const S& statement, const Resources<Kokkos::Cuda>&) : statement_(statement) {
    bounds_of(statement);  // throws ShapeError if extents do not match
    refer_to(is_in_place ? result().values() : Array<Out, Memory>());
  }

  /// The bytes of the transpose, which are further ones unless it is in place.
  std::int64_t bytes_of_transpose() const { return array_bytes<Out>(size()); }

  /// The statement that computes the transpose.
  Product product() const { return detail::transposed<ToTranspose>(statement_, transpose_, own_bytes()); }

  void prepare() {
    if (size() == 0) return;
    in_room([&] { plan_.emplace(product()); });
  }
  void run() {
    if (size() == 0) return;
    in_room([&] {
      if (!is_in_place && statement_.accumulates())
        turn(result().values().data(), extent(sparse_mode), transpose_.values().data());
      plan_ ? plan_->run() : product().run();
      if (!is_in_place) turn(transpose_.values().data(), extent(1 - sparse_mode), result().values().data());
    });
  }

  Bytes bytes() const {
    return {result().nnz(), result().bytes(),
            sporos::detail::workspace_of_part(product(), plan_) + own_bytes()};
  }
  std::int64_t held_bytes() const { return plan_ ? plan_->bytes() : 0; }

  void explain(std::ostream& out) const {
    const auto one = product();
    with_candidate<void>(one, Use::once, [&]<class K>() {
      out << "  the transpose: " << one.str() << ", by " << K::name << '\n';
      typename K::template Plan<std::remove_const_t<decltype(one)>>(one, one.resources()).explain(out);
    });
    if (!is_in_place) out << "  result: transposed from that\n";
  }

 private:
  const auto& result() const { return statement_.result().tensor(); }
  std::int64_t extent(int mode) const { return result().extent(mode); }
  /// The number of elements of the result. It may have no memory yet: the sums that are a part of another
  /// plan get theirs in each run.
  std::int64_t size() const { return extent(0) * extent(1); }
  /// The bytes needed besides those of the product.
  std::int64_t own_bytes() const { return is_in_place ? 0 : with_room_to_grow(bytes_of_transpose()); }

  void refer_to(const Array<Out, Memory>& values) const {
    const std::int64_t rows = extent(1 - sparse_mode), columns = extent(sparse_mode);
    if constexpr (is_by_columns)
      transpose_.replace({rows, columns}, {{columns}, {rows}}, values);
    else
      transpose_.replace({rows, columns}, {{rows}, {columns}}, values);
  }
  /// Calls work() while the transpose has memory.
  template <class Work>
  void in_room(const Work& work) {
    if (is_in_place) {
      refer_to(result().values());
      return work();
    }
    room_.with(statement_.resources().scratch(), bytes_of_transpose(), [&](char* memory) {
      refer_to(Array<Out, Memory>(reinterpret_cast<Out*>(memory), static_cast<std::size_t>(size())));
      work();
    });
  }
  /// to = the transpose of `from`, which has `rows` rows.
  void turn(const Out* from, std::int64_t rows, Out* to) const {
    transpose(statement_.resources().space(), rows, size() / rows, from, to);
  }

  const S& statement_;
  Transpose transpose_;
  RoomOfPlan room_;
  std::optional<sporos::Plan<Product>> plan_;
};

}  // namespace sporos::gpu
