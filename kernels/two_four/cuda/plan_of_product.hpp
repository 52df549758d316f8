// SPDX-License-Identifier: Apache-2.0
/// @file plan_of_product.hpp
/// What the candidates for products of a 2:4 sparse and a dense matrix on the GPU have in common: the
/// statements, the operands, the copies of them that a kernel needs, and the result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <ostream>
#include <type_traits>
#include <utility>

#include "../../../core/components.hpp"
#include "../../cuda/operand_layout.hpp"
#include "../../cuda/padded.hpp"
#include "../../cuda/tiled_product.hpp"
#include "../../nest/bounds.hpp"
#include "../../operands/cuda/operands.hpp"
#include "../../protocol/candidate.hpp"
#include "../../results/dense_target.hpp"
#include "../pattern.hpp"
#include "operands.hpp"

namespace sporos::gpu {

/// What such candidates compute.
struct TwoFourOnGpu {
  struct Operands : GpuMatrixOperands {
    template <class C, class A, class B>
    static constexpr bool computes =
        std::is_same_v<typename A::value_type, typename B::value_type> &&
        is_narrow_float_v<typename A::value_type> &&
        (is_narrow_float_v<typename C::value_type> || std::is_same_v<typename C::value_type, float>);
  };
  template <class S>
  using Pattern = TwoFourPatternOf<Operands, S>;
  static constexpr bool deterministic = true;

  template <class S>
  static constexpr bool matches = Pattern<S>::template matches<S>;

  /// The largest extent that kernels count: rows and columns in 32 bits, beyond the last tile as well.
  static constexpr std::int64_t most_extent = std::numeric_limits<std::int32_t>::max() / 2;
};

/// The base of a plan.
///
/// Operands are read in place if k is a multiple of a stage and rows of B are a multiple of 16 bytes long;
/// otherwise they are copied first, A only once, by the plan, if the statement says
/// `.with_constant_operands()`. A plan allocates all that its runs need.
///
/// @tparam Derived  the plan, which besides has:
///
///     stage_k                      columns of A that the kernel reads at a time; rows of A must be multiples
///     explain_tiles(out)           prints what tiles the result is computed in
///     start(product, operands)     starts the kernel
template <class Derived, class S>
class PlanOfTwoFour {
 protected:
  using Pattern = TwoFourOnGpu::Pattern<S>;
  using Sparse = std::remove_cvref_t<decltype(Pattern::sparse(std::declval<const S&>()))>;
  using DenseAccess = std::remove_cvref_t<decltype(Pattern::dense(std::declval<const S&>()))>;
  using T = typename Sparse::value_type;
  using Out = typename S::result_type::value_type;
  using Product = TiledProduct<Out, decltype(epilogue_by_rows(std::declval<const S&>()))>;

  static constexpr char inner = Sparse::names[1];
  /// Whether B and the result have the rows of all batches.
  static constexpr bool is_of_batches = S::result_type::format::order == 3;
  static constexpr bool b_is_by_rows = DenseAccess::level_names[0] == inner;
  /// Whether the rows of the result are those of A.
  static constexpr bool c_is_by_rows = S::result_type::names[0] == Sparse::names[0];

  explicit PlanOfTwoFour(const S& statement) : statement_(statement) {
    bounds_of(statement);  // throws ShapeError if extents do not match
  }

 public:
  std::int64_t largest_extent() const { return std::max({m(), n(), k()}); }

  /// Allocates what runs need, and copies A if it has to be copied and is constant.
  void prepare() {
    if (m() == 0 || n() == 0 || k() == 0) return;  // the result may have no memory yet
    room_.prepare(statement_.resources().scratch(), copied_b_bytes());
    if (copies_a()) S::schedule::has_constant_operands ? copy_a() : hold_copy_of_a();
  }

  void run() {
    if (result().nnz() == 0) return;
    const sporos::detail::DenseTarget<S> target(statement_);
    k() == 0 ? apply_epilogue<S, float>(statement_, nullptr, target.data()) : multiply(target.data());
    target.finish();
  }

  Bytes bytes() const {
    return {result().nnz(), result().bytes(),
            sporos::detail::DenseTarget<S>::bytes(statement_) + copied_a(nullptr).bytes +
                with_room_to_grow(copied_b_bytes())};
  }
  std::int64_t held_bytes() const { return static_cast<std::int64_t>(copy_of_a_.extent(0)); }

  void explain(std::ostream& out) const {
    if (is_of_batches) out << "  batches: " << result().extent(0) << ", as the rows of one product\n";
    derived().explain_tiles(out);
    if (!Product::epilogue_is_identity) out << ", the epilogue applied as they are stored";
    out << '\n';
    if (copies_a())
      out << "  operands: the sparse one is copied to aligned rows"
          << (S::schedule::has_constant_operands ? " once\n" : " in each run\n");
    if (copies_b()) out << "  operands: the dense one is copied to aligned rows in each run\n";
  }

 protected:
  const auto& a() const { return Pattern::sparse(statement_).tensor(); }
  const auto& b() const { return Pattern::dense(statement_).tensor(); }
  const auto& result() const { return statement_.result().tensor(); }
  const Kokkos::Cuda& space() const { return statement_.resources().space(); }
  std::int64_t m() const { return a().extent(0); }
  std::int64_t n() const {
    return is_of_batches ? result().extent(0) * result().extent(1) : result().extent(c_is_by_rows ? 1 : 0);
  }
  std::int64_t k() const { return a().extent(1); }
  std::int64_t stages() const { return ceil_div(k(), Derived::stage_k); }

 private:
  const Derived& derived() const { return static_cast<const Derived&>(*this); }

  static bool is_aligned(const void* at) {
    return reinterpret_cast<std::uintptr_t>(at) % operand_alignment == 0;
  }
  const T* values() const { return component<Role::values, T>(a()); }
  const std::uint8_t* metadata() const { return component<Role::metadata, std::uint8_t>(a()); }
  const T* dense() const { return component<Role::dense, T>(b()); }

  // Kernels copy 16 bytes at a time from rows that begin at multiples of them, and whole stages of A.
  std::int64_t windows() const { return ceil_div(k(), 4); }
  std::int64_t padded_k() const { return stages() * Derived::stage_k; }
  bool copies_a() const { return k() != padded_k() || !is_aligned(values()) || !is_aligned(metadata()); }
  std::int64_t rows_of_b() const { return b_is_by_rows ? k() : n(); }
  std::int64_t columns_of_b() const { return b_is_by_rows ? n() : k(); }
  std::int64_t stride_of_b() const { return ceil_div(columns_of_b(), 8) * 8; }
  bool copies_b() const { return columns_of_b() != stride_of_b() || !is_aligned(dense()); }
  std::int64_t copied_b_bytes() const {
    return copies_b() ? rows_of_b() * stride_of_b() * static_cast<std::int64_t>(sizeof(T)) : 0;
  }

  struct CopyOfA {
    T* values = nullptr;
    std::uint8_t* indices = nullptr;
    std::int64_t bytes = 0;
  };
  CopyOfA copied_a(char* memory) const {
    if (!copies_a()) return {};
    Layout layout(memory);
    CopyOfA out;
    out.values = layout.template take<T>(m() * padded_k() / 2);
    out.indices = layout.template take<std::uint8_t>(m() * padded_k() / 8);
    out.bytes = layout.bytes();
    return out;
  }

  /// Allocates memory for the copy of A.
  void hold_copy_of_a() {
    if (copy_of_a_.extent(0) == 0)
      copy_of_a_ = make_array<char, Memory>("sporos::copy of a 2:4 matrix", copied_a(nullptr).bytes);
  }
  void copy_a() {
    if (is_copied_ && S::schedule::has_constant_operands) return;
    hold_copy_of_a();
    const CopyOfA copy = copied_a(copy_of_a_.data());
    pad_rows(space(), values(), m(), windows() * 2, padded_k() / 2, copy.values);
    pad_windows(space(), metadata(), m(), windows(), padded_k() / 8, copy.indices);
    is_copied_ = true;
  }

  void multiply(Out* c) {
    if (copies_a()) copy_a();
    room_.with(statement_.resources().scratch(), copied_b_bytes(), [&](char* memory) {
      if (!copies_b()) return multiply(dense(), c);
      T* const copy = reinterpret_cast<T*>(memory);
      pad_rows(space(), dense(), rows_of_b(), columns_of_b(), stride_of_b(), copy);
      multiply(copy, c);
    });
  }
  /// @param b  B, or its copy
  void multiply(const T* b, Out* c) const {
    const CopyOfA copy = copied_a(copy_of_a_.data());
    const T* const kept = copies_a() ? copy.values : values();
    const std::uint8_t* const places = copies_a() ? copy.indices : metadata();
    const TwoFourOperands<T> operands{kept,        places,         padded_k(),   b,
                                      rows_of_b(), columns_of_b(), stride_of_b()};
    derived().start(Product{m(), n(), k(), c, statement_.accumulates(), epilogue_by_rows(statement_)},
                    operands);
  }

 protected:
  const S& statement_;

 private:
  bool is_copied_ = false;
  RoomOfPlan room_;
  Array<char, Memory> copy_of_a_;
};

}  // namespace sporos::gpu
