/** A network operator that announces address ranges with BGP. */
export type AutonomousSystem = {
  number: number
  /** As the table has it; often empty. */
  name: string
}

/** Finds the autonomous system that announces an address. */
export type AsnTable = {
  /** @param address IPv4 or IPv6; null when no system announces it, or the table has no entry */
  find(address: string): AutonomousSystem | null
  /** One number for all systems of an operator, as far as the table knows. */
  operatorOf?(number: number): number
  /** When its data was collected (`2026-06-17`), where it says so. */
  date?: string
}
