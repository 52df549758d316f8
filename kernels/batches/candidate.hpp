// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The candidate for batches of products of dense and sparse matrices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../formats/slice.hpp"
#include "../../formats/structure.hpp"
#include "../n_of_m/pattern.hpp"
#include "../nest/bounds.hpp"
#include "../protocol/candidate.hpp"
#include "../protocol/demands.hpp"
#include "../protocol/parts.hpp"
#include "../protocol/sparse_times_dense.hpp"
#include "../results/dense_target.hpp"

namespace sporos {

namespace detail {

/// The format of a matrix, or of each matrix in batches.
template <class A>
using format_of_matrix = typename BatchTraits<typename A::format>::matrix;

template <class A>
inline constexpr bool is_of_batches = BatchTraits<typename A::format>::is;

/// One of the matrices in batches, or an operand that is one matrix.
template <class T>
struct MatrixIn {
  using type = T;
};
template <AnyTensor T>
  requires BatchTraits<typename T::format_type>::is
struct MatrixIn<T> {
  using type = MatrixOfBatches<T>;
};
template <class T>
using MatrixOf = typename MatrixIn<T>::type;

}  // namespace detail

/// C(b, i, j) = A(b, i, k) * B(b, k, j), where A or B may also be one matrix for all batches, and either may
/// be the transpose, on either side, in any order; A and C dense and stored in the order of their modes.
///
/// @tparam Operands  `Operands::is_sparse<B>` says which sparse matrices are taken, and
///                   `Operands::is_sparse_batch<B>` which batches of them that are multiplied one by one
template <class Operands>
struct BatchPattern : SparseTimesDense<BatchPattern<Operands>, Operands> {
  template <class C, class B, class A>
  static constexpr bool fits() {
    if constexpr (std::is_same_v<typename C::format, DenseTensor<3>> && is_dense_operand<A> &&
                  is_tensor_v<typename A::tensor_type>) {
      if constexpr (!has_matrices<C, A> || !has_matrices<C, B> || !are_multiplied<C, A, B>())
        return false;
      else if constexpr (detail::is_of_batches<B>)
        return is_tensor_v<typename B::tensor_type> &&
               (Operands::template is_sparse_batch<B> ||
                (Operands::template is_sparse<B> && are_rows<C, B, A>));
      else
        return detail::is_of_batches<A> && Operands::template is_sparse<B>;
    } else {
      return false;
    }
  }

  /// Whether the rows of the results are those of all matrices in X, one below the other, and Y is one
  /// matrix: all batches are one product.
  template <class C, class X, class Y>
  static constexpr bool are_rows = [] {
    if constexpr (detail::are_rows_of_one<typename X::format>)
      return !detail::is_of_batches<Y> && X::names[1] == C::names[1];
    else
      return false;
  }();

 private:
  template <class A>
  static constexpr bool is_dense_operand =
      std::is_same_v<typename A::format, DenseTensor<3>> || std::is_same_v<typename A::format, DenseMatrix<>>;
  /// Whether X is a matrix, or batches of matrices whose number is that of C's.
  template <class C, class X>
  static constexpr bool has_matrices =
      X::names.size == 2 || (detail::is_of_batches<X> && X::names[0] == C::names[0]);

  /// Whether the variables of a matrix of C, A and B are those of a product.
  template <class C, class A, class B>
  static constexpr bool are_multiplied() {
    constexpr int of_a = A::names.size - 2, of_b = B::names.size - 2;
    const auto is_product = [](char row, char inner, char other_inner, char column) {
      return inner == other_inner && !C::names.contains(inner) && C::names[1] != C::names[2] &&
             ((row == C::names[1] && column == C::names[2]) ||
              (row == C::names[2] && column == C::names[1])) &&
             C::names[0] != row && C::names[0] != column;
    };
    const char a[2] = {A::names[of_a], A::names[of_a + 1]}, b[2] = {B::names[of_b], B::names[of_b + 1]};
    return is_product(a[0], a[1], b[0], b[1]) || is_product(a[0], a[1], b[1], b[0]) ||
           is_product(a[1], a[0], b[0], b[1]) || is_product(a[1], a[0], b[1], b[0]);
  }
};

namespace detail {

template <class A>
using AccessOfMatrix =
    Access<MatrixOf<typename A::tensor_type>, A::names[A::names.size - 2], A::names[A::names.size - 1]>;

/// The product for one batch, with the same demands on how it is computed as the whole statement.
template <class C, class A, class B, class S>
auto assign_batch(const C& c, const A& a, const B& b, const S& of) {
  const auto product = with_demands_of(of, assign(c, a * b), DenseTarget<S>::bytes(of));
  return of.accumulates() ? product.accumulate() : product;
}

}  // namespace detail

/// Batches of products with sparse matrices in `NM<…>` or TwoFour on the host and on GPUs, in CSR or CSC
/// on GPUs: with one of them, or with batches of them. (On the host, the loop nest already reads each row of
/// a CSR or CSC matrix only once for all batches.)
///
/// If the rows of the results are those of the dense factors, C(b, i, j) = A(b, i, k) * B(k, j), or those of
/// the sparse ones, C(b, i, j) = B(b, i, k) * A(k, j), all batches form one product of matrices with b * i
/// rows. Otherwise there is a product for each batch, one after another. B is then packed for each of them;
/// if the statement says `.with_constant_operands()`, only when the plan is made. (On GPUs, C(b, i, j) =
/// A(b, k, i) * B(k, j) with B in `NM<…>` is one product of gpu::NmByGathering or gpu::NmByBlocks, and
/// gpu::SpmmByGroups computes all products with CSR matrices at once.)
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
        NmTraits<detail::format_of_matrix<B>>::is ||
        ((detail::is_by_rows<detail::format_of_matrix<B>> ||
          detail::is_by_columns<detail::format_of_matrix<B>>) &&
         !Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename B::tensor_type::memory_space>::accessible);
    template <class B>
    static constexpr bool is_sparse_batch = NmTraits<detail::format_of_matrix<B>>::is;
  };
  using Pattern = BatchPattern<Operands>;
  static constexpr std::string_view name = "Products in batches";
  static constexpr std::string_view takes =
      "C(b, i, j) = A(b, i, k) * B(k, j) or A(b, i, k) * B(b, k, j), A and C dense, B, or each matrix of it, "
      "in NM<N, M, L>, TwoFour, or on a GPU CSR or CSC";
  static constexpr bool deterministic = true;  ///< asks the candidate for the matrices too

  template <class S>
  static constexpr bool matches = Pattern::template matches<S>;
  /// Indices of less than a byte may begin inside one in batches of sparse matrices.
  template <class S>
  static constexpr bool replaces_nest_for = [] {
    if constexpr (matches<S>) {
      using C = typename S::result_type;
      using A = std::remove_cvref_t<decltype(Pattern::dense(std::declval<const S&>()))>;
      using B = std::remove_cvref_t<decltype(Pattern::sparse(std::declval<const S&>()))>;
      return !detail::is_of_batches<B> || Pattern::template are_rows<C, B, A> ||
             NmTraits<detail::format_of_matrix<B>>::bits == 8;
    } else {
      return false;
    }
  }();

  template <class S>
  static Offer cost(const S& statement, const Resources<typename S::space_type>& resources) {
    const Plan<S> plan(statement, resources);
    if (!plan.has_matrices()) return Declined{"the metadata of a matrix begins inside a byte"};
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
  using Product = decltype(detail::assign_batch(
      std::declval<const detail::AccessOfMatrix<C>&>(), std::declval<const detail::AccessOfMatrix<A>&>(),
      std::declval<const detail::AccessOfMatrix<B>&>(), std::declval<const S&>()));
  /// Whether the batches are rows of one product: of A, or of B.
  static constexpr bool are_one = Pattern::template are_rows<C, A, B> || Pattern::template are_rows<C, B, A>;
  /// Whether each batch has a sparse matrix of its own.
  static constexpr bool is_sparse_in_batches = detail::is_of_batches<B> && !are_one;

  /// The matrices of one product: they share the memory of the operands, or have none.
  struct Matrices {
    detail::MatrixOf<typename C::tensor_type> c;
    detail::MatrixOf<typename A::tensor_type> a;
    detail::MatrixOf<typename B::tensor_type> b;
  };

 public:
  Plan(const S& statement, const Resources<typename S::space_type>&)
      : statement_(statement), one_{matrix_of(result()), matrix_of(dense()), matrix_of(sparse())} {
    bounds_of(statement);  // throws ShapeError if extents do not match
    // An estimate counts what an unaligned matrix needs: the second is aligned only if all are.
    if (has_matrices()) refer_to(one_, products() > 1 ? 1 : 0, result().values());
  }

  /// Whether each matrix is a part of the arrays of the batches.
  bool has_matrices() const {
    if constexpr (is_sparse_in_batches)
      return detail::has_slices(sparse());
    else
      return true;
  }
  /// The product of two matrices, and how many such products there are.
  Product product() const { return product_of(one_); }
  std::int64_t products() const { return are_one ? 1 : result().extent(0); }

  /// Where each batch has a sparse matrix of its own, each product has a plan.
  void prepare() {
    const std::int64_t count = is_sparse_in_batches ? products() : 1;
    of_plans_.reserve(static_cast<std::size_t>(count));
    for (std::int64_t batch = 0; batch < count; ++batch) {
      if (is_sparse_in_batches) {
        of_plans_.push_back({matrix_of(result()), matrix_of(dense()), matrix_of(sparse())});
        refer_to(of_plans_.back(), batch, result().values());
      } else {
        of_plans_.push_back(one_);  // the same tensors
      }
      plans_.emplace_back(product_of(of_plans_.back()));
    }
  }

  void run() {
    if (result().nnz() == 0) return;
    const detail::DenseTarget<S> target(statement_);
    for (std::int64_t batch = 0; batch < products(); ++batch) {
      const auto at = static_cast<std::size_t>(is_sparse_in_batches ? batch : 0);
      refer_to(plans_.empty() ? one_ : of_plans_[at], batch, target.values());
      plans_.empty() ? product().run() : plans_[at].run();
    }
    target.finish();
  }

  Bytes bytes() const {
    std::int64_t of_products = 0;
    if (plans_.empty())
      // Each product may hold what it needs until the end, as plans do.
      of_products =
          has_matrices() ? estimate(product()).workspace * (is_sparse_in_batches ? products() : 1) : 0;
    for (const auto& plan : plans_) of_products += plan.estimate().workspace;
    return {result().nnz(), result().bytes(), of_products + detail::DenseTarget<S>::bytes(statement_)};
  }
  std::int64_t held_bytes() const {
    std::int64_t bytes = 0;
    for (const auto& plan : plans_) bytes += plan.bytes();
    return bytes;
  }

  void explain(std::ostream& out) const {
    const Product one = product();
    with_candidate<void>(one, Use::once, [&]<class K>() {
      out << "  batches: " << result().extent(0) << ", "
          << (are_one ? "as the rows of one product" : "one behind the other") << ", by " << K::name << '\n';
      typename K::template Plan<Product>(one, one.resources()).explain(out);
    });
  }

 private:
  const auto& dense() const { return Pattern::dense(statement_).tensor(); }
  const auto& sparse() const { return Pattern::sparse(statement_).tensor(); }
  const auto& result() const { return statement_.result().tensor(); }

  Product product_of(const Matrices& of) const {
    return detail::assign_batch(detail::AccessOfMatrix<C>(of.c), detail::AccessOfMatrix<A>(of.a),
                                detail::AccessOfMatrix<B>(of.b), statement_);
  }

  /// A matrix without extents and memory; or the operand if it is one matrix.
  template <class T>
  static detail::MatrixOf<T> matrix_of(const T& operand) {
    using Matrix = detail::MatrixOf<T>;
    if constexpr (std::is_same_v<Matrix, T>)
      return operand;
    else
      return Matrix(Extents<2>{}, typename Matrix::level_storage{}, {});
  }
  /// Has a matrix refer to its part of the batches, whose values are given; or to all of them as its rows.
  template <class T, class Values>
  static void refer(const detail::MatrixOf<T>& matrix, const T& batches, std::int64_t batch,
                    const Values& values) {
    if constexpr (!std::is_same_v<detail::MatrixOf<T>, T>) {
      const Extents<2> extents{(are_one ? batches.extent(0) : 1) * batches.extent(1), batches.extent(2)};
      if constexpr (are_one) {
        matrix.replace(extents, detail::levels_of_rows(batches), values);
      } else if (T::format_type::is_dense || batches.extent(0) > 0) {
        const std::int64_t size =
            T::format_type::is_dense ? extents[0] * extents[1] : detail::values_of_slice(batches);
        matrix.replace(extents, detail::levels_of_slice(batches, batch),
                       Values(values.data() + batch * size, static_cast<std::size_t>(size)));
      } else {
        const detail::MatrixOf<T> empty(extents);
        matrix.replace(extents, empty.levels(), empty.values());
      }
    }
  }
  template <class Values>
  void refer_to(const Matrices& matrices, std::int64_t batch, const Values& values_of_result) const {
    refer(matrices.c, result(), batch, values_of_result);
    refer(matrices.a, dense(), batch, dense().values());
    refer(matrices.b, sparse(), batch, sparse().values());
  }

  const S& statement_;
  Matrices one_;
  std::vector<Matrices> of_plans_;
  std::vector<sporos::Plan<Product>> plans_;
};

}  // namespace sporos
