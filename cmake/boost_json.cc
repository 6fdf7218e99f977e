// Boost.JSON's definitions, once for all rooms that include its headers: the target boost_json.
#include <boost/json/src.hpp>
