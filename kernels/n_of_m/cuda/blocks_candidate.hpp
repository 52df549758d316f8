// SPDX-License-Identifier: Apache-2.0
/// @file blocks_candidate.hpp
/// The product of a dense and an N:M sparse matrix on CUDA cores, as a candidate for statements.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string_view>
#include <type_traits>

#include "../../cuda/once_per_device.hpp"
#include "../../cuda/padded.hpp"
#include "../../cuda/sm_90a.hpp"
#include "../../cuda/transpose.hpp"
#include "../../cuda/wgmma_tile.hpp"
#include "../../protocol/candidate.hpp"
#include "blocks.hpp"
#include "k_major.hpp"
#include "model.hpp"
#include "pack_and_copy.hpp"
#include "product_of.hpp"
#include "teams.hpp"

namespace sporos::gpu {

/// C(i, j) = A(i, k) * B(k, j) on CUDA cores, with B in NM<N, M, L> or its transpose in NM<N, M, L, 1>, A
/// dense, C dense and row-major; also an epilogue of such a product (kernels/epilogue/epilogue.hpp), and all
/// batches at once of C(b, i, j) = A(b, k, i) * B(k, j), or of an epilogue of that or of A(b, i, k) *
/// B(k, j). Computed as in blocks.hpp or, if the result is small, teams.hpp, after Ma et al., *NM-SpMM*
/// (arXiv 2503.01253), sections III-B and III-C.
///
/// Takes any N, M and shapes; L must be a multiple of 4, for full speed of 8. Half and bfloat16 are summed in
/// float, other types in the wider of the types of operands and result, and every run sums in the same order.
/// Half and bfloat16 in units of a multiple of 32 are left to tensor cores. A plan allocates all that its
/// runs need, and packs B if the statement says `.with_constant_operands()`; otherwise each run packs it.
/// Each run copies A k-major unless A is stored that way or the result is small. If N/M is at most 1/8 and L
/// a multiple of 32, a plan may copy to shared memory only those rows of A that a tile's units keep.
///
/// Returns before the GPU has finished. Later work on the same space instance runs after it; copies to the
/// host and Kokkos::fence() wait for it.
struct NmByBlocks {
  struct Operands : NmOperands {
    template <class C, class A, class B>
    static constexpr bool computes =
        NmOperands::computes<C, A, B> && NmTraits<typename B::format>::unit % 4 == 0 &&
        !(is_narrow_float_v<typename B::value_type> && NmTraits<typename B::format>::unit % 32 == 0);
  };
  static constexpr std::string_view name = "N:M product by blocks";
  static constexpr std::string_view takes =
      "C(i, j) = A(i, k) * B(k, j), B in NM<N, M, L> or B(j, k) in NM<N, M, L, 1>, L a multiple of 4 (not of "
      "32 where B holds half or bfloat16), A dense, C dense and row-major, or "
      "C(b, i, j) = A(b, k, i) * B(k, j), floats in the memory of a GPU of compute capability 9.0";
  static constexpr bool deterministic = true;

  template <class S>
  static constexpr bool matches = NmPatternOf<Operands, S>::template matches<S>;

  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources) {
    const Plan<S> plan(statement, resources);
    if (const auto reason = plan.why_not(); !reason.empty()) return Declined{reason};
    return Cost{plan.seconds()};
  }

  template <class S>
  class Plan;
};

template <class S>
class NmByBlocks::Plan : NmProductOf<S, Operands> {
  using Base = NmProductOf<S, Operands>;
  using Base::a;
  using Base::b;
  using Base::is_in_batches;
  using Base::is_k_major;
  using Base::k;
  using Base::m;
  using Base::n;
  using Base::space;
  using Base::statement_;
  using typename Base::Epilogue;
  using typename Base::Out;
  using typename Base::T;
  using typename Base::Traits;

  using Compute = std::common_type_t<accumulate_t<T>, accumulate_t<Out>>;
  using Product = NmBlockProduct<Out, Epilogue>;
  using TeamProduct = NmTeamProduct<Out, Epilogue>;
  static constexpr NmChunks cut = NmChunks::of(Traits::kept, Traits::window);
  /// Large tiles for results that fill the GPU with them, and small ones for other results.
  static constexpr int rows = 64 / static_cast<int>(sizeof(Compute)), columns = Traits::unit % 8 == 0 ? 8 : 4;
  static constexpr bool shares_unit = Traits::unit % (4 * columns) == 0;
  using Large = NmBlockConfig<Compute, rows, columns, shares_unit, 8, 1>;
  using Small = NmBlockConfig<Compute, rows / 2, columns, shares_unit, 4, 3>;
  /// The same where only those rows of A are copied that a tile's units keep.
  static constexpr bool can_list =
      can_list_rows(Traits::kept, Traits::window, Traits::unit, Large::warp_columns);
  static constexpr NmChunks cut_if_listed = NmChunks::of_listed(Traits::kept, Traits::window);
  using ListedLarge = NmBlockConfig<Compute, rows, columns, shares_unit, 8, 1, true>;
  using ListedSmall = NmBlockConfig<Compute, rows / 2, columns, shares_unit, 4, 3, true>;
  static constexpr bool has_listed_large =
      can_list && ListedLarge::slots(ListedLarge::layout(cut_if_listed, Traits::unit)).fit();
  static_assert(!can_list || ListedSmall::slots(ListedSmall::layout(cut_if_listed, Traits::unit)).fit(),
                "sections of listed rows are no larger than those of windows of 256");
  static constexpr bool has_large = Large::slots(Large::layout(cut)).fit();
  static_assert(Small::slots(Small::layout(cut)).fit(), "two windows of 256 rows fit in shared memory");
  /// Tiles computed by teams, which read A as it is stored. The number of teams gives a multiprocessor eight
  /// or twelve warps; with more, a thread would have too few registers.
  template <int Rows, int WarpsOfTeam, int Teams>
  using TeamConfig = NmTeamConfig<Compute, !is_k_major, Rows, columns, shares_unit, WarpsOfTeam, Teams>;
  using TinyOfTeams = TeamConfig<rows / 4, 2, 4>;
  using SmallOfTeams = TeamConfig<rows / 2, 2, 4>;
  using WideOfTeams = TeamConfig<rows / 2, 4, 3>;
  template <class Config>
  static constexpr NmChunks cut_of_teams = Config::cut(Traits::kept, Traits::window);
  template <class Config>
  static constexpr bool teams_fit = Config::takes(cut_of_teams<Config>);

 public:
  /// @param copied  which rows of A are copied; `listed` has no effect where `can_list_rows` is false
  Plan(const S& statement, const Resources<Kokkos::Cuda>& resources,
       NmCopiedRows copied = NmCopiedRows::chosen)
      : Base(statement), device_(nm_device(resources.space().cuda_device_prop().multiProcessorCount)) {
    // The seconds of copying A k-major: a launch, and a time per byte.
    const double copy = 2.5e-6 + static_cast<double>(a().nnz()) * sizeof(Compute) * 0.8e-12;
    const double before_blocks = reads_k_major_in_place() ? 0 : copy,
                 before_teams = reads_in_place() ? 0 : copy;
    consider<Small>(nm_small_block_times, before_blocks, NmBlockChoice::small, all_);
    consider<Large>(nm_large_block_times, before_blocks, NmBlockChoice::large, all_);
    const auto& times = nm_team_times<!is_k_major>;
    consider<TinyOfTeams>(times[0], before_teams, NmBlockChoice::by_teams_tiny, all_);
    consider<SmallOfTeams>(times[1], before_teams, NmBlockChoice::by_teams_small, all_);
    consider<WideOfTeams>(times[2], before_teams, NmBlockChoice::by_teams_wide, all_);
    choice_ = all_;
    if constexpr (can_list) {
      consider<ListedSmall>(nm_small_block_times, before_blocks, NmBlockChoice::listed_small, listed_);
      consider<ListedLarge>(nm_large_block_times, before_blocks, NmBlockChoice::listed_large, listed_);
      if (copied == NmCopiedRows::listed)
        choice_ = listed_;
      else if (copied == NmCopiedRows::chosen)
        choice_.consider(listed_);
    }
  }

  /// Why the kernel cannot run on this device or take these operands; empty if it can.
  std::string_view why_not() const {
    const bool are_compiled =
        once_per_device(space(), [] { return has_wgmma(&detail::nm_block_kernel<Small, Product>); });
    if (!runs_sm_90a(space().cuda_device_prop().major, are_compiled)) return no_sm_90a;
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 2;
    if (std::max({m(), n(), k()}) > most) return "the copy engine counts rows and columns in 32 bits";
    return {};
  }
  /// The seconds that a run is expected to take, with packing B unless it is constant: a launch, and a time
  /// per byte.
  double seconds() const { return seconds_of(choice_); }

  /// Allocates what runs need, and packs B if it is constant.
  void prepare() {
    if (!this->has_terms()) return;
    room_.prepare(statement_.resources().scratch(), copied_bytes());
    S::schedule::has_constant_operands ? pack() : hold_packed();
  }
  void run() {
    this->write_result([&](Out* c) { multiply(c); });
  }

  /// The bytes that `run_if` works in.
  std::int64_t bytes_of_run_if() const {
    Layout layout;
    layout.take<char>(packed_bytes());
    layout.take<char>(copied_bytes());
    return layout.bytes();
  }
  /// Computes the product if *only_if is not zero by then: another kernel has found that it cannot. Only then
  /// are the operands packed and copied, into `memory`. The plan must copy all rows of A.
  void run_if(const int* only_if, char* memory, Out* c) const
    requires(std::is_same_v<T, Compute>)
  {
    Layout layout(memory);
    char* const packed = layout.take<char>(packed_bytes());
    auto* const copied = reinterpret_cast<T*>(layout.take<char>(copied_bytes()));
    NmDenseCopy<T> copy{.from = a().values().data(), .stored = this->stored(), .stride = stride()};
    if (is_copied()) copy.to = copied;
    copy.transposes = is_k_major != reads_it_k_major();
    if constexpr (!is_k_major)
      copy.stored = copy.transposes ? KMajorBatches{k(), m()} : KMajorBatches{m(), k(), k(), 1};
    pack_and_copy(space(), only_if, this->view(), this->layout(), packed, copy);
    with_config([&]<class Config>(Config) {
      multiply_by<Config>(is_copied() ? copied : copy.from, packed, c, only_if);
    });
  }

  Bytes bytes() const { return this->bytes_with(packed_bytes() + with_room_to_grow(copied_bytes())); }
  std::int64_t held_bytes() const { return static_cast<std::int64_t>(packed_.extent(0)); }

  void explain(std::ostream& out) const {
    this->explain_batches(out);
    with_config([&]<class Config>(Config) {
      out << "  result: located, tiles of " << Config::block_m << " x " << Config::block_n
          << " in registers, whose rows are gathered from shared memory";
      if constexpr (is_of_teams<Config>)
        out << ", by " << Config::teams << " teams of warps, each a part of k";
    });
    if (choice_.shared > 1) out << ", " << choice_.shared << " thread blocks each";
    out << '\n';
    if constexpr (can_list) {
      const auto microseconds = [&](const NmBlockChoice& of) { return seconds_of(of) * 1e6; };
      if (choice_.lists_rows())
        out << "  copies: only rows of the dense operand that a tile keeps (packing); all would take "
            << microseconds(all_) << " microseconds\n";
      else
        out << "  copies: all rows of the dense operand; only those that a tile keeps (packing) would take "
            << microseconds(listed_) << " microseconds\n";
    }
    if (!Epilogue::is_identity) out << "  epilogue: applied to each sum before it is stored\n";
    out << "  operands: the sparse one is packed"
        << (S::schedule::has_constant_operands ? " once" : " for each run")
        << (!is_copied()         ? "\n"
            : reads_it_k_major() ? ", the dense one is copied k-major first\n"
                                 : ", the dense one is copied first\n");
    out << "  expected: " << seconds() * 1e6 << " microseconds, bound by "
        << to_string(choice_.prediction.bound()) << '\n';
    with_config([&]<class Config>(Config) {
      write_intensity(out,
                      arithmetic_intensity(shape_of<Config>, cut_of<Config>(), k(), choice_.shared,
                                           part_of_rows<Config>()),
                      device_, sizeof(Compute));
    });
  }

 private:
  template <class Config>
  static constexpr bool is_of_teams = requires { Config::teams; };

  template <class Config>
  static constexpr NmChunks cut_of() {
    if constexpr (is_of_teams<Config>)
      return cut_of_teams<Config>;
    else
      return Config::lists_rows ? cut_if_listed : cut;
  }
  template <class Config>
  static constexpr NmChunkLayout layout_of() {
    if constexpr (is_of_teams<Config>)
      return Config::layout(cut_of<Config>());
    else
      return Config::layout(cut_of<Config>(), Traits::unit);
  }
  template <class Config>
  static constexpr NmTileShape shape_of = [] {
    if constexpr (is_of_teams<Config>)
      return NmTileShape::of<Config>(Config::warps_of_team, 1);
    else
      return NmTileShape::of<Config>(Config::warps, Config::at_a_time);
  }();
  /// The part of A's rows that is copied.
  template <class Config>
  static double part_of_rows() {
    if constexpr (is_of_teams<Config>)
      return 1;
    else if constexpr (Config::lists_rows)
      return part_of_listed_rows(Traits::kept, Traits::window, Config::block_n, Traits::unit);
    else
      return 1;
  }

  double seconds_of(const NmBlockChoice& choice) const {
    double seconds = choice.prediction.seconds;
    if (!S::schedule::has_constant_operands) seconds += 3e-6 + this->kept() * sizeof(Compute) * 1e-12;
    return seconds;
  }

  /// Replaces a choice by tiles of this Config if they are faster and two parts of the operands fit in its
  /// slots.
  /// @param before  seconds of the work that precedes the product
  template <class Config, class Times>
  void consider(const Times& times, double before, NmBlockChoice::Tiles which, NmBlockChoice& choice) const {
    constexpr NmTileShape tile = shape_of<Config>;
    constexpr NmChunks of = cut_of<Config>();
    const auto look = [&](int shared, NmPrediction prediction) {
      prediction.seconds += before;
      choice.consider({which, shared, prediction});
    };
    if constexpr (is_of_teams<Config>) {
      if constexpr (teams_fit<Config>) look(1, predict_teams(device_, tile, times, of, m(), n(), k()));
    } else if constexpr (Config::slots(layout_of<Config>()).fit()) {
      const double cost = part_of_rows<Config>() * (Config::lists_rows ? nm_cost_of_listed_row : 1),
                   wait = Config::lists_rows ? nm_wait_for_listed_rows : 1;
      for (int shared = 1; shared == 1 || (shared <= 8 && shared <= of.sections(k())); shared *= 2) {
        NmPrediction prediction = predict_blocks(device_, tile, times, of, m(), n(), k(), shared, cost);
        prediction.seconds *= wait;
        look(shared, prediction);
      }
    }
  }
  /// Calls visit(Config{}) with the chosen tiles.
  template <class Visit>
  decltype(auto) with_config(const Visit& visit) const {
    if constexpr (has_large)
      if (choice_.tiles == NmBlockChoice::large) return visit(Large{});
    if constexpr (can_list) {
      if (choice_.tiles == NmBlockChoice::listed_small) return visit(ListedSmall{});
      if constexpr (has_listed_large)
        if (choice_.tiles == NmBlockChoice::listed_large) return visit(ListedLarge{});
    }
    if constexpr (teams_fit<TinyOfTeams>)
      if (choice_.tiles == NmBlockChoice::by_teams_tiny) return visit(TinyOfTeams{});
    if constexpr (teams_fit<SmallOfTeams>)
      if (choice_.tiles == NmBlockChoice::by_teams_small) return visit(SmallOfTeams{});
    if constexpr (teams_fit<WideOfTeams>)
      if (choice_.tiles == NmBlockChoice::by_teams_wide) return visit(WideOfTeams{});
    return visit(Small{});
  }
  NmChunkLayout layout() const {
    return with_config([&]<class Config>(Config) { return layout_of<Config>(); });
  }
  std::int64_t packed_bytes() const { return layout().bytes(k(), n()); }

  /// Whether the kernel reads A k-major, possibly from a copy.
  bool reads_it_k_major() const { return is_k_major || !choice_.is_by_teams(); }
  /// Elements from one row of A, in the form that the kernel reads, to the next; rows of a copy have whole
  /// cache lines.
  std::int64_t stride() const {
    const std::int64_t extent = reads_it_k_major() ? m() : k();
    constexpr int line = 128 / static_cast<int>(sizeof(Compute));
    return is_copied() ? ceil_div(extent, line) * line : extent;
  }
  /// Whether the copy engine, which counts in units of 16 bytes, can read A as it is stored; the rows of a
  /// tile must lie in one batch.
  bool reads_in_place() const {
    const std::int64_t extent = is_k_major ? this->rows_of_batch() : k();
    return std::is_same_v<T, Compute> && extent % widest_pack<Compute> == 0 &&
           (this->batches() == 1 || extent % Large::block_m == 0) &&
           is_aligned<Pack<Compute, widest_pack<Compute>>>(a().values().data());
  }
  bool reads_k_major_in_place() const { return is_k_major && reads_in_place(); }
  bool is_copied() const { return is_k_major != reads_it_k_major() || !reads_in_place(); }
  std::int64_t copied_bytes() const {
    return is_copied() ? array_bytes<Compute>((reads_it_k_major() ? k() : m()) * stride()) : 0;
  }

  /// Allocates memory for the packed B.
  void hold_packed() {
    if (packed_.extent(0) == 0) packed_ = make_array<char, Memory>("sporos::packed N:M", packed_bytes());
  }
  void pack() {
    if (is_packed_ && S::schedule::has_constant_operands) return;
    hold_packed();
    if constexpr (can_list)
      if (choice_.lists_rows()) list_rows(space(), this->view(), layout(), packed_.data());
    pack_chunks<Compute>(space(), this->view(), layout(), packed_.data());
    is_packed_ = true;
  }

  /// A in the form that the kernel reads, copied to `to` if necessary.
  const Compute* copy(Compute* to) const {
    const T* const from = a().values().data();
    if constexpr (std::is_same_v<T, Compute>)
      if (!is_copied()) return from;
    if constexpr (is_in_batches) {
      join_batches(space(), from, this->stored(), stride(), to);
    } else if constexpr (is_k_major) {
      pad_rows(space(), from, k(), m(), stride(), to);
    } else {
      if (reads_it_k_major())
        for_each_transposed(space(), m(), k(), from, detail::StoreTransposed<T, Compute>{to, stride()});
      else
        pad_rows(space(), from, m(), k(), stride(), to);
    }
    return to;
  }

  void multiply(Out* c) {
    pack();
    room_.with(statement_.resources().scratch(), copied_bytes(), [&](char* memory) {
      const Compute* const dense = copy(reinterpret_cast<Compute*>(memory));
      with_config([&]<class Config>(Config) { multiply_by<Config>(dense, packed_.data(), c); });
    });
  }
  template <class Config>
  void multiply_by(const Compute* dense, const char* packed, Out* c, const int* only_if = nullptr) const {
    std::conditional_t<is_of_teams<Config>, TeamProduct, Product> product{.epilogue =
                                                                              epilogue_by_rows(statement_)};
    product.m = m();
    product.n = n();
    product.packed = packed;
    product.only_if = only_if;
    product.c = c;
    product.accumulates = statement_.accumulates();
    const KMajorBatches stored = is_copied() ? this->copied(stride()) : this->stored();
    if constexpr (is_of_teams<Config>) {
      product.template set_config<Config>(cut_of_teams<Config>, k());
      nm_team_product<Config>(space(), product, cut_of_teams<Config>, dense, stored, Begins::early);
    } else {
      constexpr NmChunkLayout layout = layout_of<Config>();
      product.sections = static_cast<int>(layout.cut.sections(k()));
      product.slots = Config::slots(layout);
      product.set_layout(layout);
      if constexpr (Config::lists_rows)
        product.listed.lists = reinterpret_cast<const std::uint16_t*>(packed + layout.lists_at(k(), n()));
      nm_block_product<Config>(space(), product, dense, stored, choice_.shared);
    }
  }

  NmDevice device_;
  /// The fastest ways that copy all rows of A, and that list rows; the one of them that is taken.
  NmBlockChoice all_, listed_, choice_;
  bool is_packed_ = false;
  RoomOfPlan room_;
  Array<char, Memory> packed_;
};

/// NmByBlocks, except that the model does not choose which rows of the dense factor are copied. It is not
/// among the candidates that are chosen from: `.use<…>()` asks for it, to compare the two ways.
template <NmCopiedRows Copied>
struct NmByBlocksThatCopy : NmByBlocks {
  static constexpr std::string_view name = Copied == NmCopiedRows::listed
                                               ? "N:M product by blocks that list rows"
                                               : "N:M product by blocks that copy all rows";

  template <class S>
  struct Plan : NmByBlocks::Plan<S> {
    Plan(const S& statement, const Resources<Kokkos::Cuda>& resources)
        : NmByBlocks::Plan<S>(statement, resources, Copied) {}
  };
  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources) {
    return Cost{Plan<S>(statement, resources).seconds()};
  }
};
using NmByBlocksOfListedRows = NmByBlocksThatCopy<NmCopiedRows::listed>;
using NmByBlocksOfAllRows = NmByBlocksThatCopy<NmCopiedRows::all>;

}  // namespace sporos::gpu
