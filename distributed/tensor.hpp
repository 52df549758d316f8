// SPDX-License-Identifier: Apache-2.0
/// @file tensor.hpp
/// Distributed: a tensor of which every rank stores a part.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "../core/error.hpp"
#include "../core/expression.hpp"
#include "../core/tensor.hpp"
#include "../formats/format_name.hpp"
#include "../formats/pattern.hpp"
#include "agree.hpp"
#include "distribution.hpp"

namespace sporos {

template <class T>
class Distributed;

template <class T>
inline constexpr bool is_distributed_v<Distributed<T>> = true;

/// Any `Distributed<Tensor<…>>`.
template <class T>
concept AnyDistributed = is_distributed_v<std::remove_cvref_t<T>>;

/// A tensor distributed over the ranks of a communicator: a local tensor on each, in any format, and a
/// distribution, which says what each rank stores.
///
///     A, CSR, distributed by blocks of rows             rank 1's local tensor
///
///          0  1  2  3                                        0  1  2  3
///       0  a        b   ┐ rank 0
///       1     c         ┘
///       2  d     e      ┐ rank 1                           0  d     e
///       3        f      ┘                                  1        f
///
/// There, rows have their local numbers; the mode of the columns is whole and keeps the coordinates of A.
///
/// Like a Tensor it is a handle: copies refer to the same values. All ranks run statements on it together, in
/// the same notation:
///
///     const auto A = read<CSR<>>(Communicator::world(), "matrix.mtx");
///     const Distributed<Tensor<double, DenseVector>> x(along(A, 0)), y(along(A, 0));   // A is square
///     y(i) = A(i, j) * x(j);
///
/// Its members are not collective, except for the constructors.
template <TensorValue Value, TensorFormat F, ExecutionSpace Space>
class Distributed<Tensor<Value, F, Space>> {
 public:
  using local_type = Tensor<Value, F, Space>;
  using value_type = Value;
  using format_type = F;
  using space_type = Space;
  using memory_space = typename local_type::memory_space;
  static constexpr int order = F::order;

  /// Stores no nonzeros; the values of a dense tensor are 0. Collective.
  /// @throws MemoryError, on all ranks, if one cannot store its part; CommError for different distributions;
  /// FormatError if nonzeros are dealt out one by one and the format stores zeros as well
  explicit Distributed(Distribution<order> distribution)
      : distribution_(std::make_shared<const Distribution<order>>(std::move(distribution))) {
    jointly(ranks(), [&] {
      expect_only_nonzeros();
      local_ = local_type(distribution_->local_extents());
      agree(ranks(), distribution_->signature(), "Distributed(distribution)");
    });
  }

  /// Takes each rank's local tensor. In a fine-grained distribution it stores only coordinates that belong to
  /// its rank, which `validate` checks. Collective.
  /// @throws ShapeError, on all ranks, if one's extents are not those that the distribution gives it;
  /// FormatError if nonzeros are dealt out one by one and the format stores zeros as well
  Distributed(Distribution<order> distribution, local_type local)
      : distribution_(std::make_shared<const Distribution<order>>(std::move(distribution))),
        local_(std::move(local)) {
    jointly(ranks(), [&] {
      expect_only_nonzeros();
      if (local_.extents() != distribution_->local_extents())
        throw ShapeError(text("the local tensor is ", to_string(local_.extents()), ", but the distribution ",
                              distribution_->str(), " of ", to_string(extents()), " gives this rank ",
                              to_string(distribution_->local_extents())));
      agree(ranks(), distribution_->signature(), "Distributed(distribution, tensor)");
    });
  }

  const Distribution<order>& distribution() const { return *distribution_; }
  const Communicator& ranks() const { return distribution_->ranks(); }
  /// What this rank stores, with local coordinates.
  const local_type& local() const { return local_; }

  /// The extents of the whole tensor.
  Extents<order> extents() const { return distribution_->extents(); }
  std::int64_t extent(int mode) const { return distribution_->partition(mode).extent(); }

  /// The number of values that this rank stores, and the bytes of its arrays.
  std::int64_t nnz() const { return local_.nnz(); }
  std::int64_t bytes() const { return local_.bytes(); }

  const void* identity() const { return local_.identity(); }

  /// Index notation: `A(i, j)`, one index variable per mode.
  template <char... Names>
  auto operator()(Index<Names>...) const {
    static_assert(sizeof...(Names) == order,
                  "an access takes one index variable for each mode of the tensor");
    return Access<Distributed, Names...>(*this);
  }

 private:
  /// A dense level, block or padded row would be stored by every rank that has one of its nonzeros.
  void expect_only_nonzeros() const {
    if constexpr (F::is_dense || F::stores_padding)
      if (distribution_->is_fine_grained())
        throw FormatError(
            text(format_name<F>(),
                 " stores zeros beside nonzeros, so its nonzeros cannot be dealt out one by one: "
                 "take a format without padding, or a distribution by coordinates"));
  }

  std::shared_ptr<const Distribution<order>> distribution_;
  local_type local_;
};

/// The distribution of a vector in the same way as a mode of a tensor: coordinate c is where the tensor's is.
/// For a mode that is not divided among all ranks, the vector is in blocks. If nonzeros are dealt out in
/// order, the mode that is compared first is divided where they are: of a slice that is split, the last rank
/// that has some of it owns the coordinate. Collective.
template <AnyDistributed T>
Distribution<1> along(const T& tensor, int mode) {
  const Partition& given = tensor.distribution().partition(mode);
  const int parts = tensor.ranks().size();
  if (const auto* dealing = tensor.distribution().dealing())
    if (dealing->cuts() && dealing->cuts()->order()[0] == mode)
      return {tensor.ranks(), {Partition::ranges(dealing->cuts()->begins(given.extent()))}};
  const bool is_divided = !given.is_whole() && given.parts() == parts;
  return {tensor.ranks(), {is_divided ? given : Partition::blocks(given.extent(), parts)}};
}

namespace detail {

/// The pattern of what this rank stores, with a fingerprint that reveals coordinates changed in place. Plans
/// of distributed tensors have made copies and lists of them, so such a change is not an error by itself.
/// Reading all coordinates is a third of the bytes that SpMV reads, so is_of reads them only if Kokkos checks
/// the bounds of its Views; has_kept_coordinates always does.
template <class T>
class Pattern<Distributed<T>> {
 public:
  explicit Pattern(const Distributed<T>& tensor)
      : distribution_(tensor.distribution()),
        local_(tensor.local()),
        fingerprint_(fingerprint(tensor.local())) {}
  bool is_of(const Distributed<T>& tensor) const {
    if (tensor.distribution() != distribution_ || !local_.is_of(tensor.local())) return false;
#ifdef KOKKOS_ENABLE_DEBUG_BOUNDS_CHECK
    return has_kept_coordinates(tensor);
#else
    return true;
#endif
  }
  bool has_kept_coordinates(const Distributed<T>& tensor) const {
    return fingerprint(tensor.local()) == fingerprint_;
  }

 private:
  Distribution<T::order> distribution_;
  Pattern<T> local_;
  std::uint64_t fingerprint_;
};

}  // namespace detail

}  // namespace sporos
