import { Fault } from '../errors.ts'
import type { ImportReport, ImportResult, ImportStatus } from './shapes.ts'

/** An entry that was read: its canonical name, or why it is invalid. */
export type ReadEntry<T> = { entry: T; input: string } & (
  | { name: string; message: null }
  | { name: null; message: string }
)

/**
 * Reads each entry.
 * @param nameOf returns the canonical name, or throws a Fault that says what is wrong with it
 */
export function readEntries<T>(
  entries: T[],
  inputOf: (entry: T) => string,
  nameOf: (input: string) => string,
): ReadEntry<T>[] {
  return entries.map((entry) => {
    const input = inputOf(entry)
    try {
      return { entry, input, name: nameOf(input), message: null }
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      return { entry, input, name: null, message: error.message }
    }
  })
}

export type ImportRules = {
  /** Names that the workspace has. */
  known: ReadonlySet<string>
  /** How many the workspace may add. */
  free: number
  /** Says that the limit is reached. */
  limitMessage: string
  /** Says that the workspace has a name. */
  existsMessage: (name: string) => string
}

/** What becomes of one entry. Those `added` are inserted by the caller. */
export type PlannedEntry<T> = ReadEntry<T> & { status: ImportStatus }

/** Decides for each entry, in order, whether it is added. */
export function planImport<T>(read: ReadEntry<T>[], rules: ImportRules): PlannedEntry<T>[] {
  const taken = new Set(rules.known)
  let { free } = rules
  return read.map((one) => {
    if (one.name === null) return { ...one, status: 'invalid' }
    if (taken.has(one.name)) return { ...one, status: 'exists' }
    if (free <= 0) return { ...one, status: 'limit' }
    taken.add(one.name)
    free -= 1
    return { ...one, status: 'added' }
  })
}

/**
 * The report of an import.
 * @param ids of the inserted rows, by name. A planned name without one was added by another request
 *   meanwhile.
 */
export function reportImport<T>(
  planned: PlannedEntry<T>[],
  ids: ReadonlyMap<string, string>,
  { limitMessage, existsMessage }: ImportRules,
): ImportReport {
  const results = planned.map(({ input, name, status: plan, message }): ImportResult => {
    const id = plan === 'added' && name !== null ? (ids.get(name) ?? null) : null
    const status = plan === 'added' && id === null ? 'exists' : plan
    if (status === 'exists') return { input, name, id, status, message: existsMessage(name ?? '') }
    return { input, name, id, status, message: status === 'limit' ? limitMessage : message }
  })
  const count = (status: ImportStatus) => results.filter((one) => one.status === status).length
  return {
    results,
    added: count('added'),
    exists: count('exists'),
    invalid: count('invalid'),
    limit: count('limit'),
  }
}

/** Names of an import that its audit entry lists. */
const MAX_AUDITED_NAMES = 20

/** What the audit entry of an import says. */
export function auditOfImport({ results, added }: ImportReport) {
  const names = results.filter(({ status }) => status === 'added').map(({ name }) => name)
  return { added, names: names.slice(0, MAX_AUDITED_NAMES).join(', ') }
}
