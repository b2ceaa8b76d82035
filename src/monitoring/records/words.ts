import type { NewAlert } from '../../alerts/raise.ts'
import type { HostRow } from '../store.ts'

/** `subject` is `example.com MX`. */
export type RecordChange = { subject: string; from: string; to: string; since: Date; restless: boolean }

/** What a person is told of all that changed at once in a domain's DNS. */
export function recordsAlert({ id, host, accountId }: HostRow, changes: RecordChange[], at: Date): NewAlert {
  const names = changes.map(({ subject }) => subject.split(' ')[1] ?? '')
  const since = changes[0]?.since ?? at
  return {
    accountId,
    kind: 'dns.changed',
    key: `dns ${accountId} ${changes.map(({ subject }) => subject).join(',')} ${since.toISOString()}`,
    title: `DNS records of ${host} have changed: ${[...new Set(names)].join(', ')}`,
    text: changes.map(describe).join('\n\n'),
    nextStep:
      'If it was you, there is nothing to do. If it was not, see who can change this zone, and set the records back.',
    path: `/monitoring/${id}`,
    at,
  }
}

function describe({ subject, from, to, restless }: RecordChange): string {
  const last = restless ? '\nThis record keeps changing: for a week you are not told of it again.' : ''
  return `${subject}\n  was: ${from || '(none)'}\n  is:  ${to || '(none)'}${last}`
}
