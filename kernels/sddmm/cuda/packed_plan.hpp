// SPDX-License-Identifier: Apache-2.0
/// @file packed_plan.hpp
/// Plans of sampled products on tensor cores that convert the pattern of the sparse operand, once, to a form
/// of their own: nonzeros with their places (nonzeros_candidate.hpp), tiles (tiles_candidate.hpp) or windows
/// of rows (windows_candidate.hpp).
///
/// A candidate K with such plans has
///
///     K::Counts                               counts that give the size of the form, or 0 if not counted
///     K::most(sizes)                          upper bounds of these counts
///     K::count(space, a, to)                  counts; waits for the GPU
///     K::why_not(sizes)                       why the kernel cannot take a product; empty if it can
///     K::seconds(sizes, counts)               expected seconds of the product
///     K::seconds_of_packing(sizes)            expected seconds of finding the form
///     K::kept_bytes, K::packing_bytes         bytes of the form, and of finding it (space, sizes, counts)
///     K::pack(space, sizes, counts, a, room, kept)
///     K::multiply(space, sizes, counts, kept, factors, scale, epilogue, result)
///     K::explain(out, sizes, counts)          the rest of a line
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string_view>

#include "../../nest/bounds.hpp"
#include "../../protocol/candidate.hpp"
#include "sampled.hpp"

namespace sporos::gpu {

/// C and D in the form that the kernels read: [rows, inner] and [columns, inner], with rows `stride` elements
/// apart.
template <class T>
struct SampledFactors {
  const T* c;
  const T* d;
  std::int64_t stride;  ///< a multiple of 16 bytes; zeros follow the last column
};

/// Whether a statement is a product of 16-bit floats that is summed in float.
template <class S>
constexpr bool is_narrow_sampled_product() {
  if constexpr (SddmmPattern<SampledOperands>::matches<S>)
    return is_narrow_float_v<typename SampledProduct<S>::T> && std::is_same_v<detail::compute_of<S>, float>;
  else
    return false;
}

template <class K, class S>
class SddmmPackedPlan {
  using Product = SampledProduct<S>;
  using Rows = typename Product::Rows;
  using Value = typename Product::Value;
  using T = typename Product::T;
  using Counts = typename K::Counts;

 public:
  SddmmPackedPlan(const S& statement, const Resources<Kokkos::Cuda>&)
      : statement_(statement), product_(statement), counts_(K::most(product_.sizes())) {
    bounds_of(statement);  // throws ShapeError if extents do not match
  }

  /// Why the kernel cannot take these operands; empty if it can.
  std::string_view why_not() const {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 2;
    const SampledSizes sizes = product_.sizes();
    if (sizes.inner == 0) return "nothing is summed";
    if (std::max({sizes.rows, sizes.columns, sizes.nonzeros, sizes.inner}) > most)
      return "rows, columns and nonzeros are counted in 32 bits";
    return K::why_not(sizes);
  }
  /// The seconds that a product is expected to take, with copies of C and D if they are needed: a launch, and
  /// a time per byte.
  double seconds() const {
    const FactorsByRows<S> factors(product_);
    return K::seconds(product_.sizes(), counts_) + static_cast<double>(factors.bytes()) / 1e12 +
           2e-6 * static_cast<double>(factors.copies());
  }
  double seconds_of_packing() const { return K::seconds_of_packing(product_.sizes()); }

  /// Counts how large the form of the pattern is, unless memory is bounded: then the upper bounds are kept.
  void measure() {
    if (product_.nonzeros() == 0 ||
        statement_.resources().memory_limit() != Resources<Kokkos::Cuda>::unlimited)
      return;
    auto workspace = statement_.resources().scratch().template borrow<Workspace>();
    Layout layout(workspace->reserve(measuring_bytes()));
    auto* const counts = layout.template take<Counts>(1);
    counts_ = K::count(product_.space(), product_.by_rows(layout), counts);
  }

  void prepare() {
    measure();
    pack();
    if (product_.nonzeros() > 0)
      room_.prepare(statement_.resources().scratch(), FactorsByRows<S>(product_).bytes());
  }
  void run() {
    product_.replace_result([&](Value* values) { compute(values); });
  }
  void refill() {
    if (product_.inner() > 0) compute(product_.result().values().data());
  }

  Bytes bytes() const {
    return {product_.nonzeros(), product_.sparse().bytes(),
            kept_bytes() + with_room_to_grow(std::max(
                               {packing_bytes(), measuring_bytes(), FactorsByRows<S>(product_).bytes()}))};
  }
  std::int64_t held_bytes() const { return static_cast<std::int64_t>(packed_.extent(0)); }

  void explain(std::ostream& out) const {
    out << "  result: a dot product at each nonzero of the sparse operand, whose pattern it shares, by "
           "matrix "
           "instructions in ";
    K::explain(out, product_.sizes(), counts_);
    if (!Product::Epilogue::is_identity) out << ", the epilogue applied as they are stored";
    out << "\n  expected: " << seconds() * 1e6 << " microseconds a product\n";
    if (FactorsByRows<S>(product_).copies() > 0)
      out << "  dense matrices are copied first where their rows do not begin at multiples of 16 bytes\n";
  }

 private:
  std::int64_t measuring_bytes() const {
    Layout layout;
    layout.template take<Counts>(1);
    return layout.bytes() + Rows::found_bytes(product_.sparse());
  }
  std::int64_t packing_bytes() const {
    return K::packing_bytes(product_.space(), product_.sizes(), counts_) +
           Rows::found_bytes(product_.sparse());
  }
  std::int64_t kept_bytes() const { return K::kept_bytes(product_.sizes(), counts_); }

  void pack() {
    if (product_.nonzeros() == 0 || is_packed_) return;
    packed_ = make_array<char, Memory>("sporos::packed pattern", kept_bytes());
    auto workspace = statement_.resources().scratch().template borrow<Workspace>();
    Layout layout(workspace->reserve(packing_bytes()));
    const auto rows = product_.by_rows(layout);
    K::pack(product_.space(), product_.sizes(), counts_, rows, layout, packed_.data());
    is_packed_ = true;
  }
  void compute(Value* values) {
    if (product_.nonzeros() == 0) return;
    pack();
    const FactorsByRows<S> factors(product_);
    room_.with(statement_.resources().scratch(), factors.bytes(), [&](char* memory) {
      Layout layout(memory);
      const auto [c, d] = factors.read(layout);
      K::multiply(product_.space(), product_.sizes(), counts_, packed_.data(),
                  SampledFactors<T>{c, d, factors.stride()},
                  static_cast<const Value*>(product_.sparse().values().data()), product_.epilogue(), values);
    });
  }

  const S& statement_;
  Product product_;
  Counts counts_;  ///< upper bounds until they are counted
  bool is_packed_ = false;
  RoomOfPlan room_;  ///< for copies of C and D
  Array<char, Memory> packed_;
};

/// The cost of a statement with such a plan. For a plan that is kept, the form of the pattern is counted.
template <class K, class S>
Offer cost_of_packed(const S& statement, const Resources<Kokkos::Cuda>& resources, Use use) {
  SddmmPackedPlan<K, S> plan(statement, resources);
  if (const auto why_not = plan.why_not(); !why_not.empty()) return Declined{why_not};
  if (use == Use::often) plan.measure();
  constexpr double of_memory = 1e-4;  // seconds to allocate what is kept
  return Cost{plan.seconds() + plan.seconds_of_packing() + of_memory, plan.seconds()};
}

/// What candidates with such plans have in common. Their instructions exist from compute capability 8.0 on.
template <class K>
struct SddmmPackedCandidate {
  static constexpr std::string_view takes =
      "A(i, j) = B(i, j) * C(i, k) * D(j, k), or an epilogue of it that keeps zeros, A and B in the same "
      "CSR, CSC, COO or batches of CSR, of half, bfloat16 or float, C and D dense, of half or "
      "bfloat16, in the memory of a GPU of compute capability 8.0 or more";
  static constexpr bool deterministic = true;

  template <class S>
  static constexpr bool matches = is_narrow_sampled_product<S>();

  /// For a plan that is kept, the form of the pattern is counted.
  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources, Use use) {
    if (resources.space().cuda_device_prop().major < 8)
      return Declined{"the GPU has no instructions of sm_80"};
    return cost_of_packed<K>(statement, resources, use);
  }

  template <class S>
  using Plan = SddmmPackedPlan<K, S>;
};

}  // namespace sporos::gpu
