// SPDX-License-Identifier: Apache-2.0
/// @file cusparselt_candidate.hpp
/// The product of a 2:4 sparse and a dense matrix by cuSPARSELt, as a candidate for plans.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../cuda/once_per_device.hpp"
#include "../../cuda/padded.hpp"
#include "../../nest/bounds.hpp"
#include "../../operands/cuda/operands.hpp"
#include "../../protocol/candidate.hpp"
#include "../../results/dense_target.hpp"
#include "../linear_epilogue.hpp"
#include "../pattern.hpp"
#include "cusparselt.hpp"
#include "cusparselt_seconds.hpp"

namespace sporos::gpu {

namespace detail {

/// Writes a window of a 2:4 matrix, with its zeros.
template <class T>
struct ExpandWindow {
  const T* values;  ///< two of each window
  TwoFour::level<2>::View level;
  T* to;  ///< four of each window

  KOKKOS_FUNCTION void operator()(std::int64_t window) const {
    for (int place = 0; place < 4; ++place) to[window * 4 + place] = T{};
    for (std::int64_t kept = window * 2; kept < window * 2 + 2; ++kept)
      to[window * 4 + level.coord_at(kept)] = values[kept];
  }
};

}  // namespace detail

/// C(i, j) = A(i, k) * B(k, j) or A(j, k) * B(k, i), with A in TwoFour, B dense by rows or columns, C dense
/// and row-major, all of half or all of bfloat16; or relu(s * A(i, k) * B(k, j) + b(i)) with a number s and a
/// vector b over the rows of A, or a part of that. (gelu is left to others: that of cuSPARSELt is not known
/// to be the exact one.) Rows and columns of A must be multiples of 16, columns of B of 8.
///
/// Plans with constant operands, by cuSPARSELt's default algorithm: the plan compresses A in cuSPARSELt's own
/// layout, and allocates all that its runs need.
///
/// Where TwoFourOnTensorCores runs, it is expected to be faster (cusparselt_seconds.hpp), and this one runs
/// if it is asked for; as a rule TwoFourByWarps is, too, on other GPUs. Its search for the fastest algorithm
/// is not used: the number that it finds means another kernel in another version.
///
/// Returns before the GPU has finished. Later work on the same space instance runs after it; copies to the
/// host and Kokkos::fence() wait for it.
struct TwoFourByCusparselt {
  struct Operands : GpuMatrixOperands {
    template <class C, class A, class B>
    static constexpr bool computes = std::is_same_v<typename A::value_type, typename B::value_type> &&
                                     std::is_same_v<typename A::value_type, typename C::value_type> &&
                                     is_narrow_float_v<typename A::value_type>;
  };
  using Pattern = TwoFourPattern<Operands>;
  static constexpr std::string_view name = "2:4 product by cuSPARSELt";
  static constexpr std::string_view takes =
      "plans of C(i, j) = A(i, k) * B(k, j) or A(j, k) * B(k, i), or of relu(s * A(i, k) * B(k, j) + b(i)) "
      "with b over the rows of A, .with_constant_operands(), A in TwoFour, B dense, C dense and row-major, "
      "all half or all bfloat16, in the memory of a GPU";
  static constexpr bool deterministic = true;

  /// The access to A.
  template <class S>
  using Sparse = std::remove_cvref_t<decltype(Pattern::sparse(std::declval<const S&>()))>;

  template <class S>
  static constexpr bool matches = [] {
    if constexpr (!S::schedule::has_constant_operands)
      return false;
    else if constexpr (Pattern::template matches<S>)
      return has_linear_epilogue<typename S::result_type::value_type, S>(Sparse<S>::names[0]);
    else
      return false;
  }();

  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources, Use use) {
    if (use == Use::once) return Declined{"only a plan compresses the sparse matrix once for many runs"};
    const Plan<S> plan(statement, resources);
    if (const std::string_view reason = plan.unfit(); !reason.empty()) return Declined{reason};
    return Cost{plan.seconds()};
  }

  template <class S>
  class Plan;
};

template <class S>
class TwoFourByCusparselt::Plan {
  using Sparse = TwoFourByCusparselt::Sparse<S>;
  using DenseAccess = std::remove_cvref_t<decltype(Pattern::dense(std::declval<const S&>()))>;
  using T = typename Sparse::value_type;
  using Product = CusparseltProduct<T>;

  static constexpr bool b_is_by_rows = DenseAccess::level_names[0] == Sparse::names[1];
  static constexpr bool c_is_by_rows = S::result_type::names[0] == Sparse::names[0];

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>&) : statement_(statement) {
    bounds_of(statement);  // throws ShapeError if extents do not match
  }

  /// Why cuSPARSELt does not compute it; empty if it does.
  std::string_view unfit() const {
    if (!shape().has_multiples())
      return "rows and columns of the sparse matrix must be multiples of 16, columns of the dense one of 8, "
             "and none may be 0";
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (std::max({shape().m, shape().n, shape().k}) > most)
      return "it is used for as many rows and columns as 32 bits count";
    if (statement_.accumulates() && epilogue().rectifies)
      return "it adds to the result before it applies relu";
    if (!is_aligned(b().values().data()) || !is_aligned(result().values().data()) ||
        !is_aligned(epilogue().bias))
      return "arrays of dense operands and of the result must begin at multiples of 16 bytes";
    if (!cusparselt_of(space()).is_there()) return "cuSPARSELt has no kernels for this GPU";
    return {};
  }

  /// The seconds that a product is expected to take.
  double seconds() const {
    return cusparselt_seconds(shape().m, shape().n, shape().k,
                              space().cuda_device_prop().multiProcessorCount);
  }

  /// Compresses A, and allocates what runs need.
  void prepare() {
    const detail::CurrentDevice current(space().cuda_device());
    const Product& product = this->product();
    room_.prepare(statement_.resources().scratch(), product.workspace_bytes());
    compressed_ = make_array<char, Memory>("sporos::compressed 2:4 matrix", product.compressed_bytes());
    const auto temporary = make_array<char, Memory>("sporos::dense 2:4 matrix", temporary_bytes());
    auto* const dense = reinterpret_cast<T*>(temporary.data());
    detail::for_each(space(), "sporos::expand 2:4 matrix", elements_of_a() / 4,
                     detail::ExpandWindow<T>{a().values().data(), a().template level<2>().view(), dense});
    product.compress(space(), dense, temporary.data() + dense_bytes(), compressed_.data());
    space().fence("sporos::compress 2:4 matrix");  // the temporary array is freed here
  }

  void run() {
    const detail::CurrentDevice current(space().cuda_device());
    const sporos::detail::DenseTarget<S> target(statement_);
    const T* const dense = b().values().data();
    expect_aligned(dense, "the dense operand");
    expect_aligned(target.data(), "the result");
    expect_aligned(epilogue().bias, "the bias");
    const Product& product = this->product();
    room_.with(statement_.resources().scratch(), product.workspace_bytes(), [&](char* workspace) {
      product.run(space(), compressed_.data(), dense, statement_.accumulates(), target.data(), workspace);
    });
    target.finish();
  }

  Bytes bytes() const {
    const detail::CurrentDevice current(space().cuda_device());
    const Product& product = this->product();
    return {result().nnz(), result().bytes(),
            sporos::detail::DenseTarget<S>::bytes(statement_) +
                array_bytes<char>(product.compressed_bytes()) + array_bytes<char>(temporary_bytes()) +
                with_room_to_grow(product.workspace_bytes())};
  }
  std::int64_t held_bytes() const { return static_cast<std::int64_t>(compressed_.extent(0)); }

  void explain(std::ostream& out) const {
    out << "  result: located, by cuSPARSELt's default algorithm";
    if (epilogue().bias != nullptr || epilogue().rectifies) out << ", the epilogue applied by it";
    out << "\n  operands: the sparse one is compressed once\n";
  }

 private:
  const auto& a() const { return Pattern::sparse(statement_).tensor(); }
  const auto& b() const { return Pattern::dense(statement_).tensor(); }
  const auto& result() const { return statement_.result().tensor(); }
  const Kokkos::Cuda& space() const { return statement_.resources().space(); }
  LinearEpilogue<T> epilogue() const { return linear_epilogue_of<T>(statement_); }
  CusparseltShape shape() const {
    return {a().extent(0), result().extent(c_is_by_rows ? 1 : 0), a().extent(1), b_is_by_rows, c_is_by_rows};
  }

  std::int64_t elements_of_a() const { return shape().m * shape().k; }
  std::int64_t dense_bytes() const { return elements_of_a() * static_cast<std::int64_t>(sizeof(T)); }
  /// A with its zeros, and what compressing works in.
  std::int64_t temporary_bytes() const { return dense_bytes() + product().buffer_bytes(); }

  static bool is_aligned(const void* at) {
    return reinterpret_cast<std::uintptr_t>(at) % CusparseltShape::alignment == 0;
  }
  void expect_aligned(const void* at, std::string_view what) const {
    if (!is_aligned(at))
      throw ScheduleError(text(statement_.str(), ": cuSPARSELt takes arrays that begin at multiples of ",
                               CusparseltShape::alignment, " bytes, and that of ", what,
                               " does not any more: make a new plan"));
  }

  /// The product as it is described to cuSPARSELt, with the address of the bias: made again if the operand
  /// has been given another array.
  const Product& product() const {
    if (!product_ || product_->epilogue().bias != epilogue().bias)
      product_.emplace(space(), shape(), epilogue());
    return *product_;
  }

  const S& statement_;
  mutable std::optional<Product> product_;
  RoomOfPlan room_;
  Array<char, Memory> compressed_;
};

}  // namespace sporos::gpu
