/*
 * A Corsair power supply as a USB device of user space (/dev/uhid): the kernel's driver corsair-psu makes a hwmon chip
 * of it. Use: corsair_psu FILE     FILE has the total power in watts; it is read at each request Source: Linux
 * drivers/hwmon/corsair-psu.c: requests of 64 bytes {length, command, ...}, answers that begin with the same two bytes,
 * figures in LINEAR11 (PMBus 1.2 part II, 7.1).
 */
#include <fcntl.h>
#include <linux/hid.h>
#include <linux/uhid.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REPORT_BYTES 64
#define CORSAIR 0x1b1c
#define RM750I 0x1c0b

enum length { WRITE_FIGURE = 2, READ = 3, START = 0xfe };
enum command {
  SELECT_RAIL = 0x00,
  INPUT_VOLTAGE = 0x88,
  RAIL_VOLTAGE = 0x8b,
  RAIL_CURRENT = 0x8c,
  TEMPERATURE_0 = 0x8d,
  TEMPERATURE_1 = 0x8e,
  FAN = 0x90,
  RAIL_POWER = 0x96,
  VENDOR = 0x99,
  PRODUCT = 0x9a,
  TOTAL_POWER = 0xee,
};

/* Share of the total power, and volts, of the rails of 12, 5 and 3.3 V. */
static const double share[] = {0.80, 0.15, 0.05};
static const double volts[] = {12, 5, 3.3};

/* An input and an output report of 64 bytes, vendor-defined (HID 1.11, 6.2.2). */
static const unsigned char descriptor[] = {0x06, 0x00, 0xff, 0x09, 0x01, 0xa1, 0x01, 0x09, 0x02, 0x15, 0x00, 0x26,
                                           0xff, 0x00, 0x75, 0x08, 0x95, 0x40, 0x81, 0x02, 0x09, 0x03, 0x15, 0x00,
                                           0x26, 0xff, 0x00, 0x75, 0x08, 0x95, 0x40, 0x91, 0x02, 0xc0};

/* value = mantissa * 2^exponent, 11 and 5 bits, both signed */
static uint16_t linear11(double value) {
  int exponent = 0;

  while (value > 1023) {
    value /= 2;
    exponent++;
  }
  while (value > 0 && value < 511 && exponent > -16) {
    value *= 2;
    exponent--;
  }
  return (uint16_t)((exponent & 0x1f) << 11 | ((int)(value + 0.5) & 0x7ff));
}

static double watts_in(const char* path) {
  double watts = 0;
  FILE* file = fopen(path, "r");

  if (file) {
    if (fscanf(file, "%lf", &watts) != 1) watts = 0;
    fclose(file);
  }
  return watts;
}

static double figure(unsigned char command, unsigned int rail, double watts) {
  switch (command) {
    case INPUT_VOLTAGE:
      return 230;
    case RAIL_VOLTAGE:
      return volts[rail];
    case RAIL_CURRENT:
      return watts * share[rail] / volts[rail];
    case TEMPERATURE_0:
      return 41.5;
    case TEMPERATURE_1:
      return 35.25;
    case FAN:
      return 900;
    case RAIL_POWER:
      return watts * share[rail];
    case TOTAL_POWER:
      return watts;
    default:
      return 1;
  }
}

static void answer(const unsigned char* request, unsigned char* reply, const char* path) {
  static unsigned int rail;

  memset(reply, 0, REPORT_BYTES);
  memcpy(reply, request, 2);
  if (request[0] == START) {
    memcpy(reply + 2, "RM750i", 7);
  } else if (request[0] == WRITE_FIGURE && request[1] == SELECT_RAIL) {
    rail = request[2] < 3 ? request[2] : 0;
    reply[2] = request[2];
  } else if (request[0] == READ && request[1] == VENDOR) {
    memcpy(reply + 2, "CORSAIR", 8);
  } else if (request[0] == READ && request[1] == PRODUCT) {
    memcpy(reply + 2, "RM750i", 7);
  } else if (request[0] == READ) {
    uint16_t raw = linear11(figure(request[1], rail, watts_in(path)));

    reply[2] = raw & 0xff;
    reply[3] = raw >> 8;
  }
}

static int send_event(int device, const struct uhid_event* event) {
  if (write(device, event, sizeof(*event)) >= 0) return 0;
  perror("corsair_psu: write /dev/uhid");
  return -1;
}

static int plug_in(int device) {
  struct uhid_event event = {.type = UHID_CREATE2};

  strcpy((char*)event.u.create2.name, "Lab power supply");
  memcpy(event.u.create2.rd_data, descriptor, sizeof(descriptor));
  event.u.create2.rd_size = sizeof(descriptor);
  event.u.create2.bus = BUS_USB;
  event.u.create2.vendor = CORSAIR;
  event.u.create2.product = RM750I;
  return send_event(device, &event);
}

int main(int count, char** words) {
  int device = count == 2 ? open("/dev/uhid", O_RDWR) : -1;
  struct uhid_event event, reply;

  if (device < 0) {
    fputs("use: corsair_psu FILE, with access to /dev/uhid\n", stderr);
    return 2;
  }
  if (plug_in(device) != 0) return 1;
  while (read(device, &event, sizeof(event)) > 0) {
    if (event.type != UHID_OUTPUT) continue;
    memset(&reply, 0, sizeof(reply));
    reply.type = UHID_INPUT2;
    reply.u.input2.size = REPORT_BYTES;
    /* The kernel puts the report number before a report of full size. */
    answer(event.u.output.data + (event.u.output.size > REPORT_BYTES), reply.u.input2.data, words[1]);
    if (send_event(device, &reply) != 0) return 1;
  }
  return 0;
}
