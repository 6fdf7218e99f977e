// Arrays and numbers of numpy in pickles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lab/pickle/pickle_test_util.h"

namespace kepler::lab::pickle {
namespace {

using ::testing::HasSubstr;

std::string Quoted(const std::string& text) { return "\x8c" + std::string(1, static_cast<char>(text.size())) + text; }

/// numpy.dtype(name), with its byte order.
std::string Dtype(const std::string& name, const std::string& order = "<") {
  return "cnumpy\ndtype\n" + Quoted(name) + "\x89\x88\x87R(K\3" + Quoted(order) + "NNNtb";
}

/// An array as joblib writes it; `shape` and what follows are opcodes.
std::string Joblib(const std::string& shape, const std::string& dtype, const std::string& bytes,
                   const std::string& order = "C", const std::string& padding = "") {
  return "cjoblib.numpy_pickle\nNumpyArrayWrapper\n)\x81}(" + Quoted("shape") + shape + Quoted("order") +
         Quoted(order) + Quoted("dtype") + dtype +
         (padding.empty() ? "" : Quoted("numpy_array_alignment_bytes") + "K\x10") + "ub" + padding + bytes;
}

/// As numpy itself writes it.
std::string Array(const std::string& shape, const std::string& dtype, const std::string& fortran,
                  const std::string& data) {
  return "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85\x43\1b\x87R(K\1"s + shape + dtype + fortran +
         data + "tb";
}

const std::string kTwo = "\0\0\0\0\0\0\xf8\x3f\0\0\0\0\0\0\x02\xc0"s;  // 1.5, -2.25

TEST(PickledNumpy, ArraysOfJoblib_FollowTheirDescription) {
  EXPECT_EQ(Read(Joblib("K\2\x85", Dtype("f8"), kTwo) + "."), "[1.5,-2.25]");
  EXPECT_EQ(Read(Joblib("K\2\x85", Dtype("f8"), kTwo, "C", "\3\xff\xff\xff") + "K\1\x86."), "[[1.5,-2.25],1]");
  EXPECT_EQ(Read(Joblib("K\3K\2\x86", Dtype("i1", "|"), "\1\2\3\4\5\6", "F") + "."), "[1,4,2,5,3,6]");
  EXPECT_EQ(
      Read(Joblib("K\2\x85", Dtype("O8", "|"), "\x80\2" + Array("K\2\x85", Dtype("O8"), "\x89", "](NK\1e") + ".") +
           "K\5\x86."),
      "[[null,1],5]");
}

TEST(PickledNumpy, NumbersOfEveryType) {
  EXPECT_EQ(Read(Joblib("K\1\x85", Dtype("f4"), "\0\0\xc0\x3f"s) + "."), "[1.5]");
  EXPECT_EQ(Read(Joblib("K\1\x85", Dtype("i2"), "\xfe\xff") + "."), "[-2]");
  EXPECT_EQ(Read(Joblib("K\1\x85", Dtype("u2"), "\xfe\xff") + "."), "[65534]");
  EXPECT_EQ(Read(Joblib("K\1\x85", Dtype("i4"), "\xfe\xff\xff\xff") + "."), "[-2]");
  EXPECT_EQ(Read(Joblib("K\1\x85", Dtype("i8"), "\xfe\xff\xff\xff\xff\xff\xff\xff") + "."), "[-2]");
  EXPECT_EQ(Read(Joblib("K\1\x85", Dtype("u8"), "\2\0\0\0\0\0\0\0"s) + "."), "[2]");
  EXPECT_EQ(Read(Joblib("K\2\x85", Dtype("b1", "|"), "\1\0"s) + "."), "[1,0]");
  EXPECT_EQ(Read("cnumpy._core.multiarray\nscalar\n" + Dtype("f8") + "C\x8" + kTwo.substr(0, 8) + "\x86R."), "1.5");
}

TEST(PickledNumpy, ArraysOfNumpy) {
  EXPECT_EQ(Read(Array("K\2\x85", Dtype("f8"), "\x89", "C\x10" + kTwo) + "."), "[1.5,-2.25]");
  EXPECT_EQ(Read(Array("K\2K\2\x86", Dtype("u1", "|"), "\x88", "C\4\1\2\3\4") + "."), "[1,3,2,4]");
  // Protocol 2 has no bytes: each is a character.
  EXPECT_EQ(Read(Array("K\2\x85", Dtype("u1", "|"), "\x89",
                       "c_codecs\nencode\n" + Quoted("\xc3\xbf\1") + Quoted("latin1") + "\x86R") +
                 "."),
            "[255,1]");
  EXPECT_EQ(
      Read("cnumpy.core.numeric\n_frombuffer\n(C\4\1\2\3\4" + Dtype("u1", "|") + "K\2K\2\x86" + Quoted("F") + "tR."),
      "[1,3,2,4]");
}

/// As the nodes of a tree.
TEST(PickledNumpy, NamedFields_AreColumns) {
  const auto field = [](const std::string& name, const std::string& dtype, char offset) {
    return Quoted(name) + dtype + "K" + std::string(1, offset) + "\x86";
  };
  const std::string nodes = "cnumpy\ndtype\n" + Quoted("V10") + "\x89\x88\x87R(K\3" + Quoted("|") + "N" +
                            Quoted("left") + Quoted("at") + "\x86}(" + field("left", Dtype("u1", "|"), 0) +
                            field("at", Dtype("f8"), 2) + "utb";
  const std::string bytes = "\7\0"s + kTwo.substr(0, 8) + "\x8\0"s + kTwo.substr(8);
  EXPECT_EQ(Read(Joblib("K\2\x85", nodes, bytes) + "."), R"({"left":[7,8],"at":[1.5,-2.25]})");
}

TEST(PickledNumpy, WhatDoesNotFit_IsRefused) {
  const std::string why = "an array of an unsupported type, shape or size";
  EXPECT_THAT(Read(Joblib("K\2\x85", Dtype("f8", ">"), kTwo) + "."), HasSubstr(why));
  EXPECT_THAT(Read(Joblib("K\2\x85", Dtype("c16"), kTwo) + "."), HasSubstr(why));
  EXPECT_THAT(Read(Joblib("N", Dtype("f8"), kTwo) + "."), HasSubstr(why));
  EXPECT_THAT(Read(Joblib("K\2\x85", "N", kTwo) + "."), HasSubstr(why));
  EXPECT_THAT(Read(Joblib("J\xff\xff\xff\xff\x85", Dtype("f8"), kTwo) + "."), HasSubstr(why));
  EXPECT_THAT(Read(Joblib("J\xff\xff\xff\1M\xff\xff\x86", Dtype("f8"), kTwo) + "."), HasSubstr(why));
  EXPECT_THAT(Read(Joblib("K\3\x85", Dtype("f8"), kTwo) + "."), HasSubstr("truncated"));
  EXPECT_THAT(Read(Array("K\3\x85", Dtype("f8"), "\x89", "C\x10" + kTwo) + "."), HasSubstr("do not fit"));
  EXPECT_THAT(Read(Array("K\1\x85", Dtype("f8"), "\x89", "]") + "."), HasSubstr("do not fit"));
}

}  // namespace
}  // namespace kepler::lab::pickle
