// SPDX-License-Identifier: Apache-2.0
/// @file thread_tile.hpp
/// A thread's part of a tile of an N:M product on CUDA cores: what it multiplies, and where its sums go.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../cuda/cluster.hpp"
#include "../../cuda/ring.hpp"
#include "../../cuda/warp.hpp"
#include "store.hpp"

namespace sporos::gpu::detail {

/// Whether a product is to be skipped, because it is conditional and no earlier kernel asked for it.
template <class Product>
__device__ __forceinline__ bool is_left_out([[maybe_unused]] const Product& product) {
#if __CUDA_ARCH__ >= 900
  if (product.only_if == nullptr) return false;
  ptx::wait_for_kernel_before();
  return *product.only_if == 0;
#else
  return true;
#endif
}

/// What a thread multiplies for one kept row.
template <class Config>
struct NmBlockOperands {
  using Compute = typename Config::compute;
  using Packed = Pack<Compute, Config::pack>;
  Compute a[Config::rows];
  Compute b[Config::columns];

  __device__ __forceinline__ void load(const char* from_a, const char* from_b) {
    if constexpr (Config::is_row_major) {
#pragma unroll
      for (int i = 0; i < Config::rows; ++i)
        a[i] = *reinterpret_cast<const Compute*>(from_a + Config::row_offset(i) * Config::box_row_bytes);
    } else {
#pragma unroll
      for (int i = 0; i < Config::row_packs; ++i) {
        const Packed packed =
            *reinterpret_cast<const Packed*>(from_a + i * Config::next_rows * sizeof(Compute));
#pragma unroll
        for (int e = 0; e < Config::pack; ++e) a[i * Config::pack + e] = packed.at[e];
      }
    }
#pragma unroll
    for (int j = 0; j < Config::column_packs; ++j) {
      const Packed packed =
          *reinterpret_cast<const Packed*>(from_b + j * Config::next_columns * sizeof(Compute));
#pragma unroll
      for (int e = 0; e < Config::pack; ++e) b[j * Config::pack + e] = packed.at[e];
    }
  }
  /// Goes back and forth over the columns, so that each product shares one factor with the one before.
  __device__ __forceinline__ void multiply(Compute (&sums)[Config::rows][Config::columns]) const {
#pragma unroll
    for (int i = 0; i < Config::rows; ++i)
#pragma unroll
      for (int at = 0; at < Config::columns; ++at) {
        const int j = i % 2 == 0 ? at : Config::columns - 1 - at;
        sums[i][j] += a[i] * b[j];
      }
  }
  /// A word of each load, for `once_loaded`.
  __device__ __forceinline__ std::uint32_t words() const {
    std::uint32_t out = 0;
#pragma unroll
    for (int i = 0; i < Config::rows; i += rows_of_load) out |= first_word(a[i]);
#pragma unroll
    for (int j = 0; j < Config::columns; j += Config::pack) out |= first_word(b[j]);
    return out;
  }
  /// Words of sums that together depend on every load multiplied so far.
  static __device__ __forceinline__ std::uint32_t words_of(
      const Compute (&sums)[Config::rows][Config::columns]) {
    std::uint32_t out = 0;
#pragma unroll
    for (int i = 0; i < Config::rows; i += rows_of_load) out |= first_word(sums[i][0]);
#pragma unroll
    for (int j = Config::pack; j < Config::columns; j += Config::pack) out |= first_word(sums[0][j]);
    return out;
  }

 private:
  static constexpr int rows_of_load = Config::is_row_major ? 1 : Config::pack;
};

/// Pack p of a thread's sums: neighbours in one row.
template <class Config>
__device__ __forceinline__ Pack<typename Config::compute, Config::pack> pack_of_sums(
    const typename Config::compute (&sums)[Config::rows][Config::columns], int p, float nothing) {
  Pack<typename Config::compute, Config::pack> out;
#pragma unroll
  for (int e = 0; e < Config::pack; ++e)
    out.at[e] = sums[p / Config::column_packs][p % Config::column_packs * Config::pack + e] +
                static_cast<typename Config::compute>(nothing);
  return out;
}

/// Where the packs of a thread's sums are in the result, and how they are stored.
template <class Config, class Product>
struct NmBlockStore {
  using Compute = typename Config::compute;
  const Product& product;
  std::int64_t first_row, first_column;

  /// Stores pack p: `pack` neighbouring sums of one row.
  __device__ __forceinline__ void operator()(int p, const Compute (&sums)[Config::pack]) const {
    const int i = p / Config::column_packs, j = p % Config::column_packs;
    const std::int64_t row = first_row + Config::row_offset(i);
    const std::int64_t column = first_column + j * Config::next_columns, left = product.n - column;
    if (row >= product.m || left <= 0) return;
    Compute values[Config::pack];
#pragma unroll
    for (int e = 0; e < Config::pack; ++e) {
      values[e] = sums[e];
      if constexpr (!Product::epilogue_is_identity)
        if (e < left) values[e] = product.epilogue(values[e], row, column + e);
    }
    constexpr int bytes = std::min(16, Config::pack * static_cast<int>(sizeof(*product.c)));
    const bool is_aligned =
        product.n % Config::pack == 0 && reinterpret_cast<std::uintptr_t>(product.c) % bytes == 0;
    store_values(product.c + row * product.n + column, left, is_aligned, product.accumulates, values);
  }
};

/// Stores all sums of a thread.
template <class Config, class Store>
__device__ __forceinline__ void store_sums(
    const typename Config::compute (&sums)[Config::rows][Config::columns], const Store& store) {
#pragma unroll
  for (int p = 0; p < Config::rows * Config::column_packs; ++p)
    store(p, pack_of_sums<Config>(sums, p, store.product.nothing).at);
}
/// Puts the packs of a thread's sums into shared memory, `next` bytes apart, for other threads to add up.
template <class Config>
__device__ __forceinline__ void put_sums(
    const typename Config::compute (&sums)[Config::rows][Config::columns], float nothing, char* to,
    int next) {
#pragma unroll
  for (int p = 0; p < Config::rows * Config::column_packs; ++p)
    *reinterpret_cast<Pack<typename Config::compute, Config::pack>*>(to + p * next) =
        pack_of_sums<Config>(sums, p, nothing);
}
template <class T, int Count>
__device__ __forceinline__ void add_pack(Pack<T, Count>& total, const Pack<T, Count>& terms) {
#pragma unroll
  for (int e = 0; e < Count; ++e) total.at[e] += terms.at[e];
}

}  // namespace sporos::gpu::detail
