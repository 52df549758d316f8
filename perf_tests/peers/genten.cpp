// SPDX-License-Identifier: Apache-2.0
/// @file genten.cpp
/// GenTen (https://github.com/sandialabs/GenTen): MTTKRP and CP-ALS of sparse tensors divided into bricks.
#include <Genten_AlgParams.hpp>
#include <Genten_CpAls.hpp>
#include <Genten_DistContext.hpp>
#include <Genten_DistKtensorUpdate.hpp>
#include <Genten_DistTensorContext.hpp>
#include <Genten_Ktensor.hpp>
#include <Genten_MixedFormatOps.hpp>
#include <Genten_Sptensor.hpp>
#include <sstream>

#include "cp_peer.hpp"

namespace sporos::perf {
namespace {

using Space = Genten::DefaultHostExecutionSpace;
using Factors = Genten::KtensorT<Space>;

class GenTen final : public CpPeer {
 public:
  explicit GenTen(const CpInput& input) {
    parameters_.rank = static_cast<ttb_indx>(input.rank);
    parameters_.sparse = true;
    parameters_.printitn = 0;
    parameters_.tol = -1;  // all iterations that are asked for
    parameters_.maxsecs = -1;
    std::ostringstream said;
    parameters_.template fixup<Space>(said);
    std::vector<ttb_indx> extents(input.extents.begin(), input.extents.end());
    std::vector<std::vector<ttb_indx>> coordinates;
    for (std::size_t e = 0; e < input.values.size(); ++e)
      coordinates.push_back({static_cast<ttb_indx>(input.coordinates[0][e]),
                             static_cast<ttb_indx>(input.coordinates[1][e]),
                             static_cast<ttb_indx>(input.coordinates[2][e])});
    const Genten::SptensorT<Space> whole(extents, input.values, coordinates);
    tensor_ = ranks_.distributeTensor(whole, parameters_);
    if (parameters_.mttkrp_method == Genten::MTTKRP_Method::Perm) tensor_.createPermutation();
    factors_ = of_mode([](int mode) { return mode + 1.0; }, extents, input.rank);
    first_ = of_mode([](int) { return 1.0; }, extents, input.rank);
    vary(first_);
    results_ = copy_of(factors_);
    update_.reset(Genten::createKtensorUpdate(tensor_, factors_, parameters_));
    needed_ = update_->createOverlapKtensor(factors_);
    summed_ = update_->createOverlapKtensor(results_);
    update_->doImport(needed_, factors_);
  }
  ~GenTen() override = default;

  void multiply() override {
    for (ttb_indx mode = 0; mode < 3; ++mode) {
      Genten::mttkrp(tensor_, needed_, mode, summed_[mode], parameters_, true);
      update_->doExport(results_, summed_, mode);
      update_->doImport(needed_, factors_, mode);
    }
  }
  std::array<double, 3> sums() override {
    const auto all = ranks_.template importToRoot<Space>(results_);
    std::array<double, 3> out{};
    if (Genten::DistContext::rank() == 0)
      for (ttb_indx mode = 0; mode < 3; ++mode) out[mode] = all[mode].sum();
    return out;
  }
  bool decompose(int iterations) override {
    parameters_.maxiters = static_cast<ttb_indx>(iterations);
    auto u = copy_of(first_);
    ttb_indx done = 0;
    ttb_real residual = 0;
    Genten::PerfHistory history;
    std::ostringstream said;
    Genten::cpals_core(tensor_, u, parameters_, done, residual, 0, history, said);
    return true;
  }

 private:
  template <class Value>
  Factors of_mode(const Value& value, const std::vector<ttb_indx>& extents, int rank) {
    Genten::KtensorT<Space> whole(static_cast<ttb_indx>(rank), extents.size());
    whole.weights() = 1.0;
    for (std::size_t mode = 0; mode < extents.size(); ++mode) {
      Genten::FacMatrixT<Space> factor(extents[mode], static_cast<ttb_indx>(rank));
      factor = value(static_cast<int>(mode));
      whole.set_factor(mode, factor);
    }
    return ranks_.exportFromRoot(whole);
  }
  static Factors copy_of(const Factors& u) {
    Factors out(u.ncomponents(), u.ndims());
    Genten::deep_copy(out.weights(), u.weights());
    for (ttb_indx mode = 0; mode < u.ndims(); ++mode) {
      Genten::FacMatrixT<Space> factor(u[mode].nRows(), u[mode].nCols());
      Genten::deep_copy(factor, u[mode]);
      out.set_factor(mode, factor);
    }
    out.setProcessorMap(u.getProcessorMap());
    return out;
  }
  /// Other values, so that normal equations can be solved.
  static void vary(Factors& u) {
    std::uint64_t state = 1;
    for (ttb_indx mode = 0; mode < u.ndims(); ++mode)
      for (ttb_indx row = 0; row < u[mode].nRows(); ++row)
        for (ttb_indx column = 0; column < u[mode].nCols(); ++column) {
          state = state * 6364136223846793005u + 1442695040888963407u;
          u[mode].entry(row, column) = static_cast<double>(state >> 11) * 0x1p-53;
        }
  }

  Genten::AlgParams parameters_;
  Genten::DistTensorContext<Space> ranks_;
  Genten::SptensorT<Space> tensor_;
  Factors factors_, first_, results_, needed_, summed_;
  std::unique_ptr<Genten::DistKtensorUpdate<Space>> update_;
};

}  // namespace

GentenScope::GentenScope() { Genten::InitializeGenten(); }
GentenScope::~GentenScope() { Genten::FinalizeGenten(); }

std::unique_ptr<CpPeer> make_genten(const CpInput& input) { return std::make_unique<GenTen>(input); }

}  // namespace sporos::perf
