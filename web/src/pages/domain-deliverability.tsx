import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Canaries } from '../deliverability/canary/canaries.tsx'
import { Complaints } from '../deliverability/complaints/complaints.tsx'
import { ProviderStatistics } from '../deliverability/statistics/provider-statistics.tsx'
import { MailTests } from '../deliverability/mail-test-list.tsx'
import { mailTests as messages } from '../deliverability/messages.ts'
import { watchQuery } from '../domains/api.ts'
import { DomainTabs } from '../domains/domain-tabs.tsx'
import { Page } from '../ui/layout/page.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'

/** The mail tests and canaries of a domain, complaints about its mail, and what providers say. */
export function Screen() {
  const { domain } = useParams({ from: '/own/domains/$domain/deliverability' })
  const { data: watch, isPending } = useQuery(watchQuery(domain))
  return (
    <Page
      wide
      title={messages.ofDomain(domain)}
      above={<BackLink to="/domains">{messages.back}</BackLink>}
      lead={messages.lead}
    >
      <DomainTabs domain={domain} id={isPending ? undefined : (watch?.dmarcDomainId ?? null)} />
      <MailTests domain={domain} />
      <Canaries domain={domain} />
      <Complaints domain={domain} />
      <ProviderStatistics domain={domain} />
    </Page>
  )
}
