import type { NewAlert } from '../../alerts/raise.ts'
import type { HostRow } from '../hosts.sql.ts'

/** `subject` is `example.com MX`. */
export type RecordChange = {
  subject: string
  from: string
  to: string
  since: Date
  /** Further changes of this record raise no alert for a week. */
  isFrequent: boolean
}

/** The alert about all records of a domain that changed at the same time. */
export function recordsAlert(
  { id, host, workspaceId }: HostRow,
  changes: RecordChange[],
  at: Date,
): NewAlert {
  const types = changes.map(({ subject }) => subject.split(' ')[1] ?? '')
  const since = changes[0]?.since ?? at
  return {
    workspaceId,
    kind: 'dns.changed',
    key: `dns ${workspaceId} ${changes.map(({ subject }) => subject).join(',')} ${since.toISOString()}`,
    incident: null,
    phase: 'once',
    severity: 'warning',
    title: `DNS records of ${host} changed: ${[...new Set(types)].join(', ')}`,
    text: changes.map(describe).join('\n\n'),
    nextStep:
      'If you made this change, no action is needed. If not, check who has access to this zone and restore the records.',
    path: `/monitoring/${id}`,
    objects: [host],
    at,
  }
}

function describe({ subject, from, to, isFrequent }: RecordChange): string {
  const last = isFrequent
    ? '\nThis record changes often: further changes raise no alert for a week.'
    : ''
  return `${subject}\n  before: ${from || '(none)'}\n  now:    ${to || '(none)'}${last}`
}
