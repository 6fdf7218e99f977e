#include <cstdio>

#include "export/prometheus/metrics_page.h"

int main() { return std::fputs(kepler::prometheus::MetricsPage().c_str(), stdout) < 0 ? 1 : 0; }
