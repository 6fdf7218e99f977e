/*
 * A machine with an ACPI power meter, a battery and a mains adapter. Their values are live: they are in a page of the guest's
 * memory that the host writes (live_page.py). The kernel leaves it alone: memmap= on its command line.
 * Sources: ACPI 6.4, 10.2 (Smart Battery and Control Method Battery), 10.4 (Power Meters).
 */
DefinitionBlock ("machine.aml", "SSDT", 2, "KEPLER", "LABMACH", 1)
{
    Scope (\_SB)
    {
        OperationRegion (LIVE, SystemMemory, 0x20000000, 0x1000)
        Field (LIVE, DWordAcc, NoLock, Preserve)
        {
            MWAT, 32,     // 0x00: mW of the power meter
            BSTA, 32,     // 0x04: state of the battery: 1 discharging, 2 charging
            BRAT, 32,     // 0x08: mW of the battery
            MAIN, 32      // 0x0c: 1 if the mains adapter has power
        }
        Device (PMT0)
        {
            Name (_HID, "ACPI000D")
            Name (_UID, 0)
            Name (_PMC, Package (14) {
                1,              // can measure
                0,              // in mW
                0,              // at the input
                95000,          // accuracy, 1/1000 %
                100,            // sampling time, ms
                100, 1000,      // averaging interval, ms
                0xFFFFFFFF,     // hysteresis: unknown
                0, 0, 0,        // no limit
                "LAB-PM", "SN-0001", "Lab" })
            Method (_PMM, 0, Serialized) { Return (MWAT) }     // 0xFFFFFFFF: cannot be read
            Name (_PMD, Package (1) { \_SB })
        }
        Device (BAT0)
        {
            Name (_HID, EisaId ("PNP0C0A"))
            Name (_UID, 1)
            Name (_STA, 0x1F)
            Name (_BIF, Package (13) {
                0,                              // in mWh and mW
                50000, 48000, 1, 11100,         // capacity new and now, rechargeable, mV
                5000, 1000, 10, 10,             // warning, low, granularities
                "LAB-BAT", "0001", "LION", "Lab" })
            Method (_BST, 0, Serialized)
            {
                Local0 = Package (4) { 0, 0, 30000, 11000 }
                Local0[0] = BSTA
                Local0[1] = BRAT
                Return (Local0)
            }
        }
        Device (ADP1)
        {
            Name (_HID, "ACPI0003")
            Name (_PCL, Package (1) { \_SB })
            Method (_PSR, 0, Serialized) { Return (MAIN) }
        }
    }
}
