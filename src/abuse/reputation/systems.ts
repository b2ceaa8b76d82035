import { join } from 'node:path'
import type { AsnTable, AutonomousSystem } from '../../protocols/networks/asn-table.ts'
import { readShippedTable } from '../../protocols/networks/load-asn-table.ts'
import { ROOT } from '../../version.ts'

/** Assigns networks to operators, and names the source of that data. */
export type Systems = {
  source: 'shipped' | 'configured' | 'none'
  /** When the shipped data was collected, `2026-06-17`. */
  date: string | null
  /** One number for all autonomous systems of the operator that announces an address, or null. */
  find(address: string): number | null
  /** The system that announces an address, with the name that the table has. */
  systemOf?(address: string): AutonomousSystem | null
}

const SHIPPED = join(ROOT, 'data', 'asn', 'table.bin.br')

/** A table in which every network is unknown. */
export const NO_SYSTEMS: Systems = { source: 'none', date: null, find: () => null }

/**
 * The table that separates networks: the configured one, or the shipped one. The operators of
 * systems are always taken from the shipped one.
 * @param configured `none` for no table at all
 */
export function readSystems(configured: AsnTable | 'none' | null): Systems {
  if (configured === 'none') return NO_SYSTEMS
  let opened: Systems | undefined
  // At the first use: 15 MB of memory, which an instance without reports never needs.
  const open = () => (opened ??= openSystems(configured))
  return {
    get source() {
      return open().source
    },
    get date() {
      return open().date
    },
    find: (address) => open().find(address),
    systemOf: (address) => open().systemOf?.(address) ?? null,
  }
}

function openSystems(configured: AsnTable | null): Systems {
  const shipped = readShippedTable(SHIPPED)
  const table = configured ?? shipped
  if (!table) return NO_SYSTEMS
  return {
    source: configured ? 'configured' : 'shipped',
    date: (configured ? null : shipped?.date) ?? null,
    find(address) {
      const number = table.find(address)?.number
      return number === undefined ? null : (shipped?.operatorOf?.(number) ?? number)
    },
    systemOf: (address) => table.find(address),
  }
}
