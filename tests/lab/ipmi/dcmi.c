/*
 * Plug-in of ipmi_sim (Debian's openipmi) that gives its BMC the power reading of DCMI, which the simulator lacks.
 * Option of loadlib: a directory with two files, which are read at each request:
 *   watts   the power now, a decimal number. Unreadable: the command fails (code 0xCE).
 *   fault   optional, one word: "code-XX" (completion code, hexadecimal), "inactive" (no measurement), "group" (answer
 * of another group), "short" (truncated answer), "hang-N" (the whole BMC stops for N seconds) Source: DCMI
 * specification v1.5, 6.1.1 (Get DCMI Capabilities Info) and 6.6.1 (Get Power Reading).
 */
#include <OpenIPMI/lanserv.h>
#include <OpenIPMI/mcserv.h>
#include <OpenIPMI/serv.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GROUP_DCMI 0xdc
#define GET_CAPABILITIES 0x01
#define GET_POWER_READING 0x02

#define CODE_INVALID_COMMAND 0xc1
#define CODE_INVALID_LENGTH 0xc7
#define CODE_OUT_OF_RANGE 0xc9
#define CODE_NO_ANSWER 0xce

static char directory[512];
static time_t began;
static unsigned int lowest = 0xffff, highest;
static double sum;
static unsigned long readings;

/* Returns 1 if the file has at least one word, of up to 31 characters. */
static int read_word(const char* name, char word[32]) {
  char path[600];
  FILE* file;
  int found;

  snprintf(path, sizeof(path), "%s/%s", directory, name);
  file = fopen(path, "r");
  if (!file) return 0;
  found = fscanf(file, "%31s", word) == 1;
  fclose(file);
  return found;
}

/* Least significant byte first. */
static void put(unsigned char* at, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) at[i] = (unsigned char)(value >> (8 * i));
}

static void answer_code(unsigned char code, unsigned char* data, unsigned int* length) {
  data[0] = code;
  data[1] = GROUP_DCMI;
  *length = 2;
}

/* Tools ask for the platform's abilities (1) and for the periods of statistics (5). */
static void answer_capabilities(unsigned char parameter, unsigned char* data, unsigned int* length) {
  static const unsigned char with_power[] = {0x00, GROUP_DCMI, 1, 5, 2, 0, 1, 7};
  static const unsigned char one_period[] = {0x00, GROUP_DCMI, 1, 5, 2, 1, 5};

  if (parameter == 1) {
    memcpy(data, with_power, sizeof(with_power));
    *length = sizeof(with_power);
  } else if (parameter == 5) {
    memcpy(data, one_period, sizeof(one_period));
    *length = sizeof(one_period);
  } else {
    answer_code(CODE_OUT_OF_RANGE, data, length);
  }
}

static void answer_power(unsigned char* data, unsigned int* length) {
  const time_t now = time(NULL);
  char word[32];
  double power;
  unsigned int watts;

  if (!read_word("watts", word) || sscanf(word, "%lf", &power) != 1 || power < 0 || power > 0xffff) {
    answer_code(CODE_NO_ANSWER, data, length);
    return;
  }
  watts = (unsigned int)(power + 0.5);
  lowest = watts < lowest ? watts : lowest;
  highest = watts > highest ? watts : highest;
  sum += watts;
  readings++;
  data[0] = 0;
  data[1] = GROUP_DCMI;
  put(data + 2, watts, 2);
  put(data + 4, lowest, 2);
  put(data + 6, highest, 2);
  put(data + 8, (uint64_t)(sum / (double)readings + 0.5), 2);
  put(data + 10, (uint64_t)now, 4);
  put(data + 14, (uint64_t)(now - began + 1) * 1000, 4);
  data[18] = 0x40; /* measurement active */
  *length = 19;
}

/* Changes the answer, or delays it. */
static void apply_fault(const char* fault, unsigned char* data, unsigned int* length) {
  unsigned int number;

  if (sscanf(fault, "code-%x", &number) == 1)
    answer_code((unsigned char)number, data, length);
  else if (sscanf(fault, "hang-%u", &number) == 1)
    sleep(number);
  else if (!strcmp(fault, "inactive"))
    data[18] = 0;
  else if (!strcmp(fault, "group"))
    data[1] = 0;
  else if (!strcmp(fault, "short"))
    *length = 9;
  else
    fprintf(stderr, "dcmi: unknown fault %s\n", fault);
}

static void handle(lmc_data_t* mc, msg_t* request, unsigned char* data, unsigned int* length, void* unused) {
  char fault[32];

  (void)mc;
  (void)unused;
  if (request->len < 2) {
    answer_code(CODE_INVALID_LENGTH, data, length);
  } else if (request->cmd == GET_CAPABILITIES) {
    answer_capabilities(request->data[1], data, length);
  } else if (request->cmd == GET_POWER_READING) {
    answer_power(data, length);
    if (read_word("fault", fault)) apply_fault(fault, data, length);
  } else {
    answer_code(CODE_INVALID_COMMAND, data, length);
  }
}

int ipmi_sim_module_print_version(sys_data_t* sys, char* options) {
  (void)sys;
  (void)options;
  puts("dcmi plug-in of the hardware lab");
  return 0;
}

int ipmi_sim_module_init(sys_data_t* sys, const char* options) {
  (void)sys;
  snprintf(directory, sizeof(directory), "%s", options ? options : ".");
  began = time(NULL);
  ipmi_emu_register_group_extension_handler(GROUP_DCMI, handle, NULL);
  return 0;
}
