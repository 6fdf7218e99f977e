/*
 * The power meters of one socket of an NVIDIA Grace machine: the text in the last field of _PMC says what each one measures.
 * Values as in machine.asl. Source: NVIDIA Grace Performance Tuning Guide, "Power and Thermals".
 */
DefinitionBlock ("grace.aml", "SSDT", 2, "KEPLER", "LABGRACE", 1)
{
    Scope (\_SB)
    {
        OperationRegion (GLIV, SystemMemory, 0x20000010, 0x0C)
        Field (GLIV, DWordAcc, NoLock, Preserve)
        {
            MODU, 32,     // 0x10: mW of the module: everything below, and more
            GRAC, 32,     // 0x14: mW of CPU and memory
            CPUW, 32      // 0x18: mW of the CPU alone
        }
        Device (PMT1)
        {
            Name (_HID, "ACPI000D")
            Name (_UID, 1)
            Name (_PMC, Package (14) { 1, 0, 0, 95000, 50, 50, 50, 0xFFFFFFFF, 0, 0, 0, "", "", "Module Power Socket 0" })
            Name (_PMD, Package (0) {})
            Method (_PMM, 0, Serialized) { Return (MODU) }
        }
        Device (PMT2)
        {
            Name (_HID, "ACPI000D")
            Name (_UID, 2)
            Name (_PMC, Package (14) { 1, 0, 0, 95000, 50, 50, 50, 0xFFFFFFFF, 0, 0, 0, "", "", "Grace Power Socket 0" })
            Name (_PMD, Package (0) {})
            Method (_PMM, 0, Serialized) { Return (GRAC) }
        }
        Device (PMT3)
        {
            Name (_HID, "ACPI000D")
            Name (_UID, 3)
            Name (_PMC, Package (14) { 1, 0, 0, 95000, 50, 50, 50, 0xFFFFFFFF, 0, 0, 0, "", "", "CPU Power Socket 0" })
            Name (_PMD, Package (0) {})
            Method (_PMM, 0, Serialized) { Return (CPUW) }
        }
    }
}
