// SPDX-License-Identifier: Apache-2.0
/// @file flash_sparse.cpp
/// SpMM by FlashSparse (https://github.com/ParCIS/FlashSparse) in half: windows of 8 rows, whose columns are
/// the operands of m16n8k8. Its instructions sum in half.
#include "spmm_peer.hpp"
// The kernels, whose own callers measure them.
#include "SpMM/src/spmmKernel.cu"

namespace sporos::perf {

namespace {

using namespace peers;

constexpr int window_rows = 8, tile_columns = 8;
constexpr int tiles_of_part = 32;  // of a window, where windows are cut: as its own evaluation sets them
constexpr int columns_of_block = 64, threads = 128;

/// The values of tiles of 8 x 8, the last of a window narrower, and the columns of B that they take.
struct Windows {
  std::vector<int> positions{0}, coordinates;
  std::vector<__half> values;
  std::vector<int> window_of_part, is_shared;  ///< where windows are cut

  Windows(const HostCsr<__half>& a, bool is_cut) {
    const int rows = static_cast<int>(a.positions.size()) - 1;
    for (int first = 0; first < rows; first += window_rows) {
      const RowWindow<__half> window(a, first, window_rows);
      const int count = static_cast<int>(window.columns.size());
      const std::size_t at = values.size();
      values.resize(at + static_cast<std::size_t>(count) * window_rows, __half(0.0F));
      for (const auto& nonzero : window.nonzeros) {
        const int tile = nonzero.column / tile_columns;
        const int width = std::min(tile_columns, count - tile * tile_columns);
        values[at + static_cast<std::size_t>(tile * tile_columns * window_rows + nonzero.row * width +
                                             nonzero.column % tile_columns)] = nonzero.value;
      }
      coordinates.insert(coordinates.end(), window.columns.begin(), window.columns.end());
      const int of_part = is_cut ? tiles_of_part * tile_columns : count;
      if (!is_cut) positions.push_back(positions.back() + count);
      for (int begin = 0; is_cut && begin < count; begin += of_part) {
        positions.push_back(positions.back() + std::min(of_part, count - begin));
        window_of_part.push_back(first / window_rows);
        is_shared.push_back(count > of_part ? 1 : 0);
      }
    }
  }
};

template <bool IsBalanced>
class FlashSparse final : public SpmmPeer {
  using Result = std::conditional_t<IsBalanced, float, __half>;

 public:
  FlashSparse(const PeerProduct<__half>& in, const Windows& windows)
      : in_(in),
        positions_(windows.positions),
        coordinates_(windows.coordinates),
        values_(windows.values),
        window_of_part_(windows.window_of_part),
        is_shared_(windows.is_shared),
        parts_(static_cast<int>(windows.positions.size()) - 1),
        c_(static_cast<std::size_t>(in.rows) * in.columns) {
    c_.set_zero(nullptr);  // rows without nonzeros are not written
  }
  void run(cudaStream_t stream) const override {
    const auto* const values = reinterpret_cast<const double*>(values_.get());
    const auto* const b = reinterpret_cast<const double*>(in_.b);
    const int n = in_.columns;
    if constexpr (IsBalanced) {
      c_.set_zero(stream);
      const int at_once = parts_ < 500'000 ? 8 : (parts_ / 1'250'000 + 1) * 20;
      spmm_forward_cuda_kernel_fp16_balance<columns_of_block>
          <<<dim3((n + columns_of_block - 1) / columns_of_block, at_once, parts_ / at_once + 1), threads, 0,
             stream>>>(positions_.get(), coordinates_.get(), values, window_of_part_.get(), is_shared_.get(),
                       b, c_.get(), n, parts_, n, in_.rows, at_once);
    } else {
      spmm_forward_cuda_kernel_fp16_map<<<
          dim3((n + columns_of_block - 1) / columns_of_block, 200, parts_ / 200 + 1), threads, 0, stream>>>(
          positions_.get(), coordinates_.get(), values, b, c_.get(), n, parts_, n, in_.rows,
          columns_of_block);
    }
    check(cudaGetLastError());
  }
  std::vector<double> result() const override { return result_of(c_, c_.bytes() / sizeof(Result)); }
  std::size_t held_bytes() const override {
    return positions_.bytes() + coordinates_.bytes() + values_.bytes() + window_of_part_.bytes() +
           is_shared_.bytes();
  }

 private:
  PeerProduct<__half> in_;
  DeviceArray<int> positions_, coordinates_;
  DeviceArray<__half> values_;
  DeviceArray<int> window_of_part_, is_shared_;
  int parts_;
  DeviceArray<Result> c_;
};

}  // namespace

std::unique_ptr<SpmmPeer> flash_sparse_spmm(const PeerProduct<__half>& in, bool is_balanced) {
  if (in.columns % 16 != 0) throw std::runtime_error("FlashSparse is asked for multiples of 16 columns");
  using A = HostCsr<__half>;
  if (is_balanced)
    return std::make_unique<FlashSparse<true>>(
        in, prepared_once(in, [](const A& a) { return Windows(a, true); }));
  return std::make_unique<FlashSparse<false>>(
      in, prepared_once(in, [](const A& a) { return Windows(a, false); }));
}

}  // namespace sporos::perf
