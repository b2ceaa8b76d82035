import { Link } from '@tanstack/react-router'
import type { Host } from '../monitoring/api.ts'
import { HostGrid } from '../monitoring/host-grid.tsx'
import { worstFirst } from '../monitoring/sort-hosts.ts'
import { Section } from '../ui/layout/page.tsx'
import { MAX_CARDS } from './limits.ts'
import { overview as messages } from './messages.ts'

/** The monitored hosts, those with problems first. */
export function HostsSection({ hosts }: { hosts: Host[] }) {
  if (hosts.length === 0) return null
  return (
    <Section
      title={messages.hosts}
      aside={<Link to="/monitoring">{messages.allHosts(hosts.length)}</Link>}
    >
      <HostGrid hosts={worstFirst(hosts).slice(0, MAX_CARDS)} />
    </Section>
  )
}
