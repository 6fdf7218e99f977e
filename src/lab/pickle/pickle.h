#pragma once
// Python pickles as data: the files of scikit-learn's models, as joblib and pickle write them (protocols 2 to 5).
// Nothing in them is executed: a class or a function is a name, and a call of one is an object with that name. Pure.
#include <string_view>

#include "base/result.h"
#include "json/document.h"

namespace kepler::lab::pickle {

/// Returns the pickle as a tree:
/// * None: null. int and float: a number; an int above 2^53 is rounded. False and True: 0 and 1.
/// * str and bytes: text. list and tuple: a list. dict: an object; its keys must be texts.
/// * numpy array: a list of its values, row by row; with named fields: an object of columns.
/// * instance of a class: an object of its attributes, with "class" first. A state that is not a dict is in "state",
///   and arguments of its constructor are in "arguments".
/// * class or function: its name.
/// Errors: kUnavailable, with the name, for a class or function outside the list of names in scikit-learn's models.
/// kMalformed with the byte for all else that is not supported, truncated input, and more than the limits.
[[nodiscard]] Result<json::Value> ReadPickle(std::string_view bytes);

}  // namespace kepler::lab::pickle
