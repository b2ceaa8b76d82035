import { Link } from '@tanstack/react-router'
import type { Host } from '../monitoring/api.ts'
import { HostTable } from '../monitoring/host-table.tsx'
import { worstFirst } from '../monitoring/words.ts'
import { Section } from '../ui/layout/page.tsx'

/** Rows at most: the others are a press away. */
const MAX_SHOWN = 8

/** The hosts that are watched, those that are not well first. */
export function HostsSection({ hosts }: { hosts: Host[] }) {
  if (hosts.length === 0) return null
  const shown = worstFirst(hosts).slice(0, MAX_SHOWN)
  return (
    <Section
      title="Your hosts"
      aside={<Link to="/monitoring">{shown.length < hosts.length ? `All ${hosts.length}` : 'Monitoring'}</Link>}
    >
      <HostTable hosts={shown} />
    </Section>
  )
}
