import { Snippet } from '../../ui/actions/copy.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Muted, Stack } from '../../ui/layout/page.tsx'
import type { PublishedDomain } from '../api.ts'
import { canReceiveMail } from '../words.ts'

/** The record that lets reports come, and what else stands in their way. */
export function RecordInstructions({ domain }: { domain: PublishedDomain }) {
  const { record, dns, reportEmail } = domain
  if (dns.configured) {
    return (
      <Stack>
        <Notice tone="good">
          <strong>Receivers are asked to send their reports to {reportEmail}.</strong>
        </Notice>
        <Snippet what="the record" text={dns.published ?? record} />
        <Consent domain={domain} />
      </Stack>
    )
  }
  return (
    <Stack>
      {!canReceiveMail(reportEmail) && <NowhereToSend to={reportEmail} />}
      <Notice tone={dns.configured === null ? 'unknown' : 'warn'}>
        <strong>
          {dns.configured === null
            ? 'The name servers of the domain did not answer.'
            : `No reports are asked for at ${reportEmail} yet.`}
        </strong>
      </Notice>
      <p>
        {dns.published === null ? 'Publish this TXT record at' : 'Change the TXT record at'} <code>{dns.name}</code> to:
      </p>
      <Snippet what="the record" text={record} />
      {dns.published !== null && (
        <p>
          <Muted>It is the record that is there, with the address added. Now it reads:</Muted>{' '}
          <code>{dns.published}</code>
        </p>
      )}
      <Consent domain={domain} />
    </Stack>
  )
}

function NowhereToSend({ to }: { to: string }) {
  return (
    <Notice tone="warn">
      <strong>No mail can be sent to {to} yet.</strong>
      <p>
        Do not publish the record before whoever runs this Portreeve has set <code>REPORT_DOMAIN</code> to a name that
        takes mail. Until then, reports come from files and mailboxes.
      </p>
    </Notice>
  )
}

/** Reporters send to another domain only with its consent (RFC 9990, 4). */
function Consent({ domain: { dns } }: { domain: PublishedDomain }) {
  const { required, name, expected, authorized } = dns.destination
  if (!required || authorized !== false || name === null) return null
  return (
    <>
      <Notice tone="warn">
        <strong>One more record is missing: without it, receivers send no reports here.</strong>
        <p>It says that this service takes them. Whoever runs the service publishes, as a TXT record at {name}:</p>
      </Notice>
      <Snippet what="the consent" text={expected} />
    </>
  )
}
