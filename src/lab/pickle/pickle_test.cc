
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lab/pickle/pickle_test_util.h"

namespace kepler::lab::pickle {
namespace {

using ::testing::HasSubstr;

TEST(Pickle, Numbers_OfEachOpcode) {
  EXPECT_EQ(Read("N."), "null");
  EXPECT_EQ(Read("\x88."), "1");
  EXPECT_EQ(Read("\x89."), "0");
  EXPECT_EQ(Read("K\xff."), "255");
  EXPECT_EQ(Read("M\x01\x02."), "513");
  EXPECT_EQ(Read("J\xff\xff\xff\xff."), "-1");
  EXPECT_EQ(Read("\x8a\x02\x00\xff."s), "-256");
  EXPECT_EQ(Read("\x8b\x09\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01."s), "1.8446744073709552e+19");
  EXPECT_EQ(Read("G\xc0\x05\x00\x00\x00\x00\x00\x00."s), "-2.625");
}

TEST(Pickle, TextsListsAndDicts) {
  EXPECT_EQ(Read("\x8c\x02hi."), R"("hi")");
  EXPECT_EQ(Read("X\x02\x00\x00\x00hi."s), R"("hi")");
  EXPECT_EQ(Read("\x8d\x02\x00\x00\x00\x00\x00\x00\x00hi."s), R"("hi")");
  EXPECT_EQ(Read(")."), "[]");
  EXPECT_EQ(Read("(K\1K\2t."), "[1,2]");
  EXPECT_EQ(Read("K\1NK\3\x87."), "[1,null,3]");
  EXPECT_EQ(Read("](K\1\x85K\2\205e."), "[[1],[2]]");
  EXPECT_EQ(Read("]K\1aK\2a."), "[1,2]");
  EXPECT_EQ(Read("}\x8c\1aK\1s."), R"({"a":1})");
  EXPECT_EQ(Read("}(\x8c\1aK\1\x8c\1b]u."), R"({"a":1,"b":[]})");
  EXPECT_EQ(Read("\x95\x01\x00\x00\x00\x00\x00\x00\x00N."s), "null");
}

TEST(Pickle, SharedValues_AreCopies) {
  EXPECT_EQ(Read("]\x94K\1a\x85h\0\x86."s), "[[[1]],[1]]");
  EXPECT_EQ(Read("}q\5\x8c\1ah\5\x85s."s), R"(refused: byte 13: its values are nested too deep, or too many)");
  EXPECT_EQ(Read("K\7r\1\2\0\0j\1\2\0\0\x86."s), "[7,7]");
  EXPECT_THAT(Read("h\1."), HasSubstr("value 1 was not stored"));
}

TEST(Pickle, EndlessCopies_AreRefused) {
  std::string bomb =
      "]K\1\x85"
      "a";  // 2 to the power of 30
  for (int i = 0; i < 30; ++i) bomb += "q\1h\1\x86";
  EXPECT_THAT(Read(bomb + "."), HasSubstr("nested too deep, or too many"));
  std::string deep = "N";
  for (int i = 0; i < 40; ++i) deep += "\x85";
  EXPECT_THAT(Read(deep + "."), HasSubstr("nested too deep"));
}

TEST(Pickle, CallsThatCopyALargeText_AreRefused) {
  std::string bomb = "c_codecs\nencode\nq\1X\0\0\x20\0"s + std::string(2 << 20, 'a') + "q\2(";
  for (int i = 0; i < 200; ++i) bomb += "h\1h\2\x85R";
  EXPECT_THAT(Read(bomb + "t."), HasSubstr("its values are too large"));
}

TEST(Pickle, LargeKeysThatMembersShare_AreRefused) {
  std::string bomb = "}q\1X\0\0\x20\0"s + std::string(2 << 20, 'a') + "q\2" + "h\1(";
  for (int i = 0; i < 40; ++i) bomb += "h\2N";
  EXPECT_THAT(Read(bomb + "u."), HasSubstr("too many"));
}

TEST(Pickle, BrokenStacks_AreRefused) {
  for (const auto* const code : {".", "a.", "Na.", "K\1K\2s.", "(t\x85", "\x85.", "N(\x86.", "t.", "e.", "}(Nu.",
                                 "q\1.", "NNb.", "NNR.", ")N\x81.", "NN\x93."})
    EXPECT_THAT(Read(code), HasSubstr("refused: byte")) << code;
  EXPECT_THAT(Read("}NNs."), HasSubstr("a key of a dict is not a text"));
}

TEST(Pickle, OtherFiles_AreRefused) {
  EXPECT_THAT(ReadFile(""), HasSubstr("truncated"));
  EXPECT_THAT(ReadFile("\x80\x04"), HasSubstr("truncated"));
  EXPECT_THAT(ReadFile("(lp0\n."), HasSubstr("not a Python pickle of protocol 2 to 5"));
  EXPECT_THAT(ReadFile("\x80\x06N."), HasSubstr("not a Python pickle of protocol 2 to 5"));
  EXPECT_THAT(Read("Q."), HasSubstr("byte 3: opcode 0x51 is not supported"));
}

TEST(Pickle, BytesAfterTheEnd_AreRefused) { EXPECT_EQ(Read("K\7.N."), "refused: byte 5: bytes follow the end"); }

TEST(Pickle, EveryCut_IsRefused) {
  const std::string whole = "\x80\x04}(\x8c\1aK\1\x8c\1b](G\x40\x05\0\0\0\0\0\0X\1\0\0\0xeu."s;
  EXPECT_EQ(ReadFile(whole), R"({"a":1,"b":[2.625,"x"]})");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_THAT(ReadFile(whole.substr(0, size)), HasSubstr("truncated")) << size;
}

TEST(Pickle, UnknownNames_AreRefusedAndNamed) {
  for (const std::string& code :
       {"cposix\nsystem\n\x8c\4true\x85R."s, "\x8c\5posix\x8c\6system\x93\x8c\4true\x85R."s}) {
    EXPECT_THAT(Read(code), HasSubstr("it refers to 'posix.system'"));
    EXPECT_EQ(KindOf(code), ErrorKind::kUnavailable);
  }
  EXPECT_THAT(Read("cbuiltins\neval\n."), HasSubstr("'builtins.eval'"));
  EXPECT_THAT(Read("cnumpy\ndtype numpy.ndarray\n."), HasSubstr("it refers to"));
  EXPECT_THAT(Read("cposix\n\x1b[2J\n."), HasSubstr("\\x1b"));
}

TEST(Pickle, Objects_AreTheirClassAndState) {
  EXPECT_EQ(Read("csklearn.svm._classes\nSVR\n)\x81}\x8c\1aK\1sb."), R"({"class":"sklearn.svm._classes.SVR","a":1})");
  EXPECT_EQ(Read("csklearn.svm._classes\nSVR\nK\2\x85RK\3\x85"
                 "b."),
            R"({"class":"sklearn.svm._classes.SVR","arguments":[2],"state":[3]})");
  EXPECT_EQ(Read("csklearn.svm._classes\nSVR\n."), R"("sklearn.svm._classes.SVR")");
  EXPECT_EQ(Read("ckepler_model.train.trainer.curvefit\nCurveFitModel\n)\x81."),
            R"({"class":"kepler_model.train.trainer.curvefit.CurveFitModel"})");
  EXPECT_THAT(Read("csklearn.svm._classes\nSVR\n)\x81}b}b."), HasSubstr("a state for something else"));
}

}  // namespace
}  // namespace kepler::lab::pickle
