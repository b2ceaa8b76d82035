import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { MuteButton } from '../../alerts/silence/mutes.tsx'
import { BackLink } from '../../ui/navigation/back-link.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Page, Row } from '../../ui/layout/page.tsx'
import { DomainTabs } from '../../domains/domain-tabs.tsx'
import { domainsQuery } from '../api.ts'
import { domainPage as messages, shared } from '../messages.ts'

type DomainPageProps = {
  id: string
  /** Name of the screen, for the browser’s title; empty for the summary. */
  part?: string
  aside?: ReactNode
  /** Details beside the content; null while they load. */
  rail?: ReactNode
  children: ReactNode
}

/** A screen of one domain, with links to its other screens. */
export function DomainPage({ id, part = '', aside, rail, children }: DomainPageProps) {
  const { data: domains, error } = useQuery(domainsQuery)
  const domain = domains?.find((each) => each.id === id)
  const isMissing = domains && !domain
  const name = domain?.domain ?? messages.unnamed
  return (
    <Page
      wide
      title={part ? messages.title(part, name) : name}
      above={<BackLink to="/dmarc">{shared.title}</BackLink>}
      aside={
        domain && (
          <Row>
            {aside}
            <MuteButton object={`/dmarc/${id}`} name={name} />
          </Row>
        )
      }
      // Before the name in the heading is known, the rail would move down with it.
      rail={rail && !domain ? null : rail}
    >
      {error && <Notice tone="bad">{error.message}</Notice>}
      {isMissing && <Notice tone="bad">{messages.notFound}</Notice>}
      {domain && (
        <>
          <DomainTabs domain={domain.domain} id={id} />
          {children}
        </>
      )}
    </Page>
  )
}
