import { Link } from '@tanstack/react-router'
import type { Host } from '../monitoring/api.ts'
import { HostTable } from '../monitoring/host-table.tsx'
import { worstFirst } from '../monitoring/sort-hosts.ts'
import { Section } from '../ui/layout/page.tsx'
import { overview as messages } from './messages.ts'

/** Rows shown, at most. */
const MAX_SHOWN = 8

/** The monitored hosts, those with problems first. */
export function HostsSection({ hosts }: { hosts: Host[] }) {
  if (hosts.length === 0) return null
  const shown = worstFirst(hosts).slice(0, MAX_SHOWN)
  return (
    <Section
      title={messages.hosts}
      aside={
        <Link to="/monitoring">
          {shown.length < hosts.length ? messages.allHosts(hosts.length) : messages.monitoring}
        </Link>
      }
    >
      <HostTable hosts={shown} />
    </Section>
  )
}
