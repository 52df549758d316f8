// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The candidate for batches of products of dense matrices with one sparse matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../../formats/structure.hpp"
#include "../n_of_m/pattern.hpp"
#include "../nest/bounds.hpp"
#include "../protocol/candidate.hpp"
#include "../protocol/demands.hpp"
#include "../protocol/parts.hpp"
#include "../protocol/sparse_times_dense.hpp"
#include "../results/dense_target.hpp"

namespace sporos {

/// C(b, i, j) = A(b, i, k) * B(k, j), also with the transpose of B, of each A, or with B on the left, factors
/// in any order; A and C dense and stored in the order of their modes.
///
/// @tparam Operands  `Operands::is_sparse<B>` says which sparse matrices are taken
template <class Operands>
struct BatchPattern : SparseTimesDense<BatchPattern<Operands>, Operands> {
  template <class C, class B, class A>
  static constexpr bool fits() {
    if constexpr (std::is_same_v<typename C::format, DenseTensor<3>> &&
                  std::is_same_v<typename A::format, DenseTensor<3>> &&
                  is_tensor_v<typename A::tensor_type> && Operands::template is_sparse<B>)
      return binds<C, A, B>("bij", "bik", "kj") || binds<C, A, B>("bij", "bik", "jk") ||
             binds<C, A, B>("bij", "bki", "kj") || binds<C, A, B>("bij", "bki", "jk") ||
             binds<C, A, B>("bij", "bkj", "ik") || binds<C, A, B>("bij", "bkj", "ki") ||
             binds<C, A, B>("bij", "bjk", "ik") || binds<C, A, B>("bij", "bjk", "ki");
    else
      return false;
  }
};

namespace detail {

/// One of the matrices in an order-3 tensor, and an access to it with the names of its modes.
template <class T>
using MatrixOf = Tensor<typename T::value_type, DenseMatrix<>, typename T::space_type>;
template <class A>
using AccessOfMatrix = Access<MatrixOf<typename A::tensor_type>, A::names[1], A::names[2]>;

/// The product for one batch, with the same demands on how it is computed as the whole statement.
template <class C, class A, class B, class S>
auto assign_batch(const C& c, const A& a, const B& b, const S& of) {
  const auto product = with_demands_of(of, assign(c, a * b), DenseTarget<S>::bytes(of));
  return of.accumulates() ? product.accumulate() : product;
}

}  // namespace detail

/// Batches of products with one sparse matrix: in `NM<…>` or TwoFour on the host and on GPUs, in CSR or CSC
/// on GPUs. (On the host, the loop nest already reads each row of a CSR or CSC matrix only once for all
/// batches.)
///
/// If the rows of the results are those of the dense factors, C(b, i, j) = A(b, i, k) * B(k, j), all batches
/// form one product of matrices with b * i rows. Otherwise there is a product for each batch, one after
/// another, and B is packed for each of them, or once if the statement says `.with_constant_operands()`. (On
/// GPUs, C(b, i, j) = A(b, k, i) * B(k, j) with B in `NM<…>` is one product of gpu::NmByGathering or
/// gpu::NmByBlocks.)
///
/// The fastest candidate, by its estimate, computes the products of matrices. On a GPU it may return before
/// the GPU has finished.
struct ProductsInBatches {
  struct Operands {
    template <class S>
    static constexpr bool admits() {
      return std::is_same_v<typename S::order,
                            derived_order<typename S::result_type, typename S::right_type>>;
    }
    template <class B>
    static constexpr bool is_sparse =
        NmTraits<typename B::format>::is ||
        ((detail::is_by_rows<typename B::format> || detail::is_by_columns<typename B::format>) &&
         !Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename B::tensor_type::memory_space>::accessible);
  };
  using Pattern = BatchPattern<Operands>;
  static constexpr std::string_view name = "Products in batches";
  static constexpr std::string_view takes =
      "C(b, i, j) = A(b, i, k) * B(k, j), A and C dense, B in NM<N, M, L>, TwoFour, or on a GPU CSR or CSC";
  static constexpr bool deterministic = true;  ///< asks the candidate for the matrices too
  static constexpr bool replaces_nest = true;

  template <class S>
  static constexpr bool matches = Pattern::template matches<S>;

  template <class S>
  static Offer cost(const S& statement, const Resources<typename S::space_type>& resources) {
    const Plan<S> plan(statement, resources);
    const Cost one = least_cost(plan.product());
    const auto products = static_cast<double>(plan.products());
    return Cost{one.once * products, one.again * products};
  }

  template <class S>
  class Plan;
};

template <class S>
class ProductsInBatches::Plan {
  using C = typename S::result_type;
  using A = std::remove_cvref_t<decltype(Pattern::dense(std::declval<const S&>()))>;
  using B = std::remove_cvref_t<decltype(Pattern::sparse(std::declval<const S&>()))>;
  using Product = decltype(detail::assign_batch(std::declval<const detail::AccessOfMatrix<C>&>(),
                                                std::declval<const detail::AccessOfMatrix<A>&>(),
                                                std::declval<const B&>(), std::declval<const S&>()));
  /// Whether the batches are rows of one product.
  static constexpr bool are_one = C::names[1] == A::names[1];

 public:
  Plan(const S& statement, const Resources<typename S::space_type>&)
      : statement_(statement), a_(matrix_of(dense().tensor())), c_(matrix_of(result())) {
    bounds_of(statement);  // throws ShapeError if extents do not match
    // An estimate counts what an unaligned matrix needs: the second is aligned only if all are.
    refer_to(products() > 1 ? 1 : 0, result().values());
  }

  /// The product of two matrices, and how many such products there are.
  Product product() const {
    return detail::assign_batch(detail::AccessOfMatrix<C>(c_), detail::AccessOfMatrix<A>(a_),
                                Pattern::sparse(statement_), statement_);
  }
  std::int64_t products() const { return are_one ? 1 : result().extent(0); }

  void prepare() { plan_.emplace(product()); }

  void run() {
    if (result().nnz() == 0) return;
    const detail::DenseTarget<S> target(statement_);
    for (std::int64_t batch = 0; batch < products(); ++batch) {
      refer_to(batch, target.values());
      plan_ ? plan_->run() : product().run();
    }
    target.finish();
  }

  Bytes bytes() const {
    return {result().nnz(), result().bytes(),
            detail::workspace_of_part(product(), plan_) + detail::DenseTarget<S>::bytes(statement_)};
  }
  std::int64_t held_bytes() const { return plan_ ? plan_->bytes() : 0; }

  void explain(std::ostream& out) const {
    const Product one = product();
    with_candidate<void>(one, Use::once, [&]<class K>() {
      out << "  batches: " << result().extent(0) << ", "
          << (are_one ? "as the rows of one product" : "one behind the other") << ", by " << K::name << '\n';
      typename K::template Plan<Product>(one, one.resources()).explain(out);
    });
  }

 private:
  const auto& dense() const { return Pattern::dense(statement_); }
  const auto& result() const { return statement_.result().tensor(); }

  /// A matrix with the extents of one product, still without memory.
  template <class T>
  static detail::MatrixOf<T> matrix_of(const T& batches) {
    using Matrix = detail::MatrixOf<T>;
    const Extents<2> extents{(are_one ? batches.extent(0) : 1) * batches.extent(1), batches.extent(2)};
    typename Matrix::level_storage levels;
    std::get<0>(levels).extent = extents[0];
    std::get<1>(levels).extent = extents[1];
    return Matrix(extents, levels, {});
  }
  template <class Matrix, class Values>
  static void refer_to(const Matrix& matrix, std::int64_t batch, const Values& values) {
    const std::int64_t size = matrix.extent(0) * matrix.extent(1);
    matrix.replace(matrix.extents(), matrix.levels(),
                   Values(values.data() + batch * size, static_cast<std::size_t>(size)));
  }
  template <class Values>
  void refer_to(std::int64_t batch, const Values& values_of_result) const {
    refer_to(a_, batch, dense().tensor().values());
    refer_to(c_, batch, values_of_result);
  }

  const S& statement_;
  detail::MatrixOf<typename A::tensor_type> a_;
  detail::MatrixOf<typename C::tensor_type> c_;
  std::optional<sporos::Plan<Product>> plan_;
};

}  // namespace sporos
