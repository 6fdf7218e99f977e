#include "apps/kepler-model/commands.h"

int main(int argc, char** argv) { return kepler::lab::tool::RunProgram({argv, static_cast<size_t>(argc)}); }
