#include <cstdio>

#include "tools/docs/metrics_page.h"

int main() { return std::fputs(kepler::docs::MetricsPage().c_str(), stdout) < 0 ? 1 : 0; }
