import { Link } from '@tanstack/react-router'
import { DomainGrid } from '../domains/domain-grid.tsx'
import { Section } from '../ui/layout/page.tsx'
import type { OverviewDomains } from './use-overview.ts'
import { overview as messages } from './messages.ts'

/** The watched domains, those with problems first. */
export function DomainsSection({ domains, total }: OverviewDomains) {
  if (domains.length === 0) return null
  return (
    <Section
      title={messages.domains}
      aside={<Link to="/domains">{messages.allDomains(total)}</Link>}
    >
      <DomainGrid domains={domains} short />
    </Section>
  )
}
