// SPDX-License-Identifier: Apache-2.0
/// @file forms.cpp
/// Every form of MTTKRP, and how one is chosen.
#include "../forms.hpp"

#include <cstdlib>
#include <sporos/kernels/mttkrp/host/product.hpp>

#include "fiber_products.hpp"

namespace sporos::test::mttkrp_forms {
namespace {

using sporos::detail::MttkrpForm;

/// Compares each form at level D with a sum over all entries. Values are small integers, so that sums are
/// exact in any order.
template <int D, class Value>
void check_forms(std::int64_t columns) {
  using T = Tensor<Value, CSF<3>, Host>;
  const auto entries = some_entries<Value, 3>({40, 30, 50}, 3000, 5);
  const auto t = assemble<CSF<3>>(entries);
  std::array<Tensor<Value, DenseMatrix<>>, 3> factors;
  sporos::detail::MttkrpOperands<typename T::view_type, Value> operands{t.view(), columns, {}};
  for (std::size_t mode = 0; mode < factors.size(); ++mode) {
    factors[mode] = some_rows<Value, Host>(entries.extents[mode], columns, static_cast<unsigned>(mode + 1));
    if (mode != D) operands.factors[mode] = factors[mode].values().data();
  }
  const Host space;
  const auto expected = by_entries(entries, factors, D, columns);
  for (const auto& form : sporos::detail::mttkrp_forms) {
    const Tensor<Value, DenseMatrix<>> made({entries.extents[D], columns});
    const sporos::detail::Mttkrp<D, T, Value> product(space, t, operands, made.values().data(),
                                                      made.extent(0));
    product(form.form, false);
    EXPECT_TRUE(same_bytes(made, expected)) << form.name << ", level " << D << ", " << columns << " columns";
  }
}

TEST(FormsOfMttkrp, ComputeTheSameForAnyNumberOfColumns) {
  for (const std::int64_t columns : {1, 7, 8, 15, 16, 33, 64, 127, 130}) {
    check_forms<0, double>(columns);
    check_forms<1, double>(columns);
    check_forms<2, double>(columns);
    check_forms<0, float>(columns);
    check_forms<2, float>(columns);
  }
}

TEST(FormsOfMttkrp, AreNamedByTheEnvironment) {
  expect_named_by_the_environment(sporos::detail::mttkrp_forms);
}

TEST(FormsOfMttkrp, PrefetchLongRowsOfLargeMatrices) {
  if (std::getenv("SPOROS_MTTKRP_FORM")) GTEST_SKIP() << "the environment names a form";
  EXPECT_EQ(sporos::detail::mttkrp_form_for(7'000, 512).ahead, 0) << "most of it is in near caches";
  EXPECT_EQ(sporos::detail::mttkrp_form_for(10'000, 512).ahead, 8);
  EXPECT_EQ(sporos::detail::mttkrp_form_for(30'000, 256).ahead, 0)
      << "the processor fetches short rows by itself";
  EXPECT_EQ(sporos::detail::mttkrp_form_for(300'000, 128).ahead, 8) << "but not in time from memory";
}

}  // namespace
}  // namespace sporos::test::mttkrp_forms
