// Stands for the precompiled headers of the test programs (cmake/Kepler.cmake).
int main() { return 0; }
