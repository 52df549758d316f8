// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of a dense and an N:M sparse matrix on the GPU, as a candidate for statements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../cuda/once_per_device.hpp"
#include "../../cuda/sm_90a.hpp"
#include "../../protocol/candidate.hpp"
#include "blocks_candidate.hpp"
#include "cuda_cores.hpp"
#include "k_major.hpp"
#include "model.hpp"
#include "product_of.hpp"
#include "tensor_cores.hpp"
#include "wide_units.hpp"

namespace sporos::gpu {

/// C(i, j) = A(i, k) * B(k, j), with B in NM<N, M, L> or its transpose in NM<N, M, L, 1>, A dense, C dense
/// and row-major; also an epilogue of such a product (kernels/epilogue/epilogue.hpp), and all batches at once
/// of C(b, i, j) = A(b, k, i) * B(k, j), or of an epilogue of that or of A(b, i, k) * B(k, j).
///
/// Of 16-bit floats in units of a multiple of 8 columns, C may be stored by columns: then it is k-major where
/// it is a factor of the next product, which reads it in place.
///
/// Runs on tensor cores (tensor_cores.hpp) if A and B hold floats or 16-bit floats and L is a multiple of 8,
/// the columns of a matrix instruction, or of 16 if floats are split; 32, which four instructions share, is
/// best. 16-bit floats with L a multiple of 128 use wide_units.hpp. Everything else, with any N, M and L,
/// runs on CUDA cores (cuda_cores.hpp). Floats are split into halfs, with an error like that of a sum of
/// floats (split.hpp); floats whose range is too wide for that are left to NmByBlocks, without waiting for
/// the GPU to report it. If a statement allows tf32, floats are rounded to its 11 bits instead. A plan
/// allocates all that its runs need, and packs B for tensor cores if the statement says
/// `.with_constant_operands()`; otherwise each run packs it.
///
/// Returns before the GPU has finished. Later work on the same space instance runs after it; copies to the
/// host and Kokkos::fence() wait for it.
struct NmByGathering {
  struct Operands : NmOperands {
    template <class C>
    static constexpr bool is_result = is_dense_matrix<C> && is_tensor_v<typename C::tensor_type>;
    /// Whether products of `B` can be stored by columns.
    template <class B>
    static constexpr bool stores_by_columns =
        is_narrow_float_v<typename B::value_type> && NmTraits<typename B::format>::unit % 8 == 0;
    template <class C, class A, class B>
    static constexpr bool computes =
        NmOperands::computes<C, A, B> &&
        (NmOperands::is_result<C> || C::format::order == 3 || stores_by_columns<B>);
  };
  static constexpr std::string_view name = "N:M product by gathering";
  static constexpr std::string_view takes =
      "C(i, j) = A(i, k) * B(k, j), B in NM<N, M, L> or B(j, k) in NM<N, M, L, 1>, A dense, C dense and "
      "row-major (or by columns, for 16-bit floats and L a multiple of 8), or C(b, i, j) = A(b, k, i) * B(k, "
      "j), or epilogues of these, floats in the memory of the GPU";
  static constexpr bool deterministic = true;
  static constexpr bool replaces_nest = true;

  template <class S>
  static constexpr bool matches = NmPatternOf<Operands, S>::template matches<S>;

  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources) {
    return Cost{Plan<S>(statement, resources).seconds()};
  }

  template <class S>
  class Plan;
};

namespace detail {

/// Tiles where N of M rows are kept: large ones of 256 columns or of 64 x 128. A stage has 256 rows, so that
/// fewer of the gathered rows share a bank; it has 128 if multiplying the rows of a large tile would be
/// faster than copying the next ones, or if more rows are kept than can be packed.
template <class T, int Planes, int GroupColumns, bool IsLarge, int N, int M>
struct NmConfigFor {
  static constexpr bool is_split = Planes == 2;
  static constexpr int block_m = IsLarge && !is_split ? 128 : 64, block_n = IsLarge ? 256 : 128;
  static constexpr int of_256 = NmPacking::most_kept(N, M, 256);
  static constexpr bool is_long = of_256 <= NmPacking::most_kept_rows && (!IsLarge || of_256 > 64);
  static constexpr int stage_rows = is_long ? 256 : 128;
  static constexpr int steps =
      (NmPacking::most_kept(N, M, stage_rows) + NmPacking::step_rows - 1) / NmPacking::step_rows;
  /// As many stages as leave room for the steps of the sparse matrix.
  static constexpr int stages = is_long ? (IsLarge || is_split ? 2 : 3) : is_split ? 4 : 5;
  using type = NmTensorCoreConfig<T, Planes, GroupColumns, block_m, block_n, stage_rows, steps, stages,
                                  IsLarge ? 1 : 2>;
};

}  // namespace detail

/// How long products of a matrix in groups take, in seconds, measured on an H200.
inline constexpr TileTimes nm_group_times{.launch = 2.2e-6,
                                          .stage = {0.58e-6, 0.85e-6, 1.2e-6},
                                          .stage_of_all = {0.36e-6, 0.60e-6, 1.1e-6},
                                          .store = {0.5e-6, 1.0e-6, 1.8e-6},
                                          .exchange = {3e-6, 5.8e-6, 8e-6},
                                          .again = 4e-6};

template <class S>
class NmByGathering::Plan : NmProductOf<S, Operands> {
  using Base = NmProductOf<S, Operands>;
  using Base::a;
  using Base::is_in_batches;
  using Base::is_k_major;
  using Base::is_of_batches;
  using Base::k;
  using Base::m;
  using Base::n;
  using Base::space;
  using Base::statement_;
  using Base::view;
  using typename Base::Epilogue;
  using typename Base::Out;
  using typename Base::T;
  using typename Base::Traits;

  /// Whether C is stored by columns.
  static constexpr bool is_by_columns =
      !is_of_batches && S::result_type::level_names[0] == S::result_type::names[1];
  using Product = NmProduct<Out, Epilogue, is_by_columns>;
  using Packed = packed_t<T>;
  static constexpr int planes = planes_of<T, S::schedule::allows_tf32>;
  static constexpr bool is_split = planes == 2;
  /// Columns whose rows a warp gathers together.
  static constexpr int group_columns = Traits::unit % 32 == 0 ? 32 : Traits::unit % 16 == 0 ? 16 : 8;
  static constexpr bool for_tensor_cores =
      (is_narrow_float_v<T> || (is_scaled<T> && std::is_same_v<Out, float>)) &&
      Traits::unit % (is_split ? 16 : 8) == 0;
  /// Whether tiles with the columns of one unit can compute it, given the instructions for four warps.
  static constexpr bool for_groups = is_narrow_float_v<T> && Traits::unit % NmGroups::columns == 0 &&
                                     (is_narrow_float_v<Out> || std::is_same_v<Out, float>);
  /// Its tiles are those of the transpose.
  using GroupProduct =
      TiledProduct<Out, std::conditional_t<is_by_columns, EpilogueOfTranspose<Epilogue>, Epilogue>>;
  template <int Width>
  using GroupConfig = NmGroupConfig<T, (64 << Width)>;
  template <int Width>
  static constexpr auto group_kernel =
      &detail::nm_group_kernel<GroupConfig<Width>, is_by_columns, GroupProduct>;
  /// Large tiles for results that fill the GPU with them, and small ones for other results.
  using Large =
      typename detail::NmConfigFor<T, planes, group_columns, true, Traits::kept, Traits::window>::type;
  using Small =
      typename detail::NmConfigFor<T, planes, group_columns, false, Traits::kept, Traits::window>::type;
  template <class Config>
  static constexpr auto kernel = &detail::nm_tensor_core_kernel<Config, Product>;

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>& resources)
      : Base(statement),
        on_tensor_cores_(for_tensor_cores && are_there(resources.space())),
        by_groups_(on_tensor_cores_ && can_group(resources.space())),
        blocks_(statement, resources, NmCopiedRows::all) {}

  /// The seconds that a run is expected to take: the product, and before it what prepares its operands, each
  /// a time in seconds per launch and per element. For A these are the exponents and halfs of floats, or a
  /// k-major copy unless it is read in place; for B, unless it is constant, packing, of floats with exponents
  /// as well.
  double seconds() const {
    if (!on_tensor_cores_) return seconds_of_gathering();
    const double elements = static_cast<double>(a().nnz());
    double seconds = is_scaled<T> ? 12e-6 + (is_split ? 3.5e-12 : 4.5e-12) * elements : 3e-6;
    if (!is_scaled<T> && !reads_a_in_place()) seconds += copies_in_parts() ? 8e-6 : 2e-6 + 1.5e-12 * elements;
    if (!S::schedule::has_constant_operands) seconds += (is_scaled<T> ? 20e-6 : 4e-6) + 6e-12 * this->kept();
    return seconds + seconds_of_product();
  }

  /// Allocates what runs need, and packs B if it is constant.
  void prepare() {
    if constexpr (for_tensor_cores)
      if (on_tensor_cores_ && this->has_terms()) {
        room_.prepare(statement_.resources().scratch(), room_bytes());
        S::schedule::has_constant_operands ? pack() : hold_packed();
      }
  }

  void run() {
    this->write_result([&](Out* c) {
      if constexpr (for_tensor_cores)
        on_tensor_cores_ ? multiply(c) : gather(c);
      else
        gather(c);
    });
  }

  Bytes bytes() const {
    if (!on_tensor_cores_) return this->bytes_with(0);
    return this->bytes_with(packed_bytes() + (is_scaled<T> ? array_bytes<int>(n() + 2) : 0) +
                            array_bytes<int>(counters()) + with_room_to_grow(room_bytes()));
  }
  std::int64_t held_bytes() const {
    return static_cast<std::int64_t>(packed_.extent(0) +
                                     (exponents_.extent(0) + counters_.extent(0)) * sizeof(int));
  }

  void explain(std::ostream& out) const {
    this->explain_batches(out);
    out << "  result: located, tiles of "
        << (by_groups_         ? "one unit each, by matrix instructions for the rows that it keeps\n"
            : on_tensor_cores_ ? "matrix instructions whose rows are gathered\n"
                               : "sums in registers whose rows are gathered from shared memory\n");
    if (is_by_columns) out << "  result: stored by columns\n";
    if (!Epilogue::is_identity) out << "  epilogue: applied to each sum before it is stored\n";
    if (!on_tensor_cores_) {
      out << "  expected: " << seconds() * 1e6 << " microseconds\n";
      const NmGatherTile tile = nm_gather_tile<T, Out>(Traits::unit);
      const auto rows = static_cast<double>(k());
      write_intensity(out, arithmetic_intensity(tile.rows, tile.columns, rows, rows * kept_part),
                      nm_device(multiprocessors()), sizeof(T));
      return;
    }
    if (is_scaled<T>)
      out << "  values: floats " << (is_split ? "split in halfs" : "rounded to 11 bits, as of tf32")
          << ", by blocks where their range is too wide\n";
    out << "  operands: the sparse one is packed"
        << (S::schedule::has_constant_operands ? " once" : " for each run")
        << (reads_a_in_place()  ? "\n"
            : copies_in_parts() ? ", the dense one is copied k-major meanwhile\n"
                                : ", the dense one is copied k-major first\n");
    out << "  expected: " << seconds() * 1e6 << " microseconds, bound by " << bound() << '\n';
  }

 private:
  int multiprocessors() const { return space().cuda_device_prop().multiProcessorCount; }
  static double rounds(std::int64_t tiles, int at_a_time) {
    return static_cast<double>(ceil_div(tiles, at_a_time));
  }

  /// The seconds of a product on CUDA cores, fitted on an H200: a time for each kept row and for each staged
  /// row.
  double seconds_of_gathering() const {
    const auto rows = static_cast<double>(k());
    return 8e-6 + rounds(ceil_div(m(), 128) * ceil_div(n(), 64), 2 * multiprocessors()) *
                      (rows * Traits::kept / Traits::window * 0.3e-6 + rows * 0.2e-6);
  }
  /// The seconds of a product of packed operands on tensor cores, by stages of 64 rows and the part of them
  /// that is kept.
  double seconds_of_product() const {
    if constexpr (for_groups)
      if (by_groups_) return tiles_of_groups().seconds;
    if constexpr (for_tensor_cores)
      return std::min(seconds_of<Large>(large_times), seconds_of<Small>(small_times));
    return 0;
  }
  /// What limits the speed of a product on tensor cores.
  std::string_view bound() const {
    if constexpr (for_tensor_cores) {
      if (by_groups_) return "the copies of gathered rows";
      const auto predicted = [&]<class Config>(Config) {
        return predict_gathering(nm_device(multiprocessors()), Config::block_m, Config::block_n, planes,
                                 Traits::kept, Traits::window, m(), n(), k(), seconds());
      };
      return to_string((is_large() ? predicted(Large{}) : predicted(Small{})).bound());
    } else {
      return {};
    }
  }
  /// The seconds of a stage of 64 rows of a tile, and of the rest of a tile. Fitted on an H200, where
  /// stages of split floats of which little is kept take as long as copying them.
  struct Times {
    double stage, tile;
  };
  static constexpr double kept_part = static_cast<double>(Traits::kept) / Traits::window;
  /// How much longer the kept rows take if a warp gathers for two or four groups of columns. Measured on an
  /// H200.
  static constexpr int groups_of_warp = ColumnsOfWarp::columns / group_columns;
  static constexpr double gathering_large = groups_of_warp == 1   ? 1
                                            : is_split            ? 1.1
                                            : groups_of_warp == 2 ? 1.6
                                                                  : 3.2,
                          gathering_small = groups_of_warp == 1   ? 1
                                            : is_split            ? 1.05
                                            : groups_of_warp == 2 ? 1.1
                                                                  : 1.7;
  static constexpr Times large_times =
                             is_split
                                 ? Times{std::max(0.35e-6, 0.03e-6 + 2.25e-6 * gathering_large * kept_part),
                                         6e-6}
                             : groups_of_warp == 1 ? Times{0.17e-6 + 0.96e-6 * kept_part, 0}
                                                   : Times{0.18e-6 + 1.2e-6 * gathering_large * kept_part, 0},
                         small_times =
                             is_split
                                 ? Times{std::max(0.32e-6, 0.06e-6 + 1.14e-6 * gathering_small * kept_part),
                                         2.5e-6}
                             : groups_of_warp == 1
                                 ? Times{0.08e-6 + 0.28e-6 * kept_part, 0}
                                 : Times{0.06e-6 + 0.55e-6 * gathering_small * kept_part, 0};
  template <class Config>
  double seconds_of(const Times& times) const {
    return rounds(tiles_of<Config>(), multiprocessors()) *
           (static_cast<double>(ceil_div(k(), 64)) * times.stage + times.tile);
  }
  template <class Config>
  std::int64_t tiles_of() const {
    return ceil_div(m(), Config::block_m) * ceil_div(n(), Config::block_n);
  }
  bool is_large() const { return seconds_of<Large>(large_times) <= seconds_of<Small>(small_times); }

  void gather(Out* c, const int* only_if = nullptr) const {
    NmGather<T, Out, Epilogue> in{.epilogue = epilogue_by_rows(statement_)};
    in.m = m();
    in.a = a().values().data();
    in.a_row = is_k_major ? 1 : k();
    in.a_column = is_k_major ? this->rows_of_batch() : 1;
    in.rows_of_batch = this->rows_of_batch();
    in.a_batch = k() * this->rows_of_batch();
    in.b = view();
    in.c = c;
    in.c_row = is_by_columns ? 1 : n();
    in.c_column = is_by_columns ? m() : 1;
    in.accumulates = statement_.accumulates();
    in.only_if = only_if;
    nm_gather(space(), in);
  }

  /// Whether this device and the compiled code have tensor cores fed by a copy engine.
  static bool are_there(const Kokkos::Cuda& space) {
    if constexpr (for_tensor_cores) {
      const bool are_compiled = once_per_device(space, [] { return has_wgmma(kernel<Small>); });
      return runs_sm_90a(space.cuda_device_prop().major, are_compiled);
    } else {
      return false;
    }
  }

  /// Whether they also have the instructions of `group_kernel`, which counts rows and columns in 32 bits.
  bool can_group(const Kokkos::Cuda& space) const {
    if constexpr (for_groups) {
      const bool are_compiled = once_per_device(space, [] { return has_wgmma(group_kernel<2>); });
      constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 2;
      return runs_sm_90a(space.cuda_device_prop().major, are_compiled) &&
             std::max({m(), n(), k(), groups().groups * groups().kept}) <= most;
    } else {
      return false;
    }
  }
  NmGroups groups() const { return NmGroups::of(view()); }

  /// Elements from one row of the k-major copy of A to the next: whole cache lines.
  std::int64_t stride() const { return ceil_div(m(), 64) * 64; }
  /// What is copied together must lie in one batch.
  bool reads_a_in_place() const {
    return !is_scaled<T> && is_k_major &&
           (is_in_batches ? !by_groups_ && this->rows_of_batch() % 64 == 0 : m() % 8 == 0) &&
           reinterpret_cast<std::uintptr_t>(a().values().data()) % 16 == 0;
  }
  KMajorBatches dense() const { return reads_a_in_place() ? this->stored() : this->copied(stride()); }
  NmPacking packing() const
    requires(for_tensor_cores)
  {
    return is_large() ? Large::packing : Small::packing;
  }
  /// Whether the kernel that multiplies makes the k-major copy of A itself: so many blocks have tiles, and
  /// multiply for so long, that their otherwise idle warps copy fast enough.
  bool copies_in_parts() const {
    if constexpr (for_tensor_cores && !is_scaled<T>) {
      constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 2;
      constexpr double seconds_of_element = 4.2e-12;  // on an H200, by these warps of all multiprocessors
      return !by_groups_ && is_large() && tiles_of<Large>() * 2 > multiprocessors() && !is_k_major &&
             static_cast<double>(a().nnz()) * seconds_of_element <= seconds_of<Large>(large_times) &&
             k() % 8 == 0 && std::max(m(), k()) <= most &&
             reinterpret_cast<std::uintptr_t>(a().values().data()) % 16 == 0;
    } else {
      return false;
    }
  }
  /// When the kernel that multiplies may begin: early, if the kernel before it is the one that copies A.
  Begins begins() const { return reads_a_in_place() || copies_in_parts() ? Begins::behind : Begins::early; }
  KMajorOrder order_of_parts() const {
    return {static_cast<int>(m()), static_cast<int>(k()), Large::stage_rows};
  }
  std::int64_t counters() const {
    if constexpr (for_tensor_cores)
      return copies_in_parts() ? KMajorParts<T>::size(order_of_parts()) : 0;
    else
      return 0;
  }
  std::int64_t packed_bytes() const {
    if constexpr (for_tensor_cores)
      return by_groups_ ? groups().bytes() : packing().bytes_of(k(), n());
    else
      return 0;
  }

  /// The memory that a run works in.
  struct Room {
    Packed* high = nullptr;
    Packed* low = nullptr;
    int* row_exponents = nullptr;
    std::int64_t bytes = 0;
  };
  Room lay_out(char* memory) const {
    Layout layout(memory);
    Room out;
    if (!reads_a_in_place()) out.high = layout.template take<Packed>(k() * stride());
    if (is_split) out.low = layout.template take<Packed>(k() * stride());
    if (is_scaled<T>) out.row_exponents = layout.template take<int>(m());
    out.bytes = layout.bytes();
    return out;
  }

  std::int64_t room_bytes() const {
    std::int64_t bytes = lay_out(nullptr).bytes;
    if constexpr (for_tensor_cores && is_scaled<T>) bytes = std::max(bytes, blocks_.bytes_of_run_if());
    return bytes;
  }

  /// Allocates memory for the packed B.
  void hold_packed() {
    if (packed_.extent(0) > 0) return;
    packed_ = make_array<char, Memory>("sporos::packed N:M", packed_bytes());
    if constexpr (is_scaled<T>) exponents_ = make_array<int, Memory>("sporos::exponents", n() + 2);
    if (copies_in_parts()) counters_ = zeroed_array<int, Memory>("sporos::parts of a copy", counters());
  }

  /// Packs B and finds the exponents of its columns. Two flags follow the exponents: too_wide[0] says that B
  /// cannot be split, too_wide[1] that A or B cannot.
  void pack() {
    if (is_packed_ && S::schedule::has_constant_operands) return;
    hold_packed();
    int* too_wide = nullptr;
    if constexpr (is_scaled<T>) {
      too_wide = exponents_.data() + n();
      zero(space(), too_wide, 1);
      exponents_of_columns(space(), view(), exponents_.data(), too_wide);
    }
    is_packed_ = true;
    if constexpr (for_groups)
      if (by_groups_) return pack_groups(space(), view(), groups(), packed_.data());
    pack_nm(space(), view(), packing(), exponents_.data(), too_wide, packed_.data());
  }

  void multiply(Out* c)
    requires(for_tensor_cores)
  {
    pack();
    room_.with(statement_.resources().scratch(), room_bytes(), [&](char* memory) {
      multiply_in(lay_out(memory), c);
      // The working memory's contents are no longer needed.
      if constexpr (is_scaled<T>) {
        const int* const too_wide = exponents_.data() + n() + 1;
        blocks_.why_not().empty() ? blocks_.run_if(too_wide, memory, c) : gather(c, too_wide);
      }
    });
  }
  void multiply_in(const Room& room, Out* c) const
    requires(for_tensor_cores)
  {
    int* too_wide = nullptr;
    if constexpr (is_scaled<T>) {
      too_wide = exponents_.data() + n() + 1;
      exponents_of_rows(space(), a().values().data(), m(), k(), is_k_major, this->stored(),
                        room.row_exponents, too_wide - 1, too_wide);
    }
    const void* high = a().values().data();
    if (!reads_a_in_place()) {
      if (!copies_in_parts())
        copy_k_major<planes>(space(), a().values().data(), m(), k(), is_k_major, this->stored(), room.high,
                             room.low, stride(), room.row_exponents, too_wide,
                             is_scaled<T> ? Begins::early : Begins::behind);
      high = room.high;
    }
    if constexpr (for_groups)
      if (by_groups_) return multiply_groups(static_cast<const T*>(high), c);
    Product product{.epilogue = epilogue_by_rows(statement_)};
    product.m = m();
    product.n = n();
    product.k = k();
    product.packed = packed_.data();
    product.row_exponents = room.row_exponents;
    product.column_exponents = exponents_.data();
    product.too_wide = too_wide;
    product.c = c;
    product.accumulates = statement_.accumulates();
    if (is_large()) {
      const int blocks = blocks_of_cluster();
      KMajorParts<T> parts;
      if constexpr (Large::can_copy_parts)
        if (copies_in_parts())
          parts = {a().values().data(), room.high, stride(), order_of_parts(), counters_.data()};
      nm_product<Large>(space(), product, high, room.low, dense(), blocks, clusters_of_blocks(blocks),
                        begins(), parts);
    } else {
      nm_product<Small>(space(), product, high, room.low, dense(), 1, multiprocessors(), begins());
    }
  }

  /// Two blocks share what they copy of A, unless one of them would often have no tile, or if it is 16-bit
  /// and there already: pairs are 2 to 6 % slower then.
  int blocks_of_cluster() const
    requires(for_tensor_cores)
  {
    if (!is_scaled<T> && !copies_in_parts()) return 1;
    const std::int64_t row_tiles = ceil_div(m(), Large::block_m),
                       column_tiles = ceil_div(n(), Large::block_n);
    const int pairs = clusters_of_blocks(2);
    return pairs > 0 && rounds(row_tiles * ceil_div(column_tiles, 2), pairs) <=
                            rounds(row_tiles * column_tiles, multiprocessors())
               ? 2
               : 1;
  }
  int clusters_of_blocks(int blocks) const
    requires(for_tensor_cores)
  {
    if (blocks != 2) return multiprocessors();
    return once_per_device(space(), [&] {
      return clusters_at_a_time(space(), kernel<Large>, 2, Large::threads, Large::shared_bytes);
    });
  }

  TileChoice tiles_of_groups() const
    requires(for_groups)
  {
    const auto clusters =
        once_per_device(space(), [&] { return clusters_of<GroupConfig<2>>(space(), group_kernel<2>); });
    return choose_tiles(nm_group_times, n(), m(), groups().kept / NmGroups::stage_rows, multiprocessors(),
                        clusters);
  }
  void multiply_groups(const T* high, Out* c) const
    requires(for_groups)
  {
    const NmGroups packing = groups();
    const GroupProduct product{
        n(), m(), packing.kept, c, statement_.accumulates(), {epilogue_by_rows(statement_)}};
    const TileChoice tiles = tiles_of_groups();
    with_tile_width(tiles.width, [&]<int Width>(std::integral_constant<int, Width>) {
      nm_group_product<GroupConfig<Width>, is_by_columns>(space(), product, packing, packed_.data(), high,
                                                          dense().stride, tiles, begins());
    });
  }

  bool on_tensor_cores_, by_groups_;
  /// Stands in for the plan that takes floats which cannot be split, where no floats are split.
  struct Nothing {
    Nothing(const S&, const Resources<Kokkos::Cuda>&, NmCopiedRows) {}
  };
  std::conditional_t<for_tensor_cores && is_scaled<T>, NmByBlocks::Plan<S>, Nothing> blocks_;
  bool is_packed_ = false;
  RoomOfPlan room_;
  Array<char, Memory> packed_;
  Array<int, Memory> exponents_;  ///< [n], and the two flags that pack() sets
  Array<int, Memory> counters_;   ///< [counters()]: k_major_parts.hpp
};

}  // namespace sporos::gpu
