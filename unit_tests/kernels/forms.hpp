// SPDX-License-Identifier: Apache-2.0
/// @file forms.hpp
/// The names of a kernel's forms in the environment.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <sporos/kernels/host/forms.hpp>
#include <string>

namespace sporos::test {

/// Each form that was compiled is found by its name, and the others are refused.
template <class Form, std::size_t Count>
void expect_named_by_the_environment(const std::array<detail::NamedForm<Form>, Count>& forms) {
  for (const auto& form : forms) {
    ::setenv("SPOROS_TEST_FORM", std::string(form.name).c_str(), 1);
    const auto name = [&] { return detail::form_from_environment("SPOROS_TEST_FORM", forms); };
    if (form.is_compiled) {
      ASSERT_NE(name(), nullptr);
      EXPECT_EQ(name()->form, form.form);
    } else {
      EXPECT_THROW(name(), RangeError);
    }
  }
  ::unsetenv("SPOROS_TEST_FORM");
}

}  // namespace sporos::test
