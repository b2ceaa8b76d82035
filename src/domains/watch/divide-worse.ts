import {
  findCertificateIncidents,
  findListingIncidents,
  type CertificatePlace,
} from '../../monitoring/open-incidents.ts'
import type { Db } from '../../store/database.ts'
import type { DomainLine, DomainReport } from '../shapes.ts'
import type { CoveredChange } from './messages.ts'
import { isWorse, type KnownStates, type StateChange, type StateComparison } from './states.ts'

/** What became worse: `changes` need an alert; `covered` are what monitored hosts alert about. */
export type DividedChanges = {
  states: KnownStates
  changes: StateChange[]
  covered: CoveredChange[]
}

/** The verdict follows from the lines, and the end of a registration has an alert of its own. */
export function hasAlert(subject: StateChange['subject']): boolean {
  return subject !== 'verdict' && subject !== 'registration'
}

type Input = { report: DomainReport; known: KnownStates; compared: StateComparison }

/**
 * Leaves out of the alert what monitored hosts of the workspace already have alerts about, so that
 * one listing or certificate is not reported twice. A line whose host alert ended is reported when
 * it is still worse.
 */
export async function divideWorse(
  db: Db,
  workspaceId: string,
  { report, known, compared }: Input,
): Promise<DividedChanges> {
  const divided: DividedChanges = { states: { ...compared.states }, changes: [], covered: [] }
  for (const change of [...worseOf(compared), ...coveredBefore(report, compared)]) {
    const before = known[change.subject]
    const wasAlerted = before?.baseline !== undefined && !before.isCovered
    const alerts = wasAlerted ? null : await findHostAlerts(db, workspaceId, report, change)
    const { isCovered: _, ...state } = divided.states[change.subject] ?? { state: change.after, suspect: null } // prettier-ignore
    divided.states[change.subject] = alerts ? { ...state, isCovered: true } : state
    if (!alerts) divided.changes.push(change)
    else if (compared.changes.includes(change)) divided.covered.push({ ...change, alerts })
  }
  return divided
}

function worseOf({ changes }: StateComparison): StateChange[] {
  return changes.filter((change) => isWorse(change) && hasAlert(change.subject))
}

/** Lines without a change, which were left out of the alert when they became worse. */
function coveredBefore({ lines, checkedAt }: DomainReport, compared: StateComparison) {
  const changed = new Set(compared.changes.map(({ subject }) => subject))
  return lines.flatMap(({ name, title, summary, state }): StateChange[] => {
    const { baseline, isCovered, state: confirmed } = compared.states[name] ?? {}
    if (!isCovered || baseline === undefined || changed.has(name) || state !== confirmed) return []
    return [{ subject: name, title, summary, before: baseline, after: state, since: checkedAt }]
  })
}

/** @returns the titles of the alerts; null unless there is one about each problem of the line */
async function findHostAlerts(
  db: Db,
  workspaceId: string,
  { lines }: DomainReport,
  { subject }: StateChange,
): Promise<string[] | null> {
  const line = lines.find(({ name }) => name === subject)
  const labels = line ? problemsOf(line) : []
  if (!line || labels.length === 0) return null
  if (line.name === 'blocklists') {
    const titles = [...(await findListingIncidents(db, workspaceId, labels)).values()]
    return titles.every(({ length }) => length > 0) ? [...new Set(titles.flat())] : null
  }
  const places = labels.flatMap((label) => placeOf(label) ?? [])
  if (places.length < labels.length) return null
  const titles = await findCertificateIncidents(db, workspaceId, places)
  return titles.every((title) => title !== undefined) ? titles : null
}

/** The labels of what is wrong: addresses on blocklists, `mail.example.com port 25`. */
function problemsOf({ evidence }: DomainLine): string[] {
  return evidence
    .filter(({ state }) => state === 'bad' || state === 'warning')
    .map(({ label }) => label)
}

function placeOf(label: string): CertificatePlace | null {
  const [, host, port] = /^(\S+) port (\d+)$/.exec(label) ?? []
  return host === undefined ? null : { host, port: Number(port) }
}
