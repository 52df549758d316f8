// SPDX-License-Identifier: Apache-2.0
/// @file rode.cpp
/// SpMM by RoDe (https://github.com/CRAFT-THU/RoDe): rows are cut into segments of up to 512 nonzeros, of
/// which whole blocks of 32 are one kernel and what is left another, at the same time. Both add to C by
/// atomics, so C is set to zero first.
#include "RoDeSpmm.h"
#include "spmm_peer.hpp"

namespace sporos::perf {

namespace {

using namespace peers;

constexpr int longest_segment = 512;  // as its own evaluation sets them
constexpr int values_at_once = 4;
constexpr int block_of_nonzeros = 32;

/// The segments that RoDe's kernels walk: those begin at multiples of `values_at_once`, but for the first of
/// a row.
struct Segments {
  std::vector<int> rows, begins, rows_of_rests;

  explicit Segments(const std::vector<int>& positions) {
    for (std::size_t row = 0; row + 1 < positions.size(); ++row) {
      const int padding = positions[row] % values_at_once;
      int begin = positions[row], left = positions[row + 1] - begin + padding;
      const auto add = [&] {
        rows.push_back(static_cast<int>(row));
        begins.push_back(begin);
      };
      for (bool is_first = true; left > longest_segment; left -= longest_segment, is_first = false) {
        add();
        begin += longest_segment - (is_first ? padding : 0);
      }
      if (left >= block_of_nonzeros) add();
      if (left % block_of_nonzeros != 0) rows_of_rests.push_back(static_cast<int>(row));
    }
    begins.push_back(positions.back());
    // A kernel without blocks cannot be started: nothing is added to the first row then.
    if (rows.empty()) {
      rows.push_back(0);
      begins.assign(2, positions.front());
    }
    if (rows_of_rests.empty()) rows_of_rests.push_back(0);
  }
};

template <class Value>
class Rode final : public SpmmPeer {
 public:
  Rode(const PeerProduct<Value>& in, const Segments& segments)
      : in_(in),
        rows_(segments.rows),
        begins_(segments.begins),
        rows_of_rests_(segments.rows_of_rests),
        c_(static_cast<std::size_t>(in.rows) * in.columns) {
    check(cudaStreamCreateWithFlags(&other_, cudaStreamNonBlocking));
    check(cudaEventCreateWithFlags(&forked_, cudaEventDisableTiming));
    check(cudaEventCreateWithFlags(&joined_, cudaEventDisableTiming));
  }
  ~Rode() override {
    cudaEventDestroy(joined_);
    cudaEventDestroy(forked_);
    cudaStreamDestroy(other_);
  }
  void run(cudaStream_t stream) const override {
    c_.set_zero(stream);
    check(cudaEventRecord(forked_, stream));
    check(cudaStreamWaitEvent(other_, forked_, 0));
    using Multiply = void (*)(int, int, int, int, const Value*, const int*, const int*, const int*,
                              const int*, const int*, const Value*, Value*, cudaStream_t, cudaStream_t);
    const Multiply multiply =
        in_.columns % 64 == 0 ? static_cast<Multiply>(&RoDeSpmm_n128) : static_cast<Multiply>(&RoDeSpmm_n32);
    multiply(static_cast<int>(rows_.bytes() / 4), static_cast<int>(rows_of_rests_.bytes() / 4), in_.inner,
             in_.columns, in_.values, in_.coordinates, in_.positions, rows_.get(), rows_of_rests_.get(),
             begins_.get(), in_.b, c_.get(), stream, other_);
    check(cudaGetLastError());
    check(cudaEventRecord(joined_, other_));
    check(cudaStreamWaitEvent(stream, joined_, 0));
  }
  std::vector<double> result() const override { return result_of(c_, c_.bytes() / sizeof(Value)); }
  std::size_t held_bytes() const override { return rows_.bytes() + begins_.bytes() + rows_of_rests_.bytes(); }

 private:
  PeerProduct<Value> in_;
  DeviceArray<int> rows_, begins_, rows_of_rests_;
  DeviceArray<Value> c_;
  cudaStream_t other_ = nullptr;
  cudaEvent_t forked_ = nullptr, joined_ = nullptr;
};

template <class Value>
std::unique_ptr<SpmmPeer> rode(const PeerProduct<Value>& in) {
  if (in.columns % 32 != 0) throw std::runtime_error("RoDe takes multiples of 32 columns");
  return std::make_unique<Rode<Value>>(in, Segments(HostCsr<Value>(in).positions));
}

}  // namespace

std::unique_ptr<SpmmPeer> rode_spmm(const PeerProduct<float>& in) { return rode(in); }
std::unique_ptr<SpmmPeer> rode_spmm(const PeerProduct<double>& in) { return rode(in); }

}  // namespace sporos::perf
