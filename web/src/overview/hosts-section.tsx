import { Link } from '@tanstack/react-router'
import { HostGrid } from '../monitoring/host-grid.tsx'
import { countAll } from '../monitoring/messages.ts'
import { Section } from '../ui/layout/page.tsx'
import type { OverviewHosts } from './use-overview.ts'
import { overview as messages } from './messages.ts'

/** The monitored hosts, those with problems first. */
export function HostsSection({ rows, counts }: OverviewHosts) {
  if (rows.length === 0) return null
  return (
    <Section
      title={messages.hosts}
      aside={<Link to="/monitoring">{messages.allHosts(countAll(counts))}</Link>}
    >
      <HostGrid hosts={rows} />
    </Section>
  )
}
