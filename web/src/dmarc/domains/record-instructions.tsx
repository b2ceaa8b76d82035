import { useQuery } from '@tanstack/react-query'
import { accountQuery } from '../../queries.ts'
import { Snippet } from '../../ui/actions/copy.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Muted, Stack } from '../../ui/layout/page.tsx'
import type { PublishedDomain } from '../api.ts'
import { record as messages, shared } from '../messages.ts'

/** The DMARC record to publish, and the problems that keep reports away. */
export function RecordInstructions({ domain }: { domain: PublishedDomain }) {
  const { record, dns, reportEmail } = domain
  if (reportEmail === null) return <NoReportAddress />
  if (dns.configured) {
    return (
      <Stack>
        <Notice tone="good">
          <strong>{messages.configured(reportEmail)}</strong>
        </Notice>
        <Snippet what={shared.copyRecord} text={dns.published ?? record} />
        <MissingConsent domain={domain} />
      </Stack>
    )
  }
  return (
    <Stack>
      <Notice tone={dns.configured === null ? 'unknown' : 'warn'}>
        <strong>
          {dns.configured === null ? messages.noAnswer : messages.notConfigured(reportEmail)}
        </strong>
      </Notice>
      <p>
        {dns.published === null ? messages.publishAt : messages.changeAt} <code>{dns.name}</code>{' '}
        {messages.to}
      </p>
      <Snippet what={shared.copyRecord} text={record} />
      {dns.published !== null && (
        <p>
          <Muted>{messages.current}</Muted> <code>{dns.published}</code>
        </p>
      )}
      <MissingConsent domain={domain} />
    </Stack>
  )
}

/** Where no report can arrive by email, no record is proposed. */
export function NoReportAddress() {
  return (
    <Notice tone="warn">
      <strong>{messages.noReportAddress}</strong>
      <p>
        {messages.setReportDomain} <code>REPORT_DOMAIN</code> {messages.setReportDomainReason}
      </p>
    </Notice>
  )
}

/** Reporters send to another domain only with its consent (RFC 9990, section 4). */
function MissingConsent({ domain: { domain, dns } }: { domain: PublishedDomain }) {
  const { data: account } = useQuery(accountQuery)
  const { required, name, expected, authorized } = dns.destination
  if (!required || authorized !== false || name === null) return null
  return (
    <>
      <Notice tone="warn">
        <strong>{messages.missingConsent}</strong>
        <p>{account?.admin ? messages.publishConsent : messages.operatorPublishes}</p>
      </Notice>
      <Snippet
        what={messages.copyConsent}
        text={`*${name.slice(domain.length)} TXT "${expected}"`}
      />
    </>
  )
}
