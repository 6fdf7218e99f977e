#pragma once
// Names of classes and functions in the pickles of Kepler's model server, with scikit-learn 1.1 to 1.9. Internal to the
// room. Each is only a name here: what it does in Python is not done.
#include <string_view>

namespace kepler::lab::pickle {

inline constexpr std::string_view kJoblibArray = "joblib.numpy_pickle.NumpyArrayWrapper";
inline constexpr std::string_view kEncode = "_codecs.encode";
inline constexpr std::string_view kDtype = "numpy.dtype";
// In numpy.core. or numpy._core.
inline constexpr std::string_view kScalar = ".multiarray.scalar";
inline constexpr std::string_view kReconstruct = ".multiarray._reconstruct";
inline constexpr std::string_view kFromBuffer = ".numeric._frombuffer";

/// Each between blanks. Names of the model server (train.) may have its package before them.
inline constexpr std::string_view kNames =
    " _codecs.encode joblib.numpy_pickle.NumpyArrayWrapper numpy.dtype numpy.ndarray"
    " numpy.core.multiarray._reconstruct numpy.core.multiarray.scalar numpy.core.numeric._frombuffer"
    " numpy._core.multiarray._reconstruct numpy._core.multiarray.scalar numpy._core.numeric._frombuffer"
    " numpy.random._mt19937.MT19937 numpy.random._pickle.__bit_generator_ctor numpy.random._pickle.__randomstate_ctor"
    " numpy.random.bit_generator.SeedSequence numpy.random.bit_generator.__pyx_unpickle_SeedSequence"
    " _loss.CyHalfSquaredError _loss.__pyx_unpickle_CyHalfSquaredError"
    " sklearn._loss._loss.CyHalfSquaredError sklearn._loss._loss.__pyx_unpickle_CyHalfSquaredError"
    " sklearn._loss.link.IdentityLink sklearn._loss.link.Interval sklearn._loss.loss.HalfSquaredError"
    " sklearn.dummy.DummyRegressor sklearn.ensemble._gb.GradientBoostingRegressor"
    " sklearn.ensemble._gb_losses.LeastSquaresError sklearn.tree._classes.DecisionTreeRegressor sklearn.tree._tree.Tree"
    " sklearn.linear_model._base.LinearRegression sklearn.linear_model._stochastic_gradient.SGDRegressor"
    " sklearn.metrics._dist_metrics.EuclideanDistance sklearn.metrics._dist_metrics.EuclideanDistance64"
    " sklearn.metrics._dist_metrics.newObj sklearn.neighbors._kd_tree.KDTree sklearn.neighbors._kd_tree.newObj"
    " sklearn.neighbors._regression.KNeighborsRegressor sklearn.svm._classes.SVR"
    " sklearn.preprocessing._data.MaxAbsScaler sklearn.preprocessing._data.MinMaxScaler"
    " sklearn.preprocessing._data.StandardScaler sklearn.preprocessing._polynomial.PolynomialFeatures"
    " train.trainer.curvefit.CurveFitModel train.trainer.ExponentialRegressionTrainer.main.expo_func"
    " train.trainer.ExponentialRegressionTrainer.main.p0_func train.trainer.LogarithmicRegressionTrainer.main.log_func"
    " train.trainer.LogarithmicRegressionTrainer.main.p0_func train.trainer.LogisticRegressionTrainer.main.logi_func"
    " train.trainer.LogisticRegressionTrainer.main.p0_func ";
inline constexpr std::string_view kServerPackage = "kepler_model.";

}  // namespace kepler::lab::pickle
