import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { BackLink } from '../../ui/navigation/back-link.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { EXACT_PATH, SubNavigationLink, SubNavigation } from '../../ui/navigation/sub-navigation.tsx'
import { domainsQuery } from '../api.ts'

type DomainPageProps = {
  id: string
  /** What this screen shows of the domain, for the browser’s title; empty for its summary. */
  part?: string
  aside?: ReactNode
  children: ReactNode
}

/** A screen of one domain: its name, and the way to its other screens. */
export function DomainPage({ id, part = '', aside, children }: DomainPageProps) {
  const { data: domains, error } = useQuery(domainsQuery)
  const domain = domains?.find((each) => each.id === id)
  const isMissing = domains && !domain
  const name = domain?.domain ?? 'Domain'
  return (
    <Page wide title={part ? `${part} of ${name}` : name} above={<BackLink to="/dmarc">DMARC</BackLink>} aside={aside}>
      {error && <Notice tone="bad">{error.message}</Notice>}
      {isMissing && <Notice tone="bad">There is no such domain.</Notice>}
      {domain && (
        <>
          <SubNavigation label={name}>
            <SubNavigationLink to="/dmarc/$id" params={{ id }} activeOptions={EXACT_PATH}>
              Summary
            </SubNavigationLink>
            <SubNavigationLink to="/dmarc/$id/reports" params={{ id }}>
              Reports
            </SubNavigationLink>
            <SubNavigationLink to="/dmarc/$id/tls" params={{ id }}>
              TLS reports
            </SubNavigationLink>
            <SubNavigationLink to="/dmarc/$id/record" params={{ id }}>
              DNS record
            </SubNavigationLink>
          </SubNavigation>
          {children}
        </>
      )}
    </Page>
  )
}
