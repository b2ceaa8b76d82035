import type { NewAlert, ResolvingAlert } from '../../alerts/raise.ts'
import type { AccessTable } from './provider-access.sql.ts'

const PROVIDER_NAMES: Record<AccessTable, string> = {
  postmaster_access: 'Google Postmaster Tools',
  snds_access: 'Microsoft SNDS',
  snds_sign_in: 'Microsoft SNDS',
}

const RENEWALS: Record<AccessTable, string> = {
  postmaster_access: 'Open the Deliverability tab of a domain, and sign in at Google again.',
  snds_access:
    'Create new links in the SNDS portal, and enter them in the Deliverability tab of a domain.',
  snds_sign_in: 'Open the Deliverability tab of a domain, and sign in to Microsoft SNDS again.',
}

/** Both ways to SNDS are one access: one may replace the other. */
const incidentOf = (table: AccessTable) => `provider-access/${table.split('_')[0]}`

/** The alert about statistics that no longer come. @param isEnded whether a person must act */
export function accessLostAlert(
  { workspaceId, table, since }: { workspaceId: string; table: AccessTable; since: Date },
  { problem, isEnded }: { problem: string; isEnded: boolean },
): NewAlert {
  const name = PROVIDER_NAMES[table]
  return {
    workspaceId,
    kind: 'deliverability.access-ended',
    key: `provider-access ${table} ${isEnded ? 'ended' : 'failing'} ${since.toISOString()}`,
    incident: incidentOf(table),
    phase: 'open',
    severity: isEnded ? 'error' : 'warning',
    title: isEnded ? `The access to ${name} has ended` : `${name} has given no data for two days`,
    text: `${problem} Until then, nothing is known, which doesn’t mean that all is well.`,
    nextStep: isEnded ? RENEWALS[table] : '',
    path: '/domains',
    objects: [name],
    at: new Date(),
  }
}

/** The alert that ends an incident of a provider that was disconnected: nothing is known any more. */
export function disconnectedAlert(
  workspaceId: string,
  table: AccessTable,
  incident = incidentOf(table),
): ResolvingAlert {
  const at = new Date()
  const name = PROVIDER_NAMES[table]
  return {
    workspaceId,
    kind: 'deliverability.access-working',
    key: `${incident} disconnected ${at.toISOString()}`,
    incident,
    title: `Closed: ${name} was disconnected`,
    text: 'Its statistics are no longer fetched, so nothing is known.',
    nextStep: '',
    path: '/domains',
    objects: [name],
    at,
  }
}

export function accessWorkingAlert(workspaceId: string, table: AccessTable): ResolvingAlert {
  const at = new Date()
  const name = PROVIDER_NAMES[table]
  return {
    workspaceId,
    kind: 'deliverability.access-working',
    key: `provider-access ${table} working ${at.toISOString()}`,
    incident: incidentOf(table),
    title: `Resolved: ${name} gives data again`,
    text: 'Its statistics are fetched every day.',
    nextStep: '',
    path: '/domains',
    objects: [name],
    at,
  }
}
