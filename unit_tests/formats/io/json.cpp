// SPDX-License-Identifier: Apache-2.0
/// @file json.cpp
/// Texts of JSON, good and bad.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sporos/formats/io/json.hpp>

namespace {
namespace json_tests {

using sporos::io::Json;
using sporos::io::json_string;
using sporos::io::JsonFault;
using sporos::io::JsonParser;

Json parsed(std::string_view text) { return JsonParser(text).parse(); }

TEST(Json, IsParsedIntoATree) {
  const Json tree = parsed(R"( {"a": [1, -2.5e3, true, null, {}], "b": {"c": "d"}, "a": 7} )");
  ASSERT_TRUE(tree.is(Json::Kind::object));
  EXPECT_THAT(tree.names, testing::ElementsAre("a", "b", "a"));
  const Json& list = *tree.find("a");
  ASSERT_EQ(list.items.size(), 5U);
  EXPECT_EQ(list.items[0].integer(), 1);
  EXPECT_EQ(list.items[1].integer(), -2500);
  EXPECT_TRUE(list.items[2].is(Json::Kind::boolean));
  EXPECT_TRUE(list.items[3].is(Json::Kind::null));
  EXPECT_TRUE(list.items[4].is(Json::Kind::object));
  EXPECT_EQ(list.text, "[1, -2.5e3, true, null, {}]");
  EXPECT_EQ(tree.find("b")->find("c")->text, "d");
  EXPECT_EQ(tree.find("d"), nullptr);
}

TEST(Json, GivesIntegersExactlyOrNotAtAll) {
  EXPECT_EQ(parsed("9223372036854775807").integer(), 9223372036854775807);
  EXPECT_EQ(parsed("1e3").integer(), 1000);
  EXPECT_EQ(parsed("4.0").integer(), 4);
  for (const std::string_view text : {"9223372036854775808", "0.5", "1e300", "1e999", "\"1\"", "true"})
    EXPECT_EQ(parsed(text).integer(), std::nullopt) << text;
}

TEST(Json, DecodesStrings) {
  EXPECT_EQ(parsed(R"("\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83c\udf3e Ω")").text,
            "\"\\/\b\f\n\r\tA\u00e9\u20ac\U0001F33E Ω");
  const std::string any = "\"\\\n\x01 Ω/";
  EXPECT_EQ(parsed(json_string(any)).text, any);
}

TEST(Json, RefusesAnythingElseAndSaysWhere) {
  const auto expect_fault = [](std::string_view text, std::size_t byte, std::string_view reason) {
    try {
      parsed(text);
      ADD_FAILURE() << text;
    } catch (const JsonFault& fault) {
      EXPECT_EQ(fault.byte, byte) << text;
      EXPECT_NE(fault.reason.find(reason), std::string::npos) << text << ": " << fault.reason;
    }
  };
  expect_fault("", 0, "a value");
  expect_fault("{\"a\" 1}", 5, "':'");
  expect_fault("{\"a\": 1,}", 8, "the name of a member");
  expect_fault("{a: 1}", 1, "the name of a member");
  expect_fault("[1 2]", 3, "',' or ']'");
  expect_fault("{\"a\": 1", 7, "',' or '}'");
  expect_fault("1 2", 2, "the end");
  expect_fault("01", 1, "the end");
  expect_fault("-", 1, "a digit");
  expect_fault("1.", 2, "a digit");
  expect_fault("nul", 0, "a value");
  expect_fault("\"abc", 4, "end of a string");
  expect_fault("\"a\nb\"", 2, "no control character");
  expect_fault("\"\\x\"", 2, "after a backslash");
  expect_fault("\"\\u12g4\"", 5, "hexadecimal");
  expect_fault("\"\\ud800\"", 6, "surrogates");
  expect_fault("\"\\ud800\\u0041\"", 12, "surrogates");
  expect_fault(std::string(1000, '['), 65, "deep");
}

}  // namespace json_tests
}  // namespace
