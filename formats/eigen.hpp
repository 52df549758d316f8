// SPDX-License-Identifier: Apache-2.0
/// @file eigen.hpp
/// Eigen's matrices and vectors, dense and sparse, as tensors without a copy. Not part of sporos.hpp: Sporos
/// itself needs no Eigen. Empty if the compiler does not find Eigen.
#pragma once

#if __has_include(<Eigen/SparseCore>)

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "../core/error.hpp"
#include "../core/tensor.hpp"
#include "named.hpp"
#include "wrap.hpp"

namespace sporos {

namespace detail {

// Accept what derives from one of Eigen's base classes. std::derived_from would instantiate them for any
// type.
template <class M>
void take_sparse(const Eigen::SparseCompressedBase<M>&);
template <class M>
void take_dense(const Eigen::DenseBase<M>&);
template <class M>
void take_owner(const Eigen::PlainObjectBase<M>&);
template <class Scalar, int Options, class Index>
void take_owner(const Eigen::SparseMatrix<Scalar, Options, Index>&);

template <class M>
concept EigenSparse = requires(const M& matrix) { detail::take_sparse(matrix); };
template <class M>
concept EigenDense = requires(const M& matrix) { detail::take_dense(matrix); };
template <class M>
concept OwnsItsMemory = requires(const M& matrix) { detail::take_owner(matrix); };

/// Whether a matrix outlives the call that it is passed to; if it does not, this does not compile.
template <class M>
consteval void expect_lasting() {
  static_assert(std::is_lvalue_reference_v<M> || !OwnsItsMemory<M>,
                "wrap refers to the memory of a matrix, which a temporary one frees at once: give the matrix "
                "a name");
}

/// Eigen's values as Sporos computes with them: std::complex becomes Kokkos::complex, which is aligned.
template <class Scalar>
auto values_of_eigen(Scalar* values) {
  using Given = std::remove_const_t<Scalar>;
  if constexpr (is_complex_v<Given>) {
    using Complex = Kokkos::complex<typename Given::value_type>;
    if (reinterpret_cast<std::uintptr_t>(values) % alignof(Complex) != 0)
      throw FormatError(text("the complex numbers of the Eigen matrix do not lie at a multiple of ",
                             alignof(Complex), " bytes, as Sporos needs them: copy the matrix"));
    return reinterpret_cast<std::conditional_t<std::is_const_v<Scalar>, const Complex, Complex>*>(values);
  } else {
    return values;
  }
}

}  // namespace detail

/// A compressed Eigen matrix (a SparseMatrix, or a Map or Ref of one) as a tensor over its arrays: CSR if it
/// is RowMajor, else CSC, with the matrix's index type. A const matrix gives a read-only tensor.
///
///     Eigen::SparseMatrix<double, Eigen::RowMajor> matrix(m, n);
///     auto A = wrap(matrix);   // Tensor<double, CSR<int, int>>
///
/// The memory must outlive the tensor, and the matrix must not reallocate it meanwhile.
/// @throws FormatError  if it is not compressed, or its arrays break the rules of the format (`validate`)
/// Cost: that of `validate`.
template <detail::EigenSparse M>
auto wrap(M&& matrix) {
  detail::expect_lasting<M>();
  using Matrix = std::remove_cvref_t<M>;
  using Index = typename Matrix::StorageIndex;
  using F = std::conditional_t<static_cast<bool>(Matrix::IsRowMajor), CSR<Index, Index>, CSC<Index, Index>>;
  if (!matrix.isCompressed())
    throw FormatError(text("the Eigen matrix of ", matrix.rows(), " x ", matrix.cols(),
                           " is not compressed, so that there is room between its entries: call "
                           "makeCompressed() first"));
  return wrap<F>({matrix.rows(), matrix.cols()}, matrix.nonZeros(), matrix.outerIndexPtr(),
                 matrix.innerIndexPtr(), detail::values_of_eigen(matrix.valuePtr()));
}

/// A dense Eigen matrix or vector (or a Map or Ref of one) as a tensor over its memory: a DenseVector if its
/// type has a single row or column, else a DenseMatrix in the same storage order. A const matrix gives a
/// read-only tensor.
///
///     Eigen::MatrixXd matrix(m, n);
///     auto D = wrap(matrix);   // Tensor<double, DenseMatrix<ColumnMajor>>
///
/// The memory must outlive the tensor, and the matrix must not reallocate it meanwhile.
/// @throws FormatError  if its elements are not contiguous, as in a block of a larger matrix
template <detail::EigenDense M>
auto wrap(M&& matrix) {
  detail::expect_lasting<M>();
  using Matrix = std::remove_cvref_t<M>;
  static_assert((Matrix::Flags & Eigen::DirectAccessBit) != 0,
                "this expression of Eigen is not in memory: assign it to a matrix, and wrap that");
  const bool is_contiguous = matrix.innerStride() == 1 &&
                             (Matrix::IsVectorAtCompileTime || matrix.outerStride() == matrix.innerSize());
  if (matrix.size() > 0 && !is_contiguous)
    throw FormatError(text("the elements of the Eigen matrix of ", matrix.rows(), " x ", matrix.cols(),
                           " are not contiguous: copy it into a matrix of its own"));
  const auto values = detail::values_of_eigen(matrix.data());
  if constexpr (static_cast<bool>(Matrix::IsVectorAtCompileTime))
    return wrap<DenseVector>(trusted, {matrix.size()}, values);
  else if constexpr (static_cast<bool>(Matrix::IsRowMajor))
    return wrap<DenseMatrix<>>(trusted, {matrix.rows(), matrix.cols()}, values);
  else
    return wrap<DenseMatrix<ColumnMajor>>(trusted, {matrix.rows(), matrix.cols()}, values);
}

}  // namespace sporos

#endif
